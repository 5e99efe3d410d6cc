//! Named counters that grow by a block at a time. There is no time in the IDs made of them, so nothing heals a lost
//! write: whatever may have been lost stops a counter until somebody says where to go on.
//!
//! This file must never hand out a block twice, nor go on after a loss by itself.

use super::Store;

/// A counter: the first number that no block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Counter {
    /// the next block begins here
    pub value: u64,
    /// the store's incarnation that was accepted last
    pub incarnation: u64,
}

/// Why there is no block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// the counter is not there; it may have been
    Gone,
    /// the store may have lost blocks
    Lost,
    /// the block would end past 2^64 − 1
    Full,
}

impl Store {
    /// Takes a block of `by` numbers and returns its first. `init` makes a counter that is not there; with an empty
    /// block it moves one that is there, forwards only, and accepts what the store lost.
    pub fn advance(&mut self, name: &str, by: u64, init: Option<u64>) -> Result<u64, Broken> {
        let incarnation = self.incarnation;
        let mut counter = match (self.counters.get(name), init) {
            (None, None) => return Err(Broken::Gone),
            (None, Some(value)) => Counter { value, incarnation },
            (Some(counter), _) => *counter,
        };
        if let (0, Some(value)) = (by, init) {
            counter = Counter { value: counter.value.max(value), incarnation };
        }
        if counter.incarnation != incarnation {
            return Err(Broken::Lost);
        }
        let first = counter.value;
        counter.value = first.checked_add(by).ok_or(Broken::Full)?;
        self.counters.insert(name.to_owned(), counter);
        Ok(first)
    }
}
