//! A database as a map from names to texts, with an identity and a clock. It may stop, and lose its data; then it shows another
//! identity.

use std::collections::BTreeMap;

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::{Look, Swap};
use flakeforge_core::lease::quorum::record::{SEAT, SeatRecord, SeatState};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    pub records: BTreeMap<String, String>,
    pub identity: ServerIdentity,
    /// how far its clock is ahead
    pub ahead: i64,
    pub is_up: bool,
    /// a restart without a loss does not show, as in etcd
    keeps: bool,
    starts: u32,
}

impl Store {
    pub fn new(number: usize, keeps: bool) -> Self {
        let mut store = Self {
            records: BTreeMap::new(),
            identity: ServerIdentity { history: format!("{number}-0"), process: String::new() },
            ahead: 0,
            is_up: true,
            keeps,
            starts: 0,
        };
        store.start(number, false);
        store
    }

    /// Starts it again.
    pub fn start(&mut self, number: usize, loses: bool) {
        self.is_up = true;
        self.starts += 1;
        if !self.keeps {
            self.identity.process = format!("run-{number}-{}", self.starts);
        }
        if loses {
            self.records.clear();
            self.identity.history = format!("{number}-{}", self.starts);
        }
    }

    pub fn read(&self, names: &[String], time: i64, client: (i64, i64)) -> Look {
        Look {
            now: time + self.ahead,
            identity: self.identity.clone(),
            values: names.iter().map(|name| self.records.get(name).cloned()).collect(),
            position: None,
            client,
        }
    }

    /// Whether this swap would be made.
    pub fn may_swap(&self, swap: &Swap) -> bool {
        self.identity == swap.identity && self.records.get(&swap.name) == swap.from.as_ref()
    }

    pub fn swap(&mut self, swap: &Swap) -> bool {
        let may = self.may_swap(swap);
        if may {
            self.records.insert(swap.name.clone(), swap.to.clone());
        }
        may
    }

    pub fn names(&self) -> Vec<String> {
        self.records.keys().cloned().collect()
    }

    /// Its seat, if that is whole.
    pub fn seat(&self) -> Option<SeatRecord> {
        let seat = SeatRecord::parse(self.records.get(SEAT)?).expect("a seat");
        (seat.identity == self.identity).then_some(seat)
    }

    pub fn votes(&self) -> bool {
        self.seat().is_some_and(|seat| seat.state == SeatState::Votes)
    }
}
