//! Pages that the system cannot provide: a file that is truncated during use, and a full disk on copy-on-write file systems.
//! By default, the system would end the process with SIGBUS.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{ENDLESS, generator, open, part, process, wait_until};
use flakeforge_core::refusal::Refusal;

/// Generates IDs until there are no more, and returns why.
fn generate_to_the_end(path: &Path) -> String {
    let shared = open(path).unwrap();
    let mut ids = generator(shared.clone(), &ENDLESS);
    ids.next_id().unwrap();
    println!("made one");
    std::io::stdin().read_line(&mut String::new()).unwrap(); // the parent decides when to continue
    let refusal = loop {
        if let Err(refusal) = ids.next_id() {
            break refusal;
        }
    };
    assert_eq!(refusal, Refusal::Failed);
    assert_eq!(ids.next_id(), Err(Refusal::Failed), "and stays so");
    assert!(shared.raise().is_err());
    shared.fault().unwrap().to_string()
}

/// Another process that does this, once it has generated one ID. It waits for a signal to continue.
fn maker(test: &str, path: &Path) -> (Child, impl Iterator<Item = String> + use<>) {
    let mut child = process(test, path.to_str().unwrap()).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("made one")), "it starts");
    (child, lines)
}

/// Lets it continue, and returns why it ended.
fn why((mut child, lines): (Child, impl Iterator<Item = String>)) -> String {
    go_on(&mut child);
    let told: Vec<_> = lines.collect();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}: {told:?}");
    told.into_iter().find(|line| line.starts_with("ended: ")).unwrap()
}

fn go_on(child: &mut Child) {
    child.stdin.take().into_iter().for_each(|mut stdin| stdin.write_all(b"\n").unwrap());
}

/// In the other process: generates IDs, and reports why they ended.
fn is_maker() -> bool {
    let Some(path) = part() else { return false };
    println!("ended: {}", generate_to_the_end(Path::new(&path)));
    true
}

#[test]
fn truncating_a_file_during_generation_ends_no_process() {
    if is_maker() {
        return;
    }
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("ids");
    let test = "lost_page::truncating_a_file_during_generation_ends_no_process";
    let mut makers = [maker(test, &path), maker(test, &path)];
    makers.iter_mut().for_each(|(child, _)| go_on(child));
    OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
    for why in makers.map(why) {
        assert!(why.contains("truncated"), "{why}");
    }
}

#[test]
fn a_signal_that_is_about_something_else_ends_the_process_as_before() {
    let test = "lost_page::a_signal_that_is_about_something_else_ends_the_process_as_before";
    if let Some(path) = part() {
        let _open = open(Path::new(&path)).unwrap();
        println!("made one");
        std::thread::park();
    }
    let temp = tempfile::tempdir().unwrap();
    let (mut child, _lines) = maker(test, &temp.path().join("ids"));
    // Rust's own handler gives up the first time.
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-BUS", &child.id().to_string()]).status().unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGBUS));
}

/// A small file system in a file, for the lifetime of this value.
struct FileSystem {
    temp: tempfile::TempDir,
}

fn as_root(command: &str) -> bool {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let sudo: &[&str] = if is_root { &[] } else { &["sudo", "-n"] };
    let words = sudo.iter().copied().chain(["sh", "-c", command]).collect::<Vec<_>>();
    Command::new(words[0])
        .args(&words[1..])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
}

impl FileSystem {
    /// `None` if it cannot be created here.
    #[expect(clippy::explicit_write)] // eprintln! is shown only if a test fails
    fn make(program: &str, megabytes: u32) -> Option<Self> {
        let temp = tempfile::tempdir().unwrap();
        let (image, root) = (temp.path().join("image"), temp.path().join("root"));
        fs::create_dir(&root).unwrap();
        let (image, root) = (image.display(), root.display());
        let made = as_root(&format!(
            "PATH=$PATH:/usr/sbin:/sbin; truncate -s {megabytes}M {image} && {program} {image} && mount -o loop {image} {root} && \
             chmod 777 {root}"
        ));
        if !made {
            let what = format!("{program} or mount does not work here: install it, and be root");
            assert!(std::env::var("FLAKEFORGE_REQUIRE_SERVERS").is_err(), "{what}");
            writeln!(std::io::stderr(), "!!! SKIPPED: a full disk: {what}").unwrap();
        }
        made.then_some(Self { temp })
    }

    fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    /// Leaves no space at all.
    fn fill(&self) {
        for (i, size) in ["1M", "4k", "4k"].iter().enumerate() {
            let file = self.root().join(format!("fill{i}"));
            as_root(&format!("dd if=/dev/zero of={} bs={size}; sync -f {}", file.display(), file.display()));
        }
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        assert!(as_root(&format!("umount {}", self.root().display())));
    }
}

/// What happens to generators on a full file system.
fn assert_full(system: Option<FileSystem>, test: &str, before: impl FnOnce(&Path)) {
    let Some(system) = system else { return };
    let path = system.root().join("ids");
    let maker = maker(test, &path);
    before(&path);
    system.fill();
    let why = why(maker);
    assert!(why.contains("its disk is full") || why.contains("cannot be synced"), "{why}");
    fs::remove_file(system.root().join("fill0")).unwrap();
    wait_until("once there is space again, the file continues", || {
        open(&path).is_ok_and(|shared| generator(shared, &ENDLESS).next_id().is_ok())
    });
}

#[test]
fn a_full_btrfs_is_an_error() {
    if !is_maker() {
        assert_full(FileSystem::make("mkfs.btrfs -q", 120), "lost_page::a_full_btrfs_is_an_error", |_| {});
    }
}

#[test]
fn a_full_xfs_is_an_error_where_a_copy_shares_the_files_blocks() {
    if !is_maker() {
        let test = "lost_page::a_full_xfs_is_an_error_where_a_copy_shares_the_files_blocks";
        assert_full(FileSystem::make("mkfs.xfs -q", 320), test, |path| {
            let (from, to) = (path.display(), path.with_extension("copy"));
            assert!(as_root(&format!("cp --reflink=always {from} {}", to.display())));
        });
    }
}
