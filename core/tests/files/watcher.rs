//! The thread that looks after the files of a process: what it does on its own, and when it ends. Each test runs in a
//! separate process, because one thread serves all files.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::support::slots::take;
use crate::support::{NODE, PLAIN, alone, flake, generator, open, words};
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::Generator;
use flakeforge_core::generator::clock::{TickClock, system_ns};

fn wait_until(mut holds: impl FnMut() -> bool) {
    while !holds() {
        thread::sleep(Duration::from_millis(10));
    }
}

/// Generates an ID 300 ms before the limit, and waits until the limit is raised.
fn is_raised(shared: &Arc<SharedCursor>) {
    let layout = flake();
    let start_of = |number: u64| layout.scale().start_of(number >> 12);
    let mut clock = TickClock::given(layout.scale());
    clock.set(system_ns().max(start_of(shared.cursor().next() + 4096)));
    let mut ids = Generator::new(clock, shared.clone(), &layout, layout.place_node(NODE), &PLAIN);
    ids.next_id().unwrap();
    let limit = shared.cursor().limit();
    ids.set_time(start_of(limit - 300 * 4096));
    ids.next_id().unwrap();
    wait_until(|| shared.cursor().limit() > limit);
}

/// Whether the thread is running.
fn is_running() -> bool {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok()).any(|name| name == "flakeforge\n")
}

/// Waits until the thread has checked the files: it has noticed the removal of one.
fn look(folder: &Path) {
    let shared = open(&folder.join("removed")).unwrap();
    fs::remove_file(shared.path()).unwrap();
    wait_until(|| shared.is_ended());
}

#[test]
fn it_raises_the_mark_of_a_slot() {
    alone("watcher::it_raises_the_mark_of_a_slot", |folder| {
        let slots = crate::support::slots::open(folder, 1);
        is_raised(&take(&slots).cursor());
    });
}

#[test]
fn it_leaves_a_file_alone_of_which_nothing_was_taken() {
    alone("watcher::it_leaves_a_file_alone_of_which_nothing_was_taken", |folder| {
        let path = folder.join("ids");
        let shared = open(&path).unwrap();
        look(folder);
        look(folder); // a second time, so that every file was checked since the first time
        assert_eq!(words(&path), [0, 0, 0]);
        assert!(!shared.is_ended());
    });
}

#[test]
fn it_ends_with_the_last_file_and_starts_again() {
    alone("watcher::it_ends_with_the_last_file_and_starts_again", |folder| {
        for _ in 0..2 {
            let (one, other) = (open(&folder.join("one")).unwrap(), open(&folder.join("other")).unwrap());
            drop(other);
            is_raised(&one);
            assert!(is_running());
            drop(one);
            wait_until(|| !is_running());
        }
    });
}

#[test]
fn it_continues_with_a_reopened_file() {
    alone("watcher::it_continues_with_a_reopened_file", |folder| {
        let path = folder.join("ids");
        let ended = open(&path).unwrap();
        generator(ended.clone(), &PLAIN).next_id().unwrap();
        ended.end();
        let again = open(&path).unwrap();
        drop(ended);
        assert!(Arc::ptr_eq(&again, &open(&path).unwrap()), "the process has one");
        is_raised(&again);
    });
}
