//! Members, a network and a store: everything that can happen between them, one thing at a time.
//!
//! Members drive the real [`Lease`], and the store is the real [`Store`]. Time goes in steps of 15 s, so that the real
//! lengths (60 s for an unknown group) are a few steps. A pause means that a member does nothing, so
//! it costs nothing and may last for ever. Anything that a member could do before a pause, it can do after it.
//! Everything else that goes wrong is taken from a budget.
//!
//! The model does not make IDs one by one. An open cursor *may* give every number of its window at any moment of its
//! life, whatever its clock says. So if the windows of two cursors of a slot overlap, a duplicate can be made, and that
//! counts as one. Only `detach` reduces what a cursor gave: it ends at a last number, and each possible one is tried.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use flakeforge_core::grants::{Entry, Store};
use flakeforge_core::lease::{Action, Event, Failure, Grant, News, Owner};

use crate::faults::{Asked, Fault};
use crate::happening::Happening;
use crate::member::{Member, Window};
use crate::points::{PAST, Points};
use crate::rules::Rules;
use crate::service::{Message, serve};
use crate::view::View;

/// One step of time, in milliseconds.
pub const UNIT: i64 = 15_000;
/// When everything begins, in steps of time: so late that a time cannot be confused with a length of time.
pub const DAWN: i64 = 10_000_000;
/// The name is empty, because names cost memory and nothing depends on them.
pub const GROUP: &str = "";
/// Divisible by every span that jitter is taken from, so that tokens do not make states differ by jitter alone.
const TOKEN: Owner = 2001 * 1001 * 21 * 41 * 81 * 161 * 321 * 641;

/// The whole world.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World<const M: usize> {
    pub time: i64,
    pub store_ahead: i64,
    pub store: Arc<Store>,
    pub saved: Option<Arc<Store>>,
    pub members: [Arc<Member>; M],
    /// by slot: what cursors that no longer exist may have given
    given: [Points; 2],
    pub budget: u8,
    /// two cursors may have given the same number
    pub duplicate: bool,
}

impl<const M: usize> Hash for World<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { time, store_ahead, store, saved, members, given, budget, duplicate } = self;
        let mut view = View::new(hasher, time * UNIT);
        (store_ahead, store, saved, members, given, budget, duplicate).hash(&mut view);
    }
}

impl<const M: usize> World<M> {
    /// A new group. The store's clock is this far ahead, and the members' clocks are right.
    pub fn new(rules: &Rules, store_ahead: i64) -> Self {
        let mut store = Store::default();
        store.step((DAWN + store_ahead) * UNIT, GROUP, &rules.config()).create().unwrap();
        Self {
            time: DAWN,
            store_ahead,
            store: Arc::new(store),
            saved: None,
            members: std::array::from_fn(|_| Arc::new(Member::new(rules.lease(), 0))),
            given: [Points::default(); 2],
            budget: rules.budget,
            duplicate: false,
        }
    }

    fn member(&mut self, who: usize) -> &mut Member {
        Arc::make_mut(&mut self.members[who])
    }

    fn store_now(&self) -> i64 {
        (self.time + self.store_ahead) * UNIT
    }

    pub fn local_now(&self, who: usize) -> i64 {
        (self.time + self.members[who].ahead) * UNIT
    }

    /// Whether a slot has changed hands, and its former holder does not know it yet.
    pub fn is_held_by_two(&self) -> bool {
        let slot = |who: usize| self.members[who].cursor.map(|cursor| cursor.slot);
        (0..M).any(|who| slot(who).is_some() && (0..who).any(|other| slot(other) == slot(who)))
    }

    /// Whether IDs are made in a window that began after the quiet period that followed a loss.
    pub fn is_healed(&self) -> bool {
        let Some(Entry::Live(group)) = self.store.groups.get(GROUP) else { return false };
        let mut firsts = self.members.iter().filter_map(|member| member.cursor).map(|cursor| cursor.first);
        self.store.incarnation > 0 && group.quiet_until > 0 && firsts.any(|first| first >= group.quiet_until)
    }

    /// A token that nobody uses. One that nobody remembers any more is as good as a new one.
    fn fresh(&self) -> Owner {
        let is_used = |token: &Owner| {
            let stores = [Some(&self.store), self.saved.as_ref()];
            stores.into_iter().flatten().any(|store| store.list(GROUP).any(|(_, slot)| slot.owner == Some(*token)))
                || self.members.iter().any(|member| member.knows(*token))
        };
        (1..).map(|n| n * TOKEN + 1_000).find(|token| !is_used(token)).unwrap_or_default()
    }

    /// The world after this happened.
    pub fn after(&self, rules: &Rules, happening: Happening) -> Self {
        let mut world = self.clone();
        match happening {
            Happening::Tick => world.tick(),
            Happening::Attach(who) => {
                world.member(who).wanted = true;
                world.step(rules, who, Event::Attach);
            }
            Happening::Wake(who) => world.step(rules, who, Event::Time),
            Happening::Serve(who) | Happening::ServeLate(who) => {
                world.answer(rules, who);
                world.hear(rules, who);
            }
            Happening::HearLate(who) => world.hear(rules, who),
            Happening::ServeGivenUp(who) => world.serve_given_up(rules, who),
            Happening::Timeout(who) => world.time_out(rules, who),
            Happening::Lose => {
                let saved = world.saved.take().unwrap_or_default();
                world.lose(rules, Arc::unwrap_or_clone(saved));
            }
            trouble => {
                world.budget -= 1;
                world.suffer(rules, trouble);
            }
        }
        world
    }

    fn suffer(&mut self, rules: &Rules, trouble: Happening) {
        match trouble {
            Happening::DelayRequest(who) => self.member(who).is_late = true,
            Happening::DelayReply(who) => {
                self.answer(rules, who);
                self.member(who).is_late = true;
            }
            Happening::Detach(who, last) => {
                self.member(who).wanted = false;
                let given = Points::window(self.time, 0, last * UNIT);
                let cursor = self.member(who).cursor.as_mut();
                if let Some(cursor) = cursor.filter(|_| rules.fault != Fault::NoSeal) {
                    cursor.limit = last * UNIT;
                    cursor.points = cursor.points.and(given);
                }
                self.step(rules, who, Event::Detach);
            }
            Happening::Destroy(who) => {
                let now = self.store_now();
                let store = Arc::make_mut(&mut self.store);
                rules.fault.step(store, now, Asked::Destroy, |store| store.destroy(now, GROUP));
                self.step(rules, who, Event::Ended);
            }
            Happening::InUse(who) => self.member(who).is_in_use = true,
            Happening::GiveUp(who) => self.step(rules, who, Event::GiveUp),
            Happening::Crash(who) => {
                self.bury(who);
                let member = self.member(who);
                member.give_up();
                let Member { ahead, token, given_up, .. } = *member;
                *member = Member { token, given_up, ..Member::new(rules.lease(), ahead) };
            }
            Happening::SetClock(who, ahead) => self.member(who).ahead = ahead,
            Happening::SetStoreClock(ahead) => self.store_ahead = ahead,
            Happening::Save => self.saved = Some(self.store.clone()),
            Happening::Flush => self.lose(rules, Store::default()),
            _ => {}
        }
    }

    fn tick(&mut self) {
        self.time += 1;
        self.given = self.given.map(Points::later);
        for member in &mut self.members {
            if member.cursor.or(member.promised).is_none() {
                continue;
            }
            let member = Arc::make_mut(member);
            for window in [&mut member.cursor, &mut member.promised].into_iter().flatten() {
                window.points = window.points.later();
            }
        }
    }

    fn lose(&mut self, rules: &Rules, left: Store) {
        let mut store = Store { incarnation: self.store.incarnation + 1, ..left };
        if rules.fault == Fault::LossDoesNotShow {
            store.incarnation -= 1;
        }
        self.store = Arc::new(store);
    }

    fn time_out(&mut self, rules: &Rules, who: usize) {
        let member = self.member(who);
        let Some(asked) = member.asked() else { return };
        let owner = member.request.map_or(member.token, Message::owner);
        member.give_up();
        self.step(rules, who, Event::Failed { asked, owner, failure: Failure::Store });
    }

    /// The store answers a member.
    fn answer(&mut self, rules: &Rules, who: usize) {
        let Some(message) = self.member(who).request.take() else { return };
        self.member(who).joins = false;
        let answer = self.serve(rules, message);
        self.heed(who, message, answer);
        self.member(who).reply = Some(answer);
    }

    /// The store serves a request that the member no longer waits for. But the member may ask again, with the same
    /// token.
    fn serve_given_up(&mut self, rules: &Rules, who: usize) {
        let Some(message) = self.member(who).given_up.take() else { return };
        let answer = self.serve(rules, message);
        if self.members[who].wanted && self.members[who].token == message.owner() {
            self.heed(who, message, answer);
        }
    }

    fn serve(&mut self, rules: &Rules, message: Message) -> Event {
        let now = self.store_now();
        serve(Arc::make_mut(&mut self.store), now, rules, message)
    }

    /// From now on, what the store has granted may be used as soon as the member knows of it.
    fn heed(&mut self, who: usize, message: Message, answer: Event) {
        match (answer, message) {
            (Event::Granted(Grant { slot, lo, hi, .. }), _)
            | (Event::Renewed { lo, hi, .. }, Message::Renew { slot, .. }) => self.promise(who, slot, lo, hi),
            _ => {}
        }
    }

    fn promise(&mut self, who: usize, slot: u32, lo: i64, hi: i64) {
        let promised = Window { slot, first: lo, limit: hi, points: Points::window(self.time, lo, hi) };
        let member = self.member(who);
        let known = [member.cursor, member.promised.replace(promised)];
        // Nothing may begin in the part of the past that is forgotten.
        let goes_on = known.into_iter().flatten().any(|known| known.slot == slot && lo <= known.limit);
        self.duplicate |= lo < (self.time - PAST) * UNIT && !goes_on;
        self.look(who, promised);
    }

    /// Checks whether anybody else may give a number of this window.
    fn look(&mut self, who: usize, window: Window) {
        let others = self.members.iter().enumerate().filter(|(other, _)| *other != who);
        let theirs = others.flat_map(|(_, member)| [member.cursor, member.promised]).flatten();
        let theirs = theirs.filter(|other| other.slot == window.slot).map(|other| other.points);
        let all = theirs.fold(self.given[window.slot as usize], Points::or);
        self.duplicate |= !all.and(window.points).is_empty();
    }

    /// Removes a cursor. The numbers that it may have given stay given.
    fn bury(&mut self, who: usize) {
        if let Some(cursor) = self.member(who).cursor.take() {
            let given = &mut self.given[cursor.slot as usize];
            *given = given.or(cursor.points);
        }
    }

    fn hear(&mut self, rules: &Rules, who: usize) {
        let member = self.member(who);
        member.is_late = false;
        let Some(event) = member.reply.take() else { return };
        if !matches!(event, Event::Failed { .. }) {
            member.promised = None; // the member knows it now
        }
        self.step(rules, who, event);
    }

    /// Hands an event to a member's lease and carries out what it says.
    fn step(&mut self, rules: &Rules, who: usize, event: Event) {
        let mut event = Some(event);
        while let Some(next) = event {
            event = self.carry_out(rules, who, next);
        }
        if !self.members[who].wanted && !self.members[who].is_acquiring() {
            self.member(who).promised = None; // the member will never know it
        }
    }

    /// One step of a member's lease. Returns the event that follows at once, if there is one.
    fn carry_out(&mut self, rules: &Rules, who: usize, event: Event) -> Option<Event> {
        let (now, fresh) = (self.local_now(who), self.fresh());
        let begins = matches!(event, Event::Attach | Event::Lost { .. }) && !self.members[who].is_acquiring();
        if begins || matches!(event, Event::InUse { .. }) {
            self.member(who).token = fresh; // the lease uses this one, if it uses any
        }
        let mut answer = None;
        self.member(who).wait = None;
        let mut last = -1; // the last number of the cursor that is sealed
        for action in self.member(who).lease.step(now, event, fresh) {
            let joins = self.members[who].joins;
            match action {
                Action::Acquire { owner } => self.send(who, Message::Acquire { owner, client_now: now, joins }),
                Action::Renew { owner, slot } => self.send(who, Message::Renew { owner, slot, client_now: now }),
                Action::Release { owner, slot } => self.send(who, Message::Release { owner, slot, last }),
                Action::GiveBack { owner, slot } if owner != self.members[who].token => {
                    self.member(who).give_back(owner, slot);
                }
                Action::GiveBack { owner, slot } => self.send(who, Message::Release { owner, slot, last: -1 }),
                Action::Seal => {
                    last = self.members[who].cursor.map_or(-1, |cursor| cursor.limit);
                    match rules.fault {
                        Fault::NoSeal => last = now,
                        Fault::LastTooLow => last = -1,
                        _ => {}
                    }
                    if rules.fault != Fault::NoSeal {
                        self.bury(who);
                    }
                }
                Action::Open(Grant { owner, .. }) if self.members[who].is_in_use => {
                    let member = self.member(who);
                    member.is_in_use = false;
                    member.aside.push(owner);
                    answer = Some(Event::InUse { owner });
                }
                Action::Open(Grant { owner, slot, lo, hi }) => {
                    answer = Some(Event::Opened { owner });
                    self.bury(who); // in case it was not sealed, as it should have been
                    let points = Points::default();
                    self.member(who).cursor = Some(Window { slot, first: lo, limit: lo, points });
                    self.allow(who, lo, hi);
                }
                Action::Raise { hi, .. } if rules.fault == Fault::OnlyLimitRises => {
                    let first = self.members[who].cursor.map_or(hi, |cursor| cursor.first);
                    self.allow(who, first, hi);
                }
                Action::Raise { lo, hi } => self.allow(who, lo, hi),
                Action::Wait { at } => self.member(who).wait = Some(at),
                Action::Reject(_) | Action::Tell(News::Destroyed) => self.member(who).wanted = false,
                Action::Resolve | Action::Tell(_) | Action::End => {}
            }
        }
        answer
    }

    fn send(&mut self, who: usize, message: Message) {
        let is_own = message.owner() == self.members[who].token || matches!(message, Message::Release { .. });
        assert!(is_own, "the token of {message:?} counts as one that nobody uses");
        self.member(who).give_up();
        self.member(who).request = Some(message);
    }

    /// From now on, a member's cursor may give the numbers of this window.
    fn allow(&mut self, who: usize, lo: i64, hi: i64) {
        let points = Points::window(self.time, lo, hi);
        let Some(cursor) = &mut self.member(who).cursor else { return };
        cursor.first = cursor.first.max(lo);
        cursor.limit = cursor.limit.max(hi);
        cursor.points = cursor.points.or(points);
        let cursor = *cursor;
        self.look(who, cursor);
    }
}
