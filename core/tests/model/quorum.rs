//! One store out of several under the same suspicion: the real [`quorum`](flakeforge_core::lease::quorum), with one event for
//! each message. A message is slow, lost or carried out after it was given up; a store stops, or loses its data; clocks are apart.
//!
//! - `storm`: random schedules. A seed is a schedule, so a violation can be seen again.
//! - `search`: every order of events in small worlds.
//! - `directed`: stories that random schedules find too rarely.

mod directed;
mod history; // what clients saw and wrote, and what is wrong with that
mod holders; // members that hold slots, and windows that overlap
mod rng;
mod search;
mod store; // a database that may stop and lose its data
mod storm;

use std::ops::Range;
use std::time::{Duration, Instant};

use storm::{Losses, Report, Storm};

/// Runs random schedules until a violation, at most so many of them.
fn storms(name: &str, storm: Storm, seeds: Range<u64>) -> Report {
    storms_for(name, storm, seeds, Duration::MAX)
}

/// The same, and at most for this time.
fn storms_for(name: &str, storm: Storm, seeds: Range<u64>, most: Duration) -> Report {
    let (began, mut total) = (Instant::now(), Report::default());
    for seed in seeds {
        let report = storm.run(seed);
        total.add(&report);
        if let Some(wrong) = report.wrong {
            panic!("{name}, seed {seed}, after {} schedules: {wrong}", total.schedules);
        }
        if began.elapsed() > most {
            break;
        }
    }
    println!("{name}: {total}, {:.1?}", began.elapsed());
    total
}

/// Stores stop, and one at a time loses its data: the group never learns of it.
#[test]
fn a_minority_is_lost() {
    let report = storms("a minority", Storm::default(), 0..100);
    assert!(report.lost > 100 && report.filled > 60 && report.completed > 100, "{report}");
    assert_eq!(report.eras, report.schedules, "one era in each schedule");
}

#[test]
fn a_majority_is_lost() {
    let report = storms("a majority", Storm { losses: Losses::Majority, ..Storm::default() }, 0..80);
    assert!(report.eras > report.schedules, "{report}");
}

/// Two of five lose their data at a time.
#[test]
fn five_stores() {
    storms("five stores", Storm { stores: 5, ..Storm::default() }, 0..30);
    let report = storms("five stores, two lost", Storm { stores: 5, losses: Losses::Two, ..Storm::default() }, 0..30);
    assert!(report.filled > 20, "{report}");
    assert_eq!(report.eras, report.schedules, "one era in each schedule");
}

/// Clocks are apart by more than members allow: one store's, or one member's.
#[test]
fn clocks_that_are_wrong() {
    storms("wrong clocks", Storm { has_wrong_clocks: true, ..Storm::default() }, 0..60);
}

#[test]
fn holders_of_slots() {
    let members = Storm { are_members: true, ..Storm::default() };
    let report = storms("members", members, 0..40);
    assert!(report.granted > 100 && report.renewed > 100, "{report}");
    storms("members, a majority", Storm { losses: Losses::Majority, ..members }, 0..30);
}

/// Q9: stores are replaced, and three become five, while members with earlier lists go on and the replaced stores live.
#[test]
fn lists_that_change() {
    let changes = Storm { has_changes: true, ..Storm::default() };
    let report = storms("changes", changes, 0..150);
    assert!(report.changed > 40 && report.changed < report.asked, "{report}");
    storms("changes, five stores", Storm { stores: 5, ..changes }, 0..30);
    storms("changes, a majority", Storm { losses: Losses::Majority, ..changes }, 0..50);
    storms("changes, members", Storm { are_members: true, ..changes }, 0..30);
}

/// The long part; `STORMS` is the time in seconds for each of the settings, 60 unless given, and `SEED` the first seed.
#[test]
#[ignore = "takes long"]
fn more_of_everything() {
    let number = |name, usual| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let (seconds, seed) = (number("STORMS", 60), number("SEED", 1_000_000));
    let usual = Storm::default();
    let mut total = Report::default();
    for (name, storm) in [
        ("a minority", Storm { losses: Losses::Minority, ..usual }),
        ("a majority", Storm { losses: Losses::Majority, ..usual }),
        ("five stores, a minority", Storm { stores: 5, losses: Losses::Minority, ..usual }),
        ("five stores, two lost", Storm { stores: 5, losses: Losses::Two, ..usual }),
        ("five stores, a majority", Storm { stores: 5, losses: Losses::Majority, ..usual }),
        ("wrong clocks", Storm { has_wrong_clocks: true, ..usual }),
        ("members, a minority", Storm { are_members: true, ..usual }),
        ("members, a majority", Storm { are_members: true, losses: Losses::Majority, ..usual }),
        ("members, wrong clocks", Storm { are_members: true, has_wrong_clocks: true, ..usual }),
        ("members, five stores", Storm { are_members: true, stores: 5, ..usual }),
        ("changes", Storm { has_changes: true, ..usual }),
        ("changes, five stores", Storm { has_changes: true, stores: 5, ..usual }),
        ("changes, a majority", Storm { has_changes: true, losses: Losses::Majority, ..usual }),
        ("changes, members", Storm { has_changes: true, are_members: true, ..usual }),
    ] {
        total.add(&storms_for(name, storm, seed..u64::MAX, Duration::from_secs(seconds)));
    }
    println!("all: {total}");
    search::more();
}
