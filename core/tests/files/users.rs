//! Several users in one folder: what is created there belongs to their group, as far as the folder does.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;

use crate::support::slots::{self, take};
use crate::support::{PLAIN, generator, open, part, process};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

/// The modes of a file, a folder and a file in it, created in a folder of this mode.
fn made_in(folder_mode: u32) -> [u32; 3] {
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), Permissions::from_mode(folder_mode)).unwrap();
    open(&temp.path().join("ids")).unwrap();
    open(&temp.path().join("new/ids")).unwrap();
    ["ids", "new", "new/ids"].map(|name| mode(&temp.path().join(name)))
}

#[test]
fn new_files_belong_to_the_folders_group_if_the_folder_does() {
    assert_eq!(made_in(0o700), [0o600, 0o755, 0o600]);
    assert_eq!(made_in(0o750), [0o600, 0o755, 0o600]);
    assert_eq!(made_in(0o770), [0o660, 0o775, 0o660]);
    assert_eq!(made_in(0o2770), [0o660, 0o2775, 0o660]);
    assert_eq!(made_in(0o777), [0o600, 0o755, 0o600], "not where everyone is");
    assert_eq!(made_in(0o1777), [0o600, 0o755, 0o600], "not where each user owns their files");
}

const GROUP: u32 = 60_123;

#[test]
fn users_of_a_group_share_a_folder() {
    if let Some(folder) = part() {
        let folder = Path::new(&folder);
        generator(open(&folder.join("ids")).unwrap(), &PLAIN).next_id().unwrap();
        take(&slots::open(&folder.join("group"), 4)).renew().unwrap();
        println!("both work");
        return;
    }
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return; // the test above shows the modes
    }
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), Permissions::from_mode(0o755)).unwrap();
    let folder = temp.path().join("shared");
    fs::create_dir(&folder).unwrap();
    chown(&folder, None, Some(GROUP)).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o2770)).unwrap();
    for user in [60_001, 60_002] {
        let mut member = process("users::users_of_a_group_share_a_folder", folder.to_str().unwrap());
        let output = member.uid(user).gid(GROUP).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("both work"), "user {user}: {told}");
    }
    let mut stranger = process("users::users_of_a_group_share_a_folder", folder.to_str().unwrap());
    assert!(!stranger.uid(60_003).gid(60_003).output().unwrap().status.success());
}
