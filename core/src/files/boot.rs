//! Which boot of the machine this is: a number that no two boots have in common.
//!
//! After a crash of the machine, the page of a file may be older than the last number taken from it. So those who open
//! a file must know whether the machine has crashed since. Mistaking another boot for this one makes equal IDs.
//! Mistaking this boot for another one only costs a wait.
//!
//! The time of the last boot proves nothing: it is computed from the clock, and a machine whose clock has no battery
//! starts at the same time each time. Only something that a crash certainly erases proves it: the kernel's own number,
//! or a number that was kept in memory.
//!
//! This file must never identify a boot by something that another boot may find again.

#[cfg(target_os = "linux")]
pub use linux::named_in;

/// The ID of this boot; `None` if nothing identifies it with certainty.
pub fn this() -> Option<u128> {
    kernels().or_else(in_memory)
}

/// Linux has a number for each boot. macOS has one too, but without foreign code only a program can read it.
fn kernels() -> Option<u128> {
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

#[cfg(target_os = "linux")]
fn in_memory() -> Option<u128> {
    named_in(std::path::Path::new("/dev/shm"))
}

#[cfg(not(target_os = "linux"))]
fn in_memory() -> Option<u128> {
    None
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{File, OpenOptions};
    use std::io::{Read, Write};
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::Path;

    use crate::files::filesystem::{OnFileSystem, TMPFS};

    /// A number of 128 random bits that a user's first process leaves in a folder for the later ones; `None` unless the
    /// folder is in memory. A file of another user is not trusted: that user may put the same one there after each
    /// boot.
    pub fn named_in(folder: &Path) -> Option<u128> {
        folder.kind().filter(|&kind| kind == TMPFS)?;
        let user = rustix::process::geteuid().as_raw();
        let path = folder.join(format!("flakeforge-boot-{user}"));
        if let Ok(mut file) = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            let mut number = [0; 16];
            File::open("/dev/urandom").ok()?.read_exact(&mut number).ok()?;
            file.write_all(&number).ok()?;
        }
        let no_link = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK; // and no FIFO, which would wait
        let mut file = OpenOptions::new().read(true).custom_flags(no_link.bits() as i32).open(&path).ok()?;
        let found = file.metadata().ok()?;
        let is_ours = found.is_file() && found.uid() == user && found.mode() & 0o022 == 0;
        (&file).kind().filter(|&kind| kind == TMPFS && is_ours)?;
        let mut number = [0; 16];
        file.read_exact(&mut number).ok()?; // it may be empty: its creator is writing it, or was killed
        Some(u128::from_ne_bytes(number)).filter(|&boot| boot != 0)
    }
}
