//! Layouts for JavaScript, as generators and leases need them. `lib/codec` has checked what comes in; an error that is thrown
//! here is a bug of ours.
//!
//! `lib/codec` takes IDs apart and makes them of their parts by itself, for browsers too. Tests compare it with what the core
//! says, which is why that can be asked here.

use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::generator::registry::Key;
use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::timescale::to_ms;
use flakeforge_core::layout::uuid::Refusal;
use flakeforge_core::layout::{self, Mode, Packing, Spec};
use napi::bindgen_prelude::{BigInt, Error, Result};
use napi_derive::napi;

/// A layout with its epoch and choices.
#[napi]
pub struct Layout {
    core: layout::Layout,
}

/// What a layout is made of: a dialect's name, or a spec.
#[napi(object)]
pub struct LayoutOptions {
    /// the name of the dialect or of the spec
    pub name: String,
    /// a custom layout
    pub spec: Option<LayoutSpec>,
    /// Unix ms of tick 0; the dialect's own if absent
    pub epoch: Option<i64>,
    /// snowcast: how many nodes
    pub nodes: Option<u32>,
    /// uniqueid: 'spread' or 'sequential'
    pub mode: Option<String>,
    /// added to every ID
    pub id_offset: Option<BigInt>,
}

/// The bits of a custom layout.
#[napi(object)]
pub struct LayoutSpec {
    /// length of a tick
    pub tick_ns: i64,
    /// names, the most significant first
    pub names: Vec<String>,
    /// widths, in the same order
    pub widths: Vec<u32>,
}

impl LayoutSpec {
    fn named(self, name: String) -> Spec {
        let fields = self.names.into_iter().zip(self.widths).collect();
        Spec { name, epoch_ms: 0, tick_ns: self.tick_ns as u64, fields }
    }
}

/// What is impossible about a spec.
#[napi(object)]
pub struct SpecProblem {
    /// which field is wrong; absent if the fields are wrong together
    pub field: Option<u32>,
    /// the requirement, and what is there instead: the text that follows `must`
    pub must: String,
}

/// How the numbers of a cursor express ticks.
#[napi(object)]
pub struct Scale {
    /// Unix ms of tick 0
    pub epoch_ms: i64,
    /// length of a tick
    pub tick_ns: i64,
    /// how many bits of a number belong to the counter
    pub counter_bits: u32,
}

/// A field of the node number and its largest value.
#[napi(object)]
pub struct NodeField {
    /// name
    pub name: String,
    /// largest value
    pub max: f64,
    /// how much a value of 1 adds to the node number
    pub unit: f64,
}

/// What a text is that should be the UUID of an ID.
#[napi(object)]
#[derive(Default)]
pub struct ReadUuid {
    /// the ID, if it is one
    pub id: Option<BigInt>,
    /// else what is wrong: 'text', 'variant', 'version', 'mark' or 'id'
    pub wrong: Option<String>,
    /// the wrong bits
    pub found: Option<BigInt>,
}

impl ReadUuid {
    fn refused(wrong: &str, found: u64) -> Self {
        Self { wrong: Some(wrong.to_owned()), found: Some(BigInt::from(found)), id: None }
    }
}

const MODES: [(&str, Mode); 2] = [("spread", Mode::Spread), ("sequential", Mode::Sequential)];

fn mode_of(name: &str) -> Option<Mode> {
    MODES.iter().find(|row| row.0 == name).map(|row| row.1)
}

fn name_of(mode: Mode) -> String {
    MODES.iter().find(|row| row.1 == mode).map_or("", |row| row.0).to_owned()
}

/// What an ID says.
#[napi(object)]
pub struct Unpacked {
    /// ticks since the epoch
    pub tick: BigInt,
    /// counter in the tick
    pub counter: f64,
    /// node number
    pub node: f64,
    /// 'spread' or 'sequential', if the layout has modes
    pub mode: Option<String>,
    /// first instant of the tick, Unix ms; not for `pack`
    pub timestamp: Option<f64>,
    /// values of the node fields, the most significant first; not for `pack`
    pub values: Option<Vec<f64>>,
}

/// The names of all dialects, the default first.
#[napi]
pub fn dialects() -> Vec<String> {
    DIALECTS.iter().map(|row| row.name.to_owned()).collect()
}

/// What is impossible about a spec, if anything.
#[napi]
pub fn spec_problem(spec: LayoutSpec) -> Option<SpecProblem> {
    let error = spec.named(String::new()).check().err()?;
    Some(SpecProblem { field: error.field.map(|field| field as u32), must: error.must })
}

fn make(options: LayoutOptions) -> Option<layout::Layout> {
    let LayoutOptions { name, spec, epoch, nodes, mode, id_offset } = options;
    let mut layout = match spec {
        Some(spec) => layout::Layout::custom(spec.named(name)).ok()?,
        None => layout::Layout::named(&name)?,
    };
    if let Some(nodes) = nodes {
        layout = layout.with_nodes(u64::from(nodes))?;
    }
    if let Some(epoch) = epoch {
        layout = layout.with_epoch(epoch);
    }
    if let Some(mode) = mode {
        layout = layout.with_mode(mode_of(&mode)?)?;
    }
    match id_offset {
        Some(offset) => layout.with_id_offset(offset.get_i64().0),
        None => Some(layout),
    }
}

/// The value of a bigint. JavaScript has checked that it has at most 64 bits.
fn u64_of(number: &BigInt) -> u64 {
    number.get_u64().1
}

#[napi]
impl Layout {
    /// The layout of these options.
    #[napi(constructor)]
    pub fn new(options: LayoutOptions) -> Result<Self> {
        let core = make(options).ok_or_else(|| Error::from_reason("lib/codec should have refused this layout"))?;
        Ok(Self { core })
    }

    /// This layout in the core.
    pub fn core(&self) -> &layout::Layout {
        &self.core
    }

    /// The name that the option takes.
    #[napi(getter)]
    pub fn name(&self) -> String {
        self.core.name().to_string()
    }

    /// Unix ms of tick 0.
    #[napi(getter)]
    pub fn epoch(&self) -> i64 {
        self.core.scale().epoch_ms()
    }

    /// Length of a tick in ms.
    #[napi(getter)]
    pub fn tick_ms(&self) -> f64 {
        to_ms(i128::from(self.core.scale().tick_ns()))
    }

    /// How the numbers of a cursor express ticks.
    #[napi(getter)]
    pub fn scale(&self) -> Scale {
        let scale = self.core.scale();
        let counter_bits = self.core.packing().counter_bits();
        Scale { epoch_ms: scale.epoch_ms(), tick_ns: scale.tick_ns() as i64, counter_bits }
    }

    /// The Unix ms that contains the start of the first tick at or after `ms`.
    #[napi]
    pub fn first_ms(&self, ms: i64) -> i64 {
        let numbers = Numbers::of(&self.core);
        numbers.first_ms(numbers.after_ms(ms - 1))
    }

    /// What the members of a group must have in common, as text.
    #[napi(getter)]
    pub fn fingerprint(&self) -> String {
        let fingerprint = Key::new(&self.core, self.core.place_node(0)).group_fingerprint();
        match self.core.id_offset() as i64 {
            0 => fingerprint,
            offset => format!("{fingerprint}, idOffset {offset}"),
        }
    }

    /// Names of all fields, the most significant first; empty if the ID is a decimal number.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.core.fields().map(|field| field.0.to_string()).collect()
    }

    /// Their widths in bits.
    #[napi(getter)]
    pub fn widths(&self) -> Vec<u32> {
        self.core.fields().map(|field| field.1).collect()
    }

    /// The fields that make up the node number, the most significant first.
    #[napi(getter)]
    pub fn node_fields(&self) -> Vec<NodeField> {
        let unit =
            |place| self.core.join_node((0..self.core.nodes().len()).map(|other| u64::from(other == place))) as f64;
        let describe = |(i, field): (usize, &layout::NodeField)| NodeField {
            name: field.name().to_string(),
            max: field.max() as f64,
            unit: unit(i),
        };
        self.core.nodes().iter().enumerate().map(describe).collect()
    }

    /// The largest node number.
    #[napi(getter)]
    pub fn node_max(&self) -> f64 {
        self.core.node_max() as f64
    }

    /// The largest counter.
    #[napi(getter)]
    pub fn counter_max(&self) -> f64 {
        self.core.counter_max() as f64
    }

    /// Default of `maxAheadMs`; may be Infinity.
    #[napi(getter)]
    pub fn max_ahead_ms(&self) -> f64 {
        self.core.max_ahead_ms()
    }

    /// Default of `maxWaitMs`.
    #[napi(getter)]
    pub fn max_wait_ms(&self) -> f64 {
        self.core.max_wait_ms()
    }

    /// Whether `nodes` can be chosen.
    #[napi(getter)]
    pub fn has_nodes(&self) -> bool {
        self.core.has_nodes()
    }

    /// Which mode its generators write, if `mode` can be chosen.
    #[napi(getter)]
    pub fn mode(&self) -> Option<String> {
        self.core.mode().map(name_of)
    }

    /// Whether a later tick always has larger IDs, whatever the node.
    #[napi(getter)]
    pub fn is_time_ordered(&self) -> bool {
        self.core.is_time_ordered()
    }

    /// Whether IDs are decimal numbers: ticks, and two digits of node.
    #[napi(getter)]
    pub fn is_decimal(&self) -> bool {
        self.core.packing() == Packing::Decimal
    }

    /// The first whole Unix ms that is too late for the layout.
    #[napi(getter)]
    pub fn end(&self) -> f64 {
        to_ms(self.core.end_ns()).ceil()
    }

    /// The first whole Unix ms at which IDs have the top bit set.
    #[napi(getter)]
    pub fn signed_end(&self) -> f64 {
        to_ms(self.core.signed_end_ns()).ceil()
    }

    /// The first whole Unix ms at which IDs may be above 2^53 − 1, or `end`.
    #[napi(getter)]
    pub fn exact_end(&self) -> f64 {
        to_ms(self.core.exact_end_ns()).ceil()
    }

    /// The last tick that there are bits for; times end at `end`, which may be earlier.
    #[napi(getter)]
    pub fn tick_max(&self) -> BigInt {
        BigInt::from(self.core.packing().last_tick())
    }

    /// What an ID says; null if no generator of this layout could have made it.
    #[napi]
    pub fn unpack(&self, id: BigInt) -> Option<Unpacked> {
        let id = u64_of(&id);
        let parts = self.core.unpack(id)?;
        Some(Unpacked {
            tick: BigInt::from(parts.tick),
            counter: parts.counter as f64,
            node: parts.node as f64,
            mode: parts.mode.map(name_of),
            timestamp: Some(self.core.scale().start_ms(parts.tick)),
            values: Some(self.core.node_values(id).map(|value| value as f64).collect()),
        })
    }

    /// The ID of these parts, all within their fields; null if it does not fit 64 bits.
    #[napi]
    pub fn pack(&self, parts: Unpacked) -> Option<BigInt> {
        let mode = parts.mode.as_deref().and_then(mode_of).or(self.core.mode());
        let (tick, counter, node) = (u64_of(&parts.tick), parts.counter as u64, parts.node as u64);
        self.core.pack(layout::Unpacked { tick, counter, node, mode }).map(BigInt::from)
    }

    /// The tick of an instant (Unix ns); null when it is out of range.
    #[napi]
    pub fn tick_of(&self, unix_ns: BigInt) -> Option<BigInt> {
        let (unix_ns, _) = unix_ns.get_i128();
        self.core.scale().tick_of(unix_ns).ok().map(BigInt::from)
    }

    /// The smallest and the largest ID from one tick to another, whatever the node.
    #[napi]
    pub fn range(&self, from: BigInt, to: BigInt) -> Vec<BigInt> {
        vec![BigInt::from(self.core.bottom(u64_of(&from))), BigInt::from(self.core.top(u64_of(&to)))]
    }

    /// The ID as a UUID; null if it is not one of this layout.
    #[napi]
    pub fn to_uuid(&self, id: BigInt) -> Option<String> {
        self.core.to_uuid(u64_of(&id))
    }

    /// The ID of a UUID, or what is wrong with it.
    #[napi]
    pub fn read_uuid(&self, text: String) -> ReadUuid {
        match self.core.from_uuid(&text) {
            Ok(id) => ReadUuid { id: Some(BigInt::from(id)), ..ReadUuid::default() },
            Err(Refusal::Text) => ReadUuid::refused("text", 0),
            Err(Refusal::Variant(bits)) => ReadUuid::refused("variant", bits),
            Err(Refusal::Version(bits)) => ReadUuid::refused("version", bits),
            Err(Refusal::Mark(bits)) => ReadUuid::refused("mark", bits),
            Err(Refusal::Id(id)) => ReadUuid::refused("id", id),
        }
    }

    /// The last 58 bits of this layout's UUIDs.
    #[napi(getter)]
    pub fn uuid_mark(&self) -> BigInt {
        BigInt::from(self.core.uuid_mark())
    }
}
