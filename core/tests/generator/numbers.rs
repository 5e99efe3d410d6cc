//! Windows of milliseconds as numbers of a cursor: none outside the window, none left out, none twice.

use flakeforge_core::generator::cursor::LAST;
use flakeforge_core::generator::numbers::Numbers;
use flakeforge_core::layout::Layout;
use flakeforge_core::layout::timescale::Timescale;
use proptest::prelude::*;

fn of(scale: Timescale, counter_bits: u32) -> Numbers {
    Numbers::new(scale, counter_bits)
}

fn scale(epoch_ms: i64, tick_ns: u64) -> Timescale {
    Timescale::of_all_ticks(epoch_ms, tick_ns).with_ticks(0, (1 << 42) - 1)
}

#[test]
fn windows_of_ticks_of_a_millisecond() {
    assert_eq!(of(scale(0, 1_000_000), 12).window(5, 7), Some(5 << 12..=(7 << 12) + 4095));
    assert_eq!(of(scale(5, 1_000_000), 0).window(5, 5), Some(0..=0));
    assert_eq!(of(scale(0, 1_000_000), 12).window(5, 4), None);
}

#[test]
fn how_far_ahead_a_time_is() {
    const S: u64 = 1_000_000_000;
    let of = |tick_ns| of(scale(0, tick_ns), 8);
    assert_eq!(of(S).ahead_of(3 << 8 | 7, 5 * S), 9 << 8 | 255, "to the end of a tick, if it is short");
    assert_eq!(of(10 * S).ahead_of(3 << 8 | 7, 5 * S), 3 << 8 | 134, "half of a tick of twice the time");
    assert_eq!(of(3600 * S).ahead_of(3 << 8 | 7, 5 * S), 3 << 8 | 22, "a 16th of a very long one");
    assert_eq!(of(3600 * S).ahead_of(3 << 8 | 255, S), (3 << 8 | 255) + 2, "also into the next");
    assert_eq!(Numbers::new(scale(0, 3600 * S), 0).ahead_of(7, S), 7, "itself at least");
    assert_eq!(of(10 * S).ahead_of(u64::MAX - 1, 5 * S), LAST);
}

#[test]
fn windows_of_long_ticks_are_rounded_inwards() {
    let ten = scale(0, 10_000_000);
    assert_eq!(of(ten, 8).window(11, 39), Some(2 << 8..=(3 << 8) + 255));
    assert_eq!(of(ten, 8).window(20, 38), Some(2 << 8..=(2 << 8) + 255));
    assert_eq!(of(ten, 8).window(11, 28), None, "no tick lies in it entirely");
    assert_eq!(of(ten, 8).end_ms(2 << 8 | 7), 29);
}

#[test]
fn windows_of_short_ticks_have_all_of_them() {
    let short = scale(0, 100);
    assert_eq!(of(short, 0).window(5, 5), Some(50_000..=59_999));
    assert_eq!((of(short, 0).end_ms(50_000), of(short, 0).end_ms(59_999)), (5, 5));
}

#[test]
fn windows_end_with_the_layouts_time() {
    let late = Timescale::of_all_ticks(1000, 1_000_000).with_ticks(2, 9);
    assert_eq!(of(late, 0).window(0, 5000), Some(2..=9));
    assert_eq!(of(late, 0).window(0, 999), None);
    assert_eq!(of(late, 0).window(1010, 5000), None);
    assert_eq!(of(late, 0).window(i64::MIN, i64::MAX), Some(2..=9));
}

#[test]
fn the_last_ticks_of_64_bits_end_with_the_last_number() {
    for bits in [0, 1, 12, 53, 63] {
        let numbers = of(scale(0, 1_000_000), bits);
        let last_tick = u64::MAX >> bits;
        assert_eq!(numbers.last_of(last_tick), LAST, "{bits} bits");
        assert_eq!(numbers.first_of(last_tick), (last_tick << bits).min(LAST));
        assert_eq!(numbers.last_of(last_tick - 1), (last_tick << bits).wrapping_sub(1).min(LAST));
        for beyond in [last_tick.saturating_add(1), u64::MAX] {
            assert_eq!((numbers.first_of(beyond), numbers.last_of(beyond)), (LAST, LAST));
        }
    }
}

proptest! {
    /// By definition, a window contains a tick if it contains its first and its last nanosecond.
    #[test]
    fn a_window_has_exactly_the_ticks_that_lie_in_it(
        epoch_ms in -50i64..50, tick_ns in 1u64..30_000_000, lo in -100i64..300, length in -2i64..200,
    ) {
        let scale = scale(epoch_ms, tick_ns);
        let hi = lo + length;
        let inside = |tick: u64| {
            scale.start_of(tick) >= i128::from(lo) * 1_000_000
                && scale.start_of(tick) + i128::from(tick_ns) <= i128::from(hi + 1) * 1_000_000
        };
        match of(scale, 3).window(lo, hi) {
            Some(window) => {
                let (first, last) = window.into_inner();
                prop_assert!(first & 7 == 0 && last & 7 == 7 && first < last);
                prop_assert!(inside(first >> 3) && inside(last >> 3) && !inside((last >> 3) + 1));
                prop_assert!(first == 0 || !inside((first >> 3) - 1));
                prop_assert!(of(scale, 3).end_ms(last) <= hi);
                // A holder that starts after the last number used starts at a later tick.
                let next = of(scale, 3).window(of(scale, 3).end_ms(first) + 1, hi);
                prop_assert!(next.is_none_or(|next| *next.start() > first | 7));
            }
            None => {
                let from = (i128::from(lo - epoch_ms) * 1_000_000 / i128::from(tick_ns)).max(0) as u64;
                prop_assert!((from.saturating_sub(1)..from + 3).all(|tick| !inside(tick)));
            }
        }
    }
}

#[test]
fn milliseconds_are_rounded_inwards() {
    const MS: i128 = 1_000_000;
    for name in ["flake", "sonyflake", "chronicle", "chronicle-micros", "discord"] {
        let layout = Layout::named(name).unwrap();
        let numbers = Numbers::of(&layout);
        let start_of = |number: u64| layout.scale().start_of(numbers.tick(number));
        let now = numbers.first_of(numbers.now());
        for number in [0, 1, now, now + 1, now + 12_345, now + 9_999_999] {
            let (first, last) = (i128::from(numbers.first_ms(number)), i128::from(numbers.last_ms(number)));
            assert!(first * MS >= start_of(number), "{name}: {number} is not after the start of {first}");
            assert!(
                (first - 1) * MS < start_of(number) + i128::from(layout.scale().tick_ns()),
                "{name}: {first} is the first"
            );
            let end = (last + 1) * MS; // the end of the last millisecond
            assert!(end <= start_of(number + 1), "{name}: {number} covers all of {last}");
            assert!(end + MS > start_of(number + 1), "{name}: {last} is the last");
            let next = numbers.after_ms(numbers.first_ms(number));
            assert!(start_of(next) >= (first + 1) * MS, "{name}: {next} is after {first}");
            assert!(next == 0 || start_of(next - 1) < (first + 1) * MS, "{name}: {next} is the first after {first}");
            let (end, holds) = (start_of(number) + i128::from(layout.scale().tick_ns()) - 1, numbers.end_ms(number));
            assert_eq!(end.div_euclid(MS), i128::from(holds), "{name}: the tick of {number} ends in {holds}");
        }
    }
}
