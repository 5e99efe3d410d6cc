//! A cursor in a file: generators of all processes that map the file take numbers from a single word.
//!
//! Taking a number is the usual `claim()`, on mapped memory: no lock and no system call. A process that is stopped or killed
//! in between blocks no other process and loses nothing, because the page stays in the system's memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::sync::{Arc, LazyLock, OnceLock};

use crate::files::entry::enter;
use crate::files::file_format::{CursorWords, HOLDER_WORDS, Kind, Page, Purpose};
use crate::files::folder::{FileIdentity, Place, is_gone};
use crate::files::group::Group;
use crate::files::machine::{self, Machine};
use crate::files::mapped::Mapped;
use crate::files::named_file::{self, Opened};
use crate::files::watcher::{Watched, Watcher};
use crate::generator::any_cursor::{AnyCursor, KeptCursor};
use crate::generator::cursor::{Cursor, Refused};
use crate::generator::numbers::Numbers;
use crate::layout::timescale::Timescale;
use crate::refusal::Refusal;

/// How far ahead of the clock the mark is set, and how close IDs may come to it before it is raised again.
const AHEAD_NS: u64 = 5_000_000_000;
pub(crate) const NEAR_NS: u64 = 1_000_000_000;

const GONE: &str = "was removed, replaced or truncated while in use, so other processes may be generating the same IDs. \
                    Create a new generator a second later, when they have noticed it too, and leave the file alone";
const OVERWRITTEN: &str = "was overwritten while in use, so other processes may be generating the same IDs. Remove it once no \
                           process uses it and the clock is past its last ID, and create a new generator";
const WENT_BACK: &str = "went back while in use, as if an older copy was written over it, so other processes may be generating \
                         the same IDs. Create a new generator a second later, when they have noticed it too, and \
                         leave the file alone";

/// In the place of the next number seen: nothing in the file counts any more.
const DISTRUSTED: u64 = u64::MAX;

/// The cursors that this process has open.
static OPEN: LazyLock<Watcher<SharedCursor>> = LazyLock::new(Watcher::default);

/// A cursor in a file, as opened by this process.
///
/// Only a *machine* crash can lose the page. Even then no number comes twice:
/// - Numbers are taken up to `limit`, which is raised only after the mark (`written`) that covers it was synced. So the
///   disk's mark is never below a number taken, whatever else of the page the crash lost. The words are in separate disk
///   sectors, and each only grows. So a torn page has an older or a newer value of each word, and an older mark still covers
///   every limit that was raised before the next mark was synced.
/// - A process that opens the file continues past the mark, unless the machine has provably not crashed since: entry.rs.
///
/// A file has to stay in place while it is in use. Its removal, truncation or replacement is detected and ends the cursor in
/// this process. An older copy is detected when a number comes again, before the caller gets it, or within a second: the next
/// number or the mark is below what this process has seen.
#[derive(Debug)]
pub struct SharedCursor {
    page: Mapped<CursorWords>,
    path: PathBuf,
    identity: FileIdentity,
    numbers: Numbers,
    /// the group, for the cursor of a slot
    group: Option<Arc<Group>>,
    ended: AtomicBool,
    fault: OnceLock<Refusal>,
    /// the next free number when this process last looked
    seen: AtomicU64,
    /// the highest limit that this process has seen or set
    covered: AtomicU64,
}

impl SharedCursor {
    /// Opens the cursor in a file, which is created if there is none. `fingerprint` describes what the numbers are for: a
    /// file that was created for something else is refused. All callers in this process that open the same file get the same
    /// cursor.
    pub fn open(
        path: impl AsRef<Path>,
        scale: Timescale,
        counter_bits: u32,
        fingerprint: &str,
    ) -> Result<Arc<Self>, Refusal> {
        Self::open_on(machine::this(), path.as_ref(), scale, counter_bits, fingerprint)
    }

    /// The same on a machine that a test describes.
    #[doc(hidden)]
    pub fn open_on(
        machine: &Machine,
        path: &Path,
        scale: Timescale,
        counter_bits: u32,
        fingerprint: &str,
    ) -> Result<Arc<Self>, Refusal> {
        machine.check_shares(path)?;
        // Absolute, because the path is checked again later, when the working directory may be another one.
        let path = std::path::absolute(path).map_err(|error| Refusal::io(path, "read", &error))?;
        let purpose = Purpose::new(Kind::Cursor, fingerprint);
        let Opened { place, file, identity, .. } = named_file::open(&path, &purpose, machine)?;
        let numbers = Numbers::new(scale, counter_bits);
        OPEN.find_or_add(identity, || {
            let made = Self::mapped(machine, file.into(), (place, identity), numbers, None)?;
            made.page.page().presence.arrive();
            Ok(made)
        })
    }

    /// The cursor of a slot whose file was checked and locked. No other process uses it, so none is asked.
    pub(crate) fn of_slot(
        machine: &Machine,
        file: Arc<File>,
        place: (Place, FileIdentity),
        numbers: Numbers,
        group: &Arc<Group>,
    ) -> Result<Arc<Self>, Refusal> {
        let cursor = Arc::new(Self::mapped(machine, file, place, numbers, Some(group.clone()))?);
        OPEN.add(&cursor);
        Ok(cursor)
    }

    fn mapped(
        machine: &Machine,
        file: Arc<File>,
        (place, identity): (Place, FileIdentity),
        numbers: Numbers,
        group: Option<Arc<Group>>,
    ) -> Result<Self, Refusal> {
        let page = Mapped::new(file, &place)?;
        let path = place.path().to_owned();
        page.check_words(&path)?;
        enter(&page, machine.boot, &numbers).map_err(|error| Refusal::io(&path, "synced", &error))?;
        page.check_kept(&path)?;
        let [seen, covered] = [page.page().words.cursor.next(), page.page().words.cursor.limit()].map(AtomicU64::new);
        let (ended, fault) = (AtomicBool::new(false), OnceLock::new());
        Ok(Self { page, path, identity, numbers, group, ended, fault, seen, covered })
    }

    /// The cursor. If it returns [`PastLimit`](crate::generator::cursor::Refused::PastLimit), [`raise`](Self::raise) it.
    #[inline]
    pub fn cursor(&self) -> &Cursor {
        &self.page.page().words.cursor
    }

    /// The next free number. If the page was lost or the file went back, a number above all that this process was given.
    pub fn next(&self) -> u64 {
        let (seen, next) = (self.seen.load(Acquire), self.cold().next());
        // The numbers taken since this process last looked are unknown.
        if next < seen || seen == DISTRUSTED || self.page.is_lost() {
            self.covered.load(Acquire).saturating_add(1)
        } else {
            next
        }
    }

    /// The last number that may be taken at present.
    pub(crate) fn limit(&self) -> u64 {
        self.cold().limit()
    }

    /// The highest number that this process may have been given, whatever happened to the file.
    pub fn highest(&self) -> u64 {
        let covered = self.covered.load(Acquire);
        if self.seen.load(Acquire) == DISTRUSTED { covered } else { covered.max(self.limit()) }
    }

    /// The cursor, for calls that may come long after the page was lost.
    fn cold(&self) -> &Cursor {
        &self.page.checked().words.cursor
    }

    /// The absolute path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn identity(&self) -> FileIdentity {
        self.identity
    }

    /// Whether the file was removed, replaced or truncated, or its page lost.
    pub fn is_gone(&self) -> bool {
        self.page.is_lost() || is_gone(&self.path, self.identity)
    }

    /// Whether this process may take no more numbers from it, because [`end`](Self::end) was called or the file failed.
    #[inline]
    pub fn is_ended(&self) -> bool {
        self.ended.load(Relaxed)
    }

    /// What is wrong with the file, if anything.
    pub fn fault(&self) -> Option<Refusal> {
        self.fault.get().cloned()
    }

    /// Ends the cursor in this process. The file and other processes are not affected. Nor is a claim in progress: its number
    /// is as unique as any other.
    pub fn end(&self) {
        self.ended.store(true, Release);
    }

    /// Allows numbers up to 5 s ahead of the clock, or of the last number if that is later, once the mark is on the disk.
    pub fn raise(&self) -> Result<(), Refusal> {
        self.raise_from(self.numbers.now())
    }

    /// Skips all numbers below `next`.
    pub(crate) fn go_on_at(&self, next: u64) -> Result<(), Refusal> {
        self.raise_past(self.numbers.first_of(self.numbers.now()).max(next))?; // a number past the mark would be damage
        self.cursor().raise_next(next);
        Ok(())
    }

    /// The same as `raise`, from a tick that a generator's clock has shown; by now, the clock may show another one.
    pub(crate) fn raise_from(&self, now: u64) -> Result<(), Refusal> {
        self.raise_past(self.numbers.first_of(now))
    }

    fn raise_past(&self, first: u64) -> Result<(), Refusal> {
        self.check()?;
        self.check_group()?;
        let target = self.ahead_of(first.max(self.cursor().next()), AHEAD_NS);
        if let Some(group) = &self.group {
            group.cover(target); // before any number up to the target is taken
        }
        self.page.page().mark.raise(self.cursor(), target, || {
            self.covered.fetch_max(target, Release); // the mark includes it, and no number up to it was taken yet
            // No retry: after a failed sync, the system may believe that the page is on the disk.
            self.page.sync().map_err(|error| self.spoil(Refusal::io(&self.path, "synced", &error)))?;
            self.check_group() // again, now that the mark is written: see group.rs
        })?;
        self.covered.fetch_max(self.limit(), Release); // another process may have raised it further
        Ok(())
    }

    /// The number that is this much time ahead of another.
    fn ahead_of(&self, number: u64, ns: u64) -> u64 {
        // The holder of a slot may use it in whole ticks.
        if self.group.is_some() { self.numbers.ticks_ahead_of(number, ns) } else { self.numbers.ahead_of(number, ns) }
    }

    /// Checks that the file is still the one that was opened, and that its page has kept what this process saw there.
    fn check(&self) -> Result<(), Refusal> {
        if let Some(fault) = self.fault() {
            return Err(fault);
        }
        if is_gone(&self.path, self.identity) {
            return Err(self.spoil(Refusal::file(&self.path, GONE)));
        }
        // What this process knows comes first, because another thread may update it meanwhile.
        let (seen, covered) = (self.seen.load(Acquire), self.covered.load(Acquire));
        let Page { words, mark, .. } = self.page.checked();
        let (next, written) = (words.cursor.next(), mark.written());
        self.page.check_kept(&self.path).map_err(|lost| self.spoil(lost))?;
        if self.page.is_overwritten() {
            return Err(self.distrust(Refusal::file(&self.path, OVERWRITTEN)));
        }
        if next < seen || written < covered {
            return Err(self.went_back());
        }
        self.page.check_words(&self.path).map_err(|damage| self.distrust(damage))?;
        if self.group.is_none() {
            self.page.page().presence.answer();
        }
        self.seen.fetch_max(next, Release);
        self.covered.fetch_max(self.cursor().limit(), Release);
        Ok(())
    }

    /// An older copy was written over the file.
    fn went_back(&self) -> Refusal {
        self.distrust(Refusal::file(&self.path, WENT_BACK))
    }

    /// Something was written over the file: the numbers taken are unknown.
    fn distrust(&self, fault: Refusal) -> Refusal {
        self.seen.store(DISTRUSTED, Release);
        self.spoil(fault)
    }

    /// Ends the cursor of a slot, whose group was destroyed: that is the reason for every refusal from now on.
    pub(crate) fn group_has_ended(&self) {
        self.spoil(Refusal::Destroyed);
    }

    fn check_group(&self) -> Result<(), Refusal> {
        let Some(group) = &self.group else { return Ok(()) };
        if group.is_destroyed() {
            return Err(self.spoil(Refusal::Destroyed));
        }
        group.check_kept().map_err(|lost| self.spoil(lost))
    }

    /// Called by the watcher a few times per second. Detects changes to the file, and the end of its group. If IDs were
    /// generated, raises the mark before they reach it.
    pub(crate) fn look(&self) {
        let before = self.seen.load(Acquire);
        if self.is_ended() || self.check().and_then(|()| self.check_group()).is_err() {
            return; // the fault is stored for later calls
        }
        let next = self.seen.load(Acquire);
        if next != before && self.ahead_of(next, NEAR_NS) > self.cursor().limit() {
            let _ = self.raise();
        }
    }

    fn spoil(&self, fault: Refusal) -> Refusal {
        let fault = self.fault.get_or_init(|| fault).clone();
        self.end();
        fault
    }

    pub(crate) fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Of a slot: not 0 until the holder asks for the cursor.
    pub(crate) fn lends_window(&self) -> &AtomicU64 {
        &self.page.checked().words.lends_window
    }

    /// Of a slot: the description of its holder.
    pub(crate) fn holder(&self) -> &[AtomicU64; HOLDER_WORDS] {
        &self.page.checked().holder
    }

    /// The first number past the mark. This does not move the cursor: the mark may not be on the disk yet.
    pub(crate) fn past_mark(&self) -> u64 {
        self.page.page().mark.written().saturating_add(1)
    }
}

impl Watched for SharedCursor {
    fn identity(&self) -> FileIdentity {
        self.identity
    }

    fn is_ended(&self) -> bool {
        self.is_ended()
    }

    fn look(&self) {
        self.look();
    }
}

impl KeptCursor for SharedCursor {
    fn cursor(&self) -> &Cursor {
        self.cursor()
    }

    fn is_ended(&self) -> bool {
        self.is_ended()
    }

    fn has_failed(&self) -> bool {
        self.fault.get().is_some()
    }

    fn next(&self) -> u64 {
        self.next()
    }

    fn seen(&self) -> u64 {
        self.seen.load(Acquire)
    }

    fn check(&self) -> Result<(), Refused> {
        self.check().map_err(|_| Refused::PastLimit)
    }

    fn went_back(&self) {
        self.went_back();
    }

    fn raise_from(&self, tick: u64) -> Result<(), Refused> {
        self.raise_from(tick).map_err(|_| Refused::PastLimit)
    }
}

impl From<Arc<SharedCursor>> for AnyCursor {
    fn from(cursor: Arc<SharedCursor>) -> Self {
        Self::Kept(cursor)
    }
}

impl Drop for SharedCursor {
    fn drop(&mut self) {
        OPEN.forget(self);
        if !self.page.is_lost() {
            self.page.page().presence.leave();
        }
    }
}
