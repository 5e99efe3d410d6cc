//! Slot files: processes that share a folder get a node number each, without a server.
//!
//! A slot is a file with a cursor, as in `shared.rs`. The operating system's lock on that file decides which process has the
//! slot. The lock is released when the process ends, however it ends, and the next holder continues after the last number
//! taken. A slot's file is never created a second time, because nothing else knows how far its numbers went.

use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use std::sync::{Arc, Mutex, PoisonError};

use crate::files::file_format::{CursorPage, Kind, Purpose};
use crate::files::group::{FolderConfig, Group};
use crate::files::holder_record::HolderRecord;
use crate::files::machine::{self, Machine};
use crate::files::named_file;
use crate::files::shared::{NEAR_NS, SharedCursor};
use crate::files::slot_lock::{Asked, SlotLock};
use crate::generator::clock::system_ns;
use crate::generator::cursor::Cursor;
use crate::layout::timescale::whole_ms;
use crate::refusal::Refusal;

/// How many previously used slots are tried, from the hint on, before a new one is created. Each try costs some microseconds;
/// a thousand would cost more than the file of a new slot.
const PROBES: u64 = 64;

/// When to look again if all slots are held: there is no notification when one becomes free.
const AGAIN_MS: i64 = 250;

/// How often to start again if the group is removed during the search for a slot.
const TRIES: usize = 100;

/// The result of renewing a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// the time that the holder may use, Unix ms, both ends included
    Window {
        /// the first
        lo_ms: i64,
        /// the last
        hi_ms: i64,
    },
    /// the group was destroyed
    Destroyed,
    /// the slot's file was removed or replaced, or another process holds it: the parent of a fork
    Lost,
}

/// A group of slots in a folder.
#[derive(Debug)]
pub struct SlotFolder {
    folder: PathBuf,
    config: FolderConfig,
    machine: Machine,
    group: Mutex<Arc<Group>>,
}

/// The result of trying a slot.
enum Tried {
    Held(HeldSlot),
    Taken,
    /// its last number is ahead of the clock, until that Unix ms
    Ahead(i64),
    /// it was used, and its file was removed
    Missing,
    /// it has no file yet, and none can be created
    NotMade(Refusal),
    /// the whole group was removed
    Gone,
}

impl SlotFolder {
    /// Opens the group in a folder. It is created if there is none, or if the last one was destroyed.
    pub fn open(folder: impl AsRef<Path>, config: FolderConfig) -> Result<Self, Refusal> {
        Self::open_on(machine::this(), folder.as_ref(), config)
    }

    /// The same on a machine that a test describes.
    #[doc(hidden)]
    pub fn open_on(machine: &Machine, folder: &Path, config: FolderConfig) -> Result<Self, Refusal> {
        machine.check_shares(folder)?;
        let folder = std::path::absolute(folder).map_err(|error| Refusal::io(folder, "read", &error))?;
        let group = Mutex::new(Arc::new(Group::open(&folder, &config, machine, 0)?));
        Ok(Self { folder, config, machine: *machine, group })
    }

    /// Whether opening the group created it.
    pub fn is_new(&self) -> bool {
        self.group.lock().unwrap_or_else(PoisonError::into_inner).is_new
    }

    /// Distinguishes groups of the same name: random bits, replaced each time a group is created.
    pub fn lineage(&self) -> u64 {
        self.group.lock().unwrap_or_else(PoisonError::into_inner).lineage
    }

    /// Takes a free slot. The search starts at the slot that was freed last.
    pub fn acquire(&self, owner: u128, host: &str) -> Result<HeldSlot, Refusal> {
        for _ in 0..TRIES {
            let group = self.group()?;
            if group.is_destroyed() {
                return Err(Refusal::Destroyed);
            }
            if let Some(held) = self.acquire_of(&group)? {
                held.sign(owner, host);
                return Ok(held);
            }
        }
        Err(Refusal::file(
            &self.folder,
            "was removed several times during the search for a slot. Find out which program does that",
        ))
    }

    /// The group, reopened if its file was removed, because later processes only find the new one. What this process knows
    /// about the old one is kept: no slot starts below the old marks.
    fn group(&self) -> Result<Arc<Group>, Refusal> {
        let mut group = self.group.lock().unwrap_or_else(PoisonError::into_inner);
        if !group.is_destroyed() && group.is_gone() {
            let past_ms = group.end_ms(&self.config.numbers);
            *group = Arc::new(Group::open(&self.folder, &self.config, &self.machine, past_ms)?);
        }
        Ok(group.clone())
    }

    /// `None` if the group was removed meanwhile.
    fn acquire_of(&self, group: &Arc<Group>) -> Result<Option<HeldSlot>, Refusal> {
        let slots = u64::from(self.config.slots);
        let used = group.used().load(SeqCst).min(slots);
        let hint = group.hint().load(Relaxed);
        let known = (0..used).map(|i| hint.wrapping_add(i) % used);
        let (first, rest) = (known.clone().take(PROBES as usize), known.skip(PROBES as usize));
        let mut obstacles = Obstacles::default();
        for slot in first.chain(used..slots).chain(rest) {
            if slot >= used && obstacles.makes_none {
                continue;
            }
            match self.attempt(group, slot as u32) {
                Ok(Tried::Held(held)) => {
                    // Next time, start after this slot; or, if a new one had to be created, at the slots that were not tried.
                    group.hint().store(if slot < used { slot + 1 } else { hint + PROBES }, Relaxed);
                    group.used().fetch_max(slot + 1, SeqCst);
                    group.check_kept()?;
                    // Check only now that the slot is counted: from here on, its file is not created again, and if it is
                    // still there, it never was.
                    if group.is_gone() {
                        return Ok(None);
                    }
                    if !held.cursor.is_gone() {
                        return Ok(Some(held));
                    }
                    obstacles.are_missing = true;
                }
                Ok(Tried::Taken) => obstacles.are_in_use = true,
                Ok(Tried::Ahead(until)) => obstacles.ahead(until),
                Ok(Tried::Missing) => obstacles.are_missing = true,
                Ok(Tried::Gone) => return Ok(None),
                Ok(Tried::NotMade(error)) => {
                    obstacles.makes_none = true; // no space or no permission: the others cannot be created either
                    obstacles.fault = obstacles.fault.or(Some(error));
                }
                // An unusable slot does not keep callers from the others.
                Err(Refusal::Destroyed) => return Err(Refusal::Destroyed),
                Err(error) => obstacles.fault = obstacles.fault.or(Some(error)),
            }
        }
        Err(obstacles.reason(group.folder.path()))
    }

    fn attempt(&self, group: &Arc<Group>, slot: u32) -> Result<Tried, Refusal> {
        let place = group.folder.place(slot.to_string());
        let text = format!("{}, slot {slot}", self.config.fingerprint);
        let first = self.first_of(group);
        let purpose = purpose_of(&text, first);
        let asked = match SlotLock::ask(&place)? {
            Asked::Missing if group.is_gone() => return Ok(Tried::Gone),
            Asked::Missing if u64::from(slot) < group.used().load(SeqCst) => return Ok(Tried::Missing),
            Asked::Missing => {
                let free_ms = self.config.numbers.first_ms(first);
                if free_ms > whole_ms(system_ns()) {
                    return Ok(Tried::Ahead(free_ms)); // every other new one is ahead, too, so create no files
                }
                if let Err(error) = named_file::create(&place, &purpose, &self.machine) {
                    return Ok(if group.is_gone() { Tried::Gone } else { Tried::NotMade(error) });
                }
                SlotLock::ask(&place)?
            }
            asked => asked,
        };
        let (lock, file) = match asked {
            Asked::Held(lock, file) => (lock, file),
            Asked::Taken => return Ok(Tried::Taken),
            Asked::Missing => {
                let why = "was removed while it was being created. Find out which program does that";
                return Err(Refusal::file(place.path(), why));
            }
        };
        let Some(identity) = named_file::check(&place, &file, &purpose, &self.machine)? else {
            return Ok(Tried::Taken);
        };
        let cursor = SharedCursor::of_slot(&self.machine, file, (place, identity), self.config.numbers, group)?;
        self.enter(group, slot, cursor, lock)
    }

    /// The first number of a new slot, which starts above the group's floor.
    fn first_of(&self, group: &Group) -> u64 {
        let floor_ms = group.floor_ms();
        if floor_ms > 0 { self.config.numbers.after_ms(floor_ms) } else { 0 }
    }

    /// Prepares a slot for use after it was locked.
    fn enter(
        &self,
        group: &Arc<Group>,
        slot: u32,
        cursor: Arc<SharedCursor>,
        lock: SlotLock,
    ) -> Result<Tried, Refusal> {
        let numbers = self.config.numbers;
        let mut held = HeldSlot { slot, lo_ms: 0, cursor, lock: Some(lock), group: group.clone() };
        let past_mark = if held.lends_window().load(Acquire) != 0 { held.cursor.past_mark() } else { 0 };
        let first = self.first_of(group);
        let (next, now) = (held.cursor.cursor().next().max(first).max(past_mark), numbers.now());
        if numbers.tick(next) > now {
            return Ok(Tried::Ahead(numbers.first_ms(next)));
        }
        held.lends_window().store(1, Relaxed);
        let why = |error| if group.is_destroyed() { Refusal::Destroyed } else { error };
        if held.cursor.cursor().limit() < numbers.last_of(now.saturating_add(numbers.ticks(NEAR_NS))) {
            held.cursor.raise().map_err(why)?;
        }
        if held.cursor.cursor().next() < next {
            held.cursor.go_on_at(next).map_err(why)?;
        }
        if group.is_destroyed() {
            return Err(Refusal::Destroyed);
        }
        held.lo_ms = numbers.first_ms(next).max(whole_ms(system_ns()));
        Ok(Tried::Held(held))
    }
}

/// The file of a slot. A new one starts at the number `first`; no number below it was taken from it.
fn purpose_of(text: &str, first: u64) -> Purpose<'_> {
    let cursor = offset_of!(CursorPage, words.cursor);
    let mark = first.saturating_sub(1);
    Purpose::new(Kind::Slot, text)
        .with(cursor + Cursor::NEXT_AT, first)
        .with(cursor + Cursor::LIMIT_AT, mark)
        .with(offset_of!(CursorPage, mark), mark)
}

/// Why none of the slots that were tried is available.
#[derive(Default)]
struct Obstacles {
    are_in_use: bool,
    free_ms: Option<i64>,
    are_missing: bool,
    makes_none: bool,
    /// the first one found
    fault: Option<Refusal>,
}

impl Obstacles {
    fn ahead(&mut self, until: i64) {
        self.free_ms = Some(self.free_ms.map_or(until, |ms| ms.min(until)));
    }

    fn reason(self, folder: &Path) -> Refusal {
        let waits = self.are_in_use || self.free_ms.is_some();
        if let Some(fault) = self.fault.filter(|_| self.makes_none || !waits) {
            return fault;
        }
        if self.are_missing && !waits {
            let why = "has no slot left. The files of all slots were removed, so it is unknown how far their IDs went. \
                       `npx flakeforge destroy` ends this group, and the next one starts above their IDs";
            return Refusal::file(folder, why);
        }
        Refusal::Exhausted { retry_at_ms: self.free_ms.unwrap_or(whole_ms(system_ns()) + AGAIN_MS) }
    }
}

/// A slot that this process holds until the value is dropped. After a fork, the slot stays with the parent, and the child has
/// [lost](Renewal::Lost) it.
///
/// A holder uses its slot in one of two ways. Either it takes numbers from the cursor in the file. Or it never asks for the
/// cursor, and generates IDs itself in the time from [`lo_ms`](Self::lo_ms) to [`hi_ms`](Self::hi_ms). Then the file does not
/// know which were used: unless the holder reports that when it [releases](Self::release) the slot, the next one starts past
/// the mark.
#[derive(Debug)]
pub struct HeldSlot {
    slot: u32,
    lo_ms: i64,
    cursor: Arc<SharedCursor>,
    lock: Option<SlotLock>,
    group: Arc<Group>,
}

impl HeldSlot {
    fn lends_window(&self) -> &AtomicU64 {
        self.cursor.lends_window()
    }

    fn is_ours(&self) -> bool {
        self.lock.as_ref().is_some_and(SlotLock::is_ours)
    }

    fn sign(&self, owner: u128, host: &str) {
        let (pid, since_ms) = (process::id(), whole_ms(system_ns()));
        HolderRecord { owner, pid, host: host.to_owned(), since_ms }.write(self.cursor.holder());
    }

    /// Its number.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Distinguishes groups of the same name: random bits, replaced each time a group is created.
    pub fn lineage(&self) -> u64 {
        self.group.lineage
    }

    /// Whether the group was destroyed, by the page that all of its members have mapped.
    pub fn is_destroyed(&self) -> bool {
        self.group.is_destroyed()
    }

    /// The cursor in its file. From here on, the file keeps track of the last number, not the holder.
    pub fn cursor(&self) -> Arc<SharedCursor> {
        self.lends_window().store(0, Relaxed);
        self.cursor.clone()
    }

    /// The first Unix ms for a holder that does not use the cursor in the file.
    pub fn lo_ms(&self) -> i64 {
        self.lo_ms
    }

    /// The Unix ms in which the current tick began: the first one for a holder that takes numbers from the cursor in the
    /// file.
    pub fn tick_ms(&self) -> i64 {
        let numbers = self.cursor.numbers();
        whole_ms(numbers.scale().start_of(numbers.now()))
    }

    /// The last Unix ms for a holder without that cursor: the durable mark, rounded down.
    pub fn hi_ms(&self) -> i64 {
        self.cursor.numbers().last_ms(self.cursor.limit())
    }

    /// Checks whether the slot is still held. If the holder does not use the cursor in the file, this also raises the mark to
    /// 5 s from now; otherwise the cursor raises it.
    pub fn renew(&self) -> Result<Renewal, Refusal> {
        if !self.is_ours() {
            self.cursor.end();
            return Ok(Renewal::Lost);
        }
        if self.group.is_destroyed() {
            self.cursor.group_has_ended();
            return Ok(Renewal::Destroyed);
        }
        if self.group.is_gone() || self.cursor.is_gone() {
            self.cursor.end();
            return Ok(Renewal::Lost);
        }
        if self.lends_window().load(Relaxed) != 0
            && let Err(error) = self.cursor.raise()
        {
            return if self.group.is_destroyed() { Ok(Renewal::Destroyed) } else { Err(error) };
        }
        Ok(Renewal::Window { lo_ms: self.lo_ms, hi_ms: self.hi_ms() })
    }

    /// Gives the slot back. `last_ms`: the last Unix ms used, if the holder did not use the cursor in the file; any time
    /// before [`lo_ms`](Self::lo_ms) if none was.
    pub fn release(self, last_ms: i64) {
        if self.is_ours() && self.lends_window().load(Relaxed) != 0 && last_ms <= self.hi_ms() {
            self.cursor.cursor().raise_next(self.cursor.numbers().after_ms(last_ms));
            // After `next`, in case this process is killed: once the word is 0, the next holder trusts `next`.
            self.lends_window().store(0, Release);
        }
    }
}

impl Drop for HeldSlot {
    fn drop(&mut self) {
        self.cursor.end();
        self.lock = None; // now, even if other code still has the cursor
        self.group.hint().fetch_min(u64::from(self.slot), Relaxed);
    }
}
