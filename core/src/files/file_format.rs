//! The format of flakeforge's files: one page of 4096 bytes, a [`Page`].
//!
//! Numbers, also those of the header, are in the byte order of the machine, because atomic operations know no other. So the
//! version reveals the byte order, and a file with the other one is refused.

use std::hash::{BuildHasher, RandomState};
use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::files::mark::Mark;
use crate::files::presence::Presence;
use crate::generator::cursor::Cursor;
use crate::hash::{hash, random};
use crate::release::Release;

/// Size of a page, and of every file.
pub const SIZE: usize = 4096;

/// A page with the words of one kind of file. It consists of `AtomicU64`s only, because other processes write to it.
///
/// | bytes | content |
/// |---|---|
/// | 0…1535 | the [`Header`], which never changes: the kind of file, and as text what it was created for |
/// | 1536…1551 | the ID of the boot in which it was last used, if that is known |
/// | 1552…1575 | whether a process has it open: users, asked, answered |
/// | 1576…1583 | whether its name is known to be on the disk |
/// | 1584…1591 | the lineage of a group or counter |
/// | 1592…1607 | of a group: what a copy of this file does not have, if that is known |
/// | 2048…2111 | words of a cursor or slot, of a group, or of a counter |
/// | 2560…2567 | the durable mark |
/// | 3072…4095 | the holder of a slot |
///
/// Each part has its own disk sectors (512 bytes, written completely or not at all). So in a page that a crash has torn, each
/// part is either old or new, never a mixture.
///
/// Only this type defines where each field is: code that has the page mapped uses its fields, code that has read it as bytes
/// uses `offset_of!`. The assertions below keep every field in place, because files of older versions are in use.
#[derive(Debug)]
#[repr(C)]
pub struct Page<W> {
    header: [AtomicU64; size_of::<Header>() / 8],
    pub(crate) boot: [AtomicU64; 2],
    pub(crate) presence: Presence,
    pub(crate) is_named: AtomicU64,
    /// of a group or a counter: random bits, replaced each time it is created
    pub(crate) lineage: AtomicU64,
    /// of a group: what a copy of this file does not have (`folder::birth`); 0 until it is opened
    pub(crate) birth: [AtomicU64; 2],
    unused_1608: [AtomicU64; 55],
    pub(crate) words: W,
    unused_2112: [AtomicU64; 56],
    pub(crate) mark: Mark,
    unused_2568: [AtomicU64; 63],
    pub(crate) holder: [AtomicU64; HOLDER_WORDS],
}

impl<W> Page<W> {
    /// A hash of the header, which stays the same as long as nothing else is written over the page.
    pub(crate) fn header_hash(&self) -> u64 {
        self.header.iter().fold(0, |sum, word| random(sum, word.load(Relaxed)))
    }
}

/// The number of words that describe the holder of a slot.
pub(crate) const HOLDER_WORDS: usize = 128;

/// The words of a cursor's page, or a slot's.
#[derive(Debug)]
#[repr(C)]
pub struct CursorWords {
    pub(crate) cursor: Cursor,
    /// of a slot: not 0 until the holder asks for the cursor
    pub(crate) lends_window: AtomicU64,
    unused: [AtomicU64; 5],
}

/// The words of a group's page: see `group.rs`.
#[derive(Debug)]
#[repr(C)]
pub struct GroupWords {
    pub(crate) hint: AtomicU64,
    pub(crate) used: AtomicU64,
    pub(crate) destroyed: AtomicU64,
    pub(crate) floor_ms: AtomicU64,
    pub(crate) epoch_ms: AtomicU64,
    pub(crate) tick_ns: AtomicU64,
    pub(crate) counter_bits: AtomicU64,
    pub(crate) top: AtomicU64,
}

/// The words of a counter's page.
#[derive(Debug)]
#[repr(C)]
pub struct CounterWords {
    /// the start of the next block
    pub(crate) value: AtomicU64,
    unused: [AtomicU64; 7],
}

/// The page of a cursor or slot.
pub type CursorPage = Page<CursorWords>;
/// The page of a group.
pub type GroupPage = Page<GroupWords>;
/// The page of a counter.
pub type CounterPage = Page<CounterWords>;

/// The part of a page that never changes. It is written and read as bytes, before the page is mapped.
#[repr(C)]
pub struct Header {
    magic: [u8; 16],
    version: u32,
    text_len: u32,
    /// of the header with this field set to 0
    checksum: u64,
    kind: [u8; 32],
    text: [u8; TEXT_MAX],
}

/// The maximum length of the header's text, in bytes.
pub const TEXT_MAX: usize = 1472;

// The positions of the fields in version 1 of the format.
const _: () = {
    assert!(offset_of!(Header, magic) == 0);
    assert!(offset_of!(Header, version) == 16);
    assert!(offset_of!(Header, text_len) == 20);
    assert!(offset_of!(Header, checksum) == 24);
    assert!(offset_of!(Header, kind) == 32);
    assert!(offset_of!(Header, text) == 64);
    assert!(size_of::<Header>() == 1536);

    assert!(offset_of!(CursorPage, header) == 0);
    assert!(offset_of!(CursorPage, boot) == 1536);
    assert!(offset_of!(CursorPage, presence) == 1552);
    assert!(offset_of!(CursorPage, is_named) == 1576);
    assert!(offset_of!(CursorPage, lineage) == 1584);
    assert!(offset_of!(CursorPage, birth) == 1592);
    assert!(offset_of!(CursorPage, unused_1608) == 1608);
    assert!(offset_of!(CursorPage, words) == 2048);
    assert!(offset_of!(CursorPage, unused_2112) == 2112);
    assert!(offset_of!(CursorPage, mark) == 2560);
    assert!(offset_of!(CursorPage, unused_2568) == 2568);
    assert!(offset_of!(CursorPage, holder) == 3072);

    assert!(offset_of!(CursorWords, cursor) == 0 && Cursor::NEXT_AT == 0 && Cursor::LIMIT_AT == 8);
    assert!(offset_of!(CursorWords, lends_window) == 16);
    assert!(offset_of!(CursorWords, unused) == 24);
    assert!(offset_of!(GroupWords, hint) == 0);
    assert!(offset_of!(GroupWords, used) == 8);
    assert!(offset_of!(GroupWords, destroyed) == 16);
    assert!(offset_of!(GroupWords, floor_ms) == 24);
    assert!(offset_of!(GroupWords, epoch_ms) == 32);
    assert!(offset_of!(GroupWords, tick_ns) == 40);
    assert!(offset_of!(GroupWords, counter_bits) == 48);
    assert!(offset_of!(GroupWords, top) == 56);
    assert!(offset_of!(CounterWords, value) == 0);
    assert!(offset_of!(CounterWords, unused) == 8);

    assert!(size_of::<CursorPage>() == SIZE && align_of::<CursorPage>() == align_of::<AtomicU64>());
    assert!(size_of::<GroupPage>() == SIZE && align_of::<GroupPage>() == align_of::<AtomicU64>());
    assert!(size_of::<CounterPage>() == SIZE && align_of::<CounterPage>() == align_of::<AtomicU64>());
};

/// The version of the format. Files of any other version are refused, older or newer. A file keeps its version, because other
/// processes may have it mapped; the files of a group have the version of the group's file.
const VERSION: u32 = 1;
/// Where every later version stores the release of flakeforge that it requires. Version 1 has the length of its text there.
const NEEDS_AT: usize = offset_of!(Header, text_len);
const MAGIC: &[u8; 16] = b"flakeforge file\n";

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// a cursor that processes share
    Cursor,
    /// a slot of a group: a cursor, and its holder
    Slot,
    /// a group of slots
    Group,
    /// a counter of blocks
    Counter,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Cursor => "shared cursor",
            Self::Slot => "slot",
            Self::Group => "group of slots",
            Self::Counter => "counter",
        }
    }

    /// What to do if something else is at the path. Users choose the paths of cursors; flakeforge chooses all others, so
    /// nothing else should be there.
    fn way_out(self) -> &'static str {
        match self {
            Self::Cursor => "Use another path, and another node number if other processes use this file",
            Self::Slot | Self::Group | Self::Counter => self.damaged(),
        }
    }

    /// What to do if this process cannot read the file, but others may. Elsewhere a cursor does not know their IDs, slots have
    /// the same node numbers, and a count begins again.
    fn instead(self) -> &'static str {
        match self {
            Self::Cursor => "use another path and another node number",
            Self::Slot | Self::Group => {
                "use another folder, and other node numbers there: another nodeOffset, or another value of a node field"
            }
            Self::Counter => {
                "stop all members, and open the counter in another folder with an init at or above every ID that was ever \
                 handed out"
            }
        }
    }

    /// The way out for a damaged file. A counter's numbers have no time, so only its users know how far they went.
    fn damaged(self) -> &'static str {
        match self {
            Self::Counter => {
                "It is damaged and was left unchanged. Stop all members, remove it, and open the counter again with an init at \
                 or above every ID that was ever handed out"
            }
            Self::Cursor | Self::Slot | Self::Group => DAMAGED,
        }
    }
}

/// What a file is for, and its initial content.
#[derive(Clone, Debug)]
pub struct Purpose<'a> {
    /// its kind
    pub kind: Kind,
    /// what it was created for: a file with another text belongs to another use
    pub text: &'a str,
    /// the words of a new file other than 0, each with its offset in the page
    start: Vec<(usize, u64)>,
}

impl<'a> Purpose<'a> {
    /// A file whose words and mark are 0.
    pub fn new(kind: Kind, text: &'a str) -> Self {
        Self { kind, text, start: Vec::new() }
    }

    /// The same, with this word at this offset of a new file.
    pub(crate) fn with(mut self, offset: usize, word: u64) -> Self {
        self.start.push((offset, word));
        self
    }
}

/// A random lineage.
pub(crate) fn new_lineage() -> u64 {
    RandomState::new().hash_one(())
}

/// A new page; `None` if its text does not fit.
pub fn make(purpose: &Purpose) -> Option<[u8; SIZE]> {
    let Purpose { kind, text, start } = purpose;
    if text.len() > TEXT_MAX {
        return None;
    }
    let mut page = [0; SIZE];
    put(&mut page, offset_of!(Header, magic), MAGIC);
    put(&mut page, offset_of!(Header, version), &VERSION.to_ne_bytes());
    put(&mut page, offset_of!(Header, text_len), &(text.len() as u32).to_ne_bytes());
    put(&mut page, offset_of!(Header, kind), kind.name().as_bytes());
    put(&mut page, offset_of!(Header, text), text.as_bytes());
    let sum = checksum(&page);
    put(&mut page, offset_of!(Header, checksum), &sum.to_ne_bytes());
    for &(offset, word) in start {
        put(&mut page, offset, &word.to_ne_bytes());
    }
    Some(page)
}

/// Unpacks a word with the first number of the release in its upper half.
fn release_of(word: u32) -> Release {
    Release { major: (word >> 16) as u16, minor: word as u16 }
}

/// The purpose of a page, or what is wrong with it. `start` is the beginning of its file, longer than a page if the file is.
pub fn text_of(start: &[u8], kind: Kind) -> Result<String, String> {
    if !start.starts_with(MAGIC) {
        let size = if start.is_empty() { " (it is empty)" } else { "" };
        return Err(format!("is not a flakeforge file{size}. {}", kind.way_out()));
    }
    if number(start, offset_of!(Header, version)) == Some(VERSION.swap_bytes()) {
        let [theirs, ours] = if cfg!(target_endian = "big") { ["little", "big"] } else { ["big", "little"] };
        return Err(format!(
            "was created on another kind of CPU ({theirs}-endian), and this process runs on a {ours}-endian one. They cannot \
             share files, so {}",
            kind.instead()
        ));
    }
    if let Some(version) = number(start, offset_of!(Header, version)).filter(|&version| version != VERSION) {
        let needed = number(start, NEEDS_AT).filter(|_| version > VERSION).map(release_of);
        let needs = needed.map_or_else(String::new, |release| format!(", which needs flakeforge {release} or newer"));
        return Err(format!(
            "has version {version} of the file format{needs}, and this version of flakeforge writes version {VERSION}. Let \
             all processes use the same version of flakeforge, or {}",
            kind.instead()
        ));
    }
    if start.len() != SIZE {
        let size = if start.len() > SIZE { "more".to_owned() } else { start.len().to_string() };
        return Err(format!("has {size} bytes instead of {SIZE}. {}", kind.damaged()));
    }
    let mut unsigned = [0; SIZE];
    unsigned.copy_from_slice(start);
    put(&mut unsigned, offset_of!(Header, checksum), &[0; 8]);
    if !start[offset_of!(Header, checksum)..].starts_with(&checksum(&unsigned).to_ne_bytes()) {
        return Err(format!("has a wrong checksum in its header. {}", kind.damaged()));
    }
    let found = until_zero(&start[offset_of!(Header, kind)..offset_of!(Header, text)]);
    if found != kind.name().as_bytes() {
        let found = String::from_utf8_lossy(found);
        return Err(format!("is the file of a {found}, not of a {}. {}", kind.name(), kind.way_out()));
    }
    let text_len = number(start, offset_of!(Header, text_len)).unwrap_or(0) as usize;
    let text = start[offset_of!(Header, text)..].get(..text_len).unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The word at this offset of a page read from a file.
pub fn word(page: &[u8], offset: usize) -> u64 {
    page.get(offset..offset + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

/// The way out for a damaged file with a cursor: it is not repaired, because what it remembered is lost.
pub const DAMAGED: &str = "It is damaged and was left unchanged. Remove it once no process uses it and the clock is past its \
                           last ID";

fn put(page: &mut [u8; SIZE], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    bytes.try_into().ok().map(u32::from_ne_bytes)
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// The header's checksum, which only serves to detect damage.
fn checksum(page: &[u8; SIZE]) -> u64 {
    hash(&page[..size_of::<Header>()])
}
