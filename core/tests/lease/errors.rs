//! What the errors of leases and of the rules say.

use flakeforge_core::lease::grants::record::Unreadable;
use flakeforge_core::lease::grants::task::StepError;
use flakeforge_core::release::Release;

use crate::store::config;

#[test]
fn a_record_that_cannot_be_read_says_why() {
    assert_eq!(
        Unreadable::Newer { version: 2, needs: None }.to_string(),
        "it has version 2 of the format, and this version of flakeforge knows version 1"
    );
    let needs = Some(Release { major: 1, minor: 4 });
    assert_eq!(
        Unreadable::Newer { version: 2, needs }.to_string(),
        "it has version 2 of the format, which needs flakeforge 1.4, and this version of flakeforge knows version 1"
    );
    assert_eq!(Unreadable::Damaged.to_string(), "it was cut off or edited, or is something else");
}

#[test]
fn a_step_says_why_it_did_nothing() {
    let texts = [
        (
            StepError::Quiet { until: 9, now: 7 },
            "the store may have lost writes, so nothing is granted until 9 (its clock shows 7)",
        ),
        (
            StepError::Exhausted { retry_at: 9, now: 7 },
            "no slot is free: the next one may be at 9 (the store's clock shows 7)",
        ),
        (
            StepError::Mismatch(config(4)),
            "the group was made with another config: 4 slots, ttl 30000 ms, skew 5000 ms, durable false, for 'flake'",
        ),
        (StepError::Durable(true), "the counter was made with durable true, and this member says otherwise"),
        (
            StepError::Skew { by: -6000, bound: 5000 },
            "the client's clock is -6000 ms ahead of the store's, and 5000 ms either way are allowed",
        ),
        (StepError::Destroyed, "the group was destroyed"),
        (StepError::Absent, "the group has no record"),
        (
            StepError::Record("group".to_owned(), Unreadable::Damaged),
            "the record 'group' cannot be read: it was cut off or edited, or is something else",
        ),
        (StepError::Gone, "the counter does not exist, or was lost"),
        (StepError::Behind, "the store may have lost blocks of the counter"),
        (StepError::Full(u64::MAX), "the counter is at 18446744073709551615, and the block does not fit into 64 bits"),
        (StepError::Config("its skew is negative"), "no group can have this config: its skew is negative"),
        (StepError::Nonsense("a time that no clock shows"), "the store answered a time that no clock shows"),
    ];
    for (error, expected) in texts {
        assert_eq!(error.to_string(), expected);
    }
}
