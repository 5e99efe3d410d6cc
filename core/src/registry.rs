//! One cursor for all generators of a process whose IDs could be equal.
//!
//! "Could be equal" is what the bits say: epoch, tick length, field positions and the node bits. Names
//! and `seqMask` do not matter, for two generators that differ only there can still make the same ID.
//! An entry outlives its generators, so that one made for each request goes on where the last one
//! stopped.
//!
//! This file must never drop an entry that a generator holds, or one whose tick the clock could still
//! reach by an ordinary step back.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::clock::{Timescale, system_ns};
use crate::cursor::Cursor;
use crate::layout::{Layout, Packing};

/// Entries beyond which those that nobody holds are looked through. All nodes of all dialects stay far below.
const MANY: usize = 1 << 16;

/// How long the tick of a dropped entry has been past: more than clocks step back by.
const LONG_PAST_NS: i128 = 24 * 3_600 * 1_000_000_000;

/// What decides whether two generators could make equal IDs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    epoch_ms: i64,
    tick_ns: u64,
    packing: Packing,
    node: u64,
}

impl Key {
    /// The key of a layout and a node number already [placed](Layout::place_node).
    pub fn new(layout: &Layout, node: u64) -> Self {
        let Timescale { epoch_ms, tick_ns, .. } = layout.scale;
        Self { epoch_ms, tick_ns, packing: layout.packing, node }
    }

    fn scale(&self) -> Timescale {
        Timescale { epoch_ms: self.epoch_ms, tick_ns: self.tick_ns, first_tick: 0, last_tick: u64::MAX }
    }
}

/// A map from keys to cursors.
#[derive(Debug, Default)]
pub struct Registry {
    cursors: HashMap<Key, Arc<Cursor>>,
    swept_at: usize,
}

impl Registry {
    /// The cursor of a key, new where there is none. It has no limit: each generator knows its layout's end.
    pub fn cursor(&mut self, key: Key) -> Arc<Cursor> {
        if self.cursors.len() >= MANY.max(self.swept_at * 2) {
            self.sweep(system_ns());
        }
        self.cursors.entry(key).or_insert_with(|| Arc::new(Cursor::new(u64::MAX))).clone()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.cursors.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cursors.is_empty()
    }

    fn sweep(&mut self, now_ns: i128) {
        self.cursors.retain(|key, cursor| {
            let last_tick = cursor.next() >> key.packing.counter_bits();
            Arc::strong_count(cursor) > 1 || key.scale().start_of(last_tick) > now_ns - LONG_PAST_NS
        });
        self.swept_at = self.cursors.len();
    }
}

static PROCESS: LazyLock<Mutex<Registry>> = LazyLock::new(Mutex::default);

/// The registry of this process: of every thread that loaded this copy of the library.
pub fn process() -> MutexGuard<'static, Registry> {
    PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A name of this copy of the library within the process: another copy has another registry, and another name.
pub fn name() -> String {
    format!("{:p}", &raw const PROCESS)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn flake(epoch_ms: i64) -> Layout {
        Layout::named("flake").unwrap().with_epoch(epoch_ms)
    }

    fn cursor(registry: &mut Registry, epoch_ms: i64, node: u64) -> Arc<Cursor> {
        let layout = flake(epoch_ms);
        registry.cursor(Key::new(&layout, layout.place_node(node)))
    }

    #[test]
    fn equal_bits_share_a_cursor_and_others_do_not() {
        let mut registry = Registry::default();
        let one = cursor(&mut registry, 0, 1);
        assert!(Arc::ptr_eq(&one, &cursor(&mut registry, 0, 1)));
        assert!(!Arc::ptr_eq(&one, &cursor(&mut registry, 0, 2)));
        assert!(!Arc::ptr_eq(&one, &cursor(&mut registry, 5, 1)));
    }

    #[test]
    fn a_sweep_keeps_what_is_held_and_what_is_recent() {
        let mut registry = Registry::default();
        let now_ns = LONG_PAST_NS * 100;
        let now_ms = (now_ns / 1_000_000) as u64;
        let give = |registry: &mut Registry, node, tick: u64| {
            let cursor = cursor(registry, 0, node);
            // As if the last ID had been made in that tick.
            let rule = crate::cursor::Rule { counter_bits: 12, seq_mask: 4095, max_ahead: 0, last: u64::MAX };
            let mut clock = crate::clock::TickClock::given(flake(0).scale);
            clock.set(i128::from(tick) * 1_000_000);
            cursor.claim(1, &rule, &mut clock).unwrap();
            cursor
        };
        let held = give(&mut registry, 1, 1);
        drop(give(&mut registry, 2, 1));
        drop(give(&mut registry, 3, now_ms));
        drop(give(&mut registry, 4, now_ms + 1000));
        registry.sweep(now_ns);
        assert_eq!(registry.len(), 3);
        assert!(Arc::ptr_eq(&held, &cursor(&mut registry, 0, 1)));
        assert_ne!(cursor(&mut registry, 0, 3).next(), 0, "an entry outlives its generators");
        assert_eq!(cursor(&mut registry, 0, 2).next(), 0);
    }

    #[test]
    fn a_map_that_grows_is_swept() {
        let mut registry = Registry::default();
        for epoch in 0..MANY as i64 * 3 {
            cursor(&mut registry, epoch, 0); // never used: tick 0, long past
        }
        assert!(registry.len() <= MANY, "{} entries", registry.len());
    }
}
