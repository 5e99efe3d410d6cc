//! How a file is created at its path, and how it is opened there.
//!
//! A file is written and synced completely under a temporary name in the same folder, then linked to its own name. So every
//! process that opens it finds it complete. If several processes create it at once, one wins and the others open the winner's
//! file. The first process that uses the file syncs its name to the disk, because the process that linked it may have ended
//! by then. An existing file is never changed, replaced or removed.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::files::file_format::{self, Kind, Purpose};
use crate::files::machine::Machine;
use crate::files::sharing;
use crate::refusal::Refusal;

/// How often to start again if the file appears and disappears while it is being opened.
const TRIES: usize = 100;

/// Identifies a file, whatever its name.
pub type FileIdentity = (u64, u64);

/// Opens the file at a path; creates it if there is none.
pub fn open(path: &Path, purpose: &Purpose, machine: &Machine) -> Result<(File, FileIdentity), Refusal> {
    open_or_make(path, purpose, machine).map(|(file, identity, _)| (file, identity))
}

/// The same; also returns whether this call created it.
pub fn open_or_make(path: &Path, purpose: &Purpose, machine: &Machine) -> Result<(File, FileIdentity, bool), Refusal> {
    let mut is_new = false;
    for _ in 0..TRIES {
        let Some(file) = open_existing(path)? else {
            is_new = create(path, purpose, machine)?;
            continue;
        };
        if let Some(identity) = check(path, &file, purpose, machine)? {
            return Ok((file, identity, is_new));
        }
    }
    Err(Refusal::file(
        path,
        "was removed or replaced several times while it was being opened. Find out which program does that",
    ))
}

/// Checks the content of an open file and identifies it; `None` if the path leads to another file by now.
pub fn check(path: &Path, file: &File, purpose: &Purpose, machine: &Machine) -> Result<Option<FileIdentity>, Refusal> {
    machine.check_local(path, file)?;
    let page = read(path, file)?;
    let theirs = text_of(path, &page, purpose.kind)?;
    if theirs != purpose.text {
        let (path, ours) = (path.display().to_string(), purpose.text.to_owned());
        return Err(Refusal::Mismatch { path, theirs, ours });
    }
    let opened = file.metadata().map_err(|error| Refusal::io(path, "read", &error))?;
    let identity = identity(path, &opened);
    let is_there = is_there(path, identity);
    if is_there && has_no_name(&opened) {
        return Err(Refusal::file(path, ONLY_MOUNTED));
    }
    Ok(is_there.then_some(identity))
}

const ONLY_MOUNTED: &str = "was removed outside of this container or mount, and another file may have replaced it by now. \
     Mount the folder that contains the file, not the file itself";

/// Whether a file was removed although its path still leads to it: one that is mounted itself.
#[cfg(unix)]
fn has_no_name(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    found.nlink() == 0
}

/// Other systems do not mount files.
#[cfg(not(unix))]
fn has_no_name(_found: &Metadata) -> bool {
    false
}

/// What a page was created for.
pub fn text_of(path: &Path, page: &[u8], kind: Kind) -> Result<String, Refusal> {
    file_format::text_of(page, kind).map_err(|why| Refusal::file(path, why))
}

/// The content of a file, with one extra byte if the file is too long.
pub fn read(path: &Path, file: &File) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::with_capacity(file_format::SIZE + 1);
    let read = file.take(file_format::SIZE as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| Refusal::io(path, "read", &error))?;
    Ok(bytes)
}

/// Whether the path leads to this file.
pub fn is_there(path: &Path, wanted: FileIdentity) -> bool {
    fs::metadata(path).is_ok_and(|found| identity(path, &found) == wanted)
}

/// Whether a file in use was removed, replaced or truncated. If this process may not look (it may have dropped its
/// privileges), the answer is no, and the file stays in use.
pub fn is_gone(path: &Path, wanted: FileIdentity) -> bool {
    match fs::metadata(path) {
        Ok(found) => identity(path, &found) != wanted || found.len() < file_format::SIZE as u64 || has_no_name(&found),
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    }
}

#[cfg(unix)]
fn identity(_path: &Path, metadata: &Metadata) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// On other systems an open file keeps its name, so the name identifies it. On Windows, sharing.rs ensures that.
#[cfg(not(unix))]
fn identity(path: &Path, _metadata: &Metadata) -> FileIdentity {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()).hash(&mut hasher);
    (0, hasher.finish())
}

/// How a file is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Reading,
    Writing,
    /// for writing, to a file that stays in place because this process has its lock
    Locked,
}

/// Opens an existing file; `None` if there is none.
pub fn open_existing(path: &Path) -> Result<Option<File>, Refusal> {
    open_for(path, Use::Writing)
}

/// The same for a file whose lock (slot_lock.rs) this process has or requests.
pub(crate) fn open_locked(path: &Path) -> Result<Option<File>, Refusal> {
    open_for(path, Use::Locked)
}

/// The same without write permission, for reading only.
pub fn open_to_read(path: &Path) -> Result<Option<File>, Refusal> {
    open_for(path, Use::Reading)
}

fn open_for(path: &Path, what_for: Use) -> Result<Option<File>, Refusal> {
    let writes = what_for != Use::Reading;
    // Checked first: opening a FIFO waits for its other end, and opening a device may have side effects.
    match fs::metadata(path) {
        Ok(found) => refuse_special(path, &found)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return absent(path),
        Err(error) => return Err(Refusal::io(path, "read", &error)),
    }
    let mut options = OpenOptions::new();
    options.read(true).write(writes);
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32); // in case a FIFO has replaced it meanwhile
    }
    if what_for == Use::Writing {
        sharing::keep_in_place(&mut options);
    }
    let file = match sharing::open(&options, path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let action = if writes { "opened for reading and writing" } else { "opened for reading" };
            return Err(Refusal::io(path, action, &error));
        }
    };
    refuse_special(path, &file.metadata().map_err(|error| Refusal::io(path, "read", &error))?)?;
    Ok(Some(file))
}

fn refuse_special(path: &Path, found: &Metadata) -> Result<(), Refusal> {
    if found.is_file() {
        return Ok(());
    }
    let what =
        if found.is_dir() { "is a folder. Use the path of a file" } else { "is not a regular file. Use another path" };
    Err(Refusal::file(path, what))
}

/// There is no file. But a dangling symbolic link is an error, because no file can be linked over it.
fn absent(path: &Path) -> Result<Option<File>, Refusal> {
    match fs::read_link(path) {
        Ok(target) if !path.exists() => {
            let target = target.display();
            Err(Refusal::file(path, format!("is a symbolic link to {target}, which does not exist. Remove the link")))
        }
        _ => Ok(None),
    }
}

/// Creates the file, unless another process is faster.
pub fn create(path: &Path, purpose: &Purpose, machine: &Machine) -> Result<bool, Refusal> {
    let page = file_format::make(purpose)
        .ok_or_else(|| Refusal::file(path, "cannot be created, because its options are too long"))?;
    let made = |error: &io::Error| Refusal::io(path, "created", error);
    let folder = folder_of(path);
    make_folder(folder, machine)?;
    let temporary = Temporary::write(folder, &page).map_err(|error| made(&error))?;
    match fs::hard_link(&temporary.path, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(made(&error)),
        linked => Ok(linked.is_ok()),
    }
}

/// Makes the name of a file survive a crash. Does nothing if the file was removed meanwhile, which other code detects.
pub fn sync_name(path: &Path) -> Result<(), Refusal> {
    if !SYNCS_NAMES {
        return Ok(());
    }
    // If the path is a link, the file itself may be in another folder.
    match fs::canonicalize(path).and_then(|file| sync_folder(folder_of(&file))) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Refusal::io(path, "synced", &error)),
        _ => Ok(()),
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Creates a folder and its missing parents, and syncs each into its parent. An existing folder is synced too, because its
/// creator may not have done so yet.
pub fn make_folder(folder: &Path, machine: &Machine) -> Result<(), Refusal> {
    let above = folder_of(folder);
    let is_there = folder.is_dir();
    if is_there {
        machine.check_local(folder, folder)?;
    } else {
        make_folder(above, machine)?;
        match fs::create_dir(folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(Refusal::io(folder, "created", &error));
            }
            _ if !folder.is_dir() => return Err(Refusal::file(folder, "is not a folder. Use another path")),
            Ok(()) => {
                share_folder(folder, above).map_err(|error| Refusal::io(folder, "given to its group", &error))?;
            }
            Err(_) => {}
        }
    }
    match sync_folder(above) {
        // Another process created it, with other permissions.
        Err(error) if is_there && error.kind() == ErrorKind::PermissionDenied => Ok(()),
        synced => synced.map_err(|error| Refusal::io(above, "synced", &error)),
    }
}

/// Gives a new file or folder to the group of its parent folder, if that group may write there, so that several users can
/// share it. Never to all other users, and not in a sticky folder, where it belongs to its creator.
///
/// Files start with access for their creator only ([`Temporary::write`]), because a user who can read a slot's file can lock
/// it.
#[cfg(unix)]
fn share(made: &File, folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    const STICKY: u32 = 0o1000;
    const SETGID: u32 = 0o2000;
    const GROUP: u32 = 0o070;
    let (above, found) = (fs::metadata(folder)?, made.metadata()?);
    if above.mode() & 0o020 == 0 || above.mode() & STICKY != 0 {
        return Ok(());
    }
    if found.gid() != above.gid() && fchown(made, None, Some(above.gid())).is_err() {
        return Ok(()); // this user is not in that group
    }
    let rights = if found.is_dir() { above.mode() & (GROUP | SETGID) } else { 0o060 };
    made.set_permissions(fs::Permissions::from_mode((found.mode() | rights) & 0o7775))
}

/// The same for a folder: other systems cannot open one, and it has no group there.
fn share_folder(made: &Path, above: &Path) -> io::Result<()> {
    if cfg!(unix) { share(&File::open(made)?, above) } else { Ok(()) }
}

#[cfg(not(unix))]
fn share(_made: &File, _folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Other systems make names survive a crash themselves, and cannot open a folder.
const SYNCS_NAMES: bool = cfg!(unix);

/// Makes the names in a folder survive a crash.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if SYNCS_NAMES { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Creates files that no other user may read.
#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// Other systems inherit the permissions from the folder.
#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
}

/// A file with a unique name, which is removed on drop.
struct Temporary {
    path: PathBuf,
    /// keeps others from opening it under its new name, because Windows could not remove it then
    file: File,
}

impl Temporary {
    /// Writes all bytes without a hole, so that a full disk is noticed now. A copy-on-write file system needs room again
    /// later: lost_page.rs.
    fn write(folder: &Path, bytes: &[u8]) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            // Processes of two containers may have the same ID. Then the name is taken, and the next one is tried.
            let name = format!(".flakeforge-{}-{}.tmp", process::id(), COUNT.fetch_add(1, Relaxed));
            let path = folder.join(name);
            match sharing::as_its_remover(&mut private(), true).create_new(true).open(&path) {
                Ok(file) => {
                    let mut temporary = Self { path, file };
                    temporary.file.write_all(bytes)?;
                    share(&temporary.file, folder)?;
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
