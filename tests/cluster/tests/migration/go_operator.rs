//! What takes the Go operator's place: webhooks behind its Service, and what it writes at a start.

use cluster_tests::{CONVERTED, Client, Release, SERVING_SECRET, Sandbox};
use serde_json::{Value, json};

use crate::NAMESPACE;
use crate::cluster_objects::{SECRET, Undecided, crd};
use crate::layout::Layout;

/// The label of the configurations that it injects into, beside `app.kubernetes.io/part-of`.
pub const NAMESPACE_LABEL: &str = "nvidia.com/dynamo-operator-namespace";
/// What most names of its objects begin with.
pub const FULLNAME: &str = "dynamo-platform-dynamo-operator";
/// Its Service.
pub const SERVICE: &str = "dynamo-platform-dynamo-operator-webhook-service";

/// Whose certificate it serves, with its CA in base64.
#[derive(Debug, Clone, Copy)]
pub enum Certificate<'a> {
    /// Its own: what makes it writes the `caBundle` too.
    Own(&'a Value),
    /// Ours, which it takes for one of the user's: the chart renders the `caBundle`.
    Ours(&'a Value),
}

/// The Go operator's release.
pub struct GoOperator {
    pub release: Release,
    layout: Layout,
    sandbox: Sandbox,
    client: Client,
}

impl GoOperator {
    pub fn new(sandbox: &Sandbox, layout: Layout) -> Self {
        let client = sandbox.bed().client().clone();
        Self { release: Release::of(sandbox, "dynamo-platform", NAMESPACE), layout, sandbox: sandbox.clone(), client }
    }

    /// The user that its controllers are.
    pub fn account() -> String {
        format!("system:serviceaccount:{NAMESPACE}:dynamo-platform-dynamo-operator-controller-manager")
    }

    /// The values of our program in its place: the certificate of a Secret, and its CA.
    fn values(undecided: Undecided, secret: &str, ca_crt: &Value) -> Value {
        json!({"dynamo-operator": {
            "upgradeCRD": false,
            "admissionPolicy": {"enabled": false},
            "controllerManager": {"replicas": 1},
            "webhook": {
                "failurePolicy": undecided.policy(),
                "certificateSecret": {"external": true, "name": secret},
                "caBundle": ca_crt,
            },
        }})
    }

    /// Installs it where it isn't there, and upgrades it otherwise. Its configurations are those of its layout.
    pub async fn put(&self, undecided: Undecided, certificate: Certificate<'_>) {
        let (secret, ca_crt, rendered) = match certificate {
            Certificate::Own(ca_crt) => (SERVING_SECRET, ca_crt, None),
            Certificate::Ours(ca_crt) => (SECRET, ca_crt, Some(ca_crt)),
        };
        let values = Self::values(undecided, secret, ca_crt);
        let chart = self.layout.chart(&self.sandbox, undecided, rendered);
        if self.release.pods().await.unwrap().is_empty() && !self.is_installed().await {
            self.release.install(chart, &values).await.unwrap();
        } else {
            self.release.upgrade(chart, &values).await.unwrap();
        }
        if let (Layout::HelmHooks, Certificate::Own(ca_crt)) = (self.layout, certificate) {
            self.hook_injects(ca_crt).await;
        }
    }

    /// Where its configurations are.
    fn configurations() -> [String; 2] {
        ["validating", "mutating"]
            .map(|kind| format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/{FULLNAME}-{kind}"))
    }

    async fn is_installed(&self) -> bool {
        self.client.get(&Self::configurations()[0]).await.unwrap().status.is_success()
    }

    /// Writes what the Job of the hook after each installation and upgrade writes: the CA into four and two entries by
    /// their places, and into one CRD.
    async fn hook_injects(&self, ca_crt: &Value) {
        let [validating, mutating] = Self::configurations();
        for (path, entries) in [(validating, 4), (mutating, 2)] {
            let places = (0..entries).map(|number| format!("/webhooks/{number}/clientConfig/caBundle"));
            let operations: Vec<Value> =
                places.map(|place| json!({"op": "add", "path": place, "value": ca_crt})).collect();
            self.client.patch(&path, &operations.into()).await.unwrap().granted().unwrap();
        }
        let place = "/spec/conversion/webhook/clientConfig/caBundle";
        let operations = json!([{"op": "add", "path": place, "value": ca_crt}]);
        self.client.patch(&crd(CONVERTED[1]), &operations).await.unwrap().granted().unwrap();
    }

    /// Ends its only Pod before there is another, as its strategy Recreate does.
    pub async fn goes_down(&self) {
        self.release.scale(0).await.unwrap();
        while !self.release.pods().await.unwrap().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// Deletes the configurations that have its two labels.
    pub async fn loses_its_configurations(&self) {
        let labels = format!("app.kubernetes.io/part-of=dynamo-operator,{NAMESPACE_LABEL}={NAMESPACE}");
        let configurations = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
        let said = self.release.kubectl(&["delete", configurations, "-l", &labels]).await.unwrap();
        assert_eq!(said.lines().count(), 2, "{said}");
    }

    /// Writes what its init container writes with the CRDs: its Service, without a `caBundle`.
    pub async fn claims_conversion(&self) {
        let client = self.client.acting_as(&Self::account());
        let stanza = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"service": {"name": SERVICE}}}}}});
        for plural in CONVERTED {
            client.merge(&format!("{}?fieldManager=crd-apply", crd(plural)), &stanza).await.unwrap().granted().unwrap();
        }
    }

    /// Writes what it writes at a start: `ca.crt` of its Secret into each entry of the configurations with its two
    /// labels, and into the conversion stanzas of four CRDs, by merge patches of whole lists.
    pub async fn injects(&self, ca_crt: &Value) {
        let client = self.client.acting_as(&Self::account());
        for kind in ["validating", "mutating"] {
            let all = format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations");
            let selector = format!(
                "app.kubernetes.io%2Fpart-of%3Ddynamo-operator,nvidia.com%2Fdynamo-operator-namespace%3D{NAMESPACE}"
            );
            let list = client.get(&format!("{all}?labelSelector={selector}")).await.unwrap().granted().unwrap();
            let found = list["items"].as_array().unwrap();
            assert_eq!(found.len(), 1, "it injects into its own configuration alone");
            let mut webhooks = found[0]["webhooks"].clone();
            for webhook in webhooks.as_array_mut().unwrap() {
                webhook["clientConfig"]["caBundle"] = ca_crt.clone();
            }
            let path = format!("{all}/{}?fieldManager=manager", found[0]["metadata"]["name"].as_str().unwrap());
            client.merge(&path, &json!({"webhooks": webhooks})).await.unwrap().granted().unwrap();
        }
        let stanza = json!({"spec": {"conversion": {"webhook": {"clientConfig": {"caBundle": ca_crt}}}}});
        for plural in CONVERTED {
            let path = format!("{}?fieldManager=manager", crd(plural));
            client.merge(&path, &stanza).await.unwrap().granted().unwrap();
        }
    }
}
