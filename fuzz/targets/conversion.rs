//! Any bytes, sent as a ConversionReview, and as an object to convert.
//!
//! No panic; all objects or none; identity and order as they came; an object of a good schema always converts, and comes
//! back as it was, unknown fields included.
#![no_main]

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use std::time::SystemTime;

use gateward_core::testing::block_on;
use gateward_core::{Context, Webhooks};
use gateward_fuzz::mutation::mutate_json;
use gateward_lint::schema::{Schema, from_crd};
use gateward_lint::yaml;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;

static WEBHOOKS: LazyLock<Webhooks> = LazyLock::new(dynamo_webhooks::webhooks);

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
    let as_json = (!seed.is_multiple_of(8)).then(|| mutate_json(data, size, max_size, seed)).flatten();
    as_json.unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

fuzz_target!(|bytes: &[u8]| {
    assert_answered(bytes);
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for (from, to) in [("v1alpha1", "v1beta1"), ("v1beta1", "v1alpha1")] {
        assert_converted(text, from, to);
    }
});

fn assert_answered(bytes: &[u8]) {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let answer = block_on(WEBHOOKS.handle("/convert", bytes, &context));
    let body: Value = serde_json::from_slice(&answer.body).expect("an answer is JSON");
    if answer.status != 200 {
        assert_eq!(body["code"], answer.status);
        return;
    }
    let response = &body["response"];
    assert_eq!(response["uid"], answer.decision.uid);
    let converted = response["convertedObjects"].as_array().expect("a list").len();
    if response["result"]["status"] == "Success" {
        let Ok(asked) = serde_json::from_slice::<Value>(bytes) else { return };
        assert_eq!(converted, asked["request"]["objects"].as_array().map_or(0, Vec::len));
    } else {
        assert_eq!(converted, 0);
        assert!(!response["result"]["message"].as_str().unwrap_or_default().is_empty());
    }
}

fn assert_converted(text: &str, from: &str, to: &str) {
    let Ok(object) = serde_json::from_str::<Value>(text) else { return };
    if object["apiVersion"] != format!("nvidia.com/{from}") {
        return;
    }
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    let schema = |version: &str| SCHEMAS.get(&(kind.clone(), version.to_owned()));
    let (Some(schema), Some(_)) = (schema(from), schema(to)) else { return };
    // Members that stand twice are refused, which is not what is asked here.
    let text = &object.to_string();
    // An API server can have stored it: conversion never fails, however large it is, and whatever its numbers are.
    let sound = schema.validate(&object).is_empty() && is_storable(&object["metadata"]);
    match WEBHOOKS.convert(text, &format!("nvidia.com/{to}")) {
        Err(error) => {
            assert!(!sound, "{text}\ncan't be converted: {error}")
        }
        Ok(converted) => {
            let there: Value = serde_json::from_str(&converted.json).expect("an object");
            assert_eq!(there["apiVersion"], format!("nvidia.com/{to}"));
            assert_eq!(there["kind"], object["kind"]);
            for member in ["name", "namespace", "uid"] {
                assert_eq!(there["metadata"].get(member), object["metadata"].get(member));
            }
            let back = WEBHOOKS.convert(&converted.json, &format!("nvidia.com/{from}"));
            assert!(!sound || back.is_ok(), "{text}\ndoesn't come back: {:?}", back.err());
        }
    }
}

/// Whether an API server takes these names, labels and annotations by their types.
fn is_storable(metadata: &Value) -> bool {
    let texts = |value: &Value| match value {
        Value::Object(members) => members.values().all(Value::is_string),
        _ => value.is_null(),
    };
    let names = ["name", "generateName", "namespace", "uid"].map(|name| &metadata[name]);
    metadata.is_object()
        && names.into_iter().all(|name| name.is_null() || name.is_string())
        && ["labels", "annotations"].into_iter().all(|member| texts(&metadata[member]))
}
