//! Names of groups and counters as file names: any text, on any file system, and back.
//!
//! This file must never give two names one file.

use std::path::{Path, PathBuf};

/// Longest file name that every file system takes, less some room.
const LONGEST: usize = 200;

/// The file name of a name: letters, digits, `-`, `_` and inner dots stand for themselves, other bytes as `%` and two
/// digits; what would be too long is cut and ends in `%%` and a sum of all of it.
pub fn file_name(name: &str) -> String {
    let mut safe = String::new();
    for (i, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => safe.push(byte.into()),
            b'.' if i > 0 => safe.push('.'),
            _ => safe.push_str(&format!("%{byte:02x}")),
        }
    }
    if safe.len() > LONGEST {
        let sum = name.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, |sum: u128, byte| {
            (sum ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b) // FNV-1a, 128 bits
        });
        safe.truncate(LONGEST - 34);
        safe.push_str(&format!("%%{sum:032x}"));
    }
    safe
}

/// The name of a file name; a name that was cut stays as it is.
pub fn name_of(file_name: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = file_name.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match escaped.map(|two| u8::from_str_radix(two, 16)) {
            Some(Ok(value)) => (bytes.push(value), rest = &after[2..]),
            _ => (bytes.push(byte), rest = after),
        };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| file_name.to_owned())
}

/// The folder of a group, in the folder of a store.
pub fn group_folder(store: &Path, group: &str) -> PathBuf {
    store.join(file_name(group))
}

/// The file of a counter, in the folder of a store: beside all groups, whose names do not start with a dot.
pub fn counter_file(store: &Path, counter: &str) -> PathBuf {
    store.join(".counters").join(file_name(counter))
}
