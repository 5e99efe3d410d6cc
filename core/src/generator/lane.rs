//! The numbers after a claim, worked out once: each of them costs one load, one exchange and one addition.
//!
//! A lane grants nothing that the claim before it did not: its numbers are those that the claim would have got if it had asked
//! for more. The limit never falls. If the cursor was retired, or moved to another window, its next number is outside the lane.
//! If another generator takes a number at the same moment, one of the two exchanges fails.
//!
//! The rule would give the same numbers until the clock has passed the tick of the claim. The generator uses the lane no longer
//! than that. Usually, this is the clock's tick. Where numbers run ahead of the clock, it is a later one, and the clock
//! need not be read for several of its own ticks.

use crate::generator::cursor::{Claim, Cursor, Rule};
use crate::layout::packing::Stride;

/// Numbers that a generator may take without looking at its rule again, and their IDs.
#[derive(Clone, Copy, Debug)]
pub struct Lane {
    first: u64,
    count: u64,
    /// the ID of `first`
    id: u64,
    /// from one ID to the next
    step: u64,
}

impl Lane {
    /// A lane without numbers.
    pub const EMPTY: Self = Self { first: 0, count: 0, id: 0, step: 0 };

    /// The numbers that follow a claim as far as the stride goes, and as far as the rule allows them at the clock's tick `now`.
    /// `id` is that of the claim's first number.
    #[inline]
    pub fn after(claim: Claim, id: u64, stride: Stride, cursor: &Cursor, rule: &Rule, now: u64) -> Self {
        let first = claim.base;
        let count = cursor.run_from(first, rule, now).min((first | stride.span).saturating_add(1) - first);
        Self { first, count, id, step: stride.step }
    }

    /// Takes the next number if it is in the lane, and not below `least`. Returns it and its ID.
    #[inline(always)]
    pub fn take(&self, cursor: &Cursor, least: u64) -> Option<(u64, u64)> {
        let next = cursor.next();
        let at = next.wrapping_sub(self.first);
        let is_taken = at < self.count && next >= least && cursor.take_one(next);
        is_taken.then(|| (next, self.id.wrapping_add(at.wrapping_mul(self.step))))
    }

    /// Leaves out the numbers after `last`.
    #[inline]
    pub fn end_at(&mut self, last: u64) {
        let most = last.saturating_add(1).saturating_sub(self.first);
        self.count = self.count.min(most);
    }
}
