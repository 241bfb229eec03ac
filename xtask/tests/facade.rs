//! What the core shows to authors, they can name through the crate `gateward` alone.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

#[test]
fn the_facade_names_whatever_the_core_exports() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("crates");
    let exported = |file: &str| exports(&fs::read_to_string(crates.join(file)).unwrap());
    let core = exported("gateward-core/src/lib.rs");
    let facade: BTreeSet<_> =
        ["gateward/src/lib.rs", "gateward/src/prelude.rs"].into_iter().flat_map(exported).collect();
    assert!(core.len() > 50, "{core:?}");
    let missing: Vec<_> = core.difference(&facade).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// What an operator author can name, a crate of ours names from outside.
#[test]
fn every_public_item_of_the_facade_is_named_by_another_crate() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("crates");
    let read = |file: &str| fs::read_to_string(crates.join(file)).unwrap();
    let named = read("gateward/tests/public_items.rs");
    let modules = [
        ("gateward", "lib.rs"),
        ("gateward::check", "check/mod.rs"),
        ("gateward::config", "config/mod.rs"),
        ("gateward::conversion", "conversion.rs"),
        ("gateward::json", "json.rs"),
        ("gateward::local", "local.rs"),
        ("gateward::prelude", "prelude.rs"),
        ("gateward::testing", "testing/mod.rs"),
    ];
    let mut modules = modules.map(|(module, file)| (module, read(&format!("gateward/src/{file}"))));
    let declared = public_modules(&modules[0].1);
    let listed: BTreeSet<_> = modules[1..].iter().map(|(module, _)| module["gateward::".len()..].to_owned()).collect();
    assert_eq!(declared, listed);
    // It has all of core's.
    let testing = &mut modules.last_mut().unwrap().1;
    *testing = testing.replace("pub use gateward_core::testing::*;", &read("gateward-core/src/testing/mod.rs"));
    for (module, text) in &modules {
        let list = named.split(&format!("use {module}::{{")).nth(1).and_then(|rest| rest.split('}').next());
        let list: BTreeSet<_> = list.unwrap_or_default().split(',').map(|name| name.trim().to_owned()).collect();
        let public: BTreeSet<_> = exports(text).into_iter().chain(items(text)).collect();
        let missing: Vec<_> = public.difference(&list).collect();
        assert!(missing.is_empty(), "{module}: {missing:?}");
    }
}

/// A copy, or the link's text in a file, would be compiled in place of the guide.
#[test]
fn the_guides_that_the_facade_compiles_are_those_of_the_documentation() {
    for guide in ["sdk.md", "kubeops.md"] {
        let text = |folder: &str| {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join(guide);
            fs::read_to_string(&file).unwrap()
        };
        assert!(
            text("crates/gateward/docs") == text("docs"),
            "crates/gateward/docs/{guide} is no link to docs/{guide}"
        );
    }
}

#[test]
fn exports_are_found_whether_alone_or_in_a_list() {
    let text = "pub use a::b::Otter;\nuse a::Hidden;\npub use a::{\n    Beaver, b::Mink,\n};\n";
    assert_eq!(exports(text), ["Beaver", "Mink", "Otter"].map(str::to_owned).into());
}

#[test]
fn items_and_modules_are_found_where_a_file_declares_them() {
    let text =
        "pub mod river;\nmod lake;\npub async fn swim() {}\npub(crate) struct Hidden;\npub struct Otter<T>(T);\n";
    assert_eq!(public_modules(text), ["river".to_owned()].into());
    assert_eq!(items(text), ["Otter", "swim"].map(str::to_owned).into());
}

fn public_modules(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// The items that a file declares itself.
fn items(text: &str) -> BTreeSet<String> {
    let kinds = ["struct ", "enum ", "trait ", "type ", "const ", "fn ", "async fn "];
    let items = text.lines().filter_map(|line| line.strip_prefix("pub "));
    let items = items.filter_map(|item| kinds.iter().find_map(|kind| item.strip_prefix(kind)));
    items
        .filter_map(|item| item.split(|c: char| !(c.is_alphanumeric() || c == '_')).next())
        .map(str::to_owned)
        .collect()
}

/// The last names of the paths that a file exports.
fn exports(text: &str) -> BTreeSet<String> {
    let lists = text.split("pub use ").skip(1).filter_map(|rest| Some(rest.split_once(';')?.0));
    let paths = lists.flat_map(|list| match list.split_once('{') {
        Some((_, items)) => items.trim_end_matches('}').split(',').collect::<Vec<_>>(),
        None => vec![list],
    });
    let names = paths.filter_map(|path| path.trim().trim_end_matches('}').rsplit("::").next());
    names.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}
