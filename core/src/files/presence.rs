//! Whether a living process has a file open. One word in its page asks this, and another one answers.
//!
//! An answer proves that the machine has not crashed since the file was entered: the process that answers has entered
//! it and is alive. A lock of the system would not prove that: a process that is about to enter holds a lock, too, and
//! may die before it has entered; other programs lock files; and on Windows a lock keeps everybody else from reading
//! the file.
//!
//! No answer proves nothing: the processes that have the file open may be stopped, or of a version that does not
//! answer.
//!
//! This file must never accept as an answer what was in the page before the question.

use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

/// The words of a page that this uses. All are 0 in a new file.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Presence {
    /// how many processes have the file open: only a hint, because killed processes stay counted
    users: AtomicU64,
    asked: AtomicU64,
    answered: AtomicU64,
}

/// A question that was asked.
#[derive(Clone, Copy, Debug)]
pub struct Question(u64);

impl Presence {
    /// Counts a process that has entered.
    pub fn arrive(&self) {
        self.users.fetch_add(1, Relaxed);
    }

    /// Stops counting it.
    pub fn leave(&self) {
        let _ = self.users.fetch_update(Relaxed, Relaxed, |users| users.checked_sub(1));
    }

    /// Asks whether anybody is there; `None` if nobody is expected to answer.
    pub fn ask(&self) -> Option<Question> {
        if self.users.load(Relaxed) == 0 {
            return None;
        }
        let answered = self.answered.load(SeqCst);
        let question = self.asked.fetch_add(1, SeqCst).wrapping_add(1);
        // If it was answered before it was asked, the words are damaged.
        (question > answered).then_some(Question(question))
    }

    /// Whether somebody has answered since.
    pub fn is_answered(&self, question: Question) -> bool {
        self.answered.load(SeqCst) >= question.0
    }

    /// Nobody answered in time: the processes that are counted are gone, or stopped.
    pub fn forget_users(&self) {
        self.users.store(0, Relaxed);
    }

    /// What each process that has entered does a few times a second: it answers all questions, and is counted at least
    /// once.
    pub fn answer(&self) {
        if self.users.load(Relaxed) == 0 {
            self.users.fetch_max(1, Relaxed);
        }
        let asked = self.asked.load(SeqCst);
        if asked > self.answered.load(SeqCst) {
            self.answered.fetch_max(asked, SeqCst);
        }
    }
}
