//! A page in memory of this process alone, so that Miri, which knows no mapped files, can run the unsafe code.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::process;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicPtr, AtomicUsize};
use std::thread;

use super::*;

/// A page of zeros, and an unrelated file, which is removed at once.
fn page<W: Words>() -> Mapped<W> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("flakeforge-page-{}-{}", process::id(), COUNT.fetch_add(1, Relaxed));
    let path: PathBuf = std::env::temp_dir().join(name);
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    file.set_len(SIZE as u64).unwrap();
    let map = MmapRaw::from(MmapOptions::new().len(SIZE).map_anon().unwrap());
    let start = AtomicPtr::new(map.as_mut_ptr().cast());
    let place = Place::watch(map.as_ptr());
    Mapped { map, place, file: file.into(), header_hash: 0, start, stand_in: OnceLock::new() }
}

#[test]
fn each_field_keeps_what_is_stored_in_it() {
    let mapped = page::<CursorWords>();
    let page = mapped.checked();
    page.boot.iter().chain(&page.holder).chain([&page.is_named, &page.words.lends_window]).for_each(|word| {
        assert_eq!(word.fetch_add(1, Relaxed), 0, "no two fields have a word in common");
    });
    page.words.cursor.raise_next(2);
    page.words.cursor.raise_limit(3);
    page.mark.raise(&page.words.cursor, 4, || Ok::<(), ()>(())).unwrap();
    page.presence.arrive();
    assert_eq!((page.words.cursor.next(), page.words.cursor.limit(), page.mark.written()), (2, 4, 4));
    assert!(page.boot.iter().chain(&page.holder).all(|word| word.load(Relaxed) == 1));
}

#[test]
fn a_truncated_page_is_permanently_replaced_by_zeros() {
    let mapped = page::<GroupWords>();
    mapped.checked().words.top.store(7, Relaxed);
    mapped.file.set_len(SIZE as u64 - 1).unwrap();
    let before = mapped.page();
    assert_eq!(mapped.checked().words.top.load(Relaxed), 0);
    assert_eq!(before.words.top.load(Relaxed), 7, "a claim in progress may still see the map");
    mapped.page().words.top.store(9, Relaxed);
    mapped.file.set_len(SIZE as u64).unwrap();
    assert_eq!(mapped.checked().words.top.load(Relaxed), 9);
}

#[test]
fn threads_may_use_a_page_while_another_finds_that_it_was_cut_off() {
    let mapped = page::<CounterWords>();
    mapped.file.set_len(0).unwrap();
    let add = || (0..20).for_each(|_| _ = mapped.page().words.value.fetch_add(1, Relaxed));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(add);
        }
        assert!(mapped.is_lost());
    });
    assert!(mapped.page().words.value.load(Relaxed) <= 60);
}
