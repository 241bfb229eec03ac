//! Names in certificates.

use std::net::IpAddr;

use rcgen::SanType;
use rustls_pki_types::{CertificateDer, ServerName};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The longest common name that X.509 allows (RFC 5280, `ub-common-name`).
const LONGEST_COMMON_NAME: usize = 64;

/// The name of a CA: 1 to 64 characters, none of them a control character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommonName(String);

impl CommonName {
    /// Checks length and characters.
    pub fn new(name: impl Into<String>) -> Result<Self, NameError> {
        let name = name.into();
        let length = name.chars().count();
        if length == 0 || length > LONGEST_COMMON_NAME || name.chars().any(char::is_control) {
            return Err(NameError::CommonName { name });
        }
        Ok(Self(name))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The DNS names and addresses that a server answers under: at least one, each once, in the order given.
///
/// They become subject alternative names. The subject of a serving certificate stays empty, for a common name is
/// limited to 64 bytes, which the name of a Service easily exceeds, and no client reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerNames(Vec<ServerName<'static>>);

impl ServerNames {
    /// Reads DNS names and IP addresses.
    pub fn parse<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Result<Self, NameError> {
        names.into_iter().map(|name| server_name(name.as_ref())).collect::<Result<Vec<_>, _>>().and_then(Self::new)
    }

    /// Takes names that were read before.
    pub fn new(names: impl IntoIterator<Item = ServerName<'static>>) -> Result<Self, NameError> {
        let mut unique = Vec::new();
        for name in names {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        if unique.is_empty() { Err(NameError::NoServerName) } else { Ok(Self(unique)) }
    }

    /// The names under which a Service is called: `<service>.<namespace>.svc`, which is what the API server asks for,
    /// then the shorter ones, then the full one in the cluster's domain. TLS takes what ends in a number for an address,
    /// so `<service>.<namespace>` is left out where the namespace is one.
    ///
    /// ```
    /// use gateward_certs::ServerNames;
    ///
    /// let names = ServerNames::of_service("otter", "zoo", "cluster.local")?;
    /// let names: Vec<_> = names.iter().map(|name| name.to_str().into_owned()).collect();
    /// assert_eq!(names, ["otter.zoo.svc", "otter", "otter.zoo", "otter.zoo.svc.cluster.local"]);
    /// # Ok::<(), gateward_certs::NameError>(())
    /// ```
    pub fn of_service(service: &str, namespace: &str, cluster_domain: &str) -> Result<Self, NameError> {
        let required = format!("{service}.{namespace}.svc");
        let full = format!("{required}.{}", cluster_domain.trim_matches('.'));
        let short = format!("{service}.{namespace}");
        let is_number = namespace.bytes().all(|byte| byte.is_ascii_digit());
        let short = (!is_number).then_some(short.as_str());
        Self::parse([&required, service].into_iter().chain(short).chain([full.as_str()]))
    }

    /// With further DNS names and addresses.
    pub fn with<T: AsRef<str>>(self, names: impl IntoIterator<Item = T>) -> Result<Self, NameError> {
        let further = names.into_iter().map(|name| server_name(name.as_ref())).collect::<Result<Vec<_>, _>>()?;
        Self::new(self.0.into_iter().chain(further))
    }

    /// The names that a certificate carries and that mean something to a TLS client: DNS names and addresses.
    pub(crate) fn of_certificate(certificate: &CertificateDer<'_>) -> Vec<ServerName<'static>> {
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return Vec::new() };
        match certificate.subject_alternative_name() {
            Ok(Some(names)) => names.value.general_names.iter().filter_map(general_name).collect(),
            _ => Vec::new(),
        }
    }

    /// All DNS names and addresses that a certificate carries, with those that begin with a wildcard.
    pub(crate) fn texts_of_certificate(certificate: &CertificateDer<'_>) -> Vec<String> {
        let Ok((_, certificate)) = X509Certificate::from_der(certificate) else { return Vec::new() };
        let Ok(Some(names)) = certificate.subject_alternative_name() else { return Vec::new() };
        let text = |name: &GeneralName<'_>| match name {
            GeneralName::DNSName(dns) => Some(dns.to_ascii_lowercase()),
            GeneralName::IPAddress(bytes) => address(bytes).map(|address| address.to_string()),
            _ => None,
        };
        names.value.general_names.iter().filter_map(text).collect()
    }

    /// The first name.
    pub fn first(&self) -> &ServerName<'static> {
        // Both ways to make one refuse an empty list.
        &self.0[0]
    }

    /// The names, in the order given.
    pub fn iter(&self) -> impl Iterator<Item = &ServerName<'static>> {
        self.0.iter()
    }

    pub(crate) fn alternative_names(&self) -> Result<Vec<SanType>, NameError> {
        self.iter().map(alternative_name).collect()
    }
}

/// Why a name cannot stand in a certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// A CA's name is empty, too long or holds control characters.
    #[error("`{name}` is no common name: it takes 1 to 64 characters and no control characters")]
    CommonName {
        /// What was given.
        name: String,
    },
    /// A server's name is neither a DNS name nor an IP address.
    #[error("`{name}` is neither a DNS name nor an IP address")]
    ServerName {
        /// What was given.
        name: String,
    },
    /// No name was given at all.
    #[error("a server certificate needs at least one name")]
    NoServerName,
}

fn server_name(name: &str) -> Result<ServerName<'static>, NameError> {
    ServerName::try_from(name.to_owned()).map_err(|_| NameError::ServerName { name: name.to_owned() })
}

fn general_name(name: &GeneralName<'_>) -> Option<ServerName<'static>> {
    match name {
        GeneralName::DNSName(dns) => ServerName::try_from(dns.to_ascii_lowercase()).ok(),
        GeneralName::IPAddress(bytes) => address(bytes).map(|address| ServerName::IpAddress(address.into())),
        _ => None,
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

fn alternative_name(name: &ServerName<'static>) -> Result<SanType, NameError> {
    let unknown = || NameError::ServerName { name: name.to_str().into_owned() };
    match name {
        ServerName::DnsName(dns) => dns.as_ref().try_into().map(SanType::DnsName).map_err(|_| unknown()),
        ServerName::IpAddress(address) => Ok(SanType::IpAddress((*address).into())),
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_common_name_has_at_most_64_characters() {
        assert!(CommonName::new("x".repeat(64)).is_ok());
        assert!(CommonName::new("x".repeat(65)).is_err());
        assert!(CommonName::new("").is_err());
        assert!(CommonName::new("two\nlines").is_err());
    }

    #[test]
    fn a_server_name_is_kept_once() {
        let names = ServerNames::parse(["a.svc", "10.0.0.1", "a.svc"]).unwrap();
        assert_eq!(names.iter().count(), 2);
    }

    #[test]
    fn a_namespace_may_be_a_number() {
        let names = ServerNames::of_service("otter", "12345", "cluster.local").unwrap();
        let names: Vec<_> = names.iter().map(|name| name.to_str().into_owned()).collect();
        assert_eq!(names, ["otter.12345.svc", "otter", "otter.12345.svc.cluster.local"]);
    }

    #[test]
    fn a_service_of_63_characters_in_a_namespace_of_63_has_its_names() {
        let (service, namespace) = ("s".repeat(63), "n".repeat(63));
        let names = ServerNames::of_service(&service, &namespace, "cluster.local").unwrap();
        assert_eq!(names.iter().map(|name| name.to_str().len()).max(), Some(63 + 1 + 63 + 4 + 14));
    }

    #[test]
    fn a_cluster_domain_stands_with_or_without_its_dot() {
        let names = |domain| ServerNames::of_service("s", "n", domain).unwrap();
        assert_eq!(names("example.org."), names("example.org"));
    }

    #[test]
    fn a_server_without_a_name_is_refused() {
        assert_eq!(ServerNames::parse::<&str>([]), Err(NameError::NoServerName));
        assert_eq!(ServerNames::parse(["not a name"]), Err(NameError::ServerName { name: "not a name".into() }));
    }
}
