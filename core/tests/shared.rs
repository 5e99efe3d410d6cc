//! Cursors in files: one process, many, killed ones, another boot, and a file that goes while it is in use.

#![cfg(all(not(loom), target_os = "linux"))]

mod support;

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use flakeforge_core::clock::{TickClock, system_ns};
use flakeforge_core::cursor::{Cursor, OwnCursor};
use flakeforge_core::generator::{Generator, Knobs, Refusal, Source};
use flakeforge_core::layout::{Layout, Spec};
use flakeforge_core::machine::Machine;
use flakeforge_core::numbers::whole_ms;
use flakeforge_core::page::{Kind, Purpose};
use flakeforge_core::prefetch::PrefetchRule;
use flakeforge_core::registry::{Key, Registry};
use flakeforge_core::shared::SharedCursor;
use flakeforge_core::{machine, place};
use support::{
    ENDLESS, NODE, PLAIN, duplicates, fingerprint, flake, generator, open, part, process, receive, send, words,
};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// IDs, block by block, for ever: each block is one claim or a few.
fn blocks(mut generator: Generator) -> impl Iterator<Item = Vec<u64>> {
    std::iter::repeat_with(move || {
        let mut ids = vec![0; 100];
        let (made, stopped) = generator.fill(&mut ids, |id| id);
        assert!(
            matches!(stopped, None | Some(Refusal::Overflow { .. } | Refusal::ClockBackwards { .. })),
            "{stopped:?}"
        );
        ids.truncate(made);
        ids
    })
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(20), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn one_process_has_one_cursor_of_a_file() {
    let folder = folder();
    let path = folder.path().join("a/b/ids");
    let first = open(&path).unwrap();
    assert!(Arc::ptr_eq(&first, &open(&path).unwrap()));
    std::os::unix::fs::symlink(&path, folder.path().join("link")).unwrap();
    assert!(Arc::ptr_eq(&first, &open(&folder.path().join("link")).unwrap()), "whatever its name");
    let mut one = generator(first.clone(), &PLAIN);
    let mut other = generator(open(&path).unwrap(), &PLAIN);
    let (a, b) = (one.next_id().unwrap(), other.next_id().unwrap());
    assert!(a < b);
    drop((first, one, other));
    let again = open(&path).unwrap();
    assert!(generator(again, &PLAIN).next_id().unwrap() > b, "the file remembers");
}

#[test]
fn processes_share_it() {
    const EACH: usize = 200_000;
    if let Some(path) = part() {
        let ids = generator(open(Path::new(&path)).unwrap(), &ENDLESS);
        return send(blocks(ids).take(EACH / 100));
    }
    let folder = folder();
    let path = folder.path().join("ids");
    let children: Vec<_> =
        (0..4).map(|_| process("processes_share_it", path.to_str().unwrap()).spawn().unwrap()).collect();
    let ids: Vec<_> = children.into_iter().map(receive).collect();
    assert_eq!(ids.iter().map(Vec::len).sum::<usize>(), 4 * EACH);
    assert_eq!(duplicates(&ids), 0);
}

#[test]
fn what_counts_duplicates_finds_them() {
    if part().is_some() {
        let mut own = generator(Arc::new(OwnCursor::from(Cursor::new(u64::MAX))), &ENDLESS);
        own.clock = TickClock::given(flake().scale); // one instant for both, whichever process starts first
        return send(blocks(own).take(3000));
    }
    let children: Vec<_> = (0..2).map(|_| process("what_counts_duplicates_finds_them", "").spawn().unwrap()).collect();
    let ids: Vec<_> = children.into_iter().map(receive).collect();
    assert!(duplicates(&ids) > 0, "two processes with cursors of their own");
}

#[test]
fn killed_and_stopped_processes_repeat_nothing_and_hold_nobody_up() {
    if let Some(path) = part() {
        return send(blocks(generator(open(Path::new(&path)).unwrap(), &ENDLESS)));
    }
    let folder = folder();
    let path = folder.path().join("ids");
    let start = || process("killed_and_stopped_processes_repeat_nothing_and_hold_nobody_up", path.to_str().unwrap());
    let mut ids = Vec::new();
    for round in 0..12 {
        let mut child = start().spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        thread::sleep(Duration::from_millis(30 + 7 * round));
        signal("STOP", child.id());
        // Whatever it was doing, this process goes on.
        let mut own = generator(open(&path).unwrap(), &ENDLESS);
        ids.push((0..1000).map(|_| own.next_id().unwrap()).collect::<Vec<_>>());
        signal("CONT", child.id());
        child.stdout = Some(stdout);
        let killer = child.id();
        let reader = thread::spawn(move || receive(child));
        thread::sleep(Duration::from_millis(10));
        signal("KILL", killer);
        ids.push(reader.join().unwrap());
    }
    assert!(ids.iter().map(Vec::len).sum::<usize>() > 20_000, "they made some");
    assert_eq!(duplicates(&ids), 0);
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_clock_set_back_over_a_restart_repeats_nothing() {
    let folder = folder();
    let path = folder.path().join("ids");
    let layout = flake();
    let at = |unix_ms: i128| {
        let mut clock = TickClock::given(layout.scale);
        clock.set(unix_ms * 1_000_000);
        Generator::new(clock, open(&path).unwrap(), &layout, layout.place_node(NODE), &PLAIN)
    };
    let last = at(1_700_000_000_000).next_id().unwrap();
    let refusal = at(1_699_999_999_000).next_id();
    assert_eq!(refusal, Err(Refusal::ClockBackwards { behind_ms: 1000.0, retry_after_ms: 1000.0 }));
    assert_eq!(at(1_700_000_000_000).next_id().unwrap(), last + 1);
    assert_eq!(at(3_000_000_000_000).next_id().unwrap() >> 22, 3_000_000_000_000, "nor does one set forward wait");
}

/// A file on a machine in that boot; `None` where there is no telling.
fn open_in_boot(path: &Path, boot: Option<u128>) -> Arc<SharedCursor> {
    let machine = Machine { boot, ..*machine::this() };
    SharedCursor::open_on(&machine, path, flake().scale, 12, &fingerprint()).unwrap()
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
    assert_eq!(same.cursor().next(), next, "in the same boot it goes on");
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
        generator(other, &ENDLESS).next_id().unwrap(); // and the mark goes on
        let [next, ..] = words(&path);
        drop(in_boot(Some(boot)));
        assert_eq!(words(&path)[0], next);
    }
}

#[test]
fn quick_restarts_without_a_boot_id_wait_for_one_mark() {
    let folder = folder();
    let path = folder.path().join("ids");
    let start = || {
        let layout = flake();
        let mut clock = TickClock::given(layout.scale); // all restarts are within its millisecond
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
fn those_who_open_a_file_in_use_put_nobody_ahead() {
    if let Some(part) = part() {
        let (boot, path) = part.split_once(' ').unwrap();
        let mut ids = generator(open_in_boot(Path::new(path), boot.parse().ok()), &PLAIN);
        return send(std::iter::once(ids.next_id().into_iter().collect()));
    }
    let folder = folder();
    let is_undisturbed = |round: u32| {
        let path = folder.path().join(round.to_string());
        let mut ids = generator(open_in_boot(&path, None), &PLAIN);
        ids.next_id().unwrap(); // and the mark is ahead of the clock
        let start = |boot: &str| {
            let part = format!("{boot} {}", path.display());
            process("those_who_open_a_file_in_use_put_nobody_ahead", &part).spawn().unwrap()
        };
        // Where there is no telling, and where another ID stands in the file.
        let others: Vec<_> = ["no", "7", "no", "8", "no", "no"].map(start).into_iter().map(receive).collect();
        others.iter().all(|ids| ids.len() == 1) && ids.next_id().is_ok()
    };
    // An answer may be late where the machine is too busy, but not each time.
    assert!((0..5).any(is_undisturbed));
}

#[test]
fn who_had_a_file_open_before_a_crash_does_not_answer() {
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

/// A layout of 64 bits that is in the last of its ticks, each of which is an hour long.
fn in_its_last_tick() -> Layout {
    const HOUR_MS: i64 = 3_600_000;
    let fields = vec![("timestamp".to_owned(), 11), ("counter".to_owned(), 53)];
    let epoch_ms = whole_ms(system_ns()) - 2047 * HOUR_MS - 1000;
    let tick_ns = HOUR_MS as u64 * 1_000_000;
    Layout::custom(Spec { name: "a test".to_owned(), epoch_ms, tick_ns, fields }).unwrap()
}

#[test]
fn a_layout_of_all_64_bits_ends_in_a_file_as_it_does_elsewhere() {
    let layout = in_its_last_tick();
    let over = Refusal::TimeRange { timestamp_ms: layout.scale.start_ms(layout.scale.last_tick + 1) };
    let folder = folder();
    let path = folder.path().join("ids");
    let source = || SharedCursor::open(&path, layout.scale, 53, "a test").unwrap();
    let on = |source: Source, knobs: &Knobs| Generator::new(TickClock::system(layout.scale), source, &layout, 0, knobs);
    let one_id = Knobs { seq_mask: 0, max_ahead_ms: 0.0, prefetch: None };
    for source in [Source::from(Arc::new(OwnCursor::from(Cursor::new(u64::MAX)))), Source::from(source())] {
        let mut ids = on(source, &one_id);
        assert_eq!(ids.next_id(), Ok(u64::MAX << 53));
        assert_eq!(ids.next_id(), Err(over));
        assert_eq!(ids.next_id(), Err(over));
    }
    // Another one that may use all counters, up to the very last number.
    let mut all = on(source().into(), &Knobs { seq_mask: layout.counter_max(), ..one_id });
    assert_eq!(all.next_id(), Ok((u64::MAX << 53) + 1));
    source().cursor().raise_next(u64::MAX - 1);
    assert_eq!(all.next_id(), Ok(u64::MAX - 1));
    assert_eq!(all.next_id(), Err(over));
    assert_eq!(all.fault(), None);
}

#[test]
fn no_number_is_above_the_mark() {
    let folder = folder();
    let path = folder.path().join("ids");
    let shared = open(&path).unwrap();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            let mut generator = generator(shared.clone(), &ENDLESS);
            let done = &done;
            scope.spawn(move || {
                let mut ids = vec![0; 100_000];
                while !done.load(Relaxed) {
                    assert_eq!(generator.fill(&mut ids, |id| id), (100_000, None));
                }
            });
        }
        let (mut raises, mut before) = (0, 0);
        while raises < 5 {
            let [next, limit, mark] = words(&path);
            if next > mark + 1 || limit > mark {
                done.store(true, Relaxed); // the threads of a scope are waited for
                panic!("next {next}, limit {limit}, mark {mark}");
            }
            raises += u32::from(limit != before);
            before = limit;
        }
        done.store(true, Relaxed);
    });
}

#[test]
fn the_mark_is_raised_before_ids_reach_it() {
    let folder = folder();
    let shared = open(&folder.path().join("ids")).unwrap();
    let layout = flake();
    let mut clock = TickClock::given(layout.scale);
    clock.set(system_ns());
    let mut generator = Generator::new(clock, shared.clone(), &layout, layout.place_node(NODE), &PLAIN);
    generator.next_id().unwrap();
    let limit = shared.cursor().limit();
    generator.clock.set(layout.scale.start_of((limit >> 12) - 300));
    generator.next_id().unwrap();
    wait_until("raised by the thread that looks after files", || shared.cursor().limit() > limit);
}

#[test]
fn a_file_that_is_removed_or_replaced_ends_the_cursor() {
    let folder = folder();
    let removed = |name: &str, act: &dyn Fn(&Path)| {
        let path = folder.path().join(name);
        let shared = open(&path).unwrap();
        let mut generator = generator(shared.clone(), &PLAIN);
        generator.next_id().unwrap();
        act(&path);
        wait_until("noticed", || generator.next_id() == Err(Refusal::File));
        let fault = generator.fault().unwrap();
        assert_eq!(fault.path(), path.to_str().unwrap());
        assert!(fault.to_string().contains("was removed or replaced while in use"), "{fault}");
        assert_eq!(generator.next_id(), Err(Refusal::File), "and stays so");
        (path, shared)
    };
    let (path, old) = removed("removed", &|path| fs::remove_file(path).unwrap());
    let new = open(&path).unwrap();
    assert!(!Arc::ptr_eq(&old, &new));
    assert!(generator(new, &PLAIN).next_id().is_ok(), "a new one is made when asked for");
    removed("cut short", &|path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap());
    removed("replaced", &|path| {
        fs::copy(path, path.with_extension("new")).unwrap();
        fs::rename(path.with_extension("new"), path).unwrap();
    });
}

/// Waits until the fault of a generator that makes no IDs meanwhile is known; what it is.
fn fault_while_idle(ids: &Generator) -> String {
    wait_until("noticed", || ids.fault().is_some());
    ids.fault().unwrap().to_string()
}

#[test]
fn an_idle_process_survives_a_file_that_is_cut_to_nothing() {
    let folder = folder();
    let path = folder.path().join("ids");
    let mut registry = Registry::default();
    let mut open = || registry.shared(Key::new(&flake(), flake().place_node(NODE)), &path).unwrap();
    let shared = open();
    let mut ids = generator(shared.clone(), &PLAIN);
    let last = ids.next_id().unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    let fault = fault_while_idle(&ids);
    assert!(fault.contains("was removed or replaced while in use, or cut short"), "{fault}");
    assert_eq!(ids.next_id(), Err(Refusal::File));
    assert!(ids.ahead_ms() <= 5100.0, "nothing that is asked later reads the page");
    assert!(shared.raise().is_err());

    fs::remove_file(&path).unwrap();
    let again = open();
    assert!(again.cursor().next() >> 12 > last >> 22, "a new file goes on above what was given");
}

#[test]
fn a_file_that_is_whole_again_after_it_was_cut_is_not_believed() {
    let folder = folder();
    let path = folder.path().join("ids");
    let mut ids = generator(open(&path).unwrap(), &PLAIN); // and has given nothing
    let copy = fs::read(&path).unwrap();
    fs::write(&path, "").unwrap();
    ids.ahead_ms(); // finds the page gone, before anybody looks at the file
    fs::write(&path, copy).unwrap();
    assert_eq!(ids.next_id(), Err(Refusal::File));
}

#[test]
fn an_older_copy_written_over_a_file_is_noticed() {
    let folder = folder();
    let path = folder.path().join("ids");
    let mut registry = Registry::default();
    let mut open = || registry.shared(Key::new(&flake(), flake().place_node(NODE)), &path).unwrap();
    let shared = open();
    let mut ids = generator(shared.clone(), &ENDLESS);
    ids.next_id().unwrap();
    let copy = fs::read(&path).unwrap();
    let put_back = || fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(&copy).unwrap();
    let mut made = vec![0; 100_000];
    ids.fill(&mut made, |id| id);
    shared.raise().unwrap(); // looks at the file, as is done a few times a second anyway
    put_back();
    let fault = fault_while_idle(&ids);
    assert!(fault.contains("went back while in use"), "{fault}");
    assert_eq!(ids.next_id(), Err(Refusal::File));
    let mut again = generator(open(), &ENDLESS);
    assert!(again.next_id().unwrap() > *made.last().unwrap(), "a new generator goes on above what was given");
}

#[test]
fn numbers_held_of_a_file_that_failed_or_ended_are_not_handed_out() {
    let folder = folder();
    let held_of = |name: &str| {
        let shared = open(&folder.path().join(name)).unwrap();
        let prefetch = Some(PrefetchRule { count: NonZero::new(100).unwrap(), validity_ns: 0 });
        let mut generator = generator(shared.clone(), &Knobs { prefetch, ..PLAIN });
        let first = generator.next_id().unwrap();
        assert_eq!(generator.next_id(), Ok(first + 1), "from what is held");
        (shared, generator)
    };
    let (shared, mut generator) = held_of("removed");
    fs::remove_file(shared.path()).unwrap();
    wait_until("noticed", || shared.is_ended());
    assert_eq!(generator.next_id(), Err(Refusal::File));
    assert_eq!(generator.fill(&mut [0; 5], |id| id), (0, Some(Refusal::File)));

    let (shared, mut generator) = held_of("ended");
    shared.end();
    assert_eq!(generator.next_id(), Err(Refusal::WindowEnd));
    assert_eq!(generator.fill(&mut [0; 5], |id| id), (0, Some(Refusal::WindowEnd)));
}

#[test]
fn a_call_that_raises_the_mark_notices_too() {
    let folder = folder();
    let path = folder.path().join("ids");
    let mut generator = generator(open(&path).unwrap(), &PLAIN);
    fs::remove_file(&path).unwrap();
    assert_eq!(generator.next_id(), Err(Refusal::File));
}

#[test]
fn an_ended_cursor_gives_nothing_here_and_goes_on_elsewhere() {
    let folder = folder();
    let path = folder.path().join("ids");
    let shared = open(&path).unwrap();
    let mut one = generator(shared.clone(), &PLAIN);
    let id = one.next_id().unwrap();
    shared.end();
    assert_eq!(one.next_id(), Err(Refusal::WindowEnd));
    assert_eq!(one.fault(), None);
    let again = open(&path).unwrap();
    assert!(!Arc::ptr_eq(&shared, &again));
    assert!(generator(again, &PLAIN).next_id().unwrap() > id);
}

#[test]
fn files_and_mappings_do_not_leak() {
    let folder = folder();
    let path = folder.path().join("ids");
    let name = path.to_str().unwrap().to_owned();
    let held = || {
        let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        (links.filter(|link| *link == path).count(), maps.lines().filter(|line| line.ends_with(&name)).count())
    };
    let kept = open(&path).unwrap();
    assert_eq!(held(), (1, 1));
    for _ in 0..10 {
        open(&path).unwrap();
    }
    assert_eq!(held(), (1, 1));
    drop(kept);
    for _ in 0..10_000 {
        drop(open(&path).unwrap());
    }
    wait_until("all is given back", || held() == (0, 0));
}

#[test]
fn one_of_those_who_create_it_at_once_wins() {
    let folder = folder();
    for round in 0..300 {
        let path = folder.path().join(format!("{round}"));
        let found: Vec<_> = thread::scope(|scope| {
            let open = || place::open(&path, &Purpose::new(Kind::Cursor, "for a test"), machine::this()).unwrap().1;
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(found.iter().all(|identity| *identity == found[0]), "{found:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 300, "and nothing else is left");
}

#[test]
fn processes_that_create_files_at_once_share_them() {
    const FILES: usize = 300;
    if let Some(folder) = part() {
        let mut ids =
            |i| generator(open(&Path::new(&folder).join(format!("{i}"))).unwrap(), &ENDLESS).next_id().unwrap();
        return send(std::iter::once((0..FILES).map(&mut ids).collect()));
    }
    let folder = folder();
    let start = || process("processes_that_create_files_at_once_share_them", folder.path().to_str().unwrap());
    let children: Vec<_> = (0..4).map(|_| start().spawn().unwrap()).collect();
    let ids: Vec<_> = children.into_iter().map(receive).collect();
    for file in 0..FILES {
        let mut of_file: Vec<_> = ids.iter().map(|ids| ids[file]).collect();
        of_file.sort_unstable();
        of_file.dedup();
        assert_eq!(of_file.len(), ids.len(), "file {file}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), FILES);
}
