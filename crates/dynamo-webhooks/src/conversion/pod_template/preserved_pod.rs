//! The preserved v1alpha1 fields of a pod.

use std::sync::LazyLock;

use dynamo_api::v1alpha1::ComponentSpec;
use serde_json::{Map, Value};

use super::{bare, fields, to_hub};
use crate::conversion::sidecar;

/// The preserved fields.
pub(super) struct PreservedPod<'a> {
    /// The fields beside `extraPodSpec`.
    pub service: ComponentSpec,
    /// `extraPodSpec`, if there is one. The Go operator writes lists that it requires as null.
    extra: Option<&'a Map<String, Value>>,
}

static NOTHING: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

impl<'a> PreservedPod<'a> {
    /// Those of a preserved service, typed and as JSON.
    pub fn of(preserved: Option<(&ComponentSpec, &'a Map<String, Value>)>) -> Self {
        let service = preserved.map(|(service, sparse)| fields::of_pod(service, sparse)).unwrap_or_default();
        Self { service, extra: preserved.and_then(|(_, sparse)| sparse.get("extraPodSpec")?.as_object()) }
    }

    /// Whether no field is preserved.
    pub fn is_empty(&self) -> bool {
        self.extra.is_none() && self.service == ComponentSpec::default()
    }

    /// The preserved `mainContainer`.
    pub fn main(&self) -> &'a Map<String, Value> {
        let main = self.extra.and_then(|extra| extra.get("mainContainer")?.as_object());
        main.unwrap_or(&NOTHING)
    }

    /// Containers of the service whose name another container has in the hub: the hub lacks them, or has them in place of
    /// the sidecar.
    pub fn containers(&self) -> &[Value] {
        let containers = self.extra.and_then(|extra| extra.get("containers")?.as_array());
        containers.map_or(&[], Vec::as_slice)
    }

    /// Whether the service had a container of its own by the name of the sidecar's.
    pub fn has_conflict(&self) -> bool {
        self.containers().iter().any(sidecar::is_sidecar)
    }

    /// `extraPodSpec`, if it was the zero value but for a name of the main container.
    pub fn bare_extra(&self) -> Option<Map<String, Value>> {
        let bare = self.extra.filter(|extra| bare::is_bare(extra))?;
        let said = bare.iter().filter(|(_, member)| !member.is_null());
        Some(said.map(|(name, member)| (name.clone(), member.clone())).collect())
    }

    /// Whether the preserved fields made a main container in the hub.
    pub fn had_main_container(&self) -> bool {
        to_hub::has_pod_fields(&self.service) || self.extra.is_some_and(|extra| !bare::is_bare(extra))
    }
}
