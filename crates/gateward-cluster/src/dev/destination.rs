//! Webhooks that are called at an address instead of a Service.

use gateward_certs::{CaBundle, CaBundleError};
use gateward_core::manifest::FailurePolicy;
use serde_json::{Value, json};

use crate::injection::base64;

/// Where webhooks are called.
#[derive(Debug, Clone)]
pub struct Destination {
    origin: String,
    ca: CaBundle,
    failure_policy: FailurePolicy,
}

impl Destination {
    /// A server at `origin`, such as `https://192.168.1.7:9443`, whose certificate is of the CA in `ca_pem`.
    ///
    /// # Errors
    ///
    /// `ca_pem` holds no certificate.
    pub fn new(origin: String, ca_pem: &str, failure_policy: FailurePolicy) -> Result<Self, CaBundleError> {
        Ok(Self { origin, ca: CaBundle::parse(ca_pem.as_bytes())?, failure_policy })
    }

    /// The manifest of a webhook configuration or a CRD, with this server in place of the Service. All entries get the
    /// failure policy.
    ///
    /// ```
    /// use gateward_cluster::dev::Destination;
    /// use gateward_core::manifest::FailurePolicy;
    /// use serde_json::json;
    ///
    /// # fn shown(ca_pem: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let laptop = Destination::new("https://192.168.1.7:9443".into(), ca_pem, FailurePolicy::Ignore)?;
    /// let manifest = json!({"webhooks": [{"clientConfig": {"service": {"name": "otter", "path": "/validate"}}}]});
    /// let led = laptop.lead(manifest);
    /// assert_eq!(led["webhooks"][0]["clientConfig"]["url"], "https://192.168.1.7:9443/validate");
    /// # Ok(())
    /// # }
    /// ```
    pub fn lead(&self, mut manifest: Value) -> Value {
        for entry in manifest.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten() {
            entry["failurePolicy"] = json!(self.failure_policy);
            self.call(&mut entry["clientConfig"]);
        }
        if let Some(config) = manifest.pointer_mut("/spec/conversion/webhook/clientConfig") {
            self.call(config);
        }
        manifest
    }

    fn call(&self, config: &mut Value) {
        let path = config.pointer("/service/path").and_then(Value::as_str).unwrap_or_default();
        *config = self.client_config(path);
    }

    pub(super) fn client_config(&self, path: &str) -> Value {
        json!({"url": format!("{}{path}", self.origin), "caBundle": base64(&self.ca)})
    }

    pub(super) fn origin(&self) -> &str {
        &self.origin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::ca;

    fn laptop() -> Destination {
        let pem = ca().certificate_pem();
        Destination::new("https://[fd00::7]:9443".into(), &pem, FailurePolicy::Ignore).unwrap()
    }

    #[test]
    fn every_entry_of_a_configuration_is_called_at_the_address() {
        let entry = |name: &str, policy: &str| {
            let service =
                json!({"namespace": "zoo", "name": "otter", "path": format!("/validate/{name}"), "port": 443});
            json!({"name": name, "failurePolicy": policy, "clientConfig": {"service": service}, "timeoutSeconds": 10})
        };
        let laptop = laptop();
        let led = laptop.lead(json!({"kind": "K", "webhooks": [entry("a", "Fail"), entry("b", "Ignore")]}));
        for (entry, name) in led["webhooks"].as_array().unwrap().iter().zip(["a", "b"]) {
            assert_eq!(entry["clientConfig"]["url"], format!("https://[fd00::7]:9443/validate/{name}"));
            assert_eq!(entry["clientConfig"].get("service"), None, "one of them alone is allowed");
            assert_eq!((&entry["failurePolicy"], &entry["timeoutSeconds"]), (&json!("Ignore"), &json!(10)));
            let bundle = CaBundle::from_base64(entry["clientConfig"]["caBundle"].as_str().unwrap()).unwrap();
            assert_eq!(bundle, laptop.ca);
        }
    }

    #[test]
    fn a_crd_changes_in_its_stanza_alone() {
        let service = json!({"namespace": "zoo", "name": "otter", "path": "/convert", "port": 443});
        let conversion = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}});
        let mut led = laptop().lead(json!({"kind": "K", "spec": {"conversion": conversion, "group": "zoo.org"}}));
        let config = led["spec"]["conversion"]["webhook"]["clientConfig"].take();
        assert_eq!(config["url"], "https://[fd00::7]:9443/convert");
        let rest = json!({"strategy": "Webhook", "webhook": {"clientConfig": null}});
        assert_eq!(led, json!({"kind": "K", "spec": {"conversion": rest, "group": "zoo.org"}}));
        let plain = json!({"kind": "K", "spec": {"group": "zoo.org"}});
        assert_eq!(laptop().lead(plain.clone()), plain);
    }
}
