//! The holder's state machine for JavaScript: events in, actions out, both as plain objects. `lib/lease/lease.js` carries the
//! actions out.

use flakeforge_core::lease;
use flakeforge_core::lease::messages::{Action, Asked, Event, Failure, Grant, News, Owner, State, Timing, Why};
use napi::bindgen_prelude::{Error, Result};
use napi_derive::napi;

/// The lease of one generator.
#[napi]
pub struct Lease {
    core: lease::Lease,
}

/// The lengths of time that a lease uses.
#[napi(object)]
pub struct LeaseConfig {
    /// how long a window reaches beyond the store's time
    pub ttl_ms: i64,
    /// how long `attach` waits
    pub wait_ms: i64,
}

/// What happened: `type` is the name of an `Event`, and the other fields belong to it.
#[napi(object)]
pub struct LeaseEvent {
    /// attach, seek, detach, destroy, time, giveUp, renewNow, opened, inUse, granted, renewed, lost, destroyed, released, ended,
    /// failed
    pub r#type: String,
    /// for a failure or the end of the group: acquire, renew, release
    pub asked: Option<String>,
    /// 32 hex digits
    pub owner: Option<String>,
    /// for a grant
    pub slot: Option<u32>,
    /// first ms of a window
    pub lo: Option<i64>,
    /// last ms of a window
    pub hi: Option<i64>,
    /// for a failure: store, quiet, exhausted, skew, fatal
    pub why: Option<String>,
    /// for a failure: when to try again, by the store's clock
    pub retry_at: Option<i64>,
    /// for a failure: the store's clock
    pub store_now: Option<i64>,
}

/// What to do: `type` is the name of an `Action`, and the other fields belong to it.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct LeaseAction {
    /// acquire, renew, seal, release, giveBack, end, open, raise, wait, resolve, reject, tell
    pub r#type: &'static str,
    /// 32 hex digits
    pub owner: Option<String>,
    /// the slot held
    pub slot: Option<u32>,
    /// first ms of a window
    pub lo: Option<i64>,
    /// last ms of a window
    pub hi: Option<i64>,
    /// when to hand in `time`, Unix ms
    pub at: Option<i64>,
    /// for `reject`: why; for `tell`: the event
    pub what: Option<&'static str>,
}

#[napi]
impl Lease {
    /// Holds no slot.
    #[napi(constructor)]
    pub fn new(config: LeaseConfig) -> Self {
        let LeaseConfig { ttl_ms, wait_ms } = config;
        Self { core: lease::Lease::new(Timing { ttl_ms, wait_ms }) }
    }

    /// Takes an event at the local time `now`, Unix ms. `fresh`: 32 random hex digits, never used before.
    #[napi]
    pub fn step(&mut self, event: LeaseEvent, now: i64, fresh: String) -> Result<Vec<LeaseAction>> {
        let event = event.read().ok_or_else(|| Error::from_reason("lib/lease/lease.js made an incomplete event"))?;
        let fresh =
            owner_of(&fresh).ok_or_else(|| Error::from_reason("lib/lease/lease.js made a token that is none"))?;
        Ok(self.core.step(now, event, fresh).into_iter().map(LeaseAction::from).collect())
    }

    /// attached, detached or destroyed
    #[napi(getter)]
    pub fn state(&self) -> &'static str {
        match self.core.state() {
            State::Attached => "attached",
            State::Detached => "detached",
            State::Destroyed => "destroyed",
        }
    }

    /// The slot held.
    #[napi(getter)]
    pub fn slot(&self) -> Option<u32> {
        self.core.held().map(|grant| grant.slot)
    }

    /// The last ms of the window.
    #[napi(getter)]
    pub fn hi(&self) -> Option<i64> {
        self.core.held().map(|grant| grant.hi)
    }

    /// Whether a slot is being sought until one is open.
    #[napi(getter)]
    pub fn is_recovering(&self) -> bool {
        self.core.is_recovering()
    }

    /// Whether an answer to this request still counts. `asked`: acquire, renew, release; `owner`: 32 hex digits.
    #[napi]
    pub fn awaits(&self, asked: String, owner: String) -> bool {
        asked_of(&asked).zip(owner_of(&owner)).is_some_and(|(asked, owner)| self.core.awaits(asked, owner))
    }

    /// Whether no answer of the store is expected.
    #[napi(getter)]
    pub fn is_settled(&self) -> bool {
        self.core.is_settled()
    }

    /// Whether a renewal is under way.
    #[napi(getter)]
    pub fn is_renewing(&self) -> bool {
        self.core.is_renewing()
    }

    /// Whether the last renewal failed or is not answered.
    #[napi]
    pub fn renewals_fail(&self, now: i64) -> bool {
        self.core.renewals_fail(now)
    }
}

impl LeaseEvent {
    fn read(self) -> Option<Event> {
        let owner = self.owner.as_deref().and_then(owner_of);
        Some(match self.r#type.as_str() {
            "attach" => Event::Attach,
            "seek" => Event::Seek,
            "detach" => Event::Detach,
            "destroy" => Event::Destroy,
            "time" => Event::Time,
            "giveUp" => Event::GiveUp,
            "renewNow" => Event::RenewNow,
            "opened" => Event::Opened { owner: owner? },
            "inUse" => Event::InUse { owner: owner? },
            "ended" => Event::Ended,
            "granted" => Event::Granted(Grant { owner: owner?, slot: self.slot?, lo: self.lo?, hi: self.hi? }),
            "renewed" => Event::Renewed { owner: owner?, lo: self.lo?, hi: self.hi? },
            "lost" => Event::Lost { owner: owner? },
            "destroyed" => Event::Destroyed { asked: self.asked()?, owner: owner? },
            "released" => Event::Released { owner: owner? },
            "failed" => Event::Failed { asked: self.asked()?, owner: owner?, failure: self.failure()? },
            _ => return None,
        })
    }

    fn asked(&self) -> Option<Asked> {
        self.asked.as_deref().and_then(asked_of)
    }

    fn failure(&self) -> Option<Failure> {
        Some(match self.why.as_deref()? {
            "store" => Failure::Store,
            "quiet" => Failure::Quiet { until: self.retry_at?, store_now: self.store_now? },
            "exhausted" => Failure::Exhausted { retry_at: self.retry_at?, store_now: self.store_now? },
            "skew" => Failure::Skew,
            "fatal" => Failure::Fatal,
            _ => return None,
        })
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

/// An owner's token as JavaScript has it.
pub fn owner_of(text: &str) -> Option<Owner> {
    Owner::from_str_radix(text, 16).ok()
}

impl LeaseAction {
    fn named(r#type: &'static str) -> Self {
        Self { r#type, ..Self::default() }
    }

    fn of_owner(r#type: &'static str, owner: Owner) -> Self {
        Self { owner: Some(format!("{owner:032x}")), ..Self::named(r#type) }
    }

    fn of_slot(r#type: &'static str, owner: Owner, slot: u32) -> Self {
        Self { slot: Some(slot), ..Self::of_owner(r#type, owner) }
    }
}

impl From<Action> for LeaseAction {
    fn from(action: Action) -> Self {
        match action {
            Action::Acquire { owner } => Self::of_owner("acquire", owner),
            Action::Renew { owner, slot, hi } => Self { hi: Some(hi), ..Self::of_slot("renew", owner, slot) },
            Action::Release { owner, slot } => Self::of_slot("release", owner, slot),
            Action::GiveBack { owner, slot } => Self::of_slot("giveBack", owner, slot),
            Action::Seal => Self::named("seal"),
            Action::End => Self::named("end"),
            Action::Open(Grant { owner, slot, lo, hi }) => {
                Self { lo: Some(lo), hi: Some(hi), ..Self::of_slot("open", owner, slot) }
            }
            Action::Raise { lo, hi } => Self { lo: Some(lo), hi: Some(hi), ..Self::named("raise") },
            Action::Wait { at } => Self { at: Some(at), ..Self::named("wait") },
            Action::Resolve => Self::named("resolve"),
            Action::Reject(why) => Self { what: Some(name_of(why)), ..Self::named("reject") },
            Action::Tell(news) => Self { what: Some(event_of(news)), ..Self::named("tell") },
        }
    }
}

/// Why nothing was attached. If the store refused, JavaScript already has the error.
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
