//! The CPU's cycle counter, a cheap way to know that a tick read a moment ago is not over yet. Reading it costs about 7 ns;
//! the clock costs 24.
//! A counter is used only if its rate is constant. The rate is measured against the system's clocks, again every second.
//! arm64 has a register with the rate, but firmware sets it and may be wrong. While the rate is unknown, [`per_ms`] is 0,
//! which means: read the real clock each time. Errors make the rate smaller than the true one, never larger. Uniqueness
//! depends on the cursor alone, not on anything here.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant, SystemTime};

use crate::layout::timescale::NS_PER_MS;

/// The shortest interval to measure. A clock reading is off by less than a microsecond, so the rate is off by less than 0.02
/// %.
const SHORTEST: Duration = Duration::from_millis(10);
/// After how many milliseconds a known rate is measured again.
const AGAIN_MS: u64 = 1000;
/// More cycles per millisecond than any counter has: a counter that shows more was reset.
const TOO_MANY: u64 = 1 << 24;

/// Whether its rate is constant. Determined once, because CPUID takes microseconds in a virtual machine.
static IS_STEADY: LazyLock<bool> = LazyLock::new(counter::is_steady);
static PER_MS: AtomicU64 = AtomicU64::new(0);
/// The counter at the time of `PER_MS`.
static FOUND_AT: AtomicU64 = AtomicU64::new(0);
static WATCH: Mutex<Option<Watch>> = Mutex::new(None);

/// The counter; 0 if this CPU has no usable one.
#[inline(always)]
pub fn now() -> u64 {
    counter::read()
}

/// Cycles per millisecond; 0 if unknown. The first calls measure the rate over the time between them. `now` is the value of
/// the counter.
#[inline]
pub fn per_ms(now: u64) -> u64 {
    let known = PER_MS.load(Relaxed);
    if now.wrapping_sub(FOUND_AT.load(Relaxed)) < known * AGAIN_MS { known } else { find() }
}

#[cold]
fn find() -> u64 {
    if !*IS_STEADY {
        return 0;
    }
    let Ok(mut watch) = WATCH.try_lock() else { return PER_MS.load(Relaxed) }; // another thread is measuring
    let watch = watch.get_or_insert_with(|| Watch::new(Reading::now()));
    let per_ms = watch.look(Reading::now());
    PER_MS.store(per_ms, Relaxed);
    FOUND_AT.store(watch.since.after, Relaxed);
    per_ms
}

/// Both clocks, and the counter before and after reading them. An interval runs from one reading's `after` to the next one's
/// `before`. If a thread is suspended in between, the rate is too small, which is the safe side.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// the counter before
    pub before: u64,
    /// the monotonic clock
    pub monotonic: Instant,
    /// the system's clock
    pub wall: SystemTime,
    /// the counter after
    pub after: u64,
}

impl Reading {
    fn now() -> Self {
        let before = now();
        let (monotonic, wall) = (Instant::now(), SystemTime::now());
        Self { before, monotonic, wall, after: now() }
    }
}

/// Measures the rate of a counter, one interval after the other.
///
/// Either clock alone may show too little time, which would make the rate too high: the monotonic clock stands still while
/// the machine is suspended, and the system's clock may be set back. So the longer of the two times counts. If both clocks
/// stood still (a virtual machine was halted), the next interval shows it: of two consecutive intervals, the lower rate
/// counts.
#[derive(Debug)]
pub struct Watch {
    since: Reading,
    last: u64,
    per_ms: u64,
}

impl Watch {
    /// Starts measuring. The rate is unknown at first.
    pub fn new(since: Reading) -> Self {
        Self { since, last: 0, per_ms: 0 }
    }

    /// Cycles per millisecond at this reading; 0 if unknown.
    pub fn look(&mut self, until: Reading) -> u64 {
        let monotonic = until.monotonic.saturating_duration_since(self.since.monotonic);
        let wall = until.wall.duration_since(self.since.wall).unwrap_or_default();
        let elapsed = monotonic.max(wall);
        if elapsed >= SHORTEST {
            let cycles = u128::from(until.before.wrapping_sub(self.since.after));
            let rate = u64::try_from(cycles * u128::from(NS_PER_MS) / elapsed.as_nanos()).unwrap_or(TOO_MANY);
            let rate = if rate < TOO_MANY { rate } else { 0 };
            (self.per_ms, self.last, self.since) = (rate.min(self.last), rate, until);
        }
        self.per_ms
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))] // Miri has no such counter
#[allow(unsafe_code)]
mod counter {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    #[inline(always)]
    pub fn read() -> u64 {
        // SAFETY: RDTSC is in every x86-64 CPU, reads no memory and has no precondition.
        unsafe { _rdtsc() }
    }

    /// Whether the CPU reports that its counter has one rate in every power state ("invariant TSC").
    pub fn is_steady() -> bool {
        const POWER_MANAGEMENT: u32 = 0x8000_0007;
        const INVARIANT_TSC: u32 = 1 << 8;
        #[allow(unused_unsafe)] // unsafe in older supported compilers, safe in this one
        // SAFETY: CPUID is in every x86-64 CPU and reads no memory.
        let cpuid = |leaf| unsafe { __cpuid(leaf) };
        cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && cpuid(POWER_MANAGEMENT).edx & INVARIANT_TSC != 0
    }
}

#[cfg(all(target_arch = "aarch64", any(target_os = "linux", target_os = "macos"), not(miri)))]
#[allow(unsafe_code)]
mod counter {
    use std::arch::asm;

    #[inline(always)]
    pub fn read() -> u64 {
        let count: u64;
        // SAFETY: CNTVCT_EL0 is readable from user space on Linux and macOS; the read touches no memory.
        unsafe { asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) };
        count
    }

    /// The architecture's generic timer has one rate.
    pub fn is_steady() -> bool {
        true
    }
}

#[cfg(any(
    miri,
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", any(target_os = "linux", target_os = "macos"))))
))]
mod counter {
    #[inline(always)]
    pub fn read() -> u64 {
        0
    }

    pub fn is_steady() -> bool {
        false
    }
}
