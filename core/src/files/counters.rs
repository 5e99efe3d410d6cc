//! Counters in files: each grows by one block at a time, for any process.
//!
//! Taking a block is one atomic addition in mapped memory, and a sync before the block is returned. A process that is stopped
//! or killed in between blocks no other process and loses at most one block, and no crash causes a block to be handed out twice.

use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};

use crate::files::file_format::{CounterPage, CounterWords, Kind, Purpose, new_lineage};
use crate::files::folder::{Place, is_gone};
use crate::files::machine;
use crate::files::mapped::Mapped;
use crate::files::named_file::{self, Opened};
use crate::files::names;
use crate::refusal::Refusal;

/// A block of numbers from a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// the first one: the value of the counter before
    pub first: u64,
    /// distinguishes counters of the same name: random bits, replaced whenever the counter is created or raised
    pub lineage: u64,
}

/// Adds `by` to a counter in a store's folder. A missing counter is created with the value `init`, if that is given. If `by`
/// is 0, the counter is first raised to a given `init`.
pub fn advance(store: &Path, name: &str, by: u64, init: Option<u64>) -> Result<Block, Refusal> {
    machine::check_shares(store)?;
    let path = &names::counter_file(store, name);
    let text = format!("counter {name}");
    let Opened { place, file, identity, .. } = find(path, &text, init)?;
    let page = Mapped::<CounterWords>::new(file, &place)?;
    let CounterPage { words: CounterWords { value, .. }, lineage, .. } = page.checked();
    if let (0, Some(init)) = (by, init) {
        value.fetch_max(init, AcqRel);
        lineage.store(new_lineage(), Release);
    }
    let lineage = lineage.load(Acquire);
    let first = value.fetch_update(AcqRel, Acquire, |value| value.checked_add(by));
    page.check_kept(path)?;
    let first = first.map_err(|value| {
        Refusal::file(
            path,
            format!("has reached {value}, so {by} more numbers do not fit into 64 bits. Nothing was taken"),
        )
    })?;
    page.sync().map_err(|error| Refusal::io(path, "synced", &error))?;
    if is_gone(path, identity) {
        return Err(Refusal::file(
            path,
            "was removed, replaced or truncated while in use. Call skipTo(n) with n above every ID that was handed out",
        ));
    }
    Ok(Block { first, lineage })
}

fn find(path: &Path, text: &str, init: Option<u64>) -> Result<Opened, Refusal> {
    let machine = machine::this();
    let purpose = Purpose::new(Kind::Counter, text);
    if let Some(init) = init {
        let purpose = purpose
            .with(offset_of!(CounterPage, words.value), init)
            .with(offset_of!(CounterPage, lineage), new_lineage());
        return named_file::open(path, &purpose, machine);
    }
    let gone = || {
        Refusal::file(
            path,
            "was removed, and the count with it. Call skipTo(n) with n above every ID that was handed out",
        )
    };
    let place = Place::find(path)?.ok_or_else(gone)?;
    named_file::find(&place, &purpose, machine)?.ok_or_else(gone)
}
