//! Leases under a model checker: the real [`lease.rs`](flakeforge_core::lease) and the real steps of
//! [`grants.rs`](flakeforge_core::lease::grants), not copies, go through every order of events. Each read, swap and answer is
//! a separate event, and anything may happen between them. It does not cover which of many slots a search looks at, nor
//! damaged texts.
//!
//! The fast part: `cargo test -p flakeforge-core --test model`. With `-- --nocapture`, it prints the number of states.
#![cfg(not(flakeforge_loom))]

mod client; // a process with its lease, its memory, its steps, and what it may use
mod counting; // the same faults for counters
mod database_function; // the function that makes IDs in PostgreSQL
mod flight; // a step in progress, between a read, a swap and its answer
mod fresh; // random bits, chosen by the checker
mod past; // IDs of the past: members that end between a write and its use
mod quorum; // one store out of several, with one event for each message
mod setting_text; // a setting as one line
mod settings; // the members, and what may go wrong, how often
mod store; // a database: texts of two versions, a clock, an identity, what was saved, and swaps that come late
mod sweep;
mod usual; // leases by deadline and by heartbeat, in which the checker must find the duplicate
mod view; // which states count as the same, so that their number is finite
mod windows; // windows as sets of milliseconds
mod world; // members, commands and a store, and what each event does to them
mod world_event; // what can happen

// mutants.js contains mistakes in the rules; `npm run mutants -- model` must find each.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Instant;

use stateright::{Checker, CheckerBuilder, HasDiscoveries, Model, Property};

use client::Client;
use counting::Counting;
use settings::Setting;
use usual::{Design, Usual};
use world::{Good, World};
use world_event::WorldEvent;

/// The checked property: **no two acquisitions may use the same ms of a node.** A member may use what it was answered, from
/// `lo` to `hi`, less what was unused when its cursor was retired. An answer in transit counts too, as long as its member
/// expects it.
const UNIQUE: &str = "no ms of a node twice";
const NOT_STUCK: &str = "a member gets a slot in the end";
const HANDED_OVER: &str = "a slot is opened that another had";
const HEALED: &str = "a slot is opened after a quiet period";
const KEPT: &str = "a window is raised in a quiet period";
const IGNORED: &str = "an answer is dropped";
const FOLLOWED: &str = "an ID of the past is made in a group that follows another";
const KEEPS_OFF: &str = "a step that meets a record of a newer version writes and answers nothing";
const TURNED_AWAY: &str = "a member is refused because of a newer version";
const FOUNDS_NOTHING: &str = "no renewal makes a group";
const ONE_STATEMENT: &str = "a client has one statement at the server";
/// What holds in every setting of members and slots.
const ALWAYS: [&str; 5] = [UNIQUE, NOT_STUCK, KEEPS_OFF, FOUNDS_NOTHING, ONE_STATEMENT];
const NO_NUMBER_TWICE: &str = "no number twice";
const STAYS_ENDED: &str = "a member of a counter that ended gets no number of it, nor of the next one";
const ENDS_ONE: &str = "a call ends one counter";
const BEGAN_ANEW: &str = "the next counter of an ended one starts from the beginning";
/// What holds in every setting of counters.
const ALWAYS_COUNTING: [&str; 4] = [NO_NUMBER_TWICE, KEEPS_OFF, STAYS_ENDED, ENDS_ONE];
const ALL_GIVEN: &str = "all numbers are given";
const WENT_ON: &str = "a counter continues where an operator said";

/// Time advances in steps of 1 ms, and durations are a few ms (`Memory::with_limits`), so a window that is 1 ms too long is
/// found. A setting visits all states that its troubles lead to, without an end of time, unless it has `end`. The checker
/// must also see that good things happen, or a rule that grants nothing would pass.
impl Model for Setting {
    type State = World;
    type Action = WorldEvent;

    fn init_states(&self) -> Vec<World> {
        (0..=self.skew).map(|ahead| World::new(self, ahead)).collect()
    }

    fn actions(&self, world: &World, out: &mut Vec<WorldEvent>) {
        world.world_events(self, out);
    }

    fn next_state(&self, world: &World, world_event: WorldEvent) -> Option<World> {
        world.after(self, world_event)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(UNIQUE, |_, world: &World| !world.duplicate),
            Property::always(NOT_STUCK, |setting: &Self, world: &World| {
                world.duplicate || !world.is_sample() || !world.is_stuck(setting)
            }),
            Property::always(KEEPS_OFF, |_, world: &World| !world.trespassed),
            Property::always(FOUNDS_NOTHING, |_, world: &World| !world.founded),
            Property::always(ONE_STATEMENT, |setting: &Self, world: &World| {
                let sent = |client: &Arc<Client>| client.flights.iter().filter(|flight| flight.is_sent()).count();
                setting.is_patient.is_none() || world.clients.iter().all(|client| sent(client) <= 1)
            }),
            Property::sometimes(TURNED_AWAY, |_, world: &World| world.good == Some(Good::TurnedAway)),
            Property::sometimes(HANDED_OVER, |_, world: &World| world.good == Some(Good::HandedOver)),
            Property::sometimes(HEALED, |_, world: &World| world.good == Some(Good::Healed)),
            Property::sometimes(KEPT, |_, world: &World| world.good == Some(Good::Kept)),
            Property::sometimes(IGNORED, |_, world: &World| world.good == Some(Good::Ignored)),
            Property::sometimes(FOLLOWED, |_, world: &World| world.good == Some(Good::Followed)),
        ]
    }
}

/// Visits every state, or stops at the first violation.
fn explore<M>(name: &str, model: M) -> impl Checker<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + Send + Sync + PartialEq,
    M::Action: Clone + Debug + PartialEq,
{
    run(name, model.checker())
}

/// Checks as this builder says, until the first violation.
fn run<M>(name: &str, builder: CheckerBuilder<M>) -> impl Checker<M>
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + Send + Sync + PartialEq,
    M::Action: Clone + Debug + PartialEq,
{
    let began = Instant::now();
    let checker = builder.threads(1).finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!("{name}: {} states, {:.1?}", checker.unique_state_count(), began.elapsed());
    checker
}

/// No ms is usable twice under these settings, and all the good things happen.
fn assert_safe(settings: &[(&'static str, &[&'static str])]) {
    for (words, goods) in settings {
        let model = Setting::from(*words);
        assert_holds(words, &ALWAYS, goods, &explore(words, model));
    }
}

/// No number is given twice under these settings, and all the good things happen.
fn assert_counts(settings: &[(&'static str, &[&'static str])]) {
    for (words, goods) in settings {
        let model = Counting::from(*words);
        assert_holds(words, &ALWAYS_COUNTING, goods, &explore(words, model));
    }
}

fn assert_holds<M: Model>(name: &str, always: &[&'static str], goods: &[&'static str], checker: &impl Checker<M>)
where
    M::Action: Debug + PartialEq + Clone,
    M::State: Debug + Hash + PartialEq + Clone,
{
    for property in always {
        if let Some(path) = checker.discovery(property) {
            let world = path.last_state().clone();
            panic!("{name}: not '{property}', but {:?}\n{world:#?}", path.into_actions());
        }
    }
    for good in goods {
        assert!(checker.discovery(good).is_some(), "{name}: never '{good}'");
    }
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
fn clocks_and_pauses() {
    assert_safe(&[
        ("slots=2", &[HANDED_OVER]),
        ("Pause=1", &[HANDED_OVER, IGNORED]),
        ("Crash=1 Unheard=1", &[HANDED_OVER]),
        ("MemberClock=1 StoreClock=1 error=1", &[HANDED_OVER]),
        ("Unheard=1 Pause=1 StoreClock=1 end=6", &[HANDED_OVER]),
        ("Sleep=1 skew=0", &[HANDED_OVER]),
        ("m=2 Sleep=2 Restart=1", &[KEPT]),
    ]);
}

#[test]
fn slots_that_are_given_back() {
    assert_safe(&[
        ("Detach=1 Pause=1 skew=0 end=4", &[HANDED_OVER, IGNORED]),
        ("Detach=2 StoreClock=1", &[HANDED_OVER]),
        ("Detach=1 Loss=1 skew=0", &[HANDED_OVER, KEPT]),
        ("InUse=1 GiveUp=1 slots=2", &[HANDED_OVER]),
        ("InUse=1 GiveUp=1 Late=1", &[HANDED_OVER]),
    ]);
}

#[test]
fn losses() {
    assert_safe(&[
        ("Loss=1 StoreClock=1", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=2 skew=0", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=1 skew=2 lefts=s end=6", &[HANDED_OVER, KEPT]),
        ("Loss=1 Restart=1 skew=0", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=2 hows=rp Forget=1 skew=0 end=6", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=1 hows=x one=1 skew=0 end=9", &[HEALED, KEPT]),
        ("Loss=3 hows=w lefts=e skew=0 end=7", &[HEALED, KEPT]),
    ]);
}

#[test]
fn losses_between_a_read_and_a_swap() {
    assert_safe(&[
        ("Flush=1 Pause=1 skew=0 end=5", &[HANDED_OVER, HEALED, KEPT, IGNORED]),
        ("Flush=1 Late=1", &[HANDED_OVER, HEALED]),
        ("Loss=1 Late=1 Again=1 skew=0 end=7", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=1 Pause=1 skew=0 end=5", &[HEALED, KEPT, IGNORED]),
    ]);
}

#[test]
fn groups_begin_and_end() {
    assert_safe(&[
        ("born=0 Unheard=1", &[HEALED]),
        ("m=2 born=0 Create=2 Pause=2 Flush=1 skew=0 end=5", &[HEALED]),
        ("Destroy=1 Crash=1", &[HANDED_OVER, HEALED]),
        ("Destroy=1 Loss=1 skew=0", &[HANDED_OVER, HEALED, KEPT]),
        ("m=2,4 longest=4 Destroy=1 Loss=1 skew=0", &[HEALED, KEPT]),
        ("m=2,2o slots=2 Destroy=1 Loss=1 skew=0", &[HEALED, KEPT]),
        ("m=2,2o slots=2", &[]),
        ("Remove=1 Flush=1 StoreClock=1 usual=0 end=6", &[HEALED]),
    ]);
}

/// IDs of the past, in groups of one name whose slots had other nodes, or were more. A time of the past that was made on a node
/// counts against the windows on it, and against times of a group that counts them in another way.
#[test]
fn ids_of_the_past_after_the_end_of_a_group() {
    assert_safe(&[
        ("m=2d,2dk slots=2 Remove=1 NextAt=2 skew=0 past=5 end=8", &[HEALED, FOLLOWED]),
        ("m=2d,2dok slots=2 Remove=1 NextAt=2 skew=0 past=5 end=8", &[HEALED, FOLLOWED]),
        ("m=2d,2dok slots=2 Remove=1 NextAt=1 Pause=1 skew=0 past=4 end=5", &[HEALED, FOLLOWED]),
        ("m=2d,2dok slots=2 Destroy=1 NextAt=1 Loss=1 hows=p lefts=es skew=0 past=5 end=6", &[HEALED]),
        ("m=2,2dk slots=2 Remove=1 NextAt=1 Loss=1 hows=p lefts=s skew=0 past=5 end=5", &[HEALED]),
    ]);
}

#[test]
fn ends_between_a_read_and_a_swap() {
    assert_safe(&[("m=2,2o slots=2 Remove=1 Pause=1 skew=0", &[HEALED, IGNORED])]);
}

/// A store whose losses only its position shows, and a group that ends and begins with another ttl.
#[test]
fn a_loss_that_ends_with_its_group() {
    assert_safe(&[
        ("m=2d,4d longest=4 one=1 hows=x lefts=n Loss=1 Remove=1 skew=0 end=9", &[HEALED]),
        ("m=2d,4d longest=4 one=1 hows=x lefts=s Loss=1 Remove=2 skew=0 end=6", &[HEALED]),
    ]);
}

#[test]
fn client_clocks() {
    assert_safe(&[("MemberClock=1 error=2 Loss=1 lefts=n end=6", &[HEALED])]);
}

#[test]
fn stores_that_members_vouch_for() {
    assert_safe(&[
        ("m=2d,2d Restart=1 Destroy=1 skew=0", &[HANDED_OVER, HEALED]),
        ("m=2d,2d Loss=1 hows=p Restart=1 lefts=es skew=0", &[HANDED_OVER, HEALED, KEPT]),
        ("m=2d,2 Restart=1 Destroy=1 skew=0", &[HEALED]),
    ]);
}

#[test]
fn counters_of_past_moments() {
    assert_counts(&[
        ("past=1 durable=1 skips=0 Restart=1 Pause=2", &[ALL_GIVEN]),
        ("past=1 durable=1 skips=0 Late=1 Again=1 Pause=1", &[ALL_GIVEN]),
        ("past=1 durable=1 skips=0 Loss=1 hows=p lefts=es Unheard=1", &[]),
        ("past=1 durable=1 skips=0 Loss=1 hows=p lefts=s Pause=1", &[]),
        ("past=1 durable=1 skips=0 Loss=1 hows=t lefts=es Pause=1", &[]),
        ("past=1 durable=1 skips=0 clients=1 Loss=1 hows=x lefts=es Pause=1", &[]),
        ("past=1 durable=1 skips=0 Split=1 Unheard=1", &[]),
        ("past=1 durable=1 skips=0 Loss=1 hows=p lefts=es Forget=1", &[]),
        ("past=1 durable=1 skips=0 Remove=2 Pause=1", &[ALL_GIVEN]),
        ("past=1 durable=1 skips=0 Remove=2 Loss=1 hows=p lefts=es", &[BEGAN_ANEW]),
        ("past=1 durable=1 skips=0 Remove=2 Loss=1 hows=t lefts=es", &[]),
    ]);
}

#[test]
fn counters() {
    assert_counts(&[
        ("Pause=2", &[ALL_GIVEN, WENT_ON]),
        ("Flush=1 Pause=2 Late=1", &[ALL_GIVEN, WENT_ON]),
        ("Loss=1 Pause=1 Unheard=1", &[ALL_GIVEN, WENT_ON]),
        ("Loss=2 Late=1 Again=1 hows=rp", &[ALL_GIVEN, WENT_ON]),
        ("Loss=1 Unheard=1 clients=1 hows=x", &[ALL_GIVEN, WENT_ON]),
        ("durable=1 Restart=1 Pause=1", &[ALL_GIVEN, WENT_ON]),
        ("durable=1 Loss=1 hows=p Forget=1 Unheard=1 takes=4", &[ALL_GIVEN, WENT_ON]),
        ("Loss=2 hows=p Forget=1 takes=4", &[ALL_GIVEN, WENT_ON]),
    ]);
}

#[test]
fn counters_that_end() {
    assert_counts(&[
        ("Destroy=1 Pause=1", &[WENT_ON, BEGAN_ANEW]),
        ("Destroy=1 Pause=2 skips=0", &[BEGAN_ANEW]),
        ("Destroy=2 skips=0 takes=4", &[BEGAN_ANEW]),
        ("Destroy=1 Late=1 Again=1 skips=0", &[BEGAN_ANEW]),
        ("Destroy=1 Loss=1 Unheard=1 skips=0", &[BEGAN_ANEW]),
        ("durable=1 Destroy=1 Loss=1 hows=pt skips=0", &[BEGAN_ANEW]),
        ("Destroy=1 Split=1 skips=0", &[BEGAN_ANEW]),
    ]);
}

/// A replica is promoted while the old primary is alive but disconnected: it performs writes, but cannot answer them cleanly.
#[test]
fn an_old_primary_that_lives_on() {
    assert_safe(&[
        ("Split=1 skew=0 end=6", &[HANDED_OVER, HEALED]),
        ("Split=1 Unheard=1 skew=0 end=5", &[HANDED_OVER, HEALED]),
        ("Split=1 old=2 end=5", &[HANDED_OVER]),
    ]);
    assert_counts(&[("Split=1 Unheard=1", &[ALL_GIVEN, WENT_ON]), ("Split=1 Pause=1", &[ALL_GIVEN, WENT_ON])]);
}

/// An old primary may answer cleanly for as long as the skew covers, and no longer.
#[test]
fn an_old_primary_that_answers_cleanly_for_too_long_repeats_an_id() {
    let name = "Split=1 skew=0 old=2 end=9";
    assert_found(name, UNIQUE, &explore(name, Setting::from(name)));
}

/// Another client's statement moves a session to another schema. Every statement names the records' place.
#[test]
fn sessions_that_move() {
    assert_safe(&[("Move=2", &[HANDED_OVER])]);
    let name = "Move=1 session=1 skew=0 end=14";
    assert_found(name, UNIQUE, &explore(name, Setting::from(name)));
}

/// An abandoned statement may still run on the server. Its client sends no other before it has ended.
#[test]
fn abandoned_statements() {
    assert_safe(&[("Pause=2 patient=1 skew=0 end=4", &[HANDED_OVER])]);
    let name = "Pause=2 patient=0 skew=0 end=5";
    assert_found(name, ONE_STATEMENT, &explore(name, Setting::from(name)));
}

/// Two versions share a group: this one and the next one, whose records this one cannot read.
#[test]
fn newer_versions() {
    assert_safe(&[
        ("m=2,2n Upgrade=1 Crash=1", &[HANDED_OVER, TURNED_AWAY]),
        ("m=2,2n Upgrade=1 Detach=1 Destroy=1 skew=0 end=6", &[HANDED_OVER, TURNED_AWAY]),
        ("m=2,2n born=0 Unheard=1", &[HEALED, TURNED_AWAY]),
        ("m=2,2n slots=2", &[TURNED_AWAY]),
        ("m=2,2n Upgrade=1 Pause=1 skew=0 end=5", &[HANDED_OVER, TURNED_AWAY]),
        ("m=2,2n Upgrade=1 Late=1 skew=0", &[HANDED_OVER, TURNED_AWAY]),
        ("m=2,2n Upgrade=1 Loss=1 skew=0 end=6", &[HANDED_OVER, HEALED, TURNED_AWAY]),
    ]);
    assert_counts(&[
        ("newest=1 Pause=2 Late=1", &[ALL_GIVEN, TURNED_AWAY]),
        ("newest=1 Loss=1 Pause=1", &[ALL_GIVEN, WENT_ON, TURNED_AWAY]),
    ]);
}

/// Older records are restored under the same identity, and a command reports it.
#[test]
fn losses_that_an_operator_reports() {
    assert_safe(&[
        ("Loss=1 hows=t Pause=1 skew=0 end=4", &[HEALED, KEPT, IGNORED]),
        ("m=2d,2d Loss=2 hows=t skew=0 end=5", &[HANDED_OVER, HEALED, KEPT]),
    ]);
    assert_counts(&[("durable=1 Loss=1 hows=t Pause=1 Unheard=1", &[ALL_GIVEN, WENT_ON])]);
}

/// The long part: `cargo test -p flakeforge-core --test model -- --ignored --nocapture`.
#[test]
#[ignore = "takes long"]
fn more_of_everything() {
    assert_safe(&[
        ("Pause=2 past=4 end=7", &[HANDED_OVER, IGNORED]),
        ("Loss=1 Pause=1 skew=0", &[HANDED_OVER, HEALED, KEPT, IGNORED]),
        ("Loss=2 hows=rp Forget=1 skew=1", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=1 Flush=1 Crash=1 slots=2 end=8", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=1 Destroy=1 Detach=1 Unheard=1 skew=0 end=8", &[HANDED_OVER, HEALED, KEPT]),
        ("m=2,2,2 Loss=1 skew=0", &[HANDED_OVER, HEALED, KEPT]),
        ("m=2,2,2 Pause=1 Crash=1 skew=0 end=6", &[HANDED_OVER, IGNORED]),
        ("m=3,3 longest=3 Loss=1 StoreClock=1 past=6 skew=2 end=7", &[HANDED_OVER, KEPT]),
        ("m=2b,2 Loss=1 Pause=1 lefts=s end=6", &[HANDED_OVER, KEPT, IGNORED]),
        // A mere restart loses nothing: that is what members vouch for.
        ("m=2d,2d hows=p Loss=1 Restart=1 Destroy=1 lefts=es skew=0 end=8", &[HANDED_OVER, HEALED, KEPT]),
        ("born=0 Create=2 Pause=2 Flush=1 skew=0 end=4", &[HEALED, IGNORED]),
        ("m=3o,4 longest=4 slots=2 Destroy=1 Loss=1 Pause=1 skew=0 end=8", &[KEPT, IGNORED]),
        ("m=2,2o slots=2 Remove=1 Loss=1 Pause=1 skew=0 end=6", &[HANDED_OVER, KEPT, IGNORED]),
        ("Loss=1 hows=t Pause=1 skew=0 end=5", &[HANDED_OVER, HEALED, KEPT, IGNORED]),
        ("m=2d,2d Loss=2 hows=t Remove=1 skew=0 end=6", &[HANDED_OVER, HEALED, KEPT]),
        ("Loss=4 hows=w lefts=e end=9", &[HEALED, KEPT]),
        ("m=2,2n Upgrade=1 Loss=1 Pause=1 skew=0 end=5", &[HANDED_OVER, HEALED, TURNED_AWAY]),
        ("m=2d,2d Loss=1 hows=p Forget=1 Destroy=1 lefts=es skew=0 end=7", &[HANDED_OVER, HEALED, KEPT]),
        ("m=2d,2d Split=1 skew=0 end=6", &[HANDED_OVER, HEALED]),
    ]);
}

/// The settings in MODEL: `MODEL='Loss=1 Pause=1; counting takes=4' cargo test … settings_by_words -- --ignored --nocapture`.
#[test]
#[ignore = "for trying"]
fn settings_by_words() {
    let words: &'static str = std::env::var("MODEL").unwrap_or_default().leak();
    for words in words.split(';').map(str::trim) {
        match words.strip_prefix("counting") {
            Some(words) => assert_counts(&[(words, &[])]),
            None => assert_safe(&[(words, &[])]),
        }
    }
}

#[test]
fn a_lease_by_deadline_repeats_an_id() {
    let design = Design::Deadline;
    for usual in [Usual { design, ahead: [0, 0], pauses: true }, Usual { design, ahead: [0, -1], pauses: false }] {
        let name = format!("{usual:?}");
        assert_found(&name, "no ID twice", &explore(&name, usual));
    }
}

#[test]
fn a_lease_by_heartbeat_repeats_an_id() {
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
fn nor_do_deadlines_with_right_clocks_and_no_pauses() {
    explore("no pauses", Usual { design: Design::Deadline, ahead: [0, 0], pauses: false }).assert_properties();
}
