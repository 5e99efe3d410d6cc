//! Random schedules of clients of one whole over stores in memory. The seed decides everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::{Ask, Look, Swap};
use flakeforge_core::lease::quorum::Step;
use flakeforge_core::lease::quorum::memory::Memory;
use flakeforge_core::lease::quorum::messages::{Act, Answer, At, Bounds, Event, How, Note, QuorumError, Task, Whole};
use flakeforge_core::lease::quorum::record::{SEAT, SeatRecord, SeatState};
use flakeforge_core::lease::quorum::stores::{List, Stores};

use super::history::{History, Seen, Value, Written};
use super::holders::{self, Claims, Holder, SKEW_MS};
use super::rng::Rng;
use super::store::Store;

/// The true time at the start.
const BASE: i64 = 1_700_000_000_000;
const RECORDS: [&str; 3] = ["group", "slot0000000000", "slot0000000001"];

/// Whether the next store may lose its data before the one before votes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    Minority,
    /// two at a time, which is a minority of five
    Two,
    Majority,
}

/// A kind of schedules.
#[derive(Clone, Copy, Debug)]
pub struct Storm {
    pub stores: usize,
    pub losses: Losses,
    /// members hold slots, instead of clients that read and write
    pub are_members: bool,
    pub has_wrong_clocks: bool,
    /// stores are replaced, and three become five
    pub has_changes: bool,
}

impl Default for Storm {
    fn default() -> Self {
        Self { stores: 3, losses: Losses::Minority, are_members: false, has_wrong_clocks: false, has_changes: false }
    }
}

/// What happened in schedules.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub wrong: Option<String>,
    pub schedules: u64,
    /// messages that were carried out, answers and timers
    pub steps: u64,
    pub reads: u64,
    pub clean: u64,
    pub refused: u64,
    pub crashes: u64,
    pub lost: u64,
    pub eras: u64,
    pub filled: u64,
    pub completed: u64,
    pub torn: u64,
    pub granted: u64,
    pub renewed: u64,
    /// lists that came into force, of all that were asked for
    pub changed: u64,
    pub asked: u64,
}

impl Report {
    pub fn add(&mut self, other: &Self) {
        self.schedules += other.schedules;
        self.steps += other.steps;
        self.reads += other.reads;
        self.clean += other.clean;
        self.refused += other.refused;
        self.crashes += other.crashes;
        self.lost += other.lost;
        self.eras += other.eras;
        self.filled += other.filled;
        self.completed += other.completed;
        self.torn += other.torn;
        self.granted += other.granted;
        self.renewed += other.renewed;
        self.changed += other.changed;
        self.asked += other.asked;
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedules, steps, reads, clean, refused, crashes, lost, eras, .. } = self;
        let Self { filled, completed, torn, granted, renewed, changed, asked, .. } = self;
        write!(f, "{schedules} schedules, {steps} steps, {reads} reads, {clean} clean swaps, {refused} refused, ")?;
        write!(f, "{crashes} stops, {lost} losses, {eras} eras, {filled} fills, {completed} completed, {torn} torn, ")?;
        write!(f, "{granted} grants, {renewed} renewals, {changed} of {asked} changes")
    }
}

/// How bad the network is in one schedule.
struct Network {
    most_ms: i64,
    slow: i64,
    slow_ms: i64,
    lost: i64,
    late: i64,
    late_ms: i64,
    pace_ms: i64,
    calm_ms: i64,
}

/// A call of a step of a client. A client that was restarted has another life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Call {
    client: usize,
    life: u32,
    step: u32,
    call: u32,
}

/// What a message asks a store.
#[derive(Clone, Debug)]
enum Message {
    Read(Vec<String>),
    Swap(Swap),
    Names,
}

enum Happening {
    /// a message reaches a store
    Arrives(Call, usize, Message),
    /// an answer reaches its client
    Returns(Call, Event),
    Works(usize, u32),
    /// it is gone
    Ends(usize, u32),
    Stops,
    Starts(usize, bool),
    /// in a minority's mode: whether the next store may stop
    Settles,
}

struct Running {
    step: Step,
    is_main: bool,
    calls: BTreeSet<u32>,
    is_done: bool,
}

/// What a client's call is for.
enum Aim {
    Nothing,
    /// the start, and the records
    Read(i64, Vec<usize>),
    /// a swap that is to come
    Next(Written, ServerIdentity),
    Swap(Written, String),
    Names(i64),
    /// a part of a member's step, which began then: a read or a swap
    Step(i64, bool),
    /// a step of an operator
    Operates,
}

/// Somebody who changes the list to this one, and fills what is new in it.
struct Operator {
    to: Vec<usize>,
    is_changed: bool,
    tries: u32,
}

struct Client {
    life: u32,
    /// its stores; the place of a store is its seat
    stores: Vec<usize>,
    operator: Option<Operator>,
    is_gone: bool,
    memory: Memory,
    /// how far its clock is ahead
    ahead: i64,
    steps: BTreeMap<u32, Running>,
    next_step: u32,
    aim: Aim,
    holder: Holder,
}

struct World {
    storm: Storm,
    rng: Rng,
    time: i64,
    network: Network,
    stores: Vec<Store>,
    clients: Vec<Client>,
    queue: BTreeMap<(i64, u64), Happening>,
    queued: u64,
    ends: i64,
    call_ms: i64,
    histories: BTreeMap<String, History>,
    claims: Claims,
    serial: Value,
    report: Report,
}

fn labels(stores: &[usize]) -> Vec<String> {
    stores.iter().map(|number| format!("s{number}")).collect()
}

fn numbers(labels: &str) -> Vec<usize> {
    labels.split(' ').map(|label| label[1..].parse().expect("a label")).collect()
}

/// How many stores there are besides those of the first list.
const SPARE: usize = 3;

impl Client {
    fn new(list: &[usize], life: u32, ahead: i64) -> Self {
        Self::with(list, &[], life, ahead)
    }

    fn with(list: &[usize], coming: &[usize], life: u32, ahead: i64) -> Self {
        let mut stores = [list, coming].concat();
        let memory = Memory::new(Stores::with(&labels(&stores), coming.len()).expect("a list"));
        stores.sort_unstable();
        let (steps, holder, aim) = (BTreeMap::new(), Holder::new(), Aim::Nothing);
        Self { life, stores, operator: None, is_gone: false, memory, ahead, steps, next_step: 0, aim, holder }
    }
}

impl Storm {
    /// One schedule.
    pub fn run(&self, seed: u64) -> Report {
        let mut world = World::new(*self, seed);
        let ends = world.ends;
        while let Some((&key, _)) = world.queue.first_key_value() {
            if key.0 > ends {
                break;
            }
            let happening = world.queue.remove(&key).expect("the first");
            world.time = key.0;
            world.happens(happening);
            if world.report.wrong.is_some() {
                break;
            }
        }
        world.judge()
    }
}

impl World {
    fn new(storm: Storm, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        // From calm to wild, each in its own way.
        let some = |rng: &mut Rng, most| if rng.is(400) { 0 } else { rng.below(most) };
        let network = Network {
            most_ms: 1 + rng.below(8),
            slow: some(&mut rng, 150),
            slow_ms: 500 + rng.below(8_000),
            lost: some(&mut rng, 100),
            late: some(&mut rng, 80),
            late_ms: 1_000 + rng.below(40_000),
            pace_ms: if rng.is(500) { 30 } else { 300 },
            calm_ms: 300 + rng.below(6_000),
        };
        let list: Vec<_> = (0..storm.stores).collect();
        let all = storm.stores + if storm.has_changes { SPARE } else { 0 };
        let stores: Vec<_> = (0..all).map(|number| Store::new(number, rng.is(500))).collect();
        let lives = 2 + rng.below(4) as usize;
        let clients: Vec<_> = (0..lives).map(|_| Client::new(&list, 0, 0)).collect();
        let ends = BASE + 5_000 + rng.below(if storm.are_members { 60_000 } else { 25_000 });
        let call_ms = 200 + rng.below(1_500);
        let mut world = Self {
            storm,
            rng,
            time: BASE,
            network,
            stores,
            clients,
            queue: BTreeMap::new(),
            queued: 0,
            ends,
            call_ms,
            histories: BTreeMap::new(),
            claims: Claims::new(),
            serial: 0,
            report: Report { schedules: 1, ..Report::default() },
        };
        world.set_clocks();
        for client in 0..world.clients.len() {
            let wait = world.rng.below(50);
            world.plan(wait, Happening::Works(client, 0));
        }
        let calm = world.rng.below(world.network.calm_ms);
        world.plan(calm, Happening::Stops);
        world
    }

    fn plan(&mut self, after: i64, happening: Happening) {
        self.queued += 1;
        self.queue.insert((self.time + after, self.queued), happening);
    }

    /// Within the skew; or a minority of the stores, or a client, is beyond it.
    fn set_clocks(&mut self) {
        for store in &mut self.stores {
            store.ahead = self.rng.below(SKEW_MS) - SKEW_MS / 2;
        }
        for client in &mut self.clients {
            client.ahead = self.rng.below(SKEW_MS) - SKEW_MS / 2;
        }
        if self.storm.has_wrong_clocks {
            let far = self.rng.below(20_000) - 10_000;
            let (store, client) = (self.rng.below(self.stores.len() as i64), self.rng.below(self.clients.len() as i64));
            if self.rng.is(700) {
                self.stores[store as usize].ahead = far;
            } else {
                self.clients[client as usize].ahead = far;
            }
        }
    }

    fn travel(&mut self) -> i64 {
        if self.rng.is(self.network.slow) {
            self.rng.below(self.network.slow_ms)
        } else {
            self.rng.below(self.network.most_ms)
        }
    }

    fn happens(&mut self, happening: Happening) {
        match happening {
            Happening::Arrives(call, store, message) => self.arrive(call, store, &message),
            Happening::Returns(call, event) => self.pass(call, event),
            Happening::Works(client, life) if self.clients[client].life == life => self.work(client),
            Happening::Works(..) => {}
            Happening::Ends(client, life) => self.clients[client].is_gone |= self.clients[client].life == life,
            Happening::Stops => self.stop(),
            Happening::Starts(store, loses) => {
                self.report.lost += u64::from(loses);
                self.stores[store].start(store, loses);
            }
            Happening::Settles => {
                let is_settled = self.is_settled();
                if self.gone().is_some() {
                    self.change();
                }
                if self.rng.is(30) {
                    self.set_clocks();
                }
                let wait = if is_settled { self.rng.below(self.network.calm_ms) } else { 100 };
                self.plan(wait, if is_settled { Happening::Stops } else { Happening::Settles });
            }
        }
    }

    /// A store stops, or a client; clocks are set.
    fn stop(&mut self) {
        let is_minority = self.storm.losses != Losses::Majority;
        if self.rng.is(100) {
            let number = self.rng.below(self.clients.len() as i64) as usize;
            let Client { life, ahead, ref operator, ref stores, .. } = self.clients[number];
            if operator.is_some() {
                self.clients[number].is_gone = true;
            } else {
                // It may be started with the list that it had.
                let list = if self.rng.is(700) { self.list() } else { stores.clone() };
                self.clients[number] = Client::new(&list, life + 1, ahead);
                self.plan(1, Happening::Works(number, life + 1));
            }
        }
        if self.storm.has_changes && self.rng.is(300) && (self.is_settled() || self.gone().is_some()) {
            self.change();
            if is_minority {
                return self.plan(100, Happening::Settles);
            }
        }
        if self.rng.is(100) {
            self.set_clocks();
        }
        // The first era needs all stores.
        let may = !is_minority || self.is_settled();
        let mut longest = None;
        for _ in 0..if self.storm.losses == Losses::Two { 2 } else { 1 } {
            let store = self.rng.below(self.stores.len() as i64) as usize;
            let loses = self.rng.is(600) && !self.is_remembered(store);
            if self.stores[store].is_up && may {
                self.report.crashes += 1;
                self.stores[store].is_up = false;
                let away = self.rng.below(2_000);
                longest = longest.max(Some(away));
                self.plan(away, Happening::Starts(store, loses));
            }
        }
        match longest {
            Some(longest) if is_minority => self.plan(longest + 100, Happening::Settles),
            _ => {
                let wait = self.rng.below(self.network.calm_ms);
                self.plan(wait, Happening::Stops);
            }
        }
    }

    /// The list in force, or `None` if no seat has one yet.
    fn newest(&self) -> Option<List> {
        let texts = self.stores.iter().filter_map(|store| store.records.get(SEAT));
        texts.map(|text| SeatRecord::parse(text).expect("a seat").list).max_by_key(|list| list.generation)
    }

    fn list(&self) -> Vec<usize> {
        self.newest().map_or_else(|| (0..self.storm.stores).collect(), |list| numbers(&list.labels))
    }

    /// Whether a store votes in the list in force. One that was replaced, and came back, may have its seat from before.
    fn votes(&self, number: usize) -> bool {
        let its = self.stores[number].seat().filter(|seat| seat.state == SeatState::Votes);
        its.zip(self.newest()).is_some_and(|(seat, newest)| newest.takes(&seat.label, &seat.list))
    }

    /// Whether a store was replaced but is still in some client's list. It may be the one that tells the client of the new list, so
    /// operators do not clear it before all members have that.
    fn is_remembered(&self, number: usize) -> bool {
        let mut clients = self.clients.iter().filter(|client| !client.is_gone);
        !self.list().contains(&number) && clients.any(|client| client.stores.contains(&number))
    }

    /// Whether every store in the list is up and votes, and no change is in progress.
    fn is_settled(&self) -> bool {
        !self.is_changing() && self.list().iter().all(|&number| self.stores[number].is_up && self.votes(number))
    }

    fn is_changing(&self) -> bool {
        self.clients.iter().any(|client| client.operator.is_some() && !client.is_gone)
    }

    /// A store in the list that is down and that nobody is replacing.
    fn gone(&self) -> Option<usize> {
        let away = self.list().into_iter().find(|&number| !self.stores[number].is_up);
        away.filter(|_| self.storm.has_changes && !self.is_changing())
    }

    /// An operator replaces a store that is gone for good, or lives on, or adds two. Sometimes two of them do.
    fn change(&mut self) {
        let list = self.list();
        let spare: Vec<_> = (0..self.stores.len()).filter(|number| !list.contains(number)).collect();
        let any = list[self.rng.below(list.len() as i64) as usize];
        let old = self.gone().unwrap_or(any);
        if self.rng.is(400) {
            self.stores[old].is_up = false;
        }
        for _ in 0..=u8::from(self.rng.is(300)) {
            let mut to = list.clone();
            if list.len() == 3 && self.rng.is(200) {
                to.extend(&spare[..2]);
            } else {
                let new = spare[self.rng.below(spare.len() as i64) as usize];
                let old = if self.rng.is(800) { old } else { list[self.rng.below(list.len() as i64) as usize] };
                to.retain(|number| *number != old);
                to.push(new);
            }
            to.sort_unstable();
            to.iter().for_each(|&number| self.stores[number].is_up |= !list.contains(&number));
            self.report.asked += 1;
            self.operate(&list, to, 0);
        }
    }

    /// An operator begins, with the list as he knows it. He may stop at any time.
    fn operate(&mut self, list: &[usize], to: Vec<usize>, tries: u32) {
        let coming: Vec<_> = to.iter().copied().filter(|number| !list.contains(number)).collect();
        let mut client = Client::with(list, &coming, 0, 0);
        client.operator = Some(Operator { to, is_changed: false, tries });
        let number = self.clients.len();
        self.clients.push(client);
        let wait = self.rng.below(self.network.calm_ms);
        self.plan(wait, Happening::Works(number, 0));
        if self.rng.is(300) {
            let wait = wait + self.rng.below(100);
            self.plan(wait, Happening::Ends(number, 0));
        }
    }

    /// The next step of an operator.
    fn work_as_operator(&mut self, number: usize) {
        let Some(Operator { to, is_changed, .. }) = &self.clients[number].operator else { return };
        let (to, is_changed) = (to.clone(), *is_changed);
        let waiting = to.iter().find(|&&store| !self.votes(store));
        let client = &mut self.clients[number];
        let seat = waiting.and_then(|store| client.stores.iter().position(|its| its == store));
        client.aim = Aim::Operates;
        match seat {
            _ if !is_changed => self.start(number, Task::Change { to: labels(&to) }, true),
            Some(seat) => self.start(number, Task::Fill { seat }, true),
            None => self.clients[number].is_gone = true,
        }
    }

    /// What came of it. Whoever finds another change unfinished finishes that.
    fn operated(&mut self, number: usize, answer: Answer) {
        let list = self.list();
        let client = &mut self.clients[number];
        let (life, Some(operator)) = (client.life, &mut client.operator) else { return };
        operator.tries += 1;
        match answer {
            Answer::Changed => {
                self.report.changed += 1;
                operator.is_changed = true;
            }
            Answer::Refused(QuorumError::List { theirs, .. }) => {
                client.is_gone = true;
                let (to, tries) = (numbers(&theirs), operator.tries);
                if to != list && tries < 20 {
                    self.operate(&list, to, tries);
                }
                return;
            }
            _ if operator.tries > 20 => client.is_gone = true,
            _ => {}
        }
        let wait = self.rng.below(500);
        self.plan(wait, Happening::Works(number, life));
    }

    fn arrive(&mut self, call: Call, number: usize, message: &Message) {
        self.report.steps += 1;
        let local = self.time + self.clients[call.client].ahead;
        let store = &mut self.stores[number];
        if !store.is_up {
            return self.answer(call, Event::Failed);
        }
        let event = match message {
            Message::Read(names) => Event::Look(store.read(names, self.time, (local, local))),
            Message::Swap(swap) => Event::Swapped(store.swap(swap)),
            Message::Names => Event::Named(store.names()),
        };
        if !self.rng.is(self.network.lost) {
            self.answer(call, event);
        }
    }

    fn answer(&mut self, call: Call, event: Event) {
        let after = self.travel();
        self.plan(after, Happening::Returns(call, event));
    }

    /// Passes an event to its step, and carries out what follows.
    fn pass(&mut self, call: Call, event: Event) {
        let Call { client: number, life, step: id, call } = call;
        let fresh = self.rng.bits();
        let client = &mut self.clients[number];
        if client.life != life || client.is_gone {
            return;
        }
        let Some(running) = client.steps.get_mut(&id) else { return };
        if !running.calls.remove(&call) {
            return;
        }
        self.report.steps += 1;
        let event = match event {
            // The client's clock is read before and after.
            Event::Look(look) => Event::Look(Look { client: (look.client.0, self.time + client.ahead), ..look }),
            event => event,
        };
        let at = At { now: self.time, fresh };
        let acts = running.step.take(call, event, at, &mut client.memory);
        self.carry_out(number, id, acts);
    }

    fn start(&mut self, number: usize, task: Task, is_main: bool) {
        let fresh = self.rng.bits();
        let bounds = Bounds { ms: 4 * self.call_ms, skew_ms: SKEW_MS };
        let client = &mut self.clients[number];
        let id = client.next_step;
        client.next_step += 1;
        let mut step = Step::new("g", task, bounds);
        let acts = step.begin(At { now: self.time, fresh }, &mut client.memory);
        client.steps.insert(id, Running { step, is_main, calls: BTreeSet::new(), is_done: false });
        self.carry_out(number, id, acts);
    }

    fn carry_out(&mut self, number: usize, id: u32, acts: Vec<Act>) {
        let mut answer = None;
        for act in acts {
            match act {
                Act::Read { call, seat, names } => self.send(number, id, (call, seat), Message::Read(names)),
                Act::Swap { call, seat, swap } => self.send(number, id, (call, seat), Message::Swap(swap)),
                Act::Names { call, seat } => self.send(number, id, (call, seat), Message::Names),
                Act::Wake { call, ms } => {
                    let call = self.expect(number, id, call);
                    self.plan(ms, Happening::Returns(call, Event::Woke));
                }
                Act::Fill { seat } => self.start(number, Task::Fill { seat }, false),
                Act::Note(Note::Filled) => self.report.filled += 1,
                Act::Note(Note::Completed) => self.report.completed += 1,
                Act::Note(Note::Torn) => self.report.torn += 1,
                Act::Note(_) => {}
                Act::Done(done) => answer = Some(done),
            }
        }
        let client = &mut self.clients[number];
        let Some(running) = client.steps.get_mut(&id) else { return };
        running.is_done |= answer.is_some();
        let is_main = running.is_main;
        if running.is_done && running.calls.is_empty() {
            client.steps.remove(&id);
        }
        if let Some(answer) = answer.filter(|_| is_main) {
            self.done(number, answer);
        }
    }

    /// A call that one event will answer.
    fn expect(&mut self, client: usize, step: u32, call: u32) -> Call {
        let its = &mut self.clients[client];
        its.steps.get_mut(&step).expect("a step").calls.insert(call);
        Call { client, life: its.life, step, call }
    }

    fn send(&mut self, client: usize, step: u32, (call, seat): (u32, usize), message: Message) {
        let store = self.clients[client].stores[seat];
        let call = self.expect(client, step, call);
        self.plan(self.call_ms, Happening::Returns(call, Event::Failed));
        if self.rng.is(self.network.late) {
            // It is given up, and may be carried out much later.
            let late = self.rng.below(self.network.late_ms);
            self.plan(late, Happening::Arrives(call, store, message));
            self.answer(call, Event::Failed);
        } else if !self.rng.is(self.network.lost) {
            let after = self.travel();
            self.plan(after, Happening::Arrives(call, store, message));
        }
    }

    /// The next thing that a client does.
    fn work(&mut self, number: usize) {
        if self.clients[number].is_gone {
            return;
        }
        if self.clients[number].operator.is_some() {
            return self.work_as_operator(number);
        }
        if self.storm.are_members {
            return self.work_as_member(number);
        }
        if let Aim::Next(written, identity) = std::mem::replace(&mut self.clients[number].aim, Aim::Nothing) {
            return self.swap(number, written, identity);
        }
        if self.rng.is(30) {
            self.clients[number].aim = Aim::Names(self.time);
            return self.start(number, Task::Names, true);
        }
        let all: Vec<_> = (0..RECORDS.len()).collect();
        let records = if self.rng.is(500) { all } else { vec![self.rng.below(RECORDS.len() as i64) as usize] };
        let names = records.iter().map(|&record| RECORDS[record].to_owned()).collect();
        let how = [How::Read, How::Read, How::Read, How::ReadExisting, How::Look][self.rng.below(5) as usize];
        self.clients[number].aim = Aim::Read(self.time, records);
        self.start(number, Task::Read { names, how }, true);
    }

    fn swap(&mut self, number: usize, mut written: Written, identity: ServerIdentity) {
        written.start = self.time;
        let text = |value: Value| (value > 0).then(|| value.to_string());
        let swap = Swap {
            name: RECORDS[written.record].to_owned(),
            from: text(written.from),
            to: written.to.to_string(),
            identity: identity.clone(),
        };
        // It counts from now on, whatever becomes of its client.
        let history = self.histories.entry(identity.history.clone()).or_default();
        history.swaps.push(written.clone());
        self.clients[number].aim = Aim::Swap(written, identity.history);
        self.start(number, Task::Swap(swap), true);
    }

    fn done(&mut self, number: usize, answer: Answer) {
        if let Answer::Refused(error) = &answer {
            self.report.refused += 1;
            use flakeforge_core::lease::quorum::messages::QuorumError::{Label, List, Nonsense, Record, Spent};
            // An operator may find another list; and all of a group may be lost but its members.
            let is_usual = self.clients[number].operator.is_some()
                || self.storm.has_changes && self.storm.losses == Losses::Majority;
            if matches!(error, Label { .. } | Nonsense { .. } | Record { .. } | Spent)
                || matches!(error, List { .. }) && !is_usual
            {
                self.report.wrong = Some(format!("refused: {error:?}"));
            }
        }
        let mut wait = self.rng.below(self.network.pace_ms);
        match std::mem::replace(&mut self.clients[number].aim, Aim::Nothing) {
            Aim::Read(start, records) => {
                if let Answer::Read(whole) = answer {
                    wait += self.saw(number, start, &records, whole);
                }
            }
            Aim::Swap(written, era) => {
                if answer == Answer::Swapped(true) {
                    self.report.clean += 1;
                    let swaps = &mut self.histories.get_mut(&era).expect("an era").swaps;
                    let its = swaps.iter_mut().rev().find(|swap| swap.to == written.to).expect("the swap");
                    (its.is_clean, its.end) = (true, self.time);
                }
            }
            Aim::Names(start) => {
                if let Answer::Names(names) = answer {
                    self.check_names(start, &names);
                }
            }
            Aim::Operates => return self.operated(number, answer),
            Aim::Step(began, is_swap) => return self.go_on(number, (began, is_swap), answer),
            Aim::Nothing | Aim::Next(..) => {}
        }
        let life = self.clients[number].life;
        self.plan(wait, Happening::Works(number, life));
    }

    /// Records a read, and decides what the client does with it. Returns how long it waits first.
    fn saw(&mut self, number: usize, start: i64, records: &[usize], whole: Whole) -> i64 {
        self.report.reads += 1;
        let Whole { history: era, values, .. } = whole;
        if era.is_empty() {
            return 0;
        }
        let values: Vec<Value> =
            values.iter().map(|value| value.as_ref().map_or(0, |value| value.parse().expect("a value"))).collect();
        let seen = records.iter().copied().zip(values.iter().copied()).collect();
        self.histories.entry(era.clone()).or_default().reads.push(Seen { start, end: self.time, values: seen });
        if self.rng.is(350) {
            return 0;
        }
        let at = self.rng.below(records.len() as i64) as usize;
        self.serial += 1;
        let (record, from, to) = (records[at], values[at], self.serial);
        let written = Written { start: 0, end: i64::MAX, record, from, to, is_clean: false };
        self.clients[number].aim = Aim::Next(written, ServerIdentity { history: era, process: String::new() });
        if self.rng.is(100) { self.rng.below(3_000) } else { 0 }
    }

    /// No name is missing that a read showed before, unless all of that era was lost since.
    fn check_names(&mut self, start: i64, names: &[String]) {
        if self.storm.losses == Losses::Majority {
            return;
        }
        let reads = self.histories.values().flat_map(|history| &history.reads);
        let before = reads.filter(|read| read.end < start);
        let shown = before.flat_map(|read| read.values.iter().filter(|(_, value)| **value > 0));
        let missing = shown.map(|(record, _)| RECORDS[*record]).find(|name| !names.iter().any(|known| known == name));
        if let Some(missing) = missing {
            self.report.wrong = Some(format!("{missing} is missing in the list of names"));
        }
    }

    fn work_as_member(&mut self, number: usize) {
        let fresh = self.rng.bits();
        let gives_back = self.rng.is(60);
        let used = self.time + self.rng.below(600) - 300;
        let ask = self.clients[number].holder.begin(fresh, used, gives_back, &mut self.claims);
        self.follow(number, self.time, ask);
    }

    /// Carries out what a member's step asks for.
    fn follow(&mut self, number: usize, began: i64, ask: Ask) {
        let life = self.clients[number].life;
        match ask {
            Ask::Read(names) => {
                let how = if self.clients[number].holder.is_held() { How::ReadExisting } else { How::Read };
                self.clients[number].aim = Aim::Step(began, false);
                self.start(number, Task::Read { names, how }, true);
            }
            Ask::Swap(swap) => {
                self.clients[number].aim = Aim::Step(began, true);
                self.start(number, Task::Swap(swap), true);
            }
            Ask::Names => unreachable!("members do not list"),
            Ask::Done(answer) => {
                match self.clients[number].holder.done(&answer, &mut self.claims) {
                    Some(true) => self.report.granted += 1,
                    Some(false) => self.report.renewed += 1,
                    None => {}
                }
                let wait = 1 + self.rng.below(600);
                self.plan(wait, Happening::Works(number, life));
            }
        }
    }

    /// Passes the whole's answer to a member's step.
    fn go_on(&mut self, number: usize, (began, is_swap): (i64, bool), answer: Answer) {
        let fresh = self.rng.bits();
        let local = self.time + self.clients[number].ahead;
        let holder = &mut self.clients[number].holder;
        let ask = match answer {
            _ if self.time - began > 10_000 => None,
            Answer::Read(Whole { now, history, values }) => {
                if !history.is_empty() {
                    self.histories.entry(history.clone()).or_default();
                }
                let identity = ServerIdentity { history, process: String::new() };
                let look = Look { now, identity, values, position: None, client: (local - (self.time - began), local) };
                holder.pass(|step, memory| step.read(look, memory, fresh))
            }
            Answer::Swapped(is_clean) => holder.pass(|step, memory| step.swapped(is_clean, memory, fresh)),
            // A write whose outcome is unknown is treated as one that was not made. A failed read ends the step.
            _ if is_swap => holder.pass(|step, memory| step.swapped(false, memory, fresh)),
            _ => None,
        };
        match ask {
            Some(ask) => self.follow(number, began, ask),
            None => {
                let forgets = self.rng.is(200);
                let client = &mut self.clients[number];
                client.holder.give_up(forgets);
                let life = client.life;
                let wait = 1 + self.rng.below(600);
                self.plan(wait, Happening::Works(number, life));
            }
        }
    }

    fn judge(mut self) -> Report {
        self.report.eras = self.histories.len().max(1) as u64;
        let wrong = self
            .histories
            .iter()
            .find_map(|(era, history)| history.check().err().map(|wrong| format!("{era}: {wrong}")));
        self.report.wrong = self.report.wrong.or(wrong).or_else(|| holders::check(&self.claims).err());
        if self.storm.losses != Losses::Majority && self.histories.len() > 1 {
            self.report.wrong.get_or_insert("a new era, although no majority was lost".to_owned());
        }
        self.report
    }
}
