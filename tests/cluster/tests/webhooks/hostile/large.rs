//! Bodies as large as the API server takes them.

use cluster_tests::objects::{graph, graph_v1alpha1};
use cluster_tests::{Sandbox, Test, tests, version_of};
use serde_json::{Map, Value, json};

use crate::hostile::tenant::{Tenant, beside_a_neighbour};

/// Alone: each keeps the API server busy for seconds, and it gives up what it has not admitted after 34 of them.
pub fn tests() -> Vec<Test> {
    let tests = tests![
        h2_a_million_components_are_refused,
        h2_a_hundred_thousand_services_are_refused,
        h2_a_million_members_of_a_list_without_a_bound_are_refused,
        h2_a_body_that_schema_defaults_blow_up_is_refused_unread,
        h2_an_object_that_the_store_refuses_is_judged_all_the_same,
    ];
    tests.into_iter().map(Test::alone).collect()
}

/// What the API server reads of a request, less what stands around a list.
const ROOM: usize = (3 << 20) - 4096;

/// As many empty members as fit.
fn many() -> Value {
    vec![json!({}); ROOM / "{},".len()].into()
}

/// Our webhooks were asked, said no and gave this reason; the object is not there.
async fn is_denied(tenant: &Tenant, object: &Value, field: &str) {
    let answer = tenant.posts(object).await;
    let said = answer.body["message"].as_str().unwrap_or_default();
    let start: String = said.chars().take(1000).collect();
    assert!(said.contains("denied the request") && said.contains(field), "{}: {start}", answer.status);
    assert!(said.len() < 100_000, "the answer has {} bytes", said.len());
    let place = tenant.own.place(object, version_of(object));
    assert_eq!(tenant.own.client().get(&place).await.unwrap().status, 404);
}

async fn h2_a_million_components_are_refused(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let mut otter = graph("otter");
        otter["spec"]["components"] = many();
        is_denied(tenant, &otter, "spec.components: Too many").await;
    })
    .await;
}

async fn h2_a_hundred_thousand_services_are_refused(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let mut otter = graph_v1alpha1("otter");
        let services: Map<String, Value> = (0..100_000).map(|number| (format!("s{number}"), json!({}))).collect();
        otter["spec"]["services"] = services.into();
        is_denied(tenant, &otter, "spec.services: Too many").await;
    })
    .await;
}

async fn h2_a_million_members_of_a_list_without_a_bound_are_refused(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let mut otter = graph_v1alpha1("otter");
        otter["spec"]["envs"] = many();
        is_denied(tenant, &otter, "spec.envs").await;
    })
    .await;
}

/// Each mount is three bytes of what the user writes, and some thirty of what the API server sends us.
async fn h2_a_body_that_schema_defaults_blow_up_is_refused_unread(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let mut otter = graph_v1alpha1("otter");
        otter["spec"]["services"]["Worker"]["volumeMounts"] = many();
        let answer = tenant.posts(&otter).await;
        let said = answer.body["message"].as_str().unwrap_or_default();
        assert!(said.contains("the request's body is larger than 7340032 bytes"), "{}: {said:.1000}", answer.status);
    })
    .await;
}

/// etcd takes half of what the API server takes.
async fn h2_an_object_that_the_store_refuses_is_judged_all_the_same(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for mut otter in [graph("otter"), graph_v1alpha1("otter")] {
            let main = match version_of(&otter) {
                "v1beta1" => &mut otter["spec"]["components"][1]["podTemplate"]["spec"]["containers"][0],
                _ => &mut otter["spec"]["services"]["Worker"]["extraPodSpec"]["mainContainer"],
            };
            main["args"] = json!(["x".repeat(1_800_000)]);
            let answer = tenant.posts(&otter).await;
            let said = answer.body["message"].as_str().unwrap_or_default();
            assert!(said.contains("etcdserver: request is too large"), "{}: {said:.1000}", answer.status);
        }
    })
    .await;
}
