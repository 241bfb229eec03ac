//! The identity of a kind: group, version, kind, plural and scope.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::json::reading::Bound;

/// Whether objects of a kind live in a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Each object belongs to a namespace.
    Namespaced,
    /// Objects belong to the whole cluster.
    Cluster,
}

/// A Rust type that is one version of a Kubernetes kind.
///
/// With the feature `kube`, each type that implements `kube::Resource` is one: what `#[derive(CustomResource)]` makes, and
/// k8s-openapi's own types, such as `Pod`. A plain type says it with [`resource!`](crate::resource):
///
/// ```
/// use gateward_core::{Resource, resource};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct TestEntity { spec: serde_json::Value }
///
/// resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentities");
///
/// assert_eq!(TestEntity::gvk().to_string(), "webhook.dev/v1 TestEntity");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes resource",
    label = "this type has no group, version and kind",
    note = "a plain type says them: `resource!({Self}, \"group/version\", \"Kind\", \"plural\")`",
    note = "a type of `#[derive(CustomResource)]` or k8s-openapi has them with Gateward's feature `kube`"
)]
pub trait Resource: DeserializeOwned + Serialize + Send + Sync + 'static {
    /// The API group, for example `nvidia.com`; empty for the core group.
    fn group() -> Cow<'static, str>;

    /// The version, for example `v1beta1`.
    fn version() -> Cow<'static, str>;

    /// The kind in upper camel case.
    fn kind() -> Cow<'static, str>;

    /// The plural in lower case, as it stands in URLs and RBAC rules.
    fn plural() -> Cow<'static, str>;

    /// Whether objects live in a namespace.
    fn scope() -> Scope;

    /// The bounds that the schema sets to lists and maps; a test should hold them equal to the CRD's.
    fn bounds() -> &'static [Bound] {
        &[]
    }

    /// What the type holds of an object's metadata. A conversion compares it with that of its result; where it is `None`
    /// it has to write both objects for that.
    fn metadata_ref(&self) -> Option<MetadataRef<'_>> {
        None
    }

    /// Group, version and kind as one value.
    fn gvk() -> GroupVersionKind {
        let (group, version, kind) = (Self::group(), Self::version(), Self::kind());
        GroupVersionKind { group: group.into_owned(), version: version.into_owned(), kind: kind.into_owned() }
    }
}

/// Name, labels and annotations of an object, as its type holds them.
///
/// ```
/// use std::collections::BTreeMap;
/// use gateward_core::MetadataRef;
///
/// let (labels, annotations) = (BTreeMap::new(), BTreeMap::from([("example.org/size".to_owned(), "large".to_owned())]));
/// let metadata = MetadataRef { name: "otter", labels: &labels, annotations: &annotations };
/// assert_eq!(metadata.annotations["example.org/size"], "large");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetadataRef<'a> {
    /// The name; empty where there is none.
    pub name: &'a str,
    /// The labels.
    pub labels: &'a BTreeMap<String, String>,
    /// The annotations.
    pub annotations: &'a BTreeMap<String, String>,
}

/// Group, version and kind, as an AdmissionReview carries them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default)]
pub struct GroupVersionKind {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The version.
    #[serde(default)]
    pub version: String,
    /// The kind.
    #[serde(default)]
    pub kind: String,
}

impl GroupVersionKind {
    /// `group/version`, or the version alone for the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.clone() } else { format!("{}/{}", self.group, self.version) }
    }

    /// Whether both are the same kind, in whatever version.
    pub fn same_kind(&self, other: &Self) -> bool {
        self.group == other.group && self.kind == other.kind
    }

    /// Reads `apiVersion` and `kind` of an object.
    pub fn of(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        Self { group: group.into(), version: version.into(), kind: kind.into() }
    }
}

/// `group/version Kind`; nothing where nothing is known.
impl fmt::Display for GroupVersionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str([self.api_version(), self.kind.clone()].join(" ").trim())
    }
}
