//! Real manifests, in both versions of their kinds: what the fuzzer begins with.

use std::path::Path;

use gateward::{Webhooks, yaml};
use serde_json::Value;

/// An object that somebody may have written.
pub struct Seed {
    pub name: String,
    pub kind: String,
    /// Without the group.
    pub version: &'static str,
    pub object: Value,
}

/// All of them: the examples of the catalogue, the cases of conversion, and the published manifests of
/// `../shared/corpus` where it is there; each also as conversion makes it, with its annotations.
pub fn all(webhooks: &Webhooks) -> Vec<Seed> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = Vec::new();
    for folder in ["src/rules/examples", "../gateward-cli/src/demo/manifests", "../../../shared/corpus/dynamo"] {
        let folder = crate_folder.join(folder);
        if folder.is_dir() {
            add_folder(&folder, &mut seeds);
        }
    }
    for name in ["graphs", "components", "deployment_requests", "adapters"] {
        let file = crate_folder.join("tests/conversion/cases").join(name).with_extension("jsonl");
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            add(case["id"].as_str().unwrap(), &case["input"], &mut seeds);
        }
    }
    let converted: Vec<Seed> = seeds.iter().filter_map(|seed| converted(webhooks, seed)).collect();
    seeds.extend(converted);
    seeds
}

fn add_folder(folder: &Path, seeds: &mut Vec<Seed>) {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The same seeds are drawn on every machine.
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add_folder(&path, seeds);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let name = path.file_name().unwrap().to_str().unwrap();
            for document in yaml::read(std::fs::read(&path).unwrap()).documents {
                let value = &document.value;
                for object in [Some(value), value.get("object"), value.get("old")].into_iter().flatten() {
                    add(name, object, seeds);
                }
            }
        }
    }
}

fn add(name: &str, object: &Value, seeds: &mut Vec<Seed>) {
    let version = match object["apiVersion"].as_str() {
        Some("nvidia.com/v1alpha1") => "v1alpha1",
        Some("nvidia.com/v1beta1") => "v1beta1",
        _ => return,
    };
    let Some(kind) = object["kind"].as_str() else { return };
    seeds.push(Seed { name: name.to_owned(), kind: kind.to_owned(), version, object: object.clone() });
}

/// The version that an object doesn't have.
pub fn other(version: &str) -> &'static str {
    if version == "v1alpha1" { "v1beta1" } else { "v1alpha1" }
}

fn converted(webhooks: &Webhooks, seed: &Seed) -> Option<Seed> {
    let version = other(seed.version);
    let converted = webhooks.convert(&seed.object.to_string(), &format!("nvidia.com/{version}")).ok()?;
    let object = serde_json::from_str(&converted.json).ok()?;
    Some(Seed { name: format!("{} converted", seed.name), kind: seed.kind.clone(), version, object })
}
