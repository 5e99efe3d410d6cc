//! The settings of a run of the checker: the members and their options, and what may go wrong, how often.
//!
//! A single setting for everything would have too many states. So there are many, each about a few troubles that meet, and
//! each small enough that every state is visited.

use flakeforge_core::lease::grants::memory::Limits;
use flakeforge_core::lease::grants::record::GroupConfig;

use crate::store::Version;

/// What may go wrong, or what users may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// a step stops before a read, a swap or its answer, and continues at any later time. Its member may abandon it
    /// meanwhile.
    Pause,
    /// a swap is done, but its client gets an error
    Unheard,
    /// a client gets an error, and its swap arrives at any later time
    Late,
    /// a late swap arrives once more
    Again,
    /// the server is replaced or restarted, and acknowledged writes may be gone: it shows another identity
    Loss,
    /// everything is lost, and the identity is the same
    Flush,
    /// the server is restarted and has lost nothing
    Restart,
    /// the store's clock is set, within the skew
    StoreClock,
    /// a member's clock is set
    MemberClock,
    /// a process ends, and a new one takes its place
    Crash,
    Detach,
    /// a caller stops waiting for `attach`, or seeks a slot without waiting for it
    GiveUp,
    /// the slot's node number is in use in the process
    InUse,
    /// a member ends the group
    Destroy,
    /// a command ends the group: it does not know the options
    Remove,
    /// a command creates the group, and vouches that it was unused
    Create,
    /// the history that a promotion left behind is forgotten
    Forget,
    /// a member's timer stands still, as on a suspended machine: only calls for IDs look at the clock
    Sleep,
    /// the next version of flakeforge writes the group's record in its own format
    Upgrade,
    /// a replica is promoted while the old primary is alive but disconnected, and one member can only reach that one
    Split,
    /// another client's statement moves a member's session to another database or schema
    Move,
    /// a member makes an ID of every time of the past that it may
    NextAt,
}

/// The number of troubles.
pub const TROUBLES: usize = Trouble::NextAt as usize + 1;

/// How a loss shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// another process
    Restart,
    /// another process and another history
    Promotion,
    /// two names for one server, or two servers with the same records, alternate
    Turn,
    /// the same identity, but the position falls
    Position,
    /// nothing shows it, but an operator who restored older records reports it before the next access
    Told,
}

/// What remains after a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    Nothing,
    Everything,
    /// the state of some earlier time
    Saved,
}

/// The options of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub ttl: i64,
    pub durable: bool,
    /// with its other options, a slot is another node
    pub is_other: bool,
    /// it leaves the last slot's node free for IDs of the past
    pub keeps: bool,
    /// how far its clock is behind at first
    pub behind: i64,
    /// the version of flakeforge that it runs
    pub version: Version,
}

/// A run.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub members: &'static [Options],
    pub slots: u32,
    /// the longest ttl of a group
    pub longest: i64,
    /// how far the store's clock may be ahead, and the members' bound for clock differences
    pub skew: i64,
    /// the skew that a command assumes
    pub usual_skew: i64,
    /// how far members' clocks are wrong
    pub clock_error: i64,
    /// whether the group exists already, with the options of the first member
    pub is_born: bool,
    /// what may go wrong, with a maximum for each
    pub troubles: &'static [(Trouble, u8)],
    /// the maximum for all together
    pub budget: u8,
    pub hows: &'static [How],
    pub lefts: &'static [Left],
    /// whether all members belong to one process, which remembers for all of them what it saw of the store
    pub is_one_process: bool,
    /// how much of the past counts at least
    pub past: i64,
    /// for how many ms after a promotion the old primary still answers cleanly
    pub old: i64,
    /// the place of the records follows the session, against R10: a control
    pub by_session: bool,
    /// whether a member waits for the end of an abandoned statement before it sends the next one, as in R11. Without a value,
    /// it does not wait, which allows more orders of events.
    pub is_patient: Option<bool>,
    /// when time ends, in ms from the start. A setting without an end visits every possible state.
    pub end: Option<i64>,
}

pub const MEMBER: Options =
    Options { ttl: 2, durable: false, is_other: false, keeps: false, behind: 0, version: Version::This };

/// Two members that want one slot of an existing group.
pub const SETTING: Setting = Setting {
    members: &[MEMBER, MEMBER],
    slots: 1,
    longest: 2,
    skew: 1,
    usual_skew: 1,
    clock_error: 0,
    is_born: true,
    troubles: &[],
    budget: u8::MAX,
    hows: &[How::Restart],
    lefts: &[Left::Nothing, Left::Everything, Left::Saved],
    is_one_process: false,
    past: 2,
    old: 0,
    by_session: false,
    is_patient: None,
    end: None,
};

impl Setting {
    pub fn limits(&self) -> Limits {
        Limits { longest_ttl_ms: self.longest, usual_skew_ms: self.usual_skew, create_within_ms: 1, most_returns: 0 }
    }

    /// A member's view of its group.
    pub fn config(&self, Options { ttl, durable, is_other, keeps, .. }: Options) -> GroupConfig {
        let fingerprint = if is_other { "other" } else { "one" }.to_owned();
        GroupConfig { fingerprint, slots: self.slots - u32::from(keeps), ttl_ms: ttl, skew_ms: self.skew, durable }
    }

    /// The slot that a member leaves free for IDs of the past.
    pub fn kept_slot(&self) -> u32 {
        self.slots - 1
    }

    /// The node for a member's slot.
    pub fn node(&self, who: usize, slot: u32) -> usize {
        let is_other = self.members[who].is_other;
        (if is_other { self.slots - 1 - slot } else { slot }) as usize
    }

    /// How much of the past counts, in ms. What is due, or over, for longer is treated as just this old.
    pub fn past(&self) -> i64 {
        self.past.max(self.clock_error + 2)
    }
}

impl Setting {
    pub fn has(&self, trouble: Trouble) -> bool {
        self.troubles.iter().any(|(known, _)| *known == trouble)
    }

    pub fn has_position(&self) -> bool {
        self.hows.contains(&How::Position)
    }
}
