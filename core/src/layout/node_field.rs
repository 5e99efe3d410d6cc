//! A field of the node number: its name and the position of its bits.

use std::borrow::Cow;

use crate::layout::packing::{Bits, HOSTS};

/// A named field of the node number, in one or two pieces, the most significant first.
#[derive(Clone, Debug)]
pub struct NodeField {
    name: Cow<'static, str>,
    max: u64,
    pieces: Vec<Bits>,
}

impl NodeField {
    /// A field of these bits.
    pub(super) fn of_bits(name: Cow<'static, str>, bits: Bits) -> Self {
        Self { name, max: bits.max(), pieces: vec![bits] }
    }

    /// The two digits of a decimal layout.
    pub(super) fn of_digits(name: &'static str) -> Self {
        Self { name: name.into(), max: HOSTS - 1, pieces: vec![] }
    }

    /// Adds a less significant piece.
    pub(super) fn add(&mut self, piece: Bits) {
        self.pieces.push(piece);
        self.max = (1 << self.width()) - 1;
    }

    /// The name, as in options and decoded parts.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The largest value.
    pub(super) fn max(&self) -> u64 {
        self.max
    }

    pub(super) fn width(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.width()).sum()
    }

    pub(super) fn put(&self, mut value: u64) -> u64 {
        let mut placed = 0;
        for piece in self.pieces.iter().rev() {
            placed |= piece.put(value & piece.max());
            value >>= piece.width();
        }
        placed
    }
}
