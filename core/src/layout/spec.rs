//! What a custom layout may consist of. Each accepted spec gives every tick, counter and node number a separate ID:
//! `tests/layout` packs and unpacks random specs.

/// The field for the ticks.
pub(crate) const TIMESTAMP: &str = "timestamp";
/// The field for the counter within a tick.
pub(crate) const COUNTER: &str = "counter";
/// Bits that are always 0.
pub(crate) const ZERO: &str = "zero";
/// java-uniqueid's bit for the timestamp's form.
pub(crate) const MODE: &str = "mode";

/// The description of a custom layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// its name
    pub name: String,
    /// Unix milliseconds of tick 0
    pub epoch_ms: i64,
    /// length of a tick in nanoseconds
    pub tick_ns: u64,
    /// names and widths, the most significant first
    pub fields: Vec<(String, u32)>,
}

/// The widest counter and node number: more bits are not exact as a JavaScript number.
const WIDEST: u32 = 53;

/// Other systems' names for the counter. As a node field, it would leave a single ID per tick.
const COUNTERS: [&str; 13] = [
    "seq",
    "sequence",
    "seqid",
    "sequenceid",
    "seqno",
    "seqnum",
    "seqnumber",
    "sequenceno",
    "sequencenumber",
    "count",
    "counters",
    "incr",
    "increment",
];

fn is_counter(name: &str) -> bool {
    COUNTERS.contains(&name.to_lowercase().replace(['-', '_', ' '], "").as_str())
}

impl Spec {
    /// Whether it describes a layout. `lib/codec/spec.ts` has the same rules and reports which one is broken.
    pub(super) fn is_possible(&self) -> bool {
        self.tick_ns > 0 && self.fields.iter().enumerate().all(|(at, _)| self.has_field(at)) && self.has_all()
    }

    /// Whether the field at this index is valid, given those before it.
    fn has_field(&self, at: usize) -> bool {
        let (name, width) = &self.fields[at];
        let is_repeated = self.fields[..at].iter().any(|field| field.0 == *name);
        let is_named = !name.is_empty() && name != MODE && (!is_repeated || name == ZERO);
        is_named && (1..=63).contains(width) && (name != COUNTER || *width <= WIDEST)
    }

    /// Whether the fields together form a layout: 64 bits, a timestamp, not too many node bits, and no counter under another
    /// name.
    fn has_all(&self) -> bool {
        let has = |name| self.fields.iter().any(|field| field.0 == name);
        let bits = |fields: &dyn Fn(&str) -> bool| -> u32 {
            self.fields.iter().filter(|field| fields(&field.0)).map(|field| field.1).sum()
        };
        let is_misnamed = !has(COUNTER) && self.fields.iter().any(|field| is_counter(&field.0));
        let is_node = |name: &str| ![TIMESTAMP, COUNTER, ZERO].contains(&name);
        has(TIMESTAMP) && !is_misnamed && bits(&|_| true) == 64 && bits(&is_node) <= WIDEST
    }
}
