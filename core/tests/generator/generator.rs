//! Generators: the form of refusals, batches that equal single calls, and threads that share a node number.

use flakeforge_core::generator::clock::{TickClock, system_ns};
use flakeforge_core::generator::cursor::{Cursor, LAST, OwnCursor};
use flakeforge_core::generator::cycles;
use flakeforge_core::generator::registry::{Key, Registry};
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::Layout;
use flakeforge_core::layout::timescale::to_ms;
use flakeforge_core::refusal::Refusal;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const MS: i128 = 1_000_000;
const PLAIN: Knobs = Knobs { seq_mask: 4095, max_ahead_ms: 0.0, is_start_random: false, prefetch: None };

fn given(knobs: Knobs) -> Generator {
    let layout = Layout::named("flake").unwrap();
    let cursor = Arc::new(OwnCursor::from(Cursor::new(u64::MAX)));
    let node = layout.place_node(5);
    Generator::new(TickClock::given(layout.scale()), cursor, &layout, node, &knobs)
}

fn at(generator: &mut Generator, unix_ns: i128) -> &mut Generator {
    generator.set_time(unix_ns);
    generator
}

#[test]
fn how_far_ahead_of_any_time_that_is_set() {
    let layout = Layout::named("flake").unwrap();
    let cursor = Arc::new(OwnCursor::from(Cursor::window(1 << 40, LAST)));
    let clock = TickClock::given(layout.scale());
    let mut generator = Generator::new(clock, cursor, &layout, layout.place_node(5), &PLAIN);
    for (time, is_ahead) in [(i128::MIN, true), (i128::MAX, false)] {
        generator.set_time(time);
        assert_eq!(generator.ahead_ms() > 0.0, is_ahead, "{time}");
        assert!(matches!(generator.next_id(), Err(Refusal::TimeRange { .. })));
    }
}

#[test]
fn no_window_is_awaited_for_a_time_that_the_layout_lacks() {
    let layout = Layout::named("flake").unwrap();
    let empty = Arc::new(OwnCursor::from(Cursor::window(1, 0)));
    let clock = TickClock::given(layout.scale());
    let mut generator = Generator::new(clock, empty, &layout, layout.place_node(5), &PLAIN);
    for (ms, refusal) in [
        (-1, Refusal::TimeRange { timestamp_ms: -1.0 }),
        (0, Refusal::WindowEnd),
        ((1 << 42) - 1, Refusal::WindowEnd),
        (1 << 42, Refusal::TimeRange { timestamp_ms: 4_398_046_511_104.0 }),
    ] {
        assert_eq!(at(&mut generator, ms * MS).next_id(), Err(refusal), "{ms}");
    }
}

#[test]
fn overflow_includes_the_start_of_the_next_tick() {
    let mut generator = given(PLAIN);
    at(&mut generator, 7 * MS + 400_000).fill(&mut [0; 4096], |id| id);
    assert_eq!(generator.next_id(), Err(Refusal::Overflow { retry_after_ms: 0.6 }));
    assert_eq!((generator.stats().ids, generator.stats().overflows), (4096, 1));
}

#[test]
fn a_step_back_includes_its_size() {
    let mut generator = given(PLAIN);
    at(&mut generator, 1000 * MS).next_id().unwrap();
    let refusal = at(&mut generator, 990 * MS).next_id();
    assert_eq!(refusal, Err(Refusal::ClockBackwards { behind_ms: 10.0, retry_after_ms: 10.0 }));
    // Within the allowed lead this is not a fault. Beyond it, the wait does not include the allowed part.
    let mut ahead = given(Knobs { max_ahead_ms: 6.0, ..PLAIN });
    at(&mut ahead, 1000 * MS).next_id().unwrap();
    assert!(at(&mut ahead, 994 * MS).next_id().is_ok());
    let refusal = at(&mut ahead, 990 * MS).next_id();
    assert_eq!(refusal, Err(Refusal::ClockBackwards { behind_ms: 10.0, retry_after_ms: 4.0 }));
}

#[test]
fn a_full_tick_after_a_step_within_the_borrowed_time_is_an_overflow() {
    let mut ahead = given(Knobs { max_ahead_ms: 2.0, ..PLAIN });
    let mut ids = [0; 3 * 4096];
    assert_eq!(at(&mut ahead, 1000 * MS).fill(&mut ids, |id| id), (3 * 4096, None));
    assert_eq!(ahead.next_id(), Err(Refusal::Overflow { retry_after_ms: 1.0 }));
    assert_eq!(ahead.ahead_ms(), 2.0);
}

#[test]
fn a_clock_below_what_it_showed_is_behind_although_its_borrowed_time_is_used_up_too() {
    let mut ahead = given(Knobs { max_ahead_ms: 2.0, ..PLAIN });
    at(&mut ahead, 1000 * MS).next_id().unwrap();
    let (made, refusal) = at(&mut ahead, 999 * MS).fill(&mut [0; 3 * 4096], |id| id);
    assert_eq!(made, 2 * 4096 - 1);
    assert_eq!(refusal, Some(Refusal::ClockBackwards { behind_ms: 2.0, retry_after_ms: 1.0 }));
    assert_eq!(ahead.stats().overflows, 0);
}

#[test]
fn waits_are_counted_and_added_up() {
    let mut generator = given(PLAIN);
    generator.waited(1.5);
    generator.waited(2.25);
    assert_eq!((generator.stats().waits, generator.stats().waited_ms), (2, 3.75));
}

#[test]
fn a_generator_reports_since_when_it_counts() {
    let before = to_ms(system_ns());
    let since = given(PLAIN).since_ms();
    assert!((before..=to_ms(system_ns())).contains(&since));
}

#[test]
fn the_end_of_the_layout() {
    let mut generator = given(Knobs { max_ahead_ms: f64::INFINITY, ..PLAIN });
    let last_ms = (1i128 << 42) - 1;
    let mut ids = [0; 5000];
    let (made, stopped) = at(&mut generator, last_ms * MS).fill(&mut ids, |id| id);
    assert_eq!((made, stopped), (4096, Some(Refusal::TimeRange { timestamp_ms: (last_ms + 1) as f64 })));
    assert_eq!(ids[4095] >> 22, last_ms as u64);
    let refusal = at(&mut generator, (last_ms + 1) * MS).next_id();
    assert_eq!(refusal, Err(Refusal::TimeRange { timestamp_ms: (last_ms + 1) as f64 }));
    let refusal = at(&mut given(PLAIN), -MS).next_id();
    assert_eq!(refusal, Err(Refusal::TimeRange { timestamp_ms: -1.0 }));
}

#[test]
fn the_end_of_a_window_is_not_that_of_the_layout() {
    let layout = Layout::named("flake").unwrap();
    let cursor = Arc::new(OwnCursor::from(Cursor::window(7 << 12, 8 << 12)));
    let node = layout.place_node(5);
    let mut generator = Generator::new(TickClock::given(layout.scale()), cursor.clone(), &layout, node, &PLAIN);
    assert!(at(&mut generator, 8 * MS).next_id().is_ok());
    assert_eq!(generator.next_id(), Err(Refusal::WindowEnd));
    assert_eq!(at(&mut generator, 9 * MS).fill(&mut [0; 9], |id| id), (0, Some(Refusal::WindowEnd)));
    cursor.raise_limit(20 << 12);
    assert!(generator.next_id().is_ok());
    cursor.retire();
    assert_eq!(generator.next_id(), Err(Refusal::WindowEnd));
}

#[test]
fn a_batch_is_what_single_calls_give() {
    let knobs = Knobs { seq_mask: 7, max_ahead_ms: 100.0, is_start_random: false, prefetch: None };
    let (mut single, mut batch) = (given(knobs), given(knobs));
    let mut ids = [0; 100];
    at(&mut batch, 9 * MS).fill(&mut ids, |id| id);
    at(&mut single, 9 * MS);
    assert_eq!(ids.map(Ok), [(); 100].map(|()| single.next_id()));
    let mut bytes = [[0; 8]; 3];
    batch.fill(&mut bytes, u64::to_be_bytes);
    assert_eq!(bytes.map(u64::from_be_bytes).map(Ok), [(); 3].map(|()| single.next_id()));
    assert_eq!(batch.stats().batches, 2);
}

#[test]
fn threads_that_share_a_node_number_share_its_numbers() {
    const EACH: usize = 300_000;
    let layout = Layout::named("flake").unwrap();
    let registry = Registry::<&str>::default();
    let node = layout.place_node(900);
    let knobs = Knobs { max_ahead_ms: f64::INFINITY, ..PLAIN };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let cursor = registry.plain(Key::new(&layout, node)).unwrap();
            let mut generator = Generator::new(TickClock::system(layout.scale()), cursor, &layout, node, &knobs);
            thread::spawn(move || (0..EACH).map(|_| generator.next_id().unwrap()).collect::<Vec<_>>())
        })
        .collect();
    let mut all = Vec::new();
    for thread in threads {
        let ids = thread.join().unwrap();
        assert!(ids.is_sorted_by(|a, b| a < b), "each thread's IDs are in order");
        all.extend(ids);
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4 * EACH);
    assert_eq!(registry.entries(), Some(1));
}

/// While numbers run ahead of the clock, it is read seldom. No ID is before the clock nevertheless, also when the clock
/// catches up, and those that follow each other are consecutive as long as they are ahead.
#[test]
fn numbers_ahead_of_the_clock_go_on_without_it() {
    for (name, seq_mask, lead) in
        [("tid", 0, 300), ("chronicle", 0, 300), ("hazelcast", 63, 300), ("flake", 4095, 9000)]
    {
        let layout = Layout::named(name).unwrap();
        let (scale, packing, node) = (layout.scale(), layout.packing(), layout.place_node(3));
        let knobs = Knobs { seq_mask, max_ahead_ms: f64::INFINITY, ..PLAIN };
        let cursor = Arc::new(OwnCursor::from(Cursor::new(LAST)));
        let mut generator = Generator::new(TickClock::system(scale), cursor.clone(), &layout, node, &knobs);
        let pause = Duration::from_nanos(2 * scale.tick_ns()).min(Duration::from_micros(50));
        let (mut last, mut unread, mut ahead, mut behind) = (0, 0, 0, 0);
        let started = Instant::now();
        // If the CPU has a steady counter, most IDs ahead of the clock need no look at it.
        let is_enough = |unread| unread > 200 || cycles::per_ms(cycles::now()) == 0;
        while ahead < 300 || behind < 100 || !is_enough(unread) {
            assert!(started.elapsed() < Duration::from_mins(1), "{name}: {unread} of {ahead} IDs ahead, {behind} not");
            let (before, read_at) = (scale.tick_of(system_ns()).unwrap(), generator.clock().last_ns());
            let id = generator.next_id().unwrap();
            let after = scale.tick_of(system_ns()).unwrap();
            let number = cursor.next() - 1;
            let tick = number >> packing.counter_bits();
            assert_eq!(id, packing.pack(number, node), "{name}");
            assert!(tick >= before, "{name}: {tick}, and the clock was at {before}");
            assert!(number == last + 1 || tick <= after, "{name}: {number} after {last}, and the clock is at {after}");
            if tick > after {
                (ahead, unread) = (ahead + 1, unread + u64::from(generator.clock().last_ns() == read_at));
            } else {
                behind += 1;
            }
            if generator.stats().ids.is_multiple_of(500) || last == 0 {
                generator.fill(&mut vec![0; lead], |id| id);
            }
            last = cursor.next() - 1;
            let paused = Instant::now();
            while paused.elapsed() < pause {} // so the clock catches up
        }
    }
}
