//! Keys and CAs that others wrote are read and used.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::{
    Ca, CaBundle, CaError, IssuedCertificate, KeyError, KeySource, PrivateKey, RsaKeys, ServerNames, SystemKeys,
    Validity,
};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};

const NOW: Duration = Duration::from_secs(1_800_000_123);

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/written_by_others/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn key(name: &str) -> PrivateKey {
    PrivateKey::from_pem(&file(name)).unwrap()
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(&file(name)).unwrap()
}

fn ca(certificate_file: &str, key_file: &str) -> Result<Ca, CaError> {
    Ca::from_parts(certificate(certificate_file), key(key_file))
}

fn issue(ca: &Ca, keys: &dyn KeySource) -> IssuedCertificate {
    let day = Validity::starting(SystemTime::UNIX_EPOCH + NOW, Duration::from_hours(24)).unwrap();
    ca.issue(&ServerNames::parse(["otter.zoo.svc"]).unwrap(), day, keys).unwrap()
}

fn verifies(ca: &Ca, serving: &CertificateDer<'_>) -> bool {
    let mut roots = RootCertStore::empty();
    roots.add(ca.certificate().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
    let name = ServerName::try_from("otter.zoo.svc").unwrap();
    verifier.verify_server_cert(serving, &[], &name, &[], UnixTime::since_unix_epoch(NOW)).is_ok()
}

#[test]
fn a_ca_with_a_pkcs1_key_and_serial_zero_issues_what_clients_take() {
    for key_file in ["ca-pkcs1.key", "ca-pkcs8.key"] {
        let ca = ca("ca.crt", key_file).unwrap();
        assert!(verifies(&ca, issue(&ca, &SystemKeys).certificate()), "{key_file}");
        assert!(verifies(&ca, &certificate("leaf.crt")), "what it had issued before");
    }
}

#[test]
fn sec1_and_pkcs8_keys_of_every_supported_kind_make_an_ca() {
    for (certificate_file, key_file) in [
        ("ec-sec1.crt", "ec-sec1.key"),
        ("ec-sec1.crt", "ec-pkcs8.key"),
        ("ec384-sec1.crt", "ec384-sec1.key"),
        ("ed25519.crt", "ed25519.key"),
    ] {
        let ca = ca(certificate_file, key_file).unwrap();
        assert!(verifies(&ca, issue(&ca, &SystemKeys).certificate()), "{key_file}");
    }
}

#[test]
fn a_key_is_written_as_it_was_read() {
    for name in ["ca-pkcs1.key", "ca-pkcs8.key", "ec-pkcs8.key", "ec384-sec1.key", "ed25519.key"] {
        assert_eq!(key(name).to_pem().as_bytes(), file(name), "{name}");
    }
    assert!(key("ec-sec1.key").to_pem().starts_with("-----BEGIN EC PRIVATE KEY-----"));
}

#[test]
fn a_ca_whose_signature_could_not_be_checked_is_refused() {
    assert_eq!(ca("ec521-sec1.crt", "ec521-sec1.key").unwrap_err(), CaError::CannotSign);
    assert!(ca("rsa1024.crt", "rsa1024.key").is_err());
}

#[test]
fn a_ca_whose_subject_could_not_be_repeated_as_issuer_is_refused() {
    assert_eq!(ca("repeated.crt", "ec-sec1.key").unwrap_err(), CaError::CannotSign);
}

#[test]
fn a_server_certificate_is_no_ca() {
    assert_eq!(ca("leaf.crt", "leaf-pkcs1.key").unwrap_err(), CaError::NotACa);
}

#[test]
fn a_key_of_another_ca_is_refused() {
    assert_eq!(ca("ca.crt", "leaf-pkcs1.key").unwrap_err(), CaError::WrongKey);
    assert_eq!(ca("ca.crt", "ec-sec1.key").unwrap_err(), CaError::WrongKey);
}

#[test]
fn a_key_with_a_password_and_a_text_without_a_key_are_refused() {
    assert_eq!(PrivateKey::from_pem(&file("encrypted.key")).unwrap_err(), KeyError::NoKey);
    assert_eq!(PrivateKey::from_pem(&file("ca.crt")).unwrap_err(), KeyError::NoKey);
    assert_eq!(PrivateKey::from_pem(b"").unwrap_err(), KeyError::NoKey);
}

#[test]
fn rsa_keys_are_made_where_they_are_asked_for() {
    let ca = ca("ec-sec1.crt", "ec-sec1.key").unwrap();
    let serving = issue(&ca, &RsaKeys);
    let key = PrivateKey::from_pem(serving.private_key_pem().as_bytes()).unwrap();
    assert_eq!(key.belongs_to(serving.certificate()), Ok(true));
    assert!(verifies(&ca, serving.certificate()));
}

#[test]
fn the_signer_of_a_certificate_is_found_among_others() {
    let bundle = CaBundle::parse(&[file("ec-sec1.crt"), file("ca.crt"), file("leaf.crt")].concat()).unwrap();
    let signer = bundle.signer_of(&certificate("leaf.crt")).unwrap();
    assert_eq!(signer.certificate(), &certificate("ca.crt"));
    assert_eq!(bundle.signer_of(&certificate("ca.crt")), None, "it signed itself");
}
