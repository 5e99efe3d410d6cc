//! Stories that random schedules find too rarely.

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::Swap;
use flakeforge_core::lease::quorum::Step;
use flakeforge_core::lease::quorum::memory::Memory;
use flakeforge_core::lease::quorum::messages::{Act, Answer, At, Bounds, Event, How, QuorumError, Task, Whole};
use flakeforge_core::lease::quorum::record::{LIST, SEAT};
use flakeforge_core::lease::quorum::stores::Stores;

use super::rng::Rng;
use super::store::Store;

const NAME: &str = "slot0000000000";
const BOUNDS: Bounds = Bounds { ms: i64::MAX, skew_ms: 0 };

/// What becomes of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Arrives,
    Fails,
    Waits,
}

use Fate::{Arrives, Fails, Waits};

/// A client with one step at a time. Its messages arrive in the order in which they were sent, unless they wait.
struct Client {
    /// the number of the store of each seat
    places: Vec<usize>,
    memory: Memory,
    step: Step,
    bounds: Bounds,
    now: i64,
    waiting: Vec<Act>,
    answer: Option<Answer>,
    fills: Vec<usize>,
    rng: Rng,
}

fn owned(labels: &[&str]) -> Vec<String> {
    labels.iter().map(|label| (*label).to_owned()).collect()
}

fn read() -> Task {
    Task::Read { names: vec![NAME.to_owned()], how: How::Read }
}

impl Client {
    fn new(seed: u64) -> Self {
        Self::of(&["a", "b", "c"], seed)
    }

    fn of(labels: &[&str], seed: u64) -> Self {
        Self::with(labels, &[], seed)
    }

    /// The store 'a' is number 0. The last labels are those of stores that are to come.
    fn with(list: &[&str], coming: &[&str], seed: u64) -> Self {
        let labels = owned(&[list, coming].concat());
        let mut places: Vec<_> = labels.iter().map(|label| usize::from(label.as_bytes()[0] - b'a')).collect();
        places.sort_unstable();
        Self {
            places,
            memory: Memory::new(Stores::with(&labels, coming.len()).expect("a list")),
            step: Step::new("g", Task::Names, BOUNDS),
            bounds: BOUNDS,
            now: 0,
            waiting: Vec::new(),
            answer: None,
            fills: Vec::new(),
            rng: Rng::new(seed),
        }
    }

    fn at(&mut self) -> At {
        At { now: self.now, fresh: self.rng.bits() }
    }

    fn begin(&mut self, task: Task) {
        let at = self.at();
        self.step = Step::new("g", task, self.bounds);
        self.waiting = self.step.begin(at, &mut self.memory);
        self.answer = None;
    }

    /// Until only messages that wait are left. `fates`: those of the messages to each store.
    fn run(&mut self, stores: &mut [Store], fates: impl AsRef<[Fate]>) {
        for _ in 0..5_000 {
            if !self.one(stores, fates.as_ref()) {
                return;
            }
        }
        panic!("it goes on for ever: {:?} {:?}", self.waiting, self.step);
    }

    /// Delivers the first message that does not wait.
    fn one(&mut self, stores: &mut [Store], fates: &[Fate]) -> bool {
        let waits = |act: &Act| match act {
            Act::Read { seat, .. } | Act::Swap { seat, .. } | Act::Names { seat, .. } => {
                fates[self.places[*seat]] == Waits
            }
            _ => false,
        };
        let Some(next) = self.waiting.iter().position(|act| !waits(act)) else { return false };
        let places = self.places.clone();
        let (arrives, now) = (|seat: usize| fates[places[seat]] == Arrives, self.now);
        let (call, event) = match self.waiting.remove(next) {
            Act::Read { call, seat, names } => {
                (call, arrives(seat).then(|| Event::Look(stores[places[seat]].read(&names, now, (now, now)))))
            }
            Act::Swap { call, seat, swap } => {
                (call, arrives(seat).then(|| Event::Swapped(stores[places[seat]].swap(&swap))))
            }
            Act::Names { call, seat } => (call, arrives(seat).then(|| Event::Named(stores[places[seat]].names()))),
            Act::Wake { call, .. } => (call, Some(Event::Woke)),
            Act::Fill { seat } => {
                self.fills.push(seat);
                return true;
            }
            Act::Done(answer) => {
                self.answer = Some(answer);
                return true;
            }
            Act::Note(_) => return true,
        };
        let at = self.at();
        let acts = self.step.take(call, event.unwrap_or(Event::Failed), at, &mut self.memory);
        self.waiting.extend(acts);
        true
    }

    fn all(&mut self, stores: &mut [Store], task: Task) -> Option<Answer> {
        self.some(stores, task, vec![Arrives; stores.len()])
    }

    fn some(&mut self, stores: &mut [Store], task: Task, fates: impl AsRef<[Fate]>) -> Option<Answer> {
        self.begin(task);
        self.run(stores, fates);
        self.answer.take()
    }

    /// Reads, and returns the write of a value after the one that was read.
    fn write(&mut self, stores: &mut [Store], to: &str, fates: impl AsRef<[Fate]>) -> Task {
        let Some(Answer::Read(Whole { history, values, .. })) = self.some(stores, read(), fates) else {
            panic!("no answer")
        };
        let identity = ServerIdentity { history, process: String::new() };
        Task::Swap(Swap { name: NAME.to_owned(), from: values[0].clone(), to: to.to_owned(), identity })
    }

    /// Whether a fill of this seat is about to write its epoch to the others.
    fn marks(&self, filled: usize) -> bool {
        self.waiting
            .iter()
            .any(|act| matches!(act, Act::Swap { seat, swap, .. } if *seat != filled && swap.name == SEAT))
    }

    /// Reads, and makes the stores that lost their data vote again.
    fn care(&mut self, stores: &mut [Store]) {
        self.all(stores, read());
        for seat in std::mem::take(&mut self.fills) {
            assert_eq!(self.all(stores, Task::Fill { seat }), Some(Answer::Filled(true)));
        }
    }
}

fn value(answer: Option<Answer>) -> Option<String> {
    let Some(Answer::Read(Whole { mut values, .. })) = answer else { panic!("no answer: {answer:?}") };
    values.remove(0)
}

fn stores() -> [Store; 3] {
    let mut stores = [0, 1, 2].map(|number| Store::new(number, false));
    Client::new(1).all(&mut stores, read());
    stores
}

/// Q2: a promise for a record that nobody has arrives after a store that had promised too was filled; or during that, when the
/// names are listed and no seat is written to.
#[test]
fn a_late_promise_after_a_fill() {
    for (seed, is_during) in (0..80).map(|number| (number / 2, number % 2 == 0)) {
        let mut stores = stores();
        let [mut late, mut other, mut writer] = [2, 3, 4].map(|client| Client::new(seed * 8 + client));
        let task = late.write(&mut stores, "late", [Arrives; 3]);
        late.begin(task);
        late.run(&mut stores, [Fails, Arrives, Waits]);
        stores[1].start(1, true);
        other.begin(Task::Fill { seat: 1 });
        while !other.marks(1) {
            assert!(other.one(&mut stores, &[Arrives; 3]));
        }
        if is_during {
            late.run(&mut stores, [Fails, Waits, Arrives]);
        }
        other.run(&mut stores, [Arrives; 3]);
        assert_eq!(other.answer, Some(Answer::Filled(true)), "seed {seed}");
        let task = writer.write(&mut stores, "first", [Arrives, Arrives, Fails]);
        assert_eq!(writer.some(&mut stores, task, [Arrives, Arrives, Fails]), Some(Answer::Swapped(true)));
        late.run(&mut stores, [Fails, Arrives, Arrives]);
        late.run(&mut stores, [Arrives; 3]);
        assert_ne!(late.answer, Some(Answer::Swapped(true)), "seed {seed}: two values follow none");
        for fates in [[Arrives; 3], [Fails, Arrives, Arrives], [Arrives, Fails, Arrives], [Arrives, Arrives, Fails]] {
            assert_eq!(value(other.some(&mut stores, read(), fates)).as_deref(), Some("first"), "seed {seed}");
        }
    }
}

/// Q4: a reader has the snapshot of one store from before another one was filled, and that one's from after.
#[test]
fn snapshots_from_before_and_after_a_fill() {
    let mut stores = stores();
    let [mut writer, mut reader, mut other] = [2, 3, 4].map(Client::new);
    let task = writer.write(&mut stores, "1", [Arrives, Arrives, Fails]);
    assert_eq!(writer.some(&mut stores, task, [Arrives, Arrives, Fails]), Some(Answer::Swapped(true)));
    reader.begin(read());
    reader.run(&mut stores, [Waits, Waits, Arrives]);
    stores[1].start(1, true);
    other.care(&mut stores);
    reader.run(&mut stores, [Fails, Arrives, Arrives]);
    assert_eq!(value(reader.answer.take()).as_deref(), Some("1"));
}

/// Q3: a writer was gone when one store had its value, while the others show the one before to every reader.
#[test]
fn a_value_that_one_store_has() {
    let mut stores = stores();
    let mut gone = Client::new(2);
    let task = gone.write(&mut stores, "1", [Arrives; 3]);
    gone.begin(task);
    while !stores[0].records.get(NAME).is_some_and(|text| text.ends_with("\n1")) {
        assert!(gone.one(&mut stores, &[Arrives; 3]));
    }
    let mut writer = Client::new(3);
    let written = (0..3).find(|_| {
        let task = writer.write(&mut stores, "2", [Arrives; 3]);
        writer.all(&mut stores, task) == Some(Answer::Swapped(true))
    });
    assert!(written.is_some());
    assert_eq!(value(writer.all(&mut stores, read())).as_deref(), Some("2"));
}

/// Q3: a reserved ballot is used once, whatever comes of it, or one ballot would have two values.
#[test]
fn a_reserved_ballot_after_a_write_that_failed() {
    let mut stores = stores();
    let [mut writer, mut other] = [2, 3].map(Client::new);
    let task = writer.write(&mut stores, "1", [Arrives; 3]);
    assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
    let task = writer.write(&mut stores, "2", [Arrives; 3]);
    let unknown = Some(Answer::Refused(QuorumError::Unknown));
    assert_eq!(writer.some(&mut stores, task, [Arrives, Fails, Fails]), unknown);
    let task = writer.write(&mut stores, "3", [Fails, Arrives, Arrives]);
    assert_eq!(writer.some(&mut stores, task, [Fails, Arrives, Arrives]), Some(Answer::Swapped(true)));
    for fates in [[Arrives; 3], [Fails, Arrives, Arrives], [Arrives, Fails, Arrives], [Arrives, Arrives, Fails]] {
        assert_eq!(value(other.some(&mut stores, read(), fates)).as_deref(), Some("3"));
    }
}

/// A store was filled after one snapshot, and another one lost its data before the next: there always was a majority.
#[test]
fn a_look_from_before_and_after_a_fill() {
    for how in [How::Look, How::ReadExisting, How::Read] {
        let mut all = stores();
        let (mut writer, mut other) = (Client::new(6), Client::new(7));
        let write = writer.write(&mut all, "1", [Arrives; 3]);
        assert_eq!(writer.all(&mut all, write), Some(Answer::Swapped(true)));
        all[2].start(2, true);
        other.begin(Task::Read { names: vec![NAME.to_owned()], how });
        other.run(&mut all, [Waits, Waits, Arrives]);
        writer.care(&mut all);
        all[1].start(1, true);
        other.run(&mut all, [Arrives; 3]);
        assert_eq!(value(other.answer.take()).as_deref(), Some("1"));
    }
}

/// Q7: a store loses its data while the third one has not begun to vote. It does not come back into its era as a new one.
#[test]
fn a_loss_while_an_era_starts() {
    let mut all = [0, 1, 2].map(|number| Store::new(number, false));
    let mut first = Client::new(1);
    first.begin(read());
    while !(all[0].votes() && all[1].votes()) {
        assert!(first.one(&mut all, &[Arrives; 3]));
    }
    assert!(!all[2].votes());
    let mut writer = Client::new(2);
    let write = writer.write(&mut all, "1", [Arrives; 3]);
    assert_eq!(writer.all(&mut all, write), Some(Answer::Swapped(true)));
    all[1].start(1, true);
    assert_eq!(value(Client::new(3).all(&mut all, read())).as_deref(), Some("1"));
}

/// A damaged record counts as no answer of its store: the others do its work, and its store comes back once it is empty.
#[test]
fn a_damaged_record_in_one_store() {
    for name in [NAME, "seat"] {
        for damaged in 0..3 {
            let mut all = stores();
            let mut client = Client::new(4);
            client.all(&mut all, read());
            let write = client.write(&mut all, "1", [Arrives; 3]);
            assert_eq!(client.all(&mut all, write), Some(Answer::Swapped(true)));
            all[damaged].records.insert(name.to_owned(), "cut off".to_owned());
            assert_eq!(value(client.all(&mut all, read())).as_deref(), Some("1"));
            let write = client.write(&mut all, "2", [Arrives; 3]);
            assert_eq!(client.all(&mut all, write), Some(Answer::Swapped(true)));
            let mut other = Client::new(5);
            assert_eq!(value(other.all(&mut all, read())).as_deref(), Some("2"));
            let second = (damaged + 1) % 3;
            let kept = all[second].records.insert(name.to_owned(), "cut off".to_owned());
            let refused = other.all(&mut all, read());
            assert!(matches!(refused, Some(Answer::Refused(QuorumError::Record { .. }))), "{refused:?}");
            all[second].records.insert(name.to_owned(), kept.expect("a record"));
        }
    }
}

/// Q1: another list, one store under two labels, and stores whose addresses were exchanged.
#[test]
fn wrong_lists() {
    let mut all = stores();
    let mut other = Client::new(2);
    let labels = ["a", "b", "d"].map(str::to_owned);
    other.memory = Memory::new(Stores::new(&labels).expect("a list"));
    assert_eq!(
        other.all(&mut all, read()),
        Some(Answer::Refused(QuorumError::List { seat: 0, theirs: "a b c".to_owned() }))
    );
    all.swap(0, 1);
    let refused = Client::new(2).all(&mut all, read());
    assert_eq!(refused, Some(Answer::Refused(QuorumError::Label { seat: 0, theirs: "b".to_owned() })));
}

const FIVE: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Five stores with a record, of which the last two lost their data.
fn two_of_five_lost() -> Vec<Store> {
    let mut stores: Vec<_> = (0..5).map(|number| Store::new(number, false)).collect();
    let mut writer = Client::of(&FIVE, 1);
    let task = writer.write(&mut stores, "1", [Arrives; 5]);
    assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
    stores[3].start(3, true);
    stores[4].start(4, true);
    stores
}

/// Two clients whose fills end each other, message by message, do not meet again and again.
#[test]
fn two_fills_at_the_same_time() {
    for seed in 0..20 {
        let mut stores = two_of_five_lost();
        let mut clients = [10, 11].map(|client| Client::of(&FIVE, seed * 100 + client));
        clients.iter_mut().for_each(|client| client.bounds.ms = 1_000);
        let times = (0..60_000).step_by(100);
        let filled = times.clone().find(|&now| {
            for (client, seat) in clients.iter_mut().zip([3, 4]) {
                client.now = now;
                client.all(&mut stores, read());
                client.fills.retain(|fill| *fill == seat);
                if client.fills.pop().is_some() {
                    client.begin(Task::Fill { seat });
                }
            }
            while clients.each_mut().map(|client| client.one(&mut stores, &[Arrives; 5])).contains(&true) {}
            stores.iter().all(Store::votes)
        });
        assert!(filled.is_some(), "seed {seed}");
    }
}

/// A fill that begins while another one is at work leaves that alone, whatever seat it is for.
#[test]
fn a_fill_during_another_one() {
    for seat in [3, 4] {
        for after in 0.. {
            let mut stores = two_of_five_lost();
            let [mut first, mut second] = [2, 3].map(|client| Client::of(&FIVE, client));
            first.bounds.ms = 1_000;
            second.bounds.ms = 1_000;
            first.begin(Task::Fill { seat: 3 });
            while stores[3].seat().is_none() {
                assert!(first.one(&mut stores, &[Arrives; 5])); // it is at work from its claim on
            }
            let is_at_work = (0..after).all(|_| first.one(&mut stores, &[Arrives; 5]));
            if !is_at_work || stores[3].votes() {
                assert!(after > 10, "{after}");
                break;
            }
            let before = stores.clone();
            assert_eq!(second.all(&mut stores, Task::Fill { seat }), Some(Answer::Filled(false)), "after {after}");
            assert_eq!(stores, before);
            // Its client is gone.
            second.now = 1_001;
            assert_eq!(second.all(&mut stores, Task::Fill { seat }), Some(Answer::Filled(true)), "after {after}");
        }
    }
}

/// Q6: a store that neither answers nor fails costs a fill nothing, whichever it is, while a majority votes.
#[test]
fn a_fill_while_a_store_is_silent() {
    for silent in [0, 1, 2, 4] {
        let mut stores = two_of_five_lost();
        let mut fates = [Arrives; 5];
        if silent != 4 {
            Client::of(&FIVE, 2).all(&mut stores, Task::Fill { seat: 4 });
        }
        fates[silent] = Waits;
        let mut client = Client::of(&FIVE, 3);
        assert_eq!(client.some(&mut stores, Task::Fill { seat: 3 }, fates), Some(Answer::Filled(true)), "{silent}");
        let before = stores.clone();
        client.run(&mut stores, [Arrives; 5]);
        assert_eq!(stores, before, "late answers change nothing");
        let mut reader = Client::of(&FIVE, 4);
        for other in 0..3 {
            let mut fates = fates;
            fates[other] = Fails;
            assert_eq!(value(reader.some(&mut stores, read(), fates)).as_deref(), Some("1"), "{silent} {other}");
        }
        reader.care(&mut stores);
        assert!(stores.iter().all(Store::votes), "{silent}");
    }
}

/// Of several members that fill at the same time while a store is silent, one succeeds at once, in whatever order they go on.
#[test]
fn fills_at_the_same_time_while_a_store_is_silent() {
    let fates = [Arrives, Arrives, Arrives, Arrives, Waits];
    for seed in 0..40 {
        let mut stores = two_of_five_lost();
        let mut rng = Rng::new(seed);
        let mut clients = [10, 11, 12].map(|client| Client::of(&FIVE, seed * 100 + client));
        clients.iter_mut().for_each(|client| client.begin(Task::Fill { seat: 3 }));
        for _ in 0..5_000 {
            clients[rng.below(3) as usize].one(&mut stores, &fates);
        }
        assert!(stores[3].votes(), "seed {seed}");
        let filled = clients.iter().filter(|client| client.answer == Some(Answer::Filled(true))).count();
        assert!(filled >= 1 && clients.iter().all(|client| client.answer.is_some()), "seed {seed}");
    }
}

/// Without a majority there is no fill, and no claim that would keep off the next one.
#[test]
fn no_fill_without_a_majority() {
    let mut stores = stores();
    stores[2].start(2, true);
    let mut client = Client::new(2);
    assert_eq!(client.some(&mut stores, Task::Fill { seat: 2 }, [Arrives, Waits, Arrives]), None);
    assert_eq!(stores[2].seat(), None);
    client.run(&mut stores, [Arrives, Fails, Arrives]);
    assert_eq!(client.answer, Some(Answer::Filled(false)));
    assert_eq!(stores[2].seat(), None);
    assert_eq!(Client::new(3).all(&mut stores, Task::Fill { seat: 2 }), Some(Answer::Filled(true)));
}

/// Q9: the stores a, b and c with a record, and one that is to come.
fn three_and_one() -> Vec<Store> {
    let mut stores: Vec<_> = (0..4).map(|number| Store::new(number, false)).collect();
    let mut writer = Client::new(1);
    let task = writer.write(&mut stores, "1", [Arrives; 4]);
    assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
    stores
}

const OLD: [&str; 3] = ["a", "b", "c"];
const NEW: [&str; 3] = ["a", "b", "d"];

fn change(to: &[&str]) -> Task {
    Task::Change { to: owned(to) }
}

/// Replaces c by d, and fills d.
fn replace(stores: &mut [Store]) {
    let mut operator = Client::with(&OLD, &["d"], 50);
    assert_eq!(operator.all(stores, change(&NEW)), Some(Answer::Changed));
    assert_eq!(operator.all(stores, Task::Fill { seat: 3 }), Some(Answer::Filled(true)));
}

/// Q9: a member that has not heard of the change makes no majority with the store that was replaced, and lives on.
#[test]
fn a_late_promise_after_a_change() {
    let [a, b, c, d] = [0, 1, 2, 3];
    for seed in 0..20 {
        let mut stores: Vec<_> = (0..4).map(|number| Store::new(number, false)).collect();
        Client::new(1).all(&mut stores, read());
        let mut late = Client::new(seed * 8 + 2);
        let task = late.write(&mut stores, "late", [Arrives; 4]);
        late.begin(task);
        let mut fates = [Arrives; 4];
        (fates[a], fates[b]) = (Waits, Fails);
        late.run(&mut stores, fates);
        replace(&mut stores);
        let mut writer = Client::of(&NEW, seed * 8 + 3);
        let mut fates = [Arrives; 4];
        (fates[a], fates[c]) = (Fails, Fails);
        let task = writer.write(&mut stores, "first", fates);
        assert_eq!(writer.some(&mut stores, task, fates), Some(Answer::Swapped(true)));
        late.run(&mut stores, [Arrives, Fails, Arrives, Arrives]);
        late.run(&mut stores, [Arrives; 4]);
        assert_ne!(late.answer, Some(Answer::Swapped(true)), "seed {seed}: two values follow none");
        for lost in [a, b, d] {
            let mut fates = [Arrives; 4];
            fates[lost] = Fails;
            let mut reader = Client::of(&NEW, seed * 8 + 4);
            assert_eq!(value(reader.some(&mut stores, read(), fates)).as_deref(), Some("first"), "seed {seed}");
        }
        let mut old = Client::new(seed * 8 + 5);
        assert_eq!(value(old.all(&mut stores, read())).as_deref(), Some("first"), "seed {seed}");
        let refused = old.some(&mut stores, read(), [Arrives, Fails, Arrives, Arrives]);
        assert!(matches!(refused, Some(Answer::Refused(QuorumError::NoMajority { .. }))), "{refused:?}");
    }
}

/// Members go on after each message of an operator who is gone then, and another one ends what he began.
#[test]
fn a_change_that_is_interrupted() {
    for after in 0.. {
        let mut stores = three_and_one();
        let mut operator = Client::with(&OLD, &["d"], 50);
        operator.begin(change(&NEW));
        let is_at_work = (0..after).all(|_| operator.one(&mut stores, &[Arrives; 4]));
        let mut member = Client::new(2);
        let task = member.write(&mut stores, "2", [Arrives; 4]);
        assert_eq!(member.all(&mut stores, task), Some(Answer::Swapped(true)), "after {after}");
        let mut other = Client::with(&OLD, &["d"], 51);
        assert_eq!(other.all(&mut stores, change(&NEW)), Some(Answer::Changed), "after {after}");
        assert_eq!(other.all(&mut stores, Task::Fill { seat: 3 }), Some(Answer::Filled(true)), "after {after}");
        for lost in [0, 1, 3] {
            let mut fates = [Arrives; 4];
            fates[lost] = Fails;
            let mut reader = Client::of(&NEW, 3);
            assert_eq!(value(reader.some(&mut stores, read(), fates)).as_deref(), Some("2"), "after {after}");
        }
        if !is_at_work {
            assert!(after > 20, "{after}");
            break;
        }
    }
}

/// Of two changes one wins, at whatever message they meet. The other one is refused, and names the list.
#[test]
fn two_changes_at_the_same_time() {
    let (one, two) = (["a", "b", "d"], ["a", "c", "d"]);
    let mut won = [0, 0];
    for after in 0.. {
        let mut stores = three_and_one();
        let mut first = Client::with(&OLD, &["d"], 50);
        first.begin(change(&one));
        let is_at_work = (0..after).all(|_| first.one(&mut stores, &[Arrives; 4]));
        let mut second = Client::with(&OLD, &["d"], 51);
        let theirs = second.all(&mut stores, change(&two)).expect("an answer");
        first.run(&mut stores, [Arrives; 4]);
        let ours = first.answer.clone().expect("an answer");
        let is_list = |answer: &Answer, labels: &[&str]| matches!(answer, Answer::Refused(QuorumError::List { theirs, .. }) if *theirs == labels.join(" "));
        let (winner, list) = match (&ours, &theirs) {
            (Answer::Changed, other) if is_list(other, &one) => (0, one),
            (other, Answer::Changed) if is_list(other, &two) => (1, two),
            other => panic!("after {after}: {other:?}"),
        };
        won[winner] += 1;
        let mut reader = Client::of(&list, 3);
        assert_eq!(value(reader.all(&mut stores, read())).as_deref(), Some("1"), "after {after}");
        if !is_at_work {
            break;
        }
    }
    assert!(won[0] > 5 && won[1] > 5, "{won:?}");
}

/// Nothing is changed if a majority of the new list would be missing, or the new store itself.
#[test]
fn changes_that_are_refused() {
    let mut stores = three_and_one();
    let before = stores.clone();
    let mut operator = Client::with(&OLD, &["d"], 50);
    let refused = operator.some(&mut stores, change(&NEW), [Arrives, Fails, Arrives, Arrives]);
    assert_eq!(refused, Some(Answer::Refused(QuorumError::NoMajority { answered: 1 })));
    let refused = operator.some(&mut stores, change(&NEW), [Arrives, Arrives, Arrives, Fails]);
    assert_eq!(refused, Some(Answer::Refused(QuorumError::Newcomer { seat: 3 })));
    let refused = operator.all(&mut stores, change(&["a", "b", "d", "c"]));
    assert_eq!(refused, Some(Answer::Refused(QuorumError::Change)));
    assert_eq!(stores, before);
    let mut member = Client::of(&NEW, 3);
    let refused = member.all(&mut stores, read());
    assert_eq!(refused, Some(Answer::Refused(QuorumError::List { seat: 0, theirs: "a b c".to_owned() })));
}

/// A store that was replaced may come back, and is filled like any new one: it has missed what was written in between.
#[test]
fn a_store_that_comes_back_into_the_list() {
    let mut stores = three_and_one();
    replace(&mut stores);
    let mut writer = Client::of(&NEW, 2);
    let task = writer.write(&mut stores, "2", [Fails, Arrives, Fails, Arrives]);
    assert_eq!(writer.some(&mut stores, task, [Fails, Arrives, Fails, Arrives]), Some(Answer::Swapped(true)));
    let mut operator = Client::with(&NEW, &["c"], 52);
    assert_eq!(operator.all(&mut stores, change(&OLD)), Some(Answer::Changed));
    let mut reader = Client::of(&OLD, 3);
    let refused = reader.some(&mut stores, read(), [Arrives, Fails, Arrives, Fails]);
    assert!(matches!(refused, Some(Answer::Refused(QuorumError::NoMajority { .. }))), "{refused:?}");
    assert_eq!(operator.all(&mut stores, Task::Fill { seat: 2 }), Some(Answer::Filled(true)));
    assert_eq!(value(reader.some(&mut stores, read(), [Arrives, Fails, Arrives, Fails])).as_deref(), Some("2"));
}

/// Three become five, of which any two may be lost.
#[test]
fn growing() {
    let mut stores: Vec<_> = (0..5).map(|number| Store::new(number, false)).collect();
    let mut writer = Client::new(1);
    let task = writer.write(&mut stores, "1", [Arrives; 5]);
    assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
    let earlier = stores[0].records[SEAT].clone();
    let mut operator = Client::with(&OLD, &["d", "e"], 50);
    assert_eq!(operator.all(&mut stores, change(&FIVE)), Some(Answer::Changed));
    for seat in [3, 4] {
        let task = writer.write(&mut stores, "2", [Arrives; 5]);
        assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)), "members with three go on");
        assert_eq!(operator.all(&mut stores, Task::Fill { seat }), Some(Answer::Filled(true)));
    }
    for one in 0..5 {
        for other in 0..one {
            let mut fates = [Arrives; 5];
            (fates[one], fates[other]) = (Fails, Fails);
            assert_eq!(value(Client::of(&FIVE, 3).some(&mut stores, read(), fates)).as_deref(), Some("2"));
        }
    }
    // A store that has missed the change, and answers alone, does not show that the list is another one.
    stores[0].records.insert(SEAT.to_owned(), earlier);
    let refused = Client::of(&FIVE, 4).some(&mut stores, read(), [Arrives, Fails, Fails, Fails, Fails]);
    assert_eq!(refused, Some(Answer::Refused(QuorumError::NoMajority { answered: 1 })));
}

/// Q9: a new store counts only after it was filled, at whatever message of its fill a reader looks. Without b, only it knows what
/// b and c agreed on.
#[test]
fn a_new_store_does_not_vote_before_it_is_filled() {
    for after in 0.. {
        let mut stores: Vec<_> = (0..4).map(|number| Store::new(number, false)).collect();
        let mut writer = Client::new(1);
        writer.all(&mut stores, read());
        let fates = [Fails, Arrives, Arrives, Arrives];
        let task = writer.write(&mut stores, "1", fates);
        assert_eq!(writer.some(&mut stores, task, fates), Some(Answer::Swapped(true)));
        let mut operator = Client::with(&OLD, &["d"], 50);
        assert_eq!(operator.all(&mut stores, change(&NEW)), Some(Answer::Changed));
        operator.begin(Task::Fill { seat: 3 });
        let is_at_work = (0..after).all(|_| operator.one(&mut stores, &[Arrives; 4]));
        match Client::of(&NEW, 2).some(&mut stores, read(), [Arrives, Fails, Arrives, Arrives]) {
            Some(Answer::Refused(QuorumError::NoMajority { .. })) if is_at_work => {}
            answer => assert_eq!(value(answer).as_deref(), Some("1"), "after {after}"),
        }
        if !is_at_work {
            assert!(after > 10, "{after}");
            break;
        }
    }
}

/// Q9: while one seat alone has the new list, the others may still make a majority with the store that is to go.
#[test]
fn no_fill_from_seats_with_the_earlier_list() {
    let mut stores: Vec<_> = (0..4).map(|number| Store::new(number, false)).collect();
    Client::new(1).all(&mut stores, read());
    let mut operator = Client::with(&OLD, &["d"], 50);
    operator.begin(change(&NEW));
    while stores[0].seat().is_none_or(|seat| seat.list.generation == 1) {
        assert!(operator.one(&mut stores, &[Arrives; 4]));
    }
    assert_eq!(stores[1].seat().map(|seat| seat.list.generation), Some(1));
    let mut other = Client::of(&NEW, 2);
    assert_eq!(other.all(&mut stores, Task::Fill { seat: 2 }), Some(Answer::Filled(false)));
    let mut member = Client::new(3);
    let fates = [Fails, Arrives, Arrives, Arrives];
    let task = member.write(&mut stores, "1", fates);
    assert_eq!(member.some(&mut stores, task, fates), Some(Answer::Swapped(true)));
    let answer = other.some(&mut stores, read(), [Arrives, Fails, Fails, Arrives]);
    assert!(matches!(answer, Some(Answer::Refused(QuorumError::NoMajority { .. }))), "{answer:?}");
}

/// Q2: a store that was filled during a round gets nothing from it. It has forgotten a promise to another one.
#[test]
fn a_late_answer_of_a_store_that_was_filled() {
    let mut stores: Vec<_> = (0..5).map(|number| Store::new(number, false)).collect();
    Client::of(&FIVE, 1).all(&mut stores, read());
    let [mut first, mut second, mut other] = [2, 3, 4].map(|client| Client::of(&FIVE, client));
    // One promises on a, b and e; then the other one on c, d and e. Only the promises of e and c arrive so far.
    let task = first.write(&mut stores, "first", [Arrives, Arrives, Waits, Waits, Arrives]);
    first.begin(task);
    first.run(&mut stores, [Waits, Waits, Waits, Waits, Arrives]);
    let task = second.write(&mut stores, "second", [Waits, Waits, Arrives, Arrives, Arrives]);
    second.begin(task);
    second.run(&mut stores, [Waits, Waits, Arrives, Waits, Arrives]);
    // While a fill has listed the names of a, b and d, and not yet written to their seats, the other promises arrive.
    stores[2].start(2, true);
    other.begin(Task::Fill { seat: 2 });
    let fates = [Arrives, Arrives, Arrives, Arrives, Waits];
    while !other.marks(2) {
        assert!(other.one(&mut stores, &fates));
    }
    first.run(&mut stores, [Arrives, Arrives, Waits, Waits, Waits]);
    second.run(&mut stores, [Waits, Waits, Waits, Arrives, Arrives]);
    other.run(&mut stores, fates);
    assert_eq!(other.answer, Some(Answer::Filled(true)));
    for store in [0, 1, 3, 4] {
        assert!(stores[store].records.contains_key(NAME), "{store}");
    }
    first.run(&mut stores, fates);
    assert_eq!(first.answer, None, "two stores have its value, and the third one has forgotten the second client");
    second.run(&mut stores, [Arrives; 5]);
    first.run(&mut stores, [Arrives; 5]);
    assert_eq!(value(other.all(&mut stores, read())).as_deref(), Some("second"));
    assert_ne!(first.answer, Some(Answer::Swapped(true)));
}

/// Q9: a member begins to write from the texts of a and b. Meanwhile c answers, which was replaced, lives on, and has not heard of it.
#[test]
fn a_late_answer_of_a_store_that_was_replaced() {
    let mut stores = three_and_one();
    replace(&mut stores);
    let mut late = Client::new(2);
    let task = late.write(&mut stores, "late", [Arrives, Arrives, Waits, Arrives]);
    late.begin(task);
    let promises = [0, 1].map(|_| late.one(&mut stores, &[Arrives, Arrives, Waits, Waits]));
    assert_eq!(promises, [true, true]);
    late.run(&mut stores, [Arrives, Waits, Arrives, Arrives]);
    assert_eq!(late.answer, None, "one store of the list has its value");
    let fates = [Fails, Arrives, Fails, Arrives];
    let mut writer = Client::of(&NEW, 3);
    let task = writer.write(&mut stores, "first", fates);
    assert_eq!(writer.some(&mut stores, task, fates), Some(Answer::Swapped(true)));
    late.run(&mut stores, [Arrives; 4]);
    assert_ne!(late.answer, Some(Answer::Swapped(true)), "two values follow the same one");
    assert_eq!(value(Client::of(&NEW, 4).all(&mut stores, read())).as_deref(), Some("first"));
}

/// A client that can fill although another one claimed the seat: that one's claim is old by now.
fn later(labels: &[&str], seed: u64, after: i64) -> Client {
    let mut client = Client::of(labels, seed);
    (client.bounds.ms, client.now) = (1_000, after * 1_000);
    client
}

/// A fill that dies after writing its epoch to one seat.
fn fill_that_dies(mut gone: Client, stores: &mut [Store], filled: usize) {
    let fates = vec![Arrives; stores.len()];
    gone.begin(Task::Fill { seat: filled });
    while !gone.marks(filled) {
        assert!(gone.one(stores, &fates));
    }
    assert!(gone.one(stores, &fates));
}

/// Five stores, the last of which lost its data. Two fills died when only a had their epochs, and a third one, which a did not
/// answer, has filled it.
fn a_seat_above_the_others(between: impl FnOnce(&mut [Store])) -> Vec<Store> {
    let mut stores: Vec<_> = (0..5).map(|number| Store::new(number, false)).collect();
    Client::of(&FIVE, 1).all(&mut stores, read());
    stores[4].start(4, true);
    for after in [1, 2] {
        fill_that_dies(later(&FIVE, 90 + after as u64, after), &mut stores, 4);
    }
    between(&mut stores);
    let answer =
        later(&FIVE, 80, 3).some(&mut stores, Task::Fill { seat: 4 }, [Fails, Arrives, Arrives, Arrives, Arrives]);
    assert_eq!(answer, Some(Answer::Filled(true)));
    stores
}

/// Q6: no two fills have the same epoch, or one that was gone leaves it on a store which then agrees with two that were filled.
#[test]
fn fills_with_an_epoch_of_their_own() {
    let without_a = [Fails, Arrives, Arrives, Arrives, Arrives];
    let mut stores = a_seat_above_the_others(|stores| {
        let mut writer = Client::of(&FIVE, 2);
        let fates = [Fails, Arrives, Arrives, Arrives, Fails];
        let task = writer.write(stores, "1", fates);
        assert_eq!(writer.some(stores, task, fates), Some(Answer::Swapped(true)));
    });
    let mut reader = Client::of(&FIVE, 3);
    reader.begin(read());
    reader.run(&mut stores, [Arrives, Waits, Waits, Waits, Arrives]);
    stores[1].start(1, true);
    assert_eq!(later(&FIVE, 81, 4).some(&mut stores, Task::Fill { seat: 1 }, without_a), Some(Answer::Filled(true)));
    reader.run(&mut stores, [Arrives, Arrives, Waits, Waits, Arrives]);
    reader.run(&mut stores, [Arrives; 5]);
    assert_eq!(value(reader.answer.take()).as_deref(), Some("1"));
}

/// Q6: a fill ends if not all of its majority have promised its epoch, and writes it to no seat.
#[test]
fn a_fill_without_the_promise_of_its_epoch() {
    for failing in 0..3 {
        let mut stores = two_of_five_lost();
        let mut client = Client::of(&FIVE, 2);
        client.begin(Task::Fill { seat: 3 });
        let reserves = |act: &Act| matches!(act, Act::Swap { swap, .. } if swap.name == LIST);
        while !client.waiting.iter().any(reserves) {
            assert!(client.one(&mut stores, &[Arrives; 5]));
        }
        let mut fates = [Arrives; 5];
        fates[failing] = Fails;
        while client.waiting.iter().any(reserves) {
            assert!(client.one(&mut stores, &fates));
        }
        client.run(&mut stores, [Arrives; 5]);
        assert_eq!(client.answer, Some(Answer::Filled(false)), "{failing}");
        assert!(stores[..3].iter().all(|store| store.seat().is_some_and(|seat| seat.epoch == 1)), "{failing}");
    }
}

/// Each store was filled once, and then wrote the epochs of others.
#[test]
fn stores_that_are_filled_one_after_another() {
    let mut stores = stores();
    let mut writer = Client::new(2);
    let task = writer.write(&mut stores, "1", [Arrives; 3]);
    assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
    for (after, lost) in [(1, 2), (2, 1), (3, 0), (4, 2)] {
        stores[lost].start(lost, true);
        let answer = later(&OLD, 10, after).all(&mut stores, Task::Fill { seat: lost });
        assert_eq!(answer, Some(Answer::Filled(true)), "{after}");
        assert_one_value(&mut stores, &OLD, &["1"], &format!("after {after}"));
    }
}

/// Q2 and Q6: a late writer has the epoch that a fill left on a store, and a promise that was lost before another fill.
#[test]
fn a_late_promise_with_the_epoch_of_a_fill_that_died() {
    let without_a = [Fails, Arrives, Arrives, Arrives, Arrives];
    for seed in 0..20 {
        let mut stores = a_seat_above_the_others(|_| ());
        let [mut late, mut writer, mut reader] = [3, 4, 5].map(|client| Client::of(&FIVE, seed * 8 + client));
        let task = late.write(&mut stores, "late", [Arrives; 5]);
        late.begin(task);
        late.run(&mut stores, [Arrives, Arrives, Waits, Fails, Fails]);
        stores[1].start(1, true);
        let mut fill = later(&FIVE, 81, 4);
        fill.begin(Task::Fill { seat: 1 });
        while !fill.marks(1) {
            assert!(fill.one(&mut stores, &without_a));
        }
        late.run(&mut stores, [Waits, Waits, Arrives, Fails, Fails]);
        fill.run(&mut stores, without_a);
        assert_eq!(fill.answer, Some(Answer::Filled(true)), "seed {seed}");
        let fates = [Fails, Arrives, Fails, Arrives, Arrives];
        let task = writer.write(&mut stores, "first", fates);
        assert_eq!(writer.some(&mut stores, task, fates), Some(Answer::Swapped(true)), "seed {seed}");
        late.run(&mut stores, [Arrives; 5]);
        assert_ne!(late.answer, Some(Answer::Swapped(true)), "seed {seed}: two values follow none");
        assert_eq!(value(reader.all(&mut stores, read())).as_deref(), Some("first"), "seed {seed}");
    }
}

/// Q4: a fill that died after marking one seat does not keep readers from an answer, even while the store that it filled is away.
#[test]
fn a_fill_that_died_and_a_store_that_is_away() {
    let mut stores = stores();
    let mut writer = Client::new(2);
    let task = writer.write(&mut stores, "1", [Arrives; 3]);
    assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
    stores[2].start(2, true);
    fill_that_dies(Client::new(3), &mut stores, 2);
    let fates = [Arrives, Arrives, Fails];
    assert_eq!(value(Client::new(4).some(&mut stores, read(), fates)).as_deref(), Some("1"));
    let task = writer.write(&mut stores, "2", fates);
    assert_eq!(writer.some(&mut stores, task, fates), Some(Answer::Swapped(true)));
}

/// Every majority shows one value, which is one of these, and so do clients that read again.
fn assert_one_value(stores: &mut [Store], labels: &[&str], allowed: &[&str], story: &str) {
    let mut seen: Option<String> = None;
    let numbers: Vec<_> = labels.iter().map(|label| usize::from(label.as_bytes()[0] - b'a')).collect();
    let few = labels.len() / 2;
    for away in 0..1_u32 << labels.len() {
        if away.count_ones() as usize != few {
            continue;
        }
        let mut fates = vec![Fails; stores.len()];
        for (at, number) in numbers.iter().enumerate() {
            fates[*number] = if away >> at & 1 == 1 { Fails } else { Arrives };
        }
        let shown = value(Client::of(labels, 70).some(stores, read(), fates)).expect("a value");
        assert!(allowed.contains(&&*shown), "{story}: {shown}");
        assert_eq!(*seen.get_or_insert(shown.clone()), shown, "{story}");
    }
}

/// A writer is gone after any message, at any message of a fill; then another store loses its data, and is filled.
#[test]
fn a_writer_that_dies_during_a_fill() {
    for filled in 0.. {
        let mut is_at_work = true;
        for written in 0.. {
            let mut stores = two_of_five_lost();
            let mut fill = later(&FIVE, 10, 1);
            fill.begin(Task::Fill { seat: 3 });
            is_at_work = (0..filled).all(|_| fill.one(&mut stores, &[Arrives; 5]));
            let mut gone = Client::of(&FIVE, 11);
            let task = gone.write(&mut stores, "2", [Arrives; 5]);
            gone.begin(task);
            let is_writing = (0..written).all(|_| gone.one(&mut stores, &[Arrives; 5]));
            let is_written = gone.answer == Some(Answer::Swapped(true));
            fill.run(&mut stores, [Arrives; 5]);
            let story = format!("{filled} messages of a fill, {written} of a writer");
            for (after, lost) in [(3, None), (4, Some(0))] {
                if let Some(lost) = lost {
                    stores[lost].start(lost, true);
                }
                for seat in (0..5).filter(|&seat| !stores[seat].votes()).collect::<Vec<_>>() {
                    let answer = later(&FIVE, 12, after * 10 + seat as i64).all(&mut stores, Task::Fill { seat });
                    assert_eq!(answer, Some(Answer::Filled(true)), "{story}");
                }
            }
            assert_one_value(&mut stores, &FIVE, if is_written { &["2"] } else { &["1", "2"] }, &story);
            if !is_writing {
                break;
            }
        }
        if !is_at_work {
            assert!(filled > 20, "{filled}");
            break;
        }
    }
}

/// A fill is interrupted by a change of the list at any message, and the change by the rest of the fill at any message.
#[test]
fn a_fill_and_a_change() {
    for filled in 0.. {
        let mut is_filling = true;
        for changed in 0.. {
            let mut stores = three_and_one();
            stores[1].start(1, true);
            let mut fill = Client::new(2);
            fill.begin(Task::Fill { seat: 1 });
            is_filling = (0..filled).all(|_| fill.one(&mut stores, &[Arrives; 4]));
            let mut operator = Client::with(&OLD, &["d"], 50);
            operator.begin(change(&["b", "c", "d"]));
            let is_changing = (0..changed).all(|_| operator.one(&mut stores, &[Arrives; 4]));
            fill.run(&mut stores, [Arrives; 4]);
            let story = format!("{filled} messages of a fill, {changed} of a change");
            operator.run(&mut stores, [Arrives; 4]);
            let mut list = OLD;
            if operator.answer == Some(Answer::Changed) {
                list = ["b", "c", "d"];
            } else {
                let is_few = matches!(operator.answer, Some(Answer::Refused(QuorumError::NoMajority { .. })));
                assert!(is_few, "{story}: {:?}", operator.answer); // a and b cannot both be missing
            }
            let mut member = later(&list, 60, 1);
            member.all(&mut stores, read());
            for seat in 0..3 {
                assert_eq!(member.all(&mut stores, Task::Fill { seat }), Some(Answer::Filled(true)), "{story}");
                member.now += 1_000;
            }
            assert_one_value(&mut stores, &list, &["1"], &story);
            if !is_changing {
                break;
            }
        }
        if !is_filling {
            assert!(filled > 15, "{filled}");
            break;
        }
    }
}

/// Q9: a store that does not answer costs a change nothing, while a majority of both lists does. The others get the list from it.
#[test]
fn a_change_while_a_store_is_silent() {
    let [one, other] = [["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "f"]];
    for (list, to, silent) in [(&OLD[..], &NEW[..], 2), (&one, &other, 4), (&one, &other, 0)] {
        let mut stores: Vec<_> = (0..6).map(|number| Store::new(number, false)).collect();
        let mut writer = Client::of(list, 1);
        let task = writer.write(&mut stores, "1", [Arrives; 6]);
        assert_eq!(writer.all(&mut stores, task), Some(Answer::Swapped(true)));
        let new = to.last().copied().expect("a label");
        let mut operator = Client::with(list, &[new], 50);
        let mut fates = [Arrives; 6];
        fates[silent] = Waits;
        assert_eq!(operator.some(&mut stores, change(to), fates), Some(Answer::Changed), "{silent}");
        let mut member = Client::of(to, 51);
        let seat = to.len() - 1;
        assert_eq!(member.some(&mut stores, Task::Fill { seat }, fates), Some(Answer::Filled(true)), "{silent}");
        member.care(&mut stores);
        let lists: Vec<_> = to.iter().map(|label| usize::from(label.as_bytes()[0] - b'a')).collect();
        for number in lists {
            assert_eq!(stores[number].seat().expect("a seat").list.generation, 2, "{silent}: {number}");
        }
        assert_one_value(&mut stores, to, &["1"], new);
    }
    // The new store is needed, even if it is slow.
    let mut stores = three_and_one();
    let mut operator = Client::with(&OLD, &["d"], 50);
    assert_eq!(operator.some(&mut stores, change(&NEW), [Arrives, Arrives, Arrives, Waits]), None);
    operator.run(&mut stores, [Arrives; 4]);
    assert_eq!(operator.answer, Some(Answer::Changed));
    // All of three are needed for five.
    let mut stores: Vec<_> = (0..5).map(|number| Store::new(number, false)).collect();
    Client::new(1).all(&mut stores, read());
    let before = stores.clone();
    let mut operator = Client::with(&OLD, &["d", "e"], 50);
    assert_eq!(operator.some(&mut stores, change(&FIVE), [Arrives, Waits, Arrives, Arrives, Arrives]), None);
    operator.run(&mut stores, [Arrives, Fails, Arrives, Arrives, Arrives]);
    assert_eq!(operator.answer, Some(Answer::Refused(QuorumError::NoMajority { answered: 2 })));
    assert_eq!(stores, before);
}
