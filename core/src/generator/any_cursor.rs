//! The cursor of a generator: in the memory of this process, or stored elsewhere, for example in a file.

use std::fmt::Debug;
use std::sync;

use crate::generator::cursor::{Cursor, OwnCursor, Refused};
use crate::generator::entry::EntryUse;
use crate::sync::Arc;

/// A cursor stored outside this process's memory. Its limit is a durable mark, which is raised as needed.
pub trait KeptCursor: Debug + Send + Sync {
    /// The cursor.
    fn cursor(&self) -> &Cursor;
    /// Whether this process may take no more numbers, even if the cursor would still give some.
    fn is_ended(&self) -> bool;
    /// Whether the storage of the cursor has failed.
    fn has_failed(&self) -> bool;
    /// The next free number. If that is unknown, a number above all that this process was given.
    fn next(&self) -> u64;
    /// A lower bound of the next free number, unless an older copy replaced the storage.
    fn seen(&self) -> u64;
    /// Checks the storage of the cursor.
    fn check(&self) -> Result<(), Refused>;
    /// Called when a number came again: an older copy has replaced the storage.
    fn went_back(&self);
    /// Raises the limit beyond a tick that the generator's clock has shown.
    fn raise_from(&self, tick: u64) -> Result<(), Refused>;
    /// The cursor, and what was [seen](Self::seen) of it, unless it has ended: one call per ID.
    fn open(&self) -> Option<(&Cursor, u64)> {
        if self.is_ended() { None } else { Some((self.cursor(), self.seen())) }
    }
}

/// A cursor in memory or elsewhere.
#[derive(Clone, Debug)]
pub enum AnyCursor {
    /// in the memory of this process, for one generator
    Own(Arc<OwnCursor>),
    /// in the memory of this process, for all generators of a key
    Shared(EntryUse),
    /// stored elsewhere
    Kept(sync::Arc<dyn KeptCursor>),
}

impl AnyCursor {
    /// The cursor.
    #[inline]
    pub fn cursor(&self) -> &Cursor {
        match self {
            Self::Own(cursor) => cursor,
            Self::Shared(cursor) => cursor,
            Self::Kept(kept) => kept.cursor(),
        }
    }

    /// The cursor, and a lower bound of its next free number; `None` if this process may take no more numbers.
    #[inline]
    pub(super) fn open(&self) -> Option<(&Cursor, u64)> {
        match self {
            Self::Own(cursor) => Some((cursor, 0)),
            Self::Shared(cursor) => Some((cursor, 0)),
            Self::Kept(kept) => kept.open(),
        }
    }

    /// The next free number.
    pub(super) fn next(&self) -> u64 {
        match self {
            Self::Own(cursor) => cursor.next(),
            Self::Shared(cursor) => cursor.next(),
            Self::Kept(kept) => kept.next(),
        }
    }

    /// Handles a number that came again, which a cursor in memory cannot cause.
    #[cold]
    pub(super) fn went_back(&self) -> Refused {
        if let Self::Kept(kept) = self {
            kept.went_back();
        }
        Refused::PastLimit
    }

    pub(super) fn is_ended(&self) -> bool {
        matches!(self, Self::Kept(kept) if kept.is_ended())
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self, Self::Kept(kept) if kept.has_failed())
    }
}

impl From<Arc<OwnCursor>> for AnyCursor {
    fn from(cursor: Arc<OwnCursor>) -> Self {
        Self::Own(cursor)
    }
}

impl From<EntryUse> for AnyCursor {
    fn from(cursor: EntryUse) -> Self {
        Self::Shared(cursor)
    }
}
