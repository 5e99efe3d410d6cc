//! Prefetch against its definition: a generator that claims many numbers at a time is compared with a model of it, under a
//! clock that stops, jumps and steps back.

use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::cursor::{Cursor, OwnCursor};
use flakeforge_core::generator::prefetch::PrefetchRule;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::Layout;
use flakeforge_core::refusal::Refusal;
use proptest::prelude::*;
use std::sync::Arc;

const MS: i128 = 1_000_000;
/// Numbers per tick: Hazelcast's counter has 6 bits.
const PER_TICK: u64 = 64;
const NODE: u64 = 7;
/// The start of the model's clocks.
const START: i128 = (1_514_764_800_000 + 1_000_000) * MS;

fn layout() -> Layout {
    Layout::named("hazelcast").unwrap()
}

fn generator(count: u64, validity_ns: u64, max_ahead_ms: f64) -> Generator {
    let layout = layout();
    let prefetch = Some(PrefetchRule { count: count.try_into().unwrap(), validity_ns });
    let knobs = Knobs { seq_mask: PER_TICK - 1, max_ahead_ms, is_start_random: false, prefetch };
    let cursor = Arc::new(OwnCursor::from(Cursor::new(u64::MAX)));
    Generator::new(TickClock::given(layout.scale()), cursor, &layout, layout.place_node(NODE), &knobs)
}

fn next_at(generator: &mut Generator, unix_ns: i128) -> Result<u64, Refusal> {
    generator.set_time(unix_ns);
    generator.next_id()
}

/// Up to `n` IDs.
fn fill_at(generator: &mut Generator, unix_ns: i128, n: usize) -> Vec<u64> {
    generator.set_time(unix_ns);
    let mut ids = vec![0; n];
    let (made, stopped) = generator.fill(&mut ids, |id| id);
    assert_eq!(made < n, stopped.is_some());
    ids.truncate(made);
    ids
}

/// The tick of an instant.
fn tick_at(unix_ns: i128) -> u64 {
    u64::try_from((unix_ns - 1_514_764_800_000 * MS) / MS).unwrap()
}

/// The number of an ID; Hazelcast's node is the lowest field.
fn number(id: u64) -> u64 {
    id >> 16
}

#[test]
fn dead_exactly_at_its_validity() {
    for (after, is_held) in [(0, true), (1, true), (600 * MS - 1, true), (600 * MS, false), (601 * MS, false)] {
        let mut held = generator(100, 600 * MS as u64, 15_000.0);
        let first = next_at(&mut held, START).unwrap();
        let second = next_at(&mut held, START + after).unwrap();
        let follows = number(second) == number(first) + 1;
        assert_eq!(follows, is_held, "{after} ns later");
        assert!(follows || number(second) == tick_at(START + after) * PER_TICK, "a new claim starts at the clock");
    }
}

#[test]
fn dead_once_seen_dead() {
    let mut held = generator(100, 600 * MS as u64, 15_000.0);
    let first = next_at(&mut held, START).unwrap();
    let fresh = next_at(&mut held, START + 700 * MS).unwrap();
    let back = next_at(&mut held, START + 1).unwrap();
    assert!(number(fresh) > number(first) + 100 && number(back) == number(fresh) + 1, "{first} {fresh} {back}");
}

#[test]
fn a_validity_of_0_is_forever() {
    let mut held = generator(100, 0, 15_000.0);
    let first = next_at(&mut held, START).unwrap();
    for later in 1..100 {
        let id = next_at(&mut held, START + i128::from(later) * 365 * 86_400_000 * MS / 2).unwrap();
        assert_eq!(number(id), number(first) + later);
    }
    assert_eq!((held.stats().batches, held.stats().ids), (1, 100));
    next_at(&mut held, START).unwrap();
    assert_eq!(held.stats().batches, 2);
}

#[test]
fn a_prefetch_larger_than_the_ticks_allow_takes_what_there_is() {
    let mut held = generator(100_000, 0, 0.0);
    for _ in 0..PER_TICK {
        next_at(&mut held, START).unwrap();
    }
    assert!(matches!(next_at(&mut held, START), Err(Refusal::Overflow { .. })));
    assert_eq!(held.stats().batches, 1);
    assert!(next_at(&mut held, START + MS).is_ok());
}

#[test]
fn held_numbers_need_no_clock() {
    // Numbers claimed before are given even when a new claim would fail.
    let mut held = generator(3, 0, 0.0);
    let first = next_at(&mut held, START).unwrap();
    assert_eq!(next_at(&mut held, START - 1000 * MS).map(number), Ok(number(first) + 1));
    assert_eq!(fill_at(&mut held, START - 1000 * MS, 5).len(), 1);
    assert!(matches!(next_at(&mut held, START - 1000 * MS), Err(Refusal::ClockBackwards { .. })));
}

/// The design of a cursor and a prefetch, with nothing shared and one number at a time.
struct Model {
    count: u64,
    validity_ns: i128,
    max_ahead: u64,
    next: u64,
    held: Vec<u64>, // the next one last
    dead_at_ns: Option<i128>,
    batches: u64,
}

impl Model {
    /// Up to `n` numbers from the cursor.
    fn claim(&mut self, n: u64, now_ns: i128) -> Vec<u64> {
        let now = tick_at(now_ns);
        let mut claimed = Vec::new();
        while (claimed.len() as u64) < n {
            let number = self.next.max(now * PER_TICK);
            if number / PER_TICK > now + self.max_ahead {
                break;
            }
            self.next = number + 1;
            claimed.push(number);
        }
        claimed
    }

    fn bury(&mut self, now_ns: i128) {
        if self.dead_at_ns.is_some_and(|dead_at| now_ns >= dead_at) {
            self.held.clear();
        }
    }

    fn next(&mut self, now_ns: i128) -> Option<u64> {
        self.bury(now_ns);
        if self.held.is_empty() {
            self.held = self.claim(self.count, now_ns);
            self.held.reverse();
            self.dead_at_ns = (self.validity_ns > 0).then(|| now_ns + self.validity_ns);
            self.batches += u64::from(!self.held.is_empty());
        }
        self.held.pop()
    }

    fn fill(&mut self, n: usize, now_ns: i128) -> Vec<u64> {
        if n > 0 {
            self.bury(now_ns); // a call that wants nothing does not read the clock
        }
        let from_held = n.min(self.held.len());
        let mut numbers: Vec<u64> = self.held.drain(self.held.len() - from_held..).rev().collect();
        numbers.extend(self.claim((n - from_held) as u64, now_ns));
        self.batches += u64::from(!numbers.is_empty());
        numbers
    }
}

/// A call, and how far the clock has moved since the last one.
#[derive(Clone, Copy, Debug)]
enum Call {
    Next(i128),
    Fill(i128, usize),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let moved = || {
        prop_oneof![
            4 => Just(0),
            4 => 1..2 * MS,
            2 => (1..10i128).prop_map(|ms| ms * MS), // reaches the end of a validity to the nanosecond
            1 => 10 * MS..100_000 * MS,
            2 => -20 * MS..0,
        ]
    };
    let call = prop_oneof![
        3 => moved().prop_map(Call::Next),
        1 => (moved(), 0..200usize).prop_map(|(moved, n)| Call::Fill(moved, n)),
    ];
    prop::collection::vec(call, 1..150)
}

fn counts() -> impl Strategy<Value = u64> {
    prop_oneof![Just(1), 2..10u64, 10..300u64, Just(100_000)]
}

proptest! {
    #[test]
    fn matches_the_model(
        count in counts(),
        validity_ms in 0..10u64,
        max_ahead_ms in prop_oneof![Just(0u64), 1..8u64, Just(15_000)],
        calls in calls(),
    ) {
        let validity_ns = validity_ms * MS as u64;
        let mut real = generator(count, validity_ns, max_ahead_ms as f64);
        let mut model = Model {
            count,
            validity_ns: validity_ns.into(),
            max_ahead: max_ahead_ms,
            next: 0,
            held: vec![],
            dead_at_ns: None,
            batches: 0,
        };
        let mut now_ns = START + 5 * MS / 2;
        let mut made: Vec<u64> = Vec::new();
        for call in calls {
            let (ids, expected) = match call {
                Call::Next(moved) => {
                    now_ns += moved;
                    (next_at(&mut real, now_ns).into_iter().collect(), model.next(now_ns).into_iter().collect())
                }
                Call::Fill(moved, n) => {
                    now_ns += moved;
                    (fill_at(&mut real, now_ns, n), model.fill(n, now_ns))
                }
            };
            prop_assert_eq!(ids.iter().copied().map(number).collect::<Vec<_>>(), expected, "{:?}", call);
            made.extend(ids);
        }
        prop_assert!(made.is_sorted_by(|a, b| a < b), "an ID was repeated or out of order");
        prop_assert!(made.iter().all(|id| id & 0xffff == NODE));
        prop_assert_eq!((real.stats().ids, real.stats().batches), (made.len() as u64, model.batches));
    }

    /// Two generators of one node, one with prefetch: neither gets a number of the other.
    #[test]
    fn neighbours_on_one_cursor_share_no_number(count in counts(), turns in prop::collection::vec(any::<bool>(), 1..200)) {
        let layout = layout();
        let cursor = Arc::new(OwnCursor::from(Cursor::new(u64::MAX)));
        let knobs = |prefetch| Knobs { seq_mask: PER_TICK - 1, max_ahead_ms: f64::INFINITY, is_start_random: false, prefetch };
        let prefetch = Some(PrefetchRule { count: count.try_into().unwrap(), validity_ns: 0 });
        let mut pair = [knobs(prefetch), knobs(None)].map(|knobs| {
            let clock = TickClock::given(layout.scale());
            Generator::new(clock, cursor.clone(), &layout, layout.place_node(NODE), &knobs)
        });
        let mut made = [vec![], vec![]];
        for turn in turns {
            made[usize::from(turn)].push(next_at(&mut pair[usize::from(turn)], START).unwrap());
        }
        prop_assert!(made.iter().all(|ids| ids.is_sorted_by(|a, b| a < b)));
        let mut all = made.concat();
        all.sort_unstable();
        prop_assert!(all.is_sorted_by(|a, b| a < b));
    }
}
