//! Counters of blocks: no block is given twice, and no loss is repaired silently.

use std::collections::BTreeSet;

use flakeforge_core::lease::grants::memory::LONGEST_TTL_MS;
use flakeforge_core::lease::grants::record::{COUNTER, CounterRecord, Unreadable, slot_name};
use flakeforge_core::lease::grants::task::{Answer, Ask, StepError, Task};

use crate::store::*;

fn advance(by: u64, init: Option<u64>) -> Task {
    Task::Advance { by, init, durable: false }
}

fn skip_to(place: u64) -> Task {
    Task::SkipTo { place, durable: false }
}

fn number(number: u64) -> Answer {
    Answer::Number(number)
}

fn refused(refused: StepError) -> Answer {
    Answer::Refused(refused)
}

/// A store with a counter that two clients know. Its next block starts at 20.
fn known() -> (Store, Client, Client) {
    let mut store = Store::empty();
    let (mut one, mut two) = (Client::new(1), Client::new(2));
    assert_eq!(one.run(&mut store, advance(10, Some(0))), number(0));
    assert_eq!(two.run(&mut store, advance(10, None)), number(10));
    (store, one, two)
}

#[test]
fn counters_give_blocks() {
    let (mut store, mut client) = (Store::empty(), Client::new(1));
    assert_eq!(client.run(&mut store, advance(10, None)), refused(StepError::Gone));
    assert!(store.records.is_empty());
    assert_eq!(client.run(&mut store, advance(10, Some(5))), number(5));
    assert_eq!(client.run(&mut store, advance(7, Some(5))), number(15), "init is for a counter that is missing");
    let calls = client.calls;
    assert_eq!(client.run(&mut store, advance(7, None)), number(22));
    assert_eq!(client.calls - calls, 3, "read, swap, read");
    assert_eq!(client.run(&mut store, advance(0, None)), number(29));
    assert_eq!(store.counter().value, 29);
}

#[test]
fn a_block_does_not_count_once_a_loss_was_noted() {
    let (mut store, mut one, _) = known();
    let mut slow = Running::new(&mut one, advance(10, None));
    slow.go(&mut store, &mut one, Fate::Done);
    slow.go(&mut store, &mut one, Fate::Done); // the swap
    let taken = store.counter();
    let lost = CounterRecord { value: taken.value + 10, is_lost: true, nonce: 1, ..taken };
    store.records.insert(COUNTER.to_owned(), lost.text());
    slow.finish(&mut store, &mut one);
    assert_eq!(slow.ask, Ask::Done(refused(StepError::Behind)), "another may have been given it");
}

#[test]
fn a_counter_needs_no_clock() {
    let (mut store, mut one, _) = known();
    one.clock = (-1_000_000, -1_000_000);
    store.now = 0;
    assert_eq!(one.run(&mut store, advance(10, None)), number(20));
}

#[test]
fn a_counter_ends_with_its_64_bits() {
    let (mut store, mut client) = (Store::empty(), Client::new(1));
    assert_eq!(client.run(&mut store, advance(2, Some(u64::MAX))), refused(StepError::Full(u64::MAX)));
    assert!(store.records.is_empty(), "it was not created either");
    assert_eq!(client.run(&mut store, advance(2, Some(u64::MAX - 2))), number(u64::MAX - 2));
    let before = store.records.clone();
    assert_eq!(client.run(&mut store, advance(1, None)), refused(StepError::Full(u64::MAX)));
    assert_eq!(store.records, before);
    assert_eq!(client.run(&mut store, advance(0, None)), number(u64::MAX));
}

// Whether a block counts

/// A block with this fate of its swap, and something that happens before the next read. Returns how often it swapped.
fn block(store: &mut Store, client: &mut Client, fate: Fate, happens: impl Fn(&mut Store)) -> (Answer, i32) {
    let (mut swaps, mut is_swapped) = (0, false);
    let answer = client.run_with(store, advance(10, None), |store, ask| {
        if std::mem::replace(&mut is_swapped, swaps_counter(ask)) && swaps == 1 {
            happens(store);
        }
        swaps += i32::from(swaps_counter(ask));
        if swaps == 1 { fate } else { Fate::Done }
    });
    (answer, swaps)
}

fn swaps_counter(ask: &Ask) -> bool {
    swaps(ask, COUNTER)
}

#[test]
fn a_block_counts_after_a_clean_swap_that_a_read_shows() {
    for (fate, first, swaps) in
        [(Fate::Done, 20, 1), (Fate::Unheard, 30, 2), (Fate::Dropped, 20, 2), (Fate::Lie, 20, 2)]
    {
        let (mut store, mut one, _) = known();
        assert_eq!(block(&mut store, &mut one, fate, |_| ()), (number(first), swaps), "{fate:?}");
        assert_eq!(store.counter().value, first + 10);
    }
}

#[test]
fn after_a_clean_swap_others_may_have_continued() {
    let others = |store: &mut Store| {
        assert_eq!(Client::new(9).run(store, advance(10, None)), number(30));
    };
    let (mut store, mut one, _) = known();
    assert_eq!(block(&mut store, &mut one, Fate::Done, others), (number(20), 1));
    let (mut store, mut one, _) = known();
    assert_eq!(block(&mut store, &mut one, Fate::Unheard, others), (number(40), 2), "not after an error");
}

#[test]
fn after_a_clean_swap_the_value_must_reach_the_blocks_end() {
    let (mut store, mut one, _) = known();
    let back = |store: &mut Store| {
        let counter = CounterRecord { value: 29, nonce: 1, ..store.counter() };
        store.records.insert(COUNTER.to_owned(), counter.text());
    };
    assert_eq!(block(&mut store, &mut one, Fate::Done, back), (number(29), 2));
    let (mut store, mut one, _) = known();
    let there = |store: &mut Store| {
        let counter = CounterRecord { value: 30, nonce: 1, ..store.counter() };
        store.records.insert(COUNTER.to_owned(), counter.text());
    };
    assert_eq!(block(&mut store, &mut one, Fate::Done, there), (number(20), 1));
}

#[test]
fn after_a_true_swap_the_lineage_must_be_the_same() {
    let (mut store, mut one, _) = known();
    let other = |store: &mut Store| {
        assert_eq!(Client::new(9).run(store, skip_to(1_000)), number(1_000));
    };
    assert_eq!(block(&mut store, &mut one, Fate::Done, other), (number(1_000), 2));
}

#[test]
fn a_block_counts_only_under_the_identity_that_it_was_decided_from() {
    let lost: [fn(&mut Store); 2] = [Store::restart, Store::fail_over];
    for lose in lost {
        for goes_on in [false, true] {
            let (mut store, mut one, _) = known();
            let happens = |store: &mut Store| {
                if goes_on {
                    Client::new(9).run(store, advance(10, None));
                }
                lose(store);
            };
            // One swap for the block, and one that notes the loss.
            assert_eq!(block(&mut store, &mut one, Fate::Done, happens), (refused(StepError::Behind), 2));
        }
    }
    // The record's identity fits the server's again, but it is not the one under which the block was decided.
    let (mut store, mut one, _) = known();
    store.identity.history.clear();
    let answer = block(&mut store, &mut one, Fate::Done, |store| store.identity.history = "history".to_owned());
    assert_eq!(answer, (number(30), 2));
}

#[test]
fn a_swap_carries_the_identity_of_its_read() {
    let (mut store, mut one, _) = known();
    let before = store.counter();
    let mut is_first = true;
    let answer = one.run_with(&mut store, advance(10, None), |store, ask| {
        if swaps_counter(ask) && std::mem::take(&mut is_first) {
            store.restart();
        }
        Fate::Done
    });
    assert_eq!((answer, store.counter().value), (refused(StepError::Behind), before.value));
}

#[test]
fn blocks_of_many_at_once_are_disjoint() {
    let mut store = Store::empty();
    let mut clients: Vec<_> = (1..=20).map(Client::new).collect();
    let mut running: Vec<_> = clients.iter_mut().map(|client| Running::new(client, advance(10, Some(0)))).collect();
    for round in 0..1_000 {
        for (place, (running, client)) in running.iter_mut().zip(&mut clients).enumerate() {
            let fate = if (round + place) % 3 == 0 { Fate::Unheard } else { Fate::Done };
            if !matches!(running.ask, Ask::Done(_)) && (round + place) % 2 == 0 {
                running.go(&mut store, client, fate);
            }
        }
    }
    let begins: BTreeSet<u64> = running
        .iter()
        .map(|running| match running.ask {
            Ask::Done(Answer::Number(number)) => number,
            _ => panic!("{:?}", running.ask),
        })
        .collect();
    assert_eq!(begins.len(), 20);
    assert!(begins.iter().all(|begin| begin % 10 == 0));
}

// Losses

#[test]
fn another_identity_stops_a_counter_until_an_operator_says_where_to_continue() {
    let lost: [fn(&mut Store); 2] = [Store::restart, Store::fail_over];
    for lose in lost {
        let (mut store, mut one, mut two) = known();
        lose(&mut store);
        let before = store.counter();
        for task in [advance(10, None), advance(10, Some(0)), advance(0, None)] {
            assert_eq!(one.run(&mut store, task.clone()), refused(StepError::Behind));
            assert_eq!(
                Client::new(9).run(&mut store, task),
                refused(StepError::Behind),
                "also a client that knows nothing about it"
            );
        }
        let nonce = store.counter().nonce;
        assert_eq!(store.counter(), CounterRecord { is_lost: true, nonce, ..before });
        assert_ne!(nonce, before.nonce);
        assert_eq!(one.run(&mut store, skip_to(500)), number(500));
        assert_eq!(one.run(&mut store, advance(10, None)), number(500));
        assert_eq!(two.run(&mut store, advance(10, None)), number(510), "for all");
    }
}

#[test]
fn a_loss_that_was_seen_once_counts_when_the_identity_comes_back() {
    for durable in [false, true] {
        let advance = || Task::Advance { by: 10, init: Some(0), durable };
        let (mut store, mut one) = (Store::empty(), Client::new(1));
        assert_eq!(one.run(&mut store, advance()), number(0));
        let before = store.identity.clone();
        store.fail_over();
        assert_eq!(Client::new(2).run(&mut store, advance()), refused(StepError::Behind));
        store.identity = before;
        for client in [&mut one, &mut Client::new(3)] {
            assert_eq!(client.run(&mut store, advance()), refused(StepError::Behind));
        }
        assert_eq!(one.run(&mut store, Task::SkipTo { place: 500, durable }), number(500));
        assert_eq!(Client::new(3).run(&mut store, advance()), number(500));
    }
}

#[test]
fn a_client_that_was_given_numbers_notes_the_loss_of_a_missing_counter() {
    let (mut store, mut one, _) = known();
    let known = store.counter();
    store.records.clear();
    for client in [&mut one, &mut Client::new(9)] {
        assert_eq!(client.run(&mut store, advance(10, Some(0))), refused(StepError::Behind));
    }
    let CounterRecord { value, is_lost, lineage, .. } = store.counter();
    assert_eq!((value, is_lost, lineage), (10, true, known.lineage), "what it was given itself");
    assert_eq!(one.run(&mut store, skip_to(7)), number(10));
    assert_eq!(Client::new(9).run(&mut store, advance(10, None)), number(10));
}

#[test]
fn a_client_that_knows_another_counter_stops_its_replacement() {
    for by in [10, 110] {
        let (mut store, mut one, _) = known();
        store.records.clear();
        let mut newcomer = Client::new(9);
        assert_eq!(newcomer.run(&mut store, advance(by, Some(0))), number(0), "a client that knows none starts it");
        assert_eq!(one.run(&mut store, advance(10, Some(0))), refused(StepError::Behind), "above what it knows, too");
        assert_eq!(newcomer.run(&mut store, advance(10, None)), refused(StepError::Behind));
        assert_eq!(one.run(&mut store, skip_to(7)), number(by));
        assert_eq!(newcomer.run(&mut store, advance(10, None)), number(by));
    }
}

#[test]
fn a_counter_below_what_was_given_is_behind_whatever_its_lineage() {
    let (mut store, mut one, _) = known();
    one.run(&mut store, advance(10, None)); // up to 30
    let older = CounterRecord { value: 29, ..store.counter() };
    store.records.insert(COUNTER.to_owned(), older.text());
    assert_eq!(one.run(&mut store, advance(10, None)), refused(StepError::Behind));
    store.records.clear();
    Client::new(9).run(&mut store, skip_to(29));
    assert_eq!(one.run(&mut store, advance(10, None)), refused(StepError::Behind), "too low a place");
    Client::new(9).run(&mut store, skip_to(30));
    assert_eq!(one.run(&mut store, advance(10, None)), number(30));
}

#[test]
fn given_numbers_are_not_forgotten_when_answers_come_in_another_order() {
    let (mut store, mut one, _) = known();
    let mut slow = Running::new(&mut one, advance(10, None));
    slow.go(&mut store, &mut one, Fate::Done);
    slow.go(&mut store, &mut one, Fate::Done); // 20 to 30, not read yet
    let look = slow.look(&store, &one);
    assert_eq!(one.run(&mut store, advance(10, None)), number(30));
    slow.hear(look, &mut one);
    assert_eq!(slow.ask, Ask::Done(number(20)));
    let older = CounterRecord { value: 35, ..store.counter() };
    store.records.insert(COUNTER.to_owned(), older.text());
    assert_eq!(one.run(&mut store, advance(10, None)), refused(StepError::Behind));
}

/// A pool of connections answers in any order.
#[test]
fn a_read_overtaken_by_another_step_of_the_same_client_is_not_a_loss() {
    let (mut store, mut one, mut two) = known();
    let mut slow = Running::new(&mut one, advance(10, None));
    let look = slow.look(&store, &one);
    assert_eq!(one.run(&mut store, advance(10, None)), number(20));
    assert_eq!(one.run(&mut store, skip_to(100)), number(100), "of another lineage");
    slow.hear(look, &mut one);
    slow.finish(&mut store, &mut one);
    assert_eq!(slow.ask, Ask::Done(number(100)));

    store.records.clear();
    let mut slow = Running::new(&mut one, advance(10, None));
    let look = slow.look(&store, &one);
    assert_eq!(two.run(&mut store, skip_to(200)), number(200));
    slow.hear(look, &mut one);
    slow.finish(&mut store, &mut one);
    assert_eq!(slow.ask, Ask::Done(number(200)), "its note of a loss comes too late");
}

#[test]
fn a_client_begins_a_counter_once_whatever_the_order_of_its_answers() {
    let (mut store, mut client) = (Store::empty(), Client::new(1));
    let mut slow = Running::new(&mut client, advance(10, Some(0)));
    let look = slow.look(&store, &client);
    assert_eq!(client.run(&mut store, advance(10, Some(0))), number(0));
    store.records.clear(); // and the counter is lost
    slow.hear(look, &mut client);
    slow.finish(&mut store, &mut client);
    assert_eq!(slow.ask, Ask::Done(refused(StepError::Behind)));
}

#[test]
fn a_settled_counter_stays_so_for_clients_of_another_lineage() {
    let (mut store, mut one, mut two) = known();
    one.run(&mut store, skip_to(0));
    let settled = store.counter();
    assert_eq!((settled.value, settled.is_settled), (20, true));
    one.run(&mut store, advance(10, None));
    assert_eq!((store.counter().lineage, store.counter().is_settled), (settled.lineage, true));
    assert_eq!(two.run(&mut store, advance(10, None)), number(30));
}

#[test]
fn a_fall_of_the_position_stops_a_counter_for_all() {
    for durable in [false, true] {
        let advance = |init| Task::Advance { by: 10, init, durable };
        let mut store = Store::empty();
        let mut one = Client::new(1);
        store.position = Some(100);
        one.run(&mut store, advance(Some(0)));
        store.position = Some(99);
        assert_eq!(one.run(&mut store, advance(None)), refused(StepError::Behind));
        assert!(store.counter().is_lost);
        assert_eq!(Client::new(9).run(&mut store, advance(None)), refused(StepError::Behind));
        assert_eq!(one.run(&mut store, Task::SkipTo { place: 700, durable }), number(700));
        assert_eq!(one.run(&mut store, advance(None)), number(700));
    }
}

#[test]
fn a_mark_of_a_loss_is_not_a_block() {
    let (mut store, mut one, _) = known();
    store.position = Some(100);
    one.run(&mut store, advance(0, None));
    let before = store.records.clone();
    store.position = Some(50);
    // Two steps write the mark. Both times the previous state comes back, and the second step has noted the loss.
    let [mut first, mut second] = [0, 1].map(|_| Running::new(&mut one, advance(100, None)));
    first.go(&mut store, &mut one, Fate::Done);
    second.go(&mut store, &mut one, Fate::Done);
    first.go(&mut store, &mut one, Fate::Done);
    store.records = before.clone();
    second.go(&mut store, &mut one, Fate::Done);
    second.go(&mut store, &mut one, Fate::Done);
    assert_eq!(second.ask, Ask::Done(refused(StepError::Behind)));
    store.records = before;
    first.go(&mut store, &mut one, Fate::Done);
    assert!(!matches!(first.ask, Ask::Done(_)), "its value is below the block's size: {:?}", first.ask);
}

// Where to continue

#[test]
fn a_counter_never_goes_down() {
    let (mut store, mut one, _) = known();
    assert_eq!(one.run(&mut store, skip_to(4)), number(20));
    assert_eq!(one.run(&mut store, skip_to(100)), number(100));
    assert_eq!(one.run(&mut store, advance(1, None)), number(100));
    assert_eq!(one.run(&mut store, skip_to(u64::MAX)), number(u64::MAX));
    assert_eq!(one.run(&mut store, advance(1, None)), refused(StepError::Full(u64::MAX)));
}

#[test]
fn skip_to_creates_a_missing_counter_and_a_new_lineage_each_time() {
    let (mut store, mut client) = (Store::empty(), Client::new(1));
    let mut lineages = BTreeSet::new();
    for _ in 0..5 {
        assert_eq!(client.run(&mut store, skip_to(9)), number(9));
        lineages.insert(store.counter().lineage);
    }
    assert_eq!(lineages.len(), 5);
    assert_eq!(store.counter().identity, store.identity);
}

// Durable

#[test]
fn members_agree_whether_they_vouch_for_the_store() {
    for durable in [false, true] {
        let (mut store, mut client) = (Store::empty(), Client::new(1));
        client.run(&mut store, Task::Advance { by: 10, init: Some(0), durable });
        let before = store.records.clone();
        store.fail_over();
        let other = Task::Advance { by: 10, init: Some(0), durable: !durable };
        assert_eq!(client.run(&mut store, other), refused(StepError::Durable(durable)));
        assert_eq!(store.records, before);
        assert_eq!(client.run(&mut store, Task::SkipTo { place: 0, durable: !durable }), number(10));
        assert_eq!(store.counter().durable, !durable, "the command that continues it sets this, too");
    }
}

#[test]
fn a_durable_counter_continues_after_a_restart_and_stops_after_another_history() {
    let advance = || Task::Advance { by: 10, init: Some(0), durable: true };
    let (mut store, mut client) = (Store::empty(), Client::new(1));
    client.run(&mut store, advance());
    store.restart();
    assert_eq!(client.run(&mut store, advance()), number(10));
    let mut is_first = true;
    let answer = client.run_with(&mut store, advance(), |store, ask| {
        if !swaps_counter(ask) && !std::mem::take(&mut is_first) {
            store.restart(); // between swap and read
        }
        Fate::Done
    });
    assert_eq!(answer, number(20));
    store.fail_over();
    assert_eq!(client.run(&mut store, advance()), refused(StepError::Behind));
}

// Texts that cannot be read

#[test]
fn a_counter_that_cannot_be_read_is_refused_by_name_and_left_alone() {
    let (store, one, _) = known();
    let own = store.text(COUNTER).unwrap();
    let group = Store::with(&config(1)).text("group").unwrap().to_owned();
    for (text, why) in [
        ("", Unreadable::Damaged),
        (&own[..own.len() - 1], Unreadable::Damaged),
        (&own.replace("value=20", "value=21"), Unreadable::Damaged),
        (&own.replace("flakeforge1", "flakeforge2"), Unreadable::Newer { version: 2, needs: None }),
        (&group, Unreadable::Damaged),
    ] {
        for task in [advance(10, Some(0)), advance(10, None), skip_to(1_000)] {
            let mut store = store.clone();
            store.records.insert(COUNTER.to_owned(), text.to_owned());
            let answer = one.clone().run(&mut store, task);
            assert_eq!(answer, refused(StepError::Record(COUNTER.to_owned(), why)));
            assert_eq!(store.text(COUNTER), Some(text));
        }
    }
}

#[test]
fn a_counter_stops_once_restored_records_are_reported() {
    for durable in [false, true] {
        let advance = || Task::Advance { by: 10, init: Some(0), durable };
        let (mut store, mut one) = (Store::empty(), Client::new(1));
        one.run(&mut store, advance());
        for _ in 0..2 {
            assert_eq!(Client::new(2).run(&mut store, Task::CounterRestored), Answer::Done);
            assert_eq!(one.run(&mut store, advance()), refused(StepError::Behind));
        }
        assert_eq!(one.run(&mut store, Task::SkipTo { place: 500, durable }), number(500));
        assert_eq!(Client::new(3).run(&mut store, advance()), number(500));
        let mut store = Store::empty();
        assert_eq!(Client::new(2).run(&mut store, Task::CounterRestored), Answer::Done);
        assert_eq!(Client::new(3).run(&mut store, advance()), refused(StepError::Behind), "no client starts it again");
    }
}

// The end of a counter

fn destroyed(store: &mut Store, client: &mut Client) {
    assert_eq!(client.run(store, Task::DestroyCounter), Answer::Done);
}

#[test]
fn a_destroyed_counter_starts_anew_for_those_who_open_it() {
    let (mut store, mut one, mut two) = known();
    destroyed(&mut store, &mut Client::new(3));
    assert_eq!(one.run(&mut store, Task::Counter), Answer::Counter(None));
    assert_eq!(one.run(&mut store, advance(10, None)), refused(StepError::CounterDestroyed));
    assert_eq!(Client::new(4).run(&mut store, advance(10, Some(5))), number(5));
    assert_eq!(one.run(&mut store, advance(10, None)), refused(StepError::CounterDestroyed), "it is another counter");
    assert!(!store.counter().is_lost, "and its members go on");
    assert_eq!(two.run(&mut store, advance(10, Some(0))), number(15), "until it is opened");
    assert_eq!(two.run(&mut store, advance(10, None)), number(25));
}

#[test]
fn the_end_of_a_counter_is_written_until_it_is_clean() {
    for fate in [Fate::Done, Fate::Unheard, Fate::Dropped, Fate::Lie] {
        let (mut store, mut one, _) = known();
        let mut swaps = 0;
        let answer = one.run_with(&mut store, Task::DestroyCounter, |_, ask| {
            swaps += i32::from(swaps_counter(ask));
            if swaps == 1 { fate } else { Fate::Done }
        });
        assert_eq!(answer, Answer::Done, "{fate:?}");
        assert!(store.counter().is_destroyed, "{fate:?}");
    }
    let mut store = Store::empty();
    destroyed(&mut store, &mut Client::new(1));
    assert!(store.records.is_empty(), "there was none");
}

#[test]
fn a_block_that_was_taken_before_the_end_does_not_count_after_it() {
    let (mut store, mut one, _) = known();
    let mut slow = Running::new(&mut one, advance(10, None));
    slow.go(&mut store, &mut one, Fate::Done);
    slow.go(&mut store, &mut one, Fate::Done); // the swap
    destroyed(&mut store, &mut Client::new(3));
    slow.finish(&mut store, &mut one);
    assert_eq!(slow.ask, Ask::Done(refused(StepError::CounterDestroyed)));
}

#[test]
fn an_older_end_is_a_loss() {
    let (mut store, ..) = known();
    let mut member = Client::new(7);
    destroyed(&mut store, &mut Client::new(3));
    let ended = store.records.clone();
    assert_eq!(member.run(&mut store, advance(10, Some(0))), number(0));
    store.records = ended; // as an older copy
    assert_eq!(member.run(&mut store, advance(10, Some(0))), refused(StepError::Behind));
    assert!(store.counter().is_lost);
}

#[test]
fn an_operator_may_continue_a_destroyed_counter() {
    let (mut store, mut one, _) = known();
    destroyed(&mut store, &mut Client::new(3));
    assert_eq!(Client::new(4).run(&mut store, skip_to(3)), number(3));
    assert_eq!(one.run(&mut store, advance(10, None)), refused(StepError::CounterDestroyed));
    assert_eq!(one.run(&mut store, advance(10, Some(0))), number(3));
}

// Times of the past

fn past_of(lineage: u64, record: &str, by: u64) -> Task {
    Task::Past { record: record.to_owned(), by, lineage }
}

/// As a member of the group of `Store::with`.
fn past(record: &str, by: u64) -> Task {
    past_of(Store::with(&config(3)).group().lineage, record, by)
}

#[test]
fn a_group_has_a_counter_for_each_past_moment() {
    let (mut store, mut one, mut two) = (Store::with(&config(3)), Client::new(1), Client::new(2));
    assert_eq!(one.run(&mut store, past("span0000000001", 32)), number(0));
    assert_eq!(two.run(&mut store, past("span0000000001", 32)), number(32));
    assert_eq!(two.run(&mut store, past("span0000000002", 32)), number(0));
    assert_eq!(one.run(&mut store, past("span0000000001", 8)), number(64));
    let names: Vec<_> = store.records.keys().map(String::as_str).collect();
    assert_eq!(names, ["group", "past", "span0000000001", "span0000000002"]);
}

#[test]
fn a_loss_of_past_moments_stops_all_of_them() {
    let span = "span0000000001";
    let losses: [fn(&mut Store); 3] = [
        |store| store.records.clear(),
        Store::fail_over,
        |store| {
            store.fail_over();
            store.records.remove("span0000000001"); // of a member whose write the new primary never had
        },
    ];
    for lose in losses {
        let (mut store, mut one) = (Store::with(&config(3)), Client::new(1));
        assert_eq!(one.run(&mut store, past(span, 32)), number(0));
        lose(&mut store);
        assert_eq!(one.run(&mut store, past(span, 32)), refused(StepError::Behind));
        assert_eq!(one.run(&mut store, past("span0000000002", 32)), refused(StepError::Behind));
        assert_eq!(Client::new(2).run(&mut store, past(span, 32)), refused(StepError::Behind), "and all others");
    }
}

#[test]
fn a_restart_loses_no_past_moments() {
    let (mut store, mut one) = (Store::with(&config(3)), Client::new(1));
    assert_eq!(one.run(&mut store, past("span0000000001", 32)), number(0));
    store.restart();
    assert_eq!(one.run(&mut store, past("span0000000001", 32)), number(32), "its members vouch for that");
}

#[test]
fn an_operator_reports_that_past_moments_may_be_lost() {
    let (mut store, mut one) = (Store::with(&config(3)), Client::new(1));
    assert_eq!(one.run(&mut store, past("span0000000001", 32)), number(0));
    assert_eq!(Client::new(2).run(&mut store, Task::PastRestored), Answer::Done);
    assert_eq!(one.run(&mut store, past("span0000000002", 32)), refused(StepError::Behind));
}

#[test]
fn the_record_of_all_past_moments_is_written_until_it_is_clean() {
    for fate in [Fate::Unheard, Fate::Dropped, Fate::Lie] {
        let (mut store, mut one) = (Store::with(&config(3)), Client::new(1));
        let mut writes = 0;
        let answer = one.run_with(&mut store, past("span0000000001", 32), |_, ask| {
            writes += i32::from(swaps(ask, "past"));
            if swaps(ask, "past") && writes == 1 { fate } else { Fate::Done }
        });
        assert_eq!((answer, writes), (number(0), 2), "{fate:?}");
    }
}

/// After such a loss, the record for past moments is missing, so the group looks as if it had never generated IDs of the past.
#[test]
fn a_group_whose_store_lost_writes_begins_no_past_moments() {
    let lose: [fn(&mut Store); 2] = [
        |_| {},
        |store| {
            Client::new(3).run(store, Task::Create(config(3))); // notes the loss
        },
    ];
    for note in lose {
        let mut store = Store::with(&config(3));
        let before = store.records.clone();
        assert_eq!(Client::new(1).run(&mut store, past("span0000000001", 32)), number(0));
        store.records = before;
        store.fail_over();
        note(&mut store);
        assert_eq!(Client::new(2).run(&mut store, past("span0000000001", 32)), refused(StepError::Behind));
    }
    assert_eq!(Client::new(2).run(&mut Store::empty(), past("span0000000001", 32)), refused(StepError::Absent));
}

/// A member of the group before still holds its slot, and a loss has removed what showed that numbers were given.
#[test]
fn a_group_that_follows_a_loss_gives_past_moments_to_its_own_members_only() {
    let span = "span0000000001";
    let mut store = Store::with(&durable(3));
    let (before, first) = (store.records.clone(), store.group().lineage);
    assert_eq!(Client::new(1).run(&mut store, past_of(first, span, 32)), number(0));
    store.records = before;
    store.fail_over();
    assert_eq!(Client::new(2).run(&mut store, Task::Destroy), Answer::Done);
    assert_eq!(Client::new(4).run(&mut store, past_of(first, span, 32)), refused(StepError::Destroyed));
    Client::new(3).run(&mut store, Task::Create(durable(3)));
    assert_eq!(Client::new(4).run(&mut store, past_of(first, span, 32)), refused(StepError::OtherGroup));
    let second = store.group().lineage;
    assert_eq!(Client::new(5).run(&mut store, past_of(second, span, 32)), number(0));
    let Answer::Used(Some(until)) = used(&mut store, &[9], second) else { panic!("it knows of no loss") };
    assert!(until > store.now, "and refuses the times of the first");
}

/// The record of all past moments has the identity from before the promotion, which the server shows again.
#[test]
fn a_promotion_that_the_server_forgets_stops_past_moments_if_the_group_has_noted_it() {
    let mut store = Store::empty();
    store.identity.history = String::new();
    Client::new(0).run(&mut store, Task::Create(durable(3)));
    let own = store.group().lineage;
    let span = "span0000000001";
    assert_eq!(Client::new(1).run(&mut store, past_of(own, span, 32)), number(0));
    store.records.remove(span);
    store.fail_over();
    let renewal = renew(&durable(3), 7, 0, store.now);
    Client::new(2).run(&mut store, renewal); // notes the loss
    store.identity.history = String::new();
    assert_eq!(store.group().lineage, own);
    assert_eq!(Client::new(3).run(&mut store, past_of(own, span, 32)), refused(StepError::Behind));
    assert_eq!(Client::new(1).run(&mut store, past_of(own, span, 32)), refused(StepError::Behind));
}

/// Until when these slots may have been used, as a member of the group of this lineage asks.
fn used(store: &mut Store, slots: &[u32], lineage: u64) -> Answer {
    Client::new(8).run(store, Task::Used { slots: slots.to_vec(), lineage })
}

#[test]
fn slots_that_an_earlier_group_used_are_known() {
    let (config, mut member) = (config(3), Client::new(1));
    assert_eq!(used(&mut Store::empty(), &[0], 0), refused(StepError::Absent));
    let mut store = Store::with(&config);
    let first = store.group().lineage;
    assert_eq!(used(&mut store, &[0, 1, 2], first), Answer::Used(None));
    let granted = member.take(&mut store, &config, 7);
    assert_eq!(member.run(&mut store, Task::Destroy), Answer::Done);
    assert_eq!(used(&mut store, &[granted.slot], first), refused(StepError::Destroyed));
    assert!(matches!(member.run(&mut store, Task::Create(config)), Answer::Opened { is_new: true, .. }));
    let second = store.group().lineage;
    let until = granted.hi + LONGEST_TTL_MS;
    assert_eq!(used(&mut store, &[granted.slot], second), Answer::Used(Some(until)));
    assert_eq!(used(&mut store, &[9], second), Answer::Used(None));
    assert_eq!(used(&mut store, &[9], first), refused(StepError::OtherGroup));
    store.records.insert(slot_name(9), "damaged".to_owned());
    let damaged = refused(StepError::Record(slot_name(9), Unreadable::Damaged));
    assert_eq!(used(&mut store, &[9], second), damaged);
}

#[test]
fn an_earlier_group_that_a_loss_brings_back_does_not_tell_which_slots_were_used() {
    let (config, mut member) = (config(3), Client::new(1));
    let mut store = Store::with(&config);
    let living = store.records.clone();
    member.take(&mut store, &config, 7);
    member.run(&mut store, Task::Destroy);
    let ended = store.records.clone();
    member.run(&mut store, Task::Create(config));
    let lineage = store.group().lineage;
    for before in [living, ended] {
        store.records = before;
        store.fail_over();
        assert_eq!(used(&mut store, &[2], lineage), refused(StepError::OtherGroup));
    }
}

#[test]
fn slots_of_a_group_whose_store_lost_grants_may_have_been_used() {
    let mut store = Store::with(&config(3));
    let mut member = Client::new(1);
    store.fail_over();
    member.run(&mut store, Task::Create(config(3)));
    let quiet_until = store.group().quiet_until;
    assert!(quiet_until > store.now);
    member.run(&mut store, Task::Destroy);
    member.run(&mut store, Task::Create(config(2)));
    let lineage = store.group().lineage;
    assert_eq!(used(&mut store, &[2], lineage), Answer::Used(Some(quiet_until)), "a grant of it was lost, perhaps");
    member.run(&mut store, Task::Restored);
    let quiet_until = store.group().quiet_until;
    member.run(&mut store, Task::Destroy);
    member.run(&mut store, Task::Create(config(2)));
    let lineage = store.group().lineage;
    assert_eq!(used(&mut store, &[2], lineage), Answer::Used(Some(quiet_until)));
}
