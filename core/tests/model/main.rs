//! The protocol of leases, driven exhaustively: every member is the real `Lease`, the store is the real `grants::Store`,
//! and the checker tries every order of what can happen, with so many troubles among it.
//!
//! The property: no number comes twice, that is, at no instant do two members make IDs with one slot, nor one after the
//! other in the same millisecond. What must be possible as well, or the property would say nothing: slots change hands,
//! and IDs flow again after a quiet period. And each fault of `faults.rs`, put into the store or the driver, must be found.
//!
//! | file | what it is |
//! |---|---|
//! | `rules.rs` | what a run is like, and what may go wrong |
//! | `world.rs` | members, store, messages and clocks: one state of everything |
//! | `happening.rs` | what can happen next |
//! | `member.rs`, `service.rs` | one member, and the store with its losses |
//! | `points.rs` | windows as sets of points in time |
//! | `view.rs` | states that differ only in what no longer matters are one |
//! | `faults.rs` | what is done wrong on purpose |

#![cfg(not(loom))]

mod faults;
mod happening;
mod member;
mod points;
mod rules;
mod service;
mod view;
mod world;

use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};

use faults::Fault;
use happening::Happening;
use rules::{Rules, Trouble};
use world::World;

const NO_NUMBER_TWICE: &str = "no number twice";
const CHANGES_HANDS: &str = "a slot changes hands";
const AFTER_QUIET: &str = "IDs after a quiet period";

struct Run<const M: usize> {
    rules: Rules,
}

impl<const M: usize> Model for Run<M> {
    type State = World<M>;
    type Action = Happening;

    fn init_states(&self) -> Vec<Self::State> {
        (0..=self.rules.skew).map(|ahead| World::new(&self.rules, ahead)).collect()
    }

    fn actions(&self, world: &Self::State, out: &mut Vec<Happening>) {
        world.happenings(&self.rules, out);
    }

    fn next_state(&self, world: &Self::State, happening: Happening) -> Option<Self::State> {
        Some(world.after(&self.rules, happening))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_NUMBER_TWICE, |_, world: &World<M>| !world.duplicate),
            Property::sometimes(CHANGES_HANDS, |_, world: &World<M>| world.is_held_by_two()),
            Property::sometimes(AFTER_QUIET, |_, world: &World<M>| world.is_healed()),
        ]
    }
}

const ALL: &[Trouble] = &[
    Trouble::Crash,
    Trouble::Delay,
    Trouble::Detach,
    Trouble::Destroy,
    Trouble::StoreClock,
    Trouble::MemberClock,
    Trouble::Loss,
    Trouble::Flush,
];

/// What the checker found out: the names of properties, and what led there.
fn check<const M: usize>(rules: Rules) -> Vec<(&'static str, Vec<Happening>)>
where
    Run<M>: Send + Sync + 'static,
{
    let start = Instant::now();
    let Rules { fault, budget, slots, .. } = rules;
    let checker = Run::<M> { rules }.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let states = checker.unique_state_count();
    println!("{M} members, {slots} slots, {budget} troubles, {fault:?}: {states} states, {:?}", start.elapsed());
    checker.discoveries().into_iter().map(|(name, path)| (name, path.into_actions())).collect()
}

fn rules(slots: u32, budget: u8, troubles: &'static [Trouble], fault: Fault) -> Rules {
    Rules { ttl: 2, skew: 1, slots, budget, troubles, fault }
}

fn assert_right(found: &[(&str, Vec<Happening>)], wanted: &[&str]) {
    let duplicate = found.iter().find(|(name, _)| *name == NO_NUMBER_TWICE);
    assert!(duplicate.is_none(), "a number came twice: {duplicate:?}");
    for name in wanted {
        assert!(found.iter().any(|(found, _)| found == name), "never seen: {name}");
    }
}

#[test]
fn two_members_and_two_troubles_of_any_kind() {
    assert_right(&check::<2>(rules(1, 2, ALL, Fault::None)), &[CHANGES_HANDS, AFTER_QUIET]);
}

#[test]
fn three_members_share_two_slots() {
    assert_right(&check::<3>(rules(2, 1, &[Trouble::Delay], Fault::None)), &[]);
}

/// Each fault with the troubles that bring it to light.
const FAULTS: &[(Fault, u8, &[Trouble])] = &[
    (Fault::LossDoesNotShow, 2, &[Trouble::Delay, Trouble::Loss]),
    (Fault::OnlyOpenCompares, 2, &[Trouble::Delay, Trouble::Loss]),
    (Fault::AbsentIsNew, 2, &[Trouble::Delay, Trouble::Flush]),
    (Fault::RenewalsInQuiet, 2, &[Trouble::Delay, Trouble::Loss]),
    (Fault::QuietForNewcomer, 2, &[Trouble::Loss, Trouble::StoreClock]),
    (Fault::QuietTooShort, 2, &[Trouble::Loss, Trouble::StoreClock]),
    (Fault::QuietEndsWithGroup, 2, &[Trouble::Loss, Trouble::Destroy]),
    (Fault::TombstoneWithoutIncarnation, 3, &[Trouble::Loss, Trouble::Destroy, Trouble::Delay]),
    (Fault::OldWindowGoesOn, 2, &[Trouble::Loss, Trouble::StoreClock]),
    (Fault::RenewalLowers, 2, &[Trouble::MemberClock, Trouble::StoreClock]),
    (Fault::ReleasedIsFree, 2, &[Trouble::Detach, Trouble::StoreClock]),
    (Fault::FreeTooEarly, 2, &[Trouble::Delay]),
    (Fault::ReleaseBelowWindow, 2, &[Trouble::Detach, Trouble::StoreClock]),
    (Fault::ReleaseByAnybody, 2, &[Trouble::Detach, Trouble::Delay]),
    (Fault::LastTooLow, 2, &[Trouble::Detach, Trouble::Delay]),
    (Fault::NoSeal, 2, &[Trouble::Detach, Trouble::Delay]),
    (Fault::OnlyLimitRises, 2, &[Trouble::Loss, Trouble::StoreClock]),
];

#[test]
fn every_fault_is_found() {
    for &(fault, budget, troubles) in FAULTS {
        let found = check::<2>(rules(1, budget, troubles, fault));
        assert!(found.iter().any(|(name, _)| *name == NO_NUMBER_TWICE), "{fault:?} makes no duplicate");
    }
}
