//! What outlives a process. Many of these tests start this program again, as another process that runs a single test.

#![cfg(not(flakeforge_loom))]

#[cfg(target_os = "linux")]
#[path = "../support/mod.rs"]
mod support;

#[cfg(target_os = "linux")]
mod counters;
#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod group;
#[cfg(target_os = "linux")]
mod lost_page;
#[cfg(target_os = "linux")]
mod names;
mod presence;
#[cfg(target_os = "linux")]
mod shared;
#[cfg(target_os = "linux")]
mod shared_boots;
#[cfg(target_os = "linux")]
mod shared_faults;
#[cfg(target_os = "linux")]
mod shared_loss;
#[cfg(target_os = "linux")]
mod slots;
#[cfg(target_os = "linux")]
mod users;
#[cfg(target_os = "linux")]
mod watcher;
