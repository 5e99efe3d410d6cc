//! A lane against the claims that it replaces, and what ends it.

use flakeforge_core::generator::clock::Clock;
use flakeforge_core::generator::cursor::{Cursor, Rule, Start};
use flakeforge_core::generator::lane::Lane;
use flakeforge_core::layout::packing::Stride;
use flakeforge_core::layout::timescale::OutOfRange;
use proptest::prelude::*;

/// A clock that stands at a tick.
struct At(u64);

impl Clock for At {
    fn trusted(&mut self) -> Result<u64, OutOfRange> {
        Ok(self.0)
    }

    fn read(&mut self) -> Result<u64, OutOfRange> {
        Ok(self.0)
    }
}

const STEP: u64 = 1 << 10;

/// A claim of one number, and the lane after it; the ID of a number is the number times `STEP`, over this span.
fn claim_over(span: u64, cursor: &Cursor, rule: &Rule, now: u64) -> Option<(u64, Lane)> {
    let claim = cursor.claim(1, rule, &mut At(now)).ok()?;
    let stride = Stride { step: STEP, span };
    Some((claim.base, Lane::after(claim, claim.base.wrapping_mul(STEP), stride, cursor, rule, now)))
}

/// The same with IDs at equal distances in a tick.
fn claim(cursor: &Cursor, rule: &Rule, now: u64) -> Option<(u64, Lane)> {
    claim_over((1 << rule.counter_bits) - 1, cursor, rule, now)
}

const RULE: Rule = Rule { counter_bits: 4, seq_mask: 15, max_ahead: 0, start: Start::ZERO, last: u64::MAX };

fn rules() -> impl Strategy<Value = Rule> {
    let bits = 0..6_u32;
    let ahead = prop_oneof![Just(0), 1..5_u64, Just(u64::MAX)];
    let last = prop_oneof![Just(u64::MAX), 0..700_u64];
    (bits, ahead, last, any::<bool>(), 0..6_u32).prop_map(|(counter_bits, max_ahead, last, is_random, mask)| {
        let seq_mask = (1 << counter_bits.min(mask)) - 1;
        let start = if is_random { Start::random(seq_mask, 5) } else { Start::ZERO };
        Rule { counter_bits, seq_mask, max_ahead, start, last }
    })
}

proptest! {
    /// While nothing else happens, a lane gives just what claims at the same tick would give, to its end.
    #[test]
    fn a_lane_gives_what_claims_would_give(
        rule in rules(),
        now in 0..20_u64,
        next in 0..400_u64,
        limit in prop_oneof![Just(u64::MAX), 0..700_u64],
    ) {
        let (cursor, twin) = (Cursor::window(next, limit), Cursor::window(next, limit));
        let Some((base, lane)) = claim(&cursor, &rule, now) else { return Ok(()) };
        prop_assert_eq!(twin.claim(1, &rule, &mut At(now)).unwrap().base, base);
        let mut least = base + 1;
        while let Some((number, id)) = lane.take(&cursor, least) {
            prop_assert_eq!(twin.claim(1, &rule, &mut At(now)).unwrap().base, number);
            prop_assert_eq!(id, number * STEP);
            prop_assert_eq!(number >> rule.counter_bits, base >> rule.counter_bits, "one tick");
            least = number + 1;
        }
        // What the rule still allows in this tick is not left out: a lane that ends too early would cost time.
        if let Ok(more) = twin.claim(1, &rule, &mut At(now)) {
            prop_assert_ne!(more.base >> rule.counter_bits, base >> rule.counter_bits);
        }
    }

    /// Where the stride goes on from tick to tick, the lane does, too: while the clock has not passed the tick of its first
    /// number, it gives just what claims would give, whatever the clock shows until then.
    #[test]
    fn a_lane_over_all_ticks_gives_what_claims_would_give(
        rule in rules(),
        now in 0..20_u64,
        next in 0..400_u64,
        limit in prop_oneof![Just(u64::MAX), 0..700_u64],
        passed in proptest::collection::vec(0..30_u64, 100),
    ) {
        let (cursor, twin) = (Cursor::window(next, limit), Cursor::window(next, limit));
        let Some((base, lane)) = claim_over(u64::MAX, &cursor, &rule, now) else { return Ok(()) };
        prop_assert_eq!(twin.claim(1, &rule, &mut At(now)).unwrap().base, base);
        let latest = base >> rule.counter_bits;
        let mut least = base + 1;
        for passed in passed {
            let Some((number, id)) = lane.take(&cursor, least) else {
                // It ends only where the numbers end that the rule allowed at first.
                let more = twin.claim(1, &rule, &mut At(now));
                prop_assert!(more.map_or(true, |more| more.base > least), "{:?} after {}", more, least - 1);
                break;
            };
            let shown = (now + passed).min(latest);
            prop_assert_eq!(twin.claim(1, &rule, &mut At(shown)).unwrap().base, number);
            prop_assert_eq!(id, number * STEP);
            least = number + 1;
        }
    }
}

#[test]
fn other_generators_take_from_the_same_tick() {
    let cursor = Cursor::new(u64::MAX);
    let (base, lane) = claim(&cursor, &RULE, 3).unwrap();
    assert_eq!(base, 48);
    assert_eq!(cursor.claim(3, &RULE, &mut At(3)).unwrap().base, 49);
    assert_eq!(lane.take(&cursor, 49), Some((52, 52 * STEP)));
    assert_eq!(cursor.claim(20, &RULE, &mut At(4)).unwrap().base, 64, "another generator is in the next tick");
    assert_eq!(lane.take(&cursor, 53), None);
}

#[test]
fn a_retired_cursor_gives_nothing() {
    let cursor = Cursor::new(u64::MAX);
    let (_, lane) = claim(&cursor, &RULE, 3).unwrap();
    assert_eq!(cursor.retire(), 49);
    assert_eq!(lane.take(&cursor, 49), None);
}

#[test]
fn another_window_gives_its_numbers_by_rule_only() {
    let cursor = Cursor::window(48, 50);
    let (_, lane) = claim(&cursor, &RULE, 3).unwrap();
    cursor.raise_next(55);
    cursor.raise_limit(60);
    assert_eq!(lane.take(&cursor, 49), None, "the lane ended with the window of its claim");
}

#[test]
fn a_cursor_that_went_back_gives_nothing() {
    let cursor = Cursor::new(u64::MAX);
    let (_, lane) = claim(&cursor, &RULE, 3).unwrap();
    assert_eq!(lane.take(&cursor, 55), None, "numbers up to 54 were taken");
    let older = Cursor::window(49, u64::MAX);
    assert_eq!(lane.take(&older, 51), None);
}

#[test]
fn a_lane_can_be_cut_and_is_never_extended() {
    let cursor = Cursor::new(u64::MAX);
    let (_, mut lane) = claim(&cursor, &RULE, 3).unwrap();
    lane.end_at(50);
    lane.end_at(60);
    assert_eq!(lane.take(&cursor, 0).map(|(number, _)| number), Some(49));
    assert_eq!(lane.take(&cursor, 0).map(|(number, _)| number), Some(50));
    assert_eq!(lane.take(&cursor, 0), None);
    lane.end_at(0);
    assert_eq!(lane.take(&Cursor::window(48, u64::MAX), 0), None);
    assert_eq!(Lane::EMPTY.take(&Cursor::new(u64::MAX), 0), None);
}
