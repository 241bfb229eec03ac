use dynamo_api::constants::{GPU_POWER_LIMIT, WORKLOAD_PROVIDER};
use gateward_core::testing::{Findings, TestRequest};
use serde_json::{Value, json};

use crate::testing::terminating;

use super::{OPERATOR, annotated, assert_silent, denied_by, facts, graph, merge, update, webhooks, worker};

fn plain() -> Value {
    graph(json!([worker("a", &json!({}))]), json!({}))
}

fn provider(value: &str) -> Value {
    annotated(plain(), WORKLOAD_PROVIDER, value)
}

const PROVIDER: &str = "metadata.annotations[nvidia.com/workload-provider]";

/// The verdict on a change by `user` where the operator is known.
fn by(user: Option<&str>, old: &Value, new: &Value) -> Findings {
    let webhooks = webhooks();
    let trial = TestRequest::of(&webhooks).facts(facts(&json!({"operatorPrincipals": ["someone-else", OPERATOR]})));
    match user {
        Some(user) => trial.user(user).update(old, new),
        None => trial.nobody().update(old, new),
    }
}

/// As the API server sends an object of the other version while it converts by changing `apiVersion` alone.
#[test]
fn a_graph_that_was_not_converted_is_told_from_one_without_components() {
    let said = |old: &Value, new: &Value| {
        let denied = update(old, new);
        assert_eq!(denied_by(&denied).len(), 1);
        let issue = denied.answer().decision.issues.of(gateward_core::Severity::Error).next().unwrap();
        issue.message.clone().into_owned()
    };
    for version in ["v1alpha1", "v1beta1"] {
        let mut unconverted = plain();
        unconverted["apiVersion"] = format!("nvidia.com/{version}").into();
        unconverted["spec"] = json!({});
        assert!(said(&unconverted, &unconverted).contains("the CRD's conversion seems to be off"), "{version}");
    }
    assert_eq!(said(&plain(), &graph(json!([]), json!({}))), "must have at least one component");
}

#[test]
fn only_the_operator_notes_the_provider() {
    assert_silent(&by(Some(OPERATOR), &plain(), &provider("grove")));
    assert_eq!(denied_by(&by(Some("jane"), &plain(), &provider("grove"))), [format!("DGD-60 {PROVIDER}")]);
    assert_eq!(denied_by(&by(None, &plain(), &provider("grove"))), [format!("DGD-60 {PROVIDER}")]);
    assert_silent(&update(&plain(), &provider("component")));
}

#[test]
fn a_noted_provider_never_changes_whoever_asks() {
    assert_silent(&by(Some("jane"), &provider("grove"), &provider("grove")));
    for new in [plain(), provider("component")] {
        assert_eq!(denied_by(&by(Some(OPERATOR), &provider("grove"), &new)), [format!("DGD-62 {PROVIDER}")]);
    }
}

#[test]
fn an_odd_provider_on_a_live_graph_ends_the_judgement() {
    let mut new = provider("lws");
    new["spec"]["backendFramework"] = "vllm".into();
    assert_eq!(denied_by(&by(Some("jane"), &plain(), &new)), [format!("DGD-44 {PROVIDER}")]);
}

#[test]
fn of_a_terminating_graph_only_the_provider_is_judged() {
    let broken = terminating(graph(json!([]), json!({"backendFramework": "vllm", "priorityClassName": "x"})));
    assert_silent(&update(&plain(), &broken));
    let odd = annotated(broken, WORKLOAD_PROVIDER, "lws");
    assert_eq!(
        denied_by(&by(Some("jane"), &plain(), &odd)),
        [format!("DGD-60 {PROVIDER}"), format!("DGD-61 {PROVIDER}")]
    );
    assert_eq!(denied_by(&update(&plain(), &odd)), [format!("DGD-61 {PROVIDER}")]);
    assert_eq!(denied_by(&update(&provider("grove"), &odd)), [format!("DGD-62 {PROVIDER}")]);
    assert_silent(&update(&odd, &odd));
}

#[test]
fn a_new_graph_is_judged_even_if_it_claims_to_be_terminating() {
    let findings = super::create(&terminating(graph(json!([]), json!({}))));
    assert_eq!(denied_by(&findings), ["DGD-48 spec.components"]);
}

#[test]
fn changes_are_judged_only_where_the_new_graph_is_sound() {
    let old = graph(json!([worker("a", &json!({}))]), json!({"backendFramework": "vllm"}));
    let new = graph(json!([]), json!({"backendFramework": "sglang"}));
    let findings = update(&old, &new);
    assert_eq!(denied_by(&findings), ["DGD-48 spec.components"]);
    assert!(findings.warnings().is_empty());
}

#[test]
fn components_may_change_places_but_not_come_or_go() {
    let of = |names: &[&str]| {
        let components: Vec<Value> = names.iter().map(|name| worker(name, &json!({}))).collect();
        graph(components.into(), json!({}))
    };
    assert_silent(&update(&of(&["a", "b"]), &of(&["b", "a"])));
    for new in [of(&["a"]), of(&["a", "b", "c"]), of(&["a", "B"]), of(&["c", "d"])] {
        assert_eq!(denied_by(&update(&of(&["a", "b"]), &new)), ["DGD-74 spec.components"]);
    }
    let findings = update(&of(&["a", "b"]), &of(&["c", "a", "d"]));
    findings.only(&[&super::super::update::SAME_COMPONENTS]);
    findings.by(&super::super::update::SAME_COMPONENTS).saying("adds c, d and removes b");
}

#[test]
fn a_component_that_changed_places_is_compared_with_itself() {
    let one = worker("a", &json!({"replicas": 1, "scalingAdapter": {}}));
    let two = worker("b", &json!({"replicas": 2, "scalingAdapter": {}}));
    assert_silent(&update(&graph(json!([one, two]), json!({})), &graph(json!([two, one]), json!({}))));
}

#[test]
fn another_engine_is_refused_with_a_warning() {
    let running = |engine: Value| graph(json!([worker("a", &json!({}))]), json!({"backendFramework": engine}));
    for (old, new) in [(json!("vllm"), json!("sglang")), (json!(null), json!("vllm")), (json!("vllm"), json!(null))] {
        let findings = update(&running(old), &running(new));
        assert_eq!(denied_by(&findings), ["DGD-77 spec.backendFramework"]);
        assert_eq!(findings.warnings().len(), 1);
    }
    assert_silent(&update(&running(json!(null)), &running(json!(""))));
}

#[test]
fn a_topology_constraint_never_changes() {
    let packed = |constraint: Value| {
        let mut graph = graph(json!([worker("a", &json!({}))]), json!({"topologyConstraint": constraint}));
        graph["metadata"]["generation"] = 2.into();
        graph
    };
    let rack = json!({"clusterTopologyName": "fabric", "packDomain": "rack"});
    assert_silent(&update(&packed(rack.clone()), &packed(rack.clone())));
    for other in [
        json!(null),
        json!({"clusterTopologyName": "fabric", "packDomain": "zone"}),
        json!({"clusterTopologyName": "weave", "packDomain": "rack"}),
    ] {
        assert_eq!(
            denied_by(&update(&packed(rack.clone()), &packed(other.clone()))),
            ["DGD-78 spec.topologyConstraint"]
        );
        assert_eq!(denied_by(&update(&packed(other), &packed(rack.clone()))), ["DGD-78 spec.topologyConstraint"]);
    }
}

#[test]
fn a_transfer_policy_never_changes_its_meaning() {
    let moving = |policy: &Value| {
        let experimental = json!({"kvTransferPolicy": policy});
        graph(json!([worker("a", &json!({}))]), json!({"experimental": experimental}))
    };
    let old = json!({"labelKey": "example.org/rack", "domain": "rack"});
    let changed = |members: Value| {
        let mut new = old.clone();
        merge(&mut new, &members);
        denied_by(&update(&moving(&old), &moving(&new)))
    };
    assert_eq!(changed(json!({"enforcement": "required"})), [""; 0]);
    assert_eq!(changed(json!({"enforcement": ""})), [""; 0]);
    for members in [
        json!({"enforcement": "preferred"}),
        json!({"domain": "zone"}),
        json!({"labelKey": "example.org/zone"}),
        json!({"preferredWeight": 0.0}),
    ] {
        assert_eq!(changed(members), ["DGD-79 spec.experimental.kvTransferPolicy"]);
    }
    assert_eq!(denied_by(&update(&moving(&old), &moving(&json!(null)))), ["DGD-79 spec.experimental.kvTransferPolicy"]);
    assert_eq!(denied_by(&update(&moving(&json!(null)), &moving(&old))), ["DGD-79 spec.experimental.kvTransferPolicy"]);
}

#[test]
fn no_other_restart_is_asked_for_during_a_rolling_update() {
    let restarted = |id: Option<&str>, phase: &str| {
        let mut graph = graph(json!([worker("a", &json!({}))]), json!({"restart": id.map(|id| json!({"id": id}))}));
        graph["status"] = json!({"rollingUpdate": {"phase": phase}});
        graph
    };
    for (old, new, denied) in [
        (None, Some("x"), true),
        (Some("x"), None, true),
        (Some("x"), Some("y"), true),
        (Some("x"), Some("x"), false),
        (None, Some(""), false),
    ] {
        for phase in ["Pending", "InProgress"] {
            let found = denied_by(&update(&restarted(old, phase), &restarted(new, "Completed")));
            assert_eq!(found, vec!["DGD-80 spec.restart.id"; usize::from(denied)], "{old:?} {new:?}");
        }
        for phase in ["Completed", "Failed", "", "pending"] {
            assert_silent(&update(&restarted(old, phase), &restarted(new, "InProgress")));
        }
    }
}

/// A graph whose worker has a power limit (where given) and these resources.
fn powered(limit: Option<&str>, resources: &Value) -> Value {
    let containers = json!([{"name": "main", "image": "e/r:1.4.2", "resources": resources}]);
    let template = json!({"metadata": {"annotations": {}}, "spec": {"containers": containers}});
    let mut worker = worker("a", &json!({"podTemplate": template}));
    if let Some(limit) = limit {
        worker["podTemplate"]["metadata"]["annotations"][GPU_POWER_LIMIT] = limit.into();
    }
    graph(json!([worker]), json!({}))
}

const POD: &str = "spec.components[0].podTemplate";

#[test]
fn a_power_limit_neither_comes_nor_goes_nor_changes() {
    let gpu = json!({"limits": {"nvidia.com/gpu": 1}});
    let limit = format!("DGD-75 {POD}.metadata.annotations[{GPU_POWER_LIMIT}]");
    assert_silent(&update(&powered(Some("450"), &gpu), &powered(Some("450"), &gpu)));
    for (old, new) in [(None, Some("450")), (Some("450"), None), (Some("450"), Some("0450"))] {
        assert_eq!(denied_by(&update(&powered(old, &gpu), &powered(new, &gpu))), [&*limit]);
    }
}

#[test]
fn the_gpus_under_a_power_limit_never_change() {
    let limits = |count: Value| json!({"limits": {"nvidia.com/gpu": count}});
    let changed = |old: &Value, new: &Value| denied_by(&update(&powered(Some("9"), old), &powered(Some("9"), new)));
    let resources = format!("{POD}.spec.containers[0].resources");
    assert_eq!(changed(&limits(json!(1)), &limits(json!("1"))), [""; 0]);
    assert_eq!(changed(&limits(json!("1000m")), &limits(json!("1"))), [""; 0]);
    assert_eq!(changed(&limits(json!(1)), &json!({"requests": {"nvidia.com/gpu": 1}})), [""; 0]);
    assert_eq!(changed(&limits(json!(1)), &limits(json!(2))), [format!("DGD-76 {resources}.limits[nvidia.com/gpu]")]);
    assert_eq!(
        changed(&limits(json!(1)), &json!({"requests": {"nvidia.com/gpu": 2}, "limits": {"cpu": 1}})),
        [format!("DGD-76 {resources}.requests[nvidia.com/gpu]")]
    );
    assert_eq!(changed(&limits(json!(1)), &json!({"limits": {"example.org/gpu": 1}})), [format!("DGD-76 {resources}")]);
    assert_eq!(changed(&json!({}), &limits(json!(1))), [format!("DGD-76 {resources}.limits[nvidia.com/gpu]")]);
    let unlimited = |count: Value| powered(None, &limits(count));
    assert_silent(&update(&unlimited(json!(1)), &unlimited(json!(2))));
}

#[test]
fn a_limit_taken_away_with_its_gpus_is_found_twice() {
    let old = powered(Some("450"), &json!({"limits": {"nvidia.com/gpu": 1}}));
    let new = powered(None, &json!({}));
    assert_eq!(
        denied_by(&update(&old, &new)),
        [
            format!("DGD-75 {POD}.metadata.annotations[{GPU_POWER_LIMIT}]"),
            format!("DGD-76 {POD}.spec.containers[0].resources")
        ]
    );
}

#[test]
fn the_root_override_keeps_its_target() {
    let overlay = |target: &str| json!({"apiVersion": "grove.io/v1alpha1", "target": target, "value": {"spec": {"template": {"topologyConstraint": {}}}}});
    let with = |overlay: Value| {
        annotated(
            graph(json!([worker("a", &json!({}))]), json!({"providerOverride": overlay})),
            WORKLOAD_PROVIDER,
            "grove",
        )
    };
    let sound = with(overlay("PodCliqueSet"));
    assert_eq!(denied_by(&update(&with(overlay("")), &sound)), ["OVR-10 spec.providerOverride.target"]);
    assert_silent(&update(&with(json!(null)), &sound));
    assert_silent(&update(&sound, &with(json!(null))));
}

#[test]
fn everything_that_is_free_to_change_is() {
    let old = graph(json!([worker("a", &json!({"replicas": 1}))]), json!({}));
    let members = json!({"replicas": 5, "minAvailable": 2, "sharedMemorySize": "1Gi", "frontendSidecar": "main"});
    let mut new = graph(
        json!([worker("a", &members)]),
        json!({"env": [{"name": "A"}], "labels": {"a": "b"}, "annotations": {"c": "d"}, "priorityClassName": "x"}),
    );
    new["spec"]["components"][0]["podTemplate"]["spec"]["containers"][0]["image"] = "example.org/other:2.0.0".into();
    assert_silent(&update(&old, &new));
}
