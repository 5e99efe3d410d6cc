//! The ID of the current boot. No two boots share an ID.
//!
//! After a machine crash, the page of a file may be older than the last number taken from it. So a process that opens a file
//! has to know whether the machine has crashed since. Mistaking another boot for this one causes equal IDs; mistaking this
//! boot for another one only costs a wait.

/// The ID of this boot; `None` if nothing identifies it with certainty.
///
/// Linux has an ID for each boot. So does macOS, but without foreign code only a program can read it.
///
/// The boot time proves nothing: it is computed from the clock, and a machine whose clock has no battery always starts at the
/// same time. Only the kernel's own boot ID is proof, because a crash certainly erases it.
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
