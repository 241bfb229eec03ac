//! The schema of a CSV, and the types in a CRD.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::crds::ACCEPTED;
use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::object_meta::{demand, malformed};
use super::rule::{BundleRule, ERROR, Judge, Stage, v0, v1, validator};
use crate::schema::{Schema, SchemaFault, SchemaFinding};

static FITS: BundleRule = BundleRule {
    id: "OLM-CSV-17",
    summary: "the CSV fits the schema that OLM's CRD of CSVs has",
    refused_by: &[
        v0(Stage::CsvSchema, ""),
        validator(Stage::Csv, "unable to parse CSV"),
        v1(Stage::BundleValidate, ""),
    ],
    ..ERROR
};

pub(super) static RULES: &[&BundleRule] = &[&FITS];

/// Held equal to the CRD that the test bed has by `the_schema_of_csvs_is_that_of_olm` of the suite `shipping`.
static OF_CSV: LazyLock<Option<Schema>> = LazyLock::new(|| {
    let data: Value = serde_json::from_str(include_str!("csv-schema.json")).ok()?;
    Schema::compile(data.get("schema")?).ok()
});

static OF_CRD: LazyLock<Option<Schema>> = LazyLock::new(|| Schema::compile(&crd_types()).ok());

/// Where a rule of a narrower concern has a finding at the same node, there is no second one.
pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    if let (Some(csv), Some(schema)) = (bundle.csv(), &*OF_CSV) {
        for finding in violations(schema, &csv) {
            let is_type = matches!(finding.fault, SchemaFault::Type { .. });
            let node = csv.find(finding.path.clone());
            let says = format!("{}: {finding}", finding.api_path());
            let broken = FITS.at(&node, message(&finding)).help(demand(&finding)).says(Judge::OlmV0, &says);
            let broken = if is_type { broken } else { broken.only(&[Judge::OlmV0]) };
            found.add_unless_known(broken.unless(is_quoted(&finding), Judge::Validators));
        }
        for finding in malformed(&csv) {
            let node = csv.find(finding.path.clone());
            let broken = FITS.at(&node, format!("{} is malformed", node.path)).help(demand(&finding));
            found.add_unless_known(broken.only(&[Judge::OlmV0]));
        }
    }
    let Some(schema) = &*OF_CRD else { return };
    for crd in bundle.crds() {
        for finding in violations(schema, &crd) {
            let broken = ACCEPTED.at(&crd.find(finding.path.clone()), message(&finding)).help(demand(&finding));
            found.add_unless_known(broken.unless(is_quoted(&finding), Judge::Validators));
        }
    }
}

/// What the API server refuses; it passes over fields that the schema doesn't know.
fn violations(schema: &Schema, object: &Field<'_>) -> Vec<SchemaFinding> {
    let mut complete = object.value.clone();
    schema.apply_defaults(&mut complete);
    let mut found = schema.validate(&complete);
    found.retain(|finding| finding.fault != SchemaFault::UnknownField);
    found
}

fn message(finding: &SchemaFinding) -> String {
    match finding.fault {
        SchemaFault::Required => format!("{} is missing", finding.path),
        _ => finding.message(),
    }
}

/// The validators read a number or a boolean as text where text has to be, as if it had quotes.
fn is_quoted(finding: &SchemaFinding) -> bool {
    matches!(finding.fault, SchemaFault::Type { found, wanted: "string" } if !["array", "object"].contains(&found))
}

/// The types of what a CRD says beside its schemas.
fn crd_types() -> Value {
    let (text, flag) = (json!({"type": "string"}), json!({"type": "boolean"}));
    let texts = json!({"type": "array", "items": text});
    let open = |properties: Value| json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": properties});
    let list = |item: Value| json!({"type": "array", "items": item});
    let client = open(json!({
        "url": text,
        "caBundle": text,
        "service": open(json!({"name": text, "namespace": text, "path": text, "port": {"type": "integer"}})),
    }));
    let scale = open(json!({"specReplicasPath": text, "statusReplicasPath": text, "labelSelectorPath": text}));
    let column = json!({
        "name": text, "type": text, "format": text, "description": text, "jsonPath": text, "priority": {"type": "integer"},
    });
    let version = json!({
        "name": text,
        "served": flag,
        "storage": flag,
        "deprecated": flag,
        "deprecationWarning": text,
        "schema": open(json!({})),
        "subresources": open(json!({"status": open(json!({})), "scale": scale})),
        "additionalPrinterColumns": list(open(column)),
        "selectableFields": list(open(json!({"jsonPath": text}))),
    });
    let names = json!({
        "plural": text, "singular": text, "kind": text, "listKind": text, "shortNames": texts, "categories": texts,
    });
    let webhook = open(json!({"conversionReviewVersions": texts, "clientConfig": client}));
    open(json!({
        "spec": open(json!({
            "group": text,
            "scope": text,
            "names": open(names),
            "preserveUnknownFields": flag,
            "conversion": open(json!({"strategy": text, "webhook": webhook})),
            "versions": list(open(version)),
        })),
    }))
}
