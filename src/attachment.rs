//! What a leased generator has beside an ordinary one: its window, or its slot file.
//!
//! This file must never raise a limit beyond what the store granted: `lib/lease.js` says what that was.

use std::sync::Arc;

use flakeforge_core::clock::Timescale;
use flakeforge_core::cursor::Cursor;
use flakeforge_core::layout::Layout;
use flakeforge_core::shared::SharedCursor;
use flakeforge_core::window::{last_ms, numbers};

/// What the store is told when no ID was made.
const NO_ID: i64 = -1;

/// Where the numbers of an attachment come from.
enum Numbers {
    /// a cursor of its own, whose limit is the window's end
    Window(Arc<Cursor>),
    /// the slot's file, which moves its limit by itself
    File(Arc<SharedCursor>),
}

/// One attachment: one node number, until it is sealed.
pub struct Attachment {
    numbers: Numbers,
    /// the next free number when the attachment began
    first: u64,
    scale: Timescale,
    counter_bits: u32,
}

impl Attachment {
    fn new(numbers: Numbers, first: u64, layout: &Layout) -> Self {
        let (scale, counter_bits) = (layout.scale, layout.packing.counter_bits());
        Self { numbers, first, scale, counter_bits }
    }

    /// A cursor for the window from `lo` to `hi`, Unix ms, both included, and what is needed to end it.
    pub fn in_window(layout: &Layout, lo: i64, hi: i64) -> (Arc<Cursor>, Self) {
        // A window that holds no tick allows no number; a later one goes on from there.
        let (first, last) = numbers(&layout.scale, layout.packing.counter_bits(), lo, hi)
            .map_or((1, 0), |numbers| (numbers.first, numbers.last));
        let cursor = Arc::new(Cursor::window(first, last));
        (cursor.clone(), Self::new(Numbers::Window(cursor), first, layout))
    }

    /// The attachment to a slot file.
    pub fn on_file(layout: &Layout, file: Arc<SharedCursor>) -> Self {
        let first = file.cursor().next();
        Self::new(Numbers::File(file), first, layout)
    }

    /// Goes on to `hi`, and from `lo` on where that is later than where it stands.
    pub fn raise(&self, lo: i64, hi: i64) {
        let Numbers::Window(cursor) = &self.numbers else { return };
        let Some(window) = numbers(&self.scale, self.counter_bits, lo, hi) else { return };
        cursor.raise_next(window.first);
        cursor.raise_limit(window.last);
    }

    /// Makes no more IDs. Returns the last ms (Unix) in which one was made, −1 when there was none.
    pub fn seal(&self) -> i64 {
        let next = match &self.numbers {
            Numbers::Window(cursor) => cursor.seal(),
            Numbers::File(file) => {
                file.end();
                file.cursor().next()
            }
        };
        if next <= self.first { NO_ID } else { last_ms(&self.scale, self.counter_bits, next - 1) }
    }
}
