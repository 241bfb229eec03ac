//! Which namespaces an operator serves, where several share a cluster.

use std::time::Duration;

/// The namespaces that an operator serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamespaceScope {
    /// All of them, but what operators of one namespace have claimed.
    All(ClaimSettings),
    /// One.
    One(RestrictedNamespace),
}

/// How an operator of the whole cluster treats claimed namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaimSettings {
    /// The names of Leases that claim the namespace that they are in; without one, none is claimed.
    pub leases: Vec<String>,
    /// Whether the operator's own webhooks leave claimed namespaces out.
    pub claimed: ClaimTreatment,
}

/// Whether the operator's own webhooks leave claimed namespaces out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClaimTreatment {
    /// They are called, and pass what is claimed.
    #[default]
    Called,
    /// They are not called.
    Excluded,
}

/// The one namespace that an operator serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestrictedNamespace {
    /// Its name.
    pub name: String,
    /// The name of the Lease that claims it.
    pub lease: String,
    /// For how long the claim counts after each renewal.
    pub lease_duration: Duration,
    /// How often it is renewed.
    pub renew_interval: Duration,
}

impl Default for NamespaceScope {
    fn default() -> Self {
        Self::All(ClaimSettings::default())
    }
}
