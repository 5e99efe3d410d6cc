//! The facts of every dialect, written down again by hand: the epoch as a date, the first and last ID as shifts, the number
//! of IDs per tick, and whether IDs sort by time.

use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::{Layout, Mode};

use crate::invariants::bounds;
use crate::parts::{Parts, node_values, pack, unpack};

struct Facts {
    name: &'static str,
    /// a date, and the time if that is not midnight
    epoch: &'static str,
    ticks_per_second: u64,
    /// the last tick, the last counter and the last node, each shifted to its place by hand
    last_id: u64,
    ids_per_tick: u64,
    nodes: u64,
    is_ordered: bool,
}

const fn ones(width: u32) -> u64 {
    (1 << width) - 1
}

/// The rows as [`Facts`].
const FACTS: [(&str, &str, u64, u64, u64, u64, bool); 11] = [
    ("flake", "1970-01-01", 1_000, ones(42) << 22 | 31 << 17 | 31 << 12 | 4095, 4096, 1024, true),
    ("hazelcast", "2018-01-01", 1_000, ones(41) << 22 | 63 << 16 | 65_535, 64, 65_536, true),
    ("snowcast", "2014-01-01", 1_000, ones(41) << 23 | 8191 << 10 | 1023, 1024, 8192, true),
    // uniqueid: mode 0: the one bit at 12 is not set
    ("uniqueid", "1970-01-01", 1_000, ones(42) << 22 | 63 << 16 | 7 << 13 | 255 << 4 | 15, 64, 32_768, false),
    // chronicle: 2^64 is 18446744073709551616: the last whole hundred and its 99 hosts do not all fit
    ("chronicle", "1970-01-01", 10_000_000, 18_446_744_073_709_551_599, 1, 100, true),
    // chronicle-micros: ends with the last Date, 275760-09-13
    ("chronicle-micros", "1970-01-01", 10_000, 8_640_000_000_000_000_000 - 1, 1, 100, true),
    ("twitter", "2010-11-04T01:42:54.657Z", 1_000, ones(41) << 22 | 31 << 17 | 31 << 12 | 4095, 4096, 1024, true),
    ("discord", "2015-01-01", 1_000, ones(42) << 22 | 31 << 17 | 31 << 12 | 4095, 4096, 1024, true),
    ("instagram", "2011-08-24T21:07:01.721Z", 1_000, ones(41) << 23 | 8191 << 10 | 1023, 1024, 8192, true),
    ("sonyflake", "2014-09-01", 100, ones(39) << 24 | 255 << 16 | 65_535, 256, 65_536, true),
    // safe: Number.MAX_SAFE_INTEGER
    ("safe", "2020-01-01", 1_000, 9_007_199_254_740_991, 64, 64, true),
];

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

/// Every row with its facts.
fn rows() -> impl Iterator<Item = (Layout, Facts)> {
    assert!(DIALECTS.iter().map(|row| row.name).eq(FACTS.iter().map(|facts| facts.0)), "the rows, in their order");
    FACTS.into_iter().map(|(name, epoch, ticks_per_second, last_id, ids_per_tick, nodes, is_ordered)| {
        let facts = Facts { name, epoch, ticks_per_second, last_id, ids_per_tick, nodes, is_ordered };
        (Layout::named(name).unwrap(), facts)
    })
}

#[test]
fn time() {
    for (layout, facts) in rows() {
        assert_eq!(iso(layout.scale().epoch_ms()).trim_end_matches("T00:00:00.000Z"), facts.epoch, "{}", facts.name);
        assert_eq!(layout.scale().tick_ns() * facts.ticks_per_second, 1_000_000_000, "{}", facts.name);
        assert_eq!(layout.is_time_ordered(), facts.is_ordered, "{}", facts.name);
    }
}

#[test]
fn how_many() {
    for (layout, facts) in rows() {
        assert_eq!(layout.counter_max() + 1, facts.ids_per_tick, "{}", facts.name);
        assert_eq!(layout.node_max() + 1, facts.nodes, "{}", facts.name);
    }
}

#[test]
fn the_first_and_the_last_id() {
    for (layout, facts) in rows() {
        let mode = layout.mode();
        let first = Parts { tick: 0, counter: 0, node: 0, mode };
        let (counter, node) = (facts.ids_per_tick - 1, facts.nodes - 1);
        let last = Parts { tick: layout.scale().last_tick(), counter, node, mode };
        for (parts, id) in [(first, 0), (last, facts.last_id)] {
            assert_eq!(pack(&layout, parts), Some(id), "{}", facts.name);
            assert_eq!(unpack(&layout, id), Some(parts), "{}", facts.name);
        }
        assert_eq!((bounds(&layout, 0).0, bounds(&layout, last.tick).1), (0, facts.last_id), "{}", facts.name);
    }
}

/// One bit of each field, so that swapped fields are noticed.
#[test]
fn where_fields_begin() {
    let rows: [(&str, &[u32]); 9] = [
        ("flake", &[17, 12]),
        ("hazelcast", &[0]),
        ("snowcast", &[10]),
        ("uniqueid", &[4, 0]),
        ("twitter", &[17, 12]),
        ("discord", &[17, 12]),
        ("instagram", &[10]),
        ("sonyflake", &[0]),
        ("safe", &[6]),
    ];
    for (name, places) in rows {
        let layout = Layout::named(name).unwrap();
        for (i, place) in places.iter().enumerate() {
            let values: Vec<_> = (0..places.len()).map(|field| u64::from(field == i)).collect();
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
    assert_eq!(Layout::named("uniqueid").unwrap().mode(), Some(Mode::Spread));
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
