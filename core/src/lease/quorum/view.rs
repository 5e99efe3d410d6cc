//! What the snapshots of several stores say together: which seats count, and what a majority of them shows.

use crate::lease::grants::record::ServerIdentity;
use crate::lease::quorum::ballot::Ballot;
use crate::lease::quorum::messages::{QuorumError, SeatNow, Standing};
use crate::lease::quorum::record::{Era, SeatRecord, SeatState, Vote};
use crate::lease::quorum::stores::List;

/// The epoch in which every era begins.
pub(super) const FIRST_EPOCH: u32 = 1;

/// A record that does not exist, or is of another era.
static NONE: Vote = Vote { promised: Ballot { epoch: 0, number: 0, id: 0 }, accepted: None };

/// One snapshot of one store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shown {
    pub seat: usize,
    /// by which this client knows it
    pub label: String,
    /// the store's clock
    pub now: i64,
    /// how far that is ahead of the client's
    pub ahead: i64,
    pub identity: ServerIdentity,
    /// the text of the seat, and what it says
    pub text: Option<String>,
    pub record: Option<SeatRecord>,
    /// whether the seat is of this store with all of its data (Q5)
    pub is_whole: bool,
    /// the texts of the acceptors, and what they say
    pub texts: Vec<Option<String>>,
    pub votes: Vec<Option<(Era, Vote)>>,
}

impl Shown {
    /// Its seat, unless it is absent or not whole (Q5).
    pub(super) fn whole(&self) -> Option<&SeatRecord> {
        self.record.as_ref().filter(|_| self.is_whole)
    }

    /// The era in which it votes.
    pub(super) fn voting(&self) -> Option<Era> {
        self.whole().filter(|seat| seat.state == SeatState::Votes).map(|seat| seat.era)
    }

    /// The acceptor of this name. A record of another era is void.
    pub(super) fn vote(&self, era: Era, name: usize) -> &Vote {
        self.votes[name].as_ref().filter(|(its, _)| *its == era).map_or(&NONE, |(_, vote)| vote)
    }

    fn epoch(&self) -> u32 {
        self.record.as_ref().map_or(0, |seat| seat.epoch)
    }

    /// Whether its epoch is from its own fill: then it was empty in that epoch.
    fn was_filled(&self) -> bool {
        self.record.as_ref().is_some_and(|seat| seat.at > 0)
    }

    /// The same snapshot of one record.
    fn only(&self, name: usize) -> Self {
        let (texts, votes) = (vec![self.texts[name].clone()], vec![self.votes[name].clone()]);
        let Self { seat, now, ahead, is_whole, .. } = *self;
        let (label, identity, text, record) =
            (self.label.clone(), self.identity.clone(), self.text.clone(), self.record.clone());
        Self { seat, label, now, ahead, identity, text, record, is_whole, texts, votes }
    }

    fn standing(&self, era: Option<Era>, list: &List, is_current: bool) -> Standing {
        if !list.has(&self.label) {
            return Standing::Unlisted;
        }
        match (&self.record, self.whole()) {
            (None, _) => Standing::Empty,
            (_, None) => Standing::Lost,
            (_, Some(seat)) => match seat.state {
                SeatState::Starts => Standing::Starts,
                SeatState::Fills => Standing::Fills,
                SeatState::Votes if era.is_some_and(|era| era != seat.era) => Standing::Apart,
                SeatState::Votes if !list.takes(&self.label, &seat.list) => Standing::Lost,
                SeatState::Votes if !is_current => Standing::Behind,
                SeatState::Votes => Standing::Votes,
            },
        }
    }
}

/// A store whose clock is too far from the client's: it counts as one that did not answer (Q8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Skewed {
    pub seat: usize,
    pub ahead: i64,
}

/// A store with a damaged record or an impossible answer: it counts as one that did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Unreadable {
    pub seat: usize,
    pub error: QuorumError,
}

/// The answers to one read of every store. They are from different moments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct View {
    /// the list of this client, which counts if no store has a seat
    pub own: List,
    pub names: Vec<String>,
    /// in the order in which they came
    pub shown: Vec<Shown>,
    pub skewed: Vec<Skewed>,
    pub unreadable: Vec<Unreadable>,
}

/// What a majority agrees on.
pub(super) struct Agreed<'a> {
    pub now: i64,
    pub era: Era,
    pub values: Vec<Option<&'a str>>,
}

impl View {
    /// Q9: the list, which is the newest that any seat records. It was agreed on before it was written to a seat, and every
    /// majority of the list before has a store with it, or answered earlier.
    pub(super) fn list(&self) -> &List {
        let lists = self.shown.iter().filter_map(|shown| shown.record.as_ref()).map(|seat| &seat.list);
        lists.max_by_key(|list| list.generation).unwrap_or(&self.own)
    }

    /// More than half of the list.
    pub(super) fn majority(&self) -> usize {
        self.list().majority()
    }

    /// Whether every store of the list has answered.
    pub(super) fn is_complete(&self) -> bool {
        self.list().labels.split(' ').all(|label| self.shown.iter().any(|shown| shown.label == label))
    }

    /// Q1: a store with another list than this client's, unless that is an earlier one. Until all stores of this client's list
    /// have answered, or a majority of them with a seat, the one with the new list may be missing: others may not have heard of
    /// the change, or have lost their data.
    pub(super) fn stranger(&self) -> Option<QuorumError> {
        let list = self.list();
        let differs = |other: &List| {
            !list.fits(&self.own.labels) && other == list || other.generation == list.generation && other != list
        };
        let lists = self.shown.iter().filter_map(|shown| Some((shown.seat, &shown.record.as_ref()?.list)));
        let (seat, theirs) = lists.into_iter().find(|(_, other)| differs(other))?;
        let own = || self.shown.iter().filter(|shown| self.own.has(&shown.label));
        let (answered, seated) = (own().count(), own().filter(|shown| shown.record.is_some()).count());
        Some(if seated < self.own.majority() && answered < self.own.len() {
            QuorumError::NoMajority { answered }
        } else {
            QuorumError::List { seat, theirs: theirs.labels.clone() }
        })
    }

    /// The era in which a majority votes.
    pub(super) fn era(&self) -> Option<Era> {
        let votes_in = |era| self.voters(era).count() >= self.majority();
        self.shown.iter().filter_map(Shown::voting).find(|era| votes_in(*era))
    }

    /// How many of those that count in this era stay in the next list.
    pub(super) fn staying(&self, era: Era, next: &[String]) -> usize {
        self.voters(era).filter(|shown| next.contains(&shown.label)).count()
    }

    /// Whether these are a majority of both lists.
    pub(super) fn keeps_majority(&self, era: Era, next: &[String]) -> bool {
        self.staying(era, next) >= self.majority().max(next.len() / 2 + 1)
    }

    /// The seats that count in this era.
    pub(super) fn voters(&self, era: Era) -> impl Iterator<Item = &Shown> {
        let list = self.list();
        let is_taken = |shown: &&Shown| shown.whole().is_some_and(|seat| list.takes(&shown.label, &seat.list));
        self.shown.iter().filter(move |shown| shown.voting() == Some(era)).filter(is_taken)
    }

    /// The highest epoch among the seats that count.
    pub(super) fn epoch(&self, era: Era) -> u32 {
        self.voters(era).map(Shown::epoch).max().unwrap_or_default()
    }

    /// The highest epoch that any of them has promised for this name.
    pub(super) fn promised_epoch(&self, era: Era, name: usize) -> u32 {
        self.voters(era).map(|shown| shown.vote(era, name).promised.epoch).max().unwrap_or_default()
    }

    /// Q4: a snapshot of the whole, if one majority shows the same accepted ballot for **every** name. Two such majorities
    /// share a store, whose ballots only grow, and its own read is a snapshot. So all such snapshots form a chain.
    pub(super) fn agreed(&self) -> Option<Agreed<'_>> {
        let era = self.era()?;
        let all: Vec<_> = (0..self.names.len()).collect();
        let same = self.majority_for(era, &all)?;
        let values = all.iter().map(|&name| same[0].vote(era, name).value()).collect();
        Some(Agreed { now: latest(&same), era, values })
    }

    /// Each name together with the first one, which is the group's record, at one moment; not all of them at the same one.
    pub(super) fn agreed_in_pairs(&self) -> Option<Agreed<'_>> {
        let era = self.era()?;
        let (mut now, mut values) = (0, Vec::new());
        for name in 0..self.names.len() {
            let same = self.majority_for(era, &[0, name])?;
            now = latest(&same).max(now);
            values.push(same[0].vote(era, name).value());
        }
        Some(Agreed { now, era, values })
    }

    /// The first majority that shows the same accepted ballots for these names.
    fn majority_for(&self, era: Era, names: &[usize]) -> Option<Vec<&Shown>> {
        let agree = |one: &Shown, other: &Shown| {
            names.iter().all(|&name| one.vote(era, name).ballot() == other.vote(era, name).ballot())
        };
        self.voters(era).find_map(|one| {
            let same: Vec<_> = self.voters(era).filter(|other| agree(one, other)).collect();
            (same.len() >= self.majority() && is_one_time(&same)).then_some(same)
        })
    }

    /// The names on which the voters do not agree, each with the highest ballots among them.
    pub(super) fn torn(&self, era: Era) -> Vec<(usize, [Option<Ballot>; 2])> {
        let differ = |name| {
            let mut ballots = self.voters(era).map(|shown| shown.vote(era, name).ballot());
            let first = ballots.next();
            ballots.any(|ballot| Some(ballot) != first)
        };
        let highest = |name| {
            let votes = || self.voters(era).map(move |shown| shown.vote(era, name));
            [votes().filter_map(Vote::ballot).max(), votes().map(|vote| vote.promised).max()]
        };
        (0..self.names.len()).filter(|&name| differ(name)).map(|name| (name, highest(name))).collect()
    }

    /// The value with the highest ballot that any voter shows for this name.
    pub(super) fn highest(&self, era: Era, name: usize) -> Option<&str> {
        self.voters(era).map(|shown| shown.vote(era, name)).max_by_key(|vote| vote.ballot())?.value()
    }

    /// The same view of one record.
    pub(super) fn only(&self, name: usize) -> Self {
        Self {
            own: self.own.clone(),
            names: vec![self.names[name].clone()],
            shown: self.shown.iter().map(|shown| shown.only(name)).collect(),
            skewed: self.skewed.clone(),
            unreadable: self.unreadable.clone(),
        }
    }

    /// What each of so many seats is.
    pub(super) fn seats(&self, size: usize) -> Vec<SeatNow> {
        let era = self.era();
        let all: Vec<_> = (0..self.names.len()).collect();
        let same = era.and_then(|era| self.majority_for(era, &all)).unwrap_or_default();
        let mut seats = vec![SeatNow::default(); size];
        for Skewed { seat, ahead } in &self.skewed {
            seats[*seat] = SeatNow { standing: Standing::Skewed, ahead_ms: Some(*ahead), ..SeatNow::default() };
        }
        for Unreadable { seat, error } in &self.unreadable {
            let error = Some(error.clone());
            seats[*seat] = SeatNow { standing: Standing::Damaged, error, ..SeatNow::default() };
        }
        for shown in &self.shown {
            let is_current = same.is_empty() || same.iter().any(|one| one.seat == shown.seat);
            let (standing, epoch) =
                (shown.standing(era, self.list(), is_current), shown.record.as_ref().map(|seat| seat.epoch));
            seats[shown.seat] = SeatNow { standing, ahead_ms: Some(shown.ahead), epoch, error: None };
        }
        seats
    }
}

/// Q4: a store that was filled between two of these snapshots is empty, and could agree with stores from before. A fill leaves
/// its epoch on other seats once their stores have all that was written before it began, and no other fill has the same epoch.
/// So a seat with the highest epoch must have that from the fill of another one, or from the beginning of the era.
fn is_one_time(same: &[&Shown]) -> bool {
    let highest = same.iter().map(|shown| shown.epoch()).max().unwrap_or_default();
    same.iter().any(|shown| shown.epoch() == highest && !shown.was_filled())
}

fn latest(same: &[&Shown]) -> i64 {
    same.iter().map(|shown| shown.now).max().unwrap_or_default()
}
