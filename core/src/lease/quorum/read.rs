//! Q4: a snapshot of the whole. What a client left unfinished is completed on the way.

use std::collections::BTreeMap;

use crate::lease::grants::record::ServerIdentity;
use crate::lease::quorum::ballot::Ballot;
use crate::lease::quorum::collect::{Collect, Patience, Seen};
use crate::lease::quorum::era::Election;
use crate::lease::quorum::messages::{Answer, Event, How, Note, QuorumError, Whole};
use crate::lease::quorum::record::Era;
use crate::lease::quorum::round::{About, Goal, Round};
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::{Shown, Skewed, Unreadable, View};

/// From this number of names on, a snapshot that was torn twice may show each name together with the group's record only.
const LONG: usize = 64;
/// The attempts that a long one makes before that.
const LONG_ATTEMPTS: u32 = 2;
/// The longest pause before another attempt at an era, ms.
const LONGEST_ERA_PAUSE_MS: i64 = 100;
/// A pause is at most so many times as long as a collect took.
const LONGEST_PAUSE: i64 = 4;

/// The name of an era as the identity of the whole (Q8). It outlives the loss of a minority.
pub(super) fn history(era: Era) -> String {
    format!("quorum-{era:010x}")
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Read {
    names: Vec<String>,
    how: How,
    attempt: u32,
    at: At,
    /// the collect of this attempt, which may still get late answers
    collect: Option<Collect>,
    /// the number of the view that the memory keeps for the next swap
    kept: Option<u64>,
    /// the seats of the last attempt, if no era had a majority
    seats: Vec<Seat>,
    /// the torn names of the last attempt, with the highest ballots
    torn: BTreeMap<usize, [Option<Ballot>; 2]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Collecting,
    Electing(Election),
    Completing(Vec<Round>),
    Pausing(u32),
    Over,
}

impl Read {
    pub(super) fn new(names: Vec<String>, how: How) -> Self {
        let (seats, torn) = (Vec::new(), BTreeMap::new());
        Self { names, how, attempt: 0, at: At::Collecting, collect: None, kept: None, seats, torn }
    }

    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        self.collect(turn);
        None
    }

    pub(super) fn view(&self) -> Option<&View> {
        self.collect.as_ref().map(|collect| &collect.view)
    }

    pub(super) fn take(&mut self, call: u32, event: Event, turn: &mut Turn<'_>) -> Option<Answer> {
        match self.collect.as_mut()?.take(call, &event, turn) {
            Err(error) => return Some(Answer::Refused(error)),
            Ok(Seen::Ended) => return self.decide(turn),
            Ok(Seen::Late) => self.late(turn),
            Ok(Seen::Foreign | Seen::Going) => {}
        }
        match &mut self.at {
            At::Electing(election) => {
                election.take(call, &event, turn);
                if election.is_over() {
                    self.again(turn);
                }
            }
            At::Completing(rounds) => {
                rounds.retain_mut(|round| round.take(call, &event, turn).is_none());
                if rounds.is_empty() {
                    self.pause(turn);
                }
            }
            At::Pausing(timer) if *timer == call => self.again(turn),
            At::Collecting | At::Pausing(_) | At::Over => {}
        }
        None
    }

    fn collect(&mut self, turn: &mut Turn<'_>) {
        self.at = At::Collecting;
        self.collect = Some(Collect::all(self.names.clone(), Patience::Agreement, turn));
    }

    fn again(&mut self, turn: &mut Turn<'_>) {
        self.attempt += 1;
        self.collect(turn);
    }

    /// What the snapshots of this attempt lead to.
    fn decide(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        let view = self.collect.as_ref()?.view.clone();
        let Some(era) = view.era() else { return self.without_era(&view, turn) };
        view.shown.iter().for_each(|shown| self.care(shown, &view, era, turn));
        let is_long = self.names.len() > LONG;
        let is_patient = is_long && self.attempt < LONG_ATTEMPTS;
        let agreed = view.agreed().or_else(|| view.agreed_in_pairs().filter(|_| is_long && !is_patient));
        if let Some(agreed) = agreed {
            let values = agreed.values.iter().map(|value| value.map(str::to_owned)).collect();
            let whole = Whole { now: agreed.now, history: history(agreed.era), values };
            return self.done(view.clone(), whole, turn);
        }
        turn.note(Note::Torn);
        if turn.is_late() {
            return Some(Answer::Refused(QuorumError::Torn));
        }
        self.complete(&view, era, is_patient, turn)
    }

    fn done(&mut self, view: View, whole: Whole, turn: &mut Turn<'_>) -> Option<Answer> {
        self.at = At::Over;
        self.kept = Some(turn.memory.keep(turn.group, view));
        Some(Answer::Read(whole))
    }

    /// Completes what is torn and has not moved since the last attempt: a writer that is at work needs no help. A value that
    /// fewer than a majority show is never answered.
    fn complete(&mut self, view: &View, era: Era, is_patient: bool, turn: &mut Turn<'_>) -> Option<Answer> {
        let before = std::mem::replace(&mut self.torn, view.torn(era).into_iter().collect());
        let stalled: Vec<_> = self.torn.iter().filter(|(name, ballots)| before.get(name) == Some(ballots)).collect();
        let mut rounds = Vec::new();
        for (&name, _) in stalled.into_iter().filter(|_| !is_patient) {
            let about = About { view, era, name, epoch: 0 };
            match Round::begin(&about, Goal::Complete, false, turn) {
                Ok((round, None)) => rounds.push(round),
                Ok(_) => {}
                Err(error) => return Some(Answer::Refused(error)),
            }
        }
        if rounds.is_empty() {
            self.pause(turn);
        } else {
            self.at = At::Completing(rounds);
        }
        None
    }

    fn pause(&mut self, turn: &mut Turn<'_>) {
        let took = self.collect.as_ref().map_or(0, |collect| collect.ms(turn));
        let most = took.saturating_add(1).saturating_mul(i64::from(self.attempt).saturating_add(1).min(LONGEST_PAUSE));
        self.at = At::Pausing(turn.pause(most));
    }

    /// Q7: no era has a majority among these snapshots.
    fn without_era(&mut self, view: &View, turn: &mut Turn<'_>) -> Option<Answer> {
        let is_complete = view.is_complete();
        // As for a new era, snapshots that are from different moments are no proof that no era has a majority.
        let seats = seats(view);
        let is_same = std::mem::replace(&mut self.seats, seats.clone()) == seats;
        let has_votes = view.shown.iter().any(|shown| shown.voting().is_some());
        if self.how < How::Read && is_complete && (is_same || !has_votes) {
            let now = view.shown.iter().map(|shown| shown.now).max().unwrap_or_default();
            return self.done(
                view.clone(),
                Whole { now, history: String::new(), values: vec![None; self.names.len()] },
                turn,
            );
        }
        if turn.is_late() || self.attempt > 0 && !is_complete {
            return Some(Answer::Refused(missing(view, turn)));
        }
        let election = if self.how == How::Read { Election::begin(view, is_same, turn) } else { None };
        self.at = match election.filter(|election| !election.is_over()) {
            Some(election) => At::Electing(election),
            None => At::Pausing(turn.pause(LONGEST_ERA_PAUSE_MS.min(1 << self.attempt.min(16)))),
        };
        None
    }

    /// A late answer is part of what the next swap sees, and may show a store that lost its data.
    fn late(&self, turn: &mut Turn<'_>) {
        let Some(view) = self.view().filter(|_| self.at == At::Over) else { return };
        let (Some(kept), Some(shown), Some(era)) = (self.kept, view.shown.last(), view.era()) else { return };
        turn.memory.add(kept, shown.clone());
        self.care(shown, view, era, turn);
    }

    /// Q6: whoever meets a store that does not vote in the era of the others makes it vote again; or, if its list is an earlier
    /// one, gives it the list (Q9).
    fn care(&self, shown: &Shown, view: &View, era: Era, turn: &mut Turn<'_>) {
        let list = view.list();
        let has_it = || shown.whole().is_some_and(|seat| seat.list.generation == list.generation);
        if self.how == How::Look || !list.has(&shown.label) || shown.voting() == Some(era) && has_it() {
            return;
        }
        let bits = turn.bits();
        if turn.memory.begin_fill(turn.group, shown.seat, turn.now, bits) {
            turn.fill(shown.seat);
        }
    }
}

/// A seat, its store and its text. While these stay the same, the store keeps its data, and the seat what it says.
type Seat = (usize, ServerIdentity, Option<String>);

fn seats(view: &View) -> Vec<Seat> {
    let mut seats: Vec<_> =
        view.shown.iter().map(|shown| (shown.seat, shown.identity.clone(), shown.text.clone())).collect();
    seats.sort_by_key(|(seat, ..)| *seat);
    seats
}

/// Why there is no majority.
pub(super) fn missing(view: &View, turn: &Turn<'_>) -> QuorumError {
    if let Some(Unreadable { error, .. }) = view.unreadable.first() {
        return error.clone();
    }
    let would_be_enough = view.shown.len() + view.skewed.len() >= view.majority();
    match view.skewed.first() {
        Some(Skewed { ahead, .. }) if view.shown.len() < view.majority() && would_be_enough => {
            QuorumError::Skew { by: ahead.saturating_neg(), bound: turn.bounds.skew_ms }
        }
        _ => QuorumError::NoMajority { answered: view.shown.len() },
    }
}
