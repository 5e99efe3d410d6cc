//! The cursor of a generator, wherever it is: in the memory of this process, or kept outside it, for example in a file.

use std::fmt::Debug;
use std::sync;

use crate::generator::cursor::{Cursor, OwnCursor, Refused};
use crate::generator::entry::Held;
use crate::sync::Arc;

/// A cursor that is kept outside this process's memory. Its limit is a durable mark, which is raised on the way.
pub trait KeptCursor: Debug + Send + Sync {
    /// The cursor.
    fn cursor(&self) -> &Cursor;
    /// Whether this process must take no more numbers, even if the cursor would still give some.
    fn is_ended(&self) -> bool;
    /// Whether what keeps the cursor has failed.
    fn has_failed(&self) -> bool;
    /// The next free number. If nobody knows it any more: a number above all that this process was given.
    fn next(&self) -> u64;
    /// A number that the next free one cannot be below, unless an older copy was put in the place of what keeps it.
    fn seen(&self) -> u64;
    /// Whether what keeps the cursor is as it should be; refuses if not.
    fn check(&self) -> Result<(), Refused>;
    /// A number came again: an older copy was put in the place of what keeps the cursor.
    fn went_back(&self);
    /// Raises the limit beyond a tick that the generator's clock has shown.
    fn raise_from(&self, tick: u64) -> Result<(), Refused>;
    /// The cursor, and what was [seen](Self::seen) of it, if it has not ended: one call for each ID.
    fn open(&self) -> Option<(&Cursor, u64)> {
        if self.is_ended() { None } else { Some((self.cursor(), self.seen())) }
    }
}

/// A cursor, wherever it is.
#[derive(Clone, Debug)]
pub enum AnyCursor {
    /// in the memory of this process, for one generator
    Own(Arc<OwnCursor>),
    /// in the memory of this process, for all generators of a key
    Shared(Held),
    /// kept outside it
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

    /// The cursor, and a number that its next free one is not below; `None` if this process must take no more numbers.
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

    /// A number came again. What is in memory cannot have done that.
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

impl From<Held> for AnyCursor {
    fn from(cursor: Held) -> Self {
        Self::Shared(cursor)
    }
}
