//! What a step and its driver say to each other: what somebody wants, what was read, what to do next, and the answer.

use std::fmt;

use crate::lease::grants::record::{GroupConfig, ServerIdentity, Unreadable};
use crate::lease::messages::Owner;

/// What somebody wants of a group or a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// the group, made if it is missing or has ended. If nobody used it in the last minute, it is quiet for about a
    /// second only
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
    /// older records were put back: the group is another one from now on, and quiet first
    Restored,
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
    /// older records were put back: a counter stops until somebody says where to continue
    CounterRestored,
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

/// A slot as `List` shows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    /// its number
    pub slot: u32,
    /// who holds it; `None` once it was released
    pub owner: Option<Owner>,
    /// the machine that the holder is on, or was on
    pub host: String,
    /// first ms of the window
    pub lo: i64,
    /// last ms of the window
    pub hi: i64,
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
    /// to `Release`, `Destroy`, `Restored` and `CounterRestored`
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
    /// two servers take turns, and each knows its own records
    TwoServers {
        /// the one that answered
        shown: ServerIdentity,
        /// the one that the group's record names
        recorded: ServerIdentity,
    },
    /// the client's clock is too far from the store's
    Skew {
        /// by how much it is ahead of the store's
        by: i64,
        /// how much is allowed
        bound: i64,
    },
    /// the group has ended
    Destroyed,
    /// the group has no record, and a renewal does not make one
    Absent,
    /// this record cannot be read, so it is left alone
    Record(String, Unreadable),
    /// the counter does not exist; it may have been lost
    Gone,
    /// the store may have lost blocks
    Behind,
    /// the block would end past 2^64 − 1; the counter has this value
    Full(u64),
    /// no group can have this config; nothing was asked of the store
    Config(&'static str),
    /// the store answered something that cannot be
    Nonsense(&'static str),
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quiet { until, now } => {
                write!(f, "the store may have lost writes, so nothing is granted until {until} (its clock shows {now})")
            }
            Self::Exhausted { retry_at, now } => {
                write!(f, "no slot is free: the next one may be at {retry_at} (the store's clock shows {now})")
            }
            Self::Mismatch(GroupConfig { fingerprint, slots, ttl_ms, skew_ms, durable }) => write!(
                f,
                "the group was made with another config: {slots} slots, ttl {ttl_ms} ms, skew {skew_ms} ms, durable {durable}, \
                 for '{fingerprint}'"
            ),
            Self::Durable(durable) => {
                write!(f, "the counter was made with durable {durable}, and this member says otherwise")
            }
            Self::TwoServers { shown, recorded } => {
                write!(f, "two servers take turns: {shown} answered, and the record is by {recorded}")
            }
            Self::Skew { by, bound } => {
                write!(f, "the client's clock is {by} ms ahead of the store's, and {bound} ms either way are allowed")
            }
            Self::Destroyed => write!(f, "the group was destroyed"),
            Self::Absent => write!(f, "the group has no record"),
            Self::Record(name, why) => write!(f, "the record '{name}' cannot be read: {why}"),
            Self::Gone => write!(f, "the counter does not exist, or was lost"),
            Self::Behind => write!(f, "the store may have lost blocks of the counter"),
            Self::Full(value) => write!(f, "the counter is at {value}, and the block does not fit into 64 bits"),
            Self::Config(why) => write!(f, "no group can have this config: {why}"),
            Self::Nonsense(what) => write!(f, "the store answered {what}"),
        }
    }
}
