//! Entering a file: what every process does before it takes numbers from it. A process may skip numbers at any time and any
//! number of times, so entering needs no lock; only a file that was provably entered during this boot of the machine is
//! entered without a skip.

use std::io;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

use crate::files::file_format::CursorWords;
use crate::files::mapped::Mapped;
use crate::files::presence::Presence;
use crate::generator::numbers::Numbers;

/// How long to wait for an answer. It takes at most one pause of the watcher, unless the machine is very busy.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Moves past the mark, unless the file was provably entered during this boot. `boot` is `None` if the boot has no ID.
///
/// After a machine crash, the page on the disk may be older than the last number taken, but no number exceeds its mark. So a
/// process that enters moves `next` past the mark: it *skips*. It need not skip if the file was provably entered during the
/// current boot: from then on, the page in memory has every number taken, until the machine crashes.
///
/// There are two proofs, and no others:
/// - The ID of the current boot (boot.rs) is in the page. Only a process that has entered writes it, and no other boot has
///   the same ID. An ID that is half written, or mixed from two, belongs to no boot.
/// - A process answers (presence.rs), if the boot has no known ID or the page has another one. It has entered and is alive,
///   so it entered during the current boot.
///
/// So a process that enters without a skip follows one of the same boot that skipped or found the file new. Everything else
/// only costs time, because `next` only grows. Several processes may enter at once and in any order, and one that is killed
/// in between has promised nothing and blocks no other.
///
/// A skip takes up to 5 s from all users of the file, so skips should not add up. They do not if no number is taken after
/// them, because a mark is raised only for a number that the clock allows ([`Generator`](crate::generator::Generator)). If
/// the mark is not ahead of the clock, a skip costs nothing, and no process is asked.
///
/// These prove nothing: the boot time (a clock without a battery always shows the same), a lock (a process that dies before
/// it has entered holds it, too), and the number of users in the page.
pub(crate) fn enter(page: &Mapped<CursorWords>, boot: Option<u128>, numbers: &Numbers) -> io::Result<()> {
    let boot = boot.map(|boot| [boot as u64, (boot >> 64) as u64]);
    let written = &page.page().boot;
    if boot.is_some_and(|boot| boot == written.each_ref().map(|word| word.load(Acquire))) {
        return Ok(());
    }
    let mark = page.page().mark.written();
    let is_ahead = mark >= numbers.first_of(numbers.now());
    if mark > 0 && !(is_ahead && is_in_use(&page.page().presence)) {
        page.page().mark.start_past(&page.page().words.cursor, || page.sync())?;
    }
    for (word, boot) in written.iter().zip(boot.into_iter().flatten()) {
        word.store(boot, Release); // after `next`: a process that finds the ID of this boot also finds `next` moved
    }
    Ok(())
}

/// Whether a live process that has entered answers.
fn is_in_use(presence: &Presence) -> bool {
    let Some(question) = presence.ask() else { return false };
    let until = Instant::now() + PATIENCE;
    while !presence.is_answered(question) {
        if Instant::now() > until {
            presence.forget_users();
            return false;
        }
        thread::sleep(PAUSE);
    }
    true
}
