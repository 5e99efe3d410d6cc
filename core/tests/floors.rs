//! The rooms of the core and the files in them, and the files of the addon: each uses only what is below it. So there is
//! no circle, and whoever reads upwards from the lowest file never meets a name that comes later.
//!
//! The order stands in the tables at the top of `lib.rs` and of each room, the lowest first. What a file uses are its
//! paths that begin with `crate`, `super` or `self`, in imports and elsewhere. `tests.rs` is a part of the file it tests.

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

/// What is wrong in a crate's folder, as sentences.
fn faults(folder: &Path) -> Vec<String> {
    let mut order = Vec::new();
    let mut faults = Vec::new();
    list(folder, &vec![], &mut order, &mut faults);
    let floors: HashMap<_, _> = order.iter().enumerate().map(|(floor, module)| (module.clone(), floor)).collect();
    for module in modules(folder, &vec![]).into_iter().filter(|module| !floors.contains_key(module)) {
        faults.push(format!("no table lists {}", name(&module)));
    }
    for module in &order {
        for used in paths(&read(&file_of(folder, module)), module) {
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

/// The modules in the order of the tables: the children of each before it.
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

/// The files that a table in the comment at the top lists.
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
        } else if !["lib", "tests"].contains(&stem.as_str()) {
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

/// The paths in a module's text, from the crate's root.
fn paths(text: &str, module: &Module) -> Vec<Module> {
    let tokens = tokens(text);
    let (mut found, mut inside, mut depth) = (Vec::new(), Vec::<(usize, String)>::new(), 0);
    for (i, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "{" => {
                depth += 1;
                if i >= 2 && tokens[i - 2] == "mod" {
                    inside.push((depth, tokens[i - 1].clone()));
                }
            }
            "}" => {
                inside.retain(|(at, _)| *at != depth);
                depth -= 1;
            }
            "crate" | "super" | "self" if is(&tokens, i + 1, "::") && (i == 0 || tokens[i - 1] != "::") => {
                let here = module.iter().cloned().chain(inside.iter().map(|(_, name)| name.clone())).collect();
                tree(&tokens, i, &here, &vec![], &mut found);
            }
            _ => {}
        }
    }
    found
}

fn is(tokens: &[String], at: usize, wanted: &str) -> bool {
    tokens.get(at).is_some_and(|token| token == wanted)
}

/// Reads a path, or a tree of paths in braces, that begins at a token; returns where it ends.
fn tree(tokens: &[String], mut at: usize, here: &Module, above: &Module, found: &mut Vec<Module>) -> usize {
    let mut path = above.clone();
    loop {
        match tokens[at].as_str() {
            "crate" => path.clear(),
            "self" if above.is_empty() && path.is_empty() => path = here.clone(),
            "self" | "*" => {}
            "super" if at > 0 && tokens[at - 1] == "::" => drop(path.pop()),
            "super" => path = here[..here.len().saturating_sub(1)].to_vec(),
            "{" => {
                at += 1;
                while !is(tokens, at, "}") {
                    at = tree(tokens, at, here, &path, found);
                    while !is(tokens, at, ",") && !is(tokens, at, "}") {
                        at += 1; // `as NAME`
                    }
                    at += usize::from(is(tokens, at, ","));
                }
                return at + 1;
            }
            part => path.push(part.to_owned()),
        }
        if !is(tokens, at + 1, "::") || is(tokens, at + 2, "<") {
            found.push(path);
            return at + 1;
        }
        at += 2;
    }
}

/// Names, `::` and single characters, without comments, texts and lifetimes.
fn tokens(text: &str) -> Vec<String> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '"' => quoted(rest),
            'r' if rest.starts_with("r\"") => 2 + rest[2..].find('"').unwrap() + 1,
            'r' if rest.starts_with("r#\"") => 3 + rest[3..].find("\"#").unwrap() + 2,
            '\'' if rest[1..].starts_with('\\') => 3 + rest[3..].find('\'').unwrap() + 1,
            '\'' if rest.chars().nth(2) == Some('\'') => rest.char_indices().nth(3).map_or(rest.len(), |(end, _)| end),
            ':' if rest.starts_with("::") => {
                tokens.push("::".to_owned());
                2
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                tokens.push(rest[..end].to_owned());
                end
            }
            _ => {
                if !first.is_whitespace() {
                    tokens.push(first.to_string());
                }
                first.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    tokens
}

/// How long the text literal is that begins here.
fn quoted(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.char_indices().skip(1).find(|&(_, c)| {
        let is_end = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

#[test]
fn paths_are_found_wherever_they_are() {
    let of = |text: &str| -> Vec<String> {
        let here = ["room", "file"].map(str::to_owned).to_vec();
        paths(text, &here).into_iter().map(|path| path.join("::")).collect()
    };
    assert_eq!(of("use crate::a::{self, b::C, d::{E as F, G}};\nuse std::fs;"), ["a", "a::b::C", "a::d::E", "a::d::G"]);
    assert_eq!(of("fn f() -> crate::a::B { super::c::d(self::e); self.f }"), ["a::B", "room::c::d", "room::file::e"]);
    assert_eq!(
        of("mod inner { use super::*; use super::super::x; } use super::y;"),
        ["room::file", "room::x", "room::y"]
    );
    assert_eq!(of("pub(crate) fn f<'a>(c: char) { c == '\"' || c == '\\''; // crate::a\n\"crate::b\" }"), [""; 0]);
    assert_eq!(of("use crate::{a, super_b::c};"), ["a", "super_b::c"]);
}

#[test]
fn what_points_up_or_stands_in_no_table_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("lib.rs", "//! | room | |\n//! |---|---|\n//! | [`low`] | |\n//! | `high` | |\n//! | `none` | |\n");
    write("low.rs", "use crate::high::A;");
    write("high.rs", "//! | file | |\n//! |---|---|\n//! | `one` | |\n//! | `two` | |\n\nuse crate::low;");
    write("high/one.rs", "fn f() { super::two::g() }");
    write("high/two.rs", "use crate::high::one;");
    write("high/three.rs", "");
    write("high/tests.rs", "use super::*;");
    assert_eq!(
        faults(folder.path()),
        [
            "a table lists none, which does not exist",
            "no table lists high/three",
            "low uses high::A, which is above it",
            "high/one uses high::two::g, which is above it",
        ]
    );
}
