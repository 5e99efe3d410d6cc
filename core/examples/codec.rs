//! What the core says of layouts, IDs and texts, for the tests of codecs in other languages. Each line of the input is a
//! question as JSON, and each line of the output its answer; numbers of 64 bits are texts. `npm run codec:vectors` keeps
//! both in `__test__/vectors/codec.jsonl`.
//!
//!     echo '{"layout":{"name":"twitter"},"ids":["1541815603606036480"]}' | cargo run -p flakeforge-core --example codec

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::format::{Base, parse};
use flakeforge_core::layout::timescale::to_ms;
use flakeforge_core::layout::{Layout, Mode, Packing, Spec, Unpacked};
use flakeforge_core::refusal::Refusal;
use num_bigint::BigUint;
use serde_json::{Value, json};

const MODES: [(&str, Mode); 2] = [("spread", Mode::Spread), ("sequential", Mode::Sequential)];

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let question: Value = serde_json::from_str(&line?)?;
        let answer = answer(&question).ok_or_else(|| format!("no question: {question}"))?;
        writeln!(out, "{answer}")?;
    }
    Ok(())
}

/// The answer to one question; null for a layout that cannot be.
pub fn answer(question: &Value) -> Option<Value> {
    if question["dialects"].is_boolean() {
        return Some(DIALECTS.iter().filter_map(|row| Layout::named(row.name)).map(|layout| row(&layout)).collect());
    }
    if question["specs"].is_array() {
        return list(&question["specs"]).map(|own| Some(problem(&spec("", own)?))).collect();
    }
    if let Some(base) = question["base"].as_str() {
        let base = Base::named(base)?;
        let digits = list(&question["numbers"]).map(|bytes| Some(digits(&bytes_of(bytes)?, base)));
        let ids = list(&question["texts"]).map(|text| Some(shown(parse(text.as_str()?, base))));
        return Some(
            json!({ "numbers": digits.collect::<Option<Value>>()?, "texts": ids.collect::<Option<Value>>()? }),
        );
    }
    let Some(layout) = layout(&question["layout"]) else { return Some(Value::Null) };
    let ids: Option<Value> = list(&question["ids"]).map(|id| Some(of_id(&layout, number(id)?))).collect();
    let ticks: Option<Value> = list(&question["ticks"]).map(|tick| Some(of_tick(&layout, number(tick)?))).collect();
    let times: Option<Value> = list(&question["times"]).map(|ns| Some(of_time(&layout, number(ns)?))).collect();
    let moments: Option<Value> = list(&question["moments"]).map(|ms| Some(of_moment(&layout, number(ms)?))).collect();
    Some(json!({ "row": row(&layout), "ids": ids?, "ticks": ticks?, "times": times?, "moments": moments? }))
}

/// What is impossible about a spec.
fn problem(spec: &Spec) -> Value {
    match spec.check() {
        Err(Refusal::Spec { field, must }) => json!({ "field": field, "must": must }),
        _ => Value::Null,
    }
}

fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    list(value).map(|byte| byte.as_u64()?.try_into().ok()).collect()
}

/// A number of any length, as num-bigint has its digits.
fn digits(bytes: &[u8], base: Base) -> Value {
    let digits = BigUint::from_bytes_be(bytes).to_radix_be(base.radix());
    let padding = base.width(bytes.len()).saturating_sub(digits.len());
    let letter = |digit: u8| char::from(base.alphabet()[usize::from(digit)]);
    std::iter::repeat_n(0, padding).chain(digits).map(letter).collect::<String>().into()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A number as text: of 64 bits, or of 128 for an instant.
fn number<T: std::str::FromStr>(text: &Value) -> Option<T> {
    text.as_str()?.parse().ok()
}

fn shown(number: Option<u64>) -> Value {
    number.map_or(Value::Null, |number| number.to_string().into())
}

fn spec(name: &str, given: &Value) -> Option<Spec> {
    let fields = list(&given["fields"]).map(|field| Some((field[0].as_str()?.to_owned(), field[1].as_u64()? as u32)));
    let fields = fields.collect::<Option<Vec<_>>>()?;
    Some(Spec { name: name.to_owned(), epoch_ms: 0, tick_ns: given["tickNs"].as_u64()?, fields })
}

fn layout(given: &Value) -> Option<Layout> {
    let name = given["name"].as_str()?;
    let mut layout = match &given["spec"] {
        Value::Null => Layout::named(name)?,
        own => Layout::custom(spec(name, own)?).ok()?,
    };
    if let Some(nodes) = given["nodes"].as_u64() {
        layout = layout.with_nodes(nodes)?;
    }
    if let Some(epoch) = given["epoch"].as_i64() {
        layout = layout.with_epoch(epoch);
    }
    if let Some(mode) = given["mode"].as_str() {
        layout = layout.with_mode(MODES.iter().find(|row| row.0 == mode)?.1)?;
    }
    match &given["idOffset"] {
        Value::Null => Some(layout),
        offset => layout.with_id_offset(number(offset)?),
    }
}

/// A layout without IDs.
fn row(layout: &Layout) -> Value {
    let fields: Vec<_> = layout.fields().map(|(name, width)| json!([name, width])).collect();
    let nodes: Vec<_> = layout.nodes().iter().map(|node| node.name()).collect();
    let knob = |ms: f64| if ms.is_finite() { json!(ms) } else { Value::Null }; // JSON has no Infinity
    json!({
        "name": layout.name(), "epoch": layout.scale().epoch_ms(), "tickNs": layout.scale().tick_ns(),
        "hasNodes": layout.has_nodes(), "maxAheadMs": knob(layout.max_ahead_ms()), "maxWaitMs": knob(layout.max_wait_ms()),
        "isDecimal": layout.packing() == Packing::Decimal, "fields": fields, "nodes": nodes,
        "end": to_ms(layout.end_ns()).ceil(), "signedEnd": to_ms(layout.signed_end_ns()).ceil(),
        "isTimeOrdered": layout.is_time_ordered(),
    })
}

/// What an ID says; null if no generator of this layout could have made it.
fn of_id(layout: &Layout, id: u64) -> Value {
    let Some(parts) = layout.unpack(id) else { return Value::Null };
    let mode = parts.mode.and_then(|mode| MODES.iter().find(|row| row.1 == mode)).map(|row| row.0);
    let ns = layout.scale().start_of(parts.tick);
    json!({
        "tick": parts.tick.to_string(), "counter": parts.counter, "node": parts.node, "mode": mode,
        "timestamp": layout.scale().start_ms(parts.tick), "ns": ns.to_string(),
        "isTime": layout.scale().tick_of(ns).is_ok(),
        "values": layout.node_values(id).collect::<Vec<_>>(), "uuid": layout.to_uuid(id),
        "packed": shown(layout.pack(parts)),
    })
}

/// The ID of this tick, node 0 and counter 0; null if there is none.
fn of_tick(layout: &Layout, tick: u64) -> Value {
    if tick > layout.packing().last_tick() {
        return Value::Null;
    }
    shown(layout.pack(Unpacked { tick, counter: 0, node: 0, mode: layout.mode() }))
}

/// The tick of a time in Unix ms, as a float; null if it is out of range.
fn of_moment(layout: &Layout, ms: f64) -> Value {
    shown(layout.scale().tick_of(layout.scale().instant_of(ms)).ok())
}

/// The smallest and the largest ID of an instant; null if it is out of range.
fn of_time(layout: &Layout, unix_ns: i128) -> Value {
    let Ok(tick) = layout.scale().tick_of(unix_ns) else { return Value::Null };
    let lowest_first = layout.is_time_ordered();
    let range = || [layout.bottom(tick), layout.top(tick)].map(|id| id.to_string());
    json!({ "tick": tick.to_string(), "range": lowest_first.then(range) })
}
