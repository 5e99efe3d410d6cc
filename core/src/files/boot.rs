//! Which boot of the machine this is: a number that no two boots have in common.
//!
//! After a crash of the machine, the page of a file may be older than the last number taken from it. So those who open
//! a file must know whether the machine has crashed since. Mistaking another boot for this one makes equal IDs.
//! Mistaking this boot for another one only costs a wait.
//!
//! The time of the last boot proves nothing: it is computed from the clock, and a machine whose clock has no battery
//! starts at the same time each time. Only the kernel's own number proves it, which a crash certainly erases.
//!
//! This file must never identify a boot by something that another boot may find again.

/// The ID of this boot; `None` if nothing identifies it with certainty.
///
/// Linux has a number for each boot. macOS has one too, but without foreign code only a program can read it.
pub fn this() -> Option<u128> {
    let text = if cfg!(target_os = "linux") {
        std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()
    } else if cfg!(target_os = "macos") {
        let told = std::process::Command::new("/usr/sbin/sysctl").args(["-n", "kern.bootsessionuuid"]).output();
        told.ok().and_then(|told| String::from_utf8(told.stdout).ok())
    } else {
        None
    };
    u128::from_str_radix(&text?.trim().replace('-', ""), 16).ok().filter(|&boot| boot != 0)
}
