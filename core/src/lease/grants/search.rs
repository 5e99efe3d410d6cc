//! Which slots a search for a free one looks at. Many members may search at the same time, so each looks at other slots and
//! chooses at random: first a few random slots, then all. The searches of one client share what they saw. No slot is reported
//! free, and the group is reported full only after a look at each slot.

use crate::hash::hash;
use crate::lease::grants::memory::Memory;
use crate::lease::grants::parts::{AT_ONCE, Parts, Random};
use crate::lease::grants::record::SlotRecord;
use crate::lease::grants::task::Seeker;
use crate::lease::grants::view::{View, readable};

/// From this number of slots on, the first looks only show some of them.
const FEW: u32 = 64;
/// How many slots of the first looks follow from the host's name; the others are random.
const HOME: usize = 4;
/// All of them.
const SAMPLE: usize = 32;
/// How many looks only show some slots.
const SAMPLES: u8 = 2;
/// The progress of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Search {
    looks: u8,
    /// its start, or the failure of its last swap, as a turn of the client's memory: earlier observations no longer count
    since: u64,
    /// the part that the last look showed
    part: Option<u32>,
    /// a swap was clean: the next look only shows the slots that were tried
    is_checking: bool,
}

/// Whether a group has too many slots for every look to show all of them.
pub(super) fn is_large(slots: u32) -> bool {
    slots > FEW
}

/// A free slot, and its last use.
pub(super) type Free<'a> = (u32, Option<&'a SlotRecord>);

impl Search {
    /// A search that starts now.
    pub fn begun(since: u64) -> Self {
        Self { since, ..Self::default() }
    }

    /// The slots to read, without repetition.
    pub fn slots(&mut self, slots: u32, seeker: &Seeker, memory: &Memory, (group, fresh): (&str, u128)) -> Vec<u32> {
        let mut chosen: Vec<u32> = memory.tried(seeker.owner).iter().copied().filter(|&slot| slot < slots).collect();
        self.part = None;
        if self.is_checking {
            return chosen;
        }
        let mut random = Random(fresh as u64 ^ (fresh >> 64) as u64);
        if is_large(slots) && self.looks < SAMPLES {
            self.looks += 1;
            let mut home = Random(hash(seeker.host.as_bytes()));
            let homes = chosen.len() + HOME;
            let enough = (chosen.len() + SAMPLE).min(slots as usize);
            while chosen.len() < enough {
                let slot = if chosen.len() < homes { home.below(slots) } else { random.below(slots) };
                if !chosen.contains(&slot) {
                    chosen.push(slot);
                }
            }
            return chosen;
        }
        let part = match memory.parts(group) {
            Some(parts) => parts.next(slots, self.since, &mut random),
            None => random.below(slots.div_ceil(AT_ONCE).max(1)), // a group without slots has no free one
        };
        self.part = Some(part);
        let first = part * AT_ONCE;
        let part = first..slots.min(first.saturating_add(AT_ONCE));
        chosen.retain(|slot| !part.contains(slot));
        chosen.extend(part);
        chosen
    }

    /// The next look is in progress: other searches look at other parts.
    pub fn sent(&self, slots: u32, turn: u64, parts: &mut Parts) {
        let Some(part) = self.part.and_then(|part| parts.of(slots).get_mut(part as usize)) else { return };
        (part.free, part.asked_at) = (part.free.saturating_sub(1), turn);
    }

    /// Takes the result of a swap. If it failed, the slot may be free after all, and so may others by now.
    pub fn swapped(&mut self, is_clean: bool, turn: u64) {
        self.is_checking = is_clean;
        if !is_clean {
            self.since = turn;
        }
    }

    /// Whether the last look only showed the slots that were tried. The next look shows other slots again.
    pub fn is_checking(&mut self, turn: u64) -> bool {
        let was = std::mem::take(&mut self.is_checking);
        if was {
            self.since = turn;
        }
        was
    }

    /// Chooses one of these free slots: at random among those that this host had last, else among those never used, else
    /// among the quarter that has rested longest. Those that other searches of this client are at come last.
    pub fn choose<'a>(&self, free: &[Free<'a>], seeker: &Seeker, memory: &Memory, fresh: u128) -> Option<Free<'a>> {
        let taken = memory.tried_by_others(seeker.owner);
        let (others, open): (Vec<_>, Vec<_>) = free.iter().copied().partition(|(slot, _)| taken.contains(slot));
        let free = if open.is_empty() { others } else { open };
        let host = &seeker.host;
        let mut random = Random((fresh >> 64) as u64 ^ fresh as u64 ^ 1);
        let (unused, mut used): (Vec<_>, Vec<_>) = free.into_iter().partition(|(_, record)| record.is_none());
        let own: Vec<_> =
            used.iter().copied().filter(|(_, record)| record.is_some_and(|slot| slot.host == *host)).collect();
        used.sort_by_key(|(number, record)| (record.map(|slot| slot.hi), *number));
        used.truncate(used.len().div_ceil(4));
        let best = [own, unused, used].into_iter().find(|class| !class.is_empty())?;
        Some(best[random.below(best.len() as u32) as usize])
    }

    /// Shares what the last look showed of its part with all searches of this client. `sent`: when it started; `free`: how
    /// many.
    pub fn keep(&self, view: &View, slots: u32, (sent, free): (u64, usize), parts: &mut Parts) {
        let Some(part) = self.part.and_then(|part| parts.of(slots).get_mut(part as usize)) else { return };
        let ends = readable(view).map(|(_, slot)| slot.hi);
        part.free = (free as u32).saturating_sub(1); // this search takes one
        if free == 0 {
            (part.full_at, part.earliest) = (sent, ends.fold(i64::MAX, i64::min).saturating_add(1));
        }
    }

    /// No slot of the last look was free. Once all were looked at, returns when one may be free.
    pub fn none_free(&self, view: &View, slots: u32, parts: Option<&Parts>) -> Option<i64> {
        let Some(Parts(parts)) = parts.filter(|_| is_large(slots)) else {
            self.part?;
            return Some(readable(view).map(|(_, slot)| slot.hi.saturating_add(1)).fold(i64::MAX, i64::min));
        };
        let is_all = parts.len() == slots.div_ceil(AT_ONCE) as usize;
        let is_over = is_all && parts.iter().all(|part| part.full_at > self.since);
        is_over.then(|| parts.iter().map(|part| part.earliest).fold(i64::MAX, i64::min))
    }
}
