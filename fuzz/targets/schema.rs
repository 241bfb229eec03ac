//! Any JSON document, judged by the schema of its kind.
//!
//! No panic; defaults are set once; a document written as YAML reads as what it was.
#![no_main]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use gateward_core::json::patch::same_value;
use gateward_core::manifest::yaml as manifest;
use gateward_fuzz::mutation::mutate_json;
use gateward_lint::schema::{Schema, WriteKind, from_crd};
use gateward_lint::yaml;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;

/// The schemas of all kinds, by kind and version.
static SCHEMAS: LazyLock<BTreeMap<(String, String), Schema>> = LazyLock::new(|| {
    let mut schemas = BTreeMap::new();
    for crd in dynamo_api::crds::all() {
        let source = yaml::read(crd.json);
        for version in from_crd(&source.documents[0].value).expect("our own CRDs can be read") {
            schemas.insert((crd.kind.to_owned(), version.version), version.schema);
        }
    }
    schemas
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed).unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return };
    assert_written_soundly(&document);
    if let Some(schema) = schema_of(&document) {
        assert_judged_soundly(schema, document);
    }
});

fn schema_of(document: &Value) -> Option<&'static Schema> {
    let (_, version) = document.get("apiVersion")?.as_str()?.split_once('/')?;
    SCHEMAS.get(&(document.get("kind")?.as_str()?.to_owned(), version.to_owned()))
}

fn assert_judged_soundly(schema: &Schema, mut document: Value) {
    schema.apply_defaults(&mut document);
    let once = document.clone();
    schema.apply_defaults(&mut document);
    assert_eq!(once, document, "defaulted twice");
    for finding in schema.validate(&document) {
        assert!(!finding.to_string().is_empty());
    }
    schema.cel_rules_on(&document, WriteKind::Creation);
}

fn assert_written_soundly(document: &Value) {
    let text = manifest::document(document);
    let source = yaml::read(&text);
    let read = source.documents.first().map_or(&Value::Null, |document| &document.value);
    // kubectl's library writes 1.0 as 1.
    let same = source.findings.is_empty() && same_value(read, document);
    assert!(same, "{document}\nis written as\n{text}\nand read as\n{read}\n{:?}", source.findings);
}
