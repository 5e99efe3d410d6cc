//! Slot files: which process gets which slot, what a killed holder leaves behind, and what others see of it.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::Duration;

use crate::support::slots::{config, now_ms, open, take};
use crate::support::{
    ENDLESS, PLAIN, alone, blamed, duplicates, generator, part, process, receive, send, succeeds, without_room,
};
use flakeforge_core::files::group::{FolderConfig, destroy};
use flakeforge_core::files::holder_record::HolderRecord;
use flakeforge_core::files::listing::{groups, list};
use flakeforge_core::files::machine::{self, Machine};
use flakeforge_core::files::names::group_folder;
use flakeforge_core::files::slots::{HeldSlot, Renewal, SlotFolder};
use flakeforge_core::refusal::Refusal;

/// A slot, once the tick that a fast holder has exhausted is over and one is free.
fn take_soon(folder: &SlotFolder) -> HeldSlot {
    folder.acquire(7, "here").unwrap_or_else(|error| match error {
        Refusal::Exhausted { retry_at_ms } if retry_at_ms <= now_ms() + 2 => {
            thread::sleep(Duration::from_millis(2));
            take(folder)
        }
        error => panic!("{error:?}"),
    })
}

/// Starts another process, which holds a slot until its input ends, and returns the slot's number.
fn holder(test: &str, folder: &Path) -> (Child, u32) {
    let mut child = process(test, folder.to_str().unwrap()).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let slot = out.lines().find_map(|line| line.unwrap().strip_prefix("slot ").map(|slot| slot.parse().unwrap()));
    (child, slot.unwrap())
}

/// The work of that process.
fn hold(slot: &HeldSlot) {
    let _cursor = slot.cursor();
    println!("\nslot {}", slot.slot());
    std::io::stdout().flush().unwrap();
    std::io::stdin().lines().for_each(drop);
}

#[test]
fn each_slot_has_one_holder() {
    if let Some(folder) = part() {
        return hold(&take(&open(Path::new(&folder), 4)));
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = open(&temp.path().join("a/group"), 4);
    let (first, second) = (take(&folder), take(&folder));
    let (mut child, third) = holder("slots::each_slot_has_one_holder", &temp.path().join("a/group"));
    let fourth = take(&folder);
    assert_eq!([first.slot(), second.slot(), third, fourth.slot()], [0, 1, 2, 3]);
    let before = now_ms();
    let Err(Refusal::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("a fifth of four") };
    assert!(retry_at_ms > before && retry_at_ms < now_ms() + 1000);

    second.release(0);
    let again = take(&folder);
    assert_eq!(again.slot(), 1, "the one that was freed");
    again.release(0);
    child.kill().unwrap();
    child.wait().unwrap();
    first.release(0);
    fourth.release(0);
    let all: Vec<_> = (0..4).map(|_| take(&folder)).collect();
    let slots: HashSet<_> = all.iter().map(HeldSlot::slot).collect();
    assert_eq!(slots.len(), 4, "the killed one's, too");
}

/// The child of a fork has the parent's slot in its memory, but does not hold it.
#[test]
#[expect(unsafe_code)]
fn the_child_of_a_fork_has_no_slot_and_gives_none_back() {
    alone("slots::the_child_of_a_fork_has_no_slot_and_gives_none_back", |folder| {
        for gives_back in [false, true] {
            let slots = open(&folder.join(gives_back.to_string()), 1);
            let held = take(&slots);
            // SAFETY: the child continues in this thread alone, and ends with `_exit`.
            let child = unsafe { libc::fork() };
            if child == 0 {
                let is_lost = held.renew() == Ok(Renewal::Lost);
                if gives_back {
                    held.release(0)
                } else {
                    drop(held)
                }
                // SAFETY: the function has no preconditions.
                unsafe { libc::_exit(if is_lost { 0 } else { 1 }) };
            }
            let mut status = 0;
            // SAFETY: the pointer is valid.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 0, "the child has lost it");
            let Refusal::Exhausted { .. } = slots.acquire(8, "there").unwrap_err() else { panic!("it is held") };
            assert!(matches!(held.renew(), Ok(Renewal::Window { .. })));
        }
    });
}

#[test]
fn the_next_holder_continues_after_a_killed_one() {
    if let Some(folder) = part() {
        let held = take(&open(Path::new(&folder), 1));
        let mut ids = generator(held.cursor(), &PLAIN);
        let mut block = || {
            let mut ids_made = vec![0; 50];
            let (made, _) = ids.fill(&mut ids_made, |id| id);
            ids_made.truncate(made);
            ids_made
        };
        return send(std::iter::repeat_with(&mut block));
    }
    let temp = tempfile::tempdir().unwrap();
    let mut ids = Vec::new();
    for round in 0..15 {
        let child = process("slots::the_next_holder_continues_after_a_killed_one", temp.path().to_str().unwrap())
            .spawn()
            .unwrap();
        let pid = child.id();
        let reader = thread::spawn(move || receive(child));
        while !list(temp.path()).unwrap().slots.iter().any(|slot| slot.is_held && slot.last_ms.is_some()) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(round));
        assert!(std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
        ids.push(reader.join().unwrap());
        let held = take_soon(&open(temp.path(), 1));
        let mut own = generator(held.cursor(), &ENDLESS);
        ids.push((0..100).map(|_| own.next_id().unwrap()).collect());
    }
    assert!(ids.iter().map(Vec::len).sum::<usize>() > 5000, "they generated some");
    assert_eq!(duplicates(&ids), 0);
    let all: Vec<_> = ids.concat();
    assert!(all.is_sorted(), "each holder is after those before it");
}

#[test]
fn a_holder_without_the_cursor_has_its_time_to_itself() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 1);
    let held = take(&folder);
    let (lo_ms, hi_ms) = (held.lo_ms(), held.hi_ms());
    assert!(lo_ms <= now_ms() && hi_ms >= now_ms() + 4000 && hi_ms < now_ms() + 6000, "{lo_ms}…{hi_ms}");
    thread::sleep(Duration::from_millis(20));
    let Ok(Renewal::Window { lo_ms: same, hi_ms: later }) = held.renew() else { panic!("renewed") };
    assert!(same == lo_ms && later > hi_ms);

    let last = now_ms();
    held.release(last);
    thread::sleep(Duration::from_millis(5));
    let next = take(&folder);
    assert!(next.lo_ms() > last && next.lo_ms() < last + 1000, "after what was said to be used");

    let mark = next.hi_ms();
    drop(next); // without a release, as if the process had been killed
    assert_eq!(folder.acquire(7, "here").unwrap_err(), Refusal::Exhausted { retry_at_ms: mark + 1 });
    assert_eq!(list(temp.path()).unwrap().slots[0].last_ms, None);
}

#[test]
fn a_holders_report_counts_only_for_its_own_time() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 1);
    let held = take(&folder);
    let _cursor = held.cursor();
    let mark = held.hi_ms();
    held.release(mark); // a time that it left to the cursor
    let held = take(&folder);

    let mark = held.hi_ms();
    held.release(mark + 1000); // a time that it did not have
    assert_eq!(folder.acquire(7, "here").unwrap_err(), Refusal::Exhausted { retry_at_ms: mark + 1 });
}

#[test]
fn the_search_starts_at_the_slot_that_was_freed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 200);
    let mut held: Vec<_> = (0..100).map(|_| take(&folder)).collect();
    drop(held.remove(90).cursor());
    assert_eq!(take(&folder).slot(), 90, "farther than a search goes from the first one on");
}

#[test]
fn the_slot_of_a_killed_holder_is_found_in_turn() {
    const TEST: &str = "slots::the_slot_of_a_killed_holder_is_found_in_turn";
    if let Some(folder) = part() {
        return hold(&take(&open(Path::new(&folder), 300)));
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 300);
    let mut held: Vec<_> = (0..150).map(|_| take(&folder)).collect();
    let (mut child, killed) = holder(TEST, temp.path());
    assert_eq!(killed, 150);
    held.extend((0..50).map(|_| take(&folder)));
    drop(held.remove(0).cursor());
    held.insert(0, take(&folder)); // the search starts after the first one again
    child.kill().unwrap();
    child.wait().unwrap();
    // 64 are tried before a new one is created: 1 to 64, 65 to 128, 129 to 192.
    let slots: Vec<_> = (0..3).map(|_| take(&folder)).map(|one| (one.slot(), held.push(one)).0).collect();
    assert_eq!(slots, [201, 202, 150]);
}

#[test]
fn the_slot_of_a_killed_holder_rests_while_others_are_free() {
    const TEST: &str = "slots::the_slot_of_a_killed_holder_rests_while_others_are_free";
    if let Some(folder) = part() {
        return hold(&take(&open(Path::new(&folder), 3)));
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 3);
    let held: Vec<_> = (0..3).map(|_| take(&folder)).collect();
    held.into_iter().for_each(|held| drop(held.cursor()));
    let (mut child, killed) = holder(TEST, temp.path());
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((killed, take(&folder).slot()), (0, 1));
}

#[test]
fn if_no_slot_can_be_created_existing_ones_are_tried() {
    const TEST: &str = "slots::if_no_slot_can_be_created_existing_ones_are_tried";
    if let Some(folder) = part() {
        let folder = open(Path::new(&folder), 80);
        let held = take(&folder);
        assert_eq!(held.slot(), 70, "after 64 that are held, and new ones that could not be created");
        let Err(error @ Refusal::File { .. }) = folder.acquire(7, "here") else { panic!("a slot is free") };
        assert!(error.to_string().contains("There is no space left"), "{error}");
        assert!(blamed(&error).ends_with("/72"), "the first one: {error}");
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 80);
    let mut held: Vec<_> = (0..72).map(|_| take(&folder)).collect();
    drop(held.remove(70).cursor());
    drop(held.remove(0).cursor());
    held.push(take(&folder)); // the search starts after the first one again
    succeeds(&mut without_room(&process(TEST, temp.path().to_str().unwrap())));
    assert_eq!(list(temp.path()).unwrap().slots.len(), 72, "no slot was created");
}

#[test]
fn a_slot_whose_last_id_is_ahead_of_the_clock_waits() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 2);
    let held = take(&folder);
    let mut ids = generator(held.cursor(), &ENDLESS);
    let mut made = vec![0; 4096 * 5000];
    ids.fill(&mut made, |id| id);
    drop(held);
    assert_eq!(ids.next_id(), Err(Refusal::WindowEnd), "a generator does not outlive its slot");
    let other = take(&folder);
    assert_eq!(other.slot(), 1);
    let free_ms = (made[made.len() - 1] >> 22) as i64 + 1;
    assert_eq!(folder.acquire(7, "here").unwrap_err(), Refusal::Exhausted { retry_at_ms: free_ms });
}

#[test]
fn another_boot_starts_past_the_mark() {
    let temp = tempfile::tempdir().unwrap();
    let in_boot = |boot| {
        let machine = Machine { boot, ..*machine::this() };
        SlotFolder::open_on(&machine, temp.path(), config(1)).unwrap()
    };
    let held = take(&in_boot(Some(1)));
    generator(held.cursor(), &PLAIN).next_id().unwrap();
    let mark = held.hi_ms();
    drop(held);
    drop(take(&in_boot(Some(1))).cursor());
    assert_eq!(in_boot(Some(2)).acquire(7, "x").unwrap_err(), Refusal::Exhausted { retry_at_ms: mark + 1 });
}

#[test]
fn a_platform_without_shared_files() {
    let temp = tempfile::tempdir().unwrap();
    let wasm = Machine { shares_files: false, ..*machine::this() };
    let error = SlotFolder::open_on(&wasm, temp.path(), config(1)).unwrap_err().to_string();
    assert!(error.contains("processes cannot share files on this platform"), "{error}");
    assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
}

#[test]
fn another_configuration_shows_both() {
    let temp = tempfile::tempdir().unwrap();
    let _group = open(temp.path(), 4);
    let mismatch = |ours: FolderConfig| match SlotFolder::open(temp.path(), ours) {
        Err(Refusal::Mismatch { theirs, ours, .. }) => (theirs, ours),
        other => panic!("{other:?}"),
    };
    let theirs = "for a test, 4 slots".to_owned();
    assert_eq!(mismatch(config(8)), (theirs.clone(), "for a test, 8 slots".to_owned()));
    let other = FolderConfig { fingerprint: "epoch 5".to_owned(), ..config(4) };
    assert_eq!(mismatch(other), (theirs, "epoch 5, 4 slots".to_owned()));
}

#[test]
fn a_group_keeps_its_lineage_as_long_as_it_lives() {
    let temp = tempfile::tempdir().unwrap();
    let [one, other] = [open(temp.path(), 4), open(temp.path(), 4)].map(|folder| take(&folder));
    assert_eq!(one.lineage(), other.lineage());
    let elsewhere = tempfile::tempdir().unwrap();
    assert_ne!(take(&open(elsewhere.path(), 4)).lineage(), one.lineage());
    destroy(temp.path()).unwrap();
    let _next = open(temp.path(), 4);
    let of_life = |life: &str| std::fs::read(temp.path().join(life).join("group")).unwrap()[1584..1592].to_vec();
    assert_eq!(of_life("1"), one.lineage().to_ne_bytes());
    assert_ne!(of_life("2"), of_life("1"), "the next group");
}

#[test]
fn the_list_shows_holders_without_disturbing_them() {
    let temp = tempfile::tempdir().unwrap();
    let path = group_folder(temp.path(), "my group/ü");
    assert_eq!(list(&path).unwrap().slots, []);
    let folder = open(&path, 8);
    let held = folder.acquire(u128::MAX - 5, &"ö".repeat(200)).unwrap();
    let mut ids = generator(held.cursor(), &PLAIN);
    let id = ids.next_id().unwrap();
    take(&folder).release(0);
    let [first, second] = &list(&path).unwrap().slots[..] else { panic!("two slots") };
    let Some(HolderRecord { owner, pid, host, since_ms }) = &first.holder else { panic!("{first:?}") };
    assert_eq!((first.slot, first.is_held, *owner, *pid), (0, true, u128::MAX - 5, std::process::id()));
    assert_eq!(*host, "ö".repeat(127), "255 bytes, whole characters");
    assert!((now_ms() - since_ms).abs() < 10_000);
    assert_eq!(first.last_ms, Some((id >> 22) as i64));
    assert!(first.hi_ms.unwrap() >= now_ms() + 3000);
    assert_eq!((second.slot, second.is_held), (1, false));
    assert!(ids.next_id().is_ok() && held.renew().is_ok());
    let again = take(&folder);
    assert_eq!(again.slot(), 1, "looking holds nothing");

    assert_eq!(groups(temp.path()).unwrap(), [("my group/ü".to_owned(), path.clone())]);
    destroy(&path).unwrap();
    assert_eq!(groups(temp.path()).unwrap(), []);
    assert_eq!(groups(&temp.path().join("nowhere")).unwrap(), []);
}

#[test]
fn many_come_and_go_and_few_files_are_left() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 1024);
    let held: Vec<_> = (0..20).map(|_| take(&folder)).collect();
    for held in held {
        drop(held.cursor()); // dropped, not released, as at the end of a process
    }
    for _ in 0..200 {
        drop(take(&folder).cursor());
    }
    assert_eq!(list(temp.path()).unwrap().slots.len(), 20, "slots are reused before new ones are created");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let held: Vec<_> = (0..3).map(|_| take(&folder)).collect();
                    let slots: HashSet<_> = held.iter().map(HeldSlot::slot).collect();
                    assert_eq!(slots.len(), 3);
                    held.iter().for_each(|held| drop(held.cursor()));
                }
            });
        }
    });
}

#[test]
fn slots_do_not_leak() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 8);
    let name = temp.path().join("1/0");
    let held = || {
        let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let maps = maps.lines().filter(|line| line.ends_with(name.to_str().unwrap())).count();
        (links.filter(|link| *link == name).count(), maps)
    };
    let one = take(&folder);
    assert_eq!(held(), (1, 1));
    one.release(0);
    for _ in 0..10_000 {
        take(&folder).release(0);
    }
    thread::sleep(Duration::from_millis(600)); // the watcher may be checking one
    assert_eq!(held(), (0, 0));
    assert_eq!(list(temp.path()).unwrap().slots.len(), 1);
}
