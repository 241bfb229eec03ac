//! The annotations in which the Go operator's conversion preserves fields of a DynamoGraphDeploymentRequest.

use std::collections::BTreeMap;

use dynamo_api::constants::{REQUEST_SPEC_STASH, REQUEST_STATUS_STASH};
use gateward_core::{Issues, Stash};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const SPEC: Stash = Stash::new(REQUEST_SPEC_STASH);
const STATUS: Stash = Stash::new(REQUEST_STATUS_STASH);

/// The keys of the annotations that conversion reads, apart from that of gateward-core.
pub(super) const KEYS: [&str; 2] = [REQUEST_SPEC_STASH, REQUEST_STATUS_STASH];

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
            spec: take_spec(annotations, issues).unwrap_or_default(),
            status: STATUS.take(annotations, issues).unwrap_or_default(),
        }
    }

    /// Writes the annotations, if there is something to preserve.
    pub fn put(self, annotations: &mut BTreeMap<String, String>) {
        if self.spec != Spec::default() {
            SPEC.put(annotations, &EncodedSpec { version: 1, spec: self.spec });
        }
        STATUS.put(annotations, &self.status);
    }
}

#[derive(Serialize)]
struct EncodedSpec<Spec> {
    version: u32,
    spec: Spec,
}

/// The members of an envelope, which must have the right JSON types even if they aren't read.
#[derive(Deserialize)]
#[serde(bound = "Spec: DeserializeOwned")]
struct DecodedSpec<Spec> {
    spec: Option<Spec>,
    #[serde(default, rename = "version")]
    _version: Option<i64>,
    #[serde(default, rename = "rawJSON")]
    _raw_json: Option<Vec<RawJsonEntry>>,
}

#[derive(Deserialize)]
struct RawJsonEntry {
    #[serde(default, rename = "path")]
    _path: Option<String>,
    #[serde(default, rename = "raw")]
    _raw: Option<String>,
    #[serde(default, rename = "nil")]
    _nil: Option<bool>,
}

/// The members stay text until their type is known: free-form JSON may nest more deeply than can be parsed.
fn take_spec<Spec: DeserializeOwned>(annotations: &mut BTreeMap<String, String>, issues: &mut Issues) -> Option<Spec> {
    let members: BTreeMap<String, Box<RawValue>> = SPEC.take(annotations, issues)?;
    let read = read_spec(&members);
    if read.is_err() {
        SPEC.note_damage(issues);
    }
    read.ok().flatten()
}

fn read_spec<Spec: DeserializeOwned>(
    members: &BTreeMap<String, Box<RawValue>>,
) -> Result<Option<Spec>, serde_json::Error> {
    let text = serde_json::to_string(members)?;
    if members.contains_key("spec") {
        Ok(serde_json::from_str::<DecodedSpec<Spec>>(&text)?.spec)
    } else {
        serde_json::from_str(&text).map(Some)
    }
}
