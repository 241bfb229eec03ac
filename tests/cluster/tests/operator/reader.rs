//! What rules look up.

use cluster_tests::{Sandbox, Test, tests};
use gateward_cluster::ApiReader;
use gateward_core::{ClusterReader, GroupServed, Lookup, ObjectName};
use serde_json::{Value, json};

use crate::account::Account;

pub fn tests() -> Vec<Test> {
    tests![an_api_counts_from_the_moment_it_is_installed, an_object_is_found_absent_or_unreadable]
}

fn crd(group: &str, plural: &str, kind: &str) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        // A CRD of this group must have the annotation of its approval.
        "metadata": {"name": format!("{plural}.{group}"), "annotations": {"api-approved.kubernetes.io": "unapproved"}},
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "scope": "Cluster",
            "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

async fn an_api_counts_from_the_moment_it_is_installed(sandbox: Sandbox) {
    let replica = Account::of_a_replica(&sandbox, "replica").await;
    let reader = ApiReader::new(replica.connection().await.client());
    let group = "inference.networking.k8s.io";
    assert_eq!(reader.group(group).await, GroupServed::Absent);
    assert_eq!(reader.resource(group, "v1alpha1", "inferencepools").await, GroupServed::Absent);

    sandbox.bed().install_crds(&[crd(group, "inferencepools", "InferencePool")]).await.unwrap();
    assert_eq!(reader.group(group).await, GroupServed::Served);
    assert_eq!(reader.resource(group, "v1alpha1", "inferencepools").await, GroupServed::Served);
    assert_eq!(reader.resource(group, "v1alpha1", "inferencemodels").await, GroupServed::Absent);
    assert_eq!(reader.resource(group, "v1", "inferencepools").await, GroupServed::Absent);
}

fn topology(name: &str) -> ObjectName {
    let (group, version, plural) = ("grove.io".into(), "v1alpha1".into(), "clustertopologybindings".into());
    ObjectName { group, version, plural, namespace: None, name: name.into() }
}

async fn an_object_is_found_absent_or_unreadable(sandbox: Sandbox) {
    let replica = Account::of_a_replica(&sandbox, "replica").await;
    let reader = ApiReader::new(replica.connection().await.client());
    assert_eq!(reader.get(&topology("rack")).await, Lookup::Absent);

    let bed = sandbox.bed();
    let bindings = crd("grove.io", "clustertopologybindings", "ClusterTopologyBinding");
    bed.install_crds(&[bindings]).await.unwrap();
    let rack = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "rack"},
        "spec": {"levels": [{"domain": "zone"}]},
    });
    bed.client().post("/apis/grove.io/v1alpha1/clustertopologybindings", &rack).await.unwrap().granted().unwrap();
    let Lookup::Found(found) = reader.get(&topology("rack")).await else { panic!("it is there") };
    assert_eq!(found["spec"], rack["spec"]);
    assert_eq!(reader.get(&topology("shelf")).await, Lookup::Absent);

    let stranger = Account::without_rights(&sandbox, "stranger").await;
    let reader = ApiReader::new(stranger.connection().await.client());
    let Lookup::Unreadable(why) = reader.get(&topology("rack")).await else { panic!("it may not be read") };
    assert!(why.contains("forbidden") && why.contains("ClusterRole"), "{why}");
}
