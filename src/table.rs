//! The generators of one environment (one JavaScript thread, one load of the module), by index.
//!
//! Generators that share a cursor and its rule share an entry, so a generator that is created per request adds nothing. An
//! entry is dropped when the last JavaScript object that uses it has been collected. Its cursor stays in the process-wide
//! registry.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::any_cursor::AnyCursor;
use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::cursor::{Cursor, LAST, OwnCursor, Rule};
use flakeforge_core::generator::entry::EntryUse;
use flakeforge_core::generator::prefetch::PrefetchRule;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::timescale::Timescale;
use flakeforge_core::layout::{Layout, PlacedNode};
use flakeforge_core::refusal::Refusal;
use slab::Slab;

use crate::tallies::{Tallies, Totals};

/// Two generators with the same identity are the same one: their cursor, what they may take from it and how, what they add to
/// an ID, until when the layout's IDs are exact as floats (layouts with equal IDs for one node may differ for others), and
/// where they are counted.
type Identity = (*const Cursor, Rule, Option<PrefetchRule>, u64, Option<u64>, usize);

struct Entry {
    generator: Generator,
    /// the file of its cursor
    file: Option<Arc<SharedCursor>>,
    users: usize,
    identity: Option<Identity>,
    /// the index of its totals
    tally: usize,
}

#[derive(Default)]
struct Entries {
    slots: Slab<Entry>,
    tallies: Tallies,
    interned: HashMap<Identity, usize>,
}

/// Generators by index.
///
/// The table is neither static nor thread-local, because Jest and `vm` load the module more than once per thread.
#[derive(Default)]
pub struct Table {
    entries: RefCell<Entries>,
}

/// The source of a generator's numbers.
pub enum Origin {
    /// the cursor that the whole process shares, and the system's clock
    Process(EntryUse),
    /// a separate cursor, and a clock that the caller sets before each call
    Given,
    /// a file, and the system's clock
    File(Arc<SharedCursor>),
    /// the cursor of a lease's window, and the system's clock
    Window(Arc<OwnCursor>),
}

impl Origin {
    /// The cursor that generators can share; `None` if a single generator uses it.
    fn shared(&self) -> Option<*const Cursor> {
        match self {
            Self::Process(cursor) => Some(ptr::from_ref::<Cursor>(cursor)),
            Self::File(file) => Some(ptr::from_ref(file.cursor())),
            Self::Given | Self::Window(_) => None,
        }
    }

    fn file(&self) -> Option<Arc<SharedCursor>> {
        if let Self::File(file) = self { Some(file.clone()) } else { None }
    }

    fn parts(self, scale: Timescale) -> (TickClock, AnyCursor) {
        match self {
            Self::Process(cursor) => (TickClock::system(scale), cursor.into()),
            Self::Window(cursor) => (TickClock::system(scale), cursor.into()),
            Self::File(file) => (TickClock::system(scale), file.into()),
            Self::Given => (TickClock::given(scale), Arc::new(OwnCursor::from(Cursor::new(LAST))).into()),
        }
    }
}

impl Table {
    /// The index of a generator for this layout and node number, valid until [`close`](Self::close). `group` is that of the
    /// lease, if any.
    pub fn open(&self, layout: &Layout, node: PlacedNode, knobs: &Knobs, origin: Origin, group: Option<&str>) -> usize {
        let mut entries = self.entries.borrow_mut();
        let tally = entries.tallies.place(layout, group, matches!(origin, Origin::Given));
        let (offset, exact) = (layout.id_offset(), layout.last_exact_tick());
        let identity = origin.shared().map(|cursor| (cursor, knobs.rule(layout), knobs.prefetch, offset, exact, tally));
        let make = || {
            let file = origin.file();
            let (clock, cursor) = origin.parts(layout.scale());
            Entry { generator: Generator::new(clock, cursor, layout, node, knobs), file, users: 1, identity, tally }
        };
        entries.intern(identity, make)
    }

    /// What all generators have done so far, including dropped ones.
    pub fn totals(&self) -> Vec<Totals> {
        let entries = self.entries.borrow();
        entries.tallies.totals(entries.slots.iter().map(|(_, entry)| (entry.tally, &entry.generator)))
    }

    /// Releases an index.
    pub fn close(&self, index: usize) {
        self.entries.borrow_mut().release(index);
    }

    /// What is wrong with the file of a generator, if anything.
    pub fn fault(&self, index: usize) -> Option<Refusal> {
        self.entries.try_borrow().ok()?.slots.get(index)?.file.as_ref()?.fault()
    }

    /// Calls `f` with the generator of an index; `None` if there is none. `f` must not call JavaScript.
    #[inline]
    pub fn with<T>(&self, index: usize, f: impl FnOnce(&mut Generator) -> T) -> Option<T> {
        let mut entries = self.entries.try_borrow_mut().ok()?;
        let entry = entries.slots.get_mut(index)?;
        Some(f(&mut entry.generator))
    }
}

impl Entries {
    fn intern(&mut self, identity: Option<Identity>, make: impl FnOnce() -> Entry) -> usize {
        if let Some(&index) = identity.and_then(|identity| self.interned.get(&identity)) {
            self.slots[index].users += 1;
            return index;
        }
        let index = self.slots.insert(make());
        if let Some(identity) = identity {
            self.interned.insert(identity, index);
        }
        index
    }

    fn release(&mut self, index: usize) {
        let Some(entry) = self.slots.get_mut(index) else { return };
        entry.users -= 1;
        if entry.users > 0 {
            return;
        }
        if let Some(identity) = entry.identity {
            self.interned.remove(&identity);
        }
        let Entry { generator, tally, .. } = self.slots.remove(index);
        self.tallies.dropped(tally, &generator);
    }
}
