//! Names fit, and stay apart.

use std::collections::BTreeSet;

use cluster_tests::{Sandbox, Test, tests};
use gateward_certs::NameLimit;
use serde_json::{Value, json};

use crate::charts::{Installation, configuration, of_kind, the};

pub fn tests() -> Vec<Test> {
    tests![
        names_are_those_of_the_guide,
        long_names_are_cut_as_the_server_cuts_them,
        two_long_releases_share_no_name,
        other_names_can_be_given,
        a_release_that_makes_no_name_for_a_service_is_refused_with_a_sentence,
        everything_that_names_something_else_names_what_is_there,
    ]
}

/// The longest name that Helm takes, and the longest of a namespace.
const LONG_RELEASE: &str = "r23456789-123456789-123456789-123456789-123456789-123";
const LONG_NAMESPACE: &str = "n23456789-123456789-123456789-123456789-123456789-123456789-123";

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// The names of the Services: the webhooks' and the metrics'.
fn services(objects: &[Value]) -> (&str, &str) {
    let services = of_kind(objects, "Service");
    let named = |word: &str| services.iter().map(|object| name(object)).find(|name| name.contains(word)).unwrap();
    (named("-webhook-"), named("-metrics-"))
}

async fn names_are_those_of_the_guide(sandbox: Sandbox) {
    let objects = Installation::of(&json!({})).objects(sandbox.bed());
    for kind in ["Deployment", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "PodDisruptionBudget"] {
        assert_eq!(name(the(&objects, kind)), "dynamo-platform-dynamo-operator");
    }
    assert_eq!(name(the(&objects, "ConfigMap")), "dynamo-platform-dynamo-operator-config");
    assert_eq!(name(the(&objects, "ValidatingWebhookConfiguration")), "dynamo-platform-validating");
    assert_eq!(name(the(&objects, "MutatingWebhookConfiguration")), "dynamo-platform-mutating");
    let wanted = ("dynamo-platform-dynamo-operator-webhook-service", "dynamo-platform-dynamo-operator-metrics-service");
    assert_eq!(services(&objects), wanted);
    // A release with the operator's name gets no shorter ones.
    let objects = Installation::of(&json!({})).named("dynamo-operator", "zoo").objects(sandbox.bed());
    assert_eq!(name(the(&objects, "Deployment")), "dynamo-operator-dynamo-operator");
}

async fn long_names_are_cut_as_the_server_cuts_them(sandbox: Sandbox) {
    // Releases around the length at which the names of Services don't fit any more, and the longest.
    for length in [28, 29, 30, 31, 32, 53] {
        let release = LONG_RELEASE[..length].trim_end_matches('-');
        let objects = Installation::of(&json!({})).named(release, LONG_NAMESPACE).objects(sandbox.bed());
        let fullname = format!("{release}-dynamo-operator");
        let derived = |suffix| NameLimit::Service.derive(&fullname, suffix).unwrap();
        assert_eq!(services(&objects), (&*derived("-webhook-service"), &*derived("-metrics-service")));
        assert_eq!(name(the(&objects, "Deployment")), fullname);
        let configuration = configuration(&objects);
        assert_eq!(configuration["server"]["webhook"]["serviceName"], derived("-webhook-service"));
        assert_eq!(configuration["server"]["webhook"]["fullname"], fullname);
    }
}

async fn two_long_releases_share_no_name(sandbox: Sandbox) {
    let names = |last: char| -> BTreeSet<String> {
        let release = format!("{}{last}", &LONG_RELEASE[..52]);
        let objects = Installation::of(&json!({})).named(&release, LONG_NAMESPACE).objects(sandbox.bed());
        objects.iter().map(|object| format!("{}/{}", object["kind"], name(object))).collect()
    };
    let (one, other) = (names('1'), names('2'));
    assert_eq!(one.len(), other.len());
    assert_eq!(one.intersection(&other).count(), 0, "{one:?}\n{other:?}");
}

async fn other_names_can_be_given(sandbox: Sandbox) {
    let wanted = [
        (json!({"nameOverride": "hooks"}), "dynamo-platform-hooks"),
        (json!({"fullnameOverride": "hooks"}), "hooks"),
        (json!({"fullnameOverride": "hooks", "nameOverride": "otter"}), "hooks"),
    ];
    for (values, fullname) in wanted {
        let objects = Installation::of(&values).objects(sandbox.bed());
        assert_eq!(name(the(&objects, "Deployment")), fullname);
        assert_eq!(services(&objects).0, format!("{fullname}-webhook-service"));
        assert_eq!(configuration(&objects)["server"]["webhook"]["fullname"], fullname);
        // By these the operator finds its configurations and its pods, so they don't follow.
        assert_eq!(name(the(&objects, "ValidatingWebhookConfiguration")), "dynamo-platform-validating");
        let labels = &the(&objects, "Deployment")["spec"]["template"]["metadata"]["labels"];
        assert_eq!(labels["app.kubernetes.io/name"], "dynamo-operator");
    }
}

async fn a_release_that_makes_no_name_for_a_service_is_refused_with_a_sentence(sandbox: Sandbox) {
    for release in ["1st", "otter.zoo"] {
        let said = Installation::of(&json!({})).named(release, "zoo").render(sandbox.bed()).unwrap_err();
        assert!(said.contains("take another release name, or set dynamo-operator.fullnameOverride"), "{said}");
        let named = Installation::of(&json!({"fullnameOverride": "otter"})).named(release, "zoo");
        assert_eq!(services(&named.objects(sandbox.bed())).0, "otter-webhook-service");
    }
}

async fn everything_that_names_something_else_names_what_is_there(sandbox: Sandbox) {
    for (release, namespace) in [("dynamo-platform", "dynamo-system"), (LONG_RELEASE, LONG_NAMESPACE)] {
        let objects = Installation::of(&json!({})).named(release, namespace).objects(sandbox.bed());
        let pod = &the(&objects, "Deployment")["spec"]["template"]["spec"];
        let account = name(the(&objects, "ServiceAccount"));
        assert_eq!(pod["serviceAccountName"], account);
        assert_eq!(pod["volumes"][0]["configMap"]["name"], name(the(&objects, "ConfigMap")));
        let arguments = pod["initContainers"][0]["args"].as_array().unwrap();
        let (service, _) = services(&objects);
        assert!(arguments.contains(&json!(service)) && arguments.contains(&json!(namespace)), "{arguments:?}");
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            let called = &the(&objects, kind)["webhooks"][0]["clientConfig"]["service"];
            assert_eq!((&called["name"], &called["namespace"]), (&json!(service), &json!(namespace)));
        }
        for kind in ["Role", "ClusterRole"] {
            let binding = the(&objects, &format!("{kind}Binding"));
            assert_eq!(binding["roleRef"]["name"], name(the(&objects, kind)));
            let subject = json!({"kind": "ServiceAccount", "name": account, "namespace": namespace});
            assert_eq!(binding["subjects"], json!([subject]));
        }
    }
}
