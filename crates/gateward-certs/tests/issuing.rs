//! What the issued certificates hold, read back by another library, and whether a TLS client takes them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::{
    Ca, CaError, CommonName, IssueError, IssuedCertificate, KeyError, KeySource, PrivateKey, ServerNames, SystemKeys,
    TEN_YEARS, Validity,
};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::{CertificateError, RootCertStore};
use rustls_pki_types::{PrivatePkcs8KeyDer, ServerName, UnixTime};
use x509_parser::extensions::{GeneralName, ParsedExtension, X509Extension};
use x509_parser::prelude::{FromDer, X509Certificate};

/// The object identifier of a common name, 2.5.4.3, in DER.
const COMMON_NAME: &[u8] = &[6, 3, 0x55, 4, 3];

/// Seconds since 1970.
const NOW: u64 = 1_800_000_123;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn ten_years() -> Validity {
    Validity::starting(now(), TEN_YEARS).unwrap()
}

fn ca() -> Ca {
    Ca::new(&CommonName::new("otter webhooks").unwrap(), ten_years(), &SystemKeys).unwrap()
}

fn server(ca: &Ca) -> IssuedCertificate {
    let names = ServerNames::parse(["otter.zoo.svc", "localhost", "127.0.0.1", "::1"]).unwrap();
    ca.issue(&names, ten_years(), &SystemKeys).unwrap()
}

fn read(certificate: &[u8]) -> X509Certificate<'_> {
    X509Certificate::from_der(certificate).unwrap().1
}

fn extension<'a>(
    certificate: &'a X509Certificate<'_>,
    wanted: fn(&ParsedExtension<'_>) -> bool,
) -> &'a ParsedExtension<'a> {
    certificate.extensions().iter().map(X509Extension::parsed_extension).find(|e| wanted(e)).unwrap()
}

#[test]
fn a_ca_may_sign_certificates_and_nothing_below_them() {
    let ca = ca();
    let certificate = read(ca.certificate());
    let constraints = certificate.basic_constraints().unwrap().unwrap();
    assert!(constraints.critical && constraints.value.ca);
    assert_eq!(constraints.value.path_len_constraint, Some(0));
    assert!(certificate.key_usage().unwrap().unwrap().value.key_cert_sign());
    assert_eq!(certificate.subject().to_string(), "CN=otter webhooks");
    assert_eq!(certificate.subject(), certificate.issuer());
}

#[test]
fn both_ends_of_the_validity_are_those_asked_for() {
    let ca = ca();
    let serving = server(&ca);
    for der in [ca.certificate(), serving.certificate()] {
        let dates = read(der).validity().clone();
        assert_eq!(dates.not_before.timestamp(), 1_800_000_123 - 3_600);
        assert_eq!(dates.not_after.timestamp(), 1_800_000_123 + 10 * 365 * 86_400);
        assert_eq!(Validity::of(der), Ok(ten_years()));
    }
}

#[test]
fn a_server_certificate_names_every_dns_name_and_address_and_no_subject() {
    let serving = server(&ca());
    let certificate = read(serving.certificate());
    let names = certificate.subject_alternative_name().unwrap().unwrap();
    let expected = [
        GeneralName::DNSName("otter.zoo.svc"),
        GeneralName::DNSName("localhost"),
        GeneralName::IPAddress(&[127, 0, 0, 1]),
        GeneralName::IPAddress(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
    ];
    assert_eq!(names.value.general_names, expected);
    assert!(names.critical, "RFC 5280 4.2.1.6: critical where the subject is empty");
    assert_eq!(certificate.subject().iter().count(), 0);
}

#[test]
fn a_server_certificate_is_for_servers_only() {
    let serving = server(&ca());
    let certificate = read(serving.certificate());
    let purposes = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(purposes.server_auth && !purposes.client_auth && !purposes.any);
    let usage = certificate.key_usage().unwrap().unwrap().value;
    assert!(usage.digital_signature() && !usage.key_cert_sign());
    assert!(!certificate.basic_constraints().unwrap().unwrap().value.ca);
}

#[test]
fn a_server_certificate_points_at_the_key_of_its_ca() {
    let ca = ca();
    let serving = server(&ca);
    let (parent, child) = (read(ca.certificate()), read(serving.certificate()));
    let ParsedExtension::SubjectKeyIdentifier(subject) =
        extension(&parent, |e| matches!(e, ParsedExtension::SubjectKeyIdentifier(_)))
    else {
        unreachable!()
    };
    let ParsedExtension::AuthorityKeyIdentifier(issuer) =
        extension(&child, |e| matches!(e, ParsedExtension::AuthorityKeyIdentifier(_)))
    else {
        unreachable!()
    };
    assert_eq!(issuer.key_identifier.as_ref(), Some(subject));
}

#[test]
fn serial_numbers_differ_under_one_ca() {
    let ca = ca();
    let (one, other) = (server(&ca), server(&ca));
    assert_ne!(read(one.certificate()).raw_serial(), read(other.certificate()).raw_serial());
}

#[test]
fn a_tls_client_that_trusts_the_ca_takes_the_server() {
    let ca = ca();
    let serving = server(&ca);
    for name in ["otter.zoo.svc", "localhost", "127.0.0.1", "::1"] {
        assert_eq!(verify(&ca, &serving, name, NOW), Ok(()), "{name}");
    }
}

#[test]
fn a_tls_client_refuses_another_name_another_ca_and_other_times() {
    let (one, other) = (ca(), ca());
    let serving = server(&one);
    assert!(matches!(
        verify(&one, &serving, "otter.zoo", NOW),
        Err(rustls::Error::InvalidCertificate(CertificateError::NotValidForNameContext { .. }))
    ));
    assert!(verify(&other, &serving, "localhost", NOW).is_err());
    assert!(verify(&one, &serving, "localhost", NOW - 3_601).is_err());
    assert!(verify(&one, &serving, "localhost", NOW + TEN_YEARS.as_secs() + 1).is_err());
}

#[test]
fn a_server_certificate_never_outlives_its_ca() {
    let names = ServerNames::parse(["localhost"]).unwrap();
    let longer = Validity::starting(now(), TEN_YEARS + Duration::from_secs(1)).unwrap();
    assert_eq!(ca().issue(&names, longer, &SystemKeys).unwrap_err(), IssueError::OutsideCaValidity);
}

#[test]
fn keys_come_from_the_source_that_was_given() {
    struct Fixed(PrivatePkcs8KeyDer<'static>);
    impl KeySource for Fixed {
        fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError> {
            Ok(self.0.clone_key())
        }
    }
    let key = SystemKeys.private_key().unwrap();
    let names = ServerNames::parse(["localhost"]).unwrap();
    let serving = ca().issue(&names, ten_years(), &Fixed(key.clone_key())).unwrap();
    assert_eq!(serving.private_key().secret_pkcs8_der(), key.secret_pkcs8_der());
}

#[test]
fn a_source_that_gives_no_key_is_an_error() {
    struct Garbage;
    impl KeySource for Garbage {
        fn private_key(&self) -> Result<PrivatePkcs8KeyDer<'static>, KeyError> {
            Ok(vec![1, 2, 3].into())
        }
    }
    let name = CommonName::new("otter").unwrap();
    let error = Ca::new(&name, ten_years(), &Garbage).unwrap_err();
    assert_eq!(error, IssueError::Key(KeyError::Unreadable));
}

#[test]
fn no_damaged_byte_of_a_certificate_ends_the_process_that_reads_it() {
    let ca = ca();
    let key = PrivateKey::from_pem(ca.private_key_pem().as_bytes()).unwrap();
    let subject = ca.certificate().windows(5).rposition(|bytes| bytes == COMMON_NAME).unwrap();
    for at in 0..ca.certificate().len() {
        let in_subject = (subject - 8..subject + 24).contains(&at);
        for value in (0..=u8::MAX).filter(|value| in_subject || [0, 1, 0x7f, 0x80, 0xff].contains(value)) {
            let mut bytes = ca.certificate().to_vec();
            bytes[at] = value;
            if let Ok(damaged) = Ca::from_parts(bytes.into(), key.clone()) {
                assert!(server_may_be_issued(&damaged), "byte {at} as {value}");
            }
        }
    }
}

#[test]
fn a_ca_whose_subject_has_an_impossible_attribute_cannot_sign() {
    let ca = ca();
    let key = PrivateKey::from_pem(ca.private_key_pem().as_bytes()).unwrap();
    let subject = ca.certificate().windows(5).rposition(|bytes| bytes == COMMON_NAME).unwrap();
    for first_arcs in [0x7f, 0xff] {
        let mut bytes = ca.certificate().to_vec();
        bytes[subject + 2] = first_arcs;
        assert_eq!(Ca::from_parts(bytes.into(), key.clone()).err(), Some(CaError::CannotSign));
    }
}

#[test]
fn debug_output_holds_no_key() {
    let ca = ca();
    let serving = server(&ca);
    let text = format!("{ca:?} {serving:?}");
    assert!(!text.contains("PRIVATE") && !text.to_lowercase().contains("key"));
}

fn server_may_be_issued(ca: &Ca) -> bool {
    let names = ServerNames::parse(["otter.zoo.svc"]).unwrap();
    match ca.issue(&names, ca.validity(), &SystemKeys) {
        Ok(serving) => ca.trust_anchor().signed(serving.certificate()),
        Err(why) => why == IssueError::OutsideCaValidity,
    }
}

fn verify(ca: &Ca, serving: &IssuedCertificate, name: &str, at: u64) -> Result<(), rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(ca.certificate().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
    let name = ServerName::try_from(name).unwrap();
    verifier
        .verify_server_cert(serving.certificate(), &[], &name, &[], UnixTime::since_unix_epoch(Duration::from_secs(at)))
        .map(|_| ())
}
