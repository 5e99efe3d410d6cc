//! How numbers are taken in a process: clocks, cursors and generators.

#![cfg(not(flakeforge_loom))]

mod clock;
mod cursor;
mod cycles;
mod exact;
mod generator;
mod lane;
mod numbers;
mod prefetch;
mod together;
