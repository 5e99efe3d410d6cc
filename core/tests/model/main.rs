//! The lease itself under a model checker: the real [`lease.rs`](flakeforge_core::lease) and
//! [`grants.rs`](flakeforge_core::grants), not copies, go through every order of events.
//!
//! | file | what it contains |
//! |---|---|
//! | `world` | members, a network and a store, and what each event does to them |
//! | `happening` | what can happen |
//! | `rules` | the group, and what may go wrong |
//! | `service`, `member`, `points` | requests and answers, a member, windows as sets |
//! | `view` | which states count as the same, so that their number is finite |
//! | `faults` | mistakes made on purpose: the checker must find each of them |
//! | `usual` | leases by deadline and by heartbeat, in which the checker must find the duplicate |
//!
//! `cargo test -p flakeforge-core --test model -- --nocapture` shows how many states there are, and the shortest way to
//! each duplicate.
#![cfg(not(loom))]

mod faults;
mod happening;
mod member;
mod points;
mod rules;
mod service;
mod usual;
mod view;
mod world;

use std::fmt::Debug;
use std::hash::Hash;
use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model, Property};

use faults::Fault;
use happening::Happening;
use rules::{Rules, Trouble};
use usual::{Design, Usual};
use world::World;

const UNIQUE: &str = "no number twice";

/// A group under these rules, with this many members. At first the store's clock is right, or ahead by the skew.
struct Run<const MEMBERS: usize>(Rules);

impl<const MEMBERS: usize> Model for Run<MEMBERS> {
    type State = World<MEMBERS>;
    type Action = Happening;

    fn init_states(&self) -> Vec<Self::State> {
        (0..=self.0.skew).map(|ahead| World::new(&self.0, ahead)).collect()
    }

    fn actions(&self, world: &Self::State, out: &mut Vec<Happening>) {
        world.happenings(&self.0, out);
    }

    fn next_state(&self, world: &Self::State, happening: Happening) -> Option<Self::State> {
        Some(world.after(&self.0, happening))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(UNIQUE, |_, world: &World<MEMBERS>| !world.duplicate),
            Property::sometimes("two hold a slot one after the other", |_, world: &World<MEMBERS>| {
                world.is_held_by_two()
            }),
            Property::sometimes("IDs after a quiet period", |_, world: &World<MEMBERS>| world.is_healed()),
        ]
    }
}

const RULES: Rules = Rules { ttl: 2, skew: 1, slots: 1, budget: 2, troubles: Trouble::ALL, fault: Fault::None };

/// Visits every state, or stops at the first one that is not allowed.
fn explore<M>(name: &str, model: M) -> impl Checker<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + Send + Sync + PartialEq,
    M::Action: Clone + Debug + PartialEq,
{
    let began = Instant::now();
    let checker = model.checker().threads(2).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!("{name}: {} states, {:.1?}", checker.unique_state_count(), began.elapsed());
    checker
}

fn assert_found<M: Model>(name: &str, property: &'static str, checker: &impl Checker<M>)
where
    M::Action: Debug + PartialEq + Clone,
    M::State: Clone + Debug + Hash + PartialEq,
{
    let path = checker.discovery(property).unwrap_or_else(|| panic!("{name}: the duplicate was not found"));
    println!("    {:?}", path.into_actions());
}

#[test]
fn two_members_and_two_troubles() {
    explore("two members, two troubles", Run::<2>(RULES)).assert_properties();
}

#[test]
fn three_members_and_one_trouble() {
    explore("three members, one trouble", Run::<3>(Rules { budget: 1, ..RULES })).assert_properties();
}

#[test]
fn two_slots_and_one_trouble() {
    explore("two slots, one trouble", Run::<2>(Rules { slots: 2, budget: 1, ..RULES })).assert_properties();
}

/// What keeps a member from using a slot that it was granted, and what is late then.
const UNUSED: &[Trouble] = &[Trouble::InUse, Trouble::GiveUp, Trouble::Delay];

#[test]
fn slots_that_are_given_back_unused() {
    for slots in [1, 2] {
        let name = format!("slots given back, {slots} of them");
        let checker = explore(&name, Run::<2>(Rules { slots, troubles: UNUSED, ..RULES }));
        checker.assert_no_discovery(UNIQUE);
        checker.assert_any_discovery("two hold a slot one after the other");
    }
}

/// The group ends, the next one is forgotten, and its member comes back.
const THREE: &[Trouble] = &[Trouble::Crash, Trouble::Destroy, Trouble::Loss];

/// The troubles that reveal a fault. With all the others added, it would only take longer.
fn troubles_of(fault: Fault) -> &'static [Trouble] {
    use Trouble::{Delay, Destroy, Detach, Flush, Loss, MemberClock, StoreClock};
    match fault {
        Fault::LossDoesNotShow | Fault::OnlyOpenCompares | Fault::RenewalsInQuiet => &[Delay, Loss],
        Fault::AbsentIsNew => &[Delay, Flush],
        Fault::QuietForNewcomer | Fault::QuietTooShort | Fault::OldWindowGoesOn | Fault::OnlyLimitRises => {
            &[Loss, StoreClock]
        }
        Fault::QuietEndsWithGroup => &[Loss, Destroy],
        Fault::RenewalLowers => &[MemberClock, StoreClock],
        Fault::ReleasedIsFree | Fault::ReleaseBelowWindow => &[Detach, StoreClock],
        Fault::TombstoneWithoutIncarnation => THREE,
        _ => &[Detach, Delay],
    }
}

#[test]
fn every_fault_is_found() {
    for fault in Fault::ALL {
        let troubles = troubles_of(fault);
        let budget = troubles.len() as u8;
        let name = format!("{fault:?}");
        assert_found(&name, UNIQUE, &explore(&name, Run::<2>(Rules { budget, troubles, fault, ..RULES })));
    }
}

#[test]
fn the_same_three_troubles_do_no_harm_without_the_fault() {
    explore("three troubles", Run::<2>(Rules { budget: 3, troubles: THREE, ..RULES })).assert_properties();
}

#[test]
fn a_lease_by_deadline_makes_an_id_twice() {
    let design = Design::Deadline;
    for usual in [Usual { design, ahead: [0, 0], pauses: true }, Usual { design, ahead: [0, -1], pauses: false }] {
        let name = format!("{usual:?}");
        assert_found(&name, "no ID twice", &explore(&name, usual));
    }
}

#[test]
fn a_lease_by_heartbeat_makes_an_id_twice() {
    let usual = Usual { design: Design::Heartbeat, ahead: [0, 0], pauses: false };
    assert_found("by heartbeat", "no ID twice", &explore("by heartbeat", usual));
}

#[test]
fn windows_in_the_same_world_do_not() {
    for ahead in [[0, 0], [0, -1], [1, 0], [1, -1]] {
        explore("windows", Usual { design: Design::Window, ahead, pauses: true }).assert_properties();
    }
}

#[test]
fn nor_do_deadlines_where_clocks_are_right_and_nobody_pauses() {
    explore("no pauses", Usual { design: Design::Deadline, ahead: [0, 0], pauses: false }).assert_properties();
}
