//! One store out of several under the same suspicion: the real [`quorum`](flakeforge_core::lease::quorum), with one event for
//! each message. A message is slow, lost or carried out after it was given up; a store stops, or loses its data; clocks are apart.
//!
//! - `storm`: random schedules. A seed is a schedule, so a violation can be seen again.
//! - `search`: every order of events in small worlds.
//! - `directed`: two stories that random schedules find too rarely.

mod directed;
mod history; // what clients saw and wrote, and what is wrong with that
mod holders; // members that hold slots, and windows that overlap
mod rng;
mod search;
mod store; // a database that may stop and lose its data
mod storm;

use std::time::{Duration, Instant};

use storm::{Losses, Report, Storm};

/// Runs random schedules until a violation, at most so many of them, and at most for this time.
fn storms(name: &str, storm: &Storm, seeds: std::ops::Range<u64>, most: Duration) -> Report {
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

const QUICK: Duration = Duration::from_secs(3);

/// Stores stop, and one at a time loses its data: the group never learns of it.
#[test]
fn a_minority_is_lost() {
    let report = storms("a minority", &Storm { losses: Losses::Minority, ..Storm::default() }, 0..200, QUICK);
    assert!(report.lost > 50 && report.filled > 50 && report.completed > 50, "{report}");
    assert_eq!(report.eras, report.schedules, "one era in each schedule");
}

#[test]
fn a_majority_is_lost() {
    let report = storms("a majority", &Storm { losses: Losses::Majority, ..Storm::default() }, 0..200, QUICK);
    assert!(report.eras > report.schedules, "{report}");
}

#[test]
fn five_stores() {
    let storm = Storm { stores: 5, ..Storm::default() };
    storms("five stores", &storm, 0..200, QUICK);
}

/// Clocks are apart by more than members allow. It is a minority of clocks that is wrong, or a member's.
#[test]
fn clocks_that_are_wrong() {
    let storm = Storm { has_wrong_clocks: true, ..Storm::default() };
    storms("wrong clocks", &storm, 0..100, QUICK);
}

#[test]
fn holders_of_slots() {
    let storm = Storm { are_members: true, ..Storm::default() };
    let report = storms("members", &storm, 0..200, QUICK);
    assert!(report.granted > 100 && report.renewed > 100, "{report}");
    let storm = Storm { are_members: true, losses: Losses::Majority, ..Storm::default() };
    storms("members, majority", &storm, 0..200, QUICK);
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
        ("five stores, a majority", Storm { stores: 5, losses: Losses::Majority, ..usual }),
        ("wrong clocks", Storm { has_wrong_clocks: true, ..usual }),
        ("members, a minority", Storm { are_members: true, ..usual }),
        ("members, a majority", Storm { are_members: true, losses: Losses::Majority, ..usual }),
        ("members, wrong clocks", Storm { are_members: true, has_wrong_clocks: true, ..usual }),
        ("members, five stores", Storm { are_members: true, stores: 5, ..usual }),
    ] {
        total.add(&storms(name, &storm, seed..u64::MAX, Duration::from_secs(seconds)));
    }
    println!("all: {total}");
    search::more();
}
