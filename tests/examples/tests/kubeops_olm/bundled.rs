//! The bundles of this repository, as OLM installs them: what it makes of each leads to what the Pods do.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use olm_model::{
    Bundle, Csv, CsvIdentity, OperatorGroup, SERVER_MOUNTS, ServiceNames, WebhookType, configuration, converted,
    mounted, namespace_selector, service,
};
use serde_json::Value;

const NAMESPACE: &str = "operators";
const CA: &str = "ca";

/// Those that `make generate` writes.
const BUNDLES: [&str; 2] = ["examples/olm-webhooktest/bundle", "deploy/olm"];

fn bundles() -> Vec<Bundle> {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    BUNDLES.iter().map(|folder| read(&repository.join(folder).join("manifests"))).collect()
}

fn read(manifests: &Path) -> Bundle {
    let files: Vec<PathBuf> = fs::read_dir(manifests).unwrap().map(|entry| entry.unwrap().path()).collect();
    let read = |file: &PathBuf| serde_saphyr::from_str::<Value>(&fs::read_to_string(file).unwrap()).unwrap();
    Bundle::of(files.iter().map(read).collect()).unwrap()
}

fn identity(csv: &Csv) -> CsvIdentity {
    CsvIdentity { name: csv.name.clone(), namespace: NAMESPACE.to_owned() }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn the_service_of_a_bundle_leads_to_the_listener_of_its_pods() {
    for bundle in bundles() {
        let [(name, spec)] = &bundle.csv.deployments[..] else { panic!("{} has one Deployment", bundle.csv.name) };
        let webhooks = bundle.csv.webhooks_of(name);
        assert_eq!(webhooks.len(), bundle.csv.webhooks.len(), "each webhook names the Deployment");
        let service = service(name, spec, NAMESPACE, &webhooks);
        assert_eq!(service["spec"]["selector"], spec["template"]["metadata"]["labels"]);
        let [port] = &service["spec"]["ports"].as_array().unwrap()[..] else { panic!("one port: {service}") };
        let ports = spec["template"]["spec"]["containers"][0]["ports"].as_array().unwrap();
        let listener = ports.iter().find(|port| port["name"] == "webhook-server").unwrap();
        assert_eq!(port["targetPort"], listener["containerPort"]);
        // Where it had a dot, the configurations would call another Service.
        assert_eq!(ServiceNames::of(name).service, ServiceNames::of(name).called_service);
    }
}

#[test]
fn the_pods_of_a_bundle_read_the_certificate_where_olm_mounts_it() {
    for bundle in bundles() {
        let (name, spec) = &bundle.csv.deployments[0];
        let pod = &mounted(name, spec, CA)["template"]["spec"];
        let container = &pod["containers"][0];
        let arguments = texts(&container["args"]);
        let at = arguments.iter().position(|argument| *argument == "--certificate-dir").unwrap();
        assert!(SERVER_MOUNTS.iter().any(|mount| arguments[at + 1] == mount.path), "{arguments:?}");
        let unique = |list: &Value, member: &str| {
            let names: Vec<&Value> = list.as_array().unwrap().iter().map(|item| &item[member]).collect();
            assert_eq!(names.iter().map(|name| name.as_str()).collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        };
        unique(&pod["volumes"], "name");
        unique(&container["volumeMounts"], "mountPath");
    }
}

#[test]
fn an_api_server_takes_the_configurations_that_olm_makes_of_a_bundle() {
    let everything = namespace_selector(&OperatorGroup::default());
    for bundle in bundles() {
        for webhook in bundle.csv.webhooks.iter().filter(|it| it.webhook_type != WebhookType::Conversion) {
            let made = configuration(webhook, &identity(&bundle.csv), everything.as_ref(), CA).unwrap();
            let labels = made["metadata"]["labels"].as_object().unwrap();
            assert!(labels.values().all(|label| label.as_str().unwrap().len() <= 63), "{labels:?}");
            let entry = &made["webhooks"][0];
            let name = entry["name"].as_str().unwrap();
            assert!(name.split('.').count() >= 3 && gateward::dns::is_subdomain(name), "{name}");
            assert!((1..=30).contains(&entry["timeoutSeconds"].as_i64().unwrap()), "{entry}");
            assert!(entry["namespaceSelector"].is_null(), "an operator of all namespaces judges all");
        }
    }
}

#[test]
fn webhooks_serve_each_path_that_olm_has_called() {
    let webhooks = olm_webhooktest::webhooks();
    let Bundle { csv, crds, .. } = bundles().remove(0);
    let [crd] = &crds[..] else { panic!("one CRD") };
    assert!(crd["spec"]["conversion"].is_null(), "OLM writes the stanza, once there is who answers");
    for webhook in &csv.webhooks {
        let path = match webhook.webhook_type {
            WebhookType::Conversion => {
                let crd = converted(crd, webhook, NAMESPACE, CA);
                let client = &crd["spec"]["conversion"]["webhook"]["clientConfig"];
                client["service"]["path"].as_str().unwrap().to_owned()
            }
            _ => webhook.webhook_path.clone().unwrap(),
        };
        assert!(webhooks.route(&path).is_some(), "{path}");
    }
}
