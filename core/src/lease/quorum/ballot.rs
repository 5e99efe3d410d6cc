//! Q2: the order of proposals.

use std::fmt;

/// The number of a proposal. Its id is random and new for each, so no ballot is used for two values. The default is below all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ballot {
    /// grows when a store that lost its data votes again: a promise that rests on lost promises comes too late
    pub epoch: u32,
    /// grows with each proposal
    pub number: u64,
    /// 48 random bits
    pub id: u64,
}

/// The ends of the fields, so that the texts of acceptors have a longest length.
const EPOCHS: u32 = 1 << 24;
const NUMBERS: u64 = 1 << 40;
const IDS: u64 = 1 << 48;

impl Ballot {
    /// The next ballot above `promised`, the highest number among all promises in sight, in an epoch that is none below theirs.
    /// `None` if there is none left.
    pub fn above(epoch: u32, promised: u64, bits: u64) -> Option<Self> {
        let number = promised.checked_add(1)?;
        Self { epoch, number, id: bits % IDS }.checked()
    }

    fn checked(self) -> Option<Self> {
        (self.epoch < EPOCHS && self.number < NUMBERS && self.id < IDS).then_some(self)
    }

    /// Reads what `to_string` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(|part| u64::from_str_radix(part, 16).ok());
        let (epoch, number, id) = (parts.next()??, parts.next()??, parts.next()??);
        let ballot = Self { epoch: epoch.try_into().ok()?, number, id }.checked()?;
        parts.next().is_none().then_some(ballot)
    }
}

impl fmt::Display for Ballot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{:x}.{:012x}", self.epoch, self.number, self.id)
    }
}
