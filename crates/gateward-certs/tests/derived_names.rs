//! Names of any length, cut to what their kind allows.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use gateward_certs::{DerivedNameError, NameLimit, ServerNames};
use proptest::prelude::*;

/// Names as Helm allows them for a release, but of any length.
const BASE: &str = "[a-z0-9]([-a-z0-9]{0,90}[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?)?";
const SUFFIX: &str = "-[a-z]([-a-z]{0,30}[a-z])?";

fn limits() -> impl Strategy<Value = NameLimit> {
    prop::sample::select(vec![NameLimit::Service, NameLimit::LabelValue, NameLimit::Object])
}

proptest! {
    #[test]
    fn a_derived_name_fits_and_keeps_its_suffix(limit in limits(), base in BASE, suffix in SUFFIX) {
        let name = limit.derive(&base, &suffix).unwrap();
        prop_assert!(name.len() <= limit.characters());
        prop_assert!(name.ends_with(&suffix));
    }

    #[test]
    fn a_name_that_fits_is_never_changed(limit in limits(), base in BASE, suffix in SUFFIX) {
        let whole = format!("{base}{suffix}");
        let fits = whole.len() <= limit.characters();
        prop_assert_eq!(limit.derive(&base, &suffix).unwrap() == whole, fits);
    }

    #[test]
    fn two_bases_never_share_a_name(limit in limits(), start in "[a-z]{60}", ends in [BASE, BASE], suffix in SUFFIX) {
        prop_assume!(ends[0] != ends[1]);
        let names = ends.map(|end| limit.derive(&format!("{start}{end}"), &suffix).unwrap());
        prop_assert_ne!(&names[0], &names[1]);
    }

    #[test]
    fn a_cut_name_is_of_the_form_that_a_template_can_compute(base in "[a-z]{1,20}[-.]{0,30}[a-z]{80}") {
        let name = NameLimit::Service.derive(&base, "-x").unwrap();
        let (cut, hash) = name.strip_suffix("-x").unwrap().rsplit_once('-').unwrap();
        prop_assert!(base.starts_with(cut) && !cut.ends_with(['-', '.']));
        prop_assert!(hash.len() == 8 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn texts_of_any_kind_are_cut_between_characters(base in "\\PC{0,300}", suffix in "\\PC{0,20}") {
        let name = NameLimit::LabelValue.derive(&base, &suffix).unwrap();
        prop_assert!(name.chars().count() <= 63);
    }
}

#[test]
fn the_longest_release_in_the_longest_namespace_has_a_service_that_a_certificate_can_name() {
    let fullname = format!("{}-dynamo-operator", "r".repeat(53));
    let service = NameLimit::Service.derive(&fullname, "-webhook-service").unwrap();
    assert_eq!(service.len(), 63);
    ServerNames::of_service(&service, &"n".repeat(63), "cluster.local").unwrap();
    let lease = NameLimit::Object.derive(&fullname, "-webhook-writer").unwrap();
    assert_eq!(lease, format!("{fullname}-webhook-writer"));
}

#[test]
fn a_suffix_that_leaves_no_room_is_refused() {
    let suffix = "x".repeat(54);
    let error = NameLimit::Service.derive("otter-otter", &suffix).unwrap_err();
    assert_eq!(error, DerivedNameError { suffix, limit: 63 });
}
