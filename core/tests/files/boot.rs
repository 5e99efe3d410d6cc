//! Boot IDs that are kept in memory: all processes of a user have the same one, and a crash certainly erases it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use flakeforge_core::files::boot::named_in;
use flakeforge_core::files::filesystem::{OnFileSystem, TMPFS};

fn in_memory() -> tempfile::TempDir {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    assert_eq!(folder.path().kind(), Some(TMPFS));
    folder
}

/// The only file in a folder.
fn file_in(folder: &Path) -> PathBuf {
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn a_boot_keeps_its_name() {
    let (one, other) = (in_memory(), in_memory());
    let name = named_in(one.path()).expect("memory forgets");
    assert_eq!(named_in(one.path()), Some(name));
    assert_ne!(named_in(other.path()), Some(name), "another crash");
    assert_eq!(fs::metadata(file_in(one.path())).unwrap().permissions().mode() & 0o777, 0o600);
    let racing = in_memory();
    let names: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| named_in(racing.path()))).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
}

#[test]
fn what_others_may_have_put_there_is_no_name() {
    let replaced = |act: &dyn Fn(&Path)| {
        let folder = in_memory();
        named_in(folder.path()).unwrap();
        act(&file_in(folder.path()));
        named_in(folder.path())
    };
    let chmod = |path: &Path| fs::set_permissions(path, Permissions::from_mode(0o606)).unwrap();
    assert_eq!(replaced(&chmod), None);
    assert_eq!(replaced(&|path| fs::write(path, "").unwrap()), None, "its maker was killed");
    assert_eq!(replaced(&|path| fs::write(path, [0; 16]).unwrap()), None);
    let link = |path: &Path| {
        fs::rename(path, path.with_extension("old")).unwrap();
        symlink(path.with_extension("old"), path).unwrap();
    };
    assert_eq!(replaced(&link), None);
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    assert_eq!(replaced(&pipe), None);
    let by_another_user =
        |path: &Path| std::os::unix::fs::chown(path, Some(65_534), None).unwrap_or_else(|_| chmod(path));
    assert_eq!(replaced(&by_another_user), None);
}

#[test]
fn a_disk_forgets_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert_ne!(folder.path().kind(), Some(TMPFS), "the target folder is on a disk");
    assert_eq!(named_in(folder.path()), None);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(named_in(&folder.path().join("nowhere")), None);
}
