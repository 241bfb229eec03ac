//! `docs/dependencies.md` names every direct dependency, and nothing else. Operators depend on the facade alone. What is
//! published says what it is.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The packages of the workspace of a manifest.
fn packages_of(manifest: &str) -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join(manifest))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(metadata["packages"].take()).unwrap()
}

fn dependencies(package: &Value) -> &Vec<Value> {
    package["dependencies"].as_array().unwrap()
}

/// The crates that the packages of a manifest name and that come from elsewhere.
fn named_in(manifest: &str) -> BTreeSet<String> {
    let packages = packages_of(manifest);
    let foreign = packages.iter().flat_map(dependencies).filter(|dependency| dependency["path"].is_null());
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

/// What we build with the SDK is built with what everybody has of it.
#[test]
fn operators_depend_on_the_facade_alone() {
    let packages = packages_of("Cargo.toml");
    let folder = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.strip_prefix(root()).unwrap().parent().unwrap().to_str().unwrap().to_owned()
    };
    let is_an_operators = |folder: &str| {
        ["crates/dynamo-", "examples/", "tests/examples"].iter().any(|beginning| folder.starts_with(beginning))
    };
    let operators: Vec<_> = packages.iter().filter(|package| is_an_operators(&folder(package))).collect();
    assert!(operators.len() >= 7, "{:?}", operators.iter().map(|package| folder(package)).collect::<Vec<_>>());
    for package in operators {
        let below: Vec<&str> = dependencies(package)
            .iter()
            .filter_map(|dependency| dependency["name"].as_str())
            // Tests stand on the bed, which is built on no part of the facade.
            .filter(|name| name.starts_with("gateward-") && *name != "gateward-testbed")
            .collect();
        assert!(below.is_empty(), "{} names {below:?} beside the facade", folder(package));
    }
}

/// Two libraries that each name a version of Kubernetes can't stand in one program.
#[test]
fn no_library_chooses_the_version_of_kubernetes_for_its_users() {
    let packages = packages_of("Cargo.toml");
    let chooses = |dependency: &&Value| {
        let features = dependency["features"].as_array().unwrap();
        let names_version = features.iter().any(|feature| feature.as_str().unwrap().starts_with("v1_"));
        dependency["name"] == "k8s-openapi" && dependency["kind"].is_null() && names_version
    };
    let choosing = packages.iter().filter(|package| dependencies(package).iter().any(|it| chooses(&it)));
    let choosing: BTreeSet<_> = choosing.filter_map(|package| package["name"].as_str()).collect();
    assert!(choosing.contains("gateward-cli"), "{choosing:?}");
    assert_eq!(choosing.intersection(&PUBLISHED.into()).collect::<Vec<_>>(), Vec::<&&str>::new());
}

/// The facade and what is below it, and the test bed; everything else stays here.
const PUBLISHED: [&str; 8] = [
    "gateward",
    "gateward-certs",
    "gateward-cluster",
    "gateward-core",
    "gateward-lint",
    "gateward-macros",
    "gateward-server",
    "gateward-testbed",
];

#[test]
fn what_is_published_says_what_it_is_and_depends_on_versions() {
    let packages = packages_of("Cargo.toml");
    // The list of the registries that a package may go to: none stands for all.
    let published: Vec<_> = packages.iter().filter(|package| package["publish"].is_null()).collect();
    let names: BTreeSet<_> = published.iter().filter_map(|package| package["name"].as_str()).collect();
    assert_eq!(names, PUBLISHED.into());
    for package in published {
        for field in ["description", "license", "repository", "keywords", "categories"] {
            let said = &package[field];
            assert!(
                said.as_str().is_some() || said.as_array().is_some_and(|all| !all.is_empty()),
                "{package}: {field}"
            );
        }
        let ours = dependencies(package).iter().filter(|dependency| !dependency["path"].is_null());
        for dependency in ours.filter(|dependency| dependency["kind"].is_null()) {
            assert_ne!(dependency["req"], "*", "{} has no version in {}", dependency["name"], package["name"]);
        }
    }
}
