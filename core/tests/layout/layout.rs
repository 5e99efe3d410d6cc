//! Layouts: an ID contains the parts that it was packed from, for every row of the table and for random specs; impossible
//! specs are refused.

use flakeforge_core::layout::dialects::{DIALECTS, Shape};
use flakeforge_core::layout::timescale::to_ms;
use flakeforge_core::layout::{EXACT_MAX, Layout, Mode, Spec};
use proptest::prelude::*;

use crate::invariants::*;
use crate::parts::{Parts, pack, unpack};

const MS: i128 = 1_000_000;

fn named(name: &str) -> Layout {
    Layout::named(name).unwrap()
}

fn spec(fields: &[(&str, u32)]) -> Spec {
    let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
    Spec { name: "mine".into(), epoch_ms: 0, tick_ns: 1_000_000, fields }
}

/// Every layout of the table, with each of its options.
fn all() -> Vec<Layout> {
    let mut layouts: Vec<Layout> = DIALECTS.iter().map(|row| named(row.name)).collect();
    layouts.push(named("uniqueid").with_mode(Mode::Sequential).unwrap());
    layouts.extend(DIALECTS.iter().filter_map(|dialect| named(dialect.name).with_mode(Mode::Spread)));
    layouts.push(named("snowcast").with_mode(Mode::Spread).unwrap().with_nodes(128).unwrap());
    layouts.extend((7..=13).map(|bits| named("snowcast").with_nodes(1 << bits).unwrap()));
    layouts
}

#[test]
fn the_example_of_flake_idgens_readme() {
    // "0x8c20c0335 | 00011b | 00001b | 0x001 | 0x02308300cd461001"
    let parts = Parts { tick: 0x8_c20c_0335, counter: 1, node: 3 << 5 | 1, mode: None };
    assert_eq!(pack(&named("flake"), parts), Some(0x0230_8300_cd46_1001));
    assert_eq!(unpack(&named("flake"), 0x0230_8300_cd46_1001), Some(parts));
}

#[test]
fn every_row_is_possible() {
    for row in DIALECTS {
        if let Shape::Bits(fields) = row.shape {
            assert_eq!(fields.iter().map(|field| field.1).sum::<u32>(), 64, "{}", row.name);
            assert_eq!(fields.iter().filter(|field| field.0 == "timestamp").count(), 1, "{}", row.name);
        }
    }
    assert!(Layout::named("Flake").is_none());
    assert!(Layout::named("").is_none());
}

#[test]
fn the_ends() {
    let ends = |layout: Layout| (layout.end_ns(), layout.signed_end_ns());
    assert_eq!(ends(named("flake")), ((1 << 42) * MS, (1 << 41) * MS));
    assert_eq!(ends(named("flake").with_epoch(1000)), (((1 << 42) + 1000) * MS, ((1 << 41) + 1000) * MS));
    let twitter = (1_288_834_974_657 + (1 << 41)) * MS;
    assert_eq!(ends(named("twitter")), (twitter, twitter), "the top bit is always 0");
    let sonyflake = (1_409_529_600_000 + 10 * (1 << 39)) * MS;
    assert_eq!(ends(named("sonyflake")), (sonyflake, sonyflake));
    assert_eq!(named("chronicle").signed_end_ns(), 9_223_372_036_854_775_800);
    assert_eq!(named("chronicle").end_ns(), 18_446_744_073_709_551_600);
    assert_eq!(named("uniqueid").signed_end_ns(), MS, "bit-reversed: the second millisecond sets the top bit");
    assert_eq!(named("uniqueid").with_mode(Mode::Sequential).unwrap().signed_end_ns(), (1 << 41) * MS);
    let spread = |layout: Layout| ends(layout.with_mode(Mode::Spread).unwrap());
    assert_eq!(spread(named("flake")), (ends(named("flake")).0, MS), "as uniqueid");
    assert_eq!(spread(named("twitter")), (twitter, twitter), "the top bit is always 0");
    let own = |fields: &[(&str, u32)]| {
        let fields = fields.iter().map(|&(name, width)| (name.to_owned(), width)).collect();
        Layout::custom(Spec { name: "own".to_owned(), epoch_ms: 0, tick_ns: 1_000_000, fields }).unwrap()
    };
    let end = (1 << 41) * MS;
    assert_eq!(ends(own(&[("zero", 1), ("node", 10), ("timestamp", 41), ("counter", 12)])), (end, end), "never");
    assert_eq!(ends(own(&[("zero", 1), ("counter", 12), ("timestamp", 41), ("node", 10)])), (end, end), "never");
    assert_eq!(ends(own(&[("node", 11), ("timestamp", 41), ("counter", 12)])), (end, 0), "from the first ID on");
    assert_eq!(spread(own(&[("node", 11), ("timestamp", 41), ("counter", 12)])), (end, 0), "from the first ID on");
}

#[test]
fn the_tick_of_a_time_as_a_float() {
    let layout = named("chronicle-micros");
    let scale = layout.scale();
    let tick = |ms: f64| scale.tick_of(scale.instant_of(ms));
    let start_ms = |tick| to_ms(scale.start_of(tick));
    for wanted in 16_663_920_054_944..16_663_920_055_944 {
        assert_eq!(tick(start_ms(wanted)), Ok(wanted));
        assert_eq!(tick(start_ms(wanted).next_down()), Ok(wanted - 1), "the float before it");
    }
    let flake = named("flake").scale();
    assert_eq!(flake.tick_of(flake.instant_of(5.999_999_9)), Ok(5));
    let last = start_ms(scale.last_tick());
    assert_eq!(tick(last).map(start_ms), Ok(last), "one of the ticks that start at this float");
    assert!(tick(last.next_up()).is_err(), "the float of the end");
}

#[test]
fn until_when_ids_are_exact_as_floats() {
    let last = |layout: Layout| layout.last_exact_tick();
    assert_eq!(last(named("safe")), Some((1 << 41) - 1));
    assert_eq!(named("safe").exact_end_ns(), named("safe").end_ns(), "53 bits are all it has");
    // A tick is a hundred µs, and the last two digits are the host.
    assert_eq!(last(named("chronicle-micros")), Some((EXACT_MAX - 99) / 100));
    assert_eq!(
        last(named("chronicle")),
        last(named("chronicle-micros")),
        "the same number of ticks, a thousandth as long"
    );
    assert_eq!(last(named("flake")), Some((1 << 31) - 1));
    assert_eq!(named("flake").exact_end_ns(), (1 << 31) * MS);
    assert_eq!(last(named("uniqueid").with_mode(Mode::Sequential).unwrap()), Some((1 << 31) - 1));
    assert_eq!((last(named("uniqueid")), named("uniqueid").exact_end_ns()), (None, 0), "the bits are reversed");
    let spread = |name| last(named(name).with_mode(Mode::Spread).unwrap());
    assert_eq!((spread("safe"), spread("flake")), (Some((1 << 41) - 1), None), "all or none");
    // A node or counter field above the timestamp: its value may be 0, but need not.
    let above =
        |name, bits| last(Layout::custom(spec(&[("zero", bits), (name, 10), ("timestamp", 54 - bits)])).unwrap());
    for name in ["node", "counter"] {
        assert_eq!((above(name, 11), above(name, 10)), (Some((1 << 43) - 1), None), "{name}");
    }
    let above_zero = [("zero", 10), ("timestamp", 5), ("zero", 7), ("node", 42)];
    assert_eq!(last(Layout::custom(spec(&above_zero)).unwrap()), Some(15));
}

#[test]
fn an_id_offset_changes_until_when_ids_are_exact() {
    let safe = |offset| named("safe").with_id_offset(offset).unwrap();
    let tick = 1 << 12;
    assert_eq!(safe(1).last_exact_tick(), Some((1 << 41) - 2), "its last ID would be 2^53");
    assert_eq!(safe(-1).last_exact_tick(), Some((1 << 41) - 1), "the next tick has no bits");
    assert_eq!(safe(5 * tick).last_exact_tick(), Some((1 << 41) - 6));
    assert_eq!(safe(1 << 53).last_exact_tick(), None);
    // flake with an offset that removes 20 days and more: it starts later, and stays exact for as long
    let flake = |ms: i64| named("flake").with_id_offset(-(ms << 22)).unwrap();
    assert_eq!(flake(1 << 40).scale().first_tick(), 1 << 40);
    assert_eq!(flake(1 << 40).last_exact_tick(), Some((1 << 40) + (1 << 31) - 1));
    let late = 3 << 39; // in the second half, so that a search looks at ticks before the first one
    let twitter = named("twitter").with_id_offset(-(late << 22)).unwrap();
    assert_eq!(twitter.last_exact_tick(), Some(late as u64 + (1 << 31) - 1));
}

#[test]
fn no_layout_goes_past_the_last_date() {
    const LAST_DATE_NS: i128 = 8_640_000_000_000_000 * MS;
    assert_eq!(named("chronicle-micros").end_ns(), LAST_DATE_NS);
    let sevens = Layout::custom(Spec { tick_ns: 7_000_000, ..spec(&[("timestamp", 63), ("counter", 1)]) }).unwrap();
    assert_eq!(sevens.end_ns(), LAST_DATE_NS / (7 * MS) * 7 * MS, "the last tick ends in time");
    let long = Layout::custom(spec(&[("timestamp", 63), ("counter", 1)])).unwrap();
    assert_eq!(long.end_ns(), LAST_DATE_NS);
    assert!(long.scale().tick_of(LAST_DATE_NS - 1).is_ok());
    assert!(long.scale().tick_of(LAST_DATE_NS).is_err());
}

#[test]
fn impossible_specs_are_refused() {
    let is_possible = |fields: &[(&str, u32)]| Layout::custom(spec(fields)).is_some();
    let impossible: [&[(&str, u32)]; 13] = [
        &[("timestamp", 42), ("counter", 21)],
        &[("timestamp", 42), ("counter", 23)],
        &[("node", 32), ("counter", 32)],
        &[],
        &[("timestamp", 32), ("timestamp", 32)],
        &[("timestamp", 42), ("a", 11), ("a", 11)],
        &[("timestamp", 42), ("", 22)],
        &[("timestamp", 42), ("mode", 2), ("counter", 20)], // java-uniqueid's name
        &[("timestamp", 42), ("a", 0), ("counter", 22)],
        &[("timestamp", 64)],
        &[("timestamp", 10), ("counter", 54)],
        &[("timestamp", 10), ("a", 30), ("b", 24)], // 54 bits of node
        &[("timestamp", 42), ("a", 10), ("Sequence_ID", 12)],
    ];
    for fields in impossible {
        assert!(!is_possible(fields), "{fields:?}");
    }
    assert!(Layout::custom(Spec { tick_ns: 0, ..spec(&[("timestamp", 42), ("counter", 22)]) }).is_none());
    assert!(is_possible(&[("timestamp", 11), ("a", 30), ("b", 23)]));
    assert!(is_possible(&[("timestamp", 42), ("Sequence_ID", 10), ("counter", 12)]));
    assert!(is_possible(&[("zero", 1), ("timestamp", 41), ("zero", 2), ("counter", 20)]));
}

#[test]
fn nodes_belong_to_one_dialect_and_modes_to_all_with_bits() {
    assert!(named("flake").with_nodes(128).is_none());
    assert!(named("chronicle").with_mode(Mode::Spread).is_none(), "it is decimal");
    let spread = named("snowcast").with_mode(Mode::Spread).unwrap();
    assert_eq!(spread.with_nodes(128).map(|layout| layout.mode()), Some(Mode::Spread));
    let small = named("snowcast").with_nodes(100).unwrap();
    assert_eq!((small.node_max(), small.counter_max()), (127, 65_535));
}

#[test]
#[should_panic(expected = "node 1024 is above 1023, the highest of the layout flake")]
fn a_node_that_does_not_fit_is_not_placed() {
    named("flake").place_node(1024);
}

#[test]
#[should_panic(expected = "node 100 is above 99, the highest of the layout chronicle")]
fn a_node_of_three_digits_is_not_placed() {
    named("chronicle").place_node(100);
}

#[test]
fn an_id_offset_shifts_ids_and_narrows_the_time() {
    let plain = named("hazelcast");
    let parts = Parts { tick: 1000, counter: 3, node: 7, mode: None };
    let up = plain.clone().with_id_offset(1 << 62).unwrap();
    assert_eq!(pack(&up, parts).unwrap(), pack(&plain, parts).unwrap() + (1 << 62));
    assert_eq!(unpack(&up, pack(&up, parts).unwrap()), Some(parts));
    assert!(up.signed_end_ns() < plain.signed_end_ns());
    let down = plain.clone().with_id_offset(-(1 << 40)).unwrap();
    assert_eq!(pack(&down, parts), None, "it would be below 0");
    let first = down.scale().first_tick();
    assert_eq!(first, 1 << (40 - 22));
    assert_eq!(bounds(&down, first).0, 0);
    let flake = named("flake").with_id_offset(i64::MAX).unwrap();
    let last = flake.scale().last_tick();
    assert_eq!(bounds(&flake, last).1, bounds(&named("flake"), last).1 + i64::MAX as u64);
    assert!(bounds(&named("flake"), last + 1).1.checked_add(i64::MAX as u64).is_none());
    assert!(named("uniqueid").with_id_offset(1).is_none(), "there is no order of time");
}

#[test]
fn an_id_offset_holds_whatever_is_chosen_after_it() {
    for offset in [-(1 << 40), 1 << 62, i64::MIN, i64::MAX] {
        let expected = |layout: Layout| layout.with_id_offset(offset).unwrap();
        let with_offset = |name| expected(named(name));
        for (chosen, expected) in [
            (with_offset("flake").with_epoch(1000), expected(named("flake").with_epoch(1000))),
            (with_offset("snowcast").with_nodes(128).unwrap(), expected(named("snowcast").with_nodes(128).unwrap())),
            (with_offset("flake").with_id_offset(7).unwrap(), named("flake").with_id_offset(7).unwrap()),
        ] {
            assert_eq!(chosen.scale(), expected.scale(), "{} {offset}", chosen.name());
            assert_eq!(chosen.id_offset(), expected.id_offset(), "{} {offset}", chosen.name());
        }
    }
    let sequential = named("uniqueid").with_mode(Mode::Sequential).unwrap().with_id_offset(1).unwrap();
    assert!(sequential.clone().with_mode(Mode::Sequential).is_some());
    assert!(sequential.with_mode(Mode::Spread).is_none(), "there would be no order of time");
}

#[test]
fn nodes_leave_bits_for_the_counter_and_for_a_node() {
    let bits = |nodes| named("snowcast").with_nodes(nodes).map(|layout| (layout.node_max(), layout.counter_max()));
    assert_eq!(bits(2), Some((1, (1 << 22) - 1)));
    assert_eq!(bits(1 << 22), Some(((1 << 22) - 1, 1)));
    for nodes in [0, 1, (1 << 22) + 1, 1 << 23, 1 << 30, (1 << 63) + 1, u64::MAX] {
        assert_eq!(bits(nodes), None, "{nodes}");
    }
}

#[test]
fn ids_that_no_generator_creates_have_no_parts() {
    assert!(unpack(&named("chronicle"), u64::MAX).is_none(), "host 15 of a tick whose host 99 does not fit");
    assert!(unpack(&named("chronicle"), u64::MAX - 16).is_some());
    assert!(unpack(&named("twitter"), 1 << 63).is_none());
    assert!(unpack(&named("twitter"), (1 << 63) - 1).is_some());
}

/// A spec of random fields in a random order.
fn specs() -> impl Strategy<Value = Spec> {
    let widths = (1u32..=63, 0u32..=53, 0u32..=6, prop::collection::vec(1u32..=20, 0..4));
    let time = (-LAST_DATE_MS..=LAST_DATE_MS, 1u64..=(1 << 53) - 1);
    (widths, time, any::<u64>()).prop_map(|((timestamp, counter, zero, nodes), (epoch_ms, tick_ns), seed)| {
        let mut fields = vec![("timestamp".to_owned(), timestamp)];
        fields.extend((counter > 0).then(|| ("counter".to_owned(), counter)));
        fields.extend((zero > 0).then(|| ("zero".to_owned(), zero)));
        fields.extend(nodes.iter().enumerate().map(|(i, &width)| (format!("n{i}"), width)));
        let mut left = 64u32;
        fields.retain_mut(|field| {
            field.1 = field.1.min(left);
            left -= field.1;
            field.1 > 0
        });
        fields.extend((left > 0).then(|| ("zero".to_owned(), left)));
        let turn = seed as usize % fields.len();
        fields.rotate_left(turn);
        Spec { name: "random".into(), epoch_ms, tick_ns, fields }
    })
}

type Numbers = (u64, u64, u64);

fn holds(layout: &Layout, (tick, counter, node): Numbers, id: u64) {
    let parts = parts_of(layout, tick, counter, node);
    packing_inverts(layout, parts);
    unpacking_inverts(layout, id);
    runs_agree(layout, parts);
    ends_agree(layout);
    every_usable_tick_has_ids(layout);
}

fn assert_ordered(layout: &Layout, [a, b]: [Numbers; 2]) {
    let [a, b] = [a, b].map(|(tick, counter, node)| parts_of(layout, tick, counter, node));
    if layout.is_time_ordered() && a.tick != b.tick {
        assert_eq!(a.tick < b.tick, pack(layout, a) < pack(layout, b), "{}", layout.name());
    }
}

proptest! {
    #[test]
    fn every_dialect(a: Numbers, b: Numbers, id: u64) {
        for layout in all() {
            holds(&layout, a, id);
            assert_ordered(&layout, [a, b]);
        }
    }

    #[test]
    fn random_specs(spec in specs(), a: Numbers, b: Numbers, id: u64, offset: i64) {
        let layout = Layout::custom(spec).unwrap();
        holds(&layout, a, id);
        assert_ordered(&layout, [a, b]);
        if let Some(layout) = layout.with_id_offset(offset) {
            holds(&layout, a, id);
        }
    }

    #[test]
    fn offsets(a: Numbers, offset: i64, id: u64) {
        for layout in all().into_iter().filter_map(|layout| layout.with_id_offset(offset)) {
            holds(&layout, a, id);
        }
    }
}
