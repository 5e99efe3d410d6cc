//! The messages between a step and its driver: the task, what to send to which store, what came back, and the answer.

use crate::lease::grants::record::Unreadable;
use crate::lease::grants::task::{Look, Swap};

/// A call of the whole, or of its care for a store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// a snapshot of these records
    Read {
        /// their names
        names: Vec<String>,
        /// what it may change
        how: How,
    },
    /// a conditional write; of the identity, `history` is that of an earlier read
    Swap(Swap),
    /// the names that any store of a majority lists
    Names,
    /// make the store of this seat vote again (Q6)
    Fill {
        /// its place in the sorted list
        seat: usize,
    },
    /// change the list to these labels (Q9). Stores that are new have to be filled afterwards.
    Change {
        /// three or five
        to: Vec<String>,
    },
}

/// What a read may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum How {
    /// no seats. What a client left unfinished is completed, because there is no answer otherwise.
    Look,
    /// it also asks for fills, but starts no era
    ReadExisting,
    /// all
    Read,
}

/// How long a step may take, and what it may believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// after this time, its next decision ends it
    pub ms: i64,
    /// how far apart the clocks of this client and of a store may be, ms
    pub skew_ms: i64,
}

/// The time of an event, and random bits that were never used before.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// a clock of this client that never goes back, ms
    pub now: i64,
    /// random bits
    pub fresh: u128,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Event {
    /// the result of a read
    Look(Look),
    /// whether a swap was answered cleanly; any other outcome, also an error, is false
    Swapped(bool),
    /// the result of `Names`
    Named(Vec<String>),
    /// an error, or no answer in time
    Failed,
    /// the timer has rung
    Woke,
}

/// What to do: all acts of an event at once, in parallel. Each call gets exactly one event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// read these records of a store; the first one is its seat
    Read {
        /// the number of the call
        call: u32,
        /// the store
        seat: usize,
        /// the names of the records
        names: Vec<String>,
    },
    /// swap a record of a store
    Swap {
        /// the number of the call
        call: u32,
        /// the store
        seat: usize,
        /// the swap
        swap: Swap,
    },
    /// list the names of a store's records
    Names {
        /// the number of the call
        call: u32,
        /// the store
        seat: usize,
    },
    /// ring after this time
    Wake {
        /// the number of the call
        call: u32,
        /// ms
        ms: i64,
    },
    /// begin a step with the task `Fill` for this seat, in the background
    Fill {
        /// the store
        seat: usize,
    },
    /// something to count
    Note(Note),
    /// the answer
    Done(Answer),
}

/// Something that operators count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    /// a snapshot in which no majority agreed
    Torn,
    /// a record that a client left unfinished was completed
    Completed,
    /// a round that another client's round ended
    Beaten,
    /// a round whose outcome no majority confirmed
    Unknown,
    /// this client began to start a new era
    Era,
    /// a store votes again
    Filled,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// of `Read`
    Read(Whole),
    /// of `Swap`: whether a majority has it. False: it was not written.
    Swapped(bool),
    /// of `Names`, without the seats'. Some may have no value.
    Names(Vec<String>),
    /// of `Fill`: whether the store votes again
    Filled(bool),
    /// of `Change`: the list is in force
    Changed,
    /// the step found no answer
    Refused(QuorumError),
}

/// A snapshot of the whole.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Whole {
    /// the greatest clock of the majority that agreed, so it is never older than a snapshot (Q8)
    pub now: i64,
    /// identifies the era; empty if there is none yet
    pub history: String,
    /// in the order of the names
    pub values: Vec<Option<String>>,
}

/// Why a step has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum QuorumError {
    /// no majority of the stores answered and counts
    NoMajority {
        /// how many answered
        answered: usize,
    },
    /// without this store there is no majority, and its clock is too far from the client's
    Skew {
        /// how far the client's clock is ahead of the store's
        by: i64,
        /// the allowed difference
        bound: i64,
    },
    /// other members wrote these records all the time
    Torn,
    /// a majority did not confirm the write
    Unknown,
    /// a store belongs to another list
    List {
        /// the store
        seat: usize,
        /// the list that it records
        theirs: String,
    },
    /// a store has another label: it is listed twice, or two stores have exchanged their addresses
    Label {
        /// the store
        seat: usize,
        /// the label that it records
        theirs: String,
    },
    /// a record that is none of a quorum's, or cannot be read
    Record {
        /// the store
        seat: usize,
        /// its name
        name: String,
        /// what is wrong with it
        why: Unreadable,
    },
    /// a store gave an impossible answer
    Nonsense {
        /// the store
        seat: usize,
        /// what it was
        what: &'static str,
    },
    /// the list cannot be changed to this one: see [`List::next`](crate::lease::quorum::stores::List::next)
    Change,
    /// a store that is new in the list has not answered
    Newcomer {
        /// the store
        seat: usize,
    },
    /// no ballot is left
    Spent,
}

/// A store, as a step has seen it last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeatNow {
    /// what it is
    pub standing: Standing,
    /// how far its clock is ahead of the client's, ms
    pub ahead_ms: Option<i64>,
    /// the epoch of its seat
    pub epoch: Option<u32>,
    /// why it is `Damaged`
    pub error: Option<QuorumError>,
}

/// What a store is for the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Standing {
    /// it has not answered
    #[default]
    Silent,
    /// its clock is too far from the client's
    Skewed,
    /// one of its records cannot be read, or its answer is impossible
    Damaged,
    /// it was replaced, or is not yet in the list
    Unlisted,
    /// it has no seat
    Empty,
    /// it may have lost its data
    Lost,
    /// its era has not begun
    Starts,
    /// a client makes it vote again
    Fills,
    /// it votes in another era
    Apart,
    /// it votes, but does not show what the majority shows
    Behind,
    /// it votes
    Votes,
}
