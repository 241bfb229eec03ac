//! Kubernetes types in a request that no rule reads: their JSON types must be right all the same (DECODE).

use gateward::{FieldPath, Issues, Raw};
use serde::de::DeserializeOwned;

/// A finding where a node of `raw`, which stands at the path, has the wrong JSON type.
pub(super) fn check<T: DeserializeOwned>(raw: &Raw<T>, at: impl FnOnce() -> FieldPath, issues: &mut Issues) {
    if let Err(error) = raw.view() {
        issues.add(error.issue(&at()));
    }
}
