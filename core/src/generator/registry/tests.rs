//! The registry: who shares a cursor, who must not, and what is forgotten.

use std::collections::HashSet;

use super::*;
use crate::generator::clock::TickClock;
use crate::generator::cursor::{Rule, Start};
use crate::layout::Spec;

type Registry = super::Registry<&'static str>;

fn flake(epoch_ms: i64) -> Layout {
    Layout::named("flake").unwrap().with_epoch(epoch_ms)
}

fn cursor(registry: &mut Registry, epoch_ms: i64, node: u64) -> Arc<OwnCursor> {
    let layout = flake(epoch_ms);
    registry.plain(Key::new(&layout, layout.place_node(node))).unwrap()
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
fn each_cursor_has_its_cache_lines_for_itself() {
    let mut registry = Registry::default();
    let cursors: Vec<_> = (0..100).map(|node| cursor(&mut registry, 0, node)).collect();
    let lines: HashSet<_> = cursors.iter().map(|cursor| Arc::as_ptr(cursor).addr() / 128).collect();
    assert_eq!(lines.len(), cursors.len());
}

#[test]
fn a_sweep_keeps_what_is_held_and_what_is_recent() {
    let mut registry = Registry::default();
    let now_ns = LONG_PAST_NS * 100;
    let now_ms = (now_ns / 1_000_000) as u64;
    let give = |registry: &mut Registry, node, tick: u64| {
        let cursor = cursor(registry, 0, node);
        // As if the last ID had been made in that tick.
        let rule = Rule { counter_bits: 12, seq_mask: 4095, max_ahead: 0, start: Start::ZERO, last: LAST };
        let mut clock = TickClock::given(flake(0).scale());
        clock.set(i128::from(tick) * 1_000_000);
        cursor.claim(1, &rule, &mut clock).unwrap();
        cursor
    };
    let held = give(&mut registry, 1, 1);
    drop(give(&mut registry, 2, 1));
    drop(give(&mut registry, 3, now_ms));
    drop(give(&mut registry, 4, now_ms + 1000));
    registry.sweep(now_ns);
    assert_eq!(registry.entries(), 3);
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
    assert!(registry.entries() <= MANY, "{} entries", registry.entries());
}

fn key(node: u64) -> Key {
    let layout = flake(0);
    Key::new(&layout, layout.place_node(node))
}

#[test]
fn a_fingerprint_says_what_the_bits_say() {
    let bits = "epoch 0, tick 1 ms, timestamp 42 bits at 22, counter 12 bits at 0";
    assert_eq!(key(7).fingerprint(), format!("{bits}, node 0x7000"));
    assert_eq!(key(7).group_fingerprint(), bits);
    let of = |name| {
        let layout = Layout::named(name).unwrap();
        Key::new(&layout, layout.place_node(9)).fingerprint()
    };
    assert_eq!(of("chronicle"), "epoch 0, tick 0.0001 ms, decimal, node 0x9");
    assert_eq!(
        of("sonyflake"),
        "epoch 1409529600000, tick 10 ms, timestamp 39 bits at 24, counter 8 bits at 16, node 0x9"
    );
    let fields = vec![("timestamp".to_owned(), 48), ("id".to_owned(), 16)];
    let spec = Spec { name: "mine".to_owned(), epoch_ms: 0, tick_ns: 1_000_000, fields };
    let mine = Layout::custom(spec).unwrap();
    let without_counter = Key::new(&mine, mine.place_node(0)).group_fingerprint();
    assert_eq!(without_counter, "epoch 0, tick 1 ms, timestamp 48 bits at 16, no counter");
    assert!(of("uniqueid").contains("timestamp reversed 42 bits at 22"), "{}", of("uniqueid"));
}

/// The number of a Unix time.
fn number(unix_ns: i128) -> u64 {
    ((unix_ns / 1_000_000) as u64) << 12
}

#[test]
fn a_key_is_free_when_its_last_lease_and_their_windows_are_over() {
    let mut registry = Registry::default();
    let (first, second) = (registry.lease(key(1)).unwrap(), registry.lease(key(1)).unwrap());
    first.end(number(system_ns() - 5_000_000_000) - 1);
    assert!(registry.plain(key(1)).is_err(), "one holds it still");
    let last = number(system_ns() - 2_000_000_000) - 1;
    second.end(last);
    assert_eq!(registry.plain(key(1)).unwrap().next(), last + 1, "above all that they made");
    assert!(registry.lease(key(1)).is_err(), "and now it is the other's");

    registry.lease(key(2)).unwrap().end(number(system_ns() + 60_000_000_000));
    assert!(registry.plain(key(2)).is_err(), "its window is not over yet");
    registry.lease(key(2)).unwrap().end(0);
    assert!(registry.plain(key(2)).is_err(), "nor is it after another that was shorter");
}

#[test]
fn a_sweep_keeps_what_is_leased_or_was_just_now() {
    let (mut registry, now_ns) = (Registry::default(), LONG_PAST_NS * 100);
    let held = registry.lease(key(1)).unwrap();
    registry.lease(key(1)).unwrap().end(1);
    registry.lease(key(2)).unwrap().end(1);
    registry.lease(key(3)).unwrap().end(number(now_ns));
    registry.sweep(now_ns);
    assert_eq!(registry.entries(), 2);
    assert!(registry.plain(key(1)).is_err());
    assert!(registry.scopes.contains_key(&key(3)));
    held.end(1);
    registry.sweep(now_ns);
    assert_eq!(registry.entries(), 1);
}

#[test]
fn a_plain_cursor_that_gave_a_number_keeps_its_key() {
    let mut registry = Registry::default();
    registry.plain(key(2)).unwrap().raise_next(1);
    assert!(registry.lease(key(2)).is_err());
    assert_eq!(registry.plain(key(2)).unwrap().next(), 1);
}
