use super::*;

/// As callers use it: any error in a box that moves between threads.
fn text(refusal: Refusal) -> String {
    let error: Box<dyn Error + Send + Sync> = refusal.into();
    error.to_string()
}

#[test]
fn each_refusal_names_the_problem_with_its_values() {
    let [path, theirs, ours, why] = ["ids", "epoch 0", "epoch 5", "is damaged"].map(str::to_owned);
    let (behind_ms, retry_after_ms) = (10.0, 4.5);
    let clash = Refusal::Clash { theirs: "a lease".to_owned(), ours: "the file ids".to_owned() };
    let texts = [
        (
            Refusal::Overflow { retry_after_ms },
            "the counter of this tick is exhausted: the next ID is possible in 4.5 ms",
        ),
        (
            Refusal::ClockBackwards { behind_ms, retry_after_ms },
            "the clock is 10 ms behind the last ID: the next one is possible in 4.5 ms",
        ),
        (Refusal::TimeRange { timestamp_ms: -1.0 }, "the layout has no bits for the Unix time -1 ms"),
        (Refusal::WindowEnd, "the window has ended, or the cursor was retired"),
        (Refusal::Failed, "the storage of the cursor has failed"),
        (Refusal::NotExact, "the layout's IDs exceed 2^53 within the next ten years"),
        (Refusal::NoLongerExact, "the layout's IDs have exceeded 2^53"),
        (
            clash,
            "the node already takes its numbers from a lease in this process, so it cannot take them from the file ids, too",
        ),
        (
            Refusal::Mismatch { path: path.clone(), theirs, ours },
            "ids was created with other options: it has epoch 0, and this one epoch 5. Use the same options, or another path and another node number",
        ),
        (Refusal::File { path, why }, "ids is damaged"),
        (
            Refusal::Exhausted { retry_at_ms: 1_700_000_000_250 },
            "no slot of the group is free: try again at the Unix time 1700000000250 ms",
        ),
        (Refusal::Destroyed, "the group was destroyed"),
        (Refusal::Key(15), "a key must have 16, 24 or 32 bytes, but has 15"),
        (Refusal::Tweak(257), "a tweak must have 0 to 256 bytes, but has 257"),
    ];
    for (refusal, expected) in texts {
        assert_eq!(text(refusal), expected);
    }
}
