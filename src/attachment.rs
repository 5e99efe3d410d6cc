//! What a leased generator has in addition to an ordinary one: its window, or its slot file.
//!
//! This file must never raise a limit beyond what the store granted: `lib/lease/lease.js` says what that was.

use std::cell::Cell;
use std::sync::Arc;

use flakeforge_core::files::shared::SharedCursor;
use flakeforge_core::generator::cursor::{Cursor, OwnCursor};
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::generator::registry::Hold;
use flakeforge_core::layout::Layout;

/// What the store is told if no ID was made.
const NO_ID: i64 = -1;

/// Where an attachment gets its numbers.
enum Place {
    /// a cursor of its own, whose limit is the window's end
    Window(Arc<OwnCursor>),
    /// the slot's file, which raises its limit without this
    File(Arc<SharedCursor>),
}

/// One attachment: one node number, until it is sealed.
pub struct Attachment {
    place: Place,
    numbers: Numbers,
    /// the next free number when the attachment began
    first: u64,
    /// the key in this process's registry, until the end
    held: Cell<Option<Hold>>,
}

impl Attachment {
    /// A cursor for the window from `lo` to `hi`, Unix ms, both included, and the attachment that ends it.
    pub fn in_window(layout: &Layout, held: Hold, lo: i64, hi: i64) -> (Arc<OwnCursor>, Self) {
        let numbers = Numbers::of(layout);
        // A window that contains no whole tick allows no number; a later window goes on from there.
        let (first, last) = numbers.window(lo, hi).map_or((1, 0), |window| window.into_inner());
        let cursor = Arc::new(OwnCursor::from(Cursor::window(first, last)));
        (cursor.clone(), Self { place: Place::Window(cursor), numbers, first, held: Cell::new(Some(held)) })
    }

    /// The attachment to a slot file.
    pub fn on_file(layout: &Layout, held: Hold, file: Arc<SharedCursor>) -> Self {
        let first = file.next();
        Self { place: Place::File(file), numbers: Numbers::of(layout), first, held: Cell::new(Some(held)) }
    }

    /// The highest number that may have been taken.
    fn limit(&self) -> u64 {
        match &self.place {
            Place::Window(cursor) => cursor.limit(),
            Place::File(file) => file.highest(),
        }
    }

    /// Extends the window to `hi`, and moves its start to `lo` if that is later.
    pub fn raise(&self, lo: i64, hi: i64) {
        let Place::Window(cursor) = &self.place else { return };
        let Some(window) = self.numbers.window(lo, hi) else { return };
        cursor.raise_next(*window.start());
        cursor.raise_limit(*window.end());
    }

    /// Makes no more IDs. Returns the last ms (Unix) in which one was made, −1 if there was none.
    pub fn seal(&self) -> i64 {
        let next = match &self.place {
            Place::Window(cursor) => cursor.seal(),
            Place::File(file) => {
                file.end();
                file.next()
            }
        };
        self.let_go();
        if next <= self.first { NO_ID } else { self.numbers.end_ms(next - 1) }
    }

    /// Lets others in this process use the key once the window is over.
    fn let_go(&self) {
        if let Some(held) = self.held.take() {
            held.end(self.limit());
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.let_go();
    }
}
