//! All rules of slots together, against the central promise: no two grants of a slot share a millisecond. Members of one
//! store alternate at random, with every kind of accident between a read and a swap. The model in `tests/model` searches much
//! further; this is quick.

use flakeforge_core::lease::grants::memory::{Limits, Memory};
use flakeforge_core::lease::grants::record::GroupConfig;
use flakeforge_core::lease::grants::task::{Answer, Ask, Granted, Task};
use flakeforge_core::lease::messages::Owner;
use proptest::prelude::*;

use crate::store::*;

const LIMITS: Limits = Limits { longest_ttl_ms: 20, usual_skew_ms: 3, create_within_ms: 2, most_returns: 2 };
const CONFIG: fn(i64) -> GroupConfig =
    |ttl_ms| GroupConfig { fingerprint: String::new(), slots: 2, ttl_ms, skew_ms: 3, durable: false };

#[derive(Clone, Debug)]
enum Doing {
    /// a member continues its step, or starts one
    Go(usize, Fate),
    /// the caller of a step gives up
    Drop(usize),
    /// a member gives its slot back, with this much of its window unused
    Release(usize, i64),
    Destroy(usize),
    /// the store forgets its changes since the last `Remember`, and shows that
    Remember,
    Lose,
    Restart,
    Flush,
    Later(i64),
}

fn doing() -> impl Strategy<Value = Doing> {
    let fate = prop_oneof![8 => Just(Fate::Done), 1 => Just(Fate::Unheard), 1 => Just(Fate::Dropped)];
    let later = prop_oneof![6 => 0i64..3, 2 => 5i64..25, 1 => -3i64..0];
    prop_oneof![
        60 => (0usize..3, fate).prop_map(|(member, fate)| Doing::Go(member, fate)),
        3 => (0usize..3).prop_map(Doing::Drop),
        3 => (0usize..3, 0i64..30).prop_map(|(member, rest)| Doing::Release(member, rest)),
        1 => (0usize..3).prop_map(Doing::Destroy),
        2 => Just(Doing::Remember),
        2 => Just(Doing::Lose),
        1 => Just(Doing::Restart),
        1 => Just(Doing::Flush),
        15 => later.prop_map(Doing::Later),
    ]
}

struct Member {
    client: Client,
    running: Option<(Running, Option<Owner>)>,
    held: Option<(Owner, Granted)>,
}

/// SlotRecord, life, owner, and what it may have used.
type Used = (u32, Owner, i64, i64);

struct World {
    store: Store,
    saved: Store,
    highest: i64,
    owners: Owner,
    members: Vec<Member>,
    used: Vec<Used>,
    ttl_ms: i64,
}

impl World {
    fn new(ttl_ms: i64) -> Self {
        let mut store = Store::empty();
        store.now = 100;
        let members = (1..=3)
            .map(|seed| {
                let mut client = Client::new(seed);
                client.memory = Memory::with_limits(LIMITS);
                Member { client, running: None, held: None }
            })
            .collect();
        Self { saved: store.clone(), store, highest: 100, owners: 0, members, used: Vec::new(), ttl_ms }
    }

    fn begin(&mut self, member: usize) {
        let config = CONFIG(self.ttl_ms);
        let Member { client, running, held } = &mut self.members[member];
        let (task, owner) = match held {
            Some((owner, Granted { slot, hi, .. })) => (renew(&config, *owner, *slot, *hi), *owner),
            None => {
                self.owners += 1;
                (join(&config, self.owners, "h"), self.owners)
            }
        };
        *running = Some((Running::new(client, task), Some(owner)));
    }

    fn go(&mut self, place: usize, fate: Fate) {
        if self.members[place].running.is_none() {
            self.begin(place);
        }
        let member = &mut self.members[place];
        let Some((running, owner)) = &mut member.running else { return };
        if !matches!(running.ask, Ask::Done(_)) {
            running.go(&mut self.store, &mut member.client, fate);
        }
        let Ask::Done(answer) = &running.ask else { return };
        match (answer, *owner) {
            (Answer::Granted(granted), Some(owner)) => {
                // As in `lease.rs`: a record that came back may start earlier than the held window.
                let lo = member.held.map_or(granted.lo, |(_, held)| held.lo.max(granted.lo));
                member.held = Some((owner, Granted { lo, ..*granted }));
                self.used.push((granted.slot, owner, lo, granted.hi));
            }
            (Answer::Lost | Answer::Destroyed, Some(_)) => member.held = None,
            _ => {}
        }
        member.running = None;
    }

    fn release(&mut self, place: usize, rest: i64) {
        let config = CONFIG(self.ttl_ms);
        let member = &mut self.members[place];
        if member.running.is_some() {
            return;
        }
        let Some((owner, granted)) = member.held.take() else { return };
        let last = granted.hi - rest;
        for mine in self.used.iter_mut().filter(|mine| mine.1 == owner && mine.3 > last) {
            mine.3 = last; // it knew how far it had got
        }
        member.running = Some((Running::new(&mut member.client, release(&config, owner, granted.slot, last)), None));
    }

    fn take(&mut self, doing: Doing) {
        match doing {
            Doing::Go(place, fate) => self.go(place, fate),
            Doing::Drop(place) => self.members[place].running = None,
            Doing::Release(place, rest) => self.release(place, rest),
            Doing::Destroy(place) => {
                let member = &mut self.members[place];
                if member.running.is_none() {
                    member.running = Some((Running::new(&mut member.client, Task::Destroy), None));
                }
            }
            Doing::Remember => self.saved = self.store.clone(),
            Doing::Lose => {
                let mut identity = self.store.identity.clone();
                identity.history.push('+');
                self.store = Store { identity, now: self.store.now, ..self.saved.clone() };
            }
            Doing::Restart => self.store.restart(),
            Doing::Flush => self.store.records.clear(),
            Doing::Later(by) => {
                self.store.now = (self.store.now + by).max(self.highest - 3);
                self.highest = self.highest.max(self.store.now);
            }
        }
    }

    fn overlap(&self) -> Option<(Used, Used)> {
        self.used.iter().enumerate().find_map(|(place, one)| {
            let is_shared = |two: &&Used| one.0 == two.0 && one.1 != two.1 && one.2.max(two.2) <= one.3.min(two.3);
            self.used[place + 1..].iter().find(is_shared).map(|two| (*one, *two))
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn no_millisecond_of_a_slot_is_granted_twice(
        ttl_ms in prop_oneof![Just(20i64), Just(8)],
        steps in prop::collection::vec(doing(), 50..250),
    ) {
        let mut world = World::new(ttl_ms);
        for doing in steps {
            world.take(doing);
        }
        prop_assert_eq!(world.overlap(), None);
    }
}

/// A store that never grants would pass the test above.
#[test]
fn members_without_accidents_hold_slots() {
    let mut world = World::new(20);
    for turn in 0..300 {
        world.take(Doing::Go(turn % 3, Fate::Done));
        world.take(Doing::Later(1));
    }
    assert!(world.used.len() > 50, "{}", world.used.len());
    assert_eq!(world.members.iter().filter(|member| member.held.is_some()).count(), 2);
    assert_eq!(world.overlap(), None);
}
