//! Who refuses what, where that depends on more than the rule.

use super::change::Change::{self, Replace};
use super::{CSV, Judge, found, of_rule, refused};

const RULE: &str =
    "{apiGroups: [zoo.example.org], apiVersions: [v1], resources: [otters], operations: [CREATE, UPDATE]}";

/// A rule, changes that break it, and whether v0, v1 and the validators refuse.
const WHO: &[(&str, &[Change], [bool; 3])] = &[
    ("OLM-RULE-01", &[Replace(CSV, RULE, "{apiGroups: ['*']}")], [true, true, false]),
    (
        "OLM-RULE-01",
        &[Replace(CSV, "webhookPath: /convert\n", "webhookPath: /convert\n      rules: [{apiGroups: ['*']}]\n")],
        [true, false, false],
    ),
    (
        "OLM-RULE-04",
        &[Replace(CSV, RULE, "{apiGroups: [admissionregistration.k8s.io], resources: ['*']}")],
        [true, true, false],
    ),
    (
        "OLM-RULE-04",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [admissionregistration.k8s.io], resources: [ValidatingWebhookConfiguration]}",
        )],
        [true, true, false],
    ),
    (
        "OLM-RULE-04",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [admissionregistration.k8s.io], resources: [VALIDATINGwebhookconfigurations]}",
        )],
        [false, true, false],
    ),
    (
        "OLM-RULE-04",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [admissionregistration.k8s.io], resources: [mutatingwebhookconfigurations/*]}",
        )],
        [false, false, false],
    ),
    ("OLM-HOOK-03", &[Replace(CSV, "motter.zoo", "votter.zoo")], [true, false, false]),
    (
        "OLM-HOOK-03",
        &[Replace(CSV, "motter.zoo", "votter.zoo"), Replace(CSV, "MutatingAdmission", "ValidatingAdmission")],
        [true, true, false],
    ),
    ("OLM-HOOK-06", &[Replace(CSV, "cotter.zoo", "COTTER.zoo")], [false, true, false]),
    ("OLM-HOOK-06", &[Replace(CSV, "votter.zoo", "VOTTER.zoo")], [true, true, false]),
    (
        "OLM-CONV-01",
        &[Replace(CSV, "OwnNamespace, supported: false", "OwnNamespace, supported: true")],
        [true, true, true],
    ),
    (
        "OLM-CONV-01",
        &[
            Replace(CSV, "OwnNamespace, supported: false", "OwnNamespace, supported: true"),
            Replace(CSV, "conversionCRDs: [otters.zoo.example.org]", "conversionCRDs: []"),
        ],
        [true, true, false],
    ),
    (
        "OLM-CONV-01",
        &[
            Replace(CSV, "OwnNamespace, supported: false", "OwnNamespace, supported: true"),
            Replace(CSV, "type: ConversionWebhook", "type: ValidatingAdmissionWebhook"),
        ],
        [false, false, true],
    ),
    ("OLM-CRD-02", &[Replace(CSV, "        version: v1\n", "        version: v2\n")], [true, false, true]),
    ("OLM-CRD-02", &[Change::Remove(super::change::CRD)], [true, true, true]),
    ("OLM-CSV-02", &[Replace(CSV, "  displayName: Otter\n", "")], [true, false, true]),
    ("OLM-CSV-02", &[Replace(CSV, "    strategy: deployment\n", "")], [true, false, true]),
    (
        "OLM-CSV-17",
        &[Replace(
            CSV,
            "        - name: otter\n          spec:\n",
            "        - name: otter\n          spec:\n            replicas: two\n",
        )],
        [true, true, true],
    ),
    (
        "OLM-META-06",
        &[Replace(super::ANNOTATIONS, "  operators.operatorframework.io.bundle.package.v1: otter\n", "")],
        [false, true, false],
    ),
];

#[test]
fn a_finding_names_those_who_refuse_and_nobody_else() {
    for (rule, changes, expected) in WHO {
        let found = found(changes);
        let finding = of_rule(&found, rule)[0];
        let judges = [Judge::OlmV0, Judge::OlmV1, Judge::Validators].map(|judge| refused(finding, judge).is_some());
        assert_eq!(judges, *expected, "{rule}: {changes:?}");
    }
}

#[test]
fn a_conversion_webhook_needs_no_side_effects_under_v1_and_no_qualified_name() {
    let found = found(&[
        Replace(CSV, "/convert\n      sideEffects: None\n", "/convert\n"),
        Replace(CSV, "cotter.zoo.example.org", "cotter"),
    ]);
    let finding = of_rule(&found, "OLM-HOOK-10")[0];
    assert!(refused(finding, Judge::OlmV0).is_some() && refused(finding, Judge::OlmV1).is_none());
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_volume_of_a_secret_that_the_bundle_ships_is_no_trouble() {
    let found = found(&[
        Replace(CSV, "volumes: []", "volumes: [{name: cert, secret: {secretName: webhook-server-cert}}]"),
        Change::Add("manifests/secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: webhook-server-cert}\n"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_selector_keeps_a_webhook_away_from_the_own_pods() {
    let pods = "{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}";
    for policy in ["failurePolicy: Ignore", "objectSelector: {matchLabels: {a: b}}"] {
        let found = found(&[Replace(CSV, RULE, pods), Replace(CSV, "failurePolicy: Fail", policy)]);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn a_default_channel_that_is_not_there_is_no_trouble() {
    let line = "  operators.operatorframework.io.bundle.channel.default.v1: stable\n";
    assert!(found(&[Replace(super::ANNOTATIONS, line, "")]).is_empty());
}
