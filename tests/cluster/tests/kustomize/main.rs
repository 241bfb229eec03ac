//! The folder that `generate kustomize` writes: what kustomize makes of it, and what the API server says to that.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod folder;

use std::path::Path;
use std::process::ExitCode;

use base64::Engine as _;
use cluster_tests::{Sandbox, run, tests};
use gateward_lint::yaml;
use serde_json::{Value, json};

use crate::folder::{Folder, Objects, by_name, object};

fn main() -> ExitCode {
    let tests = tests![
        kustomize_prints_what_the_other_commands_print,
        a_role_in_another_namespace_stays_there,
        what_serves_one_namespace_is_called_for_it_alone,
        the_service_is_the_one_that_the_pods_know,
        cert_manager_is_asked_for_what_the_chart_asks,
        a_ca_of_the_users_own_is_in_every_webhook_and_conversion,
        a_folder_without_a_namespace_makes_its_own,
        an_overlay_changes_namespace_and_image_and_references_follow,
        the_api_server_takes_every_object,
        the_api_server_takes_every_object_of_cert_manager,
        the_api_server_takes_what_other_values_ask_for,
    ];
    run(tests, async |_| Ok(()))
}

const RELEASE: [&str; 4] = ["--release", "river", "--namespace", "river-system"];

async fn kustomize_prints_what_the_other_commands_print(sandbox: Sandbox) {
    for format in ["yaml", "json"] {
        let folder = Folder::generated(&sandbox, format, &[&RELEASE[..], &["--format", format]].concat());
        assert_eq!(folder.built(), folder.printed(&RELEASE, &RELEASE), "{format}");
    }
}

async fn a_role_in_another_namespace_stays_there(sandbox: Sandbox) {
    let values = sandbox.bed().folder().join("restricted.json");
    let restricted = json!({"namespaceRestriction": {"enabled": true, "namespace": "lake"}});
    std::fs::write(&values, restricted.to_string()).unwrap();
    let values = ["--values", values.to_str().unwrap()];
    let arguments = [&RELEASE[..], &values].concat();
    let built = Folder::generated(&sandbox, "restricted", &arguments).built();
    assert!(built.keys().any(|(kind, namespace, _)| (kind.as_str(), namespace.as_str()) == ("Role", "lake")));
}

/// A folder that is generated with values of Dynamo's chart.
fn with_values<'a>(sandbox: &'a Sandbox, name: &str, values: &Value) -> Folder<'a> {
    let file = sandbox.bed().folder().join(format!("{name}.json"));
    std::fs::write(&file, values.to_string()).unwrap();
    Folder::generated(sandbox, name, &[&RELEASE[..], &["--values", file.to_str().unwrap()]].concat())
}

async fn what_serves_one_namespace_is_called_for_it_alone(sandbox: Sandbox) {
    let restricted = json!({"namespaceRestriction": {"enabled": true, "namespace": "lake"}});
    let built = with_values(&sandbox, "one-namespace", &restricted).built();
    assert!(built.keys().all(|(kind, ..)| kind != "CustomResourceDefinition"));
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": "lake"}});
    for (kind, name) in [("Validating", "river-validating-lake"), ("Mutating", "river-mutating-lake")] {
        let configuration = object(&built, &format!("{kind}WebhookConfiguration"));
        assert_eq!(configuration["metadata"]["name"], name);
        let webhooks = configuration["webhooks"].as_array().unwrap();
        assert!(webhooks.iter().all(|webhook| webhook["namespaceSelector"] == selector), "{configuration}");
    }
}

async fn the_service_is_the_one_that_the_pods_know(sandbox: Sandbox) {
    let built = with_values(&sandbox, "named", &json!({"fullnameOverride": "otter"})).built();
    assert_eq!(object(&built, "Service")["metadata"]["name"], "otter-webhook-service");
    let services: Vec<&Value> = built.values().flat_map(service_references).collect();
    assert_eq!(services.len(), 7 + 4, "seven webhooks and four CRDs: {services:?}");
    assert!(services.iter().all(|service| service["name"] == "otter-webhook-service"), "{services:?}");
}

async fn cert_manager_is_asked_for_what_the_chart_asks(sandbox: Sandbox) {
    let certificates = json!({"keyAlgorithm": "RSA", "dnsNames": ["otter.zoo.svc"]});
    let values = json!({"webhook": {"certManager": {"enabled": true}, "certificates": certificates}});
    let built = with_values(&sandbox, "by-cert-manager", &values).built();
    let mut helm = sandbox.bed().helm();
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/helm/dynamo-platform");
    helm.args(["template", "river"]).arg(chart).args(["--namespace", "river-system", "--kube-version", "1.34"]);
    helm.args(["--set-json", &format!("dynamo-operator={values}")]);
    let output = helm.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let chart = by_name(yaml::read(&output.stdout).documents.into_iter().map(|document| document.value));
    let asked = |objects: &Objects| {
        let of_cert_manager = objects.iter().filter(|(_, object)| object["apiVersion"] == "cert-manager.io/v1");
        let mut asked: Objects = of_cert_manager.map(|(name, object)| (name.clone(), object["spec"].clone())).collect();
        for spec in asked.values_mut().filter_map(Value::as_object_mut) {
            // How objects are labelled and a CA is called, everybody may say as they like.
            spec.remove("secretTemplate");
            spec.remove("commonName");
            if let Some(names) = spec.get_mut("dnsNames").and_then(Value::as_array_mut) {
                names.sort_by_key(ToString::to_string);
            }
        }
        asked
    };
    assert_eq!(asked(&built).len(), 4);
    assert_eq!(asked(&built), asked(&chart));
    let secret = "river-system/webhook-server-cert-bundle";
    let called: Vec<&Value> = built.values().filter(|object| !service_references(object).is_empty()).collect();
    assert_eq!(called.len(), 2 + 4);
    for object in called {
        assert_eq!(object["metadata"]["annotations"]["cert-manager.io/inject-ca-from-secret"], secret, "{object}");
    }
}

async fn a_ca_of_the_users_own_is_in_every_webhook_and_conversion(sandbox: Sandbox) {
    let ca = std::fs::read(sandbox.bed().folder().join("ca.crt")).unwrap();
    let bundle = base64::engine::general_purpose::STANDARD.encode(ca);
    let values = json!({"webhook": {"certificateSecret": {"external": true}, "caBundle": bundle}});
    let built = with_values(&sandbox, "of-the-users-own", &values).built();
    let webhooks = built.values().flat_map(|object| object["webhooks"].as_array().into_iter().flatten());
    let of_webhooks = webhooks.map(|webhook| &webhook["clientConfig"]["caBundle"]);
    let conversions = built.values().filter_map(|object| object.pointer("/spec/conversion/webhook/clientConfig"));
    let bundles: Vec<&Value> = of_webhooks.chain(conversions.map(|client| &client["caBundle"])).collect();
    assert_eq!(bundles.len(), 7 + 4);
    assert!(bundles.iter().all(|found| found.as_str() == Some(&bundle)), "{bundles:?}");
}

async fn a_folder_without_a_namespace_makes_its_own(sandbox: Sandbox) {
    let built = Folder::generated(&sandbox, "own", &["--release", "river"]).built();
    let made: Vec<&str> = built.keys().filter(|key| key.0 == "Namespace").map(|key| key.2.as_str()).collect();
    let within = |object: &Value| object["metadata"]["namespace"].as_str().map(str::to_owned);
    let mut namespaces: Vec<String> = built.values().filter_map(within).collect();
    namespaces.dedup();
    assert_eq!(namespaces, made);
    let given = Folder::generated(&sandbox, "given", &RELEASE).built();
    assert!(given.keys().all(|(kind, ..)| kind != "Namespace"));
}

async fn an_overlay_changes_namespace_and_image_and_references_follow(sandbox: Sandbox) {
    let base = Folder::generated(&sandbox, "base", &RELEASE);
    let overlay = base.beside(
        "overlay",
        &json!({
            "resources": ["../base"],
            "namespace": "sea-system",
            "images": [{"name": "registry.example.org/operator", "newTag": "2.0.0"}],
            "labels": [{"pairs": {"team": "otters"}}],
        }),
    );
    let built = overlay.built();
    let services: Vec<&Value> = built.values().flat_map(service_references).collect();
    assert_eq!(services.len(), 7 + 4, "seven webhooks and four CRDs: {services:?}");
    assert!(services.iter().all(|service| service["namespace"] == "sea-system"), "{services:?}");
    let service = object(&built, "Service");
    assert_eq!(service["metadata"]["namespace"], "sea-system");
    assert!(services.iter().all(|reference| reference["name"] == service["metadata"]["name"]), "{services:?}");
    for binding in built.values().filter(|object| object["kind"].as_str().unwrap().ends_with("RoleBinding")) {
        assert_eq!(binding["subjects"][0]["namespace"], "sea-system", "{binding}");
    }
    let container = &object(&built, "Deployment")["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["image"], "registry.example.org/operator:2.0.0");
    let selector = &object(&built, "Deployment")["spec"]["selector"]["matchLabels"];
    assert_eq!(selector.get("team"), None, "a label that is added later must not be one that selects");
}

/// The Services that an object has the API server call.
fn service_references(object: &Value) -> Vec<&Value> {
    let webhooks = object["webhooks"].as_array().into_iter().flatten();
    let of_webhooks = webhooks.map(|webhook| &webhook["clientConfig"]["service"]);
    let of_conversion = object.pointer("/spec/conversion/webhook/clientConfig/service");
    of_webhooks.chain(of_conversion).collect()
}

async fn the_api_server_takes_every_object(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let namespace = json!({"metadata": {"name": "river-system"}});
    bed.client().post("/api/v1/namespaces", &namespace).await.unwrap().granted().unwrap();
    for format in ["yaml", "json"] {
        let folder =
            Folder::generated(&sandbox, &format!("dry-{format}"), &[&RELEASE[..], &["--format", format]].concat());
        let count = folder.built().len();
        let said = folder.kubectl(&["apply", "--server-side", "--dry-run=server", "--validate=strict", "-k"]);
        assert_eq!(said.lines().filter(|line| line.ends_with("(server dry run)")).count(), count, "{said}");
    }
}

async fn the_api_server_takes_every_object_of_cert_manager(sandbox: Sandbox) {
    let bed = sandbox.bed();
    // kubectl follows no links.
    let crds = bed.programs().control_plane("cert-manager-crds");
    let crds = Path::new(crds.get_program()).canonicalize().unwrap();
    folder::output(bed.kubectl().args(["apply", "--server-side", "-f"]).arg(crds));
    folder::output(bed.kubectl().args(["create", "namespace", "sea-system"]));
    let values = json!({"webhook": {"certManager": {"enabled": true}}});
    let folder = with_values(&sandbox, "strict-cert-manager", &values);
    let overlay = folder.beside("sea", &json!({"resources": ["../strict-cert-manager"], "namespace": "sea-system"}));
    let count = overlay.built().len();
    let said = overlay.kubectl(&["apply", "--server-side", "--dry-run=server", "--validate=strict", "-k"]);
    assert_eq!(said.lines().filter(|line| line.ends_with("(server dry run)")).count(), count, "{said}");
}

/// A certificate of the user's own, and an operator of one namespace: the folder, and the roles alone.
async fn the_api_server_takes_what_other_values_ask_for(sandbox: Sandbox) {
    let bed = sandbox.bed();
    for namespace in ["pond-system", "pond"] {
        folder::output(bed.kubectl().args(["create", "namespace", namespace]));
    }
    let ca = base64::engine::general_purpose::STANDARD.encode(std::fs::read(bed.folder().join("ca.crt")).unwrap());
    let external = json!({"webhook": {"certificateSecret": {"external": true}, "caBundle": ca}});
    let restricted = json!({"namespaceRestriction": {"enabled": true, "namespace": "pond"}});
    for (name, values) in [("strict-external", external), ("strict-one-namespace", restricted)] {
        let file = bed.folder().join(format!("{name}.json"));
        std::fs::write(&file, values.to_string()).unwrap();
        let given = ["--release", "pond", "--namespace", "pond-system", "--values", file.to_str().unwrap()];
        let folder = Folder::generated(&sandbox, name, &given);
        let count = folder.built().len();
        let said = folder.kubectl(&["apply", "--server-side", "--dry-run=server", "--validate=strict", "-k"]);
        assert_eq!(said.lines().filter(|line| line.ends_with("(server dry run)")).count(), count, "{said}");

        let roles = folder::output(bed.programs().gateward().args(["generate", "rbac"]).args(given));
        let file = file.with_extension("yaml");
        std::fs::write(&file, &roles).unwrap();
        let count = yaml::read(&roles).documents.into_iter().filter(|document| !document.value.is_null()).count();
        let apply = ["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f"];
        let said = folder::output(bed.kubectl().args(apply).arg(&file));
        assert_eq!(said.lines().filter(|line| line.ends_with("(server dry run)")).count(), count, "{said}");
    }
}
