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
fn convert_keeps_comments_order_and_what_needs_no_change() {
    let (printed, _, code) = gateward(&["convert", "--to", "v1beta1", "-"], GRAPH);
    assert_eq!(code, 0);
    let expected = "\
kind: DynamoGraphDeployment
apiVersion: nvidia.com/v1beta1
# who reads this?
metadata:
  namespace: zoo
  name: otter
spec:
  components:
  - name: frontend
    replicas: 2
    type: frontend
---
kind: ConfigMap
apiVersion: v1
metadata:
  name: other
";
    assert_eq!(printed, expected);
}

/// Services that stand in another order than that of their names, with text of every kind.
const WRITTEN: &str = "\
# A graph.
---
apiVersion: nvidia.com/v1alpha1  # old
kind: DynamoGraphDeployment
metadata:
  name: otter
spec:
  # the engine
  backendFramework: vllm

  envs:
    - name: A
      value: '1'  # text
    # second
    - {name: B, value: \"x\"}
  services:
    worker:
      componentType: worker
      replicas: 2   # two
      resources:
        limits:
          gpu: \"1\"
      extraPodSpec:
        # what runs
        mainContainer:
          image: example.com/vllm:1.0
          args:
            - |
              # no comment
              serve --model
                x
            - >-
              folded
              text
            - --port
            - 16Gi
    # what answers
    frontend:
      componentType: frontend
# the end
";

#[test]
fn a_graph_keeps_its_text_where_the_other_version_has_a_place_for_it() {
    let (printed, _, _) = gateward(&["convert", "--to", "v1beta1", "-"], WRITTEN);
    let (head, spec) = printed.split_once("spec:\n  # the engine").unwrap();
    assert!(head.starts_with("# A graph.\n---\napiVersion: nvidia.com/v1beta1  # old\nkind: DynamoGraphDeployment\n"));
    let expected = "
  backendFramework: vllm

  env:
    - name: A
      value: '1'  # text
    # second
    - {name: B, value: \"x\"}
  components:
    - name: worker
      type: worker
      replicas: 2   # two
      podTemplate:
        spec:
          containers:
            # what runs
            - name: main
              resources:
                limits:
                  nvidia.com/gpu: '1'
              image: example.com/vllm:1.0
              args:
                - |
                  # no comment
                  serve --model
                    x
                - >-
                  folded
                  text
                - --port
                - 16Gi
    # what answers
    - name: frontend
      type: frontend
# the end
";
    assert_eq!(spec.replace("\"1\"", "'1'"), expected);
}

#[test]
fn there_and_back_gives_the_same_spec() {
    let (_, spec) = WRITTEN.split_once("spec:\n").unwrap();
    assert_eq!(there_and_back(WRITTEN, ["v1beta1", "v1alpha1"]), spec);
}

/// The text from the spec on, in another version and in its own again.
fn there_and_back(text: &str, [there, back]: [&str; 2]) -> String {
    let (there, ..) = gateward(&["convert", "--to", there, "-"], text);
    let (back, _, code) = gateward(&["convert", "--to", back, "-"], &there);
    assert_eq!(code, 0);
    back.split_once("spec:\n").unwrap().1.to_owned()
}

#[test]
fn members_that_move_come_back_in_the_usual_order() {
    let services = "  services:
    worker:
      componentType: worker
      replicas: 2
      envFromSecret: hf-token
      envs:
        - name: A
          value: x
      resources:
        limits:
          gpu: \"1\"
      extraPodSpec:
        tolerations:
          - key: gpu
            operator: Exists
        mainContainer:
          image: example.com/vllm:1.0
          workingDir: /work
          command:
            - python3
    frontend:
      extraPodSpec:
        mainContainer:
          workingDir: /work
          image: example.com/vllm:1.0
      envs:
        - name: A
          value: x
      replicas: 1
";
    let graph = format!(
        "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n{services}"
    );
    assert_eq!(there_and_back(&graph, ["v1beta1", "v1alpha1"]), services);

    let components = "  components:
    - name: worker
      type: worker
      replicas: 2
      podTemplate:
        spec:
          tolerations:
            - key: gpu
              operator: Exists
          containers:
            - name: main
              image: example.com/vllm:1.0
              command:
                - python3
              env:
                - name: A
                  value: x
              resources:
                limits:
                  nvidia.com/gpu: \"1\"
";
    let graph = format!(
        "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\nmetadata:\n  name: otter\nspec:\n{components}"
    );
    assert_eq!(there_and_back(&graph, ["v1alpha1", "v1beta1"]), components);
}

#[test]
fn a_comment_without_a_place_in_the_other_version_is_named() {
    let graph = "apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: otter
spec:
  services:
    worker: # does the work
      sharedMemory: # big models
        size: 1Gi # enough
";
    let (converted, warnings, code) = gateward(&["convert", "--to", "v1beta1", "-"], graph);
    assert!(
        converted.contains("# does the work\n") && converted.contains("sharedMemorySize: 1Gi # enough\n"),
        "{converted}"
    );
    let expected = "warning: -:8:21: the other version has no place for this comment: # big models\n";
    assert_eq!((warnings.as_str(), code), (expected, 0));
}

#[test]
fn write_changes_the_files_that_have_to_change_and_check_lists_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let other = "# theirs\nkind:   ConfigMap\napiVersion: v1\n";
    let bad = WRITTEN.replace("replicas: 2 ", "replicas: two");
    for (name, text) in [("a.yaml", WRITTEN), ("b.yaml", other), ("c.yaml", &bad), ("d.json", JSON)] {
        std::fs::write(path(name), text).unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    let run = |flag: &str, file: &str| gateward(&["convert", "--to", "v1beta1", flag, file], "");

    let (listed, _, code) = run("--check", folder);
    let expected = format!(
        "{folder}/a.yaml\n{folder}/d.json\nto convert: 2 objects in 2 files; 1 unchanged, 1 can't be converted\n"
    );
    assert_eq!((listed, code), (expected, 1));
    assert_eq!(std::fs::read_to_string(path("a.yaml")).unwrap(), WRITTEN);

    let (written, errors, code) = run("--write", folder);
    assert!(written.ends_with("converted: 2 objects in 2 files; 1 unchanged, 1 can't be converted\n"), "{written}");
    assert!(code == 1 && errors.contains("c.yaml:19:7: "), "{errors}");
    let (expected, ..) = gateward(&["convert", "--to", "v1beta1", "-"], WRITTEN);
    assert_eq!(std::fs::read_to_string(path("a.yaml")).unwrap(), expected);
    assert_eq!(std::fs::read_to_string(path("b.yaml")).unwrap(), other);
    assert_eq!(std::fs::read_to_string(path("c.yaml")).unwrap(), bad);
    let json: Value = serde_json::from_str(&std::fs::read_to_string(path("d.json")).unwrap()).unwrap();
    assert_eq!(json["spec"]["components"][0]["name"], "frontend");

    let (again, _, code) = run("--check", path("a.yaml").to_str().unwrap());
    assert_eq!((again.as_str(), code), ("to convert: 0 objects in 0 files; 1 unchanged\n", 0));
}

#[test]
fn the_items_of_a_list_that_need_no_change_keep_their_text() {
    let list = "\
# three objects
apiVersion: v1
kind: List
items:
  # a config
  -   apiVersion: v1
      kind: ConfigMap   # theirs
      metadata: {name:   a}
      data:
          text: |
              one
                two
          # the last of it
  # a graph
  - apiVersion: nvidia.com/v1alpha1
    kind: DynamoGraphDeployment
    metadata: {name: otter}
    spec:
      services:
        frontend:
          componentType: frontend
  - {apiVersion: v1, kind: Secret, metadata: {name: b}}   # flow
  -
    # of its own
    apiVersion: nvidia.com/v1beta1
    kind:   DynamoComponentDeployment
# the end
";
    let (printed, ..) = gateward(&["convert", "--to", "v1beta1", "-"], list);
    let services = "      services:\n        frontend:\n          componentType: frontend\n";
    let (head, tail) = list.split_once(services).unwrap();
    let spec = printed.strip_prefix(&head.replace("v1alpha1", "v1beta1")).and_then(|rest| rest.strip_suffix(tail));
    let spec: String = spec.expect(&printed).split_whitespace().collect();
    assert_eq!(spec, "components:-name:frontendtype:frontend");
}

/// A graph with fields that v1beta1 lacks.
const PRIVATE: &str = "\
# mine
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata:
  name: otter
spec:
  pvcs:
  - name: weights
  services:
    frontend:
      componentType: frontend
      envFromSecret: token
      extraPodSpec:
        mainContainer:
          image: example.com/frontend:1.0
";

#[test]
fn clean_leaves_out_the_annotations_and_says_what_is_lost() {
    let (printed, said, code) = gateward(&["convert", "--to", "v1beta1", "--clean", "-"], PRIVATE);
    assert_eq!(code, 0);
    assert!(!printed.contains("annotations"), "{printed}");
    let head = "# mine\n# lost in the conversion from v1alpha1: spec.pvcs, spec.services[frontend].envFromSecret\n";
    assert!(printed.starts_with(head), "{printed}");
    let note = |place: &str, path: &str| {
        format!(
            "note: -:{place}: document 1: DynamoGraphDeployment otter: {path}: lost: v1alpha1 has it, and --clean \
                 leaves out the annotation that keeps it\n"
        )
    };
    assert_eq!(said, note("7:3", "spec.pvcs") + &note("12:7", "spec.services[frontend].envFromSecret"));
}

#[test]
fn clean_takes_the_annotations_out_of_objects_that_have_the_version() {
    let (kept, ..) = gateward(&["convert", "--to", "v1beta1", "-"], PRIVATE);
    assert!(kept.contains("nvidia.com/dgd-spec"), "{kept}");
    let (same, ..) = gateward(&["convert", "--to", "v1beta1", "-"], &kept);
    assert_eq!(same, kept, "without --clean what has the version stays byte for byte");
    let (cleaned, said, _) = gateward(&["convert", "--to", "v1beta1", "--clean", "-"], &kept);
    let (at_once, ..) = gateward(&["convert", "--to", "v1beta1", "--clean", "-"], PRIVATE);
    assert_eq!(cleaned, at_once);
    assert!(said.contains("spec.pvcs: lost: v1alpha1 has it"), "{said}");
}

#[test]
fn an_object_with_nothing_to_remember_gets_no_annotation() {
    for text in [
        PRIVATE.replace("  pvcs:\n  - name: weights\n", "").replace("      envFromSecret: token\n", ""),
        "apiVersion: nvidia.com/v1beta1\nkind: DynamoComponentDeployment\nmetadata:\n  name: otter\nspec:\n  name: \
         otter\n  type: worker\n  podTemplate:\n    spec:\n      containers:\n      - name: main\n        image: \
         example.com/worker:1.0\n"
            .to_owned(),
    ] {
        for target in ["v1alpha1", "v1beta1"] {
            let (printed, said, code) = gateward(&["convert", "--to", target, "-"], &text);
            assert_eq!((said.as_str(), code), ("", 0));
            assert!(!printed.contains("annotations"), "{printed}");
        }
    }
}

#[test]
fn a_round_trip_is_compared_by_meaning() {
    let text = PRIVATE
        .replace(
            "      envFromSecret",
            "      replicas: null\n      scalingAdapter: {enabled: false}\n      envFromSecret",
        )
        .replace("metadata:", "metadata:\n  labels: {}");
    let (printed, said, code) = gateward(&["convert", "--round-trip", "-"], &text);
    assert_eq!((printed.as_str(), said.as_str(), code), ("", "", 0));
    let request = "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeploymentRequest\nmetadata: {name: otter}\nspec: \
                   {model: a/b, image: 'x:1'}\n";
    let (_, said, code) = gateward(&["convert", "--round-trip", "-"], request);
    assert_eq!((said.as_str(), code), ("", 0), "autoApply appears as its default");
}

const JSON: &str = r#"{"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": {"name": "otter"},
    "spec": {"services": {"frontend": {"componentType": "frontend"}}}}"#;

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
    let expected = "error: -:10:7: document 1: DynamoGraphDeployment zoo/otter: spec.services[frontend].replicas: it is \
                    text, and must be a whole number\n";
    assert!(errors.ends_with(expected), "{errors}");
}

#[test]
fn a_round_trip_that_changes_nothing_ends_well() {
    let (printed, errors, code) = gateward(&["convert", "--round-trip", "-"], GRAPH);
    assert_eq!((printed.as_str(), errors.as_str(), code), ("", "", 0));
}

#[test]
fn what_can_not_be_read_or_asked_for_ends_with_2() {
    for (arguments, input) in [
        (["convert", "--to", "v9", "-"].as_slice(), GRAPH),
        (&["convert", "--to", "v1beta1", "-"], "a: [\n"),
        (&["convert", "--to", "v1beta1", "/no/such/file.yaml"], ""),
        (&["convert", "--round-trip", "--to", "v1beta1", "-"], GRAPH),
        (&["convert", "-"], GRAPH),
        (&["convert", "--to", "v1beta1", "--write", "-"], GRAPH),
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
