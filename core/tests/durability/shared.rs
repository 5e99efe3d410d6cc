//! Cursors in files after a crash.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flakeforge_core::files::machine::{self, Machine};
use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::clock::TickClock;
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::refusal::Refusal;

use crate::disk::{Crash, Disk, Member};
use crate::support::{ENDLESS, NODE, fingerprint, flake, generator, succeeds};

/// Two numbers per tick, so that a few thousand reach the mark.
const SPARSE: Knobs = Knobs { seq_mask: 1, ..ENDLESS };

const FILE: &str = "a/b/ids";

/// The boot after the crash.
const REBOOTED: Option<u128> = Some(9);

fn open(root: &Path, boot: Option<u128>) -> Result<Arc<SharedCursor>, Refusal> {
    let machine = Machine { boot, ..*machine::this() };
    SharedCursor::open_on(&machine, &root.join(FILE), flake().scale(), 12, &fingerprint())
}

/// Generates IDs past several marks, and reports each before the next.
fn make(member: &Member, shared: Arc<SharedCursor>) -> Result<(), Refusal> {
    let mut ids = generator(shared, &SPARSE);
    for _ in 0..200 {
        let mut block = [0; 100];
        let (made, stopped) = ids.fill(&mut block, |id| id);
        if made > 0 {
            member.tell(format!("id {}", block[made - 1]));
        }
        if let Some(stopped) = stopped {
            return Err(stopped);
        }
    }
    Ok(())
}

/// Removes the number of processes that could answer, so that the next one does not wait for an answer.
fn forget_users(path: &Path) {
    if let Ok(file) = OpenOptions::new().write(true).open(path) {
        file.write_all_at(&[0; 8], 1552).unwrap();
    }
}

/// Opens the file after a crash, in another boot, with a clock set back to the start.
fn check(crash: &Crash) {
    let temp = crash.restore();
    forget_users(&temp.path().join(FILE));
    let Some(last) = crash.numbers("id").max() else {
        open(temp.path(), REBOOTED).unwrap();
        return;
    };
    let first = crash.numbers("id").next().unwrap();
    let layout = flake();
    let mut clock = TickClock::given(layout.scale());
    clock.set(layout.scale().start_of(first >> 22));
    let shared = open(temp.path(), REBOOTED).unwrap();
    let mut ids = Generator::new(clock, shared, &layout, layout.place_node(NODE), &SPARSE);
    let id = ids.next_id().unwrap();
    assert!(id > last, "{id} after {last}, which was generated before the machine crashed");
}

#[test]
fn a_crash_repeats_no_number() {
    if let Some(member) = Member::this() {
        let shared = open(&member.root, Some(1)).unwrap();
        // One of two threads may take numbers while the other waits for the disk.
        return thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| make(&member, shared.clone()).unwrap());
            }
        });
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("shared::a_crash_repeats_no_number"));
    let crashes = disk.crashes();
    assert!(crashes.iter().filter(|crash| !crash.told.is_empty()).count() > 8, "in front of some marks");
    crashes.iter().for_each(check);
}

#[test]
fn a_crash_after_a_crash_repeats_no_number() {
    if let Some(member) = Member::this() {
        for boot in [Some(1), Some(2)] {
            make(&member, open(&member.root, boot).unwrap()).unwrap();
        }
        return;
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("shared::a_crash_after_a_crash_repeats_no_number"));
    disk.crashes().iter().for_each(check);
}

#[test]
fn a_sync_that_fails_ends_the_cursor() {
    const TEST: &str = "shared::a_sync_that_fails_ends_the_cursor";
    if let Some(member) = Member::this() {
        let told = |error: Refusal| assert!(error.to_string().contains("Input/output error"), "{error}");
        for boot in [Some(1), None] {
            let shared = match open(&member.root, boot) {
                Ok(shared) => shared,
                Err(error) => {
                    told(error);
                    continue;
                }
            };
            let mut other = generator(shared.clone(), &SPARSE);
            if make(&member, shared.clone()) == Err(Refusal::Failed) {
                told(shared.fault().unwrap());
                for _ in 0..3 {
                    assert_eq!(other.next_id(), Err(Refusal::Failed), "nor do others of this process continue");
                    shared.raise().unwrap_err();
                    thread::sleep(Duration::from_millis(100)); // the watcher checks the files meanwhile
                }
            }
        }
        return;
    }
    for nth in 1.. {
        let Some(disk) = Disk::new() else { return };
        succeeds(disk.process(TEST).env("DISK_FAILS", nth.to_string()));
        disk.crashes().iter().for_each(check);
        if !disk.failed() {
            return assert!(nth > 6, "those of a new file and of its marks");
        }
    }
}

#[test]
fn a_file_that_another_process_is_making_survives_a_crash() {
    const TEST: &str = "shared::a_file_that_another_process_is_making_survives_a_crash";
    if let Some(member) = Member::this() {
        return make(&member, open(&member.root, Some(1)).unwrap()).unwrap();
    }
    for nth in 1.. {
        let Some(disk) = Disk::new() else { return };
        let mut first = disk.process(TEST).env("DISK_STOPS", nth.to_string()).spawn().unwrap();
        if !stops(&mut first) {
            return assert!(nth > 6, "before each sync of a new file and of its marks");
        }
        succeeds(&mut disk.process(TEST));
        disk.crashes().iter().for_each(check);
        first.kill().unwrap();
        first.wait().unwrap();
    }
}

/// Waits until a process stops itself; `false` if it ends.
fn stops(process: &mut std::process::Child) -> bool {
    let status = format!("/proc/{}/status", process.id());
    while process.try_wait().unwrap().is_none() {
        if std::fs::read_to_string(&status).unwrap_or_default().contains("State:\tT") {
            return true;
        }
        thread::sleep(Duration::from_millis(1));
    }
    false
}
