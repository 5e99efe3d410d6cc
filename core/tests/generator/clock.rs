//! How instants become ticks, and how long a tick may be trusted.

use flakeforge_core::generator::clock::{Clock, TickClock, system_ns};
use flakeforge_core::generator::cycles;
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::layout::timescale::{OutOfRange, Timescale, to_ms};
use std::time::{Duration, Instant};

const MS: i128 = 1_000_000;
const FLAKE: Timescale = Timescale::of_all_ticks(0, 1_000_000).with_ticks(0, (1 << 42) - 1);

#[test]
fn the_first_and_the_last_tick() {
    let scale = Timescale::of_all_ticks(1000, 10_000_000).with_ticks(0, 99);
    assert_eq!(scale.tick_of(1000 * MS), Ok(0));
    assert_eq!(scale.tick_of(1010 * MS - 1), Ok(0));
    assert_eq!(scale.tick_of(2000 * MS - 1), Ok(99));
    assert_eq!(scale.start_of(99), 1990 * MS);
    for unix_ns in [1000 * MS - 1, 2000 * MS, i128::from(i64::MIN), i128::from(u64::MAX) * 1000] {
        assert_eq!(scale.tick_of(unix_ns), Err(OutOfRange { unix_ns }));
    }
}

#[test]
fn whole_milliseconds_stay_whole() {
    for ms in (1_795_182_620_000..1_795_182_630_000i64).chain(-1000..1000) {
        assert_eq!(to_ms(i128::from(ms) * MS), ms as f64);
    }
    assert_eq!(to_ms(-1_500_000), -1.5);
    assert_eq!(to_ms(1_640_700_422_954_100_100), 1_640_700_422_954.1);
}

#[test]
fn every_instant_stays_in_its_millisecond() {
    for ms in [-(1i64 << 40), -86_400_001, -1, 0, 1, 1 << 40, 1_700_000_000_000, 8_639_999_999_999_999] {
        for ns in [0, 1, 500_000, 999_800, 999_900, 999_939, 999_999] {
            assert_eq!(to_ms(i128::from(ms) * MS + ns).floor(), ms as f64, "{ms} ms and {ns} ns");
        }
    }
    assert_eq!(to_ms(1_700_000_000_000_999_900), 1_700_000_000_001f64.next_down());
}

#[test]
fn an_epoch_before_1970() {
    let scale = Timescale::of_all_ticks(-1000, 1_000_000).with_ticks(0, FLAKE.last_tick());
    assert_eq!(scale.tick_of(-1), Ok(999));
    assert_eq!(scale.tick_of(0), Ok(1000));
}

#[test]
fn times_beyond_64_bits_of_nanoseconds() {
    let scale = Timescale::of_all_ticks(0, 10_000_000_000).with_ticks(0, u64::MAX >> 1);
    assert_eq!(scale.tick_of(1 << 70), Ok(((1i128 << 70) / 10_000_000_000) as u64));
}

#[test]
fn instants_beyond_128_bits_are_the_last_one() {
    let scale = Timescale::of_all_ticks(i64::MAX, u64::MAX);
    assert_eq!(scale.start_of(u64::MAX), i128::MAX);
    assert_eq!(Numbers::new(scale, 0).first_ms(u64::MAX), i64::MAX);
}

#[test]
#[should_panic(expected = "this clock follows the system's")]
fn the_time_of_a_system_clock_is_not_set() {
    TickClock::system(FLAKE).set(5);
}

#[test]
fn a_given_clock_is_never_trusted() {
    let mut clock = TickClock::given(FLAKE);
    for ms in [5, 6, 3, 3] {
        clock.set(ms * MS);
        assert_eq!(clock.trusted(), Ok(ms as u64));
    }
    assert_eq!((clock.highest(), clock.steps()), (6, 1), "one step back; standing still does not count");
    clock.set(-1);
    assert_eq!(clock.trusted(), Err(OutOfRange { unix_ns: -1 }));
}

/// The trusted tick may be late by one tick, as designed, but is never early. It is compared with a clock reading before it
/// and one after it. If the thread is suspended in between, the check is weaker but not wrong.
#[test]
fn a_trusted_tick_is_true_or_one_late() {
    let mut clock = TickClock::system(FLAKE);
    let started = Instant::now();
    let mut trusted = 0u64;
    // If the CPU has a steady counter, most calls do not read the clock.
    let is_enough = |trusted| trusted > 1000 || cycles::per_ms(cycles::now()) == 0;
    while started.elapsed() < Duration::from_millis(200) || !is_enough(trusted) {
        assert!(started.elapsed() < Duration::from_mins(1), "only {trusted} calls were answered out of memory");
        let before = FLAKE.tick_of(system_ns()).unwrap();
        let reads = clock.last_ns();
        let tick = clock.trusted().unwrap();
        let after = FLAKE.tick_of(system_ns()).unwrap();
        assert!(tick + 1 >= before && tick <= after, "{tick} is not in {before}…{after}");
        trusted += u64::from(clock.last_ns() == reads);
    }
}
