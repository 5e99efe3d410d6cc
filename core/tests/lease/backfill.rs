//! IDs of the past: their bits, and how many numbers are asked for.

use std::collections::BTreeMap;

use flakeforge_core::layout::{Layout, Spec};
use flakeforge_core::lease::backfill::{Backfill, Counter, Numbers, Take, Taken};

/// Counters that give what they are asked for.
#[derive(Default)]
struct Store(BTreeMap<Counter, u64>);

impl Store {
    fn give(&mut self, counter: Counter, by: u64) -> u64 {
        let value = self.0.entry(counter).or_default();
        *value += by;
        *value - by
    }

    fn take(&mut self, past: &mut Backfill, unix_ms: i64) -> Option<u64> {
        loop {
            match past.take(unix_ms) {
                Taken::Id(id) => return Some(id),
                Taken::Ask(counter, by) => past.given(counter, self.give(counter, by), by),
                Taken::Full | Taken::OutOfRange => return None,
            }
        }
    }
}

const MS: i64 = 1_700_000_000_123;

#[test]
fn an_id_has_its_moment_and_the_highest_node_first() {
    let layout = Layout::named("flake").unwrap();
    let mut past = Backfill::new(&layout, &[1023, 1022]);
    let mut store = Store::default();
    let ids: Vec<_> = std::iter::from_fn(|| store.take(&mut past, MS)).collect();
    let id = |node: u64, counter: u64| (MS as u64) << 22 | node << 12 | counter;
    let ids_of = |node, counters: std::ops::Range<u64>| counters.map(move |counter| id(node, counter));
    let of_the_span = ids_of(1023, 0..32); // others get the rest up to 2047
    assert_eq!(ids, of_the_span.chain(ids_of(1023, 2048..4096)).chain(ids_of(1022, 0..4096)).collect::<Vec<_>>());
    assert!(store.take(&mut past, MS + 1).is_some(), "the next ms has all of its own");
    assert_eq!(store.take(&mut past, -1), None, "before the epoch");
}

#[test]
fn members_and_restarts_repeat_nothing() {
    let layout = Layout::named("flake").unwrap();
    let mut store = Store::default();
    let mut ids = Vec::new();
    for nodes in [&[1023, 1022, 1021, 1020][..], &[1023], &[1023, 1022]] {
        for _ in 0..40 {
            let mut past = Backfill::new(&layout, nodes);
            ids.extend((0..50).filter_map(|_| store.take(&mut past, MS)));
            ids.extend((0..3).filter_map(|at| store.take(&mut past, MS + 1 + at)));
        }
    }
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    assert!(all > 80 * 50, "{all}: where a span has nothing left, its moments have");
}

#[test]
fn a_span_is_asked_once_for_all_of_its_moments() {
    let mut numbers = Numbers::new(4096, 4 * 4096);
    let span = Counter::Span(3);
    let first = 3 << 26;
    assert_eq!(numbers.take(first), Take::Ask(span, 32));
    numbers.given(span, 0, 32);
    for moment in first..first + 1000 {
        assert_eq!(
            (0..32).map(|_| numbers.take(moment)).collect::<Vec<_>>(),
            (0..32).map(Take::Number).collect::<Vec<_>>()
        );
    }
    assert_eq!(
        numbers.take(first),
        Take::Ask(Counter::Moment(first), 32),
        "a moment with many rows has its own counter"
    );
    numbers.given(Counter::Moment(first), 0, 32);
    assert_eq!(numbers.take(first), Take::Number(2048));
    assert_eq!(numbers.take(first - 1), Take::Ask(Counter::Span(2), 32));
}

#[test]
fn other_layouts() {
    let mine = |tick_ns, fields: &[(&str, u32)]| {
        let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
        Layout::custom(Spec { name: "mine".to_owned(), epoch_ms: 1_600_000_000_000, tick_ns, fields }).unwrap()
    };
    let layouts = [
        ("hazelcast", Layout::named("hazelcast").unwrap(), 64),
        ("sonyflake", Layout::named("sonyflake").unwrap(), 256),
        ("uniqueid", Layout::named("uniqueid").unwrap(), 64),
        ("chronicle", Layout::named("chronicle").unwrap(), 10_000),
        ("chronicle-micros", Layout::named("chronicle-micros").unwrap(), 10),
        ("no counter", mine(1_000_000, &[("timestamp", 48), ("shard", 16)]), 1),
        ("a tick that is no part of a ms", mine(300_000, &[("timestamp", 44), ("shard", 10), ("counter", 10)]), 1024),
    ];
    for (name, layout, of_a_node) in layouts {
        let highest = layout.node_max();
        let mut past = Backfill::new(&layout, &[highest, highest - 1]);
        let mut store = Store::default();
        let mut ids: Vec<_> = std::iter::from_fn(|| store.take(&mut past, MS)).collect();
        let of_spans = of_a_node / 2;
        let share = (of_spans / 64).max(1).min(of_spans);
        assert_eq!(ids.len(), 2 * of_a_node - of_spans + share, "{name}");
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 2 * of_a_node - of_spans + share, "{name}");
    }
}

#[test]
fn records_have_names_that_no_slot_has() {
    assert_eq!(Counter::Span(25_331).record(), "span0000025331");
    assert_eq!(Counter::Moment(1_700_000_000_123).record(), "moment00000001700000000123");
}
