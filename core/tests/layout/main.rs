//! What the 64 bits of an ID mean: every layout, compared with its own system and with a plain model.

#![cfg(not(flakeforge_loom))]

mod dialects;
mod errors;
mod format;
mod invariants;
mod layout;
mod parts;
mod seal;
mod vectors;
