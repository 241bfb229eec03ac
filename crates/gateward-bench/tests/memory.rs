//! What a hostile body takes of memory: at most twelve times itself and 16 MB, the answer included.
//!
//! Allocations are counted on the thread that answers. The body itself is the server's and counts once.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;
use std::time::SystemTime;

use dynamo_webhooks::ClusterFacts;
use gateward_core::testing::block_on;
use gateward_core::{Answer, Context, GroupVersionKind, Review};

/// The size of each hostile part.
const BYTES: usize = 1 << 20;

/// What a request may take beside a multiple of its body.
const BASE: u64 = 16 << 20;

/// The multiple.
const FACTOR: u64 = 12;

/// As many times `part` as a body has room for, with commas between them.
fn many(part: &str) -> String {
    many_in(BYTES, part)
}

fn many_in(bytes: usize, part: &str) -> String {
    let mut parts = format!("{part},").repeat(bytes / (part.len() + 1));
    parts.pop();
    parts
}

/// As many members as a body has room for, all of different names.
fn members(value: &str) -> String {
    let members: Vec<String> =
        (0..BYTES / (value.len() + 9)).map(|number| format!(r#""{number:x}":{value}"#)).collect();
    members.join(",")
}

fn deep(levels: usize, leaf: &str) -> String {
    format!("{}{leaf}{}", r#"{"a":["#.repeat(levels), "]}".repeat(levels))
}

/// Which of the hostile parts are asked about: all of them where `EVERY_SHAPE` is set, which takes some minutes.
fn shapes() -> Vec<(&'static str, String)> {
    const WORST: [&str; 6] = ["[{},…]", "[{unknown},…]", "[deep,…]", "{a:0,…}", "{a:{},…}", "\"otter\""];
    lists().into_iter().filter(|(name, _)| every_shape() || WORST.contains(name)).collect()
}

fn every_shape() -> bool {
    std::env::var_os("EVERY_SHAPE").is_some()
}

/// What stands where a list, a map, an object or a text is expected: many, long, deep, wide and of the wrong type.
fn lists() -> Vec<(&'static str, String)> {
    let list = |parts: String| format!("[{parts}]");
    vec![
        ("[{},…]", list(many("{}"))),
        ("[[],…]", list(many("[]"))),
        ("[0,…]", list(many("0"))),
        ("[1.5e3,…]", list(many("1.5e3"))),
        ("[\"\",…]", list(many(r#""""#))),
        ("[null,…]", list(many("null"))),
        ("[{name},…]", list(many(r#"{"name":"a"}"#))),
        ("[{unknown},…]", list(many(r#"{"":0}"#))),
        ("[[[…]]]", format!("{}{}", "[".repeat(BYTES / 2), "]".repeat(BYTES / 2))),
        ("[deep,…]", list(many(&deep(40, "1")))),
        ("{a:0,…}", format!("{{{}}}", members("0"))),
        ("{a:{},…}", format!("{{{}}}", members("{}"))),
        ("{a:\"\",…}", format!("{{{}}}", members(r#""""#))),
        ("{a:[{}],…}", format!("{{{}}}", members("[{}]"))),
        ("\"otter\"", format!("\"{}\"", "\u{1f9a6}".repeat(BYTES / 4))),
        ("\"\\u0001\"", format!("\"{}\"", r"\u0001".repeat(BYTES / 6))),
        ("{otter: 1}", format!("{{\"{}\":1}}", "\u{1f9a6}".repeat(BYTES / 4))),
        ("5", format!("5{}", "0".repeat(200))),
    ]
}

/// Kinds with the paths of their webhooks, and the places where something hostile may stand.
struct Target {
    kind: &'static str,
    version: &'static str,
    plural: &'static str,
    /// Each the text of a spec around `HERE`.
    places: Vec<String>,
}

fn in_each(around: &str, parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| around.replace("HERE", part)).collect()
}

fn targets() -> Vec<Target> {
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
    fn object(&self, metadata: &str, spec: &str) -> String {
        let Self { kind, version, .. } = self;
        format!(
            r#"{{"apiVersion":"nvidia.com/{version}","kind":"{kind}","metadata":{{"name":"otter"{metadata}}},"spec":{spec}}}"#
        )
    }

    fn review(&self, operation: &str, object: &str, old: &str) -> String {
        let Self { kind, version, plural, .. } = self;
        format!(
            r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"u","kind":{{"group":"nvidia.com","version":"{version}","kind":"{kind}"}},"resource":{{"group":"nvidia.com","version":"{version}","resource":"{plural}"}},"name":"otter","namespace":"river","operation":"{operation}","userInfo":{{"username":"jane"}},"object":{object},"oldObject":{old}}}}}"#
        )
    }
}

struct Ledger {
    registry: gateward_core::Registry,
    context: Context,
    worst: (f64, String),
    beyond: Vec<String>,
    asked: usize,
}

impl Ledger {
    fn new() -> Self {
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(ClusterFacts::default()));
        let registry = dynamo_webhooks::registry();
        // What is made once is not the first body's.
        registry.check().unwrap();
        Self { registry, context, worst: (0.0, String::new()), beyond: Vec::new(), asked: 0 }
    }

    /// Asks both webhooks of the kind.
    fn ask(&mut self, target: &Target, about: &str, body: &str) {
        let Target { kind, version, .. } = target;
        let kind = GroupVersionKind::of(&format!("nvidia.com/{version}"), kind);
        for path in
            [Review::Mutate, Review::Validate].into_iter().filter_map(|review| self.registry.path_of(review, &kind))
        {
            let mut answer: Option<Answer> = None;
            let taken = allocation_counter::measure(|| {
                answer = Some(block_on(self.registry.answer(&path, body.as_bytes(), &self.context)));
            });
            let answer = answer.unwrap();
            let bytes = u64::try_from(body.len()).unwrap();
            let (peak, limit) = (taken.bytes_max + bytes, FACTOR * bytes + BASE);
            #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
            let share = peak as f64 / limit as f64;
            let line =
                format!("{share:.2} of {} MB: {path} {} {about}: HTTP {}", limit >> 20, target.version, answer.status);
            if std::env::var_os("SHOW").is_some() {
                println!("{line}");
            }
            if share > self.worst.0 {
                self.worst = (share, line.clone());
            }
            if peak > limit {
                self.beyond.push(line);
            }
            self.asked += 1;
            drop(answer);
        }
    }

    fn settle(self) {
        println!("{} answers; the worst: {}", self.asked, self.worst.1);
        assert!(self.asked > 0);
        assert!(self.beyond.is_empty(), "{} take too much:\n{}", self.beyond.len(), self.beyond.join("\n"));
    }
}

/// Every hostile spec of this kind and version, as the new object and as both.
fn assert_bounded(kind: &str, version: &str) {
    let mut ledger = Ledger::new();
    for target in targets().iter().filter(|target| target.kind == kind && target.version == version) {
        for place in &target.places {
            for (name, hostile) in shapes() {
                let object = target.object("", &place.replace("HERE", &hostile));
                let about = format!("{name} in {place}");
                ledger.ask(target, &about, &target.review("CREATE", &object, "null"));
                if every_shape() {
                    let sound = target.object("", "{}");
                    ledger.ask(target, &format!("old {about}"), &target.review("UPDATE", &sound, &object));
                }
                let other = object.replacen(r#""name":"otter""#, r#""name":"otter","labels":{"a":"b"}"#, 1);
                ledger.ask(target, &format!("old and new {about}"), &target.review("UPDATE", &other, &object));
            }
        }
    }
    ledger.settle();
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
    let mut ledger = Ledger::new();
    for target in targets().iter().filter(|target| target.kind == "DynamoGraphDeployment") {
        for member in ["labels", "annotations", "finalizers", "ownerReferences", "managedFields"] {
            for (name, hostile) in shapes() {
                let object = target.object(&format!(r#","{member}":{hostile}"#), "{}");
                let about = format!("{name} in metadata.{member}");
                ledger.ask(target, &about, &target.review("CREATE", &object, "null"));
                ledger.ask(
                    target,
                    &format!("old {about}"),
                    &target.review("UPDATE", &target.object("", "{}"), &object),
                );
            }
        }
    }
    ledger.settle();
}

#[test]
fn an_envelope_takes_no_more_than_its_share() {
    let mut ledger = Ledger::new();
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
        for (name, hostile) in shapes() {
            let body = sound.replacen(was, &place.replace("HERE", &hostile), 1);
            ledger.ask(target, &format!("{name} in {place}"), &body);
        }
    }
    ledger.settle();
}
