//! Slot files: who gets which slot, what a killed holder leaves behind, the end of a group, and counters.

#![cfg(all(not(loom), target_os = "linux"))]

mod support;

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Child;
use std::thread;
use std::time::Duration;

use flakeforge_core::clock::system_ns;
use flakeforge_core::counters::advance;
use flakeforge_core::fault::FileError;
use flakeforge_core::generator::Refusal;
use flakeforge_core::layout::Layout;
use flakeforge_core::machine::{self, Machine};
use flakeforge_core::names::{file_name, group_folder, name_of};
use flakeforge_core::numbers::{Numbers, whole_ms};
use flakeforge_core::slots::{Config, HeldSlot, Holder, Renewal, SlotError, SlotFolder, destroy, groups, list};
use support::{ENDLESS, PLAIN, duplicates, flake, generator, part, process, receive, send};

fn config(slots: u32) -> Config {
    Config { fingerprint: "for a test".to_owned(), slots, numbers: Numbers { scale: flake().scale, counter_bits: 12 } }
}

fn open(folder: &Path, slots: u32) -> SlotFolder {
    SlotFolder::open(folder, config(slots)).unwrap()
}

fn take(folder: &SlotFolder) -> HeldSlot {
    folder.acquire(7, "here").unwrap()
}

/// A slot that is free as soon as the tick that a fast holder has used up is over.
fn take_soon(folder: &SlotFolder) -> HeldSlot {
    folder.acquire(7, "here").unwrap_or_else(|error| match error {
        SlotError::Exhausted { retry_at_ms } if retry_at_ms <= now_ms() + 2 => {
            thread::sleep(Duration::from_millis(2));
            take(folder)
        }
        error => panic!("{error:?}"),
    })
}

fn now_ms() -> i64 {
    whole_ms(system_ns())
}

/// Another process that holds a slot until its input ends; says which.
fn holder(test: &str, folder: &Path) -> (Child, u32) {
    let mut child = process(test, folder.to_str().unwrap()).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let slot = out.lines().find_map(|line| line.unwrap().strip_prefix("slot ").map(|slot| slot.parse().unwrap()));
    (child, slot.unwrap())
}

/// What such a process does.
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
    let (mut child, third) = holder("each_slot_has_one_holder", &temp.path().join("a/group"));
    let fourth = take(&folder);
    assert_eq!([first.slot(), second.slot(), third, fourth.slot()], [0, 1, 2, 3]);
    let Err(SlotError::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("a fifth of four") };
    assert!(retry_at_ms > now_ms() - 1000 && retry_at_ms < now_ms() + 1000);

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

#[test]
fn the_next_holder_goes_on_after_a_killed_one() {
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
        let child =
            process("the_next_holder_goes_on_after_a_killed_one", temp.path().to_str().unwrap()).spawn().unwrap();
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
    assert!(ids.iter().map(Vec::len).sum::<usize>() > 5000, "they made some");
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
    drop(next); // without a word, as a killed process
    assert_eq!(folder.acquire(7, "here").unwrap_err(), SlotError::Exhausted { retry_at_ms: mark + 1 });
    assert_eq!(list(temp.path()).unwrap().slots[0].last_ms, None);
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
    assert_eq!(folder.acquire(7, "here").unwrap_err(), SlotError::Exhausted { retry_at_ms: free_ms });
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
    assert_eq!(in_boot(Some(2)).acquire(7, "x").unwrap_err(), SlotError::Exhausted { retry_at_ms: mark + 1 });
}

#[test]
fn another_configuration_shows_both() {
    let temp = tempfile::tempdir().unwrap();
    let _group = open(temp.path(), 4);
    let mismatch = |ours: Config| match SlotFolder::open(temp.path(), ours) {
        Err(FileError::Mismatch { theirs, ours, .. }) => (theirs, ours),
        other => panic!("{other:?}"),
    };
    let theirs = "for a test, 4 slots".to_owned();
    assert_eq!(mismatch(config(8)), (theirs.clone(), "for a test, 8 slots".to_owned()));
    let other = Config { fingerprint: "epoch 5".to_owned(), ..config(4) };
    assert_eq!(mismatch(other), (theirs, "epoch 5, 4 slots".to_owned()));
}

#[test]
fn damaged_and_foreign_slots_are_left_alone() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 1);
    drop(take(&folder));
    let path = temp.path().join("1/0");
    let mut bytes = fs::read(&path).unwrap();
    bytes[70] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let refused = |wanted: &str| {
        let Err(SlotError::File(error)) = folder.acquire(7, "here") else { panic!("refused") };
        assert!(error.to_string().contains(wanted) && error.path() == path.to_str().unwrap(), "{error}");
    };
    refused("checksum");
    assert!(fs::read(&path).unwrap() == bytes);
    fs::write(&path, "").unwrap();
    refused("is no file of flakeforge (it is empty): it is damaged");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("is a folder");
    fs::remove_dir(&path).unwrap();
    fs::copy(temp.path().join("1/group"), &path).unwrap();
    refused("is the file of a group of slots, not of a slot");
}

#[test]
fn a_slot_that_cannot_be_used_keeps_nobody_from_the_others() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held: Vec<_> = (0..3).map(|_| take(&folder)).collect();
    held.into_iter().for_each(|held| drop(held.cursor()));
    let path = temp.path().join("1/1");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
    let all: Vec<_> = (0..3).map(|_| take(&folder)).collect();
    assert_eq!(all.iter().map(HeldSlot::slot).collect::<HashSet<_>>(), HashSet::from([0, 2, 3]));
    let roster = list(temp.path()).unwrap();
    assert_eq!(roster.slots.iter().map(|slot| slot.slot).collect::<Vec<_>>(), [0, 2, 3]);
    let [fault] = &roster.faults[..] else { panic!("{:?}", roster.faults) };
    assert_eq!(fault.path(), path.to_str().unwrap());
    assert!(matches!(folder.acquire(7, "here"), Err(SlotError::Exhausted { .. })), "the others may be given back");

    // How far its IDs went is not known, so that there is no next life until somebody says so by removing it.
    destroy(temp.path()).unwrap();
    let error = SlotFolder::open(temp.path(), config(4)).unwrap_err().to_string();
    assert!(error.contains("the clock is past the last ID made with it, remove it"), "{error}");
    fs::remove_file(&path).unwrap();
    open(temp.path(), 4);
}

#[test]
fn a_removed_slot_is_lost() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held = take(&folder);
    let mut ids = generator(held.cursor(), &PLAIN);
    ids.next_id().unwrap();
    fs::rename(temp.path().join("1/0"), temp.path().join("1/aside")).unwrap();
    assert_eq!(held.renew(), Ok(Renewal::Lost));
    assert!(ids.next_id().is_err());

    let other = take(&folder);
    fs::remove_dir_all(temp.path()).unwrap();
    assert_eq!(other.renew(), Ok(Renewal::Lost));
}

fn cut(path: &Path) {
    fs::OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
}

#[test]
fn an_idle_holder_survives_a_slot_that_is_cut_to_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 2);
    let (held, other) = (take(&folder), take(&folder));
    let mut ids = generator(held.cursor(), &PLAIN);
    ids.next_id().unwrap();
    cut(&temp.path().join("1/0"));
    cut(&temp.path().join("1/1")); // whose holder does not use the cursor in it
    while ids.fault().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ids.next_id(), Err(Refusal::File));
    assert_eq!((held.renew(), other.renew()), (Ok(Renewal::Lost), Ok(Renewal::Lost)));
    assert!(held.hi_ms() < now_ms() && ids.ahead_ms() < 6000.0);
    held.release(now_ms());
    drop(other);
    assert!(matches!(folder.acquire(7, "here"), Err(SlotError::File(_))), "both are damaged");
}

#[test]
fn members_survive_a_group_whose_file_is_cut_to_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held = take(&folder);
    let last_ms = run_ahead(&held);
    cut(&temp.path().join("1/group"));
    assert_eq!(held.renew(), Ok(Renewal::Lost));
    drop(held);
    let Err(SlotError::File(error)) = folder.acquire(7, "here") else { panic!("a damaged group") };
    assert!(error.to_string().contains("is no file of flakeforge (it is empty)"), "{error}");
    fs::remove_dir_all(temp.path().join("1")).unwrap();
    let Err(SlotError::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms, "the group made anew starts above what this member made");
}

/// Makes IDs up to 5 s ahead of the clock; the Unix ms of the last.
fn run_ahead(held: &HeldSlot) -> i64 {
    let mut made = vec![0; 4096 * 5000];
    let (count, _) = generator(held.cursor(), &ENDLESS).fill(&mut made, |id| id);
    (made[count - 1] >> 22) as i64
}

#[test]
fn the_number_of_a_removed_slot_is_not_given_again() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 2);
    let held = take(&folder);
    let last_ms = run_ahead(&held);
    fs::remove_file(temp.path().join("1/0")).unwrap();
    assert_eq!(held.renew(), Ok(Renewal::Lost));
    drop(held);
    let other = open(temp.path(), 2); // as another process has it
    let held = take(&other);
    assert_eq!(held.slot(), 1, "the first one's IDs are ahead, and no file says how far");
    assert!(matches!(folder.acquire(7, "here"), Err(SlotError::Exhausted { .. })), "the other may be given back");
    drop(held.cursor());
    drop(held);

    fs::remove_file(temp.path().join("1/1")).unwrap();
    for folder in [&folder, &other] {
        let Err(SlotError::File(error)) = folder.acquire(7, "here") else { panic!("none is left") };
        assert!(error.to_string().contains("`npx flakeforge destroy`"), "{error}");
    }
    assert_eq!(list(temp.path()).unwrap().slots, [], "none was made");
    destroy(temp.path()).unwrap();
    let Err(SlotError::Exhausted { retry_at_ms }) = open(temp.path(), 2).acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms, "the next group starts above them: {retry_at_ms}, and {last_ms}");
}

#[test]
fn a_removed_group_is_made_anew_above_what_is_known_of_it() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("group");
    let folder = open(&path, 4);
    let (held, other) = (take(&folder), take(&folder));
    let (_cursor, last_ms) = (other.cursor(), run_ahead(&held));
    fs::remove_dir_all(&path).unwrap();
    assert_eq!((held.renew(), other.renew()), (Ok(Renewal::Lost), Ok(Renewal::Lost)));
    drop((held, other));
    let Err(SlotError::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms && retry_at_ms < last_ms + 10_000, "{retry_at_ms}, and {last_ms}");
    assert!(path.join("1/group").exists() && list(&path).unwrap().slots.is_empty(), "a group, and no slot too early");

    // Members of before and new ones are in one group.
    let joined = open(&path, 4);
    while now_ms() < retry_at_ms {
        thread::sleep(Duration::from_millis(20));
    }
    let (one, two) = (take(&folder), take(&joined));
    assert_eq!((one.slot(), two.slot()), (0, 1));
    assert!(generator(one.cursor(), &PLAIN).next_id().unwrap() >> 22 > last_ms as u64);
    assert!(matches!(one.renew(), Ok(Renewal::Window { .. })), "it stays");
    destroy(&path).unwrap();
    assert_eq!((one.renew(), two.renew()), (Ok(Renewal::Destroyed), Ok(Renewal::Destroyed)));
}

#[test]
fn a_member_of_a_removed_group_starts_above_it_in_one_that_others_made() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held = take(&folder);
    let last_ms = run_ahead(&held);
    fs::remove_dir_all(temp.path().join("1")).unwrap();
    drop(take(&open(temp.path(), 4)).cursor()); // knows nothing of it, and makes slot 0
    drop(held);
    let Err(SlotError::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms, "{retry_at_ms}, and {last_ms}");
}

#[test]
fn a_destroyed_group_ends_for_every_member_and_the_next_starts_above_it() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 2);
    let held = take(&folder);
    let mut ids = generator(held.cursor(), &ENDLESS);
    let mut made = vec![0; 1000];
    ids.fill(&mut made, |id| id);
    destroy(temp.path()).unwrap();
    let hi_ms = held.hi_ms();
    // A member that has not heard of it goes on up to its mark, and not further.
    let mut rest = vec![0; 4096 * 10_000];
    let (count, stopped) = ids.fill(&mut rest, |id| id);
    assert_eq!(stopped, Some(Refusal::WindowEnd));
    assert_eq!(rest[count - 1] >> 22, hi_ms as u64, "all of its window");
    assert_eq!(held.renew(), Ok(Renewal::Destroyed));
    assert_eq!(folder.acquire(7, "here").unwrap_err(), SlotError::Destroyed);
    assert_eq!(list(temp.path()).unwrap().slots, []);

    // Also of another configuration.
    let next = open(temp.path(), 5);
    assert_eq!(next.acquire(7, "here").unwrap_err(), SlotError::Exhausted { retry_at_ms: hi_ms + 1 });
    assert_eq!(held.renew(), Ok(Renewal::Destroyed));
    while now_ms() <= hi_ms {
        thread::sleep(Duration::from_millis(50));
    }
    let member = take(&next);
    assert!(generator(member.cursor(), &PLAIN).next_id().unwrap() >> 22 > hi_ms as u64);
    assert!(matches!(member.renew(), Ok(Renewal::Window { .. })));
}

#[test]
fn no_number_of_a_destroyed_group_is_above_the_next_ones_floor() {
    for _ in 0..20 {
        let temp = tempfile::tempdir().unwrap();
        let folder = open(temp.path(), 1);
        let held = take(&folder);
        let mut ids = generator(held.cursor(), &ENDLESS);
        let member = thread::spawn(move || {
            let (mut block, mut last) = (vec![0; 4096 * 100], 0);
            loop {
                let (made, stopped) = ids.fill(&mut block, |id| id);
                last = if made > 0 { block[made - 1] >> 22 } else { last };
                if stopped.is_some() {
                    return last as i64;
                }
            }
        });
        thread::sleep(Duration::from_millis(5)); // the mark is raised some times
        destroy(temp.path()).unwrap();
        let next = open(temp.path(), 1);
        let Err(SlotError::Exhausted { retry_at_ms }) = next.acquire(7, "x") else { panic!("it ran ahead") };
        let last_ms = member.join().unwrap();
        assert!(last_ms < retry_at_ms, "an ID of {last_ms}, and the next group starts at {retry_at_ms}");
    }
}

#[test]
fn the_list_shows_who_holds_what_and_disturbs_nobody() {
    let temp = tempfile::tempdir().unwrap();
    let path = group_folder(temp.path(), "my group/ü");
    assert_eq!(list(&path).unwrap().slots, []);
    let folder = open(&path, 8);
    let held = folder.acquire(u128::MAX - 5, &"ö".repeat(200)).unwrap();
    let mut ids = generator(held.cursor(), &PLAIN);
    let id = ids.next_id().unwrap();
    take(&folder).release(0);
    let [first, second] = &list(&path).unwrap().slots[..] else { panic!("two slots") };
    let Some(Holder { owner, pid, host, since_ms }) = &first.holder else { panic!("{first:?}") };
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
        drop(held.cursor()); // not released by name, as when a process ends
    }
    for _ in 0..200 {
        drop(take(&folder).cursor());
    }
    assert_eq!(list(temp.path()).unwrap().slots.len(), 20, "slots are used again before new ones are made");
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
    thread::sleep(Duration::from_millis(600)); // the keeper may be looking at one
    assert_eq!(held(), (0, 0));
    assert_eq!(list(temp.path()).unwrap().slots.len(), 1);
}

#[test]
fn milliseconds_are_rounded_inwards() {
    const MS: i128 = 1_000_000;
    for name in ["flake", "sonyflake", "chronicle", "chronicle-micros", "discord"] {
        let layout = Layout::named(name).unwrap();
        let numbers = Numbers { scale: layout.scale, counter_bits: layout.packing.counter_bits() };
        let start_of = |number: u64| layout.scale.start_of(numbers.tick(number));
        let now = numbers.first_of(numbers.now());
        for number in [0, 1, now, now + 1, now + 12_345, now + 9_999_999] {
            let (first, last) = (i128::from(numbers.first_ms(number)), i128::from(numbers.last_ms(number)));
            assert!(first * MS >= start_of(number), "{name}: {number} is not after the start of {first}");
            assert!(
                (first - 1) * MS < start_of(number) + i128::from(layout.scale.tick_ns),
                "{name}: {first} is the first"
            );
            let end = (last + 1) * MS; // of the last millisecond
            assert!(end <= start_of(number + 1), "{name}: {number} covers all of {last}");
            assert!(end + MS > start_of(number + 1), "{name}: {last} is the last");
            let next = numbers.after_ms(numbers.first_ms(number));
            assert!(start_of(next) >= (first + 1) * MS, "{name}: {next} is after {first}");
            assert!(next == 0 || start_of(next - 1) < (first + 1) * MS, "{name}: {next} is the first after {first}");
            let (end, holds) = (start_of(number) + i128::from(layout.scale.tick_ns) - 1, numbers.end_ms(number));
            assert_eq!(end.div_euclid(MS), i128::from(holds), "{name}: the tick of {number} ends in {holds}");
        }
    }
}

#[test]
fn names_become_file_names_and_back() {
    let names = ["a", "a.b", ".a", "..", "a/b", "a%2fb", "ü", "A-Z_09", " ", "a b", "%", "%%"];
    let files: HashSet<_> = names.iter().map(|name| file_name(name)).collect();
    assert_eq!(files.len(), names.len());
    for name in names {
        let file = file_name(name);
        assert!(!file.starts_with('.') && !file.contains('/'), "{file}");
        assert_eq!(name_of(&file), name);
    }
    let long = "x".repeat(400);
    assert_eq!(name_of(&file_name(&long)), long, "never cut");
    let refused = SlotFolder::open(group_folder(tempfile::tempdir().unwrap().path(), &long), config(1)).unwrap_err();
    assert!(refused.to_string().contains("too long"), "{refused}");
}

#[test]
fn counters_count() {
    let temp = tempfile::tempdir().unwrap();
    let store = temp.path();
    let gone = advance(store, "orders/1", 10, None).unwrap_err();
    assert!(gone.to_string().contains("is gone") && gone.to_string().contains("skipTo(n)"), "{gone}");
    assert_eq!(advance(store, "orders/1", 10, Some(5)), Ok(5));
    assert_eq!(advance(store, "orders/1", 10, None), Ok(15));
    assert_eq!(advance(store, "orders/1", 10, Some(5)), Ok(25), "init is for a new one");
    assert_eq!(advance(store, "orders/1", 0, Some(1000)), Ok(1000), "or to skip ahead");
    assert_eq!(advance(store, "orders/1", 0, Some(7)), Ok(1000), "never back");
    assert_eq!(advance(store, "orders/2", 1, Some(0)), Ok(0));
    let full = advance(store, "orders/1", u64::MAX, None).unwrap_err();
    assert!(full.to_string().contains("has reached 1000"), "{full}");
    assert_eq!(advance(store, "orders/1", 1, None), Ok(1000), "nothing was taken");
    fs::remove_file(flakeforge_core::names::counter_file(store, "orders/1")).unwrap();
    assert!(advance(store, "orders/1", 1, None).is_err());
    assert_eq!(groups(store).unwrap(), [], "counters are no groups");
}

#[test]
fn processes_never_get_one_block_twice() {
    const EACH: usize = 400;
    if let Some(store) = part() {
        let block = || advance(Path::new(&store), "c", 3, Some(0)).unwrap();
        return send(std::iter::once((0..EACH).map(|_| block()).collect()));
    }
    let temp = tempfile::tempdir().unwrap();
    let start = || process("processes_never_get_one_block_twice", temp.path().to_str().unwrap()).spawn().unwrap();
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    let blocks: Vec<_> = children.into_iter().map(receive).collect();
    assert_eq!(duplicates(&blocks), 0);
    assert_eq!(blocks.iter().map(Vec::len).sum::<usize>(), 4 * EACH);
    assert_eq!(advance(temp.path(), "c", 0, None), Ok(4 * EACH as u64 * 3), "and none is lost");
}
