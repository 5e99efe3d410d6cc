//! The holder's state machine for JavaScript: events in, actions out, both as plain objects. `lib/lease/lease.ts` performs
//! the actions.

use flakeforge_core::lease;
use flakeforge_core::lease::messages::{Action, Event, Failure, Grant, News, State, Timing, Why};
use napi_derive::napi;

use crate::mirror::mirror;
use crate::number::{Call, Token, Whole};

/// The state machine of a lease's holder.
#[napi]
pub struct LeaseMachine {
    core: lease::Machine,
}

/// The durations that a lease uses.
#[napi(object)]
pub struct MachineConfig {
    /// how long a window reaches beyond the store's time
    pub ttl_ms: Whole<i64>,
    /// how long `attach` waits
    pub wait_ms: Whole<i64>,
}

mirror! {
    #[doc = "What happened."]
    #[napi(discriminant_case = "camelCase", object_to_js = false)]
    pub enum MachineEvent into Event {
        Attach,
        Seek,
        Detach,
        Destroy,
        Time,
        GiveUp,
        RenewNow,
        Opened { owner: Token },
        InUse { owner: Token },
        Ended,
        Granted { owner: Token, slot: Whole<u32>, lo: Whole<i64>, hi: Whole<i64> }
            = (Event::Granted(Grant { owner, slot, lo, hi })),
        Renewed { owner: Token, lo: Whole<i64>, hi: Whole<i64> },
        Lost { owner: Token },
        Destroyed { asked: Call, owner: Token },
        Released { owner: Token },
        Failed { asked: Call, owner: Token, failure: MachineFailure },
    }
}

mirror! {
    #[doc = "Why a call to the store failed. `retry_at`: when to try again, by the store's clock."]
    #[napi(discriminant = "why", discriminant_case = "camelCase", object_to_js = false)]
    pub enum MachineFailure into Failure {
        Store,
        Passing,
        Quiet { retry_at: Whole<i64>, store_now: Whole<i64> } = (Failure::Quiet { until: retry_at, store_now }),
        Exhausted { retry_at: Whole<i64>, store_now: Whole<i64> },
        Skew,
        Fatal,
    }
}

mirror! {
    #[doc = "What to do. `lo` and `hi` are the first and the last ms of a window, `at` is Unix ms."]
    #[napi(discriminant_case = "camelCase", object_from_js = false)]
    pub enum MachineAction from Action {
        Acquire { owner: Token },
        Renew { owner: Token, slot: u32, hi: i64 },
        Retire,
        Release { owner: Token, slot: u32 },
        GiveBack { owner: Token, slot: u32 },
        End,
        Open { owner: Token, slot: u32, lo: i64, hi: i64 } = (Action::Open(Grant { owner, slot, lo, hi })),
        Raise { lo: i64, hi: i64 },
        Wait { at: i64 },
        Resolve,
        Reject { why: String = name_of(why).into() } = (Action::Reject(why)),
        Tell { event: String = event_of(event).into() } = (Action::Tell(event)),
    }
}

#[napi]
impl LeaseMachine {
    /// Holds no slot.
    #[napi(constructor, catch_unwind)]
    pub fn new(config: MachineConfig) -> Self {
        let MachineConfig { ttl_ms, wait_ms } = config;
        Self { core: lease::Machine::new(Timing { ttl_ms: ttl_ms.0, wait_ms: wait_ms.0 }) }
    }

    /// Takes an event at the local time `now`, Unix ms. `fresh` was never used before.
    #[napi(catch_unwind)]
    pub fn step(&mut self, event: MachineEvent, now: Whole<i64>, fresh: Token) -> Vec<MachineAction> {
        self.core.step(now.0, event.into(), fresh.0).into_iter().map(MachineAction::from).collect()
    }

    /// attached, detached or destroyed
    #[napi(getter, catch_unwind)]
    pub fn state(&self) -> &'static str {
        match self.core.state() {
            State::Attached => "attached",
            State::Detached => "detached",
            State::Destroyed => "destroyed",
        }
    }

    /// The held slot.
    #[napi(getter, catch_unwind)]
    pub fn slot(&self) -> Option<u32> {
        self.core.held().map(|grant| grant.slot)
    }

    /// The last ms of the window.
    #[napi(getter, catch_unwind)]
    pub fn hi(&self) -> Option<i64> {
        self.core.held().map(|grant| grant.hi)
    }

    /// Whether the search continues until a slot is open.
    #[napi(getter, catch_unwind)]
    pub fn is_recovering(&self) -> bool {
        self.core.is_recovering()
    }

    /// Whether an answer to this request still counts.
    #[napi(catch_unwind)]
    pub fn awaits(&self, asked: Call, owner: Token) -> bool {
        self.core.awaits(asked.0, owner.0)
    }

    /// Whether no answer of the store is pending.
    #[napi(getter, catch_unwind)]
    pub fn is_settled(&self) -> bool {
        self.core.is_settled()
    }

    /// Whether a renewal is in progress.
    #[napi(getter, catch_unwind)]
    pub fn is_renewing(&self) -> bool {
        self.core.is_renewing()
    }

    /// Whether the last renewal failed or has no answer.
    #[napi(catch_unwind)]
    pub fn renewals_fail(&self, now: Whole<i64>) -> bool {
        self.core.renewals_fail(now.0)
    }
}

/// Why an attach failed. If the store refused, JavaScript already has the error.
fn name_of(why: Why) -> &'static str {
    match why {
        Why::Refused(_) => "refused",
        Why::Late => "late",
        Why::Ahead => "ahead",
        Why::Detached => "detached",
        Why::Destroyed => "destroyed",
    }
}

fn event_of(news: News) -> &'static str {
    match news {
        News::Attached => "attached",
        News::Renewed => "renewed",
        News::RenewalFailed => "renewal-failed",
        News::Lost => "lost",
        News::Detached => "detached",
        News::Destroyed => "destroyed",
    }
}
