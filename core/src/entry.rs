//! Entering a file: what everyone does who opens it, before he takes a number.
//!
//! After a crash of the machine the page on the disk may be older than the last number taken, but none was above its mark.
//! So whoever enters moves `next` past the mark: he *skips*. He need not where it is proven that the file was entered in
//! this boot of the machine: from then on the page in memory has every number taken, until the machine crashes.
//!
//! There are two proofs:
//! - This boot's ID (boot.rs) in the page. It is written only by one who has entered, and no other boot has it. One that is
//!   half written, or half of one and half of another, is that of no boot.
//! - An answer (presence.rs), for those who know no ID of this boot or find another one. It comes from one who has entered
//!   and is alive, hence in this boot.
//!
//! So all who enter without a skip follow somebody in the same boot who skipped, or found the file new. All else costs time
//! only: a skip is safe whoever does it, when and how often, since `next` only grows. That is why no lock is taken here.
//! Several may enter at once and in any order; and one who is stopped or killed in the middle has promised nothing and holds
//! nobody up. Version 0.1 skips where it does not find its boot's ID and writes that afterwards; it asks and answers
//! nothing, and leaves these words alone. Beside it there are more skips, not fewer.
//!
//! A skip takes up to 5 s from all users of the file, so it must not add up. It does not where nothing is taken after it,
//! since a mark is raised only for a number that the clock allows ([`Generator`](crate::generator::Generator)). Where the
//! mark is not ahead of the clock it takes nothing from anybody, and nobody is asked.
//!
//! This file must never take anything else for a proof: not the time of the last boot, which a clock without a battery has
//! at each boot; not a lock, which one who is about to enter and dies has held, too; nor how many are said to be there.

use std::io;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::thread;
use std::time::{Duration, Instant};

use crate::numbers::Numbers;
use crate::presence::Presence;
use crate::shared::Mapped;

/// How long to wait for an answer, which takes no longer than the keeper's pause where the machine is not too busy.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Goes on past the mark, unless it is proven that the file was entered in this boot; `None` where that has no ID.
pub(crate) fn enter(page: &Mapped, boot: Option<u128>, numbers: &Numbers) -> io::Result<()> {
    let boot = boot.map(|boot| [boot as u64, (boot >> 64) as u64]);
    let written = page.boot();
    if boot.is_some_and(|boot| boot == written.each_ref().map(|word| word.load(Acquire))) {
        return Ok(());
    }
    let mark = page.mark().written();
    let is_ahead = mark >= numbers.first_of(numbers.now());
    if mark > 0 && !(is_ahead && is_in_use(page.presence())) {
        page.mark().start_past(page.cursor(), || page.sync())?;
    }
    for (word, boot) in written.iter().zip(boot.into_iter().flatten()) {
        word.store(boot, Release); // after `next`: who finds this boot's ID finds it moved
    }
    Ok(())
}

/// Whether somebody who has entered, and is alive, answers.
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
