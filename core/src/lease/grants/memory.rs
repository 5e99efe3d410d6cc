//! What a client remembers from step to step, for one store: whether it saw the store go back, and what it was given.
//!
//! This file must never forget a loss before the record says so.

use std::collections::BTreeMap;

use crate::lease::grants::parts::Parts;
use crate::lease::messages::Owner;

/// The longest ttl that a group may have, in ms. A quiet period lasts longer than any window that may have been forgotten,
/// so a longer ttl would let windows overlap.
pub const LONGEST_TTL_MS: i64 = 60_000;

/// The longest times that may be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// the longest ttl that a group may have, and the one to assume of what was forgotten
    pub longest_ttl_ms: i64,
    /// the skew to assume of a group that is unknown
    pub usual_skew_ms: i64,
    /// how much time of the store may pass between the two reads of `Create`
    pub create_within_ms: i64,
    /// how often in a quiet period a server that was replaced may come back
    pub most_returns: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { longest_ttl_ms: LONGEST_TTL_MS, usual_skew_ms: 5_000, create_within_ms: 1_000, most_returns: 2 }
    }
}

/// A counter as this client was last given a block of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub lineage: u64,
    pub value: u64,
}

/// The highest position that was seen of each history. A promotion begins another one, whose position may be lower.
type Heights = Vec<(String, u64)>;

/// What was known when a read was sent: answers may come in another order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    heights: Heights,
    losses: u64,
    pub limits: Limits,
    pub turns: u64,
}

/// How many histories are remembered: those that were seen last.
const MOST_HISTORIES: usize = 16;
/// How many searches are remembered: each may have been granted a slot by a swap whose answer was lost.
const MOST_SEARCHES: usize = 1024;
/// How many slots of a search are read again: the last ones.
const MOST_TRIED: usize = 32;

/// What a client remembers of one store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    limits: Limits,
    heights: Heights,
    /// how often a position fell
    losses: u64,
    /// how many of these each record says
    noted: BTreeMap<(&'static str, String), u64>,
    /// the slots that were swapped for an owner without an answer yet
    tried: Vec<(Owner, Vec<u32>)>,
    counters: BTreeMap<String, Known>,
    /// counts answers
    turns: u64,
    /// what searches saw of large groups
    parts: BTreeMap<String, Parts>,
}

impl Memory {
    /// The memory of a client that counts other times: only tests need one.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    pub(super) fn sent(&self) -> Sent {
        Sent { heights: self.heights.clone(), losses: self.losses, limits: self.limits, turns: self.turns }
    }

    /// Compares a position with the highest one of this history that was known when the read was sent. Once it fell, it
    /// counts from there; reads that were sent before that show nothing new.
    pub(super) fn see(&mut self, history: &str, position: Option<u64>, sent: &Sent) {
        let Some(position) = position else { return };
        if sent.losses != self.losses {
            return;
        }
        let has_fallen = height(&sent.heights, history).is_some_and(|highest| position < highest);
        let highest = if has_fallen { None } else { height(&self.heights, history) };
        self.losses += u64::from(has_fallen);
        self.heights.retain(|(known, _)| known != history);
        self.heights.push((history.to_owned(), highest.map_or(position, |highest| highest.max(position))));
        let surplus = self.heights.len().saturating_sub(MOST_HISTORIES);
        self.heights.drain(..surplus);
    }

    /// Whether the store went back since this record was last seen or noted it. What the first look finds is accepted.
    pub(super) fn is_lost(&mut self, kind: &'static str, name: &str, sent: &Sent) -> bool {
        *self.noted.entry((kind, name.to_owned())).or_insert(sent.losses) < self.losses
    }

    /// The record says that so many losses happened.
    pub(super) fn note(&mut self, kind: &'static str, name: &str, losses: u64) {
        let noted = self.noted.entry((kind, name.to_owned())).or_insert(losses);
        *noted = losses.max(*noted);
    }

    pub(super) fn tried(&self, owner: Owner) -> &[u32] {
        self.tried.iter().find(|(known, _)| *known == owner).map_or(&[], |(_, slots)| slots)
    }

    pub(super) fn try_slot(&mut self, owner: Owner, slot: u32) {
        match self.tried.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, slots)) if slots.contains(&slot) => {}
            Some((_, slots)) => {
                slots.push(slot);
                let surplus = slots.len().saturating_sub(MOST_TRIED);
                slots.drain(..surplus);
            }
            None => {
                self.tried.push((owner, vec![slot]));
                let surplus = self.tried.len().saturating_sub(MOST_SEARCHES);
                self.tried.drain(..surplus);
            }
        }
    }

    pub(super) fn forget(&mut self, owner: Owner) {
        self.tried.retain(|(known, _)| *known != owner);
    }

    /// An answer came. Returns the turn that it ends: what was asked in a later one was asked after this answer.
    pub(super) fn turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns - 1
    }

    pub(super) fn turns(&self) -> u64 {
        self.turns
    }

    pub(super) fn parts(&self, group: &str) -> Option<&Parts> {
        self.parts.get(group)
    }

    pub(super) fn parts_mut(&mut self, group: &str) -> &mut Parts {
        self.parts.entry(group.to_owned()).or_default()
    }

    pub(super) fn counter(&self, name: &str) -> Option<Known> {
        self.counters.get(name).copied()
    }

    /// Answers may come in another order than their blocks.
    pub(super) fn keep_counter(&mut self, name: &str, known: Known) {
        let kept = self.counters.entry(name.to_owned()).or_insert(known);
        if kept.lineage != known.lineage || kept.value < known.value {
            *kept = known;
        }
    }
}

fn height(heights: &Heights, history: &str) -> Option<u64> {
    heights.iter().find(|(known, _)| known == history).map(|(_, highest)| *highest)
}
