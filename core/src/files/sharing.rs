//! Opening files on Windows, where each open handle also determines what others may do with the file meanwhile. On other
//! systems, these functions do nothing special.
//!
//! A file in use has to stay in place, because on Windows its path identifies it. So its users allow no removal and no
//! renaming. Windows refuses to open a file in contradiction to existing handles. Waits are short, because another program
//! may keep a file open forever.

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

/// Requests the right to remove the file, in addition to reading or writing it. While it is open, the file cannot be opened
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

/// Whether a file could not be opened because of existing handles.
pub(crate) fn is_refused(error: &io::Error) -> bool {
    cfg!(windows) && error.raw_os_error() == Some(windows::ERROR_SHARING_VIOLATION)
}

/// Opens a file once existing handles allow it. A process that creates one blocks others for less than a millisecond.
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

/// From winnt.h and winerror.h.
#[cfg_attr(not(windows), expect(dead_code))]
mod windows {
    pub(super) const GENERIC_READ: u32 = 0x8000_0000;
    pub(super) const GENERIC_WRITE: u32 = 0x4000_0000;
    pub(super) const DELETE: u32 = 0x0001_0000;
    pub(super) const FILE_SHARE_READ: u32 = 1;
    pub(super) const FILE_SHARE_WRITE: u32 = 2;
    pub(super) const ERROR_SHARING_VIOLATION: i32 = 32;
}
