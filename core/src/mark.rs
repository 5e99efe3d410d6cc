//! The durable mark of a cursor that lives in a file: how far the file promises to remember.
//!
//! After a crash of the machine a page may be older than the last number taken from it. So numbers are taken only up
//! to a mark that the disk is known to have: one word, `written`, is raised and synced, and only then is the cursor's
//! `limit` raised to it. Any number of threads and processes may do so at once.
//!
//! This file must never raise the limit to a mark before the sync that wrote it has returned.

#[cfg(loom)]
use loom::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
    fence,
};
#[cfg(not(loom))]
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, SeqCst},
    fence,
};

use crate::cursor::Cursor;

/// No number above it was ever taken by anybody, as far as the disk knows.
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

    /// The highest mark anybody has begun to write.
    pub fn written(&self) -> u64 {
        self.written.load(SeqCst)
    }

    /// What does not agree in the words of a file, if anything: none of next, limit and mark passes the one after it, in
    /// memory or on the disk. They have no checksum, since others change them meanwhile.
    pub fn contradiction(&self, cursor: &Cursor) -> Option<String> {
        // In this order, since each may grow meanwhile. Whoever raised a word had seen the next one at least as high, and
        // raised it with `Release`: so it is that high here, too.
        let next = cursor.next();
        fence(Acquire);
        let limit = cursor.limit();
        let written = self.written.load(Relaxed);
        let agree = next <= written.saturating_add(1) && limit <= written;
        (!agree).then(|| format!("next {next}, limit {limit}, mark {written}"))
    }

    /// Lets the cursor give numbers up to `target`, once `sync` has brought the mark to the disk. Where it fails,
    /// nothing more may be taken than before. `sync` may also refuse because of something that another process has
    /// written: whoever writes that, puts a fence after it and reads the mark, either is seen here or sees this mark.
    pub fn raise<E>(&self, cursor: &Cursor, target: u64, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if cursor.limit() >= target {
            return Ok(());
        }
        // The word may already be higher: then another raise is under way, and this sync writes its mark too.
        self.written.fetch_max(target, SeqCst);
        fence(SeqCst);
        sync()?;
        cursor.raise_limit(target);
        Ok(())
    }

    /// After a crash of the machine: goes on past everything that may have been taken before it. Each process that
    /// finds another boot's file may do this, in any order: it only ever skips numbers. The mark is synced first: of a raise
    /// that failed, the disk may not know it, and `next` must not pass it there either.
    pub fn start_past<E>(&self, cursor: &Cursor, sync: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let written = self.written();
        sync()?;
        cursor.raise_next(written.saturating_add(1));
        Ok(())
    }
}
