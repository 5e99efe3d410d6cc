//! Q9: another list, in which one store is replaced, or which grows from three to five. It has happened when, in this order:
//!
//! 1. **Agreed.** The stores of the old list agree on the new one, as on the value of any record. So of two changes one wins.
//! 2. **Written.** The new list is written to the seats of a majority of both lists. From then on no member that reads one of
//!    them counts a store that was replaced.
//! 3. **Filled** (Q6). A new store votes after that: every name got a new round on a majority whose seats have the new list.
//!
//! Every majority of the old list has a store of the one that was filled from, which either had the promise of a round before
//! step 3 and ended it, or shows the new list to whoever checks that promise. So a store that was replaced and lives on makes
//! no majority with a member that has not heard of the change.
//!
//! A change that was interrupted counts nothing, or is carried on by whoever asks for the same one. Another one is refused
//! until then.

use std::collections::BTreeSet;

use crate::lease::grants::record::ServerIdentity;
use crate::lease::grants::task::Swap;
use crate::lease::quorum::collect::{Collect, Patience, Seen};
use crate::lease::quorum::messages::{Answer, Event, How, QuorumError, Whole};
use crate::lease::quorum::read::{Read, missing};
use crate::lease::quorum::record::{LIST, SEAT, SeatRecord};
use crate::lease::quorum::stores::List;
use crate::lease::quorum::swap::Swapping;
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::{Shown, View};

/// The longest pause before the seats are read again, ms.
const LONGEST_PAUSE_MS: i64 = 100;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Change {
    to: Vec<String>,
    at: At,
    /// what was agreed on
    list: Option<List>,
    shown: Option<View>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Begun,
    /// every store, also those that are new
    Looking(Collect),
    /// the list that was agreed on
    Reading(Read),
    /// the seats, to write the list to
    Finding(Collect),
    Writing(BTreeSet<u32>),
    Pausing(u32),
    Deciding(Swapping),
    Over,
}

impl Change {
    pub(super) fn new(to: Vec<String>) -> Self {
        Self { to, at: At::Begun, list: None, shown: None }
    }

    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        self.at = At::Looking(Collect::all(Vec::new(), Patience::Successors(self.to.clone()), turn));
        None
    }

    pub(super) fn view(&self) -> Option<&View> {
        self.shown.as_ref()
    }

    pub(super) fn take(&mut self, call: u32, event: Event, turn: &mut Turn<'_>) -> Option<Answer> {
        let answer = self.go(call, event, turn).unwrap_or_else(|error| Some(Answer::Refused(error)));
        if answer.is_some() {
            self.at = At::Over;
        }
        answer
    }

    fn go(&mut self, call: u32, event: Event, turn: &mut Turn<'_>) -> Result<Option<Answer>, QuorumError> {
        match &mut self.at {
            At::Looking(collect) => {
                if collect.take(call, &event, turn)? == Seen::Ended {
                    let view = collect.view.clone();
                    self.look(view, turn)?;
                }
                Ok(None)
            }
            At::Reading(read) => match read.take(call, event, turn) {
                Some(Answer::Read(whole)) => self.decide(&whole, turn),
                other => Ok(other),
            },
            At::Deciding(swap) => {
                match swap.take(call, event, turn) {
                    Some(Answer::Swapped(true)) => self.find(turn),
                    None => {}
                    Some(_) if turn.is_late() => return Err(QuorumError::Torn),
                    Some(_) => self.read(turn), // which tells what was agreed on
                }
                Ok(None)
            }
            At::Finding(collect) => {
                if collect.take(call, &event, turn)? == Seen::Ended {
                    let view = collect.view.clone();
                    return self.write(&view, turn);
                }
                Ok(None)
            }
            At::Writing(calls) => {
                // A list that was written counts as soon as it is seen.
                if calls.remove(&call) && calls.is_empty() {
                    self.find(turn);
                }
                Ok(None)
            }
            At::Pausing(timer) => {
                if *timer == call {
                    self.find(turn);
                }
                Ok(None)
            }
            At::Begun | At::Over => Ok(None),
        }
    }

    /// Before anything is changed: whether the stores that are to come answer.
    fn look(&mut self, view: View, turn: &mut Turn<'_>) -> Result<(), QuorumError> {
        let stores = turn.memory.stores();
        let is_missing = |seat: &usize| {
            let label = stores.label(*seat);
            self.to.iter().any(|wanted| wanted == label)
                && !view.list().has(label)
                && view.shown.iter().all(|shown| shown.seat != *seat)
        };
        if let Some(seat) = (0..turn.size()).find(is_missing) {
            return Err(QuorumError::Newcomer { seat });
        }
        self.shown = Some(view);
        self.read(turn);
        Ok(())
    }

    fn read(&mut self, turn: &mut Turn<'_>) {
        let mut read = Read::new(vec![LIST.to_owned()], How::ReadExisting);
        read.begin(turn);
        self.at = At::Reading(read);
    }

    /// Step 1, or what is left of it.
    fn decide(&mut self, whole: &Whole, turn: &mut Turn<'_>) -> Result<Option<Answer>, QuorumError> {
        let At::Reading(read) = &self.at else { return Ok(None) };
        let Some(view) = read.view().cloned() else { return Ok(None) };
        let Some(era) = view.era() else { return Err(missing(&view, turn)) };
        let unreadable = |why| QuorumError::Record { seat: 0, name: LIST.to_owned(), why };
        let agreed = whole.values[0].as_deref().map(List::parse).transpose().map_err(unreadable)?;
        // A new era has forgotten the record, but not its seats' list.
        let list = agreed.filter(|agreed| agreed.generation >= view.list().generation);
        let list = list.unwrap_or_else(|| view.list().clone());
        let is_written = view.voters(era).filter(|shown| has(shown, &list)).count() >= list.majority();
        self.list = Some(list.clone());
        if list.is_of(&self.to) || !is_written && list.labels == turn.memory.stores().text() {
            self.find(turn);
            return Ok(None);
        }
        if list.labels != turn.memory.stores().text() {
            let seat = view.shown.first().map_or(0, |shown| shown.seat);
            return Err(QuorumError::List { seat, theirs: list.labels });
        }
        let next = list.next(&self.to).ok_or(QuorumError::Change)?;
        // A read ends with the first majority; those that answer later stay too.
        let looked = self.shown.as_ref().unwrap_or(&view);
        if !looked.keeps_majority(era, &self.to) {
            return Err(QuorumError::NoMajority { answered: looked.staying(era, &self.to) });
        }
        let (from, to) = (whole.values[0].clone(), next.text());
        let identity = ServerIdentity { history: whole.history.clone(), process: String::new() };
        self.list = Some(next);
        let mut swap = Swapping::new(Swap { name: LIST.to_owned(), from, to, identity });
        let answer = swap.begin(turn);
        self.at = At::Deciding(swap);
        match answer {
            Some(Answer::Swapped(true)) => self.find(turn),
            Some(Answer::Swapped(false)) => self.at = At::Pausing(turn.pause(LONGEST_PAUSE_MS)),
            other => return Ok(other),
        }
        Ok(None)
    }

    /// A majority is enough: the store that is replaced may be gone, and any other that does not answer gets the list from whoever
    /// meets it next.
    fn find(&mut self, turn: &mut Turn<'_>) {
        let to = self.list.iter().flat_map(|list| list.labels.split(' ')).map(str::to_owned).collect();
        self.at = At::Finding(Collect::all(Vec::new(), Patience::Successors(to), turn));
    }

    /// Step 2: on all stores of the old list that vote and answer, which are at least a majority of each list. The one that is
    /// replaced may be the last that tells a member with the old list of the new one.
    fn write(&mut self, view: &View, turn: &mut Turn<'_>) -> Result<Option<Answer>, QuorumError> {
        let Some(list) = self.list.clone() else { return Ok(None) };
        self.shown = Some(view.clone());
        let era = view.era();
        let voters: Vec<_> = era.into_iter().flat_map(|era| view.voters(era)).collect();
        if view.list().generation > list.generation {
            self.read(turn);
            return Ok(None);
        }
        let written = voters.iter().filter(|shown| has(shown, &list)).count();
        let waiting: Vec<_> = voters.into_iter().filter(|shown| !has(shown, &list)).collect();
        if written >= list.majority() && waiting.is_empty() {
            if list.is_of(&self.to) {
                return Ok(Some(Answer::Changed));
            }
            self.read(turn);
            return Ok(None);
        }
        if turn.is_late() {
            return Err(missing(view, turn));
        }
        let swaps = waiting.into_iter().filter_map(|shown| {
            let to = SeatRecord { list: list.clone(), nonce: turn.bits(), ..shown.record.clone()? };
            Some(turn.swap((shown.seat, &shown.identity), SEAT, shown.text.as_deref(), to.text()))
        });
        let calls: BTreeSet<_> = swaps.collect();
        self.at = if calls.is_empty() { At::Pausing(turn.pause(LONGEST_PAUSE_MS)) } else { At::Writing(calls) };
        Ok(None)
    }
}

/// Whether the seat has this list.
fn has(shown: &Shown, list: &List) -> bool {
    shown.record.as_ref().is_some_and(|seat| seat.list == *list)
}
