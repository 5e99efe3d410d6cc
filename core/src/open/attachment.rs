//! What a leased generator has in addition to an ordinary one: its window, or its slot file.
//!
//! This file must never raise a limit beyond what the store granted: its caller says what that was.

use std::cell::RefCell;
use std::sync::Arc;

use crate::files::shared::SharedCursor;
use crate::generator::cursor::{Cursor, OwnCursor};
use crate::generator::numbers::Numbers;
use crate::generator::registry::Hold;
use crate::layout::Layout;

/// What the store is told if no ID was made.
const NO_ID: i64 = -1;

/// Where an attachment gets its numbers.
#[derive(Debug)]
enum Place {
    /// a cursor of its own, whose limit is the window's end
    Window(Arc<OwnCursor>),
    /// the slot's file, which raises its limit without this
    File(Arc<SharedCursor>),
}

/// One attachment: one node number, until it is retired.
#[derive(Debug)]
pub struct Attachment {
    place: Place,
    numbers: Numbers,
    /// the next free number when the attachment began
    first: u64,
    /// the key in this process's registry, until the end
    held: RefCell<Option<Hold>>,
}

impl Attachment {
    /// A cursor for the window from `lo` to `hi`, Unix ms, both included, and the attachment that ends it.
    pub fn in_window(layout: &Layout, held: Hold, lo: i64, hi: i64) -> (Arc<OwnCursor>, Self) {
        let numbers = Numbers::of(layout);
        // A window that contains no whole tick allows no number; a later window goes on from there.
        let (first, last) = numbers.window(lo, hi).map_or((1, 0), |window| window.into_inner());
        let cursor = Arc::new(OwnCursor::from(Cursor::window(first, last)));
        (cursor.clone(), Self { place: Place::Window(cursor), numbers, first, held: RefCell::new(Some(held)) })
    }

    /// The attachment to a slot file.
    pub fn on_file(layout: &Layout, held: Hold, file: Arc<SharedCursor>) -> Self {
        let first = file.next();
        Self { place: Place::File(file), numbers: Numbers::of(layout), first, held: RefCell::new(Some(held)) }
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
        let cursor = match &self.place {
            Place::Window(cursor) => cursor,
            Place::File(_) => return,
        };
        let Some(window) = self.numbers.window(lo, hi) else { return };
        cursor.raise_next(*window.start());
        cursor.raise_limit(*window.end());
    }

    /// Makes no more IDs. Returns the last ms (Unix) in which one was made, −1 if there was none.
    pub fn retire(&self) -> i64 {
        let next = match &self.place {
            Place::Window(cursor) => cursor.retire(),
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
