//! The holder's side of a lease: a state machine that decides what to ask the store and what to do with its answers.
//!
//! The lowest file of this room comes first. A file uses only those above it in this table, and the rooms below.
//!
//! | file | its one idea |
//! |---|---|
//! | [`messages`] | the events and actions between the state machine and its driver |
//! | [`grants`] | the rules that keep slots, windows and blocks unique, over any database |
//! | [`quorum`] | one store out of several that know nothing of each other |
//! | `pace` | how often the store is asked |
//! | [`backfill`] | which numbers a member may use for a time that is over |
//!
//! A lease is a slot and a **window** of time. The store promises that windows of one slot never overlap, and the cursor
//! refuses every number past the end of its window. So uniqueness depends on no clock and no timer in this file; they only
//! decide how soon the next window comes. Every step may come early or late, even hours late after the process was stopped.

pub mod backfill;
pub mod grants;
pub mod messages;
mod pace;
pub mod quorum;

use crate::lease::messages::{Action, Asked, Event, Failure, Grant, News, Owner, State, Timing, Why};
use crate::lease::pace::Turn;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    /// no slot is held, and none is being sought
    Idle,
    /// a slot is being sought
    Seeking {
        owner: Owner,
        /// when to ask
        at: i64,
        failures: u16,
    },
    /// a slot is held
    Held {
        grant: Grant,
        /// the cursor exists: the local clock has reached the window
        open: bool,
        renew_at: i64,
        failures: u16,
        /// listeners know that this window is not being renewed
        told: bool,
        /// the store was asked early, because the slot's file failed
        looked: bool,
    },
    /// the group has ended
    Destroyed,
}

/// A request to the store without an answer yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Request {
    asked: Asked,
    owner: Owner,
    sent_at: i64,
}

/// The state of one holder.
///
/// The driver passes events in and performs the actions in order. It knows clients, timers and the clock; this type knows
/// none of them, so a model checker can try every order of events.
///
/// - Each `Acquire`, `Renew`, `Release` and `GiveBack` is one request. The driver answers each with exactly one event, and
///   sends the next event only after the actions of the one before.
/// - Only the answer to the current request counts. Any other answer (to an abandoned request, or from before the cursor was
///   retired) changes nothing: a window that is not opened does no harm.
/// - `Open` comes once the local clock has reached the window, so an attached generator can generate IDs at once. It is the
///   last action of its step, and the very next event reports whether it worked.
/// - A slot whose node number is already in use in this process is set aside. If it were given back at once, the store would
///   grant it again. It is therefore held until another slot is open or the search has failed, and then given back unused.
///   Only a slot whose window was never opened can be given back in this way.
/// - A window is opened or raised only if the store granted it to the present owner, and the cursor is retired before the
///   store learns that its slot is free.
///
/// The driver performs the returned actions and passes the results in:
///
/// ```
/// # use flakeforge_core::lease::Machine;
/// # use flakeforge_core::lease::messages::{Action, Event, Grant, State, Timing};
/// let mut machine = Machine::new(Timing { ttl_ms: 30_000, wait_ms: 10_000 });
/// let (now, fresh) = (1_700_000_000_000, 0x5eed); // Unix ms, and 128 bits that should be random
/// let actions = machine.step(now, Event::Attach, fresh);
/// assert_eq!(actions[0], Action::Acquire { owner: fresh });
///
/// // The store's answer. Then a cursor with the numbers of the window is created.
/// let grant = Grant { owner: fresh, slot: 7, lo: now, hi: now + 30_000 };
/// assert_eq!(machine.step(now + 2, Event::Granted(grant), fresh), [Action::Open(grant)]);
/// machine.step(now + 2, Event::Opened { owner: fresh }, fresh);
/// assert_eq!(machine.state(), State::Attached);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    timing: Timing,
    phase: Phase,
    request: Option<Request>,
    /// until when the callers of `attach` wait, if there are any
    waiting: Option<i64>,
    /// an open slot was lost, or IDs come from elsewhere: the search continues until a slot is open
    recovering: bool,
    /// slots granted by this search whose node numbers are in use in this process
    aside: Vec<(Owner, u32)>,
}

impl Machine {
    /// Holds no slot and seeks none.
    pub fn new(timing: Timing) -> Self {
        Self { timing, phase: Phase::Idle, request: None, waiting: None, recovering: false, aside: Vec::new() }
    }

    /// The state of the generator.
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

    /// Whether the search continues until a slot is open, because the last slot was lost or IDs come from elsewhere: IDs will
    /// come without another `attach`.
    pub fn is_recovering(&self) -> bool {
        self.recovering
    }

    /// Whether a renewal is in progress.
    pub fn is_renewing(&self) -> bool {
        self.request.is_some_and(|request| request.asked == Asked::Renew)
    }

    /// Whether the last renewal failed, or has had no answer for so long that it counts as failed. If so, waiting at the end
    /// of the window is pointless.
    pub fn renewals_fail(&self, now: i64) -> bool {
        let Phase::Held { failures, .. } = self.phase else { return false };
        let unanswered =
            |request: Request| request.asked == Asked::Renew && now - request.sent_at > self.timing.interval();
        failures > 0 || self.request.is_some_and(unanswered)
    }

    /// Whether no answer of the store is pending. After a `Detach`, the store has the slot back by then.
    pub fn is_settled(&self) -> bool {
        self.request.is_none()
    }

    /// Takes an event at the local time `now` (Unix ms) and returns what to do. `fresh` is a random token that was never used
    /// before. It identifies the acquisition that may start here, and spreads the times at which holders ask.
    pub fn step(&mut self, now: i64, event: Event, fresh: Owner) -> Vec<Action> {
        let mut turn = Turn { now, fresh, actions: Vec::new() };
        // If the clock was set back, no caller may wait longer than agreed.
        self.waiting = self.waiting.map(|until| until.min(now.saturating_add(self.timing.wait_ms)));
        self.take(event, &mut turn);
        self.tell_of_silence(&mut turn);
        if let Some(grant) = self.to_open(now) {
            turn.act(Action::Open(grant));
            return turn.actions;
        }
        self.ask(&mut turn);
        if let Some(at) = self.next_look() {
            turn.act(Action::Wait { at });
        }
        turn.actions
    }

    fn take(&mut self, event: Event, turn: &mut Turn) {
        match event {
            Event::Attach => self.attach(turn),
            Event::Seek => self.seek_on(turn),
            Event::Detach => self.detach(turn),
            Event::GiveUp if self.waiting.is_some() => self.give_up(turn),
            Event::RenewNow => self.renew_now(turn.now),
            Event::Destroy if self.phase != Phase::Destroyed => turn.act(Action::End),
            Event::Ended => self.destroyed(turn),
            Event::Granted(grant) if self.awaits(Asked::Acquire, grant.owner) => self.granted(grant, turn),
            Event::Opened { owner } if self.is_unopened(owner) => self.opened(turn),
            Event::InUse { owner } if self.is_unopened(owner) => self.in_use(turn),
            Event::Renewed { owner, lo, hi } if self.awaits(Asked::Renew, owner) => self.renewed(lo, hi, turn),
            Event::Lost { owner } if self.awaits(Asked::Renew, owner) => self.lost(turn),
            Event::Destroyed { asked, owner } if self.awaits(asked, owner) => self.destroyed(turn),
            Event::Released { owner } if self.awaits(Asked::Release, owner) => self.request = None,
            Event::Failed { asked, owner, failure } if self.awaits(asked, owner) => self.failed(asked, failure, turn),
            _ => {} // only a time to look again, or an event that is no longer expected
        }
    }

    /// Whether an answer to this request still counts.
    pub fn awaits(&self, asked: Asked, owner: Owner) -> bool {
        self.request.is_some_and(|request| request.asked == asked && request.owner == owner)
    }

    fn is_unopened(&self, of: Owner) -> bool {
        matches!(self.phase, Phase::Held { grant: Grant { owner, .. }, open: false, .. } if owner == of)
    }

    fn attach(&mut self, turn: &mut Turn) {
        match self.phase {
            Phase::Destroyed => return turn.act(Action::Reject(Why::Destroyed)),
            Phase::Held { open: true, .. } => return turn.act(Action::Resolve),
            Phase::Idle => self.begin(turn),
            _ => {}
        }
        self.waiting.get_or_insert(turn.now.saturating_add(self.timing.wait_ms));
    }

    /// Continues a search even after its waiting callers give up.
    fn seek_on(&mut self, turn: &Turn) {
        if self.phase == Phase::Idle {
            self.begin(turn);
        }
        self.recovering = matches!(self.phase, Phase::Seeking { .. } | Phase::Held { open: false, .. });
    }

    fn begin(&mut self, turn: &Turn) {
        // An acquisition that was just abandoned is as good as a new one while its answer is pending.
        let given_up = self.request.filter(|request| request.asked == Asked::Acquire);
        self.seek(given_up.map_or(turn.fresh, |request| request.owner), turn);
    }

    fn seek(&mut self, owner: Owner, turn: &Turn) {
        self.phase = Phase::Seeking { owner, at: turn.now, failures: 0 };
    }

    fn detach(&mut self, turn: &mut Turn) {
        if self.phase != Phase::Destroyed {
            self.leave(turn);
            self.stop(Why::Detached, turn);
        }
    }

    /// No caller waits for a slot any longer. A slot that the store grants from now on is given back. But after a loss, the
    /// search for a new slot continues.
    fn give_up(&mut self, turn: &mut Turn) {
        let why = if matches!(self.phase, Phase::Held { .. }) { Why::Ahead } else { Why::Late };
        if self.recovering {
            return self.reject(why, turn);
        }
        self.leave(turn);
        self.stop(why, turn);
    }

    /// Gives the slot back, if one is held.
    fn leave(&mut self, turn: &mut Turn) {
        let Phase::Held { grant: Grant { owner, slot, .. }, open, .. } = self.phase else { return };
        if open {
            turn.act(Action::Retire);
            turn.act(Action::Tell(News::Detached));
            turn.act(Action::Release { owner, slot });
        } else {
            turn.act(Action::GiveBack { owner, slot });
        }
        // A renewal may still be in progress. Whichever of the two the store sees first, the slot ends up free.
        self.request = Some(Request { asked: Asked::Release, owner, sent_at: turn.now });
    }

    /// From here on, no slot is held or sought.
    fn stop(&mut self, why: Why, turn: &mut Turn) {
        self.phase = Phase::Idle;
        self.give_back_aside(turn);
        if std::mem::take(&mut self.recovering) {
            turn.act(Action::Tell(News::Detached));
        }
        self.reject(why, turn);
    }

    /// Ignores the answers: a slot that cannot be given back is free once its window is over.
    fn give_back_aside(&mut self, turn: &mut Turn) {
        for (owner, slot) in self.aside.drain(..) {
            turn.act(Action::GiveBack { owner, slot });
        }
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
            turn.act(Action::Retire);
        }
        (self.phase, self.request, self.recovering) = (Phase::Destroyed, None, false);
        self.give_back_aside(turn);
        turn.act(Action::Tell(News::Destroyed));
        self.reject(Why::Destroyed, turn);
    }

    fn granted(&mut self, grant: Grant, turn: &mut Turn) {
        let Some(Request { sent_at, .. }) = self.request.take() else { return };
        if matches!(self.phase, Phase::Seeking { .. }) {
            // Counted from the request, because the store may have answered long before the answer arrived.
            let renew_at = sent_at.saturating_add(turn.about(self.timing.interval()));
            self.phase = Phase::Held { grant, open: false, renew_at, failures: 0, told: false, looked: false };
        } else {
            let Grant { owner, slot, .. } = grant;
            turn.act(Action::GiveBack { owner, slot });
            self.request = Some(Request { asked: Asked::Release, owner, sent_at: turn.now });
        }
    }

    /// The held slot, if its window has started and it has no cursor yet.
    fn to_open(&self, now: i64) -> Option<Grant> {
        match self.phase {
            Phase::Held { grant, open: false, .. } if now >= grant.lo => Some(grant),
            _ => None,
        }
    }

    fn opened(&mut self, turn: &mut Turn) {
        if let Phase::Held { open, .. } = &mut self.phase {
            *open = true;
        }
        turn.act(Action::Tell(News::Attached));
        self.recovering = false;
        if self.waiting.take().is_some() {
            turn.act(Action::Resolve);
        }
        self.give_back_aside(turn);
    }

    /// Another generator of this process has the slot's node number, so another slot is sought.
    fn in_use(&mut self, turn: &mut Turn) {
        let Phase::Held { grant: Grant { owner, slot, .. }, .. } = self.phase else { return };
        let is_again = self.aside.iter().any(|&(_, known)| known == slot);
        self.aside.push((owner, slot));
        self.request = None; // the answer to a renewal in progress no longer matters
        self.seek(turn.fresh, turn);
        if is_again {
            // This slot was set aside before: its window has ended since, or the store has no other. The search ends here.
            self.not_found(Failure::Exhausted { retry_at: turn.now, store_now: turn.now }, turn.now, turn);
        }
    }

    /// Done once per attachment: if the store then reports that the slot is still held, the file itself is at fault.
    fn renew_now(&mut self, now: i64) {
        if let Phase::Held { open: true, renew_at, looked, .. } = &mut self.phase
            && self.request.is_none()
            && !*looked
        {
            (*renew_at, *looked) = (now, true);
        }
    }

    fn renewed(&mut self, lo: i64, hi: i64, turn: &mut Turn) {
        let Some(Request { sent_at, .. }) = self.request.take() else { return };
        let Phase::Held { grant, open, renew_at, failures, told, .. } = &mut self.phase else { return };
        *told = false;
        // The store decides where the window starts: after a quiet period, other holders may have had the time between the
        // old window and the new one.
        (grant.lo, grant.hi) = (grant.lo.max(lo), grant.hi.max(hi));
        (*renew_at, *failures) = (sent_at.saturating_add(turn.about(self.timing.interval())), 0);
        if *open {
            turn.act(Action::Raise { lo, hi });
            turn.act(Action::Tell(News::Renewed));
        }
    }

    fn lost(&mut self, turn: &mut Turn) {
        self.request = None;
        if self.state() == State::Attached {
            self.recovering = true;
            turn.act(Action::Retire);
            turn.act(Action::Tell(News::Lost));
        }
        self.seek(turn.fresh, turn);
    }

    fn failed(&mut self, asked: Asked, failure: Failure, turn: &mut Turn) {
        let Some(Request { sent_at, .. }) = self.request.take() else { return };
        match &mut self.phase {
            Phase::Seeking { .. } if asked == Asked::Acquire => self.not_found(failure, sent_at, turn),
            Phase::Held { open, renew_at, failures, told, .. } => {
                *renew_at = turn.now.saturating_add(turn.delay(&self.timing, failure, *failures));
                if *open && !std::mem::replace(told, *open) {
                    turn.act(Action::Tell(News::RenewalFailed));
                }
                *failures = failures.saturating_add(1);
            }
            _ => {} // abandoned; a slot that could not be released is free once its window is over
        }
    }

    /// When listeners learn that the store has not answered a renewal: at half of the window, so that the other half remains
    /// to act.
    fn silent_at(&self) -> Option<i64> {
        match self.phase {
            Phase::Held { grant, open: true, told: false, .. } if self.is_renewing() => {
                Some(grant.hi.saturating_sub(self.timing.ttl_ms / 2))
            }
            _ => None,
        }
    }

    fn tell_of_silence(&mut self, turn: &mut Turn) {
        if self.silent_at().is_none_or(|at| turn.now < at) {
            return;
        }
        if let Phase::Held { told, .. } = &mut self.phase {
            *told = true;
            turn.act(Action::Tell(News::RenewalFailed));
        }
    }

    /// The search that was sent at this time failed. Other members may look for the slots that it set aside.
    fn not_found(&mut self, failure: Failure, sent_at: i64, turn: &mut Turn) {
        if let Phase::Seeking { at, failures, .. } = &mut self.phase {
            *at = turn.now.saturating_add(turn.delay(&self.timing, failure, *failures));
            *failures = failures.saturating_add(1);
        }
        self.give_back_aside(turn);
        self.refused(failure, sent_at, turn);
    }

    /// Decides whether callers keep waiting after a failed search, and whether another search follows.
    fn refused(&mut self, failure: Failure, sent_at: i64, turn: &mut Turn) {
        let until = self.waiting.unwrap_or(i64::MAX);
        // Looking at many slots takes time: the last look starts early enough for its answer.
        let took = turn.now.saturating_sub(sent_at).clamp(0, self.timing.interval());
        let last_look = if matches!(failure, Failure::Exhausted { .. }) { until.saturating_sub(took) } else { until };
        let hopeless = match failure {
            Failure::Fatal => true,
            Failure::Quiet { until: end, store_now } => turn.now.saturating_add(end - store_now) > until,
            Failure::Exhausted { .. } => turn.now >= last_look,
            Failure::Passing => turn.now >= until,
            Failure::Store | Failure::Skew => !self.recovering || turn.now >= until,
        };
        match &mut self.phase {
            Phase::Seeking { at, .. } if !hopeless => *at = (*at).min(last_look), // the last chance is at the very end
            _ if failure == Failure::Fatal || !self.recovering => self.stop(Why::Refused(failure), turn),
            _ => self.reject(Why::Refused(failure), turn),
        }
    }

    /// Asks the store for what is due, unless an answer is still pending.
    fn ask(&mut self, turn: &mut Turn) {
        let Some(at) = self.next_question() else { return };
        if turn.now < at && at - turn.now <= self.timing.longest_wait() {
            return;
        }
        let (asked, owner, action) = match self.phase {
            Phase::Seeking { owner, .. } => (Asked::Acquire, owner, Action::Acquire { owner }),
            Phase::Held { grant: Grant { owner, slot, hi, .. }, .. } => {
                (Asked::Renew, owner, Action::Renew { owner, slot, hi })
            }
            _ => return,
        };
        self.request = Some(Request { asked, owner, sent_at: turn.now });
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

    /// When to look again if no answer comes before that.
    fn next_look(&self) -> Option<i64> {
        let opening = match self.phase {
            Phase::Held { grant, open: false, .. } => Some(grant.lo),
            _ => None,
        };
        [self.next_question(), opening, self.silent_at()].into_iter().flatten().min()
    }
}
