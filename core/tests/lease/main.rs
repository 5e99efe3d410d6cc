//! Which process has a slot: the holder's state machine, and the rules for all databases, one by one.

#![cfg(not(flakeforge_loom))]

#[path = "../support/records.rs"]
mod store;

mod backfill;
mod counters;
mod grants;
mod group_life;
mod holder;
mod losses;
mod quorum;
mod records;
mod search;
mod windows;
