//! Names of groups and counters as file names.

use std::collections::HashSet;

use crate::support::slots::config;
use flakeforge_core::files::names::{file_name, file_name_on, group_folder, name_of};
use flakeforge_core::files::slots::SlotFolder;

#[test]
fn names_become_file_names_and_back() {
    let names = ["a", "a.b", ".a", "..", "a/b", "a%2fb", "ü", "A-Z_09", " ", "a b", "%", "%%"];
    let files: HashSet<_> = names.iter().map(|name| file_name(name)).collect();
    assert_eq!(files.len(), names.len());
    for name in names {
        let file = file_name(name);
        assert!(!file.starts_with('.') && !file.contains('/'), "{file}");
        assert_eq!(name_of(&file), name);
    }
    let long = "x".repeat(400);
    assert_eq!(name_of(&file_name(&long)), long, "never cut");
    let refused = SlotFolder::open(group_folder(tempfile::tempdir().unwrap().path(), &long), config(1)).unwrap_err();
    assert!(refused.to_string().contains("too long"), "{refused}");
}

#[test]
fn windows_takes_no_two_names_for_the_same_file() {
    let names =
        ["a", "A", "a.", "a..", "nul", "Nul", "nul.txt", "nul.", "com1", "com10", "lpt9.a.b", "console", "aux-1"];
    let files: Vec<_> = names.iter().map(|name| file_name_on(name, true)).collect();
    let as_seen: HashSet<_> = files.iter().map(|file| file.trim_end_matches('.').to_lowercase()).collect();
    assert_eq!(as_seen.len(), names.len(), "{files:?}");
    for (name, file) in names.into_iter().zip(&files) {
        assert_eq!(name_of(file), name);
    }
    let kept = files.iter().filter(|file| !file.contains('%')).collect::<Vec<_>>();
    assert_eq!(kept, ["a", "com10", "console", "aux-1"], "the others would be misread");
    assert_eq!(file_name_on("A.nul", false), "A.nul", "elsewhere they stay as they are");
}
