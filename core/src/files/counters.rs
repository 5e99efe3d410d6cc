//! Counters in files: each grows by one block at a time, for any process.
//!
//! Taking a block is one atomic addition in mapped memory, and a sync before the block is returned. A process that is stopped
//! or killed in between blocks no other process and loses at most one block, and no crash causes a block to be handed out twice.
//!
//! `destroy()` ends a counter by setting its lineage to 0, and its file stays. The next counter of its name has another file,
//! so a block that is being taken meanwhile is of the one that ended.

use std::mem::offset_of;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::files::file_format::{CounterPage, CounterWords, Kind, Purpose, new_lineage, word};
use crate::files::folder::{FileIdentity, Folder, Place, is_gone};
use crate::files::group::own_lives;
use crate::files::machine;
use crate::files::mapped::Mapped;
use crate::files::named_file::{self, Opened};
use crate::files::names;
use crate::refusal::Refusal;

/// The lineage of a counter that was destroyed.
const DESTROYED: u64 = 0;

/// A block of numbers from a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// the first one: the value of the counter before
    pub first: u64,
    /// distinguishes counters of the same name: random bits, replaced whenever the counter is created or raised
    pub lineage: u64,
}

/// A counter, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterInfo {
    /// its name
    pub name: String,
    /// the start of the next block
    pub next: u64,
    /// distinguishes counters of the same name
    pub lineage: u64,
}

/// A counter's file, as opened by this process.
struct Counter {
    page: Mapped<CounterWords>,
    place: Place,
    identity: FileIdentity,
}

impl Counter {
    fn of(Opened { place, file, identity, .. }: Opened) -> Result<Self, Refusal> {
        Ok(Self { page: Mapped::new(file, &place)?, place, identity })
    }

    fn path(&self) -> &Path {
        self.place.path()
    }

    fn words(&self) -> &CounterPage {
        self.page.checked()
    }

    /// Its lineage; `None` if it was destroyed. A page that was lost is all zeros, and proves nothing.
    fn lineage(&self) -> Result<Option<u64>, Refusal> {
        let lineage = self.words().lineage.load(Acquire);
        self.page.check_kept(self.path())?;
        Ok((lineage != DESTROYED).then_some(lineage))
    }

    fn sync(&self) -> Result<(), Refusal> {
        self.page.sync().map_err(|error| Refusal::io(self.path(), "synced", &error))
    }

    /// Adds `by`. If `by` is 0, the counter is first raised to a given `init`.
    fn advance(&self, by: u64, init: Option<u64>) -> Result<Block, Refusal> {
        let path = self.path();
        let CounterPage { words: CounterWords { value, .. }, lineage, .. } = self.words();
        let before = lineage.load(Acquire);
        if let (0, Some(init)) = (by, init) {
            value.fetch_max(init, AcqRel);
            // Only if unchanged: a counter that was destroyed meanwhile must stay destroyed.
            let _ = lineage.compare_exchange(before, new_lineage(), AcqRel, Acquire);
        }
        let first = value.fetch_update(AcqRel, Acquire, |value| value.checked_add(by));
        self.page.check_kept(path)?;
        let first = first.map_err(|value| {
            Refusal::file(
                path,
                format!("has reached {value}, so {by} more numbers do not fit into 64 bits. Nothing was taken"),
            )
        })?;
        self.sync()?;
        if is_gone(path, self.identity) {
            return Err(Refusal::file(
                path,
                "was removed, replaced or truncated while in use. Call skipTo(n) with n above every ID that was handed out",
            ));
        }
        let lineage = self.lineage()?.ok_or(Refusal::Destroyed)?;
        Ok(Block { first, lineage })
    }
}

/// Adds `by` to a counter in a store's folder. A counter that is missing or was destroyed is created with the value `init`, if
/// that is given. If `by` is 0, the counter is first raised to a given `init`.
pub fn advance(store: &Path, name: &str, by: u64, init: Option<u64>) -> Result<Block, Refusal> {
    machine::check_shares(store)?;
    let text = format!("counter {name}");
    let mut life = 1;
    loop {
        let path = names::counter_file_of(store, name, life);
        let counter = match find(&path, &text)? {
            Some(counter) => counter,
            None => match init {
                Some(init) => create(&path, &text, init)?,
                None if life > 1 => return Err(Refusal::Destroyed),
                None => return Err(removed(&path)),
            },
        };
        if counter.lineage()?.is_some() {
            return counter.advance(by, init);
        }
        life += 1;
    }
}

/// Adds `by` to the count of numbers that a group gave for a past time, for a member of the group of this lineage, while that is
/// alive. A counter that is missing is created with the value 0, unless the caller knows it.
pub fn advance_past(
    store: &Path,
    (group, lineage): (&str, u64),
    record: &str,
    by: u64,
    is_known: bool,
) -> Result<Block, Refusal> {
    machine::check_shares(store)?;
    let path = names::past_file(store, group, record);
    let text = format!("past {record} of {group}");
    let counter = match find(&path, &text)? {
        Some(counter) => counter,
        None if is_known => {
            return Err(Refusal::file(&path, "was removed, and with it which IDs of that time were given"));
        }
        None => create(&path, &text, 0)?,
    };
    let block = counter.advance(by, None)?;
    own_lives(&names::group_folder(store, group), lineage)?; // after that: a counter of another group gives nothing
    Ok(block)
}

/// Ends a counter, if there is one. Members that take a block of it afterwards are refused.
pub fn destroy(store: &Path, name: &str) -> Result<(), Refusal> {
    machine::check_shares(store)?;
    let text = format!("counter {name}");
    for life in 1.. {
        let Some(counter) = find(&names::counter_file_of(store, name, life), &text)? else { break };
        if counter.lineage()?.is_some() {
            counter.words().lineage.store(DESTROYED, Release);
            counter.sync()?;
        }
    }
    Ok(())
}

/// The counters in a store's folder, without those that were destroyed.
pub fn list(store: &Path) -> Result<Vec<CounterInfo>, Refusal> {
    machine::check_shares(store)?;
    let Some(folder) = Folder::find(&names::counters_folder(store))?.map(Arc::new) else { return Ok(vec![]) };
    let mut counters = Vec::new();
    for file in folder.names()? {
        let Some((name, _)) = file.to_str().and_then(names::counter_of) else { continue };
        let place = folder.place(file);
        let Some(open) = named_file::open_to_read(&place)? else { continue };
        let page = named_file::read(place.path(), &open)?;
        named_file::text_of(place.path(), &page, Kind::Counter)?;
        let lineage = word(&page, offset_of!(CounterPage, lineage));
        if lineage != DESTROYED {
            counters.push(CounterInfo { name, next: word(&page, offset_of!(CounterPage, words.value)), lineage });
        }
    }
    counters.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(counters)
}

fn find(path: &Path, text: &str) -> Result<Option<Counter>, Refusal> {
    let Some(place) = Place::find(path)? else { return Ok(None) };
    let found = named_file::find(&place, &Purpose::new(Kind::Counter, text), machine::this())?;
    found.map(Counter::of).transpose()
}

fn create(path: &Path, text: &str, init: u64) -> Result<Counter, Refusal> {
    let purpose = Purpose::new(Kind::Counter, text)
        .with(offset_of!(CounterPage, words.value), init)
        .with(offset_of!(CounterPage, lineage), new_lineage());
    Counter::of(named_file::open(path, &purpose, machine::this())?)
}

fn removed(path: &Path) -> Refusal {
    Refusal::file(path, "was removed, and the count with it. Call skipTo(n) with n above every ID that was handed out")
}
