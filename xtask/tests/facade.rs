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
