//! One read of every store, in parallel: the seat and all names, each answer a snapshot of its store.

use crate::layout::timescale::LAST_DATE_MS;
use crate::lease::grants::record::Unreadable as Why;
use crate::lease::grants::task::Look;
use crate::lease::quorum::memory::Height;
use crate::lease::quorum::messages::{Event, QuorumError};
use crate::lease::quorum::record::{SEAT, SeatRecord, Vote};
use crate::lease::quorum::stores::List;
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::{Shown, Skewed, Unreadable, View};

/// The longest time to wait for more stores after a majority answered, ms.
const LONGEST_GRACE_MS: i64 = 250;
/// The shortest one.
const SHORTEST_GRACE_MS: i64 = 2;

/// When a collect ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Patience {
    /// with the first majority that agrees. If the first one disagrees, three times as long as so far is left for more.
    Agreement,
    /// as soon as a majority votes and this store has answered; the others have three times as long as that took
    Voters(usize),
    /// as soon as a majority of this list votes, which is one of the list in force too, and its new stores have answered; the
    /// others have three times as long as that took
    Successors(Vec<String>),
    /// with the last answer
    All,
}

/// What an event meant to a collect.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// it is another's
    Foreign,
    /// there is more to come
    Going,
    /// now it has ended
    Ended,
    /// a snapshot came after the end
    Late,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Collect {
    patience: Patience,
    began: i64,
    pending: Vec<Pending>,
    grace: Option<u32>,
    is_over: bool,
    pub view: View,
}

/// A read without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pending {
    call: u32,
    seat: usize,
    height: Option<Height>,
}

impl Collect {
    /// Reads these records of every store.
    pub(super) fn all(names: Vec<String>, patience: Patience, turn: &mut Turn<'_>) -> Self {
        let seats: Vec<_> = (0..turn.size()).collect();
        Self::of(names, &seats, patience, turn)
    }

    /// Reads these records of these stores.
    pub(super) fn of(names: Vec<String>, seats: &[usize], patience: Patience, turn: &mut Turn<'_>) -> Self {
        let wanted: Vec<_> = std::iter::once(SEAT.to_owned()).chain(names.iter().cloned()).collect();
        let pending = seats.iter().map(|&seat| {
            let height = turn.memory.height(turn.group, seat);
            Pending { call: turn.read(seat, wanted.clone()), seat, height }
        });
        let pending = pending.collect();
        let own = List::first(turn.memory.stores().text());
        let view = View { own, names, shown: Vec::new(), skewed: Vec::new(), unreadable: Vec::new() };
        Self { patience, began: turn.now, pending, grace: None, is_over: false, view }
    }

    /// Takes an event of any call of the step.
    pub(super) fn take(&mut self, call: u32, event: &Event, turn: &mut Turn<'_>) -> Result<Seen, QuorumError> {
        if self.grace == Some(call) {
            return self.end_if(true);
        }
        let Some(at) = self.pending.iter().position(|pending| pending.call == call) else { return Ok(Seen::Foreign) };
        let pending = self.pending.swap_remove(at);
        let known = self.view.shown.len();
        if let Event::Look(look) = event {
            match self.absorb(look, &pending, turn) {
                Err(error) if is_of_one_store(&error) => {
                    self.view.unreadable.push(Unreadable { seat: pending.seat, error });
                }
                other => other?,
            }
        }
        if self.is_over {
            return Ok(if self.view.shown.len() > known { Seen::Late } else { Seen::Going });
        }
        let is_complete = self.pending.is_empty();
        let has = |is_it: &dyn Fn(&Shown) -> bool| self.view.shown.iter().any(is_it);
        let is_enough = self.view.era().is_some_and(|era| match &self.patience {
            Patience::Agreement => true,
            Patience::Voters(seat) => has(&|shown| shown.seat == *seat),
            Patience::Successors(to) => {
                let mut coming = to.iter().filter(|label| !self.view.list().has(label));
                coming.all(|label| has(&|shown| shown.label == *label)) && self.view.keeps_majority(era, to)
            }
            Patience::All => false,
        });
        if is_complete || !is_enough {
            return self.end_if(is_complete);
        }
        let agrees = self.patience == Patience::Agreement && self.view.agreed().is_some();
        if !agrees && self.grace.is_none() {
            let more = turn.now.saturating_sub(self.began).saturating_mul(3);
            self.grace = Some(turn.wake(more.clamp(SHORTEST_GRACE_MS, LONGEST_GRACE_MS)));
        }
        self.end_if(agrees)
    }

    /// How long the whole took so far.
    pub(super) fn ms(&self, turn: &Turn<'_>) -> i64 {
        turn.now.saturating_sub(self.began)
    }

    /// Only then the list is known: a store that was away may have an older one.
    fn end_if(&mut self, ends: bool) -> Result<Seen, QuorumError> {
        if self.is_over || !ends {
            return Ok(Seen::Going);
        }
        self.is_over = true;
        self.view.stranger().map_or(Ok(Seen::Ended), Err)
    }

    /// Takes the snapshot of a store.
    fn absorb(&mut self, look: &Look, pending: &Pending, turn: &mut Turn<'_>) -> Result<(), QuorumError> {
        let seat = pending.seat;
        if look.values.len() != self.view.names.len() + 1 {
            return Err(QuorumError::Nonsense { seat, what: "a different number of values than names" });
        }
        if !(0..=LAST_DATE_MS).contains(&look.now) {
            return Err(QuorumError::Nonsense { seat, what: "a time that no clock shows" });
        }
        let ahead = ahead(look);
        let unreadable = |name: &str, why| QuorumError::Record { seat, name: name.to_owned(), why };
        let text = look.values[0].clone();
        let record = text.as_deref().map(SeatRecord::parse).transpose().map_err(|why| unreadable(SEAT, why))?;
        let texts = look.values[1..].to_vec();
        let votes = self
            .view
            .names
            .iter()
            .zip(&texts)
            .map(|(name, text)| text.as_deref().map(Vote::parse).transpose().map_err(|why| unreadable(name, why)));
        let votes = votes.collect::<Result<_, _>>()?;
        if let Some(record) = &record {
            check(seat, record, turn)?;
        }
        let has_fallen = turn.memory.has_fallen(turn.group, seat, look, pending.height.as_ref());
        if ahead.saturating_abs() > turn.bounds.skew_ms {
            self.view.skewed.push(Skewed { seat, ahead });
            return Ok(());
        }
        let is_whole = record.as_ref().is_some_and(|record| record.identity == look.identity) && !has_fallen;
        let (now, identity) = (look.now, look.identity.clone());
        let label = turn.memory.stores().label(seat).to_owned();
        self.view.shown.push(Shown { seat, label, now, ahead, identity, text, record, is_whole, texts, votes });
        Ok(())
    }
}

/// Whether the others can do without this store: damage, or an impossible answer, is no worse than none. A newer version is: it
/// would come to the other stores as well.
fn is_of_one_store(error: &QuorumError) -> bool {
    matches!(error, QuorumError::Record { why: Why::Damaged, .. } | QuorumError::Nonsense { .. })
}

/// How far the store's clock is surely ahead of the client's, or behind it if negative.
fn ahead(look: &Look) -> i64 {
    let (before, after) = look.client;
    if look.now < before { look.now.saturating_sub(before) } else { look.now.saturating_sub(after).max(0) }
}

/// Q1: the store is the one of this label.
fn check(seat: usize, record: &SeatRecord, turn: &Turn<'_>) -> Result<(), QuorumError> {
    if record.label == turn.memory.stores().label(seat) {
        return Ok(());
    }
    Err(QuorumError::Label { seat, theirs: record.label.clone() })
}
