//! One name means one thing: no two types that others can see have the same name, within a crate or across crates.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod sources;

use std::collections::BTreeMap;
use std::fs;

use sources::{entries, is_no_test, root, rust_files};

/// Names that are read with the module before them.
const READ_WITH_THEIR_MODULE: &[&str] = &["Error", "Builder"];

/// The crate whose modules are the versions of the same kinds.
const VERSIONS_OF_KINDS: &str = "dynamo-api";

/// Who sees a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Visibility {
    Public,
    Crate,
}

/// The definition of a type.
#[derive(Debug, Clone)]
struct Definition {
    crate_name: String,
    file: String,
    visibility: Visibility,
}

#[test]
fn no_two_types_have_the_same_name() {
    let root = root();
    let mut types: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
    for folder in entries(&root.join("crates")) {
        let crate_name = folder.file_name().unwrap().to_string_lossy().into_owned();
        for file in rust_files(&folder.join("src"), is_no_test) {
            for (name, visibility) in types_in(&fs::read_to_string(&file).unwrap()) {
                let file = file.strip_prefix(root).unwrap().display().to_string();
                types.entry(name).or_default().push(Definition { crate_name: crate_name.clone(), file, visibility });
            }
        }
    }
    types.retain(|name, _| !READ_WITH_THEIR_MODULE.contains(&name.as_str()));
    let twice: Vec<_> = types.iter().filter_map(|(name, found)| clash(name, found)).collect();
    assert_eq!(twice, [""; 0], "{}", twice.join("\n"));
}

#[test]
fn finds_types_by_who_sees_them() {
    let text = "pub struct Otter<T> {\n    pub(crate) enum Den {}\nstruct Hidden;\npub(super) struct Near;\npub fn f() {}\n\
                #[cfg(test)]\nmod tests {\n    pub struct Tried;\n";
    let found: Vec<_> = types_in(text).collect();
    assert_eq!(found, [("Otter".to_owned(), Visibility::Public), ("Den".to_owned(), Visibility::Crate)]);
}

#[test]
fn two_crates_clash_with_public_types_alone() {
    let of =
        |crate_name: &str, visibility| Definition { crate_name: crate_name.into(), file: "a.rs".into(), visibility };
    let (public, own) = (of("core", Visibility::Public), of("core", Visibility::Crate));
    assert!(clash("Otter", &[public.clone(), of("server", Visibility::Crate)]).is_none());
    assert!(clash("Otter", &[public.clone(), of("server", Visibility::Public)]).is_some());
    assert!(clash("Otter", &[public, own]).is_some());
}

/// The places of a name, if two of them are seen from one place.
fn clash(name: &str, found: &[Definition]) -> Option<String> {
    let clash = |a: &Definition, b: &Definition| {
        if a.crate_name == b.crate_name {
            a.crate_name != VERSIONS_OF_KINDS
        } else {
            [a, b].iter().all(|it| it.visibility == Visibility::Public)
        }
    };
    let clashes = found.iter().enumerate().any(|(at, a)| found[at + 1..].iter().any(|b| clash(a, b)));
    let files: Vec<_> = found.iter().map(|it| it.file.as_str()).collect();
    clashes.then(|| format!("{name}: {}", files.join(", ")))
}

/// The types that a file defines for others.
fn types_in(text: &str) -> impl Iterator<Item = (String, Visibility)> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    code.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let visibility = match words.next()? {
            "pub" => Visibility::Public,
            "pub(crate)" => Visibility::Crate,
            _ => return None,
        };
        ["struct", "enum", "trait", "type", "union"].contains(&words.next()?).then_some(())?;
        let name: String = words.next()?.chars().take_while(|char| char.is_alphanumeric()).collect();
        Some((name, visibility))
    })
}
