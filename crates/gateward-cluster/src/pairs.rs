//! Certificates for tests, as they stand in Secrets.

use std::time::{Duration, SystemTime};

use gateward_certs::secret::SecretData;
use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};

pub(crate) fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

pub(crate) fn ca() -> Ca {
    let validity = Validity::starting(now(), TEN_YEARS).unwrap();
    Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap()
}

/// A certificate and its key, without a CA.
pub(crate) fn pair(ca: &Ca, lifetime: Duration) -> SecretData {
    let validity = Validity::starting(now(), lifetime).unwrap();
    let serving = ca.issue(&ServerNames::parse(["otter.zoo.svc"]).unwrap(), validity, &SystemKeys).unwrap();
    SecretData::default().with("tls.crt", serving.certificate_pem()).with("tls.key", serving.private_key_pem())
}
