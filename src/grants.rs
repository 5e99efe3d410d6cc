//! The rules of stores for JavaScript: a step returns what to read and what to swap, as plain objects, until it has its answer.
//! `lib/stores/database.ts` performs that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flakeforge_core::lease::grants::memory::{self, Memory};
use flakeforge_core::lease::grants::record::{GroupConfig, ServerIdentity, Unreadable};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Look, Renewal, Row, Seeker, StepError, Swap, Task};
use napi::bindgen_prelude::{BigInt, Error, Result};
use napi_derive::napi;

use crate::lease::owner_of;
use crate::number::{Whole, whole};

/// What one client of a store remembers from step to step, and the steps that it can take.
#[napi]
#[derive(Default)]
pub struct StoreMemory {
    memory: Arc<Mutex<Memory>>,
}

/// What all members of a group must agree on.
#[napi(object)]
pub struct StepConfig {
    /// as text, shown if there is a mismatch
    pub fingerprint: String,
    /// number of slots
    pub slots: Whole<u32>,
    /// how far a window reaches beyond the store's time
    pub ttl_ms: Whole<i64>,
    /// how far apart clocks may be
    pub skew_ms: Whole<i64>,
    /// whether the members vouch for the store
    pub durable: bool,
}

/// A task. An owner is 32 hex digits, `host` the machine that asks for a slot.
#[napi(discriminant_case = "camelCase", object_to_js = false)]
pub enum StepTask {
    Create {
        config: StepConfig,
    },
    Join {
        config: StepConfig,
        owner: String,
        host: String,
    },
    Acquire {
        config: StepConfig,
        owner: String,
        host: String,
    },
    /// `hi`: the last ms of the window in the last answer
    Renew {
        config: StepConfig,
        owner: String,
        slot: Whole<u32>,
        hi: Whole<i64>,
    },
    /// `last`: the last ms used
    Release {
        config: StepConfig,
        owner: String,
        slot: Whole<u32>,
        last: Whole<i64>,
    },
    Destroy,
    Restored,
    List,
    Exists,
    /// `by`: how many numbers; `init`: the start of a new counter; `durable`: whether the members vouch for the store
    Advance {
        by: BigInt,
        init: Option<BigInt>,
        durable: bool,
    },
    SkipTo {
        place: BigInt,
        durable: bool,
    },
    CounterRestored,
}

/// The result of one read.
#[napi(object)]
pub struct StepLook {
    /// the store's clock, Unix ms
    pub now: f64,
    /// the server's history
    pub history: String,
    /// the server's process
    pub process: String,
    /// in the order of the names; null for an absent record
    pub values: Vec<Option<String>>,
    /// if the store has one
    pub position: Option<BigInt>,
    /// the client's clock before the read, Unix ms
    pub before: f64,
    /// the client's clock after the read
    pub after: f64,
}

/// What to do next.
#[napi(discriminant_case = "camelCase", object_from_js = false)]
pub enum StepAsk {
    Read {
        names: Vec<String>,
    },
    /// `from`: its text, absent if there is no record; `to`: its new text; `history` and `process`: of the server that was
    /// read
    Swap {
        name: String,
        from: Option<String>,
        to: String,
        history: String,
        process: String,
    },
    Names,
    /// `lineage` identifies the group or counter, 16 hex digits; absent if there is none
    Done {
        answer: StepAnswer,
        lineage: Option<String>,
    },
}

/// The result of a step: an `Answer`, or from `Quiet` on a `StepError`. Times are Unix ms, `now` is the store's clock.
#[napi(discriminant_case = "camelCase", object_from_js = false)]
pub enum StepAnswer {
    /// `lo` and `hi`: the first and the last ms of the window
    Granted {
        slot: u32,
        lo: i64,
        hi: i64,
        now: i64,
    },
    Lost,
    Destroyed,
    Done,
    /// `until`: when granting starts
    Opened {
        is_new: bool,
        until: i64,
        now: i64,
    },
    Exists {
        is_alive: bool,
    },
    /// `faults`: records that cannot be read
    Listed {
        rows: Vec<StepRow>,
        faults: Vec<StepFault>,
    },
    Number {
        number: BigInt,
    },
    Quiet {
        until: i64,
        now: i64,
    },
    Exhausted {
        until: i64,
        now: i64,
    },
    Mismatch {
        theirs: StepConfig,
    },
    /// `is_durable`: whether the counter's members vouch for the store
    Durable {
        is_durable: bool,
    },
    TwoServers {
        shown: String,
        recorded: String,
    },
    /// how far the client's clock is ahead, and the allowed difference
    Skew {
        by: i64,
        bound: i64,
    },
    Ended,
    /// the group has no record, and a renewal does not create one
    Absent,
    Record {
        fault: StepFault,
    },
    Gone,
    Behind,
    Full {
        number: BigInt,
    },
    Config {
        text: String,
    },
    Nonsense {
        text: String,
    },
}

/// A slot, as described by its record.
#[napi(object, object_from_js = false)]
pub struct StepRow {
    /// its number
    pub slot: u32,
    /// 32 hex digits; absent once it was released
    pub owner: Option<String>,
    /// the present or last machine of the holder
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
    /// the version of its format, if that is a newer one
    pub version: Option<u32>,
    /// the release of flakeforge that reads that version, if the record names one
    pub needs: Option<String>,
}

/// One step, from the task to the answer.
#[napi]
pub struct GrantStep {
    core: Step,
    memory: Arc<Mutex<Memory>>,
    first: Option<Ask>,
}

fn locked(memory: &Mutex<Memory>) -> MutexGuard<'_, Memory> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Random bits from 32 hex digits.
fn bits(fresh: &str) -> Result<u128> {
    owner_of(fresh).ok_or_else(|| Error::from_reason("lib/stores/database.ts passed an invalid token"))
}

/// The maximum ttl of a group, ms.
#[napi]
pub const LONGEST_TTL_MS: i64 = memory::LONGEST_TTL_MS;

#[napi]
impl StoreMemory {
    /// Remembers nothing yet.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts a step on the group or counter of this name. `fresh`: 32 random hex digits, here and below.
    #[napi(catch_unwind)]
    pub fn step(&self, name: String, task: StepTask, fresh: String) -> Result<GrantStep> {
        let task = task.read().ok_or_else(|| Error::from_reason("lib/stores/database.ts passed an incomplete task"))?;
        let (core, first) = Step::new(&name, task, &locked(&self.memory), bits(&fresh)?);
        Ok(GrantStep { core, memory: self.memory.clone(), first: Some(first) })
    }
}

#[napi]
impl GrantStep {
    /// What to do first; call this once.
    #[napi(catch_unwind)]
    pub fn begin(&mut self) -> Result<StepAsk> {
        let first = self.first.take();
        first
            .map(|ask| self.shown(ask))
            .ok_or_else(|| Error::from_reason("lib/stores/database.ts started a step twice"))
    }

    /// Takes the result of a read.
    #[napi(catch_unwind)]
    pub fn read(&mut self, look: StepLook, fresh: String) -> Result<StepAsk> {
        let ask = match look.read() {
            Ok(look) => self.core.read(look, &mut locked(&self.memory), bits(&fresh)?),
            Err(what) => Ask::Done(Answer::Refused(StepError::Nonsense(what))),
        };
        Ok(self.shown(ask))
    }

    /// Takes whether a swap was answered cleanly.
    #[napi(catch_unwind)]
    pub fn swapped(&mut self, is_clean: bool, fresh: String) -> Result<StepAsk> {
        let ask = self.core.swapped(is_clean, &mut locked(&self.memory), bits(&fresh)?);
        Ok(self.shown(ask))
    }

    /// Takes the names of a group's records.
    #[napi(catch_unwind)]
    pub fn named(&mut self, names: Vec<String>, fresh: String) -> Result<StepAsk> {
        let ask = self.core.named(names, &locked(&self.memory), bits(&fresh)?);
        Ok(self.shown(ask))
    }

    /// What to do next, for JavaScript.
    fn shown(&self, ask: Ask) -> StepAsk {
        match ask {
            Ask::Read(names) => StepAsk::Read { names },
            Ask::Swap(Swap { name, from, to, identity: ServerIdentity { history, process } }) => {
                StepAsk::Swap { name, from, to, history, process }
            }
            Ask::Names => StepAsk::Names,
            Ask::Done(answer) => {
                let lineage = self.core.lineage().map(|lineage| format!("{lineage:016x}"));
                StepAsk::Done { answer: answer.into(), lineage }
            }
        }
    }
}

/// A 64-bit number. napi-rs would truncate a larger one, and drop the sign.
pub fn exact(number: &BigInt) -> Option<u64> {
    let (is_negative, value, is_lossless) = number.get_u64();
    (is_lossless && !is_negative).then_some(value)
}

impl StepLook {
    /// The read for the rules. Fails on an impossible value, because nothing from the store may be dropped.
    fn read(self) -> std::result::Result<Look, &'static str> {
        let Self { now, history, process, values, position, before, after } = self;
        let position = match position.as_ref().map(exact) {
            Some(None) => return Err("a position that is not from 0 to 2^64 - 1"),
            Some(position) => position,
            None => None,
        };
        let [Some(now), Some(before), Some(after)] = [now, before, after].map(|ms| whole(ms.floor())) else {
            return Err("a time that no clock shows");
        };
        Ok(Look { now, identity: ServerIdentity { history, process }, values, position, client: (before, after) })
    }
}

impl StepTask {
    /// The task, if all its values are present: numbers have to fit 64 bits, and only what is left out is absent.
    fn read(self) -> Option<Task> {
        let seeker = |owner: String, host: String| Some(Seeker { owner: owner_of(&owner)?, host });
        Some(match self {
            Self::Create { config } => Task::Create(config.into()),
            Self::Join { config, owner, host } => Task::Join(config.into(), seeker(owner, host)?),
            Self::Acquire { config, owner, host } => Task::Acquire(config.into(), seeker(owner, host)?),
            Self::Renew { config, owner, slot, hi } => {
                Task::Renew(config.into(), Renewal { owner: owner_of(&owner)?, slot: slot.0, hi: hi.0 })
            }
            Self::Release { config, owner, slot, last } => {
                Task::Release { config: config.into(), owner: owner_of(&owner)?, slot: slot.0, last: last.0 }
            }
            Self::Destroy => Task::Destroy,
            Self::Restored => Task::Restored,
            Self::CounterRestored => Task::CounterRestored,
            Self::List => Task::List,
            Self::Exists => Task::Exists,
            Self::Advance { by, init, durable } => {
                let init = match &init {
                    Some(init) => Some(exact(init)?),
                    None => None,
                };
                Task::Advance { by: exact(&by)?, init, durable }
            }
            Self::SkipTo { place, durable } => Task::SkipTo { place: exact(&place)?, durable },
        })
    }
}

impl From<StepConfig> for GroupConfig {
    fn from(given: StepConfig) -> Self {
        let StepConfig { fingerprint, slots, ttl_ms, skew_ms, durable } = given;
        Self { fingerprint, slots: slots.0, ttl_ms: ttl_ms.0, skew_ms: skew_ms.0, durable }
    }
}

impl From<GroupConfig> for StepConfig {
    fn from(config: GroupConfig) -> Self {
        let GroupConfig { fingerprint, slots, ttl_ms, skew_ms, durable } = config;
        Self { fingerprint, slots: Whole(slots), ttl_ms: Whole(ttl_ms), skew_ms: Whole(skew_ms), durable }
    }
}

impl From<Answer> for StepAnswer {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Granted(Granted { slot, lo, hi, now }) => Self::Granted { slot, lo, hi, now },
            Answer::Lost => Self::Lost,
            Answer::Destroyed => Self::Destroyed,
            Answer::Done => Self::Done,
            Answer::Opened { is_new, quiet_until, now } => Self::Opened { is_new, until: quiet_until, now },
            Answer::Listed(rows, faults) => Self::Listed {
                rows: rows.into_iter().map(StepRow::from).collect(),
                faults: faults.into_iter().map(StepFault::from).collect(),
            },
            Answer::Exists(is_alive) => Self::Exists { is_alive },
            Answer::Number(number) => Self::Number { number: number.into() },
            Answer::Refused(refused) => refused.into(),
        }
    }
}

impl From<StepError> for StepAnswer {
    fn from(refused: StepError) -> Self {
        match refused {
            StepError::Quiet { until, now } => Self::Quiet { until, now },
            StepError::Exhausted { retry_at, now } => Self::Exhausted { until: retry_at, now },
            StepError::Mismatch(theirs) => Self::Mismatch { theirs: theirs.into() },
            StepError::Durable(is_durable) => Self::Durable { is_durable },
            StepError::TwoServers { shown, recorded } => {
                Self::TwoServers { shown: shown.to_string(), recorded: recorded.to_string() }
            }
            StepError::Skew { by, bound } => Self::Skew { by, bound },
            StepError::Destroyed => Self::Ended,
            StepError::Absent => Self::Absent,
            StepError::Record(name, why) => Self::Record { fault: StepFault::from((name, why)) },
            StepError::Gone => Self::Gone,
            StepError::Behind => Self::Behind,
            StepError::Full(value) => Self::Full { number: value.into() },
            StepError::Config(why) => Self::Config { text: why.to_owned() },
            StepError::Nonsense(what) => Self::Nonsense { text: what.to_owned() },
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
        let (version, needs) = match why {
            Unreadable::Newer { version, needs } => (Some(version), needs.map(|release| release.to_string())),
            Unreadable::Damaged => (None, None),
        };
        Self { name, version, needs }
    }
}
