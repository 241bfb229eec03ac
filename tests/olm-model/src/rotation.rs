//! When OLM makes a new CA and a new serving certificate.

/// How long before its end a certificate is replaced, in hours.
const HOURS_BEFORE: i64 = 24;

/// What stands in the Secret of a serving certificate, but for `tls.key`, at which OLM never looks. What is missing or
/// can't be read is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingSecret {
    /// `olmCAKey`: the hours until the CA ends.
    pub ca_hours_left: Option<i64>,
    /// `tls.crt`.
    pub leaf: Option<ServingLeaf>,
}

/// A serving certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingLeaf {
    /// The hours until it ends.
    pub hours_left: i64,
    /// Whether the CA of the Secret has signed it.
    pub signed_by_ca: bool,
    /// Its names.
    pub dns_names: Vec<String>,
}

/// Why certificates are made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RotationCause {
    /// There is no Secret.
    SecretAbsent,
    /// The CA is missing or can't be read.
    CaAbsent,
    /// The CA has ended, or is about to.
    CaEnds,
    /// The certificate is missing or can't be read.
    LeafAbsent,
    /// The certificate has ended, or is about to.
    LeafEnds,
    /// The certificate doesn't verify under the CA for one of the names.
    LeafUnverified,
}

/// Why certificates are made anew, if they are. `hosts` are the names that the certificate has to have.
pub fn rotation_cause(secret: Option<&ServingSecret>, hosts: &[String]) -> Option<RotationCause> {
    let Some(secret) = secret else { return Some(RotationCause::SecretAbsent) };
    let Some(ca) = secret.ca_hours_left else { return Some(RotationCause::CaAbsent) };
    if ca < HOURS_BEFORE {
        return Some(RotationCause::CaEnds);
    }
    let Some(leaf) = &secret.leaf else { return Some(RotationCause::LeafAbsent) };
    if leaf.hours_left < HOURS_BEFORE {
        return Some(RotationCause::LeafEnds);
    }
    let verified = leaf.signed_by_ca && hosts.iter().all(|host| leaf.dns_names.contains(host));
    (!verified).then_some(RotationCause::LeafUnverified)
}
