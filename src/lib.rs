//! The addon: everything that knows N-API, and nothing else. It converts and calls. The rules are in `core/`; the public API
//! and its messages are in `lib/`.
//!
//! The lowest file comes first. A file uses only those above it in this table.
//!
//! | file | what crosses there |
//! |---|---|
//! | `wasm` | memory, in WebAssembly |
//! | `wasm_sign` | whether the process runs the WebAssembly |
//! | `copies` | the other copies of the addon in a process, and the registry that all share |
//! | `number` | numbers, owners and names of calls: anything else is an error |
//! | `mirror` | enums of the core as objects |
//! | `format` | bytes of any length as text |
//! | `tallies` | what all generators have done, for metrics |
//! | `table` | the generators of one environment, by the index that `hot` gets |
//! | `places` | what a raw function belongs to, without asking Node-API |
//! | `hot` | IDs, one per call or a batch, through raw N-API functions: the only `unsafe` besides `places`, `wasm` and `copies` |
//! | `generators` | what generators share: the raw functions, and the table behind them |
//! | `seal` | IDs encrypted as other 64 bits, and back |
//! | `layout` | what the bits of an ID mean |
//! | `backfill` | IDs of the past |
//! | `lease` | the holder's state machine: events in, actions out |
//! | `grants` | the steps over a database: what to read and what to swap |
//! | `quorum` | the steps over several databases: what to send to which one |
//! | `problem` | why something could not be opened |
//! | `disk` | calls that wait for a disk, in a thread |
//! | `slots` | slot files, and the counters in the same store |
//! | `generator` | creating a generator; statistics |

// A value that does not fit is an error: `number` checks what JavaScript passes.
#![deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

mod backfill;
#[cfg(not(target_family = "wasm"))]
mod copies;
mod disk;
mod format;
mod generator;
mod generators;
mod grants;
mod hot;
mod layout;
mod lease;
mod mirror;
mod number;
mod places;
mod problem;
mod quorum;
mod seal;
mod slots;
mod table;
mod tallies;
#[cfg(target_family = "wasm")]
mod wasm;
#[cfg(not(target_family = "wasm"))]
mod wasm_sign;
