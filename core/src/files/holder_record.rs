//! The holder of a slot, according to its page. This is for people to read; the lock is what holds the slot. The checksum rejects
//! a record that another process is still writing.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::files::file_format::{CursorPage, HOLDER_WORDS, word};

/// The maximum length of a host name, in bytes.
const HOST_MAX: usize = 255;
/// The host name follows checksum, owner, process, time and length.
const HOST_AT: usize = 6;
const WORDS: usize = HOST_AT + HOST_MAX.div_ceil(8);

/// The holder of a slot, and when it took the slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HolderRecord {
    /// 128 random bits, new for each acquisition
    pub owner: u128,
    /// the process
    pub pid: u32,
    /// the host name, cut to 255 bytes
    pub host: String,
    /// Unix milliseconds
    pub since_ms: i64,
}

impl HolderRecord {
    /// Writes the record into a mapped page.
    pub(crate) fn write(&self, room: &[AtomicU64; HOLDER_WORDS]) {
        let fits = (0..=HOST_MAX.min(self.host.len())).rev().find(|&end| self.host.is_char_boundary(end));
        let host = &self.host.as_bytes()[..fits.unwrap_or(0)];
        let mut words = [0; WORDS];
        words[1] = self.owner as u64;
        words[2] = (self.owner >> 64) as u64;
        words[3] = u64::from(self.pid);
        words[4] = self.since_ms as u64;
        words[5] = host.len() as u64;
        for (word, bytes) in words[HOST_AT..].iter_mut().zip(host.chunks(8)) {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(eight);
        }
        words[0] = checksum(&words);
        for (place, word) in room.iter().zip(words) {
            place.store(word, Relaxed);
        }
    }

    /// The record in a page read from a file; `None` if there is none, or if it is just being written.
    pub fn read(page: &[u8]) -> Option<Self> {
        let words: [u64; WORDS] = std::array::from_fn(|i| word(page, offset_of!(CursorPage, holder) + 8 * i));
        let [sum, low, high, pid, since, len, ..] = words;
        if sum == 0 || sum != checksum(&words) {
            return None;
        }
        let host = words[HOST_AT..].iter().flat_map(|word| word.to_ne_bytes()).take(len as usize).collect();
        Some(Self {
            owner: u128::from(high) << 64 | u128::from(low),
            pid: pid as u32,
            host: String::from_utf8(host).ok()?,
            since_ms: since as i64,
        })
    }
}

/// The checksum of all words but the first. It is never 0, which means that there is no record.
fn checksum(words: &[u64; WORDS]) -> u64 {
    words[1..].iter().fold(1, |sum: u64, word| (sum.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)) | 1
}

#[cfg(test)]
mod tests {
    use std::array::from_fn;
    use std::thread::scope;

    use super::*;
    use crate::files::file_format::SIZE;

    type Room = [AtomicU64; HOLDER_WORDS];

    fn records() -> [HolderRecord; 2] {
        let record = |owner: u128, host: &str| HolderRecord { owner, pid: 7, host: host.to_owned(), since_ms: 1 };
        [record(1 << 64 | 2, "one.example"), record(3 << 64 | 4, &"two".repeat(20))]
    }

    fn empty() -> Room {
        from_fn(|_| AtomicU64::new(0))
    }

    /// The content of the file, as another process reads it.
    fn read(room: &Room) -> Option<HolderRecord> {
        let mut page = [0; SIZE];
        for (place, word) in page[offset_of!(CursorPage, holder)..].chunks_exact_mut(8).zip(room) {
            place.copy_from_slice(&word.load(Relaxed).to_ne_bytes());
        }
        HolderRecord::read(&page)
    }

    #[test]
    fn a_record_with_some_older_words_is_invalid() {
        let rooms = records().map(|record| {
            let room = empty();
            record.write(&room);
            room
        });
        let is_same = |i: usize| rooms[0][i].load(Relaxed) == rooms[1][i].load(Relaxed);
        for word in (0..HOLDER_WORDS).filter(|&i| !is_same(i)) {
            let mixed = from_fn(|i| AtomicU64::new(rooms[usize::from(i == word)][i].load(Relaxed)));
            assert_eq!(read(&mixed), None, "{word}");
            let begun = from_fn(|i| AtomicU64::new(rooms[usize::from(i <= word)][i].load(Relaxed)));
            assert!(read(&begun).is_none_or(|read| read == records()[1]), "{word}");
        }
    }

    /// For Miri, which with each seed shows another order and other stale words.
    #[test]
    fn a_record_is_read_as_a_whole_or_not_at_all_while_another_thread_writes_it() {
        let (room, records) = (empty(), records());
        scope(|scope| {
            let writer = scope.spawn(|| records.iter().for_each(|record| record.write(&room)));
            while !writer.is_finished() {
                assert!(read(&room).is_none_or(|read| records.contains(&read)));
            }
        });
        assert_eq!(read(&room).as_ref(), Some(&records[1]));
    }
}
