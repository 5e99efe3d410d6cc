//! What outlives a process: cursors, slots and counters in files.
//!
//! The lowest file comes first. A file uses only those above it in this table, and the rooms [`layout`](crate::layout)
//! and [`generator`](crate::generator).
//!
//! | file | its one idea |
//! |---|---|
//! | [`error`] | what can be wrong with a file or a group, in words |
//! | [`names`] | any text as a file name |
//! | [`mark`] | how far a file promises to remember, even if the machine crashes |
//! | [`presence`] | whether a living process has a file open |
//! | [`file_format`] | what a file contains |
//! | [`filesystem`] | which file systems are this machine's own |
//! | [`boot`] | which boot of the machine this is |
//! | [`machine`] | what files need to know of the machine |
//! | `sharing` | how files are opened on Windows, so that they stay in their place |
//! | [`named_file`] | how a file is created, and how it is found |
//! | `lost_page` | what happens when the system cannot give a mapped page |
//! | `mapped` | a page of a file in memory, which other processes map, too |
//! | `entry` | what everyone who opens a file does first |
//! | `watcher` | the open files, and the thread that looks after them |
//! | [`group`] | a group of slots: its lives, and how one ends |
//! | [`shared`] | one cursor for all processes that name the same file |
//! | [`key_file`] | a registry that knows the keys whose cursors are in files |
//! | [`holder_record`] | who holds a slot, for people who want to know |
//! | `slot_lock` | the lock that says who has a slot |
//! | [`slots`] | a separate slot for each process that shares a folder |
//! | [`listing`] | the slots of a group and the groups of a folder, for people who want to know |
//! | [`counters`] | counters in files, which grow by one block at a time |

pub mod boot;
#[cfg(not(flakeforge_loom))] // this and the others so marked use mapped memory, where loom's atomics cannot be
pub mod counters;
#[cfg(not(flakeforge_loom))]
mod entry;
pub mod error;
#[cfg(not(flakeforge_loom))]
pub mod file_format;
pub mod filesystem;
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
mod sharing;
#[cfg(not(flakeforge_loom))]
mod slot_lock;
#[cfg(not(flakeforge_loom))]
pub mod slots;
#[cfg(not(flakeforge_loom))]
mod watcher;
