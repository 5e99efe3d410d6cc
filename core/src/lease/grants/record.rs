//! The texts of records: what a store keeps about a group, a slot or a counter. One human-readable line:
//!
//! ```text
//! flakeforge1 slot owner=6f… life=1 lo=1700000000000 hi=1700000030000 host=web-1 nonce=0c… sum=8ab31f02
//! ```

use std::fmt::{self, Write};

use crate::lease::messages::Owner;
use crate::release::Release;

/// The name of a group's record.
pub const GROUP: &str = "group";
/// The name of a counter's record.
pub const COUNTER: &str = "counter";
/// The name of the record that shows whether a group's counters of the past are all there.
pub const PAST: &str = "past";

const PREFIX: &str = "slot";
const ENDED: &str = "ended";
const OTHERS: &str = "others";
const LOST: &str = "lost";
const FINGERPRINT: &str = "fingerprint";
/// The life of a counter whose text does not say it.
pub(super) const FIRST_LIFE: u64 = 1;
/// In the place of whether blocks are lost: the counter has no more.
const DESTROYED: &str = "destroyed";
const DIGITS: usize = 10;
/// The first word of a text, which names the format. Values contain no spaces: those, control characters and `%` are written
/// as `%` and two hex digits. Each written text has a new `nonce`, so no text is ever written twice: an equal text means that
/// nothing was written in between. The checksum at the end detects a record that was truncated or edited. A text is a record
/// only if it is exactly what this version would write.
const FORMAT: &str = "flakeforge";
/// The version of the format. A reader of a version knows all of its fields, because an unknown one would be lost at the next
/// write. So an additional field means another version. Its texts start with that version and the release of flakeforge that
/// reads it, and an older reader looks no further:
///
/// ```text
/// flakeforge2 needs=1.4 slot …
/// ```
///
/// A member that meets such a text writes nothing (`grants/group.rs`). A later version reads the earlier ones, and writes the
/// oldest one that can express its content. In a group, it writes the group's record first: each step reads that, but only
/// some of the slots.
const VERSION: u32 = 1;

/// The name of a slot's record. Names sort like the slots.
pub fn slot_name(slot: u32) -> String {
    format!("{PREFIX}{slot:0DIGITS$}")
}

/// The slot for a record's name.
pub fn slot_of(name: &str) -> Option<u32> {
    let slot = name.strip_prefix(PREFIX)?.parse().ok()?;
    (slot_name(slot) == name).then_some(slot)
}

/// What all members of a group must agree on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupConfig {
    /// the meaning of the IDs' bits; only compared here
    pub fingerprint: String,
    /// number of slots: 1 or more
    pub slots: u32,
    /// how far a window reaches beyond the store's time
    pub ttl_ms: i64,
    /// how far apart clocks may be
    pub skew_ms: i64,
    /// whether the members vouch that the store never loses acknowledged writes
    pub durable: bool,
}

/// Identifies a server: changes whenever acknowledged writes may be missing. The store chooses the text of each part; an
/// empty one means that the server does not know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ServerIdentity {
    /// changes when another server has taken over, or older data was restored
    pub history: String,
    /// changes when the server was restarted
    pub process: String,
}

impl fmt::Display for ServerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' (process '{}')", self.history, self.process)
    }
}

impl ServerIdentity {
    /// Whether a server that shows `now` may be the one with this recorded identity.
    pub(super) fn matches(&self, now: &Self, durable: bool) -> bool {
        let same = |recorded: &str, shown: &str| recorded == shown || shown.is_empty();
        same(&self.history, &now.history) && (durable || same(&self.process, &now.process))
    }
}

/// The record of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct GroupRecord {
    /// its stage between birth and end
    pub state: Stage,
    /// counts the groups of this name: slot records of another life are void
    pub life: u64,
    /// random, replaced each time the group is created: distinguishes groups of the same name
    pub lineage: u64,
    /// nothing is granted before this time, Unix ms
    pub quiet_until: i64,
    /// the server that wrote it
    pub identity: ServerIdentity,
    /// the server that was replaced
    pub replaced: ServerIdentity,
    /// how often the replaced server came back in this quiet period
    pub returns: u32,
    /// until when earlier groups of this name may have generated IDs, Unix ms; 0 if there was none
    pub ended: i64,
    /// the same for those groups whose IDs may equal this group's IDs of the past: their slots had other nodes, or nothing is
    /// known about them
    pub others: i64,
    /// the end of those windows of this group that the store may have lost, Unix ms; 0 if it lost none
    pub lost: i64,
    /// random, for each text
    pub nonce: u64,
}

/// The stages of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// there was no record: the next read decides how long the group is quiet
    #[default]
    Unknown,
    /// slots are granted
    Live(GroupConfig),
    /// its end has started: the next read decides how long its successor is quiet
    Ending(GroupConfig),
    /// it has ended
    Destroyed {
        /// whether it vouched for its store
        durable: bool,
        /// the meaning of its IDs' bits; empty if nothing is known of it
        fingerprint: String,
    },
}

/// The record of a slot that was granted at least once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SlotRecord {
    /// its holder; `None` once it was released
    pub owner: Option<Owner>,
    /// the life of the group in which it was granted
    pub life: u64,
    /// first millisecond of the window
    pub lo: i64,
    /// the last millisecond that may have been used
    pub hi: i64,
    /// the present or last machine of the holder
    pub host: String,
    /// random, for each text
    pub nonce: u64,
}

/// The record of a counter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CounterRecord {
    /// the start of the next block
    pub value: u64,
    /// whether blocks may be lost: then it stops until an operator says where to continue
    pub is_lost: bool,
    /// whether it was destroyed: the next one of its name starts anew
    pub is_destroyed: bool,
    /// counts the counters of this name: members of an earlier one stop
    pub life: u64,
    /// replaced each time the counter is created or an operator says where to continue
    pub lineage: u64,
    /// whether an operator said where to continue: members that know another lineage may go on
    pub is_settled: bool,
    /// whether its members vouch for the store
    pub durable: bool,
    /// the server that wrote it
    pub identity: ServerIdentity,
    /// random, for each text
    pub nonce: u64,
}

/// Why a text is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unreadable {
    /// a newer version of flakeforge wrote it
    Newer {
        /// the version of the format
        version: u32,
        /// the release that reads it, if the text names one
        needs: Option<Release>,
    },
    /// it was truncated or edited, or is something else
    Damaged,
}

impl GroupRecord {
    /// The record's text.
    pub fn text(&self) -> String {
        let (state, config, ended) = match &self.state {
            Stage::Unknown => ("unknown", None, None),
            Stage::Live(config) => ("live", Some(config), None),
            Stage::Ending(config) => ("ending", Some(config), None),
            Stage::Destroyed { durable, fingerprint } => ("destroyed", None, Some((durable, fingerprint))),
        };
        let mut text = Writer::new("group");
        text.field("state", state).field("life", self.life).field("lineage", format!("{:016x}", self.lineage));
        text.field("quiet", self.quiet_until).identity(&self.identity);
        text.field("replaced-history", &self.replaced.history).field("replaced-process", &self.replaced.process);
        text.field("returns", self.returns);
        text.unless_empty(ENDED, self.ended).unless_empty(OTHERS, self.others).unless_empty(LOST, self.lost);
        if let Some(GroupConfig { fingerprint, slots, ttl_ms, skew_ms, durable }) = config {
            text.field("durable", yes(*durable)).field("slots", slots).field("ttl", ttl_ms).field("skew", skew_ms);
            text.field(FINGERPRINT, fingerprint);
        }
        if let Some((durable, fingerprint)) = ended {
            text.field("durable", yes(*durable)).unless_empty(FINGERPRINT, fingerprint.clone());
        }
        text.end(self.nonce)
    }

    /// Reads a record's text.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut fields = Reader::new(text, "group")?;
        let group = fields.group().ok_or(Unreadable::Damaged)?;
        exactly(group, text, Self::text)
    }
}

impl SlotRecord {
    /// The record's text.
    pub fn text(&self) -> String {
        let owner = self.owner.map_or_else(|| "-".to_owned(), |owner| format!("{owner:032x}"));
        let mut text = Writer::new("slot");
        text.field("owner", owner).field("life", self.life).field("lo", self.lo).field("hi", self.hi);
        text.field("host", &self.host).end(self.nonce)
    }

    /// Reads a record's text.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut fields = Reader::new(text, "slot")?;
        let slot = fields.slot().ok_or(Unreadable::Damaged)?;
        exactly(slot, text, Self::text)
    }
}

impl CounterRecord {
    /// The record's text.
    pub fn text(&self) -> String {
        let mut text = Writer::new("counter");
        let lost = if self.is_destroyed { DESTROYED } else { yes(self.is_lost) };
        text.field("value", self.value).field("lost", lost);
        if self.life != FIRST_LIFE {
            text.field("life", self.life);
        }
        text.field("lineage", format!("{:016x}", self.lineage)).field("settled", yes(self.is_settled));
        text.field("durable", yes(self.durable)).identity(&self.identity).end(self.nonce)
    }

    /// Reads a record's text.
    pub fn parse(text: &str) -> Result<Self, Unreadable> {
        let mut fields = Reader::new(text, "counter")?;
        let counter = fields.counter().ok_or(Unreadable::Damaged)?;
        exactly(counter, text, Self::text)
    }
}

/// The record, if this is exactly the text that we would write for it, including its checksum.
pub(in crate::lease) fn exactly<R>(record: R, text: &str, write: impl Fn(&R) -> String) -> Result<R, Unreadable> {
    if write(&record) == text { Ok(record) } else { Err(Unreadable::Damaged) }
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// Writes a text, field by field.
pub(in crate::lease) struct Writer(String);

impl Writer {
    pub(in crate::lease) fn new(kind: &str) -> Self {
        Self(format!("{FORMAT}{VERSION} {kind}"))
    }

    pub(in crate::lease) fn field(&mut self, name: &str, value: impl fmt::Display) -> &mut Self {
        self.0.extend([" ", name, "="]);
        let start = self.0.len();
        let _ = write!(self.0, "{value}"); // a String takes everything
        if self.0.as_bytes()[start..].iter().all(|byte| byte.is_ascii_graphic() && *byte != b'%') {
            return self;
        }
        for char in self.0.split_off(start).chars() {
            if char.is_control() || char == ' ' || char == '%' {
                let mut bytes = [0; 4];
                char.encode_utf8(&mut bytes).bytes().for_each(|byte| self.0.push_str(&format!("%{byte:02x}")));
            } else {
                self.0.push(char);
            }
        }
        self
    }

    /// A field that is left out if its value is the usual one: 0, or no text.
    fn unless_empty<V: Default + PartialEq + fmt::Display>(&mut self, name: &str, value: V) -> &mut Self {
        if value == V::default() { self } else { self.field(name, value) }
    }

    pub(in crate::lease) fn identity(&mut self, identity: &ServerIdentity) -> &mut Self {
        self.field("history", &identity.history).field("process", &identity.process)
    }

    /// A field without a name.
    pub(in crate::lease) fn word(&mut self, word: &str) -> &mut Self {
        self.0.push(' ');
        self.0.push_str(word);
        self
    }

    pub(in crate::lease) fn end(&mut self, nonce: u64) -> String {
        self.field("nonce", format!("{nonce:016x}"));
        let sum = checksum(&self.0);
        self.field("sum", format!("{sum:08x}"));
        self.done()
    }

    /// The text so far.
    pub(in crate::lease) fn done(&mut self) -> String {
        std::mem::take(&mut self.0)
    }
}

/// Reads a text, field by field.
pub(in crate::lease) struct Reader<'a>(std::str::Split<'a, char>);

impl<'a> Reader<'a> {
    pub(in crate::lease) fn new(text: &'a str, kind: &str) -> Result<Self, Unreadable> {
        let mut words = text.split(' ');
        let version = words.next().and_then(|word| word.strip_prefix(FORMAT)?.parse().ok());
        match version {
            Some(VERSION) => {}
            Some(version) if version > VERSION => {
                let needs = words.next().and_then(|word| Release::of_text(word.strip_prefix("needs=")?));
                return Err(Unreadable::Newer { version, needs });
            }
            _ => return Err(Unreadable::Damaged),
        }
        if words.next() == Some(kind) { Ok(Self(words)) } else { Err(Unreadable::Damaged) }
    }

    /// The next field, which has no name.
    pub(in crate::lease) fn word(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    /// The value of the next field, which must have this name, as it is written.
    fn raw(&mut self, name: &str) -> Option<&'a str> {
        self.0.next()?.strip_prefix(name)?.strip_prefix('=')
    }

    /// The value of the next field, which must have this name.
    pub(in crate::lease) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.raw(name)?;
        let mut bytes = Vec::with_capacity(value.len());
        let mut parts = value.split('%');
        bytes.extend_from_slice(parts.next()?.as_bytes());
        for part in parts {
            let (hex, rest) = part.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(hex, 16).ok()?);
            bytes.extend_from_slice(rest.as_bytes());
        }
        String::from_utf8(bytes).ok()
    }

    pub(in crate::lease) fn number<N: std::str::FromStr>(&mut self, name: &str) -> Option<N> {
        self.raw(name)?.parse().ok()
    }

    pub(in crate::lease) fn hex(&mut self, name: &str) -> Option<u64> {
        u64::from_str_radix(self.raw(name)?, 16).ok()
    }

    fn is(&mut self, name: &str) -> Option<bool> {
        match self.text(name)?.as_str() {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        }
    }

    pub(in crate::lease) fn identity(&mut self) -> Option<ServerIdentity> {
        Some(ServerIdentity { history: self.text("history")?, process: self.text("process")? })
    }

    /// The next field if it has this name; otherwise it is left for the next call.
    fn optional<V>(&mut self, read: impl Fn(&mut Self) -> Option<V>) -> Option<V> {
        let rest = self.0.clone();
        let value = read(self);
        if value.is_none() {
            self.0 = rest;
        }
        value
    }

    fn config(&mut self) -> Option<GroupConfig> {
        let durable = self.is("durable")?;
        let (slots, ttl_ms, skew_ms) = (self.number("slots")?, self.number("ttl")?, self.number("skew")?);
        Some(GroupConfig { fingerprint: self.text(FINGERPRINT)?, slots, ttl_ms, skew_ms, durable })
    }

    fn group(&mut self) -> Option<GroupRecord> {
        let state = self.text("state")?;
        let (life, lineage) = (self.number("life")?, self.hex("lineage")?);
        let (quiet_until, identity) = (self.number("quiet")?, self.identity()?);
        let (history, process) = (self.text("replaced-history")?, self.text("replaced-process")?);
        let (replaced, returns) = (ServerIdentity { history, process }, self.number("returns")?);
        let [ended, others, lost] =
            [ENDED, OTHERS, LOST].map(|name| self.optional(|rest| rest.number(name)).unwrap_or_default());
        let state = match state.as_str() {
            "unknown" => Stage::Unknown,
            "live" => Stage::Live(self.config()?),
            "ending" => Stage::Ending(self.config()?),
            "destroyed" => Stage::Destroyed {
                durable: self.is("durable")?,
                fingerprint: self.optional(|rest| rest.text(FINGERPRINT)).unwrap_or_default(),
            },
            _ => return None,
        };
        let nonce = self.hex("nonce")?;
        Some(GroupRecord { state, life, lineage, quiet_until, identity, replaced, returns, ended, others, lost, nonce })
    }

    fn slot(&mut self) -> Option<SlotRecord> {
        let owner = match self.text("owner")?.as_str() {
            "-" => None,
            owner => Some(Owner::from_str_radix(owner, 16).ok()?),
        };
        let (life, lo, hi) = (self.number("life")?, self.number("lo")?, self.number("hi")?);
        Some(SlotRecord { owner, life, lo, hi, host: self.text("host")?, nonce: self.hex("nonce")? })
    }

    fn counter(&mut self) -> Option<CounterRecord> {
        let value = self.number("value")?;
        let (is_lost, is_destroyed) = match self.text("lost")?.as_str() {
            "yes" => (true, false),
            "no" => (false, false),
            DESTROYED => (false, true),
            _ => return None,
        };
        let life = self.optional(|rest| rest.number("life")).unwrap_or(FIRST_LIFE);
        let lineage = self.hex("lineage")?;
        let (is_settled, durable, identity) = (self.is("settled")?, self.is("durable")?, self.identity()?);
        let nonce = self.hex("nonce")?;
        Some(CounterRecord { value, is_lost, is_destroyed, life, lineage, is_settled, durable, identity, nonce })
    }
}

/// FNV-1a, 32 bits.
pub(in crate::lease) fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
