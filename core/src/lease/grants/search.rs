//! Which slots a search for a free one looks at. Many members may look at the same time, so each looks at other slots
//! and chooses at random: a few random slots first, then all.
//!
//! This file must never say that no slot is free before it has looked at each of them.

use crate::lease::grants::view::{View, readable};

/// From so many slots on, the first looks show only some of them.
const FEW: u32 = 64;
/// How many slots of the first looks follow from the host's name: the others are random.
const HOME: usize = 4;
/// All of them.
const SAMPLE: usize = 32;
/// How often only some are looked at.
const SAMPLES: u8 = 2;
/// How many slots are looked at together when all are.
const AT_ONCE: u32 = 1024;

/// A search, as far as it got.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Search {
    looks: u8,
    pass: Option<Pass>,
    /// a swap succeeded: the next look shows only the slots that were tried
    is_checking: bool,
}

/// A look at all slots, one part after the other, beginning anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Pass {
    part: u32,
    left: u32,
    /// the lowest end that was seen
    earliest: i64,
    /// whether no swap failed: the slot may be free after all
    is_clean: bool,
}

impl Search {
    /// The slots to read, without repetition.
    pub fn slots(&mut self, slots: u32, host: &str, tried: &[u32], fresh: u128) -> Vec<u32> {
        let mut chosen: Vec<u32> = tried.iter().copied().filter(|&slot| slot < slots).collect();
        if self.is_checking {
            return chosen;
        }
        let mut random = Random(fresh as u64 ^ (fresh >> 64) as u64);
        if slots > FEW && self.looks < SAMPLES {
            self.looks += 1;
            let mut home = Random(hash(host));
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
        let parts = slots.div_ceil(AT_ONCE);
        let pass = self.pass.get_or_insert_with(|| Pass {
            part: random.below(parts),
            left: parts,
            earliest: i64::MAX,
            is_clean: true,
        });
        let first = pass.part % parts * AT_ONCE;
        let part = first..slots.min(first.saturating_add(AT_ONCE));
        chosen.retain(|slot| !part.contains(slot));
        chosen.extend(part);
        chosen
    }

    /// What came of a swap.
    pub fn swapped(&mut self, is_done: bool) {
        self.is_checking = is_done;
        if let (false, Some(pass)) = (is_done, &mut self.pass) {
            pass.is_clean = false;
        }
    }

    /// Whether the last look showed only the slots that were tried. The next one shows others again.
    pub fn is_checking(&mut self) -> bool {
        let was = std::mem::take(&mut self.is_checking);
        if let (true, Some(pass)) = (was, &mut self.pass) {
            pass.is_clean = false;
        }
        was
    }

    /// A free slot: at random among those that this host had last, else among those never used, else among the quarter
    /// that has rested longest.
    pub fn choose(&self, view: &View, host: &str) -> Option<u32> {
        let mut random = Random((view.fresh >> 64) as u64 ^ view.fresh as u64 ^ 1);
        let mut free: Vec<_> = readable(view).filter(|(_, slot)| slot.hi < view.now).collect();
        let own: Vec<u32> = free.iter().filter(|(_, slot)| slot.host == host).map(|(number, _)| *number).collect();
        let unused: Vec<u32> =
            view.slots.iter().filter(|(_, record)| record.is_none()).map(|(number, _)| *number).collect();
        free.sort_by_key(|(number, slot)| (slot.hi, *number));
        let rested = free.iter().map(|(number, _)| *number).take(free.len().div_ceil(4)).collect();
        let best = [own, unused, rested].into_iter().find(|class| !class.is_empty())?;
        Some(best[random.below(best.len() as u32) as usize])
    }

    /// No slot of the last look was free. Once all were looked at, this is the time when one may be free.
    pub fn none_free(&mut self, view: &View) -> Option<i64> {
        let pass = self.pass.as_mut()?;
        pass.earliest = readable(view).map(|(_, slot)| slot.hi.saturating_add(1)).fold(pass.earliest, i64::min);
        pass.left -= 1;
        pass.part += 1;
        if pass.left > 0 {
            return None;
        }
        let Pass { earliest, is_clean, .. } = self.pass.take()?;
        is_clean.then_some(earliest)
    }
}

/// SplitMix64: spreads choices; nothing depends on how well.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(bound)) >> 64) as u32
    }
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
