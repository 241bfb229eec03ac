//! What the chart refuses, and in which words.

use cluster_tests::{Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::charts::{Installation, bundle};

pub fn tests() -> Vec<Test> {
    tests![
        what_was_removed_is_refused_with_what_to_do,
        what_cannot_be_for_one_namespace_is_refused_with_a_reason,
        what_nobody_knows_is_refused_with_a_sentence,
        what_cannot_be_is_refused,
        a_ca_bundle_that_no_api_server_could_use_is_refused,
        an_issuer_without_a_name_is_refused_with_the_way_out,
        cert_manager_that_is_not_there_is_said_where_the_cluster_is_asked,
        switches_that_are_off_render_the_defaults,
    ]
}

/// What Helm says against values of the operator.
fn refusal(sandbox: &Sandbox, values: &Value) -> String {
    let rendered = Installation::of(values).render(sandbox.bed());
    rendered.err().unwrap_or_else(|| panic!("{values} is taken"))
}

fn all_are_refused(sandbox: &Sandbox, wanted: &[(Value, &str)]) {
    for (values, sentence) in wanted {
        let said = refusal(sandbox, values);
        assert!(said.contains(sentence), "{values}: {said}");
    }
}

async fn what_was_removed_is_refused_with_what_to_do(sandbox: Sandbox) {
    let wanted = [
        (json!({"webhook": {"enabled": false}}), "remove this key: webhooks are always on"),
        (json!({"webhook": {"enabled": true}}), "the API server reaches the pods on their webhook port, 9443"),
        (json!({"webhook": {"certificateValidity": 365}}), "say it in webhook.certificates.lifetime"),
        (json!({"webhook": {"certGenerator": {"image": {"tag": "latest"}}}}), "without Jobs"),
        (json!({"controllerManager": {"kubeRbacProxy": {"image": {"tag": "v1"}}}}), "guards its metrics itself"),
        (json!({"controllerManager": {"manager": {"args": ["--x"]}}}), "the chart writes the arguments"),
        (json!({"enabled": false}), "to be without the webhooks, do not install it"),
    ];
    all_are_refused(&sandbox, &wanted);
}

async fn what_cannot_be_for_one_namespace_is_refused_with_a_reason(sandbox: Sandbox) {
    let one = |restriction: Value| {
        let mut whole = json!({"enabled": true});
        whole.as_object_mut().unwrap().extend(restriction.as_object().unwrap().clone());
        whole
    };
    let restriction = |restriction: Value| json!({"namespaceRestriction": one(restriction)});
    let beside = |webhook: Value| json!({"namespaceRestriction": one(json!({})), "webhook": webhook});
    let wanted = [
        (restriction(json!({"namespace": "team-a", "targetNamespace": "team-b"})), "they mean the same"),
        (restriction(json!({"namespace": "kube-system"})), "nothing in kube-system is ever judged"),
        (restriction(json!({"namespace": "Team"})), "'Team' does not match"),
        (restriction(json!({"lease": {"duration": "1d"}})), "'1d' does not match"),
        (
            beside(json!({"namespaceSelector": {"matchLabels": {"a": "b"}}})),
            "leave dynamo-operator.webhook.namespaceSelector empty",
        ),
        (beside(json!({"excludeClaimedNamespaces": true})), "it is for an operator of the whole cluster"),
    ];
    all_are_refused(&sandbox, &wanted);
    // As some guides write it.
    let mut outside = Installation::of(&json!({}));
    outside.values["namespaceRestriction"] = json!({"enabled": true, "namespace": "team-a"});
    let said = outside.render(sandbox.bed()).unwrap_err();
    assert!(said.contains("as dynamo-operator.namespaceRestriction.enabled"), "{said}");
}

async fn what_nobody_knows_is_refused_with_a_sentence(sandbox: Sandbox) {
    let wanted = [
        (json!({"otter": 1}), "'/otter': value must be 'remove this key: the chart has no such value"),
        (json!({"webhook": {"otter": 1}}), "'/webhook/otter'"),
        (json!({"webhook": {"certificates": {"validity": "1h"}}}), "'/webhook/certificates/validity'"),
        (
            json!({"controllerManager": {"manager": {"image": {"digest": "x"}}}}),
            "'/controllerManager/manager/image/digest'",
        ),
        (json!({"webhook": {"namespaceSelector": {"team": "a"}}}), "a selector has matchLabels and matchExpressions"),
    ];
    all_are_refused(&sandbox, &wanted);
    for key in ["nats", "webhook", "grove"] {
        let mut outside = Installation::of(&json!({}));
        outside.values[key] = json!({"enabled": true});
        let said = outside.render(sandbox.bed()).unwrap_err();
        assert!(said.contains("its values stand under dynamo-operator"), "{said}");
    }
}

async fn what_cannot_be_is_refused(sandbox: Sandbox) {
    let wanted = [
        (json!({"controllerManager": {"replicas": 0}}), "minimum"),
        (json!({"webhook": {"failurePolicy": "fail"}}), "value must be one of 'Fail', 'Ignore'"),
        (json!({"webhook": {"timeoutSeconds": 31}}), "maximum"),
        (json!({"webhook": {"port": 8081}}), "8080 and 8081 are those of metrics and probes"),
        (json!({"webhook": {"certificates": {"lifetime": "10d"}}}), "'10d' does not match"),
        (json!({"webhook": {"certificates": {"keyAlgorithm": "Ed25519"}}}), "'ECDSA', 'RSA'"),
        (json!({"webhook": {"certificateSecret": {"name": "Otter"}}}), "'Otter' does not match"),
        (json!({"webhook": {"certificateSecret": null}}), "missing property 'certificateSecret'"),
        (json!({"env": [{"name": "POD_IP", "value": "1"}]}), "the chart sets this one itself"),
        (json!({"operatorVersion": "latest"}), "'latest' does not match"),
        (json!({"networkPolicy": {"nodeCIDRs": ["everywhere"]}}), "'everywhere' does not match"),
        (json!({"podDisruptionBudget": {"minAvailable": "half"}}), "'half' does not match"),
        (json!({"metricsService": {"ports": []}}), "minItems"),
    ];
    all_are_refused(&sandbox, &wanted);
}

async fn a_ca_bundle_that_no_api_server_could_use_is_refused(sandbox: Sandbox) {
    let external = |bundle: &str| json!({"webhook": {"certificateSecret": {"external": true}, "caBundle": bundle}});
    let both = json!({"webhook": {
        "certificateSecret": {"external": true}, "certManager": {"enabled": true}, "caBundle": bundle(),
    }});
    let wanted = [
        (
            external(""),
            "no CA is given, by which API servers could verify the certificate: set dynamo-operator.webhook.",
        ),
        (external("otter!"), "webhook.caBundle is not base64"),
        (external("-----BEGIN CERTIFICATE-----"), "webhook.caBundle is not base64"),
        (external("b3R0ZXI="), "webhook.caBundle holds no certificate in PEM"),
        (json!({"webhook": {"certManager": {"enabled": true}, "caBundle": "otter!"}}), "is not base64"),
        (both, "either cert-manager or you can write the Secret of the certificate"),
        (
            json!({"webhook": {"certManager": {"issuerRef": {"issuer": "otter"}}}}),
            "an issuerRef has name, kind and group",
        ),
        (json!({"webhook": {"certManager": {"injectFrom": "configmap"}}}), "'secret', 'certificate'"),
        (json!({"webhook": {"certManager": {"certificate": {"duration": "1y"}}}}), "'1y' does not match"),
    ];
    all_are_refused(&sandbox, &wanted);
}

async fn an_issuer_without_a_name_is_refused_with_the_way_out(sandbox: Sandbox) {
    let issuer = |reference: Value| json!({"webhook": {"certManager": {"enabled": true, "issuerRef": reference}}});
    let wanted = "dynamo-operator.webhook.certManager.issuerRef has a kind or a group, but no name: set its name, or \
                  leave issuerRef empty";
    let nameless = [
        json!({"kind": "ClusterIssuer"}),
        json!({"group": "awspca.cert-manager.io"}),
        json!({"name": "", "kind": "Issuer"}),
    ];
    all_are_refused(&sandbox, &nameless.map(|reference| (issuer(reference), wanted)));
    for empty in [json!({}), Value::Null, json!({"name": "", "kind": "", "group": null})] {
        Installation::of(&issuer(empty)).render(sandbox.bed()).unwrap();
    }
}

async fn cert_manager_that_is_not_there_is_said_where_the_cluster_is_asked(sandbox: Sandbox) {
    let installation = Installation::of(&json!({"webhook": {"certManager": {"enabled": true}}}));
    installation.render(sandbox.bed()).unwrap();
    let said = installation.clone().named("otter", sandbox.namespace()).notes(sandbox.bed()).unwrap_err();
    assert!(said.contains("the cluster does not serve cert-manager.io/v1: install cert-manager first"), "{said}");
}

async fn switches_that_are_off_render_the_defaults(sandbox: Sandbox) {
    let values = json!({
        "enabled": true,
        "webhook": {"certManager": {"enabled": false}, "certificateSecret": {"external": false}, "caBundle": ""},
        "namespaceRestriction": {"enabled": false, "namespace": "", "targetNamespace": ""},
    });
    let mut given = Installation::of(&values);
    given.values["namespaceRestriction"] = json!({"enabled": false});
    assert_eq!(given.objects(sandbox.bed()), Installation::of(&json!({})).objects(sandbox.bed()));
}
