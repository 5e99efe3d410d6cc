//! Folders on Windows, by path. (WebAssembly has no files that processes could share, and gets no further than compiling
//! this.)
//!
//! There are no descriptors of folders, modes and groups here: what is made inherits the access list of its folder, and whoever
//! may write there is trusted. Links and owners are not checked. Windows makes names survive a crash itself.
//!
//! Each open handle determines what others may do with a file meanwhile. A file in use has to stay in place, because its path
//! identifies it. So its users allow no removal and no renaming. Windows refuses to open a file in contradiction to existing
//! handles. Waits are short, because another program may keep a file open forever.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::{FileIdentity, IS_FOLDER, IS_SPECIAL, Use, temporary_name};
use crate::files::filesystem::OnFileSystem;
use crate::files::machine::Machine;
use crate::refusal::Refusal;

/// A folder that was there when it was opened.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at a path. Missing folders are made.
    pub(crate) fn make(path: &Path, _machine: &Machine) -> Result<Self, Refusal> {
        match fs::create_dir_all(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Refusal::io(path, "created", &error)),
            _ if !path.is_dir() => Err(Refusal::file(path, "is not a folder. Use another path")),
            _ => Ok(Self { path: path.to_owned() }),
        }
    }

    /// Opens the folder at a path; `None` if there is none.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Refusal> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(Some(Self { path: path.to_owned() })),
            Ok(_) => Err(Refusal::io(path, "opened", &ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Refusal::io(path, "opened", &error)),
        }
    }

    /// Opens a folder in this one; `None` if there is none.
    pub(crate) fn find_in(&self, name: &str) -> Result<Option<Self>, Refusal> {
        Self::find(&self.path.join(name))
    }

    /// The path, as the caller named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The target of a link in this folder: the system follows it.
    pub(super) fn link(&self, _name: &OsStr) -> Result<Option<PathBuf>, Refusal> {
        Ok(None)
    }

    /// Whether there is something of this name.
    pub(super) fn has(&self, name: &OsStr) -> bool {
        self.path.join(name).exists()
    }

    /// The names in this folder.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, Refusal> {
        let entries = fs::read_dir(&self.path).map_err(|error| Refusal::io(&self.path, "read", &error))?;
        Ok(entries.flatten().map(|entry| entry.file_name()).collect())
    }

    /// Opens a file; `None` if there is none. Errors show the path.
    pub(crate) fn open(&self, _name: &OsStr, path: &Path, what_for: Use) -> Result<Option<File>, Refusal> {
        // Checked first, because opening a device may have side effects.
        match fs::metadata(path) {
            Ok(found) => refuse_special(path, &found)?,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Refusal::io(path, "read", &error)),
        }
        let mut options = OpenOptions::new();
        options.read(true).write(what_for.writes());
        if matches!(what_for, Use::Writing | Use::Ending) {
            keep_in_place(&mut options);
        }
        let file = match open_in_turn(&options, path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Refusal::io(path, what_for.action(), &error)),
        };
        refuse_special(path, &file.metadata().map_err(|error| Refusal::io(path, "read", &error))?)?;
        Ok(Some(file))
    }

    /// Opens a file in a way that only one process can, so that the handle is a lock: slot_lock.rs.
    #[cfg(windows)]
    pub(crate) fn hold(&self, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        keep_in_place(as_its_remover(&mut options, false)).open(self.path.join(name))
    }

    /// Opens a file in a way that fails if another process [holds](Self::hold) it.
    #[cfg(windows)]
    pub(crate) fn probe(&self, name: &OsStr) -> io::Result<File> {
        keep_in_place(OpenOptions::new().read(true)).open(self.path.join(name))
    }

    /// Creates a file with this content, complete and synced, unless there is one; returns whether it did.
    pub(crate) fn create(&self, _name: &OsStr, path: &Path, bytes: &[u8], machine: &Machine) -> Result<bool, Refusal> {
        machine.check_local(&self.path, self)?;
        let temporary = Temporary::write(&self.path, bytes).map_err(|error| Refusal::io(path, "created", &error))?;
        match fs::hard_link(&temporary.path, path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(Refusal::io(path, "created", &error)),
            linked => Ok(linked.is_ok()),
        }
    }

    /// The system makes names survive a crash.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Nothing to record: the system makes names survive.
    pub(crate) fn know_named(&self) {}

    /// Whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        self.path.is_dir()
    }
}

fn refuse_special(path: &Path, found: &Metadata) -> Result<(), Refusal> {
    if found.is_file() {
        return Ok(());
    }
    Err(Refusal::file(path, if found.is_dir() { IS_FOLDER } else { IS_SPECIAL }))
}

/// An open file keeps its name, so the name identifies it.
pub(crate) fn identity(path: &Path, _metadata: &Metadata) -> FileIdentity {
    let mut hasher = DefaultHasher::new();
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).hash(&mut hasher);
    (0, hasher.finish())
}

/// A copy may have both: Windows gives a new file the creation time of one of the same name that was removed shortly before.
pub(crate) fn birth(_: &Metadata) -> [u64; 2] {
    [0, 0]
}

/// Files cannot be mounted here.
pub(crate) fn has_no_name(_found: &Metadata) -> bool {
    false
}

impl OnFileSystem for &Folder {
    fn kind(&self) -> Option<u64> {
        None
    }
}

/// Lets others read and write the file, but not remove or rename it.
fn keep_in_place(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        options.share_mode(windows::FILE_SHARE_READ | windows::FILE_SHARE_WRITE);
    }
    options
}

/// Requests the right to remove the file, in addition to reading or writing it. While it is open, the file cannot be opened
/// as above.
fn as_its_remover(options: &mut OpenOptions, writes: bool) -> &mut OpenOptions {
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
fn open_in_turn(options: &OpenOptions, path: &Path) -> io::Result<File> {
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

/// A file under a unique name, which is removed on drop.
struct Temporary {
    path: PathBuf,
    /// keeps others from opening it under its new name, because Windows could not remove it then
    file: File,
}

impl Temporary {
    fn write(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        loop {
            let path = folder.join(temporary_name());
            match as_its_remover(&mut OpenOptions::new(), true).create_new(true).open(&path) {
                Ok(file) => {
                    let mut temporary = Self { path, file };
                    temporary.file.write_all(bytes)?;
                    temporary.file.sync_all()?;
                    return Ok(temporary);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // If this fails, 4096 bytes remain under an unused name.
        let _ = fs::remove_file(&self.path);
    }
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
