//! Where ticks come from: the system's clock, or a time that the caller provides.
//!
//! Reading the system's clock is the slowest part of generating an ID, and most calls of a burst are in the tick that was
//! already read. So [`TickClock`] remembers when that tick ends, in CPU cycles, and [`trusted`](Clock::trusted) answers from
//! that. The answer may be late by one tick after the clock was stepped, and by as much after a suspend during which the CPU
//! stood still. While numbers run ahead of the clock, it need not be read before it catches up: then an answer may be late by
//! a millisecond. Uniqueness does not depend on it, because the cursor only grows.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::generator::cycles;
use crate::layout::timescale::{NS_PER_MS, OutOfRange, Timescale};

/// Provides the tick for a cursor.
pub trait Clock {
    /// A tick that was current at most one tick ago.
    fn trusted(&mut self) -> Result<u64, OutOfRange>;
    /// The current tick.
    fn read(&mut self) -> Result<u64, OutOfRange>;
}

/// The system's clock, in Unix nanoseconds; negative before 1970.
pub fn system_ns() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

/// Where the time comes from.
#[derive(Clone, Copy, Debug)]
enum Teller {
    System,
    /// the last Unix ns that the caller set
    Given(i128),
}

/// The clock of one generator on one thread.
#[derive(Clone, Debug)]
pub struct TickClock {
    scale: Timescale,
    teller: Teller,
    tick: u64,
    read_at: u64,
    trusted_for: u64,
    highest: u64,
    last_ns: i128,
    steps: u64,
    is_outrun: bool,
}

impl TickClock {
    /// A clock that follows the system's.
    pub fn system(scale: Timescale) -> Self {
        Self::new(scale, Teller::System)
    }

    /// A clock that shows the time passed to [`set`](Self::set), and Unix time 0 before that.
    pub fn given(scale: Timescale) -> Self {
        Self::new(scale, Teller::Given(0))
    }

    fn new(scale: Timescale, teller: Teller) -> Self {
        Self {
            scale,
            teller,
            tick: 0,
            read_at: 0,
            trusted_for: 0,
            highest: 0,
            last_ns: i128::MIN,
            steps: 0,
            is_outrun: false,
        }
    }

    /// The conversion of instants to ticks.
    #[inline]
    pub fn scale(&self) -> Timescale {
        self.scale
    }

    /// Whether the caller sets the time.
    #[inline]
    pub fn is_given(&self) -> bool {
        matches!(self.teller, Teller::Given(_))
    }

    /// Sets the time of a clock that the caller controls, Unix ns.
    ///
    /// # Panics
    ///
    /// If the clock is the system's.
    pub fn set(&mut self, unix_ns: i128) {
        assert!(self.is_given(), "this clock follows the system's: the time is set of one that TickClock::given made");
        self.teller = Teller::Given(unix_ns);
    }

    /// The instant of the last real read, Unix ns.
    pub fn last_ns(&self) -> i128 {
        self.last_ns
    }

    /// The highest tick read so far.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// How many reads were earlier than the one before.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether the tick that was read last may still be used without another look at the clock.
    #[inline(always)]
    fn is_trusted(&self) -> bool {
        // Where no tick is ever trusted, the counter is not read.
        self.trusted_for != 0 && self.is_within(self.trusted_for)
    }

    /// Whether fewer than this many cycles have passed since the clock was read.
    #[inline(always)]
    pub(super) fn is_within(&self, cycles: u64) -> bool {
        // If the counter ran backwards, the difference wraps to a huge number.
        cycles::now().wrapping_sub(self.read_at) < cycles
    }

    /// Makes the next look at the clock a reading.
    #[inline]
    pub(super) fn distrust(&mut self) {
        self.trusted_for = 0;
    }

    /// For how many cycles after it was read the clock certainly shows this tick or an earlier one. `tick` is the last one that
    /// was read, or a number that was taken ahead of the clock has it.
    #[inline]
    pub(super) fn reaches(&mut self, tick: u64) -> u64 {
        self.is_outrun = tick > self.tick;
        if self.is_outrun { self.certain_to(tick) } else { self.trusted_for }
    }

    /// The tick that was read last.
    #[inline]
    pub(super) fn tick(&self) -> u64 {
        self.tick
    }

    /// The present time of this clock, Unix ns.
    pub fn now_ns(&self) -> i128 {
        match self.teller {
            Teller::System => system_ns(),
            Teller::Given(unix_ns) => unix_ns,
        }
    }

    /// Whether a tick is over after a few IDs: reading the cycle counter with the clock and with each ID would cost more than
    /// it saves. Not so once numbers run ahead of the clock.
    #[inline]
    fn is_brief(&self) -> bool {
        const FEW_IDS_NS: u64 = 250;
        self.scale.tick_ns() < FEW_IDS_NS
    }

    /// For how many cycles after it was read the clock certainly does not pass this tick. This is 98 % of the time until the
    /// tick ends, so that a calibration error cannot outlast it. It is at most 1 ms, so that a clock step is also noticed in a
    /// long tick, and while numbers are far ahead.
    fn certain_to(&self, tick: u64) -> u64 {
        if self.read_at == 0 {
            return 0; // the counter was not read with the clock
        }
        let end = self.scale.start_of(tick).saturating_add(self.scale.tick_ns().into());
        let left = u64::try_from(end.saturating_sub(self.last_ns)).unwrap_or(0).min(NS_PER_MS);
        left * cycles::per_ms(self.read_at) / NS_PER_MS * 98 / 100
    }
}

impl Clock for TickClock {
    #[inline]
    fn trusted(&mut self) -> Result<u64, OutOfRange> {
        if self.is_trusted() { Ok(self.tick) } else { self.read() }
    }

    #[cold]
    fn read(&mut self) -> Result<u64, OutOfRange> {
        self.trusted_for = 0; // after an error, no old tick may stay trusted
        // A time that the caller sets may change with every call, so it is never trusted.
        let is_counted = !self.is_given() && (self.is_outrun || !self.is_brief());
        let read_at = if is_counted { cycles::now() } else { 0 }; // before the clock: a pause between the two shortens the trust
        let unix_ns = self.now_ns();
        let tick = self.scale.tick_of(unix_ns)?;
        self.steps += u64::from(unix_ns < self.last_ns);
        self.last_ns = unix_ns;
        self.highest = self.highest.max(tick);
        self.tick = tick;
        self.read_at = read_at;
        self.trusted_for = if self.is_brief() { 0 } else { self.certain_to(tick) };
        Ok(tick)
    }
}
