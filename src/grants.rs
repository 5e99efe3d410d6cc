//! The rules of stores for JavaScript: a step returns what to read and what to swap, as plain objects, until it has its answer.
//! `lib/stores/database.ts` performs that.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flakeforge_core::lease::grants::memory::{self, Memory};
use flakeforge_core::lease::grants::record::{CounterRecord, GroupConfig, ServerIdentity, Unreadable};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Look, Renewal, Row, Seeker, StepError, Swap, Task};
use napi::bindgen_prelude::{BigInt, Error, Result};
use napi_derive::napi;

use crate::mirror::mirror;
use crate::number::{Big, Token, Whole, exact, whole};

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

mirror! {
    #[doc = "A task. `host` is the machine that asks for a slot."]
    #[napi(discriminant_case = "camelCase", object_to_js = false)]
    pub enum StepTask into Task {
        Create { config: StepConfig } = (Task::Create(config)),
        Join { config: StepConfig, owner: Token, host: String } = (Task::Join(config, Seeker { owner, host })),
        Acquire { config: StepConfig, owner: Token, host: String } = (Task::Acquire(config, Seeker { owner, host })),
        /// `hi`: the last ms of the window in the last answer
        Renew { config: StepConfig, owner: Token, slot: Whole<u32>, hi: Whole<i64> }
            = (Task::Renew(config, Renewal { owner, slot, hi })),
        /// `last`: the last ms used
        Release { config: StepConfig, owner: Token, slot: Whole<u32>, last: Whole<i64> },
        Destroy,
        Restored,
        List,
        Exists,
        /// `by`: how many numbers; `init`: the start of a new counter; `durable`: whether the members vouch for the store
        Advance { by: Big, init: Option<Big> = init.map(u64::from), durable: bool },
        SkipTo { place: Big, durable: bool },
        CounterRestored,
        Counter,
        DestroyCounter,
        /// `record`: which counter of the group; `by`: how many numbers; `lineage`: of the group of the member that asks
        Past { record: String, by: Big, lineage: Big },
        PastRestored,
        /// `lineage`: of the group of the member that asks
        Used { slots: Vec<Whole<u32>> = slots.into_iter().map(u32::from).collect(), lineage: Big },
    }
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

mirror! {
    #[doc = "The result of a step: an `Answer`, or from `Quiet` on a `StepError`. Times are Unix ms; `now` is the store's."]
    #[napi(discriminant_case = "camelCase", object_from_js = false)]
    pub enum StepAnswer from Answer {
        /// `lo` and `hi`: the first and the last ms of the window
        Granted { slot: u32, lo: i64, hi: i64, now: i64 } = (Answer::Granted(Granted { slot, lo, hi, now })),
        Lost,
        Destroyed,
        Done,
        /// `until`: when granting starts
        Opened { is_new: bool, until: i64, now: i64 } = (Answer::Opened { is_new, quiet_until: until, now }),
        Exists { is_alive: bool } = (Answer::Exists(is_alive)),
        /// `faults`: records that cannot be read
        Listed { rows: Vec<StepRow> = each(rows), faults: Vec<StepFault> = each(faults) } = (Answer::Listed(rows, faults)),
        Number { number: BigInt } = (Answer::Number(number)),
        /// absent if there is none, or it was destroyed
        Counter { counter: Option<StepCounter> = counter.map(StepCounter::from) } = (Answer::Counter(counter)),
        /// `until`: the last ms in which one of the slots may have been used; absent if none was ever granted
        Used { until: Option<i64> = until } = (Answer::Used(until)),
        Quiet { until: i64, now: i64 } = (Answer::Refused(StepError::Quiet { until, now })),
        Exhausted { until: i64, now: i64 } = (Answer::Refused(StepError::Exhausted { retry_at: until, now })),
        Mismatch { theirs: StepConfig } = (Answer::Refused(StepError::Mismatch(theirs))),
        /// `is_durable`: whether the counter's members vouch for the store
        Durable { is_durable: bool } = (Answer::Refused(StepError::Durable(is_durable))),
        TwoServers { shown: String = shown.to_string(), recorded: String = recorded.to_string() }
            = (Answer::Refused(StepError::TwoServers { shown, recorded })),
        /// how far the client's clock is ahead, and the allowed difference
        Skew { by: i64, bound: i64 } = (Answer::Refused(StepError::Skew { by, bound })),
        Ended = (Answer::Refused(StepError::Destroyed)),
        /// the group has no record, and a renewal does not create one
        Absent = (Answer::Refused(StepError::Absent)),
        /// this is not the group of the member's slot
        OtherGroup = (Answer::Refused(StepError::OtherGroup)),
        Record { fault: StepFault = (name, why).into() } = (Answer::Refused(StepError::Record(name, why))),
        Gone = (Answer::Refused(StepError::Gone)),
        CounterEnded = (Answer::Refused(StepError::CounterDestroyed)),
        Behind = (Answer::Refused(StepError::Behind)),
        Full { number: BigInt } = (Answer::Refused(StepError::Full(number))),
        Config { text: String } = (Answer::Refused(StepError::Config(text))),
        Nonsense { text: String } = (Answer::Refused(StepError::Nonsense(text))),
    }
}

/// A slot, as described by its record.
#[napi(object, object_from_js = false)]
pub struct StepRow {
    /// its number
    pub slot: u32,
    /// absent once it was released
    pub owner: Option<Token>,
    /// the present or last machine of the holder
    pub host: String,
    /// first ms of the window
    pub lo: i64,
    /// last ms of the window
    pub hi: i64,
}

/// A counter, as described by its record.
#[napi(object, object_from_js = false)]
pub struct StepCounter {
    /// the start of the next block
    pub next: BigInt,
    /// whether blocks may be lost, so that it gives none
    pub is_lost: bool,
    /// whether its members vouch for the store
    pub durable: bool,
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

fn each<From, To: std::convert::From<From>>(list: Vec<From>) -> Vec<To> {
    list.into_iter().map(To::from).collect()
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

    /// Starts a step on the group or counter of this name. `fresh` was never used before, here and below.
    #[napi(catch_unwind)]
    pub fn step(&self, name: String, task: StepTask, fresh: Token) -> GrantStep {
        let (core, first) = Step::new(&name, task.into(), &locked(&self.memory), fresh.0);
        GrantStep { core, memory: self.memory.clone(), first: Some(first) }
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
    pub fn read(&mut self, look: StepLook, fresh: Token) -> StepAsk {
        let ask = match look.read() {
            Ok(look) => self.core.read(look, &mut locked(&self.memory), fresh.0),
            Err(what) => Ask::Done(Answer::Refused(StepError::Nonsense(what))),
        };
        self.shown(ask)
    }

    /// Takes whether a swap was answered cleanly.
    #[napi(catch_unwind)]
    pub fn swapped(&mut self, is_clean: bool, fresh: Token) -> StepAsk {
        let ask = self.core.swapped(is_clean, &mut locked(&self.memory), fresh.0);
        self.shown(ask)
    }

    /// Takes the names of a group's records.
    #[napi(catch_unwind)]
    pub fn named(&mut self, names: Vec<String>, fresh: Token) -> StepAsk {
        let ask = self.core.named(names, &locked(&self.memory), fresh.0);
        self.shown(ask)
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

impl StepLook {
    /// The read for the rules. Fails on an impossible value, because nothing from the store may be dropped.
    pub(crate) fn read(self) -> std::result::Result<Look, &'static str> {
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

impl From<Row> for StepRow {
    fn from(row: Row) -> Self {
        let Row { slot, owner, host, lo, hi } = row;
        Self { slot, owner: owner.map(Token::from), host, lo, hi }
    }
}

impl From<CounterRecord> for StepCounter {
    fn from(CounterRecord { value, is_lost, durable, .. }: CounterRecord) -> Self {
        Self { next: value.into(), is_lost, durable }
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
