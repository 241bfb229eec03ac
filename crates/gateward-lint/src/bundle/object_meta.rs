//! The metadata of manifests, beyond their names.

use gateward_core::FieldPath;

use super::crds::ACCEPTED;
use super::field::Field;
use super::files::{Bundle, CRD, CSV};
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Judge, Stage, v0, v1, validator};
use crate::schema::{SchemaFault, SchemaFinding, malformed_metadata};

static WELL_FORMED: BundleRule = BundleRule {
    id: "OLM-LAYOUT-10",
    summary: "labels and annotations of a manifest have the form that the API server demands, and it names no namespace",
    refused_by: &[
        validator(Stage::Content, "error validating object metadata"),
        v0(Stage::Install, ""),
        v1(Stage::ApiServer, ""),
    ],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&WELL_FORMED];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    // The metadata of the CSV is judged with the schema of a CSV.
    for manifest in bundle.objects().filter(|manifest| manifest.kind() != CSV) {
        let object = Field::root(manifest);
        let rule = if manifest.kind() == CRD { &ACCEPTED } else { &WELL_FORMED };
        for finding in malformed(&object) {
            let node = object.find(finding.path.clone());
            found.add(rule.at(&node, format!("{} is malformed", node.path)).help(demand(&finding)));
        }
        let namespace = object.below(&["metadata", "namespace"]);
        if !namespace.is_empty() {
            let broken = rule.at(&namespace, format!("the manifest is for the namespace {}", namespace.shown()));
            let broken = broken.help("remove it: OLM installs into the namespace that is chosen then");
            found.add(broken.only(&[Judge::Validators]));
        }
    }
}

/// What is wrong with labels and annotations.
pub(super) fn malformed(object: &Field<'_>) -> impl Iterator<Item = SchemaFinding> {
    let names = ["name", "generateName", "namespace"].map(|name| FieldPath::field("metadata") / name);
    malformed_metadata(object.value).into_iter().filter(move |finding| !names.contains(&finding.path))
}

/// What would be right.
pub(super) fn demand(finding: &SchemaFinding) -> String {
    match &finding.fault {
        SchemaFault::Malformed { why, .. } => why.clone(),
        SchemaFault::Required => format!("add {}", finding.path),
        SchemaFault::Type { wanted, .. } => format!("write a value of the type {wanted}"),
        SchemaFault::NotSupported { accepted, .. } => {
            let accepted: Vec<String> = accepted.iter().map(ToString::to_string).collect();
            format!("write one of {}", accepted.join(", "))
        }
        _ => "write what the schema allows".to_owned(),
    }
}
