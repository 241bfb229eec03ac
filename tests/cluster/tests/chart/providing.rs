//! Certificates of cert-manager, and those that users bring.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::charts::{Installation, bundle, judged, of_kind, the};

pub fn tests() -> Vec<Test> {
    tests![
        cert_manager_makes_a_ca_whose_key_stays_and_a_certificate_with_the_names_of_the_service,
        an_issuer_of_the_user_takes_the_place_of_those_of_the_chart,
        what_cert_manager_injects_is_said_to_configurations_and_crds_alike,
        names_and_common_names_fit_for_the_longest_release,
        the_bundle_of_the_user_is_in_every_webhook_and_given_to_the_crds,
        who_provides_decides_what_the_pods_may_change,
    ]
}

fn cert_manager(more: &Value) -> Value {
    let mut values = json!({"webhook": {"certManager": {"enabled": true}}});
    for (key, value) in more.as_object().unwrap() {
        values["webhook"]["certManager"][key] = value.clone();
    }
    values
}

fn named<'a>(objects: &'a [Value], kind: &str, suffix: &str) -> &'a Value {
    let fits = |object: &&&Value| object["metadata"]["name"].as_str().unwrap().ends_with(suffix);
    of_kind(objects, kind).iter().find(fits).copied().unwrap_or_else(|| panic!("no {kind} {suffix}"))
}

fn init_arguments(objects: &[Value]) -> Vec<String> {
    let arguments = &the(objects, "Deployment")["spec"]["template"]["spec"]["initContainers"][0]["args"];
    arguments.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

async fn cert_manager_makes_a_ca_whose_key_stays_and_a_certificate_with_the_names_of_the_service(sandbox: Sandbox) {
    let objects = Installation::of(&cert_manager(&json!({}))).objects(sandbox.bed());
    let root = &named(&objects, "Certificate", "-root-ca")["spec"];
    assert_eq!((&root["isCA"], &root["privateKey"]["rotationPolicy"]), (&json!(true), &json!("Never")));
    assert_eq!(root["issuerRef"]["name"], "dynamo-platform-dynamo-operator-selfsigned-issuer");
    let issuer = named(&objects, "Issuer", "-ca-issuer");
    assert_eq!(issuer["spec"]["ca"]["secretName"], root["secretName"]);
    let serving = &named(&objects, "Certificate", "-serving-cert")["spec"];
    assert_eq!(serving["secretName"], "webhook-server-cert");
    assert_eq!(
        serving["issuerRef"],
        json!({"group": "cert-manager.io", "kind": "Issuer", "name": issuer["metadata"]["name"]})
    );
    let service = "dynamo-platform-dynamo-operator-webhook-service";
    assert_eq!(
        serving["dnsNames"],
        json!([
            format!("{service}.dynamo-system.svc"),
            service,
            format!("{service}.dynamo-system"),
            format!("{service}.dynamo-system.svc.cluster.local"),
        ])
    );
    assert!(serving["commonName"].is_null());
}

async fn an_issuer_of_the_user_takes_the_place_of_those_of_the_chart(sandbox: Sandbox) {
    let objects = |reference: Value| {
        let objects = Installation::of(&cert_manager(&json!({"issuerRef": reference}))).objects(sandbox.bed());
        assert!(of_kind(&objects, "Issuer").is_empty());
        the(&objects, "Certificate")["spec"]["issuerRef"].clone()
    };
    assert_eq!(
        objects(json!({"name": "pki", "kind": "ClusterIssuer"})),
        json!({"group": "cert-manager.io", "kind": "ClusterIssuer", "name": "pki"})
    );
    let foreign = json!({"name": "pki", "kind": "AWSPCAIssuer", "group": "awspca.cert-manager.io"});
    assert_eq!(objects(foreign.clone()), foreign);
    assert_eq!(objects(json!({"name": "pki"}))["kind"], "Issuer");
}

async fn what_cert_manager_injects_is_said_to_configurations_and_crds_alike(sandbox: Sandbox) {
    let secret = ("cert-manager.io/inject-ca-from-secret", "dynamo-system/webhook-server-cert-bundle");
    let certificate = ("cert-manager.io/inject-ca-from", "dynamo-system/dynamo-platform-dynamo-operator-serving-cert");
    for (from, (annotation, value)) in [("secret", secret), ("certificate", certificate)] {
        let objects = Installation::of(&cert_manager(&json!({"injectFrom": from}))).objects(sandbox.bed());
        for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
            assert_eq!(the(&objects, kind)["metadata"]["annotations"], json!({annotation: value}), "{kind}");
        }
        let flag = annotation.replace("cert-manager.io/", "--");
        let arguments = init_arguments(&objects);
        assert!(arguments.windows(2).any(|pair| pair == [flag.as_str(), value]), "{arguments:?}");
    }
}

async fn names_and_common_names_fit_for_the_longest_release(sandbox: Sandbox) {
    let release = "r23456789-123456789-123456789-123456789-123456789-123";
    let namespace = "n23456789-123456789-123456789-123456789-123456789-123456789-123";
    let objects = Installation::of(&cert_manager(&json!({}))).named(release, namespace).objects(sandbox.bed());
    let root = named(&objects, "Certificate", "-root-ca");
    assert_eq!(root["spec"]["commonName"].as_str().unwrap().len(), 64);
    for object in of_kind(&objects, "Certificate").into_iter().chain(of_kind(&objects, "Issuer")) {
        assert!(object["metadata"]["name"].as_str().unwrap().len() <= 253);
    }
    let names = named(&objects, "Certificate", "-serving-cert")["spec"]["dnsNames"].as_array().unwrap();
    let labels = names.iter().flat_map(|name| name.as_str().unwrap().split('.'));
    assert!(labels.into_iter().all(|label| label.len() <= 63), "{names:?}");
}

async fn the_bundle_of_the_user_is_in_every_webhook_and_given_to_the_crds(sandbox: Sandbox) {
    let bundle = bundle();
    // As `base64` wraps it without an option.
    let wrapped: String =
        bundle.as_bytes().chunks(76).map(|line| format!("{}\n", str::from_utf8(line).unwrap())).collect();
    let values = json!({"webhook": {"certificateSecret": {"external": true}, "caBundle": wrapped}});
    let objects = Installation::of(&values).objects(sandbox.bed());
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let configuration = the(&objects, kind);
        let webhooks = configuration["webhooks"].as_array().unwrap();
        assert!(webhooks.iter().all(|webhook| webhook["clientConfig"]["caBundle"] == bundle), "{kind}");
        assert!(configuration["metadata"]["annotations"].is_null());
        assert!(judged(sandbox.bed(), configuration).await.status.is_success(), "{kind}");
    }
    let arguments = init_arguments(&objects);
    assert!(arguments.windows(2).any(|pair| pair == ["--ca-bundle", &bundle]), "{arguments:?}");
}

async fn who_provides_decides_what_the_pods_may_change(sandbox: Sandbox) {
    let external = json!({"webhook": {"certificateSecret": {"external": true}, "caBundle": bundle()}});
    let by_certificate = cert_manager(&json!({"injectFrom": "certificate"}));
    for (values, secrets) in [
        (cert_manager(&json!({})), json!(["webhook-server-cert-bundle"])),
        (by_certificate, Value::Null),
        (external, Value::Null),
    ] {
        let objects = Installation::of(&values).objects(sandbox.bed());
        let rules = the(&objects, "ClusterRole")["rules"].as_array().unwrap();
        let patches = |resource: &str| {
            rules.iter().any(|rule| {
                rule["resources"].to_string().contains(resource) && rule["verbs"].to_string().contains("patch")
            })
        };
        assert!(!patches("webhookconfigurations") && patches("customresourcedefinitions"));
        let role = the(&objects, "Role")["rules"].as_array().unwrap();
        let updated = role
            .iter()
            .find(|rule| rule["resources"] == json!(["secrets"]) && rule["verbs"].to_string().contains("update"));
        assert_eq!(updated.map_or(Value::Null, |rule| rule["resourceNames"].clone()), secrets);
        let policy = the(&objects, "ValidatingAdmissionPolicy")["spec"]["validations"][0].clone();
        assert!(!policy["expression"].as_str().unwrap().contains("caBundle"), "{policy}");
    }
}
