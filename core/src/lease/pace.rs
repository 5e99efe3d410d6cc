//! How often the store is asked: the durations that follow from the ttl, with a random part. Correctness does not depend on
//! them: a holder that asks at another time generates no ID twice, but gets its window later.

use crate::lease::messages::{Action, Failure, Owner, Timing};

impl Timing {
    /// How often a window is renewed, and the longest time between two looks at the store.
    pub(super) fn interval(&self) -> i64 {
        (self.ttl_ms / 3).max(1)
    }

    /// The longest time to the next look. A later one was planned before the clock was set back.
    pub(super) fn longest_wait(&self) -> i64 {
        self.interval() + self.interval() / 10
    }

    /// How long to wait after this many consecutive failures.
    fn back_off(&self, failures: u16) -> i64 {
        let longest = (self.ttl_ms / 6).max(1);
        100.min(longest).saturating_mul(1 << failures.min(16)).min(longest)
    }
}

/// The context of a step.
pub(super) struct Turn {
    pub now: i64,
    pub fresh: Owner,
    pub actions: Vec<Action>,
}

impl Turn {
    pub fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// A random part of `span`, so that a thousand holders do not all ask in the same millisecond.
    fn part_of(&self, span: i64) -> i64 {
        (self.fresh % (span.max(0) as u128 + 1)) as i64
    }

    /// `span`, plus or minus 10 %.
    pub fn about(&self, span: i64) -> i64 {
        span - span / 10 + self.part_of(span / 10 * 2)
    }

    /// How long to wait after a failure, with `failures` before it: until the time that the store named, but at most one
    /// interval, because a slot may be released and clocks corrected earlier.
    pub fn delay(&self, timing: &Timing, failure: Failure, failures: u16) -> i64 {
        match failure {
            Failure::Quiet { until: end, store_now } | Failure::Exhausted { retry_at: end, store_now } => {
                let rest = end.saturating_sub(store_now).saturating_add(self.part_of(timing.interval() / 10));
                rest.clamp(timing.back_off(0), timing.interval())
            }
            _ => self.about(timing.back_off(failures)),
        }
    }
}
