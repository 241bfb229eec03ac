//! An upgrade, while replicas of the old release go on: the CRDs know fields that the replicas' types don't.

use std::time::Duration;

use cluster_tests::objects::{component, graph, graph_v1alpha1, object, request, request_v1alpha1, service};
use cluster_tests::{Bed, Sandbox, Test, tests, until, version_of};
use serde_json::{Value, json};

pub fn tests() -> Vec<Test> {
    tests![a_field_that_the_crd_knows_and_an_old_replica_does_not_survives]
}

/// The field that the CRDs know and our server does not.
pub const NOVELTY: &str = "novelty";

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

/// The spec, which is at one place in all of them.
const SPEC: Place = Place {
    kind: "DynamoGraphDeployment",
    schemas: ["/properties/spec", "/properties/spec"],
    of_beta: ["/spec", "/spec"],
    of_alpha: ["/spec", "/spec"],
};

const PLACES: [Place; 4] = [
    SPEC,
    Place {
        kind: "DynamoGraphDeployment",
        schemas: [
            "/properties/spec/properties/components/items",
            "/properties/spec/properties/services/additionalProperties",
        ],
        of_beta: ["/spec/components/1", "/spec/services/decode"],
        of_alpha: ["/spec/components/1", "/spec/services/Worker"],
    },
    Place { kind: "DynamoComponentDeployment", ..SPEC },
    Place { kind: "DynamoGraphDeploymentRequest", ..SPEC },
];

impl Place {
    /// An object of each version that says more than the replica knows.
    fn objects(&self) -> [Value; 2] {
        let kind = self.kind;
        let [mut beta, mut alpha] = match kind {
            "DynamoGraphDeployment" => [graph("beta"), graph_v1alpha1("alpha")],
            "DynamoComponentDeployment" => [
                object("v1beta1", kind, "beta", &component("beta", "worker")),
                object("v1alpha1", kind, "alpha", &service("worker")),
            ],
            _ => [request("beta"), request_v1alpha1("alpha")],
        };
        beta.pointer_mut(self.of_beta[0]).unwrap()[NOVELTY] = novelty();
        alpha.pointer_mut(self.of_alpha[1]).unwrap()[NOVELTY] = novelty();
        [beta, alpha]
    }
}

/// Makes the CRDs those of a newer release, for all tests, since a change of a CRD is felt by everybody: both versions
/// have one more field, of more than one node.
pub async fn upgrade(bed: &Bed) -> anyhow::Result<()> {
    let field = json!({"type": "object", "properties": {
        "depth": {"type": "integer"},
        "items": {"type": "array", "items": {"type": "string"}},
    }});
    for place in PLACES {
        let plural = format!("{}s.nvidia.com", place.kind.to_lowercase());
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}");
        let crd = bed.client().get(&path).await?.granted()?;
        let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
        let operations = versions.enumerate().map(|(index, version)| {
            let at = place.schemas[usize::from(version["name"] == "v1alpha1")];
            let to = format!("/spec/versions/{index}/schema/openAPIV3Schema{at}/properties/{NOVELTY}");
            json!({"op": "add", "path": to, "value": field})
        });
        bed.client().patch(&path, &operations.collect()).await?.granted()?;
    }
    for place in PLACES {
        for object in place.objects() {
            let collection = format!("/apis/{}/namespaces/default", object["apiVersion"].as_str().unwrap_or_default());
            let path = format!("{collection}/{}s?dryRun=All&fieldValidation=Strict", place.kind.to_lowercase());
            let known = async || bed.client().post(&path, &object).await.is_ok_and(|answer| answer.status.is_success());
            until("the new field known", Duration::from_mins(1), known).await;
        }
    }
    Ok(())
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
    let spec = &mut whole["spec"];
    if let Some(services) = spec["services"].as_object_mut() {
        for service in services.values_mut() {
            service["replicas"] = number.into();
        }
    } else if let Some(components) = spec["components"].as_array_mut() {
        for component in components {
            component["replicas"] = number.into();
        }
    } else if object["kind"] == "DynamoComponentDeployment" {
        spec["replicas"] = number.into();
    } else {
        spec["model"] = format!("Qwen/Qwen{number}").into();
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
        let [beta, alpha] = place.objects();
        for (object, places) in [(beta, place.of_beta), (alpha, place.of_alpha)] {
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
