//! Machine crashes and failed syncs: no number is taken twice, whatever the disk has lost.

#![cfg(all(not(flakeforge_loom), target_os = "linux"))]

#[path = "../support/mod.rs"]
mod support;

mod counters;
mod disk;
mod groups;
mod shared;
