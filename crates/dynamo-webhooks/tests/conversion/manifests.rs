//! Manifests that people wrote: the published ones, where they lie beside the project, and the project's own.

use std::path::Path;

use gateward::testing::differences;
use serde_json::Value;

use crate::corpus;
use crate::documents::{Found, Schemas, under};
use crate::kinds::convert;
use crate::meaning::meaning;

/// What differs after the way there and back.
fn changes(found: &Found, object: &Value) -> Vec<String> {
    let back = convert(object, found.other()).and_then(|there| convert(&there, found.version()));
    let mut back = match back {
        Ok(back) => found.kind.without_stashes(&back),
        Err(error) => return vec![format!("{}: {error}", found.file)],
    };
    let mut object = object.clone();
    meaning(found.kind, found.version(), &mut object);
    meaning(found.kind, found.version(), &mut back);
    differences(&object, &back).iter().map(|difference| format!("{}: {difference}", found.file)).collect()
}

#[track_caller]
fn come_back(folder: &Path, least: usize) {
    let schemas = Schemas::read();
    let (mut admitted, mut changed) = (0, Vec::new());
    for found in under(folder) {
        let Some(defaulted) = schemas.admitted(&found) else { continue };
        admitted += 1;
        changed.extend(changes(&found, &found.object));
        changed.extend(changes(&found, &defaulted));
    }
    println!("{admitted} objects of {}", folder.display());
    assert!(admitted >= least, "only {admitted} objects are admitted in {}", folder.display());
    assert!(changed.is_empty(), "{} changes:\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn published_manifests_come_back_as_they_were() {
    let Some(folder) = corpus::folder("published_manifests_come_back_as_they_were") else { return };
    come_back(&folder, 50);
}

#[test]
fn manifests_of_the_demonstration_come_back_as_they_were() {
    come_back(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../gateward-cli/src/demo/manifests"), 1);
}

#[test]
fn examples_of_the_catalogue_come_back_as_they_were() {
    come_back(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules/examples"), 50);
}
