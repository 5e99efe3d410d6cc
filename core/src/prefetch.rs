//! Hazelcast's prefetch: numbers are claimed many at a time and handed out one by one, for as long as they are valid.
//!
//! This file must never hand a number out twice, or one after its time.

use std::num::NonZeroU64;

use crate::cursor::Claim;

/// What the option says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrefetchRule {
    /// how many numbers to claim at a time, at most
    pub count: NonZeroU64,
    /// how long they may be handed out, in nanoseconds; 0: for ever
    pub validity_ns: u64,
}

/// Numbers that were claimed and not yet handed out.
#[derive(Clone, Debug)]
pub struct Prefetch {
    /// how they are claimed
    pub rule: PrefetchRule,
    next: u64,
    left: u64,
    dead_at_ns: i128,
}

impl Prefetch {
    /// Nothing claimed yet.
    pub fn new(rule: PrefetchRule) -> Self {
        Self { rule, next: 0, left: 0, dead_at_ns: i128::MAX }
    }

    /// Whether time matters to what is held.
    #[inline]
    pub fn expires(&self) -> bool {
        self.left > 0 && self.dead_at_ns != i128::MAX
    }

    /// Forgets what is held if it is dead at `now_ns`: at the claim's instant plus the validity, and ever after.
    #[inline]
    pub fn expire(&mut self, now_ns: i128) {
        if now_ns >= self.dead_at_ns {
            self.left = 0;
        }
    }

    /// Up to `n` of the numbers held; `None` when there is none.
    #[inline]
    pub fn take(&mut self, n: u64) -> Option<Claim> {
        let got = n.min(self.left);
        if got == 0 {
            return None;
        }
        let base = self.next;
        self.next += got;
        self.left -= got;
        Some(Claim { base, got })
    }

    /// Holds what was claimed at an instant (Unix nanoseconds). What it held before must have been taken.
    pub fn refill(&mut self, claim: Claim, now_ns: i128) {
        (self.next, self.left) = (claim.base, claim.got);
        self.dead_at_ns = match self.rule.validity_ns {
            0 => i128::MAX,
            validity => now_ns + i128::from(validity),
        };
    }
}
