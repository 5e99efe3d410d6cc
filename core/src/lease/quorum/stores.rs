//! Q1 and Q9: the list of stores. Members may name them in any order; what they have to agree on is the sorted list.

use crate::hash::hash;

/// The longest label, in bytes. Every seat records the whole list, and stores keep texts of 2,200 bytes.
const LONGEST: usize = 200;

/// The labels of the stores, sorted. A store's place in this order is its **seat**.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stores {
    labels: Vec<String>,
    /// the list of this client. One that changes the list also knows the stores that are to come.
    list: String,
    /// for each seat, the place of its store in the list that was given
    given: Vec<usize>,
}

impl Stores {
    /// Three or five stores, each with its label. An even number tolerates the loss of no more stores than the odd one below.
    pub fn new(labels: &[String]) -> Result<Self, &'static str> {
        Self::with(labels, 0)
    }

    /// The same, for a client that changes the list: the last ones of these stores are to come.
    pub fn with(labels: &[String], coming: usize) -> Result<Self, &'static str> {
        let own = &labels[..labels.len().saturating_sub(coming)];
        if !matches!(own.len(), 3 | 5) {
            return Err("a quorum has 3 or 5 stores");
        }
        if labels.iter().any(|label| label.is_empty() || label.len() > LONGEST) {
            return Err("a label has 1 to 200 bytes");
        }
        if labels.iter().any(|label| label.contains(|c: char| c.is_control() || c.is_whitespace())) {
            return Err("a label has no spaces and no control characters");
        }
        let list = sorted(own);
        let mut given: Vec<_> = (0..labels.len()).collect();
        given.sort_by_key(|&place| &labels[place]);
        let labels: Vec<_> = given.iter().map(|&place| labels[place].clone()).collect();
        if labels.windows(2).any(|two| two[0] == two[1]) {
            return Err("two stores have the same label");
        }
        Ok(Self { labels, list, given })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: there are at least three.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label of a seat.
    pub fn label(&self, seat: usize) -> &str {
        &self.labels[seat]
    }

    /// The place of a seat's store in the list that was given.
    pub fn place(&self, seat: usize) -> usize {
        self.given[seat]
    }

    /// The seat of the store at this place of the list that was given.
    pub fn seat(&self, place: usize) -> Option<usize> {
        self.given.iter().position(|&given| given == place)
    }

    /// The list, as seats record it.
    pub fn text(&self) -> String {
        self.list.clone()
    }
}

fn sorted(labels: &[String]) -> String {
    let mut labels = labels.to_vec();
    labels.sort();
    labels.join(" ")
}

/// How many of the stores that were replaced a list remembers, as eight hexadecimal digits each.
const MOST_GONE: usize = 16;

/// The stores of a group, as its seats record them (Q9).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct List {
    /// their labels, sorted, with spaces in between
    pub labels: String,
    /// grows by 1 with each change
    pub generation: u32,
    /// hashes of the labels that were replaced, the newest last
    pub gone: String,
}

impl List {
    /// The list of a group whose list was never changed.
    pub fn first(labels: String) -> Self {
        Self { labels, generation: 1, gone: String::new() }
    }

    /// The list after this one. `None`: it has the wrong length, or it changes more than a majority can follow.
    pub fn next(&self, labels: &[String]) -> Option<Self> {
        let next = sorted(labels);
        let is_there = |label: &&str| next.split(' ').any(|other| other == *label);
        let lost: Vec<_> = self.labels.split(' ').filter(|label| !is_there(label)).collect();
        if !matches!(labels.len(), 3 | 5) || labels.len() < self.len() || lost.len() > 1 {
            return None;
        }
        let gone: Vec<_> = self.gone.split(' ').filter(|hash| !hash.is_empty()).map(str::to_owned).collect();
        let gone: Vec<_> = gone.into_iter().chain(lost.into_iter().map(hashed)).collect();
        let gone = gone[gone.len().saturating_sub(MOST_GONE)..].join(" ");
        Some(Self { labels: next, generation: self.generation.checked_add(1)?, gone })
    }

    /// Whether it consists of these.
    pub(super) fn is_of(&self, labels: &[String]) -> bool {
        self.labels == sorted(labels)
    }

    pub(super) fn len(&self) -> usize {
        self.labels.split(' ').count()
    }

    /// More than half **of the list**, never of those that happen to answer.
    pub fn majority(&self) -> usize {
        self.len() / 2 + 1
    }

    /// Whether it has this store.
    pub fn has(&self, label: &str) -> bool {
        self.labels.split(' ').any(|its| its == label)
    }

    /// Whether it had this store once, as far as it remembers.
    fn had(&self, label: &str) -> bool {
        self.gone.split(' ').any(|hash| hash == hashed(label))
    }

    /// Whether a seat of this store with an earlier list counts. A store that was replaced and has come back does not: it may
    /// have missed everything in between.
    pub fn takes(&self, label: &str, earlier: &Self) -> bool {
        let is_known = self.generation.saturating_sub(earlier.generation) < MOST_GONE as u32;
        self.has(label) && (self.generation == earlier.generation || is_known && !self.had(label))
    }

    /// Whether a client with these labels belongs to this list: it has the same ones, or those of an earlier list.
    pub(super) fn fits(&self, labels: &str) -> bool {
        let is_known = |label: &str| self.has(label) || self.had(label);
        self.labels == labels || self.generation > 1 && labels.split(' ').all(is_known)
    }
}

fn hashed(label: &str) -> String {
    format!("{:08x}", hash(label.as_bytes()) as u32)
}
