//! What the benchmarks share: clocks, a rule and generators that never have to wait.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use flakeforge_core::generator::clock::{Clock, TickClock};
use flakeforge_core::generator::cursor::{Cursor, OwnCursor, Rule, Start};
use flakeforge_core::generator::{Generator, Knobs};
use flakeforge_core::layout::Layout;
use flakeforge_core::layout::timescale::OutOfRange;

/// A clock without cost, to measure the rest.
pub struct Frozen;

impl Clock for Frozen {
    fn trusted(&mut self) -> Result<u64, OutOfRange> {
        Ok(1)
    }
    fn read(&mut self) -> Result<u64, OutOfRange> {
        Ok(1)
    }
}

pub const ENDLESS: Rule =
    Rule { counter_bits: 12, seq_mask: 4095, max_ahead: u64::MAX, start: Start::ZERO, last: u64::MAX };

pub fn flake() -> Layout {
    Layout::named("flake").expect("the table has it")
}

/// A generator that never has to wait.
pub fn generator_of(layout: &Layout) -> Generator {
    let knobs =
        Knobs { seq_mask: layout.counter_max(), max_ahead_ms: f64::INFINITY, is_start_random: false, prefetch: None };
    let node = layout.place_node(5);
    Generator::new(
        TickClock::system(layout.scale()),
        Arc::new(OwnCursor::from(Cursor::new(u64::MAX))),
        layout,
        node,
        &knobs,
    )
}

/// The cycle counter is measured over the first 20 ms of use.
pub fn calibrate(clock: &mut TickClock) {
    for _ in 0..3 {
        let _ = clock.read();
        thread::sleep(Duration::from_millis(15));
    }
}
