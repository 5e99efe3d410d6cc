//! Any custom layout: either it is refused, or it packs and unpacks without loss, and its ends are known.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use flakeforge_core::layout::timescale::to_ms;
use flakeforge_core::layout::{Layout, Spec};
use flakeforge_core_fuzz::{packing_inverts, parts_of, runs_agree, unpacking_inverts};
use libfuzzer_sys::fuzz_target;

/// The last instant of a JavaScript Date, Unix ms.
const LAST_DATE_MS: i64 = 8_640_000_000_000_000;

/// A spec, and numbers to pack and unpack with it.
#[derive(Arbitrary, Debug)]
struct Input {
    #[arbitrary(with = any_spec)]
    spec: Spec,
    id_offset: Option<i64>,
    id: u64,
    tick: u64,
    counter: u64,
    node: u64,
}

/// Random widths hardly ever add up to 64, so the last field may take what is left. Epoch and tick have the values that
/// lib/codec/spec.ts accepts: a Date, and whole nanoseconds that a float holds.
fn any_spec(u: &mut Unstructured) -> Result<Spec> {
    const NAMES: [&str; 8] = ["timestamp", "counter", "zero", "node", "shard", "machine", "", "mode"];
    let epoch_ms = u.int_in_range(-LAST_DATE_MS..=LAST_DATE_MS)?;
    let tick_ns = u.int_in_range(1..=(1 << 53) - 1)?;
    let fills_up = u.arbitrary()?;
    let mut fields = Vec::new();
    for _ in 0..u.int_in_range(0..=8)? {
        fields.push(((*u.choose(&NAMES)?).to_owned(), u.int_in_range(0..=65)?));
    }
    if let (true, [before @ .., last]) = (fills_up, fields.as_mut_slice()) {
        last.1 = 64u32.saturating_sub(before.iter().map(|field| field.1).sum());
    }
    Ok(Spec { name: "any".to_owned(), epoch_ms, tick_ns, fields })
}

fuzz_target!(|input: Input| {
    let is_possible = input.spec.check().is_ok();
    let layout = Layout::custom(input.spec.clone());
    assert_eq!(layout.is_ok(), is_possible);
    let Ok(layout) = layout else { return };
    holds(&layout, &input);
    if let Some(layout) = input.id_offset.and_then(|offset| layout.with_id_offset(offset)) {
        holds(&layout, &input);
    }
});

fn holds(layout: &Layout, input: &Input) {
    let parts = parts_of(layout, input.tick, input.counter, input.node);
    packing_inverts(layout, parts);
    unpacking_inverts(layout, input.id);
    runs_agree(layout, parts);
    ends_agree(layout);
}

/// The last tick is the last one that the clock may show, and it ends no later than the last Date.
fn ends_agree(layout: &Layout) {
    let (scale, end) = (layout.scale(), layout.end_ns());
    let last_date_ns = i128::from(LAST_DATE_MS) * 1_000_000;
    assert!(scale.last_tick() == 0 || end <= last_date_ns, "{scale:?}");
    assert!(layout.signed_end_ns() <= end, "{scale:?}");
    assert!(scale.tick_of(end).is_err(), "{scale:?}");
    if scale.first_tick() <= scale.last_tick() {
        assert_eq!(scale.tick_of(scale.start_of(scale.first_tick())), Ok(scale.first_tick()), "{scale:?}");
        assert_eq!(scale.tick_of(end - 1), Ok(scale.last_tick()), "{scale:?}");
    }
    for tick in [scale.first_tick(), scale.last_tick()] {
        assert_eq!(scale.start_ms(tick), to_ms(scale.start_of(tick)), "{scale:?}");
    }
}
