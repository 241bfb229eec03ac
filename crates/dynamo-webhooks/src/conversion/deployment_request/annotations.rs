//! The annotations in which the Go operator's conversion preserves fields of a DynamoGraphDeploymentRequest.

use std::collections::BTreeMap;

use gateward::Issues;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::conversion::preserved::{Envelope, REQUEST_ANNOTATIONS};

/// Annotations of earlier releases of the Go operator: removed, never read.
const RETIRED: [&str; 9] = [
    "nvidia.com/dgdr-enable-gpu-discovery",
    "nvidia.com/dgdr-output-pvc",
    "nvidia.com/dgdr-config-map-ref",
    "nvidia.com/dgdr-deployment-overrides",
    "nvidia.com/dgdr-profiling-config",
    "nvidia.com/dgdr-status-backend",
    "nvidia.com/dgdr-profiling-results",
    "nvidia.com/dgdr-deployment-status",
    "nvidia.com/dgdr-profiling-job-name",
];

/// The preserved fields of the other version: a sparse spec and status.
#[derive(Debug, Default)]
pub(super) struct PreservedFields<Spec, Status> {
    pub spec: Spec,
    pub status: Status,
}

impl<Spec, Status> PreservedFields<Spec, Status>
where
    Spec: Default + PartialEq + Serialize + DeserializeOwned,
    Status: Default + PartialEq + Serialize + DeserializeOwned,
{
    /// Removes all annotations of conversion, and reads the preserved fields.
    pub fn take(annotations: &mut BTreeMap<String, String>, issues: &mut Issues) -> Self {
        annotations.retain(|key, _| !RETIRED.contains(&key.as_str()));
        Self {
            spec: Envelope::take(REQUEST_ANNOTATIONS.spec, annotations, issues)
                .and_then(|envelope| envelope.spec)
                .unwrap_or_default(),
            status: REQUEST_ANNOTATIONS.status.take(annotations, issues).unwrap_or_default(),
        }
    }

    /// Writes the annotations, if there is something to preserve.
    pub fn put(self, annotations: &mut BTreeMap<String, String>) {
        if self.spec != Spec::default() {
            Envelope::of(self.spec).put(REQUEST_ANNOTATIONS.spec, annotations);
        }
        REQUEST_ANNOTATIONS.status.put(annotations, &self.status);
    }
}
