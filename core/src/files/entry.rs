//! Entering a file: what everyone who opens it does before taking a number.
//!
//! After a crash of the machine, the page on the disk may be older than the last number taken, but no number was above
//! its mark. So a process that enters moves `next` past the mark: it *skips*. It need not skip if it is proven that the
//! file was already entered in this boot of the machine. From then on, the page in memory has every number that was
//! taken, until the machine crashes.
//!
//! There are two proofs:
//! - The ID of this boot (boot.rs) in the page. Only a process that has entered writes it, and no other boot has the
//!   same ID. An ID that is half written, or half of one and half of another, belongs to no boot.
//! - An answer (presence.rs), if this boot has no known ID or the page has another one. The answer comes from a process
//!   that has entered and is alive, so it entered in this boot.
//!
//! So everyone who enters without a skip follows somebody in the same boot who skipped, or who found the file new.
//! Anything else only costs time: a skip is safe whoever does it, at any time and any number of times, because `next`
//! only grows. That is why there is no lock here. Several processes may enter at once and in any order. One that is
//! stopped or killed in the middle has promised nothing and blocks nobody.
//!
//! A skip takes up to 5 s from all users of the file, so skips must not add up. They do not if no number is taken after
//! them, because a mark is raised only for a number that the clock allows ([`Generator`](crate::generator::Generator)).
//! If the mark is not ahead of the clock, a skip takes nothing from anybody, and nobody is asked.
//!
//! This file must never accept anything else as a proof. Not the time of the last boot: a clock without a battery shows
//! the same one at each boot. Not a lock: a process that is about to enter and then dies has held it, too. And not the
//! number of users that the page claims.

use std::io;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

use crate::files::file_format::CursorWords;
use crate::files::mapped::Mapped;
use crate::files::presence::Presence;
use crate::generator::numbers::Numbers;

/// How long to wait for an answer. It takes no longer than the watcher's pause, unless the machine is very busy.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Moves past the mark, unless it is proven that the file was entered in this boot. `boot` is `None` if it has no ID.
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
        word.store(boot, Release); // after `next`: whoever finds this boot's ID also finds `next` moved
    }
    Ok(())
}

/// Whether a process that has entered, and is alive, answers.
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
