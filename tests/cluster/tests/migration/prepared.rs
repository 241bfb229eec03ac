//! What releases of the Go operator leave in a cluster.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{CONVERTED, Conversion, SERVING_SECRET, Sandbox, crds};
use gateward_certs::{Ca, CommonName, IssuedCertificate, ServerNames, SystemKeys, Validity};
use serde_json::{Value, json};

use crate::NAMESPACE;
use crate::cluster_objects::{Undecided, crd};
use crate::go_operator::{Certificate, GoOperator, SERVICE};
use crate::layout::{Layout, documents};

const YEAR: Duration = Duration::from_hours(8760);

/// The Go operator's CA and certificate. They are the same in every layout, so that its pod need not start again.
static CERTIFICATES: OnceLock<(Ca, IssuedCertificate)> = OnceLock::new();

fn certificates() -> (Ca, IssuedCertificate) {
    let validity = Validity::starting(SystemTime::now(), YEAR).unwrap();
    let ca = Ca::new(&CommonName::new("Dynamo-Webhook-CA").unwrap(), validity, &SystemKeys).unwrap();
    let names = ServerNames::of_service(SERVICE, NAMESPACE, "cluster.local").unwrap();
    let serving = ca.issue(&names, validity, &SystemKeys).unwrap();
    (ca, serving)
}

impl Layout {
    /// Makes the cluster one of this layout, with working webhooks. Gives the CA in base64.
    pub async fn prepare(self, sandbox: &Sandbox) -> Value {
        let (ca, serving) = CERTIFICATES.get_or_init(certificates);
        let ca_crt = json!(STANDARD.encode(ca.certificate_pem()));
        self.write_secret(sandbox, ca, serving).await;
        self.write_crds(sandbox, &ca_crt).await;
        if self == Self::HelmHooks {
            leave_jobs(sandbox).await;
        }
        let go = GoOperator::new(sandbox, self);
        go.put(Undecided::Refused, Certificate::Own(&ca_crt)).await;
        if self != Self::HelmHooks {
            go.injects(&ca_crt).await;
        }
        ca_crt
    }

    async fn write_secret(self, sandbox: &Sandbox, ca: &Ca, serving: &IssuedCertificate) {
        let mut data = json!({
            "tls.crt": STANDARD.encode(serving.certificate_pem()),
            "tls.key": STANDARD.encode(serving.private_key_pem()),
            "ca.crt": STANDARD.encode(ca.certificate_pem()),
        });
        let (kind, labels) = match self {
            Self::HelmHooks => ("Opaque", json!({})),
            Self::InOperator | Self::WithCrdApply => {
                data["ca.key"] = STANDARD.encode(ca.private_key_pem()).into();
                let labels =
                    ["managed-by", "part-of"].map(|name| (format!("app.kubernetes.io/{name}"), "dynamo-operator"));
                let mut labels = serde_json::Map::from_iter(labels.map(|(name, value)| (name, json!(value))));
                labels.insert("app.kubernetes.io/component".into(), json!("webhook"));
                ("kubernetes.io/tls", Value::Object(labels))
            }
        };
        let secret = json!({"metadata": {"name": SERVING_SECRET, "labels": labels}, "type": kind, "data": data});
        let (client, secrets) = (sandbox.bed().client(), format!("/api/v1/namespaces/{NAMESPACE}/secrets"));
        // That of another layout may be there.
        client.delete(&format!("{secrets}/{SERVING_SECRET}")).await.unwrap();
        client.post(&secrets, &secret).await.unwrap().granted().unwrap();
    }

    async fn write_crds(self, sandbox: &Sandbox, ca_crt: &Value) {
        let bed = sandbox.bed();
        if !bed.client().get(&crd(CONVERTED[0])).await.unwrap().status.is_success() {
            bed.install_crds(&crds(bed.programs(), Conversion::None).unwrap()).await.unwrap();
        }
        let service = json!({"namespace": NAMESPACE, "name": SERVICE, "path": "/convert", "port": 443});
        let webhook = json!({
            "clientConfig": {"service": service, "caBundle": ca_crt}, "conversionReviewVersions": ["v1"],
        });
        for plural in CONVERTED {
            let annotations = json!({
                "gateward.dev/converted-by": null,
                "dynamo.nvidia.com/operator-version": (self == Self::WithCrdApply).then_some("1.3.0"),
                "cert-manager.io/inject-ca-from": (self == Self::HelmHooks && plural == CONVERTED[1])
                    .then(|| format!("{NAMESPACE}/dynamo-platform-dynamo-operator-serving-cert")),
            });
            let layout = json!({
                "metadata": {"annotations": annotations},
                "spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}},
            });
            bed.client()
                .merge(&format!("{}?fieldManager=helm", crd(plural)), &layout)
                .await
                .unwrap()
                .granted()
                .unwrap();
        }
    }
}

/// What Helm's hooks leave, which helm neither owns nor removes.
async fn leave_jobs(sandbox: &Sandbox) {
    for object in documents(include_str!("layouts/helm_hooks_jobs.yaml")) {
        let all = match object["kind"].as_str().unwrap() {
            "Job" => "/apis/batch/v1/namespaces/dynamo-system/jobs",
            "ServiceAccount" => "/api/v1/namespaces/dynamo-system/serviceaccounts",
            other => panic!("{other}"),
        };
        sandbox.bed().client().post(all, &object).await.unwrap().granted().unwrap();
    }
}
