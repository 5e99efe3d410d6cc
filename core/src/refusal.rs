//! Why a request was refused: the only error of this crate. It names the problem, and the time to try again or the way out.

use std::error::Error;
use std::fmt;

/// Why there is no ID or no generator. Nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// the tick's counter is exhausted
    Overflow {
        /// real milliseconds until an ID is possible, if the clock keeps running
        retry_after_ms: f64,
    },
    /// the clock is behind the last ID, or behind an earlier reading
    ClockBackwards {
        /// by how many milliseconds
        behind_ms: f64,
        /// real milliseconds until an ID is possible, if the clock keeps running
        retry_after_ms: f64,
    },
    /// the layout has no bits for the time
    TimeRange {
        /// the time, Unix milliseconds
        timestamp_ms: f64,
    },
    /// the cursor reached its limit or was retired: the window of a lease ended, not the layout
    WindowEnd,
    /// the storage of the cursor outside this process failed; it knows the reason
    Failed,
    /// the layout's IDs exceed what a 64-bit float holds, or will soon
    NotExact,
    /// the layout's IDs have outgrown 64-bit floats
    NoLongerExact,
    /// two users of one node could generate equal IDs, because they do not share a cursor
    Clash {
        /// how this process already uses the node
        theirs: String,
        /// the requested use
        ours: String,
    },
    /// a file was created with other options
    Mismatch {
        /// the file
        path: String,
        /// its options
        theirs: String,
        /// the requested options
        ours: String,
    },
    /// a file is damaged, not a file, not writable, or not in a place where it can be shared
    File {
        /// the file
        path: String,
        /// what is wrong, and what to do
        why: String,
    },
    /// all slots are held, or their last IDs are ahead of the clock
    Exhausted {
        /// when to look again, Unix ms
        retry_at_ms: i64,
    },
    /// the group was destroyed since it was opened
    Destroyed,
    /// a key of this many bytes
    Key(usize),
    /// a tweak of this many bytes
    Tweak(usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Overflow { retry_after_ms } => {
                write!(f, "the counter of this tick is exhausted: the next ID is possible in {retry_after_ms} ms")
            }
            Self::ClockBackwards { behind_ms, retry_after_ms } => write!(
                f,
                "the clock is {behind_ms} ms behind the last ID: the next one is possible in {retry_after_ms} ms"
            ),
            Self::TimeRange { timestamp_ms } => write!(f, "the layout has no bits for the Unix time {timestamp_ms} ms"),
            Self::WindowEnd => write!(f, "the window has ended, or the cursor was retired"),
            Self::Failed => write!(f, "the storage of the cursor has failed"),
            Self::NotExact => write!(f, "the layout's IDs exceed 2^53 within the next ten years"),
            Self::NoLongerExact => write!(f, "the layout's IDs have exceeded 2^53"),
            Self::Clash { theirs, ours } => write!(
                f,
                "the node already takes its numbers from {theirs} in this process, so it cannot take them from {ours}, too"
            ),
            Self::Mismatch { path, theirs, ours } => write!(
                f,
                "{path} was created with other options: it has {theirs}, and this one {ours}. Use the same options, or another path and another node number"
            ),
            Self::File { path, why } => write!(f, "{path} {why}"),
            Self::Exhausted { retry_at_ms } => {
                write!(f, "no slot of the group is free: try again at the Unix time {retry_at_ms} ms")
            }
            Self::Destroyed => write!(f, "the group was destroyed"),
            Self::Key(bytes) => write!(f, "a key must have 16, 24 or 32 bytes, but has {bytes}"),
            Self::Tweak(bytes) => write!(f, "a tweak must have 0 to 256 bytes, but has {bytes}"),
        }
    }
}

impl Error for Refusal {}

#[cfg(test)]
mod tests;
