//! `convert` and the ConversionReviews of `review`, as a user runs them.

#![allow(clippy::unwrap_used, reason = "a test")]

use assert_cmd::Command;
use serde_json::{Value, json};

const GRAPH: &str = "\
kind: DynamoGraphDeployment
apiVersion: nvidia.com/v1alpha1
# who reads this?
metadata:
  namespace: zoo
  name: otter
spec:
  services:
    frontend:
      replicas: 2
      componentType: frontend
---
kind: ConfigMap
apiVersion: v1
metadata:
  name: other
";

/// Runs the binary on a text and gives standard output, standard error and the exit code.
fn gateward(arguments: &[&str], input: &str) -> (String, String, i32) {
    let output = Command::cargo_bin("gateward").unwrap().args(arguments).write_stdin(input).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

#[test]
fn convert_prints_all_documents_in_order_with_their_members_in_order() {
    let (printed, _, code) = gateward(&["convert", "--to", "v1beta1", "-"], GRAPH);
    assert_eq!(code, 0);
    let (graph, other) = printed.split_once("---\n").unwrap();
    let head =
        "kind: DynamoGraphDeployment\napiVersion: nvidia.com/v1beta1\nmetadata:\n  namespace: zoo\n  name: otter\n";
    assert!(graph.starts_with(head), "{graph}");
    assert!(graph.contains("components:\n  - name: frontend\n"), "{graph}");
    assert_eq!(other, "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: other\n");
}

#[test]
fn convert_says_which_objects_pass_as_they_are() {
    let (_, notes, _) = gateward(&["convert", "--to", "v1beta1", "-"], GRAPH);
    assert_eq!(notes, "note: -:13:1: document 2: ConfigMap other: this kind is not converted; it passes as it is\n");
}

#[test]
fn what_was_converted_comes_back() {
    let (there, ..) = gateward(&["convert", "--to", "v1beta1", "-"], GRAPH);
    let (back, _, code) = gateward(&["convert", "--to", "nvidia.com/v1alpha1", "--output", "json", "-"], &there);
    let first: Value = serde_json::from_str(back.lines().next().unwrap()).unwrap();
    let services = json!({"frontend": {"replicas": 2, "componentType": "frontend"}});
    assert_eq!((code, &first["spec"]), (0, &json!({"services": services})));
    assert_eq!(first["metadata"], json!({"namespace": "zoo", "name": "otter"}));
}

#[test]
fn an_object_that_can_not_be_converted_is_named_and_nothing_is_printed() {
    let text = GRAPH.replace("replicas: 2", "replicas: two");
    let (printed, errors, code) = gateward(&["convert", "--to", "v1beta1", "-"], &text);
    assert_eq!((printed.as_str(), code), ("", 1));
    let place = "error: -:10:7: document 1: DynamoGraphDeployment zoo/otter: spec.services[frontend].replicas: ";
    assert!(errors.contains(place) || errors.contains(&place.replace("[frontend]", ".frontend")), "{errors}");
}

#[test]
fn a_round_trip_that_changes_nothing_ends_well() {
    let (printed, errors, code) = gateward(&["convert", "--round-trip", "-"], GRAPH);
    let summary = "0 changes in 1 object of 1 file; 1 of kinds that are not converted\n";
    assert_eq!((printed.as_str(), errors.as_str(), code), (summary, "", 0));
}

#[test]
fn what_can_not_be_read_or_asked_for_ends_with_2() {
    for (arguments, input) in [
        (["convert", "--to", "v9", "-"].as_slice(), GRAPH),
        (&["convert", "--to", "v1beta1", "-"], "a: [\n"),
        (&["convert", "--to", "v1beta1", "/no/such/file.yaml"], ""),
        (&["convert", "--round-trip", "--to", "v1beta1", "-"], GRAPH),
        (&["convert", "-"], GRAPH),
    ] {
        let (printed, errors, code) = gateward(arguments, input);
        assert_eq!((printed.as_str(), code), ("", 2), "{arguments:?}: {errors}");
        assert!(!errors.is_empty());
    }
}

#[test]
fn review_answers_conversion_reviews_beside_the_others() {
    let graph = json!({
        "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "otter"},
        "spec": {"services": {"frontend": {"componentType": "frontend"}}},
    });
    let review = |uid: &str, objects: Value| {
        let request = json!({"uid": uid, "desiredAPIVersion": "nvidia.com/v1beta1", "objects": objects});
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": request}).to_string()
    };
    let lines = [review("one", json!([graph])), review("two", json!([{"kind": "DynamoGraphDeployment"}]))];
    for arguments in [["review"].as_slice(), &["review", "--mutate"]] {
        let (printed, _, code) = gateward(arguments, &lines.join("\n"));
        let answers: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(code, 0, "a failed conversion is an answer");
        assert_eq!(answers[0]["response"]["uid"], "one");
        assert_eq!(answers[0]["response"]["convertedObjects"][0]["apiVersion"], "nvidia.com/v1beta1");
        assert_eq!(answers[1]["response"]["result"]["status"], "Failure");
    }
}

#[test]
fn folders_are_searched_and_files_keep_the_order_in_which_they_were_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    let other = |name: &str| format!("kind: ConfigMap\napiVersion: v1\nmetadata: {{name: {name}}}\n");
    for name in ["deep/b.yml", "deep/a.yaml", "deep/c.JSON", "deep/notes.txt", "z.yaml"] {
        std::fs::write(path(name), other(&name.replace(['/', '.'], "-"))).unwrap();
    }
    std::fs::write(path("deep/c.JSON"), r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"deep-c-JSON"}}"#)
        .unwrap();
    let (printed, _, code) = gateward(
        &["convert", "--to", "v1beta1", "--output", "json", &path("z.yaml"), &path("deep"), "-"],
        &other("last"),
    );
    let names: Vec<Value> =
        printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["metadata"]["name"].clone()).collect();
    assert_eq!(
        (names, code),
        (["z-yaml", "deep-a-yaml", "deep-b-yml", "deep-c-JSON", "last"].map(Value::from).to_vec(), 0)
    );
}

#[test]
fn a_kind_or_a_version_that_was_mistyped_is_named() {
    for (wrong, why) in [
        ("apiVersion: nvidia.com/v1beta2", "its versions are v1alpha1 and v1beta1"),
        ("apiVersionn: nvidia.com/v1alpha1", "the object has no apiVersion"),
    ] {
        let text = GRAPH.replace("apiVersion: nvidia.com/v1alpha1", wrong);
        for arguments in [["convert", "--to", "v1beta1", "-"].as_slice(), &["convert", "--round-trip", "-"]] {
            let (_, errors, code) = gateward(arguments, &text);
            assert_eq!(code, 1, "{arguments:?}");
            assert_eq!(
                errors.lines().filter(|line| line.starts_with("error: ") && line.contains(why)).count(),
                1,
                "{errors}"
            );
        }
    }
}

/// A text that a terminal would obey: it clears the screen and turns the direction of writing.
const OBEYED: &str = "ot\u{9b}2J\u{202e}\u{1b}[31m";

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let manifests = json!({"kind": "List", "apiVersion": "v1", "items": [
        {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": OBEYED}},
        {
            "kind": "DynamoGraphDeployment", "apiVersion": "nvidia.com/v1alpha1",
            "metadata": {"name": OBEYED, "namespace": "a\nnote: forged", "annotations": {"a": OBEYED}},
            "spec": {"services": {"w": {"sharedMemory": {"size": "0"}}}},
        },
    ]});
    let manifests = manifests.to_string().replace('\u{9b}', r"\u009b");
    let is_shown = |text: &str| text.chars().all(|each| each == '\n' || !each.is_control() && each != '\u{202e}');
    for arguments in [
        &["convert", "--to", "v1beta1", "-"][..],
        &["convert", "--to", "v1beta1", "--output", "json", "-"],
        &["convert", "--round-trip", "-"],
        &["convert", "--round-trip", "--output", "json", "-"],
        &["check", "-"],
        &["check", "--output", "json", "-"],
    ] {
        let (printed, stderr, _) = gateward(arguments, &manifests);
        assert!(is_shown(&printed) && is_shown(&stderr), "{arguments:?}: {printed:?} {stderr:?}");
        assert!(!stderr.lines().any(|line| line.starts_with("note: forged")), "{stderr}");
    }
    let (printed, stderr, _) = gateward(&["convert", "--to", "v1beta1", "--output", "json", "-"], &manifests);
    assert!(stderr.contains(r"ConfigMap ot\u{9b}2J\u{202e}\u{1b}[31m: "), "{stderr}");
    let list: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(list["items"][1]["metadata"]["annotations"]["a"], OBEYED);
}
