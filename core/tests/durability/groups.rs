//! Slots after a crash: with the cursor in their file, with a window, and at the end of a group.

use std::path::Path;
use std::thread;
use std::time::Duration;

use flakeforge_core::files::group::{FolderConfig, destroy};
use flakeforge_core::files::listing::list;
use flakeforge_core::files::machine::{self, Machine};
use flakeforge_core::files::slots::{HeldSlot, Renewal, SlotFolder};
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::refusal::Refusal;

use crate::disk::{Crash, Disk, Member};
use crate::support::{ENDLESS, flake, generator, succeeds};

/// The boot after the crash.
const REBOOTED: u128 = 9;

fn open(root: &Path, boot: u128) -> SlotFolder {
    try_open(root, boot).unwrap()
}

fn try_open(root: &Path, boot: u128) -> Result<SlotFolder, Refusal> {
    open_for(root, boot, 1)
}

fn open_for(root: &Path, boot: u128, slots: u32) -> Result<SlotFolder, Refusal> {
    let numbers = Numbers::new(flake().scale(), 12);
    let config = FolderConfig { fingerprint: "for a test".to_owned(), slots, numbers };
    let machine = Machine { boot: Some(boot), ..*machine::this() };
    SlotFolder::open_on(&machine, &root.join("store/group"), config)
}

/// Generates IDs up to 15 s ahead of the clock, and reports the milliseconds of the last ones.
fn run_ahead(member: &Member, held: &HeldSlot) {
    let cursor = held.cursor();
    let mut ids = generator(cursor.clone(), &ENDLESS);
    let mut made = vec![0; 4096 * 1000];
    for _ in 0..15 {
        let (count, _) = ids.fill(&mut made, |id| id);
        member.tell(format!("ms {}", made[count - 1] >> 22));
    }
}

/// Checks that the next holder of the slot after a crash starts after everything that was used.
fn check(crash: &Crash) {
    let temp = crash.restore();
    let last = crash.numbers("ms").max().map_or(0, |ms| ms as i64);
    let first = match open(temp.path(), REBOOTED).acquire(7, "here") {
        Ok(held) => held.lo_ms(),
        Err(Refusal::Exhausted { retry_at_ms }) => retry_at_ms,
        Err(error) => panic!("{error:?}"),
    };
    assert!(first > last, "from {first} on, and {last} was used before the machine crashed");
}

#[test]
fn a_crash_gives_no_number_of_a_slot_again() {
    if let Some(member) = Member::this() {
        let folder = open(&member.root, 1);
        return run_ahead(&member, &folder.acquire(7, "here").unwrap());
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("groups::a_crash_gives_no_number_of_a_slot_again"));
    let crashes = disk.crashes();
    assert!(crashes.iter().filter(|crash| !crash.told.is_empty()).count() > 8, "in front of some marks");
    crashes.iter().for_each(check);
}

#[test]
fn a_crash_gives_no_time_of_a_window_again() {
    if let Some(member) = Member::this() {
        let folder = open(&member.root, 1);
        let held = folder.acquire(7, "here").unwrap();
        member.tell(format!("ms {}", held.hi_ms()));
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(2));
            let Ok(Renewal::Window { hi_ms, .. }) = held.renew() else { panic!("renewed") };
            member.tell(format!("ms {hi_ms}"));
        }
        return;
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("groups::a_crash_gives_no_time_of_a_window_again"));
    let crashes = disk.crashes();
    assert!(crashes.iter().any(|crash| crash.told.len() == 4));
    crashes.iter().for_each(check);
}

#[test]
fn a_destroyed_group_stays_destroyed_after_a_crash() {
    if let Some(member) = Member::this() {
        let folder = open(&member.root, 1);
        let held = folder.acquire(7, "here").unwrap();
        run_ahead(&member, &held);
        destroy(&member.root.join("store/group")).unwrap();
        member.tell("destroyed");
        assert_eq!(held.renew(), Ok(Renewal::Destroyed));
        open(&member.root, 1);
        member.tell("recreated");
        return;
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("groups::a_destroyed_group_stays_destroyed_after_a_crash"));
    for crash in disk.crashes() {
        if crash.told.iter().any(|told| told == "destroyed") {
            let slots = list(&crash.restore().path().join("store/group")).unwrap().slots;
            assert_eq!(slots, [], "those of the group that was destroyed");
        }
        check(&crash);
    }
}

#[test]
fn a_sync_that_fails_ends_the_holder() {
    if let Some(member) = Member::this() {
        return (0..3).for_each(|_| use_slot(&member));
    }
    for nth in 1.. {
        let Some(disk) = Disk::new() else { return };
        succeeds(disk.process("groups::a_sync_that_fails_ends_the_holder").env("DISK_FAILS", nth.to_string()));
        disk.crashes().iter().for_each(check);
        if !disk.failed() {
            return assert!(nth > 9, "those of folders, of the group, of the slot and of its marks");
        }
    }
}

/// Opens the group, takes its slot and generates IDs ahead of the clock, until something fails.
fn use_slot(member: &Member) {
    let told = |error: Refusal| assert!(error.to_string().contains("Input/output error"), "{error}");
    let folder = match try_open(&member.root, 1) {
        Ok(folder) => folder,
        Err(error) => return told(error),
    };
    let held = match folder.acquire(7, "here") {
        Ok(held) => held,
        Err(error @ Refusal::File { .. }) => return told(error),
        Err(Refusal::Exhausted { .. }) => return, // it was ahead before a sync failed
        Err(error) => panic!("{error:?}"),
    };
    member.tell(format!("ms {}", held.hi_ms()));
    thread::sleep(Duration::from_millis(2));
    match held.renew() {
        Ok(_) => member.tell(format!("ms {}", held.hi_ms())),
        Err(error) => {
            told(error);
            held.renew().unwrap_err();
            return assert_eq!(generator(held.cursor(), &ENDLESS).next_id(), Err(Refusal::Failed));
        }
    }
    let cursor = held.cursor();
    let mut ids = generator(cursor.clone(), &ENDLESS);
    let mut made = vec![0; 4096 * 1000];
    for _ in 0..12 {
        let (count, stopped) = ids.fill(&mut made, |id| id);
        if count > 0 {
            member.tell(format!("ms {}", made[count - 1] >> 22));
        }
        if stopped.is_some() {
            told(cursor.fault().unwrap());
            return assert_eq!(ids.next_id(), Err(Refusal::Failed));
        }
    }
}

#[test]
fn a_new_slot_takes_three_syncs() {
    if let Some(member) = Member::this() {
        let [one, other] = [(); 2].map(|()| open_for(&member.root, 1, 8).unwrap());
        member.tell("opened");
        let _held = [(&one, 7), (&one, 8), (&other, 9)].map(|(folder, owner)| {
            let held = folder.acquire(owner, "here").unwrap();
            member.tell("acquired");
            held
        });
        return;
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("groups::a_new_slot_takes_three_syncs"));
    // Of its file, of the file's name, and of its mark. Neither the folder nor the group changes.
    assert_eq!(disk.syncs()[1..], [3, 3, 3, 0]);
}
