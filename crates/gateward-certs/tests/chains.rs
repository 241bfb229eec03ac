//! Chains that others have put into the serving Secret: whether clients accept them, and what is said of their faults.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::time::{Duration, SystemTime};

use gateward_certs::secret::SecretData;
use gateward_certs::{CaBundle, ChainRules, Fingerprint, TrustAnchor, chain_faults};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256,
};
use rustls_pki_types::{CertificateDer, ServerName};

const DAY: Duration = Duration::from_hours(24);
const NAME: &str = "otter.zoo.svc";

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

/// Somebody with a key and a certificate.
struct Holder {
    key: KeyPair,
    params: CertificateParams,
    certificate: CertificateDer<'static>,
    pem: String,
}

fn key() -> KeyPair {
    KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).unwrap()
}

fn params(name: &str, ends: SystemTime) -> CertificateParams {
    let mut params = CertificateParams::default();
    (params.not_before, params.not_after) = ((now() - 30 * DAY).into(), ends.into());
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

impl Holder {
    fn itself(params: CertificateParams) -> Self {
        let key = key();
        let certificate = params.self_signed(&key).unwrap();
        Self { pem: certificate.pem(), certificate: certificate.der().clone(), key, params }
    }

    fn root() -> Self {
        Self::itself(ca_params("root", now() + 3650 * DAY))
    }

    /// Another certificate of the same key and name, as a renewal without a new key gives it.
    fn renewed(&self, ends: SystemTime) -> Self {
        let mut params = self.params.clone();
        params.not_after = ends.into();
        let key = KeyPair::try_from(self.key.serialize_der()).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { pem: certificate.pem(), certificate: certificate.der().clone(), key, params }
    }

    fn signs(&self, params: CertificateParams) -> Self {
        let key = key();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Self { pem: certificate.pem(), certificate: certificate.der().clone(), key, params }
    }

    fn intermediate(&self, name: &str, ends: SystemTime) -> Self {
        self.signs(ca_params(name, ends))
    }

    fn server(&self, names: &[&str]) -> Self {
        self.signs(server_params(names, now() + 90 * DAY))
    }

    fn trusted(&self) -> CaBundle {
        TrustAnchor::new(self.certificate.clone()).unwrap().into()
    }

    fn short(&self) -> String {
        Fingerprint::of(&self.certificate).short()
    }
}

fn ca_params(name: &str, ends: SystemTime) -> CertificateParams {
    let mut params = params(name, ends);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

fn server_params(names: &[&str], ends: SystemTime) -> CertificateParams {
    let mut params = params("server", ends);
    params.subject_alt_names = names.iter().map(|name| rcgen::SanType::DnsName((*name).try_into().unwrap())).collect();
    params
}

/// A Secret with a chain and the key of the first.
fn secret(chain: &[&Holder], ca_crt: &[&Holder]) -> SecretData {
    let pem = |holders: &[&Holder]| holders.iter().map(|holder| holder.pem.as_str()).collect::<String>();
    let key = chain[0].key.serialize_pem();
    let data = SecretData::default().with("tls.crt", pem(chain)).with("tls.key", key);
    if ca_crt.is_empty() { data } else { data.with("ca.crt", pem(ca_crt)) }
}

fn faults(data: Option<&SecretData>, trusted: &CaBundle) -> Vec<String> {
    let name = ServerName::try_from(NAME).unwrap();
    let rules = ChainRules { secret: "zoo/otter", name: &name, trusted, now: now() };
    chain_faults(data, &rules).iter().map(ToString::to_string).collect()
}

fn refused(data: &SecretData, trusted: &CaBundle) -> bool {
    let name = ServerName::try_from(NAME).unwrap();
    let rules = ChainRules { secret: "zoo/otter", name: &name, trusted, now: now() };
    chain_faults(Some(data), &rules).iter().any(gateward_certs::ChainFault::is_refused)
}

fn ders(chain: &[&Holder]) -> Vec<CertificateDer<'static>> {
    chain.iter().map(|holder| holder.certificate.clone()).collect()
}

#[test]
fn a_chain_leads_to_the_root_over_intermediates_in_any_order() {
    let root = Holder::root();
    let (upper, other) = (root.intermediate("upper", now() + 900 * DAY), Holder::root());
    let lower = upper.intermediate("lower", now() + 800 * DAY);
    let server = lower.server(&[NAME]);
    for chain in [[&server, &lower, &upper], [&server, &upper, &lower]] {
        assert!(root.trusted().verifies_chain(&ders(&chain), None));
        assert!(!other.trusted().verifies_chain(&ders(&chain), None));
    }
    assert!(!root.trusted().verifies_chain(&ders(&[&server, &upper]), None), "one is missing");
    assert!(upper.trusted().verifies_chain(&ders(&[&server, &lower]), None), "an intermediate may be trusted");
    assert!(!root.trusted().verifies_chain(&[], None));
}

#[test]
fn each_certificate_on_the_way_has_to_be_valid() {
    let root = Holder::root();
    let intermediate = root.intermediate("intermediate", now() + DAY);
    let chain = ders(&[&intermediate.server(&[NAME]), &intermediate]);
    assert!(root.trusted().verifies_chain(&chain, Some(now())));
    assert!(!root.trusted().verifies_chain(&chain, Some(now() + 2 * DAY)));
    assert!(root.trusted().verifies_chain(&chain, None));
}

#[test]
fn a_renewed_root_with_the_same_key_verifies_what_the_old_one_signed() {
    let old = Holder::root();
    let new = old.renewed(now() + 7300 * DAY);
    assert_ne!(new.certificate, old.certificate);
    assert!(new.trusted().verifies_chain(&ders(&[&old.server(&[NAME])]), Some(now())));
}

#[test]
fn a_whole_secret_has_no_fault() {
    let root = Holder::root();
    let intermediate = root.intermediate("intermediate", now() + 900 * DAY);
    let direct = secret(&[&root.server(&[NAME])], &[&root]);
    let longer = secret(&[&intermediate.server(&["*.zoo.svc"]), &intermediate], &[&root]);
    for data in [direct.clone(), longer, direct.without("ca.crt")] {
        assert_eq!(faults(Some(&data), &root.trusted()), [""; 0]);
    }
}

#[test]
fn a_missing_name_is_named_with_those_that_are_there() {
    let root = Holder::root();
    let data = secret(&[&root.server(&["otter", "badger.zoo.svc"])], &[&root]);
    assert_eq!(
        faults(Some(&data), &root.trusted()),
        ["Secret zoo/otter: the certificate lacks the name otter.zoo.svc, by which API servers call; it has otter, \
          badger.zoo.svc"]
    );
    assert!(refused(&data, &root.trusted()));
    let nameless = secret(&[&root.server(&[])], &[&root]);
    assert!(faults(Some(&nameless), &root.trusted())[0].ends_with("it has no names"));
}

#[test]
fn a_certificate_that_is_its_own_ca_is_served_with_a_warning() {
    let own = Holder::itself(server_params(&[NAME], now() + 90 * DAY));
    let data = secret(&[&own], &[&own]);
    assert_eq!(
        faults(Some(&data), &own.trusted()),
        [
            "Secret zoo/otter: the certificate is its own CA, so that each renewal needs another caBundle everywhere; have \
          a CA sign it"
        ]
    );
    assert!(!refused(&data, &own.trusted()));
}

#[test]
fn an_expired_intermediate_is_named_by_its_place() {
    let root = Holder::root();
    let intermediate = root.intermediate("intermediate", now() - DAY);
    let data = secret(&[&intermediate.server(&[NAME]), &intermediate], &[&root]);
    let said = faults(Some(&data), &root.trusted());
    assert_eq!(
        said[0],
        "Secret zoo/otter: certificate 2 of tls.crt, an intermediate CA, expired at 2027-01-14T08:00:00Z; put its \
         successor there"
    );
    assert!(refused(&data, &root.trusted()));
}

#[test]
fn a_key_that_fits_nothing_and_one_that_fits_a_later_certificate_are_told_apart() {
    let root = Holder::root();
    let intermediate = root.intermediate("intermediate", now() + 900 * DAY);
    let (server, other) = (intermediate.server(&[NAME]), root.server(&[NAME]));
    let data = secret(&[&server, &intermediate], &[&root]);
    let strange = data.clone().with("tls.key", other.key.serialize_pem());
    assert_eq!(
        faults(Some(&strange), &root.trusted()),
        ["Secret zoo/otter: tls.key belongs to no certificate of tls.crt; put a matching pair there"]
    );
    let turned = data.with("tls.crt", [intermediate.pem.as_str(), &server.pem].concat());
    assert_eq!(
        faults(Some(&turned), &root.trusted()),
        [
            "Secret zoo/otter: tls.key belongs to certificate 2 of tls.crt; put that one first, and each signer after the \
          certificate that it signed"
        ]
    );
    assert!(refused(&strange, &root.trusted()) && refused(&turned, &root.trusted()));
}

#[test]
fn intermediates_in_a_wrong_order_are_said_and_served() {
    let root = Holder::root();
    let upper = root.intermediate("upper", now() + 900 * DAY);
    let lower = upper.intermediate("lower", now() + 800 * DAY);
    let data = secret(&[&lower.server(&[NAME]), &upper, &lower], &[&root]);
    assert_eq!(
        faults(Some(&data), &root.trusted()),
        ["Secret zoo/otter: certificate 2 of tls.crt did not sign the one before it; put each signer after the \
          certificate that it signed"]
    );
    assert!(!refused(&data, &root.trusted()));
}

#[test]
fn a_chain_that_leads_elsewhere_names_the_trusted_cas() {
    let (root, other) = (Holder::root(), Holder::root());
    let data = secret(&[&root.server(&[NAME])], &[&root]);
    let said = faults(Some(&data), &other.trusted());
    assert_eq!(
        said,
        [
            format!(
                "Secret zoo/otter: the chain in tls.crt leads to none of the CAs that clients are to trust ({}); set \
                 webhook.caBundle to the CA that signed it, or put the intermediate CAs into tls.crt",
                other.short()
            ),
            format!(
                "Secret zoo/otter: ca.crt names CAs that webhook.caBundle lacks ({}); they differ until it has them",
                root.short()
            ),
        ]
    );
    let nothing = faults(Some(&data.without("ca.crt")), &CaBundle::default());
    assert!(nothing[0].contains("webhook.caBundle is empty"), "{nothing:?}");
}

#[test]
fn a_certificate_that_outlives_its_ca_is_said_before_it_matters() {
    let root = Holder::itself(ca_params("root", now() + 30 * DAY));
    let data = secret(&[&root.server(&[NAME])], &[&root]);
    assert!(faults(Some(&data), &root.trusted())[0].contains("after what signed it; renew the CA first"));
}

#[test]
fn what_is_missing_expired_or_damaged_is_one_sentence() {
    let root = Holder::root();
    let data = secret(&[&root.server(&[NAME])], &[&root]);
    let ended = secret(&[&root.signs(server_params(&[NAME], now() - DAY))], &[&root]);
    for (data, sentence) in [
        (None, "Secret zoo/otter is not there; it needs tls.crt, tls.key and ca.crt"),
        (Some(data.clone().without("tls.key")), "Secret zoo/otter, field tls.key: it is missing or empty"),
        (Some(data.clone().with("tls.crt", "otter")), "Secret zoo/otter, field tls.crt: the bundle holds no PEM"),
        (Some(data.with("ca.crt", "otter")), "Secret zoo/otter, field ca.crt: the bundle holds no PEM"),
        (Some(ended), "Secret zoo/otter: the certificate expired at 2027-01-14T08:00:00Z; replace it"),
    ] {
        assert_eq!(faults(data.as_ref(), &root.trusted()), [sentence]);
    }
}
