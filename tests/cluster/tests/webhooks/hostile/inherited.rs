//! Objects that an older API server stored while no webhook was there, and that no type of ours reads whole.

use std::time::Duration;

use cluster_tests::objects::{adapter_v1alpha1, component, graph, object, request};
use cluster_tests::{Rejection, Response, Sandbox, Test, UNSEEN, refused, store, tests, until};
use serde_json::{Value, json};

use crate::hostile::tenant::{Tenant, VERSIONS, WAYS, Way, beside_a_neighbour, held, is_marked};

pub fn tests() -> Vec<Test> {
    tests![
        h5_an_object_that_no_type_reads_is_repaired_in_its_own_version,
        h5_an_object_that_no_type_reads_is_repaired_in_the_other_version,
        h5_a_view_that_lacks_something_is_not_written_back,
        h5_an_object_that_no_type_reads_is_let_go_and_deleted,
        h5_a_namespace_of_such_objects_is_deleted,
        h5_a_status_that_no_type_reads_stands_in_nobodys_way,
        h5_an_adapter_has_no_more_replicas_than_it_can_say,
    ]
}

/// One more than fits.
const TOO_MANY: u64 = 2_147_483_648;

/// An object with an integer that no type of ours reads. API servers before 1.36 let it in.
struct Broken {
    /// The object without it.
    object: Value,
    /// Where the integer stands.
    fault: &'static str,
    /// Where it stands in v1alpha1, or what else a user of that version sets there.
    in_alpha: &'static str,
    repaired: Value,
}

fn all() -> Vec<Broken> {
    let broken = |object: Value, fault: &'static str, in_alpha: &'static str| Broken {
        object: held(object),
        fault,
        in_alpha,
        repaired: 2.into(),
    };
    let mut spread = graph("spread");
    spread["spec"]["components"][1]["multinode"] = json!({});
    let lynx = object("v1beta1", "DynamoComponentDeployment", "lynx", &component("lynx", "worker"));
    let mut stoat = request("stoat");
    stoat["spec"]["workload"] = json!({});
    vec![
        broken(graph("otter"), "/spec/components/1/replicas", "/spec/services/decode/replicas"),
        broken(spread, "/spec/components/1/multinode/nodeCount", "/spec/services/decode/multinode/nodeCount"),
        broken(lynx, "/spec/replicas", "/spec/replicas"),
        Broken { repaired: 3000.into(), ..broken(stoat, "/spec/workload/isl", "/spec/model") },
    ]
}

impl Broken {
    /// The same object under a name of its own, with a number that all can read.
    fn whole(&self, name: &str) -> Value {
        let mut object = self.object.clone();
        let named = format!("{}-{name}", object["metadata"]["name"].as_str().unwrap());
        if object["spec"]["name"].is_string() {
            object["spec"]["name"] = named.clone().into();
        }
        object["metadata"]["name"] = named.into();
        set(&mut object, self.fault, self.repaired.clone());
        object
    }

    /// Has it stored under a name of its own.
    async fn is_stored(&self, within: &Sandbox, name: &str) -> Value {
        let object = within.acting_as(UNSEEN).accepts(&self.whole(name)).await;
        rewrite(within, &object, self.fault).await;
        object
    }
}

fn set(object: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[name] = value;
}

/// Writes the integer where the store has the object.
async fn rewrite(within: &Sandbox, object: &Value, pointer: &str) {
    let collection = within.collection(object, "v1beta1");
    let (plural, name) = (collection.rsplit('/').next().unwrap(), object["metadata"]["name"].as_str().unwrap());
    store(within, plural, name, |stored| set(stored, pointer, TOO_MANY.into())).await;
}

/// Denied because the view lacks something: the answer names the label and the version to write.
fn is_refused_as_a_view(answer: Response) -> Rejection {
    let refusal = refused(answer);
    assert_eq!(refusal.fields(), ["metadata.labels[gateward.dev/incomplete]"], "{}", refusal.message);
    assert!(refusal.message.contains("write it in v1beta1"), "{}", refusal.message);
    refusal
}

async fn inherited(tenant: &Tenant, broken: &Broken, name: &str) -> Value {
    let object = broken.is_stored(&tenant.admin, name).await;
    let [beta, alpha] = tenant.reads(&object).await;
    assert_eq!(beta.pointer(broken.fault), Some(&TOO_MANY.into()));
    assert!(!is_marked(&beta) && is_marked(&alpha), "{alpha}");
    object
}

async fn h5_an_object_that_no_type_reads_is_repaired_in_its_own_version(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for broken in all() {
            for (way, name) in WAYS.into_iter().zip(["put", "json", "merge", "apply"]) {
                let object = inherited(tenant, &broken, name).await;
                let answer = tenant.sets(&object, "v1beta1", way, broken.fault, &broken.repaired).await;
                answer.granted().unwrap_or_else(|why| panic!("{way:?} of {object}: {why}"));
                let [beta, alpha] = tenant.reads(&object).await;
                assert_eq!(beta.pointer(broken.fault), Some(&broken.repaired));
                assert!(!is_marked(&alpha), "{alpha}");
                tenant.removes(&object, "v1alpha1").await;
            }
        }
    })
    .await;
}

async fn h5_an_object_that_no_type_reads_is_repaired_in_the_other_version(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for broken in all() {
            let value = if broken.in_alpha == "/spec/model" { json!("Qwen/Qwen3-8B") } else { broken.repaired.clone() };
            for (way, name) in [Way::Put, Way::JsonPatch, Way::MergePatch].into_iter().zip(["put", "json", "merge"]) {
                let object = inherited(tenant, &broken, name).await;
                // A writer that removes the label stores what it has read and set.
                let answer = tenant.sets(&object, "v1alpha1", way, broken.in_alpha, &value).await;
                answer.granted().unwrap_or_else(|why| panic!("{way:?} of {object}: {why}"));
                let [beta, alpha] = tenant.reads(&object).await;
                assert_ne!(beta.pointer(broken.fault), Some(&TOO_MANY.into()));
                assert_eq!(alpha.pointer(broken.in_alpha), Some(&value));
                assert!(!is_marked(&beta) && !is_marked(&alpha), "{alpha}");
                tenant.removes(&object, "v1beta1").await;
            }
            // Who applies takes nothing off that they don't own, the label least of all.
            let object = inherited(tenant, &broken, "apply").await;
            is_refused_as_a_view(tenant.sets(&object, "v1alpha1", Way::Apply, broken.in_alpha, &value).await);
            tenant.removes(&object, "v1alpha1").await;
        }
    })
    .await;
}

async fn h5_a_view_that_lacks_something_is_not_written_back(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for broken in all() {
            let object = inherited(tenant, &broken, "view").await;
            let [before, view] = tenant.reads(&object).await;
            is_refused_as_a_view(tenant.own.replace(&view).await);
            let labelled = json!({"metadata": {"labels": {"a": "b"}}});
            let place = tenant.own.place(&object, "v1alpha1");
            is_refused_as_a_view(tenant.own.client().merge(&place, &labelled).await.unwrap());
            let [after, _] = tenant.reads(&object).await;
            assert_eq!(after, before);
        }
    })
    .await;
}

async fn h5_an_object_that_no_type_reads_is_let_go_and_deleted(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        for broken in all() {
            for version in VERSIONS {
                let object = inherited(tenant, &broken, "leaving").await;
                tenant.removes(&object, version).await;
            }
            let object = inherited(tenant, &broken, "free").await;
            is_refused_as_a_view(tenant.lets_go(&object, "v1alpha1").await);
            tenant.lets_go(&object, "v1beta1").await.granted().unwrap();
            tenant.own.client().delete(&tenant.own.place(&object, "v1alpha1")).await.unwrap().granted().unwrap();
        }
    })
    .await;
}

async fn h5_a_namespace_of_such_objects_is_deleted(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |_| {
        let leaving = sandbox.beside("leaving").await.unwrap();
        let mut left = Vec::new();
        for broken in all() {
            for name in ["one", "two"] {
                left.push(broken.is_stored(&leaving, name).await);
            }
        }
        let client = leaving.client();
        let namespace = format!("/api/v1/namespaces/{}", leaving.namespace());
        client.delete(&namespace).await.unwrap().granted().unwrap();
        // Whose finalizers these are is shown by the namespace controller's deletions, and answers in its own version.
        for (object, version) in left.iter().zip(VERSIONS.into_iter().cycle()) {
            let place = leaving.place(object, version);
            let goes = async || {
                let read = client.get(&place).await.unwrap().granted().unwrap();
                read["metadata"]["deletionTimestamp"].is_string()
            };
            until("the deletion", Duration::from_mins(1), goes).await;
            let awake = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
            client.patch(&place, &awake).await.unwrap().granted().unwrap();
        }
        let gone = async || client.get(&namespace).await.unwrap().status == 404;
        until("the namespace gone", Duration::from_mins(2), gone).await;
    })
    .await;
}

/// A graph with a status that was written past the webhooks, as every status is.
async fn with_status(tenant: &Tenant) -> Value {
    let otter = tenant.own.accepts(&held(graph("otter"))).await;
    let status =
        json!({"components": {"decode": {"componentKind": "Deployment", "replicas": 1, "updatedReplicas": 1}}});
    let place = format!("{}/status", tenant.own.place(&otter, "v1beta1"));
    tenant.own.client().merge(&place, &json!({"status": status})).await.unwrap().granted().unwrap();
    rewrite(&tenant.own, &otter, "/status/components/decode/replicas").await;
    let [beta, alpha] = tenant.reads(&otter).await;
    assert!(!is_marked(&beta) && is_marked(&alpha), "{alpha}");
    assert_eq!(alpha["status"]["services"]["decode"]["updatedReplicas"], 1);
    otter
}

async fn h5_a_status_that_no_type_reads_stands_in_nobodys_way(sandbox: Sandbox) {
    const STATUS: [(&str, &str); 2] =
        [("v1beta1", "/status/components/decode/replicas"), ("v1alpha1", "/status/services/decode/replicas")];
    beside_a_neighbour(&sandbox, async |tenant| {
        for (version, pointer) in STATUS {
            let otter = with_status(tenant).await;
            for (way, replicas) in WAYS.into_iter().zip(2..) {
                let answer = tenant.sets(&otter, "v1beta1", way, "/spec/components/1/replicas", &json!(replicas)).await;
                let stored = answer.granted().unwrap_or_else(|why| panic!("{way:?}: {why}"));
                assert_eq!(stored.pointer(STATUS[0].1), Some(&TOO_MANY.into()));
            }
            let repair = json!([{"op": "add", "path": pointer, "value": 2}]);
            let place = format!("{}/status", tenant.own.place(&otter, version));
            tenant.own.client().patch(&place, &repair).await.unwrap().granted().unwrap();
            let views = tenant.reads(&otter).await;
            for (view, (_, pointer)) in views.iter().zip(STATUS) {
                assert_eq!(view.pointer(pointer), Some(&json!(2)));
                assert!(!is_marked(view), "{view}");
            }
            tenant.removes(&otter, version).await;
        }
        let otter = with_status(tenant).await;
        tenant.removes(&otter, "v1alpha1").await;
    })
    .await;
}

/// Adapters have no webhook of ours: the API server itself knows what `/scale` can say.
async fn h5_an_adapter_has_no_more_replicas_than_it_can_say(sandbox: Sandbox) {
    beside_a_neighbour(&sandbox, async |tenant| {
        let reference = json!({"name": "otter", "componentName": "Worker"});
        let beta = json!({"replicas": TOO_MANY, "dgdRef": reference});
        let mut alpha = adapter_v1alpha1("heron");
        alpha["spec"]["replicas"] = TOO_MANY.into();
        for heron in [object("v1beta1", "DynamoGraphDeploymentScalingAdapter", "heron", &beta), alpha] {
            let refusal = refused(tenant.own.create(&heron).await);
            assert!(refusal.message.contains("should be less than or equal to 2147483647"), "{}", refusal.message);
        }
    })
    .await;
}
