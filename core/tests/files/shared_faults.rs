//! Unusable files: each is refused with its path, what is wrong and what to do, and stays unchanged.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::support::{PLAIN, blamed, fingerprint, flake, generator, open, part, process, without_room, words};
use flakeforge_core::files::machine::{self, Machine};
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::refusal::Refusal;

/// A file that has given an ID.
fn used(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("ids");
    generator(open(&path).unwrap(), &PLAIN).next_id().unwrap();
    path
}

#[track_caller]
fn assert_refused(path: &Path, wanted: &str) {
    let error = open(path).expect_err("refused");
    assert!(error.to_string().contains(wanted), "{error}");
    assert!(path.starts_with(blamed(&error)), "{error} is about the file, or a folder above it");
}

/// The reason for refusing a file that `damage` has changed.
#[track_caller]
fn assert_damage(wanted: &str, damage: impl FnOnce(&mut Vec<u8>)) {
    let folder = tempfile::tempdir().unwrap();
    let path = used(folder.path());
    let mut bytes = fs::read(&path).unwrap();
    damage(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    assert_refused(&path, wanted);
    assert!(fs::read(&path).unwrap() == bytes, "the file is as it was");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "and nothing is next to it");
}

const HUGE: [u8; 8] = (0x7f_u64 << 56).to_ne_bytes();

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    bytes[at..at + N].copy_from_slice(&value);
}

#[test]
fn damage() {
    assert_damage("is not a flakeforge file (it is empty)", Vec::clear);
    assert_damage("is not a flakeforge file. Use another path", |bytes| *bytes = b"my diary\n".repeat(1000));
    assert_damage("is not a flakeforge file", |bytes| bytes[0] ^= 1);
    assert_damage("has 4095 bytes instead of 4096", |bytes| bytes.truncate(4095));
    assert_damage("has 100 bytes instead of 4096", |bytes| bytes.truncate(100));
    assert_damage("has 17 bytes instead of 4096", |bytes| bytes.truncate(17));
    assert_damage("has more bytes instead of 4096", |bytes| bytes.push(0));
    let newer = "has version 2 of the file format, which needs flakeforge 1.4 or newer, and this version of flakeforge writes \
                 version 1. Let all processes use the same version of flakeforge, or use another path and another node number";
    assert_damage(newer, |bytes| {
        put(bytes, 16, 2_u32.to_ne_bytes());
        put(bytes, 20, 0x0001_0004_u32.to_ne_bytes());
    });
    assert_damage("has version 0 of the file format, and", |bytes| put(bytes, 16, [0; 4]));
    for at in [20, 24, 33, 70, 1000, 1535] {
        assert_damage("has a wrong checksum in its header", |bytes| bytes[at] ^= 0x10);
    }
    assert_damage("contradicts itself (next ", |bytes| bytes[2560..2568].fill(0));
    assert_damage("contradicts itself (next ", |bytes| put(bytes, 2048, HUGE));
    assert_damage("contradicts itself (next ", |bytes| put(bytes, 2056, HUGE));
}

#[test]
fn the_byte_order_of_another_cpu() {
    // Everything is as such a CPU writes it, including the checksum.
    let theirs = if cfg!(target_endian = "big") { "(little-endian), and this" } else { "(big-endian), and this" };
    assert_damage(theirs, |bytes| {
        bytes[16..20].reverse();
        bytes[20..24].reverse();
        let checksum = bytes[..1536].iter().enumerate().fold(0xcbf2_9ce4_8422_2325_u64, |sum, (at, &byte)| {
            (sum ^ u64::from(if (24..32).contains(&at) { 0 } else { byte })).wrapping_mul(0x0100_0000_01b3)
        });
        put(bytes, 24, checksum.swap_bytes().to_ne_bytes());
        bytes[1536..].chunks_mut(8).for_each(<[u8]>::reverse);
    });
    assert_damage("They cannot share files, so use another path and another node number", |bytes| {
        bytes[16..20].reverse()
    });
}

#[test]
fn a_platform_without_shared_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids");
    let wasm = Machine { shares_files: false, ..*machine::this() };
    let error = SharedCursor::open_on(&wasm, &path, flake().scale(), 12, &fingerprint()).unwrap_err();
    assert_eq!(blamed(&error), path.to_str().unwrap());
    assert!(error.to_string().contains("processes cannot share files on this platform ("), "{error}");
    assert!(error.to_string().contains("`new FlakeId()` with a node number"), "{error}");
    assert!(!path.exists());
}

#[test]
fn another_use_shows_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = used(folder.path());
    let before = words(&path);
    let error = SharedCursor::open(&path, flake().scale(), 12, "epoch 5").unwrap_err();
    let (theirs, ours) = (fingerprint(), "epoch 5".to_owned());
    assert_eq!(error, Refusal::Mismatch { path: path.to_str().unwrap().to_owned(), theirs, ours });
    assert_eq!(words(&path), before);
    let error = SharedCursor::open(folder.path().join("x"), flake().scale(), 12, &"x".repeat(2000)).unwrap_err();
    assert!(error.to_string().contains("its options are too long"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn things_that_are_not_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    assert_refused(folder.path(), "is a folder. Use the path of a file");

    symlink(at("nowhere"), at("dangling")).unwrap();
    assert_refused(&at("dangling"), "which does not exist. Remove the link");
    assert!(!at("nowhere").exists());

    symlink(at("loop"), at("pool")).unwrap();
    symlink(at("pool"), at("loop")).unwrap();
    assert_refused(&at("loop"), "Too many levels of symbolic links");

    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    assert_refused(&at("fifo"), "is not a regular file. Use another path");
    assert_refused(Path::new("/dev/null"), "is not a regular file");
    std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    assert_refused(&at("socket"), "is not a regular file");

    fs::write(at("text"), "text").unwrap();
    assert_refused(&at("text/ids"), "A part of the path is a file, not a folder");
    assert_eq!(fs::read(at("text")).unwrap(), b"text");
    symlink(at("nowhere"), at("void")).unwrap();
    assert!(open(&at("void/ids")).unwrap_err().to_string().contains("is not a folder"));
    assert!(!at("nowhere").exists());
}

#[test]
fn a_file_system_that_may_be_shared() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = Machine { is_local: |_| false, ..*machine::this() };
    let open_there = |path: &Path| SharedCursor::open_on(&elsewhere, path, flake().scale(), 12, &fingerprint());
    let error = open_there(&folder.path().join("new/ids")).unwrap_err().to_string();
    assert!(error.contains("that may be a network file system"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was created");
    let path = used(folder.path());
    let before = fs::read(&path).unwrap();
    assert!(open_there(&path).unwrap_err().to_string().contains("For several machines, use join() with a server"));
    assert!(fs::read(&path).unwrap() == before);
    // And a real file system of another kind: no files can be kept in /proc.
    assert_refused(Path::new("/proc/version"), "(type 0x9fa0)");
}

/// Runs the test `test` as a user without root's permissions.
fn as_unprivileged_user(test: &str, part: &str) {
    let mut command = process(test, part);
    if fs::metadata("/proc/self").unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("refused as it should be"), "it got there");
}

#[test]
fn unwritable_files() {
    if let Some(path) = part() {
        assert_refused(Path::new(&path), "Give the user of this process read and write permission");
        println!("refused as it should be");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = used(folder.path());
    fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o555)).unwrap();
    let before = fs::read(&path).unwrap();
    for target in [&path, &folder.path().join("new"), &folder.path().join("new/ids")] {
        as_unprivileged_user("shared_faults::unwritable_files", target.to_str().unwrap());
    }
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_full_disk() {
    if let Some(path) = part() {
        assert_refused(Path::new(&path), "There is no space left");
        println!("refused as it should be");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let output = without_room(&process("shared_faults::a_full_disk", folder.path().join("ids").to_str().unwrap()))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("refused as it should be"), "{told}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}
