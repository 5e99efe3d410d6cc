//! How a group begins, is ended and begins again: the rules of `lease/grants/group.rs`, one by one.

use flakeforge_core::layout::timescale::LAST_DATE_MS;
use flakeforge_core::lease::grants::memory::{LONGEST_TTL_MS, Memory};
use flakeforge_core::lease::grants::record::{GROUP, GroupConfig, GroupRecord, SlotRecord, Stage, slot_name};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Look, StepError, Task};

use crate::store::*;

/// How long a previously unused group is quiet.
const CREATED: i64 = 1_000 + SKEW + 1;

#[test]
fn a_config_that_the_rules_do_not_allow_is_refused_before_anything_is_asked() {
    let good = config(1);
    for bad in [
        GroupConfig { ttl_ms: 0, ..good.clone() },
        GroupConfig { ttl_ms: LONGEST_TTL_MS + 1, ..good.clone() },
        GroupConfig { skew_ms: -1, ..good.clone() },
    ] {
        let (_, ask) = Step::new("g", join(&bad, 1, "h"), &Memory::default(), 1);
        assert!(matches!(ask, Ask::Done(Answer::Refused(StepError::Config(_)))), "{bad:?}: {ask:?}");
    }
    let longest = GroupConfig { ttl_ms: LONGEST_TTL_MS, ..good };
    assert!(matches!(Step::new("g", join(&longest, 1, "h"), &Memory::default(), 1).1, Ask::Read(_)));
}

#[test]
fn an_absent_group_may_be_a_lost_one_so_it_is_quiet_to_the_millisecond() {
    let mut store = Store::empty();
    let mut client = Client::new(1);
    let until = store.now + QUIET;
    assert_eq!(client.join(&mut store, &config(1), 1), quiet(until, store.now));
    store.now = until - 1;
    assert_eq!(client.join(&mut store, &config(1), 1), quiet(until, until - 1));
    store.now = until;
    assert_eq!(client.join(&mut store, &config(1), 1), granted(0, until, until + TTL, until));
}

#[test]
fn every_step_that_needs_a_group_creates_it_in_the_same_way() {
    for task in [join(&config(1), 1, "h"), acquire(&config(1), 1)] {
        let mut store = Store::empty();
        let now = store.now;
        Client::new(1).run(&mut store, task);
        let GroupRecord { state, life, quiet_until, identity, .. } = store.group();
        assert_eq!((state, life, quiet_until), (Stage::Live(config(1)), 1, now + QUIET));
        assert_eq!(identity, store.identity);
    }
}

#[test]
fn a_renewal_creates_no_group() {
    let unknown = GroupRecord { state: Stage::Unknown, nonce: 1, ..GroupRecord::default() };
    for records in [None, Some(unknown)] {
        let mut store = Store::empty();
        store.records.extend(records.map(|group| (GROUP.to_owned(), group.text())));
        let before = store.clone();
        let held = renew(&config(1), 1, 0, store.now);
        assert_eq!(Client::new(1).run(&mut store, held), Answer::Refused(StepError::Absent));
        let over = renew(&config(1), 1, 0, store.now - 1);
        assert_eq!(
            Client::new(1).run(&mut store, over),
            Answer::Lost,
            "its window is over, so it looks for another slot"
        );
        assert_eq!(store.records, before.records);
    }
}

#[test]
fn create_destroy_and_restored_write_again_until_the_answer_is_clean() {
    for task in [create(&config(1)), Task::Destroy, Task::Restored] {
        let mut store = if task == create(&config(1)) { Store::empty() } else { Store::with(&config(1)) };
        let (mut last, mut unclean) = (String::new(), 0);
        Client::new(1).run_with(&mut store, task.clone(), |_, ask| match ask {
            Ask::Swap(swap) => {
                last = swap.to.clone();
                unclean += 1;
                if unclean > 6 { Fate::Done } else { Fate::Unheard }
            }
            _ => Fate::Done,
        });
        assert!(unclean > 6, "{task:?}");
        assert_eq!(store.text(GROUP), Some(last.as_str()), "{task:?}: the last write was clean");
    }
}

#[test]
fn from_nothing_only_an_unknown_group_is_written_and_the_next_read_begins_the_quiet_period() {
    let mut store = Store::empty();
    let first = store.now;
    let mut writes = Vec::new();
    let opened_ = Client::new(1).run_with(&mut store, create(&config(1)), |store, ask| {
        if let Ask::Swap(swap) = ask {
            writes.push(GroupRecord::parse(&swap.to).unwrap());
            store.now += 1_000;
        }
        Fate::Done
    });
    assert_eq!(opened_, opened(true, first + 1_000 + CREATED, first + 2_000));
    assert_eq!((writes.len(), &writes[0].state, &writes[0].identity), (2, &Stage::Unknown, &store.identity));
    assert_ne!(writes[0].nonce, writes[1].nonce);
}

#[test]
fn create_reports_whether_it_created_the_group() {
    let mut store = Store::empty();
    let until = store.now + CREATED;
    assert_eq!(Client::new(1).run(&mut store, create(&config(1))), opened(true, until, store.now));
    let before = store.clone();
    assert_eq!(Client::new(2).run(&mut store, create(&config(1))), opened(false, until, store.now));
    assert_eq!(store.records, before.records);
}

#[test]
fn when_two_open_a_group_at_once_one_creates_it() {
    let mut store = Store::empty();
    let mut clients = [Client::new(1), Client::new(2)];
    let mut running: Vec<_> = clients.iter_mut().map(|client| Running::new(client, create(&config(1)))).collect();
    while running.iter().any(|running| !matches!(running.ask, Ask::Done(_))) {
        for (running, client) in running.iter_mut().zip(&mut clients) {
            if !matches!(running.ask, Ask::Done(_)) {
                running.go(&mut store, client, Fate::Done);
            }
        }
    }
    let made = |running: &Running| matches!(running.ask, Ask::Done(Answer::Opened { is_new: true, .. }));
    assert_eq!(running.iter().filter(|running| made(running)).count(), 1);
}

#[test]
fn the_quiet_period_is_the_longest_one_whatever_the_ttl() {
    for ttl_ms in [2_000, 60_000] {
        let config = GroupConfig { ttl_ms, skew_ms: 100, ..config(1) };
        let mut store = Store::empty();
        let until = store.now + 60_000 + 100 + 1;
        assert_eq!(Client::new(1).join(&mut store, &config, 1), quiet(until, store.now));
    }
}

#[test]
fn an_unknown_group_keeps_the_quiet_period_that_its_record_has() {
    let mut store = Store::empty();
    let until = store.now + 1_000_000;
    let identity = store.identity.clone();
    let group = GroupRecord { quiet_until: until, identity, nonce: 1, ..GroupRecord::default() };
    store.records.insert(GROUP.to_owned(), group.text());
    for task in [create(&config(1)), create(&durable(1)), Task::Destroy] {
        let mut store = store.clone();
        Client::new(1).run(&mut store, task);
        assert_eq!(store.group().quiet_until, until);
    }
}

// Create

#[test]
fn a_group_that_is_created_is_quiet_for_a_second_and_the_skew() {
    let mut store = Store::empty();
    let until = store.now + CREATED;
    assert_eq!(Client::new(1).run(&mut store, create(&config(1))), opened(true, until, store.now));
    store.now = until - 1;
    assert_eq!(Client::new(2).join(&mut store, &config(1), 1), quiet(until, until - 1));
    store.now = until;
    assert!(matches!(Client::new(2).join(&mut store, &config(1), 1), Answer::Granted(_)));
}

/// `Create`, with something that happens after its first write. Returns how long the group is quiet then.
fn created_after(happens: impl Fn(&mut Store)) -> i64 {
    let mut store = Store::empty();
    let mut writes = 0;
    let answer = Client::new(1).run_with(&mut store, create(&config(1)), |store, ask| {
        if writes == 1 {
            happens(store);
            writes += 1;
        }
        writes += i32::from(swaps(ask, GROUP));
        Fate::Done
    });
    let Answer::Opened { quiet_until, now, .. } = answer else { panic!("{answer:?}") };
    quiet_until - now
}

#[test]
fn create_needs_both_reads_within_a_second() {
    assert_eq!(created_after(|_| ()), CREATED);
    assert_eq!(created_after(|store| store.now += 1_000), CREATED);
    assert_eq!(created_after(|store| store.now += 1_001), QUIET);
    assert_eq!(created_after(|store| store.now -= 1), QUIET, "a clock that was set back");
}

#[test]
fn create_needs_both_reads_under_one_identity() {
    assert_eq!(created_after(Store::restart), QUIET);
    assert_eq!(created_after(Store::fail_over), QUIET);
    let to_vague = |store: &mut Store| store.identity.history.clear();
    assert_eq!(created_after(to_vague), QUIET, "one that is not known is another");
}

#[test]
fn create_needs_its_own_nonce() {
    let other = |store: &mut Store| {
        let group = GroupRecord { nonce: 1, ..store.group() };
        store.records.insert(GROUP.to_owned(), group.text());
    };
    assert_eq!(created_after(other), QUIET);
}

#[test]
fn create_looks_for_proof_once_only() {
    assert_eq!(created_after(|store| store.records.clear()), QUIET, "what it wrote was flushed");
}

#[test]
fn of_two_creates_and_a_flush_one_at_most_is_short_and_grants_nothing_before_the_others_window_could_begin() {
    let mut store = Store::empty();
    let mut clients = [Client::new(1), Client::new(2)];
    let [mut one, mut two] = [0, 1].map(|i| Running::new(&mut clients[i], create(&config(1))));
    while !matches!(one.ask, Ask::Swap(_)) {
        one.go(&mut store, &mut clients[0], Fate::Done);
    }
    while !matches!(two.ask, Ask::Swap(_)) {
        two.go(&mut store, &mut clients[1], Fate::Done);
    }
    one.go(&mut store, &mut clients[0], Fate::Done); // one wrote
    store.records.clear();
    two.go(&mut store, &mut clients[1], Fate::Done); // two wrote the same again
    let mut ends = Vec::new();
    for (mut running, client) in [one, two].into_iter().zip(&mut clients) {
        running.finish(&mut store, client);
        let Ask::Done(Answer::Opened { quiet_until, .. }) = running.ask else { panic!("{:?}", running.ask) };
        ends.push(quiet_until - store.now);
    }
    assert_eq!(ends, [QUIET, QUIET], "the first to read found the other's text");
}

// Destroy, and the group that follows

fn destroyed(config: &GroupConfig) -> Stage {
    Stage::Destroyed { durable: config.durable, fingerprint: config.fingerprint.clone() }
}

#[test]
fn a_group_is_ended_in_two_steps_and_the_second_read_begins_the_quiet_period() {
    let (mut store, mut client, _) = held(&config(1));
    let identity = store.identity.clone();
    let first = store.now;
    let mut states = Vec::new();
    let answer = client.run_with(&mut store, Task::Destroy, |store, ask| {
        if let Ask::Swap(swap) = ask {
            states.push(GroupRecord::parse(&swap.to).unwrap());
            store.now += 1_000;
        }
        Fate::Done
    });
    assert_eq!(answer, Answer::Done);
    assert_eq!(states[0].state, Stage::Ending(config(1)));
    assert_eq!(states[1].state, destroyed(&config(1)));
    assert_eq!(states[1].quiet_until, first + 1_000 + QUIET);
    assert!(states.iter().all(|state| state.identity == identity && state.life == 1));
    assert_ne!(states[0].nonce, states[1].nonce);
}

#[test]
fn a_group_created_while_its_predecessor_is_ended_lives() {
    let (mut store, mut client, _) = held(&config(1));
    let mut other = Client::new(7);
    let answer = client.run_with(&mut store, Task::Destroy, |store, ask| {
        let ends = matches!(ask, Ask::Swap(swap) if swap.to.contains("state=destroyed"));
        if ends && store.group().life == 1 {
            other.run(store, Task::Destroy);
            other.run(store, Task::Create(config(1)));
        }
        Fate::Done
    });
    assert_eq!(answer, Answer::Done);
    assert_eq!((store.group().state, store.group().life), (Stage::Live(config(1)), 2));
}

#[test]
fn a_durable_group_that_ended_is_quiet_for_its_own_ttl() {
    let (mut store, mut client, _) = held(&durable(1));
    client.run(&mut store, Task::Destroy);
    let after = store.group();
    assert_eq!((after.state, after.quiet_until), (destroyed(&durable(1)), store.now + TTL + SKEW + 1));
}

/// More slots than two reads show.
const SLOTS_OF_PARTS: u32 = 2 * 1024 + 1;

/// The same group, whose slots have other nodes.
fn elsewhere(config: GroupConfig) -> GroupConfig {
    GroupConfig { fingerprint: "flake, nodeOffset 4".to_owned(), ..config }
}

/// Ends the group and begins the next one with this config, in the ms in which that grants slots. Returns when the former ended.
fn follow(store: &mut Store, client: &mut Client, next: &GroupConfig) -> i64 {
    assert_eq!(client.run(store, Task::Destroy), Answer::Done);
    let until = store.group().quiet_until;
    store.now = until;
    client.take(store, next, 99);
    until
}

#[test]
fn a_group_knows_until_when_groups_with_other_nodes_were_there() {
    let (mut store, mut client, _) = held(&durable(1));
    let used = |store: &mut Store| {
        let lineage = store.group().lineage;
        Client::new(5).run(store, Task::Used { slots: vec![7], lineage })
    };
    assert_eq!((store.group().ended, store.group().others, used(&mut store)), (0, 0, Answer::Used(None)));
    let mut until = follow(&mut store, &mut client, &durable(2));
    assert_eq!((store.group().ended, store.group().others), (until, 0), "the slots had the same nodes");
    assert_eq!(used(&mut store), Answer::Used(None));
    for next in [elsewhere(durable(1)), durable(1)] {
        until = follow(&mut store, &mut client, &next);
        assert_eq!((store.group().ended, store.group().others), (until, until));
        assert_eq!(used(&mut store), Answer::Used(Some(until)), "whatever the slot");
    }
    let latest = follow(&mut store, &mut client, &durable(1));
    assert_eq!((store.group().ended, store.group().others), (latest, until), "the one before counts still");
}

#[test]
fn a_group_that_was_ended_unseen_or_lost_may_have_had_any_nodes() {
    let mut store = Store::empty();
    let mut client = Client::new(1);
    let until = follow(&mut store, &mut client, &durable(1));
    assert_eq!(store.group().others, until, "it was absent, and may have been lost");
    client.run(&mut store, Task::Destroy);
    let before = store.group();
    store.now = before.quiet_until + 1_000_000;
    store.fail_over(); // what followed was lost
    client.run(&mut store, Task::Create(durable(1)));
    let GroupRecord { ended, others, quiet_until, .. } = store.group();
    assert_eq!((ended, others, quiet_until), (quiet_until, quiet_until, store.now + QUIET));
}

#[test]
fn the_end_of_a_group_is_that_of_its_last_window_even_if_the_clock_was_set_back() {
    for slot in [0, 1023, 1024, SLOTS_OF_PARTS - 1] {
        let mut store = Store::with(&durable(SLOTS_OF_PARTS));
        let far = store.now + 3_600_000;
        let record = SlotRecord { owner: None, life: 1, lo: 5, hi: far, host: "h".to_owned(), nonce: 1 };
        store.put(slot, &record);
        let mut client = Client::new(1);
        let until = follow(&mut store, &mut client, &elsewhere(durable(2)));
        assert!(until < far);
        assert_eq!((store.group().ended, store.group().others), (far, far), "slot {slot}");
        follow(&mut store, &mut client, &durable(2));
        assert_eq!(
            (store.group().ended, store.group().others),
            (far, far),
            "also after a group that ended before that"
        );
    }
    let mut store = Store::with(&durable(3));
    store.records.insert(slot_name(2), "damaged".to_owned());
    follow(&mut store, &mut Client::new(1), &elsewhere(durable(1)));
    assert_eq!(store.group().others, LAST_DATE_MS, "its window may have had any end");
}

#[test]
fn a_member_that_ends_a_group_while_another_creates_the_next_one_reads_the_slots_of_that_one() {
    let mut store = Store::with(&durable(SLOTS_OF_PARTS));
    let (mut one, mut other) = (Client::new(1), Client::new(2));
    let mut reads = 0;
    let next = elsewhere(durable(1));
    assert!(matches!(
        one.run_with(&mut store, Task::Destroy, |_, ask| {
            let is_part = matches!(ask, Ask::Read(names) if names.len() > 1000);
            reads += u32::from(is_part);
            Fate::Done
        }),
        Answer::Done
    ));
    assert_eq!(reads, 2, "and one of a single slot");
    let mut store = ending_of(SLOTS_OF_PARTS);
    let answer = one.run_with(&mut store, join(&next, 7, "h"), |store, ask| {
        if matches!(ask, Ask::Read(names) if names.len() > 1000) && store.group().life == 1 {
            assert_eq!(other.run(store, Task::Destroy), Answer::Done);
            store.now = store.group().quiet_until;
            other.take(store, &next, 8);
            assert_eq!(
                other.run(store, Task::Release { config: next.clone(), owner: 8, slot: 0, last: -1 }),
                Answer::Done
            );
            store.now += 1;
        }
        Fate::Done
    });
    assert_eq!(answer, granted(0, store.now, store.now + TTL, store.now), "a slot that the next group has");
}

/// A store with a group of this many slots whose end was started and not finished.
fn ending_of(slots: u32) -> Store {
    let mut store = Store::with(&durable(slots));
    let group = GroupRecord { state: Stage::Ending(durable(slots)), ..store.group() };
    store.records.insert(GROUP.to_owned(), group.text());
    store
}

#[test]
fn ending_a_group_never_shortens_its_quiet_period() {
    let mut store = Store::with(&config(1));
    let until = store.now + 1_000_000;
    let group = GroupRecord { quiet_until: until, ..store.group() };
    store.records.insert(GROUP.to_owned(), group.text());
    Client::new(1).run(&mut store, Task::Destroy);
    assert_eq!(store.group().quiet_until, until);
    assert_eq!(Client::new(1).join(&mut store, &config(1), 1), quiet(until, store.now));
}

/// A store with a group whose end was started and not finished.
fn ending() -> Store {
    let mut store = Store::with(&config(1));
    let mut client = Client::new(1);
    client.take(&mut store, &config(1), 1);
    let mut running = Running::new(&mut client, Task::Destroy);
    while !matches!(store.group().state, Stage::Ending(_)) {
        running.go(&mut store, &mut client, Fate::Done);
    }
    store
}

#[test]
fn every_client_that_finds_a_started_end_finishes_it() {
    let now = ending().now;
    for (task, expected) in [
        (Task::Destroy, Answer::Done),
        (acquire(&config(1), 2), Answer::Refused(StepError::Destroyed)),
        (join(&config(1), 2, "h"), quiet(now + QUIET, now)),
        (create(&config(1)), opened(true, now + QUIET, now)),
    ] {
        let mut store = ending();
        assert_eq!(Client::new(2).run(&mut store, task.clone()), expected, "{task:?}");
        assert_eq!(store.group().quiet_until, now + QUIET);
    }
    let mut store = ending();
    let before = store.records.clone();
    assert_eq!(Client::new(1).run(&mut store, renew(&config(1), 1, 0, i64::MAX)), Answer::Destroyed);
    assert_eq!(Client::new(1).run(&mut store, release(&config(1), 1, 0, 5)), Answer::Done);
    assert_eq!(store.records, before, "a renewal and a release leave that to others");
}

#[test]
fn an_absent_group_that_is_ended_may_have_been_lost() {
    let mut store = Store::empty();
    let now = store.now;
    let mut states = Vec::new();
    let answer = Client::new(1).run_with(&mut store, Task::Destroy, |_, ask| {
        if let Ask::Swap(swap) = ask {
            states.push(GroupRecord::parse(&swap.to).unwrap());
        }
        Fate::Done
    });
    assert_eq!(answer, Answer::Done);
    let states: Vec<_> = states.into_iter().map(|group| (group.state, group.quiet_until)).collect();
    let unknown = Stage::Destroyed { durable: false, fingerprint: String::new() };
    assert_eq!(states, [(Stage::Unknown, 0), (unknown, now + QUIET)]);
    assert_eq!(Client::new(2).join(&mut store, &durable(1), 1), quiet(now + QUIET, now), "durable or not");
}

#[test]
fn a_group_is_ended_once() {
    let (mut store, mut client, _) = held(&config(1));
    client.run(&mut store, Task::Destroy);
    let before = store.clone();
    store.now += 900;
    assert_eq!(client.run(&mut store, Task::Destroy), Answer::Done);
    assert_eq!(store.records, before.records);
}

#[test]
fn a_group_exists_while_it_is_alive() {
    let exists = |store: &Store| {
        let mut after = store.clone();
        let answer = Client::new(8).run(&mut after, Task::Exists);
        assert_eq!(after.records, store.records);
        answer
    };
    let (mut store, mut client, _) = held(&config(1));
    assert_eq!(exists(&Store::empty()), Answer::Exists(false));
    assert_eq!(exists(&store), Answer::Exists(true));
    assert_eq!(exists(&ending()), Answer::Exists(false));
    client.run(&mut store, Task::Destroy);
    assert_eq!(exists(&store), Answer::Exists(false));
}

#[test]
fn members_of_an_ended_group_learn_that_it_ended() {
    let (mut store, mut client, Granted { hi, .. }) = held(&config(1));
    client.run(&mut store, Task::Destroy);
    let before = store.clone();
    assert_eq!(client.run(&mut store, renew(&config(1), 1, 0, hi)), Answer::Destroyed);
    assert_eq!(client.run(&mut store, acquire(&config(1), 2)), Answer::Refused(StepError::Destroyed));
    assert_eq!(client.run(&mut store, release(&config(1), 1, 0, 0)), Answer::Done);
    assert_eq!(store.records, before.records, "nothing begins it again");
}

#[test]
fn only_join_and_create_begin_a_group_again_with_a_new_life_and_the_quiet_period_of_the_one_before() {
    for (config, until) in [(config(1), QUIET), (durable(1), TTL + SKEW + 1)] {
        let (mut store, mut client, Granted { hi, .. }) = held(&config);
        client.run(&mut store, Task::Destroy);
        let until = store.now + until;
        store.now += 10;
        for task in [create(&config), join(&config, 2, "h")] {
            let mut store = store.clone();
            client.clone().run(&mut store, task);
            let group = store.group();
            assert_eq!((group.state, group.life, group.quiet_until), (Stage::Live(config.clone()), 2, until));
            store.now = until - 1;
            assert_eq!(Client::new(2).join(&mut store, &config, 2), quiet(until, until - 1));
            store.now = until;
            let late = Client::new(2).take(&mut store, &config, 2);
            assert!(late.lo > hi && store.slot(0).life == 2);
        }
    }
}

#[test]
fn a_renewal_from_another_life_learns_that_its_group_ended_in_a_quiet_period_too() {
    let (mut store, mut client, Granted { hi, .. }) = held(&config(1));
    let before = store.text(&slot_name(0)).map(str::to_owned);
    client.run(&mut store, Task::Destroy);
    client.run(&mut store, create(&config(1)));
    for now in [store.now, store.group().quiet_until] {
        store.now = now;
        assert_eq!(client.run(&mut store, renew(&config(1), 1, 0, hi.max(now + TTL))), Answer::Destroyed);
        client.run(&mut store, release(&config(1), 1, 0, 0));
        assert_eq!(store.text(&slot_name(0)), before.as_deref(), "its record stays");
    }
    let task = acquire(&config(1), 1);
    store.put(0, &SlotRecord { hi: store.now + 5, ..store.slot(0) });
    assert_eq!(client.run(&mut store, task), exhausted(store.now + 6, store.now), "nor is it its grant");
}

#[test]
fn a_tombstone_under_another_identity_hides_no_group_that_followed_it() {
    let lost: [fn(&mut Store); 2] = [Store::restart, Store::fail_over];
    for lose in lost {
        let (mut store, mut client, _) = held(&config(1));
        client.run(&mut store, Task::Destroy);
        store.now += 1_000_000;
        lose(&mut store);
        let until = store.now + QUIET;
        assert_eq!(client.clone().join(&mut store.clone(), &config(1), 2), quiet(until, store.now));
        assert_eq!(client.run(&mut store, create(&config(1))), opened(true, until, store.now), "created or not");
    }
}

#[test]
fn a_tombstone_under_another_identity_keeps_a_longer_quiet_period() {
    let (mut store, mut client, _) = held(&config(1));
    client.run(&mut store, Task::Destroy);
    let until = store.now + 1_000_000;
    let group = GroupRecord { quiet_until: until, ..store.group() };
    store.records.insert(GROUP.to_owned(), group.text());
    store.restart();
    assert_eq!(client.run(&mut store, create(&config(1))), opened(true, until, store.now));
}

#[test]
fn durable_members_do_not_compare_processes_in_a_tombstone_of_their_kind() {
    for (before, after, is_quiet) in [
        (durable(1), durable(1), false),
        (config(1), durable(1), true),
        (durable(1), config(1), true),
        (config(1), config(1), true),
    ] {
        let (mut store, mut client, _) = held(&before);
        client.run(&mut store, Task::Destroy);
        store.now += 1_000_000;
        store.restart();
        let answer = client.join(&mut store, &after, 2);
        assert_eq!(matches!(answer, Answer::Refused(StepError::Quiet { .. })), is_quiet, "{before:?}, {after:?}");
    }
}

#[test]
fn a_group_that_lived_too_often_is_refused() {
    let mut store = Store::with(&config(1));
    let group = GroupRecord { life: u64::MAX, state: destroyed(&config(1)), ..store.group() };
    store.records.insert(GROUP.to_owned(), group.text());
    let answer = Client::new(1).join(&mut store, &config(1), 1);
    assert!(matches!(answer, Answer::Refused(StepError::Nonsense(_))), "{answer:?}");
}

// What members must agree on

#[test]
fn members_agree_on_everything_or_nothing_is_written() {
    let (mut store, client, Granted { hi, .. }) = held(&config(2));
    let mismatch = Answer::Refused(StepError::Mismatch(config(2)));
    store.restart(); // a restart that agreeing members would note
    let others = [
        GroupConfig { fingerprint: "hazelcast".to_owned(), ..config(2) },
        config(3),
        GroupConfig { ttl_ms: 20_000, ..config(2) },
        GroupConfig { skew_ms: 4_000, ..config(2) },
        durable(2),
    ];
    for other in others {
        for (task, expected) in [
            (create(&other), &mismatch),
            (join(&other, 1, "h"), &mismatch),
            (acquire(&other, 1), &mismatch),
            (renew(&other, 1, 0, hi), &Answer::Destroyed),
            (release(&other, 1, 0, 5), &Answer::Done),
        ] {
            let mut after = store.clone();
            assert_eq!(client.clone().run(&mut after, task.clone()), *expected, "{task:?}");
            assert_eq!(after.records, store.records, "{task:?}");
        }
    }
}

#[test]
fn a_group_keeps_its_lineage_as_long_as_it_lives_and_each_new_group_has_another() {
    let (mut store, mut client, Granted { hi, .. }) = held(&config(1));
    let first = store.group().lineage;
    let lineage_of = |store: &mut Store, client: &mut Client, task| {
        let mut running = Running::new(client, task);
        running.finish(store, client);
        running.step.lineage()
    };
    store.fail_over();
    assert_eq!(lineage_of(&mut store, &mut client, renew(&config(1), 1, 0, hi)), Some(first), "after a loss");
    for _ in 0..2 {
        assert_eq!(lineage_of(&mut store, &mut client, Task::Destroy), None, "no living group");
        assert_eq!(store.group().lineage, first, "it names the one that has ended");
    }
    let mut seen = vec![first];
    for task in [create(&config(1)), create(&durable(2)), join(&config(1), 1, "h")] {
        lineage_of(&mut store, &mut client, Task::Destroy);
        assert_eq!(lineage_of(&mut store, &mut client, task), Some(store.group().lineage));
        seen.push(store.group().lineage);
    }
    store.records.clear();
    assert_eq!(lineage_of(&mut store, &mut client, acquire(&config(1), 2)), Some(store.group().lineage));
    seen.push(store.group().lineage);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 5);
    assert!(!seen.contains(&store.group().nonce));
}

#[test]
fn a_group_begun_again_may_have_other_options() {
    let (mut store, mut client, _) = held(&config(1));
    client.run(&mut store, Task::Destroy);
    assert!(matches!(client.run(&mut store, create(&config(5))), Answer::Opened { is_new: true, .. }));
    assert_eq!(store.group().state, Stage::Live(config(5)));
}

// Clocks

/// Everything written by a client whose clock is this far off, and the answer.
fn with_clock(store: &Store, clock: (i64, i64), task: Task) -> (Answer, bool) {
    let mut after = store.clone();
    let mut client = Client::new(7);
    client.clock = clock;
    let answer = client.run(&mut after, task);
    (answer, after.records != store.records)
}

fn skew(by: i64) -> Answer {
    Answer::Refused(StepError::Skew { by, bound: SKEW })
}

#[test]
fn clocks_too_far_apart_end_every_step_that_writes_before_it_does() {
    let (group, _, Granted { hi, .. }) = held(&config(2));
    let mut destroyed = group.clone();
    Client::new(1).run(&mut destroyed, Task::Destroy);
    let (absent, ending) = (Store::empty(), ending());
    let mut restarted = group.clone();
    restarted.restart();
    let slot = (0..2).find(|slot| group.records.contains_key(&slot_name(*slot))).unwrap();
    for clock in [-SKEW - 1, SKEW + 1] {
        let refused = |store: &Store, task: Task| {
            assert_eq!(with_clock(store, (clock, clock), task.clone()), (skew(clock), false), "{task:?}");
        };
        for task in [create(&config(2)), join(&config(2), 1, "h"), acquire(&config(2), 1)] {
            refused(&absent, task.clone());
            refused(&restarted, task);
        }
        for task in [join(&config(2), 2, "h"), acquire(&config(2), 2), renew(&config(2), 1, slot, hi)] {
            refused(&group, task);
        }
        refused(&group, release(&config(2), 1, slot, 0));
        refused(&restarted, renew(&config(2), 1, slot, hi));
        refused(&destroyed, join(&config(2), 1, "h"));
        refused(&destroyed, create(&config(2)));
        for store in [&absent, &group, &ending] {
            refused(store, Task::Destroy);
        }
        refused(&ending, acquire(&config(1), 2));
    }
    for clock in [-SKEW, SKEW] {
        for task in [join(&config(2), 2, "h"), renew(&config(2), 1, slot, hi), Task::Destroy] {
            assert!(with_clock(&group, (clock, clock), task).1);
        }
    }
}

#[test]
fn a_renewal_in_a_quiet_period_checks_the_clock_too() {
    let (mut store, mut client, _) = held(&config(1));
    store.restart();
    client.run(&mut store, create(&config(1)));
    let task = renew(&config(1), 1, 0, store.now + TTL);
    assert_eq!(with_clock(&store, (SKEW + 1, SKEW + 1), task.clone()), (skew(SKEW + 1), false));
    assert!(with_clock(&store, (SKEW, SKEW), task).1);
}

#[test]
fn a_clock_too_far_away_is_named_where_nothing_would_be_written_either() {
    let (store, _, Granted { hi, .. }) = held(&config(1));
    let clock = (SKEW + 1, SKEW + 1);
    assert_eq!(with_clock(&store, clock, join(&config(1), 1, "host 1")).0, skew(SKEW + 1), "its own slot again");
    assert_eq!(with_clock(&store, clock, join(&config(1), 2, "h")).0, skew(SKEW + 1), "instead of exhausted");
    let mut quiet = Store::empty();
    Client::new(1).run(&mut quiet, create(&config(1)));
    for task in [join(&config(1), 2, "h"), renew(&config(1), 1, 0, hi)] {
        assert_eq!(with_clock(&quiet, clock, task).0, skew(SKEW + 1), "instead of quiet");
    }
}

#[test]
fn the_stores_clock_was_read_between_two_readings_of_the_clients() {
    let store = Store::with(&config(1));
    let task = || join(&config(1), 1, "h");
    assert!(with_clock(&store, (-60_000, 60_000), task()).1, "a slow answer is no skew");
    assert_eq!(with_clock(&store, (SKEW + 1, 60_000), task()).0, skew(SKEW + 1));
    assert_eq!(with_clock(&store, (-60_000, -SKEW - 1), task()).0, skew(-SKEW - 1));
    assert!(with_clock(&store, (SKEW, 60_000), task()).1);
    assert!(with_clock(&store, (-60_000, -SKEW), task()).1);
}

#[test]
fn a_release_creates_no_group() {
    let mut store = Store::empty();
    assert_eq!(Client::new(1).run(&mut store, release(&config(1), 1, 0, 5)), Answer::Done);
    assert!(store.records.is_empty());
    let mut running = Running::new(&mut Client::new(1), Task::Destroy);
    running.go(&mut store, &mut Client::new(2), Fate::Done);
    running.go(&mut store, &mut Client::new(2), Fate::Done);
    let unknown = store.group();
    assert_eq!(unknown.state, Stage::Unknown);
    assert_eq!(Client::new(3).run(&mut store, release(&config(1), 1, 0, 5)), Answer::Done);
    assert_eq!(store.group(), unknown);
}

// Impossible answers

#[test]
fn impossible_answers_of_a_store_are_refused_and_nothing_overflows() {
    for now in [i64::MIN, -1, 8_640_000_000_000_001, i64::MAX] {
        for task in all_tasks(&config(1), 1, 0) {
            let mut store = Store::with(&config(1));
            store.now = now;
            let mut client = Client::new(1);
            let mut running = Running::new(&mut client, task);
            let look = Look { client: (0, 0), ..zero_look(&running, &store) };
            running.hear(look, &mut client);
            let Ask::Done(Answer::Refused(StepError::Nonsense(_))) = running.ask else { panic!("{:?}", running.ask) };
        }
    }
}

fn zero_look(running: &Running, store: &Store) -> Look {
    let mut at_zero = store.clone();
    at_zero.now = 0;
    Look { now: store.now, ..running.look(&at_zero, &Client::new(1)) }
}

#[test]
fn too_few_or_too_many_values_are_refused() {
    let store = Store::with(&config(1));
    for values in [vec![], vec![None], vec![None; 3]] {
        let mut client = Client::new(1);
        let fresh = client.fresh();
        let (mut step, ask) = Step::new("g", join(&config(1), 1, "h"), &client.memory, fresh);
        let running = Running { step: step.clone(), ask };
        let look = Look { values, ..running.look(&store, &client) };
        let answer = step.read(look, &mut client.memory, fresh);
        assert!(matches!(answer, Ask::Done(Answer::Refused(StepError::Nonsense(_)))), "{answer:?}");
    }
}

#[test]
fn times_at_the_ends_of_what_a_record_can_hold_do_not_overflow() {
    let ends = [i64::MIN, -1, 0, 8_640_000_000_000_000, i64::MAX];
    for now in [0, 8_640_000_000_000_000] {
        for (lo, hi) in ends.iter().flat_map(|lo| ends.map(|hi| (*lo, hi))) {
            for owner in [Some(1), Some(2), None] {
                for quiet_until in ends {
                    for task in all_tasks(&config(1), 1, 0) {
                        let mut store = Store::with(&config(1));
                        let group = GroupRecord { quiet_until, ..store.group() };
                        store.records.insert(GROUP.to_owned(), group.text());
                        store.now = now;
                        let slot = SlotRecord { owner, life: 1, lo, hi, host: "h".to_owned(), nonce: 1 };
                        store.put(0, &slot);
                        Client::new(1).run(&mut store, task);
                    }
                }
            }
        }
    }
    for (ttl_ms, skew_ms) in [(i64::MAX, i64::MAX), (i64::MIN, i64::MIN)] {
        let config = GroupConfig { ttl_ms, skew_ms, ..durable(1) };
        let mut store = Store::with(&durable(1));
        let group = GroupRecord { state: Stage::Live(config), ..store.group() };
        store.records.insert(GROUP.to_owned(), group.text());
        for clock in [i64::MIN / 2, 0, i64::MAX / 2] {
            with_clock(&store, (clock, clock), Task::Destroy);
        }
    }
}
