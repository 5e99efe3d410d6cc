//! Generators of one cursor, with every layout and option, in turns and in threads: whatever they are asked for, each number is
//! used once, in order, inside the windows, and not ahead of what the rule allows.

use std::collections::HashSet;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use flakeforge_core::generator::clock::{TickClock, system_ns};
use flakeforge_core::generator::cursor::{Cursor, LAST, OwnCursor};
use flakeforge_core::generator::prefetch::PrefetchRule;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::spec::Spec;
use flakeforge_core::layout::{EXACT_MAX, Layout, Mode, Packing};

/// Random numbers by xorshift.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    fn one_of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len() as u64) as usize]
    }
}

fn layouts() -> Vec<Layout> {
    let named = DIALECTS.iter().map(|dialect| Layout::named(dialect.name).unwrap());
    let with = |mode| named.clone().filter_map(move |layout| layout.with_mode(mode));
    let modes: Vec<_> = with(Mode::Spread).chain(with(Mode::Sequential)).collect();
    let moved = [-3_000_000, 1 << 40].map(|offset| Layout::named("hazelcast").unwrap().with_id_offset(offset).unwrap());
    // The counter above the tick, apart from it, and without any; ticks of many lengths.
    let own = [
        (100_000, &[("counter", 4), ("timestamp", 50), ("node", 10)][..]),
        (1_000, &[("timestamp", 53), ("node", 8), ("counter", 3)][..]),
        (200, &[("timestamp", 60), ("node", 4)][..]),
        (1_000_000, &[("node", 10), ("timestamp", 44), ("counter", 10)][..]),
        (60_000_000_000, &[("timestamp", 40), ("counter", 20), ("node", 4)][..]),
    ];
    let own = own.map(|(tick_ns, fields)| {
        let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
        Layout::custom(Spec { name: "own".to_owned(), epoch_ms: 1_600_000_000_000, tick_ns, fields }).unwrap()
    });
    named.chain(modes).chain(moved).chain(own).collect()
}

fn knobs(layout: &Layout, chance: &mut Chance) -> Knobs {
    let prefetch = PrefetchRule {
        count: NonZeroU64::new(1 + chance.below(50)).unwrap(),
        validity_ns: chance.one_of(&[0, 300_000]),
    };
    Knobs {
        seq_mask: layout.counter_max() >> chance.below(1 + u64::from(layout.packing().counter_bits())),
        max_ahead_ms: chance.one_of(&[0.0, 0.0, 0.001, 1.0, 7.5, f64::INFINITY]),
        is_start_random: chance.below(2) == 0,
        prefetch: (chance.below(5) == 0).then_some(prefetch),
    }
}

/// The number of an ID, read from its bits.
fn number_of(layout: &Layout, node: u64, id: u64) -> u64 {
    let plain = id.wrapping_sub(layout.id_offset());
    match layout.packing() {
        Packing::Decimal => {
            assert_eq!(plain % 100, node, "{id} of {}", layout.name());
            plain / 100
        }
        Packing::Bits { tick, counter, reversed } => {
            let ticks = plain >> tick.shift() & tick.max();
            let ticks = if reversed { ticks.reverse_bits() >> (64 - tick.width()) } else { ticks };
            let own = (counter.max() << counter.shift()) | (tick.max() << tick.shift());
            assert_eq!(plain & !own, layout.place_node(node).bits(), "{id} of {}", layout.name());
            (ticks << counter.width()) | (plain >> counter.shift() & counter.max())
        }
    }
}

/// What a thread does at least, however late it gets to run.
const LEAST_TURNS: u32 = 20;

/// Asks generators of one cursor for IDs, in turns, and returns their numbers.
fn use_in_turns(layout: &Layout, cursor: &Arc<OwnCursor>, chance: &mut Chance, until: impl Fn() -> bool) -> Vec<u64> {
    let node = chance.below(1).min(layout.node_max());
    let mut generators: Vec<_> = (0..1 + chance.below(3))
        .map(|_| {
            let knobs = knobs(layout, chance);
            let clock = TickClock::system(layout.scale());
            (Generator::new(clock, cursor.clone(), layout, layout.place_node(node), &knobs), knobs)
        })
        .collect();
    let mut used = Vec::new();
    let (mut counts, mut highest) = (vec![0; generators.len()], 0);
    for turn in 0.. {
        if turn >= LEAST_TURNS && until() {
            break;
        }
        let at = chance.below(generators.len() as u64) as usize;
        let (generator, knobs) = &mut generators[at];
        let size = [1, 1, 9, 100][chance.below(4) as usize];
        let (kind, first) = (chance.below(4), layout.scale().tick_of(system_ns()).unwrap());
        let mut ids = vec![0; 1 + chance.below(size) as usize];
        let made = match kind {
            0 => generator.fill(&mut ids, |id| id).0,
            1 => generator.fill_exact(&mut ids, |id| id).0,
            2 => ids.iter_mut().map_while(|id| generator.next_exact().ok().map(|made| *id = made)).count(),
            _ => ids.iter_mut().map_while(|id| generator.next_id().ok().map(|made| *id = made)).count(),
        };
        let passed = layout.scale().tick_of(system_ns()).unwrap();
        let ahead = knobs.rule(layout).max_ahead;
        counts[at] += made as u64;
        for id in ids.drain(..made) {
            assert!(!(1..3).contains(&kind) || id <= EXACT_MAX, "{id} of {} is not exact", layout.name());
            let number = number_of(layout, node, id);
            let tick = number >> layout.packing().counter_bits();
            if knobs.prefetch.is_none() {
                assert!(tick >= first, "{id} of {} has tick {tick}, and the clock had shown {first}", layout.name());
                assert!(number >= highest, "{id} of {} is not above {highest}", layout.name());
                highest = number + 1;
            }
            assert!(tick <= passed.saturating_add(ahead), "{id} of {} is ahead: {tick}, at {passed}", layout.name());
            assert!(layout.scale().last_tick() >= tick && (number & layout.counter_max()) <= knobs.seq_mask);
            used.push(number);
        }
    }
    for ((generator, _), count) in generators.iter().zip(counts) {
        assert_eq!(generator.stats().ids, count);
    }
    used
}

fn assert_distinct(layout: &Layout, numbers: &[u64]) {
    let distinct: HashSet<_> = numbers.iter().collect();
    assert_eq!(distinct.len(), numbers.len(), "{}", layout.name());
}

/// A seed of this run, which a failure shows.
fn seed() -> u64 {
    let seed = system_ns() as u64 | 1;
    println!("seed {seed}");
    seed
}

#[test]
fn in_threads_each_number_is_used_once_and_in_order() {
    let mut chance = Chance(seed());
    for layout in layouts() {
        let cursor = Arc::new(OwnCursor::from(Cursor::new(LAST)));
        let end = Instant::now() + Duration::from_millis(60);
        let threads: Vec<_> = (0..3)
            .map(|_| {
                let (layout, cursor, mut chance) = (layout.clone(), cursor.clone(), Chance(chance.below(u64::MAX) | 1));
                thread::spawn(move || use_in_turns(&layout, &cursor, &mut chance, || Instant::now() >= end))
            })
            .collect();
        let numbers: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_distinct(&layout, &numbers);
        assert!(!numbers.is_empty(), "{}", layout.name());
    }
}

#[test]
fn no_number_is_used_between_windows_or_after_the_last() {
    let mut chance = Chance(seed());
    for layout in layouts() {
        let bits = layout.packing().counter_bits();
        let begin = layout.scale().tick_of(system_ns()).unwrap() << bits;
        let cursor = Arc::new(OwnCursor::from(Cursor::window(begin, begin)));
        let is_over = Arc::new(AtomicBool::new(false));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (layout, cursor, mut chance) = (layout.clone(), cursor.clone(), Chance(chance.below(u64::MAX) | 1));
                let is_over = is_over.clone();
                thread::spawn(move || use_in_turns(&layout, &cursor, &mut chance, || is_over.load(Relaxed)))
            })
            .collect();
        let mut windows = vec![(begin, begin)];
        for _ in 0..300 {
            let first = cursor.next().max(layout.scale().tick_of(system_ns()).unwrap() << bits).max(cursor.limit() + 1);
            let (low, high) = (first + chance.below(20), first + 20 + chance.below(200));
            cursor.raise_next(low);
            cursor.raise_limit(high);
            windows.push((low, high));
            thread::sleep(Duration::from_micros(chance.below(150)));
        }
        let free = cursor.retire();
        thread::sleep(Duration::from_millis(2));
        is_over.store(true, Relaxed);
        let numbers: Vec<_> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert_distinct(&layout, &numbers);
        for number in numbers {
            let window = windows[windows.partition_point(|&(low, _)| low <= number) - 1];
            assert!(number <= window.1 && number < free, "{number} of {}, outside {window:?}", layout.name());
        }
    }
}
