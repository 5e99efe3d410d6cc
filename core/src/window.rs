//! Windows of time as numbers of a cursor, and back. Stores know whole milliseconds; a layout's ticks may be shorter
//! or longer than one, so a window is rounded inwards: ticks that lie in it entirely, and no others.
//!
//! This file must never let a number through whose tick is partly outside its window, nor report a last millisecond
//! before the end of the last number's tick: the next holder of the slot starts right after it.

use crate::clock::Timescale;

const NS_PER_MS: i128 = 1_000_000;

/// The numbers of a window, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Numbers {
    /// where the cursor may start
    pub first: u64,
    /// the cursor's limit
    pub last: u64,
}

/// The numbers of all ticks that start at `lo` or later and end with `hi` or earlier, Unix milliseconds, both
/// included. `None` when there is no such tick.
pub fn numbers(scale: &Timescale, counter_bits: u32, lo: i64, hi: i64) -> Option<Numbers> {
    let tick_ns = i128::from(scale.tick_ns);
    let since_epoch = |ms: i128| (ms - i128::from(scale.epoch_ms)) * NS_PER_MS;
    // Rounded up without adding first, so that times before the epoch come out right too.
    let first = -(-since_epoch(i128::from(lo))).div_euclid(tick_ns);
    let last = since_epoch(i128::from(hi) + 1).div_euclid(tick_ns) - 1;
    let first = first.max(i128::from(scale.first_tick));
    let last = last.min(i128::from(scale.last_tick));
    if first > last {
        return None;
    }
    let counter_max = (1 << counter_bits) - 1;
    // Both lie between the layout's first tick and its last one.
    Some(Numbers { first: (first as u64) << counter_bits, last: (last as u64) << counter_bits | counter_max })
}

/// The millisecond (Unix) in which the tick of a number ends: the last one that the number touches.
pub fn last_ms(scale: &Timescale, counter_bits: u32, number: u64) -> i64 {
    let end_ns = scale.start_of(number >> counter_bits) + i128::from(scale.tick_ns) - 1;
    i64::try_from(end_ns.div_euclid(NS_PER_MS)).unwrap_or(i64::MAX)
}
