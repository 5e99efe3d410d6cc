//! The messages between a step and its driver: the task, the result of a read, what to do next, and the answer.

use crate::lease::grants::record::{CounterRecord, GroupConfig, ServerIdentity, Unreadable};
use crate::lease::messages::Owner;

/// A request about a group or a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// the group, created if it is missing or has ended. If it was not used in the last minute, it is quiet for only about a
    /// second
    Create(GroupConfig),
    /// a slot, in a group that is created if it is missing or has ended
    Join(GroupConfig, Seeker),
    /// a slot; fails if the group has ended
    Acquire(GroupConfig, Seeker),
    /// the next window
    Renew(GroupConfig, Renewal),
    /// give a slot back. Its owner used nothing after `last`.
    Release {
        /// the group's
        config: GroupConfig,
        /// its holder
        owner: Owner,
        /// its number
        slot: u32,
        /// Unix ms; −1 if nothing was used
        last: i64,
    },
    /// end the group
    Destroy,
    /// older records were restored: the group becomes a new one, quiet at first
    Restored,
    /// the holders of all slots
    List,
    /// whether the group is alive
    Exists,
    /// a block of `by` numbers; `init` is the start of a counter that is missing
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
    /// older records were restored: a counter stops until an operator says where to continue
    CounterRestored,
    /// what is known of a counter
    Counter,
    /// end a counter: the next one of its name starts anew
    DestroyCounter,
    /// a block of the numbers that the group keeps for past times (`lease/backfill.rs`)
    Past {
        /// the name of the record that counts them
        record: String,
        /// how many
        by: u64,
        /// of the member's group
        lineage: u64,
    },
    /// older records were restored: which past times were used is unknown from now on
    PastRestored,
    /// until when any group of this name may have used these slots, or their nodes: asked by a member of the live one
    Used {
        /// their numbers
        slots: Vec<u32>,
        /// of the member's group
        lineage: u64,
    },
}

/// The member that asks for a slot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seeker {
    /// the token of this acquisition
    pub owner: Owner,
    /// its machine; a machine gets its old slot again if possible
    pub host: String,
}

/// The slot that a member renews, as it knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Renewal {
    /// the token of the acquisition
    pub owner: Owner,
    /// the number of the slot
    pub slot: u32,
    /// the last ms of the window in the last answer, not of a swap that was merely sent
    pub hi: i64,
}

/// The result of one read.
#[derive(Clone, Debug)]
pub struct Look {
    /// the store's clock, read after the records
    pub now: i64,
    /// the server that answered
    pub identity: ServerIdentity,
    /// the texts, in the order of the names; `None` for an absent record
    pub values: Vec<Option<String>>,
    /// a number that never falls unless something is lost, if the store has one
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
    /// list the names of the group's records
    Names,
    /// nothing: the step has ended
    Done(Answer),
}

/// Writes `to` if the record is `from` and the server is `identity`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Swap {
    /// the name of the record
    pub name: String,
    /// its text; `None` if it is absent
    pub from: Option<String>,
    /// its new text
    pub to: String,
    /// the identity in the read
    pub identity: ServerIdentity,
}

/// A slot and a window that no other member ever has. Both ends are part of the window.
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

/// A slot in the answer to `List`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// its number
    pub slot: u32,
    /// its holder; `None` once it was released
    pub owner: Option<Owner>,
    /// the present or last machine of the holder
    pub host: String,
    /// first ms of the window
    pub lo: i64,
    /// last ms of the window
    pub hi: i64,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// of `Join`, `Acquire` and `Renew`
    Granted(Granted),
    /// of `Renew`: the slot no longer belongs to this owner
    Lost,
    /// of `Renew`: the group has ended
    Destroyed,
    /// of `Release`, `Destroy`, `Restored`, `CounterRestored`, `PastRestored` and `DestroyCounter`
    Done,
    /// of `Open` and `Create`
    Opened {
        /// whether this step created the group
        is_new: bool,
        /// when its quiet period ends
        quiet_until: i64,
        /// the store's clock
        now: i64,
    },
    /// of `Exists`
    Exists(bool),
    /// of `List`: the slots that this group granted, and the names of unreadable records
    Listed(Vec<Row>, Vec<(String, Unreadable)>),
    /// of `Advance` and `Past`: the first number of the block; of `SkipTo`: where the counter continues
    Number(u64),
    /// of `Counter`; `None` if there is none, or it was destroyed
    Counter(Option<CounterRecord>),
    /// the answer to `Used`: until when one of the slots, or its node, may have been used, Unix ms; `None` if it never was
    Used(Option<i64>),
    /// the step did nothing
    Refused(StepError),
}

/// Why a step did nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum StepError {
    /// writes may have been lost: nothing is granted until then
    Quiet {
        /// when granting starts
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
    /// the group was created with another config, which is this one
    Mismatch(GroupConfig),
    /// the counter's members vouch for its store, or they do not; this member differs
    Durable(bool),
    /// two servers alternate, each with different records
    TwoServers {
        /// the one that answered
        shown: ServerIdentity,
        /// the one in the group's record
        recorded: ServerIdentity,
    },
    /// the client's clock is too far from the store's
    Skew {
        /// how far it is ahead of the store's
        by: i64,
        /// the allowed difference
        bound: i64,
    },
    /// the group has ended
    Destroyed,
    /// the group has no record, and a renewal does not create one
    Absent,
    /// this is not the group of the member's slot: the store may have lost that one, so its records do not tell which IDs of the
    /// past exist
    OtherGroup,
    /// this record cannot be read, so it was left unchanged
    Record(String, Unreadable),
    /// the counter does not exist; it may have been lost
    Gone,
    /// the counter was destroyed
    CounterDestroyed,
    /// the store may have lost blocks
    Behind,
    /// the block would end past 2^64 − 1; this is the counter's value
    Full(u64),
    /// no group can have this config; the store was not asked
    Config(&'static str),
    /// the store gave an impossible answer
    Nonsense(&'static str),
}
