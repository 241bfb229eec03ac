//! Names of a release's objects, cut where they would be longer than their kind allows.
//!
//! They stand in this crate although most of them are not in a certificate: the name of the Service is, as is the
//! name of the Secret that is watched for it, and a certificate has to name exactly the Service that the chart
//! creates. Chart, server and certificate call one function, or one that is written down beside it.
//!
//! The rule, so that a template can follow it: a name that fits stays as it is. One that doesn't is
//! `<cut>-<hash><suffix>`, where `<hash>` is the first eight hexadecimal digits of the SHA-256 of the whole base, and
//! `<cut>` is the start of the base, as long as the limit leaves room, without `-` and `.` at its end.

use crate::fingerprint::Fingerprint;

const HASH_DIGITS: usize = 8;

/// How long a name may be.
///
/// ```
/// use gateward_certs::NameLimit;
///
/// let suffix = "-webhook-service";
/// assert_eq!(NameLimit::Service.derive("zoo-operator", suffix)?, "zoo-operator-webhook-service");
///
/// let cut = NameLimit::Service.derive(&"otter-".repeat(10), suffix)?;
/// assert_eq!(cut, "otter-otter-otter-otter-otter-otter-ot-dd8e40e4-webhook-service");
/// assert_eq!(cut.len(), 63);
/// # Ok::<(), gateward_certs::DerivedNameError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameLimit {
    /// A Service, and whatever else is one label of a DNS name: 63.
    Service,
    /// The value of a label: 63.
    LabelValue,
    /// A Lease, a Secret and most other objects: 253.
    Object,
}

impl NameLimit {
    /// The limit in characters.
    pub fn characters(self) -> usize {
        match self {
            Self::Service | Self::LabelValue => 63,
            Self::Object => 253,
        }
    }

    /// The name made of a base, such as a release's full name, and a suffix: cut in the base if it is too long.
    pub fn derive(self, base: &str, suffix: &str) -> Result<String, DerivedNameError> {
        let limit = self.characters();
        let whole = format!("{base}{suffix}");
        if whole.chars().count() <= limit {
            return Ok(whole);
        }
        let room = limit.checked_sub(suffix.chars().count() + HASH_DIGITS + 1).filter(|room| *room > 0);
        let room = room.ok_or_else(|| DerivedNameError { suffix: suffix.to_owned(), limit })?;
        let cut: String = base.chars().take(room).collect();
        let hash = Fingerprint::of(base.as_bytes()).to_string();
        Ok(format!("{}-{}{suffix}", cut.trim_end_matches(['-', '.']), &hash[..HASH_DIGITS]))
    }
}

/// A suffix leaves no room for the name before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the suffix `{suffix}` leaves no room for a name of at most {limit} characters; take a shorter one")]
pub struct DerivedNameError {
    /// The suffix.
    pub suffix: String,
    /// The limit.
    pub limit: usize,
}
