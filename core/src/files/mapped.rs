//! A page of a file in the memory of this process, which other processes map, too.
//!
//! Reading a mapped page whose file was cut to nothing ends the process with SIGBUS. So wherever there is time for it,
//! the file is checked before the page is read, and a page that was cut off is never read again. Only a claim that is
//! under way at that very moment cannot know.
//!
//! This file must never read the mapped page in any way other than by atomics: other processes write there.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{
    AtomicPtr, AtomicU64,
    Ordering::{Acquire, Release},
};

use memmap2::{MmapOptions, MmapRaw};

use crate::files::error::FileError;
use crate::files::file_format;
use crate::files::mark::Mark;
use crate::files::named_file;
use crate::files::presence::Presence;
use crate::generator::cursor::Cursor;

/// A page of a file, mapped. It stays mapped as long as this value lives.
#[derive(Debug)]
pub(crate) struct Mapped {
    map: MmapRaw,
    file: File,
    /// the page, or the zeros that replace it
    start: AtomicPtr<AtomicU64>,
    stand_in: OnceLock<Box<[AtomicU64]>>,
}

impl Mapped {
    /// Maps the file at a path, once its name is on the disk: without the name, a crash would lose all that was synced.
    pub(crate) fn new(file: File, path: &Path) -> Result<Self, FileError> {
        let map = MmapOptions::new().len(file_format::SIZE).map_raw(&file);
        let map = map.map_err(|error| FileError::io(path, "mapped", &error))?;
        let start = AtomicPtr::new(map.as_mut_ptr().cast());
        let mapped = Self { map, file, start, stand_in: OnceLock::new() };
        if mapped.is_named().load(Acquire) == 0 {
            named_file::sync_name(path)?;
            mapped.is_named().store(1, Release);
        }
        Ok(mapped)
    }

    #[inline]
    fn at<T>(&self, offset: usize) -> &T {
        debug_assert!(offset.is_multiple_of(align_of::<T>()) && offset + size_of::<T>() <= file_format::SIZE);
        // SAFETY: this is private to this file, and used below only with types that consist of `AtomicU64`s in a fixed
        // order. Every bit pattern of these is valid, and other processes may write to them, since they are atomics.
        // The offsets are constants of file_format.rs: inside the page, and aligned for `AtomicU64`. `start` is the start of
        // the map or of the stand-in, which is as large. Both live as long as `self`, which the reference borrows.
        unsafe { &*self.start.load(Acquire).cast::<u8>().add(offset).cast::<T>() }
    }

    /// Whether the file was cut short. If so, the page is gone for good, and zeros that only this process sees replace
    /// it. So this is called before the page is read, wherever the file may have been cut long ago.
    pub(crate) fn was_cut(&self) -> bool {
        if self.stand_in.get().is_none()
            && self.file.metadata().is_ok_and(|found| found.len() < file_format::SIZE as u64)
        {
            let zeros = self.stand_in.get_or_init(|| (0..file_format::SIZE / 8).map(|_| AtomicU64::new(0)).collect());
            self.start.store(zeros.as_ptr().cast_mut(), Release);
        }
        self.stand_in.get().is_some()
    }

    #[inline]
    pub(crate) fn cursor(&self) -> &Cursor {
        self.at(file_format::WORDS)
    }

    /// The words of a page. If it holds a cursor, the first two are the cursor's.
    pub(crate) fn words(&self) -> &[AtomicU64; file_format::WORD_COUNT] {
        self.was_cut();
        self.at(file_format::WORDS)
    }

    pub(crate) fn holder(&self) -> &[AtomicU64; file_format::HOLDER_COUNT] {
        self.was_cut();
        self.at(file_format::HOLDER)
    }

    pub(crate) fn mark(&self) -> &Mark {
        self.at(file_format::MARK)
    }

    pub(crate) fn boot(&self) -> &[AtomicU64; 2] {
        self.at(file_format::BOOT)
    }

    pub(crate) fn presence(&self) -> &Presence {
        self.at(file_format::PRESENCE)
    }

    fn is_named(&self) -> &AtomicU64 {
        self.at(file_format::IS_NAMED)
    }

    /// Releases the lock on the file, even if others still have it open.
    pub(crate) fn unlock(&self) {
        let _ = self.file.unlock(); // if this fails, closing the file does it
    }

    /// Returns once the page, as it was at the call, is on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.map.flush()?; // on Linux, an fdatasync of these bytes
        if cfg!(target_os = "linux") { Ok(()) } else { self.file.sync_data() }
    }

    /// Whether the words of a cursor's page contradict each other.
    pub(crate) fn check_words(&self, path: &Path) -> Result<(), FileError> {
        let Some(words) = self.mark().contradiction(self.cursor()) else { return Ok(()) };
        Err(FileError::new(path, format!("contradicts itself ({words}). {}", file_format::DAMAGED)))
    }
}
