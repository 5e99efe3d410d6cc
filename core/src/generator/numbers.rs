//! The times of numbers: the tick of a number, and the whole milliseconds within a range of numbers.
//!
//! Stores use whole milliseconds, but ticks may be shorter or longer. So a window is rounded inwards, to the ticks that it
//! contains completely, and the end of the last number's tick is rounded up, because the next holder of the slot starts right
//! after it.

use std::ops::RangeInclusive;

use crate::generator::clock::system_ns;
use crate::generator::cursor::LAST;
use crate::layout::Layout;
use crate::layout::timescale::{NS_PER_MS, Timescale, whole_ms};

/// A millisecond, as wide as instants.
const MS: i128 = NS_PER_MS as i128;

/// How long IDs have to stay exact as floats: users who store them as floats should not find out in two years that the next
/// ones do not fit.
const TEN_YEARS_NS: i128 = 3_653 * 86_400_000 * MS; // with three leap days

/// The relation of numbers to ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    scale: Timescale,
    counter_bits: u32,
}

impl Numbers {
    /// Numbers with these ticks and this counter width.
    ///
    /// # Panics
    ///
    /// If no bit is left for the tick.
    pub fn new(scale: Timescale, counter_bits: u32) -> Self {
        assert!(counter_bits < 64, "a number must have a bit for the tick");
        Self { scale, counter_bits }
    }

    /// The numbers of a layout.
    pub fn of(layout: &Layout) -> Self {
        Self::new(layout.scale(), layout.packing().counter_bits())
    }

    /// The relation of ticks to time.
    pub fn scale(&self) -> Timescale {
        self.scale
    }

    /// Width of the layout's counter field.
    pub fn counter_bits(&self) -> u32 {
        self.counter_bits
    }

    /// The current tick of the system's clock; 0 if the layout has no tick for that time.
    pub fn now(&self) -> u64 {
        self.scale.tick_of(system_ns()).unwrap_or(0)
    }

    /// The tick of a number.
    pub fn tick(&self, number: u64) -> u64 {
        number >> self.counter_bits
    }

    /// The first number of a tick.
    pub fn first_of(&self, tick: u64) -> u64 {
        to_number(u128::from(tick) << self.counter_bits)
    }

    /// The last number of a tick.
    pub fn last_of(&self, tick: u64) -> u64 {
        to_number(((u128::from(tick) + 1) << self.counter_bits) - 1)
    }

    /// This many nanoseconds in ticks, plus one for the rest of the current tick.
    pub fn ticks(&self, ns: u64) -> u64 {
        ns / self.scale.tick_ns() + 1
    }

    /// The last number of the tick that is this much time after the tick of a number.
    pub fn ticks_ahead_of(&self, number: u64, ns: u64) -> u64 {
        self.last_of(self.tick(number).saturating_add(self.ticks(ns)))
    }

    /// The same, but only a part of a tick that is longer: as many numbers as it has in that time, and at least the number
    /// itself. So the next use need not wait for the next tick. The part is larger for very long ticks, because otherwise the
    /// next one would be requested too often.
    pub fn ahead_of(&self, number: u64, ns: u64) -> u64 {
        if self.scale.tick_ns() <= ns {
            return self.ticks_ahead_of(number, ns);
        }
        const VERY_LONG_NS: u64 = 80_000_000_000; // 5 s are a 16th of this
        let part = (u128::from(ns) << self.counter_bits) / u128::from(self.scale.tick_ns().min(VERY_LONG_NS));
        to_number(u128::from(number) + part.max(1) - 1)
    }

    /// The numbers of all ticks that start at `lo` or later and end by the end of `hi`, Unix ms, both included. `None` if
    /// there is no such tick.
    pub fn window(&self, lo: i64, hi: i64) -> Option<RangeInclusive<u64>> {
        let (first_tick, last_tick) = (self.scale.first_tick(), self.scale.last_tick());
        let since_epoch = |ms: i128| ms * MS - self.scale.start_of(0);
        let tick_ns = i128::from(self.scale.tick_ns());
        // Rounded up without adding first, which would be wrong before the epoch.
        let first = -(-since_epoch(i128::from(lo))).div_euclid(tick_ns);
        let last = since_epoch(i128::from(hi) + 1).div_euclid(tick_ns) - 1;
        let (first, last) = (first.max(i128::from(first_tick)), last.min(i128::from(last_tick)));
        // Both lie between the layout's first tick and its last one.
        (first <= last).then(|| self.first_of(first as u64)..=self.last_of(last as u64))
    }

    /// The first Unix ms that contains no number below `next`.
    pub fn first_ms(&self, next: u64) -> i64 {
        let tick = next.div_ceil(1 << self.counter_bits);
        whole_ms(self.scale.start_of(tick).saturating_add(MS - 1))
    }

    /// The last Unix ms that contains no number above `limit`.
    pub fn last_ms(&self, limit: u64) -> i64 {
        let tick = self.tick(limit.saturating_add(1));
        whole_ms(self.scale.start_of(tick)) - 1
    }

    /// The Unix ms in which the tick of a number ends.
    pub fn end_ms(&self, number: u64) -> i64 {
        whole_ms(self.scale.start_of(self.tick(number).saturating_add(1)) - 1)
    }

    /// The first number of the first tick that starts after a Unix ms.
    pub fn after_ms(&self, ms: i64) -> u64 {
        let since = (i128::from(ms) + 1) * MS - self.scale.start_of(0);
        let tick_ns = i128::from(self.scale.tick_ns());
        let tick = (since.max(0) + tick_ns - 1) / tick_ns;
        self.first_of(u64::try_from(tick).unwrap_or(u64::MAX))
    }
}

/// The last number of a layout whose ID is [exact](Layout::last_exact_tick) as a float; `None` if the layout's IDs do not
/// stay exact for the next ten years.
pub fn last_exact(layout: &Layout, now_ns: i128) -> Option<u64> {
    let tick = layout.last_exact_tick()?;
    let stays = layout.exact_end_ns() >= now_ns.saturating_add(TEN_YEARS_NS);
    stays.then(|| Numbers::of(layout).last_of(tick))
}

/// The number, capped at the last possible one.
fn to_number(number: u128) -> u64 {
    u64::try_from(number).map_or(LAST, |number| number.min(LAST))
}
