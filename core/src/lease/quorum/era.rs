//! Q7: if no era can have a majority of whole votes, and **all** stores answered, a new and empty era starts. Every seat becomes
//! `starts`, in the order of the list, and `votes` once all of them are.
//!
//! The snapshots of one collect are from different moments. One store may have lost its data after another one, which shows that
//! it did, was filled; then there always was a majority. So no seat that votes is overwritten, unless two collects in a row
//! show the same: then all of it was true at one moment.

use std::collections::VecDeque;

use crate::hash::hash;
use crate::lease::grants::record::ServerIdentity;
use crate::lease::quorum::messages::{Event, Note};
use crate::lease::quorum::record::{ERAS, Era, SEAT, SeatRecord, SeatState};
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::{FIRST_EPOCH, Shown, View};

/// A swap of a seat that is still to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Move {
    seat: usize,
    identity: ServerIdentity,
    from: Option<String>,
    to: String,
}

/// The swaps of one attempt. Whatever comes of it, the stores are read again afterwards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Election {
    rest: VecDeque<Move>,
    pending: Vec<u32>,
}

impl Election {
    /// The next attempt. `is_same`: the collect before showed the same seats. `None`: nobody knows yet whether an era has a
    /// majority.
    pub(super) fn begin(view: &View, is_same: bool, turn: &mut Turn<'_>) -> Option<Self> {
        let late: Vec<_> = view.shown.iter().filter(|shown| is_late(shown, view)).collect();
        if !late.is_empty() {
            let rest: VecDeque<_> = late.into_iter().map(|shown| votes(shown, turn)).collect();
            let mut election = Self { rest, pending: Vec::new() };
            while election.send(turn) {}
            return Some(election);
        }
        let has_votes = view.shown.iter().any(|shown| shown.voting().is_some());
        if !view.is_complete() || has_votes && !is_same {
            return None;
        }
        turn.note(Note::Era);
        let mut election = Self { rest: new_era(view, turn), pending: Vec::new() };
        election.send(turn);
        Some(election)
    }

    /// Whether nothing is on its way.
    pub(super) fn is_over(&self) -> bool {
        self.pending.is_empty()
    }

    /// Takes an event of any call of the step. A swap that was not clean ends the attempt.
    pub(super) fn take(&mut self, call: u32, event: &Event, turn: &mut Turn<'_>) {
        let Some(at) = self.pending.iter().position(|pending| *pending == call) else { return };
        self.pending.swap_remove(at);
        if matches!(event, Event::Swapped(true)) {
            self.send(turn);
        } else {
            self.rest.clear();
        }
    }

    /// Sends the next swap, if there is one.
    fn send(&mut self, turn: &mut Turn<'_>) -> bool {
        let Some(Move { seat, identity, from, to }) = self.rest.pop_front() else { return false };
        self.pending.push(turn.swap((seat, &identity), SEAT, from.as_deref(), to));
        true
    }
}

/// Whether a seat still starts while another one of its era votes already: then all of them had started.
fn is_late(shown: &Shown, view: &View) -> bool {
    shown.whole().is_some_and(|seat| {
        seat.state == SeatState::Starts && view.shown.iter().any(|other| other.voting() == Some(seat.era))
    })
}

/// From `starts` to `votes`.
fn votes(shown: &Shown, turn: &mut Turn<'_>) -> Move {
    let to = shown.record.clone().map(|seat| SeatRecord { state: SeatState::Votes, nonce: turn.bits(), ..seat });
    moved(shown, to.map(|seat| seat.text()).unwrap_or_default())
}

fn moved(shown: &Shown, to: String) -> Move {
    Move { seat: shown.seat, identity: shown.identity.clone(), from: shown.text.clone(), to }
}

/// The era is bound to the identities of all stores as they were read, so that a store which lost its data never gets into it.
fn new_era(view: &View, turn: &mut Turn<'_>) -> VecDeque<Move> {
    let list = view.list();
    let mut all: Vec<_> = view.shown.iter().filter(|shown| list.has(&shown.label)).collect();
    all.sort_by_key(|shown| shown.seat);
    let bound = bound(&all);
    let era = begun(&all, bound).unwrap_or_else(|| turn.bits() % ERAS);
    let is_in = |shown: &Shown| shown.whole().is_some_and(|seat| seat.era == era);
    let state = if all.iter().all(|shown| is_in(shown)) { SeatState::Votes } else { SeatState::Starts };
    let waits = |shown: &&&Shown| !(is_in(shown) && shown.whole().is_some_and(|seat| seat.state == state));
    let waiting: Vec<_> = all.iter().filter(waits).collect();
    let moves = waiting.into_iter().map(|shown| {
        let seat = SeatRecord {
            list: list.clone(),
            label: shown.label.clone(),
            era,
            epoch: FIRST_EPOCH,
            state,
            bound,
            at: 0,
            identity: shown.identity.clone(),
            nonce: turn.bits(),
        };
        moved(shown, seat.text())
    });
    moves.collect()
}

/// The era that another client began with these identities.
fn begun(all: &[&Shown], bound: u64) -> Option<Era> {
    let starts = all.iter().filter_map(|shown| shown.whole());
    starts.filter(|seat| seat.state == SeatState::Starts && seat.bound == bound).map(|seat| seat.era).next()
}

fn bound(all: &[&Shown]) -> u64 {
    let identities = all.iter().map(|Shown { identity: ServerIdentity { history, process }, .. }| {
        format!("{}:{history}{}:{process}", history.len(), process.len())
    });
    hash(identities.collect::<String>().as_bytes())
}
