//! Members, commands and a store, and what each event does to them. The decisions of steps and leases are used unchanged.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use flakeforge_core::lease::grants::memory::Memory;
use flakeforge_core::lease::grants::record::{GROUP, GroupRecord, Stage};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Renewal, Seeker, Task};
use flakeforge_core::lease::messages::{Action, Asked, Event, Failure, Grant, News, State};

use crate::client::{Client, Cursor, Reached};
use crate::flight::{At, By, Clocks, Flight, Stop, is_turned_away};
use crate::fresh;
use crate::settings::{How, Left, Setting, TROUBLES, Trouble};
use crate::store::{SERVER, Store, Version, plain};
use crate::view::View;
use crate::windows::Ms;
use crate::world_event::{Last, WorldEvent};

/// The start of time, far above all durations.
pub const DAWN: i64 = 1_000_000;

/// What happened in the last event, to check that good things happen too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Good {
    /// a slot was opened that another member had held
    HandedOver,
    /// a slot was opened in a group that had been quiet
    Healed,
    /// a window was raised in a quiet period
    Kept,
    /// an answer arrived that was no longer expected
    Ignored,
    /// a member that holds a slot was refused, because a newer version wrote a record
    TurnedAway,
    /// an ID of the past was made in a group that follows another
    Followed,
}

#[derive(Clone, Debug)]
pub struct World {
    /// the true time, Unix ms
    pub time: i64,
    pub store: Arc<Store>,
    /// a replaced primary that is alive but disconnected
    pub old: Option<Arc<Store>>,
    /// another database or schema of the server
    pub elsewhere: Option<Arc<Store>>,
    /// the members, followed by the sender of commands
    pub clients: Vec<Arc<Client>>,
    /// for each node, what former owners may have used
    pub given: Vec<Ms>,
    /// for each node, the times of IDs of the past, by members with either kind of options: each kind counts in another way
    pub pasts: Vec<[Ms; 2]>,
    /// how often each trouble may still happen
    pub left: [u8; TROUBLES],
    pub budget: u8,
    /// two members may use the same time
    pub duplicate: bool,
    /// a step met a record of a newer version, and continued
    pub trespassed: bool,
    /// a renewal created a group
    pub founded: bool,
    /// counts everything that has to be new
    number: u64,
    pub good: Option<Good>,
    /// how much of the past counts
    past: i64,
    is_one_process: bool,
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        let sum = |world: &Self| BuildHasherDefault::<DefaultHasher>::default().hash_one(world);
        sum(self) == sum(other)
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut view = View::new(hasher, self.time, self.past);
        self.store.hash(&mut view);
        (&self.old, &self.elsewhere).hash(&mut view);
        self.clients.hash(&mut view);
        (&self.given, &self.pasts).hash(&mut view);
        self.left.hash(&mut view);
        self.budget.hash(&mut view);
        (self.duplicate, self.trespassed, self.founded).hash(&mut view);
    }
}

impl World {
    pub fn new(setting: &Setting, ahead: i64) -> Self {
        let mut store = Store::new(ahead, setting.has_position());
        if setting.is_born {
            let state = Stage::Live(setting.config(setting.members[0]));
            let identity = store.identity.clone();
            let group = GroupRecord {
                state,
                life: 1,
                lineage: fresh::NONCES,
                identity,
                nonce: fresh::NONCES,
                ..GroupRecord::default()
            };
            store.records.insert(GROUP.to_owned(), group.text().into());
        }
        let mut left = [0; TROUBLES];
        for (trouble, times) in setting.troubles {
            left[*trouble as usize] = *times;
        }
        let commands = setting.members[0];
        let clients = setting.members.iter().chain([&commands]).map(|options| Client::new(setting, *options).into());
        Self {
            time: DAWN,
            store: store.into(),
            old: None,
            elsewhere: None,
            clients: clients.collect(),
            given: vec![Ms::default(); setting.slots as usize],
            pasts: vec![[Ms::default(); 2]; setting.slots as usize],
            left,
            budget: setting.budget,
            duplicate: false,
            trespassed: false,
            founded: false,
            number: 2,
            good: None,
            past: setting.past(),
            is_one_process: setting.is_one_process,
        }
    }

    /// An unused number.
    fn new_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    fn client(&mut self, who: usize) -> &mut Client {
        Arc::make_mut(&mut self.clients[who])
    }

    pub fn store(&mut self) -> &mut Store {
        Arc::make_mut(&mut self.store)
    }

    /// A client's clock.
    pub fn local(&self, who: usize) -> i64 {
        self.time + self.clients[who].ahead
    }

    /// The first ms that counts.
    fn beginning(&self) -> i64 {
        self.time - self.past
    }

    pub fn may(&self, trouble: Trouble) -> bool {
        self.budget > 0 && self.left[trouble as usize] > 0
    }

    fn spend(&mut self, trouble: Trouble) {
        self.budget -= 1;
        self.left[trouble as usize] -= 1;
    }

    /// The world after this event; `None` if it is impossible.
    pub fn after(&self, setting: &Setting, world_event: WorldEvent) -> Option<Self> {
        let mut world = self.clone();
        world.good = None;
        if let Some(trouble) = world_event.trouble() {
            world.spend(trouble);
        }
        let is_possible = world.happen(setting, world_event);
        world.check(setting);
        is_possible.then_some(world)
    }

    fn happen(&mut self, setting: &Setting, world_event: WorldEvent) -> bool {
        match world_event {
            WorldEvent::Tick => self.tick(),
            WorldEvent::Attach(who) => {
                if self.clients[who].lease.state() == State::Destroyed {
                    self.client(who).begin_anew(setting.members[who]);
                }
                (self.client(who).wanted, self.client(who).came) = (true, true);
                self.step(setting, who, Event::Attach, Last::All);
            }
            WorldEvent::Sleep(who) => self.client(who).wait = None,
            WorldEvent::Refused(who) => self.step(setting, who, Event::Time, Last::All),
            WorldEvent::Wake(who) => self.step(setting, who, Event::Time, Last::All),
            WorldEvent::Go { who, flight, choice, stop } => return self.go(setting, who, flight, choice, stop),
            WorldEvent::TimeOut(who, flight) => self.time_out(setting, who, flight),
            WorldEvent::Arrive { late, again } => {
                let swap = self.store.late[late].clone();
                if !again {
                    self.store().late.remove(late);
                }
                self.store().swap(&swap);
            }
            WorldEvent::Save => {
                self.store().save(setting.has(Trouble::Split));
            }
            WorldEvent::Lose { left, how, ahead } => {
                let (number, memory) = (self.new_number(), setting.longest + setting.skew + 2);
                self.store().lose((left, how), ahead, memory, number);
                if how == How::Told {
                    self.tell(setting);
                }
                if self.left[Trouble::Loss as usize] == 0 {
                    self.store().saved = None;
                }
            }
            WorldEvent::Split { who, left, ahead } => self.split(setting, who, left, ahead),
            WorldEvent::Rejoin(who) => self.client(who).reaches = Reached::Usual,
            WorldEvent::Move(who) if setting.by_session => {
                let server = format!("{SERVER}{}", self.new_number());
                let mut place = Store::new(self.store.ahead, setting.has_position());
                place.identity.process = server;
                self.elsewhere.get_or_insert(place.into());
                self.client(who).reaches = Reached::Elsewhere;
            }
            WorldEvent::Move(_) => {} // every statement names its place
            WorldEvent::Flush => {
                self.store().records.clear();
                self.store().drop_late();
            }
            WorldEvent::Restart(ahead) => {
                let process = format!("{SERVER}{}", self.new_number());
                let store = self.store();
                (store.ahead, store.identity.process) = (ahead, process);
                store.drop_late();
            }
            WorldEvent::Forget => {
                self.store().identity.history = String::new();
                self.store().drop_late();
            }
            WorldEvent::SetStoreClock(ahead) => self.store().ahead = ahead,
            WorldEvent::SetClock(who, ahead) => self.client(who).ahead = ahead,
            WorldEvent::Crash(who) => {
                self.bury(setting, who);
                let ahead = self.clients[who].ahead;
                *self.client(who) = Client { ahead, came: true, ..Client::new(setting, setting.members[who]) };
            }
            WorldEvent::Detach(who, last) => {
                self.client(who).wanted = false;
                self.step(setting, who, Event::Detach, last);
            }
            WorldEvent::GiveUp(who) => self.step(setting, who, Event::GiveUp, Last::All),
            WorldEvent::Seek(who) => self.step(setting, who, Event::Seek, Last::All),
            WorldEvent::InUse(who) => self.client(who).is_in_use = true,
            WorldEvent::Destroy(who) => self.step(setting, who, Event::Destroy, Last::All),
            WorldEvent::Remove => self.begin(self.clients.len() - 1, By::Command, Task::Destroy),
            WorldEvent::Create => {
                let task = Task::Create(setting.config(setting.members[0]));
                self.begin(self.clients.len() - 1, By::Command, task);
            }
            WorldEvent::Upgrade => {
                let bits = fresh::bits(self.new_number(), 0);
                self.store().upgrade(bits as u64);
            }
            WorldEvent::NextAt(who) => {
                let lineage = self.clients[who].lineage.expect("that of a grant");
                match self.clients[who].looked {
                    Some((known, until)) if known == lineage => self.make_past(setting, who, until),
                    _ => self.begin(who, By::NextAt(lineage), Task::Used { slots: vec![setting.kept_slot()], lineage }),
                }
            }
        }
        true
    }

    /// A replica is promoted. It has what was answered cleanly; the old primary is alive, and only this member reaches it.
    fn split(&mut self, setting: &Setting, who: usize, left: Left, ahead: i64) {
        let (number, memory) = (self.new_number(), setting.longest + setting.skew + 2);
        self.old = Some(self.store.cut_off(self.time - 1 + setting.old).into());
        self.client(who).reaches = Reached::Old;
        self.store().lose((left, How::Promotion), ahead, memory, number);
        self.store().saved = None;
    }

    fn tick(&mut self) {
        self.time += 1;
        if self.store.history_left > 0 {
            self.store().history_left -= 1;
        }
        let pasts = self.pasts.iter_mut().flatten();
        self.given.iter_mut().chain(pasts).for_each(|ms| *ms = ms.later());
        for client in &mut self.clients {
            if client.cursor.is_some()
                && let Some(cursor) = &mut Arc::make_mut(client).cursor
            {
                cursor.ms = cursor.ms.later();
            }
        }
    }

    /// Starts a step.
    fn begin(&mut self, who: usize, by: By, task: Task) {
        let bits = fresh::bits(self.new_number(), 0);
        let begun = Step::new("group", task, &self.clients[if self.is_one_process { 0 } else { who }].memory, bits);
        let version = self.clients[who].version;
        self.client(who).flights.push(Flight::new(by, begun, version));
    }

    /// A command reports that older records were restored.
    fn tell(&mut self, setting: &Setting) {
        let mut memory = Memory::with_limits(setting.limits());
        let step = Step::new("group", Task::Restored, &memory, fresh::bits(self.new_number(), 0));
        let (time, number) = (self.time, &mut self.number);
        let bits = || {
            *number += 1;
            fresh::bits(*number, 0)
        };
        let clocks = Clocks { time, local: time, bits };
        Flight::new(By::Command, step, Version::This).go(&mut memory, &mut self.store, clocks, None);
    }

    /// Continues a step to its answer, or to this stop.
    fn go(&mut self, setting: &Setting, who: usize, flight: usize, choice: usize, stop: Option<Stop>) -> bool {
        let remembers = if setting.is_one_process { 0 } else { who };
        let mut memory = std::mem::take(&mut self.client(remembers).memory);
        let (time, local, number) = (self.time, self.local(who), &mut self.number);
        let bits = || {
            *number += 1;
            fresh::bits(*number, choice)
        };
        let store = match (self.clients[who].reaches, &mut self.old, &mut self.elsewhere) {
            (Reached::Old, Some(old), _) => old,
            (Reached::Elsewhere, _, Some(elsewhere)) => elsewhere,
            _ => &mut self.store,
        };
        let it = &mut Arc::make_mut(&mut self.clients[who]).flights[flight];
        let is_there = it.go(&mut memory, store, Clocks { time, local, bits }, stop);
        let is_paused = it.is_paused;
        self.trespassed |= it.trespasses;
        self.founded |= it.founds;
        self.client(remembers).memory = memory;
        if is_there && !is_paused {
            self.deliver(setting, who, flight);
        }
        is_there
    }

    fn deliver(&mut self, setting: &Setting, who: usize, flight: usize) {
        let flight = self.client(who).flights.remove(flight);
        let At::Answer(answer) = &flight.at else { return };
        if !flight.is_heard {
            self.good = Some(Good::Ignored);
            return;
        }
        if let (By::NextAt(lineage), Answer::Used(until)) = (flight.by, answer) {
            let until = until.unwrap_or_default();
            self.client(who).looked = Some((lineage, until));
            if self.clients[who].lineage == Some(lineage) && self.clients[who].holds(self.local(who)) {
                self.make_past(setting, who, until);
            }
        }
        if setting.has(Trouble::NextAt) && matches!(answer, Answer::Granted(_)) {
            self.client(who).lineage = flight.step.lineage();
        }
        let Some(event) = flight.event(answer) else { return };
        if is_turned_away(answer) && self.clients[who].cursor.is_some() {
            self.good = Some(Good::TurnedAway);
        }
        if self.clients[who].awaits(&flight) {
            self.client(who).joins &= !matches!(answer, Answer::Granted(_));
            if let Event::Granted(grant) = event {
                self.client(who).offer = Some(grant);
            }
        }
        self.step(setting, who, event, Last::All);
    }

    fn time_out(&mut self, setting: &Setting, who: usize, flight: usize) {
        let place = flight;
        let is_cut_off = self.clients[who].reaches == Reached::Old;
        let flight = &mut self.client(who).flights[place];
        flight.is_heard = false;
        let by = flight.by;
        // Unsent statements are never sent, and a write that the old primary cannot answer has already been done.
        if is_cut_off || !flight.is_paused {
            self.client(who).flights.remove(place);
        }
        let By::Lease(asked, owner) = by else { return };
        self.step(setting, who, Event::Failed { asked, owner, failure: Failure::Store }, Last::All);
    }

    /// Passes an event to a member's lease and performs the resulting actions. `last`: how far a retired cursor was used.
    fn step(&mut self, setting: &Setting, who: usize, event: Event, last: Last) {
        let mut event = Some(event);
        while let Some(next) = event {
            event = self.carry_out(setting, who, next, last);
        }
    }

    /// One step of a member's lease. Returns the event that follows immediately, if any.
    fn carry_out(&mut self, setting: &Setting, who: usize, event: Event, last: Last) -> Option<Event> {
        let (now, owner) = (self.local(who), u128::from(self.new_number()));
        let config = setting.config(setting.members[who]);
        let (mut used, mut answer) = (-1, None);
        self.client(who).wait = None;
        for action in self.client(who).lease.step(now, event, owner) {
            match action {
                Action::Acquire { owner } => {
                    let seeker = Seeker { owner, host: String::new() };
                    let joins = self.clients[who].joins;
                    let task =
                        if joins { Task::Join(config.clone(), seeker) } else { Task::Acquire(config.clone(), seeker) };
                    self.begin(who, By::Lease(Asked::Acquire, owner), task);
                }
                Action::Renew { owner, slot, hi } => {
                    let task = Task::Renew(config.clone(), Renewal { owner, slot, hi });
                    self.begin(who, By::Lease(Asked::Renew, owner), task);
                }
                Action::Release { owner, slot } => {
                    let task = Task::Release { config: config.clone(), owner, slot, last: used };
                    self.begin(who, By::Lease(Asked::Release, owner), task);
                }
                Action::GiveBack { owner, slot } => {
                    self.client(who).offer = None;
                    let task = Task::Release { config: config.clone(), owner, slot, last: -1 };
                    self.begin(who, By::Lease(Asked::Release, owner), task);
                }
                Action::End => self.begin(who, By::End, Task::Destroy),
                Action::Retire => used = self.retire(setting, who, last),
                Action::Open(grant) => answer = Some(self.open(setting, who, grant)),
                Action::Raise { lo, hi } => self.raise(who, lo, hi),
                Action::Wait { at } => self.client(who).wait = Some(at),
                Action::Reject(_) | Action::Tell(News::Destroyed) => self.client(who).wanted = false,
                Action::Resolve | Action::Tell(_) => {}
            }
        }
        answer
    }

    fn open(&mut self, setting: &Setting, who: usize, Grant { owner, slot, lo, hi }: Grant) -> Event {
        let beginning = self.beginning();
        self.client(who).offer = None;
        if std::mem::take(&mut self.client(who).is_in_use) {
            return Event::InUse { owner };
        }
        self.bury(setting, who); // in case it was not retired, as it should have been
        let others = (0..setting.members.len()).filter(|other| *other != who);
        let is_known = |other: usize| self.clients[other].cursor.is_some_and(|cursor| cursor.slot == slot);
        if !self.given[setting.node(who, slot)].is_empty() || others.into_iter().any(is_known) {
            self.good = Some(Good::HandedOver);
        }
        let quiet_until = self.quiet_until();
        if quiet_until > 0 && quiet_until <= self.time + self.store.ahead {
            self.good = Some(Good::Healed);
        }
        let ms = Ms::window(beginning, lo, hi);
        self.client(who).cursor = Some(Cursor { slot, owner, first: lo, ms });
        Event::Opened { owner }
    }

    /// A cursor never goes back: what is below the highest start is no longer used.
    fn raise(&mut self, who: usize, lo: i64, hi: i64) {
        let beginning = self.beginning();
        if self.time + self.store.ahead < self.quiet_until() {
            self.good = Some(Good::Kept);
        }
        let Some(cursor) = &mut self.client(who).cursor else { return };
        cursor.first = cursor.first.max(lo);
        cursor.ms = cursor.ms.or(Ms::window(beginning, cursor.first, hi));
    }

    /// Makes an ID of each time after `until`, on the node that its group keeps.
    fn make_past(&mut self, setting: &Setting, who: usize, until: i64) {
        let made = Ms::window(self.beginning(), until + 1, self.local(who));
        let kind = usize::from(setting.members[who].is_other);
        let ms = &mut self.pasts[setting.node(who, setting.kept_slot())][kind];
        *ms = ms.or(made);
        let is_first = self.store.records.get(GROUP).is_some_and(|text| text.contains(" life=1 "));
        if !made.is_empty() && !is_first {
            self.good = Some(Good::Followed);
        }
    }

    /// When the quiet period of the group ends; 0 if it had none.
    fn quiet_until(&self) -> i64 {
        let text = self.store.records.get(GROUP);
        text.and_then(|text| GroupRecord::parse(plain(text)).ok()).map_or(0, |group| group.quiet_until)
    }

    /// Ends a cursor; returns the last ms that it used, or −1.
    fn retire(&mut self, setting: &Setting, who: usize, last: Last) -> i64 {
        let beginning = self.beginning();
        let Some(cursor) = &mut self.client(who).cursor else { return -1 };
        let place = match last {
            Last::None => -1,
            Last::First => i64::from(cursor.ms.0.trailing_zeros()),
            Last::All => 63 - i64::from(cursor.ms.0.leading_zeros()),
        };
        let is_unused = place < 0 || cursor.ms.is_empty();
        cursor.ms = if is_unused { Ms::default() } else { cursor.ms.and(Ms(u64::MAX >> (63 - place))) };
        self.bury(setting, who);
        if is_unused { -1 } else { beginning + place }
    }

    /// Removes a cursor. What it may have used stays used.
    fn bury(&mut self, setting: &Setting, who: usize) {
        let client = self.client(who);
        client.offer = None;
        if let Some(cursor) = client.cursor.take() {
            let given = &mut self.given[setting.node(who, cursor.slot)];
            *given = given.or(cursor.ms);
        }
    }

    /// Whether a call for an ID is refused because the window is over, and no timer will trigger the next look.
    pub fn is_refused(&self, who: usize) -> bool {
        let client = &self.clients[who];
        let is_over = client.lease.held().is_some_and(|held| held.hi < self.local(who));
        client.wait.is_none() && client.cursor.is_some() && is_over
    }

    /// Whether no member gets a slot any more, although nothing goes wrong from now on and all members have time.
    pub fn is_stuck(&self, setting: &Setting) -> bool {
        let mut world = self.clone();
        world.store().late.clear();
        for who in 0..world.clients.len() {
            world.client(who).reaches = Reached::Usual;
        }
        let enough = 3 * (setting.longest + setting.skew + 2) + 12;
        for _ in 0..enough {
            for who in 0..world.clients.len() {
                while !world.clients[who].flights.is_empty() {
                    world.go(setting, who, 0, 0, None);
                }
            }
            for who in 0..setting.members.len() {
                if !world.clients[who].wanted {
                    world.happen(setting, WorldEvent::Attach(who));
                }
                if world.clients[who].wait.is_some_and(|at| at <= world.local(who)) {
                    world.happen(setting, WorldEvent::Wake(who));
                }
                if world.is_refused(who) {
                    world.happen(setting, WorldEvent::Refused(who));
                }
            }
            let now = Ms::window(world.beginning(), world.time, world.time);
            let is_holding = |client: &Arc<Client>| client.cursor.is_some_and(|cursor| !cursor.ms.and(now).is_empty());
            if world.clients.iter().any(is_holding) {
                return false;
            }
            world.tick();
        }
        true
    }

    /// Whether to check this state where checking all of them would take too long. With one member there are few.
    pub fn is_sample(&self) -> bool {
        self.clients.len() == 2 || self.number.is_multiple_of(128)
    }

    /// Checks whether two members may use the same time.
    fn check(&mut self, setting: &Setting) {
        let beginning = self.beginning();
        let members = self.clients[..setting.members.len()].iter().enumerate();
        let claims: Vec<_> = members
            .flat_map(|(who, client)| {
                client.claims(beginning).map(move |(slot, owner, ms)| (setting.node(who, slot), owner, ms))
            })
            .collect();
        for (place, (node, owner, ms)) in claims.iter().enumerate() {
            let others = claims[..place].iter().filter(|(on, by, _)| on == node && by != owner);
            let [one, other] = self.pasts[*node];
            let given = self.given[*node].or(one).or(other);
            let all = others.fold(given, |all, (.., theirs)| all.or(*theirs));
            self.duplicate |= !all.and(*ms).is_empty();
        }
        for (given, [one, other]) in self.given.iter().zip(&self.pasts) {
            self.duplicate |= !given.and(one.or(*other)).is_empty() || !one.and(*other).is_empty();
        }
    }
}
