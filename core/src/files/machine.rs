//! What files need to know about the machine: whether it can share files at all, which boot this is, and which file systems
//! are local. Memory that two machines map is not shared memory, so a file system that another machine may write to is not
//! local.

use std::env::consts::{ARCH, OS};
use std::path::Path;
use std::sync::LazyLock;

use crate::files::boot;
use crate::files::filesystem::{OnFileSystem, is_local};
use crate::refusal::Refusal;

/// The machine as files see it. Tests describe their own.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// whether processes can share a file by mapping and locking it
    pub shares_files: bool,
    /// the ID of this boot, if it can be known
    pub boot: Option<u128>,
    /// whether a type of file system is local
    pub is_local: fn(u64) -> bool,
}

/// Whether this platform maps files into memory shared by processes. WebAssembly does not.
const SHARES_FILES: bool = cfg!(any(unix, windows));

static THIS: LazyLock<Machine> = LazyLock::new(|| Machine { shares_files: SHARES_FILES, boot: boot::this(), is_local });

/// The machine that this process runs on.
pub fn this() -> &'static Machine {
    &THIS
}

/// Fails for every file and folder if this platform cannot share files. Unlike [`this`], it does not look up the boot.
pub fn check_shares(path: &Path) -> Result<(), Refusal> {
    check(SHARES_FILES, path)
}

/// The platform's name in messages. WebAssembly has no name for its system.
const PLATFORM: &str = if OS.is_empty() { ARCH } else { OS };

fn check(shares_files: bool, path: &Path) -> Result<(), Refusal> {
    if shares_files {
        return Ok(());
    }
    Err(Refusal::file(
        path,
        format!(
            "cannot be used: processes cannot share files on this platform ({PLATFORM}). All that needs no files works here: \
             `new FlakeId()` with a node number, layouts and text forms, and join() with a server"
        ),
    ))
}

impl Machine {
    /// Fails for every file and folder if this machine cannot share files.
    pub fn check_shares(&self, path: &Path) -> Result<(), Refusal> {
        check(self.shares_files, path)
    }

    /// Fails for files and folders that are not on a local file system. `what` is the file itself, or its future folder.
    pub fn check_local(&self, path: &Path, what: impl OnFileSystem) -> Result<(), Refusal> {
        match what.kind() {
            Some(kind) if !(self.is_local)(kind) => Err(Refusal::file(
                path,
                format!(
                    "is on a file system (type {kind:#x}) that may be a network file system. Shared files must be on a local disk \
                     or in memory. For several machines, use join() with a server"
                ),
            )),
            _ => Ok(()),
        }
    }
}
