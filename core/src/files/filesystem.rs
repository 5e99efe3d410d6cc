//! Which file system a file is on, and whether that is local. The list has only types that no other machine can write to.

use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd;

/// The type of an in-memory file system.
const TMPFS: u64 = 0x0102_1994;

/// Types of local file systems, from statfs(2).
const LOCAL: [u64; 13] = [
    0xEF53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683E, // btrfs
    0x2FC1_2FC1, // zfs
    0xCA45_1A4E, // bcachefs
    0xF2F5_2010, // f2fs
    TMPFS,
    0x8584_58F6, // ramfs
    0x794C_7630, // overlayfs
    0x5265_4973, // reiserfs
    0x3153_464A, // jfs
    0x3434,      // nilfs2
    0xF15F,      // ecryptfs
];

/// Whether only this machine writes to file systems of this type.
pub fn is_local(kind: u64) -> bool {
    LOCAL.contains(&kind)
}

/// A file or folder whose file system is known.
pub trait OnFileSystem {
    /// the type; `None` if the system does not report it
    fn kind(&self) -> Option<u64>;
}

impl OnFileSystem for &File {
    #[cfg(target_os = "linux")]
    fn kind(&self) -> Option<u64> {
        kind(self)
    }
    #[cfg(not(target_os = "linux"))]
    fn kind(&self) -> Option<u64> {
        None
    }
}

/// The type of the file system of a descriptor.
#[cfg(target_os = "linux")]
pub(crate) fn kind(open: impl AsFd) -> Option<u64> {
    rustix::fs::fstatfs(open).ok().map(|found| type_bits(found.f_type))
}

/// The type has 32 bits, but its width and sign depend on the CPU architecture.
#[cfg(target_os = "linux")]
fn type_bits<T: TryInto<i64>>(kind: T) -> u64 {
    kind.try_into().map_or(0, |kind| kind as u64 & 0xFFFF_FFFF)
}
