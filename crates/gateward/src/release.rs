//! Which installation of an operator is meant.

/// Who installs, and where: the names that manifests are made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The name of the Helm release.
    pub name: String,
    /// The namespace of the release.
    pub namespace: String,
}
