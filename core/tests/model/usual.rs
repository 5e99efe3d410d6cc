//! The two usual designs, compared with windows in the smallest world that shows the difference: one slot, two members that
//! may pause between any two actions, and clocks that are right or one step apart.

use stateright::{Model, Property};

/// The duration of a lease, and the end of the model, in time steps.
const TTL: i8 = 2;
const END: i8 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// A holder generates IDs until its own clock passes the end of the lease. It looks at the clock, then generates an ID.
    /// After a pause in between, or with a clock that is behind, the slot belongs to another member by then.
    Deadline,
    /// A holder generates IDs until the store has told it that the slot belongs to another member. During a pause, it does not
    /// learn that yet.
    Heartbeat,
    /// A holder generates only IDs whose time is in its window, whenever it generates them.
    Window,
}

/// A design and the world in which it is tested.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    pub design: Design,
    /// how far ahead the members' clocks are
    pub ahead: [i8; 2],
    /// whether a pause is possible between a look at the clock and the ID
    pub pauses: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Holder {
    /// the first and the last time of its lease
    lease: Option<(i8, i8)>,
    /// it has looked at the clock and found that it may generate an ID
    may: bool,
    /// the time of its last ID
    last: i8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    time: i8,
    owner: usize,
    expires: i8,
    holders: [Holder; 2],
    /// one bit for each time with an ID
    given: u16,
    duplicate: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Tick,
    Acquire(usize),
    Renew(usize),
    Look(usize),
    Make(usize),
}

impl Usual {
    fn may(&self, holder: &Holder, local: i8) -> bool {
        match (self.design, holder.lease) {
            (_, None) => false,
            (Design::Deadline, Some((_, last))) => local <= last,
            (Design::Heartbeat, Some(_)) => true,
            (Design::Window, Some((first, last))) => local.max(first) <= last,
        }
    }

    /// Generates an ID with the current local time. The counter continues within one time, and starts at 0 in a new one.
    fn make(&self, state: &mut State, who: usize) {
        let local = state.time + self.ahead[who];
        let holder = &mut state.holders[who];
        holder.may = false;
        let Some((first, last)) = holder.lease else { return };
        let time = if self.design == Design::Window { local.max(first) } else { local };
        if time <= holder.last || self.design == Design::Window && time > last {
            return;
        }
        holder.last = time;
        state.duplicate |= state.given & 1 << time != 0;
        state.given |= 1 << time;
    }
}

impl Model for Usual {
    type State = State;
    type Action = Doing;

    fn init_states(&self) -> Vec<State> {
        vec![State { time: 1, ..State::default() }]
    }

    fn actions(&self, state: &State, out: &mut Vec<Doing>) {
        if state.time < END {
            out.push(Doing::Tick);
        }
        for (who, holder) in state.holders.iter().enumerate() {
            let steps = if holder.lease.is_none() {
                vec![Doing::Acquire(who)]
            } else if holder.may {
                vec![Doing::Make(who)]
            } else {
                vec![Doing::Renew(who), Doing::Look(who)]
            };
            out.extend(steps);
        }
    }

    fn next_state(&self, before: &State, doing: Doing) -> Option<State> {
        let mut state = *before;
        match doing {
            Doing::Tick => state.time += 1,
            Doing::Acquire(who) if state.expires < state.time => {
                (state.owner, state.expires) = (who, state.time + TTL);
                // A deadline depends on the holder's clock, a window on the store.
                let now = if self.design == Design::Window { state.time } else { state.time + self.ahead[who] };
                state.holders[who] = Holder { lease: Some((now, now + TTL)), ..Holder::default() };
            }
            Doing::Renew(who) if state.owner == who => {
                state.expires = state.time + TTL;
                let now = if self.design == Design::Window { state.time } else { state.time + self.ahead[who] };
                state.holders[who].lease = state.holders[who].lease.map(|(first, _)| (first, now + TTL));
            }
            Doing::Renew(who) => state.holders[who].lease = None,
            Doing::Look(who) => {
                state.holders[who].may = self.may(&state.holders[who], state.time + self.ahead[who]);
                if state.holders[who].may && !self.pauses {
                    self.make(&mut state, who);
                }
            }
            Doing::Make(who) => self.make(&mut state, who),
            Doing::Acquire(_) => return None,
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no ID twice", |_, state: &State| !state.duplicate),
            Property::sometimes("two members generate IDs", |_, state: &State| {
                state.holders.iter().all(|it| it.last > 0)
            }),
        ]
    }
}
