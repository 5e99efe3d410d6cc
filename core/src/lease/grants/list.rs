//! The progress of a list of a group's granted slots: many records are read in batches. An unreadable record does not hide
//! the others.

use crate::lease::grants::record::{SlotRecord, Unreadable, slot_name, slot_of};
use crate::lease::grants::task::{Answer, Row};
use crate::lease::grants::view::View;

/// How many records are read at once.
const AT_ONCE: usize = 1024;

/// The remaining names, the last one first, and the results so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct List {
    rest: Vec<String>,
    rows: Vec<Row>,
    faults: Vec<(String, Unreadable)>,
}

impl List {
    /// A list that has read nothing yet.
    pub fn of(mut names: Vec<String>) -> Self {
        names.retain(|name| slot_of(name).is_some());
        names.sort_unstable_by(|a, b| b.cmp(a));
        Self { rest: names, ..Self::default() }
    }

    /// The records to read next.
    pub fn next_names(&mut self) -> impl Iterator<Item = String> {
        self.rest.split_off(self.rest.len().saturating_sub(AT_ONCE)).into_iter().rev()
    }

    /// Takes the result of a read. Returns the answer once nothing is left to read.
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
