//! SHA-256 fingerprints of certificates and files.

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

/// The SHA-256 of a certificate or a file, written as 64 hexadecimal digits.
///
/// ```
/// use gateward_certs::Fingerprint;
///
/// let fingerprint = Fingerprint::of(b"a certificate");
/// assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
/// assert_eq!(fingerprint.short().len(), 12);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; SHA256_OUTPUT_LEN]);

impl Fingerprint {
    /// Of a certificate in DER, or of other bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut sum = [0; SHA256_OUTPUT_LEN];
        sum.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Self(sum)
    }

    /// The first 12 digits: enough for people.
    pub fn short(&self) -> String {
        self.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, FingerprintError> {
        if text.len() != 2 * SHA256_OUTPUT_LEN || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(FingerprintError);
        }
        let mut bytes = [0; SHA256_OUTPUT_LEN];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| FingerprintError)?;
        }
        Ok(Self(bytes))
    }
}

/// A text is no fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint has 64 hexadecimal digits")]
pub struct FingerprintError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_the_sha256_that_openssl_prints() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Fingerprint::of(b"").to_string(), empty);
        assert_eq!(empty.to_uppercase().parse(), Ok(Fingerprint::of(b"")));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "e3", &"x".repeat(64), &"é".repeat(32), &"0".repeat(65)] {
            assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError), "{text}");
        }
    }
}
