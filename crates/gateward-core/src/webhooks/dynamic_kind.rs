//! Kinds that are known at run time only.

use std::borrow::Cow;

use crate::dns::{is_service_name, is_subdomain};
use crate::rule::plain_kind::is_kind;
use crate::rule::resource::{GroupVersionKind, Scope};
use crate::webhooks::error::WebhooksError;

/// What stands for all groups, versions, kinds or plurals.
pub(crate) const ANY: &str = "*";

/// A kind that is known at run time only, or all kinds of a group, or all kinds there are: see
/// [`Webhook::of_kind`](crate::Webhook::of_kind).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicKind {
    /// Group, version and kind, each of which may be `*`.
    pub gvk: GroupVersionKind,
    /// The plural; `*` where the kind is.
    pub plural: Cow<'static, str>,
    /// Whether objects live in a namespace.
    pub scope: Scope,
}

impl DynamicKind {
    /// A kind of objects in namespaces, by its `apiVersion`, its kind and its plural.
    pub fn new(api_version: &str, kind: &str, plural: impl Into<Cow<'static, str>>) -> Self {
        Self { gvk: GroupVersionKind::of(api_version, kind), plural: plural.into(), scope: Scope::Namespaced }
    }

    /// All kinds of objects in namespaces that a group has, in all versions; `*` are all groups.
    pub fn any_of(group: &str) -> Self {
        Self::new(&format!("{group}/{ANY}"), ANY, ANY)
    }

    /// The same of objects that live in no namespace.
    pub fn cluster_wide(self) -> Self {
        Self { scope: Scope::Cluster, ..self }
    }

    /// What no API server could mean by it.
    pub(crate) fn problem(&self) -> Option<WebhooksError> {
        let GroupVersionKind { group, version, kind } = &self.gvk;
        let problem = match () {
            () if group != ANY && !group.is_empty() && !is_subdomain(group) => {
                "the group must be a domain in lower case, empty for the core group, or * for all groups"
            }
            () if version != ANY && !is_service_name(version) => {
                "the version must be such as v1, or * for all versions"
            }
            () if kind != ANY && !is_kind(kind.as_bytes()) => {
                "the kind must be in upper camel case, such as TestEntity, or * for all kinds"
            }
            () if self.plural != ANY && !is_service_name(&self.plural) => {
                "the plural must be in lower case, such as testentities, or * for all kinds"
            }
            () if (kind == ANY) != (self.plural == ANY) => "kind and plural must both be *, or neither",
            () => return None,
        };
        Some(WebhooksError::BadKind { kind: self.gvk.to_string(), problem })
    }
}
