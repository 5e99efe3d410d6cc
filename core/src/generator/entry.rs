//! The entries of a registry, and the table that contains them.
//!
//! All copies of the library in a process share one table. A copy may come from another release or compiler, so an entry and
//! [`Visit`] have C layout, and neither ever changes. Another layout would need another name for the function that the addon
//! exports.

use std::collections::HashMap;
#[cfg(not(flakeforge_loom))]
use std::mem::offset_of;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};

use crate::generator::clock::system_ns;
use crate::generator::cursor::{Cursor, LAST};
use crate::layout::timescale::Timescale;
use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// At this number of entries, unheld ones are looked through. All nodes of all dialects are far fewer.
pub(super) const MANY: usize = 1 << 16;

/// How long ago the tick of a dropped entry ended at least: longer than any usual step back of a clock.
pub(crate) const LONG_PAST_NS: i128 = 24 * 3_600 * 1_000_000_000;

/// The use of a key.
pub(super) mod scope {
    /// nothing yet
    pub const FREE: u64 = 0;
    /// plain generators, which take numbers from the entry's cursor
    pub const PLAIN: u64 = 1;
    /// a cursor stored elsewhere, which remembers its numbers
    pub const KEPT: u64 = 2;
    /// leases, each with a separate cursor; the entry's `next` is above all numbers of finished ones
    pub const LEASED: u64 = 3;
}

/// What all copies of the library know about a key. Everything but the cursor and the count is used under the table's lock.
///
/// Entries are never freed, so a reference to one is always valid. An entry that is no longer needed is reused for another
/// key.
#[derive(Debug)]
#[repr(C, align(128))] // separate cache lines, so that generators of different nodes do not slow each other down
pub struct Entry {
    cursor: Cursor,
    scope: AtomicU64,
    /// number of generators or leases that use it
    holders: AtomicU64,
    /// where a cursor is stored: address and length of a text
    place: AtomicU64,
    place_len: AtomicU64,
}

// Copies of other releases expect each field here. loom's atomics have different sizes.
#[cfg(not(flakeforge_loom))]
const _: () = {
    assert!(offset_of!(Entry, cursor) == 0 && Cursor::NEXT_AT == 0 && Cursor::LIMIT_AT == 8);
    assert!(offset_of!(Entry, scope) == 16);
    assert!(offset_of!(Entry, holders) == 24);
    assert!(offset_of!(Entry, place) == 32);
    assert!(offset_of!(Entry, place_len) == 40);
    assert!(scope::FREE == 0 && scope::PLAIN == 1 && scope::KEPT == 2 && scope::LEASED == 3);
};

impl Entry {
    fn new() -> Self {
        let [scope, holders, place, place_len] = [scope::FREE, 0, 0, 0].map(AtomicU64::new);
        Self { cursor: Cursor::window(0, LAST), scope, holders, place, place_len }
    }

    /// A bound above all numbers that were given; `None` if more may still be taken, or if only a file knows the last.
    pub(super) fn first_unused(&self) -> Option<u64> {
        (self.is_unheld() && self.scope() != scope::KEPT).then(|| self.cursor.next())
    }

    pub(super) fn is_unheld(&self) -> bool {
        self.holders.load(Acquire) == 0 // Acquire: we see what previous holders did before they let go
    }

    /// Whether numbers were given by leases that are over, or by plain generators.
    pub(super) fn has_given(&self) -> bool {
        self.cursor.next() > 0
    }

    pub(super) fn scope(&self) -> u64 {
        self.scope.load(Relaxed)
    }

    pub(super) fn set_scope(&self, scope: u64) {
        self.scope.store(scope, Relaxed);
    }

    pub(super) fn hold(&'static self) -> EntryUse {
        self.holders.fetch_add(1, Relaxed);
        EntryUse(self)
    }

    /// Where the cursor is stored. The text lives as long as the process.
    pub(super) fn place(&self) -> &'static str {
        let (place, len) = (self.place.load(Relaxed) as usize, self.place_len.load(Relaxed) as usize);
        raw::text(place, len)
    }

    pub(super) fn keep_at(&self, place: &str) {
        // If it could not be opened the last time, the text is still there.
        if self.place() != place {
            let (address, len) = raw::address(place.to_owned().leak());
            self.place.store(address as u64, Relaxed);
            self.place_len.store(len as u64, Relaxed);
        }
        self.set_scope(scope::KEPT);
    }
}

/// The use of an entry by one generator or lease.
#[derive(Debug)]
pub struct EntryUse(&'static Entry);

impl EntryUse {
    /// Holds the entry as long as the process lives.
    pub(super) fn stay(self) {
        std::mem::forget(self);
    }
}

impl Clone for EntryUse {
    fn clone(&self) -> Self {
        self.0.hold()
    }
}

impl Drop for EntryUse {
    fn drop(&mut self) {
        self.0.holders.fetch_sub(1, Release);
    }
}

impl Deref for EntryUse {
    type Target = Cursor;

    #[inline]
    fn deref(&self) -> &Cursor {
        &self.0.cursor
    }
}

/// The first bytes of a key: how its numbers follow from time. The table knows nothing else about a key.
#[derive(Clone, Copy)]
pub(super) struct Head {
    pub epoch_ms: i64,
    pub tick_ns: u64,
    pub counter_bits: u64,
}

impl Head {
    pub(super) fn bytes(self) -> impl Iterator<Item = u8> {
        [self.epoch_ms.cast_unsigned(), self.tick_ns, self.counter_bits].into_iter().flat_map(u64::to_le_bytes)
    }

    fn of(key: &[u8]) -> Option<Self> {
        let word = |i: usize| Some(u64::from_le_bytes(key.get(i * 8..i * 8 + 8)?.try_into().ok()?));
        Some(Self { epoch_ms: word(0)?.cast_signed(), tick_ns: word(1)?, counter_bits: word(2)? })
    }

    /// The start of the tick of a number, Unix ns.
    pub(super) fn start_of(self, number: u64) -> i128 {
        Timescale::of_all_ticks(self.epoch_ms, self.tick_ns).start_of(number >> self.counter_bits)
    }
}

/// The entries of all keys.
#[derive(Debug, Default)]
pub struct Table {
    entries: HashMap<Box<[u8]>, &'static Entry>,
    /// entries without a key
    spare: Vec<&'static Entry>,
    swept_at: usize,
}

impl Table {
    /// The entry of a key.
    pub fn entry(&mut self, key: &[u8]) -> &'static Entry {
        if let Some(entry) = self.entries.get(key) {
            return entry;
        }
        if self.entries.len() >= MANY.max(self.swept_at * 2) {
            self.sweep(system_ns());
        }
        let entry = self.spare.pop().unwrap_or_else(|| Box::leak(Box::new(Entry::new())));
        self.entries.insert(key.into(), entry);
        entry
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn sweep(&mut self, now_ns: i128) {
        // Entries of stored cursors stay: there is at most one per node, and only their storage knows the last ID.
        let is_needed = |key: &[u8], entry: &Entry| match (entry.first_unused(), Head::of(key)) {
            (Some(first), Some(head)) => first > 0 && head.start_of(first) > now_ns - LONG_PAST_NS,
            _ => true,
        };
        let spare = &mut self.spare;
        self.entries.retain(|key, entry| {
            let stays = is_needed(key, entry);
            if !stays {
                entry.set_scope(scope::FREE);
                entry.cursor.reset();
                spare.push(entry);
            }
            stays
        });
        self.swept_at = self.entries.len();
    }
}

/// The location of the table that a registry uses.
#[derive(Debug)]
pub enum Home {
    /// the registry has a separate table
    Own(Mutex<Table>),
    /// a copy of the library has the table of the process
    Process(Visit),
}

pub use raw::{Visit, Visitor, answer};

impl Home {
    /// Calls `visit` with the entry of a key, under the table's lock. `visit` must not wait for anything.
    pub(super) fn visit<T>(&self, key: &[u8], visit: impl FnOnce(&'static Entry) -> T) -> T {
        match self {
            Self::Own(table) => visit(table.lock().unwrap_or_else(PoisonError::into_inner).entry(key)),
            Self::Process(call) => raw::visit(*call, key, visit),
        }
    }
}

/// The interface between copies of the library.
mod raw {
    #![allow(unsafe_code)]

    use std::ffi::c_void;

    use super::Entry;

    /// A function that calls `visitor(context, entry)` once, with the entry of the key of `len` bytes, while it holds the
    /// lock of the process's table.
    pub type Visit = unsafe extern "C" fn(key: *const u8, len: usize, visitor: Visitor, context: *mut c_void);

    /// A callback for an entry.
    pub type Visitor = unsafe extern "C" fn(context: *mut c_void, entry: *const Entry);

    struct Call<F, T> {
        visit: Option<F>,
        result: Option<T>,
    }

    unsafe extern "C" fn visitor<F: FnOnce(&'static Entry) -> T, T>(context: *mut c_void, entry: *const Entry) {
        // SAFETY: `visit` below passes a `Call` of these types, which outlives this call, and nothing else refers to it.
        let call = unsafe { &mut *context.cast::<Call<F, T>>() };
        // SAFETY: a table has leaked the entry, so it lives as long as the process. It consists of atomics alone.
        let entry: &'static Entry = unsafe { &*entry };
        call.result = call.visit.take().map(|visit| visit(entry));
    }

    pub(super) fn visit<F: FnOnce(&'static Entry) -> T, T>(call: Visit, key: &[u8], visit: F) -> T {
        let mut context = Call { visit: Some(visit), result: None };
        // SAFETY: the key's bytes live during the call, and `visitor` expects this context.
        unsafe { call(key.as_ptr(), key.len(), visitor::<F, T>, (&raw mut context).cast()) };
        context.result.expect("a visit calls the visitor")
    }

    /// Answers a request of another copy.
    ///
    /// # Safety
    ///
    /// `key` must point to `len` bytes, and `visitor` must take `context`.
    pub unsafe fn answer(
        mut entry_of: impl FnMut(&[u8]) -> &'static Entry,
        (key, len): (*const u8, usize),
        (visitor, context): (Visitor, *mut c_void),
    ) {
        // SAFETY: as the caller promises.
        let key = unsafe { std::slice::from_raw_parts(key, len) };
        // SAFETY: as the caller promises.
        unsafe { visitor(context, entry_of(key)) };
    }

    pub(super) fn address(text: &'static str) -> (usize, usize) {
        (text.as_ptr().expose_provenance(), text.len())
    }

    pub(super) fn text(address: usize, len: usize) -> &'static str {
        if len == 0 {
            return "";
        }
        // SAFETY: the two words are those of `address`, written under the same lock, of a text that was leaked.
        unsafe {
            std::str::from_utf8_unchecked(std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), len))
        }
    }
}
