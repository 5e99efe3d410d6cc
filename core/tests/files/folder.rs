//! Folders and files that someone else can put other things in the place of.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use flakeforge_core::files::counters;
use flakeforge_core::files::group::destroy;
use flakeforge_core::files::listing::{groups, list};
use flakeforge_core::files::slots::SlotFolder;
use flakeforge_core::refusal::Refusal;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::umask;

use crate::support::slots::{self, config, take};
use crate::support::{PLAIN, blamed, generator, open, part, process, wait_until};

/// Users without a name.
const STRANGER: u32 = 60_011;
const GROUP: u32 = 60_124;

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn give(path: &Path, user: u32, group: u32, mode: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(group)).unwrap();
    if !path.is_symlink() {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }
}

/// A folder that every user may pass through.
fn place() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
    temp
}

/// A folder of this mode in it.
fn folder_in(temp: &tempfile::TempDir, name: &str, user: u32, group: u32, mode: u32) -> PathBuf {
    let path = temp.path().join(name);
    fs::create_dir(&path).unwrap();
    give(&path, user, group, mode);
    path
}

/// Uses everything that a folder can have: a shared file, a group and a counter, with missing folders.
fn use_all(folder: &Path) -> Result<(), Refusal> {
    generator(open(&folder.join("ids"))?, &PLAIN).next_id()?;
    generator(open(&folder.join("a/b/ids"))?, &PLAIN).next_id()?;
    SlotFolder::open(folder.join("group"), config(4))?.acquire(7, "here")?.renew()?;
    counters::advance(folder, "counter", 5, Some(7))?;
    list(&folder.join("group"))?;
    Ok(())
}

/// Everything in a folder with its mode, sorted by path.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push((path.display().to_string(), mode(&path)));
        if path.is_dir() {
            found.extend(modes(&path));
        }
    }
    found.sort();
    found
}

/// Sets the flag when it is dropped, also by a panic, so that a thread that waits for it ends.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Exchanges two names again and again while `act` runs.
fn while_exchanged(one: &Path, other: &Path, act: impl FnOnce()) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
            }
        });
        let _done = Done(&done);
        act();
    });
}

#[test]
fn a_link_in_the_place_of_a_new_folder_gives_nothing_away() {
    if !is_root() {
        return; // no other user could be attacked
    }
    let temp = place();
    let shared = folder_in(&temp, "shared", 0, GROUP, 0o2770);
    for round in 0..400 {
        let target = temp.path().join(format!("target{round}"));
        let is_folder = round % 2 == 0;
        if is_folder {
            fs::create_dir(&target).unwrap();
        } else {
            fs::write(&target, "root only").unwrap();
        }
        give(&target, 0, 0, if is_folder { 0o700 } else { 0o600 });
        let (evil, victim) = (shared.join(format!("evil{round}")), shared.join(format!("group{round}")));
        symlink(&target, &evil).unwrap();
        give(&evil, STRANGER, GROUP, 0);
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                // Once, as soon as there is something to exchange.
                while renameat_with(CWD, &evil, CWD, &victim, RenameFlags::EXCHANGE).is_err() && !done.load(Relaxed) {}
            });
            let _ = SlotFolder::open(&victim, config(4));
            done.store(true, Relaxed);
        });
        let found = fs::metadata(&target).unwrap();
        assert_eq!((found.gid(), found.mode() & 0o7777), (0, if is_folder { 0o700 } else { 0o600 }), "round {round}");
        assert!(!is_folder || fs::read_dir(&target).unwrap().count() == 0, "round {round}");
    }
}

#[test]
fn a_private_folder_in_the_place_of_a_new_one_stays_private() {
    if !is_root() {
        return;
    }
    let temp = place();
    let shared = folder_in(&temp, "shared", 0, GROUP, 0o2770);
    for round in 0..400 {
        let (private, victim) = (shared.join(format!("private{round}")), shared.join(format!("group{round}")));
        fs::create_dir(&private).unwrap();
        give(&private, 0, 0, 0o700);
        fs::write(private.join("secret"), "root only").unwrap();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while renameat_with(CWD, &private, CWD, &victim, RenameFlags::EXCHANGE).is_err() && !done.load(Relaxed)
                {
                }
            });
            let _ = SlotFolder::open(&victim, config(4));
            done.store(true, Relaxed);
        });
        let secret = [&private, &victim].into_iter().find(|path| path.join("secret").exists()).unwrap();
        let found = fs::metadata(secret).unwrap();
        assert_eq!((found.gid(), found.mode() & 0o7777), (0, 0o700), "round {round}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_folder_or_file_makes_nobody_wait() {
    if let Some(folder) = part() {
        let (folder, started) = (PathBuf::from(folder), Instant::now());
        while started.elapsed() < Duration::from_secs(3) {
            for file in ["ids", "state/group/1/group"] {
                let _ = open(&folder.join(file));
            }
            let _ = SlotFolder::open(folder.join("state/group"), config(4)).and_then(|group| group.acquire(7, "here"));
            let _ = counters::advance(&folder.join("state"), "counter", 1, Some(0));
            let _ = (
                groups(&folder.join("state")),
                list(&folder.join("state/group")),
                destroy(&folder.join("state/group")),
            );
        }
        println!("no wait");
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let at = |name: &str| temp.path().join(name);
    use_all(&at("state")).unwrap();
    open(&at("ids")).unwrap();
    for pipe in ["pipe", "pipe2"] {
        assert!(Command::new("mkfifo").arg(at(pipe)).status().unwrap().success());
    }
    let victim = || {
        let test = "folder::a_pipe_in_the_place_of_a_folder_or_file_makes_nobody_wait";
        let mut victim = process(test, temp.path().to_str().unwrap()).stderr(Stdio::null()).spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while victim.try_wait().unwrap().is_none() {
            if Instant::now() > until {
                victim.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(20));
        }
        let output = victim.wait_with_output().unwrap();
        assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("no wait"), "{output:?}");
    };
    while_exchanged(&at("state"), &at("pipe"), victim);
    while_exchanged(&at("ids"), &at("pipe2"), victim);
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    if let Some(given) = part() {
        let (mask, folder) = given.split_once(' ').unwrap();
        umask(rustix::fs::Mode::from_raw_mode(u32::from_str_radix(mask, 8).unwrap()));
        return use_all(Path::new(folder)).unwrap();
    }
    let made_under = |mask: &str, above: u32| {
        let temp = tempfile::tempdir().unwrap();
        fs::set_permissions(temp.path(), Permissions::from_mode(above)).unwrap();
        let given = format!("{mask} {}", temp.path().join("new/folder").display());
        assert!(process("folder::modes_do_not_depend_on_the_umask", &given).status().unwrap().success());
        let all = modes(temp.path());
        assert!(all.len() >= 12, "{all:?}");
        all.into_iter().map(|(path, mode)| (Path::new(&path).is_dir(), mode)).collect::<std::collections::HashSet<_>>()
    };
    for mask in ["000", "002", "022", "077"] {
        assert_eq!(made_under(mask, 0o755), [(true, 0o755), (false, 0o600)].into(), "umask {mask}");
        assert_eq!(made_under(mask, 0o770), [(true, 0o775), (false, 0o660)].into(), "umask {mask}");
    }
}

/// What a user gets who uses everything in a folder: nothing wrong, or an error.
fn used_by(user: u32, groups: u32, folder: &Path) -> String {
    let mut member = process("folder::user", folder.to_str().unwrap());
    let output = member.uid(user).gid(groups).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn user() {
    let Some(folder) = part() else { return };
    match use_all(Path::new(&folder)) {
        Ok(()) => println!("all works"),
        Err(refusal) => println!("refused: {refusal}"),
    }
}

#[test]
fn nothing_is_made_in_a_folder_of_another_user() {
    if !is_root() {
        return;
    }
    let temp = place();
    for (name, mode) in [("theirs", 0o755), ("open", 0o777), ("sticky", 0o1777)] {
        let theirs = folder_in(&temp, name, STRANGER, STRANGER, mode);
        for path in [theirs.join("ids"), theirs.join("new/folder/ids")] {
            let refusal = open(&path).unwrap_err();
            assert_eq!(blamed(&refusal), theirs.to_str().unwrap());
            let told = refusal.to_string();
            assert!(told.contains("belongs to user 60011, and this process runs as user 0"), "{told}");
            assert!(
                told.contains("as user 60011 (a container with `--user 60011`), or let all processes use a folder that belongs to root"),
                "{told}"
            );
        }
        let refused = [
            SlotFolder::open(theirs.join("group"), config(4)).unwrap_err(),
            counters::advance(&theirs, "counter", 1, Some(0)).unwrap_err(),
        ];
        assert!(refused.iter().all(|refusal| blamed(refusal) == theirs.to_str().unwrap()), "{refused:?}");
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 0);
        // The owner may use it.
        assert!(used_by(STRANGER, STRANGER, &theirs).contains("all works"));
        // What the owner made there is not used by others either, but may be listed.
        assert_eq!(blamed(&open(&theirs.join("ids")).unwrap_err()), theirs.join("ids").to_str().unwrap());
        assert!(SlotFolder::open(theirs.join("group"), config(4)).is_err());
        assert_eq!(list(&theirs.join("group")).unwrap().slots.len(), 1);
        assert_eq!(groups(&theirs).unwrap().len(), 1);
        destroy(&theirs.join("group")).unwrap(); // root may end their group
        assert_eq!(groups(&theirs).unwrap(), []);
    }
}

#[test]
fn a_file_that_another_user_put_in_a_sticky_folder_is_not_used() {
    if !is_root() {
        return;
    }
    let temp = place();
    let sticky = folder_in(&temp, "sticky", 0, 0, 0o1777);
    assert!(used_by(STRANGER, STRANGER, &sticky).contains("all works"));
    let planted = sticky.join("ids");
    let refusal = open(&planted).unwrap_err();
    assert_eq!(blamed(&refusal), planted.to_str().unwrap());
    let told = refusal.to_string();
    assert!(
        told.contains("belongs to user 60011") && told.ends_with("Let all processes that use it run as one user"),
        "{told}"
    );
    assert!(SlotFolder::open(sticky.join("group"), config(4)).is_err());
    assert!(counters::advance(&sticky, "counter", 1, None).is_err());
    // Nor by a user who has the right to write to it.
    fs::set_permissions(&planted, Permissions::from_mode(0o666)).unwrap();
    let told = used_by(60_012, 60_012, &sticky);
    assert!(told.contains("refused") && told.contains("belongs to user 60011"), "{told}");
    // Its own works, and so does root's.
    let own = sticky.join("own");
    generator(open(&own).unwrap(), &PLAIN).next_id().unwrap();
}

#[test]
fn what_a_stranger_makes_with_the_group_of_a_folder_is_not_used() {
    if !is_root() {
        return;
    }
    for (mode, deep) in [(0o2777, ""), (0o3777, ""), (0o2777, "app/deep")] {
        let temp = place();
        let open_to_all = folder_in(&temp, "open", 0, GROUP, mode);
        let folder = open_to_all.join(deep);
        assert!(used_by(STRANGER, STRANGER, &folder).contains("all works"));
        // As what the stranger makes by other means: all of it has the group of the folder, and that group has all rights.
        for (path, _) in modes(&open_to_all) {
            let path = Path::new(&path);
            give(path, STRANGER, GROUP, if path.is_dir() { 0o2770 } else { 0o660 });
        }
        for user in [0, 60_012] {
            let told = used_by(user, GROUP, &folder);
            assert!(told.contains("refused") && told.contains("belongs to user 60011"), "{mode:o} {user}: {told}");
        }
        for path in [folder.join("ids"), folder.join("group")] {
            if path.is_dir() {
                assert!(SlotFolder::open(path.clone(), config(4)).is_err(), "{mode:o} {}", path.display());
            } else {
                assert!(open(&path).is_err(), "{mode:o} {}", path.display());
            }
        }
    }
}

#[test]
fn the_members_of_a_group_share_what_each_of_them_makes() {
    if !is_root() {
        return;
    }
    let temp = place();
    // Root's folder, and one that belongs to a member: each member uses what the others made, and so does root.
    for (name, owner) in [("roots", 0), ("members", 60_012)] {
        let shared = folder_in(&temp, name, owner, GROUP, 0o2770);
        for user in [60_012, 60_013, 60_014] {
            let told = used_by(user, GROUP, &shared);
            assert!(told.contains("all works"), "{name}, {user}: {told}");
        }
        let told = used_by(STRANGER, STRANGER, &shared);
        assert!(told.contains("refused"), "{told}");
        // Root shares its own folder with the group; it is no member of the group of another's.
        assert_eq!(use_all(&shared).is_ok(), owner == 0, "{name}");
        for (path, mode) in modes(&shared) {
            assert_eq!(fs::metadata(&path).unwrap().gid(), GROUP, "{path}");
            assert_eq!(mode & 0o7007, if Path::new(&path).is_dir() { 0o2005 } else { 0 }, "{path}");
        }
    }
}

#[test]
fn links_are_followed_if_their_owner_is_trusted() {
    let temp = place();
    let at = |name: &str| temp.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    symlink("folder", at("relative")).unwrap();
    symlink(at("relative"), at("absolute")).unwrap();
    let real = open(&at("folder/ids")).unwrap();
    symlink("absolute/ids", at("file")).unwrap();
    for path in ["relative/ids", "absolute/ids", "absolute/../folder/ids", "file"] {
        assert!(std::sync::Arc::ptr_eq(&real, &open(&at(path)).unwrap()), "{path}");
    }
    use_all(&at("absolute/new")).unwrap();
    assert!(at("folder/new/a/b/ids").exists());
    // Errors show the path that was named, not what it leads to.
    symlink("/dev/null", at("device")).unwrap();
    assert_eq!(blamed(&open(&at("device")).unwrap_err()), at("device").to_str().unwrap());
    // Nothing is made where a link leads to, only below a folder that is there.
    symlink("folder/missing", at("dangling")).unwrap();
    for path in ["dangling/ids", "dangling/new/ids"] {
        let refusal = open(&at(path)).unwrap_err();
        assert!(refusal.to_string().contains("which does not exist. Remove the link"), "{refusal}");
        assert_eq!(blamed(&refusal), at("dangling").to_str().unwrap());
    }
    assert!(!at("folder/missing").exists());
    if !is_root() {
        return;
    }
    for link in ["relative", "file"] {
        give(&at(link), STRANGER, STRANGER, 0);
    }
    for (path, link) in
        [("relative/ids", "relative"), ("relative/new/ids", "relative"), ("absolute/ids", "relative"), ("file", "file")]
    {
        let refusal = open(&at(path)).unwrap_err();
        assert!(refusal.to_string().contains("is a symbolic link that belongs to user 60011"), "{refusal}");
        assert!(blamed(&refusal).ends_with(link), "{refusal}");
    }
    assert!(SlotFolder::open(at("relative/group"), config(4)).is_err());
    assert!(!at("folder/group").exists());
}

#[test]
fn what_flakeforge_makes_is_never_a_link() {
    let temp = tempfile::tempdir().unwrap();
    let folder = slots::open(temp.path(), 1);
    drop(take(&folder));
    let slot = temp.path().join("1/0");
    fs::rename(&slot, temp.path().join("moved")).unwrap();
    symlink("../moved", &slot).unwrap();
    let error = folder.acquire(7, "here").map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("is not a regular file"), "{error}");
    assert_eq!(blamed(&error), slot.to_str().unwrap());
}

#[test]
fn a_folder_that_a_killed_process_has_not_finished_is_finished() {
    let temp = tempfile::tempdir().unwrap();
    for (above, finished) in [(0o755, 0o755), (0o770, 0o775)] {
        fs::set_permissions(temp.path(), Permissions::from_mode(above)).unwrap();
        let folder_of = |name: &str, mode: u32| {
            let path = temp.path().join(format!("{name}{above}"));
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        let [new, private, used] =
            [("new", 0o1700), ("private", 0o700), ("used", 0o1700)].map(|(name, mode)| folder_of(name, mode));
        fs::write(used.join("something"), "").unwrap();
        for folder in [&new, &private, &used] {
            open(&folder.join("ids")).unwrap();
        }
        assert_eq!([&new, &private, &used].map(|path| mode(path)), [finished, 0o700, 0o1700]);
    }
}

#[test]
fn a_sandbox_in_which_root_has_no_number() {
    if !is_root() {
        return;
    }
    let temp = place();
    let sticky = folder_in(&temp, "sticky", 0, 0, 0o1777);
    symlink(&sticky, temp.path().join("link")).unwrap();
    let inner = process("folder::user", temp.path().join("link").to_str().unwrap());
    let mut sandbox = Command::new("unshare");
    sandbox.args(["--user", "--map-root-user"]).arg(inner.get_program()).args(inner.get_args());
    sandbox.envs(inner.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = sandbox.uid(60_012).gid(60_012).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    if told.is_empty() && !output.status.success() {
        eprintln!("!!! SKIPPED: a user namespace cannot be made here");
        return;
    }
    assert!(told.contains("all works"), "{told}");
}

/// Overwrites a part of a file in place.
fn overwrite(path: &Path, from: usize, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    fs::OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, from as u64).unwrap();
}

#[test]
fn a_file_that_was_overwritten_is_a_failed_one() {
    // The whole page, its header, its words, a word.
    for (from, len, byte) in [
        (0, 4096, 0xff),
        (0, 4096, 0),
        (0, 512, 0xff),
        (100, 1, 0x55),
        (2048, 64, 0xff),
        (2048, 8, 0xff),
        (2056, 8, 0xff),
    ] {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("ids");
        let shared = open(&path).unwrap();
        let mut one = generator(shared.clone(), &PLAIN);
        one.next_id().unwrap();
        overwrite(&path, from, &vec![byte; len]);
        let mut last = one.next_id();
        wait_until("it is noticed", || {
            last = one.next_id();
            last.is_err() && !matches!(last, Err(Refusal::Overflow { .. }))
        });
        assert_eq!(last, Err(Refusal::Failed), "{from} {len} {byte}");
        assert_eq!(blamed(&shared.fault().unwrap()), path.to_str().unwrap());
        assert!(shared.next() <= shared.highest() + 1, "what it says is not believed: {from} {len} {byte}");
        drop((one, shared));
        assert!(matches!(open(&path), Err(Refusal::File { .. })), "{from} {len} {byte}");
    }
}

#[test]
fn a_group_that_was_overwritten_is_not_destroyed() {
    let temp = tempfile::tempdir().unwrap();
    let folder = slots::open(temp.path(), 4);
    let held = take(&folder);
    overwrite(&temp.path().join("1/group"), 0, &[0xff; 4096]);
    assert_eq!(held.renew().unwrap(), flakeforge_core::files::slots::Renewal::Lost);
    let error = folder.acquire(7, "here").map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("is not a flakeforge file"), "{error}");
    assert_eq!(blamed(&error), temp.path().join("1/group").to_str().unwrap());
}
