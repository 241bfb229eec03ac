use super::*;
use crate::pairs;

const CONVERTED_BY: &str = "otter.zoo.org/converted-by";

const KEY: &str = "zoo.org/version";

fn version(name: &str, storage: bool) -> Value {
    json!({"name": name, "served": true, "storage": storage})
}

fn crd(versions: &[Value]) -> Value {
    let service = json!({"name": "converter", "namespace": "zoo", "path": "/convert", "port": 443});
    json!({
        "metadata": {"name": "otters.zoo.org"},
        "spec": {
            "group": "zoo.org",
            "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}},
            "versions": versions,
        },
    })
}

fn ours() -> Value {
    crd(&[version("v1alpha1", false), version("v1beta1", true)])
}

/// The CRD as it is after it was applied, with the caBundle that another client has written.
fn installed(release: &str) -> Value {
    let mut crd = ours();
    crd["metadata"]["resourceVersion"] = "7".into();
    crd["metadata"]["annotations"] = json!({KEY: release});
    crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "bundle".into();
    crd["status"] = json!({"storedVersions": ["v1beta1"]});
    crd
}

/// A CA, and its `caBundle` in base64.
fn ca() -> (CaBundle, String) {
    let trusted = CaBundle::from(pairs::ca().trust_anchor().clone());
    let bundle = base64(&trusted).as_str().unwrap().to_owned();
    (trusted, bundle)
}

static VERSION: Version = Version::new(1, 2, 0);

fn release(ca: Option<&CaBundle>) -> Release<'static> {
    let trusted = ca.cloned().unwrap_or_default();
    Release {
        version: &VERSION,
        annotation: KEY,
        converted_by: CONVERTED_BY,
        trusted,
        rule: CaBundleRule::Add,
        injection: None,
    }
}

fn decided_with(installed: Value, ca: Option<&CaBundle>) -> CrdDecision {
    decide(&Definition::from(installed), &ours(), &release(ca))
}

fn decided(installed: Value) -> CrdDecision {
    decided_with(installed, None)
}

fn applied_with(installed: Value, ca: Option<&CaBundle>) -> (Value, Vec<String>) {
    match decided_with(installed, ca) {
        CrdDecision::Apply(document, notes) => (document, notes),
        other => panic!("{other:?}"),
    }
}

fn applied(installed: Value) -> (Value, Vec<String>) {
    applied_with(installed, None)
}

/// The specification that is wanted once there is a CA.
fn spec_with(bundle: &str) -> Value {
    let mut ours = ours();
    ours["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = bundle.into();
    ours["spec"].take()
}

#[test]
fn a_crd_that_is_not_there_is_applied_with_its_mark_and_the_bundle_of_the_ca() {
    let (secret, bundle) = ca();
    let (document, notes) = first(&ours(), &release(Some(&secret)));
    assert_eq!(document["metadata"]["annotations"], json!({KEY: "1.2.0", CONVERTED_BY: "zoo/converter"}));
    assert_eq!((&document["spec"], notes.len()), (&spec_with(&bundle), 0));
}

#[test]
fn no_stanza_is_written_without_the_bundle_of_a_ca() {
    let none = json!({"strategy": "None"});
    let (document, notes) = first(&ours(), &release(None));
    assert_eq!((&document["spec"]["conversion"], notes.len()), (&none, 1));
    // It was switched off, and there is no CA.
    let mut off = installed("1.2.0");
    off["spec"]["conversion"] = none.clone();
    let (document, notes) = applied(off);
    assert_eq!((&document["spec"]["conversion"], notes.len()), (&none, 1));
    // Another Service converts.
    let mut theirs = installed("1.2.0");
    theirs["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] = "badger".into();
    let (document, notes) = applied(theirs.clone());
    assert_eq!((&document["spec"]["conversion"], notes.len()), (&theirs["spec"]["conversion"], 1));
    let mut local = installed("1.2.0");
    local["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": "https://127.0.0.1:9443/convert"});
    assert_eq!(applied(local.clone()).0["spec"]["conversion"], local["spec"]["conversion"]);
}

#[test]
fn another_service_goes_on_converting_until_the_pods_can() {
    let (secret, _) = ca();
    let mut theirs = installed("1.2.0");
    theirs["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] = "badger".into();
    let (document, notes) = applied_with(theirs.clone(), Some(&secret));
    assert_eq!(document["spec"]["conversion"], theirs["spec"]["conversion"]);
    assert_eq!(document["metadata"]["annotations"][CONVERTED_BY], "zoo/converter");
    assert_eq!(notes, ["its objects are converted by the Service zoo/badger until the pods can"]);
}

#[test]
fn the_stanza_of_another_service_that_no_api_server_can_call_is_replaced() {
    let (secret, bundle) = ca();
    let mut theirs = crd_without_bundle();
    theirs["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"] = "badger".into();
    assert_eq!(applied_with(theirs, Some(&secret)).0["spec"], spec_with(&bundle));
}

#[test]
fn the_bundle_that_is_there_stays_and_gets_what_it_lacks() {
    assert_eq!(applied(installed("1.2.0")).0["spec"], spec_with("bundle"));
    let ((secret, bundle), (other, others_bundle)) = (ca(), ca());
    let mut present = installed("1.2.0");
    present["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = bundle.clone().into();
    assert_eq!(applied_with(present.clone(), Some(&secret)).0["spec"], spec_with(&bundle));
    let both = applied_with(present, Some(&other)).0;
    let both = both.pointer("/spec/conversion/webhook/clientConfig/caBundle").unwrap().as_str().unwrap();
    assert!(both.len() > bundle.len().max(others_bundle.len()));
}

#[test]
fn one_of_the_same_or_an_older_release_is_applied_again() {
    for release in ["1.2.0", "v1.1.9", "1.2.0-rc.1", "1.2.0+build"] {
        let (document, notes) = applied(installed(release));
        assert_eq!(document["metadata"]["annotations"][KEY], "1.2.0", "{release}");
        assert_eq!(document["metadata"]["resourceVersion"], "7");
        assert!(notes.is_empty(), "{notes:?}");
    }
}

#[test]
fn one_of_a_newer_release_is_left_alone() {
    for release in ["1.2.1", "v2.0.0", "1.3.0-rc.1"] {
        let CrdDecision::LeaveAlone(why) = decided(installed(release)) else { panic!("{release} is applied") };
        assert!(why.to_string().contains(release.trim_start_matches('v')), "{why}");
    }
}

#[test]
fn builds_order_releases_of_the_same_make() {
    let newer = |installed: &str, ours: &str| is_newer(&installed.parse().unwrap(), &ours.parse().unwrap());
    assert!(newer("1.5.0+gateward.0.10.0", "1.5.0+gateward.0.2.0"));
    assert!(newer("1.6.0", "1.5.0+gateward.0.2.0"));
    for older in ["1.5.0", "1.5.0+zebra", "1.4.9+gateward.9.0.0", "1.5.0+gateward.0.2.0", "1.5.0+gateward.0.1.0"] {
        assert!(!newer(older, "1.5.0+gateward.0.2.0"), "{older}");
    }
}

#[test]
fn one_without_a_mark_that_can_be_read_is_applied() {
    applied(installed("unknown"));
    let mut unmarked = installed("");
    unmarked["metadata"].as_object_mut().unwrap().remove("annotations");
    applied(unmarked);
}

#[test]
fn one_whose_objects_are_stored_in_a_newer_version_is_left_alone() {
    let mut unmarked = installed("unknown");
    unmarked["spec"]["versions"] = json!([version("v1beta1", false), version("v1", true)]);
    unmarked["status"]["storedVersions"] = json!(["v1beta1", "v1"]);
    assert_eq!(decided(unmarked), CrdDecision::LeaveAlone(LeftAlone::StoresNewer { version: "v1".into() }));
}

#[test]
fn a_version_that_objects_are_stored_in_is_never_removed() {
    let mut old = installed("1.0.0");
    old["spec"]["versions"] = json!([version("v1alpha0", false), version("v1alpha1", false), version("v1beta1", true)]);
    old["status"]["storedVersions"] = json!(["v1alpha0", "v1beta1"]);
    let (document, notes) = applied(old);
    assert_eq!(document["spec"]["versions"][2], version("v1alpha0", false));
    assert_eq!(notes, ["keeps the version v1alpha0, in which objects may be stored"]);
}

fn stored_in_v1alpha1() -> Value {
    let mut old = installed("1.0.0");
    old["spec"]["versions"] = json!([version("v1alpha1", true), version("v1beta1", false)]);
    old["status"]["storedVersions"] = json!(["v1alpha1"]);
    old
}

#[test]
fn the_storage_version_changes_where_objects_can_be_converted() {
    let (document, notes) = applied(stored_in_v1alpha1());
    assert_eq!(document["spec"], spec_with("bundle"));
    assert!(notes.is_empty());
}

#[test]
fn the_storage_version_stays_until_objects_can_be_converted() {
    let mut old = stored_in_v1alpha1();
    old["spec"]["conversion"] = json!({"strategy": "None"});
    let (secret, bundle) = ca();
    for (ca, notes_wanted) in [(None, 2), (Some(&secret), 1)] {
        let (document, notes) = applied_with(old.clone(), ca);
        assert_eq!(document["spec"]["versions"], json!([version("v1alpha1", true), version("v1beta1", false)]));
        assert_eq!(document["spec"]["conversion"] == spec_with(&bundle)["conversion"], ca.is_some());
        assert_eq!(notes.len(), notes_wanted);
    }
}

#[test]
fn what_an_uninstall_has_switched_off_is_switched_on() {
    let mut off = installed("1.2.0");
    off["spec"]["conversion"] = json!({"strategy": "None"});
    off["spec"]["versions"][0]["served"] = false.into();
    let (secret, bundle) = ca();
    assert_eq!(applied_with(off, Some(&secret)).0["spec"], spec_with(&bundle));
}

#[test]
fn a_url_makes_room_for_the_service() {
    let mut local = installed("1.2.0");
    local["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": "https://127.0.0.1:9443/convert"});
    let (secret, bundle) = ca();
    let CrdDecision::Prepare(patch) = decided_with(local, Some(&secret)) else { panic!("not prepared") };
    let config = patch.pointer("/spec/conversion/webhook/clientConfig").unwrap();
    assert_eq!(config["url"], Value::Null);
    assert_eq!((&config["service"]["name"], &config["caBundle"]), (&json!("converter"), &json!(bundle)));
    assert_eq!(patch["metadata"]["resourceVersion"], "7");
}

#[test]
fn a_bundle_that_the_user_gives_takes_the_place_of_the_one_that_is_there() {
    let (trusted, bundle) = ca();
    let release = Release { rule: CaBundleRule::Replace, ..release(Some(&trusted)) };
    for installed in [installed("1.2.0"), crd_without_bundle()] {
        let CrdDecision::Apply(document, _) = decide(&installed.into(), &ours(), &release) else { panic!() };
        assert_eq!(document["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"], bundle);
    }
}

#[test]
fn a_bundle_that_cert_manager_injects_stays_and_is_ours_only_where_there_is_none() {
    let (trusted, bundle) = ca();
    let injection = Some(InjectionAnnotation::of_secret("zoo/bundle".to_owned()));
    let release = Release { rule: CaBundleRule::Keep, injection, ..release(Some(&trusted)) };
    for (installed, carried) in [(installed("1.2.0"), "bundle"), (crd_without_bundle(), bundle.as_str())] {
        let CrdDecision::Apply(document, _) = decide(&installed.into(), &ours(), &release) else { panic!() };
        assert_eq!(document["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"], carried);
        assert_eq!(document["metadata"]["annotations"]["cert-manager.io/inject-ca-from-secret"], "zoo/bundle");
    }
}

#[test]
fn an_annotation_by_which_cert_manager_injects_another_bundle_is_removed_first() {
    let mut left = installed("1.2.0");
    left["metadata"]["annotations"]["cert-manager.io/inject-ca-from"] = "zoo/serving".into();
    left["metadata"]["annotations"]["cert-manager.io/inject-ca-from-secret"] = "zoo/old".into();
    let removed = |names: &[&str]| {
        let annotations: Value = names.iter().map(|name| ((*name).to_owned(), Value::Null)).collect();
        CrdDecision::Prepare(json!({"metadata": {"resourceVersion": "7", "annotations": annotations}}))
    };
    let both = ["cert-manager.io/inject-ca-from", "cert-manager.io/inject-ca-from-secret"];
    assert_eq!(decide(&left.clone().into(), &ours(), &release(None)), removed(&both));
    let injection = Some(InjectionAnnotation::of_secret("zoo/bundle".to_owned()));
    let injected = Release { rule: CaBundleRule::Keep, injection, ..release(None) };
    assert_eq!(decide(&left.into(), &ours(), &injected), removed(&both[..1]));
}

/// The CRD with a stanza that no API server can use.
fn crd_without_bundle() -> Value {
    let mut crd = installed("1.2.0");
    crd["spec"]["conversion"]["webhook"]["clientConfig"].as_object_mut().unwrap().remove("caBundle");
    crd
}
