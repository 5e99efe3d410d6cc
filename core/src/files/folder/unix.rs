//! Folders on Unix: descriptors.
//!
//! Linux has all of it. Elsewhere:
//! - Every folder on the path has to be readable, because only Linux opens one just to pass through it.
//! - `mkdir` drops the sticky bit, which marks a folder that is still being made. So only the process that made the folder
//!   completes it, and a member of the group could put another folder of the same user, from the same parent, in its place.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::UNIX_EPOCH;

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Stat, fchmod, fchown, fstat, linkat, mkdirat, openat, readlinkat,
    statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgroups};

use super::{FileIdentity, IS_FOLDER, IS_SPECIAL, LINKS_MAX, Use, dangling, temporary_name, too_many_links};
use crate::files::filesystem::OnFileSystem;
use crate::files::machine::Machine;
use crate::refusal::Refusal;

const STICKY: u32 = 0o1000;
const SETGID: u32 = 0o2000;
const GROUP: u32 = 0o070;
const EVERYONE_WRITES: u32 = 0o002;
const FOLDER_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o600;

/// A folder that is still being made: private, with a sticky bit, which has no use there, and empty. Its name may not be on
/// the disk yet. The next process of the same user that opens it syncs the name and completes it, and so it is known to be
/// new, whatever a member of the group has renamed.
const UNFINISHED: u32 = STICKY | 0o700;
const SHOWS_UNFINISHED: bool = cfg!(target_os = "linux");

/// The mode of a folder in which what anyone makes has the group of the folder, not one of its maker's. Only Linux needs
/// setgid for that.
const GIVES_GROUP: u32 = if cfg!(target_os = "linux") { EVERYONE_WRITES | SETGID } else { EVERYONE_WRITES };

/// How a folder is opened. Reading it also mounts what is mounted on demand.
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// How a walk along a path starts. Linux does not need the right to read the folder.
#[cfg(target_os = "linux")]
const START: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const START: OFlags = FOLDER;

/// What the rule about owners needs to know.
#[derive(Clone, Copy, Debug)]
struct Owner {
    uid: u32,
    gid: u32,
    mode: u32,
    is_trusted: bool,
    /// whether its group may be one that its owner is not in
    is_of_any_group: bool,
}

impl Owner {
    fn is_shared(self) -> bool {
        is_shared(self.mode)
    }
}

/// Whether the members of a folder's group share what is in it. In a sticky folder, everything belongs to its creator; and if
/// everyone may write there, a file's group does not tell who made it.
fn is_shared(mode: u32) -> bool {
    mode & 0o020 != 0 && mode & (STICKY | EVERYONE_WRITES) == 0
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    fd: OwnedFd,
    path: PathBuf,
    owner: Owner,
    /// whether its name is known to survive a crash
    is_named: AtomicBool,
}

/// What is at a name of a folder.
enum Found {
    Folder(Folder),
    Link { uid: u32, target: PathBuf },
    Other,
    Nothing,
}

impl Folder {
    /// Opens the folder at a path. Missing folders are made.
    pub(crate) fn make(path: &Path, machine: &Machine) -> Result<Self, Refusal> {
        Self::start(path)?.walk(path, path, Some(machine), 0)?.ok_or_else(|| Refusal::file(path, "was removed"))
    }

    /// Opens the folder at a path; `None` if there is none.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, Refusal> {
        Self::start(path)?.walk(path, path, None, 0)
    }

    /// Opens a folder in this one; `None` if there is none.
    pub(crate) fn find_in(&self, name: &str) -> Result<Option<Self>, Refusal> {
        match self.look(OsStr::new(name))? {
            Found::Folder(folder) => Ok(Some(folder)),
            Found::Nothing => Ok(None),
            _ => self.again()?.walk(Path::new(name), &self.path.join(name), None, 0),
        }
    }

    /// The path, as the caller named it.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the walk along a path starts.
    fn start(path: &Path) -> Result<Self, Refusal> {
        let start = Path::new(if path.has_root() { "/" } else { "." });
        let opened = openat(CWD, start, START, Mode::empty()).and_then(|fd| Ok((fstat(&fd)?, fd)));
        let (found, fd) = opened.map_err(|error| Refusal::io(start, "opened", &error.into()))?;
        let owner = owner(&found, None);
        Ok(Self {
            fd,
            path: if path.has_root() { start.to_owned() } else { PathBuf::new() },
            owner,
            is_named: AtomicBool::new(false),
        })
    }

    fn again(&self) -> Result<Self, Refusal> {
        let fd = self.fd.try_clone().map_err(|error| self.failed("opened", error))?;
        Ok(Self { fd, path: self.path.clone(), owner: self.owner, is_named: AtomicBool::new(false) })
    }

    /// Walks along a path from this folder. `whole` is the path that the caller named; `machine` is given if missing folders
    /// are to be made.
    fn walk(
        mut self,
        path: &Path,
        whole: &Path,
        machine: Option<&Machine>,
        links: u32,
    ) -> Result<Option<Self>, Refusal> {
        for part in path.components() {
            let name = match part {
                Component::Normal(name) => name,
                Component::ParentDir => OsStr::new(".."),
                _ => continue,
            };
            let here = self.path.join(name);
            self = match (self.look(name)?, machine) {
                (Found::Folder(folder), Some(_)) => self.finish(folder, false)?,
                (Found::Folder(folder), None) => folder,
                (Found::Link { uid, target }, _) => self.follow(&here, uid, &target, links)?,
                (Found::Other, _) => {
                    return Err(Refusal::io(&here, "opened", &io::Error::from(Errno::NOTDIR)));
                }
                (Found::Nothing, None) => return Ok(None),
                (Found::Nothing, Some(machine)) => {
                    // What is made has to be found again by its path.
                    if let Err(error @ Errno::NAMETOOLONG) = statat(CWD, whole, AtFlags::empty()) {
                        return Err(Refusal::io(whole, "created", &error.into()));
                    }
                    self.make_in(name, machine)?
                }
            };
        }
        Ok(Some(self))
    }

    /// The folder that a link in this one leads to.
    fn follow(self, link: &Path, uid: u32, target: &Path, links: u32) -> Result<Self, Refusal> {
        if links >= LINKS_MAX {
            return Err(too_many_links(link));
        }
        check_link(link, uid)?;
        let start = if target.has_root() { Self::start(target)? } else { self };
        let found = start.walk(target, target, None, links + 1)?;
        // A folder, but a link to nothing is in the way of one.
        let found =
            found.ok_or_else(|| Refusal::file(link, format!("is not a folder: it {}", dangling(link, target))))?;
        Ok(Self { path: link.to_owned(), ..found })
    }

    /// What is at a name, without following a link or waiting for anything.
    fn look(&self, name: &OsStr) -> Result<Found, Refusal> {
        let opened = openat(&self.fd, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        let looked = match opened {
            Ok(fd) => fstat(&fd).map(|found| Found::Folder(self.folder(name, fd, &found))),
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            Err(error) => self.look_closer(name, error),
        };
        match looked {
            Err(Errno::NOENT) => Ok(Found::Nothing),
            looked => looked.map_err(|error| Refusal::io(&self.path.join(name), "opened", &error.into())),
        }
    }

    /// What is at a name that cannot be opened as a folder to read.
    #[cfg(target_os = "linux")]
    fn look_closer(&self, name: &OsStr, _error: Errno) -> Result<Found, Errno> {
        let fd = openat(&self.fd, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
        let found = fstat(&fd)?;
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => Found::Folder(self.folder(name, fd, &found)),
            // The link itself is open: its owner and its target belong together.
            FileType::Symlink => Found::Link { uid: found.st_uid, target: target(readlinkat(&fd, "", vec![])?) },
            _ => Found::Other,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn look_closer(&self, name: &OsStr, error: Errno) -> Result<Found, Errno> {
        let found = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => return Err(error),
            FileType::Symlink => Found::Link { uid: found.st_uid, target: target(readlinkat(&self.fd, name, vec![])?) },
            _ => Found::Other,
        })
    }

    fn folder(&self, name: &OsStr, fd: OwnedFd, found: &Stat) -> Self {
        Self { fd, path: self.path.join(name), owner: owner(found, Some(self.owner)), is_named: AtomicBool::new(false) }
    }

    /// Makes a folder in this one, or opens it if another process is faster, and syncs its name.
    fn make_in(&self, name: &OsStr, machine: &Machine) -> Result<Self, Refusal> {
        let path = self.path.join(name);
        machine.check_local(self.shown(), self)?;
        self.check_owner()?;
        let made = match mkdirat(&self.fd, name, Mode::from_raw_mode(UNFINISHED as _)) {
            Err(error) if error != Errno::EXIST => return Err(Refusal::io(&path, "created", &error.into())),
            made => made.is_ok(),
        };
        let Found::Folder(folder) = self.look(name)? else {
            let why = "was removed or replaced while it was being created. Find out which program does that";
            return Err(Refusal::file(&path, why));
        };
        if !made && !SHOWS_UNFINISHED {
            self.sync_names()?; // the process that made it may not have done so yet
        }
        self.finish(folder, made)
    }

    /// Gives a folder in this one, if it is still being made, its group and mode. Its name is synced first: the mode tells
    /// every process that the name survives a crash, even if the process that made the folder ends too early.
    fn finish(&self, mut folder: Self, is_ours: bool) -> Result<Self, Refusal> {
        let is_unfinished = |owner: Owner| {
            let is_marked =
                if SHOWS_UNFINISHED { owner.mode & 0o1077 == STICKY } else { is_ours && owner.mode & 0o077 == 0 };
            is_marked && owner.uid == geteuid().as_raw()
        };
        if !is_unfinished(folder.owner) {
            return Ok(folder);
        }
        self.sync_names()?;
        folder.know_named();
        let above = self.owner;
        let finish = || {
            let fd = folder.readable()?;
            let found = owner(&fstat(&fd)?, Some(above)); // another process may have finished it meanwhile
            if is_unfinished(found) && (!SHOWS_UNFINISHED || is_empty(&fd)?) {
                let kept = found.mode & SETGID; // which the system has passed on
                share(&fd, above, FOLDER_MODE | kept, above.mode & (GROUP | SETGID))?;
            }
            Ok(owner(&fstat(&fd)?, Some(above)))
        };
        folder.owner = finish().map_err(|error: Errno| folder.failed("given its mode", error.into()))?;
        Ok(folder)
    }

    fn sync_names(&self) -> Result<(), Refusal> {
        self.sync().map_err(|error| self.failed("synced", error))
    }

    /// Fails if someone else could make IDs repeat that come from files in this folder.
    fn check_owner(&self) -> Result<(), Refusal> {
        if self.owner.is_trusted { Ok(()) } else { Err(not_our_folder(self.shown(), self.owner.uid)) }
    }

    /// The target of a link in this folder; `None` if the name is not a link.
    pub(super) fn link(&self, name: &OsStr) -> Result<Option<PathBuf>, Refusal> {
        let path = self.path.join(name);
        let found = match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Symlink => found,
            Ok(_) | Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(Refusal::io(&path, "read", &error.into())),
        };
        check_link(&path, found.st_uid)?;
        match readlinkat(&self.fd, name, vec![]) {
            Ok(text) => Ok(Some(target(text))),
            Err(Errno::INVAL | Errno::NOENT) => Ok(None), // it was replaced meanwhile
            Err(error) => Err(Refusal::io(&path, "read", &error.into())),
        }
    }

    /// Whether there is something of this name.
    pub(super) fn has(&self, name: &OsStr) -> bool {
        statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The names in this folder.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, Refusal> {
        let names = || {
            let mut names = Vec::new();
            for entry in Dir::read_from(&self.fd)? {
                let name = entry?.file_name().to_bytes().to_vec();
                if name != b"." && name != b".." {
                    names.push(OsString::from_vec(name));
                }
            }
            Ok(names)
        };
        names().map_err(|error: Errno| self.failed("read", error.into()))
    }

    /// Opens a file; `None` if there is none. Errors show the path.
    pub(crate) fn open(&self, name: &OsStr, path: &Path, what_for: Use) -> Result<Option<File>, Refusal> {
        let check = |found: &Stat| match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile if what_for.trusts() && !is_trusted(found, Some(self.owner)) => {
                Err(not_ours(path, found.st_uid, "Let all processes that use it run as one user"))
            }
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(Refusal::file(path, IS_FOLDER)),
            _ => Err(Refusal::file(path, IS_SPECIAL)),
        };
        // Before it is opened, because opening a device may have side effects.
        match statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => check(&found)?,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(Refusal::io(path, "read", &error.into())),
        }
        if what_for.trusts() {
            self.check_owner()?;
        }
        let access = if what_for.writes() { OFlags::RDWR } else { OFlags::RDONLY };
        let how = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = match openat(&self.fd, name, how, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(Refusal::io(path, what_for.action(), &error.into())),
        };
        check(&fstat(&fd).map_err(|error| Refusal::io(path, "read", &error.into()))?)?;
        Ok(Some(fd.into()))
    }

    /// Creates a file with this content, complete and synced, unless there is one; returns whether it did. Its name may not be
    /// on the disk yet.
    pub(crate) fn create(&self, name: &OsStr, path: &Path, bytes: &[u8], machine: &Machine) -> Result<bool, Refusal> {
        machine.check_local(self.shown(), self)?;
        self.check_owner()?;
        if !self.is_named.load(Relaxed) {
            self.sync_own_name()?;
            self.know_named();
        }
        let temporary = Temporary::write(self, bytes).map_err(|error| Refusal::io(path, "created", &error))?;
        match linkat(&self.fd, &temporary.name, &self.fd, name, AtFlags::empty()) {
            Err(error) if error != Errno::EXIST => Err(Refusal::io(path, "created", &error.into())),
            linked => Ok(linked.is_ok()),
        }
    }

    /// Makes the names in this folder survive a crash.
    pub(crate) fn sync(&self) -> io::Result<()> {
        File::from(self.readable()?).sync_all()
    }

    /// Makes the name of this folder survive a crash, in case its creator has not done so yet.
    fn sync_own_name(&self) -> Result<(), Refusal> {
        let above = openat(&self.fd, "..", FOLDER, Mode::empty());
        match above.map_err(io::Error::from).and_then(|above| File::from(above).sync_all()) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()), // another user created it
            synced => synced.map_err(|error| self.failed("synced", error)),
        }
    }

    /// Records that the name of this folder survives a crash. Any file that [`create`](Self::create) made here proves that,
    /// because the name is synced first.
    pub(crate) fn know_named(&self) {
        self.is_named.store(true, Relaxed);
    }

    /// Whether its path still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        let here = |found: Stat| (found.st_dev, found.st_ino);
        fstat(&self.fd).is_ok_and(|found| {
            statat(CWD, self.shown(), AtFlags::empty()).is_ok_and(|there| here(there) == here(found))
        })
    }

    /// The same folder, to list or sync it.
    fn readable(&self) -> Result<OwnedFd, Errno> {
        openat(&self.fd, ".", FOLDER, Mode::empty())
    }

    fn shown(&self) -> &Path {
        if self.path.as_os_str().is_empty() { Path::new(".") } else { &self.path }
    }

    fn failed(&self, action: &str, error: io::Error) -> Refusal {
        Refusal::io(self.shown(), action, &error)
    }
}

fn is_empty(folder: &OwnedFd) -> Result<bool, Errno> {
    for entry in Dir::read_from(folder)? {
        if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn target(text: std::ffi::CString) -> PathBuf {
    OsString::from_vec(text.into_bytes()).into()
}

/// A link says where its owner wants a path to lead.
fn check_link(link: &Path, uid: u32) -> Result<(), Refusal> {
    if is_own(uid) || is_unmapped(uid) {
        return Ok(());
    }
    let why = format!(
        "is a symbolic link that belongs to user {uid}, who could make it lead anywhere. Name the place that it leads to, if that \
         is the one you mean"
    );
    Err(Refusal::file(link, why))
}

fn not_our_folder(path: &Path, uid: u32) -> Refusal {
    let use_another = match geteuid().as_raw() {
        0 => "belongs to root".to_owned(),
        own => format!(
            "belongs to user {own} or to root, or one that its group, but not everyone, can write to, with user {own} in that \
             group and without a sticky bit"
        ),
    };
    let run_as = format!("Run this process as user {uid} (a container with `--user {uid}`)");
    not_ours(path, uid, &format!("{run_as}, or let all processes use a folder that {use_another}"))
}

fn not_ours(path: &Path, uid: u32, advice: &str) -> Refusal {
    let own = geteuid().as_raw();
    let why = format!("belongs to user {uid}, and this process runs as user {own}: user {uid} could make IDs repeat");
    Refusal::file(path, format!("{why}. {advice}"))
}

fn owner(found: &Stat, above: Option<Owner>) -> Owner {
    let mode = mode(found);
    let gives_group = |above: Owner| above.is_of_any_group || above.mode & GIVES_GROUP == GIVES_GROUP;
    let is_of_any_group = !is_own(found.st_uid) && above.is_some_and(gives_group);
    let is_trusted = is_trusted(found, above)
        || is_shared(mode) && is_member(found.st_gid) && !is_of_any_group
        || is_unmapped(found.st_uid);
    Owner { uid: found.st_uid, gid: found.st_gid, mode, is_trusted, is_of_any_group }
}

#[allow(clippy::useless_conversion, reason = "16 bits on macOS")]
fn mode(found: &Stat) -> u32 {
    found.st_mode.into()
}

/// Whether the owner of something in a folder may be trusted: see the rule in `folder.rs`.
fn is_trusted(found: &Stat, above: Option<Owner>) -> bool {
    let shares = |above: Owner| {
        found.st_uid == above.uid && !is_unmapped(above.uid) || above.is_shared() && found.st_gid == above.gid
    };
    is_own(found.st_uid) || above.is_some_and(|above| above.is_trusted && shares(above))
}

fn is_own(uid: u32) -> bool {
    uid == 0 || uid == geteuid().as_raw()
}

fn is_member(gid: u32) -> bool {
    gid == getegid().as_raw() || getgroups().is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == gid))
}

/// Whether this user namespace has no number for the user, as in a sandbox: root's folders look like this there, and so do
/// those of all other users.
fn is_unmapped(uid: u32) -> bool {
    let read = |path| std::fs::read_to_string(path).ok();
    let overflow = || read("/proc/sys/kernel/overflowuid").and_then(|text| text.trim().parse::<u32>().ok());
    let maps = |line: &str| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|number| number.parse().ok()).collect();
        matches!(numbers[..], [inside, _, count] if (inside..inside + count).contains(&uid.into()))
    };
    cfg!(target_os = "linux")
        && overflow() == Some(uid)
        && read("/proc/self/uid_map").is_some_and(|map| !map.lines().any(maps))
}

/// Gives something new its mode. In a folder whose group may write there, that group gets `rights`: never all other users, and
/// not in a sticky folder, where it belongs to its creator. A file starts with access for its creator only, because a user who
/// can read a slot's file can lock it.
fn share(made: &OwnedFd, above: Owner, mode: u32, rights: u32) -> Result<(), Errno> {
    let has_group = || fstat(made).is_ok_and(|found| found.st_gid == above.gid);
    let is_given = above.is_shared() && (has_group() || fchown(made, None, Some(Gid::from_raw(above.gid))).is_ok());
    // If it cannot be given, this user is not in that group.
    fchmod(made, Mode::from_raw_mode((if is_given { mode | rights } else { mode }) as _))
}

pub(crate) fn identity(_path: &Path, metadata: &Metadata) -> FileIdentity {
    (metadata.dev(), metadata.ino())
}

/// What stays the same as long as a file is there, and what a copy does not have: its number, which a copy may get once the file
/// is removed, and when it was created, Unix ns. 0: not known.
pub(crate) fn birth(metadata: &Metadata) -> [u64; 2] {
    let created = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    [metadata.ino(), created.map_or(0, |since| since.as_nanos() as u64)]
}

/// Whether a file was removed although its path still leads to it: one that is mounted itself.
pub(crate) fn has_no_name(found: &Metadata) -> bool {
    found.nlink() == 0
}

impl OnFileSystem for &Folder {
    #[cfg(target_os = "linux")]
    fn kind(&self) -> Option<u64> {
        crate::files::filesystem::kind(&self.fd)
    }
    #[cfg(not(target_os = "linux"))]
    fn kind(&self) -> Option<u64> {
        None
    }
}

/// A file under a unique name, which is removed on drop.
struct Temporary<'a> {
    folder: &'a Folder,
    name: String,
}

impl<'a> Temporary<'a> {
    /// Writes all bytes without a hole, so that a full disk is noticed now. A copy-on-write file system needs room again
    /// later: lost_page.rs.
    fn write(folder: &'a Folder, bytes: &[u8]) -> io::Result<Self> {
        loop {
            let name = temporary_name();
            let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&folder.fd, &name, how, Mode::from_raw_mode(FILE_MODE as _)) {
                Ok(fd) => {
                    let temporary = Self { folder, name };
                    share(&fd, folder.owner, FILE_MODE, 0o060)?;
                    let mut file = File::from(fd);
                    file.write_all(bytes)?;
                    file.sync_all()?;
                    return Ok(temporary);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // If this fails, 4096 bytes remain under an unused name.
        let _ = unlinkat(&self.folder.fd, &self.name, AtFlags::empty());
    }
}
