//! Windows as sets of points in time, relative to now, so that the past can be forgotten.

use crate::world::UNIT;

/// How many steps of the past are remembered. No window begins before that. Every answer is checked for this.
pub const PAST: i64 = 1;

/// Two bits for each step of time: one for the step itself, one for the time up to the next. The lowest is `PAST` steps
/// ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Points(u64);

impl Points {
    /// The points from `lo` to `hi`, milliseconds, both included, if the time now is `time`.
    pub fn window(time: i64, lo: i64, hi: i64) -> Self {
        let place = |ms: i64| (ms.div_euclid(UNIT) - time + PAST) * 2 + i64::from(ms.rem_euclid(UNIT) != 0);
        let (first, last) = (place(lo).max(0), place(hi).min(63));
        Self((first..=last).map(|place| 1 << place).sum())
    }

    /// The same points one step of time later.
    pub fn later(self) -> Self {
        Self(self.0 >> 2)
    }

    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}
