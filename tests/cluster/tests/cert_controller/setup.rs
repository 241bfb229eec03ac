//! The names of a test's installation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gateward_certs::{CommonName, Lifetimes, Provision, ServerNames, SystemKeys};
use gateward_cluster::{
    ClaimsConfig, ControllerConfig, InjectionRules, IssuanceConfig, LeaseConfig, LeaseTimes, ReplicaConfig,
    SecretNames, ServedNamespaces, ServiceName,
};
use serde_json::json;

/// The Secrets, as users know them.
pub const SERVING_SECRET: &str = "webhook-server-cert";
pub const CA_SECRET: &str = "webhook-server-cert-ca";
pub const BUNDLE_SECRET: &str = "webhook-server-cert-bundle";
pub const LEASE: &str = "otter-webhook-writer";
pub const SERVICE: &str = "otter-webhook-service";
/// Where each replica listens.
pub const PORT: u16 = 9443;
/// What every replica's Pod and Secret carries.
const LABEL: (&str, &str) = ("app.kubernetes.io/instance", "otter");

/// The configuration of the replicas of a test.
pub fn setup(namespace: &str) -> ControllerConfig {
    let service = ServiceName { namespace: namespace.to_owned(), name: SERVICE.to_owned() };
    let labels: BTreeMap<_, _> = [(LABEL.0.to_owned(), LABEL.1.to_owned())].into();
    ControllerConfig {
        namespace: namespace.to_owned(),
        provision: Provision::Automatic,
        secrets: SecretNames {
            serving: SERVING_SECRET.to_owned(),
            ca: CA_SECRET.to_owned(),
            bundle: BUNDLE_SECRET.to_owned(),
            labels: labels.clone(),
        },
        lease: LeaseConfig {
            name: LEASE.to_owned(),
            holder: String::new(),
            times: LeaseTimes {
                retry_period: Duration::from_millis(300),
                renew_deadline: Duration::from_millis(1_500),
                lease_duration: Duration::from_secs(2),
            },
        },
        targets: InjectionRules {
            validating: format!("{namespace}-validating"),
            mutating: format!("{namespace}-mutating"),
            labels: [("zoo".to_owned(), namespace.to_owned())].into(),
            crds: vec![format!("otters.{namespace}.example.org")],
            kinds: Vec::new(),
            converted_by: "gateward.dev/converted-by".to_owned(),
            conversion: [(
                format!("otters.{namespace}.example.org"),
                json!({
                    "strategy": "Webhook",
                    "webhook": {
                        "clientConfig": {
                            "service": {"namespace": namespace, "name": SERVICE, "path": "/v", "port": 443},
                        },
                        "conversionReviewVersions": ["v1"],
                    },
                }),
            )]
            .into(),
            service,
        },
        replicas: ReplicaConfig { labels, port: PORT },
        certificates: IssuanceConfig {
            names: ServerNames::of_service(SERVICE, namespace, "cluster.local").unwrap(),
            ca_name: CommonName::new("otter webhooks").unwrap(),
            lifetimes: Lifetimes::default(),
            keys: Arc::new(SystemKeys),
            settle: Duration::from_millis(400),
        },
        namespaces: ServedNamespaces::All(ClaimsConfig::default()),
        field_manager: "gateward".to_owned(),
        annotation_prefix: "gateward.dev".to_owned(),
    }
}
