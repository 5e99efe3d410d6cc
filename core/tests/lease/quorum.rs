//! One store out of several: its texts, its list, and how many messages it takes. `tests/model/quorum.rs` checks its rules.

use std::collections::BTreeMap;

use flakeforge_core::lease::grants::record::{ServerIdentity, Unreadable};
use flakeforge_core::lease::grants::task::{Look, Swap};
use flakeforge_core::lease::quorum::Step;
use flakeforge_core::lease::quorum::ballot::Ballot;
use flakeforge_core::lease::quorum::memory::Memory;
use flakeforge_core::lease::quorum::messages::{
    Act, Answer, At, Bounds, Event, How, QuorumError, SeatNow, Standing, Task, Whole,
};
use flakeforge_core::lease::quorum::record::{Accepted, LONGEST_HEAD, SeatRecord, SeatState, Vote};
use flakeforge_core::lease::quorum::stores::{List, Stores};
use proptest::prelude::*;

const VOTE: &str = "flakeforge1 vote 0c53a9e7f1 1.2a.5b0c81d9e2f4 1.29.c04d1e8a77b3 8df44c22\na value";
const PROMISE: &str = "flakeforge1 vote 0c53a9e7f1 1.1.5b0c81d9e2f4 - 390183dc\n";
const SEAT: &str = "flakeforge1 seat list=a%20b%20c generation=2 gone=8f2b6a1c label=b era=0c53a9e7f1 epoch=2 state=votes bound=0123456789abcdef \
     at=1700000000000 history=h process=p nonce=0000000000000007 sum=d43d6f28";

#[test]
fn texts() {
    let promised = Ballot { epoch: 1, number: 0x2a, id: 0x5b0c_81d9_e2f4 };
    let ballot = Ballot { number: 0x29, id: 0xc04d_1e8a_77b3, ..promised };
    let vote = Vote { promised, accepted: Some(Accepted { ballot, value: "a value".to_owned() }) };
    assert_eq!((vote.text(0x0c_53a9_e7f1), Vote::parse(VOTE)), (VOTE.to_owned(), Ok((0x0c_53a9_e7f1, vote))));
    let vote = Vote { promised: Ballot { number: 1, ..promised }, accepted: None };
    assert_eq!((vote.text(0x0c_53a9_e7f1), Vote::parse(PROMISE)), (PROMISE.to_owned(), Ok((0x0c_53a9_e7f1, vote))));
    let seat = SeatRecord {
        list: List { labels: "a b c".to_owned(), generation: 2, gone: "8f2b6a1c".to_owned() },
        label: "b".to_owned(),
        era: 0x0c_53a9_e7f1,
        epoch: 2,
        state: SeatState::Votes,
        bound: 0x0123_4567_89ab_cdef,
        at: 1_700_000_000_000,
        identity: ServerIdentity { history: "h".to_owned(), process: "p".to_owned() },
        nonce: 7,
    };
    assert_eq!((seat.text(), SeatRecord::parse(SEAT)), (SEAT.to_owned(), Ok(seat)));
}

#[test]
fn damaged_and_newer_texts() {
    for text in [VOTE, PROMISE] {
        for at in 0..text.len() {
            assert!(
                Vote::parse(&text[..at]).is_err() && Vote::parse(&format!("{}x{}", &text[..at], &text[at..])).is_err()
            );
        }
    }
    let newer = Unreadable::Newer { version: 2, needs: None };
    assert_eq!(Vote::parse(&VOTE.replace("forge1", "forge2")), Err(newer));
    assert_eq!(SeatRecord::parse(&SEAT.replace("forge1", "forge2")), Err(newer));
    assert_eq!(Vote::parse("flakeforge1 slot owner=- life=1"), Err(Unreadable::Damaged));
    assert_eq!(SeatRecord::parse(&SEAT.replace("state=votes", "state=fills")), Err(Unreadable::Damaged));
}

proptest! {
    #[test]
    fn ballots_are_compared_in_both_parts_and_have_a_longest_text(
        one in (0_u32..1 << 24, 0_u64..(1 << 40) - 1, any::<u64>()), value: String,
    ) {
        let ballot = Ballot::above(one.0, one.1, one.2).unwrap();
        prop_assert_eq!(Ballot::parse(&ballot.to_string()), Some(ballot));
        let (below, above) =
            (Ballot { number: one.1, id: u64::MAX, ..ballot }, Ballot { epoch: ballot.epoch + 1, ..Ballot::default() });
        prop_assert!(below < ballot && ballot < above);
        let vote = Vote { promised: ballot, accepted: Some(Accepted { ballot, value: value.clone() }) };
        let text = vote.text((1 << 40) - 1);
        prop_assert!(text.len() <= value.len() + LONGEST_HEAD, "{} bytes", text.len() - value.len());
        prop_assert_eq!(Vote::parse(&text), Ok(((1 << 40) - 1, vote)));
    }
}

#[test]
fn no_ballot_is_left() {
    assert_eq!(Ballot::above(1, (1 << 40) - 1, 0), None);
    assert_eq!(Ballot::above(1 << 24, 1, 0), None);
}

#[test]
fn lists() {
    let stores = |labels: &[&str]| Stores::new(&labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>());
    let list = stores(&["b:1", "c:1", "a:1"]).unwrap();
    assert_eq!((list.text().as_str(), list.place(0), list.seat(0)), ("a:1 b:1 c:1", 2, Some(1)));
    let majority = |labels: &[&str]| List::first(stores(labels).unwrap().text()).majority();
    assert_eq!((majority(&["b", "c", "a"]), majority(&["a", "b", "c", "d", "e"])), (2, 3));
    let long = "x".repeat(201);
    for labels in [
        &["a"][..],
        &["a", "b"],
        &["a", "b", "c", "d"],
        &["a", "b", "a"],
        &["a", "", "c"],
        &["a", "b c", "d"],
        &["a", "b", &long],
    ] {
        assert!(stores(labels).is_err(), "{labels:?}");
    }
}

/// Q9. The hashes are FNV-1a's.
#[test]
fn lists_that_follow() {
    let labels = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let next = |list: &List, text: &str| list.next(&labels(text));
    let list =
        |labels: &str, generation, gone: &str| List { labels: labels.to_owned(), generation, gone: gone.to_owned() };
    let first = List::first("a b c".to_owned());
    let second = next(&first, "d b a").unwrap();
    assert_eq!(second, list("a b d", 2, "8601eff2"));
    assert_eq!(next(&second, "c d a"), Some(list("a c d", 3, "8601eff2 8601f1a5")));
    assert_eq!(next(&first, "e d c b a"), Some(list("a b c d e", 2, "")));
    for wrong in ["a b", "a b c d", "a d e"] {
        assert_eq!(next(&first, wrong), None, "{wrong}");
    }
    assert_eq!(next(&list("a b c d e", 2, ""), "a b c"), None);
    let mut long = first;
    for number in 0..40 {
        long = next(&long, &format!("a b {number}")).unwrap();
        assert_eq!(List::parse(&long.text()), Ok(long.clone()));
    }
    assert_eq!((long.generation, long.gone.len()), (41, 16 * 9 - 1));
}

/// Three stores in memory, each answered at once. A store of `cut` does not answer.
struct World {
    records: [BTreeMap<String, String>; 3],
    clocks: [i64; 3],
    positions: [Option<u64>; 3],
    cut: Option<usize>,
    /// its answers to reads come last
    slow: Option<usize>,
    /// whether a step that has its answer is left before they come
    leaves: bool,
    memory: Memory,
    step: Step,
    fresh: u128,
    reads: usize,
    swaps: usize,
    fills: Vec<usize>,
}

const NOW: i64 = 1_700_000_000_000;

impl World {
    fn new() -> Self {
        let labels = ["a", "b", "c"].map(str::to_owned);
        Self {
            records: Default::default(),
            clocks: [NOW; 3],
            positions: [None; 3],
            cut: None,
            slow: None,
            leaves: false,
            memory: Memory::new(Stores::new(&labels).unwrap()),
            step: Step::new("g", Task::Names, Bounds { ms: 1_000, skew_ms: 100 }),
            fresh: 1,
            reads: 0,
            swaps: 0,
            fills: Vec::new(),
        }
    }

    fn identity(seat: usize) -> ServerIdentity {
        ServerIdentity { history: format!("h{seat}"), process: format!("p{seat}") }
    }

    fn run(&mut self, task: Task) -> Answer {
        (self.reads, self.swaps) = (0, 0);
        self.step = Step::new("g", task, Bounds { ms: 1_000, skew_ms: 100 });
        let at = At { now: 0, fresh: self.bits() };
        let mut acts = self.step.begin(at, &mut self.memory);
        let mut answer = None;
        while !acts.is_empty() {
            let is_slow = |act: &Act| matches!(act, Act::Read { seat, .. } if self.slow == Some(*seat));
            let next = acts.iter().position(|act| !is_slow(act)).unwrap_or_default();
            if is_slow(&acts[next]) && answer.is_some() && self.leaves {
                break;
            }
            let (call, event) = match acts.remove(next) {
                Act::Read { call, seat, .. } | Act::Names { call, seat } if self.cut == Some(seat) => {
                    (call, Event::Failed)
                }
                Act::Read { call, seat, names } => {
                    self.reads += 1;
                    let values = names.iter().map(|name| self.records[seat].get(name).cloned()).collect();
                    let (now, position) = (self.clocks[seat], self.positions[seat]);
                    (
                        call,
                        Event::Look(Look { now, identity: Self::identity(seat), values, position, client: (NOW, NOW) }),
                    )
                }
                Act::Swap { call, seat, swap } => {
                    self.swaps += 1;
                    let is_same = self.cut != Some(seat) && self.records[seat].get(&swap.name) == swap.from.as_ref();
                    if is_same {
                        self.records[seat].insert(swap.name, swap.to);
                    }
                    (call, Event::Swapped(is_same))
                }
                Act::Names { call, seat } => (call, Event::Named(self.records[seat].keys().cloned().collect())),
                Act::Wake { call, .. } => (call, Event::Woke),
                Act::Fill { seat } => {
                    self.fills.push(seat);
                    continue;
                }
                Act::Note(_) => continue,
                Act::Done(done) => {
                    assert_eq!(answer.replace(done), None, "one answer");
                    continue;
                }
            };
            let at = At { now: 0, fresh: self.bits() };
            acts.extend(self.step.take(call, event, at, &mut self.memory));
        }
        answer.expect("an answer")
    }

    fn bits(&mut self) -> u128 {
        self.fresh += 1;
        self.fresh
    }

    fn read(&mut self, how: How) -> Whole {
        match self.run(Task::Read { names: vec!["group".to_owned()], how }) {
            Answer::Read(whole) => whole,
            other => panic!("{other:?}"),
        }
    }

    fn write(&mut self, to: &str) -> Answer {
        let Whole { history, values, .. } = self.read(How::Read);
        let identity = ServerIdentity { history, process: String::new() };
        self.run(Task::Swap(Swap { name: "group".to_owned(), from: values[0].clone(), to: to.to_owned(), identity }))
    }

    fn standings(&self) -> Vec<Standing> {
        self.step.seats(&self.memory).into_iter().map(|seat| seat.standing).collect()
    }
}

/// The first write of a record takes three round trips, and each later one of the same client takes one.
#[test]
fn messages() {
    let mut world = World::new();
    assert_eq!((world.write("1"), world.reads, world.swaps), (Answer::Swapped(true), 3, 6));
    assert_eq!((world.write("2"), world.reads, world.swaps), (Answer::Swapped(true), 0, 3));
    assert_eq!((world.read(How::Read).values, world.reads), (vec![Some("2".to_owned())], 3));
    world.cut = Some(1);
    assert_eq!((world.write("3"), world.read(How::Read).values), (Answer::Swapped(true), vec![Some("3".to_owned())]));
    world.cut = None;
    world.read(How::Look);
    assert_eq!(world.standings(), [Standing::Votes, Standing::Behind, Standing::Votes]);
    assert_eq!((world.write("4"), world.swaps), (Answer::Swapped(true), 3));
    world.read(How::Look);
    assert_eq!(world.standings(), [Standing::Votes; 3], "what was behind has caught up");
}

/// A caller swaps before the slowest store has answered its read. That store gets the value all the same.
#[test]
fn the_slowest_store_is_not_left_behind() {
    let mut world = World::new();
    world.read(How::Read);
    world.slow = Some(2);
    for value in ["1", "2"] {
        world.leaves = true;
        let Whole { history, values, .. } = world.read(How::Read);
        world.leaves = false;
        let identity = ServerIdentity { history, process: String::new() };
        let swap = Swap { name: "group".to_owned(), from: values[0].clone(), to: value.to_owned(), identity };
        assert_eq!(world.run(Task::Swap(swap)), Answer::Swapped(true));
        assert!(world.records.iter().all(|records| records["group"].ends_with(&format!("\n{value}"))), "{value}");
    }
}

#[test]
fn what_only_looks_makes_nothing() {
    let mut world = World::new();
    for how in [How::Look, How::ReadExisting] {
        assert_eq!(world.read(how), Whole { now: NOW, history: String::new(), values: vec![None] });
        assert_eq!((world.swaps, world.run(Task::Names)), (0, Answer::Names(vec![])));
    }
    assert_eq!(world.standings(), [Standing::Silent; 3]);
    world.read(How::Read);
    world.write("1");
    assert_eq!(world.run(Task::Names), Answer::Names(vec!["group".to_owned()]));
    world.records[2].clear();
    assert_eq!((world.read(How::Look).values, world.swaps, world.fills.len()), (vec![Some("1".to_owned())], 0, 0));
    assert_eq!(world.standings()[2], Standing::Empty);
    world.read(How::ReadExisting);
    assert_eq!(world.fills, [2]);
    assert_eq!(world.run(Task::Fill { seat: 2 }), Answer::Filled(true));
    world.read(How::Look);
    let SeatNow { standing, epoch, ahead_ms, .. } = world.step.seats(&world.memory)[2];
    assert_eq!((standing, epoch, ahead_ms), (Standing::Behind, Some(2), Some(0)));
}

/// Q7: the first era needs all stores.
#[test]
fn a_missing_store() {
    let mut world = World::new();
    world.cut = Some(1);
    let task = Task::Read { names: vec!["group".to_owned()], how: How::Read };
    assert_eq!(world.run(task.clone()), Answer::Refused(QuorumError::NoMajority { answered: 2 }));
    world.cut = None;
    world.read(How::Read);
    world.cut = Some(1);
    assert!(matches!(world.run(task), Answer::Read(_)));
}

/// Q8: a store whose clock is apart does not count, and the whole has the greatest clock of those that do.
#[test]
fn clocks() {
    let mut world = World::new();
    world.write("1");
    world.clocks = [NOW - 50, NOW + 90, NOW + 101];
    assert_eq!(world.read(How::Read).now, NOW + 90);
    assert_eq!(world.standings()[2], Standing::Skewed);
    world.clocks[0] = NOW - 101;
    let task = Task::Read { names: vec!["group".to_owned()], how: How::Read };
    assert_eq!(world.run(task), Answer::Refused(QuorumError::Skew { by: 101, bound: 100 }));
}

/// Q5: a client that sees a store's position fall treats the seat as absent until it was written again.
#[test]
fn positions() {
    let mut world = World::new();
    world.positions = [Some(5), None, None];
    world.write("1");
    world.positions[0] = Some(4);
    world.cut = Some(2);
    let task = Task::Read { names: vec!["group".to_owned()], how: How::Look };
    assert!(matches!(world.run(task), Answer::Refused(QuorumError::NoMajority { .. })));
    assert_eq!(world.standings(), [Standing::Lost, Standing::Votes, Standing::Silent]);
    world.cut = None;
    world.positions[0] = Some(6);
    world.read(How::Read);
    assert_eq!(world.fills, [0]);
    assert_eq!(world.run(Task::Fill { seat: 0 }), Answer::Filled(true));
    world.read(How::Look);
    assert_ne!(world.standings()[0], Standing::Lost);
}

/// A store that has records of its own, such as those of a group that used it alone.
#[test]
fn a_store_with_other_records() {
    let mut world = World::new();
    world.records[1].insert("group".to_owned(), "flakeforge1 group state=unknown".to_owned());
    let task = Task::Read { names: vec!["group".to_owned()], how: How::Read };
    let (seat, name, why) = (1, "group".to_owned(), Unreadable::Damaged);
    assert_eq!(world.run(task), Answer::Refused(QuorumError::Record { seat, name, why }));
    assert!(world.records[0].is_empty(), "nothing was written");
}
