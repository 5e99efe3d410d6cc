//! What a custom layout may consist of.
//!
//! This file must never accept a spec for which `pack` and `unpack` would not be inverses.

use crate::refusal::Refusal;

/// The field for the ticks.
pub(crate) const TIMESTAMP: &str = "timestamp";
/// The field for the counter inside a tick.
pub(crate) const COUNTER: &str = "counter";
/// Bits that are always 0.
pub(crate) const ZERO: &str = "zero";
/// java-uniqueid's bit that says how the timestamp is written.
pub(crate) const MODE: &str = "mode";

/// What a layout consists of.
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

/// The widest counter and node number: a JavaScript number holds no more bits exactly.
const WIDEST: u32 = 53;

/// What other systems call the counter. As a node field it would leave one ID for each tick.
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
    /// Whether a layout can be made from it.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let wrong = |field, must: String| Err(Refusal::Spec { field, must });
        if self.tick_ns == 0 {
            return wrong(None, "have ticks of 1 ns or more".to_owned());
        }
        for (i, (name, width)) in self.fields.iter().enumerate() {
            if !(1..=63).contains(width) {
                return wrong(Some(i), format!("have 1 to 63 bits, but '{name}' has {width}"));
            }
            if name == COUNTER && *width > WIDEST {
                return wrong(
                    Some(i),
                    format!("have at most {WIDEST} bits, because it is the counter, but has {width}"),
                );
            }
            let repeated = self.fields[..i].iter().any(|field| field.0 == *name);
            if name.is_empty() {
                return wrong(Some(i), "have a name, but its name is ''".to_owned());
            }
            if name == MODE || repeated && name != ZERO {
                return wrong(Some(i), format!("have a name of its own, but '{name}' is taken"));
            }
        }
        if !self.fields.iter().any(|field| field.0 == COUNTER)
            && let Some(at) = self.fields.iter().position(|field| is_counter(&field.0))
        {
            return wrong(Some(at), format!("have the name 'counter', but is called '{}'", self.fields[at].0));
        }
        let count = |name| self.fields.iter().filter(|field| field.0 == name).count();
        if count(TIMESTAMP) != 1 {
            return wrong(None, "have a field 'timestamp'".to_owned());
        }
        let bits: u32 = self.fields.iter().map(|field| field.1).sum();
        if bits != 64 {
            let hint = match 64_u32.checked_sub(bits) {
                Some(left) => format!(". Begin with ['zero', {left}] if the first bits are not used"),
                None => String::new(),
            };
            return wrong(None, format!("have 64 bits in all, but have {bits}{hint}"));
        }
        let is_node = |name: &str| ![TIMESTAMP, COUNTER, ZERO].contains(&name);
        let node: u32 = self.fields.iter().filter(|field| is_node(&field.0)).map(|field| field.1).sum();
        if node > WIDEST {
            return wrong(None, format!("have at most {WIDEST} bits of node number, but have {node}"));
        }
        Ok(())
    }
}
