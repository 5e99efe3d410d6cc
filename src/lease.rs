//! The holder's state machine for JavaScript: events in, actions out, both as plain objects. `lib/lease/lease.ts` performs
//! the actions.

use flakeforge_core::lease;
use flakeforge_core::lease::messages::{Action, Asked, Event, Failure, Grant, News, Owner, State, Timing, Why};
use napi::bindgen_prelude::{Error, Result};
use napi_derive::napi;

use crate::number::Whole;

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

/// What happened.
#[napi(discriminant_case = "camelCase", object_to_js = false)]
pub enum MachineEvent {
    Attach,
    Seek,
    Detach,
    Destroy,
    Time,
    GiveUp,
    RenewNow,
    Opened { owner: String },
    InUse { owner: String },
    Ended,
    Granted { owner: String, slot: Whole<u32>, lo: Whole<i64>, hi: Whole<i64> },
    Renewed { owner: String, lo: Whole<i64>, hi: Whole<i64> },
    Lost { owner: String },
    Destroyed { asked: String, owner: String },
    Released { owner: String },
    Failed { asked: String, owner: String, failure: MachineFailure },
}

/// Why a call to the store failed. `retry_at`: when to try again, by the store's clock.
#[napi(discriminant = "why", discriminant_case = "camelCase", object_to_js = false)]
pub enum MachineFailure {
    Store,
    Passing,
    Quiet { retry_at: Whole<i64>, store_now: Whole<i64> },
    Exhausted { retry_at: Whole<i64>, store_now: Whole<i64> },
    Skew,
    Fatal,
}

/// What to do. An owner is 32 hex digits; `lo` and `hi` are the first and the last ms of a window, `at` is Unix ms.
#[napi(discriminant_case = "camelCase", object_from_js = false)]
pub enum MachineAction {
    Acquire { owner: String },
    Renew { owner: String, slot: u32, hi: i64 },
    Retire,
    Release { owner: String, slot: u32 },
    GiveBack { owner: String, slot: u32 },
    End,
    Open { owner: String, slot: u32, lo: i64, hi: i64 },
    Raise { lo: i64, hi: i64 },
    Wait { at: i64 },
    Resolve,
    Reject { why: &'static str },
    Tell { event: &'static str },
}

#[napi]
impl LeaseMachine {
    /// Holds no slot.
    #[napi(constructor, catch_unwind)]
    pub fn new(config: MachineConfig) -> Self {
        let MachineConfig { ttl_ms, wait_ms } = config;
        Self { core: lease::Machine::new(Timing { ttl_ms: ttl_ms.0, wait_ms: wait_ms.0 }) }
    }

    /// Takes an event at the local time `now`, Unix ms. `fresh`: 32 random hex digits, never used before.
    #[napi(catch_unwind)]
    pub fn step(&mut self, event: MachineEvent, now: Whole<i64>, fresh: String) -> Result<Vec<MachineAction>> {
        let event = event.read().ok_or_else(|| Error::from_reason("lib/lease/lease.ts passed an incomplete event"))?;
        let fresh = owner_of(&fresh).ok_or_else(|| Error::from_reason("lib/lease/lease.ts passed an invalid token"))?;
        Ok(self.core.step(now.0, event, fresh).into_iter().map(MachineAction::from).collect())
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

    /// Whether an answer to this request still counts. `asked`: acquire, renew, release; `owner`: 32 hex digits.
    #[napi(catch_unwind)]
    pub fn awaits(&self, asked: String, owner: String) -> bool {
        asked_of(&asked).zip(owner_of(&owner)).is_some_and(|(asked, owner)| self.core.awaits(asked, owner))
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

impl MachineEvent {
    fn read(self) -> Option<Event> {
        Some(match self {
            Self::Attach => Event::Attach,
            Self::Seek => Event::Seek,
            Self::Detach => Event::Detach,
            Self::Destroy => Event::Destroy,
            Self::Time => Event::Time,
            Self::GiveUp => Event::GiveUp,
            Self::RenewNow => Event::RenewNow,
            Self::Opened { owner } => Event::Opened { owner: owner_of(&owner)? },
            Self::InUse { owner } => Event::InUse { owner: owner_of(&owner)? },
            Self::Ended => Event::Ended,
            Self::Granted { owner, slot, lo, hi } => {
                Event::Granted(Grant { owner: owner_of(&owner)?, slot: slot.0, lo: lo.0, hi: hi.0 })
            }
            Self::Renewed { owner, lo, hi } => Event::Renewed { owner: owner_of(&owner)?, lo: lo.0, hi: hi.0 },
            Self::Lost { owner } => Event::Lost { owner: owner_of(&owner)? },
            Self::Destroyed { asked, owner } => Event::Destroyed { asked: asked_of(&asked)?, owner: owner_of(&owner)? },
            Self::Released { owner } => Event::Released { owner: owner_of(&owner)? },
            Self::Failed { asked, owner, failure } => {
                Event::Failed { asked: asked_of(&asked)?, owner: owner_of(&owner)?, failure: failure.into() }
            }
        })
    }
}

impl From<MachineFailure> for Failure {
    fn from(failure: MachineFailure) -> Self {
        match failure {
            MachineFailure::Store => Self::Store,
            MachineFailure::Passing => Self::Passing,
            MachineFailure::Quiet { retry_at, store_now } => Self::Quiet { until: retry_at.0, store_now: store_now.0 },
            MachineFailure::Exhausted { retry_at, store_now } => {
                Self::Exhausted { retry_at: retry_at.0, store_now: store_now.0 }
            }
            MachineFailure::Skew => Self::Skew,
            MachineFailure::Fatal => Self::Fatal,
        }
    }
}

fn asked_of(text: &str) -> Option<Asked> {
    Some(match text {
        "acquire" => Asked::Acquire,
        "renew" => Asked::Renew,
        "release" => Asked::Release,
        _ => return None,
    })
}

/// An owner's token for JavaScript.
pub fn owner_of(text: &str) -> Option<Owner> {
    Owner::from_str_radix(text, 16).ok()
}

fn text_of(owner: Owner) -> String {
    format!("{owner:032x}")
}

impl From<Action> for MachineAction {
    fn from(action: Action) -> Self {
        match action {
            Action::Acquire { owner } => Self::Acquire { owner: text_of(owner) },
            Action::Renew { owner, slot, hi } => Self::Renew { owner: text_of(owner), slot, hi },
            Action::Release { owner, slot } => Self::Release { owner: text_of(owner), slot },
            Action::GiveBack { owner, slot } => Self::GiveBack { owner: text_of(owner), slot },
            Action::Retire => Self::Retire,
            Action::End => Self::End,
            Action::Open(Grant { owner, slot, lo, hi }) => Self::Open { owner: text_of(owner), slot, lo, hi },
            Action::Raise { lo, hi } => Self::Raise { lo, hi },
            Action::Wait { at } => Self::Wait { at },
            Action::Resolve => Self::Resolve,
            Action::Reject(why) => Self::Reject { why: name_of(why) },
            Action::Tell(news) => Self::Tell { event: event_of(news) },
        }
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
