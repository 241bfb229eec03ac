//! The folders of a bundle and the kinds of its manifests.

use std::collections::BTreeSet;

use super::field::Field;
use super::files::{Bundle, CRD, CSV, MANIFESTS, METADATA, ReadFile};
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1, validator};

/// The kinds that the format `registry+v1` knows.
const KINDS: [&str; 21] = [
    CSV,
    CRD,
    "Secret",
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "ServiceAccount",
    "Service",
    "Role",
    "RoleBinding",
    "PrometheusRule",
    "ServiceMonitor",
    "PodMonitor",
    "PodDisruptionBudget",
    "PriorityClass",
    "VerticalPodAutoscaler",
    "NetworkPolicy",
    "ConsoleYAMLSample",
    "ConsoleQuickStart",
    "ConsoleCLIDownload",
    "ConsoleLink",
];

/// A further kind of OpenShift's console.
const CONSOLE_PLUGIN: &str = "ConsolePlugin";

/// How many bytes a bundle has at most once each of its files is packed: OLM v0 keeps them in one ConfigMap.
const MOST_PACKED: usize = 1 << 20;

/// From how many on the validators warn: 85 %.
const NEARLY_FULL: usize = MOST_PACKED * 85 / 100;

static FOLDERS: BundleRule = BundleRule {
    id: "OLM-LAYOUT-01",
    summary: "a bundle has the folders manifests/ and metadata/, with files in them",
    help: "put the CSV and the CRDs into manifests/, annotations.yaml into metadata/",
    refused_by: &[validator(Stage::Format, "Unable to locate metadata directory")],
    ..ERROR
};

static ONE_CSV: BundleRule = BundleRule {
    id: "OLM-LAYOUT-02",
    summary: "manifests/ holds exactly one ClusterServiceVersion",
    help: "keep one ClusterServiceVersion in manifests/; a bundle is one version of an operator",
    refused_by: &[validator(Stage::Content, ""), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static FLAT: BundleRule = BundleRule {
    id: "OLM-LAYOUT-03",
    summary: "manifests/ holds neither folders nor hidden files",
    help: "move the manifests into manifests/ itself, and remove what is hidden",
    refused_by: &[validator(Stage::Content, "")],
    ..ERROR
};

static KNOWN_KIND: BundleRule = BundleRule {
    id: "OLM-LAYOUT-04",
    summary: "each manifest is of a kind that a bundle may hold",
    help: "remove the manifest",
    refused_by: &[validator(Stage::Content, ""), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static NAMED: BundleRule = BundleRule {
    id: "OLM-LAYOUT-05",
    summary: "each manifest says its apiVersion, kind and name",
    help: "write apiVersion, kind and metadata.name",
    refused_by: &[validator(Stage::Content, "")],
    ..ERROR
};

static ONE_DOCUMENT: BundleRule = BundleRule {
    id: "OLM-LAYOUT-06",
    summary: "a file of manifests/ holds one document: OLM v0 and the validators read no further than the first",
    help: "write each manifest into a file of its own",
    ..ERROR
};

const SMALLER: &str = "leave descriptions out of the schemas of CRDs, and take a smaller icon";

static SIZE: BundleRule = BundleRule {
    id: "OLM-LAYOUT-07",
    summary: "the files of a bundle fit into 1 MiB once each is packed by gzip and base64",
    help: SMALLER,
    refused_by: &[
        validator(Stage::Bundle, "maximum bundle compressed size with gzip size exceeded"),
        v0(Stage::Install, ""),
    ],
    ..ERROR
};

static NEARLY: BundleRule = BundleRule {
    id: "OLM-LAYOUT-11",
    summary: "packed so, they leave 15 % of that for what the next release adds",
    help: SMALLER,
    ..WARNING
};

static OWN_SERVICE: BundleRule = BundleRule {
    id: "OLM-LAYOUT-08",
    summary: "a bundle holds no Service for its webhooks: OLM makes one per deployment",
    help: "remove the Service from the bundle",
    ..WARNING
};

static UNREADABLE: BundleRule = BundleRule {
    id: "OLM-LAYOUT-09",
    summary: "each file of manifests/ holds a mapping",
    help: "remove the file, or write a manifest",
    refused_by: &[validator(Stage::Content, "")],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] =
    &[&FOLDERS, &ONE_CSV, &FLAT, &KNOWN_KIND, &NAMED, &ONE_DOCUMENT, &SIZE, &OWN_SERVICE, &UNREADABLE, &NEARLY];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    for folder in [MANIFESTS, METADATA] {
        if bundle.files_in(folder).next().is_none() {
            let says = format!("Unable to locate {} directory", folder.trim_end_matches('/'));
            let message = format!("the bundle has no files in {folder}");
            found.add(FOLDERS.of_file(folder, message).says(Judge::Validators, &says));
        }
    }
    csvs(bundle, found);
    for file in bundle.files_in(MANIFESTS) {
        check_file(file, found);
    }
    size(bundle, found);
    own_services(bundle, found);
}

fn size(bundle: &Bundle, found: &mut Findings) {
    let packed: usize = bundle.files.iter().map(|file| file.packed).sum();
    if packed > NEARLY_FULL {
        let rule = if packed > MOST_PACKED { &SIZE } else { &NEARLY };
        found.add(
            rule.of_file(MANIFESTS, format!("the bundle has {packed} bytes once packed, of at most {MOST_PACKED}")),
        );
    }
}

fn csvs(bundle: &Bundle, found: &mut Findings) {
    let has_manifests = bundle.files_in(MANIFESTS).next().is_some();
    if has_manifests && bundle.csv().is_none() {
        found.add(ONE_CSV.of_file(MANIFESTS, format!("no file of manifests/ holds a {CSV}")));
    }
    for csv in bundle.of_kind(CSV).skip(1) {
        let message = format!("{} is a second {CSV}", csv.manifest.name());
        found.add(ONE_CSV.at(&csv.at("kind"), message));
    }
}

fn check_file(file: &ReadFile, found: &mut Findings) {
    let below = file.path.strip_prefix(MANIFESTS).unwrap_or(&file.path);
    if below.contains('/') || below.starts_with('.') {
        let what = if below.contains('/') { "lies in a folder of manifests/" } else { "is hidden" };
        found.add(FLAT.of_file(&file.path, format!("{} {what}", file.path)));
        return;
    }
    for further in file.documents.iter().skip(1) {
        let message = format!("{} is not the first document of its file, and is not read", further.kind());
        found.add(ONE_DOCUMENT.at(&Field::root(further), message));
    }
    let Some(first) = file.documents.first() else {
        if file.source.findings.is_empty() {
            found.add(UNREADABLE.of_file(&file.path, format!("{} is empty", file.path)));
        }
        return;
    };
    let root = Field::root(first);
    if !root.value.is_object() {
        found.add(UNREADABLE.at(&root, "the document is no mapping"));
        return;
    }
    for member in [root.at("apiVersion"), root.at("kind"), root.below(&["metadata", "name"])] {
        if member.text().is_empty() {
            found.add(NAMED.at(&member, format!("{} is missing", member.path)));
        }
    }
    kind(&root, file, found);
}

fn kind(root: &Field<'_>, file: &ReadFile, found: &mut Findings) {
    let kind = root.at("kind");
    let name = kind.text();
    if name.is_empty() || KINDS.contains(&name) || name == CONSOLE_PLUGIN {
        return;
    }
    let says = format!("{name} is not supported type for registryV1 bundle: {}", file.path);
    let broken = KNOWN_KIND.at(&kind, format!("a bundle may not hold a {name}")).says(Judge::Validators, &says);
    found.add(match name {
        "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration" => {
            broken.help("describe the webhooks in spec.webhookdefinitions of the CSV; OLM makes the configurations")
        }
        "Deployment" => broken.help("move it to spec.install.spec.deployments of the CSV"),
        "Namespace" => broken.help("remove it; the namespace is chosen by who installs"),
        _ => broken,
    });
}

/// Services that stand in the way of OLM's, or beside them.
fn own_services(bundle: &Bundle, found: &mut Findings) {
    let Some(csv) = bundle.csv() else { return };
    let served: BTreeSet<String> = csv
        .below(&["spec", "webhookdefinitions"])
        .items()
        .map(|description| format!("{}-service", description.at("deploymentName").text()))
        .collect();
    for service in bundle.of_kind("Service") {
        let name = service.below(&["metadata", "name"]);
        if served.contains(name.text()) {
            let message = format!("OLM makes a Service {} of its own and takes this one over", name.text());
            found.add(OWN_SERVICE.at(&name, message));
        } else if !served.is_empty() && name.text().ends_with("webhook-service") {
            let message = format!("the Service {} is not the one that OLM's configurations name", name.text());
            found.add(OWN_SERVICE.at(&name, message));
        }
    }
}
