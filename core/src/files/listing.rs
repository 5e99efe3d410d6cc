//! The slots of a group with their holders, and the groups of a folder, for people to read. Listing needs no write
//! permission and locks a file no longer than it takes to ask for the lock. A file that cannot be read does not hide the
//! others.

use std::mem::offset_of;
use std::path::{Path, PathBuf};

use crate::files::file_format::{CursorPage, word};
use crate::files::folder::Folder;
use crate::files::group::{Life, last_life, last_life_in};
use crate::files::holder_record::HolderRecord;
use crate::files::machine::check_shares;
use crate::files::names;
use crate::files::slot_lock::is_locked;
use crate::generator::cursor::Cursor;
use crate::layout::timescale::whole_ms;
use crate::refusal::Refusal;

/// The content of a slot's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotInfo {
    /// its number
    pub slot: u32,
    /// whether a process holds it
    pub is_held: bool,
    /// its present or last holder
    pub holder: Option<HolderRecord>,
    /// the Unix ms of the last ID; `None` if there was none, or if a holder's own cursor generated it
    pub last_ms: Option<i64>,
    /// the last Unix ms of the mark; `None` if the slot was never used
    pub hi_ms: Option<i64>,
}

/// The slots of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotList {
    /// in the order of their numbers
    pub slots: Vec<SlotInfo>,
    /// what is wrong with the files of other slots
    pub faults: Vec<Refusal>,
}

/// The slots of the group in a folder; empty if the group was destroyed. Their holders are not disturbed.
pub fn list(folder: &Path) -> Result<SlotList, Refusal> {
    check_shares(folder)?;
    let mut list = SlotList::default();
    let Some(life) = last_life(folder)?.filter(|life| !life.is_destroyed()) else { return Ok(list) };
    for (slot, page) in life.slots()? {
        match page.and_then(|page| info(&life, slot, &page)) {
            Ok(info) => list.slots.push(info),
            Err(fault) => list.faults.push(fault),
        }
    }
    Ok(list)
}

fn info(life: &Life, slot: u32, page: &[u8]) -> Result<SlotInfo, Refusal> {
    let numbers = life.numbers();
    let next = word(page, offset_of!(CursorPage, words.cursor) + Cursor::NEXT_AT);
    let mark = word(page, offset_of!(CursorPage, mark));
    let knows_last = word(page, offset_of!(CursorPage, words.lends_window)) == 0 && next > 0;
    let last_ms = knows_last.then(|| whole_ms(numbers.scale().start_of(numbers.tick(next - 1))));
    let hi_ms = (mark > 0).then(|| numbers.last_ms(mark));
    let is_held = is_locked(&life.folder.place(slot.to_string()))?;
    Ok(SlotInfo { slot, is_held, holder: HolderRecord::read(page), last_ms, hi_ms })
}

/// The groups of a store's folder by name, with their folders; including those in which [`list`] finds a fault.
pub fn groups(store: &Path) -> Result<Vec<(String, PathBuf)>, Refusal> {
    check_shares(store)?;
    let Some(store) = Folder::find(store)? else { return Ok(vec![]) };
    let mut groups = Vec::new();
    for name in store.names()? {
        let Some(name) = name.to_str() else { continue };
        let Ok(Some(folder)) = store.find_in(name) else { continue }; // not a folder
        if last_life_in(&folder).map_or(true, |life| life.is_some_and(|life| !life.is_destroyed())) {
            groups.push((names::name_of(name), folder.path().to_owned()));
        }
    }
    groups.sort();
    Ok(groups)
}
