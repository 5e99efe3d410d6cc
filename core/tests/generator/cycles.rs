//! The rate of the cycle counter: what is needed before a rate is trusted, and which rates are never trusted.

use flakeforge_core::generator::cycles::{self, Reading, Watch};
use proptest::prelude::*;
use std::time::{Duration, Instant, SystemTime};

/// Cycles per millisecond: the counter's real rate.
const RATE: u64 = 2_600_000;

/// What may happen in an interval, besides the passing of time.
#[derive(Clone, Copy, Debug)]
enum Fault {
    Nothing,
    /// the machine is suspended for this many ms: the monotonic clock stands still
    Suspend(u64),
    /// the machine is suspended, and the counter stands still, too
    DeepSuspend(u64),
    /// a virtual machine is halted: its clocks stand still
    Halt(u64),
    /// the clock is set
    StepForward(u64),
    StepBack(u64),
    /// the measuring thread is suspended for this many ms before it reads the clocks, and after it
    Stall(u64),
    /// the counter goes back
    Restart,
}

struct Machine {
    counter: u64,
    monotonic: Instant,
    wall: SystemTime,
}

impl Machine {
    fn new() -> Self {
        Self { counter: 1 << 50, monotonic: Instant::now(), wall: SystemTime::now() }
    }

    fn pass(&mut self, ms: u64) {
        self.counter += ms * RATE;
        self.monotonic += Duration::from_millis(ms);
        self.wall += Duration::from_millis(ms);
    }

    fn read(&mut self, stall: u64) -> Reading {
        let before = self.counter;
        self.pass(stall);
        let (monotonic, wall) = (self.monotonic, self.wall);
        self.pass(stall);
        Reading { before, monotonic, wall, after: self.counter }
    }

    /// The reading at the end of an interval of `ms` milliseconds.
    fn interval(&mut self, ms: u64, fault: Fault) -> Reading {
        self.pass(ms);
        match fault {
            Fault::Nothing => {}
            Fault::Suspend(ms) => {
                self.counter += ms * RATE;
                self.wall += Duration::from_millis(ms);
            }
            Fault::DeepSuspend(ms) | Fault::StepForward(ms) => self.wall += Duration::from_millis(ms),
            Fault::Halt(ms) => self.counter += ms * RATE,
            Fault::StepBack(ms) => self.wall -= Duration::from_millis(ms),
            Fault::Stall(ms) => return self.read(ms),
            Fault::Restart => self.counter /= 2,
        }
        self.read(0)
    }
}

/// The rate that is trusted after intervals of 10 ms with these events.
fn after(faults: &[Fault]) -> u64 {
    let mut machine = Machine::new();
    let mut watch = Watch::new(machine.read(0));
    faults.iter().map(|&fault| watch.look(machine.interval(10, fault))).last().unwrap()
}

#[test]
fn a_rate_counts_once_two_intervals_have_shown_it() {
    use Fault::Nothing;
    assert_eq!(after(&[Nothing]), 0);
    assert_eq!(after(&[Nothing, Nothing]), RATE);
    let mut machine = Machine::new();
    let mut watch = Watch::new(machine.read(0));
    for _ in 0..19 {
        assert_eq!(watch.look(machine.interval(1, Nothing)), 0, "two intervals take 20 ms");
    }
    assert_eq!(watch.look(machine.interval(1, Nothing)), RATE);
}

#[test]
fn a_suspend_during_measurement_does_not_raise_the_rate() {
    use Fault::*;
    for fault in [Suspend(5000), DeepSuspend(5000), Halt(5000), StepForward(5000), StepBack(5000), Stall(5000), Restart]
    {
        assert!(after(&[fault]) <= RATE, "{fault:?}");
        assert!(after(&[fault, Nothing]) <= RATE, "{fault:?}");
        assert!(after(&[Nothing, fault]) <= RATE, "{fault:?}");
        assert!(after(&[Nothing, Nothing, fault]) <= RATE, "{fault:?}");
        assert!(after(&[Nothing, fault, Nothing]) <= RATE, "{fault:?}");
        assert_eq!(after(&[fault, Nothing, Nothing, Nothing]), RATE, "{fault:?}");
    }
    // It is enough that one clock keeps running, even if this happens again and again.
    assert!(after(&[Suspend(5000), Suspend(5000)]) <= RATE);
    assert!(after(&[Restart, Restart]) <= RATE);
}

proptest! {
    #[test]
    fn it_is_never_too_high_and_comes_back(
        faults in prop::collection::vec((1u64..1200, prop_oneof![
            3 => Just(Fault::Nothing),
            1 => (1u64..9000).prop_map(Fault::Suspend),
            1 => (1u64..9000).prop_map(Fault::DeepSuspend),
            1 => (1u64..9000).prop_map(Fault::StepForward),
            1 => (1u64..9000).prop_map(Fault::StepBack),
            1 => (1u64..9000).prop_map(Fault::Stall),
            1 => Just(Fault::Restart),
        ]), 1..20),
    ) {
        let mut machine = Machine::new();
        let mut watch = Watch::new(machine.read(0));
        for (ms, fault) in faults {
            prop_assert!(watch.look(machine.interval(ms, fault)) <= RATE, "{fault:?}");
        }
        let healed = (0..4).map(|_| watch.look(machine.interval(10, Fault::Nothing))).last();
        prop_assert_eq!(healed, Some(RATE));
    }
}

/// Whether the counter of this machine is steady. On x86-64, Linux reports it in /proc/cpuinfo; on arm64 it always is.
#[cfg(all(target_os = "linux", not(miri)))]
fn is_steady() -> bool {
    if !cfg!(target_arch = "x86_64") {
        return cfg!(target_arch = "aarch64");
    }
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap();
    let flags = cpu.lines().find(|line| line.starts_with("flags")).unwrap();
    ["constant_tsc", "nonstop_tsc"].iter().all(|flag| flags.split(' ').any(|word| word == *flag))
}

/// If the counter is steady, its real rate is found.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn this_machine() {
    if !is_steady() {
        assert_eq!(cycles::per_ms(cycles::now()), 0);
        return;
    }
    // If a thread is suspended at the wrong moment, the rate is smaller until it is measured again.
    for _ in 0..1000 {
        let (outer, from) = (Instant::now(), cycles::now());
        let inner = Instant::now();
        std::thread::sleep(Duration::from_millis(20));
        let (least, until) = (inner.elapsed(), cycles::now());
        let most = outer.elapsed();
        let rate = |elapsed: Duration| (until - from) as f64 / (elapsed.as_secs_f64() * 1e3);
        let per_ms = cycles::per_ms(cycles::now()) as f64;
        assert!(per_ms <= rate(least) * 1.001, "{per_ms} cycles in a ms are more than {}", rate(least));
        if per_ms >= rate(most) * 0.99 {
            return;
        }
    }
    panic!("the rate was not found");
}
