//! A database as a map from names to texts, with a clock and an identity. It can be read and swapped, and lose things.

use std::collections::BTreeMap;
use std::sync::Arc;

use flakeforge_core::lease::grants::record::ServerIdentity;
use flakeforge_core::lease::grants::task::{Look, Swap};

use crate::settings::{How, Left};

/// Texts of identities begin with this, so that the view knows them.
pub const SERVER: &str = "server-";

type Records = BTreeMap<String, Arc<str>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Store {
    pub records: Records,
    pub identity: ServerIdentity,
    /// how far its clock is ahead
    pub ahead: i64,
    /// counts writes, in a store that shows them
    pub position: Option<u64>,
    /// the state that a loss may bring back
    pub saved: Option<(Records, Option<u64>)>,
    /// late swaps on their way
    pub late: Vec<Swap>,
    /// whether anything was ever written
    pub is_touched: bool,
    /// how long it still remembers the history that a promotion left behind, in ms
    pub history_left: u8,
}

impl Store {
    pub fn new(ahead: i64, has_position: bool) -> Self {
        let history = if has_position { format!("{SERVER}0") } else { String::new() };
        let process = if has_position { String::new() } else { format!("{SERVER}1") };
        Self {
            records: Records::new(),
            identity: ServerIdentity { history, process },
            ahead,
            position: has_position.then_some(0),
            saved: None,
            late: Vec::new(),
            is_touched: false,
            history_left: 0,
        }
    }

    /// One read at the store's time `now`, by a client whose clock shows `client`.
    pub fn read(&self, names: &[String], time: i64, client: i64) -> Look {
        Look {
            now: time + self.ahead,
            identity: self.identity.clone(),
            values: names.iter().map(|name| self.records.get(name).map(|text| text.to_string())).collect(),
            position: self.position,
            client: (client, client),
        }
    }

    pub fn swap(&mut self, swap: &Swap) -> bool {
        let is_same = self.identity == swap.identity;
        if !is_same || self.records.get(&swap.name).map(|text| &**text) != swap.from.as_deref() {
            return false;
        }
        self.is_touched = true;
        self.records.insert(swap.name.clone(), swap.to.as_str().into());
        self.position = self.position.map(|position| position + 1);
        self.drop_late();
        true
    }

    /// Forgets late swaps that can never be done, because no text is ever written twice.
    pub fn drop_late(&mut self) {
        let Self { records, saved, late, .. } = self;
        let may_be =
            |records: &Records, swap: &Swap| records.get(&swap.name).map(|text| &**text) == swap.from.as_deref();
        late.retain(|swap| {
            let may_come_back = saved.as_ref().is_some_and(|(saved, _)| may_be(saved, swap));
            swap.from.is_none() || may_be(records, swap) || may_come_back
        });
    }

    /// Two servers take turns.
    fn other_process(&self) -> String {
        let first = format!("{SERVER}1");
        if self.identity.process == first { format!("{SERVER}2") } else { first }
    }

    /// A loss. `memory`: how long a history is remembered. `number` was never used.
    pub fn lose(&mut self, (left, how): (Left, How), ahead: i64, memory: i64, number: u64) {
        match (left, &self.saved) {
            (Left::Saved, Some((records, position))) => {
                (self.records, self.position) = (records.clone(), *position);
            }
            (Left::Everything, _) => {}
            _ => {
                self.records = Records::new();
                self.position = self.position.map(|_| 0);
            }
        }
        self.ahead = ahead;
        match how {
            How::Position | How::Told => {}
            How::Restart => self.identity.process = format!("{SERVER}{number}"),
            How::Turn => self.identity.process = self.other_process(),
            How::Promotion => {
                let process = self.other_process();
                let history = format!("{SERVER}{number}");
                (self.identity, self.history_left) = (ServerIdentity { history, process }, memory as u8);
            }
        }
        self.drop_late();
    }
}
