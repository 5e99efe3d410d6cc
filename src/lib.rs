//! The addon: everything that knows N-API, and nothing else. It converts and calls. The rules are in
//! `core/`; the public API and its messages are in `lib/`.
//!
//! | file | what crosses there |
//! |---|---|
//! | `hot.rs` | IDs, one per call or a batch, through raw N-API functions: the only `unsafe` of the addon |
//! | `table.rs` | the generators of one environment, by the index that `hot.rs` is told |
//! | `generator.rs` | making a generator, statistics |
//! | `attachment.rs` | what a leased generator has in addition to an ordinary one |
//! | `lease.rs` | the holder's state machine, events in and actions out |
//! | `grants.rs` | the steps over a database: what to read and what to swap |
//! | `slots.rs` | slot files, and the counters beside them |
//! | `layout.rs` | what the bits of an ID mean |
//! | `format.rs` | bytes of any length as text, and back |

mod attachment;
mod format;
mod generator;
mod grants;
mod hot;
mod layout;
mod lease;
mod slots;
mod table;
