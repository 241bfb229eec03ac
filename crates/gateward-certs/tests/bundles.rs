//! Bundles: hostile bytes, merging, expiry, and who signed what.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use gateward_certs::{Ca, CaBundle, CaBundleError, CommonName, ServerNames, SystemKeys, TrustAnchor, Validity};
use proptest::prelude::*;
use proptest::sample::subsequence;

const DAY: u64 = 86_400;

fn day(number: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(number * DAY)
}

fn ca(from: u64, to: u64) -> Ca {
    let validity = Validity::between(day(from), day(to)).unwrap();
    Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap()
}

/// Eight CAs of one name; the one at place n is valid from day 1 to day n + 2.
static CAS: LazyLock<Vec<Ca>> = LazyLock::new(|| (0..8).map(|n| ca(1, n + 2)).collect());

fn anchors() -> Vec<TrustAnchor> {
    CAS.iter().map(|ca| ca.trust_anchor().clone()).collect()
}

fn bundles() -> impl Strategy<Value = CaBundle> {
    subsequence(anchors(), 0..=8).prop_shuffle().prop_map(|anchors| anchors.into_iter().collect())
}

/// PEM with duplicates, comments, sections of other kinds, cut sections and bytes of any kind between.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let anchor = || prop::sample::select(anchors());
    let piece = prop_oneof![
        anchor().prop_map(|anchor| anchor.to_pem().into_bytes()),
        (anchor(), 1..600_usize).prop_map(|(anchor, length)| anchor.to_pem().into_bytes()[..length.min(400)].to_vec()),
        Just(b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n".to_vec()),
        Just(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.join(&b'\n'))
}

fn same_set(one: &CaBundle, other: &CaBundle) -> bool {
    one.contains_all(other) && other.contains_all(one) && one.len() == other.len()
}

proptest! {
    #[test]
    fn reading_any_text_gives_a_bundle_or_says_what_is_wrong(text in texts()) {
        let (bundle, flaws) = CaBundle::parse_lossy(&text);
        prop_assert_eq!(CaBundle::parse(&text).is_ok(), flaws.is_empty());
        prop_assert_eq!(CaBundle::parse(bundle.to_pem().as_bytes()), Ok(bundle));
    }

    #[test]
    fn a_damaged_section_spoils_no_other(before in texts(), after in texts(), anchor in prop::sample::select(anchors())) {
        let text = [&before[..], b"\n", anchor.to_pem().as_bytes(), &after].concat();
        prop_assert!(CaBundle::parse_lossy(&text).0.contains(&anchor));
    }

    #[test]
    fn merging_is_idempotent(one in bundles(), other in bundles()) {
        let merged = one.merged(&other);
        prop_assert_eq!(&merged.merged(&other), &merged);
        prop_assert_eq!(&merged.merged(&one), &merged);
        prop_assert_eq!(one.merged(&one), one);
    }

    #[test]
    fn merging_gives_the_same_set_either_way_round(one in bundles(), other in bundles(), third in bundles()) {
        prop_assert!(same_set(&one.merged(&other), &other.merged(&one)));
        prop_assert_eq!(one.merged(&other).merged(&third), one.merged(&other.merged(&third)));
    }

    #[test]
    fn merging_loses_nothing_and_keeps_the_order(one in bundles(), other in bundles()) {
        let merged = one.merged(&other);
        prop_assert!(merged.contains_all(&one) && merged.contains_all(&other));
        prop_assert!(merged.iter().zip(&one).all(|(merged, one)| merged == one));
    }

    #[test]
    fn what_is_still_valid_is_never_dropped_and_what_has_ended_always_is(bundle in bundles(), today in 0..12_u64) {
        let left = bundle.without_expired(day(today));
        for anchor in &bundle {
            prop_assert_eq!(left.contains(anchor), day(today) <= anchor.validity().not_after());
        }
    }
}

#[test]
fn text_around_the_sections_is_passed_over() {
    let pem = CAS[0].certificate_pem();
    let text = format!("# the CA of otters\r\n{pem}and a note\n{pem}");
    assert_eq!(CaBundle::parse(text.as_bytes()).unwrap(), CAS[0].trust_anchor().clone().into());
    assert_eq!(CaBundle::parse(b" \n"), Ok(CaBundle::default()));
}

#[test]
fn a_flaw_names_its_section() {
    let pem = CAS[0].certificate_pem();
    let flaw = |text: &str| CaBundle::parse(text.as_bytes()).unwrap_err();
    assert_eq!(flaw(&format!("{pem}-----BEGIN CERTIFICATE-----\nMIIB\n")), CaBundleError::Section { section: 2 });
    assert_eq!(flaw(&format!("{}{pem}", &pem[..300])), CaBundleError::Section { section: 1 });
    assert_eq!(flaw("otters"), CaBundleError::NotPem);
    assert_eq!(flaw(&pem.repeat(4_000)), CaBundleError::TooLong);
    let empty = flaw("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    assert_eq!(empty.to_string(), "section 1 of the bundle: the certificate is not readable X.509");
}

#[test]
fn a_text_of_a_hundred_thousand_empty_sections_is_read() {
    let text = "-----BEGIN \n".repeat((1 << 20) / 12);
    assert_eq!(CaBundle::parse_lossy(text.as_bytes()).1.len(), (1 << 20) / 12);
}

#[test]
fn of_two_cas_with_one_name_the_one_that_signed_is_found() {
    let names = ServerNames::parse(["otter"]).unwrap();
    let serving = CAS[3].issue(&names, CAS[3].validity(), &SystemKeys).unwrap();
    let all: CaBundle = anchors().into_iter().collect();
    assert_eq!(all.signer_of(serving.certificate()), Some(CAS[3].trust_anchor()));
    assert_eq!(CaBundle::from(CAS[2].trust_anchor().clone()).signer_of(serving.certificate()), None);
}
