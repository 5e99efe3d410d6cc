//! Every order of events in small worlds: one record, three stores that vote already, and two or three clients. Each message is
//! an event of its own. In every state that is reached, every majority of the stores is read as well.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::{Look, Swap};
use flakeforge_core::lease::quorum::Step;
use flakeforge_core::lease::quorum::memory::Memory;
use flakeforge_core::lease::quorum::messages::QuorumError::{Label, List, Nonsense, Record, Spent};
use flakeforge_core::lease::quorum::messages::{Act, Answer, At, Bounds, Event, How, Task, Whole};
use flakeforge_core::lease::quorum::stores::Stores;
use stateright::{Model, Property};

use super::history::Value;
use super::store::Store;
use crate::explore;
use Part::{Cares, Reads, Writes};
use Trouble::{Late, Loss, Lost, Slow};

const STORES: usize = 3;
const NAME: &str = "group";
const BOUNDS: Bounds = Bounds { ms: i64::MAX, skew_ms: 0 };

/// A fill of one name takes 24 calls if both of its timers ring, and 7 more if the name is tried again.
const CALLS_OF_A_FILL: u32 = 31;

const CHAIN: &str = "one chain of values";
const WRITTEN: &str = "a value is written";
const FILLED: &str = "a store is filled";

/// What a client does, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// reads all stores at one moment, then swaps message by message
    Writes,
    /// reads message by message
    Reads,
    /// reads all stores at one moment, and makes one vote again
    Cares,
}

/// What may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// a message, or its answer, is lost
    Lost,
    /// it is given up, and carried out at any later time
    Late,
    /// a store loses its data
    Loss,
    /// the answer to a read is on its way for any time
    Slow,
}

#[derive(Clone, Copy, Debug)]
pub struct World {
    pub parts: &'static [Part],
    pub troubles: &'static [(Trouble, u8)],
    /// a caller gives up a read or a swap after this many calls, which keeps the world small
    pub calls: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Message {
    Read(Vec<String>),
    Swap(Swap),
    Names,
    Wake,
    /// the answer to a read
    Shown(Vec<Option<String>>, ServerIdentity),
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Flying {
    client: usize,
    step: u32,
    call: u32,
    store: usize,
    message: Message,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Client {
    memory: Memory,
    steps: BTreeMap<u32, Step>,
    begun: bool,
    next_step: u32,
    /// what the swap of this client is to write, after which value
    swap: Option<(Value, Value)>,
    /// the newest value when this client began to read
    newest: Value,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    stores: Vec<Store>,
    clients: Vec<Client>,
    flying: Vec<Flying>,
    /// swaps that were given up
    late: Vec<(usize, Swap)>,
    spent: Vec<u8>,
    /// the values that were seen or written cleanly, in their order
    chain: Vec<Value>,
    /// the value before each
    before: BTreeMap<Value, Value>,
    wrong: Option<String>,
    filled: bool,
    /// the most calls of a step of each client
    calls: Vec<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doing {
    Begin(usize),
    Deliver(usize),
    /// the store has done it, but the answer is lost
    Unheard(usize),
    /// it never arrives
    Lost(usize),
    Late(usize),
    Slow(usize),
    Arrive(usize),
    Lose(usize),
}

fn memory() -> Memory {
    let labels: Vec<_> = (0..STORES).map(|number| format!("s{number}")).collect();
    Memory::new(Stores::new(&labels).expect("a list"))
}

/// Random bits that depend only on who draws them, so that orders of events which make no difference lead to one state.
fn bits(client: usize, step: u32, call: u32) -> At {
    let place = (client as u128) << 64 | u128::from(step) << 32 | u128::from(call);
    At { now: 0, fresh: (place + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) }
}

fn look(values: Vec<Option<String>>, identity: ServerIdentity) -> Event {
    Event::Look(Look { now: 0, identity, values, position: None, client: (0, 0) })
}

impl State {
    fn new(world: &World) -> Self {
        let client =
            Client { memory: memory(), steps: BTreeMap::new(), begun: false, next_step: 0, swap: None, newest: 0 };
        let mut state = Self {
            stores: (0..STORES).map(|number| Store::new(number, false)).collect(),
            clients: vec![client; world.parts.len()],
            flying: Vec::new(),
            late: Vec::new(),
            spent: vec![0; world.troubles.len()],
            chain: vec![0],
            before: BTreeMap::new(),
            wrong: None,
            filled: false,
            calls: world.parts.iter().map(|part| if *part == Cares { CALLS_OF_A_FILL } else { world.calls }).collect(),
        };
        // An era, and one value.
        let mut founder = memory();
        let whole =
            state.at_once(&mut founder, Task::Read { names: vec![NAME.to_owned()], how: How::Read }, &[0, 1, 2]);
        let Some(Answer::Read(Whole { history, .. })) = whole else { panic!("no era: {whole:?}") };
        let identity = ServerIdentity { history, process: String::new() };
        let swap = Swap { name: NAME.to_owned(), from: None, to: "1".to_owned(), identity };
        assert_eq!(state.at_once(&mut founder, Task::Swap(swap), &[0, 1, 2]), Some(Answer::Swapped(true)));
        state.chain = vec![1];
        state
    }

    /// Runs a step to its answer, with these stores in this order. The others do not answer, and nothing else happens.
    fn at_once(&mut self, memory: &mut Memory, task: Task, order: &[usize]) -> Option<Answer> {
        let mut step = Step::new("g", task, BOUNDS);
        let mut acts = step.begin(bits(9, 0, 0), memory);
        let (mut answer, mut turns) = (None, 0);
        while !acts.is_empty() && turns < 100 {
            turns += 1;
            let rank = |act: &Act| match act {
                Act::Read { seat, .. } | Act::Swap { seat, .. } | Act::Names { seat, .. } => {
                    order.iter().position(|store| store == seat).unwrap_or(STORES)
                }
                _ => STORES + 1,
            };
            acts.sort_by_key(rank);
            let act = acts.remove(0);
            let (call, event) = match act {
                Act::Read { call, seat, names } => (call, order.contains(&seat).then(|| self.shown(seat, &names))),
                Act::Swap { call, seat, swap } => {
                    (call, order.contains(&seat).then(|| Event::Swapped(self.stores[seat].swap(&swap))))
                }
                Act::Names { call, seat } => (call, Some(Event::Named(self.stores[seat].names()))),
                Act::Wake { call, .. } => (call, Some(Event::Woke)),
                Act::Done(done) => {
                    answer = Some(done);
                    continue;
                }
                Act::Fill { .. } | Act::Note(_) => continue,
            };
            acts.extend(step.take(call, event.unwrap_or(Event::Failed), bits(9, 0, turns), memory));
        }
        answer
    }

    fn shown(&self, store: usize, names: &[String]) -> Event {
        let Look { values, identity, .. } = self.stores[store].read(names, 0, (0, 0));
        look(values, identity)
    }

    /// What a majority of stores shows at this moment, if it agrees.
    fn reads(&self) -> BTreeSet<Value> {
        thread_local! {
            /// Most states differ only in what is on its way.
            static KNOWN: RefCell<HashMap<Vec<Store>, BTreeSet<Value>>> = RefCell::default();
        }
        if let Some(known) = KNOWN.with_borrow(|known| known.get(&self.stores).cloned()) {
            return known;
        }
        let values: BTreeSet<_> = [[0, 1], [1, 2], [0, 2]].iter().filter_map(|order| self.read_of(order)).collect();
        KNOWN.with_borrow_mut(|known| known.insert(self.stores.clone(), values.clone()));
        values
    }

    /// What these stores show, in this order, if they agree.
    fn read_of(&self, order: &[usize]) -> Option<Value> {
        let mut memory = memory();
        let task = Task::Read { names: vec![NAME.to_owned()], how: How::Look };
        let mut step = Step::new("g", task, BOUNDS);
        let acts = step.begin(bits(9, 0, 0), &mut memory);
        let mut done = None;
        for store in order {
            let sent = acts.iter().find_map(|act| match act {
                Act::Read { call, seat, names } if seat == store => Some((*call, names)),
                _ => None,
            });
            let (call, names) = sent.expect("a read of every store");
            let acts = step.take(call, self.shown(*store, names), bits(9, 0, 0), &mut memory);
            done = acts.into_iter().find_map(|act| if let Act::Done(answer) = act { Some(answer) } else { None });
        }
        match done {
            Some(Answer::Read(Whole { values, .. })) => Some(value(values[0].as_deref())),
            _ => None,
        }
    }

    /// This value was read or written cleanly, and nothing older than `least` may be.
    fn effective(&mut self, value: Value, least: Value) {
        let place = |chain: &[Value], value| chain.iter().position(|its| *its == value);
        if let Some(at) = place(&self.chain, value) {
            if place(&self.chain, least).is_some_and(|least| at < least) {
                self.wrong = Some(format!("{value} after {least}"));
            }
            return;
        }
        let newest = *self.chain.last().expect("a value");
        match self.before.get(&value) {
            Some(before) if *before == newest => self.chain.push(value),
            Some(before) if !self.chain.contains(before) => {
                self.effective(*before, least);
                self.effective(value, least);
            }
            _ => self.wrong = Some(format!("a fork: {value} beside {:?}", self.chain)),
        }
    }

    fn begin(&mut self, world: &World, number: usize) {
        self.clients[number].begun = true;
        let task = Task::Read { names: vec![NAME.to_owned()], how: How::Read };
        match world.parts[number] {
            Part::Reads => {
                self.clients[number].newest = *self.chain.last().expect("a value");
                self.start(number, task);
            }
            Part::Writes => {
                let mut memory = self.clients[number].memory.clone();
                let order: Vec<_> = (0..STORES).map(|store| (store + number) % STORES).collect();
                let answer = self.clone().at_once(&mut memory, task, &order);
                self.clients[number].memory = memory;
                let Some(Answer::Read(Whole { history, values, .. })) = answer else { return };
                let (from, to) = (value(values[0].as_deref()), 10 + number as Value);
                self.clients[number].swap = Some((from, to));
                self.before.insert(to, from);
                let identity = ServerIdentity { history, process: String::new() };
                let swap = Swap { name: NAME.to_owned(), from: values[0].clone(), to: to.to_string(), identity };
                self.start(number, Task::Swap(swap));
            }
            Part::Cares => {
                if let Some(seat) = self.stores.iter().position(|store| !store.votes()) {
                    self.start(number, Task::Fill { seat });
                }
            }
        }
    }

    fn start(&mut self, number: usize, task: Task) {
        let client = &mut self.clients[number];
        let id = client.next_step;
        client.next_step += 1;
        let mut step = Step::new("g", task, BOUNDS);
        let acts = step.begin(bits(number, id, 0), &mut client.memory);
        client.steps.insert(id, step);
        self.carry_out(number, id, acts);
    }

    fn pass(&mut self, flying: &Flying, event: Event) {
        let Flying { client: number, step: id, call, .. } = *flying;
        let client = &mut self.clients[number];
        let Some(step) = client.steps.get_mut(&id) else { return };
        let acts = step.take(call, event, bits(number, id, call), &mut client.memory);
        self.carry_out(number, id, acts);
    }

    fn carry_out(&mut self, client: usize, step: u32, acts: Vec<Act>) {
        for act in acts {
            let (call, store, message) = match act {
                Act::Read { call, seat, names } => (call, seat, Message::Read(names)),
                Act::Swap { call, seat, swap } => (call, seat, Message::Swap(swap)),
                Act::Names { call, seat } => (call, seat, Message::Names),
                Act::Wake { call, .. } => (call, 0, Message::Wake),
                Act::Done(answer) => {
                    self.done(client, answer);
                    continue;
                }
                Act::Fill { .. } | Act::Note(_) => continue,
            };
            if call > self.calls[client] {
                self.clients[client].steps.remove(&step);
                break;
            }
            self.flying.push(Flying { client, step, call, store, message });
        }
    }

    fn done(&mut self, number: usize, answer: Answer) {
        match answer {
            Answer::Swapped(true) => {
                let (_, to) = self.clients[number].swap.expect("a swap");
                let newest = *self.chain.last().expect("a value");
                if !self.chain.contains(&to) {
                    self.effective(to, newest);
                }
            }
            Answer::Read(Whole { values, history, .. }) if !history.is_empty() => {
                let newest = self.clients[number].newest;
                self.effective(value(values[0].as_deref()), newest);
            }
            Answer::Filled(true) => self.filled = true,
            Answer::Refused(List { .. } | Label { .. } | Record { .. } | Nonsense { .. } | Spent) => {
                self.wrong = Some(format!("{answer:?}"));
            }
            _ => {}
        }
    }

    /// Drops what can make no difference any more, and brings the rest into one order.
    fn tidy(mut self) -> Self {
        let newest = *self.chain.last().expect("a value");
        for value in self.reads() {
            self.effective(value, newest);
        }
        let waits = |flying: &Flying| self.clients[flying.client].steps.contains_key(&flying.step);
        let kept: Vec<_> = self.flying.iter().filter(|flying| waits(flying)).cloned().collect();
        self.flying = kept;
        self.flying.sort_by_key(|flying| (flying.client, flying.step, flying.call));
        for (number, client) in self.clients.iter_mut().enumerate() {
            let is_waiting = |id: &u32| self.flying.iter().any(|it| it.client == number && it.step == *id);
            client.steps.retain(|id, _| is_waiting(id));
            if client.begun && client.steps.is_empty() {
                client.memory = memory();
            }
        }
        // No text is ever written twice.
        let stores = &self.stores;
        self.late.retain(|(store, swap)| stores[*store].may_swap(swap));
        self.late.sort_by(|one, other| (one.0, &one.1.to).cmp(&(other.0, &other.1.to)));
        self
    }
}

fn value(text: Option<&str>) -> Value {
    text.map_or(0, |text| text.parse().expect("a value"))
}

impl World {
    fn may(&self, state: &State, trouble: Trouble) -> bool {
        self.troubles.iter().zip(&state.spent).any(|((its, most), spent)| *its == trouble && spent < most)
    }

    fn spend(&self, state: &mut State, trouble: Trouble) {
        let at = self.troubles.iter().position(|(its, _)| *its == trouble).expect("a trouble");
        state.spent[at] += 1;
    }
}

impl Model for World {
    type State = State;
    type Action = Doing;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, out: &mut Vec<Doing>) {
        if state.wrong.is_some() {
            return;
        }
        for (number, client) in state.clients.iter().enumerate() {
            let is_due = self.parts[number] != Part::Cares || state.stores.iter().any(|store| !store.votes());
            if !client.begun && is_due {
                out.push(Doing::Begin(number));
            }
        }
        for (at, flying) in state.flying.iter().enumerate() {
            out.push(Doing::Deliver(at));
            let is_swap = matches!(flying.message, Message::Swap(_));
            if is_swap && self.may(state, Trouble::Lost) {
                out.extend([Doing::Unheard(at), Doing::Lost(at)]);
            }
            if is_swap && self.may(state, Trouble::Late) {
                out.push(Doing::Late(at));
            }
            if matches!(flying.message, Message::Read(_)) && self.may(state, Trouble::Slow) {
                out.push(Doing::Slow(at));
            }
        }
        out.extend((0..state.late.len()).map(Doing::Arrive));
        if self.may(state, Trouble::Loss) && state.stores.iter().all(Store::votes) {
            out.extend((0..STORES).map(Doing::Lose));
        }
    }

    fn next_state(&self, before: &State, doing: Doing) -> Option<State> {
        let mut state = before.clone();
        match doing {
            Doing::Begin(number) => state.begin(self, number),
            Doing::Deliver(at) => {
                let flying = state.flying.remove(at);
                let event = match &flying.message {
                    Message::Read(names) => state.shown(flying.store, names),
                    Message::Swap(swap) => Event::Swapped(state.stores[flying.store].swap(swap)),
                    Message::Names => Event::Named(state.stores[flying.store].names()),
                    Message::Wake => Event::Woke,
                    Message::Shown(values, identity) => look(values.clone(), identity.clone()),
                };
                state.pass(&flying, event);
            }
            Doing::Unheard(at) | Doing::Lost(at) | Doing::Late(at) => {
                let trouble = if matches!(doing, Doing::Late(_)) { Trouble::Late } else { Trouble::Lost };
                self.spend(&mut state, trouble);
                let flying = state.flying.remove(at);
                let Message::Swap(swap) = &flying.message else { return None };
                match doing {
                    Doing::Unheard(_) => drop(state.stores[flying.store].swap(swap)),
                    Doing::Late(_) => state.late.push((flying.store, swap.clone())),
                    _ => {}
                }
                state.pass(&flying, Event::Swapped(false));
            }
            Doing::Slow(at) => {
                self.spend(&mut state, Trouble::Slow);
                let flying = &mut state.flying[at];
                let Message::Read(names) = &flying.message else { return None };
                let Look { values, identity, .. } = state.stores[flying.store].read(names, 0, (0, 0));
                flying.message = Message::Shown(values, identity);
            }
            Doing::Arrive(at) => {
                let (store, swap) = state.late.remove(at);
                state.stores[store].swap(&swap);
            }
            Doing::Lose(store) => {
                self.spend(&mut state, Trouble::Loss);
                state.stores[store].start(store, true);
            }
        }
        Some(state.tidy())
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(CHAIN, |_, state: &State| state.wrong.is_none()),
            Property::sometimes(WRITTEN, |_, state: &State| state.chain.len() > 2),
            Property::sometimes(FILLED, |_, state: &State| state.filled),
        ]
    }
}

/// Visits every state of these worlds.
fn assert_one_chain(worlds: &[(&str, World, &[&'static str])]) {
    for (name, world, goods) in worlds {
        crate::assert_holds(name, &[CHAIN], goods, &explore(name, *world));
    }
}

const fn world(parts: &'static [Part], troubles: &'static [(Trouble, u8)], calls: u32) -> World {
    World { parts, troubles, calls }
}

#[test]
fn writers() {
    assert_one_chain(&[
        ("two writers", world(&[Writes, Writes], &[], 7), &[WRITTEN]),
        ("a writer, one lost and one late", world(&[Writes], &[(Lost, 1), (Late, 1)], 11), &[]),
    ]);
}

#[test]
fn a_store_loses_its_data() {
    assert_one_chain(&[
        ("a fill", world(&[Cares], &[(Loss, 1)], 0), &[FILLED]),
        ("a writer and a loss", world(&[Writes], &[(Loss, 1), (Late, 1)], 16), &[]),
        ("a reader and a loss", world(&[Reads], &[(Loss, 1), (Slow, 1)], 16), &[]),
    ]);
}

/// The long part.
pub fn more() {
    assert_one_chain(&[
        ("two writers", world(&[Writes, Writes], &[], 10), &[WRITTEN]),
        ("two writers, one late", world(&[Writes, Writes], &[(Late, 1)], 9), &[WRITTEN]),
        ("two writers, one lost", world(&[Writes, Writes], &[(Lost, 1)], 9), &[WRITTEN]),
        ("a writer, one lost and one late", world(&[Writes], &[(Lost, 1), (Late, 1)], 16), &[]),
        ("a fill, one lost", world(&[Cares], &[(Loss, 1), (Lost, 1)], 0), &[FILLED]),
        ("a writer and a fill", world(&[Writes, Cares], &[(Loss, 1)], 3), &[FILLED]),
        ("a reader and a fill", world(&[Reads, Cares], &[(Loss, 1), (Slow, 1)], 3), &[FILLED]),
    ]);
}
