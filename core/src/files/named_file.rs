//! How a file is created at its path, and how it is opened there.
//!
//! A file is written and synced completely under a temporary name in the same folder, then linked to its own name. So every
//! process that opens it finds it complete. If several processes create it at once, one wins and the others open the winner's
//! file. The first process that uses the file syncs its name to the disk, because the process that linked it may have ended
//! by then. An existing file is never changed, replaced or removed.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::files::file_format::{self, Kind, Purpose};
use crate::files::folder::{FileIdentity, Place, Use, has_no_name, identity, is_there};
use crate::files::machine::Machine;
use crate::refusal::Refusal;

/// How often to start again if the file appears and disappears while it is being opened.
const TRIES: usize = 100;

/// A file of the right content, and where it is.
#[derive(Debug)]
pub struct Opened {
    /// where it is
    pub place: Place,
    /// the file, to read and write
    pub file: File,
    /// which one it is
    pub identity: FileIdentity,
    /// whether this call created it
    pub is_new: bool,
}

/// Opens the file at a path; creates it if there is none.
pub fn open(path: &Path, purpose: &Purpose, machine: &Machine) -> Result<Opened, Refusal> {
    let mut is_new = false;
    for _ in 0..TRIES {
        let place = Place::make(path, machine)?;
        if let Some(opened) = find(&place, purpose, machine)? {
            return Ok(Opened { is_new, ..opened });
        }
        match create(&place, purpose, machine) {
            Err(_) if !place.folder.is_in_place() => {} // it was removed meanwhile
            created => is_new |= created?,
        }
    }
    Err(Refusal::file(
        path,
        "was removed or replaced several times while it was being opened. Find out which program does that",
    ))
}

/// Opens the file at a place; `None` if there is none.
pub fn find(place: &Place, purpose: &Purpose, machine: &Machine) -> Result<Option<Opened>, Refusal> {
    let Some(file) = open_existing(place)? else { return Ok(None) };
    let identity = check(place, &file, purpose, machine)?;
    Ok(identity.map(|identity| Opened { place: place.clone(), file, identity, is_new: false }))
}

/// Checks the content of an open file and identifies it; `None` if the path leads to another file by now.
pub fn check(
    place: &Place,
    file: &File,
    purpose: &Purpose,
    machine: &Machine,
) -> Result<Option<FileIdentity>, Refusal> {
    let path = place.path();
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

/// Opens an existing file; `None` if there is none.
pub fn open_existing(place: &Place) -> Result<Option<File>, Refusal> {
    place.folder.open(&place.name, place.path(), Use::Writing)
}

/// The same for a file that is only told that its group has ended.
pub(crate) fn open_to_end(place: &Place) -> Result<Option<File>, Refusal> {
    place.folder.open(&place.name, place.path(), Use::Ending)
}

/// The same for a file whose lock (slot_lock.rs) this process has or requests.
pub(crate) fn open_locked(place: &Place) -> Result<Option<File>, Refusal> {
    place.folder.open(&place.name, place.path(), Use::Locked)
}

/// The same without write permission, for reading only.
pub fn open_to_read(place: &Place) -> Result<Option<File>, Refusal> {
    place.folder.open(&place.name, place.path(), Use::Reading)
}

/// Creates the file, unless another process is faster.
pub fn create(place: &Place, purpose: &Purpose, machine: &Machine) -> Result<bool, Refusal> {
    let page = file_format::make(purpose)
        .ok_or_else(|| Refusal::file(place.path(), "cannot be created, because its options are too long"))?;
    place.folder.create(&place.name, place.path(), &page, machine)
}

/// Makes the name of a file survive a crash.
pub fn sync_name(place: &Place) -> Result<(), Refusal> {
    place.folder.sync().map_err(|error| Refusal::io(place.path(), "synced", &error))
}
