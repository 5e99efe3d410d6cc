//! IDs that are exact as floats: which layouts have them, where they end, and that a refusal takes no number.

use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::cursor::{Cursor, LAST, OwnCursor};
use flakeforge_core::generator::prefetch::PrefetchRule;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::{EXACT_MAX, Layout, Spec};
use flakeforge_core::refusal::Refusal;
use proptest::prelude::*;
use std::sync::Arc;
use std::time::{Duration, Instant};

const MS: i128 = 1_000_000;
const DAY_MS: i64 = 86_400_000;
const NODE: u64 = 3;

fn custom(fields: &[(&str, u32)], epoch_ms: i64) -> Layout {
    let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
    Layout::custom(Spec { name: "mine".into(), epoch_ms, tick_ns: 1_000_000, fields }).unwrap()
}

/// The options of the layout's own system.
fn knobs_of(layout: &Layout) -> Knobs {
    let max_ahead_ms = DIALECTS.iter().find(|row| row.name == layout.name()).map_or(0.0, |row| row.max_ahead_ms);
    Knobs { seq_mask: layout.counter_max(), max_ahead_ms, is_start_random: false, prefetch: None }
}

fn on(cursor: &Arc<OwnCursor>, layout: &Layout, prefetch: Option<PrefetchRule>) -> Generator {
    let knobs = Knobs { prefetch, ..knobs_of(layout) };
    let node = layout.place_node(NODE.min(layout.node_max()));
    Generator::new(TickClock::given(layout.scale()), cursor.clone(), layout, node, &knobs)
}

fn fresh() -> Arc<OwnCursor> {
    Arc::new(OwnCursor::from(Cursor::new(LAST)))
}

fn of(layout: &Layout) -> Generator {
    on(&fresh(), layout, None)
}

/// A layout whose IDs reach 2^53 at `end_ms`, in the middle of its time.
fn until(end_ms: i64) -> Layout {
    let layout = custom(&[("zero", 10), ("timestamp", 42), ("node", 6), ("counter", 6)], end_ms - (1 << 41));
    assert_eq!(layout.exact_end_ns(), i128::from(end_ms) * MS);
    layout
}

fn now_ms() -> i64 {
    i64::try_from(flakeforge_core::generator::clock::system_ns() / MS).unwrap()
}

#[test]
fn which_dialects_have_them() {
    for row in DIALECTS {
        let layout = Layout::named(row.name).unwrap();
        let mut ids = of(&layout);
        ids.set_time(i128::from(now_ms()) * MS);
        let (one, batch) = (ids.next_exact(), ids.fill_exact(&mut [0; 2], |id| id));
        if ["safe", "chronicle-micros"].contains(&row.name) {
            assert!(one.unwrap() <= EXACT_MAX);
            assert_eq!(batch, (2, None), "{}", row.name);
        } else {
            assert_eq!((one, batch), (Err(Refusal::NotExact), (0, Some(Refusal::NotExact))), "{}", row.name);
            assert_eq!(ids.fill_exact(&mut [], |id| id), (0, Some(Refusal::NotExact)), "not even an empty batch");
            assert_eq!((ids.stats().ids, ids.stats().batches), (0, 0), "{}", row.name);
        }
    }
}

#[test]
fn ten_years_decide() {
    let (soon, later) = (until(now_ms() + 3_650 * DAY_MS), until(now_ms() + 3_660 * DAY_MS));
    for (layout, is_long_enough) in [(soon, false), (later, true)] {
        let mut ids = of(&layout);
        ids.set_time(i128::from(now_ms()) * MS);
        assert_eq!(ids.next_exact().is_ok(), is_long_enough);
        assert!(ids.next_id().is_ok());
    }
}

/// The end of the exact IDs of a layout. A clock controlled by the caller can show that time.
fn end_ns(layout: &Layout) -> i128 {
    layout.exact_end_ns()
}

#[test]
fn the_last_exact_id_and_none_behind_it() {
    let layout = until(now_ms() + 5_000 * DAY_MS);
    let cursor = fresh();
    let mut ids = on(&cursor, &layout, None);
    ids.set_time(end_ns(&layout) - 1);
    let mut made = [0; 100];
    assert_eq!(ids.fill_exact(&mut made[..63], |id| id), (63, None));
    assert_eq!(ids.next_exact(), Ok((1 << 53) - 64 * 64 + NODE * 64 + 63), "the last of this node");
    let next = cursor.next();
    for time in [end_ns(&layout) - 1, end_ns(&layout), end_ns(&layout) + 365 * 86_400_000 * MS] {
        ids.set_time(time);
        assert_eq!(ids.next_exact(), Err(Refusal::NoLongerExact));
        assert_eq!(ids.fill_exact(&mut made, |id| id), (0, Some(Refusal::NoLongerExact)));
        assert_eq!(cursor.next(), next, "no number is taken");
    }
    ids.set_time(end_ns(&layout));
    assert_eq!(ids.next_id(), Ok((1 << 53) + NODE * 64), "the layout continues without a gap");
    assert_eq!((ids.stats().ids, ids.stats().overflows), (65, 0));
}

/// A generator that is ahead of its clock has worked out numbers beyond the last exact one by the time it is asked for one.
#[test]
fn the_last_exact_id_among_numbers_ahead_of_the_clock() {
    const LEFT: u64 = 20;
    let layout = until(now_ms() + 11 * 366 * DAY_MS);
    let last = (layout.last_exact_tick().unwrap() << 6) | layout.counter_max();
    let knobs = Knobs { max_ahead_ms: f64::INFINITY, ..knobs_of(&layout) };
    let on = |first| {
        let cursor = OwnCursor::from(Cursor::window(first, LAST));
        let clock = TickClock::system(layout.scale());
        Generator::new(clock, Arc::new(cursor), &layout, layout.place_node(NODE), &knobs)
    };
    let (mut other, known) = (on(0), Instant::now() + Duration::from_millis(50)); // until the rate of the cycles is
    while Instant::now() < known {
        other.next_id().unwrap();
    }
    let mut ids = on(last + 1 - LEFT);
    let exact = (0..LEFT).map(|turn| if turn % 2 == 0 { ids.next_id() } else { ids.next_exact() }.unwrap()).last();
    assert_eq!(exact, Some(layout.packing().pack(last, layout.place_node(NODE))));
    for _ in 0..3 {
        assert_eq!(ids.next_exact(), Err(Refusal::NoLongerExact));
        assert!(ids.next_id().unwrap() > EXACT_MAX);
    }
}

#[test]
fn a_batch_ends_with_the_last_exact_id() {
    let layout = until(now_ms() + 5_000 * DAY_MS);
    let mut ids = on(&fresh(), &layout, None);
    ids.set_time(end_ns(&layout) - 1);
    let mut made = [0.0; 100];
    assert_eq!(ids.fill_exact(&mut made, |id| id as f64), (64, Some(Refusal::NoLongerExact)));
    assert!(made[..64].iter().all(|id| *id <= EXACT_MAX as f64) && made[64..].iter().all(|id| *id == 0.0));
}

#[test]
fn the_time_of_the_layout_is_distinguished_from_that_of_exact_ids() {
    let safe = Layout::named("safe").unwrap();
    let mut ids = of(&safe);
    ids.set_time(safe.end_ns());
    assert!(matches!(ids.next_exact(), Err(Refusal::TimeRange { .. })), "no other ID is possible then");
    ids.set_time(i128::from(safe.scale().epoch_ms()) * MS - 1);
    assert!(matches!(ids.next_exact(), Err(Refusal::TimeRange { .. })));
    let layout = until(now_ms() + 5_000 * DAY_MS);
    let mut ids = of(&layout);
    ids.set_time(i128::from(layout.scale().epoch_ms()) * MS - 1);
    assert!(matches!(ids.next_exact(), Err(Refusal::TimeRange { .. })), "too early is not too late");
}

#[test]
fn overflows_windows_and_steps_back_are_as_for_other_ids() {
    let safe = Layout::named("safe").unwrap();
    let time = i128::from(safe.scale().epoch_ms()) * MS + 1_000 * MS;
    let knobs = Knobs { max_ahead_ms: 0.0, ..knobs_of(&safe) };
    let mut ids = Generator::new(TickClock::given(safe.scale()), fresh(), &safe, safe.place_node(0), &knobs);
    ids.set_time(time + MS / 4);
    assert_eq!(ids.fill_exact(&mut [0; 70], |id| id), (64, Some(Refusal::Overflow { retry_after_ms: 0.75 })));
    ids.set_time(time - 10 * MS);
    assert!(matches!(ids.next_exact(), Err(Refusal::ClockBackwards { .. })));
    let window = Arc::new(OwnCursor::from(Cursor::window(1_000 << 6, (1_000 << 6) + 2)));
    let mut ids = Generator::new(TickClock::given(safe.scale()), window, &safe, safe.place_node(0), &knobs);
    ids.set_time(time);
    assert_eq!(ids.fill_exact(&mut [0; 70], |id| id), (3, Some(Refusal::WindowEnd)));
}

/// Numbers prefetched by other calls may be past the last exact one. They stay for those calls.
#[test]
fn prefetched_numbers_are_given_as_far_as_they_are_exact() {
    let layout = until(now_ms() + 5_000 * DAY_MS);
    for validity_ns in [0, 600_000 * MS as u64] {
        let rule = PrefetchRule { count: 100.try_into().unwrap(), validity_ns };
        let knobs = Knobs { max_ahead_ms: 1_000.0, prefetch: Some(rule), ..knobs_of(&layout) };
        let mut ids = Generator::new(TickClock::given(layout.scale()), fresh(), &layout, layout.place_node(0), &knobs);
        ids.set_time(end_ns(&layout) - 1);
        let first = (1 << 53) - 64 * 64;
        assert_eq!(ids.next_id(), Ok(first));
        assert_eq!(ids.next_exact(), Ok(first + 1));
        let mut made = [0; 80];
        assert_eq!(ids.fill_exact(&mut made, |id| id), (62, Some(Refusal::NoLongerExact)));
        assert_eq!((made[0], made[61], made[62]), (first + 2, first + 63, 0));
        assert_eq!(ids.next_exact(), Err(Refusal::NoLongerExact));
        assert_eq!(ids.next_id(), Ok(1 << 53), "the 65th of the hundred");
        assert_eq!(ids.fill(&mut made[..35], |id| id), (35, None), "the rest of them");
        assert_eq!((ids.stats().ids, ids.stats().batches), (100, 3));
    }
}

#[test]
fn prefetched_numbers_that_have_expired_stay_dead_also_where_they_were_set_aside() {
    let layout = until(now_ms() + 5_000 * DAY_MS);
    let rule = PrefetchRule { count: 100.try_into().unwrap(), validity_ns: MS as u64 };
    let knobs = Knobs { max_ahead_ms: 1_000.0, prefetch: Some(rule), ..knobs_of(&layout) };
    let cursor = fresh();
    let mut ids =
        Generator::new(TickClock::given(layout.scale()), cursor.clone(), &layout, layout.place_node(0), &knobs);
    let start = end_ns(&layout) - 1;
    ids.set_time(start);
    ids.next_id().unwrap();
    let next = cursor.next();
    ids.set_time(start + MS);
    assert_eq!(ids.next_exact(), Err(Refusal::NoLongerExact), "63 exact ones have just died");
    ids.set_time(start);
    let id = ids.next_id().unwrap();
    assert!(id >> 12 << 6 | id & 63 >= next, "none of the hundred, although the clock has stepped back");
}

/// Layouts with 41 to 44 bits and more, because fields in any order leave zeros anywhere; some have an offset.
fn exact_layouts() -> impl Strategy<Value = Layout> {
    let fields = Just(vec![("timestamp", 30u32), ("node", 6), ("counter", 5), ("zero", 23)]).prop_shuffle();
    (fields, 0..4u32, 0..4u32).prop_map(|(mut fields, wider, offset)| {
        for (name, width) in &mut fields {
            match *name {
                "timestamp" => *width += wider,
                "zero" => *width -= wider,
                _ => {}
            }
        }
        let layout = custom(&fields, 0);
        match layout.clone().with_id_offset(i64::from(offset) << 50) {
            Some(with_offset) => with_offset,
            None => layout,
        }
    })
}

proptest! {
    /// Against the largest ID of each tick, and around the end tick by tick.
    #[test]
    fn the_last_exact_tick_is_the_last_one_whose_ids_are_all_exact(layout in exact_layouts(), seed in any::<u64>()) {
        let scale = layout.scale();
        let (packing, node) = (layout.packing(), layout.place_node(layout.node_max()));
        let largest = |tick: u64| packing.pack(tick << packing.counter_bits() | layout.counter_max(), node);
        let is_exact = |tick: u64| largest(tick).wrapping_add(layout.id_offset()) <= EXACT_MAX;
        let around = layout.last_exact_tick().unwrap_or(0);
        let ticks = [0, scale.last_tick(), around, around.saturating_sub(1), around + 1, seed % (scale.last_tick() + 1)];
        for tick in ticks.into_iter().filter(|tick| *tick <= scale.last_tick()) {
            let within = layout.last_exact_tick().is_some_and(|last| tick <= last);
            prop_assert_eq!(within, is_exact(tick), "tick {}", tick);
        }
    }
}
