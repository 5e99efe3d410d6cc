//! Any text as a record: what is read is written in the same way, and a text is a record of one kind at most. The text is
//! tried as it is, and with the front and the checksum of each kind, because random bytes hardly ever have one that fits.

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

/// FNV-1a of all that is before it.
fn with_sum(body: &str) -> String {
    let sum = body.bytes().fold(0x811c_9dc5u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{body} sum={sum:08x}")
}
