//! The durable mark of a cursor in a file: how far the file promises to remember.
//!
//! After a machine crash, a page may be older than the last number taken from it. So numbers are only taken up to a mark that
//! is known to be on the disk: the word `written` is raised and synced, and the cursor's `limit` is raised to it only after
//! the sync has returned. Any number of threads and processes may do this at the same time; `core/loom` tries every order of
//! a few.

use crate::generator::cursor::{Cursor, LAST};
use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
    fence,
};

/// No number above this was ever taken, as far as the disk knows.
#[derive(Debug)]
#[repr(C)]
pub struct Mark {
    written: AtomicU64,
}

impl Mark {
    /// A mark that promises nothing above `written`.
    pub fn new(written: u64) -> Self {
        Self { written: AtomicU64::new(written) }
    }

    /// The highest mark that any process has begun to write.
    pub fn written(&self) -> u64 {
        self.written.load(SeqCst)
    }

    /// Words of a file that contradict each other, if any. Of next, limit and mark, none may exceed the one after it, in
    /// memory or on the disk, and no limit is above the last number. They have no checksum, because other processes may change them at any time.
    pub fn contradiction(&self, cursor: &Cursor) -> Option<String> {
        // In this order, because each may grow meanwhile. The process that raised a word had seen the next one at least as
        // high, and raised it with `Release`. So the next one is that high here, too.
        let next = cursor.next();
        fence(Acquire);
        let limit = cursor.limit();
        let written = self.written.load(Relaxed);
        let agree = next <= written.saturating_add(1) && limit <= written.min(LAST);
        (!agree).then(|| format!("next {next}, limit {limit}, mark {written}"))
    }

    /// Allows numbers up to `target`, once `sync` has brought the mark to the disk. If `sync` fails, the limit stays. `sync`
    /// may also fail because of something that another process has written: a process that writes it, then executes a fence,
    /// then reads the mark, is either seen here or sees this mark.
    pub fn raise<E>(&self, cursor: &Cursor, target: u64, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if cursor.limit() >= target {
            return Ok(());
        }
        // If the word is already higher, another raise is in progress, and this sync writes its mark, too.
        self.written.fetch_max(target, SeqCst);
        fence(SeqCst);
        sync()?;
        cursor.raise_limit(target);
        Ok(())
    }

    /// After a machine crash: moves past every number that may have been taken before it. Every process that finds a file
    /// from another boot may do this, in any order, because it only skips numbers. The mark is synced first: after a failed
    /// raise, the mark may not be on the disk, and `next` may not pass it there either.
    pub fn start_past<E>(&self, cursor: &Cursor, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let written = self.written();
        sync()?;
        cursor.raise_next(written.saturating_add(1));
        Ok(())
    }
}
