//! Bundles: of the example `crontab`, of the example `olm-webhooktest`, and of the Dynamo Operator.

use std::fs;
use std::path::{Path, PathBuf};

use cluster_tests::Bed;
use gateward_lint::bundle::BundleFile;
use gateward_lint::yaml;
use olm_model::Bundle;
use serde_json::Value;

use crate::command;

/// The bundle of a version of the example.
pub fn crontab(bed: &Bed, version: &str, further: &[&str]) -> Bundle {
    read(&crontab_folder(bed, version, further))
}

fn crontab_folder(bed: &Bed, version: &str, further: &[&str]) -> PathBuf {
    let folder = bed.folder().join(format!("bundle-{version}"));
    let arguments = ["generate", "bundle", "--release", "crontab", "--version", version, "--out"];
    let image = ["--image", "registry.example.org/crontab:1.0.0"];
    command::crontab(bed, &[&arguments[..], &[folder.to_str().unwrap()], &image, further].concat());
    folder
}

/// The bundle of this repository.
pub fn dynamo() -> Bundle {
    read(&in_repository("deploy/olm"))
}

fn in_repository(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

/// The folders of all bundles.
pub fn folders(bed: &Bed) -> [PathBuf; 3] {
    let [dynamo, webhooktest] = ["deploy/olm", "examples/olm-webhooktest/bundle"].map(in_repository);
    [dynamo, webhooktest, crontab_folder(bed, "9.0.0", &["--provider", "Zoo"])]
}

/// The files of the bundle in a folder.
pub fn files(folder: &Path) -> Vec<BundleFile> {
    let below = ["manifests", "metadata"].into_iter().flat_map(|name| {
        let entries = fs::read_dir(folder.join(name)).unwrap().map(|entry| entry.unwrap().path());
        entries.map(move |path| (format!("{name}/{}", path.file_name().unwrap().to_str().unwrap()), path))
    });
    below.map(|(name, path)| BundleFile { path: name, bytes: fs::read(path).unwrap() }).collect()
}

/// The objects of the bundle in a folder.
pub fn objects(folder: &Path) -> Vec<Value> {
    let files = fs::read_dir(folder.join("manifests")).unwrap().map(|entry| entry.unwrap().path());
    let documents = files.flat_map(|file| yaml::read(fs::read(file).unwrap()).documents);
    documents.map(|document| document.value).collect()
}

fn read(folder: &Path) -> Bundle {
    Bundle::of(objects(folder)).unwrap()
}
