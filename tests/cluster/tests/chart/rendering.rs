//! What the chart renders is right whatever the values are.

use std::collections::BTreeSet;

use cluster_tests::{Sandbox, Test, tests};
use dynamo_webhooks::OPERATOR_VERSION;
use gateward_lint::yaml;
use serde_json::{Value, json};

use crate::charts::{Installation, bundle, chart, configuration, judged, of_kind, output, the};

pub fn tests() -> Vec<Test> {
    tests![
        the_api_server_takes_every_object_of_every_combination,
        helm_finds_no_fault_with_the_chart,
        no_bundle_is_rendered,
        nothing_is_rendered_twice_in_different_ways,
        no_template_asks_the_cluster_or_the_dice,
        objects_of_kube_system_are_never_judged,
        pods_are_spread_and_counted_by_their_own_labels,
        the_disruption_budget_leaves_one_pod_at_least,
        only_what_is_needed_gets_through_the_network_policy,
        each_port_is_open_to_those_alone_who_are_named,
        the_server_is_told_the_version_of_the_dynamo_operator,
        no_cpu_is_denied_to_the_server,
        the_monitor_verifies_the_certificate_of_the_webhooks,
        the_monitor_takes_the_ca_from_the_bundle_where_cert_manager_provides_the_certificate,
        a_pod_goes_only_when_another_is_there,
        labels_by_which_pods_are_found_cannot_be_changed,
        a_release_that_installs_no_crds_may_not_create_any,
    ]
}

/// What the API server says to the Deployment of a long release. The name is kept all the same: it fits, and the guide
/// names it.
const LONG_NAME: &str = "a DNS label is recommended";

/// Kinds that the cluster has only with what serves them.
const OF_OTHERS: [&str; 4] = ["ServiceMonitor", "PrometheusRule", "Certificate", "Issuer"];

/// The combinations of the file beside this one. Where it says `SOME_CA`, they have one: the API server reads it.
pub fn combinations() -> Vec<Installation> {
    let text = include_str!("combinations.yaml").replace("SOME_CA", &bundle());
    let document = yaml::read(&text).documents.remove(0);
    serde_json::from_value(document.value).unwrap()
}

async fn the_api_server_takes_every_object_of_every_combination(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let combinations = combinations();
    assert!(combinations.len() >= 20);
    for combination in combinations {
        // The kubelet of such a namespace would say what the restricted standard forbids.
        let labels = json!({"pod-security.kubernetes.io/warn": "restricted"});
        let objects = combination.objects(bed);
        let namespaces: BTreeSet<_> =
            objects.iter().filter_map(|object| object["metadata"]["namespace"].as_str()).collect();
        for name in namespaces {
            let namespace = json!({"metadata": {"name": name, "labels": labels}});
            let made = bed.client().post("/api/v1/namespaces", &namespace).await.unwrap();
            assert!(made.status.is_success() || made.status.as_u16() == 409, "{made:?}");
        }
        assert!(objects.len() >= 11, "{}: {} objects", combination.name, objects.len());
        for object in objects.iter().filter(|object| !OF_OTHERS.contains(&object["kind"].as_str().unwrap())) {
            let answer = judged(bed, object).await;
            let (kind, about) = (&object["kind"], &combination.name);
            assert!(answer.status.is_success(), "{about}: {kind}: {}\n{object}", answer.body["message"]);
            let warnings: Vec<_> = answer.warnings.iter().filter(|text| !text.contains(LONG_NAME)).collect();
            assert!(warnings.is_empty(), "{about}: {kind}: {warnings:?}");
        }
    }
}

async fn helm_finds_no_fault_with_the_chart(sandbox: Sandbox) {
    for path in [chart(), chart().join("charts/dynamo-operator")] {
        let mut helm = sandbox.bed().helm();
        helm.args(["lint", "--strict", "--kube-version", "1.34"]).arg(path);
        output(helm).unwrap();
    }
}

async fn no_bundle_is_rendered(sandbox: Sandbox) {
    for combination in combinations() {
        let rendered = Value::from(combination.objects(sandbox.bed())).to_string();
        let given = combination.values["dynamo-operator"]["webhook"]["certificateSecret"]["external"] == true;
        assert_eq!(rendered.contains("\"caBundle\":"), given, "{}", combination.name);
        assert!(!rendered.contains("\"kind\":\"Secret\""), "{}", combination.name);
    }
}

/// A tool that renders the chart again and compares, such as Argo CD, must find no difference.
async fn nothing_is_rendered_twice_in_different_ways(sandbox: Sandbox) {
    for combination in combinations().into_iter().take(5) {
        assert_eq!(combination.objects(sandbox.bed()), combination.objects(sandbox.bed()));
    }
}

/// A chart that asks the cluster or the dice renders something else without a cluster.
async fn no_template_asks_the_cluster_or_the_dice(_: Sandbox) {
    const FORBIDDEN: [&str; 6] = ["lookup ", "rand", "uuid", "genCA", "genS", "now"];
    let mut folders = vec![chart()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.ancestors().any(|above| above.ends_with("templates")) {
                let text = std::fs::read_to_string(&path).unwrap();
                let expressions = text.split("{{").skip(1).map(|after| after.split("}}").next().unwrap_or_default());
                let code = expressions.filter(|text| !text.trim_start_matches(['-', ' ']).starts_with("/*"));
                for expression in code {
                    let words = FORBIDDEN.iter().find(|word| expression.contains(**word));
                    assert_eq!(words, None, "{}: {expression}", path.display());
                }
                seen += 1;
            }
        }
    }
    assert!(seen > 10);
}

async fn objects_of_kube_system_are_never_judged(sandbox: Sandbox) {
    let apart = json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]});
    let team = json!({"key": "team", "operator": "Exists"});
    let given = json!({"matchLabels": {"zoo": "open"}, "matchExpressions": [team]});
    let wanted = [
        (json!({}), json!({"matchExpressions": [apart]})),
        (
            json!({"webhook": {"namespaceSelector": given}}),
            json!({"matchLabels": {"zoo": "open"}, "matchExpressions": [team, apart]}),
        ),
    ];
    for (values, selector) in wanted {
        let objects = Installation::of(&values).objects(sandbox.bed());
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            let webhooks = the(&objects, kind)["webhooks"].as_array().unwrap();
            assert!(webhooks.iter().all(|webhook| webhook["namespaceSelector"] == selector), "{webhooks:?}");
        }
    }
}

fn found_by() -> Value {
    json!({
        "app.kubernetes.io/name": "dynamo-operator",
        "app.kubernetes.io/instance": "dynamo-platform",
        "app.kubernetes.io/component": "webhook",
    })
}

async fn pods_are_spread_and_counted_by_their_own_labels(sandbox: Sandbox) {
    let objects = Installation::of(&json!({})).objects(sandbox.bed());
    let spread = &the(&objects, "Deployment")["spec"]["template"]["spec"]["topologySpreadConstraints"];
    let wanted = json!([{
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": found_by()},
        "matchLabelKeys": ["pod-template-hash"],
    }]);
    assert_eq!(spread, &wanted);
    for service in of_kind(&objects, "Service") {
        assert_eq!(service["spec"]["selector"], found_by());
    }
}

async fn the_disruption_budget_leaves_one_pod_at_least(sandbox: Sandbox) {
    let budget = |values: Value| {
        let objects = Installation::of(&values).objects(sandbox.bed());
        of_kind(&objects, "PodDisruptionBudget").first().map(|budget| budget["spec"].clone())
    };
    let usual = budget(json!({})).unwrap();
    assert_eq!((&usual["maxUnavailable"], &usual["minAvailable"]), (&json!(1), &Value::Null));
    assert_eq!(usual["selector"]["matchLabels"], found_by());
    let given = budget(json!({"podDisruptionBudget": {"minAvailable": 1}})).unwrap();
    assert_eq!((&given["maxUnavailable"], &given["minAvailable"]), (&Value::Null, &json!(1)));
    assert_eq!(budget(json!({"controllerManager": {"replicas": 1}})), None);
}

async fn only_what_is_needed_gets_through_the_network_policy(sandbox: Sandbox) {
    let peer = json!({"podSelector": {"matchLabels": {"app": "prometheus"}}});
    let values = json!({"webhook": {"port": 10250}, "networkPolicy": {"enabled": true, "metricsFrom": [peer]}});
    let objects = Installation::of(&values).objects(sandbox.bed());
    let spec = &the(&objects, "NetworkPolicy")["spec"];
    assert_eq!(spec["podSelector"]["matchLabels"], found_by());
    assert_eq!(spec["policyTypes"], json!(["Ingress"]));
    let port = |port: Value| json!({"port": port, "protocol": "TCP"});
    // The numbers of two releases differ while Pods are replaced; the name is that of the Pod at hand.
    let wanted = json!([
        {"ports": [port("webhook-server".into())]},
        {"ports": [port(8081.into())]},
        {"ports": [port(8080.into())], "from": [peer]},
    ]);
    assert_eq!(spec["ingress"], wanted);
    assert_eq!(configuration(&objects)["server"]["webhook"]["port"], 10250);
}

async fn each_port_is_open_to_those_alone_who_are_named(sandbox: Sandbox) {
    let peer = json!({"podSelector": {"matchLabels": {"app": "prometheus"}}});
    let policy = json!({
        "enabled": true, "apiServerCIDRs": ["10.0.0.1/32", "fd00::1/128"], "nodeCIDRs": ["10.0.0.0/8"],
        "metricsFrom": [peer],
    });
    let installation = Installation::of(&json!({"networkPolicy": policy}));
    let objects = installation.objects(sandbox.bed());
    let block = |cidr: &str| json!({"ipBlock": {"cidr": cidr}});
    let port = |port: Value| json!([{"port": port, "protocol": "TCP"}]);
    let ourselves = json!({"podSelector": {"matchLabels": found_by()}});
    let wanted = json!([
        {"ports": port("webhook-server".into()), "from": [block("10.0.0.1/32"), block("fd00::1/128"), ourselves]},
        {"ports": port(8081.into()), "from": [block("10.0.0.0/8")]},
        {"ports": port(8080.into()), "from": [peer]},
    ]);
    assert_eq!(the(&objects, "NetworkPolicy")["spec"]["ingress"], wanted);
    let notes = |installation: Installation| {
        installation.named("dynamo-platform", sandbox.namespace()).notes(sandbox.bed()).unwrap()
    };
    assert!(!notes(installation).contains("open to everybody"));
    let said = notes(Installation::of(&json!({"networkPolicy": {"enabled": true}})));
    for line in [
        "open to everybody:\n  9443 (webhooks): set dynamo-operator.networkPolicy.apiServerCIDRs\n",
        "  8081 (probes): set dynamo-operator.networkPolicy.nodeCIDRs\n",
        "  8080 (metrics): set dynamo-operator.networkPolicy.metricsFrom",
    ] {
        assert!(said.contains(line), "{line} is not in\n{said}");
    }
}

/// Ours would tell the controllers that a graph was made by a release that knew nothing of today's defaults.
async fn the_server_is_told_the_version_of_the_dynamo_operator(sandbox: Sandbox) {
    let arguments = |values: Value| {
        let objects = Installation::of(&values).objects(sandbox.bed());
        let pod = &the(&objects, "Deployment")["spec"]["template"]["spec"];
        let version = |container: &Value| {
            let arguments = container["args"].as_array().unwrap();
            let flag = arguments.iter().position(|argument| argument == "--operator-version")?;
            arguments[flag + 1].as_str().map(str::to_owned)
        };
        (version(&pod["containers"][0]), version(&pod["initContainers"][0]))
    };
    // CRDs are marked with the version of those that the program holds.
    assert_eq!(arguments(json!({})), (Some(OPERATOR_VERSION.to_owned()), None));
    assert_eq!(arguments(json!({"operatorVersion": "1.4.2-rc.1"})), (Some("1.4.2-rc.1".to_owned()), None));
}

async fn no_cpu_is_denied_to_the_server(sandbox: Sandbox) {
    let objects = Installation::of(&json!({})).objects(sandbox.bed());
    let pod = &the(&objects, "Deployment")["spec"]["template"]["spec"];
    for container in [&pod["containers"][0], &pod["initContainers"][0]] {
        let resources = &container["resources"];
        assert!(resources["limits"]["cpu"].is_null() && resources["limits"]["memory"].is_string(), "{resources}");
        assert!(resources["requests"]["cpu"].is_string());
    }
}

async fn the_monitor_verifies_the_certificate_of_the_webhooks(sandbox: Sandbox) {
    let values = json!({"metricsService": {"enabled": true}, "webhook": {"certificateSecret": {"name": "otter"}}});
    let objects = Installation::of(&values).objects(sandbox.bed());
    let monitor = &the(&objects, "ServiceMonitor")["spec"];
    let wanted = json!({
        "serverName": "dynamo-platform-dynamo-operator-webhook-service.dynamo-system.svc",
        "ca": {"secret": {"name": "otter", "key": "ca.crt"}},
    });
    let endpoint = &monitor["endpoints"][0];
    assert_eq!((&endpoint["scheme"], &endpoint["tlsConfig"]), (&json!("https"), &wanted));
    // It finds the metrics' Service and not the webhooks'.
    let selected = |service: &&Value| {
        let mut labels = monitor["selector"]["matchLabels"].as_object().unwrap().iter();
        labels.all(|(label, value)| &service["metadata"]["labels"][label] == value)
    };
    let found: Vec<_> = of_kind(&objects, "Service").into_iter().filter(selected).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["spec"]["ports"][0]["name"], endpoint["port"]);
}

/// Some issuers write no CA into the Secret of the certificate.
async fn the_monitor_takes_the_ca_from_the_bundle_where_cert_manager_provides_the_certificate(sandbox: Sandbox) {
    let monitor = |inject: &str| {
        let webhook = json!({"certManager": {"enabled": true, "injectFrom": inject}});
        let service = json!({"enabled": true, "monitorLabels": {"release": "kube-prometheus-stack"}});
        let installation = Installation::of(&json!({"metricsService": service, "webhook": webhook}));
        the(&installation.objects(sandbox.bed()), "ServiceMonitor").clone()
    };
    for (inject, secret) in [("secret", "webhook-server-cert-bundle"), ("certificate", "webhook-server-cert")] {
        let monitor = monitor(inject);
        let wanted = json!({"secret": {"name": secret, "key": "ca.crt"}});
        assert_eq!(monitor["spec"]["endpoints"][0]["tlsConfig"]["ca"], wanted);
        let labels = &monitor["metadata"]["labels"];
        assert_eq!(labels["release"], "kube-prometheus-stack");
        assert_eq!(labels["app.kubernetes.io/name"], "dynamo-operator");
    }
}

async fn a_pod_goes_only_when_another_is_there(sandbox: Sandbox) {
    let objects = Installation::of(&json!({})).objects(sandbox.bed());
    let spec = &the(&objects, "Deployment")["spec"];
    let wanted = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}});
    assert_eq!((&spec["strategy"], &spec["replicas"]), (&wanted, &json!(2)));
    // However slowly it starts: nothing counts against it for five minutes.
    let pod = &spec["template"]["spec"];
    let startup = &pod["containers"][0]["startupProbe"];
    let patience = startup["periodSeconds"].as_u64().unwrap() * startup["failureThreshold"].as_u64().unwrap();
    assert_eq!((patience, &pod["terminationGracePeriodSeconds"]), (300, &json!(30)));
}

async fn labels_by_which_pods_are_found_cannot_be_changed(sandbox: Sandbox) {
    let labels = json!({"app.kubernetes.io/name": "another", "team": "otters"});
    let annotations = json!({"checksum/config": "none"});
    let values = json!({"controllerManager": {"podLabels": labels, "podAnnotations": annotations}});
    let objects = Installation::of(&values).objects(sandbox.bed());
    let metadata = &the(&objects, "Deployment")["spec"]["template"]["metadata"];
    assert_eq!(metadata["labels"]["app.kubernetes.io/name"], "dynamo-operator");
    assert_eq!(metadata["labels"]["team"], "otters");
    assert_ne!(metadata["annotations"]["checksum/config"], "none");
}

async fn a_release_that_installs_no_crds_may_not_create_any(sandbox: Sandbox) {
    let rights = |values: Value| {
        let objects = Installation::of(&values).objects(sandbox.bed());
        let rules = the(&objects, "ClusterRole")["rules"].as_array().unwrap().clone();
        let about_crds = rules.into_iter().filter(|rule| rule["resources"] == json!(["customresourcedefinitions"]));
        about_crds.flat_map(|rule| rule["verbs"].as_array().unwrap().clone()).collect::<Value>()
    };
    assert_eq!(rights(json!({})), json!(["create", "get", "list", "watch", "patch"]));
    assert_eq!(rights(json!({"upgradeCRD": false})), json!(["get", "list", "watch", "patch"]));
}
