//! Counters in the folder of a store.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::support::slots::open;
use crate::support::{duplicates, part, process, receive, send};
use flakeforge_core::files::counters;
use flakeforge_core::files::group;
use flakeforge_core::files::listing::groups;
use flakeforge_core::files::names;
use flakeforge_core::refusal::Refusal;

fn advance(store: &Path, name: &str, by: u64, init: Option<u64>) -> Result<u64, Refusal> {
    counters::advance(store, name, by, init).map(|block| block.first)
}

#[test]
fn a_counter_keeps_its_lineage_until_it_is_raised_or_recreated() {
    let temp = tempfile::tempdir().unwrap();
    let lineage = |name: &str, by, init| counters::advance(temp.path(), name, by, init).unwrap().lineage;
    let first = lineage("c", 1, Some(0));
    for (by, init) in [(5, None), (5, Some(0)), (0, None)] {
        assert_eq!(lineage("c", by, init), first);
    }
    let raised = lineage("c", 0, Some(1000));
    assert_eq!(lineage("c", 1, None), raised);
    fs::remove_file(names::counter_file(temp.path(), "c")).unwrap();
    let mut all = vec![first, raised, lineage("c", 1, Some(0)), lineage("other", 1, Some(0))];
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4);
}

#[test]
fn counters_count() {
    let temp = tempfile::tempdir().unwrap();
    let store = temp.path();
    let gone = advance(store, "orders/1", 10, None).unwrap_err();
    assert!(gone.to_string().contains("was removed") && gone.to_string().contains("skipTo(n)"), "{gone}");
    assert_eq!(advance(store, "orders/1", 10, Some(5)), Ok(5));
    assert_eq!(advance(store, "orders/1", 10, None), Ok(15));
    assert_eq!(advance(store, "orders/1", 10, Some(5)), Ok(25), "init is for a new one");
    assert_eq!(advance(store, "orders/1", 0, Some(1000)), Ok(1000), "or to skip ahead");
    assert_eq!(advance(store, "orders/1", 0, Some(7)), Ok(1000), "never back");
    assert_eq!(advance(store, "orders/2", 1, Some(0)), Ok(0));
    let full = advance(store, "orders/1", u64::MAX, None).unwrap_err();
    assert!(full.to_string().contains("has reached 1000"), "{full}");
    assert_eq!(advance(store, "orders/1", 1, None), Ok(1000), "nothing was taken");
    fs::remove_file(names::counter_file(store, "orders/1")).unwrap();
    assert!(advance(store, "orders/1", 1, None).is_err());
    assert_eq!(groups(store).unwrap(), [], "counters are not groups");
}

#[test]
fn another_path_begins_no_count_again() {
    let temp = tempfile::tempdir().unwrap();
    advance(temp.path(), "c", 10, Some(0)).unwrap();
    let path = names::counter_file(temp.path(), "c");
    let bytes = fs::read(&path).unwrap();
    let (other_version, mut other_order) = (2_u32.to_ne_bytes(), [0; 4]);
    other_order.copy_from_slice(&bytes[16..20]);
    other_order.reverse();
    for version in [other_version, other_order] {
        let mut changed = bytes.clone();
        changed[16..20].copy_from_slice(&version);
        fs::write(&path, &changed).unwrap();
        let error = advance(temp.path(), "c", 10, Some(0)).unwrap_err().to_string();
        let way_out = "stop all members, and open the counter in another folder with an init at or above every ID that was \
                       ever handed out";
        assert!(error.ends_with(way_out), "{error}");
    }
}

#[test]
fn processes_never_get_one_block_twice() {
    const EACH: usize = 400;
    if let Some(store) = part() {
        let block = || advance(Path::new(&store), "c", 3, Some(0)).unwrap();
        return send(std::iter::once((0..EACH).map(|_| block()).collect()));
    }
    let temp = tempfile::tempdir().unwrap();
    let start =
        || process("counters::processes_never_get_one_block_twice", temp.path().to_str().unwrap()).spawn().unwrap();
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    let blocks: Vec<_> = children.into_iter().map(receive).collect();
    assert_eq!(duplicates(&blocks), 0);
    assert_eq!(blocks.iter().map(Vec::len).sum::<usize>(), 4 * EACH);
    assert_eq!(advance(temp.path(), "c", 0, None), Ok(4 * EACH as u64 * 3), "and no number is lost");
}

/// Puts a copy of the group in place of it, which was used for past moments.
#[cfg(unix)]
fn restore_from_copy(store: &Path, change: fn(&Path)) {
    let folder = names::group_folder(store, "orders");
    let past = |lineage| counters::advance_past(store, ("orders", lineage), "span0000000001", 32, false);
    let used = |lineage| group::used_until(&folder, &[5], lineage);
    let first = open(&folder, 3).lineage();
    let copies = store.join("copies");
    fs::create_dir_all(copies.join("1")).unwrap();
    fs::copy(folder.join("1/group"), copies.join("1/group")).unwrap();
    assert_eq!((past(first).map(|block| block.first), used(first)), (Ok(0), Ok(None)));
    fs::rename(&folder, store.join("before")).unwrap(); // its files keep their numbers
    fs::rename(&copies, &folder).unwrap();
    change(&folder.join("1/group"));
    let check = |lineage| {
        for error in [past(lineage).unwrap_err(), used(lineage).unwrap_err()] {
            assert!(error.to_string().contains("restored from a copy"), "{error}");
        }
    };
    assert_eq!(open(&folder, 3).lineage(), first);
    check(first);
    group::destroy(&folder).unwrap();
    check(open(&folder, 3).lineage()); // nor does the next group know them
}

#[test]
#[cfg(unix)]
fn a_folder_that_was_restored_from_a_copy_gives_no_past_moments() {
    restore_from_copy(tempfile::tempdir().unwrap().path(), |_| {});
}

/// File systems give the numbers of removed files again.
#[test]
#[cfg(unix)]
fn a_copy_with_the_file_numbers_of_the_original_is_a_copy() {
    let temp = tempfile::tempdir().unwrap();
    if fs::metadata(temp.path()).unwrap().created().is_err() {
        return; // it does not know when files were created
    }
    restore_from_copy(temp.path(), |copy| {
        let file = fs::File::options().write(true).open(copy).unwrap();
        file.write_all_at(&file.metadata().unwrap().ino().to_le_bytes(), 1592).unwrap();
    });
}

fn names_of(store: &Path) -> Vec<(String, u64)> {
    counters::list(store).unwrap().into_iter().map(|counter| (counter.name, counter.next)).collect()
}

#[test]
fn counters_are_listed_and_end() {
    let temp = tempfile::tempdir().unwrap();
    let store = temp.path();
    assert_eq!(names_of(store), []);
    counters::destroy(store, "orders/1").unwrap();
    assert_eq!(advance(store, "orders/1", 10, Some(5)), Ok(5));
    assert_eq!(advance(store, "a,2", 1, Some(0)), Ok(0), "a name like that of a later life");
    assert_eq!(names_of(store), [("a,2".to_owned(), 1), ("orders/1".to_owned(), 15)]);
    for life in 0..3 {
        counters::destroy(store, "orders/1").unwrap();
        assert_eq!(names_of(store), [("a,2".to_owned(), 1)], "{life}");
        assert_eq!(advance(store, "orders/1", 10, None), Err(Refusal::Destroyed));
        assert_eq!(advance(store, "orders/1", 10, Some(life)), Ok(life), "another one starts anew");
        assert_eq!(advance(store, "orders/1", 1, None), Ok(life + 10));
    }
    counters::destroy(store, "orders/1").unwrap();
    assert_eq!(advance(store, "orders/1", 0, Some(70)), Ok(70), "skipTo() continues one, too");
    assert_eq!(groups(store).unwrap(), []);
}

#[test]
fn a_group_counts_past_moments_beside_its_lives() {
    let temp = tempfile::tempdir().unwrap();
    let folder = names::group_folder(temp.path(), "orders");
    let lineage = open(&folder, 3).lineage();
    let past = |record: &str, by, is_known| {
        counters::advance_past(temp.path(), ("orders", lineage), record, by, is_known).map(|block| block.first)
    };
    assert_eq!(past("span0000000001", 32, false), Ok(0));
    assert_eq!(past("span0000000001", 32, true), Ok(32));
    assert_eq!(past("span0000000002", 32, false), Ok(0));
    assert_eq!(names_of(temp.path()), [], "they are not counters of users");
    assert_eq!(groups(temp.path()).unwrap(), [("orders".to_owned(), folder)], "nor other groups");
    fs::remove_file(temp.path().join("orders/past/span0000000001")).unwrap();
    let gone = past("span0000000001", 32, true).unwrap_err();
    assert!(gone.to_string().contains("was removed"), "{gone}");
}

#[test]
fn past_moments_are_for_members_of_the_living_group() {
    let temp = tempfile::tempdir().unwrap();
    let folder = names::group_folder(temp.path(), "orders");
    let span = "span0000000001";
    let past = |lineage| counters::advance_past(temp.path(), ("orders", lineage), span, 32, false);
    let first = open(&folder, 3).lineage();
    assert_eq!(past(first).map(|block| block.first), Ok(0));
    group::destroy(&folder).unwrap();
    assert_eq!(past(first), Err(Refusal::Destroyed));
    let second = open(&folder, 3).lineage();
    assert_eq!(past(first), Err(Refusal::Destroyed));
    assert!(past(second).unwrap().first >= 32, "the next group continues");
    let moved = temp.path().join("moved");
    fs::rename(&folder, &moved).unwrap();
    fs::rename(&moved, &folder).unwrap();
    assert!(past(second).is_ok(), "the same files");
    fs::remove_dir_all(&folder).unwrap();
    open(&folder, 3);
    let replaced = past(second).unwrap_err();
    assert!(replaced.to_string().contains("was replaced"), "{replaced}");
}
