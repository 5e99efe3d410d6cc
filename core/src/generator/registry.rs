//! One cursor for all generators of a process whose IDs could be equal.
//!
//! The bits decide what "could be equal" means: epoch, tick length, field positions and the node bits.
//! Names and `seqMask` do not matter: two generators that differ only there can still make the same ID.
//! An entry outlives its generators, so a generator that is made for each request goes on where the last
//! one stopped.
//!
//! A key whose cursor is kept elsewhere, or whose node number is leased, has an entry too: if one process used such a key
//! in two ways, it would have two cursors. When its leases and their windows are over, the key is free again.
//!
//! This file must never drop an entry that a generator holds, or one whose tick the clock could still
//! reach by an ordinary step back.

use std::collections::HashMap;
use std::fmt::Display;

use crate::generator::clock::system_ns;
use crate::generator::cursor::{Cursor, LAST, OwnCursor};
use crate::layout::timescale::{NS_PER_MS, Timescale};
use crate::layout::{Layout, Packing, PlacedNode};
use crate::refusal::Refusal;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// With this many entries, those that nobody holds are looked through. All nodes of all dialects are far fewer.
const MANY: usize = 1 << 16;

/// How long ago the tick of a dropped entry must have ended: longer than any usual step back of a clock.
pub(crate) const LONG_PAST_NS: i128 = 24 * 3_600 * 1_000_000_000;

/// What decides whether two generators could make equal IDs.
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

    /// What the bits mean, as text: this says what a file is made for.
    pub fn fingerprint(&self) -> String {
        format!("{}, node {:#x}", self.group_fingerprint(), self.node.bits())
    }

    /// The same without the node, for groups that distribute the node numbers.
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

    /// Width of the counter in its numbers.
    pub(crate) fn counter_bits(&self) -> u32 {
        self.packing.counter_bits()
    }

    /// When the tick of a number begins, Unix nanoseconds.
    fn start_of(&self, number: u64) -> i128 {
        self.scale().start_of(number >> self.counter_bits())
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

/// Where the cursor of a key is. If a process once used a key in one way, it does not use it in another as long as only
/// the first way knows the earlier numbers.
#[derive(Debug)]
enum Scope<K> {
    /// in this process; it stays when its generators are gone
    Plain(Arc<OwnCursor>),
    /// kept elsewhere, where it is remembered
    Kept(K),
    /// with leases, each of which has its own cursor
    Leased(Arc<Above>),
}

/// The first number above all that the finished leases of a key may have made.
type Above = AtomicU64;

/// A lease's hold on its key, while it may make numbers.
#[derive(Debug)]
pub struct Hold(Arc<Above>);

impl Hold {
    /// Ends the hold: no more numbers are made, and none above `last` was ever made.
    pub fn end(self, last: u64) {
        self.0.fetch_max(last.saturating_add(1), Relaxed);
    }
}

impl<K: Display> Scope<K> {
    /// The first number above all that were given; `None` if somebody may still take some, or a file knows the last.
    ///
    /// `Arc::get_mut` also says that we see what those who held it did before they let go. `Arc::strong_count` says nothing
    /// of that kind.
    fn first_unused(&mut self) -> Option<u64> {
        match self {
            Self::Plain(cursor) => Arc::get_mut(cursor).map(|cursor| cursor.next()),
            Self::Leased(above) => Arc::get_mut(above).map(|above| above.load(Relaxed)),
            Self::Kept(_) => None,
        }
    }

    /// The first number that another kind of use may take, if the key is free for it: nobody holds it, and it never
    /// gave a number, or the windows of its leases are over.
    fn free_from(&mut self, key: &Key, now_ns: i128) -> Option<u64> {
        let first = self.first_unused()?;
        let is_free = match self {
            Self::Leased(_) => key.start_of(first) <= now_ns,
            _ => first == 0,
        };
        is_free.then_some(first)
    }

    fn clash(&self, ours: impl ToString) -> Refusal {
        let theirs = match self {
            Self::Plain(_) => PLAIN.to_owned(),
            Self::Kept(known) => known.to_string(),
            Self::Leased(_) => LEASED.to_owned(),
        };
        Refusal::Clash { theirs, ours: ours.to_string() }
    }
}

pub(crate) const PLAIN: &str = "a cursor of its own";
pub(crate) const LEASED: &str = "a lease";

/// What the registry knows of a key for a cursor that is kept elsewhere.
pub(crate) enum Found<'a, K> {
    /// where it is kept
    Kept(&'a K),
    /// nobody uses the key, and no number from `first` on was ever given
    Free { first: u64 },
}

/// A map from keys to cursors. `K` is what is known of a cursor that is kept elsewhere; its text says where.
#[derive(Debug)]
pub struct Registry<K> {
    scopes: HashMap<Key, Scope<K>>,
    swept_at: usize,
}

impl<K> Default for Registry<K> {
    fn default() -> Self {
        Self { scopes: HashMap::new(), swept_at: 0 }
    }
}

impl<K: Display> Registry<K> {
    /// The cursor of a key in this process; a new one if there is none. It has no limit, because each generator knows
    /// the end of its layout.
    pub fn plain(&mut self, key: Key) -> Result<Arc<OwnCursor>, Refusal> {
        let first = match self.in_use(&key) {
            Some(Scope::Plain(cursor)) => return Ok(cursor.clone()),
            Some(other) => other.free_from(&key, system_ns()).ok_or_else(|| other.clash(PLAIN))?,
            None => 0,
        };
        let cursor = Arc::new(OwnCursor::from(Cursor::window(first, LAST)));
        self.scopes.insert(key, Scope::Plain(cursor.clone()));
        Ok(cursor)
    }

    /// What is known of the cursor of a key that is kept elsewhere, or that there is none yet. `is_same` says whether it
    /// is the one that is meant, and `ours` where that one is.
    pub(crate) fn find_kept(
        &mut self,
        key: &Key,
        is_same: impl FnOnce(&K) -> bool,
        ours: impl ToString,
    ) -> Result<Found<'_, K>, Refusal> {
        let Some(scope) = self.in_use(key) else { return Ok(Found::Free { first: 0 }) };
        if let Some(first) = scope.free_from(key, system_ns()) {
            return Ok(Found::Free { first });
        }
        match &*scope {
            Scope::Kept(known) if is_same(known) => Ok(Found::Kept(known)),
            other => Err(other.clash(ours)),
        }
    }

    /// From here on, the cursor of this key is kept elsewhere. Call this only for what [`find_kept`](Self::find_kept)
    /// allowed.
    pub(crate) fn keep(&mut self, key: Key, known: K) {
        self.scopes.insert(key, Scope::Kept(known));
    }

    /// Reserves a key for a lease until the returned value is dropped. Leases of several groups may have the same key.
    pub fn lease(&mut self, key: Key) -> Result<Hold, Refusal> {
        match self.in_use(&key) {
            Some(Scope::Leased(above)) => return Ok(Hold(above.clone())),
            Some(other) => _ = other.free_from(&key, system_ns()).ok_or_else(|| other.clash(LEASED))?,
            None => {}
        }
        let above = Arc::new(Above::new(0));
        self.scopes.insert(key, Scope::Leased(above.clone()));
        Ok(Hold(above))
    }

    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.scopes.len()
    }

    fn in_use(&mut self, key: &Key) -> Option<&mut Scope<K>> {
        if self.scopes.len() >= MANY.max(self.swept_at * 2) {
            self.sweep(system_ns());
        }
        self.scopes.get_mut(key)
    }

    pub(crate) fn sweep(&mut self, now_ns: i128) {
        // There are no more kept ones than nodes, and only what their entries name knows the last ID.
        self.scopes
            .retain(|key, scope| scope.first_unused().is_none_or(|first| key.start_of(first) > now_ns - LONG_PAST_NS));
        self.swept_at = self.scopes.len();
    }
}

#[cfg(test)]
mod tests;
