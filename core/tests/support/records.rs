//! An in-memory store that only reads and swaps, and clients that perform the steps of `grants.rs` on it. It contains no
//! rules: a read returns what is there, and a swap replaces it.

#![allow(dead_code)] // each test file uses only some of it

use std::collections::BTreeMap;

use flakeforge_core::lease::grants::memory::Memory;
use flakeforge_core::lease::grants::record::{
    COUNTER, CounterRecord, GROUP, GroupConfig, GroupRecord, ServerIdentity, SlotRecord, slot_name,
};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Look, Renewal, Seeker, StepError, Task};
use flakeforge_core::lease::messages::Owner;

pub const TTL: i64 = 30_000;
pub const SKEW: i64 = 5_000;
/// The length of a quiet period with that skew.
pub const QUIET: i64 = 65_001;

pub fn config(slots: u32) -> GroupConfig {
    GroupConfig { fingerprint: "flake".to_owned(), slots, ttl_ms: TTL, skew_ms: SKEW, durable: false }
}

pub fn durable(slots: u32) -> GroupConfig {
    GroupConfig { durable: true, ..config(slots) }
}

pub fn identity(history: &str, process: &str) -> ServerIdentity {
    ServerIdentity { history: history.to_owned(), process: process.to_owned() }
}

pub fn granted(slot: u32, lo: i64, hi: i64, now: i64) -> Answer {
    Answer::Granted(Granted { slot, lo, hi, now })
}

pub fn quiet(until: i64, now: i64) -> Answer {
    Answer::Refused(StepError::Quiet { until, now })
}

pub fn exhausted(retry_at: i64, now: i64) -> Answer {
    Answer::Refused(StepError::Exhausted { retry_at, now })
}

pub fn opened(is_new: bool, quiet_until: i64, now: i64) -> Answer {
    Answer::Opened { is_new, quiet_until, now }
}

/// The database.
#[derive(Clone, Debug)]
pub struct Store {
    pub now: i64,
    pub identity: ServerIdentity,
    pub position: Option<u64>,
    pub records: BTreeMap<String, String>,
}

impl Store {
    /// Without any record.
    pub fn empty() -> Self {
        let identity = identity("history", "process");
        Self { now: 1_000_000, identity, position: None, records: BTreeMap::new() }
    }

    /// With a group whose quiet period is over.
    pub fn with(config: &GroupConfig) -> Self {
        let mut store = Self::empty();
        let made = Client::new(0).run(&mut store, Task::Create(config.clone()));
        let Answer::Opened { is_new: true, quiet_until, .. } = made else { panic!("{made:?}") };
        store.now = quiet_until.max(store.now);
        store
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.records.get(name).map(String::as_str)
    }

    pub fn group(&self) -> GroupRecord {
        GroupRecord::parse(self.text(GROUP).unwrap()).unwrap()
    }

    pub fn slot(&self, slot: u32) -> SlotRecord {
        SlotRecord::parse(self.text(&slot_name(slot)).unwrap()).unwrap()
    }

    pub fn counter(&self) -> CounterRecord {
        CounterRecord::parse(self.text(COUNTER).unwrap()).unwrap()
    }

    /// Writes a slot's record by hand.
    pub fn put(&mut self, number: u32, slot: &SlotRecord) {
        self.records.insert(slot_name(number), slot.text());
    }

    /// Another server process with the same data.
    pub fn restart(&mut self) {
        self.identity.process.push('+');
    }

    /// Another server with the same data.
    pub fn fail_over(&mut self) {
        self.identity.history.push('+');
    }

    fn read(&self, names: &[String], client: &Client) -> Look {
        let values = names.iter().map(|name| self.records.get(name).cloned()).collect();
        let (before, after) = client.clock;
        let client = (self.now + before, self.now + after);
        Look { now: self.now, identity: self.identity.clone(), values, position: self.position, client }
    }

    fn swap(&mut self, swap: &flakeforge_core::lease::grants::task::Swap) -> bool {
        let is_same = self.records.get(&swap.name) == swap.from.as_ref() && self.identity == swap.identity;
        if is_same {
            self.records.insert(swap.name.clone(), swap.to.clone());
            self.position = self.position.map(|position| position + 1);
        }
        is_same
    }
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Done,
    /// a swap is performed, but its answer is lost
    Unheard,
    /// a swap never arrives
    Dropped,
    /// a swap never arrives, and the answer is true
    Lie,
}

/// A process.
#[derive(Clone, Debug)]
pub struct Client {
    pub memory: Memory,
    /// how far its clock is ahead of the store's, before and after a read
    pub clock: (i64, i64),
    /// number of calls to the store
    pub calls: usize,
    seed: u128,
    drawn: u128,
}

impl Client {
    /// Each client has a number, because nothing random may repeat.
    pub fn new(seed: u32) -> Self {
        Self { memory: Memory::default(), clock: (0, 0), calls: 0, seed: u128::from(seed), drawn: 0 }
    }

    pub fn fresh(&mut self) -> u128 {
        self.drawn += 1;
        let mut mixed = (self.seed << 64 | self.drawn).wrapping_mul(0xda94_2042_e4dd_58b5_9e37_79b9_7f4a_7c15);
        mixed ^= mixed >> 61;
        mixed = mixed.wrapping_mul(0x94d0_49bb_1331_11eb_bf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 59)
    }

    /// A step, up to its answer.
    pub fn run(&mut self, store: &mut Store, task: Task) -> Answer {
        self.run_with(store, task, |_, _| Fate::Done)
    }

    /// A step, with something that happens before each request, or to it.
    pub fn run_with(
        &mut self,
        store: &mut Store,
        task: Task,
        mut before: impl FnMut(&mut Store, &Ask) -> Fate,
    ) -> Answer {
        let mut running = Running::new(self, task);
        for _ in 0..10_000 {
            if let Ask::Done(answer) = running.ask {
                return answer;
            }
            let fate = before(store, &running.ask);
            running.go(store, self, fate);
        }
        panic!("a step without an end");
    }

    pub fn join(&mut self, store: &mut Store, config: &GroupConfig, owner: Owner) -> Answer {
        self.run(store, join(config, owner, &format!("host {owner}")))
    }

    /// Joins a group with a free slot.
    pub fn take(&mut self, store: &mut Store, config: &GroupConfig, owner: Owner) -> Granted {
        match self.join(store, config, owner) {
            Answer::Granted(granted) => granted,
            other => panic!("{other:?}"),
        }
    }
}

/// A step in progress.
#[derive(Clone, Debug)]
pub struct Running {
    pub step: Step,
    pub ask: Ask,
}

impl Running {
    pub fn new(client: &mut Client, task: Task) -> Self {
        let fresh = client.fresh();
        let (step, ask) = Step::new("g", task, &client.memory, fresh);
        Self { step, ask }
    }

    /// Performs one request.
    pub fn go(&mut self, store: &mut Store, client: &mut Client, fate: Fate) {
        client.calls += 1;
        let fresh = client.fresh();
        let (step, memory) = (&mut self.step, &mut client.memory);
        self.ask = match &self.ask {
            Ask::Read(names) => {
                let look = store.read(names, &Client { clock: client.clock, ..Client::new(0) });
                step.read(look, memory, fresh)
            }
            Ask::Swap(swap) => {
                let is_done = match fate {
                    Fate::Done => store.swap(swap),
                    Fate::Unheard => {
                        store.swap(swap);
                        false
                    }
                    Fate::Dropped => false,
                    Fate::Lie => true,
                };
                step.swapped(is_done, memory, fresh)
            }
            Ask::Names => step.named(store.records.keys().cloned().collect(), memory, fresh),
            Ask::Done(answer) => panic!("after {answer:?}"),
        };
    }

    /// Performs the rest of the step.
    pub fn finish(&mut self, store: &mut Store, client: &mut Client) {
        while !matches!(self.ask, Ask::Done(_)) {
            self.go(store, client, Fate::Done);
        }
    }

    /// The present result of a read, to be delivered later.
    pub fn look(&self, store: &Store, client: &Client) -> Look {
        let Ask::Read(names) = &self.ask else { panic!("{:?}", self.ask) };
        store.read(names, client)
    }

    pub fn hear(&mut self, look: Look, client: &mut Client) {
        let fresh = client.fresh();
        self.ask = self.step.read(look, &mut client.memory, fresh);
    }
}

/// A store with one slot, held by owner 1, and its client.
pub fn held(config: &GroupConfig) -> (Store, Client, Granted) {
    let mut store = Store::with(config);
    let mut client = Client::new(1);
    let granted = client.take(&mut store, config, 1);
    (store, client, granted)
}

pub fn create(config: &GroupConfig) -> Task {
    Task::Create(config.clone())
}

pub fn join(config: &GroupConfig, owner: Owner, host: &str) -> Task {
    Task::Join(config.clone(), Seeker { owner, host: host.to_owned() })
}

pub fn acquire(config: &GroupConfig, owner: Owner) -> Task {
    Task::Acquire(config.clone(), Seeker { owner, host: format!("host {owner}") })
}

pub fn renew(config: &GroupConfig, owner: Owner, slot: u32, hi: i64) -> Task {
    Task::Renew(config.clone(), Renewal { owner, slot, hi })
}

pub fn release(config: &GroupConfig, owner: Owner, slot: u32, last: i64) -> Task {
    Task::Release { config: config.clone(), owner, slot, last }
}

/// One task of each kind that works on a group.
pub fn all_tasks(config: &GroupConfig, owner: Owner, slot: u32) -> Vec<Task> {
    vec![
        Task::Create(config.clone()),
        join(config, owner, "h"),
        acquire(config, owner),
        renew(config, owner, slot, i64::MAX),
        release(config, owner, slot, 7),
        Task::Destroy,
        Task::List,
        Task::Exists,
    ]
}

/// Whether this is the next request, and a swap of the record of this name.
pub fn swaps(ask: &Ask, name: &str) -> bool {
    matches!(ask, Ask::Swap(swap) if swap.name == name)
}

/// Whether this is the next request, and a swap of a slot.
pub fn swaps_slot(ask: &Ask) -> bool {
    matches!(ask, Ask::Swap(swap) if swap.name.starts_with("slot"))
}
