//! What a client remembers from step to step, for one store: whether it saw the store go back, and what it was given. A loss
//! is remembered until the record notes it.

use std::collections::{BTreeMap, BTreeSet};

use crate::lease::grants::parts::Parts;
use crate::lease::messages::Owner;

/// The longest ttl of a group, ms. A quiet period lasts longer than any window that may have been forgotten, so a longer ttl
/// would let windows overlap.
pub const LONGEST_TTL_MS: i64 = 60_000;

/// Upper bounds of durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// the longest ttl of a group, and the assumed ttl of what was forgotten
    pub longest_ttl_ms: i64,
    /// the assumed skew of an unknown group
    pub usual_skew_ms: i64,
    /// how much time of the store may pass between the two reads of `Create`
    pub create_within_ms: i64,
    /// how often a replaced server may come back in a quiet period
    pub most_returns: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { longest_ttl_ms: LONGEST_TTL_MS, usual_skew_ms: 5_000, create_within_ms: 1_000, most_returns: 2 }
    }
}

/// A counter at the time of this client's last block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Known {
    pub life: u64,
    pub lineage: u64,
    pub value: u64,
}

/// The highest position seen in each history. A promotion starts another history, whose position may be lower.
type Heights = Vec<(String, u64)>;

/// What was known when a read was sent: answers may come in another order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sent {
    heights: Heights,
    losses: u64,
    pub limits: Limits,
    pub turns: u64,
}

/// How many histories are remembered, the latest ones.
const MOST_HISTORIES: usize = 16;
/// How many searches are remembered: each may have been granted a slot by a swap whose answer was lost.
const MOST_SEARCHES: usize = 1024;
/// How many of the latest slots of a search are read again.
const MOST_TRIED: usize = 32;

/// What a client remembers about one store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    limits: Limits,
    heights: Heights,
    /// how often a position fell
    losses: u64,
    /// how many of these each record notes
    noted: BTreeMap<(&'static str, String), u64>,
    /// the slots that were swapped for an owner without an answer yet
    tried: Vec<(Owner, Vec<u32>)>,
    counters: BTreeMap<String, Known>,
    /// number of answers
    turns: u64,
    /// what searches saw of large groups
    parts: BTreeMap<String, Parts>,
}

impl Memory {
    /// The memory of a client with other limits, for tests.
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    pub(super) fn sent(&self) -> Sent {
        Sent { heights: self.heights.clone(), losses: self.losses, limits: self.limits, turns: self.turns }
    }

    /// Compares a position with the highest one of its history that was known when the read was sent. After a fall, it counts
    /// from the new one; reads that were sent before that show nothing new.
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

    /// Whether the store went back since this record was last seen or noted it. The state at the first look is accepted.
    pub(super) fn is_lost(&mut self, kind: &'static str, name: &str, sent: &Sent) -> bool {
        *self.noted.entry((kind, name.to_owned())).or_insert(sent.losses) < self.losses
    }

    /// The record notes this many losses.
    pub(super) fn note(&mut self, kind: &'static str, name: &str, losses: u64) {
        let noted = self.noted.entry((kind, name.to_owned())).or_insert(losses);
        *noted = losses.max(*noted);
    }

    pub(super) fn tried(&self, owner: Owner) -> &[u32] {
        self.tried.iter().find(|(known, _)| *known == owner).map_or(&[], |(_, slots)| slots)
    }

    /// The slots that other searches of this client are at.
    pub(super) fn tried_by_others(&self, owner: Owner) -> BTreeSet<u32> {
        let others = self.tried.iter().filter(|(known, _)| *known != owner);
        others.flat_map(|(_, slots)| slots).copied().collect()
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

    /// An answer arrived. Returns the turn that it ends: a request of a later turn was sent after this answer.
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
