//! The table of layouts that other systems use: one row each, nothing else. To add a dialect, add a row
//! and cite where its layout is specified.

/// A layout as data.
#[derive(Debug)]
pub struct Dialect {
    /// the name that the `layout` option takes
    pub name: &'static str,
    /// default epoch, Unix milliseconds
    pub epoch_ms: i64,
    /// length of a tick in nanoseconds
    pub tick_ns: u64,
    /// names and widths, the most significant first; 64 bits in all
    pub fields: &'static [(&'static str, u32)],
}

const MS: u64 = 1_000_000;

/// Every dialect flakeforge speaks; the first is the default.
pub const DIALECTS: &[Dialect] = &[
    // flake-idgen 1.4.0 (npm), README "Flake Numbers Format"; after Boundary's Flake and Twitter's Snowflake.
    Dialect {
        name: "flake",
        epoch_ms: 0,
        tick_ns: MS,
        fields: &[("timestamp", 42), ("datacenter", 5), ("worker", 5), ("counter", 12)],
    },
];
