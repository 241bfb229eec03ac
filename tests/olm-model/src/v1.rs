//! What OLM v1 makes of a bundle otherwise than v0: plain names, namespaces by name, certificates by cert-manager.
//!
//! Nothing in Pods follows the CA there, so that no Pod rolls when it changes.

use serde_json::{Value, json};

use crate::configuration::configuration;
use crate::conversion::converted;
use crate::csv::CsvIdentity;
use crate::deployment::deployment;
use crate::description::WebhookDescription;
use crate::names::{ServiceNames, dns_names};

/// The annotation by which cert-manager writes the CA of a Certificate into a `caBundle`.
const INJECTED: &str = "cert-manager.io/inject-ca-from";

/// The Issuer and the Certificate of a Deployment; the Certificate is called like its Secret.
pub fn certificate(deployment: &str, namespace: &str) -> [Value; 2] {
    let ServiceNames { service, secret, .. } = ServiceNames::of(deployment);
    let issuer = format!("{secret}-selfsigned-issuer");
    [
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Issuer",
            "metadata": {"name": issuer, "namespace": namespace},
            "spec": {"selfSigned": {}},
        }),
        json!({
            "apiVersion": "cert-manager.io/v1",
            "kind": "Certificate",
            "metadata": {"name": secret, "namespace": namespace},
            "spec": {
                "secretName": secret,
                "usages": ["server auth"],
                "dnsNames": dns_names(&service, namespace),
                "duration": "17520h",
                "renewBefore": "24h",
                "issuerRef": {"name": issuer},
            },
        }),
    ]
}

/// The Deployment of a CSV.
pub fn deployed(name: &str, spec: &Value, csv: &CsvIdentity) -> Value {
    let mut made = deployment(name, spec, csv, "");
    remove(&mut made["metadata"], "labels");
    remove(&mut made["spec"]["template"]["metadata"]["annotations"], "olmcahash");
    made
}

/// The configuration of a validating or mutating description, for the namespaces that are watched: all, where none is
/// named.
pub fn named_configuration(webhook: &WebhookDescription, csv: &CsvIdentity, watched: &[&str]) -> Option<Value> {
    let selector = json!({"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "In", "values": watched},
    ]});
    let selector = Some(&selector).filter(|_| !watched.is_empty());
    let mut made = configuration(webhook, csv, selector, "")?;
    let name = webhook.generate_name.trim_end_matches('-');
    made["metadata"] = json!({"name": name, "annotations": annotations(webhook, csv)});
    remove(&mut made["webhooks"][0]["clientConfig"], "caBundle");
    Some(made)
}

/// A CRD with the stanza of a conversion description: it is created with that.
pub fn converted_by(crd: &Value, webhook: &WebhookDescription, csv: &CsvIdentity) -> Value {
    let mut made = converted(crd, webhook, &csv.namespace, "");
    remove(&mut made["spec"]["conversion"]["webhook"]["clientConfig"], "caBundle");
    made["metadata"]["annotations"][INJECTED] = annotations(webhook, csv)[INJECTED].take();
    made
}

fn annotations(webhook: &WebhookDescription, csv: &CsvIdentity) -> Value {
    let secret = ServiceNames::of(webhook.deployment_name.as_deref().unwrap_or_default()).secret;
    json!({INJECTED: format!("{}/{secret}", csv.namespace)})
}

/// Takes a member out of an object.
fn remove(object: &mut Value, taken: &str) {
    if let Some(members) = object.as_object_mut() {
        members.remove(taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_called_like_its_webhook_and_selects_namespaces_by_name() {
        let described =
            json!({"generateName": "v.otter.org-", "type": "ValidatingAdmissionWebhook", "deploymentName": "a.b"});
        let webhook: WebhookDescription = serde_json::from_value(described).unwrap();
        let csv = CsvIdentity { name: "otter.v1.0.0".into(), namespace: "zoo".into() };
        let made = named_configuration(&webhook, &csv, &["lake", "sea"]).unwrap();
        let annotations = json!({INJECTED: "zoo/a.b-service-cert"});
        assert_eq!(made["metadata"], json!({"name": "v.otter.org", "annotations": annotations}));
        let required = &made["webhooks"][0]["namespaceSelector"]["matchExpressions"][0];
        assert_eq!(required["values"], json!(["lake", "sea"]));
        let client = &made["webhooks"][0]["clientConfig"];
        assert_eq!((client["service"]["name"].as_str(), client.get("caBundle")), (Some("a-b-service"), None));
        assert_eq!(named_configuration(&webhook, &csv, &[]).unwrap()["webhooks"][0].get("namespaceSelector"), None);
    }
}
