//! The registry: which generators share a cursor, which may not, and what is forgotten.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

use super::*;
use crate::generator::clock::TickClock;
use crate::generator::cursor::{Cursor, LAST, Rule, Start};
use crate::generator::entry::{LONG_PAST_NS, MANY, Table};
use crate::layout::Spec;

type Registry = super::Registry<&'static str>;

fn is_same(one: &EntryUse, other: &EntryUse) -> bool {
    std::ptr::eq::<Cursor>(&**one, &**other)
}

fn flake(epoch_ms: i64) -> Layout {
    Layout::named("flake").unwrap().with_epoch(epoch_ms)
}

fn cursor(registry: &Registry, epoch_ms: i64, node: u64) -> EntryUse {
    let layout = flake(epoch_ms);
    registry.plain(Key::new(&layout, layout.place_node(node))).unwrap()
}

#[test]
fn equal_bits_share_a_cursor_and_others_do_not() {
    let registry = Registry::default();
    let one = cursor(&registry, 0, 1);
    assert!(is_same(&one, &cursor(&registry, 0, 1)));
    assert!(!is_same(&one, &cursor(&registry, 0, 2)));
    assert!(!is_same(&one, &cursor(&registry, 5, 1)));
}

#[test]
fn each_cursor_has_its_cache_lines_for_itself() {
    let registry = Registry::default();
    let cursors: Vec<_> = (0..100).map(|node| cursor(&registry, 0, node)).collect();
    let lines: HashSet<_> = cursors.iter().map(|cursor| std::ptr::from_ref::<Cursor>(cursor).addr() / 128).collect();
    assert_eq!(lines.len(), cursors.len());
}

#[test]
fn a_sweep_keeps_what_is_held_and_what_is_recent() {
    let registry = Registry::default();
    let now_ns = LONG_PAST_NS * 100;
    let now_ms = (now_ns / 1_000_000) as u64;
    let give = |registry: &Registry, node, tick: u64| {
        let cursor = cursor(registry, 0, node);
        // As if the last ID had been generated in that tick.
        let rule = Rule { counter_bits: 12, seq_mask: 4095, max_ahead: 0, start: Start::ZERO, last: LAST };
        let mut clock = TickClock::given(flake(0).scale());
        clock.set(i128::from(tick) * 1_000_000);
        cursor.claim(1, &rule, &mut clock).unwrap();
        cursor
    };
    let held = give(&registry, 1, 1);
    drop(give(&registry, 2, 1));
    drop(give(&registry, 3, now_ms));
    drop(give(&registry, 4, now_ms + 1000));
    registry.sweep(now_ns);
    assert_eq!(registry.entries(), Some(3));
    assert!(is_same(&held, &cursor(&registry, 0, 1)));
    assert_ne!(cursor(&registry, 0, 3).next(), 0, "an entry outlives its generators");
    assert_eq!(cursor(&registry, 0, 2).next(), 0);
}

#[test]
fn a_map_that_grows_is_swept() {
    let registry = Registry::default();
    for epoch in 0..MANY as i64 * 3 {
        cursor(&registry, epoch, 0); // never used: tick 0, long past
    }
    assert!(registry.entries().is_some_and(|entries| entries <= MANY), "{:?} entries", registry.entries());
}

fn key(node: u64) -> Key {
    let layout = flake(0);
    Key::new(&layout, layout.place_node(node))
}

#[test]
fn a_fingerprint_describes_the_bits() {
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
    let registry = Registry::default();
    let (first, second) = (registry.lease(key(1)).unwrap(), registry.lease(key(1)).unwrap());
    first.end(number(system_ns() - 5_000_000_000) - 1);
    assert!(registry.plain(key(1)).is_err(), "one holds it still");
    let last = number(system_ns() - 2_000_000_000) - 1;
    second.end(last);
    assert_eq!(registry.plain(key(1)).unwrap().next(), last + 1, "above all their numbers");
    assert!(registry.lease(key(1)).is_err(), "and now it is the other's");

    registry.lease(key(2)).unwrap().end(number(system_ns() + 60_000_000_000));
    assert!(registry.plain(key(2)).is_err(), "its window is not over yet");
    registry.lease(key(2)).unwrap().end(0);
    assert!(registry.plain(key(2)).is_err(), "nor is it after another that was shorter");
}

#[test]
fn a_sweep_keeps_what_is_leased_or_was_just_now() {
    let (registry, now_ns) = (Registry::default(), LONG_PAST_NS * 100);
    let held = registry.lease(key(1)).unwrap();
    registry.lease(key(1)).unwrap().end(1);
    registry.lease(key(2)).unwrap().end(1);
    registry.lease(key(3)).unwrap().end(number(now_ns));
    registry.sweep(now_ns);
    assert_eq!(registry.entries(), Some(2));
    assert!(registry.plain(key(1)).is_err());
    assert_eq!(registry.plain(key(3)).unwrap().next(), number(now_ns) + 1, "it is remembered");
    held.end(1);
    registry.sweep(now_ns);
    assert_eq!(registry.entries(), Some(1));
}

#[test]
fn a_plain_cursor_that_gave_a_number_keeps_its_key() {
    let registry = Registry::default();
    registry.plain(key(2)).unwrap().raise_next(1);
    assert!(registry.lease(key(2)).is_err());
    assert_eq!(registry.plain(key(2)).unwrap().next(), 1);
}

/// Opening a cursor that is stored elsewhere takes as long as its disk wants. Who opens it waits for a message here.
mod slow_disk {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread::{self, JoinHandle};
    use std::time::Duration;

    use super::*;

    type Opened = Result<usize, Refusal>;

    /// A thread that opens key 1, after it has reserved it, and what ends its wait.
    fn opening(registry: &Arc<Registry>) -> (JoinHandle<Opened>, Sender<Opened>) {
        let ((tell, told), (reserved, is_reserved)) = (channel::<Opened>(), channel());
        let registry = registry.clone();
        let thread = thread::spawn(move || {
            registry.keep(
                &key(1),
                |_| true,
                "a file",
                |found| {
                    assert!(matches!(found, Found::Free { first: 0 }));
                    reserved.send(()).unwrap();
                    told.recv().unwrap().map(|opened| (opened, Some("a file")))
                },
            )
        });
        is_reserved.recv().unwrap();
        (thread, tell)
    }

    /// The result of a call that must not wait for the disk.
    fn at_once<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        let (tell, told): (_, Receiver<T>) = channel();
        thread::spawn(move || tell.send(call()));
        told.recv_timeout(Duration::from_secs(60)).expect("it does not wait for the disk of another key")
    }

    #[test]
    fn calls_for_other_keys_do_not_wait_and_no_call_uses_the_key_in_another_way() {
        let registry = Arc::new(Registry::default());
        let (thread, tell) = opening(&registry);
        let other = registry.clone();
        at_once(move || {
            other.plain(key(2)).unwrap();
            other.lease(key(3)).unwrap().end(0);
            other.keep(&key(4), |_| true, "another file", |_| Ok(((), Some("another file")))).unwrap();
            assert!(other.plain(key(1)).is_err() && other.lease(key(1)).is_err());
        });
        tell.send(Ok(5)).unwrap();
        assert_eq!(thread.join().unwrap(), Ok(5));
    }

    #[test]
    fn a_second_call_for_the_same_key_gets_what_the_first_one_opens() {
        let registry = Arc::new(Registry::default());
        let (thread, tell) = opening(&registry);
        let (other, (begin, began)) = (registry.clone(), channel());
        let second = thread::spawn(move || {
            begin.send(()).unwrap();
            other.keep(
                &key(1),
                |_| true,
                "a file",
                |found| {
                    assert!(matches!(found, Found::Kept(&"a file")), "it is open by now");
                    Ok(((), None))
                },
            )
        });
        began.recv().unwrap();
        tell.send(Ok(5)).unwrap();
        assert_eq!((thread.join().unwrap(), second.join().unwrap()), (Ok(5), Ok(())));
    }

    #[test]
    fn a_key_whose_cursor_cannot_be_opened_is_free_again_and_nothing_remains() {
        let registry = Arc::new(Registry::default());
        let (thread, tell) = opening(&registry);
        tell.send(Err(Refusal::Failed)).unwrap();
        assert_eq!(thread.join().unwrap(), Err(Refusal::Failed));
        assert!(registry.kept.lock().unwrap().is_empty());
        registry.plain(key(1)).unwrap();
    }
}

/// The calls between copies of the library in one process.
mod copies {
    #![allow(unsafe_code)]

    use std::ffi::c_void;

    use super::*;
    use crate::generator::entry::{Visitor, answer};

    static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

    unsafe extern "C" fn visit(key: *const u8, len: usize, visitor: Visitor, context: *mut c_void) {
        let mut table = TABLE.lock().unwrap();
        // SAFETY: as the caller promises.
        unsafe { answer(|key| table.entry(key), (key, len), (visitor, context)) };
    }

    /// The registry of another copy.
    fn copy() -> Registry {
        Registry::shared_by(visit)
    }

    #[test]
    fn copies_share_cursors_and_refuse_each_others_uses() {
        let [one, other] = [copy(), copy()];
        let cursor = one.plain(key(20)).unwrap();
        cursor.raise_next(5);
        assert_eq!(other.plain(key(20)).unwrap().next(), 5);
        assert!(is_same(&cursor, &other.plain(key(20)).unwrap()));
        assert!(other.lease(key(20)).is_err());

        let held = one.lease(key(21)).unwrap();
        assert!(other.plain(key(21)).is_err());
        other.lease(key(21)).unwrap().end(1);
        let last = number(system_ns() - 2_000_000_000) - 1;
        held.end(last);
        assert_eq!(other.plain(key(21)).unwrap().next(), last + 1);
    }

    /// Opens a file, which fails if `does_fail`, after another copy did what `meanwhile` does.
    fn keep(registry: &Registry, key: &Key, does_fail: bool, meanwhile: impl FnOnce()) -> Result<(), Refusal> {
        registry.keep(
            key,
            |_| true,
            "a file",
            |_| {
                meanwhile();
                if does_fail { Err(Refusal::Failed) } else { Ok(((), Some("a file"))) }
            },
        )
    }

    #[test]
    fn a_file_that_cannot_be_opened_leaves_its_key_free_unless_another_copy_opened_it() {
        let [one, other] = [copy(), copy()];
        keep(&one, &key(23), true, || assert!(other.plain(key(23)).is_err(), "reserved")).unwrap_err();
        drop(other.plain(key(23)).unwrap());

        let last = number(system_ns() - 2_000_000_000) - 1;
        one.lease(key(24)).unwrap().end(last);
        keep(&one, &key(24), true, || {}).unwrap_err();
        assert_eq!(other.plain(key(24)).unwrap().next(), last + 1, "above what its leases gave");

        keep(&one, &key(25), true, || keep(&other, &key(25), false, || {}).unwrap()).unwrap_err();
        assert!(one.plain(key(25)).is_err(), "the other copy has it open");
        keep(&one, &key(26), false, || drop(keep(&other, &key(26), true, || {}).unwrap_err())).unwrap();
        assert!(other.plain(key(26)).is_err(), "the first one has it open");
    }

    #[test]
    fn copies_that_open_a_file_at_once_both_continue_above_earlier_leases() {
        let [one, other] = [copy(), copy()];
        let last = number(system_ns() - 2_000_000_000) - 1;
        one.lease(key(27)).unwrap().end(last);
        let first = |registry: &Registry, meanwhile: &dyn Fn()| {
            registry.keep(
                &key(27),
                |_| true,
                "a file",
                |found| {
                    meanwhile();
                    let Found::Free { first } = found else { panic!("opened for the first time") };
                    assert_eq!(first, last + 1);
                    Ok(((), Some("a file")))
                },
            )
        };
        first(&one, &|| first(&other, &|| {}).unwrap()).unwrap();
    }

    #[test]
    fn copies_keep_a_cursor_in_one_place() {
        let [one, other] = [copy(), copy()];
        let keep = |registry: &Registry, place: &'static str| {
            registry.keep(&key(22), |known| *known == place, place, |_| Ok(((), Some(place))))
        };
        keep(&one, "a file").unwrap();
        keep(&other, "a file").unwrap();
        let refusal = Refusal::Clash { theirs: "a file".to_owned(), ours: "another".to_owned() };
        assert_eq!(keep(&copy(), "another").unwrap_err(), refusal);
        assert!(other.plain(key(22)).is_err() && other.lease(key(22)).is_err());
    }
}

// Other releases rely on both.
#[test]
fn the_layout_of_an_entry_and_the_bytes_of_a_key_never_change() {
    let sizes = (size_of::<Entry>(), align_of::<Entry>(), Cursor::NEXT_AT, Cursor::LIMIT_AT);
    assert_eq!(sizes, (128, 128, 0, 8));
    let words = |key: &Key| -> Vec<u64> {
        key.bytes().chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    assert_eq!(words(&key(7)), [0, 1_000_000, 12, 1, 22, 42, 0, 0, 7 << 12]);
    let chronicle = Layout::named("chronicle").unwrap();
    assert_eq!(words(&Key::new(&chronicle, chronicle.place_node(9))), [0, 100, 0, 0, 0, 0, 0, 0, 9]);
}
