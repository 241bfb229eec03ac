//! The offline check and the API server know the same schemas: they say the same of hundreds of damaged objects.
//!
//! What CEL refuses is left aside, because the check doesn't evaluate it and says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cluster_tests::{Conversion, Response, Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::damage::Damage;
use crate::seeds;

pub fn tests() -> Vec<Test> {
    tests![the_offline_check_and_the_api_server_agree]
}

/// Objects made of each seed.
const OBJECTS: usize = 300;

/// Whether it is known why only one of both speaks of a node; `docs/conformance.md` tells it.
fn is_explained(node: &str) -> bool {
    // Our defaulting, which the check knows, and of which nobody is asked here.
    ["spec.searchStrategy", "spec.backend"].contains(&node)
        || node.contains("roles.") && node.ends_with(".replicas")
        // An item of a list whose first item is no object.
        || node == "spec.components.2"
}

/// What is said of one object, by the nodes that it is said of.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    unknown: BTreeSet<String>,
    refused: BTreeSet<String>,
}

impl Said {
    /// What only one of both says, offline and online.
    fn against(&self, online: &Self) -> Option<String> {
        // Where an object stands in place of a text, the API server complains of the object's members, and the check of
        // the object.
        let misplaced = |node: &&String| self.refused.iter().any(|above| node.starts_with(&format!("{above}.")));
        let unknown: BTreeSet<String> = online.unknown.iter().filter(|node| !misplaced(node)).cloned().collect();
        let none = BTreeSet::new();
        // The API server looks at values once it knows all fields.
        let values = if online.unknown.is_empty() { (&self.refused, &online.refused) } else { (&none, &none) };
        let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
            let nodes = a.difference(b).filter(|node| !is_explained(node));
            nodes.cloned().collect::<Vec<_>>().join(", ")
        };
        let offline = [only(&self.unknown, &unknown), only(values.0, values.1)].concat();
        let online = [only(&unknown, &self.unknown), only(values.1, values.0)].concat();
        (!offline.is_empty() || !online.is_empty()).then(|| format!("only offline: {offline}; only online: {online}"))
    }
}

/// Entries of maps are written in two ways, and the path of the scale subresource begins with a dot.
fn steps(path: &str) -> String {
    path.replace('[', ".").replace(']', "").trim_start_matches('.').to_owned()
}

/// What the check says of the files in a folder, by their names.
fn checked(sandbox: &Sandbox, folder: &Path) -> BTreeMap<String, Said> {
    let output = sandbox.bed().programs().gateward().args(["check", "--output", "json"]).arg(folder).output().unwrap();
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let finding: Value = serde_json::from_slice(line).unwrap();
        if finding["rule"] != "SCHEMA" {
            continue;
        }
        let (path, message) = (steps(finding["path"].as_str().unwrap()), finding["message"].as_str().unwrap());
        let file = Path::new(finding["file"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
        let said = said.entry(file.to_owned()).or_default();
        let nodes = if message.starts_with("unknown field") { &mut said.unknown } else { &mut said.refused };
        nodes.insert(path);
    }
    said
}

/// What the API server says, but for the texts of CEL rules.
fn answered(answer: &Response, cel: &BTreeSet<String>) -> Said {
    let mut said = Said::default();
    let message = answer.body["message"].as_str().unwrap_or_default();
    match answer.status.as_u16() {
        200..300 => {}
        400 => {
            let fields = message.split("unknown field \"").skip(1).filter_map(|rest| rest.split('"').next());
            said.unknown.extend(fields.map(steps));
            assert!(!said.unknown.is_empty(), "{message}");
        }
        422 => {
            for cause in answer.body["details"]["causes"].as_array().unwrap() {
                let (field, message) = (cause["field"].as_str().unwrap(), cause["message"].as_str().unwrap());
                if field != "<nil>" && !cel.iter().any(|text| message.ends_with(text.as_str())) {
                    said.refused.insert(steps(field));
                }
            }
        }
        other => panic!("{other}: {message}"),
    }
    said
}

/// The texts of all CEL rules in a CRD.
fn cel_messages(node: &Value, found: &mut BTreeSet<String>) {
    for rule in node["x-kubernetes-validations"].as_array().into_iter().flatten() {
        found.extend(rule["message"].as_str().map(str::to_owned));
    }
    match node {
        Value::Array(items) => items.iter().for_each(|item| cel_messages(item, found)),
        Value::Object(members) => members.values().for_each(|member| cel_messages(member, found)),
        _ => {}
    }
}

fn damaged() -> Vec<Value> {
    let mut damage = Damage::new(5);
    let mut objects = seeds::all();
    for seed in seeds::all() {
        objects.extend((1..OBJECTS).map(|_| damage.done_to(&seed)));
    }
    for (index, object) in objects.iter_mut().enumerate() {
        object["metadata"] = json!({"name": format!("object-{index}")});
    }
    objects
}

async fn the_offline_check_and_the_api_server_agree(sandbox: Sandbox) {
    let mut cel = BTreeSet::new();
    let crds = cluster_tests::crds(sandbox.bed().programs(), Conversion::None).unwrap();
    for crd in &crds {
        cel_messages(crd, &mut cel);
    }
    let folder = sandbox.bed().folder().join("conformance");
    std::fs::create_dir(&folder).unwrap();
    let objects = damaged();
    let name = |object: &Value| format!("{}.json", object["metadata"]["name"].as_str().unwrap());
    for object in &objects {
        std::fs::write(folder.join(name(object)), object.to_string()).unwrap();
    }
    let mut checked = checked(&sandbox, &folder);
    let (mut refused, mut failed) = (0, Vec::new());
    for object in &objects {
        let offline = checked.remove(&name(object)).unwrap_or_default();
        let answer = sandbox.strictly().create(object).await;
        let online = answered(&answer, &cel);
        refused += usize::from(online != Said::default());
        if let Some(how) = offline.against(&online) {
            failed.push(format!("{how}\n    {:.600}\n    {object}", answer.body["message"].to_string()));
        }
    }
    println!("{refused} of {} objects are refused", objects.len());
    assert!(failed.is_empty(), "{} disagreements:\n  {}", failed.len(), failed.join("\n  "));
}
