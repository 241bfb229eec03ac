//! The CSV itself: its name, its required fields and its versions.

use std::sync::LazyLock;

use gateward_core::dns::{LONGEST_LABEL, is_subdomain};
use regex::Regex;
use semver::Version;

use super::annotations::PACKAGE;
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1, validator};

/// Annotations of OLM that others write in another case, at times.
const ANNOTATIONS: [&str; 5] =
    ["olm.skipRange", "olm.operatorGroup", "olm.operatorNamespace", "olm.targetNamespaces", "olm.providedAPIs"];

static NAME: BundleRule = BundleRule {
    id: "OLM-CSV-01",
    summary: "the name of the CSV, and of the one it replaces, is a DNS subdomain of at most 63 characters",
    help: "write lower case letters, digits, `-` and `.`, at most 63, such as my-operator.v1.2.3",
    refused_by: &[validator(Stage::Csv, "")],
    ..ERROR
};

static REQUIRED: BundleRule = BundleRule {
    id: "OLM-CSV-02",
    summary: "the CSV has metadata, spec, displayName and an install strategy with deployments",
    refused_by: &[validator(Stage::Csv, "required field missing"), v0(Stage::CsvSchema, "Required value")],
    ..ERROR
};

static VERSION: BundleRule = BundleRule {
    id: "OLM-CSV-03",
    summary: "the CSV is of operators.coreos.com/v1alpha1",
    help: "write apiVersion: operators.coreos.com/v1alpha1",
    refused_by: &[validator(Stage::Csv, ""), v0(Stage::CsvSchema, "")],
    ..ERROR
};

static STRATEGY: BundleRule = BundleRule {
    id: "OLM-CSV-04",
    summary: "the install strategy is deployment",
    help: "write strategy: deployment",
    refused_by: &[v0(Stage::Install, "")],
    ..ERROR
};

static MIN_VERSION: BundleRule = BundleRule {
    id: "OLM-CSV-07",
    summary: "minKubeVersion is a version of three numbers",
    help: "write three numbers, such as 1.25.0",
    refused_by: &[validator(Stage::Csv, "")],
    ..ERROR
};

static NO_MIN_VERSION: BundleRule = BundleRule {
    id: "OLM-CSV-08",
    summary: "the CSV says which Kubernetes it needs",
    help: "add minKubeVersion, such as 1.25.0; without it OLM installs the operator on every cluster",
    ..WARNING
};

static WRONG_CASE: BundleRule = BundleRule {
    id: "OLM-CSV-11",
    summary: "annotations of OLM are written in their case",
    refused_by: &[validator(Stage::Csv, "uses wrong case")],
    ..ERROR
};

static PROPERTIES: BundleRule = BundleRule {
    id: "OLM-CSV-12",
    summary: "properties stand in metadata/properties.yaml, not in the annotation olm.properties",
    help: "move them to metadata/properties.yaml",
    ..WARNING
};

static IMAGES: BundleRule = BundleRule {
    id: "OLM-CSV-13",
    summary: "each related image has a reference that can be pulled",
    help: "write a reference, such as registry.example.org/my-operator@sha256:…",
    refused_by: &[validator(Stage::Bundle, "")],
    ..ERROR
};

static READ_VERSION: BundleRule = BundleRule {
    id: "OLM-CSV-16",
    summary: "the version of the CSV is a semantic version",
    help: "write three numbers, such as 1.2.3",
    refused_by: &[validator(Stage::Csv, "unable to parse CSV"), v0(Stage::Install, ""), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static RELEASE: BundleRule = BundleRule {
    id: "OLM-CSV-14",
    summary: "a CSV with spec.release is named by package, version and release",
    refused_by: &[validator(Stage::Bundle, "")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[
    &NAME,
    &REQUIRED,
    &VERSION,
    &STRATEGY,
    &MIN_VERSION,
    &NO_MIN_VERSION,
    &WRONG_CASE,
    &PROPERTIES,
    &IMAGES,
    &RELEASE,
    &READ_VERSION,
];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    names(&csv, found);
    release(&csv, bundle, found);
    required(&csv, found);
    versions(&csv, found);
    annotations(&csv, found);
    images(&csv, found);
}

fn names(csv: &Field<'_>, found: &mut Findings) {
    for name in [csv.below(&["metadata", "name"]), csv.below(&["spec", "replaces"])] {
        let text = name.text();
        if !text.is_empty() && (!is_subdomain(text) || text.len() > LONGEST_LABEL) {
            let says = format!("{} {text:?} is invalid", name.path);
            let message = format!("{text:?} can't be the name of a CSV");
            found.add(NAME.at(&name, message).says(Judge::Validators, &says));
        }
    }
}

/// Named by the package of `metadata/annotations.yaml`.
fn release(csv: &Field<'_>, bundle: &Bundle, found: &mut Findings) {
    let release = csv.below(&["spec", "release"]);
    if release.is_empty() {
        return;
    }
    let annotations = bundle.annotations();
    let package = annotations.as_ref().map(|annotations| annotations.entry(PACKAGE).text()).unwrap_or_default();
    let number = release.shown().trim_matches('"').to_owned();
    let name = csv.below(&["metadata", "name"]);
    let expected = format!("{package}-v{}-{number}", csv.below(&["spec", "version"]).text());
    if name.text() != expected {
        let message = format!("{:?} doesn't name the release {number}", name.text());
        found.add(RELEASE.at(&name, message).help(format!("write {expected}")));
    }
}

fn required(csv: &Field<'_>, found: &mut Findings) {
    let missing = |path: &[&'static str]| Some(csv.below(path)).filter(Field::is_empty);
    let by_schema: [&[&'static str]; 4] =
        [&["spec"], &["spec", "displayName"], &["spec", "install"], &["spec", "install", "strategy"]];
    let by_validator: [&[&'static str]; 2] = [&["metadata"], &["spec", "install", "spec", "deployments"]];
    for field in by_schema.into_iter().filter_map(missing) {
        found.add(REQUIRED.at(&field, format!("{} is missing", field.path)).help(format!("add {}", field.path)));
    }
    for field in by_validator.into_iter().filter_map(missing) {
        let broken = REQUIRED.at(&field, format!("{} is missing", field.path)).help(format!("add {}", field.path));
        found.add(broken.only(&[Judge::Validators]));
    }
    let version = csv.at("apiVersion");
    if !version.is_empty() && version.text() != "operators.coreos.com/v1alpha1" {
        found.add(VERSION.at(&version, format!("there is no CSV of {:?}", version.text())));
    }
    let strategy = csv.below(&["spec", "install", "strategy"]);
    if !strategy.is_empty() && strategy.text() != "deployment" {
        found.add(STRATEGY.at(&strategy, format!("OLM has no strategy {}", strategy.shown())));
    }
}

fn versions(csv: &Field<'_>, found: &mut Findings) {
    let own = csv.below(&["spec", "version"]);
    if !own.is_absent() && !is_version(own.text()) {
        found.add(READ_VERSION.at(&own, format!("{} is no version", own.shown())));
    }
    let version = csv.below(&["spec", "minKubeVersion"]);
    if version.is_empty() {
        found.add(NO_MIN_VERSION.at(&version, "spec.minKubeVersion is missing"));
    } else if Version::parse(version.text()).is_err() {
        found.add(MIN_VERSION.at(&version, format!("{} is no version of three numbers", version.shown())));
    }
}

/// As OLM reads a version: a `v` may precede it, and two of the three numbers may lack.
fn is_version(text: &str) -> bool {
    let text = text.trim();
    let mut parts: Vec<&str> = text.strip_prefix('v').unwrap_or(text).splitn(3, '.').collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['-', '+'])) {
        return false;
    }
    parts.resize(3, "0");
    let number = |part: &str| match part.trim_start_matches('0') {
        rest if rest.starts_with(|first: char| first.is_ascii_digit()) => rest.to_owned(),
        rest => format!("{}{rest}", if part.len() > rest.len() { "0" } else { "" }),
    };
    let parts: Vec<String> = parts.into_iter().map(number).collect();
    Version::parse(&parts.join(".")).is_ok()
}

fn annotations(csv: &Field<'_>, found: &mut Findings) {
    for (key, value) in csv.below(&["metadata", "annotations"]).members() {
        let known = ANNOTATIONS.into_iter().find(|known| known.eq_ignore_ascii_case(key) && *known != key);
        if let Some(known) = known {
            let says = format!("provided annotation {key} uses wrong case and should be {known} instead");
            let broken = WRONG_CASE.at(&value, format!("the annotation {key} is unknown to OLM"));
            found.add(broken.says(Judge::Validators, &says).help(format!("write {known}")));
        }
        if key == "olm.properties" {
            found.add(PROPERTIES.at(&value, "the annotation olm.properties is used"));
        }
    }
}

fn images(csv: &Field<'_>, found: &mut Findings) {
    for related in csv.below(&["spec", "relatedImages"]).items() {
        let image = related.at("image");
        if !is_reference(image.text()) {
            found.add(IMAGES.at(&image, "a related image has no reference that can be pulled"));
        }
    }
}

/// A host with a port, a path, a tag and a digest, as container engines read them. Names without a host are of Docker Hub.
static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let host =
        r"(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?/)?";
    let part = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*";
    let digest = "(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?";
    Regex::new(&format!(r"^{host}{part}(?:/{part})*(?::\w[\w.-]{{0,127}})?{digest}$")).ok()
});

fn is_reference(text: &str) -> bool {
    REFERENCE.as_ref().is_some_and(|reference| reference.is_match(text))
}
