//! The open files of one kind, and the thread that looks after them. It raises their marks while IDs are generated, so that
//! generating an ID never waits for the disk, and it detects files that were removed.
//!
//! One thread serves all files; there is none while no file is open. It holds nothing that a process would have to wait for
//! at its end. If the thread cannot be started, the calls that generate IDs do its work.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use crate::files::folder::FileIdentity;

/// Often enough that a mark 1 s ahead is not reached, and rarely enough to cost nothing.
const PAUSE: Duration = Duration::from_millis(250);

/// An open file that the thread looks after.
pub(crate) trait Watched: Send + Sync + 'static {
    /// The identity of the file.
    fn identity(&self) -> FileIdentity;
    /// Whether it is no longer usable: the next caller that opens the file gets a new one.
    fn is_ended(&self) -> bool;
    /// Called a few times per second.
    fn look(&self);
}

/// The open files.
pub(crate) struct Watcher<F> {
    table: Mutex<Table<F>>,
}

struct Table<F> {
    open: HashMap<FileIdentity, Weak<F>>,
    is_watched: bool,
}

impl<F> Default for Watcher<F> {
    fn default() -> Self {
        Self { table: Mutex::new(Table { open: HashMap::new(), is_watched: false }) }
    }
}

impl<F: Watched> Watcher<F> {
    fn table(&self) -> MutexGuard<'_, Table<F>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of this identity that this process has open, or the result of `make`, which may take a while without blocking
    /// other callers. If two are created at the same time, all callers get the first.
    pub(crate) fn find_or_add<E>(
        &'static self,
        identity: FileIdentity,
        make: impl FnOnce() -> Result<F, E>,
    ) -> Result<Arc<F>, E> {
        if let Some(open) = self.find(identity) {
            return Ok(open);
        }
        let made = Arc::new(make()?);
        let found; // like `made`, dropped after the lock is released: dropping a file locks the table
        let mut table = self.table();
        found = table.find(identity);
        if let Some(open) = found.as_ref().filter(|open| !open.is_ended()) {
            return Ok(open.clone());
        }
        self.add_to(&mut table, &made);
        Ok(made.clone())
    }

    fn find(&self, identity: FileIdentity) -> Option<Arc<F>> {
        let found = self.table().find(identity);
        found.filter(|open| !open.is_ended())
    }

    /// Looks after a file that only its creator uses.
    pub(crate) fn add(&'static self, file: &Arc<F>) {
        self.add_to(&mut self.table(), file);
    }

    fn add_to(&'static self, table: &mut Table<F>, file: &Arc<F>) {
        table.open.insert(file.identity(), Arc::downgrade(file));
        if !table.is_watched {
            let thread = thread::Builder::new().name("flakeforge".to_owned()).spawn(|| self.watch());
            table.is_watched = thread.is_ok();
        }
    }

    /// Removes a file from the table, unless another one has its place.
    pub(crate) fn forget(&self, file: &F) {
        let mut table = self.table();
        if table.open.get(&file.identity()).is_some_and(|open| std::ptr::eq(open.as_ptr(), file)) {
            table.open.remove(&file.identity());
        }
    }

    fn watch(&self) {
        loop {
            thread::sleep(PAUSE);
            let mut table = self.table();
            if table.open.is_empty() {
                table.is_watched = false;
                return;
            }
            let open: Vec<_> = table.open.values().filter_map(Weak::upgrade).collect();
            drop(table);
            open.iter().for_each(|file| file.look());
        }
    }
}

impl<F> Table<F> {
    fn find(&self, identity: FileIdentity) -> Option<Arc<F>> {
        self.open.get(&identity).and_then(Weak::upgrade)
    }
}
