//! Q6: a store that lost its data votes again when all of this has happened, in this order, by any one client:
//!
//! 1. The seat is **claimed**: `fills`, with its store's present identity.
//! 2. One majority M without this seat is chosen, and a new epoch, which **all** of M promise for the record `list`.
//! 3. Every name that any store of M lists gets a new round on all of M, with a ballot of that epoch.
//! 4. The new epoch is written to every seat of M, each from the text that was read in step 2.
//! 5. The seat goes from that very claim to `votes`, with the new epoch.
//!
//! If a step fails, the fill starts again another time. Fills are one after the other, of whatever seats and clients: a claim
//! keeps all others off for as long as a fill may take. The records of the store need no copy: an empty acceptor is a slow one.
//! No step waits for a store that is silent: M is taken from those that answer.
//! Step 3 keeps what rested on its lost values, and ends every older promise on M. The epoch keeps out what rested on its lost
//! promises for records that M does not have. M must be one set for all names: a read could mix two of them.
//!
//! No two fills have the same epoch, and one that begins after another has ended has a higher one: any two majorities share a
//! store, and its promise is lost only with its data, which a later fill, with a higher epoch, makes up for. The seats alone
//! would not tell: a fill that dies in step 4 may leave its epoch on a single seat, which the next fill may not see.

use std::collections::{BTreeMap, BTreeSet};

use crate::lease::quorum::collect::{Collect, Patience, Seen};
use crate::lease::quorum::messages::{Answer, Event, Note, QuorumError};
use crate::lease::quorum::record::{Era, LIST, SEAT, SeatRecord, SeatState};
use crate::lease::quorum::round::{About, Goal, Outcome, Round};
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::{Shown, View};

/// How many names get their rounds at the same time.
const AT_ONCE: usize = 200;
/// The attempts for one name: members write it at the same time.
const MOST_ATTEMPTS: u32 = 8;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fill {
    seat: usize,
    at: At,
    era: Era,
    /// the seat as this client claimed it
    claim: Option<Shown>,
    /// M
    majority: Vec<Shown>,
    /// the new epoch
    epoch: u32,
    /// the names that still need a round
    names: BTreeSet<String>,
    shown: Option<View>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Begun,
    Looking(Collect),
    /// the seat's era votes: it only has to follow
    Following(u32),
    Claiming(u32),
    Choosing(Collect),
    /// the promise of the epoch
    Reserving(Round),
    /// the calls, by their seats
    Listing(BTreeMap<u32, usize>),
    Renewing(Vec<Renewal>),
    Marking(BTreeSet<u32>),
    Voting(u32),
    Over,
}

/// A new round for one name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Renewal {
    name: String,
    attempt: u32,
    at: Renewing,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Renewing {
    Reading(Collect),
    Proposing(Round),
    Pausing(u32),
}

/// What an event did for a part of a fill.
enum Went {
    /// it is not finished
    On,
    /// it is
    Through,
    /// it failed
    Wrong,
}

impl Fill {
    pub(super) fn new(seat: usize) -> Self {
        Self {
            seat,
            at: At::Begun,
            era: 0,
            claim: None,
            majority: Vec::new(),
            epoch: 0,
            names: BTreeSet::new(),
            shown: None,
        }
    }

    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        self.at = At::Looking(Collect::all(Vec::new(), Patience::Voters(self.seat), turn));
        None
    }

    pub(super) fn view(&self) -> Option<&View> {
        self.shown.as_ref()
    }

    pub(super) fn take(&mut self, call: u32, event: Event, turn: &mut Turn<'_>) -> Option<Answer> {
        match self.go(call, &event, turn) {
            Ok(Went::On) => None,
            Ok(Went::Through) => self.end(true),
            Ok(Went::Wrong) => self.end(false),
            Err(error) => {
                self.at = At::Over;
                Some(Answer::Refused(error))
            }
        }
    }

    fn end(&mut self, is_filled: bool) -> Option<Answer> {
        self.at = At::Over;
        Some(Answer::Filled(is_filled))
    }

    fn go(&mut self, call: u32, event: &Event, turn: &mut Turn<'_>) -> Result<Went, QuorumError> {
        if turn.is_late() && !matches!(self.at, At::Following(_) | At::Voting(_) | At::Over) {
            return Ok(Went::Wrong); // another client may have taken over its claim
        }
        let is_clean = matches!(event, Event::Swapped(true));
        match &mut self.at {
            At::Looking(collect) => match collect.take(call, event, turn)? {
                Seen::Ended => {
                    let view = collect.view.clone();
                    Ok(self.look(view, turn))
                }
                _ => Ok(Went::On),
            },
            At::Choosing(collect) => match collect.take(call, event, turn)? {
                Seen::Ended => {
                    let view = collect.view.clone();
                    self.choose(view, turn)
                }
                _ => Ok(Went::On),
            },
            At::Reserving(round) => match round.take(call, event, turn) {
                Some(Outcome::Done) => {
                    self.at =
                        At::Listing(self.majority.iter().map(|shown| (turn.names(shown.seat), shown.seat)).collect());
                    Ok(Went::On)
                }
                Some(_) => Ok(Went::Wrong), // another fill may have been faster
                None => Ok(Went::On),
            },
            At::Following(its) | At::Claiming(its) | At::Voting(its) if *its == call && !is_clean => Ok(Went::Wrong),
            At::Claiming(its) if *its == call => {
                // The claim is seen by all before the others are read, and so is that of another client.
                self.at = At::Choosing(Collect::all(vec![LIST.to_owned()], Patience::Voters(self.seat), turn));
                Ok(Went::On)
            }
            At::Following(its) | At::Voting(its) if *its == call => {
                turn.note(Note::Filled);
                Ok(Went::Through)
            }
            At::Listing(calls) => {
                if calls.remove(&call).is_none() {
                    return Ok(Went::On);
                }
                let Event::Named(names) = event else { return Ok(Went::Wrong) };
                self.names.extend(names.iter().filter(|name| ![SEAT, LIST].contains(&name.as_str())).cloned());
                if calls.is_empty() {
                    self.at = At::Renewing(Vec::new());
                    self.renew(turn);
                }
                Ok(Went::On)
            }
            At::Renewing(running) => {
                let about = (self.era, self.epoch, &self.majority[..]);
                for at in (0..running.len()).rev() {
                    match running[at].take(call, event, about, turn)? {
                        Went::On => {}
                        Went::Through => drop(running.swap_remove(at)),
                        Went::Wrong => return Ok(Went::Wrong),
                    }
                }
                self.renew(turn);
                Ok(Went::On)
            }
            At::Marking(calls) => {
                let is_its = calls.remove(&call);
                if is_its && !is_clean {
                    return Ok(Went::Wrong);
                }
                if is_its && calls.is_empty() {
                    self.vote(turn);
                }
                Ok(Went::On)
            }
            At::Begun | At::Following(_) | At::Claiming(_) | At::Voting(_) | At::Over => Ok(Went::On),
        }
    }

    /// Step 1, unless another client is at it, or there is nothing to do.
    fn look(&mut self, view: View, turn: &mut Turn<'_>) -> Went {
        let Some(era) = view.era() else { return Went::Wrong };
        let Some(shown) = view.shown.iter().find(|shown| shown.seat == self.seat).cloned() else { return Went::Wrong };
        let list = view.list().clone();
        if !list.has(&shown.label) {
            return Went::Wrong;
        }
        (self.era, self.shown) = (era, Some(view));
        match shown.whole() {
            Some(seat) if seat.state == SeatState::Votes && seat.era == era && list.takes(&shown.label, &seat.list) => {
                if seat.list == list {
                    return Went::Through;
                }
                // It was away when the list was changed.
                let to = SeatRecord { list, nonce: turn.bits(), ..seat.clone() };
                self.at =
                    At::Following(turn.swap((self.seat, &shown.identity), SEAT, shown.text.as_deref(), to.text()));
                return Went::On;
            }
            Some(seat) if seat.state == SeatState::Starts && seat.era == era => {
                let to = SeatRecord { state: SeatState::Votes, nonce: turn.bits(), ..seat.clone() };
                self.at =
                    At::Following(turn.swap((self.seat, &shown.identity), SEAT, shown.text.as_deref(), to.text()));
                return Went::On;
            }
            _ if is_claimed(self.shown.as_ref(), None, turn) => return Went::Wrong,
            _ => {}
        }
        let claim = SeatRecord {
            list,
            label: shown.label.clone(),
            era,
            epoch: 0,
            state: SeatState::Fills,
            bound: 0,
            at: shown.now.max(1),
            identity: shown.identity.clone(),
            nonce: turn.bits(),
        };
        let call = turn.swap((self.seat, &shown.identity), SEAT, shown.text.as_deref(), claim.text());
        self.at = At::Claiming(call);
        self.claim = Some(Shown { text: Some(claim.text()), record: Some(claim), ..shown });
        Went::On
    }

    /// Step 2: M, and an epoch above all that any store of M has seen. The round for `list` is from the texts that tell this:
    /// it fails if another fill has reserved an epoch since.
    fn choose(&mut self, mut view: View, turn: &mut Turn<'_>) -> Result<Went, QuorumError> {
        if view.era() != Some(self.era) || is_claimed(Some(&view), Some(self.seat), turn) {
            return Ok(Went::Wrong);
        }
        // Their seats must have the list before their names are listed.
        let has_it = |shown: &&Shown| shown.record.as_ref().is_some_and(|seat| seat.list == *view.list());
        let others = view.voters(self.era).filter(|shown| shown.seat != self.seat).filter(has_it);
        self.majority = others.take(view.majority()).cloned().collect();
        if self.majority.len() < view.majority() {
            return Ok(Went::Wrong);
        }
        self.epoch = view.epoch(self.era).max(view.promised_epoch(self.era, 0)) + 1;
        self.shown = Some(view.clone());
        view.shown.retain(|shown| self.majority.contains(shown));
        let about = About { view: &view, era: self.era, name: 0, epoch: self.epoch };
        let (round, outcome) = Round::begin(&about, Goal::Complete, false, turn)?;
        self.at = At::Reserving(round);
        Ok(outcome.map_or(Went::On, |_| Went::Wrong))
    }

    /// Step 3: begins rounds for the remaining names, or goes on to step 4 when there are none.
    fn renew(&mut self, turn: &mut Turn<'_>) {
        let At::Renewing(running) = &mut self.at else { return };
        while running.len() < AT_ONCE
            && let Some(name) = self.names.pop_first()
        {
            let collect = read_again(&name, &self.majority, turn);
            running.push(Renewal { name, attempt: 0, at: Renewing::Reading(collect) });
        }
        if running.is_empty() {
            self.mark(turn);
        }
    }

    /// Step 4. This epoch is not from the seat's own fill.
    fn mark(&mut self, turn: &mut Turn<'_>) {
        let swaps = self.majority.iter().filter_map(|shown| {
            let to = SeatRecord { epoch: self.epoch, at: 0, nonce: turn.bits(), ..shown.record.clone()? };
            Some(turn.swap((shown.seat, &shown.identity), SEAT, shown.text.as_deref(), to.text()))
        });
        self.at = At::Marking(swaps.collect());
    }

    /// Step 5.
    fn vote(&mut self, turn: &mut Turn<'_>) {
        let Some(Shown { identity, text, record: Some(claim), .. }) = &self.claim else { return };
        let to = SeatRecord { epoch: self.epoch, state: SeatState::Votes, nonce: turn.bits(), ..claim.clone() };
        self.at = At::Voting(turn.swap((self.seat, identity), SEAT, text.as_deref(), to.text()));
    }
}

impl Renewal {
    fn take(
        &mut self,
        call: u32,
        event: &Event,
        (era, epoch, majority): (Era, u32, &[Shown]),
        turn: &mut Turn<'_>,
    ) -> Result<Went, QuorumError> {
        let outcome = match &mut self.at {
            Renewing::Reading(collect) => {
                if collect.take(call, event, turn)? != Seen::Ended {
                    return Ok(Went::On);
                }
                // Without all of M there is no majority.
                if collect.view.era() == Some(era) {
                    let about = About { view: &collect.view, era, name: 0, epoch };
                    let (round, outcome) = Round::begin(&about, Goal::Complete, false, turn)?;
                    self.at = Renewing::Proposing(round);
                    outcome
                } else {
                    Some(Outcome::Beaten)
                }
            }
            Renewing::Proposing(round) => round.take(call, event, turn),
            Renewing::Pausing(timer) => {
                if *timer == call {
                    self.at = Renewing::Reading(read_again(&self.name, majority, turn));
                }
                None
            }
        };
        match outcome {
            None => Ok(Went::On),
            Some(Outcome::Done) => Ok(Went::Through),
            Some(_) if self.attempt + 1 == MOST_ATTEMPTS => Ok(Went::Wrong),
            Some(_) => {
                self.attempt += 1;
                self.at = Renewing::Pausing(turn.pause(1 << self.attempt));
                Ok(Went::On)
            }
        }
    }
}

/// Whether another fill is at work: on a majority, each would undo what the other one has done. Two that claim at the same time
/// both give up. A claim is left alone for as long as a fill may take.
fn is_claimed(view: Option<&View>, own: Option<usize>, turn: &Turn<'_>) -> bool {
    let others = view.into_iter().flat_map(|view| &view.shown).filter(|shown| Some(shown.seat) != own);
    let claims = others.filter_map(|shown| Some((shown.whole()?, shown.now)));
    let mut claims = claims.filter(|(seat, _)| seat.state == SeatState::Fills);
    claims.any(|(seat, now)| now.saturating_sub(seat.at) < turn.bounds.ms)
}

/// Reads a record on all of M.
fn read_again(name: &str, majority: &[Shown], turn: &mut Turn<'_>) -> Collect {
    let seats: Vec<_> = majority.iter().map(|shown| shown.seat).collect();
    Collect::of(vec![name.to_owned()], &seats, Patience::All, turn)
}
