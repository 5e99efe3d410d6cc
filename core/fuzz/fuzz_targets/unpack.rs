//! Any 64 bits in every dialect with each of its choices, and in one of them with any `idOffset`: their parts pack to
//! the same bits again.
//!
//! Input: the ID and the offset, 8 bytes each, the least significant byte first, then the index of the layout to shift.

#![no_main]

use flakeforge_core::layout::dialects::DIALECTS;
use flakeforge_core::layout::{Layout, Mode, Unpacked};
use flakeforge_core_fuzz::{packing_inverts, unpacking_inverts};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static LAYOUTS: LazyLock<Vec<Layout>> = LazyLock::new(|| {
    let named = |name| Layout::named(name).unwrap();
    let nodes = (7..=13).map(|bits| named("snowcast").with_nodes(1 << bits).unwrap());
    let modes = [Mode::Spread, Mode::Sequential].map(|mode| named("uniqueid").with_mode(mode).unwrap());
    DIALECTS.iter().map(|row| named(row.name)).chain(nodes).chain(modes).collect()
});

fuzz_target!(|input: (u64, i64, u8)| {
    let (id, id_offset, place) = input;
    LAYOUTS.iter().for_each(|layout| unpacking_inverts(layout, id));
    let layout = LAYOUTS[usize::from(place) % LAYOUTS.len()].clone();
    if let Some(layout) = layout.with_id_offset(id_offset) {
        unpacking_inverts(&layout, id);
        every_usable_tick_has_ids(&layout);
    }
});

/// At both ends of the time that an offset allows, every counter and node has an ID.
fn every_usable_tick_has_ids(layout: &Layout) {
    let (first, last) = (layout.scale().first_tick(), layout.scale().last_tick());
    if first > last {
        return; // the offset leaves no time
    }
    for (tick, counter, node) in [(first, 0, 0), (last, layout.counter_max(), layout.node_max())] {
        let parts = Unpacked { tick, counter, node, mode: layout.mode() };
        assert!(layout.pack(parts).is_some(), "{}: {parts:?} with {}", layout.name(), layout.id_offset() as i64);
        packing_inverts(layout, parts);
    }
}
