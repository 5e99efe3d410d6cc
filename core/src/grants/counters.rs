//! Named counters that grow by one block at a time. The IDs made of them contain no time, so a lost write never becomes
//! harmless. Whenever a write may have been lost, the counter stops until somebody says where to go on.
//!
//! This file must never hand out a block twice, nor continue by itself after a loss.

use super::Store;

/// A counter: the first number that is in no block yet.
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
    /// the counter does not exist; it may have been lost
    Gone,
    /// the store may have lost blocks
    Lost,
    /// the block would end past 2^64 − 1
    Full,
}

impl Store {
    /// Takes a block of `by` numbers and returns its first. `init` creates a counter that does not exist. With an empty
    /// block it moves an existing one, only forwards, and accepts that the store lost something.
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
