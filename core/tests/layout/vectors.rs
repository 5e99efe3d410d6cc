//! The frozen vectors of the codec in plain JavaScript (`__test__/vectors/README.md`), as far as the core computes the same:
//! layouts, packed IDs, ticks, ranges, bases, and which specs are possible. Each odd line is a question, the next line its
//! answer; 64-bit numbers are texts. Only the codec has UUIDs and reads texts.

use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::format::Base;
use flakeforge_core::layout::timescale::{ceil_ms, to_ms};
use flakeforge_core::layout::{Layout, Mode, Packing, Spec};
use num_bigint::BigUint;
use serde_json::{Value, json};

use crate::invariants::bounds;
use crate::parts::{Parts, mode, node_values, pack, unpack};

const CODEC: &str = include_str!("../../../__test__/vectors/codec.jsonl");
const DIALECT_ROWS: &str = include_str!("../../../__test__/vectors/dialects.jsonl");

const MODES: [(&str, Mode); 2] = [("spread", Mode::Spread), ("sequential", Mode::Sequential)];

#[allow(dead_code)]
#[path = "../../examples/dialects.rs"]
mod dialects;

#[test]
fn the_table_of_layouts_for_plain_javascript_is_the_cores() {
    let rows: Vec<_> = DIALECTS.iter().map(|row| dialects::json_of(row).to_string()).collect();
    assert_eq!(DIALECT_ROWS.lines().collect::<Vec<_>>(), rows, "run `npm run codec:table`");
}

#[test]
fn the_vectors_of_the_codec_are_what_the_core_computes() {
    let lines: Vec<Value> = CODEC.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 100);
    for pair in lines.chunks(2) {
        // Written and read again, because serde_json reads some floats with another last digit.
        let answer: Value = serde_json::from_str(&answer(&pair[0]).unwrap().to_string()).unwrap();
        assert_eq!(answer, comparable(pair[1].clone()), "{}", pair[0]);
    }
}

/// The core had rounded a time to the nearest float, which may be in the next millisecond. Its `ns` say in which it is.
fn stay_in_ms(id: &mut Value) {
    let (Some(timestamp), Some(ns)) = (id["timestamp"].as_f64(), id["ns"].as_str()) else { return };
    let ms = ns.parse::<i128>().unwrap().div_euclid(1_000_000) as f64;
    if timestamp.floor() > ms {
        let below = json!(timestamp.next_down()).to_string();
        id["timestamp"] = serde_json::from_str(&below).unwrap(); // as the answer is read
    }
}

/// A frozen answer without the codec's own parts.
fn comparable(mut answer: Value) -> Value {
    if let Some(problems) = answer.as_array() {
        return problems.iter().map(Value::is_null).collect(); // of specs: whether they are possible
    }
    let remove = |from: &mut Value, names: &[&str]| {
        if let Some(object) = from.as_object_mut() {
            object.retain(|name, _| !names.contains(&name.as_str()));
        }
    };
    remove(&mut answer, &["texts"]);
    for id in answer.get_mut("ids").and_then(Value::as_array_mut).into_iter().flatten() {
        remove(id, &["uuid"]);
        stay_in_ms(id);
    }
    if let Some(row) = answer.get_mut("row") {
        remove(row, &["hasNodes", "maxAheadMs", "maxWaitMs", "nodes"]); // of the table alone
    }
    answer
}

/// The core's answer to a question; null for an impossible layout.
fn answer(question: &Value) -> Option<Value> {
    if question["specs"].is_array() {
        return list(&question["specs"]).map(|own| Some(Layout::custom(spec("", own)?).is_some())).collect();
    }
    if let Some(base) = question["base"].as_str() {
        let base = Base::named(base)?;
        let digits = list(&question["numbers"]).map(|bytes| Some(digits(&bytes_of(bytes)?, base)));
        return Some(json!({ "numbers": digits.collect::<Option<Value>>()? }));
    }
    let Some(layout) = layout(&question["layout"]) else { return Some(Value::Null) };
    let ids: Option<Value> = list(&question["ids"]).map(|id| Some(of_id(&layout, number(id)?))).collect();
    let ticks: Option<Value> = list(&question["ticks"]).map(|tick| Some(of_tick(&layout, number(tick)?))).collect();
    let times: Option<Value> = list(&question["times"]).map(|ns| Some(of_time(&layout, number(ns)?))).collect();
    let moments: Option<Value> = list(&question["moments"]).map(|ms| Some(of_moment(&layout, number(ms)?))).collect();
    Some(json!({ "row": row(&layout), "ids": ids?, "ticks": ticks?, "times": times?, "moments": moments? }))
}

fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    list(value).map(|byte| byte.as_u64()?.try_into().ok()).collect()
}

/// A number of any length, with num-bigint's digits.
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
        own => Layout::custom(spec(name, own)?)?,
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
    json!({
        "name": layout.name(), "epoch": layout.scale().epoch_ms(), "tickNs": layout.scale().tick_ns(),
        "isDecimal": layout.packing() == Packing::Decimal, "fields": fields,
        "end": ceil_ms(layout.end_ns()), "signedEnd": ceil_ms(layout.signed_end_ns()),
        "isTimeOrdered": layout.is_time_ordered(),
    })
}

/// The parts of an ID; null if no generator of this layout could produce it.
fn of_id(layout: &Layout, id: u64) -> Value {
    let Some(parts) = unpack(layout, id) else { return Value::Null };
    let mode = parts.mode.and_then(|mode| MODES.iter().find(|row| row.1 == mode)).map(|row| row.0);
    let ns = layout.scale().start_of(parts.tick);
    json!({
        "tick": parts.tick.to_string(), "counter": parts.counter, "node": parts.node, "mode": mode,
        "timestamp": to_ms(ns), "ns": ns.to_string(), "isTime": layout.scale().tick_of(ns).is_ok(),
        "values": node_values(layout, id), "packed": shown(pack(layout, parts)),
    })
}

/// The ID of this tick, node 0 and counter 0; null if there is none.
fn of_tick(layout: &Layout, tick: u64) -> Value {
    if tick > layout.packing().last_tick() {
        return Value::Null;
    }
    shown(pack(layout, Parts { tick, counter: 0, node: 0, mode: mode(layout) }))
}

/// The tick of a time in Unix ms, as a float; null if it is out of range.
fn of_moment(layout: &Layout, ms: f64) -> Value {
    shown(layout.scale().tick_of(layout.scale().instant_of(ms)).ok())
}

/// The smallest and the largest ID of an instant; null if it is out of range.
fn of_time(layout: &Layout, unix_ns: i128) -> Value {
    let Ok(tick) = layout.scale().tick_of(unix_ns) else { return Value::Null };
    let range = || <[u64; 2]>::from(bounds(layout, tick)).map(|id| id.to_string());
    json!({ "tick": tick.to_string(), "range": layout.is_time_ordered().then(range) })
}
