//! The rooms of the core and their files, and the files of the addon: each uses only what is below it. So there are no
//! cycles, and a reader who starts at the lowest file never meets a name that comes later.
//!
//! The tables at the top of `lib.rs` and of each room define the order, the lowest first. What a file uses are its paths that
//! start with `crate`, except in `pub(in …)`, which says who may use it; it names modules in no other way. `tests.rs` is a part of
//! the file that it tests.

#![cfg(not(flakeforge_loom))]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A module as its path from the crate's root, which is the empty one.
type Module = Vec<String>;

#[test]
fn nothing_in_the_core_uses_what_is_above_it() {
    assert_eq!(faults(&core().join("src")), Vec::<String>::new());
}

#[test]
fn nothing_in_the_addon_uses_what_is_above_it() {
    assert_eq!(faults(&core().join("../src")), Vec::<String>::new());
}

fn core() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The faults in a crate's folder, as sentences.
fn faults(folder: &Path) -> Vec<String> {
    let mut order = Vec::new();
    let mut faults = Vec::new();
    list(folder, &vec![], &mut order, &mut faults);
    let floors: HashMap<_, _> = order.iter().enumerate().map(|(floor, module)| (module.clone(), floor)).collect();
    for module in modules(folder, &vec![]).into_iter().filter(|module| !floors.contains_key(module)) {
        faults.push(format!("no table lists {}", name(&module)));
    }
    for module in &order {
        let text = read(&file_of(folder, module));
        if is_hidden(&text) {
            faults.push(format!("{} names a module without `crate::`", name(module)));
        }
        for used in paths(&text) {
            let Some(target) = (0..=used.len()).rev().map(|len| &used[..len]).find(|path| floors.contains_key(*path))
            else {
                continue;
            };
            if floors[target] > floors[module] {
                faults.push(format!("{} uses {}, which is above it", name(module), used.join("::")));
            }
        }
    }
    faults
}

/// The modules in the order of the tables, each after its children.
fn list(folder: &Path, module: &Module, order: &mut Vec<Module>, faults: &mut Vec<String>) {
    for row in rows(&read(&file_of(folder, module))) {
        let child = [module.clone(), vec![row]].concat();
        if file_of(folder, &child).exists() {
            list(folder, &child, order, faults);
        } else {
            faults.push(format!("a table lists {}, which does not exist", name(&child)));
        }
    }
    order.push(module.clone());
}

/// The files listed in the table of the head comment.
fn rows(text: &str) -> Vec<String> {
    let comment = text.lines().take_while(|line| line.starts_with("//!"));
    let tables = comment.skip_while(|line| !["//! | file |", "//! | room |"].iter().any(|head| line.starts_with(head)));
    let rows = tables.take_while(|line| line.starts_with("//! |")).skip(2);
    rows.filter_map(|row| Some(row.split('`').nth(1)?.to_owned())).collect()
}

/// All modules that have a file.
fn modules(folder: &Path, above: &Module) -> Vec<Module> {
    let here = folder.join(above.iter().collect::<PathBuf>());
    let mut found = Vec::new();
    for entry in fs::read_dir(here).into_iter().flatten().flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = [above.clone(), vec![stem.clone()]].concat();
        if path.is_dir() {
            found.extend(modules(folder, &module));
        } else if path.extension().is_some_and(|end| end == "rs") && !["lib", "tests"].contains(&stem.as_str()) {
            found.push(module);
        }
    }
    found
}

fn file_of(folder: &Path, module: &Module) -> PathBuf {
    let path = if module.is_empty() { "lib".into() } else { module.iter().collect::<PathBuf>() };
    folder.join(path).with_extension("rs")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn name(module: &Module) -> String {
    if module.is_empty() { "lib".to_owned() } else { module.join("/") }
}

/// The modules that a text names, from the crate's root, as far as the parts start with a lower-case letter.
fn paths(text: &str) -> Vec<Module> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let of = |(at, _): (usize, &str)| {
        let (mut path, mut rest) = (Module::new(), &code[at + "crate".len()..]);
        while let Some(part) = rest.strip_prefix("::").filter(|part| part.starts_with(|c: char| c.is_lowercase())) {
            let end = part.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(part.len());
            path.push(part[..end].to_owned());
            rest = &part[end..];
        }
        path
    };
    let is_use = |&(at, _): &(usize, &str)| !code[..at].ends_with("pub(in ");
    code.match_indices("crate::").filter(is_use).map(of).collect()
}

/// Whether it names a module in a way that [`paths`] does not see.
fn is_hidden(text: &str) -> bool {
    let is_module = |(at, name): (usize, &str)| text[at + name.len()..].starts_with(|c: char| c.is_lowercase());
    text.contains("crate::{") || ["super::", " self::"].iter().any(|name| text.match_indices(name).any(is_module))
}

#[test]
fn paths_are_found_wherever_they_are() {
    let of = |text: &str| paths(text).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(of("use crate::a::{self, b};\nuse std::fs;\n  // crate::no"), ["a"]);
    assert_eq!(of("fn f() -> crate::a::B<crate::c_d> { crate::e::f::<u8>(x::y) }"), ["a", "c_d", "e::f"]);
    assert_eq!(of("pub(in crate::a) fn f(_: crate::b::C) {}"), ["b"]);
    assert!(["use crate::{a, b};", "use super::a;", "fn f() { self::a::b() }"].iter().all(|text| is_hidden(text)));
    assert!(
        ["use super::*;", "super::Name", "pub(super) fn f() {}", "use crate::a::{self, B};"]
            .iter()
            .all(|t| !is_hidden(t))
    );
}

#[test]
fn modules_that_point_up_or_are_in_no_table_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "lib.rs",
        "//! | room | |\n//! |---|---|\n//! | [`low`] | |\n//! | `high` | |\n//! | `last` | |\n//! | `none` | |\n",
    );
    write("low.rs", "use crate::high::A;");
    write("high.rs", "//! | file | |\n//! |---|---|\n//! | `one` | |\n//! | `two` | |\n\nuse crate::low;");
    write("high/one.rs", "fn f() { crate::high::two::g() }");
    write("high/two.rs", "use crate::high::one;");
    write("high/three.rs", "");
    write("last.rs", "use super::low;");
    write("high/tests.rs", "use super::*;");
    assert_eq!(
        faults(folder.path()),
        [
            "a table lists none, which does not exist",
            "no table lists high/three",
            "low uses high, which is above it",
            "high/one uses high::two::g, which is above it",
            "last names a module without `crate::`",
        ]
    );
}
