//! The rest of a tick, worked out once: after a claim, the numbers that follow it in the clock's tick cost one load, one
//! exchange and one addition each.
//!
//! A lane grants nothing that the claim before it did not: its numbers are those that the claim would have got if it had asked
//! for more. The limit never falls. If the cursor was retired, or moved to another window, its next number is outside the lane.
//! If another generator takes a number at the same moment, one of the two exchanges fails. A lane ends when its tick is no
//! longer trusted.

use crate::generator::cursor::{Claim, Cursor, Rule};

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
    pub const CLOSED: Self = Self { first: 0, count: 0, id: 0, step: 0 };

    /// Whether it has no numbers.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.count == 0
    }

    /// The numbers that follow a claim in its tick, as far as the rule allows them at the clock's tick `now`. `id` is that of
    /// the claim's first number, and `step` the distance of IDs in a tick.
    #[inline]
    pub fn after(claim: Claim, cursor: &Cursor, rule: &Rule, now: u64, (id, step): (u64, u64)) -> Self {
        let first = claim.base;
        Self { first, count: cursor.run_from(first, rule, now), id, step }
    }

    /// Takes the next number if it is in the lane, and not below `least`. Returns it and its ID.
    #[inline(always)]
    pub fn take(&self, cursor: &Cursor, least: u64) -> Option<(u64, u64)> {
        let next = cursor.next();
        let at = next.wrapping_sub(self.first);
        let is_taken = at < self.count && next >= least && cursor.take_one(next);
        is_taken.then(|| (next, self.id.wrapping_add(at.wrapping_mul(self.step))))
    }

    /// Leaves out all numbers.
    #[inline(always)]
    pub fn close(&mut self) {
        self.count = 0;
    }

    /// Leaves out the numbers after `last`.
    #[inline]
    pub fn end_at(&mut self, last: u64) {
        let most = last.saturating_add(1).saturating_sub(self.first);
        self.count = self.count.min(most);
    }
}
