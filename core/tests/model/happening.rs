//! What can happen in a world.

use flakeforge_core::lease::State;

use crate::rules::{Rules, Trouble};
use crate::world::{UNIT, World};

/// One thing that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Happening {
    Tick,
    Attach(usize),
    Wake(usize),
    /// the store does what it is asked, and its answer arrives
    Serve(usize),
    /// the request is delayed
    DelayRequest(usize),
    /// the store does what it is asked, and its answer is delayed
    DelayReply(usize),
    /// a late message arrives
    ServeLate(usize),
    HearLate(usize),
    ServeGivenUp(usize),
    /// the member no longer waits for the answer
    Timeout(usize),
    /// the member leaves, and has given numbers up to this step of time
    Detach(usize, i64),
    Destroy(usize),
    InUse(usize),
    GiveUp(usize),
    Crash(usize),
    SetClock(usize, i64),
    SetStoreClock(i64),
    /// the state that a loss will bring back
    Save,
    Lose,
    Flush,
}

impl<const M: usize> World<M> {
    /// Everything that can happen now.
    pub fn happenings(&self, rules: &Rules, out: &mut Vec<Happening>) {
        if self.duplicate {
            return;
        }
        // The store answers at once, unless something goes wrong.
        if let Some(who) = (0..M).find(|who| self.members[*who].request.is_some() && !self.members[*who].is_late) {
            out.push(Happening::Serve(who));
            if self.budget > 0 && rules.troubles.contains(&Trouble::Delay) {
                out.extend([Happening::DelayRequest(who), Happening::DelayReply(who)]);
            }
            return;
        }
        out.push(Happening::Tick);
        if self.saved.as_ref().is_some_and(|saved| *saved != self.store) {
            out.push(Happening::Lose);
        }
        for who in 0..M {
            self.of_member(who, out);
            if self.budget > 0 {
                self.troubles_of_member(who, rules, out);
            }
        }
        if self.budget > 0 {
            self.troubles_of_store(rules, out);
        }
    }

    fn of_member(&self, who: usize, out: &mut Vec<Happening>) {
        let member = &self.members[who];
        // The member that comes first is number 0: the other way round would be the same.
        let has_turn = who == 0 || self.members[who - 1].token > 0;
        if !member.wanted && has_turn && member.lease.state() != State::Destroyed {
            out.push(Happening::Attach(who));
        }
        if member.wait.is_some_and(|at| at <= self.local_now(who)) {
            out.push(Happening::Wake(who));
        }
        if member.is_late {
            let arrives = if member.reply.is_some() { Happening::HearLate } else { Happening::ServeLate };
            out.extend([arrives(who), Happening::Timeout(who)]);
        }
        if member.given_up.is_some() {
            out.push(Happening::ServeGivenUp(who));
        }
    }

    fn troubles_of_member(&self, who: usize, rules: &Rules, out: &mut Vec<Happening>) {
        let member = &self.members[who];
        let is_destroyed = member.lease.state() == State::Destroyed;
        for trouble in rules.troubles {
            match trouble {
                Trouble::Crash if member.wanted || is_destroyed => out.push(Happening::Crash(who)),
                Trouble::Destroy if member.cursor.is_some() => out.push(Happening::Destroy(who)),
                Trouble::Detach if member.wanted => {
                    let lasts = member.cursor.map_or(0..=0, |cursor| {
                        let earliest = (cursor.first / UNIT).max(self.time - 1) - 1;
                        earliest..=(cursor.limit / UNIT).max(earliest)
                    });
                    out.extend(lasts.map(|last| Happening::Detach(who, last)));
                }
                Trouble::InUse if member.wanted && !member.is_in_use => out.push(Happening::InUse(who)),
                Trouble::GiveUp if member.wanted && member.cursor.is_none() => out.push(Happening::GiveUp(who)),
                Trouble::MemberClock => out.push(Happening::SetClock(who, 1 - member.ahead.abs())),
                _ => {}
            }
        }
    }

    fn troubles_of_store(&self, rules: &Rules, out: &mut Vec<Happening>) {
        for trouble in rules.troubles {
            match trouble {
                Trouble::StoreClock => out.push(Happening::SetStoreClock(1 - self.store_ahead)),
                Trouble::Loss if self.saved.is_none() => out.push(Happening::Save),
                Trouble::Flush => out.push(Happening::Flush),
                _ => {}
            }
        }
    }
}
