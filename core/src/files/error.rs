//! Errors of flakeforge's files: which file, what is wrong, and what to do.

use std::io;
use std::path::Path;

use crate::refusal::Refusal;

/// Unix reports this if not even root may write. Rust uses one error kind for it and for missing permissions.
const EPERM: i32 = 1;

impl Refusal {
    /// Something is wrong with the file, which was left unchanged. `why` is the problem and the way out.
    pub(crate) fn file(path: &Path, why: impl Into<String>) -> Self {
        Self::File { path: path.display().to_string(), why: why.into() }
    }

    /// The system refused an action on the file.
    pub(crate) fn io(path: &Path, action: &str, error: &io::Error) -> Self {
        let way_out = match error.kind() {
            _ if has_long_part(path) => ". A name in its path is too long", // Windows may report that it does not exist
            io::ErrorKind::PermissionDenied if error.raw_os_error() == Some(EPERM) => {
                ". The file or its folder may be immutable or append-only. Change that, on Linux with chattr -ia, on macOS with \
                 chflags"
            }
            io::ErrorKind::PermissionDenied => ". Give the user of this process read and write permission",
            io::ErrorKind::ReadOnlyFilesystem => ". Use a writable place",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                ". There is no space left"
            }
            io::ErrorKind::NotADirectory => ". A part of the path is a file, not a folder",
            _ => "",
        };
        Self::file(path, format!("cannot be {action} ({error}){way_out}"))
    }
}

/// Whether a name in a path is longer than file systems allow. Windows counts UTF-16 units, other systems bytes, of which
/// there are at least as many.
fn has_long_part(path: &Path) -> bool {
    path.iter().filter_map(|part| part.to_str()).any(|part| part.encode_utf16().count() > 255)
}
