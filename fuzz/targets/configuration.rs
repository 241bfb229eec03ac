//! Any JSON document, read as the operator's configuration file.
//!
//! No panic; the same answer twice; every fault and every warning names something, on one line each.
#![no_main]

use dynamo_webhooks::configuration::OperatorConfiguration;
use gateward_fuzz::mutation::mutate_json;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed).unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(document) = serde_json::from_slice::<Value>(bytes) else { return };
    let told = told(&document);
    assert!(told.iter().all(|line| !line.trim().is_empty() && !line.contains('\n')), "{told:?}");
    assert_eq!(self::told(&document), told, "the second reading differs");
});

/// What a person is told.
fn told(document: &Value) -> Vec<String> {
    match OperatorConfiguration::read(document) {
        Ok(read) => read.warnings.iter().map(ToString::to_string).collect(),
        Err(error) => error.to_string().lines().map(str::to_owned).collect(),
    }
}
