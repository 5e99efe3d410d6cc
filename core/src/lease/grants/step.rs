//! The progress of one step of a member, and what all rules need: the clocks' difference, and how a swap is made.

use crate::lease::grants::list::List;
use crate::lease::grants::memory::{Known, Memory, Sent};
use crate::lease::grants::parts::AT_ONCE;
use crate::lease::grants::record::{COUNTER, GroupConfig, PAST, ServerIdentity, Stage};
use crate::lease::grants::search::Search;
use crate::lease::grants::task::{Answer, StepError, Task};
use crate::lease::grants::view::View;

/// What to do after a read.
pub(super) enum Next {
    Read,
    Write(Plan),
    Names,
    Done(Answer),
}

pub(super) type Decision = Result<Next, StepError>;

/// A swap, and what was known when it was decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Plan {
    pub name: String,
    pub from: Option<String>,
    pub to: String,
    pub identity: ServerIdentity,
    /// the nonce of the group's record
    pub group: u64,
    /// how many losses this text notes
    pub losses: u64,
    /// whether the swap was answered cleanly
    pub is_clean: bool,
}

/// How `Create` looks for proof that no other member had the group: it finds nothing, and then what it wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Birth {
    /// when it found nothing, and what it wrote then; once per step
    pub first: Option<(i64, u64, ServerIdentity)>,
    /// it found nothing again, so it proves nothing
    pub is_spoilt: bool,
    /// the nonce of the live group that this step wrote
    pub made: Option<u64>,
    /// the life that `Destroy` or `DestroyCounter` ends: what is created meanwhile is another one
    pub ends: Option<u64>,
}

/// What a step that ends a group has read of its slots, part by part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sweep {
    /// of the group's record: in another one, the slots have to be read again
    pub nonce: u64,
    /// how many slots the group has
    pub slots: u32,
    /// the first one that was not read yet
    pub next: u32,
    /// the end of the last window so far, Unix ms
    pub until: i64,
}

impl Sweep {
    /// The slots to read next.
    pub fn part(&self) -> std::ops::Range<u32> {
        self.next..self.slots.min(self.next.saturating_add(AT_ONCE))
    }
}

/// One step of a member, from its task to the answer.
///
/// A driver does what the step asks until it is done. This one has an in-memory store with a single record:
///
/// ```
/// # use flakeforge_core::lease::grants::memory::Memory;
/// # use flakeforge_core::lease::grants::record::ServerIdentity;
/// # use flakeforge_core::lease::grants::step::Step;
/// # use flakeforge_core::lease::grants::task::{Answer, Ask, Look, Task};
/// let mut counter: Option<String> = None; // its record
/// let (mut memory, mut fresh) = (Memory::default(), 1); // fresh: should be random bits, others each time
/// let task = Task::Advance { by: 100, init: Some(1), durable: false };
/// let (mut step, mut ask) = Step::new("orders", task, &memory, fresh);
/// let answer = loop {
///     fresh += 1;
///     ask = match ask {
///         Ask::Read(_) => {
///             let identity = ServerIdentity { history: "this".to_owned(), process: "one".to_owned() };
///             let now = 1_700_000_000_000; // the store's clock, Unix ms
///             let look = Look { now, identity, values: vec![counter.clone()], position: None, client: (now, now) };
///             step.read(look, &mut memory, fresh)
///         }
///         Ask::Swap(swap) => {
///             let is_unchanged = counter == swap.from;
///             counter = if is_unchanged { Some(swap.to) } else { counter };
///             step.swapped(is_unchanged, &mut memory, fresh)
///         }
///         Ask::Names => step.named(vec![], &memory, fresh),
///         Ask::Done(answer) => break answer,
///     };
/// };
/// assert_eq!(answer, Answer::Number(1)); // the block is 1 to 100
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// of the group or the counter
    pub(super) name: String,
    pub(super) task: Task,
    pub(super) sent: Sent,
    /// of a counter: what this client had been given when the last read was sent
    pub(super) known: Option<Known>,
    /// the same of the record of all counters of the past
    pub(super) known_past: Option<Known>,
    /// the records of the last read
    pub(super) reading: Vec<String>,
    pub(super) plan: Option<Plan>,
    pub(super) search: Search,
    pub(super) birth: Birth,
    pub(super) lineage: Option<u64>,
    /// what `List` has yet to read, and has read
    pub(super) list: Option<List>,
    /// what it has read of a group that it ends
    pub(super) sweep: Option<Sweep>,
}

impl Step {
    /// A swap of this record. Before anything is written, the clocks have to agree: one that is far ahead would leave a
    /// `hi` far in the future.
    pub(super) fn write(&self, view: &View, name: &str, to: String, memory: &Memory) -> Decision {
        self.check_clock(view)?;
        let from = view.texts.iter().find(|(known, _)| known == name).and_then(|(_, text)| text.clone());
        let group = view.group.as_ref().map_or(0, |group| group.nonce);
        let identity = view.identity.clone();
        let losses = memory.losses();
        Ok(Next::Write(Plan { name: name.to_owned(), from, to, identity, group, losses, is_clean: false }))
    }

    /// Whether this step wrote this text of the record and was answered cleanly.
    pub(super) fn wrote_cleanly(&self, name: &str, text: &str) -> bool {
        self.plan.as_ref().is_some_and(|plan| plan.is_clean && plan.name == name && plan.to == text)
    }

    /// Whether the client's clock is near enough to the store's.
    pub(super) fn check_clock(&self, view: &View) -> Result<(), StepError> {
        let bound = self.skew(view);
        check_clock(view.now, view.client, bound)
    }

    /// Whether the rules hold for this config: a forgotten window may last for the longest ttl.
    pub(super) fn check_config(&self) -> Result<(), StepError> {
        match self.config() {
            Some(config) if !(1..=self.sent.limits.longest_ttl_ms).contains(&config.ttl_ms) => {
                Err(StepError::Config("its ttl is below 1 ms, or longer than a quiet period"))
            }
            Some(config) if config.skew_ms < 0 => Err(StepError::Config("its skew is negative")),
            _ => Ok(()),
        }
    }

    /// How far apart clocks may be: according to this member, or the group, or by default.
    pub(super) fn skew(&self, view: &View) -> i64 {
        let recorded = || match view.group.as_ref().map(|group| &group.state) {
            Some(Stage::Live(config) | Stage::Ending(config)) => config.skew_ms,
            _ => self.sent.limits.usual_skew_ms,
        };
        self.config().map_or_else(recorded, |config| config.skew_ms)
    }

    /// This member's view of the group.
    pub(super) fn config(&self) -> Option<&GroupConfig> {
        match &self.task {
            Task::Create(config)
            | Task::Join(config, _)
            | Task::Acquire(config, _)
            | Task::Renew(config, _)
            | Task::Release { config, .. } => Some(config),
            _ => None,
        }
    }

    /// The lineage of the live group, or of the counter, in the last read: the subject of the answer.
    pub fn lineage(&self) -> Option<u64> {
        self.lineage
    }

    /// The name of the record, if the step is about a counter, not a group.
    pub(super) fn counter(&self) -> Option<&str> {
        match &self.task {
            Task::Advance { .. } | Task::SkipTo { .. } | Task::CounterRestored => Some(COUNTER),
            Task::Counter | Task::DestroyCounter => Some(COUNTER),
            Task::Past { record, .. } => Some(record),
            Task::PastRestored => Some(PAST),
            _ => None,
        }
    }

    /// The name by which the client remembers that counter. A group may have many, and no name contains a NUL.
    pub(super) fn counter_key(&self) -> String {
        match &self.task {
            Task::Past { record, .. } => format!("{}\0{record}", self.name),
            Task::PastRestored => self.past_key(),
            _ => self.name.clone(),
        }
    }

    /// The same for the record of all counters of the past.
    pub(super) fn past_key(&self) -> String {
        format!("{}\0{PAST}", self.name)
    }
}

/// Whether the client's clock is near enough to the store's, which was read between the two.
fn check_clock(now: i64, (before, after): (i64, i64), bound: i64) -> Result<(), StepError> {
    let by = if now < before { before.saturating_sub(now) } else { after.saturating_sub(now).min(0) };
    if by > bound || by < bound.saturating_neg() { Err(StepError::Skew { by, bound }) } else { Ok(()) }
}

/// A nonce from random bits.
pub(super) fn nonce(fresh: u128) -> u64 {
    fresh as u64
}

/// A lineage from random bits other than the nonce's.
pub(super) fn lineage(fresh: u128) -> u64 {
    (fresh >> 64) as u64
}
