//! What outlives a process: cursors, slots and counters in files.

pub mod boot;
#[cfg(not(loom))] // this and the others so marked use mapped memory, where loom's atomics cannot be
pub mod counters;
#[cfg(not(loom))]
mod entry;
pub mod error;
pub mod file_format;
pub mod filesystem;
#[cfg(not(loom))]
pub mod group;
#[cfg(not(loom))]
pub mod holder_record;
#[cfg(not(loom))]
pub mod listing;
pub mod machine;
#[cfg(not(loom))]
mod mapped;
pub mod mark;
pub mod named_file;
pub mod names;
pub mod presence;
#[cfg(not(loom))]
pub mod process_registry;
#[cfg(not(loom))]
pub mod shared;
#[cfg(not(loom))]
pub mod slots;
#[cfg(not(loom))]
mod watcher;
