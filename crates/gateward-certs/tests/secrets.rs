//! What stands in the Secrets is judged, and the repair decided.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::time::{Duration, SystemTime};

use gateward_certs::rotation::{
    CaSecret, CaSecretWrite, CertificateSpec, ObservedState, RotationAnnotations, Step, Wait, Write, next_step,
};
use gateward_certs::secret::{
    CLOCK_TOLERANCE, CaFields, CaState, FieldError, InvalidField, SecretData, ServingCertificateRules,
    ServingCertificateState,
};
use gateward_certs::{
    Ca, CaBundle, CommonName, KeySource, Lifetimes, PrivateKey, ServerNames, SystemKeys, TEN_YEARS, Validity,
};
use proptest::prelude::*;

const DAY: Duration = Duration::from_hours(24);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

fn ca(validity: Validity) -> Ca {
    Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap()
}

fn ten_years() -> Validity {
    Validity::starting(now(), TEN_YEARS).unwrap()
}

fn names() -> ServerNames {
    ServerNames::of_service("otter", "zoo", "cluster.local").unwrap()
}

fn serving_secret(ca: &Ca, names: &ServerNames, validity: Validity) -> SecretData {
    let serving = ca.issue(names, validity, &SystemKeys).unwrap();
    SecretData::default()
        .with("tls.crt", serving.certificate_pem())
        .with("tls.key", serving.private_key_pem())
        .with("ca.crt", ca.certificate_pem())
}

fn judge_at(data: &SecretData, ca: &Ca, now: SystemTime) -> ServingCertificateState {
    let (names, trusted) = (names(), CaBundle::from(ca.trust_anchor().clone()));
    ServingCertificateState::of(
        Some(data),
        &ServingCertificateRules { secret: "zoo/otter", names: &names, trusted: &trusted, now: Some(now) },
    )
}

fn judge(data: &SecretData, ca: &Ca) -> ServingCertificateState {
    judge_at(data, ca, now())
}

fn ca_secret(ca: &Ca) -> SecretData {
    SecretData::default().with("tls.crt", ca.certificate_pem()).with("tls.key", ca.private_key_pem())
}

fn judge_ca(data: &SecretData, now: SystemTime) -> CaState {
    CaState::of(Some(data), "zoo/otter-ca", CaFields::OWN, Some(now))
}

fn legacy(data: &SecretData) -> CaState {
    CaState::of(Some(data), "zoo/otter", CaFields::LEGACY, Some(now()))
}

fn written_by_others(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/written_by_others/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn error(state: &ServingCertificateState) -> FieldError {
    match state {
        ServingCertificateState::Invalid(InvalidField { error, .. }) => *error,
        other => panic!("{other}"),
    }
}

#[test]
fn a_secret_with_all_that_is_needed_is_complete() {
    let ca = ca(ten_years());
    let state = judge(&serving_secret(&ca, &names(), ten_years()), &ca);
    let ServingCertificateState::Complete(certificate) = state else { panic!("{state}") };
    assert_eq!(certificate.private_key().belongs_to(certificate.end_entity()), Ok(true));
    assert_eq!(certificate.chain(), [certificate.end_entity().clone()]);
    assert_eq!(certificate.validity(), ten_years());
}

#[test]
fn a_field_that_is_missing_empty_or_damaged_is_named() {
    let ca = ca(ten_years());
    let whole = serving_secret(&ca, &names(), ten_years());
    for field in ["tls.crt", "tls.key", "ca.crt"] {
        for data in [whole.clone().without(field), whole.clone().with(field, "")] {
            assert_eq!(error(&judge(&data, &ca)), FieldError::Absent);
        }
        for garbage in ["otters", "-----BEGIN CERTIFICATE-----\nAAAA\n", "\u{0}\u{1}"] {
            let ServingCertificateState::Invalid(invalid) = judge(&whole.clone().with(field, garbage), &ca) else {
                panic!()
            };
            assert_eq!(invalid.field, field);
            assert!(invalid.to_string().starts_with(&format!("Secret zoo/otter, field {field}: ")));
        }
    }
}

#[test]
fn a_key_of_another_certificate_differs_from_a_damaged_one() {
    let ca = ca(ten_years());
    let other = PrivateKey::from(SystemKeys.private_key().unwrap());
    let data = serving_secret(&ca, &names(), ten_years()).with("tls.key", other.to_pem());
    assert!(matches!(judge(&data, &ca), ServingCertificateState::WrongKey));
}

#[test]
fn a_certificate_of_another_ca_is_found_even_if_its_secret_holds_that_ca() {
    let (ours, other) = (ca(ten_years()), ca(ten_years()));
    let data = serving_secret(&other, &names(), ten_years());
    assert!(matches!(judge(&data, &ours), ServingCertificateState::NotSignedByCa(_)));
    let trust = data.with("ca.crt", ours.certificate_pem());
    assert!(matches!(judge(&trust, &ours), ServingCertificateState::NotSignedByCa(_)));
}

#[test]
fn a_trust_without_the_signer_is_damage_and_one_with_others_beside_it_is_none() {
    let (ours, other) = (ca(ten_years()), ca(ten_years()));
    let data = serving_secret(&ours, &names(), ten_years());
    let both = [other.certificate_pem(), ours.certificate_pem()].concat();
    assert!(matches!(judge(&data.clone().with("ca.crt", both), &ours), ServingCertificateState::Complete(_)));
    assert_eq!(error(&judge(&data.with("ca.crt", other.certificate_pem()), &ours)), FieldError::SignerAbsent);
}

#[test]
fn names_that_are_lacking_are_listed_and_more_than_wanted_do_no_harm() {
    let ca = ca(ten_years());
    let few = ServerNames::parse(["otter.zoo.svc", "otter"]).unwrap();
    let ServingCertificateState::LacksNames(_, lacking) = judge(&serving_secret(&ca, &few, ten_years()), &ca) else {
        panic!()
    };
    let lacking: Vec<_> = lacking.iter().map(|name| name.to_str().into_owned()).collect();
    assert_eq!(lacking, ["otter.zoo", "otter.zoo.svc.cluster.local"]);
    let more = ServerNames::new(names().iter().chain(ServerNames::parse(["10.0.0.1"]).unwrap().iter()).cloned());
    let state = judge(&serving_secret(&ca, &more.unwrap(), ten_years()), &ca);
    assert!(matches!(state, ServingCertificateState::Complete(_)));
}

#[test]
fn a_certificate_is_renewed_from_90_days_before_its_end() {
    let ca = ca(ten_years());
    let data = serving_secret(&ca, &names(), ten_years());
    let end = ten_years().not_after();
    let second = Duration::from_secs(1);
    assert!(matches!(judge_at(&data, &ca, end - 90 * DAY - second), ServingCertificateState::Complete(_)));
    assert!(matches!(judge_at(&data, &ca, end - 90 * DAY), ServingCertificateState::Expiring(_)));
    assert!(matches!(judge_at(&data, &ca, end + DAY), ServingCertificateState::Expiring(_)));
}

#[test]
fn a_start_in_the_future_is_tolerated_as_far_as_clocks_differ() {
    let ca = ca(ten_years());
    let start = now() + DAY;
    let data = serving_secret(&ca, &names(), Validity::between(start, start + 900 * DAY).unwrap());
    assert!(matches!(judge_at(&data, &ca, start - CLOCK_TOLERANCE), ServingCertificateState::Complete(_)));
    let early = start - CLOCK_TOLERANCE - Duration::from_secs(1);
    assert!(matches!(judge_at(&data, &ca, early), ServingCertificateState::NotYetValid(_)));
}

#[test]
fn dates_are_not_judged_while_the_time_is_unknown() {
    let past = Validity::between(now() - 20 * DAY, now() - 10 * DAY).unwrap();
    let ca = ca(past);
    let (names, trusted) = (names(), CaBundle::from(ca.trust_anchor().clone()));
    let rules = ServingCertificateRules { secret: "zoo/otter", names: &names, trusted: &trusted, now: None };
    assert!(matches!(
        ServingCertificateState::of(Some(&serving_secret(&ca, &names, past)), &rules),
        ServingCertificateState::Complete(_)
    ));
    let state = CaState::of(Some(&ca_secret(&ca)), "zoo/ca", CaFields::OWN, None);
    assert!(state.usable().is_some());
}

#[test]
fn what_an_operator_in_go_left_is_read_down_to_the_key_in_the_old_place() {
    let data: SecretData = [("tls.crt", "leaf.crt"), ("tls.key", "leaf-pkcs1.key"), ("ca.crt", "ca.crt")]
        .map(|(field, file)| (field, written_by_others(file)))
        .into_iter()
        .collect();
    let data = data.with("ca.key", written_by_others("ca-pkcs1.key"));
    let ca = legacy(&data);
    let ca = ca.usable().unwrap();
    assert!(matches!(judge(&data, ca), ServingCertificateState::Complete(_)));
}

#[test]
fn the_state_of_a_ca_depends_on_its_dates() {
    let secret = ca_secret(&ca(ten_years()));
    let end = ten_years().not_after();
    assert!(matches!(judge_ca(&secret, now()), CaState::Usable(_)));
    assert!(matches!(judge_ca(&secret, end - 90 * DAY), CaState::Expiring(_)));
    assert!(matches!(judge_ca(&secret, end + DAY), CaState::Expired(_)));
    assert!(matches!(judge_ca(&secret, now() - DAY), CaState::NotYetValid(_)));
}

#[test]
fn a_ca_is_found_among_other_certificates_of_its_field() {
    let (one, other) = (ca(ten_years()), ca(ten_years()));
    let both = [other.certificate_pem(), one.certificate_pem()].concat();
    let secret = ca_secret(&one).with("tls.crt", both);
    assert_eq!(judge_ca(&secret, now()).usable().unwrap().trust_anchor(), one.trust_anchor());
}

#[test]
fn an_invalid_ca_names_the_error() {
    let whole = ca_secret(&ca(ten_years()));
    let judged = |data: SecretData| judge_ca(&data, now()).to_string();
    assert_eq!(judged(SecretData::default()), "missing");
    assert_eq!(
        judged(whole.clone().with("tls.key", "")),
        "Secret zoo/otter-ca, field tls.key: it is missing or empty; it is made anew, or put a valid one there"
    );
    assert!(judged(whole.clone().with("tls.crt", "otters")).contains("field tls.crt: the bundle holds no PEM"));
    assert_eq!(
        judged(whole.with("tls.key", written_by_others("ec-sec1.key"))),
        "its private key belongs to another certificate"
    );
    let no_ca: SecretData = [("tls.crt", "leaf.crt"), ("tls.key", "leaf-pkcs1.key")]
        .map(|(field, file)| (field, written_by_others(file)))
        .into_iter()
        .collect();
    assert!(judged(no_ca).contains("may not sign certificates"));
}

/// The step without injection targets and replicas.
fn step(ca_secret: Option<SecretData>, serving_secret: SecretData) -> Step {
    let spec = CertificateSpec {
        serving_secret: "zoo/otter".to_owned(),
        ca_secret: "zoo/otter-ca".to_owned(),
        annotations: RotationAnnotations::of("otter.example.org"),
        names: names(),
        ca_name: CommonName::new("otter").unwrap(),
        lifetimes: Lifetimes::default(),
        settle: CertificateSpec::SETTLE,
    };
    let ca_secret = ca_secret.map(|data| CaSecret { data, ..CaSecret::default() });
    next_step(&ObservedState { ca_secret, serving_secret: Some(serving_secret), ..ObservedState::empty(&spec) }, now())
}

#[test]
fn a_key_in_the_old_place_is_adopted_where_there_is_no_better_ca() {
    let (own, old) = (ca(ten_years()), ca(ten_years()));
    let data = serving_secret(&old, &names(), ten_years()).with("ca.key", old.private_key_pem());
    let adopt = Step::Write(Write::CaSecret(CaSecretWrite::Adopt));
    assert_eq!(step(None, data.clone()), adopt);
    assert_eq!(step(Some(ca_secret(&own).with("tls.key", old.private_key_pem())), data.clone()), adopt);
    assert_ne!(step(Some(ca_secret(&own)), data), adopt);
}

#[test]
fn an_expired_ca_in_the_old_place_is_not_adopted() {
    let old = ca(Validity::between(now() - 20 * DAY, now() - 10 * DAY).unwrap());
    let data = SecretData::default().with("ca.crt", old.certificate_pem()).with("ca.key", old.private_key_pem());
    assert!(matches!(legacy(&data), CaState::Expired(_)));
    assert_eq!(step(None, data), Step::Write(Write::CaSecret(CaSecretWrite::Create)));
}

proptest! {
    #[test]
    fn hostile_secrets_are_judged_too(
        fields in prop::collection::btree_map(
            prop::sample::select(vec!["tls.crt", "tls.key", "ca.crt", "ca.key"]),
            prop_oneof![
                prop::collection::vec(any::<u8>(), 0..80),
                prop::sample::select(vec!["ca.crt", "leaf.crt", "leaf-pkcs1.key", "ec-sec1.key", "rsa1024.crt", "encrypted.key"])
                    .prop_map(written_by_others),
            ],
            0..4,
        ),
        cut in 0..2_000_usize,
    ) {
        let data: SecretData = fields.into_iter().map(|(field, mut content)| {
            content.truncate(cut);
            (field, content)
        }).collect();
        let ca = ca(ten_years());
        prop_assert!(!matches!(judge(&data, &ca), ServingCertificateState::Complete(_)));
        let idle = matches!(step(Some(data.clone()), data), Step::Wait(Wait::Idle { .. }));
        prop_assert!(!idle);
    }
}
