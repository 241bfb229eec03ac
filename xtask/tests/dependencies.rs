//! `docs/dependencies.md` names every direct dependency, and nothing else.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The crates that the packages of a manifest name and that come from elsewhere.
fn named_in(manifest: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join(manifest))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let dependencies = packages.iter().flat_map(|package| package["dependencies"].as_array().unwrap());
    let foreign = dependencies.filter(|dependency| dependency["path"].is_null());
    foreign.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect()
}

/// The first cells of the document's tables.
fn documented() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("docs/dependencies.md")).unwrap();
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    cells.filter(|cell| *cell != "crate").map(str::to_owned).collect()
}

#[test]
fn the_document_names_every_direct_dependency_and_nothing_else() {
    let mut named = named_in("Cargo.toml");
    named.extend(named_in("fuzz/Cargo.toml"));
    let documented = documented();
    let missing: Vec<&String> = named.difference(&documented).collect();
    let stale: Vec<&String> = documented.difference(&named).collect();
    assert!(missing.is_empty() && stale.is_empty(), "not documented: {missing:?}; documented and gone: {stale:?}");
}
