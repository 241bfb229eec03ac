//! Views that lack something because their annotations would be too long, and the label that says so.

use cluster_tests::objects::{graph, graph_v1alpha1};
use cluster_tests::{Sandbox, Test, refused, tests};
use serde_json::{Value, json};

use crate::hostile::tenant::{INCOMPLETE, Tenant, VERSIONS, WAYS, Way, beside_a_neighbour, held, is_marked};

pub fn tests() -> Vec<Test> {
    tests![
        h7_what_would_have_a_view_that_lacks_something_is_not_stored,
        h7_a_view_that_lacks_something_stands_in_nobodys_way,
        h7_a_view_that_lacks_something_is_stored_by_who_takes_the_label_off,
        h7_nobody_writes_the_label,
    ]
}

const FILLER: &str = "zoo.org/filler";

/// Nearly all that annotations may have together: there is room for what defaulting adds and for what conversion keeps
/// of an ordinary graph.
fn filler() -> Value {
    json!({FILLER: "x".repeat((256 << 10) - FILLER.len() - 400)})
}

/// A graph whose v1alpha1 view has to keep something and has no room for it.
fn full() -> Value {
    let mut otter = held(graph("otter"));
    otter["metadata"]["annotations"] = filler();
    let finalizers: Vec<String> = (0..40).map(|number| format!("zoo.org/keeper-of-pods-{number}")).collect();
    otter["spec"]["components"][1]["podTemplate"]["metadata"] = json!({"finalizers": finalizers});
    otter
}

async fn inherited(tenant: &Tenant) -> Value {
    let otter = tenant.inherits(&full()).await;
    let [beta, alpha] = tenant.reads(&otter).await;
    assert!(!is_marked(&beta) && is_marked(&alpha), "{:?}", alpha["metadata"]["labels"]);
    otter
}

async fn h7_what_would_have_a_view_that_lacks_something_is_not_stored(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let mut alpha = graph_v1alpha1("otter");
        alpha["metadata"]["annotations"] = filler();
        let claims: Vec<Value> = (0..40).map(|number| json!({"name": format!("weights-{number}")})).collect();
        alpha["spec"]["pvcs"] = claims.into();
        for (otter, other) in [(full(), "v1alpha1"), (alpha, "v1beta1")] {
            let refusal = refused(tenant.own.create(&otter).await);
            assert!(refusal.message.contains(&format!("can't be said whole in {other}")), "{}", refusal.message);
            assert_eq!(refusal.fields().len(), 1, "{}", refusal.message);
        }
        // The same object with room in it is no matter.
        let mut otter = full();
        otter["metadata"]["annotations"][FILLER] = "x".repeat(200 << 10).into();
        tenant.own.accepts(&otter).await;
        assert!(tenant.reads(&otter).await.iter().all(|view| !is_marked(view)));
        // Nor is it filled up later.
        let mut filled = tenant.own.read(&otter, "v1beta1").await;
        filled["metadata"]["annotations"][FILLER] = filler()[FILLER].clone();
        let refusal = refused(tenant.own.replace(&filled).await);
        assert!(refusal.message.contains("can't be said whole in v1alpha1"), "{}", refusal.message);
        tenant.removes(&otter, "v1alpha1").await;
    })
    .await;
}

async fn h7_a_view_that_lacks_something_stands_in_nobodys_way(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let otter = inherited(tenant).await;
        for (way, replicas) in WAYS.into_iter().zip(2..) {
            let pointer = "/spec/components/1/replicas";
            tenant.sets(&otter, "v1beta1", way, pointer, &replicas.into()).await.granted().unwrap();
            let [beta, alpha] = tenant.reads(&otter).await;
            assert_eq!(beta.pointer(pointer), Some(&replicas.into()));
            assert_eq!(alpha["spec"]["services"]["decode"]["replicas"], replicas);
        }
        let [before, view] = tenant.reads(&otter).await;
        let refusal = refused(tenant.own.replace(&view).await);
        assert!(refusal.message.contains("write it in v1beta1"), "{}", refusal.message);
        assert_eq!(tenant.reads(&otter).await[0], before);
        tenant.removes(&otter, "v1beta1").await;
        let otter = inherited(tenant).await;
        tenant.removes(&otter, "v1alpha1").await;
    })
    .await;
}

async fn h7_a_view_that_lacks_something_is_stored_by_who_takes_the_label_off(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for way in [Way::Put, Way::JsonPatch, Way::MergePatch] {
            let otter = inherited(tenant).await;
            let pointer = "/spec/services/decode/replicas";
            tenant.sets(&otter, "v1alpha1", way, pointer, &5.into()).await.granted().unwrap();
            let [beta, alpha] = tenant.reads(&otter).await;
            assert!(!is_marked(&beta) && !is_marked(&alpha));
            // The order of components is nothing that v1alpha1 says either.
            let mut components = beta["spec"]["components"].as_array().unwrap().iter();
            let decode = components.find(|component| component["name"] == "decode").unwrap();
            assert_eq!(decode["replicas"], 5);
            assert_eq!(decode.pointer("/podTemplate/metadata"), None);
            tenant.removes(&otter, "v1beta1").await;
        }
    })
    .await;
}

async fn h7_nobody_writes_the_label(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let field = format!("metadata.labels[{INCOMPLETE}]");
        for (version, otter) in VERSIONS.into_iter().zip([graph("otter"), graph_v1alpha1("otter")]) {
            let mut labelled = otter.clone();
            labelled["metadata"]["labels"] = json!({INCOMPLETE: "true"});
            tenant.own.rejects(&labelled, &[&field]).await;
            let mut stored = tenant.own.accepts(&otter).await;
            stored["metadata"]["labels"] = labelled["metadata"]["labels"].clone();
            assert_eq!(refused(tenant.own.replace(&stored).await).fields(), [&field]);
            let label = json!({"metadata": {"labels": {INCOMPLETE: ""}}});
            let place = tenant.own.place(&otter, version);
            assert_eq!(refused(tenant.own.client().merge(&place, &label).await.unwrap()).fields(), [&field]);
            let mut part = label.clone();
            part["apiVersion"] = otter["apiVersion"].clone();
            part["kind"] = otter["kind"].clone();
            let applied = format!("{place}?fieldManager=tenant&force=true");
            assert_eq!(refused(tenant.own.client().apply(&applied, &part).await.unwrap()).fields(), [&field]);
            assert!(tenant.reads(&otter).await.iter().all(|view| !is_marked(view)));
            tenant.own.delete(&otter).await;
        }
    })
    .await;
}
