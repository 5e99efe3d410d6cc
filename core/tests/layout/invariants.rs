//! What must be true for every layout, whatever its source.

use flakeforge_core::layout::{Layout, Packing};

use crate::parts::{Parts, mode, pack, unpack};

/// The last instant of a JavaScript Date, Unix ms.
pub const LAST_DATE_MS: i64 = 8_640_000_000_000_000;

/// The parts of an ID pack to the same ID, are within their fields, and the ID lies between the bounds of its tick.
pub fn unpacking_inverts(layout: &Layout, id: u64) {
    let Some(parts) = unpack(layout, id) else {
        assert!(is_impossible(layout, id), "{}: no parts in {id:#x}", layout.name());
        return;
    };
    assert!(!is_impossible(layout, id), "{}: {parts:?} in {id:#x}", layout.name());
    assert_eq!(pack(layout, parts), Some(id), "{}: {parts:?}", layout.name());
    assert!(parts.counter <= layout.counter_max() && parts.node <= layout.node_max(), "{}: {parts:?}", layout.name());
    lies_in_its_tick(layout, parts, id);
}

/// Whether no generator can create this ID: a bit is set that must be zero, the ID is outside of 64 bits before its offset is
/// added, or it is a decimal ID of a tick whose host 99 does not fit 64 bits.
fn is_impossible(layout: &Layout, id: u64) -> bool {
    let plain = i128::from(id) - i128::from(layout.id_offset() as i64);
    let zeros = layout
        .fields()
        .fold(0u64, |bits, (name, width)| bits << width | if name == "zero" { (1 << width) - 1 } else { 0 });
    let is_past_last_tick = |plain: u64| layout.packing() == Packing::Decimal && plain / 100 > (u64::MAX - 99) / 100;
    u64::try_from(plain).map_or(true, |plain| plain & zeros != 0 || is_past_last_tick(plain))
}

/// In a layout that sorts by time, every ID of a tick is within its bounds, and no ID of the next tick is. (An ID in the
/// other mode is not part of this order.)
fn lies_in_its_tick(layout: &Layout, parts: Parts, id: u64) {
    let ticks = layout.scale().first_tick()..=layout.scale().last_tick();
    if !layout.is_time_ordered() || parts.mode != mode(layout) || !ticks.contains(&parts.tick) {
        return;
    }
    let (bottom, top) = bounds(layout, parts.tick);
    assert!((bottom..=top).contains(&id), "{}: {id:#x} of tick {}", layout.name(), parts.tick);
    if parts.tick < *ticks.end() {
        assert!(top < bounds(layout, parts.tick + 1).0, "{}: ticks {} and the next overlap", layout.name(), parts.tick);
    }
}

/// The smallest and largest ID of a usable tick, whatever the node.
pub fn bounds(layout: &Layout, tick: u64) -> (u64, u64) {
    let id = |counter, node| pack(layout, Parts { tick, counter, node, mode: mode(layout) }).unwrap();
    (id(0, 0), id(layout.counter_max(), layout.node_max()))
}

/// Parts that fit the layout, from any three numbers.
pub fn parts_of(layout: &Layout, tick: u64, counter: u64, node: u64) -> Parts {
    let last = match layout.packing() {
        Packing::Bits { tick, .. } => tick.max(),
        Packing::Decimal => layout.scale().last_tick(),
    };
    let within = |value, max: u64| max.checked_add(1).map_or(value, |count| value % count);
    Parts {
        tick: within(tick, last),
        counter: within(counter, layout.counter_max()),
        node: within(node, layout.node_max()),
        mode: mode(layout),
    }
}

/// An ID has the parts that it was packed from, and the generators' faster way packs the same ID.
pub fn packing_inverts(layout: &Layout, parts: Parts) {
    let Some(id) = pack(layout, parts) else {
        assert_ne!(layout.id_offset(), 0, "{}: no ID for {parts:?}", layout.name());
        return;
    };
    assert_eq!(unpack(layout, id), Some(parts), "{}: {id:#x}", layout.name());
    let number = parts.tick << layout.packing().counter_bits() | parts.counter;
    let packed = layout.packing().pack(number, layout.place_node(parts.node));
    assert_eq!(packed.wrapping_add(layout.id_offset()), id, "{}: {parts:?}", layout.name());
}

/// A run of IDs equals packing number by number.
pub fn runs_agree(layout: &Layout, start: Parts) {
    const RUN: u64 = 70; // past the end of a tick for counters of up to 6 bits, and of any if they start near it
    let number = start.tick << layout.packing().counter_bits() | start.counter;
    // Like a cursor, which keeps u64::MAX for its retirement.
    let last = layout.last_number().min(u64::MAX - 1);
    let base = number.min(last.saturating_sub(RUN));
    let node = layout.place_node(start.node);
    let mut ids = [0; RUN as usize];
    let ids = &mut ids[..RUN.min(last - base + 1) as usize];
    layout.packing().pack_run(base, node, ids, |id| id);
    for (number, id) in (base..).zip(ids) {
        assert_eq!(*id, layout.packing().pack(number, node), "{}: number {number}", layout.name());
    }
}

/// The last tick is the last one that a clock may show, and it ends no later than the last Date.
pub fn ends_agree(layout: &Layout) {
    let (scale, end) = (layout.scale(), layout.end_ns());
    let last_date_ns = i128::from(LAST_DATE_MS) * 1_000_000;
    assert!(scale.last_tick() == 0 || end <= last_date_ns, "{scale:?}");
    assert!(layout.signed_end_ns() <= end, "{scale:?}");
    assert!(scale.tick_of(end).is_err(), "{scale:?}");
    if scale.first_tick() <= scale.last_tick() {
        assert_eq!(scale.tick_of(scale.start_of(scale.first_tick())), Ok(scale.first_tick()), "{scale:?}");
        assert_eq!(scale.tick_of(end - 1), Ok(scale.last_tick()), "{scale:?}");
    }
}

/// At both ends of the time that an offset allows, every counter and node has an ID.
pub fn every_usable_tick_has_ids(layout: &Layout) {
    let (first, last) = (layout.scale().first_tick(), layout.scale().last_tick());
    if first > last {
        return; // the offset leaves no time
    }
    for (tick, counter, node) in [(first, 0, 0), (last, layout.counter_max(), layout.node_max())] {
        let parts = Parts { tick, counter, node, mode: mode(layout) };
        assert!(pack(layout, parts).is_some(), "{}: {parts:?} with {}", layout.name(), layout.id_offset() as i64);
        packing_inverts(layout, parts);
    }
}
