//! The Service of a Deployment, and the Secret with its certificate.

use serde_json::{Value, json};

use crate::description::WebhookDescription;
use crate::hash::ca_hash;
use crate::names::ServiceNames;

/// The ports of a Service: one for each pair of port and target that the descriptions name.
///
/// Pairs are compared as a whole, so that one port with two targets is listed twice; the API server refuses that.
pub fn service_ports(webhooks: &[&WebhookDescription]) -> Vec<Value> {
    let mut ports: Vec<Value> = Vec::new();
    for webhook in webhooks {
        let port = webhook.container_port;
        let port = json!({"name": port.to_string(), "port": port, "targetPort": webhook.target()});
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    ports
}

/// The Service of a Deployment, given the spec of the Deployment.
pub fn service(deployment: &str, spec: &Value, namespace: &str, webhooks: &[&WebhookDescription]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": ServiceNames::of(deployment).service, "namespace": namespace},
        "spec": {"ports": service_ports(webhooks), "selector": spec["selector"]["matchLabels"]},
    })
}

/// A serving certificate with its key and its CA, each as PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServingPair {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
    /// The CA that signed it.
    pub ca: String,
}

/// The Secret with the serving certificate of a Deployment.
pub fn secret(deployment: &str, namespace: &str, pair: &ServingPair) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": ServiceNames::of(deployment).secret,
            "namespace": namespace,
            "labels": {"olm.managed": "true"},
            "annotations": {"olmcahash": ca_hash(&pair.ca)},
        },
        "type": "kubernetes.io/tls",
        "stringData": {"tls.crt": pair.certificate, "tls.key": pair.key, "olmCAKey": pair.ca},
    })
}
