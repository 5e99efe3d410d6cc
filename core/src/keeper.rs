//! The files this process has open, and the thread that looks after them: it raises their marks while IDs flow, so that
//! making one waits for no disk, and notices files that were removed.
//!
//! There is one thread for all files, and none while no file is open. It holds nothing that the end of the process would
//! have to wait for, and where it cannot be started, the calls that make IDs do its work.
//!
//! This file must never drop a cursor while the table is locked: dropping it locks the table.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::fault::FileError;
use crate::place::Identity;
use crate::shared::SharedCursor;

/// Often enough that a mark 1 s ahead is not reached, seldom enough to cost nothing.
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

/// The cursor in that file as this process has it open, or the one that `make` makes. That may take a while, and others
/// go on meanwhile: of two that are made at once, the first one is everybody's.
pub(crate) fn find_or_add(
    identity: Identity,
    make: impl FnOnce() -> Result<SharedCursor, FileError>,
) -> Result<Arc<SharedCursor>, FileError> {
    if let Some(open) = find(identity) {
        return Ok(open);
    }
    let made = Arc::new(make()?);
    let found; // dropped after the lock is given back, as `made` is
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

/// Looks after a cursor that only its maker has.
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

/// Takes a cursor out of the table, unless another has its place.
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
