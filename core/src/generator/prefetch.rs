//! Hazelcast's prefetch: numbers are claimed many at a time and returned one by one, as long as they are valid.

use std::num::NonZeroU64;

use crate::generator::cursor::Claim;

/// The `prefetch` option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PrefetchRule {
    /// the maximum number to claim at a time
    pub count: NonZeroU64,
    /// how long they may be returned, ns; 0 means forever
    pub validity_ns: u64,
}

/// Numbers that were claimed and not yet returned.
#[derive(Clone, Debug)]
pub struct Prefetch {
    rule: PrefetchRule,
    next: u64,
    left: u64,
    dead_at_ns: i128,
}

impl Prefetch {
    /// No numbers.
    pub fn new(rule: PrefetchRule) -> Self {
        Self { rule, next: 0, left: 0, dead_at_ns: i128::MAX }
    }

    /// How many numbers to claim at a time.
    pub fn count(&self) -> u64 {
        self.rule.count.get()
    }

    /// Whether the numbers held can expire.
    #[inline]
    pub fn expires(&self) -> bool {
        self.left > 0 && self.dead_at_ns != i128::MAX
    }

    /// Forgets the held numbers if they have expired at `now_ns`, which is the instant of the claim plus the validity or later
    /// .
    #[inline]
    pub fn expire(&mut self, now_ns: i128) {
        if now_ns >= self.dead_at_ns {
            self.left = 0;
            self.dead_at_ns = i128::MIN; // also for numbers set aside, even if the clock steps back
        }
    }

    /// Up to `n` of the held numbers; `None` if there are none.
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

    /// Sets aside the held numbers above `last`; returns how many.
    pub fn set_aside_above(&mut self, last: u64) -> u64 {
        let kept = last.saturating_add(1).saturating_sub(self.next).min(self.left);
        let aside = self.left - kept;
        self.left = kept;
        aside
    }

    /// Undoes [`set_aside_above`](Self::set_aside_above), which returned `aside`.
    pub fn put_back(&mut self, aside: u64) {
        self.left += aside;
    }

    /// Holds the claim of an instant (Unix ns). All earlier numbers have been taken.
    pub fn refill(&mut self, claim: Claim, now_ns: i128) {
        (self.next, self.left) = (claim.base, claim.got);
        self.dead_at_ns = match self.rule.validity_ns {
            0 => i128::MAX,
            validity => now_ns + i128::from(validity),
        };
    }
}
