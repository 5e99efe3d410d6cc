//! The lock of a slot: the process that has the lock has the slot. The system releases it when the process ends, however it
//! ends.
//!
//! A process and its forks share one lock, which belongs to the parent.

use std::fs::File;
use std::process;
use std::sync::Arc;

use crate::files::folder::Place;
use crate::files::named_file;
use crate::refusal::Refusal;

/// A lock that this process holds until the value is dropped.
///
/// Other processes can read the file of a held slot. On Unix, the system's lock allows that. On Windows it would not, so a
/// way of opening the file replaces it: with the right to delete it, which is never used, and without allowing that right to
/// any other process. Windows refuses a second such handle, and such a file can be neither removed nor renamed.
#[derive(Debug)]
pub(crate) struct SlotLock {
    #[cfg_attr(windows, expect(dead_code, reason = "closing it releases the lock"))]
    file: Arc<File>,
    /// the process that requested it
    pid: u32,
}

impl SlotLock {
    fn of(file: Arc<File>) -> Self {
        Self { file, pid: process::id() }
    }

    /// Whether this process requested it, not a parent that forked it.
    pub(crate) fn is_ours(&self) -> bool {
        self.pid == process::id()
    }
}

/// The result of requesting the lock, without waiting.
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
        pub(crate) fn ask(place: &Place) -> Result<Asked, Refusal> {
            let Some(file) = named_file::open_locked(place)? else { return Ok(Asked::Missing) };
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Asked::Taken),
                Err(TryLockError::Error(error)) => return Err(Refusal::io(place.path(), "locked", &error)),
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

    /// Whether a process has the lock. This needs no write permission, and holds the lock only for a moment. A process that
    /// searches for a slot at that moment takes another one.
    pub(crate) fn is_locked(place: &Place) -> Result<bool, Refusal> {
        let Some(file) = named_file::open_to_read(place)? else { return Ok(false) };
        match file.try_lock_shared() {
            Ok(()) => Ok(false), // closing the file releases the lock
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(Refusal::io(place.path(), "locked", &error)),
        }
    }
}

#[cfg(windows)]
mod system {
    use std::io::ErrorKind;

    use super::*;
    use crate::files::folder::is_refused;

    impl SlotLock {
        /// The lock comes first, so that no other file can replace this one before it is opened.
        pub(crate) fn ask(place: &Place) -> Result<Asked, Refusal> {
            match place.folder.hold(&place.name) {
                Ok(file) => {
                    let opened = named_file::open_locked(place)?;
                    Ok(opened.map_or(Asked::Missing, |opened| Asked::Held(Self::of(file.into()), opened.into())))
                }
                Err(error) if is_refused(&error) => Ok(Asked::Taken),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(Asked::Missing),
                // If it is a folder, for example, that error is better.
                Err(error) => named_file::open_locked(place).and(Err(Refusal::io(place.path(), "locked", &error))),
            }
        }
    }

    /// Whether a process has the lock. This needs no write permission. A process that searches for a slot at that moment
    /// takes another one.
    pub(crate) fn is_locked(place: &Place) -> Result<bool, Refusal> {
        match place.folder.probe(&place.name) {
            Ok(_) => Ok(false),
            Err(error) if is_refused(&error) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Refusal::io(place.path(), "opened for reading", &error)),
        }
    }
}

pub(crate) use system::is_locked;
