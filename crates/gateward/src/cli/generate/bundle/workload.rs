//! What a bundle runs: the objects of `generate deployment`, as OLM takes them.

use anyhow::{Context as _, bail};
use gateward_certs::Fingerprint;
use serde_json::{Value, json};

use crate::cli::generate::deployment::CHECKSUM;

/// Where OLM mounts the serving certificate.
const CERTIFICATE_DIR: &str = "/tmp/k8s-webhook-server/serving-certs";
/// What a bundle runs.
pub(super) struct BundleWorkload {
    pub(super) deployment: BundleDeployment,
    /// The objects beside the CSV, each with the name of its file.
    pub(super) others: Vec<(String, Value)>,
}

/// The Deployment of a CSV.
pub(super) struct BundleDeployment {
    pub(super) name: String,
    pub(super) labels: Value,
    pub(super) spec: Value,
}

impl BundleWorkload {
    /// Sorts the objects. OLM makes the Service.
    pub(super) fn of(objects: Vec<Value>) -> anyhow::Result<Self> {
        let (mut deployment, mut others) = (None, Vec::new());
        for mut object in objects {
            match object["kind"].as_str() {
                Some("Deployment") => deployment = Some(object),
                Some("Service") => {}
                _ => {
                    // OLM installs into the namespace of its user's choice.
                    if let Some(metadata) = object["metadata"].as_object_mut() {
                        metadata.remove("namespace");
                    }
                    others.push((file_of(&object), object));
                }
            }
        }
        let mut deployment = deployment.context("there is no Deployment")?;
        let settings: Vec<&Value> = others.iter().map(|(_, object)| object).collect();
        let checksum = checksum(&settings);
        let Some(Value::Array(arguments)) = deployment.pointer_mut("/spec/template/spec/containers/0/args") else {
            bail!("the server's container has no arguments");
        };
        arguments.extend(["--certificate-dir", CERTIFICATE_DIR].map(Value::from));
        if let Some(template) = deployment.pointer_mut("/spec/template/metadata").and_then(Value::as_object_mut) {
            let annotations = template.entry("annotations").or_insert_with(|| json!({}));
            annotations[CHECKSUM] = checksum.into();
        }
        let name = deployment["metadata"]["name"].as_str().context("the Deployment has no name")?.to_owned();
        let (labels, spec) = (deployment["metadata"]["labels"].take(), deployment["spec"].take());
        Ok(Self { deployment: BundleDeployment { name, labels, spec }, others })
    }
}

/// The fingerprint of what the configuration has.
fn checksum(objects: &[&Value]) -> String {
    let settings =
        objects.iter().filter(|object| object["kind"] == "ConfigMap").map(|object| object["data"].to_string());
    Fingerprint::of(settings.collect::<String>().as_bytes()).to_string()
}

/// The name of an object's file, as operator-sdk has it.
fn file_of(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (name, kind) = (text(&object["metadata"]["name"]), text(&object["kind"]).to_ascii_lowercase());
    format!("{name}_{}_{kind}.yaml", text(&object["apiVersion"]).replace('/', "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, further: Value) -> Value {
        let mut object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "otter", "namespace": "zoo"}});
        object["spec"] = further;
        object
    }

    fn workload(setting: &str) -> BundleWorkload {
        let pod = json!({"containers": [{"args": ["serve"]}]});
        let deployment = json!({"template": {"metadata": {"labels": {}}, "spec": pod}});
        let mut settings = object("ConfigMap", Value::Null);
        settings["data"] = json!({"config.yaml": setting});
        let objects = vec![settings, object("Service", Value::Null), object("Deployment", deployment)];
        BundleWorkload::of(objects).unwrap()
    }

    #[test]
    fn the_server_reads_what_olm_mounts_and_no_volume_is_there_for_it() {
        let spec = workload("a").deployment.spec;
        let pod = &spec["template"]["spec"];
        assert_eq!(pod["containers"][0]["args"], json!(["serve", "--certificate-dir", CERTIFICATE_DIR]));
        assert!(pod["volumes"].is_null());
    }

    #[test]
    fn olm_makes_the_service_and_chooses_the_namespace() {
        let others = workload("a").others;
        let files: Vec<&str> = others.iter().map(|(file, _)| file.as_str()).collect();
        assert_eq!(files, ["otter_v1_configmap.yaml"]);
        assert!(others[0].1["metadata"]["namespace"].is_null());
    }

    #[test]
    fn pods_roll_when_their_configuration_changes() {
        let checksum =
            |setting| workload(setting).deployment.spec["template"]["metadata"]["annotations"][CHECKSUM].take();
        assert_eq!(checksum("a"), checksum("a"));
        assert_ne!(checksum("a"), checksum("b"));
    }
}
