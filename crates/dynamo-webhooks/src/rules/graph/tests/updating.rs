use dynamo_api::constants::WORKLOAD_PROVIDER;
use serde_json::{Value, json};

use super::{annotated, assert_silent, denied_by, graph, on, update, worker};

fn plain() -> Value {
    graph(json!([worker("a", &json!({}))]), json!({}))
}

fn provider(value: &str) -> Value {
    annotated(plain(), WORKLOAD_PROVIDER, value)
}

#[test]
fn only_the_operator_sets_the_provider() {
    let facts = json!({"operatorPrincipals": ["someone-else", "the-operator"]});
    let new = provider("grove");
    on(&facts, |request| assert_silent(&request.user("the-operator").update(&plain(), &new)));
    let denied = ["DGD-60 metadata.annotations[nvidia.com/workload-provider]"];
    on(&facts, |request| assert_eq!(denied_by(&request.update(&plain(), &new)), denied));
    on(&facts, |request| assert_eq!(denied_by(&request.without_user().update(&plain(), &new)), denied));
    assert_silent(&update(&plain(), &provider("component")));
}

/// As the API server sends an object of the other version while it converts by changing `apiVersion` alone.
#[test]
fn an_unconverted_graph_is_distinguished_from_one_without_components() {
    let said = |old: &Value, new: &Value| {
        let denied = update(old, new);
        assert_eq!(denied_by(&denied).len(), 1);
        let issue = denied.answer().decision.issues.of(gateward::Severity::Error).next().unwrap();
        issue.detail()
    };
    for version in ["v1alpha1", "v1beta1"] {
        let mut unconverted = plain();
        unconverted["apiVersion"] = format!("nvidia.com/{version}").into();
        unconverted["spec"] = json!({});
        let said = said(&unconverted, &unconverted);
        assert!(said.contains("the CRD's conversion seems to be off"), "{version}");
        // An older CRD may have let it in.
        assert!(said.contains("where it is Webhook") && said.contains("delete it and recreate it"), "{version}");
    }
    let emptied = said(&plain(), &graph(json!([]), json!({})));
    assert!(emptied.contains("must have at least one entry (add a frontend"), "{emptied}");
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
