//! The layouts of all dialects, with the places of their fields counted here again from the widths in the table, and the epochs
//! as dates. IDs of the real systems, which show that the widths are right, are in `__test__/vectors/golden.json`.

use flakeforge_core::layout::dialects::{DIALECTS, Shape};
use flakeforge_core::layout::{Layout, Mode};

use crate::invariants::bounds;
use crate::parts::{Parts, mode, node_values, pack, unpack};

struct Facts {
    /// widths and places of the fields that number IDs; the counter and the node fields in order
    counter: Vec<(u32, u32)>,
    nodes: Vec<(&'static str, Vec<(u32, u32)>)>,
    tick: (u32, u32),
}

const fn ones(width: u32) -> u64 {
    (1 << width) - 1
}

/// Where the fields of a row are: the place of each is the sum of the widths below it.
fn facts(fields: &'static [(&'static str, u32)]) -> Facts {
    let mut facts = Facts { counter: vec![], nodes: vec![], tick: (0, 0) };
    let mut place = 64;
    for &(name, width) in fields {
        place -= width;
        match name {
            "zero" | "mode" => {}
            "timestamp" => facts.tick = (width, place),
            "counter" => facts.counter.push((width, place)),
            _ => match facts.nodes.iter_mut().find(|field| field.0 == name) {
                Some(field) => field.1.push((width, place)),
                None => facts.nodes.push((name, vec![(width, place)])),
            },
        }
    }
    facts
}

/// All bits of these pieces.
fn full(pieces: &[(u32, u32)]) -> u64 {
    pieces.iter().map(|&(width, place)| ones(width) << place).sum()
}

fn count(pieces: &[(u32, u32)]) -> u64 {
    1 << pieces.iter().map(|piece| piece.0).sum::<u32>()
}

/// A Unix ms in ISO 8601, for the years 1970 to 9999. It counts years and months one by one.
fn iso(unix_ms: i64) -> String {
    let is_leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let (mut days, ms) = (unix_ms / 86_400_000, unix_ms % 86_400_000);
    let mut year = 1970;
    while days >= 365 + i64::from(is_leap(year)) {
        days -= 365 + i64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + i64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second, day) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, days + 1);
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
}

#[test]
fn dates_are_right() {
    assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
    assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
    assert_eq!(iso(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
    assert_eq!(iso(4_107_542_399_999), "2100-02-28T23:59:59.999Z");
    assert_eq!(iso(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
}

/// Every row with fields of bits.
fn rows() -> impl Iterator<Item = (&'static str, Layout, Facts)> {
    DIALECTS.iter().filter_map(|row| match row.shape {
        Shape::Bits(fields) => Some((row.name, Layout::named(row.name).unwrap(), facts(fields))),
        Shape::Decimal(_) => None,
    })
}

#[test]
fn epochs() {
    for (name, epoch) in [
        ("hazelcast", "2018-01-01T00:00:00.000Z"),
        ("snowcast", "2014-01-01T00:00:00.000Z"),
        ("twitter", "2010-11-04T01:42:54.657Z"),
        ("discord", "2015-01-01T00:00:00.000Z"),
        ("instagram", "2011-08-24T21:07:01.721Z"),
        ("sonyflake", "2014-09-01T00:00:00.000Z"),
        ("sonyflake2", "2025-01-01T00:00:00.000Z"),
        ("tsid", "2020-01-01T00:00:00.000Z"),
        ("safe", "2020-01-01T00:00:00.000Z"),
    ] {
        assert_eq!(iso(Layout::named(name).unwrap().scale().epoch_ms()), epoch, "{name}");
    }
}

#[test]
fn how_many() {
    for (name, layout, facts) in rows() {
        assert_eq!(layout.counter_max() + 1, count(&facts.counter), "{name}");
        let nodes: u64 = facts.nodes.iter().map(|field| count(&field.1)).product();
        assert_eq!(layout.node_max() + 1, nodes, "{name}");
        assert_eq!(layout.is_time_ordered(), layout.mode() != Mode::Spread, "{name}");
    }
}

#[test]
fn the_first_and_the_last_id() {
    for (name, layout, facts) in rows() {
        let mode = mode(&layout);
        let first = Parts { tick: 0, counter: 0, node: 0, mode };
        let (counter, node) = (layout.counter_max(), layout.node_max());
        let last = Parts { tick: ones(facts.tick.0), counter, node, mode };
        let nodes: u64 = facts.nodes.iter().map(|field| full(&field.1)).sum();
        let last_id = full(&[facts.tick]) | full(&facts.counter) | nodes;
        assert_eq!(layout.scale().last_tick(), last.tick, "{name}");
        for (parts, id) in [(first, 0), (last, last_id)] {
            assert_eq!(pack(&layout, parts), Some(id), "{name}");
            assert_eq!(unpack(&layout, id), Some(parts), "{name}");
        }
        assert_eq!((bounds(&layout, 0).0, bounds(&layout, last.tick).1), (0, last_id), "{name}");
    }
}

#[test]
fn decimal_layouts_end_where_their_digits_or_dates_do() {
    for (name, per_second, last_id) in [
        // 2^64 is 18446744073709551616: the last whole hundred and its 99 hosts do not all fit
        ("chronicle", 10_000_000, 18_446_744_073_709_551_599),
        // the last Date: 275760-09-13
        ("chronicle-micros", 10_000, 8_640_000_000_000_000_000 - 1),
    ] {
        let layout = Layout::named(name).unwrap();
        assert_eq!(layout.scale().tick_ns() * per_second, 1_000_000_000, "{name}");
        assert_eq!((layout.counter_max(), layout.node_max()), (0, 99), "{name}");
        let last = Parts { tick: layout.scale().last_tick(), counter: 0, node: 99, mode: None };
        assert_eq!((pack(&layout, last), unpack(&layout, last_id)), (Some(last_id), Some(last)), "{name}");
    }
}

/// One bit of each field, so that swapped fields are noticed.
#[test]
fn where_fields_begin() {
    for (name, layout, facts) in rows() {
        for (i, (_, pieces)) in facts.nodes.iter().enumerate() {
            let place = pieces.last().unwrap().1;
            let values: Vec<_> = (0..facts.nodes.len()).map(|field| u64::from(field == i)).collect();
            assert_eq!(node_values(&layout, 1 << place), values, "{name}");
            let node = unpack(&layout, 1 << place).unwrap().node;
            assert_eq!(layout.place_node(node).bits(), 1 << place, "{name}");
        }
    }
}

#[test]
fn snowcasts_nodes_take_bits_from_the_counter() {
    for (nodes, bits) in [(128, 7), (129, 8), (256, 8), (1000, 10), (4097, 13), (8192, 13)] {
        let layout = Layout::named("snowcast").unwrap().with_nodes(nodes).unwrap();
        assert_eq!((layout.node_max(), layout.counter_max()), (ones(bits), ones(23 - bits)), "{nodes}");
        let parts = Parts { tick: 1, counter: 1, node: 1, mode: None };
        assert_eq!(pack(&layout, parts), Some(1 << 23 | 1 << (23 - bits) | 1), "{nodes}");
    }
}

#[test]
fn uniqueids_modes() {
    let layout = |mode| Layout::named("uniqueid").unwrap().with_mode(mode).unwrap();
    let (spread, sequential) = (layout(Mode::Spread), layout(Mode::Sequential));
    assert_eq!(Layout::named("uniqueid").unwrap().mode(), Mode::Spread);
    assert!(sequential.is_time_ordered());
    let parts = |mode| Parts { tick: 1, counter: 2, node: 0x401 << 4 | 3, mode: Some(mode) };
    // generator 0x401: its upper three bits are 4, above the mode's bit, its lower eight are 1
    let (counter, generator, cluster) = (2 << 16, 4 << 13 | 1 << 4, 3);
    let in_spread = 1 << 63 | counter | generator | cluster;
    let in_sequence = 1 << 22 | counter | generator | 1 << 12 | cluster;
    for layout in [spread, sequential] {
        assert_eq!(pack(&layout, parts(Mode::Spread)), Some(in_spread), "whatever the layout's own mode");
        assert_eq!(pack(&layout, parts(Mode::Sequential)), Some(in_sequence));
        assert_eq!(unpack(&layout, in_spread), Some(parts(Mode::Spread)), "an ID contains its own mode");
        assert_eq!(unpack(&layout, in_sequence), Some(parts(Mode::Sequential)));
    }
}
