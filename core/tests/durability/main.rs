//! Crashes of the machine, and syncs that fail: no number is taken twice, whatever the disk has lost.

#![cfg(all(not(flakeforge_loom), target_os = "linux"))]

#[path = "../support/mod.rs"]
mod support;

mod counters;
mod disk;
mod groups;
mod shared;
