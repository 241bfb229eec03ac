//! The certificates of a control plane: made with rcgen itself, so that the bed doesn't lean on what it tests.

use std::path::Path;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

/// The names and addresses under which the API server is called.
const API_SERVER: [&str; 8] = [
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
    "localhost",
    "127.0.0.1",
    "10.96.0.1",
    "127.96.0.1",
];

/// Writes into a folder what an API server needs: `ca.crt`, `api.crt` and `api.key` for its connections, `sa.key` and
/// `sa.pub` for the tokens of service accounts. Returns the CA's certificate.
pub(crate) fn write(folder: &Path) -> anyhow::Result<String> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "test bed");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate()?;
    let ca = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);

    let mut params = CertificateParams::new(API_SERVER.map(str::to_owned))?;
    params.distinguished_name.push(DnType::CommonName, "kube-apiserver");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?;

    std::fs::write(folder.join("ca.crt"), &ca)?;
    std::fs::write(folder.join("api.crt"), certificate.pem())?;
    std::fs::write(folder.join("api.key"), key.serialize_pem())?;
    let tokens = KeyPair::generate()?;
    std::fs::write(folder.join("sa.key"), tokens.serialize_pem())?;
    std::fs::write(folder.join("sa.pub"), tokens.public_key_pem())?;
    Ok(ca)
}
