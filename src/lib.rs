//! The addon: everything that knows N-API, and nothing else. It converts and calls; the rules are in
//! `core/`, the public face and its messages in `lib/`.
//!
//! | file | what crosses there |
//! |---|---|
//! | `hot.rs` | one ID per call, through raw N-API functions: the only `unsafe` of the addon |
//! | `table.rs` | the generators of one environment, by the index that `hot.rs` is told |
//! | `generator.rs` | making a generator, batches, statistics |
//! | `layout.rs` | what the bits of an ID mean |
//! | `format.rs` | bytes of any length as text, and back |

mod format;
mod generator;
mod hot;
mod layout;
mod table;
