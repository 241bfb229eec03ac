//! Errors and warnings of a configuration.

use gateward::config::{ConfigError, Problem};
use serde_json::{Value, json};

use super::super::OperatorConfiguration;
use super::{API_VERSION, file, read};

fn errors(document: &Value) -> Vec<String> {
    match OperatorConfiguration::read(document) {
        Ok(_) => Vec::new(),
        Err(ConfigError(problems)) => problems.iter().map(Problem::to_string).collect(),
    }
}

fn assert_error(members: Value, wanted: &str) {
    assert_eq!(errors(&file(members)), [wanted]);
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
            "server.webhook.certProvisionMode: \"automatic\" is not one of auto, manual, cert-manager, external",
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
fn only_a_namespace_can_be_restricted_to_and_not_one_that_is_never_judged() {
    let restricted = |name: &str| errors(&file(json!({"namespace": {"restricted": name}})));
    assert!(restricted("Team A")[0].starts_with("namespace.restricted: \"Team A\" is not a name"));
    assert!(restricted("team.a")[0].starts_with("namespace.restricted: \"team.a\" is not a name"));
    let expected = "namespace.restricted: nothing in kube-system is ever judged; take another namespace";
    assert_eq!(restricted("kube-system"), [expected]);
}

#[test]
fn an_operator_of_one_namespace_has_no_claims_to_exclude() {
    let webhook = json!({"webhook": {"excludeClaimedNamespaces": true}});
    let wrong = errors(&file(json!({"namespace": {"restricted": "team-a"}, "server": webhook})));
    let expected = "server.webhook.excludeClaimedNamespaces: is for an operator of the whole cluster; leave it out beside \
                    namespace.restricted";
    assert_eq!(wrong, [expected]);
}

#[test]
fn a_ca_bundle_that_is_none_is_refused_with_what_to_give() {
    let said = |bundle: &str| {
        let webhook = json!({"certProvisionMode": "external", "caBundle": bundle});
        errors(&file(json!({"server": {"webhook": webhook}}))).remove(0)
    };
    assert_eq!(
        said("otter!"),
        "server.webhook.caBundle: the bundle is not base64; give what `base64 -w0 < ca.crt` prints"
    );
    assert!(said("b3R0ZXI=").contains("the bundle holds no PEM"), "{}", said("b3R0ZXI="));
}

#[test]
fn the_lease_of_a_restricted_operator_is_renewed_before_it_ends() {
    let document = |scope: Value| file(json!({"namespace": {"restricted": "team-a", "scope": scope}}));
    let scope = |scope: Value| errors(&document(scope));
    assert!(OperatorConfiguration::read(&document(json!({"leaseDuration": "11s"}))).is_ok(), "10 s is less");
    assert_eq!(
        scope(json!({"leaseDuration": "10s"})),
        ["namespace.scope.leaseRenewInterval: 10s is not less than leaseDuration, 10s: the lease would run out"]
    );
    assert_eq!(scope(json!({"leaseDuration": "0s", "leaseRenewInterval": "0s"})).len(), 2);
    let expected = "namespace.scope.leaseDuration: 3601s is more than an hour, the longest that a claim counts";
    assert_eq!(scope(json!({"leaseDuration": "3601s"})), [expected]);
    // Without such a lease its times have no effect.
    read(json!({"namespace": {"scope": {"leaseDuration": "10s"}}}));
}

#[test]
fn all_errors_are_reported_at_once() {
    let wrong = errors(&json!({
        "kind": "OperatorConfig",
        "apiVersion": API_VERSION,
        "server": {"metrics": {"port": 70_000}, "webhook": {"secretName": "A", "serviceName": "B", "port": "x"}},
        "namespace": {"restricted": "team.a"},
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
