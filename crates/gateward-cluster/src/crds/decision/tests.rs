use super::*;

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

/// The CRD as it is after it was applied, with the caBundle that somebody else has written.
fn installed(release: &str) -> Value {
    let mut crd = ours();
    crd["metadata"]["resourceVersion"] = "7".into();
    crd["metadata"]["annotations"] = json!({KEY: release});
    crd["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "bundle".into();
    crd["status"] = json!({"storedVersions": ["v1beta1"]});
    crd
}

fn decided(installed: Value) -> Decision {
    let release = Version::new(1, 2, 0);
    decide(&Definition::from(installed), &ours(), &Release { version: &release, annotation: KEY })
}

fn applied(installed: Value) -> (Value, Vec<String>) {
    match decided(installed) {
        Decision::Apply(document, notes) => (document, notes),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_crd_that_is_not_there_is_applied_with_its_mark() {
    let release = Version::new(1, 2, 0);
    let mut wanted = ours();
    wanted["metadata"]["annotations"] = json!({KEY: "1.2.0"});
    assert_eq!(first(&ours(), &Release { version: &release, annotation: KEY }), wanted);
}

#[test]
fn the_bundle_is_never_applied() {
    let release = Version::new(1, 2, 0);
    let mut carried = ours();
    carried["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "bundle".into();
    let document = first(&carried, &Release { version: &release, annotation: KEY });
    assert_eq!(document["spec"], ours()["spec"]);
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
        let Decision::LeaveAlone(why) = decided(installed(release)) else { panic!("{release} is applied") };
        assert!(why.to_string().contains(release.trim_start_matches('v')), "{why}");
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
    assert_eq!(decided(unmarked), Decision::LeaveAlone(LeftAlone::StoresNewer { version: "v1".into() }));
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
    assert_eq!(document["spec"], ours()["spec"]);
    assert!(notes.is_empty());
}

#[test]
fn the_storage_version_stays_until_objects_can_be_converted() {
    let mut old = stored_in_v1alpha1();
    old["spec"]["conversion"] = json!({"strategy": "None"});
    let (document, notes) = applied(old);
    assert_eq!(document["spec"]["versions"], json!([version("v1alpha1", true), version("v1beta1", false)]));
    assert_eq!(document["spec"]["conversion"], ours()["spec"]["conversion"]);
    assert_eq!(notes.len(), 1);
}

#[test]
fn what_an_uninstall_has_switched_off_is_switched_on() {
    let mut off = installed("1.2.0");
    off["spec"]["conversion"] = json!({"strategy": "None"});
    off["spec"]["versions"][0]["served"] = false.into();
    assert_eq!(applied(off).0["spec"], ours()["spec"]);
}

#[test]
fn a_url_makes_room_for_the_service() {
    let mut local = installed("1.2.0");
    local["spec"]["conversion"]["webhook"]["clientConfig"] = json!({"url": "https://127.0.0.1:9443/convert"});
    let Decision::Prepare(patch) = decided(local) else { panic!("not prepared") };
    let config = patch.pointer("/spec/conversion/webhook/clientConfig").unwrap();
    assert_eq!(config["url"], Value::Null);
    assert_eq!(config["service"]["name"], "converter");
    assert_eq!(patch["metadata"]["resourceVersion"], "7");
}
