//! The function that makes IDs in PostgreSQL: `lib/stores/postgres/function.ts`, a step at a time, in sessions that may
//! pause or be cancelled before each step, while the clock is set forward and back. A model checker cannot run its SQL, so this is
//! a copy of its rule.

use stateright::{Model, Property};

use crate::{NO_NUMBER_TWICE, assert_found, assert_holds, explore};

const SESSIONS: usize = 3;
/// How many numbers a tick has, and the last tick that the clock shows.
const NUMBERS: u8 = 2;
const LAST_TICK: u8 = 1;
/// How many numbers all sessions take together at most, which ends the model.
const MOST: u8 = 6;
const MOVED: &str = "a session moves the position";
const WENT_ON: &str = "a session moves the position after a move that was cancelled";

/// How the sessions follow the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// As the function does.
    Kept,
    /// A number counts although the count of moves differs by then.
    NotReadAgain,
    /// A number counts although a move was going on.
    OddCounts,
    /// A session looks where the position is before it counts its move.
    LooksFirst,
    /// Moves do not exclude each other.
    Beside,
}

/// What a session has done of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Session {
    #[default]
    Idle,
    /// it has read the count of moves
    Counted { moves: u8 },
    /// it has read the clock
    Timed { moves: u8, tick: u8 },
    /// it has taken a number
    Took { moves: u8, tick: u8, place: u8 },
    /// it waits for the lock
    Wants,
    /// it has the lock
    Locked,
    /// it has read the clock
    Alone { tick: u8 },
    /// it has counted the beginning of its move
    Began { tick: u8 },
    /// it has seen that the position is before this tick, and has yet to count if `is_early`
    Saw { tick: u8, is_early: bool },
    /// it has a number, and has yet to count the end of its move
    Has { place: u8 },
}

impl Session {
    const fn is_locked(self) -> bool {
        matches!(self, Self::Locked | Self::Alone { .. } | Self::Began { .. } | Self::Saw { .. } | Self::Has { .. })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Database {
    clock: u8,
    /// the next number of the sequence
    next: u8,
    /// the count of moves: odd during one
    moves: u8,
    sessions: [Session; SESSIONS],
    /// one bit for each number that was given
    given: u32,
    taken: u8,
    moved: bool,
    went_on: bool,
    duplicate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    SetClock(u8),
    Step(usize),
    Cancel(usize),
}

impl Database {
    /// The next step of a session; `None` while it waits for the lock.
    fn step(mut self, of: usize, rule: Rule) -> Option<Self> {
        let mut others = (0..SESSIONS).filter(|&other| other != of).map(|other| self.sessions[other]);
        let is_free = rule == Rule::Beside || !others.any(Session::is_locked);
        self.sessions[of] = match self.sessions[of] {
            Session::Idle => Session::Counted { moves: self.moves },
            Session::Counted { moves } => Session::Timed { moves, tick: self.clock },
            Session::Timed { moves, tick } => Session::Took { moves, tick, place: self.nextval() },
            Session::Took { moves, tick, place } => {
                let is_same = rule == Rule::NotReadAgain || self.moves == moves;
                let is_even = rule == Rule::OddCounts || moves.is_multiple_of(2);
                if is_same && is_even && place >= tick * NUMBERS { self.give(place) } else { Session::Wants }
            }
            Session::Wants if is_free => Session::Locked,
            Session::Wants => return None,
            Session::Locked => Session::Alone { tick: self.clock },
            Session::Alone { tick } if rule == Rule::LooksFirst => self.look(tick, true),
            Session::Alone { tick } => {
                self.begin();
                Session::Began { tick }
            }
            Session::Began { tick } => self.look(tick, false),
            Session::Saw { tick, is_early: true } => {
                self.begin();
                Session::Saw { tick, is_early: false }
            }
            Session::Saw { tick, .. } => {
                self.next = tick * NUMBERS + 1;
                self.moved = true;
                Session::Has { place: tick * NUMBERS }
            }
            Session::Has { place } => {
                self.moves = (self.moves | 1) + 1;
                self.give(place)
            }
        };
        Some(self)
    }

    /// Counts the beginning of a move. The count is odd already after one that was cancelled.
    const fn begin(&mut self) {
        self.went_on |= self.moves % 2 == 1;
        self.moves |= 1;
    }

    fn look(&mut self, tick: u8, is_early: bool) -> Session {
        if self.next <= tick * NUMBERS {
            Session::Saw { tick, is_early }
        } else {
            Session::Has { place: self.nextval() }
        }
    }

    const fn nextval(&mut self) -> u8 {
        self.next += 1;
        self.taken += 1;
        self.next - 1
    }

    fn give(&mut self, place: u8) -> Session {
        self.duplicate |= self.given & 1 << place != 0;
        self.given |= 1 << place;
        Session::Idle
    }
}

impl Model for Rule {
    type State = Database;
    type Action = Doing;

    fn init_states(&self) -> Vec<Database> {
        vec![Database::default()]
    }

    fn actions(&self, database: &Database, out: &mut Vec<Doing>) {
        if database.taken < MOST {
            out.extend((0..=LAST_TICK).filter(|&tick| tick != database.clock).map(Doing::SetClock));
            out.extend((0..SESSIONS).map(Doing::Step));
            out.extend((0..SESSIONS).filter(|&of| database.sessions[of] != Session::Idle).map(Doing::Cancel));
        }
    }

    fn next_state(&self, database: &Database, doing: Doing) -> Option<Database> {
        let mut after = database.clone();
        match doing {
            Doing::SetClock(tick) => after.clock = tick,
            Doing::Step(of) => after = after.step(of, *self)?,
            Doing::Cancel(of) => after.sessions[of] = Session::Idle,
        }
        after.sessions.sort_unstable(); // which session is which makes no difference
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_NUMBER_TWICE, |_, database: &Database| !database.duplicate),
            Property::sometimes(MOVED, |_, database: &Database| database.moved),
            Property::sometimes(WENT_ON, |_, database: &Database| database.went_on && database.moved),
        ]
    }
}

#[test]
fn the_function_of_postgresql_gives_no_number_twice() {
    assert_holds("kept", &[NO_NUMBER_TWICE], &[MOVED, WENT_ON], &explore("kept", Rule::Kept));
}

#[test]
fn the_checker_finds_the_duplicates_of_each_broken_rule() {
    for rule in [Rule::NotReadAgain, Rule::OddCounts, Rule::LooksFirst, Rule::Beside] {
        let name = format!("{rule:?}");
        assert_found(&name, NO_NUMBER_TWICE, &explore(&name, rule));
    }
}
