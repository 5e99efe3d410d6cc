//! Names of groups and counters as file names.

use std::collections::HashSet;

use crate::support::slots::config;
use flakeforge_core::files::names::{file_name, group_folder, name_of};
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
