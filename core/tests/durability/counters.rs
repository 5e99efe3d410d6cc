//! Counters after a crash.

use flakeforge_core::files::counters::advance;

use crate::disk::{Crash, Disk, Member};
use crate::support::succeeds;

const BY: u64 = 3;

fn check(crash: &Crash) {
    let temp = crash.restore();
    let next = advance(temp.path(), "orders", BY, Some(0)).unwrap().first;
    let end = crash.numbers("end").max().unwrap_or(0);
    assert!(next >= end, "{next}, and {end} was the end of a block before the machine crashed");
}

#[test]
fn a_crash_repeats_no_block() {
    if let Some(member) = Member::this() {
        for _ in 0..5 {
            member.tell(format!("end {}", advance(&member.root, "orders", BY, Some(0)).unwrap().first + BY));
        }
        member.tell(format!("end {}", advance(&member.root, "orders", 0, Some(1000)).unwrap().first));
        return;
    }
    let Some(disk) = Disk::new() else { return };
    succeeds(&mut disk.process("counters::a_crash_repeats_no_block"));
    let crashes = disk.crashes();
    assert!(crashes.iter().any(|crash| crash.told.len() == 6));
    crashes.iter().for_each(check);
}

#[test]
fn a_block_whose_sync_fails_is_not_handed_out() {
    if let Some(member) = Member::this() {
        for _ in 0..5 {
            match advance(&member.root, "orders", BY, Some(0)) {
                Ok(block) => member.tell(format!("end {}", block.first + BY)),
                Err(error) => assert!(error.to_string().contains("Input/output error"), "{error}"),
            }
        }
        return;
    }
    for nth in 1.. {
        let Some(disk) = Disk::new() else { return };
        succeeds(
            disk.process("counters::a_block_whose_sync_fails_is_not_handed_out").env("DISK_FAILS", nth.to_string()),
        );
        let crashes = disk.crashes();
        crashes.iter().for_each(check);
        let blocks = crashes.last().unwrap().told.len();
        if !disk.failed() {
            return assert!(nth > 7 && blocks == 5, "those of a new file and of its blocks");
        }
        assert_eq!(blocks, 4, "the one whose sync failed is missing");
    }
}
