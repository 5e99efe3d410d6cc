//! Cursors in files that are removed, replaced, truncated or overwritten during use.

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;

use crate::support::{ENDLESS, NODE, PLAIN, blamed, flake, folder, generator, open, wait_until};
use flakeforge_core::files::key_file::KeyFile;
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::clock::{TickClock, system_ns};
use flakeforge_core::generator::prefetch::PrefetchRule;
use flakeforge_core::generator::registry::Key;
use flakeforge_core::generator::registry::Registry;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::refusal::Refusal;

#[test]
fn a_file_that_is_removed_or_replaced_ends_the_cursor() {
    let folder = folder();
    let removed = |name: &str, act: &dyn Fn(&Path)| {
        let path = folder.path().join(name);
        let shared = open(&path).unwrap();
        let mut generator = generator(shared.clone(), &PLAIN);
        generator.next_id().unwrap();
        act(&path);
        wait_until("noticed", || generator.next_id() == Err(Refusal::Failed));
        let fault = shared.fault().unwrap();
        assert_eq!(blamed(&fault), path.to_str().unwrap());
        assert!(fault.to_string().contains("was removed, replaced or truncated while in use"), "{fault}");
        assert_eq!(generator.next_id(), Err(Refusal::Failed), "and stays so");
        (path, shared)
    };
    let (path, old) = removed("removed", &|path| fs::remove_file(path).unwrap());
    let new = open(&path).unwrap();
    assert!(!Arc::ptr_eq(&old, &new));
    assert!(generator(new, &PLAIN).next_id().is_ok(), "a new one is created on request");
    removed("truncated", &|path| fs::OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap());
    removed("replaced", &|path| {
        fs::copy(path, path.with_extension("new")).unwrap();
        fs::rename(path.with_extension("new"), path).unwrap();
    });
}

/// Waits until an idle cursor has noticed a fault, and returns it.
fn fault_while_idle(shared: &SharedCursor) -> String {
    wait_until("noticed", || shared.fault().is_some());
    shared.fault().unwrap().to_string()
}

#[test]
fn an_idle_process_survives_a_file_truncated_to_nothing() {
    let folder = folder();
    let path = folder.path().join("ids");
    let registry = Registry::<KeyFile>::default();
    let open = || registry.shared(Key::new(&flake(), flake().place_node(NODE)), &path).unwrap();
    let shared = open();
    let mut ids = generator(shared.clone(), &PLAIN);
    let last = ids.next_id().unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    let fault = fault_while_idle(&shared);
    assert!(fault.contains("was removed, replaced or truncated while in use"), "{fault}");
    assert_eq!(ids.next_id(), Err(Refusal::Failed));
    assert!(ids.ahead_ms() <= 5100.0, "nothing that is asked later reads the page");
    assert!(shared.raise().is_err());

    fs::remove_file(&path).unwrap();
    let again = open();
    assert!(again.cursor().next() >> 12 > last >> 22, "a new file continues above all given numbers");
}

#[test]
fn a_file_that_was_restored_after_truncation_is_not_trusted() {
    let folder = folder();
    let path = folder.path().join("ids");
    let mut ids = generator(open(&path).unwrap(), &PLAIN); // it has given no ID yet
    let copy = fs::read(&path).unwrap();
    fs::write(&path, "").unwrap();
    ids.ahead_ms(); // notices that the page is lost, before the file is checked
    fs::write(&path, copy).unwrap();
    assert_eq!(ids.next_id(), Err(Refusal::Failed));
}

#[test]
fn an_older_copy_written_over_a_file_is_noticed() {
    let folder = folder();
    let path = folder.path().join("ids");
    let registry = Registry::<KeyFile>::default();
    let open = || registry.shared(Key::new(&flake(), flake().place_node(NODE)), &path).unwrap();
    let shared = open();
    let mut ids = generator(shared.clone(), &ENDLESS);
    ids.next_id().unwrap();
    let copy = fs::read(&path).unwrap();
    let put_back = || fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(&copy).unwrap();
    let mut made = vec![0; 100_000];
    ids.fill(&mut made, |id| id);
    shared.raise().unwrap(); // checks the file, which also happens a few times per second
    put_back();
    let fault = fault_while_idle(&shared);
    assert!(fault.contains("went back while in use"), "{fault}");
    assert_eq!(ids.next_id(), Err(Refusal::Failed));
    let mut again = generator(open(), &ENDLESS);
    assert!(again.next_id().unwrap() > *made.last().unwrap(), "a new generator continues above all given numbers");
}

/// Two generators for which no time passes.
fn at_one_instant(shared: &Arc<SharedCursor>) -> [Generator; 2] {
    let (layout, now) = (flake(), system_ns());
    [(); 2].map(|()| {
        let mut clock = TickClock::given(layout.scale());
        clock.set(now);
        Generator::new(clock, shared.clone(), &layout, layout.place_node(NODE), &ENDLESS)
    })
}

/// A file with two generators, one of which has given IDs, and the file's content after the first ID.
fn used() -> (tempfile::TempDir, Arc<SharedCursor>, [Generator; 2], Vec<u8>) {
    let folder = folder();
    let path = folder.path().join("ids");
    let shared = open(&path).unwrap();
    let [mut ids, others] = at_one_instant(&shared);
    ids.next_id().unwrap();
    let copy = fs::read(&path).unwrap();
    ids.fill(&mut [0; 1000], |id| id);
    (folder, shared, [ids, others], copy)
}

/// Writes an older copy over the file, which remains the same file.
fn put_back(folder: &tempfile::TempDir, copy: &[u8]) {
    fs::OpenOptions::new().write(true).open(folder.path().join("ids")).unwrap().write_all(copy).unwrap();
}

#[test]
fn a_number_that_comes_again_is_not_handed_out() {
    let (folder, shared, [mut ids, mut others], copy) = used();
    let end = shared.cursor().next();
    put_back(&folder, &copy);
    assert!(shared.cursor().next() < end);
    assert_eq!(ids.next_id(), Err(Refusal::Failed));
    assert_eq!(others.next_id(), Err(Refusal::Failed));
    assert!(shared.fault().unwrap().to_string().contains("went back while in use"));
    assert!(shared.next() >= end, "a new generator continues above all given numbers");
}

#[test]
fn a_number_that_was_seen_taken_is_not_handed_out() {
    let (folder, shared, [_ids, mut others], copy) = used();
    shared.raise().unwrap(); // checks the file, which also happens a few times per second
    put_back(&folder, &copy);
    assert_eq!(others.next_id(), Err(Refusal::Failed), "it has taken none itself");
}

#[test]
fn a_mark_that_fell_is_noticed() {
    use std::os::unix::fs::FileExt;
    let folder = folder();
    let path = folder.path().join("ids");
    let shared = open(&path).unwrap();
    generator(shared.clone(), &ENDLESS).next_id().unwrap();
    let mark = shared.cursor().limit();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&(mark - 1).to_ne_bytes(), 2560).unwrap();
    assert!(shared.raise().unwrap_err().to_string().contains("went back while in use"));
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
    assert_eq!(generator.next_id(), Err(Refusal::Failed));
    assert_eq!(generator.fill(&mut [0; 5], |id| id), (0, Some(Refusal::Failed)));

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
    assert_eq!(generator.next_id(), Err(Refusal::Failed));
}
