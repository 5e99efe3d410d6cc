//! The function that makes IDs in PostgreSQL: `lib/lease/stores/postgres/function.ts`, a step at a time, in sessions that may
//! pause or be cancelled before each step, while the clock is set forward and back. A model checker cannot run its SQL, so this is
//! a copy of its rule.

use stateright::{Model, Property};

use crate::{NO_NUMBER_TWICE, assert_found, assert_holds, explore};

const SESSIONS: usize = 3;
/// How many numbers a tick has, and the last tick that the clock shows.
const NUMBERS: u8 = 2;
const LAST_TICK: u8 = 2;
/// How many numbers all sessions take together at most, which ends the model.
const MOST: u8 = 8;
const MOVED: &str = "a session moves the position";

/// How a session moves the position to the present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mover {
    /// No other session has the lock meanwhile.
    Alone,
    /// It has only the lock that it took the number with.
    Beside,
    /// No other session has the lock meanwhile, but it takes no second number to see where the position is now.
    Rash,
}

/// What a session has done of a call. `kept` is the number that it took before it wanted the lock for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Session {
    #[default]
    Idle,
    /// it waits for the lock for itself
    Wants { kept: u8 },
    /// it has the lock: for itself if it has kept a number
    Locked { kept: Option<u8> },
    /// it has read the clock
    Read { kept: Option<u8>, tick: u8 },
    /// it is about to move the position to this tick
    Moves { kept: Option<u8>, tick: u8 },
}

impl Session {
    fn is_locked(self) -> bool {
        !matches!(self, Self::Idle | Self::Wants { .. })
    }

    fn is_alone(self) -> bool {
        matches!(self, Self::Locked { kept } | Self::Read { kept, .. } | Self::Moves { kept, .. } if kept.is_some())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Database {
    clock: u8,
    /// the next number of the sequence
    next: u8,
    sessions: [Session; SESSIONS],
    /// one bit for each number that was given
    given: u32,
    taken: u8,
    moved: bool,
    duplicate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    SetClock(u8),
    Step(usize),
    Cancel(usize),
}

impl Database {
    /// The next step of a session; `None` while it waits for a lock.
    fn step(mut self, of: usize, mover: Mover) -> Option<Self> {
        let others = || self.sessions.iter().enumerate().filter(|&(other, _)| other != of).map(|(_, session)| session);
        let is_free = !others().any(|session| session.is_locked());
        let is_shared = !others().any(|session| session.is_alone());
        self.sessions[of] = match self.sessions[of] {
            Session::Idle if is_shared => Session::Locked { kept: None },
            Session::Wants { kept } if is_free => Session::Locked { kept: Some(kept) },
            Session::Idle | Session::Wants { .. } => return None,
            Session::Locked { kept } => Session::Read { kept, tick: self.clock },
            Session::Read { kept: Some(place), tick } if place >= tick * NUMBERS => self.give(place),
            Session::Read { kept: kept @ Some(_), tick } if mover == Mover::Rash => Session::Moves { kept, tick },
            Session::Read { kept, tick } => self.nextval(kept, tick, mover),
            Session::Moves { tick, .. } => self.setval(tick * NUMBERS),
        };
        Some(self)
    }

    fn nextval(&mut self, kept: Option<u8>, tick: u8, mover: Mover) -> Session {
        let place = self.next;
        self.next += 1;
        self.taken += 1;
        match kept {
            _ if place >= tick * NUMBERS => self.give(place),
            None if mover != Mover::Beside => Session::Wants { kept: place },
            _ => Session::Moves { kept, tick },
        }
    }

    fn setval(&mut self, place: u8) -> Session {
        self.next = place + 1;
        self.moved = true;
        self.give(place)
    }

    fn give(&mut self, place: u8) -> Session {
        self.duplicate |= self.given & 1 << place != 0;
        self.given |= 1 << place;
        Session::Idle
    }
}

impl Model for Mover {
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
            Doing::Step(of) => return after.step(of, *self),
            Doing::Cancel(of) => after.sessions[of] = Session::Idle,
        }
        Some(after)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_NUMBER_TWICE, |_, database: &Database| !database.duplicate),
            Property::sometimes(MOVED, |_, database: &Database| database.moved),
        ]
    }
}

#[test]
fn the_function_of_postgresql_gives_no_number_twice() {
    assert_holds("alone", &[NO_NUMBER_TWICE], &[MOVED], &explore("alone", Mover::Alone));
}

#[test]
fn the_checker_finds_the_duplicates_of_a_session_that_moves_the_position_beside_others_or_rashly() {
    for mover in [Mover::Beside, Mover::Rash] {
        let name = format!("{mover:?}");
        assert_found(&name, NO_NUMBER_TWICE, &explore(&name, mover));
    }
}
