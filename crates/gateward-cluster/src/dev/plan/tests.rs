use serde_json::from_value;

use super::*;

const URL: &str = "https://192.168.1.7:9443/convert";
const RECORD: &str = "zoo.org/dev";
const CONVERTED_BY: &str = "zoo.org/converted-by";

fn holder(process: u32) -> DevHolder {
    DevHolder { host: "laptop".into(), process, since: "2027-01-15T08:00:00Z".into() }
}

fn marks() -> Marks {
    Marks::new("zoo.org", holder(7))
}

fn url(url: &str) -> Value {
    json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": url}, "conversionReviewVersions": ["v1"]}})
}

fn service() -> Value {
    let service = json!({"namespace": "zoo", "name": "converter", "path": "/convert", "port": 443});
    json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}, "conversionReviewVersions": ["v1"]}})
}

fn crd(conversion: &Value) -> DynamicObject {
    let mut crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "otters.zoo.org", "resourceVersion": "5", "generation": 4},
        "spec": {"group": "zoo.org", "versions": [{"name": "v1", "storage": true}]},
    });
    if !conversion.is_null() {
        crd["spec"]["conversion"] = conversion.clone();
    }
    from_value(crd).unwrap()
}

fn configuration() -> DynamicObject {
    from_value(json!({"metadata": {"name": "otter-dev-validating"}, "webhooks": []})).unwrap()
}

fn annotations(object: &DynamicObject) -> BTreeMap<String, String> {
    object.metadata.annotations.clone().unwrap_or_default()
}

fn annotated(mut object: DynamicObject, key: &str, value: &str) -> DynamicObject {
    object.metadata.annotations.get_or_insert_default().insert(key.into(), value.into());
    object
}

fn replaced(found: &DynamicObject) -> DynamicObject {
    match marks().take(InjectableKind::Crd, Some(found), &crd(&url(URL))) {
        Ok(Take::Replace(object)) => object,
        other => panic!("{other:?}"),
    }
}

/// A CRD that `dev` has made, as the API server has it then.
fn created(conversion: &Value) -> DynamicObject {
    let Ok(Take::Create(mut object)) = marks().take(InjectableKind::Crd, None, &crd(conversion)) else {
        panic!("not created")
    };
    object.metadata.generation = Some(1);
    object
}

fn put_back(found: &DynamicObject) -> PutBack {
    marks().put_back(InjectableKind::Crd, found, Whose::Own).unwrap()
}

#[test]
fn a_crd_that_is_there_changes_in_its_stanza_and_its_annotations_alone() {
    let before = annotated(crd(&service()), "team", "otters");
    let mut taken = replaced(&before);
    assert_eq!(taken.data["spec"]["conversion"], url(URL));
    assert_eq!(taken.metadata.resource_version.as_deref(), Some("5"), "the write is guarded");
    taken.data["spec"]["conversion"] = service();
    taken.metadata.annotations = before.metadata.annotations.clone();
    assert_eq!(taken, before);
}

#[test]
fn the_record_says_who_has_changed_a_crd_and_how_it_was() {
    let taken = replaced(&annotated(crd(&service()), CONVERTED_BY, "zoo/converter"));
    let record: Value = serde_json::from_str(&annotations(&taken)[RECORD]).unwrap();
    assert_eq!(
        record,
        json!({
            "holder": {"host": "laptop", "process": 7, "since": "2027-01-15T08:00:00Z"},
            "before": {"conversion": {"url": URL, "stanza": service(), "convertedBy": "zoo/converter"}},
        })
    );
    assert_eq!(annotations(&taken)[CONVERTED_BY], "dev", "no release may write its stanza meanwhile");
}

#[test]
fn a_crd_that_was_there_is_put_back_as_it_was() {
    for before in [
        crd(&Value::Null),
        crd(&json!({"strategy": "None"})),
        annotated(crd(&service()), CONVERTED_BY, "zoo/converter"),
        annotated(crd(&service()), "team", "otters"),
    ] {
        let PutBack::Restore(mut after) = put_back(&replaced(&before)) else { panic!("{before:?}") };
        if annotations(&after).is_empty() {
            after.metadata.annotations = None;
        }
        assert_eq!(*after, before);
    }
}

#[test]
fn what_somebody_else_has_written_meanwhile_stays() {
    let mut found = replaced(&annotated(crd(&json!({"strategy": "None"})), CONVERTED_BY, "zoo/converter"));
    found.data["spec"]["conversion"] = service();
    let PutBack::Unmark(kept) = put_back(&found) else { panic!("overwritten") };
    assert_eq!(kept.data["spec"]["conversion"], service());
    assert_eq!(annotations(&kept), [(CONVERTED_BY.to_owned(), "zoo/converter".to_owned())].into());

    let found = annotated(found, CONVERTED_BY, "lake/converter");
    let PutBack::Unmark(kept) = put_back(&found) else { panic!("overwritten") };
    assert_eq!(annotations(&kept), [(CONVERTED_BY.to_owned(), "lake/converter".to_owned())].into());
}

#[test]
fn a_changed_bundle_beside_our_address_is_still_ours() {
    let mut found = replaced(&crd(&service()));
    found.data["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = json!("eA==");
    let PutBack::Restore(after) = put_back(&found) else { panic!("left") };
    assert_eq!(after.data["spec"]["conversion"], service());
}

#[test]
fn a_crd_that_was_made_here_goes_unless_it_has_objects() {
    let PutBack::DeleteUnlessUsed { kept } = put_back(&created(&url(URL))) else { panic!("not deleted") };
    assert_eq!(kept.data["spec"]["conversion"], json!({"strategy": "None"}), "nobody converts its objects then");
    assert_eq!(annotations(&kept), BTreeMap::new());

    let PutBack::DeleteUnlessUsed { kept } = put_back(&created(&Value::Null)) else { panic!("not deleted") };
    assert_eq!(kept.data["spec"].get("conversion"), None);
}

#[test]
fn a_crd_that_was_made_here_and_changed_by_others_stays() {
    let mut found = created(&url(URL));
    found.data["spec"]["conversion"] = service();
    let PutBack::Unmark(kept) = put_back(&found) else { panic!("deleted") };
    assert_eq!(kept.data["spec"]["conversion"], service());

    let mut found = created(&url(URL));
    found.metadata.generation = Some(2);
    let PutBack::Unmark(kept) = put_back(&found) else { panic!("deleted") };
    assert_eq!(kept.data["spec"]["conversion"], json!({"strategy": "None"}), "it must not lead here any more");
}

#[test]
fn objects_that_others_hold_are_left_to_them_unless_the_lease_is_ours() {
    let found = replaced(&crd(&service()));
    let others = Marks::new("zoo.org", holder(8));
    assert_eq!(others.put_back(InjectableKind::Crd, &found, Whose::Own), Ok(PutBack::Nothing));
    let Ok(PutBack::Restore(_)) = others.put_back(InjectableKind::Crd, &found, Whose::Anyones) else { panic!("left") };
    assert_eq!(others.take(InjectableKind::Crd, Some(&found), &crd(&url(URL))), Err(Obstacle::Held(holder(7))));
}

#[test]
fn an_object_without_a_record_is_never_put_back() {
    assert_eq!(put_back(&crd(&url(URL))), PutBack::Nothing);
    let taken = replaced(&crd(&service()));
    let PutBack::Restore(before) = put_back(&taken) else { panic!("left") };
    assert_eq!(put_back(&before), PutBack::Nothing, "a second time changes nothing");
}

#[test]
fn a_record_that_cannot_be_read_is_no_reason_to_guess() {
    let found = annotated(crd(&url(URL)), RECORD, "{}");
    let Err(why) = marks().put_back(InjectableKind::Crd, &found, Whose::Anyones) else { panic!("guessed") };
    assert!(why.to_string().starts_with("its annotation zoo.org/dev can't be read: missing field"), "{why}");
    assert!(marks().take(InjectableKind::Crd, Some(&found), &crd(&url(URL))).is_err());
}

#[test]
fn configurations_are_made_and_deleted_and_those_of_others_are_not_touched() {
    let wanted = configuration();
    let Ok(Take::Create(made)) = marks().take(InjectableKind::Validating, None, &wanted) else { panic!("not made") };
    assert_eq!(annotations(&made).keys().collect::<Vec<_>>(), [RECORD]);
    assert_eq!(marks().put_back(InjectableKind::Validating, &made, Whose::Own), Ok(PutBack::Delete));
    assert_eq!(marks().take(InjectableKind::Validating, Some(&wanted), &wanted), Err(Obstacle::OfOthers));
    assert_eq!(marks().put_back(InjectableKind::Validating, &wanted, Whose::Anyones), Ok(PutBack::Nothing));
}

#[test]
fn a_crd_that_is_there_and_has_nothing_converted_stays_as_it_is() {
    let wanted = crd(&Value::Null);
    assert_eq!(marks().take(InjectableKind::Crd, Some(&crd(&service())), &wanted), Ok(Take::Nothing));
}

#[test]
fn a_crd_that_is_being_deleted_is_waited_for() {
    let leaving = |crd: DynamicObject| {
        let mut crd = serde_json::to_value(crd).unwrap();
        crd["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
        from_value::<DynamicObject>(crd).unwrap()
    };
    let found = leaving(crd(&service()));
    assert_eq!(marks().take(InjectableKind::Crd, Some(&found), &crd(&url(URL))), Ok(Take::Wait));
    assert_eq!(put_back(&leaving(created(&url(URL)))), PutBack::Delete);
    let PutBack::Restore(_) = put_back(&leaving(replaced(&crd(&service())))) else {
        panic!("its objects can't be read")
    };
}

#[test]
fn people_read_who_converted_objects_before() {
    assert_eq!(converter(&crd(&service())), "the Service zoo/converter converted them");
    assert_eq!(converter(&crd(&url(URL))), format!("{URL} converted them"));
    assert_eq!(converter(&crd(&json!({"strategy": "None"}))), "only their apiVersion was changed");
}
