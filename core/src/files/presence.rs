//! Whether a live process has a file open. One word of its page asks, and another one answers.
//!
//! An answer proves that the machine has not crashed since the file was entered, because the process that answers has entered
//! it and is alive. A system lock would not prove that: a process that is about to enter holds it, too, and may die before it
//! has entered; other programs lock files; and on Windows a lock keeps other processes from reading the file.

use crate::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, SeqCst},
};

/// The words of a page for this purpose. All are 0 in a new file.
///
/// No answer proves nothing: the processes that have the file open may be stopped, or of a version that does not answer.
/// Words that were in the page before the question do not count as an answer.
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

    /// Asks whether a process is there; `None` if no answer is expected.
    pub fn ask(&self) -> Option<Question> {
        if self.users.load(Relaxed) == 0 {
            return None;
        }
        let answered = self.answered.load(SeqCst);
        let question = self.asked.fetch_add(1, SeqCst).wrapping_add(1);
        // If it was answered before it was asked, the words are damaged.
        (question > answered).then_some(Question(question))
    }

    /// Whether a process has answered since.
    pub fn is_answered(&self, question: Question) -> bool {
        self.answered.load(SeqCst) >= question.0
    }

    /// Called after a timeout: the counted processes have ended, or are stopped.
    pub fn forget_users(&self) {
        self.users.store(0, Relaxed);
    }

    /// What each process that has entered does a few times per second: it answers all questions and makes sure that it is
    /// counted.
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
