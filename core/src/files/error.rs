//! What can be wrong with a file that flakeforge keeps, or with a group of them, in words: which file, what is wrong,
//! and what to do.
//!
//! This file must never decide anything: it only says what others found.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;

/// Why a file cannot be used. The file was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// it was made for other options
    Mismatch {
        /// the file
        path: String,
        /// what it was made for
        theirs: String,
        /// what was asked for
        ours: String,
    },
    /// it is damaged, not a file, not writable, or not in a place where it can be shared
    File {
        /// the file
        path: String,
        /// what is wrong, and what to do
        why: String,
    },
}

impl FileError {
    /// Something is wrong with the file. `why` says what, and what to do.
    pub fn new(path: &Path, why: impl Into<String>) -> Self {
        Self::File { path: path.display().to_string(), why: why.into() }
    }

    /// The system refused an action on the file.
    pub fn io(path: &Path, action: &str, error: &io::Error) -> Self {
        let way_out = match error.kind() {
            _ if has_long_part(path) => ". A part of its path is too long", // Windows may say that it is not there
            io::ErrorKind::PermissionDenied => ". Give the user of this process the right to read and write there",
            io::ErrorKind::ReadOnlyFilesystem => ". Use a place that can be written to",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                ". There is no room left"
            }
            io::ErrorKind::NotADirectory => ". A part of the path is a file, not a folder",
            _ => "",
        };
        Self::new(path, format!("cannot be {action} ({error}){way_out}"))
    }

    /// The file that the fault is about.
    pub fn path(&self) -> &str {
        match self {
            Self::Mismatch { path, .. } | Self::File { path, .. } => path,
        }
    }
}

/// Whether a name in a path is longer than file systems allow. Windows counts units of UTF-16, others bytes, of which there
/// are no fewer.
fn has_long_part(path: &Path) -> bool {
    path.iter().filter_map(|part| part.to_str()).any(|part| part.encode_utf16().count() > 255)
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch { path, theirs, ours } => {
                write!(
                    f,
                    "{path} was made with other options: it has {theirs}, and this one {ours}. Use the same options, or another path"
                )
            }
            Self::File { path, why } => write!(f, "{path} {why}"),
        }
    }
}

impl Error for FileError {}

/// Why there is no slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotError {
    /// a file of the group cannot be used
    File(FileError),
    /// all slots are held, or their last IDs are ahead of the clock
    Exhausted {
        /// when to look again, Unix ms
        retry_at_ms: i64,
    },
    /// the group was destroyed since it was opened
    Destroyed,
}

impl fmt::Display for SlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            Self::Exhausted { retry_at_ms } => {
                write!(f, "no slot of the group is free: look again at the Unix time {retry_at_ms} ms")
            }
            Self::Destroyed => write!(f, "the group was destroyed"),
        }
    }
}

impl Error for SlotError {}

impl From<FileError> for SlotError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}
