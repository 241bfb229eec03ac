//! Names that certificates carry.

use rcgen::SanType;
use rustls_pki_types::ServerName;

/// The longest common name that X.509 allows (RFC 5280, `ub-common-name`).
const LONGEST_COMMON_NAME: usize = 64;

/// The name of an authority: 1 to 64 characters, none of them a control character.
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
/// They become subject alternative names. The subject of a server certificate stays empty, for a common name is
/// limited to 64 bytes, which the name of a Service easily exceeds, and no client reads it any more.
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
    /// An authority's name is empty, too long or holds control characters.
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
    fn a_server_without_a_name_is_refused() {
        assert_eq!(ServerNames::parse::<&str>([]), Err(NameError::NoServerName));
        assert_eq!(ServerNames::parse(["not a name"]), Err(NameError::ServerName { name: "not a name".into() }));
    }
}
