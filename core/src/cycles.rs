//! The CPU's cycle counter, for one purpose: to know cheaply that the tick read a moment ago is not
//! over yet. Reading it costs about 7 ns where the clock costs 24.
//!
//! A counter is used only where it runs at a constant rate and has been measured against the monotonic
//! clock; everywhere else [`per_ms`] stays 0, which means: read the real clock each time. Nothing here
//! is needed for uniqueness, which rests on the cursor alone.
//!
//! This file must never overestimate: an error has to make [`per_ms`] smaller than it is.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long to watch the counter before believing its rate: the two readings of the clock are each off
/// by less than a microsecond, so the rate is off by less than 0.02 %.
const WATCH: Duration = Duration::from_millis(10);

/// The first reading of clock and counter; `None` where the counter is not steady. Asked once: CPUID takes microseconds
/// in a virtual machine.
static ANCHOR: OnceLock<Option<(Instant, u64)>> = OnceLock::new();
static PER_MS: AtomicU64 = AtomicU64::new(0);

/// The counter; 0 where this CPU has none that can be used.
#[inline(always)]
pub fn now() -> u64 {
    counter::read()
}

/// Cycles in a millisecond, or 0: unknown. The first calls calibrate, over real time that passes anyway.
#[inline]
pub fn per_ms() -> u64 {
    match PER_MS.load(Relaxed) {
        0 => calibrate(),
        known => known,
    }
}

#[cold]
fn calibrate() -> u64 {
    // Counter after clock here, clock after counter below: a thread suspended between the two readings
    // makes the interval look longer in time, so the rate comes out too small, which is the safe side.
    let anchor = ANCHOR.get_or_init(|| counter::is_steady().then(|| (Instant::now(), counter::read())));
    let Some((started, from)) = *anchor else { return 0 };
    let cycles = counter::read().wrapping_sub(from);
    let elapsed = started.elapsed();
    if elapsed < WATCH {
        return 0;
    }
    let per_ms = u128::from(cycles) * 1_000_000 / elapsed.as_nanos();
    let per_ms = u64::try_from(per_ms).unwrap_or(0);
    PER_MS.store(per_ms, Relaxed);
    per_ms
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod counter {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    #[inline(always)]
    pub fn read() -> u64 {
        // SAFETY: RDTSC is in every x86-64 CPU, reads no memory and has no precondition.
        unsafe { _rdtsc() }
    }

    /// Whether the CPU says that its counter runs at one rate in every power state ("invariant TSC").
    pub fn is_steady() -> bool {
        const POWER_MANAGEMENT: u32 = 0x8000_0007;
        const INVARIANT_TSC: u32 = 1 << 8;
        #[allow(unused_unsafe)] // an unsafe function in older compilers that we support, a safe one in this
        // SAFETY: CPUID is in every x86-64 CPU and reads no memory.
        let cpuid = |leaf| unsafe { __cpuid(leaf) };
        cpuid(0x8000_0000).eax >= POWER_MANAGEMENT && cpuid(POWER_MANAGEMENT).edx & INVARIANT_TSC != 0
    }
}

#[cfg(all(target_arch = "aarch64", any(target_os = "linux", target_os = "macos")))]
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

    /// The architecture's generic timer has one rate by definition.
    pub fn is_steady() -> bool {
        true
    }
}

#[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", any(target_os = "linux", target_os = "macos")))))]
mod counter {
    #[inline(always)]
    pub fn read() -> u64 {
        0
    }

    pub fn is_steady() -> bool {
        false
    }
}
