//! The identity of a kind: group, version, kind, plural and scope.

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
/// ```
/// use gateward_core::{Resource, Scope};
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct TestEntity { spec: serde_json::Value }
///
/// impl Resource for TestEntity {
///     const GROUP: &'static str = "webhook.dev";
///     const VERSION: &'static str = "v1";
///     const KIND: &'static str = "TestEntity";
///     const PLURAL: &'static str = "testentitys";
///     const SCOPE: Scope = Scope::Namespaced;
/// }
/// assert_eq!(TestEntity::gvk().to_string(), "webhook.dev/v1 TestEntity");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Kubernetes resource",
    label = "this type has no group, version and kind",
    note = "implement `Resource` for `{Self}`: GROUP, VERSION, KIND, PLURAL and SCOPE"
)]
pub trait Resource: DeserializeOwned + Serialize + Send + Sync + 'static {
    /// The API group, for example `nvidia.com`; empty for the core group.
    const GROUP: &'static str;
    /// The version, for example `v1beta1`.
    const VERSION: &'static str;
    /// The kind in upper camel case.
    const KIND: &'static str;
    /// The plural in lower case, as it stands in URLs and RBAC rules.
    const PLURAL: &'static str;
    /// Whether objects live in a namespace.
    const SCOPE: Scope;
    /// The bounds that the schema sets to lists and maps; a test should hold them equal to the CRD's.
    const BOUNDS: &'static [Bound] = &[];

    /// Group, version and kind as one value.
    fn gvk() -> GroupVersionKind {
        GroupVersionKind { group: Self::GROUP.into(), version: Self::VERSION.into(), kind: Self::KIND.into() }
    }
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
