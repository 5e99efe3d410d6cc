//! The parts of an ID, read field by field: the inverse of the core's packing, which only generates IDs.

use flakeforge_core::layout::{Layout, Mode, Packing};

/// The parts of an ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    pub tick: u64,
    pub counter: u64,
    /// all node fields joined, the most significant first
    pub node: u64,
    /// the mode, if IDs contain it or the timestamp is reversed
    pub mode: Option<Mode>,
}

/// The ID that the core generates from these parts; `None` if it does not fit 64 bits with its offset.
pub fn pack(layout: &Layout, parts: Parts) -> Option<u64> {
    let number = parts.tick << layout.packing().counter_bits() | parts.counter;
    let plain = layout.clone().with_id_offset(0).unwrap_or_else(|| layout.clone());
    let plain = parts.mode.map_or(Some(plain.clone()), |mode| plain.with_mode(mode))?;
    plain.packing().pack(number, plain.place_node(parts.node)).checked_add_signed(layout.id_offset().cast_signed())
}

/// The parts of an ID; `None` if no generator of this layout could produce it.
pub fn unpack(layout: &Layout, id: u64) -> Option<Parts> {
    let id = plain(layout, id)?;
    if layout.packing() == Packing::Decimal {
        let (tick, node) = (id / 100, id % 100);
        // The very last tick has no IDs for the highest nodes, so it is not used.
        return (tick <= layout.packing().last_tick()).then_some(Parts { tick, counter: 0, node, mode: None });
    }
    let (mut tick, mut tick_width, mut counter, mut mode) = (0, 0, 0, mode(layout));
    for (name, value, width) in fields(layout, id) {
        match name {
            "timestamp" => (tick, tick_width) = (value, width),
            "counter" => counter = value,
            "zero" if value != 0 => return None,
            "mode" => mode = Some(if value == 0 { Mode::Spread } else { Mode::Sequential }),
            _ => {}
        }
    }
    let tick = if mode == Some(Mode::Spread) { tick.reverse_bits() >> (64 - tick_width) } else { tick };
    let node = nodes(layout, id).iter().fold(0, |node, &(_, value, width)| node << width | value);
    Some(Parts { tick, counter, node, mode })
}

/// The mode of parts that do not name one.
pub fn mode(layout: &Layout) -> Option<Mode> {
    let has_bit = layout.fields().any(|(name, _)| name == "mode");
    (has_bit || layout.mode() == Mode::Spread).then(|| layout.mode())
}

/// The values of the node fields, in their order, in an ID that [`unpack`] has accepted.
pub fn node_values(layout: &Layout, id: u64) -> Vec<u64> {
    let Some(id) = plain(layout, id) else { return vec![] };
    if layout.packing() == Packing::Decimal {
        return vec![id % 100];
    }
    nodes(layout, id).into_iter().map(|(_, value, _)| value).collect()
}

/// The ID without the offset.
fn plain(layout: &Layout, id: u64) -> Option<u64> {
    u64::try_from(i128::from(id) - i128::from(layout.id_offset().cast_signed())).ok()
}

/// Name, value and width of each field, the most significant first.
fn fields(layout: &Layout, id: u64) -> impl Iterator<Item = (&str, u64, u32)> {
    layout.fields().scan(64, move |shift, (name, width)| {
        *shift -= width;
        Some((name, id >> *shift & ((1 << width) - 1), width))
    })
}

/// Name, value and width of each node field. A field in two pieces is one.
fn nodes(layout: &Layout, id: u64) -> Vec<(&str, u64, u32)> {
    let mut nodes: Vec<(&str, u64, u32)> = Vec::new();
    for (name, value, width) in fields(layout, id) {
        if ["timestamp", "counter", "zero", "mode"].contains(&name) {
            continue;
        }
        match nodes.iter_mut().find(|(known, ..)| *known == name) {
            Some(node) => (node.1, node.2) = (node.1 << width | value, node.2 + width),
            None => nodes.push((name, value, width)),
        }
    }
    nodes
}
