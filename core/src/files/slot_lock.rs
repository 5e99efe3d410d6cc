//! The lock of a slot: whoever has it has the slot. The system releases it when the process ends, however it ends.
//!
//! Everybody else can read the file of a held slot. On Unix that is so with the lock of the system. On Windows that lock
//! would keep others from reading, so a way of opening the file takes its place: with the right to delete it, which
//! nobody uses, and without letting anybody else have that right. The system refuses a second one. A file that is open
//! like this cannot be removed or renamed either.
//!
//! A process and those that it forks have one lock in common, and it is the parent's.
//!
//! This file must never say that a slot is locked while another process may have it, nor release what another holds.

use std::fs::File;
use std::path::Path;
use std::process;
use std::sync::Arc;

use crate::files::named_file;
use crate::refusal::Refusal;

/// A lock that this process holds until this is dropped.
#[derive(Debug)]
pub(crate) struct SlotLock {
    #[cfg_attr(windows, expect(dead_code, reason = "closing it releases the lock"))]
    file: Arc<File>,
    /// the process that asked for it
    pid: u32,
}

impl SlotLock {
    fn of(file: Arc<File>) -> Self {
        Self { file, pid: process::id() }
    }

    /// Whether this process asked for it, and not one that forked this one.
    pub(crate) fn is_ours(&self) -> bool {
        self.pid == process::id()
    }
}

/// The result of asking for the lock, without waiting.
pub(crate) enum Asked {
    /// the lock, and the file to read and write
    Held(SlotLock, Arc<File>),
    Taken,
    /// there is no file
    Missing,
}

#[cfg(not(windows))]
mod system {
    use std::fs::TryLockError;

    use super::*;

    impl SlotLock {
        pub(crate) fn ask(path: &Path) -> Result<Asked, Refusal> {
            let Some(file) = named_file::open_locked(path)? else { return Ok(Asked::Missing) };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Asked::Taken),
                Err(TryLockError::Error(error)) => return Err(Refusal::io(path, "locked", &error)),
            }
            let file = Arc::new(file);
            Ok(Asked::Held(Self::of(file.clone()), file))
        }
    }

    /// The page may keep the file open.
    impl Drop for SlotLock {
        fn drop(&mut self) {
            if self.is_ours() {
                let _ = self.file.unlock(); // if this fails, closing the file does it
            }
        }
    }

    /// Whether anybody has the lock. This needs no right to write, and holds the lock no longer than it takes to ask for
    /// it. Somebody who looks for a slot at that moment takes another one.
    pub(crate) fn is_locked(path: &Path) -> Result<bool, Refusal> {
        let Some(file) = named_file::open_to_read(path)? else { return Ok(false) };
        match file.try_lock_shared() {
            Ok(()) => Ok(false), // closing the file releases the lock
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(Refusal::io(path, "locked", &error)),
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::OpenOptions;
    use std::io::ErrorKind;

    use super::*;
    use crate::files::sharing;

    impl SlotLock {
        /// The lock comes first. Then nobody can put another file in the place of this one before it is opened.
        pub(crate) fn ask(path: &Path) -> Result<Asked, Refusal> {
            let mut options = OpenOptions::new();
            sharing::keep_in_place(sharing::as_its_remover(&mut options, false));
            match options.open(path) {
                Ok(file) => {
                    let opened = named_file::open_locked(path)?;
                    Ok(opened.map_or(Asked::Missing, |opened| Asked::Held(Self::of(file.into()), opened.into())))
                }
                Err(error) if sharing::is_refused(&error) => Ok(Asked::Taken),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(Asked::Missing),
                // If it is a folder, for example, that error is better.
                Err(error) => named_file::open_locked(path).and(Err(Refusal::io(path, "locked", &error))),
            }
        }
    }

    /// Whether anybody has the lock. This needs no right to write. Somebody who looks for a slot at that moment takes
    /// another one.
    pub(crate) fn is_locked(path: &Path) -> Result<bool, Refusal> {
        match sharing::keep_in_place(OpenOptions::new().read(true)).open(path) {
            Ok(_) => Ok(false),
            Err(error) if sharing::is_refused(&error) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Refusal::io(path, "opened for reading", &error)),
        }
    }
}

pub(crate) use system::is_locked;
