//! How instants become ticks, and ticks become instants: counted from an epoch in units of one length. A time without a tick
//! in the layout is an error and never wraps around.

/// Nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;
/// The last instant that a JavaScript Date can show, Unix ms; layouts end there at the latest.
pub const LAST_DATE_MS: i64 = 8_640_000_000_000_000;

/// A time that the layout cannot express.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange {
    /// Unix nanoseconds
    pub unix_ns: i128,
}

/// Converts instants to ticks: counted from an epoch in units of one length, from a first tick to a last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timescale {
    epoch_ms: i64,
    tick_ns: u64,
    first_tick: u64,
    last_tick: u64,
}

impl Timescale {
    /// All ticks of `tick_ns` nanoseconds from an epoch on, Unix ms.
    ///
    /// # Panics
    ///
    /// If `tick_ns` is 0.
    pub const fn of_all_ticks(epoch_ms: i64, tick_ns: u64) -> Self {
        assert!(tick_ns > 0, "a tick must last 1 ns or more");
        Self { epoch_ms, tick_ns, first_tick: 0, last_tick: u64::MAX }
    }

    /// The same, limited to these ticks, both included.
    pub const fn with_ticks(self, first_tick: u64, last_tick: u64) -> Self {
        Self { first_tick, last_tick, ..self }
    }

    /// Unix milliseconds of tick 0.
    #[inline]
    pub const fn epoch_ms(&self) -> i64 {
        self.epoch_ms
    }

    /// Length of a tick in nanoseconds.
    #[inline]
    pub const fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// The first usable tick: 0 unless a negative `idOffset` excludes some.
    #[inline]
    pub const fn first_tick(&self) -> u64 {
        self.first_tick
    }

    /// The last tick that the layout can express.
    #[inline]
    pub const fn last_tick(&self) -> u64 {
        self.last_tick
    }

    fn epoch_ns(&self) -> i128 {
        i128::from(self.epoch_ms) * i128::from(NS_PER_MS)
    }

    /// The tick that contains an instant (Unix ns).
    pub fn tick_of(&self, unix_ns: i128) -> Result<u64, OutOfRange> {
        let since = unix_ns.saturating_sub(self.epoch_ns());
        let tick = match u64::try_from(since) {
            Ok(since) => since / self.tick_ns, // covers every real clock until 2554; 128-bit division costs 30 ns more
            Err(_) if since < 0 => return Err(OutOfRange { unix_ns }),
            Err(_) => u64::try_from(since / i128::from(self.tick_ns)).unwrap_or(u64::MAX),
        };
        if (self.first_tick..=self.last_tick).contains(&tick) { Ok(tick) } else { Err(OutOfRange { unix_ns }) }
    }

    /// The instant (Unix ns) that a time in Unix ms means.
    ///
    /// A float of today's milliseconds is up to 122 ns off, so it may be a little before the start of a fine tick. The start
    /// of a tick, converted to a float, is nevertheless in that tick: the nearest tick counts, unless it starts later than
    /// the given time even as a float, or the next one starts at this very float, as it may at the end of a millisecond: see
    /// [`to_ms`]. If several ticks start at the same float, the result is one of them.
    pub fn instant_of(&self, ms: f64) -> i128 {
        let whole = ms.floor();
        let beyond = ((ms - whole) * NS_PER_MS as f64).round() as u64;
        let at = |beyond: u64| (whole as i128).saturating_mul(NS_PER_MS.into()).saturating_add(beyond.into());
        if self.tick_ns.is_multiple_of(NS_PER_MS) {
            return at(beyond.min(NS_PER_MS - 1)); // all ticks start at whole milliseconds, which are exact
        }
        let (ns, length) = (at(beyond), i128::from(self.tick_ns));
        let nearest = ns.saturating_sub(self.epoch_ns()).saturating_add(length / 2).div_euclid(length);
        let start = self.epoch_ns().saturating_add(nearest.saturating_mul(length));
        let last = self.start_of(self.last_tick);
        if ms == whole {
            return if nearest_ms(start) <= ms { ns.max(start) } else { ns.min(start - 1) };
        }
        if start > last && to_ms(last) == ms {
            last // later ticks that start at the same float do not exist
        } else if to_ms(start) < ms && start + length <= last && to_ms(start + length) == ms {
            start + length
        } else if to_ms(start) <= ms {
            ns.max(start)
        } else {
            ns.min(start - 1)
        }
    }

    /// The first instant of a tick (Unix ns), saturating at 128 bits.
    pub fn start_of(&self, tick: u64) -> i128 {
        let since = i128::try_from(u128::from(tick) * u128::from(self.tick_ns)).unwrap_or(i128::MAX);
        self.epoch_ns().saturating_add(since)
    }
}

/// Nanoseconds as milliseconds; whole milliseconds are exact. Today's Unix nanoseconds exceed 2^53, so dividing them as
/// floats would put some instants into the wrong millisecond. So would the nearest float to the last 122 ns of one of today's:
/// they get the float below.
pub fn to_ms(ns: i128) -> f64 {
    let nearest = nearest_ms(ns);
    if nearest.floor() > ns.div_euclid(i128::from(NS_PER_MS)) as f64 { nearest.next_down() } else { nearest }
}

fn nearest_ms(ns: i128) -> f64 {
    let per_ms = i128::from(NS_PER_MS);
    ns.div_euclid(per_ms) as f64 + ns.rem_euclid(per_ms) as f64 / NS_PER_MS as f64
}

/// The first whole millisecond that is not before an instant, as far as floats tell them apart.
pub fn ceil_ms(ns: i128) -> f64 {
    nearest_ms(ns).ceil()
}

/// The Unix millisecond that contains an instant.
pub fn whole_ms(unix_ns: i128) -> i64 {
    i64::try_from(unix_ns.div_euclid(i128::from(NS_PER_MS))).unwrap_or(i64::MAX)
}
