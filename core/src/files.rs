//! What outlives a process: cursors, slots and counters in files.
//!
//! The lowest file comes first. A file uses only those above it in this table, and the rooms [`layout`](crate::layout)
//! and [`generator`](crate::generator).
//!
//! | file | its one idea |
//! |---|---|
//! | [`error`] | errors of files and groups |
//! | [`names`] | any text as a file name |
//! | [`mark`] | how far a file promises to remember, even after a machine crash |
//! | [`presence`] | whether a live process has a file open |
//! | [`file_format`] | the content of a file |
//! | [`filesystem`] | which file systems are local |
//! | [`boot`] | the ID of the current boot |
//! | [`machine`] | what files need to know about the machine |
//! | [`folder`] | everything in a file system that is opened, made, linked or removed |
//! | [`named_file`] | creating and opening a file |
//! | `lost_page` | a mapped page that the system cannot provide |
//! | `mapped` | a page of a file in memory, which other processes map, too |
//! | `entry` | what every process does before it takes numbers from a file |
//! | `watcher` | the open files, and the thread that looks after them |
//! | [`group`] | a group of slots: its lives, and how one ends |
//! | [`shared`] | one cursor for all processes that open the same file |
//! | [`key_file`] | a registry of keys whose cursors are in files |
//! | [`holder_record`] | the holder of a slot, for people to read |
//! | `slot_lock` | the lock that decides which process has a slot |
//! | [`slots`] | a separate slot for each process that shares a folder |
//! | [`listing`] | the slots of a group and the groups of a folder, for people to read |
//! | [`counters`] | counters in files, which grow by one block at a time |

#[cfg(not(flakeforge_loom))] // these modules are about mapped memory, where loom's atomics cannot be
pub mod boot;
#[cfg(not(flakeforge_loom))]
pub mod counters;
#[cfg(not(flakeforge_loom))]
mod entry;
#[cfg(not(flakeforge_loom))]
pub mod error;
#[cfg(not(flakeforge_loom))]
pub mod file_format;
#[cfg(not(flakeforge_loom))]
pub mod filesystem;
#[cfg(not(flakeforge_loom))]
pub mod folder;
#[cfg(not(flakeforge_loom))]
pub mod group;
#[cfg(not(flakeforge_loom))]
pub mod holder_record;
#[cfg(not(flakeforge_loom))]
pub mod key_file;
#[cfg(not(flakeforge_loom))]
pub mod listing;
#[cfg(not(flakeforge_loom))]
mod lost_page;
#[cfg(not(flakeforge_loom))]
pub mod machine;
#[cfg(not(flakeforge_loom))]
mod mapped;
pub mod mark;
#[cfg(not(flakeforge_loom))]
pub mod named_file;
pub mod names;
pub mod presence;
#[cfg(not(flakeforge_loom))]
pub mod shared;
#[cfg(not(flakeforge_loom))]
mod slot_lock;
#[cfg(not(flakeforge_loom))]
pub mod slots;
#[cfg(not(flakeforge_loom))]
mod watcher;
