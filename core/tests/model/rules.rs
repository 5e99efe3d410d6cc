//! The settings of a run: the group, and what may go wrong.

use flakeforge_core::grants::Config;
use flakeforge_core::lease::{self, Lease};

use crate::faults::Fault;
use crate::world::UNIT;

/// The settings of one run.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// in steps of time
    pub ttl: i64,
    /// in steps of time
    pub skew: i64,
    pub slots: u32,
    /// how many things may go wrong in total
    pub budget: u8,
    /// which kinds of things may go wrong
    pub troubles: &'static [Trouble],
    /// the mistake made on purpose
    pub fault: Fault,
}

/// What may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// a member dies, and its messages may still arrive; or a dead member is started again
    Crash,
    /// a request or its answer is late, or is lost
    Delay,
    /// a member leaves
    Detach,
    /// a member ends the group
    Destroy,
    /// the store's clock is changed within the skew
    StoreClock,
    /// a member's clock is changed within the skew
    MemberClock,
    /// another generator of the process has the node number of the next slot
    InUse,
    /// a member that waits for a slot has waited long enough
    GiveUp,
    /// the store goes back to an earlier state
    Loss,
    /// the store forgets everything
    Flush,
}

impl Trouble {
    pub const ALL: &[Self] = &[
        Self::InUse,
        Self::GiveUp,
        Self::Crash,
        Self::Delay,
        Self::Detach,
        Self::Destroy,
        Self::StoreClock,
        Self::MemberClock,
        Self::Loss,
        Self::Flush,
    ];
}

impl Rules {
    pub fn config(&self) -> Config {
        let (ttl_ms, skew_ms) = (self.ttl * UNIT, self.skew * UNIT);
        Config { fingerprint: String::new(), slots: self.slots, ttl_ms, skew_ms }
    }

    /// A lease that waits for ever.
    pub fn lease(&self) -> Lease {
        Lease::new(lease::Config { ttl_ms: self.ttl * UNIT, wait_ms: i64::MAX })
    }
}
