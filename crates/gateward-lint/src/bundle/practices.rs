//! Good practices, judged where they are asked for.

use semver::Version;

use super::annotations::{CHANNELS as CHANNELS_KEY, DEFAULT_CHANNEL};
use super::deployments::{list, pod};
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::provided::owned;
use super::rule::{BundleRule, ERROR, Stage, Suite, WARNING, validator};

static DEPLOYMENT: BundleRule = BundleRule {
    id: "OLM-GOOD-01",
    summary: "the CSV installs a deployment",
    help: "add one to spec.install.spec.deployments",
    suite: Some(Suite::GoodPractices),
    refused_by: &[validator(
        Stage::Optional(Suite::GoodPractices),
        "unable to find a deployment to install in the CSV",
    )],
    ..ERROR
};

static REQUESTS: BundleRule = BundleRule {
    id: "OLM-GOOD-02",
    summary: "each container requests cpu and memory",
    help: "add resources.requests with cpu and memory",
    suite: Some(Suite::GoodPractices),
    ..WARNING
};

static DESCRIPTIONS: BundleRule = BundleRule {
    id: "OLM-GOOD-03",
    summary: "each CRD that the CSV owns or requires has a description",
    help: "add description",
    suite: Some(Suite::GoodPractices),
    ..WARNING
};

static CHANNELS: BundleRule = BundleRule {
    id: "OLM-GOOD-04",
    summary: "channels begin with candidate, fast or stable",
    help: "write a name such as stable-v1",
    suite: Some(Suite::GoodPractices),
    ..WARNING
};

static CRD_RIGHTS: BundleRule = BundleRule {
    id: "OLM-GOOD-05",
    summary: "the operator may not create or patch CRDs: OLM installs them",
    help: "remove create and patch of customresourcedefinitions from the permissions",
    suite: Some(Suite::GoodPractices),
    ..WARNING
};

static CSV_NAME: BundleRule = BundleRule {
    id: "OLM-GOOD-06",
    summary: "the CSV is named by its package and its version",
    help: "write a name such as my-operator.v1.2.3",
    suite: Some(Suite::GoodPractices),
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[&DEPLOYMENT, &REQUESTS, &DESCRIPTIONS, &CHANNELS, &CRD_RIGHTS, &CSV_NAME];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    if list(&csv).next().is_none() {
        found.add(DEPLOYMENT.at(&csv.below(&["spec", "install"]), "the CSV installs no deployment"));
    }
    for container in list(&csv).flat_map(|deployment| pod(&deployment).at("containers").items()) {
        let requests = container.below(&["resources", "requests"]);
        if requests.at("cpu").is_absent() || requests.at("memory").is_absent() {
            let message = format!("the container {} doesn't request cpu and memory", container.at("name").text());
            found.add(REQUESTS.at(&container.at("resources"), message));
        }
    }
    let required = csv.below(&["spec", "customresourcedefinitions", "required"]).items();
    for crd in owned(&csv).chain(required).filter(|crd| crd.at("description").is_empty()) {
        let message = format!("{} has no description", crd.at("name").text());
        found.add(DESCRIPTIONS.at(&crd, message));
    }
    if let Some(annotations) = bundle.annotations() {
        channels(&annotations, found);
    }
    for rights in ["permissions", "clusterPermissions"] {
        for granted in csv.below(&["spec", "install", "spec", rights]).items() {
            granted.at("rules").items().for_each(|rule| crd_rights(&rule, found));
        }
    }
    let name = csv.below(&["metadata", "name"]);
    let version = name.text().split_once(".v").map(|(_, version)| version);
    if version.is_none_or(|version| Version::parse(version).is_err()) {
        found.add(CSV_NAME.at(&name, format!("{} isn't named by package and version", name.shown())));
    }
}

fn channels(annotations: &Field<'_>, found: &mut Findings) {
    for key in [CHANNELS_KEY, DEFAULT_CHANNEL] {
        let value = annotations.entry(key);
        for channel in value.text().split(',').map(str::trim).filter(|channel| !channel.is_empty()) {
            if !["candidate", "fast", "stable"].iter().any(|known| channel.starts_with(known)) {
                found.add(CHANNELS.at(&value, format!("the channel {channel} doesn't follow the convention")));
            }
        }
    }
}

fn crd_rights(rule: &Field<'_>, found: &mut Findings) {
    let any = |name: &'static str, known: &[&str]| rule.at(name).texts().any(|text| known.contains(&text));
    let of_crds =
        any("apiGroups", &["apiextensions.k8s.io", "*"]) && any("resources", &["customresourcedefinitions", "*"]);
    if of_crds && any("verbs", &["create", "patch", "*"]) {
        found.add(CRD_RIGHTS.at(&rule.at("verbs"), "the operator may create or patch CRDs"));
    }
}
