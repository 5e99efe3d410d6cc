//! Q3: a conditional write of the whole. It is answered cleanly once a majority has the new value under one ballot.

use crate::lease::grants::task::Swap;
use crate::lease::quorum::collect::{Collect, Patience, Seen};
use crate::lease::quorum::messages::{Answer, Event, QuorumError};
use crate::lease::quorum::read::history;
use crate::lease::quorum::record::Era;
use crate::lease::quorum::round::{About, Goal, Outcome, Round};
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::View;

/// Other writers may be faster again and again. The caller reads after this many attempts.
const MOST_ATTEMPTS: u32 = 12;
/// A pause is at most so many times as long as the attempt before took.
const LONGEST_PAUSE: i64 = 16;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Swapping {
    swap: Swap,
    attempt: u32,
    /// when this attempt began
    began: i64,
    /// whether an earlier round may have left the new value somewhere
    is_unknown: bool,
    /// whether this round only completes what another writer left
    is_last: bool,
    /// the collect of this attempt, or of the stores that the kept view lacks
    collect: Option<Collect>,
    at: At,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Begun,
    Collecting,
    /// or over: late promises still get the value
    Proposing(Round),
    Pausing(u32),
}

impl Swapping {
    pub(super) fn new(swap: Swap) -> Self {
        Self { swap, attempt: 0, began: 0, is_unknown: false, is_last: false, collect: None, at: At::Begun }
    }

    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        let Some(era) = self.era() else { return Some(Answer::Swapped(false)) };
        let Swap { name, from, .. } = &self.swap;
        match turn.memory.take_view(turn.group, name, from.as_deref(), era) {
            Some(view) => {
                self.began = turn.now;
                let is_missing = |seat: &usize| view.shown.iter().all(|shown| shown.seat != *seat);
                let missing: Vec<_> = (0..turn.size()).filter(is_missing).collect();
                self.collect = Some(Collect::of(vec![name.clone()], &missing, Patience::All, turn));
                self.propose(&view, turn)
            }
            None => self.collect(turn),
        }
    }

    pub(super) fn view(&self) -> Option<&View> {
        self.collect.as_ref().map(|collect| &collect.view)
    }

    pub(super) fn take(&mut self, call: u32, event: Event, turn: &mut Turn<'_>) -> Option<Answer> {
        if let Some(collect) = &mut self.collect {
            match (collect.take(call, &event, turn), &mut self.at) {
                (Err(error), _) => return Some(Answer::Refused(error)),
                (Ok(Seen::Ended), At::Collecting) => {
                    let view = collect.view.clone();
                    return self.propose(&view, turn);
                }
                (Ok(Seen::Foreign), _) => {}
                (Ok(_), At::Proposing(round)) => {
                    let outcome = round.join(&collect.view, turn)?;
                    return self.after(outcome, turn);
                }
                (Ok(_), _) => return None,
            }
        }
        match &mut self.at {
            At::Proposing(round) => {
                let outcome = round.take(call, &event, turn)?;
                self.after(outcome, turn)
            }
            At::Pausing(timer) if *timer == call => self.collect(turn),
            At::Pausing(_) | At::Collecting | At::Begun => None,
        }
    }

    /// The era of the identity that the caller read. `None`: it is none of a quorum's.
    fn era(&self) -> Option<Era> {
        let its = &self.swap.identity.history;
        let era = Era::from_str_radix(its.rsplit('-').next()?, 16).ok()?;
        (history(era) == *its && self.swap.identity.process.is_empty()).then_some(era)
    }

    fn collect(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        self.began = turn.now;
        self.at = At::Collecting;
        self.collect = Some(Collect::all(vec![self.swap.name.clone()], Patience::Agreement, turn));
        None
    }

    /// A round from these texts, if the value is still the one that the caller read.
    fn propose(&mut self, view: &View, turn: &mut Turn<'_>) -> Option<Answer> {
        let Some(era) = view.era().filter(|era| self.era() == Some(*era)) else { return Some(self.give_up()) };
        let Swap { from, to, .. } = self.swap.clone();
        let highest = view.highest(era, 0).map(str::to_owned);
        let goal = if highest.as_ref() == Some(&to) {
            // An earlier round of this step left it there. It counts once a majority has it under one ballot.
            Goal::Confirm { to }
        } else if highest == from || self.attempt == 0 {
            Goal::Change { from, to }
        } else if view.agreed().is_none_or(|agreed| agreed.values[0] != highest.as_deref()) {
            // A writer left it on fewer than a majority. Without this, the next read would still show the old value, and the
            // next swap fail in the same way.
            self.is_last = true;
            Goal::Complete
        } else {
            return Some(self.give_up());
        };
        let about = About { view, era, name: 0, epoch: 0 };
        match Round::begin(&about, goal, self.attempt > 0, turn) {
            Err(error) => Some(Answer::Refused(error)),
            Ok((round, outcome)) => {
                self.at = At::Proposing(round);
                self.after(outcome?, turn)
            }
        }
    }

    fn after(&mut self, outcome: Outcome, turn: &mut Turn<'_>) -> Option<Answer> {
        if self.is_last {
            return Some(self.give_up());
        }
        match outcome {
            Outcome::Done => return Some(Answer::Swapped(true)),
            Outcome::Unknown => self.is_unknown = true,
            Outcome::Differs | Outcome::Beaten => {}
        }
        self.attempt += 1;
        if self.attempt == MOST_ATTEMPTS || turn.is_late() {
            return Some(self.give_up());
        }
        let took = turn.now.saturating_sub(self.began).saturating_add(1);
        let most = took.saturating_mul(LONGEST_PAUSE.min(1 << self.attempt));
        self.at = At::Pausing(turn.pause(most));
        None
    }

    /// The new value was not written, or nobody knows.
    fn give_up(&self) -> Answer {
        if self.is_unknown { Answer::Refused(QuorumError::Unknown) } else { Answer::Swapped(false) }
    }
}
