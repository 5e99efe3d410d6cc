//! Q3: one proposal for one register, in two phases. All texts come from one view, and each step swaps exactly the text that it
//! saw.
//!
//! A change of the list (Q9) ends the rounds of those that have not heard of it: it writes to the seats of a majority, and then
//! swaps every text there. It cannot swap what does not exist. So a store that had no text is read again after its promise, and
//! counts if its seat is still the same: then the change will find the promise.

use std::cmp::Ordering;

use crate::lease::grants::record::ServerIdentity;
use crate::lease::quorum::ballot::Ballot;
use crate::lease::quorum::messages::{Event, Note, QuorumError};
use crate::lease::quorum::record::{Accepted, Era, SEAT, Vote};
use crate::lease::quorum::stores::List;
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::{Shown, View};

/// What a round wants to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Goal {
    /// this value after that one
    Change { from: Option<String>, to: String },
    /// the value that was accepted with the highest ballot, if it is this one
    Confirm { to: String },
    /// the value that was accepted with the highest ballot, whatever it is
    Complete,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Outcome {
    /// a majority has the value
    Done,
    /// the value is another one. Nothing was written but promises.
    Differs,
    /// others were faster. Nothing was written but promises.
    Beaten,
    /// the value was sent, and a majority did not confirm it
    Unknown,
}

/// Where a store is in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum At {
    /// nothing was sent yet
    Waiting,
    Promising(u32),
    /// it had no text, and has promised: whether its seat is still the same
    Checking(u32),
    Promised,
    /// it has promised nothing above the ballot, which it may accept without a promise
    Willing,
    Accepting(u32),
    Accepted,
    /// it refused, or its answer was not clean
    Out,
}

/// A store that takes part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Acceptor {
    seat: usize,
    identity: ServerIdentity,
    /// the text that the next swap is from
    text: Option<String>,
    vote: Vote,
    /// the text of its seat
    shown: Option<String>,
    /// whether it had no text
    is_new: bool,
    at: At,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Round {
    name: String,
    era: Era,
    /// of which it needs a majority
    list: Box<List>,
    goal: Goal,
    ballot: Ballot,
    /// what phase 2 promises: this client's next ballot
    next: Ballot,
    acceptors: Vec<Acceptor>,
    /// the value, from the promises of a majority on
    value: Option<String>,
    is_over: bool,
}

/// What a round is about: the record that a view shows, and the era of that.
pub(super) struct About<'a> {
    pub view: &'a View,
    pub era: Era,
    /// the place of the name in the view
    pub name: usize,
    /// the lowest epoch of its ballot
    pub epoch: u32,
}

impl Acceptor {
    /// Whether it shows its promise, and its seat as before.
    fn is_same(&self, event: &Event) -> bool {
        let Event::Look(look) = event else { return false };
        look.identity == self.identity && look.values == [self.shown.clone(), self.text.clone()]
    }
}

impl Round {
    /// Begins with phase 2 if a majority still holds the ballot that this client reserved, else with phase 1.
    /// `in_order`: promises first of the first store, so that of two writers one wins.
    pub(super) fn begin(
        about: &About<'_>,
        goal: Goal,
        in_order: bool,
        turn: &mut Turn<'_>,
    ) -> Result<(Self, Option<Outcome>), QuorumError> {
        let About { view, era, name, epoch } = *about;
        let reserved = turn.memory.take_reserved(turn.group, &view.names[name]);
        let mut acceptors: Vec<_> = view.voters(era).map(|shown| acceptor(shown, era, name)).collect();
        acceptors.sort_by_key(|acceptor| acceptor.seat);
        let holds = |acceptor: &&Acceptor| reserved == Some(acceptor.vote.promised);
        let is_reserved =
            matches!(goal, Goal::Change { .. }) && acceptors.iter().filter(holds).count() >= view.majority();
        let highest = acceptors.iter().map(|acceptor| acceptor.vote.promised);
        let ballot = match reserved.filter(|_| is_reserved) {
            Some(reserved) => reserved,
            None => {
                // Q2: above every promise in the view, in both parts.
                let epoch = highest.clone().map(|promised| promised.epoch).fold(epoch.max(view.epoch(era)), u32::max);
                let number = highest.map(|promised| promised.number).max().unwrap_or_default();
                Ballot::above(epoch, number, turn.bits()).ok_or(QuorumError::Spent)?
            }
        };
        let next = Ballot::above(ballot.epoch, ballot.number, turn.bits()).ok_or(QuorumError::Spent)?;
        let name = view.names[name].clone();
        let list = Box::new(view.list().clone());
        let mut round = Self { name, era, list, goal, ballot, next, acceptors, value: None, is_over: false };
        if is_reserved {
            round.begin_with_phase_two();
        } else {
            round.promise(if in_order { 0..1 } else { 0..round.acceptors.len() }, turn);
        }
        let outcome = round.go_on(turn);
        Ok((round, outcome))
    }

    /// Takes an event of any call of the step. `None`: it is another's, or there is more to come.
    pub(super) fn take(&mut self, call: u32, event: &Event, turn: &mut Turn<'_>) -> Option<Outcome> {
        let is_its = |acceptor: &Acceptor| matches!(acceptor.at, At::Promising(its) | At::Checking(its) | At::Accepting(its) if its == call);
        let at = self.acceptors.iter().position(is_its)?;
        let is_clean = matches!(event, Event::Swapped(true));
        let acceptor = &mut self.acceptors[at];
        acceptor.at = match acceptor.at {
            At::Promising(_) if is_clean && acceptor.is_new => {
                At::Checking(turn.read(acceptor.seat, vec![SEAT.to_owned(), self.name.clone()]))
            }
            At::Promising(_) if is_clean => At::Promised,
            At::Checking(_) if acceptor.is_same(event) => At::Promised,
            At::Accepting(_) if is_clean => At::Accepted,
            _ => At::Out,
        };
        if acceptor.at == At::Promised && self.count(|at| at == At::Waiting) > 0 {
            self.promise(0..self.acceptors.len(), turn);
        }
        self.go_on(turn)
    }

    /// Stores whose snapshots came late get the value too, so that the slowest one is not left behind. No ballot is below the
    /// epoch of a seat that it writes to (Q2). The late ones alone may show an earlier list, in which a store that was replaced
    /// still counts: only those with the list of this round do (Q9).
    pub(super) fn join(&mut self, view: &View, turn: &mut Turn<'_>) -> Option<Outcome> {
        if *view.list() != *self.list {
            return self.go_on(turn);
        }
        for shown in view.voters(self.era).filter(|_| view.epoch(self.era) <= self.ballot.epoch) {
            let vote = shown.vote(self.era, 0);
            if vote.promised <= self.ballot && self.acceptors.iter().all(|acceptor| acceptor.seat != shown.seat) {
                self.acceptors.push(Acceptor { at: At::Willing, ..acceptor(shown, self.era, 0) });
            }
        }
        self.go_on(turn)
    }

    /// The stores that hold the reserved ballot have promised it already. Those behind them catch up.
    fn begin_with_phase_two(&mut self) {
        for acceptor in &mut self.acceptors {
            acceptor.at = match acceptor.vote.promised.cmp(&self.ballot) {
                Ordering::Less => At::Willing,
                Ordering::Equal => At::Promised,
                Ordering::Greater => At::Out,
            };
        }
    }

    /// Phase 1: no store accepts a value before a majority has promised.
    fn promise(&mut self, which: std::ops::Range<usize>, turn: &mut Turn<'_>) {
        for acceptor in self.acceptors[which].iter_mut().filter(|acceptor| acceptor.at == At::Waiting) {
            acceptor.vote.promised = self.ballot;
            let text = acceptor.vote.text(self.era);
            let call =
                turn.swap((acceptor.seat, &acceptor.identity), &self.name, acceptor.text.as_deref(), text.clone());
            acceptor.text = Some(text);
            acceptor.at = At::Promising(call);
        }
    }

    /// Sends what can be sent now, and says how the round ended.
    fn go_on(&mut self, turn: &mut Turn<'_>) -> Option<Outcome> {
        if self.is_over {
            // A late promise gets the value, so that a slow store is not left behind.
            self.accept(turn);
            return None;
        }
        if self.value.is_none() {
            let promised = self.count(|at| at == At::Promised);
            if promised < self.list.majority() {
                let may_come = self.count(|at| matches!(at, At::Waiting | At::Promising(_) | At::Checking(_)));
                let is_hopeless = promised + may_come < self.list.majority() || self.is_first_lost();
                return is_hopeless.then(|| self.end(Outcome::Beaten, turn));
            }
            if let Err(outcome) = self.choose() {
                return Some(self.end(outcome, turn));
            }
        }
        self.accept(turn);
        let accepted = self.count(|at| at == At::Accepted);
        if accepted >= self.list.majority() {
            return Some(self.end(Outcome::Done, turn));
        }
        let may_come = self.count(|at| matches!(at, At::Accepting(_) | At::Promising(_) | At::Checking(_)));
        (accepted + may_come < self.list.majority()).then(|| self.end(Outcome::Unknown, turn))
    }

    /// Whether the first store of a round in order refused: another writer was faster.
    fn is_first_lost(&self) -> bool {
        self.acceptors.iter().any(|acceptor| acceptor.at == At::Waiting)
            && self.acceptors.first().is_some_and(|acceptor| acceptor.at == At::Out)
    }

    /// Chooses the value after the promises of a majority. The accepted value with the highest ballot among them is the only
    /// one that a majority may have.
    fn choose(&mut self) -> Result<(), Outcome> {
        let promised = self.acceptors.iter().filter(|acceptor| acceptor.at == At::Promised);
        let highest = promised.max_by_key(|acceptor| acceptor.vote.ballot()).and_then(|acceptor| acceptor.vote.value());
        let value = match &self.goal {
            Goal::Change { from, to } if highest == from.as_deref() => to,
            Goal::Confirm { to } if highest == Some(to) => to,
            Goal::Complete => highest.ok_or(Outcome::Done)?, // nothing was accepted: the promises are enough
            _ => return Err(Outcome::Differs),
        };
        self.value = Some(value.to_owned());
        Ok(())
    }

    /// Phase 2, on every store that has promised: the value, and a promise of this client's next ballot.
    fn accept(&mut self, turn: &mut Turn<'_>) {
        let Some(value) = &self.value else { return };
        let may = |acceptor: &&mut Acceptor| matches!(acceptor.at, At::Promised | At::Willing);
        for acceptor in self.acceptors.iter_mut().filter(may) {
            let accepted = Some(Accepted { ballot: self.ballot, value: value.clone() });
            acceptor.vote = Vote { promised: self.next, accepted };
            let text = acceptor.vote.text(self.era);
            let call =
                turn.swap((acceptor.seat, &acceptor.identity), &self.name, acceptor.text.as_deref(), text.clone());
            acceptor.text = Some(text);
            acceptor.at = At::Accepting(call);
        }
    }

    fn end(&mut self, outcome: Outcome, turn: &mut Turn<'_>) -> Outcome {
        self.is_over = true;
        match outcome {
            Outcome::Done if matches!(self.goal, Goal::Change { .. }) => {
                turn.memory.reserve(turn.group, &self.name, self.next);
            }
            Outcome::Done if self.value.is_some() => turn.note(Note::Completed),
            Outcome::Beaten => turn.note(Note::Beaten),
            Outcome::Unknown => turn.note(Note::Unknown),
            _ => {}
        }
        outcome
    }

    fn count(&self, is: impl Fn(At) -> bool) -> usize {
        self.acceptors.iter().filter(|acceptor| is(acceptor.at)).count()
    }
}

/// A store as this snapshot shows it.
fn acceptor(shown: &Shown, era: Era, name: usize) -> Acceptor {
    let (identity, text, vote) = (shown.identity.clone(), shown.texts[name].clone(), shown.vote(era, name).clone());
    let is_new = text.is_none();
    Acceptor { seat: shown.seat, identity, text, vote, shown: shown.text.clone(), is_new, at: At::Waiting }
}
