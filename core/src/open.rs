//! What the addon opens generators with. Generators that could generate the same IDs in this process share their numbers.
//!
//! The lowest file comes first. A file uses only those above it in this table, and the rooms below.
//!
//! | file | its one idea |
//! |---|---|
//! | `process` | the registry of this process |
//! | `attachment` | what a leased generator has in addition to an ordinary one |

pub mod attachment;
pub mod process;
