//! Everything that is generated passes a strict dry run: no API server knows less of it than we wrote.

use std::collections::BTreeSet;
use std::path::Path;

use base64::Engine;
use cluster_tests::{Bed, Sandbox, Test, tests};
use gateward_lint::yaml;
use serde_json::{Value, json};

use crate::bundles;
use crate::command::{kubectl, kubectl_with, output};

pub fn tests() -> Vec<Test> {
    tests![what_operators_generate_passes_a_strict_dry_run, bundles_pass_a_strict_dry_run]
}

const NAMESPACE: &str = "strict";
const IMAGE: [&str; 2] = ["--image", "registry.example.org/operator:1.0.0"];
const RELEASE: [&str; 4] = ["--release", "otter", "--namespace", NAMESPACE];
const DRY_RUN: [&str; 4] = ["apply", "--server-side", "--dry-run=server", "--validate=strict"];

/// What Helm sends to an API server for each mode of certificates.
const MODES: [&str; 3] = ["auto", "cert-manager", "external"];

/// A NetworkPolicy with all that it can say.
const POLICY: &str = "networkPolicy={\"enabled\": true, \"apiServerCIDRs\": [\"10.0.0.0/8\"], \"nodeCIDRs\": [\"10.0.0.0/8\"], \
                      \"metricsFrom\": [{\"podSelector\": {}}]}";

/// The programs that generate, by the names of their files.
const PROGRAMS: [&str; 3] = ["gateward", "crontab", "olm-webhooktest"];

fn run(bed: &Bed, program: &str, arguments: &[&str]) -> String {
    let mut command = match program {
        "gateward" => bed.programs().gateward(),
        example => bed.programs().example(example).unwrap_or_else(|| panic!("{example} is not built")),
    };
    output(command.args(arguments))
}

fn documents(text: &str) -> Vec<Value> {
    let source = yaml::read(text);
    assert!(source.findings.is_empty(), "{text:.1000}");
    source.documents.into_iter().map(|document| document.value).filter(|value| !value.is_null()).collect()
}

/// Sends objects to the API server, which stores none, and notes their kinds.
fn pass(bed: &Bed, objects: &[Value], kinds: &mut BTreeSet<String>) {
    kinds.extend(objects.iter().map(|object| object["kind"].as_str().unwrap().to_owned()));
    let is_of_another_namespace = |object: &Value| {
        object["kind"] != "Namespace" && object["metadata"].get("namespace").is_some_and(|name| name != NAMESPACE)
    };
    assert!(!objects.is_empty() && !objects.iter().any(is_of_another_namespace));
    kubectl_with(bed, &[&DRY_RUN[..], &["-n", NAMESPACE]].concat(), objects);
}

async fn what_operators_generate_passes_a_strict_dry_run(sandbox: Sandbox) {
    let bed = sandbox.bed();
    kubectl(bed, &["create", "namespace", NAMESPACE]);
    // kubectl follows no links.
    let crds = bed.programs().control_plane("cert-manager-crds");
    let crds = Path::new(crds.get_program()).canonicalize().unwrap();
    kubectl(bed, &["apply", "--server-side", "-f", crds.to_str().unwrap()]);
    let mut kinds = BTreeSet::new();
    for program in PROGRAMS {
        for format in ["yaml", "json"] {
            let generate = |what: &str, further: &[&str]| {
                run(bed, program, &[&["generate", what, "--format", format][..], &RELEASE, further].concat())
            };
            for what in ["crds", "webhooks", "rbac"] {
                pass(bed, &documents(&generate(what, &[])), &mut kinds);
            }
            let deployment = generate("deployment", &[&IMAGE[..], &["--network-policy"]].concat());
            pass(bed, &documents(&deployment), &mut kinds);
            let folder = bed.folder().join(format!("{program}-{format}"));
            generate("kustomize", &[&IMAGE[..], &["--out", folder.to_str().unwrap()]].concat());
            pass(bed, &documents(&kubectl(bed, &["kustomize", folder.to_str().unwrap()])), &mut kinds);
        }
        let folder = bed.folder().join(format!("{program}-chart"));
        run(bed, program, &[&["generate", "chart", "--out", folder.to_str().unwrap()][..], &IMAGE].concat());
        for mode in MODES.into_iter().filter(|mode| program != "gateward" || *mode == "auto") {
            let objects = rendered(bed, &folder, mode);
            assert!(objects.iter().any(|object| object["kind"] == "NetworkPolicy"));
            pass(bed, &objects, &mut kinds);
        }
    }
    kubectl(bed, &["delete", "namespace", NAMESPACE]);
    kubectl(bed, &["delete", "-f", crds.to_str().unwrap()]);
    for kind in [
        "CustomResourceDefinition",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "ServiceAccount",
        "Deployment",
        "Service",
        "ConfigMap",
        "PodDisruptionBudget",
        "NetworkPolicy",
        "Certificate",
        "Issuer",
    ] {
        assert!(kinds.contains(kind), "no {kind} among {kinds:?}");
    }
}

/// A chart as Helm renders it for the API server of this bed.
fn rendered(bed: &Bed, chart: &Path, mode: &str) -> Vec<Value> {
    let version: Value = serde_json::from_str(&kubectl(bed, &["version", "-o", "json"])).unwrap();
    let version = version["serverVersion"]["gitVersion"].as_str().unwrap();
    let mut helm = bed.helm();
    helm.args(["template", "otter"]).arg(chart).args(["-n", NAMESPACE, "--kube-version", version]);
    helm.args(["--set", &format!("certificates.mode={mode}"), "--set-json", POLICY, "--include-crds"]);
    if mode == "external" {
        let issued = rcgen::generate_simple_self_signed(["otter".to_owned()]).unwrap();
        let bundle = base64::engine::general_purpose::STANDARD.encode(issued.cert.pem());
        helm.args(["--set-string", &format!("certificates.caBundle={bundle}")]);
    }
    documents(&output(&mut helm))
}

async fn bundles_pass_a_strict_dry_run(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let csv = bed.programs().control_plane("olm-crds");
    let csv = Path::new(csv.get_program()).join("operators.coreos.com_clusterserviceversions.yaml");
    let knows_csv = csv.exists();
    if knows_csv {
        // kubectl's wait fails where the CRD has no status yet.
        bed.install_crds(&documents(&std::fs::read_to_string(&csv).unwrap())).await.unwrap();
    } else {
        println!("skipped: shipping: the CRD of CSVs is absent");
    }
    kubectl(bed, &["create", "namespace", NAMESPACE]);
    let mut kinds = BTreeSet::new();
    for folder in bundles::folders(bed) {
        let mut objects = bundles::objects(&folder);
        objects.retain(|object| knows_csv || object["kind"] != "ClusterServiceVersion");
        pass(bed, &objects, &mut kinds);
    }
    assert!(
        kinds.contains("CustomResourceDefinition") && kinds.contains("ClusterServiceVersion") == knows_csv,
        "{kinds:?}"
    );
    kubectl(bed, &["delete", "namespace", NAMESPACE]);
    if knows_csv {
        // A field that nobody knows would have been refused.
        let odd = json!({"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": {"name": "odd"}, "spec": {"novel": 1}});
        let file = bed.folder().join("odd.json");
        std::fs::write(&file, odd.to_string()).unwrap();
        let refused = bed.kubectl().args(DRY_RUN).arg("-f").arg(&file).output().unwrap();
        assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("novel"));
        kubectl(bed, &["delete", "-f", csv.to_str().unwrap()]);
    }
}
