//! A generator: clock + cursor + layout, and the rule for using them together. It turns claims into IDs, and refusals into
//! something that a caller can act on: what is wrong, and when to try again.
//!
//! The lowest file of this room comes first. A file uses only those above it in this table, and the room
//! [`layout`](crate::layout).
//!
//! | file | its one idea |
//! |---|---|
//! | [`cycles`] | the CPU's cycle counter, calibrated, which makes it cheap to trust a tick |
//! | [`clock`] | where ticks come from, and how long a reading may be trusted |
//! | [`cursor`] | `claim()`, the only place where numbers are taken |
//! | [`lane`] | the numbers after a claim, worked out once |
//! | [`numbers`] | the times of numbers |
//! | [`prefetch`] | numbers that are claimed many at a time and returned one by one |
//! | [`entry`] | what all copies of the library in a process know about a key: its cursor and its use |
//! | [`any_cursor`] | a cursor in memory or elsewhere |
//! | [`registry`] | one cursor for all generators of a process whose IDs could be equal |
//!
//! A generator belongs to one thread (`&mut self`); generators share a cursor.

pub mod any_cursor;
pub mod clock;
pub mod cursor;
pub mod cycles;
pub mod entry;
pub mod lane;
pub mod numbers;
pub mod prefetch;
#[cfg_attr(flakeforge_loom, allow(dead_code))] // the modules that use the rest of it are missing: see files.rs
pub mod registry;

use crate::generator::clock::{Clock, TickClock, system_ns};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use crate::generator::any_cursor::AnyCursor;
use crate::generator::cursor::{Claim, Cursor, LAST, Refused, Rule, Start};
use crate::generator::lane::Lane;
use crate::generator::numbers::last_exact;
use crate::generator::prefetch::{Prefetch, PrefetchRule};
use crate::layout::timescale::{NS_PER_MS, to_ms};
use crate::layout::{Layout, Packing, PlacedNode};
use crate::refusal::Refusal;

/// The seed of the counters at which ticks start. Fixed per process, so that equal options are equal rules.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

/// What a generator has done since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// IDs generated
    pub ids: u64,
    /// batches: calls of [`Generator::fill`] that generated some, and prefetches
    pub batches: u64,
    /// refusals because the counter of a tick was exhausted
    pub overflows: u64,
    /// waits for an ID
    pub waits: u64,
    /// total duration of the waits, ms
    pub waited_ms: f64,
}

/// The options of a generator that control how it uses the ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knobs {
    /// the largest counter to use: 2^k − 1
    pub seq_mask: u64,
    /// how far IDs may run ahead of the clock, ms; may be infinite
    pub max_ahead_ms: f64,
    /// whether ticks start at a random counter, below a quarter of `seq_mask + 1`, instead of 0
    pub is_start_random: bool,
    /// whether and how numbers are claimed before they are needed
    pub prefetch: Option<PrefetchRule>,
}

impl Knobs {
    /// These options as a rule for the cursor.
    pub fn rule(&self, layout: &Layout) -> Rule {
        let (mask, most) = (self.seq_mask, layout.counter_max());
        assert!(mask <= most && (mask & (mask + 1)) == 0, "{mask} is no mask of a counter of at most {most}");
        let ticks = self.max_ahead_ms * NS_PER_MS as f64 / layout.scale().tick_ns() as f64;
        Rule {
            counter_bits: layout.packing().counter_bits(),
            seq_mask: self.seq_mask,
            max_ahead: ticks as u64, // saturates: infinity is u64::MAX
            start: if self.is_start_random { Start::random(self.seq_mask, *SEED) } else { Start::ZERO },
            last: layout.last_number().min(LAST), // the highest possible limit
        }
    }
}

/// Generates the IDs of one node, on one thread.
///
/// A refusal includes the time to wait. Here the counter of a tick is exhausted, and the caller lets the time pass:
///
/// ```
/// # use std::sync::Arc;
/// # use flakeforge_core::generator::clock::TickClock;
/// # use flakeforge_core::generator::cursor::{Cursor, LAST, OwnCursor};
/// # use flakeforge_core::generator::{Generator, Knobs};
/// # use flakeforge_core::layout::Layout;
/// # use flakeforge_core::refusal::Refusal;
/// let layout = Layout::named("flake").unwrap();
/// let cursor = Arc::new(OwnCursor::from(Cursor::new(LAST)));
/// let clock = TickClock::given(layout.scale()); // shows the time that is set
/// let knobs = Knobs { seq_mask: 4095, max_ahead_ms: 0.0, is_start_random: false, prefetch: None };
/// let mut ids = Generator::new(clock, cursor, &layout, layout.place_node(1), &knobs);
///
/// ids.set_time(1_500_000); // 1.5 ms after 1970 began
/// let (made, stopped) = ids.fill(&mut [0; 5000], |id| id);
/// assert_eq!((made, stopped), (4096, Some(Refusal::Overflow { retry_after_ms: 0.5 })));
/// ids.set_time(2_000_000);
/// assert!(ids.next_id().is_ok());
/// ```
#[derive(Debug)]
pub struct Generator {
    clock: TickClock,
    cursor: AnyCursor,
    rule: Rule,
    packing: Packing,
    node: PlacedNode,
    id_offset: u64,
    prefetch: Option<Prefetch>,
    /// the number after the last one taken
    taken: u64,
    /// the numbers that may be taken for a while without the rule
    lane: Lane,
    /// for how many cycles after the clock was read; 0 whenever it may have been read again
    lane_for: u64,
    last_exact: Option<u64>,
    since_ns: i128,
    stats: Stats,
}

/// The changes that [`Generator::lower`] made.
struct Lowered {
    /// the previous last number of the rule
    last: u64,
    /// how many prefetched numbers were set aside
    aside: u64,
}

impl Generator {
    /// A generator for a node number of a layout.
    pub fn new(
        clock: TickClock,
        cursor: impl Into<AnyCursor>,
        layout: &Layout,
        node: PlacedNode,
        knobs: &Knobs,
    ) -> Self {
        let since_ns = system_ns();
        Self {
            clock,
            cursor: cursor.into(),
            rule: knobs.rule(layout),
            packing: layout.packing(),
            node,
            id_offset: layout.id_offset(),
            prefetch: knobs.prefetch.map(Prefetch::new),
            taken: 0,
            lane: Lane::EMPTY,
            lane_for: 0,
            last_exact: last_exact(layout, since_ns),
            since_ns,
            stats: Stats::default(),
        }
    }

    /// Generates an ID.
    #[inline]
    pub fn next_id(&mut self) -> Result<u64, Refusal> {
        match self.next_in_lane() {
            Some(id) => Ok(id),
            None => self.next_by_rule(),
        }
    }

    /// An ID of the lane, if it is open and the next number is in it.
    #[inline(always)]
    fn next_in_lane(&mut self) -> Option<u64> {
        if self.lane_for == 0 {
            return None;
        }
        if !self.clock.is_within(self.lane_for) {
            self.clock.distrust(); // its tick ended before the lane, or with it
            return None;
        }
        let (cursor, seen) = self.cursor.open()?;
        let (number, id) = self.lane.take(cursor, seen.max(self.taken))?;
        self.taken = number + 1;
        self.stats.ids += 1;
        Some(id)
    }

    /// An ID by clock and rule. Opens the lane for those that follow.
    #[inline(always)] // a call would return the result through memory, 3 ns more where there is no lane
    fn next_by_rule(&mut self) -> Result<u64, Refusal> {
        let claimed = match &self.prefetch {
            None => self.take(1),
            Some(_) => self.prefetched(),
        };
        match claimed {
            Ok(claim) => {
                self.stats.ids += 1;
                let id = self.packing.pack(claim.base, self.node).wrapping_add(self.id_offset);
                if self.prefetch.is_none() {
                    self.open_lane(claim, id);
                }
                Ok(id)
            }
            Err(refused) => Err(self.explain(refused)),
        }
    }

    /// Opens the lane for the numbers after a claim, until the clock has passed its tick.
    #[inline(always)]
    fn open_lane(&mut self, claim: Claim, id: u64) {
        let stride = self.packing.stride();
        if stride.span == 0 {
            return; // no numbers: the layout has no counter, and its ticks do not follow each other
        }
        self.lane_for = self.clock.reaches(claim.base >> self.rule.counter_bits);
        if self.lane_for > 0 {
            self.lane = Lane::after(claim, id, stride, self.cursor.cursor(), &self.rule, self.clock.tick());
        }
    }

    /// Fills `out` from the front with IDs in order; `write` turns each into an element. Returns how many were generated, and
    /// what stopped it early, if anything.
    pub fn fill<T>(&mut self, out: &mut [T], write: impl Fn(u64) -> T) -> (usize, Option<Refusal>) {
        let (packing, node, id_offset) = (self.packing, self.node, self.id_offset);
        let mut made = 0;
        let mut stopped = None;
        while made < out.len() {
            match self.claim((out.len() - made) as u64) {
                Ok(claim) => {
                    let run = &mut out[made..made + claim.got as usize];
                    packing.pack_run(claim.base, node, run, |id| write(id.wrapping_add(id_offset)));
                    made += run.len();
                }
                Err(refused) => {
                    stopped = Some(self.explain(refused));
                    break;
                }
            }
        }
        self.stats.ids += made as u64;
        self.stats.batches += u64::from(made > 0);
        (made, stopped)
    }

    /// Generates an ID that a 64-bit float holds exactly, at most [`EXACT_MAX`](crate::layout::EXACT_MAX). Never takes a
    /// number whose ID would have to be rounded.
    #[inline]
    pub fn next_exact(&mut self) -> Result<u64, Refusal> {
        let lowered = self.lower()?;
        let made = self.next_id();
        self.restore(lowered);
        match made {
            Ok(id) => Ok(id),
            Err(refusal) => Err(self.why_not_exact(refusal)),
        }
    }

    /// The same for a batch, like [`fill`](Self::fill).
    pub fn fill_exact<T>(&mut self, out: &mut [T], write: impl Fn(u64) -> T) -> (usize, Option<Refusal>) {
        let lowered = match self.lower() {
            Ok(lowered) => lowered,
            Err(refusal) => return (0, Some(refusal)),
        };
        let (made, stopped) = self.fill(out, write);
        self.restore(lowered);
        (made, stopped.map(|refusal| self.why_not_exact(refusal)))
    }

    /// Restricts the rule to exact IDs, until [`restore`](Self::restore). The two are not one function around the work,
    /// because that takes 4 ns longer.
    #[inline]
    fn lower(&mut self) -> Result<Lowered, Refusal> {
        let Some(exact) = self.last_exact else { return Err(Refusal::NotExact) };
        let last = self.rule.last;
        self.rule.last = exact.min(last);
        self.lane.end_at(self.rule.last);
        // Other calls may have prefetched numbers past the last exact one. While any are left, no number is claimed, because
        // it would be above them. So the numbers set aside are still the next ones when they are put back.
        let aside = self.prefetch.as_mut().map_or(0, |prefetch| prefetch.set_aside_above(exact));
        Ok(Lowered { last, aside })
    }

    #[inline]
    fn restore(&mut self, Lowered { last, aside }: Lowered) {
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.put_back(aside);
        }
        self.rule.last = last;
    }

    /// To the rest of the generator, a time that is too late for exact IDs looks too late for the layout.
    #[cold]
    fn why_not_exact(&self, refusal: Refusal) -> Refusal {
        let scale = self.clock.scale();
        let tick = self.last_exact.unwrap_or_default() >> self.rule.counter_bits;
        let is_late = |ms| tick < scale.last_tick() && ms >= to_ms(scale.start_of(tick + 1));
        match refusal {
            Refusal::TimeRange { timestamp_ms } if is_late(timestamp_ms) => Refusal::NoLongerExact,
            other => other,
        }
    }

    /// Numbers for a batch. Prefetched ones come first, so that IDs stay in order.
    fn claim(&mut self, n: u64) -> Result<Claim, Refused> {
        match self.held(n)? {
            Some(claim) => Ok(claim),
            None => self.take(n),
        }
    }

    /// Numbers from the cursor.
    #[inline]
    fn take(&mut self, n: u64) -> Result<Claim, Refused> {
        self.lane_for = 0;
        let Some((cursor, seen)) = self.cursor.open() else { return Err(Refused::PastLimit) };
        match cursor.claim(n, &self.rule, &mut self.clock) {
            Ok(claim) => self.believe(claim, seen),
            Err(Refused::PastLimit) => self.take_past_mark(n),
            refused => refused,
        }
    }

    /// Accepts the claim if its numbers are above all that this generator has taken and all that were seen taken.
    #[inline]
    fn believe(&mut self, claim: Claim, seen: u64) -> Result<Claim, Refused> {
        if claim.base < seen.max(self.taken) {
            return Err(self.cursor.went_back());
        }
        self.taken = claim.base + claim.got;
        Ok(claim)
    }

    /// Takes numbers from a cursor that has reached its limit. If that is the mark of a cursor stored elsewhere, not the end
    /// of the layout, the mark is raised. Each round of the loop means that this process or another advanced it by seconds,
    /// so the loop ends.
    ///
    /// The mark is not raised for a number that the clock does not allow yet, nor for one that the layout does not have.
    /// Otherwise it would advance each time the cursor is opened.
    #[cold]
    fn take_past_mark(&mut self, n: u64) -> Result<Claim, Refused> {
        while let AnyCursor::Kept(kept) = &self.cursor {
            kept.check()?; // a lost or overwritten cursor may look retired, or at the end of the layout
            if kept.cursor().limit() >= self.rule.last {
                break;
            }
            let without_mark = Cursor::window(kept.cursor().next(), LAST);
            let possible = without_mark.claim(n, &self.rule, &mut self.clock)?.base >> self.rule.counter_bits;
            let now = self.clock.read()?; // the claim below trusts this tick, so the mark may not fall behind it
            kept.raise_from(now.max(possible))?;
            let seen = kept.seen();
            match kept.cursor().claim(n, &self.rule, &mut self.clock) {
                Ok(claim) => return self.believe(claim, seen),
                Err(Refused::PastLimit) => {}
                refused => return refused,
            }
        }
        Err(Refused::PastLimit)
    }

    /// Up to `n` prefetched numbers that are still valid.
    fn held(&mut self, n: u64) -> Result<Option<Claim>, Refused> {
        let Some(prefetch) = &mut self.prefetch else { return Ok(None) };
        if self.cursor.is_ended() {
            return Err(Refused::PastLimit); // another generator may be using these numbers by now
        }
        if prefetch.expires() {
            self.clock.trusted()?;
            prefetch.expire(self.clock.last_ns());
        }
        Ok(prefetch.take(n))
    }

    /// A prefetched number. If there is none, claims more first.
    fn prefetched(&mut self) -> Result<Claim, Refused> {
        if let Some(claim) = self.held(1)? {
            return Ok(claim);
        }
        let count = self.prefetch.as_ref().map_or(1, Prefetch::count);
        let claim = self.take(count)?;
        let now_ns = self.clock.last_ns();
        self.stats.batches += 1;
        if let Some(prefetch) = &mut self.prefetch {
            prefetch.refill(claim, now_ns);
            prefetch.take(1);
        }
        Ok(Claim { base: claim.base, got: 1 })
    }

    /// The source of its ticks.
    #[inline]
    pub fn clock(&self) -> &TickClock {
        &self.clock
    }

    /// Sets the time of a clock that the caller controls, Unix ns.
    ///
    /// # Panics
    ///
    /// If the clock is the system's.
    #[inline]
    pub fn set_time(&mut self, unix_ns: i128) {
        self.clock.set(unix_ns);
    }

    /// Records a wait of `ms` milliseconds for an ID.
    pub fn waited(&mut self, ms: f64) {
        self.stats.waits += 1;
        self.stats.waited_ms += ms;
    }

    /// What this generator has done so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// When this generator was created, Unix ms.
    pub fn since_ms(&self) -> f64 {
        to_ms(self.since_ns)
    }

    /// How far the last ID is ahead of the clock, ms; 0 if it is not.
    pub fn ahead_ms(&self) -> f64 {
        let Some(last) = self.cursor.next().checked_sub(1) else { return 0.0 };
        let last = last >> self.rule.counter_bits;
        to_ms(self.clock.scale().start_of(last).saturating_sub(self.clock.now_ns())).max(0.0)
    }

    #[cold]
    fn explain(&mut self, refused: Refused) -> Refusal {
        match refused {
            Refused::Behind { next, base, now } => self.behind(next, base, now),
            Refused::OutOfRange(time) => Refusal::TimeRange { timestamp_ms: to_ms(time.unix_ns) },
            Refused::PastLimit if self.cursor.has_failed() => Refusal::Failed,
            Refused::PastLimit if self.is_window_over() => match self.clock.read() {
                // No later window has an ID for such a time, so waiting for one would never end.
                Err(time) => Refusal::TimeRange { timestamp_ms: to_ms(time.unix_ns) },
                Ok(_) => Refusal::WindowEnd,
            },
            Refused::PastLimit => Refusal::TimeRange {
                timestamp_ms: to_ms(self.clock.scale().start_of(self.clock.scale().last_tick().saturating_add(1))),
            },
        }
    }

    /// Whether the cursor ended before the layout does. The limit of a cursor stored elsewhere is a mark, not an end.
    fn is_window_over(&self) -> bool {
        let AnyCursor::Own(cursor) = &self.cursor else { return self.cursor.is_ended() };
        let last = self.rule.last;
        cursor.limit() < last && (cursor.next() <= last || cursor.is_retired())
    }

    /// Why the next number is behind. The clock is at fault if the last number's tick is further ahead than the rule allows,
    /// or if the clock shows less than before. Otherwise the counter is exhausted.
    fn behind(&mut self, next: u64, base: u64, now: u64) -> Refusal {
        let Rule { counter_bits, max_ahead, .. } = self.rule;
        let scale = self.clock.scale();
        let last_tick = next.saturating_sub(1) >> counter_bits;
        let possible_at = scale.start_of((base >> counter_bits).saturating_sub(max_ahead));
        let retry_after_ms = to_ms(possible_at - self.clock.last_ns());
        if last_tick > now.saturating_add(max_ahead) || now < self.clock.highest() {
            let behind = last_tick.max(self.clock.highest()).saturating_sub(now);
            let behind_ms = to_ms(i128::from(behind) * i128::from(scale.tick_ns()));
            Refusal::ClockBackwards { behind_ms, retry_after_ms }
        } else {
            self.stats.overflows += 1;
            Refusal::Overflow { retry_after_ms }
        }
    }
}
