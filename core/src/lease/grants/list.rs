//! A list of the slots that a group granted, as far as it got: many records are read some at a time.
//!
//! This file must never let a record that cannot be read hide the others.

use crate::lease::grants::record::{SlotRecord, Unreadable, slot_name, slot_of};
use crate::lease::grants::task::{Answer, Row};
use crate::lease::grants::view::View;

/// How many records are read at once.
const AT_ONCE: usize = 1024;

/// The names that are left, the last one first, and what the others said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct List {
    rest: Vec<String>,
    rows: Vec<Row>,
    faults: Vec<(String, Unreadable)>,
}

impl List {
    /// Nothing of these records was read yet.
    pub fn of(mut names: Vec<String>) -> Self {
        names.retain(|name| slot_of(name).is_some());
        names.sort_unstable_by(|a, b| b.cmp(a));
        Self { rest: names, ..Self::default() }
    }

    /// The records to read next.
    pub fn next_names(&mut self) -> impl Iterator<Item = String> {
        self.rest.split_off(self.rest.len().saturating_sub(AT_ONCE)).into_iter().rev()
    }

    /// Takes what was read. The answer, once nothing is left to read.
    pub fn take(&mut self, view: &View, in_life: u64) -> Option<Answer> {
        for (slot, record) in &view.slots {
            match record {
                Some(Ok(SlotRecord { owner, host, lo, hi, life, .. })) if *life == in_life => {
                    self.rows.push(Row { slot: *slot, owner: *owner, host: host.clone(), lo: *lo, hi: *hi });
                }
                Some(Err(why)) => self.faults.push((slot_name(*slot), *why)),
                _ => {}
            }
        }
        let is_done = self.rest.is_empty();
        is_done.then(|| Answer::Listed(std::mem::take(&mut self.rows), std::mem::take(&mut self.faults)))
    }
}
