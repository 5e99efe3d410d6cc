//! Folders of slots for tests.

use std::path::Path;

use flakeforge_core::files::group::FolderConfig;
use flakeforge_core::files::slots::{HeldSlot, SlotFolder};
use flakeforge_core::generator::clock::system_ns;
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::layout::timescale::whole_ms;

use super::{ENDLESS, flake, generator};

pub fn config(slots: u32) -> FolderConfig {
    FolderConfig { fingerprint: "for a test".to_owned(), slots, numbers: Numbers::new(flake().scale(), 12) }
}

pub fn open(folder: &Path, slots: u32) -> SlotFolder {
    SlotFolder::open(folder, config(slots)).unwrap()
}

pub fn take(folder: &SlotFolder) -> HeldSlot {
    folder.acquire(7, "here").unwrap()
}

/// Generates IDs up to 5 s ahead of the clock, and returns the Unix ms of the last one.
pub fn run_ahead(held: &HeldSlot) -> i64 {
    let mut made = vec![0; 4096 * 5000];
    let (count, _) = generator(held.cursor(), &ENDLESS).fill(&mut made, |id| id);
    (made[count - 1] >> 22) as i64
}

pub fn now_ms() -> i64 {
    whole_ms(system_ns())
}
