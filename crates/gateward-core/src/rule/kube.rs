//! Kinds that kube knows: types of `#[derive(CustomResource)]`, and those of k8s-openapi.

use std::any::TypeId;
use std::borrow::Cow;
use std::collections::BTreeMap;

use kube_core::ClusterResourceScope;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::rule::plain_kind::KubeProbe;
use crate::rule::resource::{MetadataRef, Resource, Scope};

impl<K> Resource for K
where
    K: kube_core::Resource<DynamicType = ()> + DeserializeOwned + Serialize + Send + Sync + 'static,
    K::Scope: 'static,
{
    fn group() -> Cow<'static, str> {
        <K as kube_core::Resource>::group(&())
    }

    fn version() -> Cow<'static, str> {
        <K as kube_core::Resource>::version(&())
    }

    fn kind() -> Cow<'static, str> {
        <K as kube_core::Resource>::kind(&())
    }

    fn plural() -> Cow<'static, str> {
        <K as kube_core::Resource>::plural(&())
    }

    fn scope() -> Scope {
        // Subresources that are types of their own, such as an Eviction, are of objects in a namespace.
        if TypeId::of::<K::Scope>() == TypeId::of::<ClusterResourceScope>() {
            Scope::Cluster
        } else {
            Scope::Namespaced
        }
    }

    fn metadata_ref(&self) -> Option<MetadataRef<'_>> {
        static NONE: BTreeMap<String, String> = BTreeMap::new();
        let metadata = self.meta();
        Some(MetadataRef {
            name: metadata.name.as_deref().unwrap_or_default(),
            labels: metadata.labels.as_ref().unwrap_or(&NONE),
            annotations: metadata.annotations.as_ref().unwrap_or(&NONE),
        })
    }
}

impl<K: kube_core::Resource<DynamicType = ()>> KubeProbe<K> {
    /// Hides the constant of [`PlainProbe`](crate::rule::plain_kind::PlainProbe).
    pub const KNOWN: bool = true;
}
