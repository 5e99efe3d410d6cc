//! What a store may have forgotten: how it shows, how long nothing is granted then, and which holders continue meanwhile.

use flakeforge_core::lease::grants::record::{
    GROUP, GroupConfig, GroupRecord, ServerIdentity, SlotRecord, Stage, slot_name,
};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, StepError, Task};

use crate::store::*;

fn quiet_until(store: &Store, config: &GroupConfig) -> i64 {
    let mut after = store.clone();
    match Client::new(77).run(&mut after, create(config)) {
        Answer::Opened { quiet_until, .. } => quiet_until,
        other => panic!("{other:?}"),
    }
}

// The identity

#[test]
fn another_identity_begins_a_quiet_period_to_the_millisecond() {
    let lost: [fn(&mut Store); 2] = [Store::restart, Store::fail_over];
    for lose in lost {
        let (mut store, mut client, first) = held(&config(1));
        store.now += 1_000;
        lose(&mut store);
        let until = store.now + QUIET;
        assert_eq!(client.join(&mut store, &config(1), 2), quiet(until, store.now));
        assert_eq!(store.group().identity, store.identity);
        store.now = until - 1;
        assert_eq!(client.join(&mut store, &config(1), 2), quiet(until, until - 1), "it counts from the first read");
        store.now = until;
        assert_eq!(client.take(&mut store, &config(1), 2).lo, until);
        assert!(first.hi < until);
    }
}

#[test]
fn a_quiet_period_is_the_longest_one_whatever_the_ttl_in_the_record() {
    for config in [config(1), durable(1)] {
        let config = GroupConfig { ttl_ms: 2_000, skew_ms: 100, ..config };
        let mut store = Store::with(&config);
        store.now += 1_000_000;
        store.fail_over();
        assert_eq!(quiet_until(&store, &config), store.now + 60_101);
    }
}

#[test]
fn a_second_loss_lengthens_the_quiet_period_and_never_shortens_it() {
    let (mut store, mut client, _) = held(&config(1));
    store.restart();
    let first = store.now + QUIET;
    client.run(&mut store, create(&config(1)));
    store.now += 40_000;
    store.restart();
    assert_eq!(client.join(&mut store, &config(1), 2), quiet(first + 40_000, store.now));
    store.now -= 4_000; // the next server's clock is behind
    store.restart();
    assert_eq!(client.join(&mut store, &config(1), 2), quiet(first + 40_000, store.now));
}

/// A load balancer in front of two servers, each with the same record.
#[test]
fn two_alternating_servers_are_an_error_that_names_both_and_keep_no_group_quiet_forever() {
    let mut store = Store::with(&config(1));
    let (first, second) = (store.identity.clone(), identity("history", "second"));
    let (mut ends, mut refusals) = (Vec::new(), 0);
    for turn in 0..200_000 {
        store.identity = if turn % 3 == 0 { second.clone() } else { first.clone() };
        store.now += 1;
        match Client::new(turn).join(&mut store, &config(1), 1) {
            Answer::Refused(StepError::Quiet { until, .. }) => ends.push(until),
            Answer::Refused(StepError::TwoServers { shown, recorded }) => {
                refusals += 1;
                assert_eq!((&shown, &recorded), (&store.identity, if shown == first { &second } else { &first }));
            }
            Answer::Granted(_) => {
                assert!(refusals > 0 && ends.iter().all(|until| *until <= store.now));
                return;
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("no member is granted a slot");
}

#[test]
fn a_server_that_comes_back_twice_is_quiet_each_time_and_others_do_not_count() {
    let mut store = Store::with(&config(1));
    let [first, second] = ["process", "second"].map(|process| identity("history", process));
    for shown in [&second, &first, &second] {
        store.identity = shown.clone();
        store.now += 1;
        assert_eq!(Client::new(1).join(&mut store, &config(1), 1), quiet(store.now + QUIET, store.now));
    }
    for number in 0..9 {
        store.identity = identity("history", &format!("restart {number}"));
        store.now += 1;
        assert_eq!(Client::new(1).join(&mut store, &config(1), 1), quiet(store.now + QUIET, store.now));
    }
}

#[test]
fn each_part_of_an_identity_is_compared_and_an_empty_one_of_the_server_fits_all() {
    let full = identity("h", "p");
    let cases = [
        (full.clone(), full.clone(), true),
        (full.clone(), identity("h", "q"), false),
        (full.clone(), identity("i", "p"), false),
        (full.clone(), identity("", "p"), true),
        (full.clone(), identity("h", ""), true),
        (full.clone(), identity("", ""), true),
        (identity("", "p"), identity("", "p"), true),
        (identity("", "p"), identity("h", "p"), false),
        (identity("h", ""), identity("h", "p"), false),
        (identity("p", "h"), full.clone(), false),
    ];
    let shows_no_loss = |recorded: &ServerIdentity, shown: &ServerIdentity, config: &GroupConfig| {
        let mut store = Store::with(config);
        let group = GroupRecord { identity: recorded.clone(), ..store.group() };
        store.records.insert(GROUP.to_owned(), group.text());
        store.identity = shown.clone();
        quiet_until(&store, config) <= store.now
    };
    for (recorded, shown, is_same) in cases {
        assert_eq!(shows_no_loss(&recorded, &shown, &config(1)), is_same, "{recorded:?}, {shown:?}");
        let of_history = recorded.history == shown.history || shown.history.is_empty();
        assert_eq!(shows_no_loss(&recorded, &shown, &durable(1)), of_history, "{recorded:?}, {shown:?}");
    }
}

// Durable

#[test]
fn a_durable_group_is_not_quiet_when_it_is_new() {
    let mut store = Store::empty();
    let now = store.now;
    assert_eq!(Client::new(1).join(&mut store, &durable(1), 1), granted(0, now, now + TTL, now));
    let mut store = Store::empty();
    let Answer::Opened { is_new: true, quiet_until, now } = Client::new(1).run(&mut store, create(&durable(1))) else {
        panic!();
    };
    assert!(quiet_until <= now);
}

#[test]
fn a_durable_group_continues_after_a_restart_and_loses_by_another_history() {
    let (mut store, mut client, first) = held(&durable(1));
    store.restart();
    store.now += 1;
    let renewed = client.run(&mut store, renew(&durable(1), 1, 0, first.now));
    assert_eq!(renewed, granted(0, first.lo, store.now + TTL, store.now));
    store.fail_over();
    let renewed = client.run(&mut store, renew(&durable(1), 1, 0, first.now));
    assert_eq!(renewed, quiet(store.now + QUIET, store.now));
}

#[test]
fn a_durable_renewal_is_answered_though_the_server_restarts_between_swap_and_read() {
    let (mut store, mut client, first) = held(&durable(1));
    let (mut swaps, mut is_swapped) = (0, false);
    let answer = client.run_with(&mut store, renew(&durable(1), 1, 0, first.now), |store, ask| {
        if std::mem::replace(&mut is_swapped, swaps_slot(ask)) {
            store.restart();
        }
        swaps += i32::from(swaps_slot(ask));
        Fate::Done
    });
    assert!(matches!(answer, Answer::Granted(_)));
    assert_eq!(swaps, 1);
}

// The position

fn at(store: &mut Store, position: u64) {
    store.position = Some(position);
}

/// A store with a held slot, and another client that has seen its position, which is 100.
fn witnessed(config: &GroupConfig) -> (Store, Client) {
    let (mut store, ..) = held(config);
    let mut witness = Client::new(2);
    at(&mut store, 100);
    witness.run(&mut store, create(config));
    (store, witness)
}

#[test]
fn a_position_that_falls_is_a_loss_and_is_noted_for_other_clients() {
    for config in [config(1), durable(1)] {
        let (mut store, mut witness) = witnessed(&config);
        at(&mut store, 99);
        let until = store.now + QUIET;
        assert_eq!(witness.join(&mut store, &config, 3), quiet(until, store.now));
        assert_eq!(store.group().quiet_until, until);
        assert_eq!(Client::new(3).join(&mut store, &config, 3), quiet(until, store.now), "others read of it");
        store.now = until;
        assert!(matches!(witness.join(&mut store, &config, 3), Answer::Granted(_)), "once only");
    }
}

#[test]
fn a_client_that_saw_a_position_fall_and_ends_the_group_leaves_the_longest_quiet_period() {
    let (mut store, mut witness) = witnessed(&durable(1));
    at(&mut store, 99);
    let until = store.now + QUIET;
    assert_eq!(witness.run(&mut store, Task::Destroy), Answer::Done);
    assert_eq!(Client::new(3).join(&mut store, &durable(1), 3), quiet(until, store.now));
}

#[test]
fn a_position_that_stays_or_rises_or_is_missing_is_not_a_loss() {
    let (mut store, mut client, _) = held(&config(1));
    for position in [Some(100), Some(100), None, Some(101)] {
        store.position = position;
        let before = store.records.clone();
        client.run(&mut store, create(&config(1)));
        assert_eq!(store.records, before);
    }
}

#[test]
fn the_first_position_seen_is_accepted() {
    let (mut store, _, _) = held(&config(1));
    at(&mut store, 3);
    assert!(matches!(Client::new(5).run(&mut store, renew(&config(1), 1, 0, 0)), Answer::Granted(_)));
}

#[test]
fn answers_in_another_order_are_not_a_loss() {
    let (mut store, mut client) = witnessed(&config(1));
    let (mut early, mut late) =
        (Running::new(&mut client, create(&config(1))), Running::new(&mut client, create(&config(1))));
    at(&mut store, 105);
    let first = early.look(&store, &client);
    at(&mut store, 110);
    let second = late.look(&store, &client);
    late.hear(second, &mut client);
    early.hear(first, &mut client);
    for running in [early, late] {
        assert!(matches!(running.ask, Ask::Done(Answer::Opened { .. })), "{:?}", running.ask);
    }
}

#[test]
fn a_fall_counts_once_though_several_reads_were_in_progress() {
    let (mut store, mut client) = witnessed(&config(1));
    let mut one = Running::new(&mut client, create(&config(1)));
    let mut two = Running::new(&mut client, create(&config(1)));
    at(&mut store, 50);
    let mut finish = |running: &mut Running, client: &mut Client| {
        running.finish(&mut store, client);
        store.records.clone()
    };
    let noted = finish(&mut one, &mut client);
    assert_eq!(finish(&mut two, &mut client), noted);
    at(&mut store, 60);
    client.run(&mut store, create(&config(1)));
    assert_eq!(store.records, noted, "it counts from there");
    at(&mut store, 59);
    client.run(&mut store, create(&config(1)));
    assert_ne!(store.records, noted, "a second fall");
}

#[test]
fn other_groups_and_counters_notice_at_their_next_step() {
    // One client, and the records of two databases that share its memory: the names distinguish them.
    let (store, _, _) = held(&config(1));
    let mut client = Client::new(2);
    let running = |name: &str, store: &mut Store, task: Task, client: &mut Client| {
        let fresh = client.fresh();
        let (step, ask) = Step::new(name, task, &client.memory, fresh);
        let mut running = Running { step, ask };
        running.finish(store, client);
        running.ask
    };
    let (mut a, mut b, mut c, mut d) = (store.clone(), store.clone(), store.clone(), store);
    let first_look = d.records.clone();
    let advance = |init| Task::Advance { by: 10, init, durable: false };
    for store in [&mut a, &mut b, &mut c] {
        at(store, 100);
    }
    running("a", &mut a, create(&config(1)), &mut client);
    running("b", &mut b, create(&config(1)), &mut client);
    running("c", &mut c, advance(Some(0)), &mut client);
    for store in [&mut a, &mut b, &mut c] {
        at(store, 50);
    }
    running("a", &mut a, create(&config(1)), &mut client);
    let until = b.now + QUIET;
    assert_eq!(a.group().quiet_until, until);
    let b_after = running("b", &mut b, create(&config(1)), &mut client);
    assert_eq!(b_after, Ask::Done(opened(false, until, b.now)));
    let fresh = Client::new(3).run(&mut d, create(&config(1)));
    assert!(matches!(fresh, Answer::Opened { quiet_until, .. } if quiet_until <= d.now));
    running("d", &mut d, create(&config(1)), &mut client);
    assert_eq!(d.records, first_look, "what the first look finds is accepted, once the fall is known");
    let c_after = running("c", &mut c, advance(None), &mut client);
    assert_eq!(c_after, Ask::Done(Answer::Refused(StepError::Behind)));
    assert!(c.counter().is_lost, "and others read of it");
}

#[test]
fn the_look_that_finds_the_fall_counts_though_it_is_the_first_at_its_group() {
    let (mut store, _, _) = held(&config(1));
    let mut client = Client::new(2);
    at(&mut store, 100);
    let fresh = client.fresh();
    let (step, ask) = Step::new("another", create(&config(1)), &client.memory, fresh);
    Running { step, ask }.go(&mut store, &mut client, Fate::Done);
    at(&mut store, 50);
    let until = store.now + QUIET;
    assert_eq!(client.run(&mut store, create(&config(1))), opened(false, until, store.now));
}

#[test]
fn a_loss_counts_until_a_record_notes_it() {
    let (mut store, mut witness) = witnessed(&config(1));
    at(&mut store, 50);
    let mut tries = 0;
    let mut running = Running::new(&mut witness, create(&config(1)));
    while !swaps(&running.ask, GROUP) {
        running.go(&mut store, &mut witness, Fate::Done);
    }
    drop(running); // the swap never arrived, and its caller gave up
    let until = store.now + QUIET;
    let answer = witness.run_with(&mut store, create(&config(1)), |_, ask| {
        tries += i32::from(swaps(ask, GROUP));
        if swaps(ask, GROUP) && tries == 1 { Fate::Dropped } else { Fate::Done }
    });
    assert_eq!((answer, tries), (opened(false, until, store.now), 2));
}

#[test]
fn a_loss_that_was_seen_counts_for_a_group_that_is_missing_or_has_ended() {
    for config in [config(1), durable(1)] {
        let (mut store, mut witness) = witnessed(&config);
        at(&mut store, 50);
        let until = store.now + QUIET;
        let mut missing = store.clone();
        missing.records.clear();
        let answer = witness.clone().run(&mut missing, create(&config));
        assert_eq!(answer, opened(true, until, store.now), "missing");
        let answer = witness.clone().run(&mut missing, create(&config));
        assert_eq!(answer, opened(false, until, store.now));
        witness.run(&mut store, Task::Destroy);
        store.now += 1_000_000;
        let until = store.now + QUIET;
        assert_eq!(witness.run(&mut store, create(&config)), opened(true, until, store.now), "ended");
        store.now = until;
        assert!(matches!(witness.join(&mut store, &config, 9), Answer::Granted(_)));
    }
}

// Holders continue

/// A store in a quiet period, in which owner 1 holds the one slot.
fn restarted() -> (Store, Client, Granted) {
    let (mut store, mut client, first) = held(&config(1));
    store.restart();
    store.now += 3_000;
    client.run(&mut store, create(&config(1)));
    (store, client, first)
}

#[test]
fn in_a_quiet_period_a_window_beyond_the_skew_is_renewed() {
    let (store, mut client, first) = restarted();
    let now = store.now;
    let until = now + QUIET;
    let mut renewed = |hi| client.run(&mut store.clone(), renew(&config(1), 1, 0, hi));
    assert_eq!(renewed(now + SKEW), quiet(until, now));
    assert_eq!(renewed(now + SKEW + 1), granted(0, first.lo, now + TTL, now));
    assert_eq!(renewed(i64::MIN), quiet(until, now));
    assert_eq!(renewed(i64::MAX), granted(0, first.lo, now + TTL, now));
}

#[test]
fn its_lo_stays_the_records_and_hi_never_falls() {
    for (hi_in_record, expected) in [(-1, TTL), (0, TTL), (TTL, TTL), (TTL + 9_000, TTL + 9_000)] {
        let (mut store, mut client, _) = restarted();
        let now = store.now;
        store.put(0, &SlotRecord { lo: 5, hi: now + hi_in_record, ..store.slot(0) });
        let task = renew(&config(1), 1, 0, now + SKEW + 1);
        assert_eq!(client.run(&mut store, task), granted(0, 5, now + expected, now));
        assert_eq!((store.slot(0).lo, store.slot(0).hi), (5, now + expected));
    }
}

#[test]
fn a_renewal_in_a_quiet_period_ends_no_quiet_period() {
    let (mut store, mut client, _) = restarted();
    let before = store.text(GROUP).map(str::to_owned);
    client.run(&mut store, renew(&config(1), 1, 0, i64::MAX));
    assert_eq!(store.text(GROUP), before.as_deref());
}

#[test]
fn the_read_that_finds_the_loss_notes_it_and_the_renewal_continues() {
    let (mut store, mut client, first) = held(&config(1));
    store.restart();
    store.now += 3_000;
    let (now, until) = (store.now, store.now + QUIET);
    let renewed = client.run(&mut store, renew(&config(1), 1, 0, first.hi));
    assert_eq!(renewed, granted(0, first.lo, now + TTL, now));
    assert_eq!((store.group().quiet_until, client.calls), (until, 3 + 5));
}

#[test]
fn in_a_quiet_period_the_slot_must_be_recorded_as_ours() {
    let (store, mut client, _) = restarted();
    let until = store.now + QUIET;
    let mut missing = store.clone();
    missing.records.remove(&slot_name(0));
    let mut anothers = store.clone();
    anothers.put(0, &SlotRecord { owner: Some(2), ..store.slot(0) });
    let mut released = store.clone();
    released.put(0, &SlotRecord { owner: None, ..store.slot(0) });
    for mut store in [missing, anothers, released] {
        let before = store.records.clone();
        let task = renew(&config(1), 1, 0, i64::MAX);
        assert_eq!(client.run(&mut store, task.clone()), quiet(until, store.now), "and nothing is lost yet");
        assert_eq!(store.records, before);
        store.now = until;
        assert_eq!(client.run(&mut store, task), Answer::Lost);
    }
}

#[test]
fn the_answering_read_need_not_repeat_the_condition() {
    let (mut store, mut client, first) = restarted();
    let task = renew(&config(1), 1, 0, store.now + SKEW + 1);
    let (mut swaps, mut is_swapped) = (0, false);
    let now = store.now;
    let answer = client.run_with(&mut store, task, |store, ask| {
        if std::mem::replace(&mut is_swapped, swaps_slot(ask)) {
            store.now += 9_000;
        }
        swaps += i32::from(swaps_slot(ask));
        Fate::Done
    });
    assert_eq!((answer, swaps), (granted(0, first.lo, now + TTL, now + 9_000), 1));
}

#[test]
fn no_slot_is_granted_in_a_quiet_period_not_even_to_its_owner_again() {
    let (mut store, mut client, _) = restarted();
    let until = store.now + QUIET;
    let before = store.records.clone();
    for task in [join(&config(1), 1, "host 1"), acquire(&config(1), 1), acquire(&config(1), 2)] {
        assert_eq!(client.run(&mut store, task), quiet(until, store.now));
    }
    assert_eq!(store.records, before);
}

#[test]
fn a_member_without_a_renewal_gets_a_separate_window_afterwards() {
    let (mut store, mut client, first) = restarted();
    let until = store.now + QUIET;
    store.now = until;
    assert_eq!(client.run(&mut store, renew(&config(1), 1, 0, first.hi)), granted(0, until, until + TTL, until));
}

#[test]
fn a_release_in_a_quiet_period_writes_how_far_its_owner_got() {
    for last in [-1, 500, 90_000] {
        let (mut store, mut client, first) = restarted();
        let last = first.lo + last;
        assert_eq!(client.run(&mut store, release(&config(1), 1, 0, last)), Answer::Done);
        assert_eq!((store.slot(0).owner, store.slot(0).hi), (None, last));
    }
}

#[test]
fn a_release_that_finds_a_loss_notes_it() {
    let (mut store, mut client, first) = held(&config(1));
    store.fail_over();
    assert_eq!(client.run(&mut store, release(&config(1), 1, 0, first.lo)), Answer::Done);
    assert_eq!(store.group().quiet_until, store.now + QUIET);
    assert_eq!((store.slot(0).hi, store.group().state), (first.lo, Stage::Live(config(1))));
}

/// An equal text is not an equal state: one swap is in progress while everything is flushed and created again.
#[test]
fn a_swap_that_was_on_its_way_when_all_was_lost_grants_nothing() {
    for config in [config(1), durable(1)] {
        let mut store = Store::with(&config);
        let mut late = Client::new(1);
        let mut running = Running::new(&mut late, join(&config, 1, "h"));
        while !swaps_slot(&running.ask) {
            running.go(&mut store, &mut late, Fate::Done);
        }
        Client::new(2).take(&mut store, &config, 2);
        store.records.clear();
        store.restart();
        store.fail_over();
        running.go(&mut store, &mut late, Fate::Done);
        assert!(!store.records.contains_key(&slot_name(0)), "the server is another");
        store.identity = identity("history", "process"); // FLUSHALL: the server is the same
        let mut running = Running::new(&mut late, join(&config, 3, "h"));
        store = Store { now: store.now, ..Store::with(&config) };
        while !swaps_slot(&running.ask) {
            running.go(&mut store, &mut late, Fate::Done);
        }
        let other = Client::new(2).take(&mut store, &config, 2);
        store.records.clear();
        running.go(&mut store, &mut late, Fate::Done);
        assert!(store.records.contains_key(&slot_name(0)), "the absent record is absent again");
        if config.durable {
            continue; // its members vouch that this does not happen
        }
        running.finish(&mut store, &mut late);
        assert_eq!(running.ask, Ask::Done(quiet(store.now + QUIET, store.now)));
        assert!(other.hi < store.now + QUIET);
    }
}

// Older records that were restored, and a command that reports it

#[test]
fn a_group_with_restored_older_records_is_another_one_and_quiet() {
    for config in [config(1), durable(1)] {
        let mut store = Store::with(&config);
        let first = store.group();
        let task = || join(&config, 1, "h");
        assert_eq!(Client::new(1).run(&mut store, Task::Restored), Answer::Done);
        let GroupRecord { state, life, lineage, quiet_until, .. } = store.group();
        assert_eq!((state, life, quiet_until), (first.state, first.life, store.now + QUIET));
        assert_ne!(lineage, first.lineage);
        assert_eq!(Client::new(2).run(&mut store, task()), quiet(quiet_until, store.now));
        store.now = quiet_until;
        assert_eq!(Client::new(2).run(&mut store, task()), granted(0, quiet_until, quiet_until + TTL, quiet_until));
    }
}

#[test]
fn a_group_that_is_missing_or_ended_in_older_records_is_quiet_even_if_its_store_is_vouched_for() {
    let (ended, mut ending) = (&mut Store::with(&durable(1)), Store::with(&durable(1)));
    Client::new(1).run(ended, Task::Destroy);
    let mut half = Running::new(&mut Client::new(1), Task::Destroy);
    half.go(&mut ending, &mut Client::new(1), Fate::Done);
    half.go(&mut ending, &mut Client::new(1), Fate::Done);
    assert!(matches!(ending.group().state, Stage::Ending(_)));
    for mut store in [Store::empty(), ended.clone(), ending] {
        let until = store.now + QUIET;
        assert_eq!(Client::new(1).run(&mut store, Task::Restored), Answer::Done);
        let answer = Client::new(2).run(&mut store, join(&durable(1), 1, "h"));
        assert_eq!(answer, quiet(until, store.now));
    }
}

#[test]
fn a_lower_position_in_another_history_is_not_a_separate_loss() {
    let mut store = Store { position: Some(100_000), ..Store::with(&config(1)) };
    let (mut one, mut two) = (Client::new(1), Client::new(2));
    for client in [&mut one, &mut two] {
        client.run(&mut store, Task::Exists);
    }
    store.fail_over();
    store.position = Some(50);
    let until = store.now + QUIET;
    assert_eq!(one.join(&mut store, &config(1), 1), quiet(until, store.now), "another history");
    store.now += 10_000;
    assert_eq!(two.join(&mut store, &config(1), 2), quiet(until, store.now), "noted once");
    store.position = Some(40);
    store.now += 10_000;
    let now = store.now;
    assert_eq!(two.join(&mut store, &config(1), 2), quiet(now + QUIET, now), "it fell in this one");
    store.identity = identity("history", "process");
    store.position = Some(90_000);
    store.now += 10_000;
    assert_eq!(
        one.join(&mut store, &config(1), 1),
        quiet(store.now + QUIET, store.now),
        "the first one is back, and fell"
    );
}
