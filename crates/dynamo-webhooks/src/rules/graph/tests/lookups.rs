use std::sync::Arc;

use dynamo_api::constants::WORKLOAD_PROVIDER;
use gateward::testing::TestRequest;
use gateward::{BoxFuture, ClusterReader, GroupServed, Lookup, ObjectName};
use serde_json::{Value, json};

use super::{annotated, assert_silent, create_in, denied_by, graph, worker};
use crate::operator::facts::{Cluster, ClusterFacts};

fn fabric() -> Value {
    json!({"clusterTopologies": [{"name": "fabric", "levels": ["zone", "block", "rack"]}]})
}

/// A graph packed into `own` (where given) whose components are packed into these domains (where given).
fn packed(own: Option<&str>, components: &[Option<&str>]) -> Value {
    let constraint =
        |domain: Option<&str>| domain.map_or(json!({}), |domain| json!({"topologyConstraint": {"packDomain": domain}}));
    let components: Vec<Value> = components
        .iter()
        .enumerate()
        .map(|(index, domain)| worker(&format!("w{index}"), &constraint(*domain)))
        .collect();
    let own = own.map(|domain| json!({"clusterTopologyName": "fabric", "packDomain": domain}));
    graph(components.into(), json!({"topologyConstraint": own}))
}

fn in_fabric(graph: &Value) -> Vec<String> {
    denied_by(&create_in(&fabric(), graph))
}

const OWN: &str = "spec.topologyConstraint";

fn transfer(name: &str, domain: &str) -> Value {
    let policy = json!({"kvTransferPolicy": {"clusterTopologyName": name, "domain": domain}});
    graph(json!([worker("w", &json!({}))]), json!({"experimental": policy}))
}

/// An override of the root object with a topology constraint.
fn overridden(mut graph: Value) -> Value {
    graph["spec"]["providerOverride"] = json!({
        "apiVersion": "grove.io/v1alpha1",
        "target": "PodCliqueSet",
        "value": {"spec": {"template": {"topologyConstraint": {"pack": {"required": "rack"}}}}},
    });
    graph
}

#[test]
fn a_constraint_stands_in_the_graph_or_in_an_override() {
    let on_grove = |graph| annotated(graph, WORKLOAD_PROVIDER, "grove");
    assert_eq!(in_fabric(&on_grove(overridden(packed(Some("rack"), &[None])))), ["DGD-63 spec.providerOverride.value"]);
    assert_eq!(in_fabric(&on_grove(overridden(packed(None, &[None])))), [""; 0]);
    assert_eq!(
        in_fabric(&on_grove(overridden(packed(None, &[Some("rack")])))),
        ["DGD-63 spec.providerOverride.value".to_owned(), format!("DGD-64 {OWN}")]
    );
    assert_eq!(in_fabric(&overridden(packed(Some("rack"), &[None]))), ["OVR-02 spec.providerOverride"]);
}

#[test]
fn overrides_of_components_and_roles_count_in_the_order_of_the_graph() {
    let value = json!({"topologyConstraint": {"packDomain": "rack"}});
    let overlay = |target: &str| json!({"apiVersion": "grove.io/v1alpha1", "target": target, "value": value});
    let wide = worker(
        "w",
        &json!({
            "multinode": {"nodeCount": 2},
            "providerOverride": overlay("PodCliqueScalingGroupConfig"),
            "roles": [{"name": "leader"}, {"name": "worker", "providerOverride": overlay("PodCliqueTemplateSpec")}],
        }),
    );
    let constraint = json!({"clusterTopologyName": "fabric", "packDomain": "rack"});
    let graph = annotated(graph(json!([wide]), json!({"topologyConstraint": constraint})), WORKLOAD_PROVIDER, "grove");
    assert_eq!(
        in_fabric(&graph),
        [
            "DGD-63 spec.components[0].providerOverride.value",
            "DGD-63 spec.components[0].roles[1].providerOverride.value"
        ]
    );
}

/// A cluster whose API server is out of order.
#[derive(Debug)]
struct OutOfOrder;

impl ClusterReader for OutOfOrder {
    fn group<'a>(&'a self, _: &'a str) -> BoxFuture<'a, GroupServed> {
        Box::pin(std::future::ready(GroupServed::Unreadable("timed out".into())))
    }

    fn resource<'a>(&'a self, group: &'a str, _: &'a str, _: &'a str) -> BoxFuture<'a, GroupServed> {
        self.group(group)
    }

    fn get<'a>(&'a self, object: &'a ObjectName) -> BoxFuture<'a, Lookup> {
        assert!(!object.name.contains('/'), "{} isn't looked up", object.name);
        Box::pin(std::future::ready(Lookup::Unreadable("timed out".into())))
    }
}

fn out_of_order() -> ClusterFacts {
    ClusterFacts { cluster: Cluster::Read(Arc::new(OutOfOrder)), ..ClusterFacts::default() }
}

#[test]
fn nothing_is_decided_where_a_topology_cannot_be_read() {
    let webhooks = crate::webhooks();
    let trial = TestRequest::of(&webhooks).facts(out_of_order());
    for graph in [packed(Some("rack"), &[None]), transfer("fabric", "rack")] {
        let findings = trial.create(&graph);
        assert_eq!(findings.answer().status, 503);
    }
}

#[test]
fn what_is_wrong_anyway_is_denied_though_a_topology_cannot_be_read() {
    let webhooks = crate::webhooks();
    let mut graph = packed(Some("rack"), &[None]);
    graph["spec"]["components"][0]["minAvailable"] = 1.into();
    graph["spec"]["components"][0]["sharedMemorySize"] = "-1".into();
    let findings = TestRequest::of(&webhooks).facts(out_of_order()).create(&graph);
    assert_eq!(denied_by(&findings), ["SHARED-45 spec.components[0].sharedMemorySize"]);
}

#[test]
fn nothing_is_decided_on_an_endpoint_picker_where_the_served_groups_cannot_be_read() {
    let webhooks = crate::webhooks();
    let trial = TestRequest::of(&webhooks).facts(out_of_order());
    let picker = graph(json!([worker("pick", &json!({"type": "epp", "eppConfig": {"config": {}}}))]), json!({}));
    assert_eq!(trial.create(&picker).answer().status, 503);
    assert_silent(&trial.create(&graph(json!([worker("w", &json!({}))]), json!({}))));
}

#[test]
fn a_name_that_no_object_can_have_is_not_asked_for() {
    let webhooks = crate::webhooks();
    let mut graph = packed(Some("rack"), &[None]);
    graph["spec"]["topologyConstraint"]["clusterTopologyName"] = "../../secrets/x".into();
    let findings = TestRequest::of(&webhooks).facts(out_of_order()).create(&graph);
    assert_eq!(denied_by(&findings), [format!("DGD-66 {OWN}.clusterTopologyName")]);
}

#[test]
fn without_a_cluster_a_note_says_what_was_not_checked() {
    let webhooks = crate::webhooks();
    let trial = TestRequest::of(&webhooks).facts(ClusterFacts::unknown());
    let picker = graph(json!([worker("pick", &json!({"type": "epp", "eppConfig": {"config": {}}}))]), json!({}));
    for (rule, graph) in
        [("DGD-66", packed(Some("x"), &[None])), ("DGD-72", transfer("ghost", "x")), ("SHARED-46", picker)]
    {
        let findings = trial.create(&graph);
        findings.assert_allowed();
        let notes: Vec<&str> = findings.answer().decision.issues.iter().map(|issue| issue.rule).collect();
        assert_eq!(notes, [rule]);
    }
}
