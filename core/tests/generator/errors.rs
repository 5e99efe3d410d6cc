//! What the errors of cursors and generators say.

use std::error::Error;

use flakeforge_core::generator::Refusal;
use flakeforge_core::generator::cursor::Refused;
use flakeforge_core::generator::registry::Clash;
use flakeforge_core::layout::timescale::OutOfRange;

/// As users have it: any error in a box that goes from thread to thread.
fn text(error: impl Error + Send + Sync + 'static) -> String {
    error.to_string()
}

#[test]
fn a_cursor_says_why_it_gave_no_number() {
    assert_eq!(text(Refused::PastLimit), "the next number is past the cursor's limit");
    assert_eq!(
        text(Refused::Behind { next: 8193, base: 8194, now: 1 }),
        "the next free number is 8193, and the first one that could be taken is 8194: that is too far ahead of the clock, \
         which shows tick 1"
    );
    let out = OutOfRange { unix_ns: -7 };
    assert_eq!(text(Refused::from(out)), text(out));
}

#[test]
fn a_generator_says_why_it_made_no_id_and_when_it_can() {
    let (behind_ms, retry_after_ms) = (10.0, 4.5);
    assert_eq!(
        text(Refusal::Overflow { retry_after_ms }),
        "the counter of this tick is used up: the next ID can be made in 4.5 ms"
    );
    assert_eq!(
        text(Refusal::ClockBackwards { behind_ms, retry_after_ms }),
        "the clock is 10 ms behind the last ID: the next one can be made in 4.5 ms"
    );
    assert_eq!(text(Refusal::TimeRange { timestamp_ms: -1.0 }), "the layout has no bits for the Unix time -1 ms");
    assert_eq!(text(Refusal::WindowEnd), "the window is used up, or the cursor was sealed");
    assert_eq!(text(Refusal::Failed), "what keeps the cursor has failed");
    assert_eq!(text(Refusal::NotExact), "the layout's IDs do not stay below 2^53 for the next ten years");
    assert_eq!(text(Refusal::NoLongerExact), "the layout's IDs are no longer below 2^53");
}

#[test]
fn a_clash_names_both_users_of_a_node() {
    let clash = Clash { theirs: "a lease".to_owned(), ours: "the file ids".to_owned() };
    assert_eq!(
        text(clash),
        "the node already takes its numbers from a lease in this process, so it cannot take them from the file ids, too"
    );
}
