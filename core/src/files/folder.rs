//! Folders and the files in them: the only module that opens, makes, links or removes anything in a file system.
//!
//! A path says where to look, not what is there: someone else may put a link, a pipe or another folder in its place at any
//! moment. So a path is walked once, folder by folder, to a [`Folder`], which is a descriptor. Everything after that starts at
//! the descriptor: what it leads to stays the same, wherever it is moved.
//!
//! - **Links.** A symbolic link on a path that the caller named is followed if it belongs to root or to the user of this
//!   process. What flakeforge makes is never a link, and a file is never opened through one. A dangling link is an error.
//! - **Kinds.** A folder is opened only as a folder and a file only as a regular file, without waiting: opening a pipe would
//!   wait for its other end.
//! - **Modes.** New files have mode 0600 and new folders 0755, whatever the umask is. In a folder that its group may write to,
//!   and not everyone, without a sticky bit, they belong to that group, with its rights: several users *share* such a folder.
//!   Other users never get write access.
//! - **Owners.** Whoever owns a file or its folder can make IDs repeat. So nothing is made in a folder, and no number is taken
//!   from a file, unless its owner is trusted. Trusted are root, the user of this process, and those who share it: within a
//!   trusted folder, its owner and, if it is shared, its group. A shared folder is trusted, too, if this process is in its
//!   group and its owner must have been; whoever makes something in a folder with setgid need not be. Listing slots and ending a group need no trusted owner.
//!
//! Some systems lack a part of this. Each says so in its file:
//!
//! | file | its systems |
//! |---|---|
//! | `elsewhere` | Windows and WebAssembly |
//! | `unix` | Linux, Android and macOS |

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::files::file_format;
use crate::files::machine::Machine;
use crate::refusal::Refusal;

#[cfg_attr(not(unix), path = "folder/elsewhere.rs")]
#[cfg_attr(unix, path = "folder/unix.rs")]
mod system;

pub use system::Folder;
#[cfg(windows)]
pub(crate) use system::is_refused;

/// How many links a path may have, as in Linux.
const LINKS_MAX: u32 = 40;

/// Identifies a file, whatever its name.
pub type FileIdentity = (u64, u64);

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Reading,
    Writing,
    /// for writing, to a file that stays in place because this process has its lock
    Locked,
    /// for writing, to end a group: nothing in its files is believed, so its owner need not be trusted
    Ending,
}

impl Use {
    fn writes(self) -> bool {
        self != Self::Reading
    }

    /// Whether numbers come from the file.
    #[cfg(unix)]
    fn trusts(self) -> bool {
        matches!(self, Self::Writing | Self::Locked)
    }

    fn action(self) -> &'static str {
        if self.writes() { "opened for reading and writing" } else { "opened for reading" }
    }
}

/// A name in an open folder. There may be a file of that name, or not.
#[derive(Clone, Debug)]
pub struct Place {
    pub(crate) folder: Arc<Folder>,
    pub(crate) name: OsString,
    path: PathBuf,
}

impl Place {
    /// The place of the file at a path. Missing folders are made.
    pub(crate) fn make(path: &Path, machine: &Machine) -> Result<Self, Refusal> {
        let (parent, name) = parts(path)?;
        let folder = Folder::make(parent, machine)?;
        match folder.link(name)? {
            None => Ok(Self { folder: folder.into(), name: name.to_owned(), path: path.to_owned() }),
            Some(target) => Self::behind(path, &parent.join(&target), 1),
        }
    }

    /// The place of the file at a path; `None` if there is no such folder.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Refusal> {
        Self::find_after(path, 0)
    }

    fn find_after(path: &Path, links: u32) -> Result<Option<Self>, Refusal> {
        let (parent, name) = parts(path)?;
        let Some(folder) = Folder::find(parent)? else { return Ok(None) };
        match folder.link(name)? {
            None => Ok(Some(Self { folder: folder.into(), name: name.to_owned(), path: path.to_owned() })),
            Some(target) => Self::behind(path, &parent.join(&target), links + 1).map(Some),
        }
    }

    /// The place that a link leads to. The file has to be there: nothing is made where a link leads to.
    fn behind(link: &Path, target: &Path, links: u32) -> Result<Self, Refusal> {
        if links > LINKS_MAX {
            return Err(too_many_links(link));
        }
        let found = Self::find_after(target, links)?.filter(|found| found.folder.has(&found.name));
        found.map(|found| Self { path: link.to_owned(), ..found }).ok_or_else(|| dangling(link, target))
    }

    /// The path, as the caller named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Folder {
    /// A name in this folder.
    pub(crate) fn place(self: &Arc<Self>, name: impl Into<OsString>) -> Place {
        let name = name.into();
        Place { folder: self.clone(), path: self.path().join(&name), name }
    }
}

/// The folder and the name of a file.
fn parts(path: &Path) -> Result<(&Path, &OsStr), Refusal> {
    let name = path.file_name().ok_or_else(|| Refusal::file(path, IS_FOLDER))?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((parent.unwrap_or(Path::new(".")), name))
}

const IS_FOLDER: &str = "is a folder. Use the path of a file";
const IS_SPECIAL: &str = "is not a regular file. Use another path";

fn dangling(link: &Path, target: &Path) -> Refusal {
    let target = target.display();
    Refusal::file(link, format!("is a symbolic link to {target}, which does not exist. Remove the link"))
}

fn too_many_links(path: &Path) -> Refusal {
    Refusal::file(path, "cannot be opened: Too many levels of symbolic links. Use another path")
}

/// A name for a file that is being written. Processes of two containers may have the same ID: then the name is taken, and the
/// next one is tried.
fn temporary_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".flakeforge-{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Relaxed))
}

/// Whether the path leads to this file. This opens nothing and follows every link.
pub fn is_there(path: &Path, wanted: FileIdentity) -> bool {
    fs::metadata(path).is_ok_and(|found| system::identity(path, &found) == wanted)
}

/// Whether a file in use was removed, replaced or truncated. If this process may not look (it may have dropped its
/// privileges), the answer is no, and the file stays in use.
pub fn is_gone(path: &Path, wanted: FileIdentity) -> bool {
    match fs::metadata(path) {
        Ok(found) => {
            system::identity(path, &found) != wanted || found.len() < file_format::SIZE as u64 || has_no_name(&found)
        }
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

pub(crate) use system::{birth, has_no_name, identity};
