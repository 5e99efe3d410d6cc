//! Prints the table of layouts, a row of JSON per line. `npm run codec:table` keeps it in `__test__/vectors/dialects.jsonl`
//! and writes the table of plain JavaScript from it.

use flakeforge_core::layout::dialects::{DIALECTS, Dialect, Shape};
use serde_json::{Value, json};

fn main() {
    for row in DIALECTS {
        println!("{}", json_of(row));
    }
}

/// A row as JSON, which has no infinity: null takes its place.
pub fn json_of(row: &Dialect) -> Value {
    let knob = |ms: f64| if ms.is_finite() { json!(ms) } else { Value::Null };
    let (fields, host) = match row.shape {
        Shape::Bits(fields) => (json!(fields), Value::Null),
        Shape::Decimal(host) => (Value::Null, json!(host)),
    };
    json!({
        "name": row.name, "system": row.system, "epoch": row.epoch_ms, "tickNs": row.tick_ns, "hasNodes": row.has_nodes,
        "maxAheadMs": knob(row.max_ahead_ms), "maxWaitMs": knob(row.max_wait_ms), "fields": fields, "host": host,
    })
}
