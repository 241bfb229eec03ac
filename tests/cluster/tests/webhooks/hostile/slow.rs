//! Documents that were slow to read: each takes a replica no longer than its size is worth, or others would wait.

use cluster_tests::objects::{component, graph, graph_v1alpha1, object, request, request_v1alpha1, service};
use cluster_tests::{Sandbox, Test, refused, tests};
use serde_json::{Map, Value, json};

use crate::hostile::tenant::{Tenant, VERSIONS, WAYS, beside_a_neighbour, held, is_marked, other_of};
use crate::skew::NOVELTY;

/// Alone: each keeps the API server busy for seconds.
pub fn tests() -> Vec<Test> {
    let tests = tests![
        h3_the_first_faults_of_a_large_document_are_told_at_once,
        h3_a_long_text_of_the_wrong_type_is_refused_and_not_quoted,
        h3_large_fields_that_the_crd_alone_knows_are_there_in_both_versions,
        h3_thousands_of_fields_that_nobody_knows_stand_in_nobodys_way,
    ];
    tests.into_iter().map(Test::alone).collect()
}

/// How many components a graph may have.
const COMPONENTS: usize = 25;

/// As many components as there may be, each with what `change` makes of it.
fn wide(version: &str, change: impl Fn(&mut Value)) -> Value {
    let names = (0..COMPONENTS).map(|number| format!("c{number:02}"));
    let changed = |mut part: Value| {
        change(&mut part);
        part
    };
    if version == "v1beta1" {
        let components: Vec<Value> = names.map(|name| changed(component(&name, "worker"))).collect();
        return held(object(version, "DynamoGraphDeployment", "otter", &json!({"components": components})));
    }
    let services: Map<String, Value> = names.map(|name| (name, changed(service("worker")))).collect();
    held(object(version, "DynamoGraphDeployment", "otter", &json!({"services": services})))
}

/// As many nodes of the wrong type are named, for each of which the whole document was once read anew.
const NAMED: usize = 32;

async fn h3_the_first_faults_of_a_large_document_are_told_at_once(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for version in VERSIONS {
            let (pod, component) = match version {
                "v1beta1" => ("/podTemplate/spec/containers/0", "spec.components[N]"),
                _ => ("/extraPodSpec/mainContainer", "spec.services.cN"),
            };
            let otter = wide(version, |part| {
                part.pointer_mut(pod).unwrap()["args"] = vec!["x".repeat(50); 1800].into();
                part["replicas"] = "many".into();
                part["minAvailable"] = json!([1]);
            });
            let named = (0..NAMED / 2).flat_map(|number| {
                let number = if version == "v1beta1" { number.to_string() } else { format!("{number:02}") };
                let component = component.replace('N', &number);
                ["replicas", "minAvailable"].map(|member| format!("{component}.{member}"))
            });
            let mut named: Vec<String> = named.collect();
            named.sort_unstable();
            let refusal = refused(tenant.posts(&otter).await);
            assert_eq!(refusal.fields(), named, "{:.1000}", refusal.message);
            assert!(refusal.message.contains("denied the request"), "{:.1000}", refusal.message);
        }
    })
    .await;
}

/// Where a text may stand that should have been something else: the object, the JSON pointer, and the path.
fn wrong_places() -> Vec<(Value, &'static str, &'static str)> {
    let lynx = object("v1beta1", "DynamoComponentDeployment", "lynx", &component("lynx", "worker"));
    let stork = object("v1alpha1", "DynamoComponentDeployment", "stork", &service("worker"));
    vec![
        (graph("otter"), "/spec/components", "spec.components"),
        (graph("otter"), "/spec/components/1/replicas", "spec.components[1].replicas"),
        (graph("otter"), "/spec/components/1/podTemplate", "spec.components[1].podTemplate"),
        (graph_v1alpha1("otter"), "/spec/services", "spec.services"),
        (graph_v1alpha1("otter"), "/spec/services/Worker/replicas", "spec.services.Worker.replicas"),
        (lynx, "/spec/multinode", "spec.multinode"),
        (stork, "/spec/envs", "spec.envs"),
        (request("stoat"), "/spec/hardware", "spec.hardware"),
        (request_v1alpha1("marmot"), "/spec/profilingConfig", "spec.profilingConfig"),
    ]
}

async fn h3_a_long_text_of_the_wrong_type_is_refused_and_not_quoted(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for (mut object, pointer, field) in wrong_places() {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            object.pointer_mut(parent).unwrap()[name] = "🦦".repeat(700_000).into();
            let answers = tokio::join!(tenant.posts(&object), tenant.posts(&object));
            for refusal in [answers.0, answers.1].map(refused) {
                assert_eq!(refusal.fields(), [field], "{:.1000}", refusal.message);
                assert!(refusal.message.len() < 1000, "the answer has {} bytes", refusal.message.len());
            }
        }
    })
    .await;
}

/// The object is changed in both versions and in each way, and goes; it says what it said after each change.
async fn is_an_ordinary_one(tenant: &Tenant, otter: &Value, said: impl Fn(&Value, &Value)) {
    const REPLICAS: [(&str, &str); 2] =
        [("v1beta1", "/spec/components/1/replicas"), ("v1alpha1", "/spec/services/c01/replicas")];
    for (number, way) in (2..).zip(WAYS) {
        let (version, pointer) = REPLICAS[number % 2];
        let answer = tenant.sets(otter, version, way, pointer, &number.into()).await;
        answer.granted().unwrap_or_else(|why| panic!("{way:?} in {version}: {why}"));
        let [beta, alpha] = tenant.reads(otter).await;
        assert_eq!(beta.pointer(REPLICAS[0].1), Some(&number.into()));
        assert_eq!(alpha.pointer(REPLICAS[1].1), Some(&number.into()));
        assert!(!is_marked(&beta) && !is_marked(&alpha));
        said(&beta, &alpha);
    }
    tenant.removes(otter, other_of(otter)).await;
}

async fn h3_large_fields_that_the_crd_alone_knows_are_there_in_both_versions(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let items = vec!["otter"; 636_000 / COMPONENTS / r#""otter","#.len()];
        let novelty = json!({"depth": 7, "items": items});
        let are_there = |beta: &Value, alpha: &Value| {
            for number in 0..COMPONENTS {
                let of_beta = &beta["spec"]["components"][number][NOVELTY];
                let of_alpha = &alpha["spec"]["services"][format!("c{number:02}")][NOVELTY];
                assert!(*of_beta == novelty && *of_alpha == novelty, "component {number}");
            }
        };
        for version in VERSIONS {
            let otter = wide(version, |part| part[NOVELTY] = novelty.clone());
            tenant.posts(&otter).await.granted().unwrap();
            let [beta, alpha] = tenant.reads(&otter).await;
            are_there(&beta, &alpha);
            is_an_ordinary_one(tenant, &otter, are_there).await;
        }
    })
    .await;
}

async fn h3_thousands_of_fields_that_nobody_knows_stand_in_nobodys_way(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for version in VERSIONS {
            let mut otter = wide(version, |_| {});
            let field = |number| json!({"path": ["spec", format!("x{number}")], "value": 1});
            let fields: Vec<Value> = (0..6000).map(field).collect();
            let kept = json!({"version": 1, "unknown": {other_of(&otter): fields}});
            otter["metadata"]["annotations"] = json!({"gateward.dev/preserved": kept.to_string()});
            tenant.stores_as_if_it_had_no_annotations(&otter).await;
            is_an_ordinary_one(tenant, &otter, |_, _| {}).await;
        }
    })
    .await;
}
