//! What the 64 bits of an ID mean: fields from the most to the least significant bit, and the way from
//! (number, node) to an ID and back.
//!
//! A layout is data. `pack` and `unpack` are exact inverses for every layout, and both are a handful of
//! shifts: whatever depends on the fields is worked out once, when the layout is made.
//!
//! This file must never drop a bit: a node number that its fields cannot hold is refused by whoever
//! takes the options, before it comes here.

use crate::clock::Timescale;
use crate::dialects::{DIALECTS, Dialect};

/// What a field is for. Every name other than these three is a part of the node number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Timestamp,
    Counter,
    Zero,
    Node,
}

impl Role {
    fn of(name: &str) -> Self {
        match name {
            "timestamp" => Self::Timestamp,
            "counter" => Self::Counter,
            "zero" => Self::Zero,
            _ => Self::Node,
        }
    }
}

/// Some consecutive bits of an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    /// how far the lowest of them is from the lowest of the ID
    pub shift: u32,
    /// how many, 0…63
    pub width: u32,
}

impl Bits {
    const NONE: Self = Self { shift: 0, width: 0 };

    /// The largest value that fits.
    #[inline]
    pub fn max(self) -> u64 {
        (1 << self.width) - 1
    }

    #[inline]
    fn put(self, value: u64) -> u64 {
        value << self.shift
    }

    #[inline]
    fn get(self, id: u64) -> u64 {
        id >> self.shift & self.max()
    }
}

/// A named field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// its name, as options and decoded parts have it
    pub name: &'static str,
    /// where it stands
    pub bits: Bits,
    role: Role,
}

impl Field {
    /// Whether the field is a part of the node number.
    pub fn is_node(&self) -> bool {
        self.role == Role::Node
    }

    /// The field's value in an ID.
    pub fn value(&self, id: u64) -> u64 {
        self.bits.get(id)
    }
}

/// Where tick and counter go: the part of a layout that making an ID needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Packing {
    /// the timestamp field
    pub tick: Bits,
    /// the counter field; no bits where the layout has none
    pub counter: Bits,
}

impl Packing {
    /// The ID of a number, for a node number already [placed](Layout::place_node).
    #[inline]
    pub fn pack(&self, number: u64, node: u64) -> u64 {
        self.tick.put(number >> self.counter.width) | self.counter.put(number & self.counter.max()) | node
    }
}

/// What an ID says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unpacked {
    /// ticks since the layout's epoch
    pub tick: u64,
    /// counter inside the tick
    pub counter: u64,
    /// all node fields joined, the most significant first
    pub node: u64,
}

/// A layout: a name, a time scale and fields.
#[derive(Clone, Debug)]
pub struct Layout {
    /// the name that the `layout` option takes
    pub name: &'static str,
    /// epoch, tick length and last tick
    pub scale: Timescale,
    /// where tick and counter go
    pub packing: Packing,
    fields: Vec<Field>,
}

impl Layout {
    /// The dialect of that name.
    pub fn named(name: &str) -> Option<Self> {
        DIALECTS.iter().find(|row| row.name == name).map(Self::of)
    }

    fn of(row: &Dialect) -> Self {
        let mut shift = 64;
        let fields: Vec<Field> = row
            .fields
            .iter()
            .map(|&(name, width)| {
                shift -= width;
                Field { name, bits: Bits { shift, width }, role: Role::of(name) }
            })
            .collect();
        let bits = |role| fields.iter().find(|f| f.role == role).map_or(Bits::NONE, |f| f.bits);
        let packing = Packing { tick: bits(Role::Timestamp), counter: bits(Role::Counter) };
        let scale = Timescale { epoch_ms: row.epoch_ms, tick_ns: row.tick_ns, last_tick: packing.tick.max() };
        Self { name: row.name, scale, packing, fields }
    }

    /// The same layout with ticks counted from another epoch (Unix ms).
    pub fn with_epoch(mut self, epoch_ms: i64) -> Self {
        self.scale.epoch_ms = epoch_ms;
        self
    }

    /// All fields, the most significant first.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The fields that make up the node number, the most significant first.
    pub fn node_fields(&self) -> impl DoubleEndedIterator<Item = &Field> {
        self.fields.iter().filter(|field| field.is_node())
    }

    /// The last number of the layout: its last tick with a full counter.
    pub fn last_number(&self) -> u64 {
        self.scale.last_tick << self.packing.counter.width | self.packing.counter.max()
    }

    /// Joins the values of the node fields, given in their order, to one node number.
    pub fn join_node(&self, values: impl IntoIterator<Item = u64>) -> u64 {
        self.node_fields().zip(values).fold(0, |node, (field, value)| node << field.bits.width | value)
    }

    /// A node number's bits at their places in an ID.
    pub fn place_node(&self, mut node: u64) -> u64 {
        let mut placed = 0;
        for field in self.node_fields().rev() {
            placed |= field.bits.put(node & field.bits.max());
            node >>= field.bits.width;
        }
        placed
    }

    /// The ID of a tick, a counter and a node number, all within their fields.
    pub fn pack(&self, parts: Unpacked) -> u64 {
        let number = parts.tick << self.packing.counter.width | parts.counter;
        self.packing.pack(number, self.place_node(parts.node))
    }

    /// What an ID says: the inverse of [`pack`](Self::pack).
    pub fn unpack(&self, id: u64) -> Unpacked {
        Unpacked {
            tick: self.packing.tick.get(id),
            counter: self.packing.counter.get(id),
            node: self.join_node(self.node_fields().map(|field| field.value(id))),
        }
    }

    /// The first instant (Unix ns) that the layout can no longer express.
    pub fn end_ns(&self) -> i128 {
        self.scale.start_of(self.scale.last_tick + 1)
    }

    /// The first instant (Unix ns) at which IDs have the top bit set and no longer fit a signed column.
    pub fn signed_end_ns(&self) -> i128 {
        let tick = self.packing.tick;
        if tick.shift + tick.width == 64 { self.scale.start_of(1 << (tick.width - 1)) } else { self.end_ns() }
    }
}
