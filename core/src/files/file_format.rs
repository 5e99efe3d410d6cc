//! What a file of flakeforge looks like: one page of 4096 bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 0…1535 | the header, which never changes: magic, version, checksum, kind, and as text what the file was made for |
//! | 1536…1551 | the boot of the machine in which it was last used, if that boot has a name |
//! | 1552…1575 | whether somebody has it open: users, asked, answered; version 0.1 leaves them 0 |
//! | 1576…1583 | whether its name is known to be on the disk |
//! | 2048…2111 | words: for a cursor or slot next, limit and whether a window is lent; others have their own |
//! | 2560…2567 | the durable mark |
//! | 3072…4095 | who holds it, if it is a slot |
//!
//! Each part has disk sectors of its own (512 bytes, written completely or not at all). So in a page that was torn by a
//! crash, each part is either older or newer, and never a mixture.
//!
//! This file must never accept a page that this version did not make.

/// Size of a page, and of every file.
pub const SIZE: usize = 4096;
/// Where the boot ID is.
pub const BOOT: usize = 1536;
/// Where processes ask, and answer, whether somebody has the file open.
pub const PRESENCE: usize = 1552;
/// Where it says whether the file's name is known to be on the disk.
pub const IS_NAMED: usize = 1576;
/// Where the words are. The cursor's come first.
pub const WORDS: usize = 2048;
/// Which of them, in a slot's page, is not 0 as long as the holder has not asked for the cursor.
pub const LENDS_WINDOW: usize = 2;
/// How many words there are.
pub const WORD_COUNT: usize = 8;
/// Where the durable mark is.
pub const MARK: usize = 2560;
/// Where it says who holds a slot.
pub const HOLDER: usize = 3072;
/// How many words that takes.
pub const HOLDER_COUNT: usize = (SIZE - HOLDER) / 8;

/// The format that a package must know to use a file. Any other version is refused, older or newer.
const VERSION: u32 = 1;
const MAGIC: &[u8; 16] = b"flakeforge file\n";
const VERSION_AT: usize = 16;
const TEXT_LEN_AT: usize = 20;
const CHECKSUM_AT: usize = 24;
const KIND_AT: usize = 32;
const TEXT_AT: usize = 64;
/// The longest text that fits the header, in bytes.
pub const TEXT_MAX: usize = BOOT - TEXT_AT;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// a cursor that processes share
    Cursor,
    /// a slot of a group: a cursor, and who holds it
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

    /// What to do if something else is in the place of such a file. Users name the files of cursors; we name those of a
    /// group, so nothing else should be there.
    fn way_out(self) -> &'static str {
        match self {
            Self::Cursor | Self::Counter => "Use another path",
            Self::Slot | Self::Group => DAMAGED,
        }
    }
}

/// What a file is for, and what it starts with.
#[derive(Clone, Copy, Debug)]
pub struct Purpose<'a> {
    /// its kind
    pub kind: Kind,
    /// what it is made for: a file with another text belongs to another use
    pub text: &'a str,
    /// the words of a new file
    pub words: [u64; WORD_COUNT],
    /// the mark of a new file
    pub mark: u64,
}

impl<'a> Purpose<'a> {
    /// A file whose words and mark are 0.
    pub fn new(kind: Kind, text: &'a str) -> Self {
        Self { kind, text, words: [0; WORD_COUNT], mark: 0 }
    }
}

/// A new page; `None` if its text does not fit.
pub fn make(purpose: &Purpose) -> Option<[u8; SIZE]> {
    let Purpose { kind, text, words, mark } = *purpose;
    if text.len() > TEXT_MAX {
        return None;
    }
    let mut page = [0; SIZE];
    page[..MAGIC.len()].copy_from_slice(MAGIC);
    put(&mut page, VERSION_AT, &VERSION.to_le_bytes());
    put(&mut page, TEXT_LEN_AT, &(text.len() as u32).to_le_bytes());
    put(&mut page, KIND_AT, kind.name().as_bytes());
    put(&mut page, TEXT_AT, text.as_bytes());
    let sum = checksum(&page);
    put(&mut page, CHECKSUM_AT, &sum.to_le_bytes());
    put(&mut page, WORDS, words.map(u64::to_ne_bytes).as_flattened());
    put(&mut page, MARK, &mark.to_ne_bytes());
    Some(page)
}

/// What a page was made for, or what is wrong with it. `start` is the beginning of its file: more than a page of it if
/// the file is longer.
pub fn text_of(start: &[u8], kind: Kind) -> Result<String, String> {
    if !start.starts_with(MAGIC) {
        let size = if start.is_empty() { " (it is empty)" } else { "" };
        return Err(format!("is not a file of flakeforge{size}. {}", kind.way_out()));
    }
    if let Some(version) = number(start, VERSION_AT).filter(|&version| version != VERSION) {
        return Err(format!(
            "has version {version} of the file format, and this version of flakeforge writes version {VERSION}. Let all \
             processes use the same version of flakeforge, or use another path"
        ));
    }
    if start.len() != SIZE {
        let size = if start.len() > SIZE { "more".to_owned() } else { start.len().to_string() };
        return Err(format!("has {size} bytes instead of {SIZE}. {DAMAGED}"));
    }
    let mut unsigned = [0; SIZE];
    unsigned.copy_from_slice(start);
    put(&mut unsigned, CHECKSUM_AT, &[0; 8]);
    if checksum(&unsigned).to_le_bytes() != start[CHECKSUM_AT..CHECKSUM_AT + 8] {
        return Err(format!("has a wrong checksum in its header. {DAMAGED}"));
    }
    let found = until_zero(&start[KIND_AT..TEXT_AT]);
    if found != kind.name().as_bytes() {
        let found = String::from_utf8_lossy(found);
        return Err(format!("is the file of a {found}, not of a {}. {}", kind.name(), kind.way_out()));
    }
    let text_len = number(start, TEXT_LEN_AT).unwrap_or(0) as usize;
    let text = start[TEXT_AT..].get(..text_len).unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// A word of a page that was read from a file.
pub fn word(page: &[u8], at: usize) -> u64 {
    page.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

/// What to do if a file of ours is damaged: it is not repaired, because what it remembered is lost.
pub const DAMAGED: &str = "It is damaged, and was left as it is. Remove it once no process uses it and the clock is past the \
                           last ID that was made with it";

fn put(page: &mut [u8; SIZE], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    bytes.try_into().ok().map(u32::from_le_bytes)
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// FNV-1a of the header. It is only there to notice damage, and is good enough for that.
fn checksum(page: &[u8; SIZE]) -> u64 {
    page[..BOOT].iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
