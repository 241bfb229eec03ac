//! The commands as a user runs them: the real binary, its output and its exit codes.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

const MODEL: &str = "\
apiVersion: nvidia.com/v1alpha1
kind: DynamoModel
metadata:
  name: finch
  namespace: zoo
spec:
  modelName: finch
  baseModelName: Qwen/Qwen3-0.6B
  modelType: lora
  source:
    uri: https://example.org/finch
";

fn gateward(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gateward").unwrap();
    command.args(arguments);
    command
}

fn model(uri: &str) -> Value {
    json!({
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "DynamoModel",
        "metadata": {"name": "finch", "namespace": "zoo"},
        "spec": {"modelName": "finch", "baseModelName": "base", "modelType": "lora", "source": {"uri": uri}},
    })
}

fn review(uid: &str, kind: &str, object: &Value) -> String {
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": uid,
            "kind": {"group": "nvidia.com", "version": "v1alpha1", "kind": kind},
            "operation": "CREATE",
            "namespace": "zoo",
            "object": object,
        }
    })
    .to_string()
}

/// Runs `review` on lines and gives the answers and the exit code.
fn answers(arguments: &[&str], lines: &[String]) -> (Vec<Value>, i32) {
    let output = gateward(arguments).write_stdin(lines.join("\n")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let answers = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (answers, output.status.code().unwrap())
}

#[test]
fn review_answers_line_by_line_in_the_same_order() {
    let lines =
        [review("one", "DynamoModel", &model("hf://a/b")), review("two", "DynamoModel", &model("https://example.org"))];
    let (answers, code) = answers(&["review"], &lines);
    assert_eq!(code, 0, "denials are answers");
    assert_eq!(answers[0]["response"]["uid"], "one");
    assert_eq!(answers[0]["response"]["allowed"], true);
    assert_eq!(answers[1]["response"]["uid"], "two");
    assert_eq!(answers[1]["response"]["status"]["code"], 422);
    assert_eq!(answers[1]["response"]["status"]["details"]["causes"][0]["field"], "spec.source.uri");
}

#[test]
fn review_never_repeats_a_redacted_value() {
    let lines = [review("one", "DynamoModel", &model("https://user:secret@example.org"))];
    let output = gateward(&["review"]).write_stdin(lines.concat()).output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("secret"));
}

#[test]
fn review_answers_an_unreadable_line_with_an_empty_uid_and_goes_on() {
    let lines = ["{\"kind\": 1".to_owned(), review("two", "DynamoModel", &model("hf://a/b"))];
    let (answers, code) = answers(&["review"], &lines);
    assert_eq!(code, 2);
    assert_eq!(answers[0]["response"]["uid"], "");
    assert_eq!(answers[0]["response"]["allowed"], false);
    assert_eq!(answers[0]["response"]["status"]["code"], 400);
    assert_eq!(answers[1]["response"]["allowed"], true);
}

#[test]
fn review_lets_a_kind_without_a_handler_pass() {
    let (answers, code) = answers(&["review"], &[review("one", "DynamoTeapot", &json!({}))]);
    assert_eq!((code, &answers[0]["response"]["allowed"]), (0, &Value::Bool(true)));
}

#[test]
fn review_mutate_gives_no_patch_where_there_is_no_defaulter() {
    let (answers, _) = answers(&["review", "--mutate"], &[review("one", "DynamoModel", &model("hf://a/b"))]);
    assert_eq!(answers[0]["response"]["allowed"], true);
    assert!(answers[0]["response"].get("patch").is_none());
}

#[test]
fn check_finds_the_line_and_the_column() {
    let output = gateward(&["check", "--output", "json", "-"]).write_stdin(MODEL).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let findings: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<&Value> = findings.iter().filter(|finding| finding["severity"] == "error").collect();
    assert_eq!(errors.len(), 1, "{text}");
    assert_eq!(errors[0]["rule"], "MODEL-05");
    assert_eq!((&errors[0]["line"], &errors[0]["path"]), (&json!(11), &json!("spec.source.uri")));
    assert_eq!(errors[0]["name"], "finch");
}

#[test]
fn check_is_content_with_a_good_manifest() {
    let good = MODEL.replace("https://example.org/finch", "hf://example/finch");
    gateward(&["check", "-"]).write_stdin(good).assert().code(0);
}

#[test]
fn check_skips_and_counts_kinds_that_are_not_ours() {
    let output = gateward(&["check", "-"]).write_stdin("apiVersion: v1\nkind: ConfigMap\n").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let said = [output.stdout, output.stderr].concat();
    assert!(String::from_utf8_lossy(&said).contains("1 object of another kind"), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn check_reads_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("deep")).unwrap();
    std::fs::write(folder.path().join("deep/bad.yaml"), MODEL).unwrap();
    std::fs::write(folder.path().join("notes.txt"), "not: [yaml").unwrap();
    let output = gateward(&["check", "--output", "json"]).arg(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("bad.yaml"));
}

#[test]
fn a_folder_without_a_manifest_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "no manifest").unwrap();
    for arguments in [&["check"][..], &["convert", "--to", "v1beta1"]] {
        let output = gateward(arguments).arg(folder.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let said = String::from_utf8(output.stderr).unwrap();
        let named =
            format!("warning: no manifest (*.yaml, *.yml or *.json) was found in {}\n", folder.path().display());
        assert_eq!(said, named);
    }
}

/// The pipe of `kustomize build . | gateward check -` is empty where the build fails, and a shell passes over that.
#[test]
fn standard_input_without_a_manifest_is_no_verdict() {
    for arguments in [&["check", "-"][..], &["convert", "--to", "v1beta1", "-"], &["convert", "--round-trip", "-"]] {
        for input in ["", "\n", "---\n# nothing\n---\n", "null\n"] {
            let output = gateward(arguments).write_stdin(input).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {input:?}");
            let said = String::from_utf8(output.stderr).unwrap();
            let begins =
                "error: there is no manifest on standard input; look whether the command that writes it has failed";
            assert!(said.starts_with(begins) && said.lines().count() == 1, "{said}");
        }
    }
}

#[test]
fn an_empty_list_on_standard_input_is_an_answer() {
    gateward(&["check", "-"]).write_stdin("apiVersion: v1\nkind: List\nitems: []\n").assert().code(0).stderr("");
}

#[test]
fn a_file_without_a_manifest_is_named_unless_it_is_one_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("empty.yaml");
    std::fs::write(&file, "# moved elsewhere\n").unwrap();
    for arguments in [&["check"][..], &["convert", "--to", "v1beta1"]] {
        let named = format!("warning: there is no manifest in {}\n", file.display());
        gateward(arguments).arg(&file).assert().code(0).stderr(named);
        gateward(arguments).arg(folder.path()).assert().code(0).stderr("");
    }
}

#[test]
fn check_of_a_file_that_does_not_parse_is_a_finding() {
    let output = gateward(&["check", "--output", "json", "-"]).write_stdin("a: [1").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("YAML-SYNTAX"));
}

#[test]
fn check_of_a_file_that_is_not_there_is_a_usage_error() {
    gateward(&["check", "/no/such/file.yaml"]).assert().code(2);
}

#[test]
fn check_of_a_change_compares_with_the_old_object() {
    let folder = tempfile::tempdir().unwrap();
    let old = folder.path().join("old.yaml");
    std::fs::write(&old, MODEL.replace("https://example.org", "hf://example")).unwrap();
    let new = MODEL.replace("https://example.org", "hf://example").replace("Qwen/Qwen3-0.6B", "other/base");
    let output =
        gateward(&["check", "--output", "json", "--old"]).arg(&old).arg("-").write_stdin(new).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("MODEL-07"));
}

#[test]
fn a_misspelt_fact_is_a_usage_error_that_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let facts = folder.path().join("facts.yaml");
    std::fs::write(&facts, "groveEnable: true\n").unwrap();
    let output = gateward(&["check", "--facts"]).arg(&facts).arg("-").write_stdin(MODEL).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("groveEnable"));
}

#[test]
fn a_file_that_never_ends_is_a_usage_error() {
    for arguments in [
        ["check", "--facts", "/dev/zero", "-"],
        ["review", "--mutate", "--facts", "/dev/zero"],
        ["serve", "--local", "--facts", "/dev/zero"],
    ] {
        let stderr = gateward(&arguments).write_stdin("").assert().code(2).get_output().stderr.clone();
        let stderr = String::from_utf8(stderr).unwrap();
        assert!(stderr.contains("cannot read /dev/zero: it is longer than 1 MiB"), "{stderr}");
    }
}

#[test]
fn rules_prints_the_catalogue_and_one_rule_with_its_examples() {
    let all = gateward(&["rules"]).output().unwrap();
    assert!(String::from_utf8(all.stdout).unwrap().contains("MODEL-05"));
    let one = gateward(&["rules", "model-05"]).output().unwrap();
    let text = String::from_utf8(one.stdout).unwrap();
    assert!(text.contains("# breaks it") && text.contains("# keeps it"), "{text}");
    gateward(&["rules", "NO-SUCH-RULE"]).assert().code(2);
    let misspelt = gateward(&["rules", "dgdr-bb2"]).output().unwrap();
    assert!(String::from_utf8(misspelt.stderr).unwrap().contains("no rule dgdr-bb2; did you mean DGDR-B2?"));
}

#[test]
fn the_generated_pages_in_docs_are_fresh() {
    let pages: [(&str, &[&str]); 3] = [
        ("docs/rules.md", &["rules", "--output", "markdown"]),
        ("docs/bundle-rules.md", &["bundle", "rules", "--output", "markdown"]),
        ("docs/cli.md", &["generate", "cli-reference"]),
    ];
    for (page, arguments) in pages {
        let printed = gateward(arguments).output().unwrap();
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let kept = std::fs::read_to_string(kept).unwrap();
        assert!(kept.as_bytes() == printed.stdout, "{page} is stale: run `make generate`");
    }
}

#[test]
fn generated_webhooks_carry_the_names_of_the_guide() {
    let output = gateward(&["generate", "webhooks", "--output", "json", "--release", "r", "--namespace", "n"]);
    let output = { output }.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let configurations: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(configurations[0]["kind"], "ValidatingWebhookConfiguration");
    assert_eq!(configurations[0]["metadata"]["name"], "r-validating");
    assert_eq!(configurations[1]["metadata"]["name"], "r-mutating");
    let names: Vec<&str> = configurations
        .iter()
        .flat_map(|configuration| configuration["webhooks"].as_array().unwrap())
        .map(|webhook| webhook["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "vdynamographdeployment.kb.io",
            "vdynamocomponentdeployment.kb.io",
            "vdynamographdeploymentrequest.kb.io",
            "vdynamomodel.kb.io",
            "mdynamographdeployment.kb.io",
            "mdynamocomponentdeploymentv1beta1.kb.io",
            "mdynamographdeploymentrequestv1beta1.kb.io",
        ]
    );
    let first = &configurations[0]["webhooks"][0];
    assert_eq!(first["clientConfig"]["service"]["name"], "r-dynamo-operator-webhook-service");
    assert_eq!(first["clientConfig"]["service"]["path"], "/validate/nvidia.com/v1beta1/dynamographdeployments");
    assert_eq!(first["rules"][0]["apiVersions"], json!(["v1alpha1", "v1beta1"]));
    assert_eq!(configurations[1]["webhooks"][1]["matchPolicy"], "Exact");
    assert_eq!(configurations[1]["webhooks"][1]["rules"][0]["apiVersions"], json!(["v1beta1"]));
}

#[test]
fn generated_crds_are_six() {
    let output = gateward(&["generate", "crds", "--output", "json"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["spec"]["names"]["kind"].clone())
        .collect();
    assert_eq!(names.len(), 6, "{names:?}");
}

#[test]
fn generated_crds_name_the_service_that_converts_where_the_user_says() {
    let namespaces = |arguments: &[&str]| -> Vec<Value> {
        let output = gateward(arguments).output().unwrap();
        let crds = String::from_utf8(output.stdout).unwrap();
        let crds = crds.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        crds.filter_map(|crd| crd.pointer("/spec/conversion/webhook/clientConfig/service/namespace").cloned()).collect()
    };
    assert_eq!(namespaces(&["generate", "crds", "--output", "json"]), vec![json!("dynamo-system"); 4]);
    assert_eq!(namespaces(&["generate", "crds", "--output", "json", "--namespace", "x"]), vec![json!("x"); 4]);
}

#[test]
fn completions_know_the_commands() {
    let output = gateward(&["completions", "bash"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("review"));
}

#[test]
fn doctor_says_what_to_ask_for_and_which_release_it_is_about() {
    let said = |arguments: &[&str]| {
        let output = gateward(arguments).env("KUBECONFIG", "/nowhere").output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let way_out = "`gateward doctor --preflight --release river --namespace dynamo-system --values values.yaml`";
    assert!(said(&["doctor", "--release", "river"]).contains(way_out));
    let note = "note: this is about release river in namespace dynamo-system; --release and --namespace name another\n";
    assert!(said(&["doctor", "--preflight", "--release", "river"]).starts_with(note));
    let named = said(&["doctor", "--preflight", "--release", "river", "--namespace", "zoo"]);
    assert!(named.starts_with("error: ") && named.contains("/nowhere"), "{named}");
}

#[test]
fn help_is_fine_and_nonsense_is_not() {
    gateward(&["--help"]).assert().code(0);
    gateward(&["frobnicate"]).assert().code(2);
    gateward(&["check", "--frobnicate"]).assert().code(2);
}
