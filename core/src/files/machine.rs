//! What files need to know about the machine: which boot this is (boot.rs), and which file systems are its own.
//!
//! This file must never treat a file system as local if another machine may be writing to it: memory that two machines
//! map is not shared memory.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::files::boot;
use crate::files::error::FileError;

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

/// Types of local file systems, as statfs(2) has them.
const LOCAL: [u64; 13] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0x2FC1_2FC1, // zfs
    0xCA45_1A4E, // bcachefs
    0xF2F5_2010, // f2fs
    0x0102_1994, // tmpfs
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs
    0x5265_4973, // reiserfs
    0x3153_464A, // jfs
    0x3434,      // nilfs2
    0xF15F,      // ecryptfs
];

fn is_local(kind: u64) -> bool {
    LOCAL.contains(&kind)
}

/// Something that lies on a file system whose type the system can tell.
pub trait OnFileSystem {
    /// the type; `None` if the system does not tell
    fn kind(&self) -> Option<u64>;
}

impl OnFileSystem for &fs::File {
    #[cfg(target_os = "linux")]
    fn kind(&self) -> Option<u64> {
        rustix::fs::fstatfs(self).ok().map(|found| type_bits(found.f_type))
    }
    #[cfg(not(target_os = "linux"))]
    fn kind(&self) -> Option<u64> {
        None
    }
}

impl OnFileSystem for &Path {
    #[cfg(target_os = "linux")]
    fn kind(&self) -> Option<u64> {
        rustix::fs::statfs(*self).ok().map(|found| type_bits(found.f_type))
    }
    #[cfg(not(target_os = "linux"))]
    fn kind(&self) -> Option<u64> {
        None
    }
}

/// The type has 32 bits, but each kind of CPU has it in a signed or unsigned word of another width.
#[cfg(target_os = "linux")]
fn type_bits<T: TryInto<i64>>(kind: T) -> u64 {
    kind.try_into().map_or(0, |kind| kind as u64 & 0xFFFF_FFFF)
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
