//! Where tick, counter and node go in the 64 bits of an ID: the part of a layout that generators need.

/// Consecutive bits of an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bits {
    shift: u32,
    width: u32,
}

impl Bits {
    pub(super) const NONE: Self = Self { shift: 0, width: 0 };

    /// `width` bits, 1 to 63, the lowest at `shift`. All of them are within the ID.
    pub(super) fn new(shift: u32, width: u32) -> Self {
        debug_assert!((1..64).contains(&width) && shift + width <= 64);
        Self { shift, width }
    }

    /// Position of the lowest bit in the ID.
    #[inline]
    pub fn shift(self) -> u32 {
        self.shift
    }

    /// Number of bits, 0 to 63.
    #[inline]
    pub fn width(self) -> u32 {
        self.width
    }

    /// The largest value that fits.
    #[inline]
    pub fn max(self) -> u64 {
        (1 << self.width) - 1
    }

    #[inline]
    pub(super) fn put(self, value: u64) -> u64 {
        value << self.shift
    }
}

/// The order in which the timestamp's bits are written, by java-uniqueid's names. Its IDs contain their own mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// the timestamp's bits are reversed, so keys spread over the whole range
    Spread,
    /// the bits are not reversed, so keys sort chronologically
    Sequential,
}

impl Mode {
    pub(super) fn bit(self) -> u64 {
        self as u64
    }
}

/// Where tick and counter go: the part of a layout that generators need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packing {
    /// fields of bits
    Bits {
        /// the timestamp field
        tick: Bits,
        /// the counter field; without bits if the layout has no counter
        counter: Bits,
        /// whether the timestamp's bits are reversed
        reversed: bool,
    },
    /// a decimal number: ticks, and two digits of node
    Decimal,
}

/// The number of node numbers in two decimal digits.
pub(crate) const HOSTS: u64 = 100;

/// The bits of a node number, and of the mode, at their places in an ID. Only
/// [`place_node`](crate::layout::Layout::place_node) creates it: a plain number would end up in the counter's bits.
///
/// ```compile_fail,E0308
/// # use flakeforge_core::generator::registry::Key;
/// # use flakeforge_core::layout::Layout;
/// # let layout = Layout::named("flake").unwrap();
/// Key::new(&layout, 7);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PlacedNode(u64);

impl PlacedNode {
    pub(super) fn new(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits; for a decimal layout, the number.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0
    }
}

/// How the IDs of consecutive numbers follow each other: at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// from one ID to the next
    pub step: u64,
    /// between numbers that differ only in these bits: those of the counter, or all
    pub span: u64,
}

impl Packing {
    /// Width of the counter inside a number.
    #[inline]
    pub fn counter_bits(&self) -> u32 {
        match self {
            Self::Bits { counter, .. } => counter.width,
            Self::Decimal => 0,
        }
    }

    /// The largest counter.
    pub fn counter_max(&self) -> u64 {
        (1 << self.counter_bits()) - 1
    }

    /// The last tick that fits its bits or digits.
    pub fn last_tick(&self) -> u64 {
        match self {
            Self::Bits { tick, .. } => tick.max(),
            Self::Decimal => (u64::MAX - (HOSTS - 1)) / HOSTS,
        }
    }

    /// The ID of a number.
    #[inline]
    pub fn pack(&self, number: u64, node: PlacedNode) -> u64 {
        match *self {
            Self::Bits { tick, counter, reversed } => {
                let ticks = number >> counter.width;
                let ticks = if reversed { ticks.reverse_bits() >> (64 - tick.width) } else { ticks };
                tick.put(ticks) | counter.put(number & counter.max()) | node.0
            }
            Self::Decimal => number * HOSTS + node.0,
        }
    }

    /// How the IDs of consecutive numbers follow each other.
    #[inline]
    pub fn stride(&self) -> Stride {
        match *self {
            Self::Bits { tick, counter, reversed } => {
                let shift = if counter.width == 0 { tick.shift } else { counter.shift };
                // Where the tick's bits follow the counter's, a counter that overflows carries into the tick.
                let carries = !reversed && shift + counter.width == tick.shift;
                Stride { step: 1 << shift, span: if carries { u64::MAX } else { counter.max() } }
            }
            Self::Decimal => Stride { step: HOSTS, span: u64::MAX },
        }
    }

    /// Packs consecutive numbers from `base` on; `write` turns each ID into an element. Within a tick, an ID is the previous
    /// one plus a constant, so there are no shifts and the loop is vectorised.
    #[inline]
    pub fn pack_run<T>(&self, base: u64, node: PlacedNode, out: &mut [T], write: impl Fn(u64) -> T) {
        let Stride { step, span } = self.stride();
        let mut number = base;
        let mut rest = out;
        while !rest.is_empty() {
            let left = span - (number & span);
            let run = (rest.len() as u64).min(left.saturating_add(1)) as usize;
            let (now, later) = rest.split_at_mut(run);
            let mut id = self.pack(number, node);
            for slot in now {
                *slot = write(id);
                id = id.wrapping_add(step);
            }
            number += run as u64;
            rest = later;
        }
    }
}
