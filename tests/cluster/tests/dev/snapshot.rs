//! The objects of a cluster that a session of a world may change.

use std::collections::BTreeMap;

use cluster_tests::Bed;
use serde_json::Value;

use crate::world::World;

const COLLECTIONS: [&str; 4] = [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases",
];

/// Objects by collection and name, without what the API server counts.
pub type Snapshot = BTreeMap<(&'static str, String), Value>;

/// All objects that are named after a world.
pub async fn snapshot(bed: &Bed, world: World) -> Snapshot {
    let mut objects = Snapshot::new();
    for collection in COLLECTIONS {
        let list = bed.client().get(collection).await.unwrap().granted().unwrap();
        for object in list["items"].as_array().unwrap() {
            let name = object["metadata"]["name"].as_str().unwrap();
            if name.contains(world.name()) {
                objects.insert((collection, name.to_owned()), without_counts(object.clone()));
            }
        }
    }
    objects
}

fn without_counts(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.retain(|name, _| !["resourceVersion", "generation", "managedFields"].contains(&name.as_str()));
    }
    object
}

/// A CRD of the world.
pub async fn crd(bed: &Bed, world: World, plural: &str) -> Value {
    let path = format!("{}/{plural}.{}", COLLECTIONS[0], world.group());
    bed.client().get(&path).await.unwrap().granted().unwrap()
}

/// Changes a CRD of the world as somebody else would.
pub async fn change_crd(bed: &Bed, world: World, plural: &str, patch: &Value) {
    let path = format!("{}/{plural}.{}", COLLECTIONS[0], world.group());
    bed.client().merge(&path, patch).await.unwrap().granted().unwrap();
}

/// The names of all objects there are.
pub fn names(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.keys().map(|(_, name)| name.as_str()).collect()
}
