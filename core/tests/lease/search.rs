//! Which slots a search looks at, how many calls it takes, and when it may report that no slot is free.

use std::collections::BTreeSet;

use flakeforge_core::lease::grants::record::{GROUP, SlotRecord, Unreadable, slot_name, slot_of};
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, StepError, Task};

use crate::store::*;

/// A store with all slots but these held by others, each for a time that depends on its number.
fn taken(slots: u32, free: &[u32]) -> Store {
    let mut store = Store::with(&config(slots));
    for slot in (0..slots).filter(|slot| !free.contains(slot)) {
        let hi = store.now + 10_000 + i64::from(slot);
        store.put(slot, &SlotRecord { owner: Some(1 << 90), life: 1, lo: 0, hi, host: "other".to_owned(), nonce: 1 });
    }
    store
}

/// Members of `members` hosts join at once, alternating, one request each. Returns the calls of each, and the results.
fn all_at_once(members: u32, slots: u32, host: impl Fn(u32) -> String) -> (Vec<usize>, BTreeSet<u32>) {
    let mut store = Store::with(&config(slots));
    let mut waiting: Vec<_> = (0..members)
        .map(|member| {
            let mut client = Client::new(member + 10);
            let running = Running::new(&mut client, join(&config(slots), u128::from(member) + 1, &host(member)));
            (running, client)
        })
        .collect();
    let (mut calls, mut got) = (Vec::new(), BTreeSet::new());
    for _ in 0..100_000 {
        waiting.retain_mut(|(running, client)| {
            running.go(&mut store, client, Fate::Done);
            let Ask::Done(answer) = &running.ask else { return true };
            let Answer::Granted(Granted { slot, .. }) = answer else { panic!("{answer:?}") };
            assert!(got.insert(*slot), "slot {slot} twice");
            calls.push(client.calls);
            false
        });
        if waiting.is_empty() {
            break;
        }
    }
    assert_eq!(store.records.len(), members as usize + 1, "no slot is wasted");
    calls.sort_unstable();
    (calls, got)
}

fn mean(calls: &[usize]) -> f64 {
    calls.iter().sum::<usize>() as f64 / calls.len() as f64
}

#[test]
fn three_hundred_members_that_start_at_once_take_few_calls_each() {
    for (kind, host) in
        [("one host", (|_| "h".to_owned()) as fn(u32) -> String), ("many", |member| format!("h{member}"))]
    {
        let (calls, got) = all_at_once(300, 1024, host);
        assert_eq!(got.len(), 300);
        assert!(mean(&calls) <= 4.5, "{kind}: {}", mean(&calls));
        assert!(calls[299] <= 12, "{kind}: {}", calls[299]);
    }
}

#[test]
fn members_that_start_at_once_find_every_slot() {
    for slots in [1, 7, 64, 65, 300] {
        let (calls, got) = all_at_once(slots, slots, |member| format!("h{}", member % 3));
        assert_eq!(got.len(), slots as usize);
        assert!(mean(&calls) <= 6.0, "{slots}: {}", mean(&calls));
    }
}

#[test]
fn many_searches_in_one_process_waste_no_slot() {
    let mut store = Store::with(&config(1024));
    let mut client = Client::new(1);
    let mut running: Vec<_> =
        (1..=300).map(|owner| Running::new(&mut client, join(&config(1024), owner, "h"))).collect();
    while !running.is_empty() {
        for running in &mut running {
            running.go(&mut store, &mut client, Fate::Done);
        }
        running.retain(|running| !matches!(running.ask, Ask::Done(Answer::Granted(_))));
    }
    assert_eq!(store.records.len(), 301);
    assert_eq!(client.calls, 300 * 3, "none goes where another one is at: each reads, swaps and reads");
}

/// Searches of one client, alternating, up to their answers.
fn in_turns(client: &mut Client, store: &mut Store, slots: u32, owners: std::ops::Range<u128>) -> Vec<Answer> {
    let mut running: Vec<_> =
        owners.map(|owner| Running::new(client, join(&config(slots), owner, &format!("h{owner}")))).collect();
    for _ in 0..10_000 {
        running.iter_mut().for_each(|one| {
            if !matches!(one.ask, Ask::Done(_)) {
                one.go(store, client, Fate::Done);
            }
        });
    }
    let answer = |one: Running| match one.ask {
        Ask::Done(answer) => answer,
        ask => panic!("a step without an end: {ask:?}"),
    };
    running.into_iter().map(answer).collect()
}

#[test]
fn many_in_one_process_share_what_they_saw_of_a_large_group() {
    let free = [1, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 65_535];
    let mut store = taken(65_536, &free);
    let mut client = Client::new(1);
    let answers = in_turns(&mut client, &mut store, 65_536, 1..21);
    let got: BTreeSet<u32> = answers
        .iter()
        .filter_map(|answer| match answer {
            Answer::Granted(granted) => Some(granted.slot),
            _ => None,
        })
        .collect();
    assert_eq!(got, BTreeSet::from(free), "each free slot has one holder");
    let full = answers.iter().filter(|answer| matches!(answer, Answer::Refused(StepError::Exhausted { .. }))).count();
    assert_eq!(full, 12);
    assert!(client.calls < 20 * 8, "each for itself would look 66 times: {}", client.calls);
}

/// Searches of one client that have seen their samples: each is about to look at a part.
fn about_to_look(client: &mut Client, store: &mut Store, owners: std::ops::Range<u128>) -> Vec<Running> {
    let begun = |owner| Running::new(client, join(&config(65_536), owner, "h"));
    let mut running: Vec<_> = owners.map(begun).collect();
    for _ in 0..2 {
        running.iter_mut().for_each(|one| one.go(store, client, Fate::Done));
    }
    running
}

/// The part that a search is about to look at.
fn part(search: &Running) -> u32 {
    let Ask::Read(names) = &search.ask else { panic!("{:?}", search.ask) };
    slot_of(&names[1]).unwrap() / 1024
}

#[test]
fn many_in_one_process_look_at_as_many_parts_at_the_same_time() {
    let (mut store, mut client) = (taken(65_536, &[]), Client::new(1));
    let running = about_to_look(&mut client, &mut store, 1..65);
    assert_eq!(running.iter().map(part).collect::<BTreeSet<_>>().len(), 64);
}

#[test]
fn as_many_are_sent_to_a_part_as_slots_were_free_there() {
    for seed in 1..20 {
        let (mut store, mut client) = (taken(65_536, &[5120, 5121, 5122]), Client::new(seed));
        let mut first = about_to_look(&mut client, &mut store, 1..2).pop().unwrap();
        while matches!(first.ask, Ask::Read(_)) {
            first.go(&mut store, &mut client, Fate::Done);
        }
        let running = about_to_look(&mut client, &mut store, 2..8);
        assert_eq!(running.iter().filter(|search| part(search) == 5).count(), 2, "and the first takes one");
    }
}

#[test]
fn many_in_one_process_find_every_slot_of_a_small_group() {
    let (mut store, mut client) = (Store::with(&config(16)), Client::new(1));
    let answers = in_turns(&mut client, &mut store, 16, 1..41);
    let is_full = |answer: &&Answer| matches!(answer, Answer::Refused(StepError::Exhausted { .. }));
    assert_eq!(answers.iter().filter(is_full).count(), 24);
    assert_eq!(store.records.len(), 16 + 1);
}

#[test]
fn a_group_that_was_large_is_searched_as_the_small_one_that_follows() {
    let (mut store, mut client) = (taken(3000, &[]), Client::new(1));
    assert!(matches!(client.join(&mut store, &config(3000), 1), Answer::Refused(StepError::Exhausted { .. })));
    let mut store = taken(3, &[]);
    assert!(matches!(client.join(&mut store, &config(3), 2), Answer::Refused(StepError::Exhausted { .. })));
}

#[test]
fn reads_before_a_search_began_do_not_count_for_it() {
    let slots = 3000;
    let mut store = taken(slots, &[]);
    let mut client = Client::new(1);
    assert!(matches!(client.join(&mut store, &config(slots), 1), Answer::Refused(StepError::Exhausted { .. })));
    // A slot is given back; a search that starts now has to find it, wherever it is.
    for slot in [0, 1_500, 2_999] {
        let mut store = store.clone();
        store.put(slot, &SlotRecord { owner: None, life: 1, lo: 1, hi: 1, host: String::new(), nonce: 8 });
        assert_eq!(client.take(&mut store, &config(slots), u128::from(slot) + 2).slot, slot);
    }
}

#[test]
fn a_read_that_was_sent_before_a_search_began_does_not_count_for_it() {
    let slots = 65; // one part
    let mut full = taken(slots, &[]);
    let mut client = Client::new(1);
    let mut early = Running::new(&mut client, join(&config(slots), 1, "h"));
    for _ in 0..2 {
        early.go(&mut full, &mut client, Fate::Done); // its samples
    }
    // Its look at all slots is in progress. A search starts, and a slot that it does not look at first is given back.
    let mut late = Running::new(&mut client, join(&config(slots), 2, "h"));
    early.go(&mut full, &mut client, Fate::Done);
    assert!(matches!(early.ask, Ask::Done(Answer::Refused(StepError::Exhausted { .. }))), "{:?}", early.ask);
    let mut looks = Vec::new();
    while !matches!(late.ask, Ask::Done(_)) {
        if let Ask::Read(names) = &late.ask {
            looks.push(names.len() - 1);
        }
        late.go(&mut full, &mut client, Fate::Done);
    }
    assert_eq!(looks, [32, 32, 65], "it looks at all slots itself");
}

#[test]
fn the_last_free_slots_of_many_are_found_in_few_calls() {
    let free: Vec<u32> = (1000..1024).map(|slot| slot * 7 % 1024).collect();
    let store = taken(1024, &free);
    for seed in 1..100 {
        let mut client = Client::new(seed);
        let granted = client.take(&mut store.clone(), &config(1024), 1);
        assert!(free.contains(&granted.slot));
        assert!(client.calls <= 8, "{}", client.calls);
    }
}

#[test]
fn the_one_free_slot_of_65_536_is_found() {
    let store = taken(65_536, &[40_000]);
    let mut client = Client::new(1);
    assert_eq!(client.take(&mut store.clone(), &config(65_536), 1).slot, 40_000);
    assert!(client.calls <= 2 + 64 + 2, "{}", client.calls);
}

/// The names that each read of a step requests.
fn reads(client: &mut Client, store: &mut Store, task: Task) -> (Vec<Vec<u32>>, Answer) {
    let mut reads = Vec::new();
    let answer = client.run_with(store, task, |_, ask| {
        if let Ask::Read(names) = ask {
            assert_eq!(names[0], GROUP);
            let slots: Vec<u32> = names[1..].iter().map(|name| slot_of(name).unwrap()).collect();
            assert_eq!(slots.iter().collect::<BTreeSet<_>>().len(), slots.len(), "no slot is read twice");
            reads.push(slots);
        }
        Fate::Done
    });
    (reads, answer)
}

/// The slots of the first three reads.
fn first_reads(seed: u32, store: &mut Store, slots: u32, host: &str) -> [BTreeSet<u32>; 3] {
    let mut client = Client::new(seed);
    let mut running = Running::new(&mut client, join(&config(slots), 1, host));
    [0, 1, 2].map(|_| {
        let Ask::Read(names) = &running.ask else { panic!("{:?}", running.ask) };
        let slots = names.iter().filter_map(|name| slot_of(name)).collect();
        running.go(store, &mut client, Fate::Done);
        slots
    })
}

#[test]
fn exhausted_is_reported_after_a_look_at_every_slot_and_names_the_earliest_end() {
    for slots in [1, 64, 65, 1024, 1025, 3000, 65_536] {
        let mut store = taken(slots, &[]);
        let (reads, answer) = reads(&mut Client::new(slots), &mut store, join(&config(slots), 1, "h"));
        assert_eq!(answer, exhausted(store.now + 10_001, store.now), "{slots}");
        let seen: BTreeSet<u32> = reads.iter().flatten().copied().collect();
        assert_eq!(seen.len(), slots as usize);
        let samples = if slots > 64 { 2 } else { 0 };
        assert_eq!(reads.len(), samples + slots.div_ceil(1024) as usize, "{slots}");
        assert!(reads[..samples].iter().all(|read| read.len() == 32));
        assert!(reads.iter().all(|read| read.len() <= 1024));
    }
}

#[test]
fn a_group_without_slots_has_none_that_is_free() {
    let mut store = Store::with(&config(0));
    let (looks, answer) = reads(&mut Client::new(1), &mut store, join(&config(0), 1, "here"));
    assert_eq!(answer, exhausted(i64::MAX, store.now));
    assert!(looks.iter().all(Vec::is_empty), "{looks:?}");
}

#[test]
fn four_slots_of_a_sample_follow_from_the_hosts_name_and_the_rest_is_random() {
    let mut store = taken(65_536, &[]);
    let mut sample = |seed, host: &str| first_reads(seed, &mut store, 65_536, host);
    let ([a, b, _], [c, d, _]) = (sample(1, "h"), sample(2, "h"));
    let home: BTreeSet<u32> = a.intersection(&b).copied().collect();
    assert_eq!(home.len(), 4);
    assert!(home.is_subset(&c) && home.is_subset(&d));
    assert!(a.intersection(&c).count() < 8 && c.intersection(&d).count() < 8);
    let [e, f, _] = sample(1, "other host");
    let others: BTreeSet<u32> = e.intersection(&f).copied().collect();
    assert!(others.is_disjoint(&home));
}

#[test]
fn many_begin_their_pass_at_different_parts() {
    let mut store = taken(20_000, &[]);
    let begins = |seed| first_reads(seed, &mut store, 20_000, "h")[2].first().copied();
    let different: BTreeSet<_> = (1..20).map(begins).collect();
    assert!(different.len() > 8, "{}", different.len());
}

#[test]
fn a_failed_swap_voids_the_pass() {
    // Another member takes the one free slot just before the swap and gives it back at once. So it is free.
    for fate in [Fate::Done, Fate::Dropped, Fate::Unheard] {
        let mut store = taken(2000, &[777]);
        let mut is_first = true;
        let answer = Client::new(3).run_with(&mut store, join(&config(2000), 1, "h"), |store, ask| {
            if !swaps_slot(ask) || !std::mem::take(&mut is_first) {
                return Fate::Done;
            }
            if fate == Fate::Done {
                let other = SlotRecord { owner: None, life: 1, lo: 1, hi: 1, host: String::new(), nonce: 8 };
                store.put(777, &other);
            }
            fate
        });
        assert!(matches!(answer, Answer::Granted(Granted { slot: 777, .. })), "{answer:?}");
    }
}

#[test]
fn after_a_swap_that_failed_all_slots_are_looked_at_again_before_it_is_exhausted() {
    let mut store = taken(3000, &[777]);
    let (mut is_first, mut after) = (true, Vec::new());
    let answer = Client::new(3).run_with(&mut store, join(&config(3000), 1, "h"), |store, ask| {
        if swaps_slot(ask) && std::mem::take(&mut is_first) {
            let hi = store.now + 5;
            store.put(777, &SlotRecord { owner: Some(9), life: 1, lo: 1, hi, host: String::new(), nonce: 8 });
        }
        if let (Ask::Read(names), false) = (ask, is_first) {
            after.extend(names[1..].iter().cloned());
        }
        Fate::Done
    });
    assert_eq!(answer, exhausted(store.now + 6, store.now));
    let seen: BTreeSet<_> = after.into_iter().collect();
    assert_eq!(seen.len(), 3000);
}

#[test]
fn a_slot_overwritten_after_our_swap_voids_the_pass() {
    let mut store = taken(3000, &[777]);
    let (mut swaps, mut is_swapped, mut after) = (0, false, BTreeSet::new());
    let answer = Client::new(3).run_with(&mut store, join(&config(3000), 1, "h"), |store, ask| {
        if std::mem::replace(&mut is_swapped, swaps_slot(ask)) {
            let hi = store.now + 5;
            store.put(777, &SlotRecord { owner: Some(9), life: 1, lo: 1, hi, host: String::new(), nonce: 8 });
        } else if let (Ask::Read(names), true) = (ask, swaps > 0) {
            after.extend(names[1..].iter().cloned());
        }
        swaps += i32::from(swaps_slot(ask));
        Fate::Done
    });
    assert_eq!((answer, swaps, after.len()), (exhausted(store.now + 6, store.now), 1, 3000));
}

#[test]
fn a_read_after_a_swap_shows_only_what_was_tried() {
    let mut store = Store::with(&config(1024));
    let (reads, answer) = reads(&mut Client::new(3), &mut store, join(&config(1024), 1, "h"));
    let Answer::Granted(granted) = answer else { panic!("{answer:?}") };
    assert_eq!((reads.len(), &reads[1]), (2, &vec![granted.slot]));
}

#[test]
fn slots_that_were_tried_are_read_again_with_the_same_token() {
    let mut store = Store::with(&config(65_536));
    let mut client = Client::new(1);
    let mut running = Running::new(&mut client, join(&config(65_536), 1, "h"));
    while !swaps_slot(&running.ask) {
        running.go(&mut store, &mut client, Fate::Done);
    }
    running.go(&mut store, &mut client, Fate::Unheard); // and its caller gave up
    let slot = store.records.keys().find_map(|name| slot_of(name)).unwrap();
    let (reads_, answer) = reads(&mut client.clone(), &mut store.clone(), join(&config(65_536), 1, "h"));
    assert_eq!(answer, granted(slot, store.now, store.now + TTL, store.now));
    assert_eq!(reads_[0][0], slot);
    let (reads_, _) = reads(&mut client, &mut store, join(&config(65_536), 2, "other"));
    assert!(!reads_[0].contains(&slot), "not with another token");
}

#[test]
fn a_search_ends_though_most_slots_were_tried() {
    let mut store = Store::with(&config(65));
    let mut client = Client::new(1);
    for _ in 0..20 {
        let mut running = Running::new(&mut client, join(&config(65), 1, "h"));
        for _ in 0..20 {
            running.go(&mut store, &mut client, Fate::Dropped);
            assert!(!matches!(running.ask, Ask::Done(_)));
        }
    }
    let mut most = 0;
    client.run_with(&mut store, join(&config(65), 1, "h"), |_, ask| {
        if let Ask::Read(names) = ask {
            most = most.max(names.len());
        }
        Fate::Done
    });
    assert!(most <= 1 + 32 + 32, "{most}");
    assert_eq!(store.records.len(), 2);
}

#[test]
fn only_unreadable_slots_are_left() {
    for slots in [3, 3000] {
        let mut store = Store::with(&config(slots));
        for slot in 0..slots {
            store.records.insert(slot_name(slot), "?".to_owned());
        }
        let before = store.records.clone();
        let answer = Client::new(1).join(&mut store, &config(slots), 1);
        let Answer::Refused(StepError::Record(name, Unreadable::Damaged)) = answer else { panic!("{answer:?}") };
        assert!(slot_of(&name).is_some_and(|slot| slot < slots));
        assert_eq!(store.records, before);
    }
}
