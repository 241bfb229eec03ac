//! The folder that `generate kustomize` writes: what kustomize makes of it, and what the API server says to that.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod folder;

use std::process::ExitCode;

use cluster_tests::{Sandbox, run, tests};
use serde_json::{Value, json};

use crate::folder::{Folder, object};

fn main() -> ExitCode {
    let tests = tests![
        kustomize_prints_what_the_other_commands_print,
        a_role_in_another_namespace_stays_there,
        a_folder_without_a_namespace_makes_its_own,
        an_overlay_changes_namespace_and_image_and_references_follow,
        the_api_server_takes_every_object,
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
    let folder = Folder::generated(&sandbox, "restricted", &arguments);
    let built = folder.built();
    assert_eq!(built, folder.printed(&RELEASE, &arguments));
    assert!(built.keys().any(|(kind, namespace, _)| (kind.as_str(), namespace.as_str()) == ("Role", "lake")));
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
