//! Cursors in files: with one process, with many, and with killed ones.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use crate::support::{
    ENDLESS, NODE, PLAIN, duplicates, flake, folder, generator, open, part, process, receive, send, wait_until, words,
};
use flakeforge_core::files::file_format::{Kind, Purpose};
use flakeforge_core::files::machine;
use flakeforge_core::files::named_file;
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::any_cursor::AnyCursor;
use flakeforge_core::generator::clock::{TickClock, system_ns};
use flakeforge_core::generator::cursor::{Cursor, OwnCursor};
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::timescale::{to_ms, whole_ms};
use flakeforge_core::layout::{Layout, Spec};
use flakeforge_core::refusal::Refusal;

/// Endless IDs, in blocks. Each block is one claim or a few.
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
        (0..4).map(|_| process("shared::processes_share_it", path.to_str().unwrap()).spawn().unwrap()).collect();
    let ids: Vec<_> = children.into_iter().map(receive).collect();
    assert_eq!(ids.iter().map(Vec::len).sum::<usize>(), 4 * EACH);
    assert_eq!(duplicates(&ids), 0);
}

#[test]
fn the_check_finds_duplicates() {
    if part().is_some() {
        let (layout, cursor) = (flake(), Arc::new(OwnCursor::from(Cursor::new(u64::MAX))));
        let clock = TickClock::given(layout.scale()); // the same instant for all processes, whichever starts first
        let own = Generator::new(clock, cursor, &layout, layout.place_node(NODE), &ENDLESS);
        return send(blocks(own).take(3000));
    }
    let children: Vec<_> = (0..2).map(|_| process("shared::the_check_finds_duplicates", "").spawn().unwrap()).collect();
    let ids: Vec<_> = children.into_iter().map(receive).collect();
    assert!(duplicates(&ids) > 0, "two processes with separate cursors");
}

#[test]
fn killed_and_stopped_processes_repeat_nothing_and_block_no_other() {
    if let Some(path) = part() {
        return send(blocks(generator(open(Path::new(&path)).unwrap(), &ENDLESS)));
    }
    let folder = folder();
    let path = folder.path().join("ids");
    let start =
        || process("shared::killed_and_stopped_processes_repeat_nothing_and_block_no_other", path.to_str().unwrap());
    let mut ids = Vec::new();
    for round in 0..12 {
        let mut child = start().spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        thread::sleep(Duration::from_millis(30 + 7 * round));
        signal("STOP", child.id());
        // Whatever the killed process was doing, this one continues.
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
    assert!(ids.iter().map(Vec::len).sum::<usize>() > 20_000, "they generated some");
    assert_eq!(duplicates(&ids), 0);
}

fn signal(name: &str, pid: u32) {
    assert!(Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().unwrap().success());
}

/// A 64-bit layout in its last ticks, each an hour long.
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
    let over = Refusal::TimeRange { timestamp_ms: to_ms(layout.end_ns()) };
    let folder = folder();
    let path = folder.path().join("ids");
    let source = || SharedCursor::open(&path, layout.scale(), 53, "a test").unwrap();
    let on = |source: AnyCursor, knobs: &Knobs| {
        Generator::new(TickClock::system(layout.scale()), source, &layout, layout.place_node(0), knobs)
    };
    let one_id = Knobs { seq_mask: 0, max_ahead_ms: 0.0, is_start_random: false, prefetch: None };
    for source in [AnyCursor::from(Arc::new(OwnCursor::from(Cursor::new(u64::MAX)))), AnyCursor::from(source())] {
        let mut ids = on(source, &one_id);
        assert_eq!(ids.next_id(), Ok(u64::MAX << 53));
        assert_eq!(ids.next_id(), Err(over.clone()));
        assert_eq!(ids.next_id(), Err(over.clone()));
    }
    // Another generator, which may use all counters, up to the very last number.
    let mut all = on(source().into(), &Knobs { seq_mask: layout.counter_max(), ..one_id });
    assert_eq!(all.next_id(), Ok((u64::MAX << 53) + 1));
    // As if all others had been taken: the mark comes first.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, &(u64::MAX - 1).to_ne_bytes(), 2560).unwrap();
    source().cursor().raise_next(u64::MAX - 1);
    assert_eq!(all.next_id(), Ok(u64::MAX - 1));
    assert_eq!(all.next_id(), Err(over));
    assert_eq!(source().fault(), None);
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
                done.store(true, Relaxed); // so that the scope, which waits for its threads, can end
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
    let mut clock = TickClock::given(layout.scale());
    clock.set(system_ns());
    let mut generator = Generator::new(clock, shared.clone(), &layout, layout.place_node(NODE), &PLAIN);
    generator.next_id().unwrap();
    let limit = shared.cursor().limit();
    generator.set_time(layout.scale().start_of((limit >> 12) - 300));
    generator.next_id().unwrap();
    wait_until("raised by the thread that looks after files", || shared.cursor().limit() > limit);
}

#[test]
fn an_ended_cursor_gives_nothing_here_and_continues_elsewhere() {
    let folder = folder();
    let path = folder.path().join("ids");
    let shared = open(&path).unwrap();
    let mut one = generator(shared.clone(), &PLAIN);
    let id = one.next_id().unwrap();
    shared.end();
    assert_eq!(one.next_id(), Err(Refusal::WindowEnd));
    assert_eq!(shared.fault(), None);
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
fn one_of_several_creators_wins() {
    let folder = folder();
    for round in 0..300 {
        let path = folder.path().join(format!("{round}"));
        let found: Vec<_> = thread::scope(|scope| {
            let open = || {
                named_file::open(&path, &Purpose::new(Kind::Cursor, "for a test"), machine::this()).unwrap().identity
            };
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
    let start = || process("shared::processes_that_create_files_at_once_share_them", folder.path().to_str().unwrap());
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
