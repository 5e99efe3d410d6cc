//! What files need to know about the machine: which boot this is, and which file systems are its own.
//!
//! This file must never treat a file system as local if another machine may be writing to it: memory that two machines
//! map is not shared memory.

use std::path::Path;
use std::sync::LazyLock;

use crate::files::boot;
use crate::files::error::FileError;
use crate::files::filesystem::{OnFileSystem, is_local};

/// The machine as files see it. Tests make their own.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// the ID of this boot; `None` if there is no way to know it
    pub boot: Option<u128>,
    /// whether a type of file system is local
    pub is_local: fn(u64) -> bool,
}

static THIS: LazyLock<Machine> = LazyLock::new(|| Machine { boot: boot::this(), is_local });

/// The machine that this process runs on.
pub fn this() -> &'static Machine {
    &THIS
}

impl Machine {
    /// Refuses what is not on a file system of this machine. `what`: the file itself, or the folder that it will be in.
    pub fn check_local(&self, path: &Path, what: impl OnFileSystem) -> Result<(), FileError> {
        match what.kind() {
            Some(kind) if !(self.is_local)(kind) => Err(FileError::new(
                path,
                format!(
                    "is on a file system (type {kind:#x}) that may be a network one. Shared files must be on a local disk \
                     or in memory. For several machines, use join() with a server"
                ),
            )),
            _ => Ok(()),
        }
    }
}
