//! An ID beside those of other crates, first with a clock that stands still and then with a real one: `cargo bench -p
//! flakeforge-core --bench peers`.
//!
//! A sample is one burst at the start of a millisecond, with fewer IDs than any of them can generate in it.

mod common;

use std::hint::spin_loop;
use std::time::{SystemTime, UNIX_EPOCH};

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use ferroid::generator::{AtomicSnowflakeGenerator, BasicSnowflakeGenerator, Poll};
use ferroid::time::TimeSource;

use common::Frozen;
use endless::Endless;

const BURST: usize = 3_000;

fn main() {
    divan::main();
}

impl TimeSource<u64> for Frozen {
    fn current_millis(&self) -> u64 {
        0
    }
}

mod endless {
    ferroid::define_snowflake_id!(
        /// As in ferroid's own benchmark: with a clock that stands still it never waits.
        Endless, u64,
        reserved: 1,
        timestamp: 0,
        machine_id: 0,
        sequence: 63
    );
}

#[divan::bench_group(name = "clock stands still")]
mod still {
    use super::*;
    use common::ENDLESS;
    use flakeforge_core::generator::cursor::Cursor;

    /// For all threads of a process.
    #[divan::bench]
    fn flakeforge(bencher: Bencher) {
        let cursor = Cursor::new(u64::MAX);
        in_bursts(bencher, || cursor.claim(1, black_box(&ENDLESS), &mut Frozen).is_ok());
    }

    /// For all threads of a process.
    #[divan::bench]
    fn ferroid_atomic(bencher: Bencher) {
        let generator = AtomicSnowflakeGenerator::<Endless, _>::new(0, Frozen);
        in_bursts(bencher, || matches!(generator.poll_id(), Poll::Ready { .. }));
    }

    /// For one thread.
    #[divan::bench]
    fn ferroid_basic(bencher: Bencher) {
        let generator = BasicSnowflakeGenerator::<Endless, _>::new(0, Frozen);
        in_bursts(bencher, || matches!(generator.poll_id(), Poll::Ready { .. }));
    }
}

#[divan::bench_group(name = "real clock")]
mod real {
    use super::*;
    use common::{calibrate, flake, generator_of};
    use ferroid::id::SnowflakeTwitterId;
    use ferroid::time::MonotonicClock;
    use flakeforge_core::generator::clock::TickClock;

    /// Reads the cycle counter for each ID.
    #[divan::bench]
    fn flakeforge(bencher: Bencher) {
        let mut generator = generator_of(&flake());
        calibrate(&mut TickClock::system(flake().scale()));
        in_bursts(bencher, || generator.next_id().is_ok());
    }

    /// Reads a time that a thread writes, 1,000 times a second.
    #[divan::bench]
    fn ferroid_atomic(bencher: Bencher) {
        let generator = AtomicSnowflakeGenerator::<SnowflakeTwitterId, _>::new(5, MonotonicClock::<1>::default());
        in_bursts(bencher, || matches!(generator.poll_id(), Poll::Ready { .. }));
    }

    /// Reads the system's clock for each ID.
    #[divan::bench]
    fn snowflaked(bencher: Bencher) {
        let generator = snowflaked::sync::Generator::new(5);
        in_bursts(bencher, || generator.generate::<u64>() > 0);
    }
}

/// Measures bursts of calls that return whether they generated an ID. A call is repeated until it does: a thread may write the
/// time late.
fn in_bursts(bencher: Bencher, mut call: impl FnMut() -> bool) {
    bencher.counter(ItemsCount::new(BURST)).with_inputs(wait_for_millisecond).bench_local_values(|()| {
        for _ in 0..BURST {
            while !call() {
                spin_loop();
            }
        }
    });
}

fn wait_for_millisecond() {
    let millisecond = || SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_millis();
    let now = millisecond();
    while millisecond() == now {
        spin_loop();
    }
}
