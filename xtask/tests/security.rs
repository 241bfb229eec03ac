//! That the threat model speaks of what is there: tests by their names, and every CEL rule of v1beta1.

#![allow(clippy::unwrap_used, reason = "tests")]

mod sources;

use std::fs;

use dynamo_api::schema::rules;
use gateward_lint::yaml;
use serde_json::Value;
use sources::{root, rust_files};

fn document() -> String {
    fs::read_to_string(root().join("docs/security.md")).unwrap()
}

#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let files = ["crates", "tests"].iter().flat_map(|folder| rust_files(&root().join(folder), |_| true));
    let files: Vec<_> = files.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect();
    let document = document();
    let named: Vec<&str> = document.split('`').skip(1).step_by(2).filter(|code| code.contains("::")).collect();
    assert!(named.len() > 30);
    let is_there = |name: &str| {
        let (place, test) = name.rsplit_once("::").unwrap();
        files.iter().any(|(path, text)| path.contains(place) && text.contains(&format!("fn {test}(")))
    };
    let gone: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(gone.is_empty(), "docs/security.md names tests that are not there: {gone:#?}");
}

#[test]
fn every_cel_rule_of_v1beta1_is_accounted_for() {
    let crds = fs::read_dir(root().join("crates/dynamo-api/crds")).unwrap();
    let of_v1beta1 = |text: &str| {
        let crd = yaml::read(text).documents.remove(0).value;
        let versions = crd["spec"]["versions"].as_array().unwrap();
        versions.iter().filter(|version| version["name"] == "v1beta1").map(Value::to_string).collect::<String>()
    };
    let schemas: String = crds.map(|entry| of_v1beta1(&fs::read_to_string(entry.unwrap().path()).unwrap())).collect();
    let document = document();
    let table = document.split_once("## CEL rules of v1beta1 and v1alpha1 writes").unwrap().1;
    let judged = rules::ALL.iter().filter(|rule| schemas.contains(rule.message));
    let ids: Vec<&str> = judged.map(|rule| rule.id).collect();
    assert!(ids.len() >= 19, "{ids:?}");
    for id in ids {
        assert!(table.contains(&format!("\n| {id} |")), "{id} is not in the table");
    }
}
