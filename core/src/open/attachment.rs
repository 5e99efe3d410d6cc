//! What a leased generator has in addition to an ordinary one: its window, or its slot file. The caller passes the limits,
//! which are those that the store granted.

use std::cell::RefCell;
use std::sync::Arc;

use crate::files::shared::SharedCursor;
use crate::generator::cursor::{Cursor, OwnCursor};
use crate::generator::numbers::Numbers;
use crate::generator::registry::KeyLease;
use crate::layout::Layout;

/// Reported to the store if no ID was generated.
const NO_ID: i64 = -1;

/// Where an attachment takes its numbers from.
#[derive(Debug)]
enum Place {
    /// a separate cursor, whose limit is the end of the window
    Window(Arc<OwnCursor>),
    /// the slot's file, which raises its limit itself
    File(Arc<SharedCursor>),
}

/// One attachment: a node number, until it is retired.
#[derive(Debug)]
pub struct Attachment {
    place: Place,
    numbers: Numbers,
    /// the next free number when the attachment began
    first: u64,
    /// the key in this process's registry, until the attachment ends
    held: RefCell<Option<KeyLease>>,
}

impl Attachment {
    /// A cursor for the window from `lo` to `hi`, Unix ms, both included, and the attachment that ends it.
    pub fn in_window(layout: &Layout, held: KeyLease, lo: i64, hi: i64) -> (Arc<OwnCursor>, Self) {
        let numbers = Numbers::of(layout);
        // A window without a whole tick allows no number; a later window continues from there.
        let (first, last) = numbers.window(lo, hi).map_or((1, 0), |window| window.into_inner());
        let cursor = Arc::new(OwnCursor::from(Cursor::window(first, last)));
        (cursor.clone(), Self { place: Place::Window(cursor), numbers, first, held: RefCell::new(Some(held)) })
    }

    /// An attachment to a slot file.
    pub fn on_file(layout: &Layout, held: KeyLease, file: Arc<SharedCursor>) -> Self {
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

    /// Stops generating IDs. Returns the last ms (Unix) in which one was generated, or −1.
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

    /// Frees the key for other generators of this process, once the window is over.
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
