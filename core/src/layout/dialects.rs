//! The table of layouts that other systems use, and flakeforge's own: one row each. To add a dialect, add a row that cites
//! the specification of its layout, and the code that decides what happens when a counter is used up and when the clock steps
//! back. docs/reference/layouts.md says for each row what its system does then, and where flakeforge differs.

use crate::layout::timescale::NS_PER_MS;

/// A layout as data, and how its system handles overflow and clock steps.
#[derive(Debug)]
pub struct Dialect {
    /// the name for the `layout` option
    pub name: &'static str,
    /// the system, for the types' documentation
    pub system: &'static str,
    /// default epoch, Unix milliseconds
    pub epoch_ms: i64,
    /// length of a tick in nanoseconds
    pub tick_ns: u64,
    /// what the 64 bits mean
    pub shape: Shape,
    /// whether the `nodes` option decides how node and counter, the second and third field, share their bits
    pub has_nodes: bool,
    /// how far IDs may run ahead of the clock, in ms: the default of `maxAheadMs`
    pub max_ahead_ms: f64,
    /// how long a synchronous call may block, in ms: the default of `maxWaitMs`
    pub max_wait_ms: f64,
}

/// What the 64 bits mean.
#[derive(Debug)]
pub enum Shape {
    /// Bit fields as names and widths, the most significant first; 64 bits in total. A name that occurs twice is one field in
    /// two pieces.
    Bits(&'static [(&'static str, u32)]),
    /// A decimal number: ticks, then two digits for the node field of this name.
    Decimal(&'static str),
}

/// What most systems use: ticks of 1 ms, and IDs that never run ahead of the clock.
const USUAL: Dialect = Dialect {
    name: "",
    system: "",
    epoch_ms: 0,
    tick_ns: NS_PER_MS,
    shape: Shape::Bits(&[]),
    has_nodes: false,
    max_ahead_ms: 0.0,
    max_wait_ms: 0.0,
};

const FOR_EVER: f64 = f64::INFINITY;

/// Every dialect that flakeforge knows; the first is the default.
pub const DIALECTS: &[Dialect] = &[
    // flake-idgen 1.4.0 (npm), README "Flake Numbers Format"; after Boundary's Flake and Twitter's Snowflake. `next()` of
    // flake-id-gen.js throws on overflow and on a clock step, and waits for both if it has a callback.
    Dialect {
        name: "flake",
        system: "flake-idgen",
        epoch_ms: 0,
        shape: Shape::Bits(&[("timestamp", 42), ("datacenter", 5), ("worker", 5), ("counter", 12)]),
        ..USUAL
    },
    // Hazelcast 5, "Flake ID Generator": com.hazelcast.flakeidgen.impl.FlakeIdGeneratorProxy, FlakeIdGeneratorConfig. The
    // node is the lowest field, so the IDs of a node increase in steps of 65,536. `newIdBaseLocal()` lets IDs run 15 s ahead of
    // the clock (allowedFutureMillis), and then sleeps.
    Dialect {
        name: "hazelcast",
        system: "Hazelcast FlakeIdGenerator",
        epoch_ms: 1_514_764_800_000, // 2018-01-01
        shape: Shape::Bits(&[("zero", 1), ("timestamp", 41), ("counter", 6), ("node", 16)]),
        max_ahead_ms: 15_000.0,
        max_wait_ms: 1_000.0,
        ..USUAL
    },
    // snowcast 2.0.0 (noctarius), README "Sequence": 41 bits, then node and counter, which share 23 bits according to
    // `nodes`. AbstractSequencerContext.next() sleeps until the clock has passed the last ID's ms.
    Dialect {
        name: "snowcast",
        system: "snowcast; `nodes` says how many nodes",
        epoch_ms: 1_388_534_400_000, // 2014-01-01, as in its manual
        shape: Shape::Bits(&[("timestamp", 41), ("node", 13), ("counter", 10)]),
        has_nodes: true,
        max_wait_ms: 1_000.0,
        ..USUAL
    },
    // LableOrg java-uniqueid 4.7, doc/eight-byte-id-structure.md. The timestamp's bits are reversed in mode 0, SPREAD, but
    // not in mode 1, TIME_SEQUENTIAL. BaseUniqueIDGenerator.generate() sleeps 1 ms on overflow, and ignores clock steps.
    Dialect {
        name: "uniqueid",
        system: "java-uniqueid; `mode`",
        epoch_ms: 0,
        shape: Shape::Bits(&[
            ("timestamp", 42),
            ("counter", 6),
            ("generator", 3),
            ("mode", 1),
            ("generator", 8),
            ("cluster", 4),
        ]),
        max_wait_ms: 1_000.0,
        ..USUAL
    },
    // Chronicle-Bytes 2.26, DistributedUniqueTimeProvider.currentTimeNanos(): the host replaces the last two digits. It counts
    // on from the last time, however far that is ahead.
    Dialect {
        name: "chronicle",
        system: "Chronicle, Unix ns",
        epoch_ms: 0,
        tick_ns: 100,
        shape: Shape::Decimal("host"),
        max_ahead_ms: FOR_EVER,
        ..USUAL
    },
    // The same, currentTimeMicros(): fits a JavaScript number until 2255.
    Dialect {
        name: "chronicle-micros",
        system: "Chronicle, Unix µs",
        epoch_ms: 0,
        tick_ns: 100_000,
        shape: Shape::Decimal("host"),
        max_ahead_ms: FOR_EVER,
        ..USUAL
    },
    // Twitter Snowflake 2010, IdWorker.scala. `nextId()` spins until the next ms on overflow (tilNextMillis), and throws on a
    // clock step (InvalidSystemClock).
    Dialect {
        name: "twitter",
        system: "Twitter Snowflake",
        epoch_ms: 1_288_834_974_657, // 2010-11-04T01:42:54.657Z
        shape: Shape::Bits(&[("zero", 1), ("timestamp", 41), ("datacenter", 5), ("worker", 5), ("counter", 12)]),
        max_wait_ms: 1_000.0,
        ..USUAL
    },
    // Discord developer documentation, "Snowflakes": Snowflake ID Format Structure. The generator is not public.
    Dialect {
        name: "discord",
        system: "Discord",
        epoch_ms: 1_420_070_400_000, // 2015-01-01
        shape: Shape::Bits(&[("timestamp", 42), ("worker", 5), ("process", 5), ("counter", 12)]),
        ..USUAL
    },
    // Instagram Engineering 2012, "Sharding & IDs at Instagram". Its function next_id() in PostgreSQL takes a sequence modulo
    // 1,024 and the clock as they are, so IDs can repeat; flakeforge throws instead.
    Dialect {
        name: "instagram",
        system: "Instagram",
        epoch_ms: 1_314_220_021_721, // 2011-08-24T21:07:01.721Z
        shape: Shape::Bits(&[("timestamp", 41), ("shard", 13), ("counter", 10)]),
        ..USUAL
    },
    // sony/sonyflake v1 (Go), README: 39 bits of 10 ms, 8 bits of sequence, 16 bits of machine ID. `NextID()` counts on within
    // the last tick; when that is used up, it sleeps until the clock has reached the next one.
    Dialect {
        name: "sonyflake",
        system: "Sonyflake 1",
        epoch_ms: 1_409_529_600_000, // 2014-09-01
        tick_ns: 10 * NS_PER_MS,
        shape: Shape::Bits(&[("zero", 1), ("timestamp", 39), ("counter", 8), ("machine", 16)]),
        max_wait_ms: 1_000.0,
        ..USUAL
    },
    // sony/sonyflake/v2 2.2.0 (Go), sonyflake.go: the same fields and `NextID()`, and another default StartTime.
    Dialect {
        name: "sonyflake2",
        system: "Sonyflake 2",
        epoch_ms: 1_735_689_600_000, // 2025-01-01
        tick_ns: 10 * NS_PER_MS,
        shape: Shape::Bits(&[("zero", 1), ("timestamp", 39), ("counter", 8), ("machine", 16)]),
        max_wait_ms: 1_000.0,
        ..USUAL
    },
    // f4b6a3/tsid-creator 5.2.6 (Java), README "TSID Structure", with its default of 10 node bits. A TsidFactory starts each
    // millisecond at a random counter, so the counter of its IDs is any of 4,096. `getTime()` counts on from the last ID while
    // the clock has not passed its millisecond, and a full counter carries into the next one, however far ahead that is.
    Dialect {
        name: "tsid",
        system: "TSID of Java and hypersistence-utils; as text in base `'base32'`",
        epoch_ms: 1_577_836_800_000, // 2020-01-01
        shape: Shape::Bits(&[("timestamp", 42), ("node", 10), ("counter", 12)]),
        max_ahead_ms: FOR_EVER,
        ..USUAL
    },
    // Mastodon 4, lib/mastodon/snowflake.rb: 48 bits of ms, 16 of "sequence", the sum of a hash of the ms and the table's
    // sequence. The database creates all IDs, so there is no node. timestamp_id() takes the sequence modulo 65,536 and the clock
    // as they are, so IDs can repeat; flakeforge throws instead.
    Dialect {
        name: "mastodon",
        system: "Mastodon; the database creates all IDs",
        shape: Shape::Bits(&[("timestamp", 48), ("counter", 16)]),
        ..USUAL
    },
    // AT Protocol (Bluesky), specification "Timestamp Identifiers (TIDs)": 53 bits of µs and a random clock ID of 10 bits. Its
    // implementation (@atproto/common-web, tid.ts) advances the last timestamp by 1 µs when the clock has not moved on.
    Dialect {
        name: "tid",
        system: "AT Protocol (Bluesky); as text in base `'tid'`",
        tick_ns: 1_000,
        shape: Shape::Bits(&[("zero", 1), ("timestamp", 53), ("clockid", 10)]),
        max_ahead_ms: FOR_EVER,
        ..USUAL
    },
    // flakeforge's own: 53 bits, as many as a 64-bit float holds, so an ID is exact as a JavaScript number. A tick has few
    // counters, so IDs may run ahead of the clock, as in Hazelcast.
    Dialect {
        name: "safe",
        system: "53 bits: exact as a JavaScript number",
        epoch_ms: 1_577_836_800_000, // 2020-01-01
        shape: Shape::Bits(&[("zero", 11), ("timestamp", 41), ("node", 6), ("counter", 6)]),
        max_ahead_ms: 15_000.0,
        ..USUAL
    },
];
