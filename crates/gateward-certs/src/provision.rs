//! Who provides the serving certificate and the `caBundle`s.

use std::fmt;

use crate::ca_bundle::CaBundle;

/// Who provides the serving certificate and the `caBundle`s, with what is known of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Provision {
    /// We: the leader makes the CA and the serving certificate, and writes each `caBundle`.
    #[default]
    Automatic,
    /// cert-manager: it makes the serving certificate, and its cainjector writes each `caBundle`.
    CertManager {
        /// What the cainjector injects.
        injection: CaInjection,
        /// CAs beside those that `ca.crt` of the serving Secret names, for issuers that name none.
        ca_bundle: CaBundle,
    },
    /// The user, who writes the serving Secret.
    External {
        /// The CAs that the user has every client trust. Where it is empty, those that `ca.crt` of the serving Secret
        /// names take its place.
        ca_bundle: CaBundle,
    },
}

/// What the cainjector of cert-manager injects. With the feature gate `CAInjectorMerging`, which is on by default since
/// cert-manager 1.19, it adds that to each `caBundle`; without, it replaces each as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CaInjection {
    /// The bundle that the leader keeps in a Secret: while the CA changes, the old and the new one.
    #[default]
    Secret,
    /// `ca.crt` of the Certificate's Secret: a cainjector that replaces has requests refused while the CA changes.
    Certificate,
}

/// An issuer of cert-manager, as a Certificate names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuerRef {
    /// Its API group.
    pub group: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
}

/// [`Provision`] by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProvisionMode {
    /// [`Provision::Automatic`].
    Automatic,
    /// [`Provision::CertManager`].
    CertManager,
    /// [`Provision::External`].
    External,
}

impl Provision {
    /// The mode.
    pub fn mode(&self) -> ProvisionMode {
        match self {
            Self::Automatic => ProvisionMode::Automatic,
            Self::CertManager { .. } => ProvisionMode::CertManager,
            Self::External { .. } => ProvisionMode::External,
        }
    }

    /// The CAs that the configuration names.
    pub fn configured(&self) -> CaBundle {
        match self {
            Self::Automatic => CaBundle::default(),
            Self::CertManager { ca_bundle, .. } | Self::External { ca_bundle } => ca_bundle.clone(),
        }
    }
}

impl ProvisionMode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Automatic, Self::CertManager, Self::External];

    /// Who writes the serving Secret.
    pub fn writer(self) -> &'static str {
        match self {
            Self::Automatic => "the leader",
            Self::CertManager => "cert-manager",
            Self::External => "the user",
        }
    }

    /// Its name, as configurations and charts write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Automatic => "auto",
            Self::CertManager => "cert-manager",
            Self::External => "external",
        }
    }
}

impl fmt::Display for IssuerRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

impl fmt::Display for ProvisionMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Automatic => "the leader of the replicas",
            Self::CertManager => "cert-manager",
            Self::External => "the user",
        })
    }
}
