//! 64-bit, time-ordered, unique IDs: the whole of flakeforge that does not know Node.js.
//!
//! Every flake ID is a **tick** (units of time since an epoch), a **counter** inside the tick, and a
//! **node** number. Tick and counter, joined, are one *number* that only grows, so a generator needs one
//! atomic word: the next free number. These are the modules, roughly in the order in which an ID passes them:
//!
//! | file | its one idea |
//! |---|---|
//! | [`generator`] | clock + cursor + layout: makes IDs, and says why it cannot make one |
//! | [`clock`] | where ticks come from, and how long a tick that was read may be trusted |
//! | [`cycles`] | the CPU's cycle counter, calibrated: what makes that trust cheap |
//! | [`cursor`] | `claim()`, the only place where numbers are taken |
//! | [`layout`] | what the bits mean: tick, counter and node to ID, and back |
//! | [`packing`] | where tick, counter and node go: the few shifts that making an ID needs |
//! | [`spec`] | what a custom layout may consist of |
//! | [`prefetch`] | numbers claimed many at a time and handed out one by one |
//! | [`dialects`] | the table of layouts that other systems use |
//! | [`registry`] | one cursor for all generators of a process whose IDs could be equal |
//! | [`lease`] | the holder of a leased slot: what to ask the store, what to do with its answers |
//! | [`grants`] | the rules that keep slots, windows and blocks unique, over any database |
//! | [`shared`] | one cursor for all processes that name the same file |
//! | [`mark`] | how far such a file promises to remember, even if the machine crashes |
//! | `keeper` | the open files, and the thread that looks after them |
//! | [`page`] | what a file contains |
//! | [`place`] | how a file is created, and how it is found |
//! | `entry` | what everyone who opens such a file does first |
//! | [`presence`] | whether a living process has such a file open |
//! | [`machine`] | what files need to know of the machine: its boot, and which file systems are local |
//! | [`boot`] | which boot of the machine this is |
//! | [`slots`] | a separate slot for each process that shares a folder |
//! | [`group`] | the group that the slots belong to, and how it ends |
//! | [`holder`] | who holds a slot, for people who want to know |
//! | `roster` | the slots of a group and the groups of a folder, for the same people |
//! | [`counters`] | counters in files, which grow by one block at a time |
//! | [`names`] | any text as a file name |
//! | [`numbers`] | the times that numbers stand for |
//! | [`fault`] | what can be wrong with a file, in words |
//! | [`format`](mod@format) | bytes as decimal, hex, binary, octal and base-32 text, and back |

pub mod boot;
pub mod clock;
#[cfg(not(loom))] // this and the others so marked use mapped memory, where loom's atomics cannot be
pub mod counters;
pub mod cursor;
pub mod cycles;
pub mod dialects;
#[cfg(not(loom))]
mod entry;
pub mod fault;
pub mod format;
#[cfg(not(loom))]
pub mod generator;
pub mod grants;
#[cfg(not(loom))]
pub mod group;
#[cfg(not(loom))]
pub mod holder;
#[cfg(not(loom))]
mod keeper;
pub mod layout;
pub mod lease;
pub mod machine;
pub mod mark;
pub mod names;
pub mod numbers;
pub mod packing;
pub mod page;
pub mod place;
pub mod prefetch;
pub mod presence;
#[cfg(not(loom))]
pub mod registry;
#[cfg(not(loom))]
mod roster;
#[cfg(not(loom))]
pub mod shared;
#[cfg(not(loom))]
pub mod slots;
pub mod spec;
