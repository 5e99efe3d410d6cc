//! How files are opened on Windows, where each way of opening a file also says what others may do with it meanwhile. On
//! other systems all of this does nothing.
//!
//! A file that is in use must stay in its place, because on Windows its path says which file it is. So whoever uses one
//! lets nobody remove or rename it. The system refuses to open a file in contradiction to those who have it open.
//!
//! This file must never wait for long: the program that has a file open may never close it.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Lets others read and write the file, but not remove or rename it.
pub(crate) fn keep_in_place(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        options.share_mode(windows::FILE_SHARE_READ | windows::FILE_SHARE_WRITE);
    }
    options
}

/// Asks for the right to remove the file, beside that to read or to write it. As long as it is open, nobody can open it
/// as above.
pub(crate) fn as_its_remover(options: &mut OpenOptions, writes: bool) -> &mut OpenOptions {
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        let access = if writes { windows::GENERIC_WRITE } else { windows::GENERIC_READ };
        options.access_mode(access | windows::DELETE);
    }
    options.read(!writes).write(writes)
}

/// Whether a file could not be opened because of those who have it open.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    cfg!(windows) && error.raw_os_error() == Some(windows::ERROR_SHARING_VIOLATION)
}

/// Opens a file once those who have it open allow it. Whoever makes one keeps others off for less than a millisecond.
pub(crate) fn open(options: &OpenOptions, path: &Path) -> io::Result<File> {
    const TRIES: usize = 200;
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(5);
    for _ in 1..TRIES {
        match options.open(path) {
            Err(error) if is_refused(&error) => std::thread::sleep(PAUSE),
            opened => return opened,
        }
    }
    options.open(path)
}

/// As winnt.h and winerror.h have them.
#[cfg_attr(not(windows), expect(dead_code))]
mod windows {
    pub(super) const GENERIC_READ: u32 = 0x8000_0000;
    pub(super) const GENERIC_WRITE: u32 = 0x4000_0000;
    pub(super) const DELETE: u32 = 0x0001_0000;
    pub(super) const FILE_SHARE_READ: u32 = 1;
    pub(super) const FILE_SHARE_WRITE: u32 = 2;
    pub(super) const ERROR_SHARING_VIOLATION: i32 = 32;
}
