//! Turns names of groups and counters into file names and back: any text, on any file system. Different names have different
//! files.

use std::path::{Path, PathBuf};

/// The file name for a name. Letters, digits, `-`, `_` and inner dots stay. Other bytes become `%` and two hex digits. If the
/// result is too long, the file system refuses it.
pub fn file_name(name: &str) -> String {
    file_name_on(name, cfg!(windows))
}

/// The same for a system that a test chooses. Windows does not distinguish `A` from `a` or `a.` from `a`, and every folder
/// has devices such as `nul`.
#[doc(hidden)]
pub fn file_name_on(name: &str, is_windows: bool) -> String {
    let mut safe = String::new();
    for (i, byte) in name.bytes().enumerate() {
        let is_misread = is_windows
            && match byte {
                b'A'..=b'Z' => true,
                b'.' => i + 1 == name.len(),
                _ => i == 0 && is_device(name),
            };
        match byte {
            _ if is_misread => safe.push_str(&escaped(byte)),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => safe.push(byte.into()),
            b'.' if i > 0 => safe.push('.'),
            _ => safe.push_str(&escaped(byte)),
        }
    }
    safe
}

fn escaped(byte: u8) -> String {
    format!("%{byte:02x}")
}

/// Whether Windows treats it as a device, whatever follows the first dot. Upper-case names are escaped anyway.
fn is_device(name: &str) -> bool {
    let start = name.split('.').next().unwrap_or_default();
    let is_numbered =
        |kind| start.strip_prefix(kind).is_some_and(|n: &str| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    ["con", "prn", "aux", "nul"].contains(&start) || is_numbered("com") || is_numbered("lpt")
}

/// The name for a file name. File names of other origin stay as they are.
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

/// The folder of all counters, in the folder of a store. Its name starts with a dot, which no group's folder does.
pub fn counters_folder(store: &Path) -> PathBuf {
    store.join(".counters")
}

/// The file of a counter.
pub fn counter_file(store: &Path, counter: &str) -> PathBuf {
    counter_file_of(store, counter, 1)
}

/// The file of a counter in a later life: after it was destroyed, another one of its name may start. No name has a comma
/// as a file name.
pub(crate) fn counter_file_of(store: &Path, counter: &str, life: u32) -> PathBuf {
    let name = file_name(counter);
    counters_folder(store).join(if life == 1 { name } else { format!("{name},{life}") })
}

/// The name of the counter with this file, and its life; `None` if it is no such file.
pub(crate) fn counter_of(file: &str) -> Option<(String, u32)> {
    let (name, life) = match file.split_once(',') {
        Some((name, life)) => (name, life.parse().ok()?),
        None => (file, 1),
    };
    let name = name_of(name);
    (!file.starts_with('.')).then_some((name, life))
}

/// The file that counts the numbers for a past time, in the folder of a group, beside those of its lives, which have
/// numbers as names.
pub(crate) fn past_file(store: &Path, group: &str, record: &str) -> PathBuf {
    group_folder(store, group).join("past").join(file_name(record))
}
