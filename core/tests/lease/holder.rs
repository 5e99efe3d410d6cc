//! The holder's state machine, event by event. The model in `tests/model` shows that no order of events generates an ID
//! twice; these tests cover what a user of a lease would notice.

use flakeforge_core::lease::Machine;
use flakeforge_core::lease::messages::{Action, Asked, Event, Failure, Grant, News, Owner, State, Timing, Why};

const CONFIG: Timing = Timing { ttl_ms: 30_000, wait_ms: 90_000 };
const T: i64 = 1_700_000_000_000;

/// A lease whose tokens are 1000, 2000 … in the order of its steps. Each token adds its own jitter.
struct Holder {
    machine: Machine,
    fresh: Owner,
}

fn holder() -> Holder {
    Holder { machine: Machine::new(CONFIG), fresh: 0 }
}

fn grant(owner: Owner, lo: i64) -> Grant {
    Grant { owner, slot: 3, lo, hi: lo + 30_000 }
}

/// The renewal by a holder that was answered the window of [`grant`] at `T`.
fn renewal(owner: Owner) -> Action {
    Action::Renew { owner, slot: 3, hi: T + 30_000 }
}

fn is_renewal(actions: &[Action]) -> bool {
    matches!(actions, [Action::Renew { owner: 1000, .. }])
}

fn refused(owner: Owner, failure: Failure) -> Event {
    Event::Failed { asked: Asked::Acquire, owner, failure }
}

fn unrenewed(owner: Owner, failure: Failure) -> Event {
    Event::Failed { asked: Asked::Renew, owner, failure }
}

impl Holder {
    /// The actions of a step without its `Wait`.
    fn step(&mut self, now: i64, event: Event) -> Vec<Action> {
        self.all(now, event).into_iter().filter(|action| !matches!(action, Action::Wait { .. })).collect()
    }

    /// All actions of a step. If a cursor is to be opened, it is opened, and the actions of the next step follow.
    fn all(&mut self, now: i64, event: Event) -> Vec<Action> {
        let mut actions = self.one(now, event);
        if let Some(&Action::Open(Grant { owner, .. })) = actions.last() {
            actions.extend(self.machine.step(now, Event::Opened { owner }, self.fresh));
        }
        actions
    }

    /// The actions of one step only.
    fn one(&mut self, now: i64, event: Event) -> Vec<Action> {
        self.fresh += 1000;
        self.machine.step(now, event, self.fresh)
    }

    /// The actions after a grant that cannot be opened because its node number is in use.
    fn in_use(&mut self, now: i64, grant: Grant) -> Vec<Action> {
        assert_eq!(self.one(now, Event::Granted(grant)), [Action::Open(grant)]);
        self.step(now, Event::InUse { owner: grant.owner })
    }

    /// When this step wants to be woken.
    fn wait(&mut self, now: i64, event: Event) -> i64 {
        let actions = self.all(now, event);
        let Some(Action::Wait { at }) = actions.last() else { panic!("no wait: {actions:?}") };
        *at
    }

    /// Attached with token 1000 since `T`.
    fn attached() -> Self {
        let mut holder = holder();
        assert_eq!(holder.step(T, Event::Attach), [Action::Acquire { owner: 1000 }]);
        let opened = [Action::Open(grant(1000, T)), Action::Tell(News::Attached), Action::Resolve];
        assert_eq!(holder.step(T, Event::Granted(grant(1000, T))), opened);
        holder
    }

    /// Attached, with the first renewal in progress.
    fn renewing(now: i64) -> Self {
        let mut holder = Self::attached();
        assert_eq!(holder.step(now, Event::Time), [renewal(1000)]);
        holder
    }
}

#[test]
fn attach_acquires_opens_and_resolves() {
    let mut holder = Holder::attached();
    assert_eq!(holder.machine.state(), State::Attached);
    assert_eq!(holder.machine.held(), Some(grant(1000, T)));
    assert_eq!(holder.step(T + 1, Event::Attach), [Action::Resolve]);
}

#[test]
fn it_opens_when_the_local_clock_has_reached_the_window() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.wait(T, Event::Granted(grant(1000, T + 700))), T + 700);
    assert_eq!(holder.machine.state(), State::Detached);
    assert_eq!(holder.machine.held(), None);
    assert_eq!(holder.step(T + 699, Event::Time), [], "a timer that came early");
    let opened = [Action::Open(grant(1000, T + 700)), Action::Tell(News::Attached), Action::Resolve];
    assert_eq!(holder.step(T + 701, Event::Time), opened);
}

#[test]
fn a_slot_never_opened_is_released_as_unused() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.step(T, Event::Granted(grant(1000, T + 700)));
    let given_back = [Action::GiveBack { owner: 1000, slot: 3 }, Action::Reject(Why::Detached)];
    assert_eq!(holder.step(T + 1, Event::Detach), given_back);
}

#[test]
fn renewals_come_every_third_of_the_ttl_give_or_take_a_tenth() {
    let mut seen = std::collections::BTreeSet::new();
    for fresh in 0..=2000 {
        let mut machine = Machine::new(CONFIG);
        machine.step(T, Event::Attach, 7);
        machine.step(T + 5, Event::Granted(grant(7, T)), fresh);
        let actions = machine.step(T + 5, Event::Opened { owner: 7 }, 7);
        let Some(Action::Wait { at }) = actions.last() else { panic!("no wait") };
        assert!((9_000..=11_000).contains(&(at - T)), "{}", at - T);
        seen.insert(at - T);
    }
    assert_eq!(seen.len(), 2001, "spread over all of it, and counted from the question");
}

#[test]
fn a_renewal_raises_the_window() {
    let mut holder = Holder::renewing(T + 12_000);
    assert!(holder.machine.is_renewing());
    assert!(!Holder::attached().machine.is_renewing());
    let renewed = Event::Renewed { owner: 1000, lo: T, hi: T + 42_000 };
    let raised = [Action::Raise { lo: T, hi: T + 42_000 }, Action::Tell(News::Renewed)];
    assert_eq!(holder.step(T + 12_005, renewed), raised);
    assert_eq!(holder.machine.held(), Some(Grant { owner: 1000, slot: 3, lo: T, hi: T + 42_000 }));
    assert_eq!(holder.step(T + 12_006, renewed), [], "it was not requested");
}

#[test]
fn failed_renewals_are_repeated_sooner_and_forever() {
    let mut holder = Holder::renewing(T + 12_000);
    let mut now = T + 12_000;
    let mut pauses = Vec::new();
    for _ in 0..60 {
        let at = holder.wait(now, unrenewed(1000, Failure::Store));
        assert!(holder.machine.renewals_fail(now));
        pauses.push(at - now);
        assert_eq!(holder.step(at, Event::Time), [renewal(1000)]);
        now = at;
    }
    assert!((90..=110).contains(&pauses[0]), "{pauses:?}");
    assert!(pauses[20..].iter().all(|pause| (4_500..=5_500).contains(pause)), "{pauses:?}");
    holder.step(now, Event::Renewed { owner: 1000, lo: T, hi: now + 30_000 });
    assert!(!holder.machine.renewals_fail(now));
}

#[test]
fn the_first_failed_renewal_of_an_outage_is_reported() {
    let mut holder = Holder::renewing(T + 12_000);
    let failed = |holder: &mut Holder, now| holder.step(now, unrenewed(1000, Failure::Store));
    for now in [T + 12_000, T + 30_000] {
        assert_eq!(failed(&mut holder, now), [Action::Tell(News::RenewalFailed)]);
        for later in [now + 200, now + 600] {
            assert!(is_renewal(&holder.step(later, Event::Time)));
            assert_eq!(failed(&mut holder, later), [], "once for each outage");
        }
        assert!(is_renewal(&holder.step(now + 1_500, Event::Time)));
        holder.step(now + 1_500, Event::Renewed { owner: 1000, lo: T, hi: now + 30_000 });
        assert!(is_renewal(&holder.step(now + 8_000 + 10_000, Event::Time)));
    }
}

#[test]
fn a_renewal_without_an_answer_is_reported_at_half_of_the_window() {
    let mut holder = Holder::renewing(T + 12_000);
    assert_eq!(holder.wait(T + 12_001, Event::Time), T + 15_000);
    assert_eq!(holder.step(T + 14_999, Event::Time), []);
    assert_eq!(holder.step(T + 15_000, Event::Time), [Action::Tell(News::RenewalFailed)]);
    assert_eq!(holder.step(T + 16_000, Event::Time), [], "once for each outage");
    assert_eq!(holder.step(T + 20_000, unrenewed(1000, Failure::Store)), []);
    assert!(is_renewal(&holder.step(T + 20_200, Event::Time)));
    holder.step(T + 20_200, Event::Renewed { owner: 1000, lo: T, hi: T + 50_200 });
    assert!(is_renewal(&holder.step(T + 31_500, Event::Time)));
    assert_eq!(holder.step(T + 35_200, Event::Time), [Action::Tell(News::RenewalFailed)], "and of the next one");
}

#[test]
fn a_renewal_that_fails_before_the_window_starts_is_not_reported() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.step(T, Event::Granted(grant(1000, T + 60_000)));
    assert!(is_renewal(&holder.step(T + 12_000, Event::Time)));
    assert_eq!(holder.step(T + 12_000, unrenewed(1000, Failure::Store)), []);
}

#[test]
fn a_call_that_is_refused_after_a_long_sleep_renews_at_once() {
    let mut holder = Holder::attached();
    assert_eq!(holder.step(T + 45_000, Event::Time), [renewal(1000)], "though no timer has fired");
}

#[test]
fn a_renewal_without_an_answer_counts_as_failed_in_the_end() {
    let holder = Holder::renewing(T + 12_000);
    assert!(!holder.machine.renewals_fail(T + 22_000), "after one interval, not at its end");
    assert!(holder.machine.renewals_fail(T + 22_001));
}

#[test]
fn in_a_quiet_period_the_holder_keeps_its_window_and_asks_again() {
    let mut holder = Holder::renewing(T + 12_000);
    let quiet = Failure::Quiet { until: T + 50_000, store_now: T + 12_000 };
    let at = holder.wait(T + 12_000, unrenewed(1000, quiet));
    assert!((9_000..=11_000).contains(&(at - T - 12_000)), "{}", at - T);
    assert_eq!(holder.machine.state(), State::Attached);
    holder.step(at, Event::Time);
    // A new window: the time before it may belong to another holder.
    let renewed = Event::Renewed { owner: 1000, lo: T + 50_001, hi: T + 80_001 };
    let raised = Action::Raise { lo: T + 50_001, hi: T + 80_001 };
    assert_eq!(holder.step(T + 50_002, renewed)[0], raised);
}

#[test]
fn a_lost_slot_is_sealed_and_another_one_sought_forever() {
    let mut holder = Holder::renewing(T + 12_000);
    let lost = [Action::Retire, Action::Tell(News::Lost), Action::Acquire { owner: 3000 + 1000 }];
    assert_eq!(holder.step(T + 12_001, Event::Lost { owner: 1000 }), lost);
    assert_eq!(holder.machine.state(), State::Detached);
    let mut now = T + 12_001;
    for failure in [Failure::Store, Failure::Skew, Failure::Quiet { until: T + 500_000, store_now: T }].repeat(40) {
        assert!(holder.machine.is_recovering());
        let at = holder.wait(now, refused(4000, failure));
        assert!(at > now && at <= now + 11_000);
        now = at;
        assert_eq!(holder.step(now, Event::Time), [Action::Acquire { owner: 4000 }]);
    }
    let opened = [Action::Open(grant(4000, now)), Action::Tell(News::Attached)];
    assert_eq!(holder.step(now, Event::Granted(grant(4000, now))), opened);
    assert!(!holder.machine.is_recovering());
}

#[test]
fn a_permanent_failure_ends_a_recovery() {
    let mut holder = Holder::renewing(T + 12_000);
    holder.step(T + 12_001, Event::Lost { owner: 1000 });
    assert_eq!(holder.step(T + 12_002, refused(4000, Failure::Fatal)), [Action::Tell(News::Detached)]);
    assert_eq!(holder.step(T + 60_000, Event::Time), []);
}

#[test]
fn attach_during_a_recovery_waits_as_long_as_it_may() {
    let mut holder = Holder::renewing(T + 12_000);
    holder.step(T + 12_001, Event::Lost { owner: 1000 });
    assert_eq!(holder.step(T + 12_002, Event::Attach), []);
    assert_eq!(holder.step(T + 12_003, refused(4000, Failure::Store)), []);
    assert_eq!(holder.step(T + 30_000, Event::Time), [Action::Acquire { owner: 4000 }]);
    let rejected = [Action::Reject(Why::Refused(Failure::Store))];
    assert_eq!(holder.step(T + 12_002 + 90_000, refused(4000, Failure::Store)), rejected);
    assert!(holder.machine.is_recovering(), "it continues on its own nevertheless");
}

#[test]
fn at_start_a_store_that_is_down_is_an_error_at_once() {
    for failure in [Failure::Store, Failure::Skew, Failure::Fatal] {
        let mut holder = holder();
        holder.step(T, Event::Attach);
        assert_eq!(holder.step(T, refused(1000, failure)), [Action::Reject(Why::Refused(failure))]);
        assert_eq!(holder.step(T + 60_000, Event::Time), []);
        assert_eq!(holder.step(T + 60_000, Event::Attach), [Action::Acquire { owner: 4000 }]);
    }
}

#[test]
fn at_start_a_store_that_takes_no_writes_for_now_is_asked_until_the_wait_is_over() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    let mut now = T;
    while now < T + 90_000 {
        let at = holder.wait(now, refused(1000, Failure::Passing));
        assert!(at > now && at <= now + 5_500 && at <= T + 90_000, "often, and once more at the very end");
        now = at;
        assert_eq!(holder.step(now, Event::Time), [Action::Acquire { owner: 1000 }]);
    }
    assert_eq!(holder.step(now, refused(1000, Failure::Passing)), [Action::Reject(Why::Refused(Failure::Passing))]);
    assert_eq!(holder.step(now + 60_000, Event::Time), []);
}

#[test]
fn attach_waits_out_a_quiet_period_if_it_may_wait_that_long() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    // The store's clock is 3 s behind the local one: only differences between the store's own times count.
    let quiet = |now: i64, until: i64| Failure::Quiet { until: until - 3_000, store_now: now - 3_000 };
    let mut now = T;
    while now < T + 65_000 {
        let at = holder.wait(now, refused(1000, quiet(now, T + 65_000)));
        assert!(at > now && at <= now + 11_000 && at < T + 67_000);
        now = at;
        assert_eq!(holder.step(now, Event::Time), [Action::Acquire { owner: 1000 }]);
    }
    assert_eq!(holder.step(now, Event::Granted(grant(1000, now)))[0], Action::Open(grant(1000, now)));
}

#[test]
fn a_quiet_period_that_is_too_long_is_an_error_at_once() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    let quiet = |until| Failure::Quiet { until, store_now: T };
    assert_eq!(holder.step(T, refused(1000, quiet(T + 90_000))), [], "that long it may wait");
    assert_eq!(holder.step(T + 12_000, Event::Time), [Action::Acquire { owner: 1000 }]);
    let too_long = Failure::Quiet { until: T + 90_001, store_now: T + 12_000 };
    assert_eq!(holder.step(T + 12_000, refused(1000, too_long)), [Action::Reject(Why::Refused(too_long))]);
}

#[test]
fn a_full_group_is_asked_until_the_end_of_the_wait() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    let mut now = T;
    let mut asked = 1;
    loop {
        let full = Failure::Exhausted { retry_at: now + 29_000, store_now: now };
        let actions = holder.all(now, refused(1000, full));
        let Some(Action::Wait { at }) = actions.last() else {
            assert_eq!(actions, [Action::Reject(Why::Refused(full))]);
            break;
        };
        assert!(*at <= now + 11_000, "others may release");
        now = *at;
        asked += 1;
        assert_eq!(holder.step(now, Event::Time), [Action::Acquire { owner: 1000 }]);
    }
    assert_eq!(now, T + 90_000, "the last chance is at the very end");
    assert!((9..15).contains(&asked), "{asked}");
}

#[test]
fn the_last_look_at_a_full_group_begins_early_enough_for_its_answer() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    let (mut now, took) = (T, 1_700);
    loop {
        now += took;
        let full = Failure::Exhausted { retry_at: now + 29_000, store_now: now };
        let actions = holder.all(now, refused(1000, full));
        let Some(Action::Wait { at }) = actions.last() else {
            assert_eq!(actions, [Action::Reject(Why::Refused(full))]);
            break;
        };
        now = *at;
        assert_eq!(holder.step(now, Event::Time), [Action::Acquire { owner: 1000 }]);
    }
    assert!((T + 90_000 - took..=T + 90_000).contains(&now), "{}", now - T);
}

#[test]
fn without_a_waiting_time_a_caller_does_not_wait() {
    for failure in [Failure::Exhausted { retry_at: T + 1, store_now: T }, Failure::Quiet { until: T + 1, store_now: T }]
    {
        let mut machine = Machine::new(Timing { wait_ms: 0, ..CONFIG });
        machine.step(T, Event::Attach, 1);
        let rejected = [Action::Reject(Why::Refused(failure))];
        assert_eq!(machine.step(T, refused(1, failure), 2), rejected);
    }
}

#[test]
fn detach_seals_before_it_releases() {
    let mut holder = Holder::attached();
    let detached = [Action::Retire, Action::Tell(News::Detached), Action::Release { owner: 1000, slot: 3 }];
    assert_eq!(holder.all(T + 5, Event::Detach), detached, "and waits for nothing");
    assert_eq!(holder.machine.state(), State::Detached);
    assert!(!holder.machine.is_settled());
    assert_eq!(holder.step(T + 6, Event::Attach), [], "not before the slot is free");
    let released = holder.step(T + 7, Event::Released { owner: 1000 });
    assert_eq!(released, [Action::Acquire { owner: 4000 }]);
}

#[test]
fn detach_does_not_wait_for_a_renewal() {
    let mut holder = Holder::renewing(T + 12_000);
    let actions = holder.step(T + 12_001, Event::Detach);
    assert_eq!(actions.last(), Some(&Action::Release { owner: 1000, slot: 3 }));
    let renewed = Event::Renewed { owner: 1000, lo: T, hi: T + 42_000 };
    assert_eq!(holder.step(T + 12_002, renewed), [], "once the cursor is retired, nothing is heard");
    assert_eq!(holder.step(T + 12_002, Event::Lost { owner: 1000 }), []);
    holder.step(T + 12_003, Event::Released { owner: 1000 });
    assert!(holder.machine.is_settled());
    assert_eq!(holder.all(T + 90_000, Event::Time), []);
}

#[test]
fn a_grant_after_detach_is_released() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.step(T + 1, Event::Detach), [Action::Reject(Why::Detached)]);
    let granted = Event::Granted(grant(1000, T));
    assert_eq!(holder.step(T + 2, granted), [Action::GiveBack { owner: 1000, slot: 3 }]);
    assert_eq!(holder.step(T + 3, granted), [], "once");
    holder.step(T + 4, Event::Released { owner: 1000 });
    assert!(holder.machine.is_settled());
}

#[test]
fn an_abandoned_acquisition_is_resumed() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.step(T + 1, Event::Detach);
    assert_eq!(holder.step(T + 2, Event::Attach), [], "its answer is on the way");
    assert_eq!(holder.step(T + 3, Event::Granted(grant(1000, T)))[0], Action::Open(grant(1000, T)));
}

#[test]
fn answers_to_other_requests_are_ignored() {
    let mut holder = Holder::renewing(T + 12_000);
    let before = holder.machine.clone();
    for event in [
        Event::Granted(grant(1000, T + 5)),
        Event::Granted(grant(9, T)),
        Event::Renewed { owner: 9, lo: T, hi: T + 99_000 },
        Event::Lost { owner: 9 },
        Event::Destroyed { asked: Asked::Renew, owner: 9 },
        Event::Released { owner: 9 },
        Event::Released { owner: 1000 },
        refused(9, Failure::Fatal),
    ] {
        assert_eq!(holder.step(T + 12_000, event), []);
        assert_eq!(holder.machine, before, "{event:?}");
    }
}

#[test]
fn a_destroyed_group_is_final_for_its_members() {
    let mut holder = Holder::renewing(T + 12_000);
    let end = [Action::Retire, Action::Tell(News::Destroyed)];
    assert_eq!(holder.all(T + 12_001, Event::Destroyed { asked: Asked::Renew, owner: 1000 }), end);
    assert_eq!(holder.machine.state(), State::Destroyed);
    assert_eq!(holder.step(T + 12_002, Event::Attach), [Action::Reject(Why::Destroyed)]);
    for event in [Event::Detach, Event::Time, Event::Destroy, Event::Ended] {
        assert_eq!(holder.all(T + 90_000, event), []);
    }
}

#[test]
fn destroy_changes_nothing_before_the_store_has_done_it() {
    let mut holder = Holder::attached();
    assert_eq!(holder.step(T + 1, Event::Destroy), [Action::End]);
    assert_eq!(holder.machine.state(), State::Attached);
    assert_eq!(holder.step(T + 2, Event::Ended), [Action::Retire, Action::Tell(News::Destroyed)]);
    assert_eq!(holder.machine.state(), State::Destroyed);
}

#[test]
fn destroy_rejects_waiting_callers() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.step(T, Event::Destroy);
    let destroyed = [Action::Tell(News::Destroyed), Action::Reject(Why::Destroyed)];
    assert_eq!(holder.step(T, Event::Ended), destroyed);
    assert_eq!(holder.step(T, Event::Granted(grant(1000, T))), []);
}

#[test]
fn a_clock_set_back_does_not_put_renewals_off() {
    let mut holder = Holder::attached();
    let renew = [renewal(1000)];
    assert_eq!(Holder::attached().step(T - 60_000, Event::Time), renew, "a minute");
    assert_eq!(holder.step(T - 3_600_000, Event::Time), renew, "an hour");
    let at = holder.wait(T - 3_600_000, unrenewed(1000, Failure::Skew));
    assert!(at < T - 3_590_000);
}

#[test]
fn a_clock_set_back_does_not_put_off_the_end_of_a_wait() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    let full = |now| Failure::Exhausted { retry_at: now + 500, store_now: now };
    holder.step(T - 3_600_000, refused(1000, full(T)));
    holder.step(T - 3_600_000 + 90_000, Event::Time);
    let rejected = holder.step(T - 3_600_000 + 90_000, refused(1000, full(T)));
    assert!(matches!(rejected[..], [Action::Reject(_)]), "{rejected:?}");
}

#[test]
fn a_process_that_was_stopped_for_hours_asks_first() {
    let mut holder = Holder::attached();
    assert_eq!(holder.step(T + 9_000_000, Event::Time), [renewal(1000)]);
    let lost = holder.step(T + 9_000_001, Event::Lost { owner: 1000 });
    assert_eq!(lost[..2], [Action::Retire, Action::Tell(News::Lost)]);
}

// --- the end of a wait ---

#[test]
fn a_waiting_time_ends_although_the_store_is_silent_and_the_late_grant_goes_back() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.step(T + 90_900, Event::GiveUp), [Action::Reject(Why::Late)]);
    assert_eq!(holder.machine.state(), State::Detached);
    assert!(!holder.machine.is_settled());
    let granted = Event::Granted(grant(1000, T));
    assert_eq!(holder.step(T + 200_000, granted), [Action::GiveBack { owner: 1000, slot: 3 }]);
    holder.step(T + 200_001, Event::Released { owner: 1000 });
    assert!(holder.machine.is_settled());
}

#[test]
fn a_window_that_has_not_begun_when_the_wait_is_over_goes_back_unused() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.step(T, Event::Granted(grant(1000, T + 4_900))), []);
    let given_back = [Action::GiveBack { owner: 1000, slot: 3 }, Action::Reject(Why::Ahead)];
    assert_eq!(holder.all(T - 3_600_000, Event::GiveUp), given_back, "and waits for nothing");
    assert_eq!(holder.step(T + 5_000, Event::Time), []);
}

#[test]
fn giving_up_ends_no_recovery() {
    for lo in [T + 12_002, T + 90_000_000] {
        let mut holder = Holder::renewing(T + 12_000);
        holder.step(T + 12_001, Event::Lost { owner: 1000 });
        holder.step(T + 12_001, Event::Attach);
        if lo > T + 12_002 {
            assert_eq!(holder.step(T + 12_002, Event::Granted(grant(4000, lo))), []);
            assert_eq!(holder.step(T + 12_003, Event::GiveUp), [Action::Reject(Why::Ahead)]);
        } else {
            assert_eq!(holder.step(T + 12_003, Event::GiveUp), [Action::Reject(Why::Late)]);
            assert_eq!(holder.step(lo, Event::Granted(grant(4000, lo)))[0], Action::Open(grant(4000, lo)));
        }
    }
}

// --- a search without a waiting caller ---

#[test]
fn after_a_failed_attach_a_slot_is_sought_until_one_is_open() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    let rejected = [Action::Reject(Why::Refused(Failure::Store))];
    assert_eq!(holder.step(T, refused(1000, Failure::Store)), rejected);
    assert_eq!(holder.step(T + 1, Event::Seek), [Action::Acquire { owner: 3000 }]);
    let mut now = T + 1;
    let full = Failure::Exhausted { retry_at: T + 500, store_now: T };
    for failure in [Failure::Store, full, Failure::Quiet { until: T + 500_000, store_now: T }].repeat(40) {
        assert!(holder.machine.is_recovering());
        assert_eq!(holder.machine.state(), State::Detached);
        now = holder.wait(now, refused(3000, failure));
        assert_eq!(holder.step(now, Event::Time), [Action::Acquire { owner: 3000 }]);
    }
    let opened = [Action::Open(grant(3000, now)), Action::Tell(News::Attached)];
    assert_eq!(holder.step(now, Event::Granted(grant(3000, now))), opened);
    assert!(!holder.machine.is_recovering());
}

#[test]
fn giving_up_during_a_continued_search_only_ends_the_wait() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.step(T + 1, Event::Seek), []);
    assert_eq!(holder.step(T + 2, Event::GiveUp), [Action::Reject(Why::Late)]);
    assert!(holder.machine.is_recovering());
    assert_eq!(holder.step(T + 3, Event::Granted(grant(1000, T)))[0], Action::Open(grant(1000, T)));
}

#[test]
fn a_search_without_a_waiting_caller_takes_a_pending_grant() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.step(T + 1, Event::GiveUp);
    assert_eq!(holder.step(T + 2, Event::Seek), []);
    assert_eq!(holder.step(T + 3, Event::Granted(grant(1000, T)))[0], Action::Open(grant(1000, T)));
}

#[test]
fn permanent_failures_and_detach_end_a_search_without_a_waiting_caller() {
    for end in [refused(1000, Failure::Fatal), Event::Detach] {
        let mut holder = holder();
        assert_eq!(holder.step(T, Event::Seek), [Action::Acquire { owner: 1000 }]);
        assert_eq!(holder.step(T + 1, end), [Action::Tell(News::Detached)]);
        assert!(!holder.machine.is_recovering());
        assert_eq!(holder.step(T + 60_000, Event::Time), []);
    }
}

#[test]
fn a_holder_with_a_slot_or_a_destroyed_group_seeks_none() {
    let mut ended = holder();
    ended.step(T, Event::Ended);
    for mut holder in [Holder::attached(), Holder::renewing(T + 12_000), ended] {
        let before = holder.machine.clone();
        assert_eq!(holder.step(T + 1, Event::Seek), []);
        assert_eq!(holder.machine, before);
    }
}

#[test]
fn without_a_waiting_caller_there_is_nothing_to_give_up() {
    for mut holder in [holder(), Holder::attached(), Holder::renewing(T + 12_000)] {
        let before = holder.machine.clone();
        assert_eq!(holder.step(T + 1, Event::GiveUp), []);
        assert_eq!(holder.machine, before);
    }
}

// --- renew now ---

#[test]
fn a_file_that_failed_is_looked_at_once_for_each_attachment() {
    let mut holder = Holder::attached();
    assert_eq!(holder.step(T + 1, Event::RenewNow), [renewal(1000)]);
    holder.step(T + 2, Event::Renewed { owner: 1000, lo: T, hi: T + 30_000 });
    assert_eq!(holder.step(T + 3, Event::RenewNow), [], "it is still held, according to the store");

    assert_eq!(holder.step(T + 12_000, Event::Time), [renewal(1000)]);
    let fresh = 1000 + holder.fresh;
    assert_eq!(holder.step(T + 12_001, Event::Lost { owner: 1000 })[2], Action::Acquire { owner: fresh });
    assert_eq!(holder.step(T + 12_002, Event::RenewNow), [], "nothing is held");
    holder.step(T + 12_003, Event::Granted(grant(fresh, T)));
    assert_eq!(holder.step(T + 12_004, Event::RenewNow), [renewal(fresh)], "the next one");
}

#[test]
fn a_renewal_that_is_on_its_way_may_have_been_too_early() {
    let mut holder = Holder::renewing(T + 12_000);
    assert_eq!(holder.step(T + 12_001, Event::RenewNow), []);
    holder.step(T + 12_002, Event::Renewed { owner: 1000, lo: T, hi: T + 42_000 });
    assert_eq!(
        holder.step(T + 12_003, Event::RenewNow),
        [Action::Renew { owner: 1000, slot: 3, hi: T + 42_000 }],
        "with the end that was answered last"
    );
}

// --- node numbers that are already in use ---

/// A grant of another slot.
fn grant_of(slot: u32, owner: Owner, lo: i64) -> Grant {
    Grant { slot, ..grant(owner, lo) }
}

#[test]
fn a_slot_in_use_is_set_aside_until_another_one_is_open() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.in_use(T, grant_of(0, 1000, T)), [Action::Acquire { owner: 3000 }], "with another token");
    assert_eq!(holder.in_use(T, grant_of(1, 3000, T)), [Action::Acquire { owner: 5000 }]);
    assert_eq!(holder.machine.state(), State::Detached);
    let opened = [
        Action::Open(grant_of(2, 5000, T)),
        Action::Tell(News::Attached),
        Action::Resolve,
        Action::GiveBack { owner: 1000, slot: 0 },
        Action::GiveBack { owner: 3000, slot: 1 },
    ];
    assert_eq!(holder.step(T, Event::Granted(grant_of(2, 5000, T))), opened);
    assert!(holder.machine.is_settled(), "no caller waits for those");
    assert_eq!(holder.step(T + 1, Event::Released { owner: 1000 }), []);
    assert_eq!(holder.step(T + 1, Event::Detach).last(), Some(&Action::Release { owner: 5000, slot: 2 }), "once");
}

#[test]
fn slots_set_aside_are_released_when_the_search_fails() {
    let full = Failure::Exhausted { retry_at: T + 500, store_now: T };
    let mut waiting = holder();
    waiting.step(T, Event::Attach);
    waiting.in_use(T, grant(1000, T));
    assert_eq!(waiting.step(T, refused(3000, full)), [Action::GiveBack { owner: 1000, slot: 3 }]);
    assert_eq!(waiting.step(T + 2_000, Event::Time), [Action::Acquire { owner: 3000 }], "and it keeps looking");

    let mut hasty = Holder { machine: Machine::new(Timing { wait_ms: 0, ..CONFIG }), fresh: 0 };
    hasty.step(T, Event::Attach);
    hasty.in_use(T, grant(1000, T));
    let ended = [Action::GiveBack { owner: 1000, slot: 3 }, Action::Reject(Why::Refused(full))];
    assert_eq!(hasty.step(T, refused(3000, full)), ended);
}

#[test]
fn slots_set_aside_are_released_however_the_search_ends() {
    let given_back = Action::GiveBack { owner: 1000, slot: 3 };
    let ends = [Event::Detach, Event::GiveUp, Event::Ended, Event::Destroyed { asked: Asked::Acquire, owner: 3000 }];
    for event in ends {
        let mut holder = holder();
        holder.step(T, Event::Attach);
        holder.in_use(T, grant(1000, T));
        assert!(holder.step(T, event).contains(&given_back), "{event:?}");
        assert!(!holder.step(T + 1, Event::Detach).contains(&given_back), "{event:?}: once");
    }
}

#[test]
fn a_renewal_of_a_slot_in_use_delays_no_caller() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.step(T, Event::Granted(grant(1000, T + 15_000)));
    let renewal = Action::Renew { owner: 1000, slot: 3, hi: T + 45_000 };
    assert_eq!(holder.step(T + 12_000, Event::Time), [renewal]);
    assert_eq!(holder.one(T + 15_000, Event::Time), [Action::Open(grant(1000, T + 15_000))]);
    let acquire = [Action::Acquire { owner: 5000 }];
    assert_eq!(holder.step(T + 15_000, Event::InUse { owner: 1000 }), acquire);
    assert_eq!(holder.step(T + 15_001, Event::Lost { owner: 1000 }), []);
}

#[test]
fn a_store_that_grants_the_slot_again_is_asked_later() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    holder.in_use(T, grant(1000, T));
    let both = [Action::GiveBack { owner: 1000, slot: 3 }, Action::GiveBack { owner: 3000, slot: 3 }];
    assert_eq!(holder.in_use(T, grant(3000, T)), both);
    let at = holder.wait(T, Event::RenewNow);
    assert!(at > T && at < T + 1_000, "{at}");
    let fresh = holder.fresh;
    assert_eq!(holder.step(at, Event::Time), [Action::Acquire { owner: fresh - 1000 }]);
}

#[test]
fn a_lost_slot_is_replaced_by_one_that_is_not_in_use() {
    let mut holder = Holder::renewing(T + 12_000);
    holder.step(T + 12_001, Event::Lost { owner: 1000 });
    let acquire = [Action::Acquire { owner: 6000 }];
    assert_eq!(holder.in_use(T + 12_001, grant_of(0, 4000, T)), acquire);
    let opened =
        [Action::Open(grant_of(1, 6000, T)), Action::Tell(News::Attached), Action::GiveBack { owner: 4000, slot: 0 }];
    assert_eq!(holder.step(T + 12_001, Event::Granted(grant_of(1, 6000, T))), opened);
}

#[test]
fn only_the_slot_to_be_opened_is_asked_whether_it_opened() {
    let mut holder = Holder::attached();
    let before = holder.machine.clone();
    for owner in [1000, 7] {
        for event in [Event::Opened { owner }, Event::InUse { owner }] {
            holder.step(T, event);
            assert_eq!(holder.machine, before, "{event:?}");
        }
    }
}

// --- which request an event answers ---

#[test]
fn a_late_answer_to_the_renewal_does_not_settle_the_release() {
    for late in [
        unrenewed(1000, Failure::Store),
        Event::Renewed { owner: 1000, lo: T, hi: T + 42_000 },
        Event::Lost { owner: 1000 },
        Event::Destroyed { asked: Asked::Renew, owner: 1000 },
    ] {
        let mut holder = Holder::renewing(T + 12_000);
        holder.step(T + 12_001, Event::Detach);
        assert_eq!(holder.step(T + 12_002, late), []);
        assert!(!holder.machine.is_settled(), "{late:?}");
        assert_eq!(holder.step(T + 12_002, Event::Attach), [], "not before the slot is free");
    }
}

#[test]
fn a_window_that_was_renewed_before_it_began_opens_where_it_begins_now() {
    let mut holder = holder();
    holder.step(T, Event::Attach);
    assert_eq!(holder.step(T, Event::Granted(grant(1000, T + 20_000))), [], "it has not begun");
    let renewal = Action::Renew { owner: 1000, slot: 3, hi: T + 50_000 };
    assert_eq!(holder.step(T + 11_000, Event::Time), [renewal]);
    let renewed = Event::Renewed { owner: 1000, lo: T + 90_000, hi: T + 120_000 };
    assert_eq!(holder.step(T + 11_001, renewed), []);
    let opened = Action::Open(Grant { hi: T + 120_000, ..grant(1000, T + 90_000) });
    assert_eq!(holder.step(T + 90_000, Event::Time)[0], opened);
}

#[test]
fn a_failed_release_delays_no_caller() {
    let mut holder = Holder::attached();
    holder.step(T + 1, Event::Detach);
    assert_eq!(holder.step(T + 2, Event::Attach), []);
    let failed = Event::Failed { asked: Asked::Release, owner: 1000, failure: Failure::Store };
    assert_eq!(holder.step(T + 3, failed), [Action::Acquire { owner: 4000 }], "it is no refusal");
}

#[test]
fn slots_come_free_for_all_but_not_all_at_once() {
    let full = Failure::Exhausted { retry_at: T + 5_000, store_now: T };
    let times: std::collections::BTreeSet<i64> = (0..=1000).map(|fresh| retry_of(full, fresh)).collect();
    assert_eq!(times.len(), 1001);
    assert_eq!((times.first(), times.last()), (Some(&(T + 5_000)), Some(&(T + 6_000))));
}

/// When a refused lease asks again.
fn retry_of(failure: Failure, fresh: Owner) -> i64 {
    let mut machine = Machine::new(CONFIG);
    machine.step(T, Event::Attach, 7);
    let actions = machine.step(T, refused(7, failure), fresh);
    let Some(Action::Wait { at }) = actions.last() else { panic!("no wait: {actions:?}") };
    *at
}
