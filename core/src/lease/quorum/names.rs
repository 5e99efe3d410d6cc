//! The names that have records: the union over a majority whose seats were the same before and after.

use std::collections::{BTreeMap, BTreeSet};

use crate::lease::quorum::collect::{Collect, Patience, Seen};
use crate::lease::quorum::messages::{Answer, Event, QuorumError};
use crate::lease::quorum::read::missing;
use crate::lease::quorum::record::{LIST, SEAT};
use crate::lease::quorum::turn::Turn;
use crate::lease::quorum::view::View;

/// The longest pause after an attempt in which stores changed, ms.
const LONGEST_PAUSE_MS: i64 = 100;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Names {
    at: At,
    /// the seats before, by the texts of their records
    before: BTreeMap<usize, Option<String>>,
    lists: BTreeMap<usize, Vec<String>>,
    shown: Option<View>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    Begun,
    Looking(Collect),
    /// the calls, by their seats
    Listing(BTreeMap<u32, usize>),
    LookingAgain(Collect),
    Pausing(u32),
}

impl Names {
    pub(super) fn new() -> Self {
        Self { at: At::Begun, before: BTreeMap::new(), lists: BTreeMap::new(), shown: None }
    }

    pub(super) fn begin(&mut self, turn: &mut Turn<'_>) -> Option<Answer> {
        self.at = At::Looking(Collect::all(Vec::new(), Patience::Agreement, turn));
        None
    }

    pub(super) fn view(&self) -> Option<&View> {
        self.shown.as_ref()
    }

    pub(super) fn take(&mut self, call: u32, event: Event, turn: &mut Turn<'_>) -> Option<Answer> {
        match &mut self.at {
            At::Looking(collect) | At::LookingAgain(collect) => match collect.take(call, &event, turn) {
                Err(error) => return Some(Answer::Refused(error)),
                Ok(Seen::Ended) => {}
                Ok(_) => return None,
            },
            At::Listing(calls) => {
                let seat = calls.remove(&call)?;
                if let Event::Named(names) = event {
                    self.lists.insert(seat, names);
                }
                if !calls.is_empty() {
                    return None;
                }
            }
            At::Pausing(timer) if *timer == call => return self.begin(turn),
            At::Pausing(_) | At::Begun => return None,
        }
        match std::mem::replace(&mut self.at, At::Begun) {
            At::Looking(collect) => self.list(collect.view, turn),
            At::LookingAgain(collect) => self.decide(collect.view, turn),
            _ => {
                let seats: Vec<_> = self.before.keys().copied().collect();
                self.at = At::LookingAgain(Collect::of(Vec::new(), &seats, Patience::All, turn));
                None
            }
        }
    }

    /// Asks the stores that count.
    fn list(&mut self, view: View, turn: &mut Turn<'_>) -> Option<Answer> {
        let era = view.era();
        let error = missing(&view, turn);
        let Some(era) = era else {
            let is_empty = view.is_complete();
            return Some(if is_empty { Answer::Names(Vec::new()) } else { Answer::Refused(error) });
        };
        self.before = view.voters(era).map(|shown| (shown.seat, shown.text.clone())).collect();
        self.lists.clear();
        self.at = At::Listing(self.before.keys().map(|&seat| (turn.names(seat), seat)).collect());
        self.shown = Some(view);
        None
    }

    /// A store whose seat is the same as before had all its data in between. As for a snapshot (Q4), no store may have been
    /// filled since another one listed its names.
    fn decide(&mut self, mut view: View, turn: &mut Turn<'_>) -> Option<Answer> {
        let (before, lists) = (&self.before, &self.lists);
        view.shown.retain(|shown| before.get(&shown.seat) == Some(&shown.text) && lists.contains_key(&shown.seat));
        if view.agreed().is_some() {
            let counted = view.shown.iter().filter_map(|shown| lists.get(&shown.seat));
            let names: BTreeSet<_> =
                counted.flatten().filter(|name| ![SEAT, LIST].contains(&name.as_str())).cloned().collect();
            return Some(Answer::Names(names.into_iter().collect()));
        }
        if turn.is_late() || view.shown.len() < view.majority() {
            return Some(Answer::Refused(if turn.is_late() { QuorumError::Torn } else { missing(&view, turn) }));
        }
        self.at = At::Pausing(turn.pause(LONGEST_PAUSE_MS));
        None
    }
}
