//! 64-bit, time-ordered, unique IDs: the whole of flakeforge that does not know Node.js.
//!
//! Every flake ID is a **tick** (units of time since an epoch), a **counter** inside the tick, and a
//! **node** number. Tick and counter, joined, are one *number* that only grows, so a generator is one
//! atomic word: the next free number. The rooms of this house, in the order an ID passes them:
//!
//! | file | its one idea |
//! |---|---|
//! | [`generator`] | clock + cursor + layout: makes IDs, and says why it cannot |
//! | [`clock`] | where ticks come from, and when a tick already read may be trusted |
//! | [`cycles`] | the CPU's cycle counter, calibrated: what makes that trust cheap |
//! | [`cursor`] | `claim()`, the only place where numbers are taken |
//! | [`layout`] | what the bits mean: tick, counter and node to ID, and back |
//! | [`packing`] | where they go: the few shifts that making an ID needs |
//! | [`spec`] | what a layout of one's own may be made of |
//! | [`prefetch`] | numbers claimed many at a time and handed out one by one |
//! | [`dialects`] | the table of layouts that other systems use |
//! | [`registry`] | one cursor for all generators of a process whose IDs could be equal |
//! | [`lease`] | the holder of a leased slot: what to ask the store, what to do with its answers |
//! | [`grants`] | the rules a store follows, as the reference for each of them |
//! | [`shared`] | one cursor for all processes that name a file |
//! | [`mark`] | how far such a file promises to remember, whatever happens to the machine |
//! | `keeper` | the files that are open, and the thread that looks after them |
//! | [`page`] | what a file looks like |
//! | [`place`] | how it gets to its place, and is found there |
//! | `entry` | what everyone does who opens such a file |
//! | [`presence`] | whether a living process has such a file open |
//! | [`machine`] | what files need to know of the machine: its boot, and which file systems are local |
//! | [`boot`] | which boot of the machine this is |
//! | [`slots`] | a slot of its own for each process that sees a folder |
//! | [`group`] | the group that the slots belong to, and its end |
//! | [`holder`] | who holds a slot, for people who look |
//! | [`counters`] | counters in files, which grow by a block at a time |
//! | [`names`] | any text as a file name |
//! | [`numbers`] | what numbers say in time |
//! | [`fault`] | what can be wrong with a file, in words |
//! | [`format`](mod@format) | bytes as decimal, hex, binary, octal and base-32 text, and back |

pub mod boot;
pub mod clock;
#[cfg(not(loom))] // this and the like stand on mapped memory, where loom's atomics cannot be
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
