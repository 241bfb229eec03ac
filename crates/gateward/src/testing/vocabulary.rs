//! The words that arbitrary objects are made of.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Words that fit most limits on strings; few, so that names meet.
const WORDS: [&str; 36] = [
    "",
    "a",
    "b",
    "main",
    "worker",
    "data",
    "Ready",
    "True",
    "x-1",
    "Some_Reason",
    "0",
    "1",
    "2",
    "-3",
    "8080",
    "1.0",
    "0.5",
    "1.2.3",
    "500m",
    "1500m",
    "1Gi",
    "1024Mi",
    "1e3",
    "12E2",
    "0.1",
    "+4",
    "junk!",
    "dne\u{17e} \u{2603}",
    "example.org/name",
    "nvidia.com/gpu",
    "cpu",
    "memory",
    "2025-01-02T03:04:05Z",
    "2024-02-29T23:59:59.123456+02:00",
    "10.0.0.1",
    "~/\"quoted\"\\",
];

/// What is drawn, and how often.
#[derive(Debug, Clone)]
pub(super) struct Vocabulary {
    pub words: Vec<Value>,
    pub often: BTreeSet<String>,
    pub members: BTreeMap<String, Value>,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self { words: WORDS.map(Value::from).to_vec(), often: BTreeSet::new(), members: BTreeMap::new() }
    }
}
