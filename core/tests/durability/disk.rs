//! What a disk is certain to have. A process runs with `disk.c` preloaded, which writes a journal. From the journal, the test
//! restores every state in which a machine crash may have left the disk.
//!
//! This is the harshest disk that POSIX allows. It only holds what a sync brought there, and a name only once its folder was
//! synced. Of later writes, any sectors may be there too, each of them whole.

use std::collections::HashMap;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use tempfile::TempDir;

use crate::support::{part, process};

const SECTOR: usize = 512;
const JOURNAL: &str = "DISK_JOURNAL";

/// The library to preload, compiled once; `None` if there is no compiler.
static LIBRARY: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/durability/disk.c");
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk.so");
    let made = library.with_extension(std::process::id().to_string());
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&made).arg(source);
    match cc.status() {
        Ok(status) => assert!(status.success(), "disk.c does not compile"),
        Err(error) => return missing(&format!("there is no C compiler (cc: {error})")),
    }
    fs::rename(&made, &library).unwrap();
    Some(library)
});

/// Reports skipped tests in a way that is hard to overlook.
#[expect(clippy::explicit_write)] // eprintln! is shown only if a test fails
fn missing(what: &str) -> Option<PathBuf> {
    assert!(env::var("FLAKEFORGE_REQUIRE_SERVERS").is_err(), "{what}");
    writeln!(std::io::stderr(), "SKIPPED: tests of durability: {what}").unwrap();
    None
}

/// An empty disk, and a journal of what is written to it.
pub struct Disk {
    temp: TempDir,
}

impl Disk {
    /// `None` if its tests cannot run.
    pub fn new() -> Option<Self> {
        LIBRARY.as_ref()?;
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("disk")).unwrap();
        fs::create_dir(temp.path().join("journal")).unwrap();
        Some(Self { temp })
    }

    pub fn root(&self) -> PathBuf {
        self.temp.path().join("disk")
    }

    /// This program as a process that runs one test on this disk. It calls `Member::this`.
    pub fn process(&self, test: &str) -> Command {
        let mut command = process(test, self.root().to_str().unwrap());
        command.env("LD_PRELOAD", LIBRARY.as_ref().unwrap()).env(JOURNAL, self.temp.path().join("journal"));
        command
    }

    /// Every state in which a crash may have left the disk, each with what was reported by then.
    pub fn crashes(&self) -> Vec<Crash> {
        let root = fs::metadata(self.root()).unwrap().ino();
        let mut now = Crash { root, files: HashMap::new(), folders: HashMap::new(), told: vec![] };
        let mut crashes = vec![now.clone()];
        for (what, inode, bytes) in self.journal() {
            let inode_of = || inode.parse().unwrap();
            match what.as_str() {
                "told" => now.told.push(inode),
                "folder" => {
                    crashes.push(now.clone());
                    now.folders.insert(inode_of(), entries(&bytes));
                }
                "file" => {
                    crashes.extend(now.torn(inode_of(), &bytes));
                    now.files.insert(inode_of(), bytes);
                }
                "failed" if !now.folders.contains_key(&inode_of()) => crashes.extend(now.torn(inode_of(), &bytes)),
                _ => {}
            }
        }
        let mut all_there = now.clone();
        for (inode, bytes) in files_in(&self.root()) {
            crashes.extend(now.torn(inode, &bytes));
            all_there.files.insert(inode, bytes);
        }
        crashes.extend([now, all_there]);
        crashes
    }

    /// The lines of the journal, each with its bytes.
    fn journal(&self) -> Vec<(String, String, Vec<u8>)> {
        let folder = self.temp.path().join("journal");
        let text = fs::read_to_string(folder.join("journal")).unwrap_or_default();
        let line = |line: &str| {
            let (what, rest) = line.split_once(' ').unwrap();
            if what == "told" {
                return (what.to_owned(), rest.to_owned(), vec![]);
            }
            let (inode, name) = rest.split_once(' ').unwrap();
            (what.to_owned(), inode.to_owned(), fs::read(folder.join(name)).unwrap())
        };
        text.lines().map(line).collect()
    }

    /// How many syncs there were between one report and the next.
    pub fn syncs(&self) -> Vec<usize> {
        let journal = self.journal();
        let reports = journal.split(|(what, ..)| what == "told").map(<[_]>::len);
        reports.collect()
    }

    /// Whether a sync was made to fail.
    pub fn failed(&self) -> bool {
        self.journal().iter().any(|(what, ..)| what == "failed")
    }
}

/// A process that will crash with its machine. Its reports are recorded before anything else can happen.
pub struct Member {
    journal: File,
    pub root: PathBuf,
}

impl Member {
    /// This process, if it runs on such a disk.
    pub fn this() -> Option<Self> {
        let root = part()?.into();
        let journal = Path::new(&env::var(JOURNAL).unwrap()).join("journal");
        Some(Self { journal: OpenOptions::new().create(true).append(true).open(journal).unwrap(), root })
    }

    pub fn tell(&self, what: impl std::fmt::Display) {
        (&self.journal).write_all(format!("told {what}\n").as_bytes()).unwrap();
    }
}

/// A disk after a crash.
#[derive(Clone)]
pub struct Crash {
    root: u64,
    files: HashMap<u64, Vec<u8>>,
    folders: HashMap<u64, Vec<Entry>>,
    pub told: Vec<String>,
}

#[derive(Clone)]
struct Entry {
    inode: u64,
    is_folder: bool,
    name: String,
}

impl Crash {
    /// The disk as it is after the crash.
    pub fn restore(&self) -> TempDir {
        let temp = tempfile::tempdir().unwrap();
        self.restore_folder(self.root, temp.path());
        temp
    }

    fn restore_folder(&self, inode: u64, to: &Path) {
        for Entry { inode, is_folder, name } in self.folders.get(&inode).into_iter().flatten() {
            let to = to.join(name);
            if *is_folder {
                fs::create_dir(&to).unwrap();
                self.restore_folder(*inode, &to);
            } else {
                fs::write(to, self.files.get(inode).map_or(&[][..], Vec::as_slice)).unwrap();
            }
        }
    }

    /// The numbers that were reported under this word.
    pub fn numbers(&self, word: &str) -> impl Iterator<Item = u64> {
        self.told.iter().filter_map(move |told| told.strip_prefix(word)?.strip_prefix(' ')?.parse().ok())
    }

    /// The same disk during a write to one file: of the sectors that differ, any may have arrived.
    fn torn(&self, inode: u64, later: &[u8]) -> Vec<Self> {
        let mut before = self.files.get(&inode).cloned().unwrap_or_default();
        before.resize(later.len(), 0);
        let at = |sector: usize| sector * SECTOR..((sector + 1) * SECTOR).min(later.len());
        let differ: Vec<_> =
            (0..later.len().div_ceil(SECTOR)).filter(|&sector| before[at(sector)] != later[at(sector)]).collect();
        let with = |arrived: u32| {
            let mut bytes = before.clone();
            for (_, &sector) in differ.iter().enumerate().filter(|(i, _)| arrived >> i & 1 == 1) {
                bytes[at(sector)].copy_from_slice(&later[at(sector)]);
            }
            let mut crash = self.clone();
            crash.files.insert(inode, bytes);
            crash
        };
        (0..1 << differ.len()).map(with).collect()
    }
}

fn entries(listing: &[u8]) -> Vec<Entry> {
    let entry = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let inode = parts.next()?.parse().ok()?;
        Some(Entry { inode, is_folder: parts.next()? == "folder", name: parts.next()?.to_owned() })
    };
    std::str::from_utf8(listing).unwrap().lines().map(|line| entry(line).unwrap()).collect()
}

/// All files in a folder and its subfolders, by inode.
fn files_in(folder: &Path) -> Vec<(u64, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of = |path: PathBuf| {
        if path.is_dir() {
            files_in(&path)
        } else {
            vec![(fs::metadata(&path).unwrap().ino(), fs::read(&path).unwrap())]
        }
    };
    entries.flat_map(of).collect()
}
