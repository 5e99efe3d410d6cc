//! Cursors in files after restarts: of the process, with a clock that was set back, and of the machine.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::support::{
    ENDLESS, NODE, PLAIN, fingerprint, flake, folder, generator, open, part, process, receive, send, words,
};
use flakeforge_core::files::machine;
use flakeforge_core::files::machine::Machine;
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::{Layout, Spec};
use flakeforge_core::refusal::Refusal;

/// If a tick lasts an hour, a machine crash costs some numbers of it, not all the rest.
#[test]
fn after_another_boot_long_ticks_continue_at_once() {
    let folder = folder();
    let fields = vec![("timestamp".to_owned(), 40), ("worker".to_owned(), 10), ("counter".to_owned(), 14)];
    let spec = Spec { name: "hours".to_owned(), epoch_ms: 0, tick_ns: 3_600_000_000_000, fields };
    let layout = Layout::custom(spec).unwrap();
    let in_boot = |boot: u128| {
        let machine = Machine { boot: Some(boot), ..*machine::this() };
        let path = folder.path().join("ids");
        let cursor = SharedCursor::open_on(&machine, &path, layout.scale(), 14, "hours").unwrap();
        let mut clock = TickClock::given(layout.scale());
        clock.set(1_700_000_000_000_000_000);
        Generator::new(
            clock,
            cursor,
            &layout,
            layout.place_node(NODE),
            &Knobs { seq_mask: layout.counter_max(), ..PLAIN },
        )
    };
    let mut last = 0;
    for boot in 1..10 {
        let id = in_boot(boot).next_id().unwrap();
        assert!(id > last, "after the ones before");
        last = id;
    }
    // The mark is raised as often as needed for all numbers of a tick, but not into a longer tick.
    let (made, stopped) = in_boot(9).fill(&mut [0; 1 << 14], |id| id);
    assert!(made > (1 << 14) / 3, "{made}");
    assert!(matches!(stopped, Some(Refusal::Overflow { .. })), "{stopped:?}");
}

#[test]
fn a_clock_set_back_over_a_restart_repeats_nothing() {
    let folder = folder();
    let path = folder.path().join("ids");
    let layout = flake();
    let at = |unix_ms: i128| {
        let mut clock = TickClock::given(layout.scale());
        clock.set(unix_ms * 1_000_000);
        Generator::new(clock, open(&path).unwrap(), &layout, layout.place_node(NODE), &PLAIN)
    };
    let last = at(1_700_000_000_000).next_id().unwrap();
    let refusal = at(1_699_999_999_000).next_id();
    assert_eq!(refusal, Err(Refusal::ClockBackwards { behind_ms: 1000.0, retry_after_ms: 1000.0 }));
    assert_eq!(at(1_700_000_000_000).next_id().unwrap(), last + 1);
    assert_eq!(at(3_000_000_000_000).next_id().unwrap() >> 22, 3_000_000_000_000, "nor does one set forward wait");
}

/// Opens a file on a machine in this boot; `None` if the boot is unknown.
fn open_in_boot(path: &Path, boot: Option<u128>) -> Arc<SharedCursor> {
    let machine = Machine { boot, ..*machine::this() };
    SharedCursor::open_on(&machine, path, flake().scale(), 12, &fingerprint()).unwrap()
}

#[test]
fn another_boot_starts_past_the_mark() {
    let folder = folder();
    let path = folder.path().join("ids");
    let in_boot = |boot| open_in_boot(&path, boot);
    let first = in_boot(Some(1));
    assert_eq!(words(&path), [0; 3], "nothing is skipped in a new file");
    let id = generator(first.clone(), &PLAIN).next_id().unwrap();
    drop(first);
    let [next, limit, mark] = words(&path);
    assert_eq!((next - 1) >> 12, id >> 22);
    assert!(mark >= limit && limit >> 12 > (next >> 12) + 4900, "some 5 s ahead: {next} {limit} {mark}");

    let same = in_boot(Some(1));
    assert_eq!(same.cursor().next(), next, "it continues in the same boot");
    drop(same);
    let other = in_boot(Some(2));
    assert_eq!(other.cursor().next(), mark + 1);
    assert!(generator(other.clone(), &ENDLESS).next_id().unwrap() >> 22 >= (mark + 1) >> 12);
    let [next, ..] = words(&path);
    drop(other);
    drop(in_boot(Some(2)));
    assert_eq!(words(&path)[0], next, "once for each boot");
    let mark = words(&path)[2];
    drop(in_boot(None));
    assert_eq!(words(&path)[0], mark + 1, "where there is no telling, always");
    for boot in [2 << 64, 2 << 64 | 2, 1, 0] {
        let [_, _, mark] = words(&path);
        let other = in_boot(Some(boot));
        assert_eq!(other.cursor().next(), mark + 1, "half of an ID is another boot's");
        generator(other, &ENDLESS).next_id().unwrap(); // raises the mark
        let [next, ..] = words(&path);
        drop(in_boot(Some(boot)));
        assert_eq!(words(&path)[0], next);
    }
}

#[test]
fn another_boot_goes_past_a_mark_that_no_layout_reaches() {
    let folder = folder();
    let path = folder.path().join("ids");
    generator(open_in_boot(&path, Some(1)), &PLAIN).next_id().unwrap();
    let mut damaged = fs::read(&path).unwrap();
    let [_, _, mark] = words(&path);
    damaged[2560..2568].copy_from_slice(&(mark | 1 << 55).to_ne_bytes());
    fs::write(&path, damaged).unwrap();
    let refusal = generator(open_in_boot(&path, Some(2)), &PLAIN).next_id();
    assert!(matches!(refusal, Err(Refusal::TimeRange { .. })), "{refusal:?}");
}

#[test]
fn quick_restarts_without_a_boot_id_wait_for_one_mark() {
    let folder = folder();
    let path = folder.path().join("ids");
    let start = || {
        let layout = flake();
        let mut clock = TickClock::given(layout.scale()); // all restarts are within the same millisecond
        clock.set(4_000_000_000_000 * 1_000_000);
        Generator::new(clock, open_in_boot(&path, None), &layout, layout.place_node(NODE), &PLAIN)
    };
    start().next_id().unwrap();
    let [_, _, mark] = words(&path);
    for _ in 0..6 {
        let Err(Refusal::ClockBackwards { retry_after_ms, .. }) = start().next_id() else {
            panic!("not past the mark")
        };
        assert!(retry_after_ms < 5_100.0, "{retry_after_ms}");
        assert_eq!(words(&path), [mark + 1, mark, mark], "it does not add up");
    }
}

#[test]
fn opening_a_file_in_use_skips_nothing() {
    if let Some(part) = part() {
        let (boot, path) = part.split_once(' ').unwrap();
        let mut ids = generator(open_in_boot(Path::new(path), boot.parse().ok()), &PLAIN);
        return send(std::iter::once(ids.next_id().into_iter().collect()));
    }
    let folder = folder();
    let is_undisturbed = |round: u32| {
        let path = folder.path().join(round.to_string());
        let mut ids = generator(open_in_boot(&path, None), &PLAIN);
        ids.next_id().unwrap(); // now the mark is ahead of the clock
        let start = |boot: &str| {
            let part = format!("{boot} {}", path.display());
            process("shared_boots::opening_a_file_in_use_skips_nothing", &part).spawn().unwrap()
        };
        // The boot is unknown, or the file has another boot's ID.
        let others: Vec<_> = ["no", "7", "no", "8", "no", "no"].map(start).into_iter().map(receive).collect();
        others.iter().all(|ids| ids.len() == 1) && ids.next_id().is_ok()
    };
    // An answer may be late if the machine is too busy, but not every time.
    assert!((0..5).any(is_undisturbed));
}

#[test]
fn a_process_counted_before_a_crash_does_not_answer() {
    for (users, asked, answered) in [(1u64, 5u64, 5u64), (1, 5, 6), (3, u64::MAX, 0)] {
        let folder = folder();
        let path = folder.path().join("ids");
        generator(open_in_boot(&path, None), &PLAIN).next_id().unwrap();
        let [_, _, mark] = words(&path);
        let mut page = fs::read(&path).unwrap();
        page[1552..1576].copy_from_slice([users, asked, answered].map(u64::to_ne_bytes).as_flattened());
        fs::write(&path, &page).unwrap();
        assert_eq!(open_in_boot(&path, None).cursor().next(), mark + 1, "{users} {asked} {answered}");
    }
}
