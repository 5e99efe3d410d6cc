//! One cursor for all generators of a process whose IDs could be equal.
//!
//! A key whose cursor is stored elsewhere, or whose node number is leased, has an entry too, because a process that used such
//! a key in two ways would have two cursors. When its leases and their windows are over, the key is free again. An entry is
//! not dropped while a generator holds it, or while the clock could still reach its tick by an ordinary step back.

use std::collections::HashMap;
use std::fmt::Display;

use crate::generator::clock::system_ns;
use crate::generator::entry::{Entry, Head, Held, Home, Table, Visit, scope};
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

/// A lease's hold on its key, while it may generate IDs.
#[derive(Debug)]
pub struct Hold(Held);

impl Hold {
    /// Ends the hold: no more numbers are taken, and none above `last` was ever taken.
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

/// The uses of keys. `K` is what is known about a cursor stored elsewhere; its text is the location.
#[derive(Debug)]
pub struct Registry<K> {
    home: Home,
    kept: HashMap<Key, K>,
}

impl<K> Default for Registry<K> {
    fn default() -> Self {
        Self { home: Home::Own(Table::default()), kept: HashMap::new() }
    }
}

impl<K> Registry<K> {
    /// A registry over the table that the copies of the library in this process share.
    pub fn shared_by(visit: Visit) -> Self {
        Self { home: Home::Process(visit), kept: HashMap::new() }
    }
}

impl<K: Display> Registry<K> {
    /// The cursor of a key in this process, created if there is none. It has no limit, because each generator knows the end
    /// of its layout.
    pub fn plain(&mut self, key: Key) -> Result<Held, Refusal> {
        self.enter(&key, scope::PLAIN, PLAIN)
    }

    /// Reserves a key for a lease until the returned value is dropped. Leases of several groups may have the same key.
    pub fn lease(&mut self, key: Key) -> Result<Hold, Refusal> {
        self.enter(&key, scope::LEASED, LEASED).map(Hold)
    }

    fn enter(&mut self, key: &Key, scope: u64, ours: &str) -> Result<Held, Refusal> {
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
        &mut self,
        key: &Key,
        is_same: impl FnOnce(&K) -> bool,
        ours: impl ToString,
        open: impl FnOnce(Found<'_, K>) -> Result<(T, Option<K>), Refusal>,
    ) -> Result<T, Refusal> {
        let Self { home, kept } = self;
        home.visit(&key.bytes(), |entry| {
            let found = match kept.get(key) {
                Some(known) if is_same(known) => Found::Kept(known),
                Some(known) => return Err(Refusal::Clash { theirs: known.to_string(), ours: ours.to_string() }),
                // Another copy uses the same location, which remembers the numbers of both.
                None if entry.scope() == scope::KEPT && entry.place() == ours.to_string() => Found::Free { first: 0 },
                None => Found::Free { first: entry.freed(key, ours.to_string())? },
            };
            let (opened, known) = open(found)?;
            if let Some(known) = known {
                if entry.scope() != scope::KEPT {
                    entry.keep_at(&known.to_string());
                }
                kept.insert(key.clone(), known);
            }
            Ok(opened)
        })
    }

    /// The number of entries, if the registry has a separate table.
    pub fn entries(&self) -> Option<usize> {
        if let Home::Own(table) = &self.home { Some(table.len()) } else { None }
    }

    #[cfg(test)]
    pub(crate) fn sweep(&mut self, now_ns: i128) {
        if let Home::Own(table) = &mut self.home {
            table.sweep(now_ns);
        }
    }
}

#[cfg(test)]
mod tests;
