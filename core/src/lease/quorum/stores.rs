//! Q1: the list of stores is fixed. Members may name them in any order; what they have to agree on is the sorted list.

/// The longest label, in bytes. Every seat records the whole list, and stores keep texts of 2,200 bytes.
const LONGEST: usize = 200;

/// The labels of the stores, sorted. A store's place in this order is its **seat**.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stores {
    labels: Vec<String>,
    /// for each seat, the place of its store in the list that was given
    given: Vec<usize>,
}

impl Stores {
    /// Three or five stores, each with its label. An even number tolerates the loss of no more stores than the odd one below.
    pub fn new(labels: &[String]) -> Result<Self, &'static str> {
        if !matches!(labels.len(), 3 | 5) {
            return Err("a quorum has 3 or 5 stores");
        }
        if labels.iter().any(|label| label.is_empty() || label.len() > LONGEST) {
            return Err("a label has 1 to 200 bytes");
        }
        if labels.iter().any(|label| label.contains(|c: char| c.is_control() || c.is_whitespace())) {
            return Err("a label has no spaces and no control characters");
        }
        let mut given: Vec<_> = (0..labels.len()).collect();
        given.sort_by_key(|&place| &labels[place]);
        let labels: Vec<_> = given.iter().map(|&place| labels[place].clone()).collect();
        if labels.windows(2).any(|two| two[0] == two[1]) {
            return Err("two stores have the same label");
        }
        Ok(Self { labels, given })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Never: there are at least three.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// More than half **of the list**, never of those that happen to answer.
    pub fn majority(&self) -> usize {
        self.labels.len() / 2 + 1
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
        self.labels.join(" ")
    }
}
