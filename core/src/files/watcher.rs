//! The files that this process has open, and the thread that looks after them. It raises their marks while IDs are
//! made, so that making an ID never waits for the disk, and it notices files that were removed.
//!
//! There is one thread for all files, and none while no file is open. It holds nothing that the process would have to
//! wait for when it ends. If the thread cannot be started, the calls that make IDs do its work.
//!
//! This file must never drop a cursor while the table is locked, because dropping a cursor locks the table.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::files::error::FileError;
use crate::files::named_file::Identity;
use crate::files::shared::SharedCursor;

/// Often enough that a mark 1 s ahead is not reached, and rare enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(250);

#[derive(Default)]
struct Table {
    open: HashMap<Identity, Weak<SharedCursor>>,
    is_watched: bool,
}

static TABLE: LazyLock<Mutex<Table>> = LazyLock::new(Mutex::default);

fn table() -> MutexGuard<'static, Table> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The cursor in that file that this process has open, or else the one that `make` makes. Making it may take a while,
/// and others are not blocked meanwhile. If two are made at the same time, everybody gets the first.
pub(crate) fn find_or_add(
    identity: Identity,
    make: impl FnOnce() -> Result<SharedCursor, FileError>,
) -> Result<Arc<SharedCursor>, FileError> {
    if let Some(open) = find(identity) {
        return Ok(open);
    }
    let made = Arc::new(make()?);
    let found; // like `made`, this is dropped after the lock is released
    let mut table = table();
    found = table.find(identity);
    if let Some(open) = found.as_ref().filter(|open| !open.is_ended()) {
        return Ok(open.clone());
    }
    table.add(&made);
    Ok(made.clone())
}

fn find(identity: Identity) -> Option<Arc<SharedCursor>> {
    let found = table().find(identity);
    found.filter(|open| !open.is_ended())
}

/// Looks after a cursor that only its creator uses.
pub(crate) fn add(cursor: &Arc<SharedCursor>) {
    table().add(cursor);
}

impl Table {
    fn find(&self, identity: Identity) -> Option<Arc<SharedCursor>> {
        self.open.get(&identity).and_then(Weak::upgrade)
    }

    fn add(&mut self, cursor: &Arc<SharedCursor>) {
        self.open.insert(cursor.identity(), Arc::downgrade(cursor));
        if !self.is_watched {
            let thread = thread::Builder::new().name("flakeforge".to_owned()).spawn(watch);
            self.is_watched = thread.is_ok();
        }
    }
}

/// Takes a cursor out of the table, unless another cursor has its place.
pub(crate) fn forget(cursor: &SharedCursor) {
    let mut table = table();
    if table.open.get(&cursor.identity()).is_some_and(|open| std::ptr::eq(open.as_ptr(), cursor)) {
        table.open.remove(&cursor.identity());
    }
}

fn watch() {
    loop {
        thread::sleep(PAUSE);
        let mut table = table();
        if table.open.is_empty() {
            table.is_watched = false;
            return;
        }
        let open: Vec<_> = table.open.values().filter_map(Weak::upgrade).collect();
        drop(table);
        open.iter().for_each(|cursor| cursor.look());
    }
}
