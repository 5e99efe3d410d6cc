//! Questions to the processes that have a file open, and their answers.

use flakeforge_core::files::presence::Presence;

#[test]
fn the_next_process_that_looks_answers_a_question() {
    let presence = Presence::default();
    assert!(presence.ask().is_none(), "no process is there, so none has to wait");
    presence.arrive();
    let (one, other) = (presence.ask().unwrap(), presence.ask().unwrap());
    assert!(!presence.is_answered(one) && !presence.is_answered(other));
    presence.answer();
    assert!(presence.is_answered(one) && presence.is_answered(other));
    assert!(!presence.is_answered(presence.ask().unwrap()), "an answer is for what was asked before");
}

#[test]
fn processes_that_leave_are_not_waited_for() {
    let presence = Presence::default();
    presence.arrive();
    presence.arrive();
    presence.leave();
    assert!(presence.ask().is_some());
    presence.leave();
    assert!(presence.ask().is_none());
    presence.leave(); // a count from before a crash may have any value
    assert!(presence.ask().is_none());
}

#[test]
fn a_process_that_was_too_slow_is_asked_again() {
    let presence = Presence::default();
    presence.arrive();
    presence.forget_users();
    assert!(presence.ask().is_none());
    presence.answer();
    assert!(presence.ask().is_some());
}
