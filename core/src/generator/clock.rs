//! Where ticks come from: the system's clock, or a time that the caller provides.
//!
//! Reading the system's clock is the slowest part of making an ID, and most calls of a burst are in the
//! tick that was already read. So [`TickClock`] remembers when that tick ends, counted in CPU cycles, and
//! [`trusted`](Clock::trusted) answers from that. The answer may be late by one tick after the clock was
//! stepped, and by as much after a suspend in which the CPU stood still. Uniqueness does not depend on it,
//! because the cursor only grows.
//!
//! This file must never return a tick that the layout cannot express. Such a time is an error and never
//! wraps around.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::generator::cycles;

const NS_PER_MS: u64 = 1_000_000;

/// What tells a cursor the tick.
pub trait Clock {
    /// A tick that was current at most one tick ago.
    fn trusted(&mut self) -> Result<u64, OutOfRange>;
    /// The current tick.
    fn read(&mut self) -> Result<u64, OutOfRange>;
}

/// A time that the layout cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Unix nanoseconds
    pub unix_ns: i128,
}

/// How instants become ticks: counted from an epoch, in units of `tick_ns`, from `first_tick` to `last_tick`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timescale {
    /// Unix milliseconds of tick 0
    pub epoch_ms: i64,
    /// length of a tick in nanoseconds
    pub tick_ns: u64,
    /// the first tick that may be used: 0, unless a negative `idOffset` forbids some
    pub first_tick: u64,
    /// the last tick that the layout can express
    pub last_tick: u64,
}

impl Timescale {
    fn epoch_ns(&self) -> i128 {
        i128::from(self.epoch_ms) * i128::from(NS_PER_MS)
    }

    /// The tick in which an instant (Unix nanoseconds) lies.
    pub fn tick_of(&self, unix_ns: i128) -> Result<u64, OutOfRange> {
        let since = unix_ns.saturating_sub(self.epoch_ns());
        let tick = match u64::try_from(since) {
            Ok(since) => since / self.tick_ns, // covers every real clock until 2554; 128-bit division costs 30 ns more
            Err(_) if since < 0 => return Err(OutOfRange { unix_ns }),
            Err(_) => u64::try_from(since / i128::from(self.tick_ns)).unwrap_or(u64::MAX),
        };
        if (self.first_tick..=self.last_tick).contains(&tick) { Ok(tick) } else { Err(OutOfRange { unix_ns }) }
    }

    /// The first instant of a tick, in Unix milliseconds; has a fraction if ticks are finer.
    pub fn start_ms(&self, tick: u64) -> f64 {
        // 128-bit division costs 30 ns, and is not needed for whole milliseconds that a float holds exactly.
        const EXACT: u64 = 1 << 52;
        if self.tick_ns == NS_PER_MS && tick < EXACT {
            return self.epoch_ms as f64 + tick as f64;
        }
        to_ms(self.start_of(tick))
    }

    /// The first instant of a tick, in Unix nanoseconds.
    pub fn start_of(&self, tick: u64) -> i128 {
        self.epoch_ns() + i128::from(tick) * i128::from(self.tick_ns)
    }
}

/// Nanoseconds as milliseconds; whole milliseconds are exact. Today's Unix nanoseconds are past 2^53, so dividing them
/// as floats would put some instants into the wrong millisecond.
pub fn to_ms(ns: i128) -> f64 {
    let per_ms = i128::from(NS_PER_MS);
    ns.div_euclid(per_ms) as f64 + ns.rem_euclid(per_ms) as f64 / NS_PER_MS as f64
}

/// The system's clock, in Unix nanoseconds; negative before 1970.
pub fn system_ns() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

#[derive(Clone, Copy, Debug)]
enum Source {
    System,
    /// the Unix nanoseconds that the caller gave last
    Given(i128),
}

/// The clock of one generator on one thread.
#[derive(Clone, Debug)]
pub struct TickClock {
    /// how instants become ticks
    pub scale: Timescale,
    source: Source,
    tick: u64,
    read_at: u64,
    trusted_for: u64,
    highest: u64,
    last_ns: i128,
    steps: u64,
}

impl TickClock {
    /// A clock that follows the system's.
    pub fn system(scale: Timescale) -> Self {
        Self::new(scale, Source::System)
    }

    /// A clock that shows what [`set`](Self::set) was last given, and Unix time 0 before that.
    pub fn given(scale: Timescale) -> Self {
        Self::new(scale, Source::Given(0))
    }

    fn new(scale: Timescale, source: Source) -> Self {
        Self { scale, source, tick: 0, read_at: 0, trusted_for: 0, highest: 0, last_ns: i128::MIN, steps: 0 }
    }

    /// Whether the caller gives the time.
    #[inline]
    pub fn is_given(&self) -> bool {
        matches!(self.source, Source::Given(_))
    }

    /// Sets the time of a clock whose time the caller gives, in Unix nanoseconds.
    pub fn set(&mut self, unix_ns: i128) {
        self.source = Source::Given(unix_ns);
    }

    /// The instant of the last real read, in Unix nanoseconds.
    pub fn last_ns(&self) -> i128 {
        self.last_ns
    }

    /// The highest tick read so far.
    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// How many times a read was earlier than the one before it.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What this clock shows now, in Unix nanoseconds.
    pub fn now_ns(&self) -> i128 {
        match self.source {
            Source::System => system_ns(),
            Source::Given(unix_ns) => unix_ns,
        }
    }

    /// For how many cycles the tick of `unix_ns` certainly lasts. This is 98 % of what is left of it, so that an
    /// error of the calibration cannot outlast the tick. It is at most 1 ms, so that a step of the clock is noticed
    /// in a long tick, too. It is 0 if the caller gives the time, which may change at every call.
    fn trust(&self, unix_ns: i128) -> u64 {
        if self.is_given() {
            return 0;
        }
        let end = self.scale.start_of(self.tick) + i128::from(self.scale.tick_ns);
        let left = u64::try_from(end - unix_ns).unwrap_or(0).min(NS_PER_MS);
        left * cycles::per_ms(self.read_at) / NS_PER_MS * 98 / 100
    }
}

impl Clock for TickClock {
    #[inline]
    fn trusted(&mut self) -> Result<u64, OutOfRange> {
        // If the counter ran backwards, the difference wraps to a huge number, and the clock is read.
        if cycles::now().wrapping_sub(self.read_at) < self.trusted_for { Ok(self.tick) } else { self.read() }
    }

    #[cold]
    fn read(&mut self) -> Result<u64, OutOfRange> {
        self.trusted_for = 0; // if an error follows, no old tick must stay trusted
        let read_at = cycles::now(); // before the clock: a pause between the two shortens the trust
        let unix_ns = self.now_ns();
        let tick = self.scale.tick_of(unix_ns)?;
        self.steps += u64::from(unix_ns < self.last_ns);
        self.last_ns = unix_ns;
        self.highest = self.highest.max(tick);
        self.tick = tick;
        self.read_at = read_at;
        self.trusted_for = self.trust(unix_ns);
        Ok(tick)
    }
}
