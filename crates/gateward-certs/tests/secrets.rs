//! What stands in the Secrets is judged, and the repair decided.
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::time::{Duration, SystemTime};

use gateward_certs::secret::{
    AuthorityFields, AuthorityState, CLOCK_TOLERANCE, Damage, Fault, LeafRules, LeafState, Repair, SecretData, repair,
};
use gateward_certs::{
    Authority, Bundle, CommonName, KeySource, PrivateKey, ServerNames, SystemKeys, TEN_YEARS, Validity,
};
use proptest::prelude::*;

const DAY: Duration = Duration::from_hours(24);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

fn authority(validity: Validity) -> Authority {
    Authority::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap()
}

fn ten_years() -> Validity {
    Validity::starting(now(), TEN_YEARS).unwrap()
}

fn names() -> ServerNames {
    ServerNames::of_service("otter", "zoo", "cluster.local").unwrap()
}

fn leaf_secret(authority: &Authority, names: &ServerNames, validity: Validity) -> SecretData {
    let leaf = authority.issue(names, validity, &SystemKeys).unwrap();
    SecretData::default()
        .with("tls.crt", leaf.certificate_pem())
        .with("tls.key", leaf.private_key_pem())
        .with("ca.crt", authority.certificate_pem())
}

fn judge_at(data: &SecretData, authority: &Authority, now: SystemTime) -> LeafState {
    let (names, trusted) = (names(), Bundle::from(authority.anchor().clone()));
    LeafState::of(Some(data), &LeafRules { secret: "zoo/otter", names: &names, trusted: &trusted, now: Some(now) })
}

fn judge(data: &SecretData, authority: &Authority) -> LeafState {
    judge_at(data, authority, now())
}

fn authority_secret(authority: &Authority) -> SecretData {
    SecretData::default().with("tls.crt", authority.certificate_pem()).with("tls.key", authority.private_key_pem())
}

fn judge_authority(data: &SecretData, now: SystemTime) -> AuthorityState {
    AuthorityState::of(Some(data), "zoo/otter-ca", AuthorityFields::OWN, Some(now))
}

fn old_place(data: &SecretData) -> AuthorityState {
    AuthorityState::of(Some(data), "zoo/otter", AuthorityFields::OLD_PLACE, Some(now()))
}

fn written_by_others(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/written_by_others/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn fault(state: &LeafState) -> Fault {
    match state {
        LeafState::Damaged(Damage { fault, .. }) => *fault,
        other => panic!("{other}"),
    }
}

#[test]
fn a_secret_with_all_that_is_needed_is_complete() {
    let authority = authority(ten_years());
    let state = judge(&leaf_secret(&authority, &names(), ten_years()), &authority);
    let LeafState::Complete(pair) = state else { panic!("{state}") };
    assert_eq!(pair.private_key().belongs_to(pair.certificate()), Ok(true));
    assert_eq!(pair.chain(), [pair.certificate().clone()]);
    assert_eq!(pair.validity(), ten_years());
}

#[test]
fn a_field_that_is_missing_empty_or_damaged_is_named() {
    let authority = authority(ten_years());
    let whole = leaf_secret(&authority, &names(), ten_years());
    for field in ["tls.crt", "tls.key", "ca.crt"] {
        for data in [whole.clone().without(field), whole.clone().with(field, "")] {
            assert_eq!(fault(&judge(&data, &authority)), Fault::Absent);
        }
        for garbage in ["otters", "-----BEGIN CERTIFICATE-----\nAAAA\n", "\u{0}\u{1}"] {
            let LeafState::Damaged(damage) = judge(&whole.clone().with(field, garbage), &authority) else { panic!() };
            assert_eq!(damage.field, field);
            assert!(damage.to_string().starts_with(&format!("Secret zoo/otter, field {field}: ")));
        }
    }
}

#[test]
fn a_key_of_another_certificate_is_told_from_a_damaged_one() {
    let authority = authority(ten_years());
    let other = PrivateKey::from(SystemKeys.private_key().unwrap());
    let data = leaf_secret(&authority, &names(), ten_years()).with("tls.key", other.to_pem());
    assert!(matches!(judge(&data, &authority), LeafState::WrongKey));
}

#[test]
fn a_certificate_of_another_authority_is_told_even_if_its_secret_brings_that_authority_along() {
    let (ours, other) = (authority(ten_years()), authority(ten_years()));
    let data = leaf_secret(&other, &names(), ten_years());
    assert!(matches!(judge(&data, &ours), LeafState::NotSignedByCa(_)));
    let trust = data.with("ca.crt", ours.certificate_pem());
    assert!(matches!(judge(&trust, &ours), LeafState::NotSignedByCa(_)));
}

#[test]
fn a_trust_without_the_signer_is_damage_and_one_with_others_beside_it_is_none() {
    let (ours, other) = (authority(ten_years()), authority(ten_years()));
    let data = leaf_secret(&ours, &names(), ten_years());
    let both = [other.certificate_pem(), ours.certificate_pem()].concat();
    assert!(matches!(judge(&data.clone().with("ca.crt", both), &ours), LeafState::Complete(_)));
    assert_eq!(fault(&judge(&data.with("ca.crt", other.certificate_pem()), &ours)), Fault::SignerAbsent);
}

#[test]
fn names_that_are_lacking_are_listed_and_more_than_wanted_do_no_harm() {
    let authority = authority(ten_years());
    let few = ServerNames::parse(["otter.zoo.svc", "otter"]).unwrap();
    let LeafState::LacksNames(_, lacking) = judge(&leaf_secret(&authority, &few, ten_years()), &authority) else {
        panic!()
    };
    let lacking: Vec<_> = lacking.iter().map(|name| name.to_str().into_owned()).collect();
    assert_eq!(lacking, ["otter.zoo", "otter.zoo.svc.cluster.local"]);
    let more = ServerNames::new(names().iter().chain(ServerNames::parse(["10.0.0.1"]).unwrap().iter()).cloned());
    let state = judge(&leaf_secret(&authority, &more.unwrap(), ten_years()), &authority);
    assert!(matches!(state, LeafState::Complete(_)));
}

#[test]
fn a_certificate_is_renewed_from_90_days_before_its_end() {
    let authority = authority(ten_years());
    let data = leaf_secret(&authority, &names(), ten_years());
    let end = ten_years().not_after();
    let second = Duration::from_secs(1);
    assert!(matches!(judge_at(&data, &authority, end - 90 * DAY - second), LeafState::Complete(_)));
    assert!(matches!(judge_at(&data, &authority, end - 90 * DAY), LeafState::Expiring(_)));
    assert!(matches!(judge_at(&data, &authority, end + DAY), LeafState::Expiring(_)));
}

#[test]
fn a_start_in_the_future_is_tolerated_as_far_as_clocks_differ() {
    let authority = authority(ten_years());
    let start = now() + DAY;
    let data = leaf_secret(&authority, &names(), Validity::between(start, start + 900 * DAY).unwrap());
    assert!(matches!(judge_at(&data, &authority, start - CLOCK_TOLERANCE), LeafState::Complete(_)));
    let early = start - CLOCK_TOLERANCE - Duration::from_secs(1);
    assert!(matches!(judge_at(&data, &authority, early), LeafState::NotYetValid(_)));
}

#[test]
fn dates_are_not_judged_while_the_time_is_unknown() {
    let past = Validity::between(now() - 20 * DAY, now() - 10 * DAY).unwrap();
    let authority = authority(past);
    let (names, trusted) = (names(), Bundle::from(authority.anchor().clone()));
    let rules = LeafRules { secret: "zoo/otter", names: &names, trusted: &trusted, now: None };
    assert!(matches!(LeafState::of(Some(&leaf_secret(&authority, &names, past)), &rules), LeafState::Complete(_)));
    let state = AuthorityState::of(Some(&authority_secret(&authority)), "zoo/ca", AuthorityFields::OWN, None);
    assert!(state.usable().is_some());
}

#[test]
fn what_an_operator_in_go_left_is_read_down_to_the_key_in_the_old_place() {
    let data: SecretData = [("tls.crt", "leaf.crt"), ("tls.key", "leaf-pkcs1.key"), ("ca.crt", "ca.crt")]
        .map(|(field, file)| (field, written_by_others(file)))
        .into_iter()
        .collect();
    let data = data.with("ca.key", written_by_others("ca-pkcs1.key"));
    let authority = old_place(&data);
    let authority = authority.usable().unwrap();
    assert!(matches!(judge(&data, authority), LeafState::Complete(_)));
}

#[test]
fn an_authority_is_judged_by_its_dates() {
    let secret = authority_secret(&authority(ten_years()));
    let end = ten_years().not_after();
    assert!(matches!(judge_authority(&secret, now()), AuthorityState::Usable(_)));
    assert!(matches!(judge_authority(&secret, end - 90 * DAY), AuthorityState::Expiring(_)));
    assert!(matches!(judge_authority(&secret, end + DAY), AuthorityState::Expired(_)));
    assert!(matches!(judge_authority(&secret, now() - DAY), AuthorityState::NotYetValid(_)));
}

#[test]
fn an_authority_is_found_among_other_certificates_of_its_field() {
    let (one, other) = (authority(ten_years()), authority(ten_years()));
    let both = [other.certificate_pem(), one.certificate_pem()].concat();
    let secret = authority_secret(&one).with("tls.crt", both);
    assert_eq!(judge_authority(&secret, now()).usable().unwrap().anchor(), one.anchor());
}

#[test]
fn a_damaged_authority_says_what_is_wrong() {
    let whole = authority_secret(&authority(ten_years()));
    let told = |data: SecretData| judge_authority(&data, now()).to_string();
    assert_eq!(told(SecretData::default()), "missing");
    assert_eq!(
        told(whole.clone().with("tls.key", "")),
        "Secret zoo/otter-ca, field tls.key: it is missing or empty; it is made anew, or put a valid one there"
    );
    assert!(told(whole.clone().with("tls.crt", "otters")).contains("field tls.crt: the bundle holds no PEM"));
    assert_eq!(
        told(whole.with("tls.key", written_by_others("ec-sec1.key"))),
        "its private key belongs to another certificate"
    );
    let no_authority: SecretData = [("tls.crt", "leaf.crt"), ("tls.key", "leaf-pkcs1.key")]
        .map(|(field, file)| (field, written_by_others(file)))
        .into_iter()
        .collect();
    assert!(told(no_authority).contains("may not sign certificates"));
}

#[test]
fn what_is_valid_is_kept() {
    let authority = authority(ten_years());
    let leaf = judge(&leaf_secret(&authority, &names(), ten_years()), &authority);
    let kept = judge_authority(&authority_secret(&authority), now());
    assert_eq!(repair(&leaf, &kept, &AuthorityState::Missing), Repair::Keep);
}

#[test]
fn a_leaf_that_is_not_complete_is_made_anew_from_the_same_authority() {
    let authority = authority(ten_years());
    let kept = judge_authority(&authority_secret(&authority), now());
    let few = leaf_secret(&authority, &ServerNames::parse(["otter"]).unwrap(), ten_years());
    for leaf in [LeafState::Missing, LeafState::WrongKey, judge(&few, &authority)] {
        assert_eq!(repair(&leaf, &kept, &AuthorityState::Missing), Repair::NewLeaf);
    }
}

#[test]
fn a_key_in_the_old_place_is_adopted_where_there_is_no_better_authority() {
    let (own, old) = (authority(ten_years()), authority(ten_years()));
    let data = leaf_secret(&old, &names(), ten_years()).with("ca.key", old.private_key_pem());
    let (leaf, found) = (judge(&data, &old), old_place(&data));
    assert_eq!(repair(&leaf, &AuthorityState::Missing, &found), Repair::Adopt);
    assert_eq!(repair(&leaf, &AuthorityState::WrongKey, &found), Repair::Adopt);
    let own = judge_authority(&authority_secret(&own), now());
    assert_eq!(repair(&judge(&data, own.usable().unwrap()), &own, &found), Repair::NewLeaf);
}

#[test]
fn without_a_usable_authority_a_new_one_is_made() {
    let old = authority(Validity::between(now() - 20 * DAY, now() - 10 * DAY).unwrap());
    let found =
        old_place(&authority_secret(&old).with("ca.crt", old.certificate_pem()).with("ca.key", old.private_key_pem()));
    assert!(matches!(found, AuthorityState::Expired(_)));
    assert_eq!(repair(&LeafState::Missing, &AuthorityState::Missing, &found), Repair::NewAuthority);
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
        let authority = authority(ten_years());
        let (leaf, kept, old) = (judge(&data, &authority), judge_authority(&data, now()), old_place(&data));
        prop_assert!(!matches!(leaf, LeafState::Complete(_)));
        prop_assert_ne!(repair(&leaf, &kept, &old), Repair::Keep);
    }
}
