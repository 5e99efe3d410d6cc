//! The possible events in a world.
//!
//! A step that just started continues at once to its answer, or to a stop, which is a trouble that counts. So ordinary states
//! are not visited in every order. Stopped steps continue at any time.

use flakeforge_core::lease::grants::task::Answer;
use flakeforge_core::lease::messages::{Asked, State};

use crate::client::Reached;
use crate::flight::{At, By, Flight, Stop};
use crate::settings::{How, Left, Setting, Trouble};
use crate::world::World;

/// The trouble of each stop.
const STOPS: [(Stop, Trouble); 6] = [
    (Stop::BeforeRead, Trouble::Pause),
    (Stop::BeforeSwap, Trouble::Pause),
    (Stop::AfterSwap, Trouble::Pause),
    (Stop::BeforeAnswer, Trouble::Pause),
    (Stop::Unheard, Trouble::Unheard),
    (Stop::Late, Trouble::Late),
];

impl Stop {
    pub fn trouble(self) -> Trouble {
        STOPS.iter().find(|(known, _)| *known == self).expect("a stop").1
    }
}

impl Flight {
    /// The possible next stops.
    pub fn stops(&self) -> impl Iterator<Item = Stop> {
        let stops = STOPS.into_iter().map(|(stop, _)| stop);
        stops.filter(|stop| {
            let is_here = self.is_paused && Stop::before(&self.at) == *stop;
            let is_past = match stop {
                Stop::BeforeAnswer => false,
                Stop::BeforeRead => self.is_swapping() || self.by == By::Command, // a command vouches for the present
                _ => matches!(self.at, At::Answer(_)),
            };
            // A stop without consequences is not needed.
            let is_idle = matches!(&self.at, At::Answer(answer) if !matches!(answer, Answer::Granted(_)));
            !is_here && !is_past && !is_idle
        })
    }
}

/// How far a cursor was used before it was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Last {
    None,
    First,
    All,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorldEvent {
    Tick,
    Attach(usize),
    Wake(usize),
    /// a timer stands still
    Sleep(usize),
    /// a caller asks for an ID past the end of the window
    Refused(usize),
    /// a step continues. Where it may choose among slots, this is its choice.
    Go {
        who: usize,
        flight: usize,
        choice: usize,
        stop: Option<Stop>,
    },
    /// a member abandons a step
    TimeOut(usize, usize),
    /// a late swap arrives at the store
    Arrive {
        late: usize,
        again: bool,
    },
    /// the state that a loss may restore
    Save,
    Lose {
        left: Left,
        how: How,
        ahead: i64,
    },
    /// a replica is promoted; this member reaches only the old primary, until it comes back
    Split {
        who: usize,
        left: Left,
        ahead: i64,
    },
    Rejoin(usize),
    Move(usize),
    Flush,
    Restart(i64),
    Forget,
    SetStoreClock(i64),
    SetClock(usize, i64),
    Crash(usize),
    Detach(usize, Last),
    GiveUp(usize),
    Seek(usize),
    InUse(usize),
    Destroy(usize),
    Remove,
    Create,
    Upgrade,
    NextAt(usize),
}

impl WorldEvent {
    /// The trouble of this event, if it is one.
    pub fn trouble(self) -> Option<Trouble> {
        Some(match self {
            Self::Go { stop: Some(stop), .. } => stop.trouble(),
            Self::Arrive { again: true, .. } => Trouble::Again,
            Self::Lose { .. } => Trouble::Loss,
            Self::Split { .. } => Trouble::Split,
            Self::Move(_) => Trouble::Move,
            Self::Flush => Trouble::Flush,
            Self::Restart(_) => Trouble::Restart,
            Self::Forget => Trouble::Forget,
            Self::Sleep(_) => Trouble::Sleep,
            Self::SetStoreClock(_) => Trouble::StoreClock,
            Self::SetClock(..) => Trouble::MemberClock,
            Self::Crash(_) => Trouble::Crash,
            Self::Detach(..) => Trouble::Detach,
            Self::GiveUp(_) | Self::Seek(_) => Trouble::GiveUp,
            Self::InUse(_) => Trouble::InUse,
            Self::Destroy(_) => Trouble::Destroy,
            Self::Remove => Trouble::Remove,
            Self::Create => Trouble::Create,
            Self::Upgrade => Trouble::Upgrade,
            Self::NextAt(_) => Trouble::NextAt,
            _ => return None,
        })
    }
}

impl World {
    /// All events that are possible now.
    pub fn world_events(&self, setting: &Setting, out: &mut Vec<WorldEvent>) {
        if self.duplicate {
            return;
        }
        let first = out.len();
        let waits = |who: usize| setting.is_patient == Some(true) && self.clients[who].has_sent();
        let began = |(who, flights): (usize, &[Flight])| {
            let flight = flights.iter().position(|it| !it.is_paused)?;
            (!waits(who)).then_some((who, flight))
        };
        let flights = || self.clients.iter().map(|client| &client.flights[..]).enumerate();
        if let Some((who, flight)) = flights().find_map(began) {
            self.of_flight(setting, who, flight, out);
        } else {
            if setting.end.is_none_or(|end| self.time < crate::world::DAWN + end) {
                out.push(WorldEvent::Tick);
            }
            for (who, flights) in flights() {
                for (flight, it) in flights.iter().enumerate() {
                    if it.is_paused {
                        self.of_flight(setting, who, flight, out);
                    }
                    if self.clients[who].awaits(it) {
                        out.push(WorldEvent::TimeOut(who, flight));
                    }
                }
            }
            for who in 0..setting.members.len() {
                self.of_member(setting, who, out);
            }
            self.of_store(setting, out);
        }
        let may = |world_event: &WorldEvent| world_event.trouble().is_none_or(|trouble| self.may(trouble));
        let mut place = 0;
        out.retain(|world_event| {
            place += 1;
            place <= first || may(world_event)
        });
    }

    fn of_flight(&self, setting: &Setting, who: usize, flight: usize, out: &mut Vec<WorldEvent>) {
        let it = &self.clients[who].flights[flight];
        let chooses = matches!(it.by, By::Lease(Asked::Acquire, _)) && !matches!(it.at, At::Answer(_));
        for choice in 0..if chooses { setting.slots as usize } else { 1 } {
            out.push(WorldEvent::Go { who, flight, choice, stop: None });
            out.extend(it.stops().map(|stop| WorldEvent::Go { who, flight, choice, stop: Some(stop) }));
        }
    }

    fn of_member(&self, setting: &Setting, who: usize, out: &mut Vec<WorldEvent>) {
        let member = &self.clients[who];
        let state = member.lease.state();
        // Of members with the same options, the first one has the lowest number.
        let has_turn = who == 0 || setting.members[who - 1] != setting.members[who] || self.clients[who - 1].came;
        if !member.wanted && has_turn {
            out.push(WorldEvent::Attach(who));
        }
        if member.wait.is_some_and(|at| at <= self.local(who)) {
            out.push(WorldEvent::Wake(who));
        }
        if member.cursor.is_some() && member.wait.is_some() {
            out.push(WorldEvent::Sleep(who));
        }
        if self.is_refused(who) {
            out.push(WorldEvent::Refused(who));
        }
        let errors = (-setting.clock_error..=setting.clock_error).filter(|ahead| *ahead != member.ahead);
        out.extend(errors.map(|ahead| WorldEvent::SetClock(who, ahead)));
        if !member.wanted {
            return;
        }
        out.push(WorldEvent::Crash(who));
        if member.cursor.is_some() {
            out.extend([Last::None, Last::First, Last::All].map(|last| WorldEvent::Detach(who, last)));
            out.push(WorldEvent::Destroy(who));
            let is_looking = member.flights.iter().any(|it| matches!(it.by, By::NextAt(_)));
            if setting.members[who].keeps && !is_looking && member.holds(self.local(who)) {
                out.push(WorldEvent::NextAt(who));
            }
        } else if state != State::Destroyed {
            out.extend([WorldEvent::Detach(who, Last::None), WorldEvent::GiveUp(who)]);
            if !member.lease.is_recovering() {
                out.push(WorldEvent::Seek(who));
            }
        }
        if !member.is_in_use {
            out.push(WorldEvent::InUse(who));
        }
        match member.reaches {
            Reached::Usual => out.push(WorldEvent::Move(who)),
            Reached::Old => out.push(WorldEvent::Rejoin(who)),
            Reached::Elsewhere => {}
        }
    }

    fn of_store(&self, setting: &Setting, out: &mut Vec<WorldEvent>) {
        let store = &self.store;
        for late in 0..store.late.len() {
            out.extend([false, true].map(|again| WorldEvent::Arrive { late, again }));
        }
        let may_lose = self.may(Trouble::Loss) || self.may(Trouble::Split);
        if may_lose && setting.lefts.contains(&Left::Saved) && store.saved.is_none() && !store.records.is_empty() {
            out.push(WorldEvent::Save);
        }
        for ahead in 0..=setting.skew {
            for left in setting.lefts {
                if *left != Left::Saved || store.saved.is_some() {
                    out.extend(setting.hows.iter().map(|how| WorldEvent::Lose { left: *left, how: *how, ahead }));
                }
            }
            // The clocks' difference and the time of the old primary's clean answers add up, so only one of them is used.
            if ahead == store.ahead || setting.old == 0 {
                let splits = |left| (0..setting.members.len()).map(move |who| WorldEvent::Split { who, left, ahead });
                out.extend(store.replicated().flat_map(splits));
            }
            out.push(WorldEvent::Restart(ahead));
            if ahead != store.ahead {
                out.push(WorldEvent::SetStoreClock(ahead));
            }
        }
        if !store.records.is_empty() {
            out.push(WorldEvent::Flush);
        }
        if !store.identity.history.is_empty() && store.history_left == 0 {
            out.push(WorldEvent::Forget);
        }
        let is_free = self.clients[setting.members.len()].flights.is_empty();
        if is_free {
            out.push(WorldEvent::Remove);
        }
        // A member that creates a group vouches that it was unused.
        if !store.is_touched {
            out.push(WorldEvent::Create);
        }
        if store.is_upgradable() {
            out.push(WorldEvent::Upgrade);
        }
    }
}
