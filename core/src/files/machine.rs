//! What files need to know about the machine: whether it shares files at all, which boot this is, and which file systems
//! are its own.
//!
//! This file must never treat a file system as local if another machine may be writing to it: memory that two machines
//! map is not shared memory.

use std::env::consts::{ARCH, OS};
use std::path::Path;
use std::sync::LazyLock;

use crate::files::boot;
use crate::files::filesystem::{OnFileSystem, is_local};
use crate::refusal::Refusal;

/// The machine as files see it. Tests make their own.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// whether processes can share a file: map it and lock it
    pub shares_files: bool,
    /// the ID of this boot; `None` if there is no way to know it
    pub boot: Option<u128>,
    /// whether a type of file system is local
    pub is_local: fn(u64) -> bool,
}

/// Whether this platform maps files into memory that processes share. WebAssembly does not.
const SHARES_FILES: bool = cfg!(any(unix, windows));

static THIS: LazyLock<Machine> = LazyLock::new(|| Machine { shares_files: SHARES_FILES, boot: boot::this(), is_local });

/// The machine that this process runs on.
pub fn this() -> &'static Machine {
    &THIS
}

/// Refuses every file and folder where this platform shares none. This does not ask which boot it is, as [`this`] does.
pub fn check_shares(path: &Path) -> Result<(), Refusal> {
    check(SHARES_FILES, path)
}

/// What messages call this platform. WebAssembly has no name for its system.
const PLATFORM: &str = if OS.is_empty() { ARCH } else { OS };

fn check(shares_files: bool, path: &Path) -> Result<(), Refusal> {
    if shares_files {
        return Ok(());
    }
    Err(Refusal::file(
        path,
        format!(
            "cannot be used: processes cannot share files on this platform ({PLATFORM}). What needs no files works here: \
             `new FlakeId()` with a node number, layouts and text forms, and join() with a server"
        ),
    ))
}

impl Machine {
    /// Refuses every file and folder if this machine shares none.
    pub fn check_shares(&self, path: &Path) -> Result<(), Refusal> {
        check(self.shares_files, path)
    }

    /// Refuses what is not on a file system of this machine. `what`: the file itself, or the folder that it will be in.
    pub fn check_local(&self, path: &Path, what: impl OnFileSystem) -> Result<(), Refusal> {
        match what.kind() {
            Some(kind) if !(self.is_local)(kind) => Err(Refusal::file(
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
