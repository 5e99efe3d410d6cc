//! One cursor for all generators of a process whose IDs could be equal.
//!
//! A key whose cursor is stored elsewhere, or whose node number is leased, has an entry too, because a process that used such
//! a key in two ways would have two cursors. When its leases and their windows are over, the key is free again. An entry is
//! not dropped while a generator holds it, or while the clock could still reach its tick by an ordinary step back.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::generator::clock::system_ns;
use crate::generator::entry::{Entry, EntryUse, Head, Home, Visit, scope};
use crate::layout::timescale::{NS_PER_MS, Timescale};
use crate::layout::{Layout, Packing, PlacedNode};
use crate::refusal::Refusal;

/// Decides whether two generators could generate equal IDs.
///
/// The bits decide what "could be equal" means: epoch, tick length, field positions and the node bits. Names and `seqMask` do
/// not matter: two generators that only differ there can still generate the same ID. An entry outlives its generators, so a
/// generator that is created per request continues where the last one stopped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    epoch_ms: i64,
    tick_ns: u64,
    packing: Packing,
    node: PlacedNode,
}

impl Key {
    /// The key of a layout and a node number.
    pub fn new(layout: &Layout, node: PlacedNode) -> Self {
        let (scale, packing) = (layout.scale(), layout.packing());
        Self { epoch_ms: scale.epoch_ms(), tick_ns: scale.tick_ns(), packing, node }
    }

    /// The meaning of the bits as text: the purpose of a file.
    pub fn fingerprint(&self) -> String {
        format!("{}, node {:#x}", self.group_fingerprint(), self.node.bits())
    }

    /// The same without the node, for groups, which assign node numbers.
    pub fn group_fingerprint(&self) -> String {
        let tick_ms = self.tick_ns as f64 / NS_PER_MS as f64;
        let fields = match self.packing {
            Packing::Bits { tick, counter, reversed } => {
                let order = if reversed { "reversed " } else { "" };
                let timestamp = format!("timestamp {order}{} bits at {}", tick.width(), tick.shift());
                match counter.width() {
                    0 => format!("{timestamp}, no counter"),
                    width => format!("{timestamp}, counter {width} bits at {}", counter.shift()),
                }
            }
            Packing::Decimal => "decimal".to_owned(),
        };
        format!("epoch {}, tick {tick_ms} ms, {fields}", self.epoch_ms)
    }

    /// How the ticks of its numbers follow from time.
    pub(crate) fn scale(&self) -> Timescale {
        Timescale::of_all_ticks(self.epoch_ms, self.tick_ns)
    }

    /// The counter width of its numbers.
    pub(crate) fn counter_bits(&self) -> u32 {
        self.packing.counter_bits()
    }

    /// The content of its first bytes.
    fn head(&self) -> Head {
        Head { epoch_ms: self.epoch_ms, tick_ns: self.tick_ns, counter_bits: self.counter_bits().into() }
    }

    /// The identity of this key in all copies of the library in a process. It never changes.
    fn bytes(&self) -> Vec<u8> {
        let packing = match self.packing {
            Packing::Bits { tick, counter, reversed } => {
                let [shift, width, counter] = [tick.shift(), tick.width(), counter.shift()].map(u64::from);
                [1, shift, width, counter, reversed.into()]
            }
            Packing::Decimal => [0; 5],
        };
        self.head().bytes().chain(packing.into_iter().chain([self.node.bits()]).flat_map(u64::to_le_bytes)).collect()
    }
}

/// What the members of a group must have in common, as text.
pub fn group_fingerprint(layout: &Layout) -> String {
    let fingerprint = Key::new(layout, layout.place_node(0)).group_fingerprint();
    match layout.id_offset() as i64 {
        0 => fingerprint,
        offset => format!("{fingerprint}, idOffset {offset}"),
    }
}

/// A lease's use of its key, while it may generate IDs.
#[derive(Debug)]
pub struct KeyLease(EntryUse);

impl KeyLease {
    /// Ends the use: no more numbers are taken, and none above `last` was ever taken.
    pub fn end(self, last: u64) {
        self.0.raise_next(last.saturating_add(1));
    }
}

/// How an entry is used. Once a process has used a key in one way, it cannot use it in another while only the first way knows
/// the earlier numbers.
impl Entry {
    /// The first number for another kind of use, if the key is free for it: it is not held, and it never gave a number or the
    /// windows of its leases are over.
    fn free_from(&self, key: &Key, now_ns: i128) -> Option<u64> {
        let first = self.first_unused()?;
        let is_free = match self.scope() {
            scope::LEASED => key.head().start_of(first) <= now_ns,
            _ => first == 0,
        };
        is_free.then_some(first)
    }

    /// The same, or why it is not free.
    fn freed(&self, key: &Key, ours: impl ToString) -> Result<u64, Refusal> {
        self.free_from(key, system_ns()).ok_or_else(|| self.clash(ours))
    }

    /// Reserves the key for a cursor that is about to be opened at this location. Another copy may use the same location.
    fn reserve(&'static self, key: &Key, ours: &str) -> Result<EntryUse, Refusal> {
        if self.scope() != scope::KEPT || self.place() != ours {
            self.freed(key, ours)?;
            self.keep_at(ours);
        }
        Ok(self.hold())
    }

    /// Ends a reservation whose cursor could not be opened. The key is as free as before, unless another copy has opened the
    /// cursor or still tries to.
    fn give_up(&self, reserved: EntryUse) {
        drop(reserved);
        if self.is_unheld() {
            self.set_scope(if self.has_given() { scope::LEASED } else { scope::FREE });
        }
    }

    fn clash(&self, ours: impl ToString) -> Refusal {
        let theirs = match self.scope() {
            scope::KEPT => self.place(),
            scope::LEASED => LEASED,
            _ => PLAIN,
        };
        Refusal::Clash { theirs: theirs.to_owned(), ours: ours.to_string() }
    }
}

pub(crate) const PLAIN: &str = "a cursor in memory";
pub(crate) const LEASED: &str = "a lease";

/// What the registry knows about a key for a cursor stored elsewhere.
pub(crate) enum Found<'a, K> {
    /// its location
    Kept(&'a K),
    /// this copy of the library does not use the key, and no number from `first` on was given here
    Free { first: u64 },
}

/// What is known about the cursor of a key that is stored elsewhere. Whoever opens that cursor has the lock meanwhile, so two
/// threads that open it at once get the same one.
type Known<K> = Arc<Mutex<Option<K>>>;

/// The uses of keys. `K` is what is known about a cursor stored elsewhere; its text is the location.
///
/// Opening such a cursor may wait for a disk. Only calls that open the same one wait for it, too: the locks that all keys
/// share are never held meanwhile, and a key is reserved first, so that no call can use it in another way.
#[derive(Debug)]
pub struct Registry<K> {
    home: Home,
    kept: Mutex<HashMap<Key, Known<K>>>,
}

impl<K> Default for Registry<K> {
    fn default() -> Self {
        Self { home: Home::Own(Mutex::default()), kept: Mutex::default() }
    }
}

impl<K> Registry<K> {
    /// A registry over the table that the copies of the library in this process share.
    pub fn shared_by(visit: Visit) -> Self {
        Self { home: Home::Process(visit), kept: Mutex::default() }
    }
}

impl<K: Display> Registry<K> {
    /// The cursor of a key in this process, created if there is none. It has no limit, because each generator knows the end
    /// of its layout.
    pub fn plain(&self, key: Key) -> Result<EntryUse, Refusal> {
        self.enter(&key, scope::PLAIN, PLAIN)
    }

    /// Reserves a key for a lease until the returned value is dropped. Leases of several groups may have the same key.
    pub fn lease(&self, key: Key) -> Result<KeyLease, Refusal> {
        self.enter(&key, scope::LEASED, LEASED).map(KeyLease)
    }

    fn enter(&self, key: &Key, scope: u64, ours: &str) -> Result<EntryUse, Refusal> {
        self.home.visit(&key.bytes(), |entry| {
            if entry.scope() != scope {
                entry.freed(key, ours)?;
                entry.set_scope(scope);
            }
            Ok(entry.hold())
        })
    }

    /// Opens a cursor stored elsewhere. `is_same` checks whether the one that this copy knows is meant, `ours` is its
    /// location, and `open` opens it and returns what to remember. The key cannot be used in another way meanwhile.
    pub(crate) fn keep<T>(
        &self,
        key: &Key,
        is_same: impl FnOnce(&K) -> bool,
        ours: &str,
        open: impl FnOnce(Found<'_, K>) -> Result<(T, Option<K>), Refusal>,
    ) -> Result<T, Refusal> {
        let known = lock(&self.kept).entry(key.clone()).or_default().clone();
        let opened = self.open(key, &mut lock(&known), is_same, ours, open);
        if opened.is_err() {
            self.forget_unopened(key, known);
        }
        opened
    }

    fn open<T>(
        &self,
        key: &Key,
        known: &mut Option<K>,
        is_same: impl FnOnce(&K) -> bool,
        ours: &str,
        open: impl FnOnce(Found<'_, K>) -> Result<(T, Option<K>), Refusal>,
    ) -> Result<T, Refusal> {
        let Some(before) = known else {
            let held = self.home.visit(&key.bytes(), |entry| entry.reserve(key, ours))?;
            // Copies that open it at once each continue from here, whichever is first.
            let opened = open(Found::Free { first: held.next() });
            if opened.is_ok() {
                held.stay();
            } else {
                self.home.visit(&key.bytes(), |entry| entry.give_up(held));
            }
            let (opened, found) = opened?;
            *known = found;
            return Ok(opened);
        };
        if !is_same(before) {
            return Err(Refusal::Clash { theirs: before.to_string(), ours: ours.to_owned() });
        }
        let (opened, found) = open(Found::Kept(before))?;
        if found.is_some() {
            *known = found;
        }
        Ok(opened)
    }

    /// Forgets a key whose cursor was never opened, unless another thread is about to open it.
    fn forget_unopened(&self, key: &Key, known: Known<K>) {
        let mut kept = lock(&self.kept);
        drop(known);
        let unused = kept.get_mut(key).and_then(Arc::get_mut);
        if unused.is_some_and(|known| known.get_mut().unwrap_or_else(PoisonError::into_inner).is_none()) {
            kept.remove(key);
        }
    }

    /// The number of entries, if the registry has a separate table.
    pub fn entries(&self) -> Option<usize> {
        if let Home::Own(table) = &self.home { Some(lock(table).len()) } else { None }
    }

    #[cfg(test)]
    pub(crate) fn sweep(&self, now_ns: i128) {
        if let Home::Own(table) = &self.home {
            lock(table).sweep(now_ns);
        }
    }
}

/// What a panic left behind is as whole as after any other failure.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
