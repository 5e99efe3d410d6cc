//! The rules that keep slots, windows and blocks unique, whatever database holds them. This is their only home.
//!
//! A database holds records: texts with names. It can do two things: **read** some records of a group at one moment,
//! with its clock and its [`ServerIdentity`], and **swap** one record, if its text and the database's identity are still what
//! was read. A [`Step`] says what to read and what to swap, and decides after each read. The driver only carries that
//! out, so a model checker can put a pause, a lost answer, a failover or a loss between every read and swap.
//!
//! One promise matters: **no two grants of a slot have a millisecond in common.** It does not depend on the holders'
//! clocks. It holds even if the database forgets writes that it acknowledged, as long as it then shows another
//! identity or no group record, and its clocks before and after agree within the skew:
//! - A slot is granted only when the store's clock is past `hi`, and every window begins at `now` or later. So a write
//!   that was kept is safe at once. A write that was forgotten is safe once the longest window that may have been
//!   forgotten is over: that is the **quiet period**, in which nothing is granted.
//! - A grant, a renewal or a block is answered out of a read that shows it, never because a swap succeeded: a record
//!   can vanish, and then an equal text is not an equal state.
//!
//! | file | its one idea |
//! |---|---|
//! | [`record`] | the texts of records |
//! | `group` | the life of a group: how it begins, is quiet, and ends |
//! | `slots` | who gets which slot and which window |
//! | `search` | which slots to look at |
//! | [`counters`] | numbers that grow by one block at a time |
//! | `memory` | what a client remembers from step to step |
//!
//! All times are Unix milliseconds of the store's clock, except where a name says `client`.
//!
//! These files must never lower a slot's `hi`, except when its owner says how far it got; make a window that begins
//! before `now`; answer from a swap; or let a group begin again without what was known of the one before.

mod counters;
mod group;
mod memory;
pub mod record;
mod search;
mod slots;

use crate::layout::timescale::LAST_DATE_MS;
use crate::lease::messages::Owner;
use group::Birth;
use memory::{Known, Sent};
pub use memory::{Limits, Memory};
use record::{GroupRecord, SlotRecord, Unreadable};
use search::Search;
use slots::Listing;
pub use slots::{Row, slot_name, slot_of};

/// The name of a group's own record.
pub const GROUP: &str = "group";
/// The name of a counter's record.
pub const COUNTER: &str = "counter";

/// What a clock may show: Unix ms, as far as JavaScript's dates reach. So nothing that is added to it overflows.
const TIMES: std::ops::RangeInclusive<i64> = 0..=LAST_DATE_MS;

/// What all members of a group must agree on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupConfig {
    /// what the bits of the IDs mean; only compared here
    pub fingerprint: String,
    /// how many slots there are
    pub slots: u32,
    /// how far a window reaches beyond the store's time
    pub ttl_ms: i64,
    /// how far apart clocks may be
    pub skew_ms: i64,
    /// whether the members vouch that the store never loses what it acknowledged
    pub durable: bool,
}

/// Which server this is: changes whenever acknowledged writes may be missing. Each part is a text of the store's own;
/// an empty one from the server means that it does not know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServerIdentity {
    /// changes when another server has taken over, or older data was put back
    pub history: String,
    /// changes when the server was restarted
    pub process: String,
}

impl ServerIdentity {
    /// Whether a server that shows `now` may be the one that this identity was recorded for.
    fn matches(&self, now: &Self, durable: bool) -> bool {
        let same = |recorded: &str, shown: &str| recorded == shown || shown.is_empty();
        same(&self.history, &now.history) && (durable || same(&self.process, &now.process))
    }
}

/// What somebody wants of a group or a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// the group, made if it is missing or has ended
    Open(GroupConfig),
    /// the same for a group that nobody used in the last minute: then it is quiet for about a second only
    Create(GroupConfig),
    /// a slot, in a group that is made if it is missing or has ended
    Join(GroupConfig, Seeker),
    /// a slot; if the group has ended, that is the answer
    Acquire(GroupConfig, Seeker),
    /// the next window
    Renew(GroupConfig, Holding),
    /// give a slot back. Its owner used nothing after `last`.
    Release {
        /// the group's
        config: GroupConfig,
        /// who holds it
        owner: Owner,
        /// which one
        slot: u32,
        /// Unix ms; −1 if it used nothing
        last: i64,
    },
    /// end the group
    Destroy,
    /// who holds which slot
    List,
    /// whether the group is alive
    Exists,
    /// a block of `by` numbers; `init` is where a counter begins that is missing
    Advance {
        /// how many
        by: u64,
        /// the first number of a new counter
        init: Option<u64>,
        /// whether the members vouch for the store
        durable: bool,
    },
    /// continue a counter at `place` or above, whatever was lost
    SkipTo {
        /// the lowest number to give next
        place: u64,
        /// whether the members vouch for the store
        durable: bool,
    },
}

/// Who asks for a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seeker {
    /// the token of this acquisition
    pub owner: Owner,
    /// the machine it is on; a machine gets its old slot again if possible
    pub host: String,
}

/// What a member holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holding {
    /// the token of the acquisition
    pub owner: Owner,
    /// which slot
    pub slot: u32,
    /// the last ms of the window, as it was last answered: never that of a swap that was only sent
    pub hi: i64,
}

/// What one read showed.
#[derive(Clone, Debug)]
pub struct Look {
    /// the store's clock, read after the records
    pub now: i64,
    /// which server answered
    pub identity: ServerIdentity,
    /// the texts, in the order of the names; `None` for an absent record
    pub values: Vec<Option<String>>,
    /// a number that never falls while nothing is lost, where a store has one
    pub position: Option<u64>,
    /// the client's clock before and after the read
    pub client: (i64, i64),
}

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ask {
    /// read these records of the group
    Read(Vec<String>),
    /// swap this record
    Swap(Swap),
    /// the names of the group's records
    Names,
    /// whether version 0.1 left a living group or a counter of this name
    Older,
    /// nothing: the step has ended
    Done(Answer),
}

/// Writes `to` if the record is `from` and the server is `identity`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Swap {
    /// which record
    pub name: String,
    /// its text; `None` if it is absent
    pub from: Option<String>,
    /// its new text
    pub to: String,
    /// the identity that the read showed
    pub identity: ServerIdentity,
}

/// A slot and a window that nobody else ever has. Both ends belong to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Granted {
    /// number of the slot
    pub slot: u32,
    /// first millisecond
    pub lo: i64,
    /// last millisecond
    pub hi: i64,
    /// the store's clock
    pub now: i64,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// to `Join`, `Acquire` and `Renew`
    Granted(Granted),
    /// to `Renew`: the slot no longer belongs to this owner
    Lost,
    /// to `Renew`: the group has ended
    Destroyed,
    /// to `Release` and `Destroy`
    Done,
    /// to `Open` and `Create`
    Opened {
        /// whether this step made the group
        is_new: bool,
        /// when its quiet period ends
        quiet_until: i64,
        /// the store's clock
        now: i64,
    },
    /// to `Exists`
    Exists(bool),
    /// to `List`: the slots that this group granted, and the names of records that cannot be read
    Listed(Vec<Row>, Vec<(String, Unreadable)>),
    /// to `Advance`: the first number of the block; to `SkipTo`: where the counter continues
    Number(u64),
    /// the step did nothing
    Refused(StepError),
}

/// Why a step did nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepError {
    /// writes may have been lost: nothing is granted until then
    Quiet {
        /// when grants begin again
        until: i64,
        /// the store's clock
        now: i64,
    },
    /// every slot may still be in use
    Exhausted {
        /// when the next one may be free, if its holder does not renew
        retry_at: i64,
        /// the store's clock
        now: i64,
    },
    /// the group was made with another config, which is this one
    Mismatch(GroupConfig),
    /// the counter's members vouch for its store, or they do not; this member says otherwise
    Durable(bool),
    /// the client's clock is too far from the store's
    Skew {
        /// by how much it is ahead of the store's
        by: i64,
        /// how much is allowed
        bound: i64,
    },
    /// the group has ended
    Destroyed,
    /// this record cannot be read, so it is left alone
    Record(String, Unreadable),
    /// version 0.1 left a living group of this name
    OlderGroup,
    /// version 0.1 left a counter of this name, with this value
    OlderCounter(String),
    /// the counter does not exist; it may have been lost
    Gone,
    /// the store may have lost blocks
    Behind,
    /// the block would end past 2^64 − 1; the counter has this value
    Full(u64),
    /// the store answered something that cannot be
    Nonsense(&'static str),
}

/// What to do after a read.
enum Next {
    Read,
    Write(Plan),
    Names,
    Older,
    Done(Answer),
}

type Decision = Result<Next, StepError>;

/// A swap, and what was known when it was decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Plan {
    name: String,
    from: Option<String>,
    to: String,
    identity: ServerIdentity,
    /// the nonce of the group's record
    group: u64,
    /// how many losses this text notes
    losses: u64,
    /// whether the swap was answered with true
    is_done: bool,
}

/// What the last read showed, as records.
struct View {
    now: i64,
    identity: ServerIdentity,
    client: (i64, i64),
    /// the texts as they were read, by name
    texts: Vec<(String, Option<String>)>,
    group: Option<GroupRecord>,
    slots: Vec<(u32, Option<Result<SlotRecord, Unreadable>>)>,
    /// whether this client saw the store go back, and the record does not say so yet
    is_lost: bool,
    fresh: u128,
}

/// One step of a member: from what it wants to the answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// of the group or the counter
    name: String,
    task: Task,
    sent: Sent,
    /// of a counter: what this client had been given when the last read was sent
    known: Option<Known>,
    /// the records of the last read
    reading: Vec<String>,
    plan: Option<Plan>,
    search: Search,
    birth: Birth,
    /// whether nobody has looked yet for what version 0.1 left under this name
    is_first: bool,
    /// what `List` has still to read, and has read
    listing: Option<Listing>,
}

impl Step {
    /// A step that wants `task` of the group or counter of this name, and what to do first. `fresh`: random bits that
    /// were never used before, here and in all that follows.
    pub fn new(name: &str, task: Task, memory: &Memory, fresh: u128) -> (Self, Ask) {
        let mut step = Self {
            name: name.to_owned(),
            task,
            sent: memory.sent(),
            known: None,
            reading: Vec::new(),
            plan: None,
            search: Search::default(),
            birth: Birth::default(),
            is_first: true,
            listing: None,
        };
        let ask = step.look(memory, fresh);
        (step, ask)
    }

    /// What was read.
    pub fn read(&mut self, look: Look, memory: &mut Memory, fresh: u128) -> Ask {
        if look.values.len() != self.reading.len() {
            return Ask::Done(Answer::Refused(StepError::Nonsense("another number of values than of names")));
        }
        if !TIMES.contains(&look.now) {
            return Ask::Done(Answer::Refused(StepError::Nonsense("a time that no clock shows")));
        }
        memory.see(look.position, self.sent);
        let decided = if self.is_of_counter() {
            self.decide_counter(look, memory, fresh)
        } else {
            self.view(look, memory, fresh).and_then(|view| self.decide(view, memory))
        };
        match decided {
            Ok(Next::Read) => self.look(memory, fresh),
            Ok(Next::Write(plan)) => self.swap(plan),
            Ok(Next::Names) => Ask::Names,
            Ok(Next::Older) => {
                self.is_first = false;
                Ask::Older
            }
            Ok(Next::Done(answer)) => Ask::Done(answer),
            Err(refused) => Ask::Done(Answer::Refused(refused)),
        }
    }

    /// Whether the swap was answered with true. Anything else, an error too, is false: perhaps it was written.
    pub fn swapped(&mut self, is_done: bool, memory: &Memory, fresh: u128) -> Ask {
        if let Some(plan) = &mut self.plan {
            plan.is_done = is_done;
            if matches!(self.task, Task::Release { .. }) && is_done && plan.name != GROUP {
                return Ask::Done(Answer::Done);
            }
            if plan.name != GROUP {
                self.search.swapped(is_done);
            }
        }
        self.look(memory, fresh)
    }

    /// What version 0.1 left under this name: a living group, or a counter with this value.
    pub fn older(&mut self, group: bool, counter: Option<String>, memory: &Memory, fresh: u128) -> Ask {
        match (self.is_of_counter(), counter) {
            (true, Some(value)) => Ask::Done(Answer::Refused(StepError::OlderCounter(value))),
            (false, _) if group => Ask::Done(Answer::Refused(StepError::OlderGroup)),
            _ => self.look(memory, fresh),
        }
    }

    /// The names of the group's records.
    pub fn named(&mut self, names: Vec<String>, memory: &Memory, fresh: u128) -> Ask {
        self.listing = Some(Listing::of(names));
        self.look(memory, fresh)
    }

    /// The next read.
    fn look(&mut self, memory: &Memory, fresh: u128) -> Ask {
        self.sent = memory.sent();
        self.known = if self.is_of_counter() { memory.counter(&self.name) } else { None };
        self.reading = self.names(memory, fresh);
        Ask::Read(self.reading.clone())
    }

    fn names(&mut self, memory: &Memory, fresh: u128) -> Vec<String> {
        if self.is_of_counter() {
            return vec![COUNTER.to_owned()];
        }
        let slots = match &self.task {
            Task::Renew(_, Holding { slot, .. }) | Task::Release { slot, .. } => vec![*slot],
            Task::Join(config, seeker) | Task::Acquire(config, seeker) => {
                self.search.slots(config.slots, &seeker.host, memory.tried(seeker.owner), fresh)
            }
            Task::List => return self.names_to_list(),
            _ => Vec::new(),
        };
        std::iter::once(GROUP.to_owned()).chain(slots.into_iter().map(slot_name)).collect()
    }

    fn swap(&mut self, plan: Plan) -> Ask {
        let Plan { name, from, to, identity, .. } = plan.clone();
        self.plan = Some(plan);
        Ask::Swap(Swap { name, from, to, identity })
    }

    /// The records of a read. A group record that cannot be read ends the step.
    fn view(&self, look: Look, memory: &mut Memory, fresh: u128) -> Result<View, StepError> {
        let Look { now, identity, values, client, .. } = look;
        let texts: Vec<_> = self.reading.iter().cloned().zip(values).collect();
        let (mut group, mut slots) = (None, Vec::new());
        for (name, text) in &texts {
            match slot_of(name) {
                Some(slot) => slots.push((slot, text.as_deref().map(SlotRecord::parse))),
                None => group = text.as_deref().map(GroupRecord::parse),
            }
        }
        let group = group.transpose().map_err(|why| StepError::Record(GROUP.to_owned(), why))?;
        if let (Some(plan), Some(group)) = (&self.plan, &group)
            && plan.name == GROUP
            && matches!(group.state, record::Stage::Live(_)) // in all other states a loss is still to be noted
            && plan.to == group.text()
        {
            memory.note(GROUP, &self.name, plan.losses);
        }
        let is_lost = memory.is_lost(GROUP, &self.name, self.sent);
        Ok(View { now, identity, client, texts, group, slots, is_lost, fresh })
    }

    /// A swap of this record. Before anything is written, the clocks must agree: one that is far ahead would leave its
    /// `hi` behind.
    fn write(&self, view: &View, name: &str, to: String, memory: &Memory) -> Decision {
        self.check_clock(view)?;
        let from = view.texts.iter().find(|(known, _)| known == name).and_then(|(_, text)| text.clone());
        let group = view.group.as_ref().map_or(0, |group| group.nonce);
        let identity = view.identity.clone();
        let losses = memory.losses();
        Ok(Next::Write(Plan { name: name.to_owned(), from, to, identity, group, losses, is_done: false }))
    }

    fn check_clock(&self, view: &View) -> Result<(), StepError> {
        let bound = self.skew(view);
        check_clock(view.now, view.client, bound)
    }

    /// How far apart clocks may be: as this member says, or as the group says, or as usual.
    fn skew(&self, view: &View) -> i64 {
        let recorded = || match view.group.as_ref().map(|group| &group.state) {
            Some(record::Stage::Live(config) | record::Stage::Ending(config)) => config.skew_ms,
            _ => self.sent.limits.usual_skew_ms,
        };
        self.config().map_or_else(recorded, |config| config.skew_ms)
    }

    fn config(&self) -> Option<&GroupConfig> {
        match &self.task {
            Task::Open(config)
            | Task::Create(config)
            | Task::Join(config, _)
            | Task::Acquire(config, _)
            | Task::Renew(config, _)
            | Task::Release { config, .. } => Some(config),
            _ => None,
        }
    }

    fn is_of_counter(&self) -> bool {
        matches!(self.task, Task::Advance { .. } | Task::SkipTo { .. })
    }
}

/// Whether the client's clock is near enough to the store's. The store's was read between the two.
fn check_clock(now: i64, (before, after): (i64, i64), bound: i64) -> Result<(), StepError> {
    let by = if now < before { before.saturating_sub(now) } else { after.saturating_sub(now).min(0) };
    if by > bound || by < bound.saturating_neg() { Err(StepError::Skew { by, bound }) } else { Ok(()) }
}

/// A nonce out of random bits.
fn nonce(fresh: u128) -> u64 {
    fresh as u64
}
