//! The texts in the stores of a quorum. A **seat** says whether a store counts. Every other record is an **acceptor's**: one
//! line about ballots, then the value, which is the text that a single store would keep.
//!
//! ```text
//! flakeforge1 seat list=a%20b%20c label=a era=0c… epoch=1 state=votes … nonce=7d… sum=8ab31f02
//! flakeforge1 vote 0c53a9e7f1 1.2a.5b0c81d9e2f4 1.29.c04d1e8a77b3 66d2a0f1
//! flakeforge1 slot owner=6f… life=1 …
//! ```
//!
//! No text is ever written twice: a seat has a nonce, and every acceptor's text promises a ballot with a new id.

use crate::lease::grants::record::{Reader, ServerIdentity, Unreadable, Writer, checksum, exactly};
use crate::lease::quorum::ballot::Ballot;
use crate::lease::quorum::stores::List;

/// The name of a seat's record.
pub const SEAT: &str = "seat";

/// The name of the record in which members agree on the next list (Q9). It has a value once the list was changed.
pub const LIST: &str = "list";

/// The random name of an era: 40 bits.
pub type Era = u64;

/// The end of the names of eras.
pub(super) const ERAS: Era = 1 << 40;

/// What an acceptor's text has before its value, in bytes.
pub const LONGEST_HEAD: usize = 100;

/// Whether a store counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SeatState {
    /// not yet: its era has not begun (Q7)
    Starts,
    /// it does
    Votes,
    /// not yet: it lost its data, and a client is making up for that (Q6)
    Fills,
}

/// The record of a store's place in the list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SeatRecord {
    /// all stores
    pub list: List,
    /// the label of this one
    pub label: String,
    /// the name of its era
    pub era: Era,
    /// grows with each fill on a majority with this store
    pub epoch: u32,
    /// whether it counts
    pub state: SeatState,
    /// a hash of the identities of all stores when the era began
    pub bound: u64,
    /// when a fill claimed it, by its store's clock, Unix ms. 0: its epoch is not from its own fill
    pub at: i64,
    /// its store
    pub identity: ServerIdentity,
    /// random, for each text
    pub nonce: u64,
}

/// An accepted proposal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Accepted {
    /// its number
    pub ballot: Ballot,
    /// the text of the whole's record
    pub value: String,
}

/// What an acceptor keeps. The default is that of a record that does not exist.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Vote {
    /// the highest ballot that it promised: it accepts nothing below
    pub promised: Ballot,
    /// the proposal that it accepted last
    pub accepted: Option<Accepted>,
}

impl SeatRecord {
    /// The record's text.
    pub fn text(&self) -> String {
        let state = match self.state {
            SeatState::Starts => "starts",
            SeatState::Votes => "votes",
            SeatState::Fills => "fills",
        };
        let mut text = Writer::new("seat");
        self.list.write(&mut text);
        text.field("label", &self.label).field("era", format!("{:010x}", self.era));
        text.field("epoch", self.epoch).field("state", state).field("bound", format!("{:016x}", self.bound));
        text.field("at", self.at).identity(&self.identity).end(self.nonce)
    }

    /// Reads a record's text.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut fields = Reader::new(text, "seat")?;
        let seat = Self::fields(&mut fields).ok_or(Unreadable::Damaged)?;
        exactly(seat, text, Self::text)
    }

    fn fields(fields: &mut Reader<'_>) -> Option<Self> {
        let (list, label) = (List::fields(fields)?, fields.text("label")?);
        let (era, epoch) = (fields.hex("era")?, fields.number("epoch")?);
        let state = match fields.text("state")?.as_str() {
            "starts" => SeatState::Starts,
            "votes" => SeatState::Votes,
            "fills" => SeatState::Fills,
            _ => return None,
        };
        let (bound, at, identity) = (fields.hex("bound")?, fields.number("at")?, fields.identity()?);
        Some(Self { list, label, era, epoch, state, bound, at, identity, nonce: fields.hex("nonce")? })
    }
}

impl List {
    /// The text of the record in which members agree on the list.
    pub fn text(&self) -> String {
        let mut text = Writer::new("list");
        self.write(&mut text);
        text.end(0)
    }

    /// Reads that text.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let list = Self::fields(&mut Reader::new(text, "list")?).ok_or(Unreadable::Damaged)?;
        exactly(list, text, Self::text)
    }

    fn write(&self, text: &mut Writer) {
        text.field("list", &self.labels).field("generation", self.generation).field("gone", &self.gone);
    }

    fn fields(fields: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            labels: fields.text("list")?,
            generation: fields.number("generation")?,
            gone: fields.text("gone")?,
        })
    }
}

impl Vote {
    /// The record's text, in this era.
    pub fn text(&self, era: Era) -> String {
        let (accepted, value) = match &self.accepted {
            Some(Accepted { ballot, value }) => (ballot.to_string(), value.as_str()),
            None => ("-".to_owned(), ""),
        };
        let mut text = Writer::new("vote");
        text.word(&format!("{era:010x}")).word(&self.promised.to_string()).word(&accepted);
        let head = text.done();
        let sum = checksum(&format!("{head}\n{value}"));
        format!("{head} {sum:08x}\n{value}")
    }

    /// Reads a record's text, with the era that it belongs to.
    pub fn parse(text: &str) -> Result<(Era, Self), Unreadable> {
        let (head, value) = text.split_once('\n').unwrap_or((text, ""));
        let mut words = Reader::new(head, "vote")?;
        let found = Self::words(&mut words, value).ok_or(Unreadable::Damaged)?;
        exactly(found, text, |(era, vote)| vote.text(*era))
    }

    fn words(words: &mut Reader<'_>, value: &str) -> Option<(Era, Self)> {
        let era = u64::from_str_radix(words.word()?, 16).ok().filter(|era| *era < ERAS)?;
        let promised = Ballot::parse(words.word()?)?;
        let accepted = match words.word()? {
            "-" => None,
            ballot => Some(Accepted { ballot: Ballot::parse(ballot)?, value: value.to_owned() }),
        };
        Some((era, Self { promised, accepted }))
    }

    /// The ballot of the accepted proposal. `None` is below all.
    pub(super) fn ballot(&self) -> Option<Ballot> {
        self.accepted.as_ref().map(|accepted| accepted.ballot)
    }

    /// The value of the accepted proposal.
    pub(super) fn value(&self) -> Option<&str> {
        self.accepted.as_ref().map(|accepted| accepted.value.as_str())
    }
}
