//! The controller: each object has a ConfigMap with its text, and a status that says so.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use gateward::{Client, ControllersError, Permission, ShutdownSignal};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Patch, PatchParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Api, Resource, ResourceExt};
use serde_json::{Value, json};

use crate::rules::MOST_REPLICAS;
use crate::v2::__kind__ as V2;

/// Whose the fields are that the controller applies.
const MANAGER: &str = "__name__-controller";

/// The label of the ConfigMaps that the controller makes.
const LABEL: (&str, &str) = ("app.kubernetes.io/managed-by", "__name__");

/// What the controller may do. Each role that is generated has it.
pub fn permissions() -> Vec<Permission> {
    let (group, plural) = (V2::group(&()), V2::plural(&()));
    let (status, finalizers) = (format!("{plural}/status"), format!("{plural}/finalizers"));
    vec![
        Permission::allow(&["get", "list", "watch"], &group, &plural).because("reconciles them"),
        Permission::allow(&["patch"], &group, &status).because("says what it has seen"),
        Permission::allow(&["update"], &group, &finalizers)
            .because("owns what it makes, in clusters that ask who may keep an owner from being deleted"),
        Permission::allow(&["list", "watch", "create", "patch"], "", "configmaps").because("keeps the texts"),
    ]
}

/// Reconciles until `shutdown` completes. Every replica does so: what they apply is the same, in any order. What must
/// be done once needs a lease.
pub async fn run(client: Client, shutdown: ShutdownSignal) -> Result<(), ControllersError> {
    let ours = watcher::Config::default().labels(&format!("{}={}", LABEL.0, LABEL.1));
    Controller::new(Api::<V2>::all(client.clone()), watcher::Config::default())
        .owns(Api::<ConfigMap>::all(client.clone()), ours)
        .graceful_shutdown_on(shutdown)
        .run(reconcile, retry, Arc::new(client))
        .for_each(async |reconciled| {
            if let Err(error) = reconciled {
                tracing::warn!(%error, "not reconciled; trying again");
            }
        })
        .await;
    Ok(())
}

async fn reconcile(object: Arc<V2>, client: Arc<Client>) -> Result<Action, kube::Error> {
    let Some(namespace) = object.namespace() else { return Ok(Action::await_change()) };
    let apply = PatchParams::apply(MANAGER).force();
    let wanted = config_map(&object);
    let maps = Api::<ConfigMap>::namespaced(client.as_ref().clone(), &namespace);
    maps.patch(&config_map_name(&object), &apply, &Patch::Apply(&wanted)).await?;
    let objects = Api::<V2>::namespaced(client.as_ref().clone(), &namespace);
    objects.patch_status(&object.name_any(), &apply, &Patch::Apply(&status(&object))).await?;
    Ok(Action::await_change())
}

fn retry(_: Arc<V2>, _: &kube::Error, _: Arc<Client>) -> Action {
    Action::requeue(Duration::from_secs(5))
}

fn config_map_name(object: &V2) -> String {
    format!("{}-text", object.name_any())
}

/// The ConfigMap that an object is to have: it goes with its owner.
pub fn config_map(object: &V2) -> Value {
    // An object may have come while no webhook was there.
    let replicas = object.spec.replicas.unwrap_or(1).clamp(0, MOST_REPLICAS);
    let lines: Vec<&str> = (0..replicas).map(|_| object.spec.text.as_str()).collect();
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": config_map_name(object),
            "labels": {LABEL.0: LABEL.1},
            "ownerReferences": [object.controller_owner_ref(&())],
        },
        "data": {"text": lines.join("\n")},
    })
}

fn status(object: &V2) -> Value {
    json!({
        "apiVersion": V2::api_version(&()),
        "kind": V2::kind(&()),
        "status": {"observedGeneration": object.metadata.generation},
    })
}
