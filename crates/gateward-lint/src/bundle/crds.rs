//! The CRDs of a bundle, and those that its CSV owns.

use std::collections::BTreeSet;

use gateward_core::dns::{is_service_name, is_subdomain};

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::provided::{ApiKind, owned};
use super::rule::{BundleRule, ERROR, Judge, Stage, WARNING, v0, v1, validator};

/// The annotation of a CRD whose group is the community's.
const APPROVED: &str = "api-approved.kubernetes.io";

static TWICE: BundleRule = BundleRule {
    id: "OLM-CRD-01",
    summary: "no two CRDs of a bundle define the same version of a kind",
    help: "keep one of the two",
    refused_by: &[validator(Stage::Bundle, "duplicate CRD"), v1(Stage::BundleValidate, "")],
    ..ERROR
};

static OWNED_PRESENT: BundleRule = BundleRule {
    id: "OLM-CRD-02",
    summary: "each owned CRD is in the bundle, with its version and kind",
    refused_by: &[
        validator(Stage::Bundle, ""),
        v0(Stage::Requirements, "RequirementsNotMet: one or more requirements couldn't be found"),
        v1(Stage::BundleValidate, ""),
    ],
    ..ERROR
};

static PRESENT_OWNED: BundleRule = BundleRule {
    id: "OLM-CRD-03",
    summary: "each CRD of the bundle is owned by the CSV",
    help: "list it in spec.customresourcedefinitions.owned with name, version and kind, or remove the CRD",
    refused_by: &[validator(Stage::Bundle, "")],
    ..ERROR
};

pub(super) static ACCEPTED: BundleRule = BundleRule {
    id: "OLM-CRD-06",
    summary: "a CRD has the metadata, the names, the scope and the versions that the API server demands",
    refused_by: &[validator(Stage::Crd, ""), v0(Stage::Install, ""), v1(Stage::ApiServer, "")],
    ..ERROR
};

static OLD: BundleRule = BundleRule {
    id: "OLM-CRD-07",
    summary: "a CRD is of apiextensions.k8s.io/v1: Kubernetes has had no other version since 1.22",
    help: "write apiextensions.k8s.io/v1, with a schema in each version",
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[&TWICE, &OWNED_PRESENT, &PRESENT_OWNED, &ACCEPTED, &OLD];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let mut defined = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut unserved = BTreeSet::new();
    for crd in bundle.crds() {
        let is_new = names.insert(crd.below(&["metadata", "name"]).text());
        for (kind, version) in ApiKind::of_crd(&crd) {
            if defined.contains(&kind) {
                let says = format!("bundle contains duplicate custom resource definition '{}'", crd.manifest.name());
                let broken = TWICE.at(&version, format!("the bundle defines {kind} a second time"));
                found.add(broken.says(Judge::OlmV1, &says).unless(is_new, Judge::OlmV1));
            }
            if version.at("served").is_false() {
                unserved.insert(kind.clone());
            }
            defined.insert(kind);
        }
        accepted(&crd, found);
    }
    let Some(csv) = bundle.csv() else { return };
    for owned in owned(&csv) {
        let (kind, name) = (ApiKind::of_owned(&owned), owned.at("name"));
        if !defined.contains(&kind) {
            let is_named = names.contains(name.text());
            let validator = format!("owned CRD \"{kind}\" not found in bundle");
            let by_v1 = format!(
                "cluster service definition references owned custom resource definition '{}' not found in bundle",
                name.text()
            );
            let broken = OWNED_PRESENT.at(&name, format!("no CRD of the bundle defines {kind}"));
            let help = if is_named {
                "correct the version or the kind: they are not those of the CRD".to_owned()
            } else {
                format!("add the CRD {} to manifests/, or don't own it", name.text())
            };
            let broken = broken.help(help).says(Judge::Validators, &validator).says(Judge::OlmV1, &by_v1);
            found.add(broken.unless(is_named, Judge::OlmV1));
        } else if unserved.contains(&kind) {
            let broken = OWNED_PRESENT.at(&owned.at("version"), format!("the CRD doesn't serve {kind}"));
            found.add(broken.help("write served: true in that version, or own another").only(&[Judge::OlmV0]));
        }
    }
    not_owned(bundle, &csv, found);
}

/// The validators compare each version, but who owns one version of a kind means the kind.
fn not_owned(bundle: &Bundle, csv: &Field<'_>, found: &mut Findings) {
    let owned: BTreeSet<(String, String)> =
        owned(csv).map(|owned| ApiKind::of_owned(&owned)).map(|kind| (kind.group, kind.kind)).collect();
    for crd in bundle.crds() {
        let spec = crd.at("spec");
        let (group, kind) = (spec.at("group"), spec.below(&["names", "kind"]));
        if !owned.contains(&(group.text().to_owned(), kind.text().to_owned())) {
            let says = format!("CRD {:?} is present in bundle but not defined in CSV", crd.manifest.name());
            let message = format!("the CSV doesn't own the CRD {}", crd.manifest.name());
            found.add(PRESENT_OWNED.at(&crd.below(&["metadata", "name"]), message).says(Judge::Validators, &says));
        }
    }
}

fn accepted(crd: &Field<'_>, found: &mut Findings) {
    let spec = crd.at("spec");
    let (name, names) = (crd.below(&["metadata", "name"]), spec.at("names"));
    for member in [spec.at("group"), names.at("plural"), names.at("kind")] {
        if member.text().is_empty() {
            found.add(ACCEPTED.at(&member, format!("{} is missing", member.path)).help(format!("add {}", member.path)));
        }
    }
    let expected = format!("{}.{}", names.at("plural").text(), spec.at("group").text());
    if name.text() != expected && !spec.at("group").is_empty() && !names.at("plural").is_empty() {
        let message = format!("the CRD is named {:?}, not by its plural and group", name.text());
        found.add(ACCEPTED.at(&name, message).help(format!("write {expected}")));
    }
    accepted_names(&spec, found);
    approved(crd, found);
    let preserve = spec.at("preserveUnknownFields");
    if preserve.is_true() {
        let help = "write x-kubernetes-preserve-unknown-fields: true in the schema of each version instead";
        found.add(ACCEPTED.at(&preserve, "a CRD of today preserves unknown fields in its schema alone").help(help));
    }
    let scope = spec.at("scope");
    if !["Namespaced", "Cluster"].contains(&scope.text()) {
        found.add(ACCEPTED.at(&scope, "spec.scope is no scope").help("write Namespaced or Cluster"));
    }
    if crd.manifest.api_version() == "apiextensions.k8s.io/v1" {
        versions(&spec.at("versions"), found);
    } else {
        let version = crd.at("apiVersion");
        found.add(OLD.at(&version, format!("no API server of today has a CRD of {}", version.shown())));
    }
}

fn accepted_names(spec: &Field<'_>, found: &mut Findings) {
    let (group, names) = (spec.at("group"), spec.at("names"));
    let is_group = |text: &str| text.contains('.') && is_subdomain(text);
    if !group.text().is_empty() && !is_group(group.text()) {
        let broken = ACCEPTED.at(&group, format!("{} is no group of a CRD", group.shown()));
        found.add(broken.help("write a DNS name of two parts at least, such as zoo.example.org"));
    }
    let (kind, list_kind) = (names.at("kind"), names.at("listKind"));
    if !list_kind.text().is_empty() && list_kind.text() == kind.text() {
        let broken = ACCEPTED
            .at(&list_kind, format!("{} is the kind of an object, and so not that of a list", list_kind.text()));
        found.add(broken.help(format!("write {}List", kind.text())));
    }
    let lower = [names.at("plural"), names.at("singular")].into_iter();
    let lower = lower.chain(names.at("shortNames").items()).chain(names.at("categories").items());
    let lower = lower.map(|name| (name.text().to_owned(), name));
    let capital = [kind, list_kind].into_iter().map(|name| (name.text().to_lowercase(), name));
    for (text, name) in lower.chain(capital).filter(|(text, _)| !text.is_empty() && !is_service_name(text)) {
        let broken = ACCEPTED.at(&name, format!("{text:?} can't be a name of a kind"));
        let help = "write a letter, then lower-case letters, digits and `-`; a kind may have capitals";
        found.add(broken.help(help));
    }
}

/// Groups of the Kubernetes community say where they were approved, or that they weren't.
fn approved(crd: &Field<'_>, found: &mut Findings) {
    let group = crd.below(&["spec", "group"]);
    let is_protected = ["k8s.io", "kubernetes.io"].iter().any(|domain| {
        group.text().strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    });
    let approval = crd.below(&["metadata", "annotations"]).entry(APPROVED);
    let is_said = approval.text().starts_with("unapproved")
        || approval.text().split_once("://").is_some_and(|(scheme, rest)| !scheme.is_empty() && !rest.is_empty());
    if is_protected && !is_said {
        let message = format!("{} is a group of Kubernetes, whose CRDs say who approved them", group.text());
        let broken = ACCEPTED.at(&approval, message);
        found.add(
            broken.help(format!("choose a group of your own, or annotate {APPROVED} with the URL of the approval")),
        );
    }
}

fn versions(versions: &Field<'_>, found: &mut Findings) {
    let mut known = BTreeSet::new();
    for version in versions.items() {
        let name = version.at("name");
        if !is_service_name(name.text()) {
            let broken = ACCEPTED.at(&name, format!("{} is no name of a version", name.shown()));
            found.add(broken.help("write a letter, then lower-case letters, digits and `-`, such as v1alpha1"));
        } else if !known.insert(name.text()) {
            let broken = ACCEPTED.at(&name, format!("the version {} is listed twice", name.text()));
            found.add(broken.help("keep one of them"));
        }
    }
    let stored = versions.items().filter(|version| version.at("storage").is_true()).count();
    if stored != 1 {
        let broken = ACCEPTED.at(versions, format!("{stored} versions of the CRD are stored"));
        found.add(broken.help("write storage: true in exactly one version"));
    }
}
