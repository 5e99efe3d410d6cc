//! What the holder's state machine and its driver say to each other.
//!
//! This file must never hold a rule: those are in [`lease`](super).

/// Names one acquisition: 128 random bits.
pub type Owner = u128;

/// The lengths of time that a lease goes by, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
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
    /// the user wants no more of them, for now or for ever
    Detach,
    /// the user ends the whole group
    Destroy,
    /// the time that [`Action::Wait`] named has come; harmless at any other time
    Time,
    /// whoever waits for `attach` has waited long enough, by a clock that nobody sets
    GiveUp,
    /// the slot's file failed: the store may know that the slot is gone, so the renewal is to come at once
    RenewNow,
    /// the cursor that [`Action::Open`] asked for is there
    Opened {
        /// whose
        owner: Owner,
    },
    /// it is not: another generator of this process has the slot's node number
    InUse {
        /// whose it would be
        owner: Owner,
    },
    /// the store granted a slot and a window
    Granted(Grant),
    /// the store prolonged the window, or gave a new one
    Renewed {
        /// whose
        owner: Owner,
        /// first millisecond of the window
        lo: i64,
        /// last millisecond of the window
        hi: i64,
    },
    /// the store says that the slot is another's
    Lost {
        /// whose it was
        owner: Owner,
    },
    /// the store says, to an acquisition or a renewal, that the group was destroyed
    Destroyed {
        /// what was asked
        asked: Asked,
        /// who asked
        owner: Owner,
    },
    /// the store knows that the slot is not used any more
    Released {
        /// whose it was
        owner: Owner,
    },
    /// the store ended the group, as [`Action::End`] asked. That it could not is no event: nothing has changed then.
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

/// What the store is asked. Two requests of one owner may be on their way: a release goes beside a renewal.
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
    /// to whom
    pub owner: Owner,
    /// the node number, or a part of it
    pub slot: u32,
    /// first millisecond of the window
    pub lo: i64,
    /// last millisecond of the window
    pub hi: i64,
}

/// Why a request failed. Times are of the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// the store could not be reached, or failed
    Store,
    /// the store may have lost writes, and nothing is granted until that can do no harm
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
    /// what does not pass by itself: another configuration, a wrong option
    Fatal,
}

/// Why an `attach` failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// the store gave no slot: what it said last
    Refused(Failure),
    /// the time is over, and the store has given no slot yet
    Late,
    /// the time is over, and the window that the store granted has not begun yet
    Ahead,
    /// `detach` came before `attach` was done
    Detached,
    /// the group has ended
    Destroyed,
}

/// What the driver does, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// ask the store for a slot
    Acquire {
        /// to whom it shall belong; the same token again after a failure
        owner: Owner,
    },
    /// ask the store to prolong the window
    Renew {
        /// who asks
        owner: Owner,
        /// what it holds
        slot: u32,
    },
    /// end the cursor for good, and keep the last number that it gave for the `Release` that may follow
    Seal,
    /// tell the store that the slot is free again, from the last number on that the sealed cursor gave
    Release {
        /// who held it
        owner: Owner,
        /// what it held
        slot: u32,
    },
    /// tell the store that the slot is free again and that no number of it was ever used: `last` is −1
    GiveBack {
        /// who was to hold it
        owner: Owner,
        /// what it was to hold
        slot: u32,
    },
    /// destroy the group on the store; the only request that may go beside another one
    End,
    /// make a new cursor with the numbers of this window, and say at once whether it is there: the next event is
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
    /// every `attach` that waits is done
    Resolve,
    /// every `attach` that waits has failed
    Reject(Why),
    /// tell those who listen
    Tell(News),
}

/// What listeners are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum News {
    /// IDs flow
    Attached,
    /// and go on flowing
    Renewed,
    /// the slot is another's; a new one is being sought
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
    /// none is
    Detached,
    /// none ever will be
    Destroyed,
}
