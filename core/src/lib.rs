//! 64-bit, time-ordered, unique IDs: the whole of flakeforge that does not know Node.js.
//!
//! Every flake ID is a **tick** (units of time since an epoch), a **counter** inside the tick, and a
//! **node** number. Tick and counter, joined, are one *number* that only grows, so a generator needs one
//! atomic word: the next free number.
//!
//! There are four rooms, the lowest first, on three small files. A room may use what is below it, and no other.
//!
//! | room | what it is for |
//! |---|---|
//! | `hash` | one hash for all who need one |
//! | `refusal` | why something was refused |
//! | `sync` | the atomics: the standard library's, or those of the models |
//! | [`layout`] | what the 64 bits mean |
//! | [`generator`] | how numbers are taken in a process |
//! | [`files`] | what outlives a process: cursors, slots and counters in files |
//! | [`lease`] | who has which slot, over any database |

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "flakeforge-core needs 64-bit atomics: its cursor, which all threads share, is one atomic word of 64 bits"
);

pub mod files;
pub mod generator;
mod hash;
pub mod layout;
pub mod lease;
pub mod refusal;
mod sync;

/// Its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
