//! How groups of slots survive the loss of their files, and how they end.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::support::slots::{config, now_ms, open, run_ahead, take};
use crate::support::{ENDLESS, PLAIN, blamed, generator};
use flakeforge_core::files::group::destroy;
use flakeforge_core::files::listing::list;
use flakeforge_core::files::slots::{HeldSlot, Renewal, SlotFolder};
use flakeforge_core::refusal::Refusal;

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
        let Err(error @ Refusal::File { .. }) = folder.acquire(7, "here") else { panic!("refused") };
        assert!(error.to_string().contains(wanted) && blamed(&error) == path.to_str().unwrap(), "{error}");
    };
    refused("checksum");
    assert!(fs::read(&path).unwrap() == bytes);
    fs::write(&path, "").unwrap();
    refused("is not a flakeforge file (it is empty). It is damaged");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    refused("is a folder");
    fs::remove_dir(&path).unwrap();
    fs::copy(temp.path().join("1/group"), &path).unwrap();
    refused("is the file of a group of slots, not of a slot");
}

#[test]
fn another_folder_needs_other_node_numbers() {
    let temp = tempfile::tempdir().unwrap();
    drop(take(&open(temp.path(), 1)));
    let path = temp.path().join("1/group");
    let mut bytes = fs::read(&path).unwrap();
    bytes[16..20].copy_from_slice(&2_u32.to_ne_bytes());
    fs::write(&path, &bytes).unwrap();
    let error = SlotFolder::open(temp.path(), config(1)).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "use another folder, and other node numbers there: another nodeOffset, or another value of a node field"
        ),
        "{error}"
    );
}

#[test]
fn an_unusable_slot_does_not_block_the_others() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held: Vec<_> = (0..3).map(|_| take(&folder)).collect();
    held.into_iter().for_each(|held| drop(held.cursor()));
    let path = temp.path().join("1/1");
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(10).unwrap();
    let all: Vec<_> = (0..3).map(|_| take(&folder)).collect();
    assert_eq!(all.iter().map(HeldSlot::slot).collect::<HashSet<_>>(), HashSet::from([0, 2, 3]));
    let list = list(temp.path()).unwrap();
    assert_eq!(list.slots.iter().map(|slot| slot.slot).collect::<Vec<_>>(), [0, 2, 3]);
    let [fault] = &list.faults[..] else { panic!("{:?}", list.faults) };
    assert_eq!(blamed(fault), path.to_str().unwrap());
    assert!(matches!(folder.acquire(7, "here"), Err(Refusal::Exhausted { .. })), "the others may be given back");

    // It is unknown how far its IDs went, so there is no next life until an operator confirms the loss by removing it.
    destroy(temp.path()).unwrap();
    let error = SlotFolder::open(temp.path(), config(4)).unwrap_err().to_string();
    assert!(error.contains("Remove it once no process uses it"), "{error}");
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
fn an_idle_holder_survives_a_slot_truncated_to_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 2);
    let (held, other) = (take(&folder), take(&folder));
    let cursor = held.cursor();
    let mut ids = generator(cursor.clone(), &PLAIN);
    ids.next_id().unwrap();
    cut(&temp.path().join("1/0"));
    cut(&temp.path().join("1/1")); // its holder does not use the cursor in it
    while cursor.fault().is_none() {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ids.next_id(), Err(Refusal::Failed));
    assert_eq!((held.renew(), other.renew()), (Ok(Renewal::Lost), Ok(Renewal::Lost)));
    assert!(held.hi_ms() < now_ms() && ids.ahead_ms() < 6000.0, "nothing that is asked later reads the page");
    held.release(now_ms());
    drop(other);
    assert!(matches!(folder.acquire(7, "here"), Err(Refusal::File { .. })), "both are damaged");
}

#[test]
fn members_survive_a_group_whose_file_is_truncated_to_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held = take(&folder);
    let last_ms = run_ahead(&held);
    cut(&temp.path().join("1/group"));
    assert_eq!(held.renew(), Ok(Renewal::Lost));
    drop(held);
    let Err(error @ Refusal::File { .. }) = folder.acquire(7, "here") else { panic!("a damaged group") };
    assert!(error.to_string().contains("is not a flakeforge file (it is empty)"), "{error}");
    fs::remove_dir_all(temp.path().join("1")).unwrap();
    let Err(Refusal::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms, "the recreated group starts above the IDs of this member");
}

#[test]
fn a_group_restored_after_truncation_is_opened_again() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let (held, path) = (take(&folder), temp.path().join("1/group"));
    let copy = fs::read(&path).unwrap();
    cut(&path);
    assert_eq!(held.renew(), Ok(Renewal::Lost));
    fs::write(&path, copy).unwrap();
    // The stand-in page is not the group. The group is reopened above the possible IDs of this member.
    assert!(matches!(folder.acquire(7, "here"), Err(Refusal::Exhausted { .. })));
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
    let other = open(temp.path(), 2); // as opened by another process
    let held = take(&other);
    assert_eq!(held.slot(), 1, "the first one's IDs are ahead, and no file says how far");
    assert!(matches!(folder.acquire(7, "here"), Err(Refusal::Exhausted { .. })), "the other may be given back");
    drop(held.cursor());
    drop(held);

    fs::remove_file(temp.path().join("1/1")).unwrap();
    for folder in [&folder, &other] {
        let Err(error @ Refusal::File { .. }) = folder.acquire(7, "here") else { panic!("a slot is left") };
        assert!(error.to_string().contains("`npx flakeforge destroy`"), "{error}");
    }
    assert_eq!(list(temp.path()).unwrap().slots, [], "no slot was created");
    destroy(temp.path()).unwrap();
    let Err(Refusal::Exhausted { retry_at_ms }) = open(temp.path(), 2).acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms, "the next group starts above them: {retry_at_ms}, and {last_ms}");
}

#[test]
fn a_removed_group_is_recreated_above_what_is_known_about_it() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("group");
    let folder = open(&path, 4);
    let (held, other) = (take(&folder), take(&folder));
    let (_cursor, last_ms) = (other.cursor(), run_ahead(&held));
    fs::remove_dir_all(&path).unwrap();
    assert_eq!((held.renew(), other.renew()), (Ok(Renewal::Lost), Ok(Renewal::Lost)));
    drop((held, other));
    let Err(Refusal::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms && retry_at_ms < last_ms + 10_000, "{retry_at_ms}, and {last_ms}");
    assert!(path.join("1/group").exists() && list(&path).unwrap().slots.is_empty(), "a group, and no slot too early");

    // Old and new members are in the same group.
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
fn a_member_of_a_removed_group_starts_above_it_in_the_recreated_one() {
    let temp = tempfile::tempdir().unwrap();
    let folder = open(temp.path(), 4);
    let held = take(&folder);
    let last_ms = run_ahead(&held);
    fs::remove_dir_all(temp.path().join("1")).unwrap();
    drop(take(&open(temp.path(), 4)).cursor()); // does not know about the other one, and creates slot 0
    drop(held);
    let Err(Refusal::Exhausted { retry_at_ms }) = folder.acquire(7, "here") else { panic!("ahead") };
    assert!(retry_at_ms > last_ms, "{retry_at_ms}, and {last_ms}");
    while now_ms() < retry_at_ms {
        thread::sleep(Duration::from_millis(20));
    }
    assert!(take(&folder).cursor().cursor().next() >> 12 > last_ms as u64, "whatever the clock does from here on");
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
    // A member continues until it has noticed the end, or up to its mark, and no further.
    let mut rest = vec![0; 4096 * 10_000];
    let (count, stopped) = ids.fill(&mut rest, |id| id);
    assert!(matches!(stopped, Some(Refusal::WindowEnd | Refusal::Failed)), "{stopped:?}");
    assert!(rest[..count].last().is_none_or(|last| last >> 22 <= hi_ms as u64), "beyond its window");
    assert_eq!(held.renew(), Ok(Renewal::Destroyed));
    assert_eq!(folder.acquire(7, "here").unwrap_err(), Refusal::Destroyed);
    assert_eq!(list(temp.path()).unwrap().slots, []);

    // This also works with another configuration.
    let next = open(temp.path(), 5);
    assert_eq!(next.acquire(7, "here").unwrap_err(), Refusal::Exhausted { retry_at_ms: hi_ms + 1 });
    assert_eq!(held.renew(), Ok(Renewal::Destroyed));
    while now_ms() <= hi_ms {
        thread::sleep(Duration::from_millis(50));
    }
    let member = take(&next);
    assert!(generator(member.cursor(), &PLAIN).next_id().unwrap() >> 22 > hi_ms as u64);
    assert!(matches!(member.renew(), Ok(Renewal::Window { .. })));
}

#[test]
fn a_group_has_one_life_after_the_other() {
    let temp = tempfile::tempdir().unwrap();
    for life in 1..4 {
        let folder = open(temp.path(), 2);
        let lives = fs::read_dir(temp.path()).unwrap().count();
        assert_eq!((lives, temp.path().join(format!("{life}/group")).exists()), (life, true));
        destroy(temp.path()).unwrap();
        assert_eq!(folder.acquire(7, "here").unwrap_err(), Refusal::Destroyed);
    }
    destroy(temp.path()).unwrap();
    assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 3, "one that has ended is not ended again");
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
        thread::sleep(Duration::from_millis(5)); // the mark is raised a few times
        destroy(temp.path()).unwrap();
        let next = open(temp.path(), 1);
        let Err(Refusal::Exhausted { retry_at_ms }) = next.acquire(7, "x") else { panic!("it ran ahead") };
        let last_ms = member.join().unwrap();
        assert!(last_ms < retry_at_ms, "an ID of {last_ms}, and the next group starts at {retry_at_ms}");
    }
}

#[test]
fn when_many_open_a_group_at_once_one_creates_it() {
    let temp = tempfile::tempdir().unwrap();
    let makers = || -> usize {
        thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(|| open(temp.path(), 4).is_new())).collect();
            all.into_iter().filter_map(|one| one.join().unwrap().then_some(())).count()
        })
    };
    assert_eq!((makers(), makers()), (1, 0));
    destroy(temp.path()).unwrap();
    assert_eq!((makers(), makers()), (1, 0), "the one after it is another");
}
