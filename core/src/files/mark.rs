//! The durable mark of a cursor that lives in a file: how far the file promises to remember.
//!
//! After a crash of the machine, a page may be older than the last number taken from it. So numbers are taken only up
//! to a mark that is known to be on the disk: one word, `written`, is raised and synced, and only then is the cursor's
//! `limit` raised to it. Any number of threads and processes may do this at the same time.
//!
//! This file must never raise the limit to a mark before the sync that wrote it has returned.

use crate::generator::cursor::Cursor;
use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
    fence,
};

/// Nobody ever took a number above this, as far as the disk knows.
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

    /// The highest mark that anybody has begun to write.
    pub fn written(&self) -> u64 {
        self.written.load(SeqCst)
    }

    /// The words of a file that contradict each other, if they do. Of next, limit and mark, none may pass the one after
    /// it, in memory or on the disk. They have no checksum, because others may change them at any time.
    pub fn contradiction(&self, cursor: &Cursor) -> Option<String> {
        // In this order, because each may grow meanwhile. Whoever raised a word had seen the next one at least as high,
        // and raised it with `Release`. So the next one is that high here, too.
        let next = cursor.next();
        fence(Acquire);
        let limit = cursor.limit();
        let written = self.written.load(Relaxed);
        let agree = next <= written.saturating_add(1) && limit <= written;
        (!agree).then(|| format!("next {next}, limit {limit}, mark {written}"))
    }

    /// Lets the cursor give numbers up to `target`, once `sync` has brought the mark to the disk. If `sync` fails, no
    /// more numbers may be taken than before. `sync` may also refuse because of something that another process has
    /// written. A process that writes that, then executes a fence and then reads the mark, is either seen here or sees
    /// this mark.
    pub fn raise<E>(&self, cursor: &Cursor, target: u64, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if cursor.limit() >= target {
            return Ok(());
        }
        // The word may already be higher. Then another raise is under way, and this sync writes its mark, too.
        self.written.fetch_max(target, SeqCst);
        fence(SeqCst);
        sync()?;
        cursor.raise_limit(target);
        Ok(())
    }

    /// After a crash of the machine: goes on past everything that may have been taken before it. Each process that
    /// finds a file of another boot may do this, in any order, because it only ever skips numbers. The mark is synced
    /// first: if a raise failed, the mark may not be on the disk, and `next` must not pass it there either.
    pub fn start_past<E>(&self, cursor: &Cursor, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let written = self.written();
        sync()?;
        cursor.raise_next(written.saturating_add(1));
        Ok(())
    }
}
