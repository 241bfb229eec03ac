//! What the API server says alone: the cases of stage `schema` by our CRDs and our reading of them.

#![allow(clippy::unwrap_used, reason = "a test")]

#[allow(clippy::panic, clippy::expect_used, reason = "assertions of tests")]
mod support;

use std::collections::BTreeMap;

use gateward::schema::{Schema, WriteKind, from_crd};
use gateward::{GroupVersionKind, yaml};
use serde_json::Value;
use support::{Case, FILES, Stage, folder, json_path};

fn schemas() -> BTreeMap<GroupVersionKind, Schema> {
    let mut schemas = BTreeMap::new();
    for document in dynamo_webhooks::crds().iter().flat_map(|crd| yaml::read(crd).documents) {
        let kind = document.value["spec"]["names"]["kind"].as_str().unwrap();
        for version in from_crd(&document.value).unwrap() {
            let gvk = GroupVersionKind::of(&format!("nvidia.com/{}", version.version), kind);
            schemas.insert(gvk, version.schema);
        }
    }
    schemas
}

/// The cases of our kinds and eras. The schema of a DynamoModel is of all eras, and so is that of a v1alpha1 request.
fn cases() -> Vec<Case> {
    let cases = FILES.iter().flat_map(|file| Case::of_file(&folder().join(file)));
    let is_ours = |case: &Case| case.era == "N" || case.kind == "DynamoModel" || case.version() == "v1alpha1";
    cases.filter(is_ours).filter(|case| case.operation != "DELETE").collect()
}

/// What the API server makes of a case before any webhook is asked.
struct Read {
    object: Value,
    /// The paths of what the schema refuses.
    refused: Vec<String>,
    /// The nodes on which CEL rules stand.
    asked_by_cel: Vec<String>,
}

impl Read {
    fn of(case: &Case, schema: &Schema) -> Self {
        let (mut old, mut object) = (case.old.clone(), case.object.clone());
        schema.apply_defaults(&mut object);
        schema.apply_defaults(&mut old);
        let (found, write) = match old {
            Value::Null => (schema.validate(&object), WriteKind::Creation),
            old => (schema.validate_update(&old, &object), WriteKind::Update),
        };
        let refused = found.iter().map(|finding| steps(&finding.path.to_string())).collect();
        let asked_by_cel =
            schema.cel_rules_on(&object, write).iter().map(|rule| steps(&rule.path.to_string())).collect();
        Self { object, refused, asked_by_cel }
    }
}

/// A path whose entries of maps are written like members: the schema's paths and those of CEL differ in that.
fn steps(path: &str) -> String {
    path.replace('[', ".").replace(']', "")
}

#[test]
fn the_schema_refuses_what_the_cases_say() {
    let cases = cases();
    let schemas = schemas();
    let mut compared = 0;
    for case in cases.iter().filter(|case| matches!(case.stage, Stage::Schema | Stage::Cel)) {
        let read = Read::of(case, &schemas[&case.gvk()]);
        let mut left = read.refused.clone();
        for wanted in case.expect.error_fields.iter().map(|path| steps(path)) {
            match left.iter().position(|found| *found == wanted) {
                Some(found) => drop(left.remove(found)),
                // What CEL refuses is not evaluated here, but the rule must stand on the node.
                None => assert!(read.asked_by_cel.contains(&wanted), "{}: nothing refuses {wanted}", case.id),
            }
        }
        assert!(left.is_empty(), "{}: {left:?}", case.id);
        for (path, wanted) in &case.expect.patched {
            assert_eq!(json_path::find(&read.object, path), Some(wanted), "{}: {path}", case.id);
        }
        compared += 1;
    }
    println!("{compared} cases agree");
    assert!(compared > 40);
}

/// The API server never asks the webhook about roles of one name: the list is a map by name.
const REFUSED_BY_THE_SCHEMA_TOO: [&str; 1] = ["SHARED-42"];

#[test]
fn the_schema_lets_pass_what_the_webhooks_are_asked_about() {
    let cases = cases();
    let schemas = schemas();
    let mut compared = 0;
    for case in cases.iter().filter(|case| case.stage == Stage::Webhook && case.is_ours()) {
        if REFUSED_BY_THE_SCHEMA_TOO.contains(&case.source_rule.as_str()) {
            continue;
        }
        assert_eq!(Read::of(case, &schemas[&case.gvk()]).refused, [""; 0], "{}", case.id);
        compared += 1;
    }
    println!("{compared} cases pass");
    assert!(compared > 250);
}
