//! The holder's side of a lease: a state machine that says what to ask the store and what to do with its answers.
//!
//! A lease is a slot and a **window** of time. The store promises that windows of one slot never overlap, and the
//! cursor refuses everything past its window's end, so uniqueness rests on no clock and on no timer of this file:
//! they decide only how soon the next window comes. Therefore every step may come early, late or, after the process
//! was stopped, hours late.
//!
//! The driver hands in events and carries out the actions in their order. It knows clients, timers and the clock;
//! this file knows none of them, so that a model checker can drive it through every order of events.
//!
//! - Each `Acquire`, `Renew`, `Release` and `GiveBack` is one request. The driver answers each with exactly one event,
//!   and sends the next event only after the actions of the one before.
//! - Only the answer to the request that is under way is heard. Whatever else comes (an answer that was given up, one
//!   from before the seal) changes nothing: a window that nobody opens harms nobody.
//! - `Open` comes once the local clock has reached the window, so an attached generator is one that can make IDs.
//!
//! This file must never: open or raise a window that the store did not grant to the present owner; forget to seal
//! before it tells the store that a slot is not used any more; give a window back as unused that was ever opened.

mod words;

pub use words::{Action, Config, Event, Failure, Grant, News, Owner, State, Why};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// nothing is held or sought
    Idle,
    /// a slot is sought
    Seeking {
        owner: Owner,
        /// when to ask
        at: i64,
        failures: u16,
    },
    /// a slot is held; the cursor is open once the local clock has reached the window
    Held { grant: Grant, open: bool, renew_at: i64, failures: u16 },
    /// the group has ended
    Destroyed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Acquire,
    Renew,
    Release,
}

/// What the store was asked and has not yet answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Request {
    kind: Kind,
    owner: Owner,
    sent_at: i64,
}

/// What a step has at hand.
struct Turn {
    now: i64,
    fresh: Owner,
    actions: Vec<Action>,
}

impl Turn {
    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Some part of `span`, so that a thousand holders do not all ask in the same millisecond.
    fn part_of(&self, span: i64) -> i64 {
        (self.fresh % (span.max(0) as u128 + 1)) as i64
    }

    /// `span` give or take 10 %.
    fn about(&self, span: i64) -> i64 {
        span - span / 10 + self.part_of(span / 10 * 2)
    }

    /// How long to wait after a failure, of which there were so many before: until the store said that it makes
    /// sense, but never longer than one interval, since others may release a slot and clocks may be corrected.
    fn delay(&self, config: &Config, failure: Failure, failures: u16) -> i64 {
        match failure {
            Failure::Quiet { until: end, store_now } | Failure::Exhausted { retry_at: end, store_now } => {
                let rest = end.saturating_sub(store_now).saturating_add(self.part_of(config.interval() / 10));
                rest.clamp(config.back_off(0), config.interval())
            }
            _ => self.about(config.back_off(failures)),
        }
    }
}

/// The state of one holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lease {
    config: Config,
    phase: Phase,
    request: Option<Request>,
    /// until when those who called `attach` wait, if any do
    waiting: Option<i64>,
    /// an open slot was lost: there is no giving up until there is another
    recovering: bool,
}

impl Config {
    /// How often a window is prolonged, and the longest time between two looks at the store.
    fn interval(&self) -> i64 {
        (self.ttl_ms / 3).max(1)
    }

    /// The longest time to the next look: one further away was reckoned by a clock that has been set back since.
    fn longest_wait(&self) -> i64 {
        self.interval() + self.interval() / 10
    }

    /// How long to wait after so many failures in a row.
    fn back_off(&self, failures: u16) -> i64 {
        let longest = (self.ttl_ms / 6).max(1);
        100.min(longest).saturating_mul(1 << failures.min(16)).min(longest)
    }
}

impl Lease {
    /// Holds nothing and seeks nothing.
    pub fn new(config: Config) -> Self {
        Self { config, phase: Phase::Idle, request: None, waiting: None, recovering: false }
    }

    /// What the generator is.
    pub fn state(&self) -> State {
        match self.phase {
            Phase::Held { open: true, .. } => State::Attached,
            Phase::Destroyed => State::Destroyed,
            _ => State::Detached,
        }
    }

    /// The slot and the window of an attached generator.
    pub fn held(&self) -> Option<Grant> {
        match self.phase {
            Phase::Held { grant, open: true, .. } => Some(grant),
            _ => None,
        }
    }

    /// Whether a slot was lost and a new one is being sought: IDs will flow again without another `attach`.
    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Whether a renewal is under way.
    pub fn is_renewing(&self) -> bool {
        self.request.is_some_and(|request| request.kind == Kind::Renew)
    }

    /// Whether the last renewal failed, or has gone unanswered for long enough to be called so: past the window's
    /// end there is nothing to wait for then.
    pub fn renewals_fail(&self, now: i64) -> bool {
        let Phase::Held { failures, .. } = self.phase else { return false };
        let unanswered =
            |request: Request| request.kind == Kind::Renew && now - request.sent_at > self.config.interval();
        failures > 0 || self.request.is_some_and(unanswered)
    }

    /// Whether no answer of the store is awaited. After a `Detach` the slot is back in the store's hands by then.
    pub fn is_settled(&self) -> bool {
        self.request.is_none()
    }

    /// Takes an event at the local time `now` (Unix ms); returns what to do. `fresh` is a random token that was never
    /// used; it names the acquisition that may begin here, and spreads the times at which holders ask.
    pub fn step(&mut self, now: i64, event: Event, fresh: Owner) -> Vec<Action> {
        let mut turn = Turn { now, fresh, actions: Vec::new() };
        // A clock that was set back must not make anybody wait longer than agreed.
        self.waiting = self.waiting.map(|until| until.min(now.saturating_add(self.config.wait_ms)));
        self.take(event, &mut turn);
        self.open(&mut turn);
        self.ask(&mut turn);
        if let Some(at) = self.next_look() {
            turn.act(Action::Wait { at });
        }
        turn.actions
    }

    fn take(&mut self, event: Event, turn: &mut Turn) {
        match event {
            Event::Time => {}
            Event::Attach => self.attach(turn),
            Event::Detach => self.detach(turn),
            Event::Destroy if self.phase == Phase::Destroyed => {}
            Event::Destroy => turn.act(Action::End),
            Event::Ended => self.destroyed(turn),
            Event::Granted(grant) if self.answers(Kind::Acquire, grant.owner) => self.granted(grant, turn),
            Event::Renewed { owner, lo, hi } if self.answers(Kind::Renew, owner) => self.renewed(lo, hi, turn),
            Event::Lost { owner } if self.answers(Kind::Renew, owner) => self.lost(turn),
            Event::Destroyed { owner } if self.awaits(owner) => self.destroyed(turn),
            Event::Released { owner } if self.answers(Kind::Release, owner) => self.request = None,
            Event::Failed { owner, failure } if self.awaits(owner) => self.failed(failure, turn),
            _ => {} // nobody waits for it any more
        }
    }

    fn answers(&self, kind: Kind, owner: Owner) -> bool {
        self.request.is_some_and(|request| request.kind == kind && request.owner == owner)
    }

    fn awaits(&self, owner: Owner) -> bool {
        self.request.is_some_and(|request| request.owner == owner)
    }

    fn attach(&mut self, turn: &mut Turn) {
        match self.phase {
            Phase::Destroyed => return turn.act(Action::Reject(Why::Destroyed)),
            Phase::Held { open: true, .. } => return turn.act(Action::Resolve),
            Phase::Idle => {
                // An acquisition given up a moment ago is as good as a new one, while its answer is on the way.
                let given_up = self.request.filter(|request| request.kind == Kind::Acquire);
                self.seek(given_up.map_or(turn.fresh, |request| request.owner), turn);
            }
            _ => {}
        }
        self.waiting.get_or_insert(turn.now.saturating_add(self.config.wait_ms));
    }

    fn seek(&mut self, owner: Owner, turn: &Turn) {
        self.phase = Phase::Seeking { owner, at: turn.now, failures: 0 };
    }

    fn detach(&mut self, turn: &mut Turn) {
        match self.phase {
            Phase::Destroyed => return,
            Phase::Held { grant: Grant { owner, slot, .. }, open, .. } => {
                if open {
                    turn.act(Action::Seal);
                    turn.act(Action::Tell(News::Detached));
                    turn.act(Action::Release { owner, slot });
                } else {
                    turn.act(Action::GiveBack { owner, slot });
                }
                // Beside a renewal that may be on its way: whichever the store sees first, the slot ends up free.
                self.request = Some(Request { kind: Kind::Release, owner, sent_at: turn.now });
            }
            _ => {}
        }
        self.stop(Why::Detached, turn);
    }

    /// Nothing is held or sought from here on.
    fn stop(&mut self, why: Why, turn: &mut Turn) {
        self.phase = Phase::Idle;
        if std::mem::take(&mut self.recovering) {
            turn.act(Action::Tell(News::Detached));
        }
        self.reject(why, turn);
    }

    fn reject(&mut self, why: Why, turn: &mut Turn) {
        if self.waiting.take().is_some() {
            turn.act(Action::Reject(why));
        }
    }

    fn destroyed(&mut self, turn: &mut Turn) {
        if self.phase == Phase::Destroyed {
            return;
        }
        if self.state() == State::Attached {
            turn.act(Action::Seal);
        }
        (self.phase, self.request, self.recovering) = (Phase::Destroyed, None, false);
        turn.act(Action::Tell(News::Destroyed));
        self.reject(Why::Destroyed, turn);
    }

    fn granted(&mut self, grant: Grant, turn: &mut Turn) {
        let Some(Request { sent_at, .. }) = self.request.take() else { return };
        if matches!(self.phase, Phase::Seeking { .. }) {
            // Counted from the question: the store may have answered long before the answer was heard.
            let renew_at = sent_at.saturating_add(turn.about(self.config.interval()));
            self.phase = Phase::Held { grant, open: false, renew_at, failures: 0 };
        } else {
            let Grant { owner, slot, .. } = grant;
            turn.act(Action::GiveBack { owner, slot });
            self.request = Some(Request { kind: Kind::Release, owner, sent_at: turn.now });
        }
    }

    fn renewed(&mut self, lo: i64, hi: i64, turn: &mut Turn) {
        let Some(Request { sent_at, .. }) = self.request.take() else { return };
        let Phase::Held { grant, open, renew_at, failures } = &mut self.phase else { return };
        // The store has the last word on where the window begins: after a quiet period others may have had the time
        // between the old window and the new one.
        (grant.lo, grant.hi) = (grant.lo.max(lo), grant.hi.max(hi));
        (*renew_at, *failures) = (sent_at.saturating_add(turn.about(self.config.interval())), 0);
        if *open {
            turn.act(Action::Raise { lo, hi });
            turn.act(Action::Tell(News::Renewed));
        }
    }

    fn lost(&mut self, turn: &mut Turn) {
        self.request = None;
        if self.state() == State::Attached {
            self.recovering = true;
            turn.act(Action::Seal);
            turn.act(Action::Tell(News::Lost));
        }
        self.seek(turn.fresh, turn);
    }

    fn failed(&mut self, failure: Failure, turn: &mut Turn) {
        let request = self.request.take();
        let config = self.config;
        match &mut self.phase {
            Phase::Seeking { at, failures, .. } if request.is_some_and(|request| request.kind == Kind::Acquire) => {
                *at = turn.now.saturating_add(turn.delay(&config, failure, *failures));
                *failures = failures.saturating_add(1);
                self.refused(failure, turn);
            }
            Phase::Held { renew_at, failures, .. } => {
                *renew_at = turn.now.saturating_add(turn.delay(&config, failure, *failures));
                *failures = failures.saturating_add(1);
            }
            _ => {} // of what was given up; a slot that could not be released is free once its window has passed
        }
    }

    /// An acquisition failed: whether anybody waits on, and whether it is tried again.
    fn refused(&mut self, failure: Failure, turn: &mut Turn) {
        let until = self.waiting.unwrap_or(i64::MAX);
        let hopeless = match failure {
            Failure::Fatal => true,
            Failure::Quiet { until: end, store_now } => turn.now.saturating_add(end - store_now) > until,
            Failure::Exhausted { .. } => turn.now >= until,
            Failure::Store | Failure::Skew => !self.recovering || turn.now >= until,
        };
        match &mut self.phase {
            Phase::Seeking { at, .. } if !hopeless => *at = (*at).min(until), // the last chance is at the very end
            _ if failure == Failure::Fatal || !self.recovering => self.stop(Why::Refused(failure), turn),
            _ => self.reject(Why::Refused(failure), turn),
        }
    }

    /// Opens the cursor as soon as IDs can be made.
    fn open(&mut self, turn: &mut Turn) {
        let Phase::Held { grant, open, .. } = &mut self.phase else { return };
        if *open || turn.now < grant.lo {
            return;
        }
        *open = true;
        turn.act(Action::Open(*grant));
        turn.act(Action::Tell(News::Attached));
        self.recovering = false;
        if self.waiting.take().is_some() {
            turn.act(Action::Resolve);
        }
    }

    /// Asks the store for what is due, unless it still owes an answer.
    fn ask(&mut self, turn: &mut Turn) {
        let Some(at) = self.next_question() else { return };
        if turn.now < at && at - turn.now <= self.config.longest_wait() {
            return;
        }
        let (kind, owner, action) = match self.phase {
            Phase::Seeking { owner, .. } => (Kind::Acquire, owner, Action::Acquire { owner }),
            Phase::Held { grant: Grant { owner, slot, .. }, .. } => (Kind::Renew, owner, Action::Renew { owner, slot }),
            _ => return,
        };
        self.request = Some(Request { kind, owner, sent_at: turn.now });
        turn.act(action);
    }

    fn next_question(&self) -> Option<i64> {
        match self.phase {
            _ if self.request.is_some() => None,
            Phase::Seeking { at, .. } => Some(at),
            Phase::Held { renew_at, .. } => Some(renew_at),
            _ => None,
        }
    }

    /// When something is to be done that no answer brings about.
    fn next_look(&self) -> Option<i64> {
        let opening = match self.phase {
            Phase::Held { grant, open: false, .. } => Some(grant.lo),
            _ => None,
        };
        [self.next_question(), opening].into_iter().flatten().min()
    }
}
