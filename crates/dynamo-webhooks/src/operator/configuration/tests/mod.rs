mod refusing;

use gateward::config::{ConfigError, ProblemSource};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys::Key;
use super::schema::{FILE, ValueType};
use super::*;

fn file(members: Value) -> Value {
    let mut file = json!({"apiVersion": API_VERSION, "kind": KIND});
    if let (Some(file), Value::Object(members)) = (file.as_object_mut(), members) {
        file.extend(members);
    }
    file
}

fn read(members: Value) -> OperatorConfiguration {
    let read = OperatorConfiguration::read(&file(members)).unwrap();
    assert_eq!(read.warnings, []);
    read.configuration
}

#[test]
fn a_file_that_sets_nothing_has_the_books_defaults() {
    let configuration = read(json!({}));
    assert_eq!(configuration.health, ListenAddress { ip: None, port: 8081 });
    assert_eq!(configuration.metrics, ListenAddress { ip: None, port: 8080 });
    assert_eq!(configuration.webhook.address, ListenAddress { ip: None, port: 9443 });
    assert_eq!(configuration.metrics_access, MetricsAccess::Authorized);
    assert_eq!(configuration.webhook.secret_name, "webhook-server-cert");
    assert_eq!((configuration.http, configuration.checkpoint), (HttpVersions::Http1, Gate::Off));
    assert_eq!((configuration.grove, configuration.gpu_discovery), (None, Gate::On));
    assert_eq!((configuration.log_level.as_str(), configuration.log_format), ("info", LogFormat::Json));
}

#[test]
fn sections_and_values_that_are_null_are_not_set() {
    let nothing = json!({
        "server": null,
        "namespace": {"restricted": null, "scope": null},
        "orchestrators": {"grove": {"enabled": null}},
        "logging": {"level": ""},
        "discovery": {"backend": ""},
    });
    assert_eq!(read(nothing), read(json!({})));
    assert_eq!(
        read(json!({"server": {"webhook": {"port": 0, "secretName": "", "certProvisionMode": ""}}})),
        read(json!({}))
    );
}

#[test]
fn an_operator_of_one_namespace_is_deprecated() {
    let read = OperatorConfiguration::read(&file(json!({"namespace": {"restricted": "team-a"}}))).unwrap();
    let [lease_duration, renew_interval] = [30, 10].map(Duration::from_secs);
    let one = Restriction { name: "team-a".into(), lease_duration, renew_interval };
    assert_eq!(read.configuration.restricted, Some(one));
    assert!(
        read.warnings[0].to_string().starts_with("namespace.restricted: an operator of one namespace is deprecated")
    );
}

/// All that the released chart writes for a cluster-wide operator.
#[test]
fn what_the_released_chart_writes_is_read_without_a_warning() {
    let configuration = read(json!({
        "server": {
            "metrics": {"bindAddress": "0.0.0.0", "secure": true},
            "webhook": {
                "certProvisionMode": "auto",
                "secretName": "webhook-server-cert",
                "serviceName": "otter-dynamo-operator-webhook-service",
            },
        },
        "leaderElection": {"enabled": true, "id": "dynamo.nvidia.com", "namespace": "kube-system"},
        "orchestrators": {"kaiScheduler": {"enabled": false}, "grove": {"enabled": true, "terminationDelay": "5m"}},
        "infrastructure": {
            "natsAddress": "nats://otter-nats.zoo.svc.cluster.local:4222",
            "etcdAddress": "otter-etcd.zoo.svc.cluster.local:2379",
            "modelExpressURL": "http://otter",
            "prometheusEndpoint": "http://prometheus",
        },
        "ingress": {
            "virtualServiceGateway": "istio-system/gateway",
            "controllerClassName": "nginx",
            "controllerTLSSecretName": "tls",
            "hostSuffix": "example.org",
        },
        "serviceMesh": {"enabled": true, "provider": "istio", "istio": {"tlsMode": "SIMPLE", "insecureSkipVerify": true}},
        "rbac": {
            "plannerClusterRoleName": "otter-planner",
            "dgdrProfilingClusterRoleName": "otter-profiling",
            "eppClusterRoleName": "otter-epp",
        },
        "mpi": {"sshSecretName": "mpi", "sshSecretNamespace": "zoo"},
        "checkpoint": {
            "enabled": true,
            "cleanupImage": "busybox:1.36",
            "seccomp": {"disabled": true},
            "storage": {"type": "pvc", "pvc": {"pvcName": "a", "basePath": "/a", "create": true, "size": "1Gi"}},
        },
        "discovery": {"backend": "etcd"},
        "gpu": {"discoveryEnabled": false},
    }));
    let four = |port| ListenAddress { ip: Some("0.0.0.0".parse().unwrap()), port };
    assert_eq!(configuration.metrics, four(8080));
    assert_eq!(configuration.webhook.service_name.as_deref(), Some("otter-dynamo-operator-webhook-service"));
    assert_eq!((configuration.grove, configuration.checkpoint), (Some(Gate::On), Gate::On));
    assert_eq!(configuration.gpu_discovery, Gate::Off);
}

#[test]
fn what_is_ours_alone_is_read() {
    let configuration = read(json!({
        "server": {
            "metrics": {"secure": false, "port": 18_080, "bindAddress": "::1"},
            "healthProbe": {"bindAddress": "[::]"},
            "webhook": {
                "host": "10.0.0.7",
                "port": 10_250,
                "fullname": "otter",
                "operatorPrincipals": ["system:serviceaccount:zoo:keeper", "jane"],
                "certificates": {"caLifetime": "87600h", "lifetime": "1h30m", "keyAlgorithm": "RSA",
                                 "dnsNames": ["otter.zoo.svc"]},
            },
        },
        "security": {"enableHTTP2": true},
        "logging": {"level": "debug", "format": "text"},
    }));
    assert_eq!(configuration.metrics, ListenAddress { ip: Some("::1".parse().unwrap()), port: 18_080 });
    assert_eq!(configuration.metrics_access, MetricsAccess::Open);
    assert_eq!(configuration.health, ListenAddress { ip: Some("::".parse().unwrap()), port: 8081 });
    assert_eq!(configuration.webhook.address, ListenAddress { ip: Some("10.0.0.7".parse().unwrap()), port: 10_250 });
    assert_eq!(configuration.webhook.fullname.as_deref(), Some("otter"));
    let principals = ["system:serviceaccount:zoo:keeper", "jane"].map(str::to_owned);
    assert_eq!(configuration.webhook.operator_principals, Some(principals.into()));
    let certificates = Certificates {
        ca_lifetime: Some(Duration::from_hours(87_600)),
        lifetime: Some(Duration::from_mins(90)),
        key_algorithm: KeyAlgorithm::Rsa,
        dns_names: vec!["otter.zoo.svc".into()],
    };
    assert_eq!(configuration.webhook.certificates, certificates);
    assert_eq!(configuration.http, HttpVersions::Http1AndHttp2);
    assert_eq!((configuration.log_level.as_str(), configuration.log_format), ("debug", LogFormat::Text));
}

#[test]
fn an_empty_list_of_principals_is_the_usual_one() {
    assert_eq!(read(json!({"server": {"webhook": {"operatorPrincipals": []}}})).webhook.operator_principals, None);
}

#[test]
fn unknown_keys_are_reported_with_their_whole_path_and_ignored() {
    let document = file(json!({
        "server": {"webhook": {"secretname": "x", "colour": {"deep": 1}}, "admin": {}},
        "webhooks": {},
    }));
    let read = OperatorConfiguration::read(&document).unwrap();
    assert_eq!(read.configuration.webhook.secret_name, "webhook-server-cert");
    let warnings: Vec<_> = read.warnings.iter().map(Problem::to_string).collect();
    assert_eq!(
        warnings,
        [
            "server.admin: unknown key, ignored",
            "server.webhook.colour: unknown key, ignored",
            "server.webhook.secretname: unknown key, ignored; it is written secretName",
            "webhooks: unknown key, ignored",
        ]
    );
}

#[test]
fn a_certificate_that_is_to_outlive_its_ca_is_a_warning() {
    let certificates = json!({"caLifetime": "24h", "lifetime": "48h"});
    let read = OperatorConfiguration::read(&file(json!({"server": {"webhook": {"certificates": certificates}}})));
    assert_eq!(read.unwrap().warnings[0].source, ProblemSource::Key(Key::LIFETIME.path()));
}

/// The names of all keys that are read here.
fn keys() -> impl Iterator<Item = &'static str> {
    include_str!("../keys.rs").split("Self(\"").skip(1).filter_map(|rest| rest.split('"').next())
}

#[test]
fn every_key_that_is_read_is_documented() {
    let page = include_str!("../../../../../../docs/configuration.md");
    for name in keys().filter(|name| name.contains('.')) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

/// A key whose name is misspelt here would be ignored silently.
#[test]
fn every_key_that_is_read_is_a_known_one() {
    let mut count = 0;
    for name in keys() {
        let mut shape = ValueType::Section(FILE);
        for step in name.split('.') {
            let ValueType::Section(known) = shape else { panic!("{name}: nothing is below {step}") };
            shape = known.iter().find(|(key, _)| *key == step).unwrap_or_else(|| panic!("{name}")).1;
        }
        count += 1;
    }
    assert!(count > 20, "{count}");
}

/// Anything that JSON can hold, with the names of known keys among the keys.
fn anything() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("server"),
        Just("webhook"),
        Just("metrics"),
        Just("port"),
        Just("bindAddress"),
        Just("certificates"),
        Just("lifetime"),
        Just("namespace"),
        Just("restricted"),
        Just("operatorPrincipals"),
        Just("secretName"),
        Just("kind"),
        Just("x"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,90}".prop_map(Value::from),
        "[0-9.]{1,30}(h|ms|µs|s)".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone().prop_map(str::to_owned), inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_document_is_read_or_an_error(document in anything()) {
        match OperatorConfiguration::read(&file(document)) {
            Ok(read) => prop_assert!(read.configuration.webhook.address.port > 0),
            Err(ConfigError(problems)) => prop_assert!(!problems.is_empty()),
        }
    }
}
