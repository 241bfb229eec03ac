//! Certificates for tests, as they stand in Secrets and `caBundle`s.

use std::time::{Duration, Instant, SystemTime};

use gateward_certs::secret::SecretData;
use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};

use crate::injected::InjectedCaBundles;

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

/// Bundles of these CAs, which every API server has observed from a moment on.
pub(crate) fn injected(bundles: &[&[&Ca]], valid_from: Option<Instant>) -> InjectedCaBundles {
    let bundle = |cas: &&[&Ca]| cas.iter().map(|ca| ca.certificate_pem()).collect::<String>().into_bytes();
    InjectedCaBundles { bundles: bundles.iter().map(bundle).collect(), valid_from }
}
