//! Annotations of more than 256 KiB: what doesn't fit is left out of a marked view.

use serde_json::{Value, json};

use crate::kinds::converted;

/// What Kubernetes allows the keys and values of all annotations together.
const LIMIT: usize = 256 << 10;

/// A graph with as many bytes of annotations, and something that only v1alpha1 can say.
fn graph(filler: usize) -> Value {
    json!({
        "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool", "annotations": {"example.org/filler": "x".repeat(filler)}},
        "spec": {"pvcs": [{"name": "weights"}], "services": {"worker": {"componentType": "worker"}}},
    })
}

fn size(object: &Value) -> usize {
    let annotations = object["metadata"]["annotations"].as_object().unwrap();
    annotations.iter().map(|(key, value)| key.len() + value.as_str().unwrap().len()).sum()
}

/// How many bytes of filler make the answer's annotations just fit.
fn most() -> usize {
    LIMIT - size(&converted(&graph(0), "v1beta1"))
}

#[test]
fn annotations_may_fill_the_limit() {
    let there = converted(&graph(most()), "v1beta1");
    assert_eq!(size(&there), LIMIT);
    assert_eq!(converted(&there, "v1alpha1")["spec"], graph(0)["spec"]);
}

#[test]
fn one_byte_above_the_limit_leaves_out_what_conversion_keeps_and_marks_the_view() {
    let there = converted(&graph(most() + 1), "v1beta1");
    assert_eq!(there["metadata"]["labels"], json!({"gateward.dev/incomplete": "true"}));
    assert_eq!(there["metadata"]["annotations"]["gateward.dev/incomplete-fields"], "spec.pvcs[0]");
    assert_eq!(there["spec"]["components"], converted(&graph(0), "v1beta1")["spec"]["components"]);
    let back = converted(&there, "v1alpha1");
    assert_eq!(back["metadata"].get("labels"), None);
}

#[test]
fn an_object_on_the_limit_that_needs_no_stash_converts() {
    let mut graph = graph(LIMIT - "example.org/filler".len());
    graph["spec"].as_object_mut().unwrap().remove("pvcs");
    let there = converted(&graph, "v1beta1");
    assert_eq!(there["metadata"]["annotations"], graph["metadata"]["annotations"]);
}
