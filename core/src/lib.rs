//! What flakeforge decides: layouts, numbers, slots and leases. This crate knows no Node.js; the addon calls it.
//!
//! Every flake ID consists of a **tick** (units of time since an epoch), a **counter** within the tick, and a **node**
//! number. Tick and counter, joined, are one *number* that only grows, so a generator needs a single atomic word: the
//! next free number.
//!
//! There are five rooms on four small files, the lowest first. A room uses only what is below it.
//!
//! | room | what it is for |
//! |---|---|
//! | `hash` | the hash that several rooms share |
//! | `refusal` | why a request was refused |
//! | `release` | the release of flakeforge that a newer format requires |
//! | `sync` | atomics: the standard library's, or loom's |
//! | `layout` | what the 64 bits mean |
//! | `generator` | how numbers are taken in a process |
//! | `files` | what outlives a process: cursors, slots and counters in files |
//! | `lease` | which member holds which slot, over any database |
//! | `open` | the process's registry, and the cursors of leases |

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "flakeforge-core needs 64-bit atomics: all threads share its cursor, which is a single atomic word of 64 bits"
);

pub mod files;
pub mod generator;
mod hash;
pub mod layout;
pub mod lease;
#[cfg(not(flakeforge_loom))]
pub mod open;
pub mod refusal;
pub mod release;
mod sync;
