//! AdmissionReviews that somebody wrote to do harm: one hostile part at each place of each kind.

use gateward::{GroupVersionKind, Review};

use crate::meter::Meter;
use crate::shape::Shape;
use crate::target::{Target, targets};

/// The size of each hostile part.
const BYTES: usize = 1 << 20;

/// The hostile parts that are asked about: all of them where `EVERY_SHAPE` is set, which takes some minutes.
pub fn shapes() -> impl Iterator<Item = Shape> {
    const WORST: [&str; 6] = ["[{},…]", "[{unknown},…]", "[deep,…]", "{a:0,…}", "{a:{},…}", "\"otter\""];
    Shape::ALL.into_iter().filter(|shape| every_shape() || WORST.contains(&shape.name))
}

fn every_shape() -> bool {
    std::env::var_os("EVERY_SHAPE").is_some()
}

/// Asks both webhooks of the kind.
pub fn ask(meter: &mut Meter, target: &Target, about: &str, body: &str) {
    let Target { kind, version, .. } = target;
    let kind = GroupVersionKind::of(&format!("nvidia.com/{version}"), kind);
    for review in [Review::Mutate, Review::Validate] {
        if let Some(path) = meter.webhooks.path_of(review, &kind) {
            meter.ask(&path, &format!("{version} {about}"), body.as_bytes());
        }
    }
}

/// Every hostile spec of this kind and version, as the new object and as both.
fn assert_bounded(kind: &str, version: &str) {
    let mut meter = Meter::new();
    for target in targets().iter().filter(|target| target.kind == kind && target.version == version) {
        for place in &target.places {
            for (name, hostile) in shapes().map(|shape| (shape.name, shape.text(BYTES))) {
                let object = target.object("", &place.replace("HERE", &hostile));
                let about = format!("{name} in {place}");
                ask(&mut meter, target, &about, &target.review("CREATE", &object, "null"));
                if every_shape() {
                    let sound = target.object("", "{}");
                    ask(&mut meter, target, &format!("old {about}"), &target.review("UPDATE", &sound, &object));
                }
                let other = object.replacen(r#""name":"otter""#, r#""name":"otter","labels":{"a":"b"}"#, 1);
                ask(&mut meter, target, &format!("old and new {about}"), &target.review("UPDATE", &other, &object));
            }
        }
    }
    meter.settle();
}

#[test]
fn a_v1beta1_graph_takes_no_more_than_its_share() {
    assert_bounded("DynamoGraphDeployment", "v1beta1");
}

#[test]
fn a_v1alpha1_graph_takes_no_more_than_its_share() {
    assert_bounded("DynamoGraphDeployment", "v1alpha1");
}

#[test]
fn a_v1beta1_component_takes_no_more_than_its_share() {
    assert_bounded("DynamoComponentDeployment", "v1beta1");
}

#[test]
fn a_v1alpha1_component_takes_no_more_than_its_share() {
    assert_bounded("DynamoComponentDeployment", "v1alpha1");
}

#[test]
fn a_request_takes_no_more_than_its_share() {
    assert_bounded("DynamoGraphDeploymentRequest", "v1beta1");
}

#[test]
fn a_v1alpha1_request_takes_no_more_than_its_share() {
    assert_bounded("DynamoGraphDeploymentRequest", "v1alpha1");
}

/// Its spec is compared with the stored one.
#[test]
fn a_frozen_request_takes_no_more_than_its_share() {
    let mut meter = Meter::new();
    for (version, status) in [("v1beta1", r#"{"phase":"Profiling"}"#), ("v1alpha1", r#"{"state":"Profiling"}"#)] {
        let target = Target::of("DynamoGraphDeploymentRequest", version);
        let stored = target.object("", &format!(r#"{{"model":"a"}},"status":{status}"#));
        for place in &target.places {
            for shape in shapes() {
                let object = target.object("", &place.replace("HERE", &shape.text(BYTES)));
                let about = format!("{} in {place}", shape.name);
                ask(&mut meter, &target, &about, &target.review("UPDATE", &object, &stored));
            }
        }
    }
    meter.settle();
}

#[test]
fn a_model_takes_no_more_than_its_share() {
    assert_bounded("DynamoModel", "v1alpha1");
}

#[test]
fn metadata_takes_no_more_than_its_share() {
    let mut meter = Meter::new();
    for target in targets().iter().filter(|target| target.kind == "DynamoGraphDeployment") {
        for member in ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"] {
            for (name, hostile) in shapes().map(|shape| (shape.name, shape.text(BYTES))) {
                let object = target.object(&format!(r#","{member}":{hostile}"#), "{}");
                let about = format!("{name} in metadata.{member}");
                ask(&mut meter, target, &about, &target.review("CREATE", &object, "null"));
                ask(
                    &mut meter,
                    target,
                    &format!("old {about}"),
                    &target.review("UPDATE", &target.object("", "{}"), &object),
                );
            }
        }
    }
    meter.settle();
}

#[test]
fn an_envelope_takes_no_more_than_its_share() {
    let mut meter = Meter::new();
    let targets = targets();
    let target = &targets[0];
    let sound = target.review("CREATE", &target.object("", "{}"), "null");
    let places = [
        (r#""userInfo":{"username":"jane"}"#, r#""userInfo":{"username":"jane","groups":HERE}"#),
        (r#""userInfo":{"username":"jane"}"#, r#""userInfo":{"username":"jane","extra":HERE}"#),
        (r#""name":"otter","namespace""#, r#""name":HERE,"namespace""#),
        (r#""uid":"u""#, r#""uid":HERE"#),
        (r#""operation":"CREATE""#, r#""operation":HERE"#),
        (r#""operation":"CREATE""#, r#""operation":"CREATE","options":HERE"#),
        (r#""uid":"u""#, r#""uid":"u","unknown":HERE"#),
    ];
    for (was, place) in places {
        for (name, hostile) in shapes().map(|shape| (shape.name, shape.text(BYTES))) {
            let body = sound.replacen(was, &place.replace("HERE", &hostile), 1);
            ask(&mut meter, target, &format!("{name} in {place}"), &body);
        }
    }
    meter.settle();
}
