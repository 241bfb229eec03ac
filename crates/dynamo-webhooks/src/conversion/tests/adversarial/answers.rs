//! What an API server can't read of an answer would fail the whole list that the object stands in.

use serde_json::{Value, json};

use super::{GRAPH, INCOMPLETE, PRESERVED, REQUEST};

/// How deeply JSON may nest for Go, and the levels of a review around an object.
const DEEPEST: usize = 10_000;
const AROUND: usize = 3;

/// A number that Go doesn't read. No API server stores it, but in the text of an annotation.
const HUGE: &str = "1e400";

fn request(version: &str, spec: &Value, status: &Value) -> Value {
    json!({"apiVersion": format!("nvidia.com/{version}"), "kind": "DynamoGraphDeploymentRequest",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": spec, "status": status})
}

fn selecting(selected: &Value) -> Value {
    let status = json!({"phase": "Ready", "profilingResults": {"selectedConfig": selected}});
    request("v1beta1", &json!({"model": "m"}), &status)
}

fn levels(json: &str) -> usize {
    let mut depth = 0_usize;
    let deeper = json.bytes().map(|byte| {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        depth
    });
    deeper.max().unwrap()
}

#[test]
fn h1_a_selected_config_that_v1alpha1_cannot_decode_is_left_out_of_a_marked_view() {
    let with = |metadata: &Value| json!({"apiVersion": "a/b", "kind": "X", "metadata": metadata});
    for selected in [
        json!({"apiVersion": 5, "kind": "X"}),
        json!({"apiVersion": "a/b", "kind": []}),
        with(&json!("abc")),
        with(&json!({"labels": {"a": 5}})),
        with(&json!({"generation": 1.5})),
        with(&json!({"creationTimestamp": "2026-11-27t10:00:00z"})),
        with(&json!({"ownerReferences": [5]})),
    ] {
        let view = REQUEST.converted(&selecting(&selected), "v1alpha1");
        assert_eq!(view["status"], json!({"state": "Ready"}), "{selected}");
        let named = &view["metadata"]["annotations"]["gateward.dev/incomplete-fields"];
        assert_eq!(named, "status.profilingResults.selectedConfig", "{selected}");
    }
    for selected in [
        json!({"novel": 1}),
        json!({"apiVersion": null, "kind": "x y", "metadata": null}),
        with(
            &json!({"name": "Otter", "labels": null, "creationTimestamp": "2026-11-27T10:00:00.5Z", "novel": {"a": 1}}),
        ),
    ] {
        let view = REQUEST.converted(&selecting(&selected), "v1alpha1");
        assert_eq!(view["status"]["generatedDeployment"], selected);
        assert_eq!(view["metadata"].get("labels"), None);
    }
}

#[test]
fn h7_what_nests_as_deep_as_may_be_stored_is_cut_where_an_answer_would_be_too_deep() {
    let novel = "\"novel\"";
    let object = selecting(&json!({"apiVersion": "a/b", "kind": "X", "novel": "novel"})).to_string();
    let own = levels(&object);
    // The view has it a level higher.
    for (depth, is_cut) in
        [(DEEPEST - AROUND, false), (DEEPEST - AROUND + 1, false), (DEEPEST - 1, true), (DEEPEST, true)]
    {
        let lists = depth - own;
        let deep = format!("{}{}", "[".repeat(lists), "]".repeat(lists));
        let object = object.replace(&format!("{novel}:{novel}"), &format!("{novel}:{deep}"));
        assert_eq!(levels(&object), depth);
        let view = REQUEST.convert(&object, "v1alpha1").json;
        assert_eq!(levels(&view), (depth - 1).min(DEEPEST - AROUND), "{depth}");
        assert_eq!(view.contains(INCOMPLETE), is_cut, "{depth}");
    }
}

#[test]
fn h7_managed_fields_that_are_too_deep_are_cut_and_nothing_is_said() {
    let object = request("v1beta1", &json!({"model": "m"}), &json!({})).to_string();
    let maps = DEEPEST - 5;
    let fields = format!("{}{{}}{}", r#"{"f:a":"#.repeat(maps), "}".repeat(maps));
    let managed = format!(r#""managedFields":[{{"manager":"kubectl","fieldsV1":{fields}}}],"name":"otter""#);
    let view = REQUEST.convert(&object.replace(r#""name":"otter""#, &managed), "v1alpha1").json;
    assert_eq!(levels(&view), DEEPEST - AROUND);
    assert!(view.contains("kubectl") && !view.contains(INCOMPLETE));
}

#[test]
fn h1_a_number_that_nobody_reads_does_not_come_out_of_an_annotation() {
    let marker = json!("huge");
    let kept = |version: &str, path: &Value, value: &Value| json!({"version": 1, "unknown": {version: [{"path": path, "hollow": 1, "value": value}]}});
    let known = |version: &str, path: &Value, value: &Value| json!({"version": 1, "known": {version: [{"path": path, "was": value}]}});
    let beta = request("v1beta1", &json!({"model": "m"}), &json!({}));
    let profiling = json!({"profilerImage": "x:1", "config": {"novel": {"a": 1}}});
    let alpha =
        request("v1alpha1", &json!({"model": "m", "backend": "vllm", "profilingConfig": profiling}), &json!({}));
    let graph = json!({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment",
        "metadata": {"name": "otter", "namespace": "tidepool"}, "spec": {"services": {"w": {"componentType": "worker"}}}});
    let spec = "nvidia.com/dgdr-spec";
    for (drawn, object, key, text) in [
        (REQUEST, &beta, spec, json!({"spec": {"profilingConfig": {"config": {"novel": marker}}}})),
        (
            REQUEST,
            &alpha,
            spec,
            json!({"spec": {"overrides": {"dgd": {"apiVersion": "a/b", "kind": "X", "novel": marker}}}}),
        ),
        (REQUEST, &alpha, spec, json!({"spec": {"features": {"planner": {"novel": marker}}}})),
        (REQUEST, &alpha, PRESERVED, kept("v1beta1", &json!(["spec", "novel"]), &marker)),
        (REQUEST, &alpha, PRESERVED, kept("v1beta1", &json!(["spec", "novel"]), &json!({"a": [marker]}))),
        (REQUEST, &beta, PRESERVED, kept("v1alpha1", &json!(["spec", "novel"]), &marker)),
        (REQUEST, &beta, PRESERVED, known("v1alpha1", &json!(["spec", "profilingConfig"]), &json!({"novel": marker}))),
        (GRAPH, &graph, PRESERVED, kept("v1beta1", &json!(["spec", "components", {"name": "w"}, "novel"]), &marker)),
        (
            GRAPH,
            &graph,
            "nvidia.com/dgd-spec",
            json!({"spec": {"components": [{"name": "w", "podTemplate": {"spec": {"novel": marker}}}]}}),
        ),
    ] {
        let text = text.to_string().replace("\"huge\"", HUGE);
        let mut object = object.clone();
        object["metadata"]["annotations"] = json!({key: text});
        let to = if object["apiVersion"] == "nvidia.com/v1beta1" { "v1alpha1" } else { "v1beta1" };
        let answer = drawn.convert(&object.to_string(), to).json;
        assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{key}: {text}: {answer}");
    }
}
