//! What the API server can't read of an answer of ours would fail the whole list: an object within an object with metadata
//! that isn't any, and what nests too deeply.

use cluster_tests::objects::request;
use cluster_tests::{Sandbox, Test, UNSEEN, refused, tests};
use serde_json::{Value, json};

use crate::hostile::tenant::{INCOMPLETE, Tenant, VERSIONS, beside_a_neighbour, held, is_marked};

/// The deep ones alone: no list of theirs can be read as a tree.
pub fn tests() -> Vec<Test> {
    let deep = tests![
        h7_an_object_as_deep_as_an_api_server_takes_it_fails_no_list,
        h7_managed_fields_that_are_too_deep_fail_no_list,
    ];
    let others = tests![
        h1_a_selected_config_that_v1alpha1_cannot_hold_fails_no_list,
        h1_a_selected_config_that_is_merely_odd_is_seen_in_both_versions,
    ];
    deep.into_iter().map(Test::alone).chain(others).collect()
}

/// A graph with this metadata.
fn with(metadata: &Value) -> Value {
    json!({"apiVersion": "nvidia.com/v1beta1", "kind": "DynamoGraphDeployment", "metadata": metadata})
}

/// Stores a request with this `selectedConfig`, which v1beta1 takes whatever it is.
async fn selecting(tenant: &Tenant, selected: &Value) -> Value {
    let otter = tenant.own.accepts(&held(request("otter"))).await;
    let place = format!("{}/status", tenant.own.place(&otter, "v1beta1"));
    let status = json!({"status": {"phase": "Ready", "profilingResults": {"selectedConfig": selected}}});
    let stored = tenant.own.client().merge(&place, &status).await.unwrap().granted().unwrap();
    assert!(stored["status"]["profilingResults"]["selectedConfig"].is_object(), "{selected}");
    otter
}

async fn h1_a_selected_config_that_v1alpha1_cannot_hold_fails_no_list(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let owner = json!([{"controller": "yes"}]);
        let odd = [
            json!({"apiVersion": 5, "kind": "X"}),
            json!({"apiVersion": "a/b", "kind": {}}),
            with(&json!("abc")),
            with(&json!([])),
            with(&json!({"name": 5})),
            with(&json!({"labels": 5})),
            with(&json!({"labels": {"a": 5}})),
            with(&json!({"annotations": {"a": ["b"]}})),
            with(&json!({"finalizers": {}})),
            with(&json!({"ownerReferences": owner})),
            with(&json!({"generation": 1.5})),
            with(&json!({"generation": 9_223_372_036_854_776_000_u64})),
            with(&json!({"generation": 1e30})),
            with(&json!({"creationTimestamp": "yesterday"})),
            with(&json!({"creationTimestamp": ""})),
            with(&json!({"creationTimestamp": "2026-11-27t10:00:00z"})),
            with(&json!({"creationTimestamp": "2026-11-27T10:00:00"})),
            with(&json!({"deletionTimestamp": "2026-02-29T10:00:00Z"})),
            with(&json!({"creationTimestamp": "9999-12-31T23:59:59-23:59"})),
            with(&json!({"creationTimestamp": "0000-01-01T00:00:00+23:59"})),
            with(&json!({"managedFields": [{"time": 5}]})),
        ];
        for (selected, version) in odd.iter().zip(["v1alpha1", "v1beta1"].into_iter().cycle()) {
            let otter = selecting(tenant, selected).await;
            let [beta, alpha] = tenant.reads(&otter).await;
            assert_eq!(beta["status"]["profilingResults"]["selectedConfig"], *selected);
            assert!(is_marked(&alpha) && !is_marked(&beta), "{selected}");
            assert_eq!(alpha["status"], json!({"state": "Ready"}), "{selected}");
            let refusal = refused(tenant.own.replace(&alpha).await);
            assert!(refusal.message.contains("write it in v1beta1"), "{}", refusal.message);
            tenant.removes(&otter, version).await;
        }
    })
    .await;
}

async fn h1_a_selected_config_that_is_merely_odd_is_seen_in_both_versions(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for selected in [
            json!({"novel": 1}),
            json!({"apiVersion": "", "kind": "X y"}),
            with(&json!({"name": "Otter_", "creationTimestamp": "2026-11-27T10:00:00.5+01:00"})),
            with(&json!({"labels": {"a": "b"}, "generation": 7, "finalizers": ["zoo.org/asleep"]})),
        ] {
            let otter = selecting(tenant, &selected).await;
            let [beta, alpha] = tenant.reads(&otter).await;
            assert_eq!(beta["status"]["profilingResults"]["selectedConfig"], selected);
            assert!(!is_marked(&alpha), "{selected}");
            for (name, value) in selected.as_object().unwrap() {
                let seen = &alpha["status"]["generatedDeployment"][name];
                // The API server writes metadata in its own way.
                assert!(if name == "metadata" { seen.is_object() } else { seen == value }, "{name} of {alpha}");
            }
            tenant.removes(&otter, "v1beta1").await;
        }
    })
    .await;
}

/// How deeply JSON may nest for Go.
const DEEPEST: usize = 10_000;

/// A request whose status nests so deeply, in lists or in maps.
fn nesting(depth: usize, level: &str, end: &str) -> String {
    let around =
        r#"{"status":{"phase":"Ready","profilingResults":{"selectedConfig":{"apiVersion":"a/b","kind":"X","novel":"#;
    let maps = around.matches('{').count();
    let levels = depth - maps - 1;
    format!("{around}{}{{}}{}{}", level.repeat(levels), end.repeat(levels), "}".repeat(maps))
}

/// A request that nests so deeply, in maps.
fn overriding(depth: usize) -> String {
    let around = r#"{"spec":{"overrides":{"dgd":{"apiVersion":"a/b","kind":"X","novel":"#;
    let maps = depth - around.matches('{').count() - 1;
    format!("{around}{}{{}}{}", r#"{"a":"#.repeat(maps), "}".repeat(depth - 1))
}

async fn h7_an_object_as_deep_as_an_api_server_takes_it_fails_no_list(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let levels = [("[", "]"), (r#"{"a":"#, "}")];
        let depths = [DEEPEST - 3, DEEPEST - 2, DEEPEST - 1, DEEPEST];
        for (depth, (level, end)) in depths.into_iter().flat_map(|depth| levels.map(|level| (depth, level))) {
            let otter = tenant.own.accepts(&held(request("otter"))).await;
            let client = tenant.own.client();
            let place = format!("{}/status", tenant.own.place(&otter, "v1beta1"));
            client.merge_text(&place, nesting(depth, level, end)).await.unwrap().granted().unwrap();
            for version in VERSIONS {
                let list = client.get(&tenant.own.collection(&otter, version)).await.unwrap();
                // It is too deep for a tree.
                let text = list.body.as_str().unwrap();
                assert!(list.status == 200 && text.contains("novel"), "{depth} in {version}: {text:.300}");
                // It stands a level higher there.
                let is_marked = version == "v1alpha1" && depth - 1 > DEEPEST - 3;
                assert_eq!(text.contains(INCOMPLETE), is_marked, "{depth} in {version}");
            }
            client.delete(&tenant.own.place(&otter, "v1alpha1")).await.unwrap().granted().unwrap();
            tenant.lets_go(&otter, "v1alpha1").await.granted().unwrap();
            assert_eq!(client.get(&tenant.own.place(&otter, "v1beta1")).await.unwrap().status, 404);
        }
    })
    .await;
}

/// Managed fields nest more deeply than the object: those of one that just fits don't.
async fn h7_managed_fields_that_are_too_deep_fail_no_list(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for depth in [DEEPEST - 7, DEEPEST - 6, DEEPEST - 4] {
            let otter = tenant.own.accepts(&held(request("otter"))).await;
            let (client, place) = (tenant.own.client(), tenant.own.place(&otter, "v1beta1"));
            let refusal = refused(client.merge_text(&place, overriding(depth)).await.unwrap());
            assert!(refusal.message.contains("spec.overrides.dgd.novel.a.a.a.a"), "{}", refusal.message);
            // It was stored while nobody judged.
            let unseen = tenant.admin.acting_as(UNSEEN);
            unseen.client().merge_text(&place, overriding(depth)).await.unwrap().granted().unwrap();
            for version in VERSIONS {
                let list = client.get(&tenant.own.collection(&otter, version)).await.unwrap();
                assert_eq!(list.status, 200, "{depth} in {version}: {:.300}", list.body);
                assert!(!list.body.to_string().contains(INCOMPLETE), "{depth} in {version}");
            }
            client.delete(&tenant.own.place(&otter, "v1alpha1")).await.unwrap().granted().unwrap();
            tenant.lets_go(&otter, "v1beta1").await.granted().unwrap();
        }
    })
    .await;
}
