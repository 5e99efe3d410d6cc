//! 64-bit, time-ordered, unique IDs: the whole of flakeforge that does not know Node.js.
//!
//! Every flake ID is a **tick** (units of time since an epoch), a **counter** inside the tick, and a
//! **node** number. Tick and counter, joined, are one *number* that only grows, so a generator needs one
//! atomic word: the next free number.
//!
//! There are five rooms, the lowest first, on four small files. A room may use what is below it, and no other.
//!
//! | room | what it is for |
//! |---|---|
//! | `hash` | one hash for all who need one |
//! | `refusal` | why something was refused |
//! | `release` | the release of flakeforge that a newer format needs |
//! | `sync` | the atomics: the standard library's, or those of the models |
//! | `layout` | what the 64 bits mean |
//! | `generator` | how numbers are taken in a process |
//! | `files` | what outlives a process: cursors, slots and counters in files |
//! | `lease` | who has which slot, over any database |
//! | `open` | how a generator is opened |

// Much of it is used by other features, or by the addon alone.
#![cfg_attr(not(all(feature = "files", feature = "lease", feature = "seal", feature = "internal")), allow(dead_code))]

#[cfg(not(target_has_atomic = "64"))]
compile_error!(
    "flakeforge-core needs 64-bit atomics: its cursor, which all threads share, is one atomic word of 64 bits"
);

// Rooms are private. The addon and our own tests turn the feature `internal` on, which shows them.
#[cfg(all(feature = "files", not(feature = "internal")))]
mod files;
#[cfg(all(feature = "files", feature = "internal"))]
pub mod files;
#[cfg(not(feature = "internal"))]
mod generator;
#[cfg(feature = "internal")]
pub mod generator;
mod hash;
#[cfg(not(feature = "internal"))]
mod layout;
#[cfg(feature = "internal")]
pub mod layout;
#[cfg(all(feature = "lease", not(feature = "internal")))]
mod lease;
#[cfg(all(feature = "lease", feature = "internal"))]
pub mod lease;
#[cfg(not(any(flakeforge_loom, feature = "internal")))]
mod open;
#[cfg(all(not(flakeforge_loom), feature = "internal"))]
pub mod open;
#[cfg(not(feature = "internal"))]
mod refusal;
#[cfg(feature = "internal")]
pub mod refusal;
#[cfg(not(feature = "internal"))]
mod release;
#[cfg(feature = "internal")]
pub mod release;
mod sync;

pub use generator::Generator;
#[cfg(feature = "seal")]
pub use layout::seal::Seal;
pub use layout::{Layout, Mode, Spec, Unpacked, format};
#[cfg(feature = "lease")]
pub use lease::grants::record::ServerIdentity;
#[cfg(all(not(flakeforge_loom), feature = "lease"))]
pub use open::member::{Member, Records, Shown};
#[cfg(all(not(flakeforge_loom), feature = "files"))]
pub use open::slot::Slot;
pub use refusal::Refusal;

/// Its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
