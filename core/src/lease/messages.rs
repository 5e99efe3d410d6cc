//! The events and actions between the holder's state machine and its driver. The rules are in [`lease`](super).

/// Identifies one acquisition: 128 random bits.
pub type Owner = u128;

/// The durations that a lease uses, ms.
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
    /// IDs come from elsewhere, but only until there is a slot: the search never gives up, and no caller waits for it
    Seek,
    /// the user wants no more IDs, for now or forever
    Detach,
    /// the user ends the whole group
    Destroy,
    /// the time of [`Action::Wait`] has come, or the generator refused at the end of its window, because timers stand still
    /// while a machine is suspended. Harmless at any other time.
    Time,
    /// the callers of `attach` have waited long enough, by a monotonic clock
    GiveUp,
    /// the slot's file failed: the store may know that the slot is lost, so renew at once
    RenewNow,
    /// the cursor that [`Action::Open`] asked for exists
    Opened {
        /// the holder
        owner: Owner,
    },
    /// the cursor was not created: another generator of this process has the slot's node number
    InUse {
        /// the intended holder
        owner: Owner,
    },
    /// the store granted a slot and a window
    Granted(Grant),
    /// the store extended the window, or gave a new one
    Renewed {
        /// the holder
        owner: Owner,
        /// first millisecond of the window
        lo: i64,
        /// last millisecond of the window
        hi: i64,
    },
    /// the store reports another holder of the slot
    Lost {
        /// the former holder
        owner: Owner,
    },
    /// the store answered an acquisition or a renewal: the group was destroyed
    Destroyed {
        /// the request
        asked: Asked,
        /// its owner
        owner: Owner,
    },
    /// the store knows that the slot is no longer in use
    Released {
        /// the former holder
        owner: Owner,
    },
    /// the store ended the group, as [`Action::End`] asked. After a failure there is no event: the group continues, or it has
    /// ended, or another member that finds its end in progress finishes it. The next answer to this member shows which.
    Ended,
    /// a request failed
    Failed {
        /// the request
        asked: Asked,
        /// its owner
        owner: Owner,
        /// the reason
        failure: Failure,
    },
}

/// Requests to the store. One owner may have two in progress: a release and a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// [`Action::Acquire`]
    Acquire,
    /// [`Action::Renew`]
    Renew,
    /// [`Action::Release`] or [`Action::GiveBack`]
    Release,
}

/// A slot and a window, as granted by the store. Unix ms; both ends are part of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// the holder
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
    /// the store takes no writes for now, for example during a failover
    Passing,
    /// the store may have lost writes, and grants nothing until that can do no harm
    Quiet {
        /// when granting starts again
        until: i64,
        /// the time of this answer
        store_now: i64,
    },
    /// every slot is taken
    Exhausted {
        /// when the next one is free, if its holder does not renew
        retry_at: i64,
        /// the time of this answer
        store_now: i64,
    },
    /// the local clock and the store's are too far apart
    Skew,
    /// a permanent failure: another configuration, a wrong option
    Fatal,
}

/// Why an `attach` failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// the store granted no slot; this was its last answer
    Refused(Failure),
    /// the waiting time is over, and the store has granted no slot yet
    Late,
    /// the waiting time is over, and the granted window has not started yet
    Ahead,
    /// `detach` was called before `attach` had finished
    Detached,
    /// the group has ended
    Destroyed,
}

/// What the driver does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// ask the store for a slot
    Acquire {
        /// the future holder; after a failure, the same token again
        owner: Owner,
    },
    /// ask the store to renew the window
    Renew {
        /// the holder
        owner: Owner,
        /// its slot
        slot: u32,
        /// the last millisecond that was ever answered to it, which decides in a quiet period
        hi: i64,
    },
    /// end the cursor, and keep its last number for the `Release` that may follow
    Retire,
    /// tell the store that the slot is free again after the last number of the retired cursor
    Release {
        /// the former holder
        owner: Owner,
        /// its slot
        slot: u32,
    },
    /// tell the store that the slot is free again and that none of its numbers was used: `last` is −1
    GiveBack {
        /// the intended holder
        owner: Owner,
        /// its slot
        slot: u32,
    },
    /// destroy the group in the store; the only request that may be sent while another is in progress
    End,
    /// create a cursor with the numbers of this window, and report at once whether that worked: the next event is
    /// [`Event::Opened`] or [`Event::InUse`]
    Open(Grant),
    /// raise the cursor's next number to the first of this window, then its limit to the last
    Raise {
        /// first millisecond of the window
        lo: i64,
        /// last millisecond of the window
        hi: i64,
    },
    /// send [`Event::Time`] when the local clock shows this, Unix ms. Replaces the previous wait.
    Wait {
        /// when
        at: i64,
    },
    /// every waiting `attach` has succeeded
    Resolve,
    /// every waiting `attach` has failed
    Reject(Why),
    /// notify the listeners
    Tell(News),
}

/// Notifications for listeners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum News {
    /// IDs can be generated
    Attached,
    /// IDs can still be generated
    Renewed,
    /// the window was not renewed, for the first time since the last renewal: IDs can be generated until its end
    RenewalFailed,
    /// the slot has another holder; a new one is being sought
    Lost,
    /// no slot is held or sought any longer
    Detached,
    /// the group has ended
    Destroyed,
}

/// The state of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// a cursor is open
    Attached,
    /// no cursor is open
    Detached,
    /// no cursor will ever be open again
    Destroyed,
}
