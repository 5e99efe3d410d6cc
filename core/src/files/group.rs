//! A group of slots: a folder with one subfolder for each life of the group. Only the last life counts.
//!
//! `destroy()` ends a life by setting one word, which every member checks before it raises a mark. So from then on, the marks
//! of that life cover all numbers that were or will be taken in it, and the next life starts above the highest one. The
//! group's own page also has the highest mark, for slots whose files were removed. No file is ever removed here.

use std::fs::File;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
    fence,
};

use crate::files::file_format::{CursorPage, GroupPage, GroupWords, Kind, Purpose, new_lineage, word};
use crate::files::folder::{self, FileIdentity, Folder, is_gone};
use crate::files::machine::{Machine, check_shares};
use crate::files::mapped::Mapped;
use crate::files::named_file::{self, Opened};
use crate::generator::clock::system_ns;
use crate::generator::numbers::Numbers;
use crate::layout::timescale::Timescale;
use crate::layout::timescale::whole_ms;
use crate::refusal::Refusal;

/// The file of a life. It is in the same folder as the slots, whose names are numbers.
const FILE: &str = "group";

/// In the text of a group's file, between the fingerprint and the number of slots.
const SEPARATOR: &str = ", ";

/// The word that ends a life. Any other value but 0 is damage, which its header shows too.
const DESTROYED: u64 = 1;

/// What all members of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderConfig {
    /// what the numbers are for
    pub fingerprint: String,
    /// number of slots
    pub slots: u32,
    /// how numbers follow from time
    pub numbers: Numbers,
}

/// One life of a group, as opened by this process.
#[derive(Debug)]
pub struct Group {
    page: Mapped<GroupWords>,
    /// the folder of its slots
    pub(crate) folder: Arc<Folder>,
    identity: FileIdentity,
    /// whether this process created it
    pub(crate) is_new: bool,
    /// distinguishes lives of the same name
    pub(crate) lineage: u64,
    /// the Unix ms after which any slot of this process starts
    past_ms: i64,
    /// the highest mark that this process has covered
    own_top: AtomicU64,
}

impl Group {
    /// Opens the group of a folder. It is created if there is none or the last one was destroyed. `past_ms` is the last Unix
    /// ms that may have IDs unknown to its files; 0 for none.
    pub(crate) fn open(folder: &Path, config: &FolderConfig, machine: &Machine, past_ms: i64) -> Result<Self, Refusal> {
        let text = format!("{}{SEPARATOR}{} slots", config.fingerprint, config.slots);
        let (scale, counter_bits) = (config.numbers.scale(), config.numbers.counter_bits());
        let purpose = Purpose::new(Kind::Group, &text)
            .with(offset_of!(GroupPage, words.epoch_ms), scale.epoch_ms() as u64)
            .with(offset_of!(GroupPage, words.tick_ns), scale.tick_ns())
            .with(offset_of!(GroupPage, words.counter_bits), u64::from(counter_bits))
            .with(offset_of!(GroupPage, lineage), new_lineage());
        loop {
            let last = last_life(folder)?;
            let (life, floor_ms) = match &last {
                None => (1, past_ms),
                Some(last) if !last.is_destroyed() => (last.number, past_ms),
                Some(last) => (last.number + 1, last.floor_ms()?.max(past_ms)),
            };
            let purpose = purpose.clone().with(offset_of!(GroupPage, words.floor_ms), floor_ms as u64);
            let path = folder.join(life.to_string()).join(FILE);
            let found = match last.filter(|last| last.number == life) {
                Some(last) => named_file::find(&last.folder.place(FILE), &purpose, machine)?,
                None => None,
            };
            let Opened { place, file, identity, is_new } = match found {
                Some(found) => found,
                None => named_file::open(&path, &purpose, machine)?,
            };
            let birth = birth_of(place.path(), &file)?;
            let page = Mapped::new(file, &place)?;
            let folder = place.folder;
            folder.know_named(); // by the group's file: no slot that is made here has to sync the name again
            let lineage = page.checked().lineage.load(Relaxed);
            for (word, own) in page.checked().birth.iter().zip(birth) {
                let _ = word.compare_exchange(0, own, Relaxed, Relaxed);
            }
            let group = Self { page, folder, identity, is_new, lineage, past_ms, own_top: AtomicU64::new(0) };
            if !group.is_destroyed() {
                return Ok(group);
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join(FILE)
    }

    fn words(&self) -> &GroupWords {
        &self.page.checked().words
    }

    /// Whether this life has ended.
    pub(crate) fn is_destroyed(&self) -> bool {
        self.words().destroyed.load(SeqCst) == DESTROYED
    }

    /// Whether its file was removed, replaced or overwritten.
    pub(crate) fn is_gone(&self) -> bool {
        self.page.is_lost() || self.page.is_overwritten() || is_gone(&self.path(), self.identity)
    }

    /// Fails if its page was lost, because the page then proves nothing.
    pub(crate) fn check_kept(&self) -> Result<(), Refusal> {
        self.page.check_kept(&self.path())
    }

    /// Declares that this life has no numbers up to the end of this Unix ms.
    pub(crate) fn floor_ms(&self) -> i64 {
        (self.words().floor_ms.load(Relaxed) as i64).max(self.past_ms)
    }

    /// Records that a mark as high as this is about to be written.
    pub(crate) fn cover(&self, mark: u64) {
        self.own_top.fetch_max(mark, Relaxed);
        self.words().top.fetch_max(mark, SeqCst);
    }

    /// The Unix ms in which the highest mark of this life ends, for when its file is gone. If its page was lost, this is the
    /// highest mark of this process.
    pub(crate) fn end_ms(&self, numbers: &Numbers) -> i64 {
        let top = self.words().top.load(SeqCst).max(self.own_top.load(Relaxed));
        self.floor_ms().max(numbers.end_ms(top))
    }

    /// The slot at which to start the search for a free one.
    pub(crate) fn hint(&self) -> &AtomicU64 {
        &self.words().hint
    }

    /// How many slots have been used. The file of each was on the disk before it was counted. After a machine crash, some may
    /// not be counted.
    pub(crate) fn used(&self) -> &AtomicU64 {
        &self.words().used
    }
}

/// Ends the last life of the group in a folder, if it is still alive. Its members' watchers notice within 250 ms, and no
/// member takes a number past its present mark. The next process that opens the folder creates a new group, which starts above those
/// marks.
pub fn destroy(folder: &Path) -> Result<(), Refusal> {
    check_shares(folder)?;
    let Some(life) = last_life(folder)? else { return Ok(()) };
    let place = life.folder.place(FILE);
    let Some(file) = named_file::open_to_end(&place)? else { return Ok(()) };
    let page = Mapped::new(file, &place)?;
    end(&page, place.path())
}

fn end(page: &Mapped<GroupWords>, path: &Path) -> Result<(), Refusal> {
    page.checked().words.destroyed.store(DESTROYED, SeqCst);
    page.sync().map_err(|error| Refusal::io(path, "synced", &error))
}

/// Until when these slots, or their nodes, were in use, in any life, Unix ms. In lives with the fingerprint of the last one, that
/// is the end of a slot's highest mark. In all others the slots had other nodes, so it is the start of the next life. `None`
/// if none of them was ever used. Only the life of the member that asks knows all earlier ones: `lineage` has to be the last.
pub fn used_until(path: &Path, slots: &[u32], lineage: u64) -> Result<Option<i64>, Refusal> {
    check_shares(path)?;
    let lives = own_lives(path, lineage)?;
    let fingerprint = lives[0].fingerprint.clone();
    let (mut until, mut later): (_, Option<Life>) = (None, None);
    for life in lives {
        if fingerprint == life.fingerprint {
            for &slot in slots {
                let Some(page) = life.page_of(slot)? else { continue };
                until = until.max(Some(life.numbers().end_ms(word(&page, offset_of!(CursorPage, mark)))));
            }
        } else {
            until = until.max(later.map(|later| later.begins_after_ms())); // which no earlier life can exceed
        }
        later = Some(life);
    }
    Ok(until)
}

/// The lives of the group in a folder, the last one first: that of the member that asks, which has to be alive. Another group
/// tells nothing about IDs of the past in the member's.
pub(crate) fn own_lives(path: &Path, lineage: u64) -> Result<Vec<Life>, Refusal> {
    let mut lives = Vec::new();
    if let Some(folder) = Folder::find(path)? {
        let mut numbers = numbered(&folder)?;
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        for number in numbers {
            lives.extend(life_of(&folder, number)?);
        }
    }
    let own = lives.iter().position(|life| life.word(offset_of!(GroupPage, lineage)) == lineage);
    match own {
        Some(0) if lives.iter().any(|life| life.is_copied) => Err(Refusal::file(path, COPIED)),
        Some(0) if !lives[0].is_destroyed() => Ok(lives),
        Some(_) => Err(Refusal::Destroyed),
        None => Err(Refusal::file(
            path,
            "was replaced since this process took its slot, so it does not tell which IDs were generated",
        )),
    }
}

const COPIED: &str = "was restored from a copy, or moved to another disk, so it does not tell which IDs of past times exist. Give \
     the remaining rows IDs from next()";

/// The content of a slot's file, or what is wrong with it.
type Page = Result<Vec<u8>, Refusal>;

/// A life of a group, as read from its files.
pub(crate) struct Life {
    number: u32,
    /// the folder of its slots
    pub(crate) folder: Arc<Folder>,
    /// what its numbers are for
    fingerprint: String,
    page: Vec<u8>,
    /// whether its file is a copy: IDs of the past that were generated after that was made are unknown
    is_copied: bool,
}

/// The last life of the group in a folder; `None` if there was none.
pub(crate) fn last_life(folder: &Path) -> Result<Option<Life>, Refusal> {
    let Some(folder) = Folder::find(folder)? else { return Ok(None) };
    last_life_in(&folder)
}

/// The same for a folder that is open.
pub(crate) fn last_life_in(folder: &Folder) -> Result<Option<Life>, Refusal> {
    let mut numbers = numbered(folder)?;
    numbers.sort_unstable_by(|a, b| b.cmp(a));
    for number in numbers {
        if let Some(life) = life_of(folder, number)? {
            return Ok(Some(life));
        }
    }
    Ok(None)
}

fn birth_of(path: &Path, file: &File) -> Result<[u64; 2], Refusal> {
    file.metadata().map(|found| folder::birth(&found)).map_err(|error| Refusal::io(path, "read", &error))
}

/// A life by its number; `None` if it has no file.
fn life_of(folder: &Folder, number: u32) -> Result<Option<Life>, Refusal> {
    let Some(folder) = folder.find_in(&number.to_string())?.map(Arc::new) else { return Ok(None) };
    let place = folder.place(FILE);
    let Some(file) = named_file::open_to_read(&place)? else { return Ok(None) };
    let page = named_file::read(place.path(), &file)?;
    let text = named_file::text_of(place.path(), &page, Kind::Group)?;
    let fingerprint = text.rsplit_once(SEPARATOR).map_or(&*text, |(fingerprint, _)| fingerprint).to_owned();
    let found = birth_of(place.path(), &file)?;
    let known = [0, 8].map(|at| word(&page, offset_of!(GroupPage, birth) + at));
    let is_copied = known.iter().zip(found).any(|(&known, found)| known != 0 && found != 0 && known != found);
    Ok(Some(Life { number, folder, fingerprint, page, is_copied }))
}

impl Life {
    fn word(&self, offset: usize) -> u64 {
        word(&self.page, offset)
    }

    pub(crate) fn is_destroyed(&self) -> bool {
        self.word(offset_of!(GroupPage, words.destroyed)) == DESTROYED
    }

    /// How its numbers follow from time.
    pub(crate) fn numbers(&self) -> Numbers {
        let (epoch_ms, tick_ns) = (
            self.word(offset_of!(GroupPage, words.epoch_ms)) as i64,
            self.word(offset_of!(GroupPage, words.tick_ns)).max(1),
        );
        let scale = Timescale::of_all_ticks(epoch_ms, tick_ns);
        Numbers::new(scale, (self.word(offset_of!(GroupPage, words.counter_bits)) as u32).min(63))
    }

    /// The Unix ms after which all numbers of this life are: no earlier life has one after it.
    fn begins_after_ms(&self) -> i64 {
        self.word(offset_of!(GroupPage, words.floor_ms)) as i64
    }

    /// The last Unix ms that any member of this destroyed life has used or may still use.
    fn floor_ms(&self) -> Result<i64, Refusal> {
        // A member raises its mark, then checks whether the group was destroyed, and only then uses the new mark. The group
        // is already destroyed here, so a mark that is not seen below will not be used.
        fence(SeqCst);
        let numbers = self.numbers();
        let mut floor_ms = whole_ms(system_ns()).max(self.begins_after_ms());
        // This also covers slots whose files were removed.
        floor_ms = floor_ms.max(numbers.end_ms(self.word(offset_of!(GroupPage, words.top))));
        for (_, page) in self.slots()? {
            floor_ms = floor_ms.max(numbers.end_ms(word(&page?, offset_of!(CursorPage, mark))));
        }
        Ok(floor_ms)
    }

    /// The slots with a file, in order, each with the file's content or what is wrong with it.
    pub(crate) fn slots(&self) -> Result<Vec<(u32, Page)>, Refusal> {
        let mut slots = numbered(&self.folder)?;
        slots.sort_unstable();
        Ok(slots.into_iter().filter_map(|slot| Some((slot, self.page_of(slot).transpose()?))).collect())
    }

    /// `None` if the file is gone.
    fn page_of(&self, slot: u32) -> Result<Option<Vec<u8>>, Refusal> {
        let place = self.folder.place(slot.to_string());
        let Some(file) = named_file::open_to_read(&place)? else { return Ok(None) };
        let page = named_file::read(place.path(), &file)?;
        named_file::text_of(place.path(), &page, Kind::Slot)?;
        Ok(Some(page))
    }
}

/// The entries of a folder whose names are numbers.
fn numbered(folder: &Folder) -> Result<Vec<u32>, Refusal> {
    Ok(folder.names()?.iter().filter_map(|name| name.to_str()?.parse().ok()).collect())
}
