//! A cursor in a file: generators of all processes that map it take numbers from one word.
//!
//! Taking a number is the same `claim()` as everywhere, on mapped memory: no lock, no system call, and a process that is
//! stopped or killed in the middle holds nobody up and loses nothing, for the page stays in the system's memory.
//!
//! Only a crash of the *machine* can lose it. Why no number comes twice even then:
//! - Numbers are taken up to `limit`, which is raised only after the mark (`written`) that covers it was synced. So the
//!   disk's mark is never below a number taken, whatever else of the page the crash lost: the words lie in sectors of
//!   their own, each of which only ever grows, so a torn page has each word older or newer, and an older mark still
//!   covers every limit that was raised before the next one was synced.
//! - Whoever opens the file goes on past the mark, unless it is proven that the machine has not crashed since: entry.rs.
//!
//! A file must not be removed, cut short or written over while it is in use. All of it is noticed, and ends the cursor in
//! this process. Reading a mapped page whose file was cut to nothing ends the process with SIGBUS: so the file is looked at
//! before the page wherever there is time for it, and a page that was cut off is never read again. Only a claim that is
//! under way just then cannot know.
//!
//! This file must never raise the limit by any way other than [`Mark::raise`], nor read the mapped page otherwise than by
//! atomics: other processes write there.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, OnceLock};

use memmap2::{MmapOptions, MmapRaw};

use crate::clock::Timescale;
use crate::cursor::Cursor;
use crate::entry::enter;
use crate::fault::FileError;
use crate::group::Group;
use crate::keeper;
use crate::machine::{self, Machine};
use crate::mark::Mark;
use crate::numbers::Numbers;
use crate::page::{self, Kind, Purpose};
use crate::place::{self, Identity};
use crate::presence::Presence;

/// How far ahead of the clock the mark is set, and how close to it IDs may come before it is set anew.
const AHEAD_NS: u64 = 5_000_000_000;
pub(crate) const NEAR_NS: u64 = 1_000_000_000;

const GONE: &str = "was removed, replaced or cut short while in use, so other processes may be making the same IDs. Make a \
                    new generator, and let nothing touch the file";
const WENT_BACK: &str = "went back while in use, as if an older copy was written over it, so other processes may be making the \
                         same IDs. Make a new generator, and let nothing touch the file";

/// A page of a file, mapped. It stays mapped as long as this lives.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapRaw,
    file: File,
    /// the page, or what stands in for it
    start: AtomicPtr<AtomicU64>,
    stand_in: OnceLock<Box<[AtomicU64]>>,
}

impl Mapped {
    /// The file of a path, mapped once its name is on the disk: without it, a crash would lose all that was synced.
    pub(crate) fn new(file: File, path: &Path) -> Result<Self, FileError> {
        let map = MmapOptions::new().len(page::SIZE).map_raw(&file);
        let map = map.map_err(|error| FileError::io(path, "mapped", &error))?;
        let start = AtomicPtr::new(map.as_mut_ptr().cast());
        let mapped = Self { map, file, start, stand_in: OnceLock::new() };
        if mapped.is_named().load(Acquire) == 0 {
            place::sync_name(path)?;
            mapped.is_named().store(1, Release);
        }
        Ok(mapped)
    }

    #[inline]
    fn at<T>(&self, offset: usize) -> &T {
        debug_assert!(offset.is_multiple_of(align_of::<T>()) && offset + size_of::<T>() <= page::SIZE);
        // SAFETY: private to this file, and used below with a few types, all of them nothing but `AtomicU64`s in a
        // fixed order: every bit pattern is valid, and that other processes write to them is what atomics are for. The
        // offsets are constants of page.rs: inside the page, aligned as the page is. `start` is that of the map or of
        // the stand-in, which is as large; both stay as long as `self`, which the reference borrows.
        unsafe { &*self.start.load(Acquire).cast::<u8>().add(offset).cast::<T>() }
    }

    /// Whether the file was cut short. Then the page is gone for good, and zeros that only this process has stand in for
    /// it: so this is asked before the page is read wherever the file may have been cut long ago.
    pub(crate) fn was_cut(&self) -> bool {
        if self.stand_in.get().is_none() && self.file.metadata().is_ok_and(|found| found.len() < page::SIZE as u64) {
            let zeros = self.stand_in.get_or_init(|| (0..page::SIZE / 8).map(|_| AtomicU64::new(0)).collect());
            self.start.store(zeros.as_ptr().cast_mut(), Release);
        }
        self.stand_in.get().is_some()
    }

    #[inline]
    pub(crate) fn cursor(&self) -> &Cursor {
        self.at(page::WORDS)
    }

    /// The words of a page; in one that holds a cursor, the first two are the cursor's.
    pub(crate) fn words(&self) -> &[AtomicU64; page::WORD_COUNT] {
        self.was_cut();
        self.at(page::WORDS)
    }

    pub(crate) fn holder(&self) -> &[AtomicU64; page::HOLDER_COUNT] {
        self.was_cut();
        self.at(page::HOLDER)
    }

    pub(crate) fn mark(&self) -> &Mark {
        self.at(page::MARK)
    }

    pub(crate) fn boot(&self) -> &[AtomicU64; 2] {
        self.at(page::BOOT)
    }

    pub(crate) fn presence(&self) -> &Presence {
        self.at(page::PRESENCE)
    }

    fn is_named(&self) -> &AtomicU64 {
        self.at(page::IS_NAMED)
    }

    /// Returns when the page, as it was at the call, is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.map.flush()?; // on Linux, an fdatasync of these bytes
        if cfg!(target_os = "linux") { Ok(()) } else { self.file.sync_data() }
    }

    fn check_words(&self, path: &Path) -> Result<(), FileError> {
        let Some(words) = self.mark().contradiction(self.cursor()) else { return Ok(()) };
        Err(FileError::new(path, format!("contradicts itself ({words}). {}", page::DAMAGED)))
    }
}

/// A cursor in a file, as this process has it open.
#[derive(Debug)]
pub struct SharedCursor {
    page: Mapped,
    path: PathBuf,
    identity: Identity,
    numbers: Numbers,
    /// where it is a slot
    group: Option<Arc<Group>>,
    ended: AtomicBool,
    fault: OnceLock<FileError>,
    /// the next free number when this process looked last
    seen: AtomicU64,
    /// the highest limit that this process has seen or set
    covered: AtomicU64,
}

impl SharedCursor {
    /// The cursor in a file, which is made if there is none. `fingerprint` says what the numbers are for: a file made
    /// for something else is refused. While a file is open in this process, all who open it get the same one.
    pub fn open(
        path: impl AsRef<Path>,
        scale: Timescale,
        counter_bits: u32,
        fingerprint: &str,
    ) -> Result<Arc<Self>, FileError> {
        Self::open_on(machine::this(), path.as_ref(), scale, counter_bits, fingerprint)
    }

    /// The same on a machine of which a test says what it is.
    #[doc(hidden)]
    pub fn open_on(
        machine: &Machine,
        path: &Path,
        scale: Timescale,
        counter_bits: u32,
        fingerprint: &str,
    ) -> Result<Arc<Self>, FileError> {
        // Absolute, because the path is looked at again later, when the process may be in another folder.
        let path = std::path::absolute(path).map_err(|error| FileError::io(path, "read", &error))?;
        let purpose = Purpose::new(Kind::Cursor, fingerprint);
        let (file, identity) = place::open(&path, &purpose, machine)?;
        let numbers = Numbers { scale, counter_bits };
        keeper::find_or_add(identity, || {
            let made = Self::mapped(machine, file, (path, identity), numbers, None)?;
            made.page.presence().arrive();
            Ok(made)
        })
    }

    /// The cursor of a slot whose file was checked and locked, so that nobody else uses it, nor is asked.
    pub(crate) fn of_slot(
        machine: &Machine,
        file: File,
        place: (PathBuf, Identity),
        numbers: Numbers,
        group: &Arc<Group>,
    ) -> Result<Arc<Self>, FileError> {
        let cursor = Arc::new(Self::mapped(machine, file, place, numbers, Some(group.clone()))?);
        keeper::add(&cursor);
        Ok(cursor)
    }

    fn mapped(
        machine: &Machine,
        file: File,
        (path, identity): (PathBuf, Identity),
        numbers: Numbers,
        group: Option<Arc<Group>>,
    ) -> Result<Self, FileError> {
        let page = Mapped::new(file, &path)?;
        page.check_words(&path)?;
        enter(&page, machine.boot, &numbers).map_err(|error| FileError::io(&path, "synced", &error))?;
        let [seen, covered] = [page.cursor().next(), page.cursor().limit()].map(AtomicU64::new);
        let (ended, fault) = (AtomicBool::new(false), OnceLock::new());
        Ok(Self { page, path, identity, numbers, group, ended, fault, seen, covered })
    }

    /// The cursor. Where it says [`PastLimit`](crate::cursor::Refused::PastLimit), [`raise`](Self::raise) it.
    #[inline]
    pub fn cursor(&self) -> &Cursor {
        self.page.cursor()
    }

    /// The next free number; of a file that was cut short or went back, one above all that this process was given.
    pub fn next(&self) -> u64 {
        let (seen, next) = (self.seen.load(Acquire), self.cold().next());
        // What was taken since this process looked last, nobody knows any more.
        if next < seen || self.page.was_cut() { self.covered.load(Acquire).saturating_add(1) } else { next }
    }

    /// The last number that may be taken now.
    pub(crate) fn limit(&self) -> u64 {
        self.cold().limit()
    }

    /// No number above it was given to this process, whatever was done to the file.
    pub fn highest(&self) -> u64 {
        self.limit().max(self.covered.load(Acquire))
    }

    /// The cursor for calls that may come long after the file was cut short.
    fn cold(&self) -> &Cursor {
        self.page.was_cut();
        self.page.cursor()
    }

    /// The file, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    /// Whether the file was removed, replaced or cut short.
    pub fn is_gone(&self) -> bool {
        self.page.was_cut() || place::is_gone(&self.path, self.identity)
    }

    /// Whether this process must take no more numbers from it, because [`end`](Self::end) was called or the file failed.
    #[inline]
    pub fn is_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// What is wrong with the file, if anything is.
    pub fn fault(&self) -> Option<FileError> {
        self.fault.get().cloned()
    }

    /// No more numbers in this process. The file and other processes are not concerned, nor is a claim that is already
    /// under way: its number is as unique as any.
    pub fn end(&self) {
        self.ended.store(true, Release);
    }

    /// Lets numbers be taken up to 5 s ahead of the clock, or of the last number where that is later, once the disk has
    /// the mark.
    pub fn raise(&self) -> Result<(), FileError> {
        self.raise_from(self.numbers.now())
    }

    /// Takes no number below `next` from here on.
    pub(crate) fn go_on_at(&self, next: u64) -> Result<(), FileError> {
        self.raise_from(self.numbers.now().max(self.numbers.tick(next)))?; // a number beyond the mark would be damage
        self.cursor().raise_next(next);
        Ok(())
    }

    /// The same as `raise` from a tick on that a generator's clock has shown, which may be another one by now.
    pub(crate) fn raise_from(&self, now: u64) -> Result<(), FileError> {
        self.check()?;
        self.check_group()?;
        let numbers = self.numbers;
        let tick = now.max(numbers.tick(self.cursor().next()));
        let target = numbers.last_of(tick.saturating_add(numbers.ticks(AHEAD_NS)));
        if let Some(group) = &self.group {
            group.cover(target); // before any number up to there is taken
        }
        self.covered.fetch_max(target, Release);
        self.page.mark().raise(self.cursor(), target, || {
            // A page that failed to reach the disk once may be taken for clean afterwards: no second try.
            self.page.sync().map_err(|error| self.spoil(FileError::io(&self.path, "synced", &error)))?;
            self.check_group() // again, after the mark is written: see group.rs
        })
    }

    /// Whether the file is still the one that was opened, and its page what this process saw.
    fn check(&self) -> Result<(), FileError> {
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        if self.is_gone() {
            return Err(self.spoil(FileError::new(&self.path, GONE)));
        }
        // `seen` first: another thread may look meanwhile.
        let (seen, next) = (self.seen.load(Acquire), self.cursor().next());
        if next < seen {
            return Err(self.spoil(FileError::new(&self.path, WENT_BACK)));
        }
        if self.group.is_none() {
            self.page.presence().answer();
        }
        self.seen.fetch_max(next, Release);
        self.covered.fetch_max(self.cursor().limit(), Release);
        Ok(())
    }

    fn check_group(&self) -> Result<(), FileError> {
        if !self.group.as_ref().is_some_and(|group| group.is_destroyed()) {
            return Ok(());
        }
        self.end();
        Err(FileError::new(&self.path, "belongs to a group that was destroyed"))
    }

    /// What the keeper does a few times a second: notices what was done to the file, and raises the mark before IDs get
    /// there, if any were made.
    pub(crate) fn look(&self) {
        let before = self.seen.load(Acquire);
        if self.is_ended() || self.check().is_err() {
            return; // what is wrong is kept, for the calls to report
        }
        let next = self.seen.load(Acquire);
        let near = self.numbers.last_of(self.numbers.tick(next).saturating_add(self.numbers.ticks(NEAR_NS)));
        if next != before && near > self.cursor().limit() {
            let _ = self.raise();
        }
    }

    fn spoil(&self, fault: FileError) -> FileError {
        let fault = self.fault.get_or_init(|| fault).clone();
        self.end();
        fault
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.numbers
    }

    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        &self.page.words()[index]
    }

    pub(crate) fn holder(&self) -> &[AtomicU64; page::HOLDER_COUNT] {
        self.page.holder()
    }

    /// The first number after all that the mark allows. The cursor is not moved there: the disk may not know the mark yet.
    pub(crate) fn past_mark(&self) -> u64 {
        self.page.mark().written().saturating_add(1)
    }

    /// Gives the lock on the file back, though others may still have this.
    pub(crate) fn unlock(&self) {
        let _ = self.page.file.unlock(); // what fails here is done when the file is closed
    }
}

impl Drop for SharedCursor {
    fn drop(&mut self) {
        keeper::forget(self);
        if !self.page.was_cut() {
            self.page.presence().leave();
        }
    }
}
