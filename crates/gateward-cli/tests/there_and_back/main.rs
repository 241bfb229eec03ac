//! Real files through `convert` and back: the demo's manifests, the examples of the rules, and the published ones where
//! `../shared/corpus` is there.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../../../dynamo-webhooks/tests/support/corpus.rs"]
mod corpus;
#[path = "../../../dynamo-webhooks/tests/support/example_objects.rs"]
mod example_objects;
mod order;

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use gateward_core::{Crd, GroupVersionKind, Ordered, Webhooks};
use gateward_lint::schema::{self, Schema};
use gateward_lint::yaml::{self, Document, Source};
use serde_json::Value;
use tempfile::TempDir;

use order::{Counterparts, moved};

const VERSIONS: [&str; 2] = ["v1alpha1", "v1beta1"];

fn gateward(arguments: &[&str], files: &Path) -> (String, Option<i32>) {
    let output = Command::cargo_bin("gateward").unwrap().args(arguments).arg(files).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// The folders of files that must convert.
fn folders(test: &str, examples: &TempDir) -> Vec<PathBuf> {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/manifests");
    [demo, examples.path().to_owned()].into_iter().chain(corpus::folder(test)).collect()
}

fn objects(source: &Source) -> impl Iterator<Item = &Value> {
    let values = source.documents.iter().map(|document| &document.value);
    values.flat_map(|value| value["items"].as_array().map_or(std::slice::from_ref(value), Vec::as_slice))
}

fn gvk(object: &Value) -> GroupVersionKind {
    let text = |member: &str| object[member].as_str().unwrap_or_default().to_owned();
    GroupVersionKind::of(&text("apiVersion"), &text("kind"))
}

/// The files with objects of this version and of no other, copied into a folder.
fn copied(folder: &Path, version: &str) -> TempDir {
    let copies = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let source = yaml::read(&text);
        let mut ours = objects(&source).map(gvk).filter(|gvk| gvk.group == "nvidia.com").peekable();
        if ours.peek().is_some() && ours.all(|gvk| gvk.version == version) {
            fs::write(copies.path().join(path.file_name().unwrap()), text).unwrap();
        }
    }
    copies
}

/// The files that `convert --write` says to have written.
fn written(to: &str, folder: &Path) -> Vec<PathBuf> {
    let (said, _) = gateward(&["convert", "--to", to, "--write"], folder);
    let files = said.lines().filter(|line| line.starts_with('/'));
    files.map(PathBuf::from).collect()
}

fn schemas() -> Vec<(GroupVersionKind, Schema)> {
    let read = |crd: &Crd| {
        let source = yaml::read(&*crd.yaml());
        let crd = &source.documents[0].value;
        let of = |version: &str| GroupVersionKind {
            group: crd["spec"]["group"].as_str().unwrap().to_owned(),
            version: version.to_owned(),
            kind: crd["spec"]["names"]["kind"].as_str().unwrap().to_owned(),
        };
        let versions = schema::from_crd(crd).unwrap();
        versions.into_iter().map(|version| (of(&version.version), version.schema)).collect::<Vec<_>>()
    };
    dynamo_webhooks::webhooks().declarations().filter_map(|declared| declared.crd.as_ref()).flat_map(read).collect()
}

fn objects_in_order(source: &Source) -> Vec<Ordered> {
    let documents = source.documents.iter().map(Document::in_order);
    let objects = documents.flat_map(|mut document| match document.remove("items") {
        Some(Ordered::Items(items)) => items,
        _ => vec![document],
    });
    objects.collect()
}

/// The names of an object's services or components, in the order of the text.
fn names(object: &Ordered) -> Vec<String> {
    let member = |object: &Ordered, name: &str| object.clone().remove(name);
    let spec = member(object, "spec").unwrap_or(Ordered::Scalar(Value::Null));
    match (member(&spec, "services"), member(&spec, "components")) {
        (Some(Ordered::Members(services)), _) => services.into_iter().map(|(name, _)| name).collect(),
        (_, Some(Ordered::Items(components))) => components
            .iter()
            .filter_map(|component| match member(component, "name") {
                Some(Ordered::Scalar(Value::String(name))) => Some(name),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// How many texts are written as block scalars.
fn block_scalars(text: &str) -> usize {
    let is_head = |line: &&str| [" |", " |-", " |+", " >", " >-", " >+"].iter().any(|head| line.ends_with(head));
    text.lines().filter(is_head).count()
}

/// Requests with fields that no version knows, and with a `config` that is text and must be a map: `docs/deviations.md` says
/// what becomes of them.
const LOSES: [&str; 2] = ["dgdr-proposal-v1beta1-full.yaml", "DGDR-A4.bad.yaml"];

/// A graph with a mount that is the compilation cache: v1beta1 has it twice, in the container and beside it, so that its
/// name and its path stand at two places each.
const TWICE: [&str; 1] = ["dgd-v1alpha1-recipe-kv-router.yaml"];

/// A file on the way to the other version and back, and there again.
struct Trip {
    name: String,
    other: &'static str,
    before: String,
    there: String,
    back: String,
    again: String,
}

/// The trips of all files that convert.
fn trips(test: &str) -> Vec<Trip> {
    let (mut trips, examples) = (Vec::new(), example_objects::folder());
    for folder in folders(test, &examples) {
        for (own, other) in [(VERSIONS[0], VERSIONS[1]), (VERSIONS[1], VERSIONS[0])] {
            let copies = copied(&folder, own);
            let files = written(other, copies.path());
            let read = || files.iter().map(|path| fs::read_to_string(path).unwrap()).collect::<Vec<_>>();
            let there = read();
            assert_eq!(written(own, copies.path()), files);
            let back = read();
            assert_eq!(written(other, copies.path()), files);
            for (((path, there), back), again) in files.iter().zip(there).zip(back).zip(read()) {
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                let before = fs::read_to_string(folder.join(&name)).unwrap();
                trips.push(Trip { name, other, before, there, back, again });
            }
        }
    }
    trips
}

#[test]
fn files_come_back_with_the_same_meaning() {
    let schemas = schemas();
    for Trip { name, before, back, .. } in trips("files_come_back_with_the_same_meaning") {
        assert_eq!(block_scalars(&before), block_scalars(&back), "{name}");
        assert_same(&schemas, &yaml::read(before), &yaml::read(back), &name);
    }
}

#[test]
fn files_come_back_in_their_order_as_far_as_the_other_version_has_one() {
    let webhooks = dynamo_webhooks::webhooks();
    let (mut trips_in_order, mut wrong) = (0, Vec::new());
    let trips = trips("files_come_back_in_their_order_as_far_as_the_other_version_has_one");
    for Trip { name, other, before, back, .. } in &trips {
        let [before, back] = [before, back].map(|text| objects_in_order(&yaml::read(text)));
        let mut is_in_order = true;
        for (before, back) in before.iter().zip(&back) {
            let moved = moved(before, back);
            if moved.is_empty() {
                continue;
            }
            is_in_order = false;
            let counterparts = Counterparts::of(&webhooks, before, other);
            let unexplained =
                moved.iter().filter(|moved| !counterparts.explain(moved) && !TWICE.contains(&name.as_str()));
            wrong.extend(unexplained.map(|moved| format!("{name}: {moved}")));
        }
        trips_in_order += usize::from(is_in_order);
    }
    println!("{trips_in_order} of {} files come back in their order, whole", trips.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text without comments and blank lines: one that has no place in the other version is lost there, as a warning says.
fn without_comments(text: &str) -> String {
    let content = |line: &str| line.split_once(" #").map_or(line, |(content, _)| content).trim_end().to_owned() + "\n";
    text.lines().map(content).filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')).collect()
}

#[test]
fn a_second_trip_changes_nothing() {
    let trips = trips("a_second_trip_changes_nothing").into_iter().filter(|trip| !TWICE.contains(&trip.name.as_str()));
    for Trip { name, there, again, .. } in trips {
        assert_eq!(without_comments(&again), without_comments(&there), "{name}");
    }
}

fn assert_same(schemas: &[(GroupVersionKind, Schema)], before: &Source, after: &Source, name: &str) {
    assert_eq!(before.documents.len(), after.documents.len(), "{name}");
    for (old, new) in before.documents.iter().zip(&after.documents) {
        assert_eq!(names(&old.in_order()), names(&new.in_order()), "{name}");
    }
    for (old, new) in objects(before).zip(objects(after)) {
        assert_eq!(gvk(old), gvk(new), "{name}");
        let Some((_, schema)) = schemas.iter().find(|(known, _)| *known == gvk(old)) else {
            assert_eq!(old, new, "{name}");
            continue;
        };
        let found = schema.differences(old, new);
        assert!(found.is_empty() || LOSES.contains(&name), "{name}: {found:?}");
    }
}

/// What a file has is what the server answers, up to the order of components and annotations that keep nothing.
#[test]
fn files_say_what_the_server_answers() {
    let webhooks = dynamo_webhooks::webhooks();
    let examples = example_objects::folder();
    for folder in folders("files_say_what_the_server_answers", &examples) {
        for (own, other) in [(VERSIONS[0], VERSIONS[1]), (VERSIONS[1], VERSIONS[0])] {
            let copies = copied(&folder, own);
            for path in written(other, copies.path()) {
                let name = path.file_name().unwrap().to_str().unwrap();
                let [before, after] = [&folder.join(name), &path].map(|path| yaml::read(fs::read(path).unwrap()));
                for (old, new) in objects(&before).zip(objects(&after)) {
                    assert_eq!(plain(&webhooks, new), plain(&webhooks, &answered(&webhooks, old, other)), "{name}");
                }
            }
        }
    }
}

fn answered(webhooks: &Webhooks, object: &Value, version: &str) -> Value {
    let gvk = gvk(object);
    if gvk.group != "nvidia.com"
        || !webhooks.declarations().any(|declared| declared.converts() && declared.hub.same_kind(&gvk))
    {
        return object.clone();
    }
    let converted = webhooks.convert(&object.to_string(), &format!("nvidia.com/{version}")).unwrap();
    serde_json::from_str(&converted.json).unwrap()
}

/// The object with its components by name and without the annotations of conversion; 1 and 1.0 are the same.
fn plain(webhooks: &Webhooks, object: &Value) -> Value {
    let mut object = object.clone();
    same_numbers(&mut object);
    if let Some(Value::Array(components)) = object.pointer_mut("/spec/components") {
        components.sort_by_key(|component| component["name"].to_string());
    }
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return object };
    if let Some(Value::Object(annotations)) = metadata.get_mut("annotations") {
        for key in webhooks.declarations().flat_map(gateward::Declaration::conversion_annotations) {
            annotations.remove(key);
        }
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
    object
}

fn same_numbers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(same_numbers),
        Value::Object(members) => members.values_mut().for_each(same_numbers),
        Value::Number(number) => *value = number.as_f64().into(),
        _ => {}
    }
}

/// Files with an object that has no place in the other version, or that can't be read.
const REFUSED: [&str; 4] = [
    "dgd-v1alpha1-mocker-template.yaml",
    "dgdr-proposal-bool-features.yaml",
    "dgdr-v1alpha1-live-list-dump.yaml",
    "model-proposal-lora-snakecase.yaml",
];

#[test]
fn a_round_trip_reports_nothing_where_nothing_is_lost() {
    let examples = example_objects::folder();
    for folder in folders("a_round_trip_reports_nothing_where_nothing_is_lost", &examples) {
        let copies = tempfile::tempdir().unwrap();
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.extension().is_some_and(|extension| extension == "yaml")
                && !REFUSED.contains(&name)
                && !LOSES.contains(&name)
            {
                fs::copy(&path, copies.path().join(name)).unwrap();
            }
        }
        let (said, code) = gateward(&["convert", "--round-trip"], copies.path());
        assert_eq!((said.as_str(), code), ("", Some(0)));
    }
}
