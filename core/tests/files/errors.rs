//! What the errors of files say.

use std::error::Error;
use std::path::Path;

use flakeforge_core::files::error::FileError;
use flakeforge_core::files::error::SlotError;
use flakeforge_core::files::process_registry::NotShared;
use flakeforge_core::generator::registry::Clash;

/// As users have it: any error in a box that goes from thread to thread.
fn text(error: impl Error + Send + Sync + 'static) -> String {
    error.to_string()
}

fn damaged() -> FileError {
    FileError::new(Path::new("ids"), "is damaged")
}

#[test]
fn a_file_is_named_with_what_is_wrong() {
    assert_eq!(text(damaged()), "ids is damaged");
    let (path, theirs, ours) = ("ids".to_owned(), "epoch 0".to_owned(), "epoch 5".to_owned());
    assert_eq!(
        text(FileError::Mismatch { path, theirs, ours }),
        "ids was made with other options: it has epoch 0, and this one epoch 5. Use the same options, or another path"
    );
}

#[test]
fn a_cursor_that_is_not_shared_says_what_its_cause_says() {
    let clash = Clash { theirs: "a lease".to_owned(), ours: "the file ids".to_owned() };
    assert_eq!(text(NotShared::from(clash.clone())), text(clash));
    assert_eq!(text(NotShared::from(damaged())), text(damaged()));
}

#[test]
fn a_group_says_why_it_gives_no_slot() {
    assert_eq!(text(SlotError::from(damaged())), text(damaged()));
    assert_eq!(
        text(SlotError::Exhausted { retry_at_ms: 1_700_000_000_250 }),
        "no slot of the group is free: look again at the Unix time 1700000000250 ms"
    );
    assert_eq!(text(SlotError::Destroyed), "the group was destroyed");
}
