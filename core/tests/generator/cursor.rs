//! The cursor against its definition: one thread, and a clock that the test controls.

use flakeforge_core::generator::clock::Clock;
use flakeforge_core::generator::cursor::{Claim, Cursor, Refused, Rule, Start};
use flakeforge_core::layout::timescale::OutOfRange;
use proptest::prelude::*;

/// A clock with a trusted tick that may be older than the real one.
struct Shown {
    trusted: u64,
    real: u64,
}

impl Clock for Shown {
    fn trusted(&mut self) -> Result<u64, OutOfRange> {
        Ok(self.trusted)
    }

    fn read(&mut self) -> Result<u64, OutOfRange> {
        Ok(self.real)
    }
}

fn at(tick: u64) -> Shown {
    Shown { trusted: tick, real: tick }
}

const FLAKE: Rule = Rule { counter_bits: 12, seq_mask: 4095, max_ahead: 0, start: Start::ZERO, last: u64::MAX };

fn number(tick: u64, counter: u64) -> u64 {
    tick << 12 | counter
}

#[test]
fn a_new_tick_starts_at_counter_0() {
    let cursor = Cursor::new(u64::MAX);
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(5)), Ok(Claim { base: number(5, 0), got: 1 }));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(5)), Ok(Claim { base: number(5, 1), got: 1 }));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(6)), Ok(Claim { base: number(6, 0), got: 1 }));
}

#[test]
fn an_unused_tick_starts_at_a_random_counter_if_the_rule_has_one() {
    let cursor = Cursor::new(u64::MAX);
    let random = Rule { start: Start::random(4095, 7), ..FLAKE };
    let mut starts = std::collections::HashSet::new();
    for tick in 1..200 {
        let Claim { base, .. } = cursor.claim(2, &random, &mut at(tick)).unwrap();
        assert_eq!(base >> 12, tick);
        assert!(base & 4095 < 1024, "below a quarter");
        assert_eq!(cursor.claim(1, &random, &mut at(tick)).unwrap().base, base + 2, "the tick has begun");
        assert_eq!(cursor.claim(1, &FLAKE, &mut at(tick)).unwrap().base, base + 3, "another generator continues");
        starts.insert(base & 4095);
    }
    assert!(starts.len() > 100, "{} counters", starts.len());
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(300)).unwrap().base, number(300, 0));
    assert_eq!(cursor.claim(1, &random, &mut at(300)).unwrap().base, number(300, 1));
}

#[test]
fn a_tick_gives_what_it_has_and_then_refuses() {
    let cursor = Cursor::new(u64::MAX);
    assert_eq!(cursor.claim(5000, &FLAKE, &mut at(5)).unwrap().got, 4096);
    let refused = cursor.claim(1, &FLAKE, &mut at(5)).unwrap_err();
    assert_eq!(refused, Refused::Behind { next: number(6, 0), base: number(6, 0), now: 5 });
    assert_eq!(cursor.next(), number(6, 0), "a refused claim takes nothing");
}

#[test]
fn only_the_real_clock_reports_behind() {
    let cursor = Cursor::new(u64::MAX);
    cursor.claim(4096, &FLAKE, &mut at(5)).unwrap();
    let mut late = Shown { trusted: 5, real: 6 };
    assert_eq!(cursor.claim(1, &FLAKE, &mut late).unwrap().base, number(6, 0));
}

/// A neighbour takes numbers on every clock reading. `takes` says how many each time.
struct Busy<'a> {
    cursor: &'a Cursor,
    takes: Vec<u64>,
    /// the trusted tick, and the ticks that the reads show
    trusted: u64,
    reads: Vec<u64>,
}

impl Busy<'_> {
    fn neighbour(&mut self) {
        if !self.takes.is_empty() {
            let n = self.takes.remove(0);
            self.cursor.claim(n, &Rule { max_ahead: u64::MAX, ..FLAKE }, &mut at(0)).unwrap();
        }
    }
}

impl Clock for Busy<'_> {
    fn trusted(&mut self) -> Result<u64, OutOfRange> {
        self.neighbour();
        Ok(self.trusted)
    }

    fn read(&mut self) -> Result<u64, OutOfRange> {
        self.neighbour();
        Ok(self.reads.remove(0))
    }
}

#[test]
fn the_clock_is_asked_once_however_busy_the_neighbours_are() {
    let cursor = Cursor::window(number(5, 0), u64::MAX);
    let mut busy = Busy { cursor: &cursor, takes: vec![1, 1, 1], trusted: 5, reads: vec![] };
    assert_eq!(cursor.claim(1, &FLAKE, &mut busy).unwrap().base, number(5, 1));
    assert_eq!(busy.takes.len(), 2, "asked once");

    // The trusted tick is behind, so the clock is read after the load. Then the exchange fails, and the claim continues with
    // the tick that was read.
    let cursor = Cursor::window(number(6, 0), u64::MAX);
    let mut busy = Busy { cursor: &cursor, takes: vec![1, 1], trusted: 5, reads: vec![6, 6] };
    assert_eq!(cursor.claim(1, &FLAKE, &mut busy).unwrap().base, number(6, 2));
    assert_eq!(busy.reads.len(), 1, "read once");
}

#[test]
fn only_a_clock_read_after_the_last_load_reports_behind() {
    let cursor = Cursor::window(number(6, 0), u64::MAX);
    // While the clock shows tick 6, the neighbour takes the rest of it.
    let mut busy = Busy { cursor: &cursor, takes: vec![1, 4095], trusted: 5, reads: vec![6, 7] };
    assert_eq!(cursor.claim(1, &FLAKE, &mut busy).unwrap().base, number(7, 0));
}

#[test]
fn a_clock_that_steps_back_changes_nothing() {
    let cursor = Cursor::new(u64::MAX);
    let ahead = Rule { max_ahead: 10, ..FLAKE };
    cursor.claim(1, &ahead, &mut at(100)).unwrap();
    assert_eq!(cursor.claim(1, &ahead, &mut at(95)).unwrap().base, number(100, 1));
    assert!(matches!(cursor.claim(1, &ahead, &mut at(89)), Err(Refused::Behind { now: 89, .. })));
}

#[test]
fn max_ahead_saturates() {
    let cursor = Cursor::new(u64::MAX);
    let endless = Rule { max_ahead: u64::MAX, ..FLAKE };
    assert_eq!(cursor.claim(1 << 40, &endless, &mut at(1)).unwrap().got, 1 << 40);
    assert_eq!(cursor.claim(1, &endless, &mut at(1)).unwrap().base, number(1, 0) + (1 << 40));
    // A tick so far ahead that it has no number must not count as a tick that is over.
    let far = Rule { max_ahead: 1 << 60, ..FLAKE };
    assert_eq!(Cursor::new(u64::MAX).claim(5000, &far, &mut at(1)).unwrap().got, 5000);
}

#[test]
fn a_smaller_seq_mask_skips_the_rest_of_the_tick() {
    let cursor = Cursor::new(u64::MAX);
    let four = Rule { seq_mask: 3, max_ahead: 2, ..FLAKE };
    assert_eq!(cursor.claim(9, &four, &mut at(7)), Ok(Claim { base: number(7, 0), got: 4 }));
    assert_eq!(cursor.claim(9, &four, &mut at(7)), Ok(Claim { base: number(8, 0), got: 4 }));
    // Another generator of the same cursor uses the whole tick; the numbers stay in order.
    assert_eq!(cursor.claim(1, &Rule { max_ahead: 2, ..FLAKE }, &mut at(7)).unwrap().base, number(8, 4));
    assert_eq!(cursor.claim(9, &four, &mut at(7)), Ok(Claim { base: number(9, 0), got: 4 }));
    assert!(matches!(cursor.claim(9, &four, &mut at(7)), Err(Refused::Behind { .. })));
}

#[test]
fn the_limit_is_the_last_number_and_only_rises() {
    let cursor = Cursor::new(number(5, 2));
    assert_eq!(cursor.claim(9, &FLAKE, &mut at(5)).unwrap().got, 3);
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(5)), Err(Refused::PastLimit));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(9)), Err(Refused::PastLimit), "also with a clock far past it");
    cursor.raise_limit(number(5, 1));
    assert_eq!(cursor.limit(), number(5, 2));
    cursor.raise_limit(number(6, 0));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(5)).unwrap().base, number(5, 3));
}

#[test]
fn a_window_starts_at_its_first_number() {
    let cursor = Cursor::window(number(5, 2), number(6, 0));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(5)).unwrap().base, number(5, 2));
    assert_eq!(cursor.claim(9, &FLAKE, &mut at(6)), Ok(Claim { base: number(6, 0), got: 1 }));
    assert_eq!(cursor.claim(9, &FLAKE, &mut at(6)), Err(Refused::PastLimit));
    let early = Cursor::window(number(5, 2), number(6, 0));
    assert!(matches!(early.claim(1, &FLAKE, &mut at(4)), Err(Refused::Behind { .. })));
}

#[test]
fn next_only_rises() {
    let cursor = Cursor::window(number(5, 0), u64::MAX);
    cursor.raise_next(number(4, 9));
    assert_eq!(cursor.next(), number(5, 0));
    cursor.raise_next(number(7, 1));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(7)).unwrap().base, number(7, 1));
    cursor.retire();
    cursor.raise_next(number(9, 0));
    assert!(cursor.is_retired());
}

#[test]
fn a_generator_may_have_an_earlier_end_than_the_cursor() {
    let cursor = Cursor::new(u64::MAX);
    let early = Rule { last: number(5, 1), ..FLAKE };
    assert_eq!(cursor.claim(9, &early, &mut at(5)).unwrap().got, 2);
    assert_eq!(cursor.claim(9, &early, &mut at(5)), Err(Refused::PastLimit));
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(5)).unwrap().base, number(5, 2));
}

#[test]
fn a_retired_cursor_reports_it_whatever_the_clock_shows() {
    struct Broken;
    impl Clock for Broken {
        fn trusted(&mut self) -> Result<u64, OutOfRange> {
            Err(OutOfRange { unix_ns: -1 })
        }
        fn read(&mut self) -> Result<u64, OutOfRange> {
            self.trusted()
        }
    }
    let cursor = Cursor::new(u64::MAX);
    cursor.claim(3, &FLAKE, &mut at(5)).unwrap();
    let fault = Err(Refused::OutOfRange(OutOfRange { unix_ns: -1 }));
    assert_eq!(cursor.claim(1, &FLAKE, &mut Broken), fault);
    let last = |counter| Rule { last: number(5, counter), ..FLAKE };
    assert_eq!(cursor.claim(1, &last(3), &mut Broken), fault, "one number is left");
    assert_eq!(cursor.claim(1, &last(2), &mut Broken), Err(Refused::PastLimit), "it ended before");
    assert!(!cursor.is_retired());
    assert_eq!(cursor.retire(), number(5, 3), "what was the next free number");
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(9)), Err(Refused::PastLimit));
    assert_eq!(cursor.claim(1, &FLAKE, &mut Broken), Err(Refused::PastLimit));
    cursor.raise_limit(u64::MAX);
    assert_eq!(cursor.claim(1, &FLAKE, &mut at(9)), Err(Refused::PastLimit), "no limit reaches a retired cursor");
    assert_eq!(cursor.retire(), u64::MAX);
}

#[test]
fn the_last_numbers_of_64_bits_do_not_wrap() {
    let rule = Rule { counter_bits: 1, seq_mask: 1, max_ahead: u64::MAX, start: Start::ZERO, last: u64::MAX };
    let cursor = Cursor::new(u64::MAX);
    let last = (1 << 63) - 1;
    assert_eq!(cursor.claim(9, &rule, &mut at(last)), Ok(Claim { base: u64::MAX - 1, got: 1 }));
    assert_eq!(cursor.claim(9, &rule, &mut at(last)), Err(Refused::PastLimit));
    let half = Rule { seq_mask: 0, ..rule };
    let cursor = Cursor::new(u64::MAX);
    assert_eq!(cursor.claim(9, &half, &mut at(last)), Ok(Claim { base: u64::MAX - 1, got: 1 }));
    assert_eq!(cursor.claim(9, &half, &mut at(last)), Err(Refused::PastLimit));
}

/// The model: section 1 of the design again, number by number, slow and without atomics. An unused tick starts at any `start`
/// below a quarter of `seq_mask + 1`.
fn model(next: &mut u64, n: u64, rule: Rule, limit: u64, now: u64, start: u64) -> Option<(u64, u64)> {
    let counter = |number: u64| number & ((1 << rule.counter_bits) - 1);
    let usable = |number: u64| {
        counter(number) <= rule.seq_mask
            && number <= limit
            && u128::from(number >> rule.counter_bits) <= u128::from(now) + u128::from(rule.max_ahead)
    };
    let begin = now << rule.counter_bits;
    let mut base = if *next <= begin { begin + start } else { *next };
    while counter(base) > rule.seq_mask {
        base += 1;
    }
    let got = (0..n).take_while(|i| usable(base + i)).count() as u64;
    if got == 0 {
        return None;
    }
    *next = base + got;
    Some((base, got))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 2000 }))]
    #[test]
    fn claims_match_the_model(
        counter_bits in 0u32..5,
        mask_bits in 0u32..5,
        is_random in any::<bool>(),
        seed in any::<u64>(),
        max_ahead in prop_oneof![0u64..6, Just(u64::MAX)],
        limit in 0u64..800,
        steps in prop::collection::vec((1u64..40, 0u64..40, 0u64..3), 1..60),
    ) {
        let seq_mask = (1u64 << mask_bits.min(counter_bits)) - 1;
        let rule = Rule { counter_bits, seq_mask, max_ahead, start: if is_random { Start::random(seq_mask, seed) } else { Start::ZERO }, last: u64::MAX };
        let most = if is_random { ((seq_mask + 1) / 4).saturating_sub(1) } else { 0 };
        let cursor = Cursor::new(limit);
        let mut next = 0;
        for (n, tick, age) in steps {
            let mut clock = Shown { trusted: tick.saturating_sub(age), real: tick };
            let before = cursor.next();
            match cursor.claim(n, &rule, &mut clock) {
                Ok(Claim { base, got }) => {
                    prop_assert!(base >= before);
                    // A trusted tick is as good as the real one, only older.
                    let way = [clock.trusted, clock.real].into_iter()
                        .flat_map(|now| (0..=most).map(move |start| (now, start)))
                        .find(|&(now, start)| model(&mut before.clone(), n, rule, limit, now, start) == Some((base, got)));
                    prop_assert!(way.is_some(), "{base} {got} from {before} at {tick}");
                    let (now, start) = way.unwrap();
                    model(&mut next, n, rule, limit, now, start);
                    prop_assert_eq!(cursor.next(), next);
                }
                Err(Refused::PastLimit) => {
                    let first = |now: u64| before.max((now << counter_bits) + most);
                    let mut free = first(clock.trusted);
                    while free & ((1 << counter_bits) - 1) > seq_mask { free += 1 }
                    prop_assert!(free > limit || first(clock.real) > limit);
                    prop_assert_eq!(cursor.next(), before);
                }
                Err(_) => {
                    prop_assert_eq!(model(&mut next, n, rule, limit, tick, 0), None);
                    prop_assert_eq!(cursor.next(), before);
                }
            }
        }
    }
}
