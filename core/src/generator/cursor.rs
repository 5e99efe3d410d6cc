//! The cursor: one word with the next free number, and `claim()`, the loop that takes numbers from it. No other code takes a
//! number.
//! A number is `tick << counter_bits | counter`. The word only grows, and that alone makes IDs unique. A clock that steps
//! back, a counter that overflows and a thread that slept during a claim change *when* a number may be taken, never whether
//! it comes twice. The models in `core/loom` and `tests/generator` check that `next` and `limit` never fall, and that
//! [`Refused::Behind`] is only reported after the real clock was read.

use std::ops::Deref;

use crate::generator::clock::Clock;
use crate::hash::random;
use crate::layout::timescale::OutOfRange;
use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// The word of a retired cursor: above every limit, so that no number follows.
const RETIRED: u64 = u64::MAX;
/// The last possible number, and the highest limit.
pub const LAST: u64 = RETIRED - 1;

/// The next free number, and the last one that may be taken.
///
/// For unique numbers alone, `Relaxed` would be enough: all threads agree on the order in which the word changes. But both
/// words also publish earlier work:
/// - `limit` is raised with `Release` and loaded with `Acquire`, because before the raise a file's durable mark was synced,
///   or `next` was raised to the start of a new window. A claim that has seen the new limit cannot replace a `next` from
///   before that window: its exchange happens after `next` was raised, so it fails.
/// - `next` is changed with `Release`, for processes that open a file. A claim has seen the limit that allows its numbers. So
///   code that sees the new `next`, followed by an `Acquire` fence, also sees that limit and the mark that was written before
///   it.
///
/// `Release` on the exchange costs nothing on x86-64, where it is the same instruction.
///
/// A window of numbers, as of a lease, is extended by raising its limit:
///
/// ```
/// # use flakeforge_core::generator::clock::TickClock;
/// # use flakeforge_core::generator::cursor::{Cursor, LAST, Refused, Rule, Start};
/// # use flakeforge_core::layout::timescale::Timescale;
/// let mut clock = TickClock::given(Timescale::of_all_ticks(0, 1_000_000)); // shows the epoch
/// let rule = Rule { counter_bits: 12, seq_mask: 4095, max_ahead: 0, start: Start::ZERO, last: LAST };
/// let cursor = Cursor::window(100, 102);
/// assert_eq!(cursor.claim(9, &rule, &mut clock).map(|claim| (claim.base, claim.got)), Ok((100, 3)));
/// assert_eq!(cursor.claim(1, &rule, &mut clock), Err(Refused::PastLimit));
/// cursor.raise_limit(200);
/// assert_eq!(cursor.claim(1, &rule, &mut clock).map(|claim| claim.base), Ok(103));
/// ```
#[derive(Debug)]
#[repr(C)]
pub struct Cursor {
    next: AtomicU64,
    limit: AtomicU64,
}

/// What one generator may take from a cursor. Generators that share a cursor may have different rules, but the same
/// `counter_bits`, which are the layout's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// width of the layout's counter field
    pub counter_bits: u32,
    /// the largest counter to use: 2^k − 1, at most what the counter field holds
    pub seq_mask: u64,
    /// how many ticks IDs may run ahead of the clock; `u64::MAX` for no bound
    pub max_ahead: u64,
    /// where an unused tick starts
    pub start: Start,
    /// the last number that this generator may take, if that is below the cursor's limit; else [`LAST`]
    pub last: u64,
}

/// The counter at which an unused tick starts. It depends only on the tick, so a repeated claim tries the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Start {
    /// the largest: 2^k − 1
    most: u64,
    seed: u64,
}

impl Start {
    /// Every tick starts at 0.
    pub const ZERO: Self = Self { most: 0, seed: 0 };

    /// Each tick starts at a random counter below a quarter of `seq_mask + 1`.
    pub fn random(seq_mask: u64, seed: u64) -> Self {
        Self { most: seq_mask >> 2, seed }
    }

    #[inline]
    fn of(self, tick: u64) -> u64 {
        if self.most == 0 { 0 } else { random(self.seed, tick) & self.most }
    }
}

/// Consecutive numbers that now belong to the caller: `base`, `base + 1` … `base + got − 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// the first of them
    pub base: u64,
    /// how many; at least 1, at most the requested count
    pub got: u64,
}

/// Why no number was taken. The cursor is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// the next number is past the limit: the layout's time, a window or a durable mark has ended, or the cursor is retired
    PastLimit,
    /// the next number's tick is further ahead of the clock than the rule allows
    Behind {
        /// the next free number
        next: u64,
        /// the first number that this rule could have taken
        base: u64,
        /// the real clock's tick, read after `next`
        now: u64,
    },
    /// the clock shows a time that the layout cannot express
    OutOfRange(OutOfRange),
}

/// Why one attempt took no number.
#[derive(Clone, Copy)]
enum Missed {
    PastLimit,
    /// the first number that the rule could take is too far ahead of the tick
    Ahead {
        next: u64,
        base: u64,
    },
    /// another thread or process took numbers meanwhile
    Raced {
        seen: u64,
    },
}

impl From<OutOfRange> for Refused {
    fn from(error: OutOfRange) -> Self {
        Self::OutOfRange(error)
    }
}

impl Rule {
    /// The largest value of the layout's counter field.
    #[inline]
    fn counter_max(&self) -> u64 {
        (1 << self.counter_bits) - 1
    }

    /// The first number at or after `next` that the clock and `seq_mask` allow. An unused tick starts at `start`, unless
    /// numbers run ahead into it. After `seq_mask`, the next tick follows.
    #[inline]
    fn first_free(&self, next: u64, now: u64) -> u64 {
        let begin = now << self.counter_bits;
        let base = if next > begin { next } else { begin | self.start.of(now) };
        if base & self.counter_max() <= self.seq_mask { base } else { (base | self.counter_max()).saturating_add(1) }
    }

    /// The last of the consecutive numbers that start at `base`.
    #[inline]
    fn last_of_run(&self, base: u64, now: u64) -> u64 {
        let tick = now.saturating_add(self.max_ahead).min(u64::MAX >> self.counter_bits);
        let end = (tick << self.counter_bits) + self.counter_max();
        // The mask is all ones, and the counter of `base` does not exceed it.
        if self.seq_mask < self.counter_max() { end.min(base | self.seq_mask) } else { end }
    }
}

#[cfg(not(flakeforge_loom))]
impl Cursor {
    /// The offsets of the words, for code that reads a cursor as bytes.
    pub(crate) const NEXT_AT: usize = std::mem::offset_of!(Self, next);
    pub(crate) const LIMIT_AT: usize = std::mem::offset_of!(Self, limit);
}

impl Cursor {
    /// A new cursor. `limit` is the last number that it may ever give (until [`raise_limit`](Self::raise_limit)); [`LAST`]
    /// for no limit.
    pub fn new(limit: u64) -> Self {
        Self::window(0, limit)
    }

    /// A cursor that gives the numbers from `first` to `last` (until [`raise_limit`](Self::raise_limit)).
    pub fn window(first: u64, last: u64) -> Self {
        Self { next: AtomicU64::new(first), limit: AtomicU64::new(last.min(LAST)) }
    }

    /// Whether it was retired.
    pub fn is_retired(&self) -> bool {
        self.next() == RETIRED
    }

    /// Takes up to `n` consecutive numbers (`n` ≥ 1) for a generator with this rule and clock.
    ///
    /// Lock-free: a thread that stops in between blocks no other thread and loses nothing.
    #[inline]
    pub fn claim(&self, n: u64, rule: &Rule, clock: &mut impl Clock) -> Result<Claim, Refused> {
        // Nothing slow may come between the load and the exchange, or busy neighbours make every exchange fail. So the clock
        // is read before the load.
        match clock.trusted() {
            Ok(now) => match self.attempt(n, rule, now, self.next.load(Relaxed)) {
                Ok(claim) => Ok(claim),
                Err(missed) => self.persist(n, rule, clock, (now, missed)),
            },
            Err(error) => Err(self.without_time(rule, error)),
        }
    }

    /// How many consecutive numbers from `base` on this rule allows at the clock's tick `now`, up to the present limit.
    #[inline]
    pub(super) fn run_from(&self, base: u64, rule: &Rule, now: u64) -> u64 {
        let limit = self.limit.load(Acquire).min(rule.last);
        rule.last_of_run(base, now).min(limit).saturating_add(1).saturating_sub(base)
    }

    /// Takes the number `next` if it is still the next free one. Only for a lane, which knows that the rule and the
    /// limit allow it.
    #[inline(always)]
    pub(super) fn take_one(&self, next: u64) -> bool {
        self.next.compare_exchange(next, next + 1, Release, Relaxed).is_ok()
    }

    /// Takes numbers at this tick if `next` is still the next free number.
    #[inline(always)]
    fn attempt(&self, n: u64, rule: &Rule, now: u64, next: u64) -> Result<Claim, Missed> {
        let limit = self.limit.load(Acquire).min(rule.last);
        let base = rule.first_free(next, now);
        if base > limit {
            return Err(Missed::PastLimit); // before Ahead: a retired or ended cursor never reports a clock fault
        }
        if base >> rule.counter_bits > now.saturating_add(rule.max_ahead) {
            return Err(Missed::Ahead { next, base });
        }
        let run = rule.last_of_run(base, now).min(limit) - base + 1;
        let got = n.min(run);
        match self.next.compare_exchange_weak(next, base + got, Release, Relaxed) {
            Ok(_) => Ok(Claim { base, got }),
            Err(seen) => Err(Missed::Raced { seen }),
        }
    }

    /// Attempts again after a first attempt at a trusted tick: with the number that a failed exchange saw, or at the real
    /// clock's tick. A trusted tick may be over, so only the real clock may refuse.
    #[cold]
    #[inline(never)]
    fn persist(&self, n: u64, rule: &Rule, clock: &mut impl Clock, first: (u64, Missed)) -> Result<Claim, Refused> {
        let (mut now, mut missed) = first;
        let mut real = false; // whether the real clock was read since `next` was loaded
        loop {
            let from = match missed {
                Missed::PastLimit => return Err(Refused::PastLimit),
                Missed::Ahead { next, base } if real => return Err(Refused::Behind { next, base, now }),
                Missed::Ahead { next, .. } => {
                    (now, real) = (clock.read()?, true);
                    next
                }
                Missed::Raced { seen } => {
                    real = false;
                    seen
                }
            };
            match self.attempt(n, rule, now, from) {
                Ok(claim) => return Ok(claim),
                Err(again) => missed = again,
            }
        }
    }

    /// Why there is no number at a time that the layout does not have.
    #[cold]
    fn without_time(&self, rule: &Rule, error: OutOfRange) -> Refused {
        if self.next() > self.limit().min(rule.last) { Refused::PastLimit } else { error.into() }
    }

    /// The next free number; `u64::MAX` if retired.
    pub fn next(&self) -> u64 {
        self.next.load(Relaxed)
    }

    /// The last number that may be taken.
    pub fn limit(&self) -> u64 {
        self.limit.load(Acquire)
    }

    /// Allows numbers up to `limit`. A limit never falls.
    pub fn raise_limit(&self, limit: u64) {
        self.limit.fetch_max(limit.min(LAST), Release);
    }

    /// Skips all numbers below `first`. A retired cursor stays retired. When a renewed window has a new start, call this
    /// *before* raising the limit. In the other order, numbers between the two windows could be taken.
    pub fn raise_next(&self, first: u64) {
        self.next.fetch_max(first, Release);
    }

    /// Resets the cursor. Only for a cursor that is not in use.
    pub(super) fn reset(&self) {
        self.next.store(0, Relaxed);
        self.limit.store(LAST, Relaxed);
    }

    /// Ends the cursor and returns the next free number: every number that any thread has taken is below it. Returns
    /// `u64::MAX` if it was already retired.
    pub fn retire(&self) -> u64 {
        self.next.swap(RETIRED, Relaxed)
    }
}

/// A cursor in the memory of this process, on separate cache lines. Otherwise a generator on one core would slow down the
/// generator of another node on another core: with both cursors on one line, an ID costs 40 ns instead of 10.
#[derive(Debug)]
#[repr(align(128))] // the longest cache line; also, Intel's CPUs fetch lines in pairs of 64 bytes each
pub struct OwnCursor(Cursor);

impl From<Cursor> for OwnCursor {
    fn from(cursor: Cursor) -> Self {
        Self(cursor)
    }
}

impl Deref for OwnCursor {
    type Target = Cursor;

    #[inline]
    fn deref(&self) -> &Cursor {
        &self.0
    }
}
