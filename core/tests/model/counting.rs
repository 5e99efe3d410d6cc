//! Counters under the same faults: no number is given twice. Their IDs contain no time, so a lost write never becomes
//! harmless.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use stateright::{Model, Property};

use flakeforge_core::lease::backfill::Counter;
use flakeforge_core::lease::grants::memory::Memory;
use flakeforge_core::lease::grants::record::{COUNTER, CounterRecord, GROUP, GroupConfig, GroupRecord, Stage};
use flakeforge_core::lease::grants::step::Step;
use flakeforge_core::lease::grants::task::{Answer, Renewal, Task};

use crate::flight::{At, By, Clocks, Flight, Stop, is_turned_away};
use crate::fresh;
use crate::settings::{How, Left, TROUBLES, Trouble};
use crate::store::{SERVER, Store, Version, plain};
use crate::view::View;
use crate::windows::Ms;
use crate::world::DAWN;
use crate::{ALL_GIVEN, BEGAN_ANEW, ENDS_ONE, KEEPS_OFF, NO_NUMBER_TWICE, STAYS_ENDED, TURNED_AWAY, WENT_ON};

/// A run.
///
/// The documentation states three assumptions. A process that does not know a counter creates it where it is absent, so the
/// counter is not lost entirely meanwhile. An operator who says where to continue knows what was given, and nothing is lost
/// at that time. And the counter is used before a store forgets a promotion: after that, the store may show its previous
/// identity again.
#[derive(Clone, Copy, Debug)]
pub struct Counting {
    pub clients: usize,
    pub durable: bool,
    /// whether it is the counter of a moment that is over, among the records of a group
    pub past: bool,
    /// the version of flakeforge that the last client runs
    pub newest: Version,
    /// number of numbers taken
    pub takes: u8,
    /// how often an operator says where to continue
    pub skips: u8,
    pub troubles: &'static [(Trouble, u8)],
    pub hows: &'static [How],
    pub lefts: &'static [Left],
}

pub const COUNTING: Counting = Counting {
    clients: 2,
    durable: false,
    past: false,
    newest: Version::This,
    takes: 3,
    skips: 1,
    troubles: &[],
    hows: &[How::Restart],
    lefts: &[Left::Nothing, Left::Everything, Left::Saved],
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Client {
    version: Version,
    memory: Memory,
    /// each with its purpose, whether it started after the last loss, and what held when it started
    flights: Vec<(Flight, Kind, bool, Before)>,
    /// the life of its last number
    life: Option<u64>,
    /// of a group that counts times of the past: its lineage, and whether it refuses the times of earlier groups
    group: (u64, bool),
}

/// What held when a step started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Before {
    /// the last life whose end had been answered
    ended: u64,
    /// the life that its client knew
    own: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Open,
    Take,
    Skip,
    End,
}

/// A **life** of a counter is from its creation to its end: the next one may give the same numbers.
#[derive(Clone, Debug)]
pub struct Numbers {
    store: Arc<Store>,
    /// a replaced primary that is alive but disconnected: the first client reaches only that one
    old: Option<Arc<Store>>,
    clients: Vec<Client>,
    /// of each life, one bit per number given. Of times of the past: of one before the first group ended (0), and of one that
    /// no earlier group had reached (1); a span gives both the same numbers
    given: BTreeMap<u64, Ms>,
    /// the life of each lineage that the store has shown
    lives: BTreeMap<u64, u64>,
    /// the lives that the store has shown as ended
    over: BTreeSet<u64>,
    /// the last life whose end was answered, unless the store lost something since
    ended: u64,
    /// how many calls have asked for an end
    ends: usize,
    /// a member was given a number of a life that had ended, or of the life that followed its own
    outlived: bool,
    left: [u8; TROUBLES],
    takes: u8,
    skips: u8,
    duplicate: bool,
    /// a step met a record of a newer version, and continued
    trespassed: bool,
    turned_away: bool,
    /// a counter continued where an operator had said
    went_on: bool,
    /// a step that started after the last loss was answered
    is_asked: bool,
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    Take(usize),
    Skip(usize),
    /// a client ends the counter
    End(usize),
    Go(usize, usize, Option<Stop>),
    /// a client abandons a step, which continues
    TimeOut(usize, usize),
    Arrive(usize, bool),
    Save,
    Lose(Left, How),
    /// a replica is promoted; the first client reaches only the old primary, until it comes back
    Split(Left),
    Rejoin,
    Flush,
    Restart,
    Forget,
    /// a command ends the group that counts times of the past, or creates the next one
    Follow,
    /// a client becomes a member of the group
    Enter(usize),
    /// a renewal, which notes a loss in the group's record
    Renew,
}

impl Hash for Numbers {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut view = View::new(hasher, DAWN, 0);
        self.store.hash(&mut view);
        self.old.hash(&mut view);
        self.clients.hash(&mut view);
        (&self.given, self.left, self.takes, self.skips, self.duplicate, self.went_on, self.is_asked).hash(&mut view);
        (self.trespassed, self.turned_away).hash(&mut view);
        (&self.lives, &self.over, self.ended, self.ends, self.outlived).hash(&mut view);
    }
}

impl PartialEq for Numbers {
    fn eq(&self, other: &Self) -> bool {
        self.store == other.store && self.old == other.old && self.clients == other.clients && self.given == other.given
    }
}

impl Numbers {
    fn fresh(&mut self) -> u128 {
        self.number += 1;
        fresh::bits(self.number, 0)
    }

    /// The instruction of an operator who knows all numbers given.
    fn top(&self) -> u64 {
        let all = self.given.values().fold(Ms::default(), |all, given| all.or(*given));
        64 - u64::from(all.0.leading_zeros())
    }

    /// Notes what the store shows of the counter.
    fn see(&mut self) {
        let stores = [Some(&self.store), self.old.as_ref()];
        for text in stores.into_iter().flatten().filter_map(|store| store.records.get(COUNTER)) {
            let counter = CounterRecord::parse(plain(text)).expect("a counter");
            self.lives.insert(counter.lineage, counter.life);
            if counter.is_destroyed {
                self.over.insert(counter.life);
            }
        }
    }

    /// Whether the store shows that the counter has ended: who creates it then begins the next one.
    fn is_over(&self) -> bool {
        let counter = self.store.records.get(COUNTER).map(|text| CounterRecord::parse(plain(text)).expect("a counter"));
        counter.is_some_and(|counter| counter.is_destroyed)
    }

    fn is_any(&self, kind: Kind) -> bool {
        self.clients.iter().flat_map(|client| &client.flights).any(|(_, known, ..)| *known == kind)
    }

    fn begin(&mut self, who: usize, kind: Kind, task: Task) {
        let bits = self.fresh();
        let client = &mut self.clients[who];
        let flight = Flight::new(By::Command, Step::new("counter", task, &client.memory, bits), client.version);
        let before = Before { ended: self.ended, own: client.life };
        client.flights.push((flight, kind, true, before));
    }

    /// A step of a process that remembers nothing, from its beginning to its end.
    fn run(&mut self, task: Task) -> Answer {
        let (mut memory, number) = (Memory::default(), &mut self.number);
        let mut bits = || {
            *number += 1;
            fresh::bits(*number, 0)
        };
        let step = Step::new("counter", task, &memory, bits());
        let clocks = Clocks { time: DAWN, local: DAWN, bits };
        let mut flight = Flight::new(By::Command, step, Version::This);
        flight.go(&mut memory, &mut self.store, clocks, None);
        let At::Answer(answer) = flight.at else { panic!("no answer: {flight:?}") };
        answer
    }

    fn group(&self) -> Option<GroupRecord> {
        let text = self.store.records.get(GROUP)?;
        Some(GroupRecord::parse(text).expect("a group"))
    }

    /// Whether the group's record does not show the last promotion yet.
    fn has_unnoted(&self) -> bool {
        self.group().is_none_or(|group| group.identity != self.store.identity)
    }

    /// Whether a client may become a member of another group.
    fn may_enter(&self, who: usize) -> bool {
        self.group()
            .is_some_and(|group| matches!(group.state, Stage::Live(_)) && group.lineage != self.clients[who].group.0)
    }

    fn go(&mut self, who: usize, flight: usize, stop: Option<Stop>) -> bool {
        let Client { memory, flights, group: (_, refuses), .. } = &mut self.clients[who];
        let moment = u64::from(*refuses);
        let (it, _, is_since, _) = &mut flights[flight];
        let number = &mut self.number;
        let bits = || {
            *number += 1;
            fresh::bits(*number, 0)
        };
        let store = self.old.as_mut().filter(|_| who == 0).unwrap_or(&mut self.store);
        let is_there = it.go(memory, store, Clocks { time: DAWN, local: DAWN, bits }, stop);
        self.trespassed |= it.trespasses;
        self.turned_away |= matches!(&it.at, At::Answer(answer) if is_turned_away(answer));
        if !is_there || it.is_paused {
            return is_there;
        }
        self.is_asked |= *is_since;
        let (flight, kind, _, before) = flights.remove(flight);
        self.see();
        let life = flight.step.lineage().and_then(|lineage| self.lives.get(&lineage)).copied().unwrap_or_default();
        if flight.is_heard {
            self.deliver(who, &flight, (kind, life, before), moment);
        } else if matches!(&flight.at, At::Answer(Answer::Number(_))) && kind != Kind::Take {
            self.clients[who].life = Some(life); // which it created, and remembers
        }
        true
    }

    /// Notes an answer, with its life, or with the moment of the past.
    fn deliver(&mut self, who: usize, flight: &Flight, (kind, life, before): (Kind, u64, Before), moment: u64) {
        let own = &mut self.clients[who].life;
        match (&flight.at, kind) {
            (At::Answer(Answer::Number(number)), Kind::Open | Kind::Take) => {
                let (ms, given) = (Ms(1 << number), self.given.entry(life.max(moment)).or_default());
                self.duplicate |= !given.and(ms).is_empty();
                *given = given.or(ms);
                self.went_on |= self.skips == 0;
                let is_next =
                    kind == Kind::Take && before.own.is_some_and(|before| before != life) && *own != Some(life);
                self.outlived |= life != 0 && (life <= before.ended || is_next);
                *own = Some(life);
            }
            (At::Answer(Answer::Number(_)), Kind::Skip) => *own = Some(life),
            (At::Answer(Answer::Done), Kind::End) => self.ended = self.over.last().copied().unwrap_or_default(),
            _ => {}
        }
    }
}

impl Counting {
    fn may(&self, numbers: &Numbers, doing: Doing) -> bool {
        let left = |trouble: Trouble| numbers.left[trouble as usize] > 0;
        // If nothing may be left, a process that does not know the counter would start again.
        let is_settled = !numbers.is_any(Kind::Skip) && !numbers.is_any(Kind::Open) && !numbers.given.is_empty();
        let is_unborn_on_its_way = numbers.store.late.iter().any(|swap| swap.from.is_none());
        match doing {
            Doing::Go(_, _, Some(stop)) => left(stop.trouble()),
            Doing::Arrive(_, true) => left(Trouble::Again),
            Doing::Lose(..) => left(Trouble::Loss) && is_settled && !is_unborn_on_its_way,
            Doing::Split(_) => left(Trouble::Split) && is_settled && !is_unborn_on_its_way,
            Doing::Rejoin => numbers.old.is_some(),
            Doing::Flush => left(Trouble::Flush) && is_settled && !is_unborn_on_its_way,
            Doing::Restart => left(Trouble::Restart),
            Doing::End(_) => left(Trouble::Destroy) && !numbers.given.is_empty(),
            Doing::Forget if self.past && numbers.has_unnoted() => false,
            Doing::Forget => left(Trouble::Forget) && numbers.is_asked && !numbers.store.identity.history.is_empty(),
            Doing::Follow => left(Trouble::Remove),
            Doing::Enter(who) => self.past && numbers.may_enter(who),
            Doing::Renew => self.past && left(Trouble::Forget),
            _ => true,
        }
    }

    fn spend(doing: Doing) -> Option<Trouble> {
        match doing {
            Doing::Go(_, _, Some(stop)) => Some(stop.trouble()),
            Doing::Arrive(_, true) => Some(Trouble::Again),
            Doing::Lose(..) => Some(Trouble::Loss),
            Doing::Split(_) => Some(Trouble::Split),
            Doing::Flush => Some(Trouble::Flush),
            Doing::Restart => Some(Trouble::Restart),
            Doing::End(_) => Some(Trouble::Destroy),
            Doing::Forget => Some(Trouble::Forget),
            Doing::Follow => Some(Trouble::Remove),
            _ => None,
        }
    }

    /// The options of a group's members.
    fn config(&self) -> GroupConfig {
        let (ttl_ms, skew_ms, durable) = (2, 0, self.durable);
        GroupConfig { fingerprint: "one".to_owned(), slots: 1, ttl_ms, skew_ms, durable }
    }

    fn loses(&self) -> bool {
        self.troubles.iter().any(|(trouble, _)| matches!(trouble, Trouble::Loss | Trouble::Flush | Trouble::Split))
    }
}

impl Model for Counting {
    type State = Numbers;
    type Action = Doing;

    fn init_states(&self) -> Vec<Numbers> {
        let mut left = [0; TROUBLES];
        for (trouble, times) in self.troubles {
            left[*trouble as usize] = *times;
        }
        let (life, group) = (None, (fresh::NONCES, false));
        let client = |version| Client { version, memory: Memory::default(), flights: Vec::new(), life, group };
        let mut clients = vec![client(Version::This); self.clients - 1];
        clients.push(client(self.newest));
        let mut store = Store::new(0, self.hows.contains(&How::Position));
        if self.past {
            let (identity, state) = (store.identity.clone(), Stage::Live(self.config()));
            let (lineage, nonce) = (fresh::NONCES, fresh::NONCES);
            let group = GroupRecord { state, life: 1, lineage, identity, nonce, ..GroupRecord::default() };
            store.records.insert(GROUP.to_owned(), group.text().into());
        }
        vec![Numbers {
            store: store.into(),
            old: None,
            clients,
            given: BTreeMap::new(),
            lives: BTreeMap::new(),
            over: BTreeSet::new(),
            ended: 0,
            ends: 0,
            outlived: false,
            left,
            takes: self.takes,
            skips: self.skips,
            duplicate: false,
            trespassed: false,
            turned_away: false,
            went_on: false,
            is_asked: false,
            number: 2,
        }]
    }

    fn actions(&self, numbers: &Numbers, out: &mut Vec<Doing>) {
        if numbers.duplicate || numbers.outlived {
            return;
        }
        for (who, client) in numbers.clients.iter().enumerate() {
            for (flight, (it, ..)) in client.flights.iter().enumerate() {
                if it.is_heard && it.is_paused {
                    out.push(Doing::TimeOut(who, flight));
                }
                if who == 0 && numbers.old.is_some() && it.is_hopeless() {
                    continue;
                }
                out.push(Doing::Go(who, flight, None));
                let stops = [Stop::BeforeRead, Stop::BeforeSwap, Stop::AfterSwap, Stop::Unheard, Stop::Late];
                out.extend(
                    stops
                        .into_iter()
                        .filter(|stop| {
                            let is_here = it.is_paused && Stop::before(&it.at) == *stop;
                            !is_here && (*stop != Stop::BeforeRead || !it.is_swapping())
                        })
                        .map(|stop| Doing::Go(who, flight, Some(stop))),
                );
            }
            // A client's calls are sequential; an abandoned one continues.
            if client.flights.iter().all(|(it, ..)| !it.is_heard) {
                if numbers.takes > 0 {
                    out.push(Doing::Take(who));
                }
                if numbers.skips > 0 && !numbers.given.is_empty() {
                    out.push(Doing::Skip(who));
                }
                out.push(Doing::End(who));
            }
        }
        for late in 0..numbers.store.late.len() {
            out.extend([Doing::Arrive(late, false), Doing::Arrive(late, true)]);
        }
        let may_lose = [Trouble::Loss, Trouble::Split].iter().any(|trouble| numbers.left[*trouble as usize] > 0);
        if may_lose && numbers.store.saved.is_none() && !numbers.store.records.is_empty() {
            out.push(Doing::Save);
        }
        for left in self.lefts {
            if *left != Left::Saved || numbers.store.saved.is_some() {
                out.extend(self.hows.iter().map(|how| Doing::Lose(*left, *how)));
            }
        }
        out.extend(numbers.store.replicated().map(Doing::Split));
        out.extend([Doing::Rejoin, Doing::Flush, Doing::Restart, Doing::Forget, Doing::Follow, Doing::Renew]);
        out.extend((0..self.clients).map(Doing::Enter));
        out.retain(|doing| self.may(numbers, *doing));
    }

    fn next_state(&self, before: &Numbers, doing: Doing) -> Option<Numbers> {
        let mut numbers = before.clone();
        if let Some(trouble) = Self::spend(doing) {
            numbers.left[trouble as usize] -= 1;
        }
        match doing {
            Doing::Take(who) => {
                numbers.takes -= 1;
                let is_first = !numbers.store.is_touched && !numbers.is_any(Kind::Open);
                let opens = numbers.is_over() || if self.loses() { is_first } else { numbers.given.is_empty() };
                let task = match self.past {
                    true => {
                        let lineage = numbers.clients[who].group.0;
                        Task::Past { record: Counter::Span(7).record(), by: 1, lineage }
                    }
                    false => Task::Advance { by: 1, init: opens.then_some(0), durable: self.durable },
                };
                numbers.begin(who, if opens { Kind::Open } else { Kind::Take }, task);
            }
            Doing::Skip(who) => {
                numbers.skips -= 1;
                let task = Task::SkipTo { place: numbers.top(), durable: self.durable };
                numbers.begin(who, Kind::Skip, task);
            }
            Doing::End(who) => {
                numbers.ends += 1;
                numbers.begin(who, Kind::End, Task::DestroyCounter);
            }
            Doing::Go(who, flight, stop) => {
                if !numbers.go(who, flight, stop) {
                    return None;
                }
            }
            Doing::TimeOut(0, flight) if numbers.old.is_some() => {
                numbers.clients[0].flights.remove(flight); // its write is done already
            }
            Doing::TimeOut(who, flight) => numbers.clients[who].flights[flight].0.is_heard = false,
            Doing::Arrive(late, again) => {
                let store = Arc::make_mut(&mut numbers.store);
                let swap = if again { store.late[late].clone() } else { store.late.remove(late) };
                store.swap(&swap);
            }
            Doing::Save => {
                let has_split = self.troubles.iter().any(|(trouble, _)| *trouble == Trouble::Split);
                Arc::make_mut(&mut numbers.store).save(has_split);
            }
            Doing::Lose(left, how) => {
                numbers.number += 1;
                let number = numbers.number;
                Arc::make_mut(&mut numbers.store).lose((left, how), 0, 0, number);
                (numbers.is_asked, numbers.ended) = (false, 0);
                if how == How::Told {
                    numbers.run(if self.past { Task::PastRestored } else { Task::CounterRestored });
                }
                let flights = numbers.clients.iter_mut().flat_map(|client| &mut client.flights);
                flights.for_each(|(.., is_since, before)| (*is_since, before.ended) = (false, 0));
            }
            Doing::Split(left) => {
                numbers.number += 1;
                let number = numbers.number;
                numbers.old = Some(numbers.store.cut_off(DAWN - 1).into());
                Arc::make_mut(&mut numbers.store).lose((left, How::Promotion), 0, 0, number);
                numbers.is_asked = false;
            }
            Doing::Rejoin => numbers.old = None,
            Doing::Flush => {
                let store = Arc::make_mut(&mut numbers.store);
                store.records.clear();
                store.drop_late();
            }
            Doing::Restart => {
                numbers.number += 1;
                let process = format!("{SERVER}{}", numbers.number);
                Arc::make_mut(&mut numbers.store).identity.process = process;
            }
            Doing::Forget => Arc::make_mut(&mut numbers.store).identity.history = String::new(),
            Doing::Follow => {
                let is_live = numbers.group().is_some_and(|group| matches!(group.state, Stage::Live(_)));
                numbers.run(if is_live { Task::Destroy } else { Task::Create(self.config()) });
            }
            Doing::Enter(who) => {
                let lineage = numbers.group()?.lineage;
                let used = numbers.run(Task::Used { slots: Vec::new(), lineage });
                numbers.clients[who].group = (lineage, matches!(used, Answer::Used(Some(_))));
                // A member drops what the store gives it in an earlier group.
                numbers.clients[who].flights.iter_mut().for_each(|(it, ..)| it.is_heard = false);
            }
            Doing::Renew => {
                let held = Renewal { owner: 1, slot: 0, hi: DAWN };
                numbers.run(Task::Renew(self.config(), held));
                numbers.is_asked = true;
            }
        }
        numbers.see();
        Some(numbers)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(NO_NUMBER_TWICE, |_, numbers: &Numbers| !numbers.duplicate),
            Property::always(KEEPS_OFF, |_, numbers: &Numbers| !numbers.trespassed),
            Property::sometimes(TURNED_AWAY, |_, numbers: &Numbers| numbers.turned_away),
            Property::always(STAYS_ENDED, |_, numbers: &Numbers| !numbers.outlived),
            Property::always(ENDS_ONE, |_, numbers: &Numbers| numbers.over.len() <= numbers.ends),
            Property::sometimes(ALL_GIVEN, |_, numbers: &Numbers| numbers.given.values().any(|given| given.0 & 7 == 7)),
            Property::sometimes(BEGAN_ANEW, |_, numbers: &Numbers| numbers.given.len() > 1),
            Property::sometimes(WENT_ON, |_, numbers: &Numbers| numbers.went_on),
        ]
    }
}
