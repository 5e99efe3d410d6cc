//! Random schedules of clients of one whole over stores in memory. The seed decides everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::{Ask, Look, Swap};
use flakeforge_core::lease::quorum::Step;
use flakeforge_core::lease::quorum::memory::Memory;
use flakeforge_core::lease::quorum::messages::{Act, Answer, At, Bounds, Event, How, Note, Task, Whole};
use flakeforge_core::lease::quorum::stores::Stores;

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
}

impl Default for Storm {
    fn default() -> Self {
        Self { stores: 3, losses: Losses::Minority, are_members: false, has_wrong_clocks: false }
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
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { schedules, steps, reads, clean, refused, crashes, lost, eras, .. } = self;
        let Self { filled, completed, torn, granted, renewed, .. } = self;
        write!(f, "{schedules} schedules, {steps} steps, {reads} reads, {clean} clean swaps, {refused} refused, ")?;
        write!(f, "{crashes} stops, {lost} losses, {eras} eras, {filled} fills, {completed} completed, {torn} torn, ")?;
        write!(f, "{granted} grants, {renewed} renewals")
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
}

struct Client {
    life: u32,
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

fn labels(stores: usize) -> Vec<String> {
    (0..stores).map(|number| format!("s{number}")).collect()
}

impl Client {
    fn new(stores: usize, life: u32, ahead: i64) -> Self {
        let memory = Memory::new(Stores::new(&labels(stores)).expect("a list"));
        let (steps, holder) = (BTreeMap::new(), Holder::new());
        Self { life, memory, ahead, steps, next_step: 0, aim: Aim::Nothing, holder }
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
        let stores: Vec<_> = (0..storm.stores).map(|number| Store::new(number, rng.is(500))).collect();
        let lives = 2 + rng.below(4) as usize;
        let clients: Vec<_> = (0..lives).map(|_| Client::new(storm.stores, 0, 0)).collect();
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
            Happening::Stops => self.stop(),
            Happening::Starts(store, loses) => {
                self.report.lost += u64::from(loses);
                self.stores[store].start(store, loses);
                let wait = if self.storm.losses == Losses::Minority {
                    Happening::Settles
                } else {
                    return;
                };
                self.plan(100, wait);
            }
            Happening::Settles => {
                let is_settled = self.stores.iter().all(Store::votes);
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
        if self.rng.is(100) {
            let number = self.rng.below(self.clients.len() as i64) as usize;
            let (life, ahead) = (self.clients[number].life + 1, self.clients[number].ahead);
            self.clients[number] = Client::new(self.storm.stores, life, ahead);
            self.plan(1, Happening::Works(number, life));
        }
        if self.rng.is(100) {
            self.set_clocks();
        }
        let store = self.rng.below(self.stores.len() as i64) as usize;
        let loses = self.rng.is(600);
        let is_minority = self.storm.losses == Losses::Minority;
        // The first era needs all stores.
        if self.stores[store].is_up && (!is_minority || self.stores.iter().all(Store::votes)) {
            self.report.crashes += 1;
            self.stores[store].is_up = false;
            let away = self.rng.below(2_000);
            self.plan(away, Happening::Starts(store, loses));
            if is_minority {
                return;
            }
        }
        let wait = self.rng.below(self.network.calm_ms);
        self.plan(wait, Happening::Stops);
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
        if client.life != life {
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

    fn send(&mut self, client: usize, step: u32, (call, store): (u32, usize), message: Message) {
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
            if matches!(error, List { .. } | Label { .. } | Nonsense { .. } | Record { .. } | Spent) {
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
        if self.storm.losses == Losses::Minority && self.histories.len() > 1 {
            self.report.wrong.get_or_insert("a new era, although no majority was lost".to_owned());
        }
        self.report
    }
}
