//! What cert-manager injects CAs into.

use cluster_tests::{Client, Sandbox, until};
use gateward_certs::CaBundle;
use serde_json::{Value, json};

use super::PATIENCE;

/// A webhook configuration and a CRD, whose Service nobody calls.
pub struct Injectable {
    client: Client,
    places: [(String, &'static str); 2],
}

impl Injectable {
    /// Creates both for a kind, with the same annotations.
    pub async fn create(sandbox: &Sandbox, plural: &str, annotations: &Value) -> Self {
        let service = json!({"service": {"namespace": sandbox.namespace(), "name": plural, "path": "/"}});
        let crd = crd(plural, annotations, &service);
        sandbox.bed().install_crds(&[crd]).await.unwrap();
        let configuration = configuration(plural, annotations, &service);
        let collection = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
        sandbox.client().post(collection, &configuration).await.unwrap().granted().unwrap();
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let places = [
            (format!("{collection}/{plural}"), "/webhooks/0/clientConfig/caBundle"),
            (format!("{crds}/{plural}.zoo.example.org"), "/spec/conversion/webhook/clientConfig/caBundle"),
        ];
        Self { client: sandbox.client().clone(), places }
    }

    /// The bundle of each, in base64; `null` where there is none.
    pub async fn bundles(&self) -> [Value; 2] {
        let mut bundles = [Value::Null, Value::Null];
        for (bundle, (object, place)) in bundles.iter_mut().zip(&self.places) {
            let object = self.client.get(object).await.unwrap().granted().unwrap();
            *bundle = object.pointer(place).cloned().unwrap_or_default();
        }
        bundles
    }

    /// Both get a CA, by and by. This cainjector merges (`CAInjectorMerging`), so they may have others beside it.
    pub async fn get(&self, ca: &Value) {
        let ca = anchors(ca);
        until("the CA is injected", PATIENCE, async || {
            self.bundles().await.iter().all(|bundle| anchors(bundle).contains_all(&ca))
        })
        .await;
    }
}

/// The CAs of a bundle in base64; none of a bundle that isn't there.
fn anchors(bundle: &Value) -> CaBundle {
    bundle.as_str().map(|text| CaBundle::from_base64(text).unwrap()).unwrap_or_default()
}

fn configuration(plural: &str, annotations: &Value, service: &Value) -> Value {
    json!({
        "metadata": {"name": plural, "annotations": annotations},
        "webhooks": [{
            "name": format!("{plural}.zoo.example.org"),
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "clientConfig": service,
            "rules": [{
                "apiGroups": ["zoo.example.org"],
                "apiVersions": ["v1"],
                "resources": [plural],
                "operations": ["CREATE"],
            }],
        }],
    })
}

fn crd(plural: &str, annotations: &Value, service: &Value) -> Value {
    let version = |name: &str, is_stored: bool| {
        let schema = json!({"openAPIV3Schema": {"type": "object"}});
        json!({"name": name, "served": true, "storage": is_stored, "schema": schema})
    };
    let singular = plural.trim_end_matches('s');
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.zoo.example.org"), "annotations": annotations},
        "spec": {
            "group": "zoo.example.org",
            "scope": "Namespaced",
            "names": {"plural": plural, "singular": singular, "kind": singular, "listKind": format!("{singular}list")},
            "versions": [version("v1", true), version("v1beta1", false)],
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": service},
            },
        },
    })
}
