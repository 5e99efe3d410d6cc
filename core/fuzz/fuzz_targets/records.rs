//! Any text as a record: a record that was read is written in the same way, and a text is a record of at most one kind. The
//! text is tried as it is, and with the first word and the checksum of each kind, because random bytes hardly ever have a
//! valid one.

#![no_main]

use flakeforge_core::lease::grants::record::{CounterRecord, GroupRecord, SlotRecord};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    holds(text);
    for kind in ["group", "slot", "counter"] {
        holds(&with_sum(&format!("flakeforge1 {kind} {text}")));
    }
});

fn holds(text: &str) {
    let written = [
        GroupRecord::parse(text).map(|group| group.text()),
        SlotRecord::parse(text).map(|slot| slot.text()),
        CounterRecord::parse(text).map(|counter| counter.text()),
    ];
    let read: Vec<_> = written.iter().flatten().collect();
    assert!(read.len() <= 1, "{text:?}");
    assert!(read.iter().all(|written| *written == text), "{text:?}");
}

/// FNV-1a of everything before it.
fn with_sum(body: &str) -> String {
    let sum = body.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{body} sum={sum:08x}")
}
