//! What the searches of one client saw of a large group, so that each looks where the others have not. A part counts as full
//! only after a look at it.

use crate::hash::random;

/// The number of slots per part.
pub(super) const AT_ONCE: u32 = 1024;

/// What the searches of one client saw of a large group, part by part. Many may run at the same time: each looks at another
/// part, and all learn from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Parts(pub Vec<Part>);

/// The slots that one look shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// start of the last look that showed no free slot; 0 for none
    pub full_at: u64,
    /// the earliest end that it showed
    pub earliest: i64,
    /// number of free slots to which no search was sent yet
    pub free: u32,
    /// when a search was last sent to look at it
    pub asked_at: u64,
}

impl Parts {
    /// All parts of a group with this many slots.
    pub fn of(&mut self, slots: u32) -> &mut [Part] {
        self.0.resize(slots.div_ceil(AT_ONCE) as usize, Part::default());
        &mut self.0
    }

    /// The part to look at next: where a slot may be free, or else one that was not seen full since then. Among these, the
    /// one that was not looked at for the longest time.
    pub fn next(&self, slots: u32, since: u64, random: &mut Random) -> u32 {
        let known = |part: u32| self.0.get(part as usize).copied().unwrap_or_default();
        let open = (0..slots.div_ceil(AT_ONCE)).filter(|&part| known(part).free > 0 || known(part).full_at <= since);
        let next = open.min_by_key(|&part| (known(part).free == 0, known(part).asked_at, random.below(u32::MAX)));
        next.unwrap_or(0)
    }
}

/// SplitMix64, to spread choices; nothing depends on its quality.
pub(super) struct Random(pub u64);

impl Random {
    /// A number below the bound.
    pub fn below(&mut self, bound: u32) -> u32 {
        let number = random(self.0, 1);
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        ((u128::from(number) * u128::from(bound)) >> 64) as u32
    }
}
