//! Whether an API server takes a certificate.

use std::iter;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::{CaBundle, TrustAnchor};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

use crate::cert_resolver::provider;

/// Verifies as webpki does, but that a server may show a certificate of a CA: Go takes one, which is what
/// `openssl req -x509` makes, and webpki takes none.
#[derive(Debug)]
pub(crate) struct ApiServerVerifier {
    webpki: Arc<WebPkiServerVerifier>,
    trusted: CaBundle,
}

impl ApiServerVerifier {
    /// One that trusts these CAs.
    pub fn new(trusted: &[CertificateDer<'static>]) -> Result<Self, VerifierBuilderError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        let webpki = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build()?;
        let trusted = trusted.iter().filter_map(|ca| TrustAnchor::new(ca.clone()).ok()).collect();
        Ok(Self { webpki, trusted })
    }

    /// Whether the chain and the name of a CA's certificate are right.
    fn verifies_ca(&self, chain: &[CertificateDer<'static>], name: &ServerName<'_>, now: UnixTime) -> bool {
        let Some(shown) = chain.first() else { return false };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now.as_secs());
        TrustAnchor::new(shown.clone()).is_ok_and(|shown| shown.is_ca())
            && self.trusted.verifies_chain(chain, Some(now))
            && ParsedCertificate::try_from(shown).is_ok_and(|shown| verify_server_name(&shown, name).is_ok())
    }
}

impl ServerCertVerifier for ApiServerVerifier {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.webpki.verify_server_cert(shown, others, name, ocsp, now);
        // rustls has no error of its own for a certificate of a CA, which is the first thing that webpki refuses.
        if matches!(verified, Err(Error::InvalidCertificate(CertificateError::Other(_)))) {
            let chain: Vec<_> = iter::once(shown).chain(others).map(|it| it.clone().into_owned()).collect();
            if self.verifies_ca(&chain, name, now) {
                return Ok(ServerCertVerified::assertion());
            }
        }
        verified
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls12_signature(message, shown, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.webpki.verify_tls13_signature(message, shown, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.webpki.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

    use super::*;

    const NAME: &str = "otter.zoo.svc";

    fn params(names: &[&str], is_ca: IsCa) -> CertificateParams {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.is_ca = is_ca;
        params
    }

    fn ca() -> IsCa {
        IsCa::Ca(BasicConstraints::Unconstrained)
    }

    /// The root, and what it signs.
    fn signed(leaf: &CertificateParams) -> [CertificateDer<'static>; 2] {
        let (root, key) = (params(&[], ca()), KeyPair::generate().unwrap());
        let anchor = root.self_signed(&key).unwrap().der().clone();
        let issuer = Issuer::from_params(&root, &key);
        [anchor, leaf.signed_by(&KeyPair::generate().unwrap(), &issuer).unwrap().der().clone()]
    }

    fn takes(trusted: &CertificateDer<'static>, shown: &CertificateDer<'static>, name: &str, now: UnixTime) -> bool {
        let verifier = ApiServerVerifier::new(std::slice::from_ref(trusted)).unwrap();
        verifier.verify_server_cert(shown, &[], &name.try_into().unwrap(), &[], now).is_ok()
    }

    #[test]
    fn a_server_may_show_a_certificate_of_a_ca_as_go_allows() {
        for is_ca in [ca(), IsCa::ExplicitNoCa] {
            let [root, leaf] = signed(&params(&[NAME], is_ca));
            assert!(takes(&root, &leaf, NAME, UnixTime::now()));
            assert!(!takes(&root, &leaf, "badger.zoo.svc", UnixTime::now()), "another name");
            let [other, _] = signed(&params(&[NAME], ca()));
            assert!(!takes(&other, &leaf, NAME, UnixTime::now()), "another CA");
        }
        let own = params(&[NAME], ca()).self_signed(&KeyPair::generate().unwrap()).unwrap().der().clone();
        assert!(takes(&own, &own, NAME, UnixTime::now()));
    }

    #[test]
    fn the_certificate_of_a_ca_has_its_dates_too() {
        let mut leaf = params(&[NAME], ca());
        leaf.not_after = SystemTime::UNIX_EPOCH.into();
        let [root, leaf] = signed(&leaf);
        assert!(!takes(&root, &leaf, NAME, UnixTime::now()));
    }
}
