//! The store's rules, one by one, and all of them against the promise that no millisecond of a slot is granted twice.

#[cfg(not(loom))]
mod tests {
    use flakeforge_core::grants::{Config, Entry, Granted, Member, Refused, Renewal, Store};
    use flakeforge_core::lease::Owner;
    use proptest::prelude::*;

    fn config(slots: u32) -> Config {
        Config { fingerprint: "flake".to_owned(), slots, ttl_ms: 30_000, skew_ms: 5_000 }
    }

    /// Steps of one group. The clocks of its members show the store's time.
    struct Group {
        store: Store,
        config: Config,
    }

    impl Group {
        fn absent(slots: u32) -> Self {
            Self { store: Store::default(), config: config(slots) }
        }

        fn created(slots: u32) -> Self {
            let mut group = Self::absent(slots);
            group.store.step(0, "g", &group.config).create().unwrap();
            group
        }

        fn open(&mut self, now: i64) -> Result<bool, Refused> {
            self.store.step(now, "g", &self.config).open()
        }

        fn acquire_at(&mut self, now: i64, owner: Owner, host: &str) -> Result<Granted, Refused> {
            self.store.step(now, "g", &self.config).acquire(Member { owner, host, client_now: now })
        }

        fn acquire(&mut self, now: i64, owner: Owner) -> Result<Granted, Refused> {
            self.acquire_at(now, owner, &format!("host {owner}"))
        }

        fn renew(&mut self, now: i64, slot: u32, owner: Owner) -> Result<Renewal, Refused> {
            self.store.step(now, "g", &self.config).renew(slot, owner, now)
        }

        fn release(&mut self, now: i64, slot: u32, owner: Owner, last: i64) {
            self.store.step(now, "g", &self.config).release(slot, owner, last).unwrap();
        }

        fn end(&self, slot: u32) -> i64 {
            self.store.list("g").find(|(number, _)| *number == slot).unwrap().1.hi
        }
    }

    fn granted(slot: u32, lo: i64, hi: i64) -> Granted {
        Granted { slot, lo, hi }
    }

    fn quiet(until: i64) -> Refused {
        Refused::Quiet { until }
    }

    #[test]
    fn open_says_whether_it_made_the_group() {
        let mut group = Group::absent(1);
        assert_eq!((group.open(0), group.open(0)), (Ok(true), Ok(false)));
        group.store.destroy(0, "g");
        assert_eq!((group.open(0), group.open(0)), (Ok(true), Ok(false)), "the one after it is another");
        assert_eq!(group.store.step(0, "g", &group.config).create(), Ok(false));
    }

    #[test]
    fn a_window_reaches_from_now_to_the_ttl() {
        assert_eq!(Group::created(2).acquire(100, 1), Ok(granted(0, 100, 30_100)));
        assert_eq!(Group::created(2).acquire(0, 1), Ok(granted(0, 0, 30_000)), "the first one there is");
    }

    #[test]
    fn a_slot_is_free_when_its_window_is_over() {
        let mut group = Group::created(1);
        group.acquire(100, 1).unwrap();
        assert_eq!(group.acquire(30_100, 2), Err(Refused::Exhausted { retry_at: 30_101 }));
        assert_eq!(group.acquire(30_101, 2), Ok(granted(0, 30_101, 60_101)));
        assert_eq!(group.renew(30_102, 0, 1), Ok(Renewal::Lost));
    }

    #[test]
    fn the_same_token_gets_the_same_answer() {
        let mut group = Group::created(2);
        group.acquire(100, 1).unwrap();
        assert_eq!(group.acquire(200, 1), Ok(granted(0, 100, 30_100)));
        assert_eq!(group.acquire(30_101, 1), Ok(granted(0, 30_101, 60_101)), "not when it is over");
    }

    #[test]
    fn the_order_of_slots() {
        let mut group = Group::created(3);
        group.acquire_at(100, 1, "a").unwrap();
        group.acquire_at(100, 2, "b").unwrap();
        group.release(200, 0, 1, 190);
        group.release(200, 1, 2, 150);
        assert_eq!(group.acquire_at(200, 3, "a").unwrap().slot, 0, "the one this machine had last");
        group.release(210, 0, 3, 205);
        assert_eq!(group.acquire_at(300, 4, "c").unwrap().slot, 2, "one never used");
        assert_eq!(group.acquire_at(300, 5, "d").unwrap().slot, 1, "the one that has rested longest");
        assert_eq!(group.acquire_at(300, 6, "e").unwrap().slot, 0);
        assert!(group.acquire_at(300, 7, "b").is_err(), "a slot this machine had, taken by another");
    }

    #[test]
    fn of_several_slots_of_a_machine_the_one_that_has_rested_longest() {
        let mut group = Group::created(3);
        for owner in 1..=3 {
            group.acquire_at(100, owner, "a").unwrap();
        }
        group.release(200, 0, 1, 180);
        group.release(200, 1, 2, 170);
        group.release(200, 2, 3, 170);
        assert_eq!(group.acquire_at(300, 4, "a").unwrap().slot, 1);
    }

    #[test]
    fn a_renewal_keeps_lo_and_never_lowers_hi() {
        let mut group = Group::created(1);
        group.acquire(10_000, 1).unwrap();
        assert_eq!(group.renew(20_000, 0, 1), Ok(Renewal::Renewed(granted(0, 10_000, 50_000))));
        assert_eq!(group.renew(16_000, 0, 1), Ok(Renewal::Renewed(granted(0, 10_000, 50_000))), "a clock set back");
        assert_eq!(
            group.renew(50_000, 0, 1),
            Ok(Renewal::Renewed(granted(0, 10_000, 80_000))),
            "its last ms is its own"
        );
        assert_eq!(group.renew(80_001, 0, 1), Ok(Renewal::Renewed(granted(0, 80_001, 110_001))), "a window of its own");
        assert_eq!(group.renew(80_002, 0, 2), Ok(Renewal::Lost));
        assert_eq!(group.renew(80_002, 7, 1), Ok(Renewal::Lost), "a slot that does not exist");
    }

    #[test]
    fn a_release_gives_the_rest_of_the_window_back() {
        let mut group = Group::created(1);
        group.acquire(100, 1).unwrap();
        group.release(200, 0, 1, 250); // used by a clock that is ahead
        assert_eq!(group.end(0), 250);
        assert_eq!(group.acquire(250, 2), Err(Refused::Exhausted { retry_at: 251 }));
        assert_eq!(group.acquire(251, 2), Ok(granted(0, 251, 30_251)));
        group.release(260, 0, 1, 100);
        assert_eq!(group.end(0), 30_251, "by its owner only");
    }

    #[test]
    fn a_release_neither_raises_hi_nor_lowers_it_below_the_window() {
        let mut group = Group::created(1);
        group.acquire(100, 1).unwrap();
        group.release(200, 0, 1, 99_000);
        assert_eq!(group.end(0), 30_100);
        group.acquire(40_000, 2).unwrap();
        group.release(40_001, 0, 2, -1);
        assert_eq!(group.end(0), 39_999, "what was before the window is not this owner's to give");
    }

    #[test]
    fn an_absent_group_may_be_a_lost_one() {
        let mut group = Group::absent(1);
        assert_eq!(group.acquire(1_000, 1), Err(quiet(66_001)));
        assert_eq!(group.acquire(66_000, 1), Err(quiet(66_001)));
        assert_eq!(group.acquire(66_001, 1), Ok(granted(0, 66_001, 96_001)));
        let mut group = Group::absent(1);
        group.open(1_000).unwrap();
        assert_eq!(group.renew(1_001, 0, 1), Err(quiet(66_001)));
        group.store.step(1_002, "g", &group.config).create().unwrap();
        assert_eq!(group.acquire(1_003, 1), Err(quiet(66_001)), "create changes nothing about a group that is there");
    }

    #[test]
    fn a_release_makes_no_group() {
        let mut group = Group::absent(1);
        group.release(1_000, 0, 1, 5);
        assert_eq!(group.store, Store::default());
    }

    #[test]
    fn after_a_loss_nothing_is_granted_and_nothing_rises_until_all_that_was_forgotten_is_over() {
        let mut group = Group::created(2);
        group.acquire(100, 1).unwrap();
        group.store.incarnation = 1;
        let until = 1_000 + 30_000 + 5_000 + 1;
        assert_eq!(group.renew(1_000, 0, 1), Err(quiet(until)));
        assert_eq!(group.acquire(2_000, 2), Err(quiet(until)), "counted from the step that saw it first");
        assert_eq!(group.end(0), 30_100);
        assert_eq!(group.renew(until - 1, 0, 1), Err(quiet(until)));
        assert_eq!(group.renew(until, 0, 1), Ok(Renewal::Renewed(granted(0, until, until + 30_000))));
    }

    #[test]
    fn a_second_loss_never_shortens_the_quiet_period() {
        let mut group = Group::absent(1);
        group.open(0).unwrap();
        group.store.incarnation = 1;
        assert_eq!(group.acquire(10_000, 1), Err(quiet(65_001)));
        group.store.incarnation = 2;
        assert_eq!(group.acquire(40_000, 1), Err(quiet(75_001)));
    }

    #[test]
    fn a_release_in_the_quiet_period_keeps_hi() {
        let mut group = Group::created(1);
        group.acquire(100, 1).unwrap();
        group.store.incarnation = 1;
        group.release(1_000, 0, 1, 500);
        assert_eq!(group.end(0), 30_100);
        assert_eq!(group.renew(40_000, 0, 1), Ok(Renewal::Lost), "but it is nobody's any more");
        let mut group = Group::created(1);
        group.acquire(100, 1).unwrap();
        group.store.incarnation = 1;
        assert_eq!(group.renew(1_000, 0, 1), Err(quiet(36_001)));
        group.release(36_001, 0, 1, 500);
        assert_eq!(group.end(0), 500, "the quiet period is over");
    }

    #[test]
    fn members_agree_on_everything_or_nothing_is_written() {
        let mut group = Group::created(2);
        group.acquire(100, 1).unwrap();
        let before = group.store.clone();
        let others = [
            Config { fingerprint: "hazelcast".to_owned(), ..config(2) },
            config(3),
            Config { ttl_ms: 20_000, ..config(2) },
            Config { skew_ms: 4_000, ..config(2) },
        ];
        for other in others {
            let mismatch = Refused::Mismatch(config(2));
            for step in 0..5 {
                group.store = Store { incarnation: 1, ..before.clone() };
                let at = group.store.step(200, "g", &other);
                let refused = match step {
                    0 => at.open().map(|_| ()),
                    1 => at.create().map(|_| ()),
                    2 => at.renew(0, 1, 200).map(|_| ()),
                    3 => at.release(0, 1, 150),
                    _ => at.acquire(Member { owner: 2, host: "h", client_now: 200 }).map(|_| ()),
                };
                assert_eq!(refused, Err(mismatch.clone()));
                assert_eq!(group.store, Store { incarnation: 1, ..before.clone() });
            }
        }
    }

    #[test]
    fn clocks_too_far_apart_are_refused() {
        let mut group = Group::created(1);
        for (client_now, expected) in [(15_001, Some(5_001)), (4_999, Some(-5_001)), (15_000, None), (5_000, None)] {
            let member = Member { owner: 1, host: "h", client_now };
            let refused = group.store.step(10_000, "g", &group.config).acquire(member).err();
            assert_eq!(refused, expected.map(|by| Refused::Skew { by }));
            let refused = group.store.step(10_000, "g", &group.config).renew(0, 1, client_now).err();
            assert_eq!(refused, expected.map(|by| Refused::Skew { by }));
        }
    }

    #[test]
    fn a_bad_clock_still_makes_the_loss_known() {
        let mut group = Group::created(1);
        group.store.incarnation = 1;
        let member = Member { owner: 1, host: "h", client_now: 99_000 };
        assert!(matches!(group.store.step(1_000, "g", &group.config).acquire(member), Err(Refused::Skew { .. })));
        assert_eq!(group.acquire(2_000, 1), Err(quiet(36_001)));
    }

    #[test]
    fn a_destroyed_group_ends_for_its_members_and_the_next_one_starts_above_it() {
        let mut group = Group::created(2);
        group.acquire(100, 1).unwrap();
        group.store.destroy(200, "g");
        assert_eq!(group.renew(300, 0, 1), Ok(Renewal::Destroyed));
        assert_eq!(group.acquire(300, 2), Err(Refused::Destroyed));
        group.release(300, 0, 1, 250);
        assert_eq!(group.store.list("g").count(), 0);
        let before = group.store.clone();
        group.store.destroy(900, "g");
        assert_eq!(group.store, before, "destroyed once");
        group.open(400).unwrap();
        assert_eq!(group.renew(400, 0, 1), Ok(Renewal::Lost));
        assert_eq!(group.acquire(30_100, 2), Err(Refused::Exhausted { retry_at: 30_101 }));
        assert_eq!(group.acquire(30_101, 2), Ok(granted(0, 30_101, 60_101)));
        assert_eq!(group.acquire(30_101, 3), Ok(granted(1, 30_101, 60_101)));
        group.store.destroy(40_000, "g");
        group.store.destroy(50_000, "g");
        group.open(50_000).unwrap();
        assert_eq!(group.acquire(60_101, 4), Err(Refused::Exhausted { retry_at: 60_102 }));
    }

    #[test]
    fn a_group_that_nobody_used_can_be_destroyed_and_begun_at_once() {
        let mut group = Group::created(1);
        group.store.destroy(100, "g");
        group.open(100).unwrap();
        assert_eq!(group.acquire(101, 1), Ok(granted(0, 101, 30_101)));
    }

    #[test]
    fn an_absent_group_that_is_destroyed_may_have_been_lost() {
        let mut group = Group::absent(1);
        group.store.destroy(100, "g");
        group.open(200).unwrap();
        assert_eq!(group.acquire(300, 1), Err(Refused::Exhausted { retry_at: 65_101 }));
    }

    #[test]
    fn destroy_does_not_hide_a_loss() {
        let mut group = Group::created(1);
        group.store.incarnation = 1; // the store forgets a grant that it just made
        group.store.destroy(1_000, "g");
        group.open(1_001).unwrap();
        assert_eq!(group.acquire(1_002, 1), Err(quiet(36_001)));
    }

    #[test]
    fn a_tombstone_that_came_back_hides_no_group_that_followed_it() {
        let mut group = Group::created(1);
        group.store.destroy(1_000, "g");
        group.store.incarnation = 1; // the store forgets the next group and its grants
        group.store.destroy(1_500, "g");
        group.store.step(2_000, "g", &group.config).create().unwrap();
        assert_eq!(group.acquire(2_001, 1), Err(quiet(67_001)));
    }

    #[test]
    fn groups_have_nothing_to_do_with_each_other() {
        let mut group = Group::created(1);
        group.store.step(0, "h", &config(1)).create().unwrap();
        group.acquire(100, 1).unwrap();
        let member = Member { owner: 2, host: "h", client_now: 100 };
        assert_eq!(group.store.step(100, "h", &config(1)).acquire(member), Ok(granted(0, 100, 30_100)));
        assert_eq!(group.store.list("nobody").count(), 0);
        assert!(matches!(group.store.groups["g"], Entry::Live(_)));
    }

    #[derive(Clone, Debug)]
    enum Doing {
        Acquire(usize),
        Renew(usize),
        Release(usize, i64),
        Destroy,
        Open,
        Remember,
        Lose,
    }

    fn doing() -> impl Strategy<Value = (Doing, i64)> {
        let doing = prop_oneof![
            6 => (0usize..4).prop_map(Doing::Acquire),
            6 => (0usize..4).prop_map(Doing::Renew),
            3 => (0usize..4, 0i64..40).prop_map(|(member, used)| Doing::Release(member, used)),
            1 => Just(Doing::Destroy),
            2 => Just(Doing::Open),
            1 => Just(Doing::Remember),
            1 => Just(Doing::Lose),
        ];
        // The store's clock moves forward, and is sometimes set back.
        (doing, prop_oneof![4 => 0i64..8, 1 => 15i64..60, 1 => -3i64..0])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        /// Members use all of every window that they are told of. Whatever is asked, lost or set back within the skew,
        /// nobody uses a millisecond of a slot that someone else used.
        #[test]
        fn no_millisecond_of_a_slot_is_used_twice(steps in prop::collection::vec(doing(), 1..60)) {
            let config = Config { fingerprint: String::new(), slots: 2, ttl_ms: 20, skew_ms: 3 };
            let mut store = Store::default();
            store.step(0, "g", &config).create().unwrap();
            let mut saved = store.clone();
            let mut used: Vec<(u32, Owner, i64, i64)> = Vec::new(); // slot, owner, first, last
            let mut held: [Option<(Owner, Granted)>; 4] = [None; 4];
            let mut fresh: Owner = 0;
            let (mut now, mut highest) = (0, 0);
            for (doing, later) in steps {
                now = (now + later).max(highest - 3).max(0);
                highest = highest.max(now);
                match doing {
                    Doing::Acquire(member) if held[member].is_none() => {
                        fresh += 1;
                        let asks = Member { owner: fresh, host: "h", client_now: now };
                        if let Ok(granted) = store.step(now, "g", &config).acquire(asks) {
                            held[member] = Some((fresh, granted));
                            used.push((granted.slot, fresh, granted.lo, granted.hi));
                        }
                    }
                    Doing::Renew(member) => if let Some((owner, granted)) = held[member] {
                        match store.step(now, "g", &config).renew(granted.slot, owner, now) {
                            Ok(Renewal::Renewed(granted)) => {
                                held[member] = Some((owner, granted));
                                used.push((granted.slot, owner, granted.lo, granted.hi));
                            }
                            Ok(_) => held[member] = None,
                            Err(_) => {}
                        }
                    },
                    Doing::Release(member, rest) => if let Some((owner, granted)) = held[member].take() {
                        let last = granted.hi - rest;
                        for mine in used.iter_mut().filter(|mine| mine.1 == owner && mine.3 > last) {
                            mine.3 = last; // it knew how far it had got
                        }
                        store.step(now, "g", &config).release(granted.slot, owner, last).unwrap();
                    },
                    Doing::Destroy => store.destroy(now, "g"),
                    Doing::Open => {
                        store.step(now, "g", &config).open().unwrap();
                    }
                    Doing::Remember => saved = store.clone(),
                    Doing::Lose => {
                        let incarnation = store.incarnation + 1;
                        store = Store { incarnation, ..saved.clone() };
                    }
                    Doing::Acquire(_) => {}
                }
            }
            for (i, a) in used.iter().enumerate() {
                for b in &used[i + 1..] {
                    let apart = a.0 != b.0 || a.1 == b.1 || a.3 < b.2 || b.3 < a.2;
                    prop_assert!(apart, "{:?} and {:?}", a, b);
                }
            }
        }
    }
}
