//! A database as a map from names to texts, with a clock and an identity. It can be read and swapped, and lose things.

use std::collections::BTreeMap;
use std::sync::Arc;

use flakeforge_core::lease::grants::record::{GROUP, GroupRecord, ServerIdentity};
use flakeforge_core::lease::grants::task::{Look, Swap};

use crate::settings::{How, Left};

/// The prefix of every text of the next version. What follows is what this version would write, so one set of rules serves
/// both; but this version may not look at it.
const NEXT: &str = "flakeforge2 needs=9.9 ";

/// The version of flakeforge that a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    This,
    /// the one after it: reads the texts of both, and writes its own
    Next,
}

impl Version {
    /// The part of a text that it sees.
    fn sees(self, text: &str) -> &str {
        if self == Self::Next { plain(text) } else { text }
    }

    /// The swap that it sends.
    pub fn sends(self, swap: &Swap) -> Swap {
        let to = if self == Self::Next { format!("{NEXT}{}", swap.to) } else { swap.to.clone() };
        Swap { to, ..swap.clone() }
    }
}

/// The content of a text, whichever version wrote it.
pub fn plain(text: &str) -> &str {
    text.strip_prefix(NEXT).unwrap_or(text)
}

/// Whether the next version wrote it.
pub fn is_next(text: &str) -> bool {
    text.starts_with(NEXT)
}

/// The prefix of identities, by which the view recognises them.
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
    /// the state that a loss may restore
    pub saved: Option<(Records, Option<u64>)>,
    /// nothing was answered cleanly since that state was saved, so a replica may have no more than it
    pub is_saved_replicated: bool,
    /// late swaps in transit
    pub late: Vec<Swap>,
    /// whether anything was ever written
    pub is_touched: bool,
    /// how long it still remembers the history that a promotion left behind, ms
    pub history_left: u8,
    /// from then on no replica acknowledges its writes: it performs them, but cannot answer cleanly
    pub clean_until: i64,
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
            is_saved_replicated: false,
            late: Vec::new(),
            is_touched: false,
            history_left: 0,
            clean_until: i64::MAX,
        }
    }

    /// One read at the store's time `now`, by a client whose clock shows `client`.
    pub fn read(&self, names: &[String], (time, client): (i64, i64), version: Version) -> Look {
        let seen = |name| Some(version.sees(self.records.get(name)?).to_owned());
        Look {
            now: time + self.ahead,
            identity: self.identity.clone(),
            values: names.iter().map(seen).collect(),
            position: self.position,
            client: (client, client),
        }
    }

    pub fn swap(&mut self, swap: &Swap) -> bool {
        let is_same = self.identity == swap.identity;
        if !is_same || !is_as_read(&self.records, swap) {
            return false;
        }
        self.write(&swap.name, &swap.to);
        true
    }

    /// The replaced primary after a promotion, if it is alive: what is in transit to it is lost, and from then on it cannot
    /// answer cleanly.
    pub fn cut_off(&self, clean_until: i64) -> Self {
        Self { clean_until, saved: None, is_saved_replicated: false, late: Vec::new(), ..self.clone() }
    }

    /// A swap at this time, and whether its answer is clean: a promotion will find the write.
    pub fn swap_cleanly(&mut self, swap: &Swap, time: i64) -> bool {
        let is_clean = self.swap(swap) && time <= self.clean_until;
        self.is_saved_replicated &= !is_clean;
        is_clean
    }

    /// Saves the present state, which a loss may restore. `has_replica`: and a promotion may show.
    pub fn save(&mut self, has_replica: bool) {
        self.saved = Some((self.records.clone(), self.position));
        self.is_saved_replicated = has_replica;
    }

    /// The possible content of a replica that is promoted now: all that was answered cleanly, and either all or nothing of
    /// the rest.
    pub fn replicated(&self) -> impl Iterator<Item = Left> {
        std::iter::once(Left::Everything).chain(self.is_saved_replicated.then_some(Left::Saved))
    }

    fn write(&mut self, name: &str, text: &str) {
        self.is_touched = true;
        self.records.insert(name.to_owned(), text.into());
        self.position = self.position.map(|position| position + 1);
        self.drop_late();
    }

    /// The next version writes the group's record in its own format.
    pub fn upgrade(&mut self, nonce: u64) {
        let group = GroupRecord::parse(plain(&self.records[GROUP])).expect("a group");
        self.write(GROUP, &format!("{NEXT}{}", GroupRecord { nonce, ..group }.text()));
    }

    /// Whether there is a group of this version.
    pub fn is_upgradable(&self) -> bool {
        self.records.get(GROUP).is_some_and(|text| !is_next(text))
    }

    /// Forgets late swaps that can never succeed, because no text is ever written twice.
    pub fn drop_late(&mut self) {
        let Self { records, saved, late, .. } = self;
        late.retain(|swap| {
            let may_come_back = saved.as_ref().is_some_and(|(saved, _)| is_as_read(saved, swap));
            swap.from.is_none() || is_as_read(records, swap) || may_come_back
        });
    }

    /// Two servers alternate.
    fn other_process(&self) -> String {
        let first = format!("{SERVER}1");
        if self.identity.process == first { format!("{SERVER}2") } else { first }
    }

    /// A loss. `memory`: how long a history is remembered. `number` is unused so far.
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
        self.is_saved_replicated = false;
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

/// Whether the record is still what the sender of a swap read.
fn is_as_read(records: &Records, swap: &Swap) -> bool {
    let version = if is_next(&swap.to) { Version::Next } else { Version::This };
    records.get(&swap.name).map(|text| version.sees(text)) == swap.from.as_deref()
}
