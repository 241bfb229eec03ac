//! AdmissionReviews that somebody wrote to do harm: one hostile part at each place of each kind.

use gateward::{GroupVersionKind, Review};

use crate::meter::Meter;
use crate::shape::Shape;

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

/// Kinds with the paths of their webhooks, and the places where something hostile may stand.
pub struct Target {
    pub kind: &'static str,
    pub version: &'static str,
    plural: &'static str,
    /// Each the text of a spec around `HERE`.
    pub places: Vec<String>,
}

fn in_each(around: &str, parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| around.replace("HERE", part)).collect()
}

#[allow(clippy::too_many_lines, reason = "a table")]
pub fn targets() -> Vec<Target> {
    let pods = [
        r#"{"spec":{"containers":HERE}}"#,
        r#"{"spec":{"containers":[{"name":"main","args":HERE}]}}"#,
        r#"{"spec":{"containers":[{"name":"main","resources":{"limits":HERE}}]}}"#,
        r#"{"metadata":{"labels":HERE}}"#,
        r#"{"spec":{"volumes":HERE}}"#,
    ];
    let mut component: Vec<String> = pods.iter().map(|pod| format!(r#""podTemplate":{pod}"#)).collect();
    component.extend(
        [
            r#""roles":HERE"#,
            r#""providerOverride":{"apiVersion":"a/v1","value":HERE}"#,
            r#""eppConfig":{"config":HERE}"#,
            r#""multinode":HERE"#,
            r#""replicas":HERE"#,
            r#""unknown":HERE"#,
        ]
        .map(str::to_owned),
    );
    let mut graph = in_each(
        r"{HERE}",
        &[
            r#""components":HERE"#,
            r#""env":HERE"#,
            r#""labels":HERE"#,
            r#""restart":{"id":"a","strategy":{"order":HERE}}"#,
            r#""providerOverride":{"apiVersion":"a/v1","value":HERE}"#,
        ],
    );
    graph.extend(component.iter().map(|part| format!(r#"{{"components":[{{"name":"a","type":"worker",{part}}}]}}"#)));
    let standalone = component.iter().map(|part| format!(r#"{{"name":"a","type":"worker",{part}}}"#)).collect();
    let mut service: Vec<String> = pods[..3]
        .iter()
        .map(|pod| pod.replace(r#"{"spec":{"#, "{").replacen("}}", "}", 1))
        .map(|pod| format!(r#""extraPodSpec":{pod}"#))
        .collect();
    service.extend(
        [
            r#""envs":HERE"#,
            r#""volumeMounts":HERE"#,
            r#""roles":HERE"#,
            r#""resources":{"limits":{"custom":HERE}}"#,
            r#""annotations":HERE"#,
            r#""unknown":HERE"#,
            r#""extraPodSpec":{"mainContainer":{"env":HERE}}"#,
            r#""extraPodSpec":{"volumes":HERE}"#,
            r#""replicas":HERE"#,
            r#""autoscaling":{"metrics":HERE}"#,
        ]
        .map(str::to_owned),
    );
    let mut alpha = in_each(r"{HERE}", &[r#""services":HERE"#, r#""pvcs":HERE"#, r#""envs":HERE"#]);
    alpha.extend(service.iter().map(|part| format!(r#"{{"services":{{"a":{{"componentType":"worker",{part}}}}}}}"#)));
    let alone =
        service.iter().map(|part| format!(r#"{{"serviceName":"a","componentType":"worker",{part}}}"#)).collect();
    let request = in_each(
        r#"{"model":"a",HERE}"#,
        &[
            r#""overrides":{"dgd":HERE}"#,
            r#""overrides":{"profilingJob":{"template":{"spec":{"containers":HERE}}}}"#,
            r#""features":{"planner":HERE}"#,
            r#""unknown":HERE"#,
        ],
    );
    let old_request = in_each(
        r#"{"model":"a","backend":"vllm",HERE}"#,
        &[
            r#""profilingConfig":{"config":HERE}"#,
            r#""deploymentOverrides":{"labels":HERE}"#,
            r#""profilingConfig":{"tolerations":HERE}"#,
        ],
    );
    let target = |kind, version, plural, places| Target { kind, version, plural, places };
    vec![
        target("DynamoGraphDeployment", "v1beta1", "dynamographdeployments", graph),
        target("DynamoGraphDeployment", "v1alpha1", "dynamographdeployments", alpha),
        target("DynamoComponentDeployment", "v1beta1", "dynamocomponentdeployments", standalone),
        target("DynamoComponentDeployment", "v1alpha1", "dynamocomponentdeployments", alone),
        target("DynamoGraphDeploymentRequest", "v1beta1", "dynamographdeploymentrequests", request),
        target("DynamoGraphDeploymentRequest", "v1alpha1", "dynamographdeploymentrequests", old_request),
        target(
            "DynamoModel",
            "v1alpha1",
            "dynamomodels",
            in_each(r"{HERE}", &[r#""modelName":HERE"#, r#""source":HERE"#]),
        ),
    ]
}

impl Target {
    pub fn object(&self, metadata: &str, spec: &str) -> String {
        let Self { kind, version, .. } = self;
        format!(
            r#"{{"apiVersion":"nvidia.com/{version}","kind":"{kind}","metadata":{{"name":"otter"{metadata}}},"spec":{spec}}}"#
        )
    }

    pub fn review(&self, operation: &str, object: &str, old: &str) -> String {
        let Self { kind, version, plural, .. } = self;
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"nvidia.com","version":"{version}","kind":"{kind}"}},"resource":{{"group":"nvidia.com","version":"{version}","resource":"{plural}"}},"name":"otter","namespace":"river","operation":"{operation}","userInfo":{{"username":"jane"}},"object":{object},"oldObject":{old}}}}}"#
        )
    }
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
