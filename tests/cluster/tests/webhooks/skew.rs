//! An upgrade, while replicas of the old release go on: the CRDs know fields that the replicas' types don't.

use std::time::Duration;

use cluster_tests::objects::{component, graph, graph_v1alpha1, object, request, request_v1alpha1, service};
use cluster_tests::{Sandbox, Test, tests, until, version_of};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![a_field_that_the_crd_knows_and_an_old_replica_does_not_survives]
}

const NOVELTY: &str = "novelty";

/// A place that both versions of a kind have.
struct Place {
    kind: &'static str,
    /// In a v1beta1 schema, and in the v1alpha1 one.
    schemas: [&'static str; 2],
    /// In objects that were written in v1beta1, in both versions.
    of_beta: [&'static str; 2],
    /// In objects that were written in v1alpha1, in both versions.
    of_alpha: [&'static str; 2],
}

const PLACES: [Place; 4] = [
    Place {
        kind: "DynamoGraphDeployment",
        schemas: ["/spec", "/spec"],
        of_beta: ["/spec", "/spec"],
        of_alpha: ["/spec", "/spec"],
    },
    Place {
        kind: "DynamoGraphDeployment",
        schemas: ["/spec/components/items", "/spec/services/additionalProperties"],
        of_beta: ["/spec/components/1", "/spec/services/decode"],
        of_alpha: ["/spec/components/1", "/spec/services/Worker"],
    },
    Place {
        kind: "DynamoComponentDeployment",
        schemas: ["/spec", "/spec"],
        of_beta: ["/spec", "/spec"],
        of_alpha: ["/spec", "/spec"],
    },
    Place {
        kind: "DynamoGraphDeploymentRequest",
        schemas: ["/spec", "/spec"],
        of_beta: ["/spec", "/spec"],
        of_alpha: ["/spec", "/spec"],
    },
];

fn objects(kind: &str) -> [Value; 2] {
    match kind {
        "DynamoGraphDeployment" => [graph("beta"), graph_v1alpha1("alpha")],
        "DynamoComponentDeployment" => [
            object("v1beta1", kind, "beta", &component("beta", "worker")),
            object("v1alpha1", kind, "alpha", &service("worker")),
        ],
        _ => [request("beta"), request_v1alpha1("alpha")],
    }
}

/// The CRD of a newer release: both versions have one more field, of more than one node.
async fn upgrade(sandbox: &Sandbox, place: &Place) {
    let path =
        format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{}s.nvidia.com", place.kind.to_lowercase());
    let client = sandbox.bed().client();
    let crd = client.get(&path).await.unwrap().granted().unwrap();
    let field = json!({"type": "object", "properties": {
        "depth": {"type": "integer"},
        "items": {"type": "array", "items": {"type": "string"}},
    }});
    let mut operations = Vec::new();
    for (index, version) in crd["spec"]["versions"].as_array().unwrap().iter().enumerate() {
        let at = place.schemas[usize::from(version["name"] == "v1alpha1")];
        let steps: Vec<&str> = at.split('/').skip(1).collect();
        let schema = steps.iter().map(|step| match *step {
            "items" | "additionalProperties" => format!("/{step}"),
            name => format!("/properties/{name}"),
        });
        let schema: String = schema.collect();
        let to = format!("/spec/versions/{index}/schema/openAPIV3Schema{schema}/properties/{NOVELTY}");
        assert!(crd.pointer(to.rsplit_once('/').unwrap().0).is_some(), "{to}");
        operations.push(json!({"op": "add", "path": to, "value": field}));
    }
    client.patch(&path, &operations.into()).await.unwrap().granted().unwrap();
}

fn novelty() -> Value {
    json!({"depth": 7, "items": ["a", "b"]})
}

/// What nobody but a newer release knows is at the same place in both versions.
async fn is_there(sandbox: &Sandbox, object: &Value, places: [&str; 2], when: &str) {
    for (version, place) in ["v1beta1", "v1alpha1"].into_iter().zip(places) {
        let read = sandbox.read(object, version).await;
        assert_eq!(
            read.pointer(place).map(|parent| &parent[NOVELTY]),
            Some(&novelty()),
            "{when}, in {version}: {read}"
        );
    }
}

/// Changes something else in a version: by a client that writes back all that it has read, by one that sends a part of
/// it, and by one that owns another part.
async fn edit(sandbox: &Sandbox, object: &Value, version: &str, number: u32) {
    let place = sandbox.place(object, version);
    let mut whole = sandbox.read(object, version).await;
    whole["metadata"]["labels"] = json!({"edited": number.to_string()});
    if let Some(parts) = whole["spec"]["services"].as_object_mut() {
        parts.values_mut().for_each(|service| service["replicas"] = number.into());
    } else if let Some(parts) = whole["spec"]["components"].as_array_mut() {
        parts.iter_mut().for_each(|component| component["replicas"] = number.into());
    } else if whole["kind"] == "DynamoComponentDeployment" {
        whole["spec"]["replicas"] = number.into();
    } else {
        whole["spec"]["model"] = format!("Qwen/Qwen{number}").into();
    }
    let client = sandbox.bed().client();
    client.put(&place, &whole).await.unwrap().granted().unwrap();
    let labels = json!({"metadata": {"labels": {"merged": number.to_string()}}});
    client.merge(&place, &labels).await.unwrap().granted().unwrap();
    let part = json!({"apiVersion": whole["apiVersion"], "kind": whole["kind"],
        "metadata": {"name": object["metadata"]["name"], "labels": {"applied": number.to_string()}}});
    client.apply(&format!("{place}?fieldManager=another&force=true"), &part).await.unwrap().granted().unwrap();
}

async fn a_field_that_the_crd_knows_and_an_old_replica_does_not_survives(sandbox: Sandbox) {
    for place in PLACES {
        upgrade(&sandbox, &place).await;
        let [beta, alpha] = objects(place.kind);
        for (mut object, places, own) in [(beta, place.of_beta, 0), (alpha, place.of_alpha, 1)] {
            object.pointer_mut(places[own]).unwrap()[NOVELTY] = novelty();
            let known = async || sandbox.strictly().create(&object).await.status.is_success();
            until("the new field known", Duration::from_secs(30), known).await;
            sandbox.accepts(&object).await;
            is_there(&sandbox, &object, places, "as written").await;
            for (version, number) in [("v1beta1", 2), ("v1alpha1", 3), (version_of(&object), 4)] {
                edit(&sandbox, &object, version, number).await;
                is_there(&sandbox, &object, places, &format!("edited in {version}")).await;
            }
            sandbox.delete(&object).await;
        }
    }
}
