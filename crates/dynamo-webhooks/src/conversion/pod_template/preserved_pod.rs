//! The preserved v1alpha1 fields of a pod.

use std::sync::LazyLock;

use dynamo_api::v1alpha1::ComponentSpec;
use serde_json::{Map, Value};

use super::{bare, fields, to_hub};
use crate::conversion::sidecar;

/// The preserved fields.
pub(super) struct PreservedPod {
    /// The fields beside `extraPodSpec`.
    pub service: ComponentSpec,
    /// `extraPodSpec`, if there is one.
    pub extra: Option<Map<String, Value>>,
}

static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl PreservedPod {
    /// Those of a preserved service, typed and as JSON.
    pub fn of(preserved: Option<(&ComponentSpec, &Map<String, Value>)>) -> Self {
        let service = preserved.map(|(service, sparse)| fields::of_pod(service, sparse)).unwrap_or_default();
        let mut extra = preserved.and_then(|(_, sparse)| sparse.get("extraPodSpec")?.as_object().cloned());
        if let Some(extra) = &mut extra {
            // The Go operator writes lists that it requires as null.
            extra.retain(|_, member| !member.is_null());
        }
        Self { service, extra }
    }

    /// Whether no field is preserved.
    pub fn is_empty(&self) -> bool {
        self.extra.is_none() && self.service == ComponentSpec::default()
    }

    /// The preserved `mainContainer`.
    pub fn main(&self) -> &Map<String, Value> {
        let main = self.extra.as_ref().and_then(|extra| extra.get("mainContainer")?.as_object());
        main.unwrap_or(&NOTHING)
    }

    /// Containers of the service whose name another container has in the hub: the hub lacks them, or has them in place of
    /// the sidecar.
    pub fn containers(&self) -> &[Value] {
        let containers = self.extra.as_ref().and_then(|extra| extra.get("containers")?.as_array());
        containers.map_or(&[], Vec::as_slice)
    }

    /// Whether the service had a container of its own by the name of the sidecar's.
    pub fn has_conflict(&self) -> bool {
        self.containers().iter().any(sidecar::is_sidecar)
    }

    /// `extraPodSpec`, if it was the zero value but for a name of the main container.
    pub fn bare_extra(&self) -> Option<&Map<String, Value>> {
        self.extra.as_ref().filter(|extra| bare::is_bare(extra))
    }

    /// Whether the preserved fields made a main container in the hub.
    pub fn had_main_container(&self) -> bool {
        to_hub::has_pod_fields(&self.service) || self.extra.as_ref().is_some_and(|extra| !bare::is_bare(extra))
    }
}
