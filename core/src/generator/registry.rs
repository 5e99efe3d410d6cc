//! One cursor for all generators of a process whose IDs could be equal.
//!
//! The bits decide what "could be equal" means: epoch, tick length, field positions and the node bits.
//! Names and `seqMask` do not matter: two generators that differ only there can still make the same ID.
//! An entry outlives its generators, so a generator that is made for each request goes on where the last
//! one stopped.
//!
//! A key whose cursor is in a file, or whose node number is leased, has an entry too: if one process used such a key in
//! two ways, it would have two cursors. When its leases and their windows are over, the key is free again.
//!
//! This file must never drop an entry that a generator holds, or one whose tick the clock could still
//! reach by an ordinary step back.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use crate::files::error::FileError;
use crate::files::named_file::{Identity, is_there};
use crate::files::shared::SharedCursor;
use crate::generator::clock::system_ns;
use crate::generator::cursor::{Cursor, LAST, OwnCursor};
use crate::layout::timescale::{NS_PER_MS, Timescale};
use crate::layout::{Layout, Packing};

/// With this many entries, those that nobody holds are looked through. All nodes of all dialects are far fewer.
const MANY: usize = 1 << 16;

/// How long ago the tick of a dropped entry must have ended: longer than any usual step back of a clock.
const LONG_PAST_NS: i128 = 24 * 3_600 * 1_000_000_000;

/// What decides whether two generators could make equal IDs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    epoch_ms: i64,
    tick_ns: u64,
    packing: Packing,
    node: u64,
}

impl Key {
    /// The key of a layout and a node number already [placed](Layout::place_node).
    pub fn new(layout: &Layout, node: u64) -> Self {
        let Timescale { epoch_ms, tick_ns, .. } = layout.scale;
        Self { epoch_ms, tick_ns, packing: layout.packing, node }
    }

    /// What the bits mean, as text: this says what a file is made for.
    pub fn fingerprint(&self) -> String {
        format!("{}, node {:#x}", self.group_fingerprint(), self.node)
    }

    /// The same without the node, for groups that distribute the node numbers.
    pub fn group_fingerprint(&self) -> String {
        let tick_ms = self.tick_ns as f64 / NS_PER_MS as f64;
        let fields = match self.packing {
            Packing::Bits { tick, counter, reversed } => {
                let order = if reversed { "reversed " } else { "" };
                let timestamp = format!("timestamp {order}{} bits at {}", tick.width, tick.shift);
                match counter.width {
                    0 => format!("{timestamp}, no counter"),
                    width => format!("{timestamp}, counter {width} bits at {}", counter.shift),
                }
            }
            Packing::Decimal => "decimal".to_owned(),
        };
        format!("epoch {}, tick {tick_ms} ms, {fields}", self.epoch_ms)
    }

    fn scale(&self) -> Timescale {
        Timescale::of_all_ticks(self.epoch_ms, self.tick_ns)
    }

    /// When the tick of a number begins, Unix nanoseconds.
    fn start_of(&self, number: u64) -> i128 {
        self.scale().start_of(number >> self.packing.counter_bits())
    }
}

/// Two users of one key that could make equal IDs, since they do not share a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// how the key is already used in this process
    pub theirs: String,
    /// how it was going to be used
    pub ours: String,
}

/// Why there is no shared cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotShared {
    /// the key is used in another way
    Clash(Clash),
    /// the file cannot be used
    File(FileError),
}

/// Where the cursor of a key is. If a process once used a key in one way, it does not use it in another as long as only
/// the first way knows the earlier numbers.
#[derive(Debug)]
enum Scope {
    /// in this process; it stays when its generators are gone
    Plain(Arc<OwnCursor>),
    /// in a file, which remembers it
    Shared { file: Weak<SharedCursor>, path: PathBuf, identity: Identity },
    /// with leases, each of which has its own cursor
    Leased(Arc<Above>),
}

/// The first number above all that the finished leases of a key may have made.
type Above = AtomicU64;

/// A lease's hold on its key, while it may make numbers.
#[derive(Debug)]
pub struct Held(Arc<Above>);

impl Held {
    /// Ends the hold: no more numbers are made, and none above `last` was ever made.
    pub fn end(self, last: u64) {
        self.0.fetch_max(last.saturating_add(1), Relaxed);
    }
}

impl Scope {
    /// The first number that another kind of use may take, if the key is free for it: nobody holds it, and it never
    /// gave a number, or the windows of its leases are over.
    fn free_from(&self, key: &Key, now_ns: i128) -> Option<u64> {
        match self {
            Self::Plain(cursor) if Arc::strong_count(cursor) == 1 && cursor.next() == 0 => Some(0),
            Self::Leased(above) if Arc::strong_count(above) == 1 => {
                Some(above.load(Relaxed)).filter(|above| key.start_of(*above) <= now_ns)
            }
            _ => None,
        }
    }

    fn clash(&self, ours: String) -> Clash {
        let theirs = match self {
            Self::Plain(_) => PLAIN.to_owned(),
            Self::Shared { path, .. } => in_file(path),
            Self::Leased(_) => LEASED.to_owned(),
        };
        Clash { theirs, ours }
    }
}

const PLAIN: &str = "a cursor of its own";
const LEASED: &str = "a lease";

fn in_file(path: &Path) -> String {
    format!("the file {}", path.display())
}

/// A map from keys to cursors.
#[derive(Debug, Default)]
pub struct Registry {
    scopes: HashMap<Key, Scope>,
    swept_at: usize,
}

impl Registry {
    /// The cursor of a key in this process; a new one if there is none. It has no limit, because each generator knows
    /// the end of its layout.
    pub fn plain(&mut self, key: Key) -> Result<Arc<OwnCursor>, Clash> {
        let first = match self.in_use(&key) {
            Some(Scope::Plain(cursor)) => return Ok(cursor.clone()),
            Some(other) => other.free_from(&key, system_ns()).ok_or_else(|| other.clash(PLAIN.to_owned()))?,
            None => 0,
        };
        let cursor = Arc::new(OwnCursor::from(Cursor::window(first, LAST)));
        self.scopes.insert(key, Scope::Plain(cursor.clone()));
        Ok(cursor)
    }

    /// The cursor of a key in that file.
    pub fn shared(&mut self, key: Key, path: &Path) -> Result<Arc<SharedCursor>, NotShared> {
        let (mut before, mut first) = (None, 0);
        match self.in_use(&key) {
            Some(Scope::Shared { file, path: known, identity }) if known == path || is_there(path, *identity) => {
                before = file.upgrade();
            }
            Some(other) => {
                let clash = || NotShared::Clash(other.clash(in_file(path)));
                first = other.free_from(&key, system_ns()).ok_or_else(clash)?;
            }
            None => {}
        }
        if let Some(file) = &before {
            file.look(); // it may have been removed
            if !file.is_ended() {
                return Ok(file.clone());
            }
        }
        let (scale, counter_bits) = (key.scale(), key.packing.counter_bits());
        let file = SharedCursor::open(path, scale, counter_bits, &key.fingerprint()).map_err(NotShared::File)?;
        let first = before.map_or(first, |before| before.next());
        if first > 0 {
            file.go_on_at(first).map_err(NotShared::File)?; // so that no number is given again
        }
        let (weak, path, identity) = (Arc::downgrade(&file), file.path().to_owned(), file.identity());
        self.scopes.insert(key, Scope::Shared { file: weak, path, identity });
        Ok(file)
    }

    /// Reserves a key for a lease until the returned value is dropped. Leases of several groups may have the same key.
    pub fn lease(&mut self, key: Key) -> Result<Held, Clash> {
        match self.in_use(&key) {
            Some(Scope::Leased(above)) => return Ok(Held(above.clone())),
            Some(other) if other.free_from(&key, system_ns()).is_none() => return Err(other.clash(LEASED.to_owned())),
            _ => {}
        }
        let above = Arc::new(Above::new(0));
        self.scopes.insert(key, Scope::Leased(above.clone()));
        Ok(Held(above))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.scopes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    fn in_use(&mut self, key: &Key) -> Option<&Scope> {
        if self.scopes.len() >= MANY.max(self.swept_at * 2) {
            self.sweep(system_ns());
        }
        self.scopes.get(key)
    }

    fn sweep(&mut self, now_ns: i128) {
        self.scopes.retain(|key, scope| match scope {
            Scope::Plain(cursor) => {
                Arc::strong_count(cursor) > 1 || key.start_of(cursor.next()) > now_ns - LONG_PAST_NS
            }
            Scope::Leased(above) => {
                Arc::strong_count(above) > 1 || key.start_of(above.load(Relaxed)) > now_ns - LONG_PAST_NS
            }
            // There are no more of these than nodes. Only this entry's file knows its last ID, even when nobody has it
            // open.
            Scope::Shared { .. } => true,
        });
        self.swept_at = self.scopes.len();
    }
}

static PROCESS: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

/// The registry of this process, for every thread that loaded this copy of the library.
pub fn process() -> MutexGuard<'static, Registry> {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name of this copy of the library within the process: another copy has another registry and another name.
pub fn name() -> String {
    format!("{:p}", &raw const PROCESS)
}

#[cfg(test)]
mod tests;
