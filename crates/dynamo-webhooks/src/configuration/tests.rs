use proptest::prelude::*;
use serde_json::json;

use super::keys::Key;
use super::schema::{FILE, Shape};
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

fn errors(document: &Value) -> Vec<String> {
    match OperatorConfiguration::read(document) {
        Ok(_) => Vec::new(),
        Err(ConfigurationError(problems)) => problems.iter().map(Problem::to_string).collect(),
    }
}

fn assert_error(members: Value, wanted: &str) {
    assert_eq!(errors(&file(members)), [wanted]);
}

#[test]
fn a_file_that_sets_nothing_has_the_books_defaults() {
    let configuration = read(json!({}));
    assert_eq!(configuration.health, Address { ip: None, port: 8081 });
    assert_eq!(configuration.metrics, Address { ip: None, port: 8080 });
    assert_eq!(configuration.webhook.address, Address { ip: None, port: 9443 });
    assert_eq!(configuration.metrics_access, MetricsAccess::Authorized);
    assert_eq!(configuration.webhook.secret_name, "webhook-server-cert");
    assert_eq!((configuration.http2, configuration.checkpoint), (Gate::Off, Gate::Off));
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
    let four = |port| Address { ip: Some("0.0.0.0".parse().unwrap()), port };
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
                "certificates": {"caLifetime": "87600h", "lifetime": "1h30m", "keyAlgorithm": "RSA"},
            },
        },
        "security": {"enableHTTP2": true},
        "logging": {"level": "debug", "format": "text"},
    }));
    assert_eq!(configuration.metrics, Address { ip: Some("::1".parse().unwrap()), port: 18_080 });
    assert_eq!(configuration.metrics_access, MetricsAccess::Open);
    assert_eq!(configuration.health, Address { ip: Some("::".parse().unwrap()), port: 8081 });
    assert_eq!(configuration.webhook.address, Address { ip: Some("10.0.0.7".parse().unwrap()), port: 10_250 });
    assert_eq!(configuration.webhook.fullname.as_deref(), Some("otter"));
    let principals = ["system:serviceaccount:zoo:keeper", "jane"].map(str::to_owned);
    assert_eq!(configuration.webhook.operator_principals, Some(principals.into()));
    let certificates = Certificates {
        authority_lifetime: Some(Duration::from_hours(87_600)),
        lifetime: Some(Duration::from_mins(90)),
        key_algorithm: Some(KeyAlgorithm::Rsa),
    };
    assert_eq!(configuration.webhook.certificates, certificates);
    assert_eq!(configuration.http2, Gate::On);
    assert_eq!((configuration.log_level.as_str(), configuration.log_format), ("debug", LogFormat::Text));
}

#[test]
fn an_empty_list_of_principals_is_the_usual_one() {
    assert_eq!(read(json!({"server": {"webhook": {"operatorPrincipals": []}}})).webhook.operator_principals, None);
}

#[test]
fn unknown_keys_are_told_with_their_whole_path_and_ignored() {
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
fn a_certificate_that_is_to_outlive_its_authority_is_a_warning() {
    let certificates = json!({"caLifetime": "24h", "lifetime": "48h"});
    let read = OperatorConfiguration::read(&file(json!({"server": {"webhook": {"certificates": certificates}}})));
    assert_eq!(read.unwrap().warnings[0].key, Key::LIFETIME.path());
}

#[test]
fn a_document_of_another_kind_is_refused() {
    assert_eq!(
        errors(&json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {}})),
        [
            "apiVersion: \"v1\" is not operator.config.dynamo.nvidia.com/v1alpha1",
            "kind: \"ConfigMap\" is not OperatorConfiguration",
        ]
    );
    assert_eq!(
        errors(&json!({})),
        [
            "apiVersion: is missing; write operator.config.dynamo.nvidia.com/v1alpha1",
            "kind: is missing; write OperatorConfiguration",
        ]
    );
    assert_eq!(errors(&json!([1])), ["<root>: a list is not a section with keys of its own"]);
}

#[test]
fn a_value_of_another_shape_is_an_error_that_says_what_would_be_right() {
    let server = |members: Value| json!({"server": members});
    for (members, error) in [
        (server("x".into()), "server: \"x\" is not a section with keys of its own"),
        (server(json!({"metrics": {"port": "8080"}})), "server.metrics.port: \"8080\" is not a whole number"),
        (server(json!({"metrics": {"port": 8080.5}})), "server.metrics.port: 8080.5 is not a whole number"),
        (server(json!({"metrics": {"secure": "yes"}})), "server.metrics.secure: \"yes\" is not true or false"),
        (server(json!({"webhook": {"secretName": 7}})), "server.webhook.secretName: 7 is not a string"),
        (
            server(json!({"webhook": {"operatorPrincipals": "a"}})),
            "server.webhook.operatorPrincipals: \"a\" is not a list of strings",
        ),
        (
            server(json!({"webhook": {"operatorPrincipals": ["a", " "]}})),
            "server.webhook.operatorPrincipals[1]: \" \" is not a string with something in it",
        ),
        (
            server(json!({"webhook": {"certificates": {"keyAlgorithm": "DSA"}}})),
            "server.webhook.certificates.keyAlgorithm: \"DSA\" is not one of ECDSA, RSA",
        ),
        (
            server(json!({"webhook": {"certificates": {"lifetime": "10 years"}}})),
            "server.webhook.certificates.lifetime: \"10 years\" is not a length of time such as \"30s\" or \"1h30m\"",
        ),
        (
            server(json!({"webhook": {"certificates": {"lifetime": 3600}}})),
            "server.webhook.certificates.lifetime: 3600 is not a string such as \"30s\" or \"1h30m\"",
        ),
        (
            server(json!({"webhook": {"certProvisionMode": "automatic"}})),
            "server.webhook.certProvisionMode: \"automatic\" is not one of auto, manual",
        ),
        (json!({"leaderElection": {"enabled": 1}}), "leaderElection.enabled: 1 is not true or false"),
        (json!({"discovery": {"backend": "consul"}}), "discovery.backend: \"consul\" is not one of kubernetes, etcd"),
        (
            json!({"orchestrators": {"grove": {"enabled": "no"}}}),
            "orchestrators.grove.enabled: \"no\" is not true or false",
        ),
        (
            json!({"namespace": {"scope": {"leaseDuration": "-1s"}}}),
            "namespace.scope.leaseDuration: \"-1s\" is negative; write a length of time such as \"30s\" or \"1h30m\"",
        ),
        (
            json!({"logging": {"level": "loud"}}),
            "logging.level: \"loud\" is not one of error, warn, info, debug, trace",
        ),
    ] {
        assert_error(members, error);
    }
}

#[test]
fn a_value_that_cannot_be_used_is_an_error_that_says_what_would_be_right() {
    let webhook = |members: Value| json!({"server": {"webhook": members}});
    let subdomain = "is not a name that Kubernetes takes here: lower-case letters, digits, `-` and `.`, at most 253 \
                     characters";
    for (members, error) in [
        (
            webhook(json!({"port": 65_536})),
            "server.webhook.port: 65536 is not a port: 1 to 65535, or 0 for the usual one, 9443",
        ),
        (
            webhook(json!({"port": -1})),
            "server.webhook.port: -1 is not a port: 1 to 65535, or 0 for the usual one, 9443",
        ),
        (webhook(json!({"port": 8081})), "server.webhook.port: 8081 is the port of server.healthProbe.port too"),
        (
            webhook(json!({"host": "localhost"})),
            "server.webhook.host: \"localhost\" is not an IP address such as 0.0.0.0 or ::",
        ),
        (webhook(json!({"secretName": "Cert"})), &format!("server.webhook.secretName: \"Cert\" {subdomain}")),
        (webhook(json!({"fullname": "a/b"})), &format!("server.webhook.fullname: \"a/b\" {subdomain}")),
        (
            webhook(json!({"serviceName": "a.b"})),
            "server.webhook.serviceName: \"a.b\" is not a name that Kubernetes takes here: lower-case letters, digits \
             and `-`, at most 63 characters, beginning with a letter",
        ),
    ] {
        assert_error(members, error);
    }
}

#[test]
fn listeners_on_different_addresses_may_share_a_port() {
    let server = |metrics: &str| {
        json!({"server": {
            "webhook": {"host": "10.0.0.7", "port": 9000},
            "metrics": {"bindAddress": metrics, "port": 9000},
        }})
    };
    read(server("10.0.0.8"));
    assert_eq!(errors(&file(server("0.0.0.0"))).len(), 1);
    assert_eq!(errors(&file(server("10.0.0.7"))).len(), 1);
}

#[test]
fn what_comes_later_is_refused_with_a_sentence() {
    let manual = errors(&file(json!({"server": {"webhook": {"certProvisionMode": "manual"}}})));
    assert!(manual[0].contains("cert-manager") && manual[0].contains("later release"), "{manual:?}");
    let restricted = errors(&file(json!({"namespace": {"restricted": "team-a"}})));
    assert!(restricted[0].starts_with("namespace.restricted: ") && restricted[0].contains("later release"));
}

#[test]
fn the_lease_of_a_restricted_operator_is_renewed_before_it_ends() {
    let scope = |scope: Value| errors(&file(json!({"namespace": {"restricted": "team-a", "scope": scope}})));
    assert_eq!(scope(json!({"leaseDuration": "11s"})).len(), 1, "10 s is less");
    assert_eq!(
        scope(json!({"leaseDuration": "10s"}))[1],
        "namespace.scope.leaseRenewInterval: 10s is not less than leaseDuration, 10s: the lease would run out"
    );
    assert_eq!(scope(json!({"leaseDuration": "0s", "leaseRenewInterval": "0s"})).len(), 3);
    // Where nobody holds such a lease, its times mean nothing.
    read(json!({"namespace": {"scope": {"leaseDuration": "10s"}}}));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let wrong = errors(&json!({
        "kind": "OperatorConfig",
        "apiVersion": API_VERSION,
        "server": {"metrics": {"port": 70_000}, "webhook": {"secretName": "A", "serviceName": "B", "port": "x"}},
        "namespace": {"restricted": "team-a"},
        "gpu": {"discoveryEnabled": "on"},
    }));
    let keys: Vec<_> = wrong.iter().map(|text| text.split(':').next().unwrap()).collect();
    let wanted = [
        "gpu.discoveryEnabled",
        "kind",
        "namespace.restricted",
        "server.metrics.port",
        "server.webhook.port",
        "server.webhook.secretName",
        "server.webhook.serviceName",
    ];
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, wanted);
}

/// The names of all keys that are read here.
fn keys() -> impl Iterator<Item = &'static str> {
    include_str!("keys.rs").split("Self(\"").skip(1).filter_map(|rest| rest.split('"').next())
}

#[test]
fn every_key_that_is_read_is_documented() {
    let page = include_str!("../../../../docs/configuration.md");
    for name in keys().filter(|name| name.contains('.')) {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

/// A key whose name is misspelt here would never be read, and nobody would be told.
#[test]
fn every_key_that_is_read_is_a_known_one() {
    let mut count = 0;
    for name in keys() {
        let mut shape = Shape::Section(FILE);
        for step in name.split('.') {
            let Shape::Section(known) = shape else { panic!("{name}: nothing is below {step}") };
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
    fn whatever_is_written_is_read_or_told(document in anything()) {
        match OperatorConfiguration::read(&file(document)) {
            Ok(read) => prop_assert!(read.configuration.webhook.address.port > 0),
            Err(ConfigurationError(problems)) => prop_assert!(!problems.is_empty()),
        }
    }
}
