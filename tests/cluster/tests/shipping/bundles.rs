//! Bundles: of the example `crontab`, and of the Dynamo Operator.

use std::path::Path;

use cluster_tests::Bed;
use gateward_lint::yaml;
use olm_model::Bundle;

use crate::command;

/// The bundle of a version of the example.
pub fn crontab(bed: &Bed, version: &str, further: &[&str]) -> Bundle {
    let folder = bed.folder().join(format!("bundle-{version}"));
    let arguments = ["generate", "bundle", "--release", "crontab", "--version", version, "--out"];
    let image = ["--image", "registry.example.org/crontab:1.0.0"];
    command::crontab(bed, &[&arguments[..], &[folder.to_str().unwrap()], &image, further].concat());
    read(&folder)
}

/// The bundle of this repository.
pub fn dynamo() -> Bundle {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/olm"))
}

fn read(folder: &Path) -> Bundle {
    let files = std::fs::read_dir(folder.join("manifests")).unwrap().map(|entry| entry.unwrap().path());
    let documents = files.flat_map(|file| yaml::read(std::fs::read(file).unwrap()).documents);
    Bundle::of(documents.map(|document| document.value).collect()).unwrap()
}
