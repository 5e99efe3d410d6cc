//! Which member gets which slot and which window: the rules of `grants/slots.rs`, one by one.

use std::collections::BTreeSet;

use flakeforge_core::lease::grants::record::{GROUP, SlotRecord, Unreadable, slot_name, slot_of};
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Row, StepError, Task};
use flakeforge_core::release::Release;

use crate::store::*;

fn hosts_slot(host: &str, hi: i64) -> SlotRecord {
    SlotRecord { owner: None, life: 1, lo: hi - 9, hi, host: host.to_owned(), nonce: 1 }
}

#[test]
fn names_of_slots_sort_as_the_slots_do() {
    assert_eq!(slot_name(42), "slot0000000042");
    for slot in [0, 42, 65_535, u32::MAX] {
        assert_eq!(slot_of(&slot_name(slot)), Some(slot));
    }
    for name in ["group", "slot", "slot42", "slot+000000042", "slot4294967296", "slot00000000042", "Slot0000000042"] {
        assert_eq!(slot_of(name), None, "{name}");
    }
}

#[test]
fn a_window_reaches_from_the_stores_time_to_the_ttl_whatever_the_clients_clock_shows() {
    for ahead in [-SKEW, 0, SKEW] {
        let mut store = Store::with(&config(1));
        let mut client = Client::new(1);
        client.clock = (ahead, ahead);
        let now = store.now;
        assert_eq!(client.join(&mut store, &config(1), 1), granted(0, now, now + TTL, now));
        assert_eq!(client.calls, 3, "read, swap, read");
        store.now += 10_000;
        let now = store.now;
        let renewed = client.run(&mut store, renew(&config(1), 1, 0, now + TTL - 10_000));
        assert_eq!(renewed, granted(0, now - 10_000, now + TTL, now));
        assert_eq!(store.slot(0).hi, now + TTL);
    }
}

#[test]
fn a_slot_is_free_from_the_millisecond_after_its_window() {
    let (mut store, mut client, first) = held(&config(1));
    store.now = first.hi;
    assert_eq!(client.join(&mut store, &config(1), 2), exhausted(first.hi + 1, first.hi));
    store.now += 1;
    assert_eq!(client.take(&mut store, &config(1), 2).lo, first.hi + 1);
    assert_eq!(client.run(&mut store, renew(&config(1), 1, 0, first.hi)), Answer::Lost);
}

#[test]
fn the_same_token_gets_the_same_slot_again_by_a_separate_write() {
    let (mut store, mut client, first) = held(&config(2));
    store.now = first.hi;
    let before = store.slot(first.slot).nonce;
    let again = client.take(&mut store, &config(2), 1);
    assert_eq!((again.slot, again.lo, again.hi), (first.slot, first.hi, first.hi + TTL));
    assert_ne!(store.slot(first.slot).nonce, before, "what only a read shows may be lost");
}

#[test]
fn a_grant_that_is_written_again_keeps_its_beginning_and_its_end_though_the_clock_was_set_back() {
    let (mut store, mut client, first) = held(&config(1));
    store.now = first.lo + 4_000;
    let again = client.take(&mut store, &config(1), 1);
    store.now = first.lo;
    let last = client.take(&mut store, &config(1), 1);
    assert_eq!((last.lo, last.hi), (again.lo, again.hi));
}

#[test]
fn a_host_gets_its_own_slots_first_then_unused_ones_then_those_that_rested_longest() {
    for seed in 1..40 {
        let mut client = Client::new(seed);
        let mut store = Store::with(&config(8));
        let now = store.now;
        for (slot, host, age) in [(0, "b", 900), (1, "a", 10), (2, "b", 800), (3, "a", 20), (4, "b", 1)] {
            store.put(slot, &hosts_slot(host, now - age));
        }
        let mut next = |owner, host: &str| match client.run(&mut store, join(&config(8), owner, host)) {
            Answer::Granted(granted) => granted.slot,
            other => panic!("{other:?}"),
        };
        assert_eq!(BTreeSet::from([next(1, "a"), next(2, "a")]), BTreeSet::from([1, 3]), "its own");
        let unused: BTreeSet<_> = (3..6).map(|owner| next(owner, "a")).collect();
        assert_eq!(unused, BTreeSet::from([5, 6, 7]), "never used");
        assert_eq!([next(6, "a"), next(7, "c"), next(8, "c")], [0, 2, 4], "rested longest");
    }
}

#[test]
fn members_that_ask_at_once_choose_different_slots() {
    let first = |seed| Client::new(seed).take(&mut Store::with(&config(16)), &config(16), 1).slot;
    let chosen: BTreeSet<_> = (1..100).map(first).collect();
    assert_eq!(chosen.len(), 16);
}

#[test]
fn a_grant_is_answered_by_a_read_never_by_a_swap() {
    let mut store = Store::with(&config(1));
    let mut swaps = 0;
    let mut is_swapped = false;
    let answer = Client::new(1).run_with(&mut store, join(&config(1), 1, "h"), |store, ask| {
        if std::mem::replace(&mut is_swapped, swaps_slot(ask)) && swaps == 1 {
            store.records.remove(&slot_name(0)); // after the first swap was answered with true
            store.now += 7;
        }
        swaps += i32::from(swaps_slot(ask));
        Fate::Done
    });
    assert_eq!((answer, swaps), (granted(0, store.now, store.now + TTL, store.now), 2));
}

#[test]
fn a_swap_that_lies_grants_nothing() {
    let mut store = Store::with(&config(1));
    let mut lies = 0;
    let answer = Client::new(1).run_with(&mut store, join(&config(1), 1, "h"), |store, ask| {
        store.now += 1;
        lies += i32::from(swaps_slot(ask));
        if swaps_slot(ask) && lies < 6 { Fate::Lie } else { Fate::Done }
    });
    let Answer::Granted(granted) = answer else { panic!("{answer:?}") };
    assert_eq!((granted.lo, granted.hi, lies), (store.slot(0).lo, store.slot(0).hi, 6));
    let (mut store, mut client, first) = held(&config(1));
    let mut running = Running::new(&mut client, renew(&config(1), 1, 0, first.hi));
    for _ in 0..100 {
        running.go(&mut store, &mut client, Fate::Lie);
        assert!(!matches!(running.ask, Ask::Done(_)), "{:?}", running.ask);
    }
}

#[test]
fn a_swap_without_a_clean_answer_is_repeated_although_a_read_shows_it() {
    let mut store = Store::with(&config(3));
    let mut texts = BTreeSet::new();
    let mut is_clean = false;
    let answer = Client::new(1).run_with(&mut store, join(&config(3), 1, "h"), |_, ask| {
        if let Ask::Swap(swap) = ask {
            is_clean = texts.len() == 3;
            assert!(texts.insert(swap.to.clone()), "a text that was never written before");
        }
        if is_clean { Fate::Done } else { Fate::Unheard }
    });
    assert!(matches!(answer, Answer::Granted(_)));
    assert_eq!((texts.len(), store.records.len()), (4, 2), "four swaps of one slot, besides the group");
}

#[test]
fn a_renewal_without_a_clean_answer_is_repeated_although_a_read_shows_it() {
    let (mut store, mut client, first) = held(&config(1));
    let mut swaps = 0;
    let answer = client.run_with(&mut store, renew(&config(1), 1, 0, first.hi), |_, ask| {
        swaps += i32::from(swaps_slot(ask));
        if swaps < 3 { Fate::Unheard } else { Fate::Done }
    });
    assert!(matches!(answer, Answer::Granted(_)), "{answer:?}");
    assert_eq!(swaps, 3);
}

#[test]
fn a_renewal_keeps_lo_and_never_lowers_hi() {
    let (mut store, mut client, first) = held(&config(1));
    let mut at = |now| {
        store.now = now;
        match client.run(&mut store, renew(&config(1), 1, 0, first.hi)) {
            Answer::Granted(Granted { lo, hi, .. }) => (lo - first.lo, hi - first.lo),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(at(first.lo + 10_000), (0, 40_000));
    assert_eq!(at(first.lo + 6_000), (0, 40_000), "a clock set back");
    assert_eq!(at(first.lo + 40_000), (0, 70_000), "its last ms is its own");
    assert_eq!(at(first.lo + 70_001), (70_001, 100_001), "a separate window");
}

#[test]
fn a_renewal_changes_nothing_but_the_window() {
    let (mut store, mut client, first) = held(&config(1));
    let before = store.slot(0);
    store.now += 1;
    client.run(&mut store, renew(&config(1), 1, 0, first.hi));
    let after = store.slot(0);
    assert_ne!(after.nonce, before.nonce);
    assert_eq!(after, SlotRecord { hi: before.hi + 1, nonce: after.nonce, ..before });
}

#[test]
fn a_former_owner_learns_that_its_slot_is_lost() {
    let (mut store, mut client, first) = held(&config(1));
    let before = store.clone();
    assert_eq!(client.run(&mut store, renew(&config(1), 2, 0, first.hi)), Answer::Lost, "another's");
    assert_eq!(client.run(&mut store, renew(&config(1), 1, 7, first.hi)), Answer::Lost, "a slot that does not exist");
    assert_eq!(store.records, before.records);
    client.run(&mut store, release(&config(1), 1, 0, first.lo));
    assert_eq!(client.run(&mut store, renew(&config(1), 1, 0, first.hi)), Answer::Lost, "one that it gave back");
}

/// A renewal whose swap is done; then something happens; then it reads. Returns how often it swapped, and its answer.
fn renewed_after(
    happens: impl Fn(&mut Store),
    mut store: Store,
    client: &mut Client,
    task: Task,
) -> (Answer, i32, Store) {
    let (mut swaps, mut is_swapped) = (0, false);
    let answer = client.run_with(&mut store, task, |store, ask| {
        if std::mem::replace(&mut is_swapped, swaps_slot(ask)) && swaps == 1 {
            happens(store);
        }
        swaps += i32::from(swaps_slot(ask));
        Fate::Done
    });
    (answer, swaps, store)
}

#[test]
fn a_read_counts_only_under_the_identity_of_the_decision() {
    let (store, mut client, first) = held(&config(1));
    let soon = first.now + SKEW; // too soon to be renewed in a quiet period
    let task = renew(&config(1), 1, 0, soon);
    let (answer, ..) = renewed_after(|_| {}, store.clone(), &mut client.clone(), task.clone());
    assert!(matches!(answer, Answer::Granted(_)));
    let (answer, swaps, after) = renewed_after(Store::restart, store.clone(), &mut client.clone(), task.clone());
    assert_eq!((answer, swaps), (quiet(first.now + QUIET, first.now), 1));
    assert_eq!(after.group().identity, after.identity);
    // A server that does not know its history may be any; it is not known to be this one.
    let mut vague = store.clone();
    vague.identity.history.clear();
    let (answer, swaps, _) =
        renewed_after(|store| store.identity.history = "history".to_owned(), vague, &mut client, task);
    assert!(matches!(answer, Answer::Granted(_)), "{answer:?}");
    assert_eq!(swaps, 2);
}

#[test]
fn a_read_counts_only_while_the_group_is_as_it_was() {
    let (mut store, _, first) = held(&config(1));
    let mut witness = Client::new(2);
    store.position = Some(900);
    witness.run(&mut store, Task::Create(config(1)));
    store.position = Some(100); // only the witness knows that this is a loss
    let mut client = Client::new(3);
    let notes = |store: &mut Store| {
        let opened = witness.clone().run(store, Task::Create(config(1)));
        assert_eq!(opened, crate::store::opened(false, first.now + QUIET, first.now));
    };
    let task = renew(&config(1), 1, 0, first.now + SKEW);
    let (answer, swaps, _) = renewed_after(notes, store, &mut client, task);
    assert_eq!((answer, swaps), (quiet(first.now + QUIET, first.now), 1));
}

#[test]
fn a_read_counts_only_while_the_window_lasts() {
    let (store, mut client, first) = held(&config(1));
    let later = |store: &mut Store| store.now = first.hi + 1;
    let (answer, swaps, _) = renewed_after(later, store, &mut client, renew(&config(1), 1, 0, first.hi));
    assert_eq!((answer, swaps), (granted(0, first.hi + 1, first.hi + 1 + TTL, first.hi + 1), 2));
}

#[test]
fn a_read_counts_only_if_it_shows_exactly_what_was_written() {
    let (store, mut client, first) = held(&config(1));
    let other = |store: &mut Store| store.put(0, &SlotRecord { nonce: 0, ..store.slot(0) });
    let (answer, swaps, _) = renewed_after(other, store, &mut client, renew(&config(1), 1, 0, first.hi));
    assert!(matches!(answer, Answer::Granted(_)));
    assert_eq!(swaps, 2);
}

#[test]
fn a_swap_carries_the_identity_of_its_read() {
    let (mut store, mut client, first) = held(&config(1));
    let before = store.slot(0);
    let read = store.identity.clone();
    let mut count = 0;
    let task = renew(&config(1), 1, 0, first.now + SKEW);
    let answer = client.run_with(&mut store, task, |store, ask| {
        if let (Ask::Swap(swap), 0) = (ask, count) {
            assert_eq!(swap.identity, read);
            store.fail_over();
            count += 1;
        }
        Fate::Done
    });
    assert_eq!((answer, store.slot(0)), (quiet(first.now + QUIET, first.now), before));
}

#[test]
fn a_release_gives_the_rest_of_the_window_back() {
    let (mut store, mut client, first) = held(&config(1));
    let held = store.slot(0);
    assert_eq!(client.run(&mut store, release(&config(1), 1, 0, first.lo + 250)), Answer::Done);
    let after = store.slot(0);
    assert_eq!(after, SlotRecord { owner: None, hi: first.lo + 250, nonce: after.nonce, ..held });
    store.now = first.lo + 250;
    assert_eq!(client.join(&mut store, &config(1), 2), exhausted(first.lo + 251, store.now));
    store.now += 1;
    assert_eq!(client.take(&mut store, &config(1), 2).lo, first.lo + 251);
}

#[test]
fn a_release_raises_hi_to_what_was_used_and_lowers_it_to_the_ms_before_the_window_at_most() {
    let (mut store, mut client, first) = held(&config(1));
    let mut raised = store.clone();
    client.run(&mut raised, release(&config(1), 1, 0, first.hi + 1));
    assert_eq!(raised.slot(0).hi, first.hi + 1, "a clock that was ahead");
    client.run(&mut store, release(&config(1), 1, 0, -1));
    assert_eq!(store.slot(0).hi, first.lo - 1, "what was before the window is not this owner's to give");
    assert_eq!(client.take(&mut store, &config(1), 2).lo, first.lo, "nothing of it was used");
}

#[test]
fn only_its_owner_releases_a_slot() {
    let (mut store, mut client, first) = held(&config(1));
    let before = store.slot(0);
    assert_eq!(client.run(&mut store, release(&config(1), 2, 0, -1)), Answer::Done);
    assert_eq!(client.run(&mut store, release(&config(1), 1, 5, -1)), Answer::Done);
    store.put(0, &SlotRecord { life: 2, ..before.clone() });
    assert_eq!(client.run(&mut store, release(&config(1), 1, 0, -1)), Answer::Done, "of another life");
    assert_eq!(store.slot(0).hi, first.hi);
}

#[test]
fn a_release_that_may_not_have_arrived_is_repeated_and_one_that_did_is_not() {
    for (fate, expected) in [(Fate::Unheard, 1), (Fate::Dropped, 2)] {
        let (mut store, mut client, first) = held(&config(1));
        let mut swaps = 0;
        let answer = client.run_with(&mut store, release(&config(1), 1, 0, first.lo), |_, ask| {
            swaps += i32::from(swaps_slot(ask));
            if swaps == 1 { fate } else { Fate::Done }
        });
        assert_eq!((answer, swaps, store.slot(0).hi), (Answer::Done, expected, first.lo));
    }
}

#[test]
fn a_release_heeds_what_happened_before_it_was_repeated() {
    let (mut store, mut client, first) = held(&config(1));
    let mut other = Client::new(9);
    let mut is_first = true;
    client.run_with(&mut store, release(&config(1), 1, 0, first.lo), |store, ask| {
        if swaps_slot(ask) && std::mem::take(&mut is_first) {
            store.now = first.hi + 1;
            other.take(store, &config(1), 2);
        }
        Fate::Done
    });
    assert_eq!((store.slot(0).owner, store.slot(0).hi), (Some(2), first.hi + 1 + TTL));
}

/// Everything that is written during a long life of a group.
#[test]
fn no_text_is_written_twice() {
    let mut store = Store::empty();
    let mut client = Client::new(1);
    let mut texts = Vec::new();
    for round in 0..3 {
        for task in
            all_tasks(&config(1), 1, 0).into_iter().chain([Task::Advance { by: 0, init: Some(0), durable: false }])
        {
            // Twice, from the same state of the store: only the random bits differ.
            for mut store in [store.clone(), store.clone()] {
                client.run_with(&mut store, task.clone(), |_, ask| {
                    if let Ask::Swap(swap) = ask {
                        texts.push(swap.to.clone());
                    }
                    Fate::Done
                });
            }
            client.run(&mut store, task);
            store.now += 25_000;
        }
        store.now += 100_000;
        store.identity.process = format!("process {round}");
    }
    let different: BTreeSet<_> = texts.iter().collect();
    assert!(texts.len() > 20, "{}", texts.len());
    assert_eq!(different.len(), texts.len());
}

#[test]
fn a_listing_shows_the_slots_of_this_life_and_names_unreadable_ones() {
    let mut store = Store::with(&config(3000));
    let mut client = Client::new(1);
    let now = store.now;
    let slot = |number: u32, life| SlotRecord {
        owner: Some(7),
        life,
        lo: 1,
        hi: i64::from(number),
        host: "h".to_owned(),
        nonce: 3,
    };
    for number in 0..2500 {
        store.put(number, &slot(number, 1 + u64::from(number % 2)));
    }
    store.records.insert(slot_name(9), "?".to_owned());
    store.records.insert(slot_name(11), "flakeforge2 slot of the future".to_owned());
    store.records.insert("note".to_owned(), "?".to_owned());
    let before = store.clone();
    let rows =
        (0..2500).step_by(2).map(|slot| Row { slot, owner: Some(7), host: "h".to_owned(), lo: 1, hi: i64::from(slot) });
    let faults =
        vec![(slot_name(9), Unreadable::Damaged), (slot_name(11), Unreadable::Newer { version: 2, needs: None })];
    assert_eq!(client.run(&mut store, Task::List), Answer::Listed(rows.collect(), faults));
    assert_eq!(client.calls, 5, "the group, the names, and three reads");
    assert_eq!((store.records, store.now), (before.records, now));
    assert_eq!(client.run(&mut Store::empty(), Task::List), Answer::Listed(vec![], vec![]), "no group");
}

#[test]
fn a_group_that_ended_has_no_slots_to_list() {
    let (mut store, mut client, _) = held(&config(1));
    client.run(&mut store, Task::Destroy);
    assert_eq!(client.run(&mut store, Task::List), Answer::Listed(vec![], vec![]));
}

/// An unreadable text in place of each record, for each task: it is never overwritten, and named where it is needed.
#[test]
fn a_record_that_cannot_be_read_is_refused_by_name_and_left_alone() {
    let (store, client, _) = held(&config(1));
    let own = store.text(&slot_name(0)).unwrap();
    let group = store.text(GROUP).unwrap();
    let newer = Unreadable::Newer { version: 2, needs: None };
    let texts = [
        ("", Unreadable::Damaged),
        (&own[..own.len() - 1], Unreadable::Damaged),
        (&own.replace("life=1", "life=2"), Unreadable::Damaged),
        (&own.replace("flakeforge1", "flakeforge2"), newer),
        ("flakeforge1 counter", Unreadable::Damaged),
    ];
    for (text, why) in texts {
        for task in all_tasks(&config(1), 1, 0) {
            for name in [GROUP.to_owned(), slot_name(0)] {
                let mut store = store.clone();
                store.records.insert(name.clone(), text.to_owned());
                let answer = client.clone().run(&mut store, task.clone());
                assert_eq!(store.text(&name), Some(text), "{task:?}");
                let is_needed =
                    name == GROUP || !matches!(task, Task::Create(_) | Task::Destroy | Task::List | Task::Exists);
                if is_needed {
                    assert_eq!(answer, Answer::Refused(StepError::Record(name, why)), "{task:?}");
                }
            }
        }
    }
    // A record of another kind is no better.
    for task in all_tasks(&config(1), 1, 0) {
        let mut store = store.clone();
        store.records.insert(GROUP.to_owned(), own.to_owned());
        let answer = client.clone().run(&mut store, task);
        assert_eq!(answer, Answer::Refused(StepError::Record(GROUP.to_owned(), Unreadable::Damaged)));
        store.records.insert(GROUP.to_owned(), group.to_owned());
        store.records.insert(slot_name(0), group.to_owned());
        let answer = client.clone().run(&mut store, renew(&config(1), 1, 0, i64::MAX));
        assert_eq!(answer, Answer::Refused(StepError::Record(slot_name(0), Unreadable::Damaged)));
        assert_eq!(store.text(&slot_name(0)), Some(group));
    }
}

/// A newer version may have other rules for the whole group, so nothing in it is written any more.
#[test]
fn a_slot_of_a_newer_version_is_an_obstacle_even_where_other_slots_are_free() {
    let (group, slot) = (config(3), slot_name(2));
    let mut store = Store::with(&group);
    let mut client = Client::new(1);
    let held = client.take(&mut store, &group, 1);
    store.records.insert(slot.clone(), "flakeforge2 needs=1.4 slot of the future".to_owned());
    let before = store.records.clone();
    let why = Unreadable::Newer { version: 2, needs: Some(Release { major: 1, minor: 4 }) };
    for join in [join(&group, 2, "h"), join(&group, 1, "h")] {
        assert_eq!(client.run(&mut store, join), Answer::Refused(StepError::Record(slot.clone(), why)));
    }
    assert_eq!(store.records, before);
    let renewed = client.run(&mut store, renew(&group, 1, held.slot, held.hi));
    assert!(matches!(renewed, Answer::Granted(_)), "this step saw nothing of it: {renewed:?}");
}

#[test]
fn an_unreadable_slot_is_not_an_obstacle_while_other_slots_are_free() {
    let mut store = Store::with(&config(3));
    store.records.insert(slot_name(0), "?".to_owned());
    let mut client = Client::new(1);
    let slots = BTreeSet::from([1, 2].map(|owner| client.take(&mut store, &config(3), owner).slot));
    assert_eq!(slots, BTreeSet::from([1, 2]));
    let (retry_at, now) = (store.now + TTL + 1, store.now);
    assert_eq!(client.join(&mut store, &config(3), 3), exhausted(retry_at, now), "not the one that cannot be read");
    assert_eq!(store.text(&slot_name(0)), Some("?"));
}
