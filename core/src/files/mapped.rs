//! A page of a file in the memory of this process, which other processes map, too. They write to it, so it is only accessed
//! through atomics.
//!
//! A page can be lost: its file is truncated, or the system cannot provide it (lost_page.rs). On Linux, a claim in progress
//! then finds a retired cursor. Elsewhere the system ends a process that touches such a page, so the file is checked first
//! wherever there is time. A lost page is never used again.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Arc, OnceLock};

use memmap2::{MmapOptions, MmapRaw};

use crate::files::file_format::{CounterWords, CursorWords, DAMAGED, GroupWords, Page, SIZE};
use crate::files::folder;
use crate::files::lost_page::Place;
use crate::files::named_file;
use crate::refusal::Refusal;

const LOST: &str = "could not be kept in memory: its disk is full or has failed, or the file was truncated or made immutable. Fix \
                    that, and create a new generator";

/// The words of one kind of page.
///
/// # Safety
///
/// The type is `#[repr(C)]` and consists of eight `AtomicU64`s.
pub(crate) unsafe trait Words {}
// SAFETY: a cursor of two `AtomicU64`s and six more.
unsafe impl Words for CursorWords {}
// SAFETY: eight `AtomicU64`s.
unsafe impl Words for GroupWords {}
// SAFETY: one `AtomicU64` and seven more.
unsafe impl Words for CounterWords {}

/// A mapped page of a file. It stays mapped as long as this value lives.
#[derive(Debug)]
pub(crate) struct Mapped<W> {
    map: MmapRaw,
    place: &'static Place,
    file: Arc<File>,
    /// of the page, when it was mapped
    header_hash: u64,
    /// the page, or the zeros that replace it
    start: AtomicPtr<Page<W>>,
    stand_in: OnceLock<Box<[AtomicU64; SIZE / 8]>>,
}

impl<W: Words> Mapped<W> {
    /// Maps the file at a place, once its name is on the disk: without the name, a crash would lose everything that was
    /// synced.
    pub(crate) fn new(file: impl Into<Arc<File>>, at: &folder::Place) -> Result<Self, Refusal> {
        let (file, path) = (file.into(), at.path());
        let map = MmapOptions::new().len(SIZE).map_raw(&*file);
        let map = map.map_err(|error| Refusal::io(path, "mapped", &error))?;
        let start = AtomicPtr::new(map.as_mut_ptr().cast());
        let place = Place::watch(map.as_ptr());
        let mut mapped = Self { map, place, file, header_hash: 0, start, stand_in: OnceLock::new() };
        mapped.header_hash = mapped.page().header_hash();
        if mapped.page().is_named.load(Acquire) == 0 {
            named_file::sync_name(at)?;
            mapped.page().is_named.store(1, Release);
        }
        mapped.check_kept(path)?;
        Ok(mapped)
    }

    /// The page, which may have been lost: see [`checked`](Self::checked).
    #[inline]
    pub(crate) fn page(&self) -> &Page<W> {
        // SAFETY: `start` points to the first of SIZE bytes that can be read and written: those of `map`, which has that
        // length (lost_page.rs may put another page there, as long and as accessible), or those of `stand_in`. If the system
        // cannot provide a byte of the map, the process ends, or on Linux continues with that other page. Both are created
        // once and live as long as `self`, which the reference borrows. `Page<W>` has SIZE bytes and the alignment of
        // `AtomicU64` (file_format.rs asserts both for each `W`); a map starts at a memory page, and the stand-in consists of
        // `AtomicU64`s. So does `Page<W>`, by its fields and by `Words`: every bit pattern is valid, and others may write
        // while this reference lives.
        unsafe { &*self.start.load(Acquire) }
    }

    /// The page, for calls that may come long after it was lost.
    pub(crate) fn checked(&self) -> &Page<W> {
        self.is_lost();
        self.page()
    }

    /// Whether the page was lost. If so, zeros that only this process sees replace it for the rest of this value's life. Call
    /// this before reading a page that may have been lost long ago.
    pub(crate) fn is_lost(&self) -> bool {
        let is_cut = || self.file.metadata().is_ok_and(|found| found.len() < SIZE as u64);
        if self.stand_in.get().is_none() && (self.place.is_lost() || is_cut()) {
            let zeros = self.stand_in.get_or_init(|| Box::new([const { AtomicU64::new(0) }; SIZE / 8]));
            self.start.store((&raw const **zeros).cast_mut().cast(), Release);
        }
        self.stand_in.get().is_some()
    }

    /// Whether something else was written over the page.
    pub(crate) fn is_overwritten(&self) -> bool {
        self.page().header_hash() != self.header_hash
    }

    /// Fails if the page was lost. Call this after relying on data read from or written to the page.
    pub(crate) fn check_kept(&self, path: &Path) -> Result<(), Refusal> {
        if self.is_lost() { Err(Refusal::file(path, LOST)) } else { Ok(()) }
    }

    /// Returns once the page, in its state at the call, is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.map.flush()?; // on Linux, an fdatasync of these bytes
        if !cfg!(target_os = "linux") {
            self.file.sync_data()?;
        }
        // The replacement of a lost page is on no disk.
        if self.is_lost() { Err(io::Error::other("the page could not be kept in memory")) } else { Ok(()) }
    }
}

impl Mapped<CursorWords> {
    /// Whether the words of a cursor's page contradict each other.
    pub(crate) fn check_words(&self, path: &Path) -> Result<(), Refusal> {
        let Some(words) = self.page().mark.contradiction(&self.page().words.cursor) else { return Ok(()) };
        self.check_kept(path)?;
        Err(Refusal::file(path, format!("contradicts itself ({words}). {DAMAGED}")))
    }
}

impl<W> Drop for Mapped<W> {
    fn drop(&mut self) {
        self.place.leave(); // before the page is unmapped
    }
}

#[cfg(test)]
mod tests;
