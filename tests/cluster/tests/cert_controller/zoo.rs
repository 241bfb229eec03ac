//! An installation of its own for each test: its configurations, its replicas, and what is read of them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::{Client, Sandbox, until};
use gateward_certs::{CaBundle, Provision};
use gateward_cluster::{ControllerConfig, InjectionRules};
use serde_json::{Value, json};

use crate::line::Line;
#[cfg(feature = "fail-points")]
use crate::process::{Process, Who};
use crate::replica::Replica;
use crate::setup::{CA_SECRET, SERVICE, setup};

/// Long enough for anything that is to happen, also while other tests compute.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Pods of all tests share one network.
static ADDRESSES: AtomicU8 = AtomicU8::new(1);

#[derive(Clone)]
pub struct Zoo {
    sandbox: Sandbox,
    pub setup: ControllerConfig,
}

impl Zoo {
    /// With rights, and nothing else.
    pub async fn new(sandbox: Sandbox) -> Self {
        Self::with(sandbox, Provision::Automatic).await
    }

    async fn with(sandbox: Sandbox, provision: Provision) -> Self {
        let setup = ControllerConfig { provision, ..setup(sandbox.namespace()) };
        let zoo = Self { sandbox, setup };
        zoo.grant().await;
        zoo
    }

    /// With both webhook configurations and a CRD, as a chart installs them: none has a caBundle.
    pub async fn installed(sandbox: Sandbox) -> Self {
        Self::provided(sandbox, Provision::Automatic).await
    }

    /// The same where others provide certificates and bundles.
    pub async fn provided(sandbox: Sandbox, provision: Provision) -> Self {
        let zoo = Self::with(sandbox, provision).await;
        zoo.install_configurations().await;
        zoo.install_crd().await;
        zoo
    }

    /// Installed, with replicas that have settled.
    pub async fn settled<const N: usize>(sandbox: Sandbox) -> (Self, [Replica; N]) {
        let zoo = Self::installed(sandbox).await;
        let replicas = zoo.replicas().await;
        zoo.settles(&replicas.each_ref()).await;
        (zoo, replicas)
    }

    pub async fn install_configurations(&self) {
        for (kind, name) in [("Validating", &self.setup.targets.validating), ("Mutating", &self.setup.targets.mutating)]
        {
            let webhooks = json!([self.webhook("a"), self.webhook("b")]);
            let configuration = configuration(kind, name, &self.setup.targets.labels, &webhooks);
            self.client().post(&configurations(kind), &configuration).await.unwrap().granted().unwrap();
        }
    }

    pub async fn install_crd(&self) {
        let client_config = json!({"service": self.service()});
        let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": client_config});
        let version = json!({
            "name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object"}},
        });
        let crd = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": self.crd_name()},
            "spec": {
                "group": self.group(), "scope": "Namespaced", "versions": [version],
                "names": {"kind": "Otter", "plural": "otters", "singular": "otter", "listKind": "OtterList"},
                "conversion": {"strategy": "Webhook", "webhook": webhook},
            },
        });
        self.client().post(CRDS, &crd).await.unwrap().granted().unwrap();
    }

    /// An entry of a configuration that calls our Service, for objects that nobody has.
    pub fn webhook(&self, name: &str) -> Value {
        json!({
            "name": format!("{name}.{}", self.group()),
            "clientConfig": {"service": self.service()},
            "rules": [{"apiGroups": [self.group()], "apiVersions": ["v1"], "resources": ["nobodies"], "operations": ["*"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        })
    }

    pub fn service(&self) -> Value {
        json!({"namespace": self.namespace(), "name": SERVICE, "path": "/v"})
    }

    pub fn group(&self) -> String {
        format!("{}.example.org", self.namespace())
    }

    pub fn crd_name(&self) -> String {
        format!("otters.{}", self.group())
    }

    pub fn namespace(&self) -> &str {
        self.sandbox.namespace()
    }

    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    pub fn client(&self) -> &Client {
        self.sandbox.bed().client()
    }

    /// Some replicas, started at once.
    pub async fn replicas<const N: usize>(&self) -> [Replica; N] {
        let mut replicas = Vec::new();
        for number in 1..=N {
            replicas.push(self.replica(&format!("otter-{number}")).await);
        }
        replicas.try_into().unwrap_or_else(|_| unreachable!())
    }

    /// A replica in a Pod of its own.
    pub async fn replica(&self, name: &str) -> Replica {
        self.replica_with(name, self.kubeconfig(name)).await
    }

    /// A replica with a line of its own to the API server.
    pub async fn replica_on_a_line(&self, name: &str) -> (Replica, Line) {
        let kubeconfig = self.kubeconfig(name);
        let line = Line::lay(&kubeconfig).await;
        (self.replica_with(name, kubeconfig).await, line)
    }

    /// A replica in a process of its own, which ends at the fail point that a file names.
    #[cfg(feature = "fail-points")]
    pub async fn process(&self, name: &str, fail_point: &std::path::Path) -> Process {
        let (address, kubeconfig) = (self.address(), self.kubeconfig(name));
        self.make_pod(name, address).await;
        let who = Who { namespace: self.namespace().to_owned(), name: name.to_owned(), address, kubeconfig };
        Process::start(who, fail_point)
    }

    fn address(&self) -> IpAddr {
        self.sandbox.bed().pod_address(ADDRESSES.fetch_add(1, Ordering::Relaxed)).into()
    }

    /// A Pod that is said to be ready.
    async fn make_pod(&self, name: &str, address: IpAddr) {
        let pod = json!({
            "metadata": {"name": name, "labels": self.setup.replicas.labels},
            "spec": {"containers": [{"name": "otter", "image": "otter"}], "automountServiceAccountToken": false},
        });
        let pods = format!("/api/v1/namespaces/{}/pods", self.namespace());
        // The namespace's ServiceAccount may not be there yet.
        let made = async || self.client().post(&pods, &pod).await.unwrap().status.is_success();
        until("a Pod can be made", PATIENCE, made).await;
        let conditions = json!([{"type": "Ready", "status": "True"}]);
        let status =
            json!({"phase": "Running", "podIP": address, "podIPs": [{"ip": address}], "conditions": conditions});
        let place = format!("{}/status", self.place("Pod", name));
        self.client().merge(&place, &json!({"status": status})).await.unwrap().granted().unwrap();
    }

    /// A replica ends, and its Pod goes.
    pub async fn remove(&self, replica: &mut Replica) {
        replica.stop().await;
        let place = format!("{}?gracePeriodSeconds=0", self.place("Pod", replica.name()));
        self.client().delete(&place).await.unwrap().granted().unwrap();
    }

    async fn replica_with(&self, name: &str, kubeconfig: PathBuf) -> Replica {
        let (mut setup, address) = (self.setup.clone(), self.address());
        setup.lease.holder = name.to_owned();
        self.make_pod(name, address).await;
        Replica::start(setup, kubeconfig, address).await
    }

    /// Who a replica is to the API server.
    pub fn user_of(&self, replica: &str) -> String {
        format!("{}:{replica}", self.group())
    }

    pub fn place(&self, kind: &str, name: &str) -> String {
        match kind {
            "Secret" => format!("/api/v1/namespaces/{}/secrets/{name}", self.namespace()),
            "Pod" => format!("/api/v1/namespaces/{}/pods/{name}", self.namespace()),
            "Lease" => format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{name}", self.namespace()),
            "Crd" => format!("{CRDS}/{name}"),
            kind => format!("{}/{name}", configurations(kind)),
        }
    }

    pub async fn read(&self, kind: &str, name: &str) -> Value {
        self.client().get(&self.place(kind, name)).await.unwrap().granted().unwrap()
    }

    pub async fn delete(&self, kind: &str, name: &str) {
        self.client().delete(&self.place(kind, name)).await.unwrap().granted().unwrap();
    }

    pub async fn merge(&self, kind: &str, name: &str, patch: &Value) {
        self.client().merge(&self.place(kind, name), patch).await.unwrap().granted().unwrap();
    }

    /// Reads an object, changes it and writes it back, until nobody else has changed it meanwhile.
    pub async fn edit(&self, kind: &str, name: &str, query: &str, edit: impl Fn(&mut Value)) -> Value {
        loop {
            let mut object = self.read(kind, name).await;
            edit(&mut object);
            let answer = self.client().put(&format!("{}{query}", self.place(kind, name)), &object).await.unwrap();
            if answer.status.as_u16() != 409 {
                return answer.granted().unwrap();
            }
        }
    }

    /// A field of a Secret as it is now; `None` where either is not there.
    pub async fn field(&self, secret: &str, field: &str) -> Option<String> {
        let secret = self.client().get(&self.place("Secret", secret)).await.unwrap();
        let content = secret.body["data"][field].as_str()?;
        Some(String::from_utf8(STANDARD.decode(content).unwrap()).unwrap())
    }

    /// The three objects that carry bundles: kind, name.
    pub fn carriers(&self) -> [(&'static str, String); 3] {
        let InjectionRules { validating, mutating, .. } = self.setup.targets.clone();
        [("Validating", validating), ("Mutating", mutating), ("Crd", self.crd_name())]
    }

    /// What is carried at present by every entry that is there.
    pub async fn bundles(&self) -> Vec<CaBundle> {
        let mut bundles = Vec::new();
        for (kind, name) in self.carriers() {
            let object = self.client().get(&self.place(kind, &name)).await.unwrap();
            bundles.extend(bundles_of(&object.body));
        }
        bundles
    }

    /// What stands in the CA's Secret.
    pub async fn ca(&self) -> CaBundle {
        CaBundle::parse(self.field(CA_SECRET, "tls.crt").await.unwrap_or_default().as_bytes()).unwrap()
    }

    /// Until every entry carries exactly the present CA, the server's certificate is its own, and replicas show it.
    pub async fn settles(&self, replicas: &[&Replica]) {
        until("everything settles", PATIENCE, async || self.is_settled(replicas).await).await;
    }

    /// Whether every entry carries exactly the present CA.
    pub async fn carries_only_the_ca(&self) -> bool {
        let (ca, bundles) = (self.ca().await, self.bundles().await);
        ca.len() == 1 && bundles.len() >= 5 && bundles.iter().all(|bundle| *bundle == ca)
    }

    pub async fn is_settled(&self, replicas: &[&Replica]) -> bool {
        let ca = self.ca().await;
        let shown = replicas.iter().all(|replica| replica.shown().is_some_and(|shown| ca.verifies(&shown)));
        let idle = replicas.iter().any(|replica| replica.is_idle_leader());
        shown && idle && self.carries_only_the_ca().await
    }
}

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Where the configurations of a kind are.
pub fn configurations(kind: &str) -> String {
    format!("/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations", kind.to_lowercase())
}

pub fn configuration(kind: &str, name: &str, labels: &BTreeMap<String, String>, webhooks: &Value) -> Value {
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{kind}WebhookConfiguration"),
        "metadata": {"name": name, "labels": labels},
        "webhooks": webhooks,
    })
}

/// What an object carries, entry by entry.
pub fn bundles_of(object: &Value) -> Vec<CaBundle> {
    let webhooks = object["webhooks"].as_array().into_iter().flatten();
    let configs = webhooks.map(|webhook| &webhook["clientConfig"]).chain(object.pointer(CONVERSION));
    let decoded = configs.map(|config| STANDARD.decode(config["caBundle"].as_str().unwrap_or_default()).unwrap());
    decoded.map(|bundle| CaBundle::parse_lossy(&bundle).0).collect()
}

/// The names of a Secret's fields.
pub fn fields(secret: &Value) -> Vec<&str> {
    secret["data"].as_object().unwrap().keys().map(String::as_str).collect()
}

pub const CONVERSION: &str = "/spec/conversion/webhook/clientConfig";

/// Encodes what goes into a `caBundle` or a Secret.
pub fn base64(text: &str) -> String {
    STANDARD.encode(text)
}
