//! The rules of stores for JavaScript: a step says what to read and what to swap, as plain objects, until it has its
//! answer. `lib/lease/stores/database.js` carries that out.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flakeforge_core::lease::grants::memory::{self, Memory};
use flakeforge_core::lease::grants::record::{GroupConfig, ServerIdentity, Unreadable};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Holding, Look, Row, Seeker, StepError, Swap, Task};
use napi::bindgen_prelude::{BigInt, Error, Result};
use napi_derive::napi;

use crate::lease::owner_of;

/// What one client of a store remembers from step to step, and the steps that it can make.
#[napi]
#[derive(Default)]
pub struct Grants {
    memory: Arc<Mutex<Memory>>,
}

/// What all members of a group must agree on.
#[napi(object)]
pub struct StepConfig {
    /// as text, to show if there is a mismatch
    pub fingerprint: String,
    /// how many slots
    pub slots: u32,
    /// how far a window reaches beyond the store's time
    pub ttl_ms: i64,
    /// how far apart clocks may be
    pub skew_ms: i64,
    /// whether the members vouch for the store
    pub durable: bool,
}

/// What somebody wants: `type` is the name of a `Task`, and the other fields belong to it.
#[napi(object)]
pub struct StepTask {
    /// open, create, join, acquire, renew, release, destroy, restored, list, exists, advance, skipTo, counterRestored
    pub r#type: String,
    /// for open, create, join, acquire, renew and release
    pub config: Option<StepConfig>,
    /// 32 hex digits
    pub owner: Option<String>,
    /// the machine that asks for a slot
    pub host: Option<String>,
    /// what is held
    pub slot: Option<u32>,
    /// for renew: the last ms of the window, as it was last answered
    pub hi: Option<i64>,
    /// for release: the last ms used
    pub last: Option<i64>,
    /// for advance: how many numbers
    pub by: Option<BigInt>,
    /// for advance: where a new counter begins
    pub init: Option<BigInt>,
    /// for skipTo: where to continue
    pub place: Option<BigInt>,
    /// for advance and skipTo: whether the members vouch for the store
    pub durable: Option<bool>,
}

/// What one read showed.
#[napi(object)]
pub struct StepLook {
    /// the store's clock, Unix ms
    pub now: f64,
    /// of the server
    pub history: String,
    /// of the server
    pub process: String,
    /// in the order of the names; null for an absent record
    pub values: Vec<Option<String>>,
    /// where a store has one
    pub position: Option<BigInt>,
    /// the client's clock before the read, Unix ms
    pub before: f64,
    /// the client's clock after the read
    pub after: f64,
}

/// What to do next: `type` is the name of an `Ask`, and the other fields belong to it.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct StepAsk {
    /// read, swap, names, done
    pub r#type: &'static str,
    /// which records to read
    pub names: Option<Vec<String>>,
    /// which record to swap
    pub name: Option<String>,
    /// its text; absent if there is no record
    pub from: Option<String>,
    /// its new text
    pub to: Option<String>,
    /// of the server that was read
    pub history: Option<String>,
    /// of the server that was read
    pub process: Option<String>,
    /// for done
    pub answer: Option<StepAnswer>,
}

/// How a step ended: `type` is the name of an `Answer` or of a `StepError`, and the other fields belong to it.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct StepAnswer {
    /// granted, lost, destroyed, done, opened, exists, listed, number, quiet, exhausted, mismatch, durable, servers, skew, ended,
    /// record, gone, behind, full, config, nonsense
    pub r#type: &'static str,
    /// names the group or counter, 16 hex digits; absent if there is none
    pub lineage: Option<String>,
    /// the slot granted
    pub slot: Option<u32>,
    /// first ms of the window
    pub lo: Option<i64>,
    /// last ms of the window
    pub hi: Option<i64>,
    /// the store's clock
    pub now: Option<i64>,
    /// when grants begin, or begin again
    pub until: Option<i64>,
    /// whether this step made the group, whether the group is alive, or what a counter's members say of the store
    pub is: Option<bool>,
    /// the group's config, if ours is another
    pub theirs: Option<StepConfig>,
    /// by how much the client's clock is ahead, and how much is allowed
    pub by: Option<i64>,
    /// how much is allowed
    pub bound: Option<i64>,
    /// a place of a counter
    pub number: Option<BigInt>,
    /// the slots of a listing
    pub rows: Option<Vec<StepRow>>,
    /// records that cannot be read
    pub faults: Option<Vec<StepFault>>,
    /// what cannot be
    pub text: Option<String>,
    /// the two servers that take turns: the one that answered, and the one that the record names
    pub servers: Option<Vec<String>>,
}

/// A slot, as its record describes it.
#[napi(object, object_from_js = false)]
pub struct StepRow {
    /// its number
    pub slot: u32,
    /// 32 hex digits; absent once it was released
    pub owner: Option<String>,
    /// the machine that the holder is on, or was on
    pub host: String,
    /// first ms of the window
    pub lo: i64,
    /// last ms of the window
    pub hi: i64,
}

/// A record that cannot be read.
#[napi(object, object_from_js = false)]
pub struct StepFault {
    /// its name
    pub name: String,
    /// the version of flakeforge's format that wrote it, if that is a newer one
    pub version: Option<u32>,
}

/// One step: from what somebody wants to the answer.
#[napi]
pub struct GrantStep {
    core: Step,
    memory: Arc<Mutex<Memory>>,
    first: Option<Ask>,
}

fn locked(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random bits out of 32 hex digits.
fn bits(fresh: &str) -> Result<u128> {
    owner_of(fresh).ok_or_else(|| Error::from_reason("lib/lease/stores/database.js made a token that is none"))
}

/// The longest ttl that a group may have, in ms.
#[napi]
pub const LONGEST_TTL_MS: i64 = memory::LONGEST_TTL_MS;

#[napi]
impl Grants {
    /// Remembers nothing yet.
    #[napi(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a step on the group or counter of this name. `fresh`: 32 random hex digits, here and below.
    #[napi]
    pub fn step(&self, name: String, task: StepTask, fresh: String) -> Result<GrantStep> {
        let task =
            task.read().ok_or_else(|| Error::from_reason("lib/lease/stores/database.js made an incomplete task"))?;
        let (core, first) = Step::new(&name, task, &locked(&self.memory), bits(&fresh)?);
        Ok(GrantStep { core, memory: self.memory.clone(), first: Some(first) })
    }
}

#[napi]
impl GrantStep {
    /// What to do first; to be asked once.
    #[napi]
    pub fn begin(&mut self) -> Result<StepAsk> {
        let first = self.first.take();
        first.map(StepAsk::from).ok_or_else(|| Error::from_reason("lib/lease/stores/step.js began a step twice"))
    }

    /// Takes what was read.
    #[napi]
    pub fn read(&mut self, look: StepLook, fresh: String) -> Result<StepAsk> {
        let ask = match look.read() {
            Ok(look) => self.core.read(look, &mut locked(&self.memory), bits(&fresh)?),
            Err(what) => Ask::Done(Answer::Refused(StepError::Nonsense(what))),
        };
        Ok(self.of(ask))
    }

    /// Takes whether a swap was answered with true.
    #[napi]
    pub fn swapped(&mut self, is_done: bool, fresh: String) -> Result<StepAsk> {
        Ok(self.core.swapped(is_done, &mut locked(&self.memory), bits(&fresh)?).into())
    }

    /// Takes the names of a group's records.
    #[napi]
    pub fn named(&mut self, names: Vec<String>, fresh: String) -> Result<StepAsk> {
        Ok(self.core.named(names, &locked(&self.memory), bits(&fresh)?).into())
    }

    /// What to do next. Only a read is followed by an answer.
    fn of(&self, ask: Ask) -> StepAsk {
        let lineage = self.core.lineage().map(|lineage| format!("{lineage:016x}"));
        let ask = StepAsk::from(ask);
        StepAsk { answer: ask.answer.map(|answer| StepAnswer { lineage, ..answer }), ..ask }
    }
}

/// A time of JavaScript's, without a fraction of a ms that a clock may show. napi-rs would make 0 of NaN.
fn whole(ms: f64) -> Option<i64> {
    (ms.abs() < 2f64.powi(53)).then(|| ms.floor() as i64)
}

/// A number of 64 bits, if it is one. napi-rs would cut a larger one off, and drop the sign.
pub fn exact(number: &BigInt) -> Option<u64> {
    let (is_negative, value, is_lossless) = number.get_u64();
    (is_lossless && !is_negative).then_some(value)
}

impl StepLook {
    /// What the rules need of it, or what cannot be: nothing that the store gave may be dropped.
    fn read(self) -> std::result::Result<Look, &'static str> {
        let Self { now, history, process, values, position, before, after } = self;
        let position = match position.as_ref().map(exact) {
            Some(None) => return Err("a position that is not from 0 to 2^64 - 1"),
            Some(position) => position,
            None => None,
        };
        let [Some(now), Some(before), Some(after)] = [now, before, after].map(whole) else {
            return Err("a time that no clock shows");
        };
        Ok(Look { now, identity: ServerIdentity { history, process }, values, position, client: (before, after) })
    }
}

impl StepTask {
    fn read(self) -> Option<Task> {
        let owner = self.owner.as_deref().and_then(owner_of);
        let config = self.config.map(GroupConfig::from);
        let seeker = |owner: Option<u128>, host: Option<String>| Some(Seeker { owner: owner?, host: host? });
        let number = |given: Option<BigInt>| exact(&given?);
        // A number that is given must be one of 64 bits; only what is left out is none.
        let init = match &self.init {
            Some(init) => Some(exact(init)?),
            None => None,
        };
        Some(match self.r#type.as_str() {
            "create" => Task::Create(config?),
            "join" => Task::Join(config?, seeker(owner, self.host)?),
            "acquire" => Task::Acquire(config?, seeker(owner, self.host)?),
            "renew" => Task::Renew(config?, Holding { owner: owner?, slot: self.slot?, hi: self.hi? }),
            "release" => Task::Release { config: config?, owner: owner?, slot: self.slot?, last: self.last? },
            "destroy" => Task::Destroy,
            "restored" => Task::Restored,
            "counterRestored" => Task::CounterRestored,
            "list" => Task::List,
            "exists" => Task::Exists,
            "advance" => Task::Advance { by: number(self.by)?, init, durable: self.durable? },
            "skipTo" => Task::SkipTo { place: number(self.place)?, durable: self.durable? },
            _ => return None,
        })
    }
}

impl From<StepConfig> for GroupConfig {
    fn from(given: StepConfig) -> Self {
        let StepConfig { fingerprint, slots, ttl_ms, skew_ms, durable } = given;
        Self { fingerprint, slots, ttl_ms, skew_ms, durable }
    }
}

impl From<GroupConfig> for StepConfig {
    fn from(config: GroupConfig) -> Self {
        let GroupConfig { fingerprint, slots, ttl_ms, skew_ms, durable } = config;
        Self { fingerprint, slots, ttl_ms, skew_ms, durable }
    }
}

impl From<Ask> for StepAsk {
    fn from(ask: Ask) -> Self {
        match ask {
            Ask::Read(names) => Self { r#type: "read", names: Some(names), ..Self::default() },
            Ask::Swap(Swap { name, from, to, identity: ServerIdentity { history, process } }) => Self {
                r#type: "swap",
                name: Some(name),
                from,
                to: Some(to),
                history: Some(history),
                process: Some(process),
                ..Self::default()
            },
            Ask::Names => Self { r#type: "names", ..Self::default() },
            Ask::Done(answer) => Self { r#type: "done", answer: Some(answer.into()), ..Self::default() },
        }
    }
}

impl StepAnswer {
    fn named(r#type: &'static str) -> Self {
        Self { r#type, ..Self::default() }
    }

    fn at(r#type: &'static str, until: i64, now: i64) -> Self {
        Self { until: Some(until), now: Some(now), ..Self::named(r#type) }
    }
}

impl From<Answer> for StepAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Granted(Granted { slot, lo, hi, now }) => {
                Self { slot: Some(slot), lo: Some(lo), hi: Some(hi), now: Some(now), ..Self::named("granted") }
            }
            Answer::Lost => Self::named("lost"),
            Answer::Destroyed => Self::named("destroyed"),
            Answer::Done => Self::named("done"),
            Answer::Opened { is_new, quiet_until, now } => {
                Self { is: Some(is_new), ..Self::at("opened", quiet_until, now) }
            }
            Answer::Listed(rows, faults) => Self {
                rows: Some(rows.into_iter().map(StepRow::from).collect()),
                faults: Some(faults.into_iter().map(StepFault::from).collect()),
                ..Self::named("listed")
            },
            Answer::Exists(is) => Self { is: Some(is), ..Self::named("exists") },
            Answer::Number(number) => Self { number: Some(number.into()), ..Self::named("number") },
            Answer::Refused(refused) => refused.into(),
        }
    }
}

impl From<StepError> for StepAnswer {
    fn from(refused: StepError) -> Self {
        match refused {
            StepError::Quiet { until, now } => Self::at("quiet", until, now),
            StepError::Exhausted { retry_at, now } => Self::at("exhausted", retry_at, now),
            StepError::Mismatch(theirs) => Self { theirs: Some(theirs.into()), ..Self::named("mismatch") },
            StepError::Durable(is) => Self { is: Some(is), ..Self::named("durable") },
            StepError::TwoServers { shown, recorded } => {
                let servers = Some(vec![shown.to_string(), recorded.to_string()]);
                Self { servers, ..Self::named("servers") }
            }
            StepError::Skew { by, bound } => Self { by: Some(by), bound: Some(bound), ..Self::named("skew") },
            StepError::Destroyed => Self::named("ended"),
            StepError::Record(name, why) => {
                Self { faults: Some(vec![StepFault::from((name, why))]), ..Self::named("record") }
            }
            StepError::Gone => Self::named("gone"),
            StepError::Behind => Self::named("behind"),
            StepError::Full(value) => Self { number: Some(value.into()), ..Self::named("full") },
            StepError::Config(why) => Self { text: Some(why.to_owned()), ..Self::named("config") },
            StepError::Nonsense(what) => Self { text: Some(what.to_owned()), ..Self::named("nonsense") },
        }
    }
}

impl From<Row> for StepRow {
    fn from(row: Row) -> Self {
        let Row { slot, owner, host, lo, hi } = row;
        Self { slot, owner: owner.map(|owner| format!("{owner:032x}")), host, lo, hi }
    }
}

impl From<(String, Unreadable)> for StepFault {
    fn from((name, why): (String, Unreadable)) -> Self {
        let version = match why {
            Unreadable::Newer { version } => Some(version),
            Unreadable::Damaged => None,
        };
        Self { name, version }
    }
}
