//! The layout of an ID: what its 64 bits mean, and how tick, counter and node become an ID.
//!
//! A layout is data: bit fields from the most to the least significant, or a decimal number. Packing takes a handful of
//! shifts, because everything that depends on the fields is computed once, when the layout is built. No bit is lost:
//! `tests/layout` takes every kind of ID apart again.
//!
//! The lowest file comes first. A file uses only those above it in this table, and no other room.
//!
//! | file | its one idea |
//! |---|---|
//! | [`timescale`] | how instants become ticks, and how ticks become instants |
//! | [`packing`] | where tick, counter and node go: the few shifts that generating an ID takes |
//! | `node_field` | a field of the node number: its name and its bits |
//! | [`dialects`] | the table of named layouts |
//! | [`spec`] | what a custom layout may consist of |
//! | [`format`](mod@format) | IDs as text in eight bases |
//! | `block` | AES on blocks of 16 bytes |
//! | `check` | codes for public IDs, for check characters |
//! | [`seal`] | public IDs: 64 bits encrypted as 64 other bits |

mod block;
mod check;
pub mod dialects;
pub mod format;
mod node_field;
pub mod packing;
pub mod seal;
pub mod spec;
pub mod timescale;

use std::borrow::Cow;

use crate::layout::dialects::{DIALECTS, Dialect, Shape};
use crate::layout::node_field::NodeField;
use crate::layout::packing::HOSTS;
pub use crate::layout::packing::{Bits, Mode, Packing, PlacedNode};
pub use crate::layout::spec::Spec;
use crate::layout::spec::{COUNTER, MODE, TIMESTAMP, ZERO};
use crate::layout::timescale::{LAST_DATE_MS, NS_PER_MS, Timescale};

/// A layout: its name, its time scale, and what the bits mean.
///
/// ```
/// # use flakeforge_core::layout::{Layout, Spec};
/// let fields = [("zero", 1), ("timestamp", 41), ("shard", 10), ("counter", 12)];
/// let layout = Layout::custom(Spec {
///     name: "mine".to_owned(),
///     epoch_ms: 1_700_000_000_000,
///     tick_ns: 1_000_000,
///     fields: fields.map(|(name, width)| (name.to_owned(), width)).to_vec(),
/// }).expect("a possible layout");
/// let (tick, counter) = (5, 53);
/// let number = tick << 12 | counter;
/// assert_eq!(layout.packing().pack(number, layout.place_node(0)), 20_971_573);
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    name: Cow<'static, str>,
    scale: Timescale,
    packing: Packing,
    /// names and widths, the most significant first
    fields: Vec<(Cow<'static, str>, u32)>,
    nodes: Vec<NodeField>,
    has_nodes: bool,
    mode: Mode,
    /// where an ID contains its mode; without bits in most layouts
    mode_bit: Bits,
    zero: u64,
    id_offset: i64,
    last_exact_tick: Option<u64>,
}

/// The largest integer up to which a 64-bit float represents every integer: JavaScript's `Number.MAX_SAFE_INTEGER`.
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
        layout
    }

    /// A custom layout; `None` if the spec is impossible.
    pub fn custom(spec: Spec) -> Option<Self> {
        if !spec.is_possible() {
            return None;
        }
        let fields = spec.fields.into_iter().map(|(name, width)| (name.into(), width)).collect();
        Some(Self::of_bits(spec.name.into(), spec.epoch_ms, spec.tick_ns, fields))
    }

    fn of_bits(name: Cow<'static, str>, epoch_ms: i64, tick_ns: u64, fields: Vec<(Cow<'static, str>, u32)>) -> Self {
        let (mut tick, mut counter) = (Bits::NONE, Bits::NONE);
        let (mut zero, mut mode_bit) = (0, Bits::NONE);
        let mut nodes: Vec<NodeField> = Vec::new();
        let mut shift = 64;
        for (field, width) in &fields {
            shift -= width;
            let bits = Bits::new(shift, *width);
            match field.as_ref() {
                TIMESTAMP => tick = bits,
                COUNTER => counter = bits,
                ZERO => zero |= bits.put(bits.max()),
                MODE => mode_bit = bits,
                _ => match nodes.iter_mut().find(|node| node.name() == *field) {
                    Some(node) => node.add(bits),
                    None => nodes.push(NodeField::of_bits(field.clone(), bits)),
                },
            }
        }
        let mode = if mode_bit.width() > 0 { Mode::Spread } else { Mode::Sequential };
        let packing = Packing::Bits { tick, counter, reversed: mode == Mode::Spread };
        Self { fields, nodes, mode, mode_bit, zero, ..Self::with_packing(name, epoch_ms, tick_ns, packing) }.bounded()
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
            has_nodes: false,
            mode: Mode::Sequential,
            mode_bit: Bits::NONE,
            zero: 0,
            id_offset: 0,
            last_exact_tick: None,
        }
    }

    /// The name that the `layout` option takes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Epoch, tick length, first and last tick.
    #[inline]
    pub fn scale(&self) -> Timescale {
        self.scale
    }

    /// Where tick and counter go.
    #[inline]
    pub fn packing(&self) -> Packing {
        self.packing
    }

    /// Names and widths of all fields, the most significant first; empty for a decimal layout.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, u32)> {
        self.fields.iter().map(|(name, width)| (name.as_ref(), *width))
    }

    /// The same layout with another epoch (Unix ms).
    pub fn with_epoch(mut self, epoch_ms: i64) -> Self {
        self.scale = Timescale::of_all_ticks(epoch_ms, self.scale.tick_ns());
        self.bounded()
    }

    /// snowcast's `nodes`: the node field is just wide enough for this many nodes, and the counter gets the remaining bits.
    /// `None` if the layout has no such option, or if node or counter would have no bits.
    pub fn with_nodes(self, nodes: u64) -> Option<Self> {
        let node = nodes.checked_next_power_of_two()?.ilog2();
        let both = if self.has_nodes { self.fields[1].1 + self.fields[2].1 } else { 0 };
        if !(1..both).contains(&node) {
            return None;
        }
        let mut fields = self.fields;
        (fields[1].1, fields[2].1) = (node, both - node);
        let Self { has_nodes, id_offset, mode, .. } = self;
        let layout = Self::of_bits(self.name, self.scale.epoch_ms(), self.scale.tick_ns(), fields);
        Self { has_nodes, id_offset, ..layout }.with_mode(mode)
    }

    /// The order of the timestamp's bits. `None` if the layout is decimal, or if it has an offset and would not sort
    /// chronologically.
    pub fn with_mode(mut self, mode: Mode) -> Option<Self> {
        let Packing::Bits { reversed, .. } = &mut self.packing else { return None };
        *reversed = mode == Mode::Spread;
        self.mode = mode;
        let is_possible = self.id_offset == 0 || self.is_time_ordered();
        is_possible.then(|| self.bounded())
    }

    /// The order of the timestamp's bits in the IDs of its generators.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Hazelcast's id-offset, which is added to the finished ID. Ticks in which some ID would not fit 64 bits are then out of
    /// range. `None` if IDs do not sort chronologically, because such ticks would be scattered.
    pub fn with_id_offset(mut self, offset: i64) -> Option<Self> {
        if !self.is_time_ordered() {
            return None;
        }
        self.id_offset = offset;
        Some(self.bounded())
    }

    /// Limits the layout to usable ticks: there are bits for them, a Date can show them, and their IDs fit with the offset.
    /// Every option may change that, so each function that sets one ends with this call.
    fn bounded(mut self) -> Self {
        let offset = self.id_offset;
        let last = self.packing.last_tick().min(self.last_tick_of_dates());
        let fits_below = |tick| self.plain_bottom(tick).checked_add_signed(offset).is_some();
        let fits_above = |tick| self.plain_top(tick).checked_add_signed(offset).is_some();
        let first_tick = if offset < 0 { first_where(last, fits_below) } else { 0 };
        let past = if offset > 0 { first_where(last, |tick| !fits_above(tick)) } else { last + 1 };
        self.scale = self.scale.with_ticks(first_tick, past.saturating_sub(1));
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
            // A reversed tick may set any of the timestamp's bits. So all ticks are exact, or none counts: of those that are,
            // the next one need not be.
            Packing::Bits { reversed: true, .. } => (!self.zero <= EXACT_MAX).then_some(last_tick),
            // The largest ID of a tick grows with the tick, even if a node or counter field is above the timestamp.
            _ => first_where(last_tick, is_inexact).checked_sub(1).filter(|tick| *tick >= first_tick),
        }
    }

    /// The last tick up to which every ID, whatever its node and counter, is at most [`EXACT_MAX`]; `None` if the first ticks
    /// already have larger ones.
    pub fn last_exact_tick(&self) -> Option<u64> {
        self.last_exact_tick
    }

    /// The first instant (Unix ns) at which IDs may exceed [`EXACT_MAX`], or at which the layout ends.
    pub fn exact_end_ns(&self) -> i128 {
        self.scale.start_of(self.last_exact_tick.map_or(self.scale.first_tick(), |tick| tick + 1))
    }

    /// The offset that is added to every ID, modulo 2^64.
    pub fn id_offset(&self) -> u64 {
        self.id_offset as u64
    }

    /// Whether a later tick always has larger IDs, whatever the node: never if its bits are reversed.
    pub fn is_time_ordered(&self) -> bool {
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
    pub fn counter_max(&self) -> u64 {
        self.packing.counter_max()
    }

    /// The last number of the layout: its last tick with a full counter.
    pub fn last_number(&self) -> u64 {
        self.scale.last_tick() << self.packing.counter_bits() | self.counter_max()
    }

    /// Puts a node number, and the mode, at their places in an ID.
    ///
    /// # Panics
    ///
    /// If the node exceeds [`node_max`](Self::node_max).
    pub fn place_node(&self, node: u64) -> PlacedNode {
        let max = self.node_max();
        assert!(node <= max, "node {node} is above {max}, the highest of the layout {}", self.name);
        if self.packing == Packing::Decimal {
            return PlacedNode::new(node);
        }
        let (mut left, mut placed) = (node, self.mode_bit.put(self.mode.bit() & self.mode_bit.max()));
        for field in self.nodes.iter().rev() {
            placed |= field.put(left & field.max());
            left >>= field.width();
        }
        PlacedNode::new(placed)
    }

    /// The largest ID of a tick, whatever the node.
    fn top(&self, tick: u64) -> u64 {
        self.plain_top(tick).wrapping_add(self.id_offset())
    }

    /// The smallest ID of a tick before the offset is added.
    fn plain_bottom(&self, tick: u64) -> u64 {
        self.packing.pack(tick << self.packing.counter_bits(), self.place_node(0))
    }

    /// The largest ID of a tick before the offset is added.
    fn plain_top(&self, tick: u64) -> u64 {
        let number = tick << self.packing.counter_bits() | self.counter_max();
        self.packing.pack(number, self.place_node(self.node_max()))
    }

    /// The first instant (Unix ns) that is too late for the layout.
    pub fn end_ns(&self) -> i128 {
        self.scale.start_of(self.scale.last_tick() + 1)
    }

    /// The first instant (Unix ns) at which some ID, whatever its node and counter, does not fit a signed 64-bit column. This
    /// is the start of the layout if the top bit is part of the node or the counter.
    pub fn signed_end_ns(&self) -> i128 {
        let (first_tick, last_tick) = (self.scale.first_tick(), self.scale.last_tick());
        let unsigned = |tick| tick >= first_tick && i64::try_from(self.top(tick)).is_err();
        let first = match self.packing {
            // The top bit is part of the node or the counter, which the first tick may set; or the lowest bit of the tick,
            // which the second one sets; or it is always 0.
            Packing::Bits { reversed: true, .. } if unsigned(first_tick) => first_tick,
            Packing::Bits { reversed: true, tick, .. } if tick.shift() + tick.width() == u64::BITS => 1,
            Packing::Bits { reversed: true, .. } => last_tick + 1,
            // The largest ID of a tick grows with the tick, even if a node or counter field is above the timestamp.
            _ => first_where(last_tick, unsigned),
        };
        self.scale.start_of(first)
    }
}

/// The first number from 0 to `last` for which a condition holds, or `last + 1`. Once true, the condition has to stay true.
fn first_where(last: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, last + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
