//! Members, a network and a store: everything that can happen between them, one thing at a time.
//!
//! Members drive the real [`Lease`], the store is the real [`Store`]. Time goes in steps of 15 s, so that the real
//! lengths (60 s for a group of which nothing is known) are a few steps. A pause is a thing that does not happen, so it
//! costs nothing and may last for ever; what a member could do before it, it can do after it. Everything else that goes
//! wrong is taken out of a budget.
//!
//! What IDs are made is not spelled out one by one: an open cursor *may* give every number of its window at any moment
//! of its life, whatever its clock says. So windows of two cursors of a slot that touch are a duplicate waiting to be
//! made, and count as one. Only `detach` reduces what a cursor gave: it ends at a last number, and each one is tried.

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
/// When everything begins, in steps of time: late enough to tell a time from a length of time.
pub const DAWN: i64 = 10_000_000;
/// Names cost memory, and nothing depends on them.
pub const GROUP: &str = "";
/// Tokens leave the same remainder by every span that jitter is taken from: states do not differ by jitter alone.
const TOKEN: Owner = 2001 * 1001 * 21 * 41 * 81 * 161 * 321 * 641;

/// Everything there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World<const M: usize> {
    pub time: i64,
    pub store_ahead: i64,
    pub store: Arc<Store>,
    pub saved: Option<Arc<Store>>,
    pub members: [Arc<Member>; M],
    /// by slot: what cursors that are no more may have given
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
    /// A group just made. The store's clock is so far ahead, and the members' are right.
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

    /// Whether IDs flow in a window that began after the quiet period that a loss brought.
    pub fn is_healed(&self) -> bool {
        let Some(Entry::Live(group)) = self.store.groups.get(GROUP) else { return false };
        let mut firsts = self.members.iter().filter_map(|member| member.cursor).map(|cursor| cursor.first);
        self.store.incarnation > 0 && group.quiet_until > 0 && firsts.any(|first| first >= group.quiet_until)
    }

    /// A token that is used nowhere: one that nobody remembers any more is as good as new.
    fn fresh(&self) -> Owner {
        let is_used = |token: &Owner| {
            let stores = [Some(&self.store), self.saved.as_ref()];
            stores.into_iter().flatten().any(|store| store.list(GROUP).any(|(_, slot)| slot.owner == Some(*token)))
                || self.members.iter().any(|member| member.knows(*token))
        };
        (1..).map(|n| n * TOKEN + 1_000).find(|token| !is_used(token)).unwrap_or_default()
    }

    /// What is the case after it happened.
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

    /// The store does what a member does not wait for any longer; but it may ask again, with the same token.
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

    /// What the store has granted may be used from now on, as soon as the member hears of it.
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
        // Nothing begins in a past that is forgotten, or it could not be forgotten.
        let goes_on = known.into_iter().flatten().any(|known| known.slot == slot && lo <= known.limit);
        self.duplicate |= lo < (self.time - PAST) * UNIT && !goes_on;
        self.look(who, promised);
    }

    /// Whether anybody else may give a number of this window.
    fn look(&mut self, who: usize, window: Window) {
        let others = self.members.iter().enumerate().filter(|(other, _)| *other != who);
        let theirs = others.flat_map(|(_, member)| [member.cursor, member.promised]).flatten();
        let theirs = theirs.filter(|other| other.slot == window.slot).map(|other| other.points);
        let all = theirs.fold(self.given[window.slot as usize], Points::or);
        self.duplicate |= !all.and(window.points).is_empty();
    }

    /// A cursor is no more: what it may have given stays given.
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
            member.promised = None; // it is heard now
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
            self.member(who).promised = None; // it will never be heard
        }
    }

    /// One step of a member's lease; the event that follows at once, where there is one.
    fn carry_out(&mut self, rules: &Rules, who: usize, event: Event) -> Option<Event> {
        let (now, fresh) = (self.local_now(who), self.fresh());
        let begins = matches!(event, Event::Attach | Event::Lost { .. }) && !self.members[who].is_acquiring();
        if begins || matches!(event, Event::InUse { .. }) {
            self.member(who).token = fresh; // it takes this one, if it takes any
        }
        let mut answer = None;
        self.member(who).wait = None;
        let mut last = -1; // of the cursor that is sealed
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
                    self.bury(who); // if it was not sealed, as it should have been
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

    /// A member's cursor may give the numbers of a window from now on.
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
