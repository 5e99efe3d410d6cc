//! What the 64 bits of an ID mean: the way from (tick, counter, node) to an ID and back.
//!
//! A layout is data: fields of bits from the most to the least significant, or a decimal number. `pack`
//! and `unpack` are exact inverses for every layout. Packing takes a handful of shifts, because everything
//! that depends on the fields is computed once, when the layout is made.
//!
//! The lowest file of this room comes first. A file uses only those above it in this table, and no other room.
//!
//! | file | its one idea |
//! |---|---|
//! | [`timescale`] | how instants become ticks, and how ticks become instants |
//! | [`packing`] | where tick, counter and node go: the few shifts that making an ID needs |
//! | [`node_field`] | a field of the node number: its name, and where its bits are |
//! | [`dialects`] | the table of layouts that have a name |
//! | [`spec`] | what a custom layout may consist of |
//! | [`format`](mod@format) | bytes as text in eight bases, and back |
//! | [`uuid`] | an ID in a UUID of version 8, and back |
//! | `seal` | IDs for the public: 64 bits under a key as 64 other bits |
//!
//! This file must never drop a bit. Values that the fields cannot hold are refused earlier, where they
//! come in, and an ID that no generator of the layout could have made has no parts.

pub mod dialects;
pub mod format;
pub mod node_field;
pub mod packing;
#[cfg(feature = "seal")]
pub mod seal;
pub mod spec;
pub mod timescale;
pub mod uuid;

use std::borrow::Cow;

use crate::layout::dialects::{DIALECTS, Dialect, Shape};
pub use crate::layout::node_field::NodeField;
use crate::layout::packing::HOSTS;
pub use crate::layout::packing::{Bits, Mode, Packing, PlacedNode};
pub use crate::layout::spec::Spec;
use crate::layout::spec::{COUNTER, MODE, TIMESTAMP, ZERO};
use crate::layout::timescale::{LAST_DATE_MS, NS_PER_MS, Timescale};
use crate::refusal::Refusal;

/// What an ID says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// ticks since the layout's epoch
    pub tick: u64,
    /// counter inside the tick
    pub counter: u64,
    /// all node fields joined, the most significant first
    pub node: u64,
    /// the mode, if the layout has one
    pub mode: Option<Mode>,
}

/// A layout: a name, a time scale, and what the bits mean.
///
/// What an ID says, with a layout of one's own:
///
/// ```
/// # use flakeforge_core::{Layout, Refusal, Spec};
/// let fields = [("zero", 1), ("timestamp", 41), ("shard", 10), ("counter", 12)];
/// let layout = Layout::custom(Spec {
///     name: "mine".to_owned(),
///     epoch_ms: 1_700_000_000_000,
///     tick_ns: 1_000_000,
///     fields: fields.map(|(name, width)| (name.to_owned(), width)).to_vec(),
/// })?;
/// let parts = layout.unpack(20_971_573).expect("an ID of this layout");
/// assert_eq!((parts.tick, parts.node, parts.counter), (5, 0, 53));
/// assert_eq!(layout.start_ms(parts.tick), 1_700_000_000_005.0);
/// assert_eq!(layout.unpack(u64::MAX), None); // its first bit must be 0
/// # Ok::<(), Refusal>(())
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    name: Cow<'static, str>,
    scale: Timescale,
    packing: Packing,
    /// names and widths, the most significant first
    fields: Vec<(Cow<'static, str>, u32)>,
    nodes: Vec<NodeField>,
    max_ahead_ms: f64,
    max_wait_ms: f64,
    has_nodes: bool,
    mode: Option<(Bits, Mode)>,
    zero: u64,
    id_offset: i64,
    /// see [`uuid_mark`](Self::uuid_mark)
    uuid_mark: u64,
    last_exact_tick: Option<u64>,
}

/// The largest whole number below which a 64-bit float has every whole number: JavaScript's `Number.MAX_SAFE_INTEGER`.
pub const EXACT_MAX: u64 = (1 << 53) - 1;

impl Layout {
    /// The dialect with this name.
    pub fn named(name: &str) -> Option<Self> {
        DIALECTS.iter().find(|row| row.name == name).map(Self::of)
    }

    fn of(row: &'static Dialect) -> Self {
        let mut layout = match row.shape {
            Shape::Bits(fields) => {
                let fields = fields.iter().map(|&(name, width)| (Cow::Borrowed(name), width)).collect();
                Self::of_bits(row.name.into(), row.epoch_ms, row.tick_ns, fields)
            }
            Shape::Decimal(node) => Self::of_decimal(row, node),
        };
        layout.has_nodes = row.has_nodes;
        layout.max_ahead_ms = row.max_ahead_ms;
        layout.max_wait_ms = row.max_wait_ms;
        layout
    }

    /// A custom layout. It never runs ahead and never blocks unless options say so.
    pub fn custom(spec: Spec) -> Result<Self, Refusal> {
        spec.check()?;
        let fields = spec.fields.into_iter().map(|(name, width)| (name.into(), width)).collect();
        Ok(Self::of_bits(spec.name.into(), spec.epoch_ms, spec.tick_ns, fields))
    }

    fn of_bits(name: Cow<'static, str>, epoch_ms: i64, tick_ns: u64, fields: Vec<(Cow<'static, str>, u32)>) -> Self {
        let (mut tick, mut counter) = (Bits::NONE, Bits::NONE);
        let (mut zero, mut mode) = (0, None);
        let mut nodes: Vec<NodeField> = Vec::new();
        let mut shift = 64;
        for (field, width) in &fields {
            shift -= width;
            let bits = Bits::new(shift, *width);
            match field.as_ref() {
                TIMESTAMP => tick = bits,
                COUNTER => counter = bits,
                ZERO => zero |= bits.put(bits.max()),
                MODE => mode = Some((bits, Mode::Spread)),
                _ => match nodes.iter_mut().find(|node| node.name() == *field) {
                    Some(node) => node.add(bits),
                    None => nodes.push(NodeField::of_bits(field.clone(), bits)),
                },
            }
        }
        let packing = Packing::Bits { tick, counter, reversed: mode.is_some() };
        Self { fields, nodes, mode, zero, ..Self::with_packing(name, epoch_ms, tick_ns, packing) }.bounded()
    }

    fn of_decimal(row: &'static Dialect, node: &'static str) -> Self {
        let nodes = vec![NodeField::of_digits(node)];
        Self { nodes, ..Self::with_packing(row.name.into(), row.epoch_ms, row.tick_ns, Packing::Decimal) }.bounded()
    }

    fn with_packing(name: Cow<'static, str>, epoch_ms: i64, tick_ns: u64, packing: Packing) -> Self {
        let scale = Timescale::of_all_ticks(epoch_ms, tick_ns);
        Self {
            name,
            scale,
            packing,
            fields: vec![],
            nodes: vec![],
            max_ahead_ms: 0.0,
            max_wait_ms: 0.0,
            has_nodes: false,
            mode: None,
            zero: 0,
            id_offset: 0,
            uuid_mark: 0,
            last_exact_tick: None,
        }
    }

    /// The name that the `layout` option takes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Epoch, tick length, first and last tick.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    #[inline]
    pub(crate) fn scale(&self) -> Timescale {
        self.scale
    }

    /// Where tick and counter go.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    #[inline]
    pub(crate) fn packing(&self) -> Packing {
        self.packing
    }

    /// The first instant of a tick, in Unix milliseconds; has a fraction if ticks are finer.
    pub fn start_ms(&self, tick: u64) -> f64 {
        self.scale.start_ms(tick)
    }

    /// Names and widths of all fields, the most significant first; none for a decimal layout.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.fields.iter().map(|(name, width)| (name.as_ref(), *width))
    }

    /// The fields that make up the node number, the most significant first.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn nodes(&self) -> &[NodeField] {
        &self.nodes
    }

    /// Default of `maxAheadMs`.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn max_ahead_ms(&self) -> f64 {
        self.max_ahead_ms
    }

    /// Default of `maxWaitMs`.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn max_wait_ms(&self) -> f64 {
        self.max_wait_ms
    }

    /// Whether [`with_nodes`](Self::with_nodes) can choose anything.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn has_nodes(&self) -> bool {
        self.has_nodes
    }

    /// The same layout with ticks counted from another epoch (Unix ms).
    pub fn with_epoch(mut self, epoch_ms: i64) -> Self {
        self.scale = Timescale::of_all_ticks(epoch_ms, self.scale.tick_ns());
        self.bounded()
    }

    /// snowcast's `nodes`: the node field is just wide enough for this many nodes, and the counter gets the bits that
    /// are left. `None` if the layout has no such choice, or if node and counter would not both have bits.
    pub fn with_nodes(self, nodes: u64) -> Option<Self> {
        let node = nodes.checked_next_power_of_two()?.ilog2();
        let both = if self.has_nodes { self.fields[1].1 + self.fields[2].1 } else { 0 };
        if !(1..both).contains(&node) {
            return None;
        }
        let mut fields = self.fields;
        (fields[1].1, fields[2].1) = (node, both - node);
        let Self { max_ahead_ms, max_wait_ms, has_nodes, id_offset, .. } = self;
        let layout = Self::of_bits(self.name, self.scale.epoch_ms(), self.scale.tick_ns(), fields);
        Some(Self { max_ahead_ms, max_wait_ms, has_nodes, id_offset, ..layout }.bounded())
    }

    /// uniqueid's `mode`; `None` if the layout has no such field, or has an offset and would not be in the order of
    /// time.
    pub fn with_mode(self, mode: Mode) -> Option<Self> {
        let layout = self.in_mode(mode)?;
        let is_possible = layout.id_offset == 0 || layout.is_time_ordered();
        is_possible.then(|| layout.bounded())
    }

    fn in_mode(mut self, mode: Mode) -> Option<Self> {
        self.mode = Some((self.mode?.0, mode));
        if let Packing::Bits { reversed, .. } = &mut self.packing {
            *reversed = mode == Mode::Spread;
        }
        Some(self)
    }

    /// Which mode its generators write, if the layout has one.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn mode(&self) -> Option<Mode> {
        self.mode.map(|(_, mode)| mode)
    }

    /// Hazelcast's id-offset, which is added to the finished ID. Ticks in which some ID would then not fit 64 bits are
    /// out of range. `None` if IDs are not in the order of time, because such ticks would then be everywhere.
    pub fn with_id_offset(mut self, offset: i64) -> Option<Self> {
        if !self.is_time_ordered() {
            return None;
        }
        self.id_offset = offset;
        Some(self.bounded())
    }

    /// The layout with the ticks that can be used: there are bits for them, a Date can show them, and IDs with their
    /// offset fit. Each choice may change all of that, so every function that makes one ends with this.
    fn bounded(mut self) -> Self {
        let offset = self.id_offset;
        let last = self.packing.last_tick().min(self.last_tick_of_dates());
        let fits_below = |tick| self.plain_bottom(tick).checked_add_signed(offset).is_some();
        let fits_above = |tick| self.plain_top(tick).checked_add_signed(offset).is_some();
        let first_tick = if offset < 0 { first_where(last, fits_below) } else { 0 };
        let past = if offset > 0 { first_where(last, |tick| !fits_above(tick)) } else { last + 1 };
        self.scale = self.scale.with_ticks(first_tick, past.saturating_sub(1));
        self.uuid_mark = uuid::mark_of(&self.reading());
        self.last_exact_tick = self.find_last_exact_tick();
        self
    }

    fn last_tick_of_dates(&self) -> u64 {
        let left_ns = i128::from(LAST_DATE_MS) * i128::from(NS_PER_MS) - self.scale.start_of(0);
        let whole_ticks = left_ns / i128::from(self.scale.tick_ns());
        u64::try_from((whole_ticks - 1).max(0)).unwrap_or(u64::MAX)
    }

    fn find_last_exact_tick(&self) -> Option<u64> {
        let (first_tick, last_tick) = (self.scale.first_tick(), self.scale.last_tick());
        let is_inexact = |tick| tick >= first_tick && self.top(tick) > EXACT_MAX;
        match self.packing {
            // Only uniqueid reverses bits, and its IDs have 64: every other tick would do, and the next would not.
            Packing::Bits { reversed: true, .. } => None,
            // A later tick has a larger largest ID, even where a node or counter field is above the timestamp.
            _ => first_where(last_tick, is_inexact).checked_sub(1).filter(|tick| *tick >= first_tick),
        }
    }

    /// The last tick until which every ID, whatever its node and counter, is at most [`EXACT_MAX`]; `None` if already the
    /// first tick has larger ones.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn last_exact_tick(&self) -> Option<u64> {
        self.last_exact_tick
    }

    /// The first instant (Unix ns) at which IDs may be above [`EXACT_MAX`], or at which the layout ends.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn exact_end_ns(&self) -> i128 {
        self.scale.start_of(self.last_exact_tick.map_or(self.scale.first_tick(), |tick| tick + 1))
    }

    /// What is added to every ID, modulo 2^64.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn id_offset(&self) -> u64 {
        self.id_offset as u64
    }

    /// Whether a later tick always has larger IDs, whatever the node.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn is_time_ordered(&self) -> bool {
        match self.packing {
            Packing::Bits { tick, reversed, .. } => {
                let above = u64::MAX.checked_shl(tick.shift() + tick.width()).unwrap_or(0);
                !reversed && above & !self.zero == 0
            }
            Packing::Decimal => true,
        }
    }

    /// The largest node number.
    pub fn node_max(&self) -> u64 {
        match self.packing {
            Packing::Bits { .. } => (1 << self.nodes.iter().map(NodeField::width).sum::<u32>()) - 1,
            Packing::Decimal => HOSTS - 1,
        }
    }

    /// The largest counter.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn counter_max(&self) -> u64 {
        self.packing.counter_max()
    }

    /// The last number of the layout: its last tick with a full counter.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn last_number(&self) -> u64 {
        self.scale.last_tick() << self.packing.counter_bits() | self.counter_max()
    }

    /// Joins the values of the node fields, in the order of the fields, into one node number.
    pub fn join_node(&self, values: impl IntoIterator<Item = u64>) -> u64 {
        self.nodes.iter().zip(values).fold(0, |node, (field, value)| node << field.width() | value)
    }

    /// A node number, and the mode, at their places in an ID.
    ///
    /// # Panics
    ///
    /// If the node is above [`node_max`](Self::node_max).
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn place_node(&self, node: u64) -> PlacedNode {
        let max = self.node_max();
        assert!(node <= max, "node {node} is above {max}, the highest of the layout {}", self.name);
        if self.packing == Packing::Decimal {
            return PlacedNode::new(node);
        }
        let (mut left, mut placed) = (node, self.mode.map_or(0, |(bits, mode)| bits.put(mode.bit())));
        for field in self.nodes.iter().rev() {
            placed |= field.put(left & field.max());
            left >>= field.width();
        }
        PlacedNode::new(placed)
    }

    /// The ID of a tick, a counter and a node number, all within their fields; `None` if the ID with its offset would
    /// not fit 64 bits.
    pub fn pack(&self, parts: Unpacked) -> Option<u64> {
        if let (Some(mode), true) = (parts.mode, self.mode() != parts.mode) {
            return self.clone().in_mode(mode)?.pack(parts);
        }
        let number = parts.tick << self.packing.counter_bits() | parts.counter;
        self.packing.pack(number, self.place_node(parts.node)).checked_add_signed(self.id_offset)
    }

    /// What an ID says: the inverse of [`pack`](Self::pack). `None` if no generator of this layout could have made it:
    /// a bit that must be zero is set, or nothing valid is left without the offset.
    pub fn unpack(&self, id: u64) -> Option<Unpacked> {
        let id = u64::try_from(i128::from(id) - i128::from(self.id_offset)).ok()?;
        match self.packing {
            Packing::Bits { .. } if id & self.zero != 0 => None,
            Packing::Bits { tick, counter, .. } => {
                let mode = self.mode.map(|(bits, _)| Mode::of_bit(bits.get(id)));
                let ticks = match mode {
                    Some(Mode::Spread) => tick.get(id).reverse_bits() >> (64 - tick.width()),
                    _ => tick.get(id),
                };
                let node = self.join_node(self.nodes.iter().map(|field| field.get(id)));
                Some(Unpacked { tick: ticks, counter: counter.get(id), node, mode })
            }
            Packing::Decimal if id / HOSTS > self.packing.last_tick() => None, // its highest nodes do not fit 64 bits
            Packing::Decimal => Some(Unpacked { tick: id / HOSTS, counter: 0, node: id % HOSTS, mode: None }),
        }
    }

    /// The values of the node fields, in order, in an ID that [`unpack`](Self::unpack) has accepted.
    pub fn node_values(&self, id: u64) -> impl Iterator<Item = u64> {
        let id = id.wrapping_sub(self.id_offset());
        self.nodes.iter().map(move |field| if self.packing == Packing::Decimal { id % HOSTS } else { field.get(id) })
    }

    /// The ID as a UUID that sorts as the ID does. `None` if it is not one of this layout.
    ///
    /// ```
    /// # use flakeforge_core::Layout;
    /// let layout = Layout::named("flake").expect("a layout of the table");
    /// let uuid = layout.to_uuid(0x687e_4889_8912_7001).expect("an ID of this layout");
    /// assert_eq!(uuid, "687e4889-8912-8700-858f-670cd8eec840");
    /// assert_eq!(layout.from_uuid(&uuid), Ok(0x687e_4889_8912_7001));
    /// ```
    pub fn to_uuid(&self, id: u64) -> Option<String> {
        self.unpack(id)?;
        Some(uuid::write(id, self.uuid_mark))
    }

    /// The ID that [`to_uuid`](Self::to_uuid) wrote as this UUID.
    pub fn from_uuid(&self, text: &str) -> Result<u64, Refusal> {
        let id = uuid::read(text, self.uuid_mark)?;
        self.unpack(id).map(|_| id).ok_or(Refusal::Uuid(uuid::NO_ID))
    }

    /// What the UUIDs of this layout end with. It depends on what times are read with, so a UUID in which this layout would
    /// read another time is refused. Names, node fields, counter and mode may change.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn uuid_mark(&self) -> u64 {
        self.uuid_mark
    }

    /// What a time is read with, as text.
    fn reading(&self) -> String {
        let (epoch, tick, offset) = (self.scale.epoch_ms(), self.scale.tick_ns(), self.id_offset);
        let place = match self.packing {
            Packing::Bits { tick, .. } => format!("timestamp {} bits at {}", tick.width(), tick.shift()),
            Packing::Decimal => "decimal".to_owned(),
        };
        format!("flakeforge: epoch {epoch} ms, tick {tick} ns, {place}, idOffset {offset}")
    }

    /// The smallest ID of a tick, whatever the node.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn bottom(&self, tick: u64) -> u64 {
        self.plain_bottom(tick).wrapping_add(self.id_offset())
    }

    /// The largest ID of a tick, whatever the node.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn top(&self, tick: u64) -> u64 {
        self.plain_top(tick).wrapping_add(self.id_offset())
    }

    /// `bottom` before the offset is added.
    fn plain_bottom(&self, tick: u64) -> u64 {
        self.packing.pack(tick << self.packing.counter_bits(), self.place_node(0))
    }

    /// `top` before the offset is added.
    fn plain_top(&self, tick: u64) -> u64 {
        let number = tick << self.packing.counter_bits() | self.counter_max();
        self.packing.pack(number, self.place_node(self.node_max()))
    }

    /// The first instant (Unix ns) that is too late for the layout.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn end_ns(&self) -> i128 {
        self.scale.start_of(self.scale.last_tick() + 1)
    }

    /// The first instant (Unix ns) at which some ID, whatever its node and counter, does not fit a signed 64-bit column. It is
    /// the first instant of the layout if the top bit belongs to the node or the counter.
    #[cfg_attr(feature = "internal", visibility::make(pub))]
    pub(crate) fn signed_end_ns(&self) -> i128 {
        let (first_tick, last_tick) = (self.scale.first_tick(), self.scale.last_tick());
        let unsigned = |tick| tick >= first_tick && i64::try_from(self.top(tick)).is_err();
        let first = match self.packing {
            // Its top bit is the lowest one of the tick, so the second tick sets it.
            Packing::Bits { reversed: true, .. } => 1,
            // A later tick has a larger largest ID, even where a node or counter field is above the timestamp.
            _ => first_where(last_tick, unsigned),
        };
        self.scale.start_of(first)
    }
}

/// The first number from 0 to `last` for which a condition holds; `last + 1` if there is none. Once true, the condition
/// must stay true.
fn first_where(last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
