//! What one client remembers from step to step. All of it may be forgotten at any time: then a step sends more messages.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::lease::grants::task::Look;
use crate::lease::quorum::ballot::Ballot;
use crate::lease::quorum::record::Era;
use crate::lease::quorum::stores::Stores;
use crate::lease::quorum::view::{Shown, View};

/// The largest number of reserved ballots. A holder has one for its slot.
const MOST_RESERVED: usize = 10_000;
/// The largest number of views, and of the names in all of them.
const MOST_VIEWS: usize = 64;
const MOST_NAMES: usize = 4_096;
/// A client begins a fill of one seat once in this time, and up to as long again, ms.
const FILL_MS: i64 = 3_000;

/// The memory of one client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Memory {
    stores: Arc<Stores>,
    /// by group and name: the ballot that the last write made a majority promise, for this client's next one (Q3)
    reserved: BTreeMap<(String, String), Ballot>,
    /// the last reads, the newest last
    views: VecDeque<Kept>,
    /// the number of the next read
    next: u64,
    /// by group and seat: when the next fill may begin
    fills: BTreeMap<(String, usize), i64>,
    /// by group and seat: the highest position, in stores that have one
    heights: BTreeMap<(String, usize), Height>,
}

/// A read whose texts the next swap may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kept {
    number: u64,
    group: String,
    view: View,
}

/// The highest position of a history, and the seat's text at the time of a fall.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Height {
    history: String,
    position: u64,
    fallen: Option<String>,
}

impl Memory {
    /// Remembers nothing yet.
    pub fn new(stores: Stores) -> Self {
        Self {
            stores: Arc::new(stores),
            reserved: BTreeMap::new(),
            views: VecDeque::new(),
            next: 0,
            fills: BTreeMap::new(),
            heights: BTreeMap::new(),
        }
    }

    /// The list of stores.
    pub fn stores(&self) -> &Stores {
        &self.stores
    }

    /// Takes the ballot that is reserved for this record: it is used once, whatever comes of it.
    pub(super) fn take_reserved(&mut self, group: &str, name: &str) -> Option<Ballot> {
        self.reserved.remove(&(group.to_owned(), name.to_owned()))
    }

    /// Keeps the ballot that a majority promised for this client's next write.
    pub(super) fn reserve(&mut self, group: &str, name: &str, ballot: Ballot) {
        self.reserved.insert((group.to_owned(), name.to_owned()), ballot);
        if self.reserved.len() > MOST_RESERVED {
            self.reserved.pop_first();
        }
    }

    /// Keeps a view, for the swap after this read. Returns its number, for late answers.
    pub(super) fn keep(&mut self, group: &str, view: View) -> u64 {
        let number = self.next;
        self.next += 1;
        self.views.push_back(Kept { number, group: group.to_owned(), view });
        let names = |views: &VecDeque<Kept>| views.iter().map(|kept| kept.view.names.len()).sum::<usize>();
        while self.views.len() > MOST_VIEWS || self.views.len() > 1 && names(&self.views) > MOST_NAMES {
            self.views.pop_front();
        }
        number
    }

    /// A late answer to the read of this number.
    pub(super) fn add(&mut self, number: u64, shown: Shown) {
        if let Some(kept) = self.views.iter_mut().find(|kept| kept.number == number) {
            kept.view.shown.push(shown);
        }
    }

    /// Takes the newest view in which this record of this era has this value, for one swap.
    pub(super) fn take_view(&mut self, group: &str, name: &str, from: Option<&str>, era: Era) -> Option<View> {
        let of = |kept: &Kept| {
            let name = kept.view.names.iter().position(|known| known == name).filter(|_| kept.group == group)?;
            let is_same = kept.view.era() == Some(era) && kept.view.agreed()?.values[name] == from;
            is_same.then_some(name)
        };
        let (at, name) = self.views.iter().enumerate().rev().find_map(|(at, kept)| Some((at, of(kept)?)))?;
        Some(self.views.remove(at)?.view.only(name))
    }

    /// Whether this client may begin a fill of this seat now. The time to the next one is partly random (`bits`): two clients
    /// whose fills ended each other do not meet again and again.
    pub(super) fn begin_fill(&mut self, group: &str, seat: usize, now: i64, bits: u64) -> bool {
        let next = self.fills.entry((group.to_owned(), seat)).or_insert(i64::MIN);
        let is_due = now >= *next;
        if is_due {
            let more = (bits % FILL_MS.unsigned_abs()).cast_signed();
            *next = now.saturating_add(FILL_MS).saturating_add(more);
        }
        is_due
    }

    /// The highest known position of a store, for a read that is sent now.
    pub(super) fn height(&self, group: &str, seat: usize) -> Option<Height> {
        self.heights.get(&(group.to_owned(), seat)).cloned()
    }

    /// Q5: whether this client saw the store's position fall, and the seat has not been written since. `sent`: what was known
    /// when the read was sent; a read that was on its way for longer shows an older position without a fall.
    pub(super) fn has_fallen(&mut self, group: &str, seat: usize, look: &Look, sent: Option<&Height>) -> bool {
        let Some(position) = look.position else { return false };
        let history = &look.identity.history;
        let text = look.values.first().cloned().flatten();
        let falls = sent.is_some_and(|sent| sent.history == *history && position < sent.position);
        let known = self.heights.get(&(group.to_owned(), seat)).filter(|known| known.history == *history);
        let fallen = if falls { text.clone() } else { known.and_then(|known| known.fallen.clone()) };
        let highest = if falls { position } else { known.map_or(position, |known| known.position.max(position)) };
        let is_absent = fallen.is_some() && fallen == text;
        let height = Height { history: history.clone(), position: highest, fallen };
        self.heights.insert((group.to_owned(), seat), height);
        is_absent
    }
}
