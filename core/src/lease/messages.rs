//! What the holder's state machine and its driver say to each other.
//!
//! The rules are in [`lease`](super).

/// Names one acquisition: 128 random bits.
pub type Owner = u128;

/// The lengths of time that a lease uses, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timing {
    /// how long a window reaches beyond the store's time
    pub ttl_ms: i64,
    /// how long `attach` waits for a free slot or the end of a quiet period
    pub wait_ms: i64,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// the user wants IDs
    Attach,
    /// the user has IDs from elsewhere, but only until there is a slot: it is sought forever, and nobody waits for it
    Seek,
    /// the user wants no more IDs, for now or forever
    Detach,
    /// the user ends the whole group
    Destroy,
    /// the time that [`Action::Wait`] named has come, or the generator refused at the end of its window: timers stand
    /// still while a machine is suspended. Harmless at any other time.
    Time,
    /// those who wait for `attach` have waited long enough, by a clock that cannot be set
    GiveUp,
    /// the slot's file failed: the store may know that the slot is gone, so renew at once
    RenewNow,
    /// the cursor that [`Action::Open`] asked for exists
    Opened {
        /// who holds the slot
        owner: Owner,
    },
    /// the cursor was not made: another generator of this process has the slot's node number
    InUse {
        /// who would hold the slot
        owner: Owner,
    },
    /// the store granted a slot and a window
    Granted(Grant),
    /// the store prolonged the window, or gave a new one
    Renewed {
        /// who holds the slot
        owner: Owner,
        /// first millisecond of the window
        lo: i64,
        /// last millisecond of the window
        hi: i64,
    },
    /// the store says that the slot belongs to someone else
    Lost {
        /// who held the slot
        owner: Owner,
    },
    /// the store says, in answer to an acquisition or a renewal, that the group was destroyed
    Destroyed {
        /// what was asked
        asked: Asked,
        /// who asked
        owner: Owner,
    },
    /// the store knows that the slot is no longer used
    Released {
        /// who held the slot
        owner: Owner,
    },
    /// the store ended the group, as [`Action::End`] asked. If that failed, there is no event: the group goes on, or it has
    /// ended, or anybody who finds that its end has begun finishes it. The next answer to this member says which.
    Ended,
    /// a request failed
    Failed {
        /// what was asked
        asked: Asked,
        /// who asked
        owner: Owner,
        /// why it failed
        failure: Failure,
    },
}

/// What the store is asked. One owner may have two requests under way: a release and a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// [`Action::Acquire`]
    Acquire,
    /// [`Action::Renew`]
    Renew,
    /// [`Action::Release`] or [`Action::GiveBack`]
    Release,
}

/// A slot and a window, as the store granted them. Unix milliseconds; both ends belong to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// who holds the slot
    pub owner: Owner,
    /// the node number, or a part of it
    pub slot: u32,
    /// first millisecond of the window
    pub lo: i64,
    /// last millisecond of the window
    pub hi: i64,
}

/// Why a request failed. Times are by the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// the store could not be reached, or failed
    Store,
    /// the store answered that it takes no writes for now: during a failover, for example
    Passing,
    /// the store may have lost writes, and grants nothing until that can do no harm
    Quiet {
        /// when grants begin again
        until: i64,
        /// when it said so
        store_now: i64,
    },
    /// every slot is taken
    Exhausted {
        /// when the next one is free, if its holder does not renew
        retry_at: i64,
        /// when it said so
        store_now: i64,
    },
    /// the local clock and the store's are too far apart
    Skew,
    /// something that does not pass by itself: another configuration, a wrong option
    Fatal,
}

/// Why an `attach` failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// the store gave no slot; this was its last answer
    Refused(Failure),
    /// the waiting time is over, and the store has given no slot yet
    Late,
    /// the waiting time is over, and the window that the store granted has not begun yet
    Ahead,
    /// `detach` came before `attach` had finished
    Detached,
    /// the group has ended
    Destroyed,
}

/// What the driver does, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// ask the store for a slot
    Acquire {
        /// who will hold it; after a failure, the same token again
        owner: Owner,
    },
    /// ask the store to renew the window
    Renew {
        /// who asks
        owner: Owner,
        /// what it holds
        slot: u32,
        /// the last millisecond that was ever answered to it: in a quiet period the rules go by that
        hi: i64,
    },
    /// end the cursor for good, and keep the last number that it gave for the `Release` that may follow
    Retire,
    /// tell the store that the slot is free again after the last number that the retired cursor gave
    Release {
        /// who held it
        owner: Owner,
        /// what it held
        slot: u32,
    },
    /// tell the store that the slot is free again and that none of its numbers was ever used: `last` is −1
    GiveBack {
        /// who was to hold it
        owner: Owner,
        /// what it was to hold
        slot: u32,
    },
    /// destroy the group in the store; this is the only request that may be sent during another one
    End,
    /// make a new cursor with the numbers of this window, and say at once whether that worked: the next event is
    /// [`Event::Opened`] or [`Event::InUse`]
    Open(Grant),
    /// raise the cursor's next number to the first of this window, and then its limit to the last
    Raise {
        /// first millisecond of the window
        lo: i64,
        /// last millisecond of the window
        hi: i64,
    },
    /// hand in [`Event::Time`] when the local clock shows this, Unix ms. Forget the wait before this one.
    Wait {
        /// when
        at: i64,
    },
    /// every waiting `attach` has succeeded
    Resolve,
    /// every waiting `attach` has failed
    Reject(Why),
    /// tell the listeners
    Tell(News),
}

/// What listeners are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum News {
    /// IDs can be made
    Attached,
    /// IDs can still be made
    Renewed,
    /// the window was not renewed, for the first time since it last was: IDs can be made until its end
    RenewalFailed,
    /// the slot belongs to someone else; a new one is being sought
    Lost,
    /// no slot is held or sought any more
    Detached,
    /// the group has ended
    Destroyed,
}

/// What a generator can say about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// a cursor is open
    Attached,
    /// no cursor is open
    Detached,
    /// no cursor will ever be open again
    Destroyed,
}
