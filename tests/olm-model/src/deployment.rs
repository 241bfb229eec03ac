//! The Deployment of a CSV with the certificate mounted.

use serde_json::{Value, json};

use crate::csv::CsvIdentity;
use crate::names::{ServiceNames, owner_labels};

/// A volume with the serving certificate, and where it is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mount {
    /// The name of the volume.
    pub volume: &'static str,
    /// The directory.
    pub path: &'static str,
    /// The files: that of the certificate, and that of its key.
    pub files: [&'static str; 2],
}

/// The two that OLM mounts.
pub const SERVER_MOUNTS: [Mount; 2] = [
    Mount {
        volume: "apiservice-cert",
        path: "/apiserver.local.config/certificates",
        files: ["apiserver.crt", "apiserver.key"],
    },
    Mount { volume: "webhook-cert", path: "/tmp/k8s-webhook-server/serving-certs", files: ["tls.crt", "tls.key"] },
];

/// The keys of the Secret that the files come from.
const KEYS: [&str; 2] = ["tls.crt", "tls.key"];

/// The Deployment of a CSV, as OLM creates it.
pub fn deployment(name: &str, spec: &Value, csv: &CsvIdentity, ca_hash: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": csv.namespace, "labels": owner_labels(csv)},
        "spec": mounted(name, spec, ca_hash),
    })
}

/// The spec of a Deployment as OLM writes it: the certificate is mounted into each container, and not into init
/// containers. A volume of the same name is replaced, and so is a mount at the same path; the volume of such a mount
/// stays.
pub fn mounted(deployment: &str, spec: &Value, ca_hash: &str) -> Value {
    let mut spec = spec.clone();
    let template = &mut spec["template"];
    template["metadata"]["annotations"]["olmcahash"] = ca_hash.into();
    let secret = ServiceNames::of(deployment).secret;
    for mount in SERVER_MOUNTS {
        put(&mut template["spec"]["volumes"], "name", mount.volume, volume(&mount, &secret));
        for container in template["spec"]["containers"].as_array_mut().into_iter().flatten() {
            let mounted = json!({"name": mount.volume, "mountPath": mount.path});
            put(&mut container["volumeMounts"], "mountPath", mount.path, mounted);
        }
    }
    spec
}

fn volume(mount: &Mount, secret: &str) -> Value {
    let files = KEYS.iter().zip(mount.files).map(|(key, path)| json!({"key": key, "path": path}));
    json!({"name": mount.volume, "secret": {"secretName": secret, "items": files.collect::<Vec<_>>()}})
}

/// Puts an item into a list, in the place of those that have the same key.
fn put(list: &mut Value, key: &str, name: &str, item: Value) {
    let others = list.as_array().into_iter().flatten().filter(|other| other[key] != name).cloned();
    *list = others.chain([item]).collect();
}
