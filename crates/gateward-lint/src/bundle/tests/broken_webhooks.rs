//! Bundles whose webhook descriptions, or the deployments behind them, break a rule.

use super::change::Broken;
use super::change::Change::{Add, Replace};
use super::change::{CRD, CSV};

const RULE: &str =
    "{apiGroups: [zoo.example.org], apiVersions: [v1], resources: [otters], operations: [CREATE, UPDATE]}";
const ALL_RULES: &str = "      rules:\n        - {apiGroups: [zoo.example.org], apiVersions: [v1], resources: [otters], operations: [CREATE, UPDATE]}\n";
const STORED: &str = "  scope: Namespaced\n";
const MODES: &str = "    - {type: OwnNamespace, supported: false}\n";

pub(super) const BROKEN: &[Broken] = &[
    (
        "OLM-DEPLOY-01",
        &[Replace(
            CSV,
            "        - name: otter\n",
            "        - name: otter\n          spec: {}\n        - name: otter\n",
        )],
    ),
    ("OLM-DEPLOY-02", &[Replace(CSV, "        - name: otter\n", "        - name: Otter_1\n")]),
    (
        "OLM-DEPLOY-03",
        &[
            Replace(CSV, "        - name: otter\n", "        - name: ot.ter\n"),
            Replace(CSV, "deploymentName: otter", "deploymentName: ot.ter"),
        ],
    ),
    (
        "OLM-DEPLOY-04",
        &[
            Replace(CSV, "        - name: otter\n", "        - name: 1otter\n"),
            Replace(CSV, "deploymentName: otter", "deploymentName: 1otter"),
        ],
    ),
    (
        "OLM-DEPLOY-05",
        &[Replace(CSV, "volumes: []", "volumes: [{name: cert, secret: {secretName: webhook-server-cert}}]")],
    ),
    (
        "OLM-DEPLOY-05",
        &[
            Replace(CSV, "volumes: []", "volumes: [{name: cert, secret: {secretName: mine}}]"),
            Replace(
                CSV,
                "volumeMounts: []",
                "volumeMounts: [{name: cert, mountPath: /tmp/k8s-webhook-server/serving-certs/}]",
            ),
        ],
    ),
    (
        "OLM-DEPLOY-05",
        &[
            Replace(CSV, "volumes: []", "volumes: [{name: cert, secret: {secretName: mine}}]"),
            Replace(
                CSV,
                "volumeMounts: []",
                "volumeMounts: [{name: cert, mountPath: /apiserver.local.config/certificates}]",
            ),
        ],
    ),
    ("OLM-DEPLOY-06", &[Add("manifests/sa.yaml", "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: otter}\n")]),
    ("OLM-HOOK-01", &[Replace(CSV, "type: MutatingAdmissionWebhook", "type: Mutating")]),
    ("OLM-HOOK-02", &[Replace(CSV, "      generateName: votter.zoo.example.org\n", "")]),
    ("OLM-HOOK-03", &[Replace(CSV, "motter.zoo.example.org", "votter.zoo.example.org")]),
    (
        "OLM-HOOK-04",
        &[Replace(CSV, "votter.zoo", "votter-that-has-a-name-of-more-characters-than-a-label-may-have.zoo")],
    ),
    ("OLM-HOOK-05", &[Replace(CSV, "votter.zoo.example.org", "votter.zoo")]),
    ("OLM-HOOK-06", &[Replace(CSV, "cotter.zoo.example.org", "Cotter.zoo.example.org")]),
    ("OLM-HOOK-07", &[Replace(CSV, "deploymentName: otter", "deploymentName: seal")]),
    ("OLM-HOOK-07", &[Replace(CSV, "      deploymentName: otter\n", "")]),
    ("OLM-HOOK-08", &[Replace(CSV, "containerPort: 443", "containerPort: 70000")]),
    ("OLM-HOOK-08", &[Replace(CSV, "targetPort: 9443", "targetPort: 0")]),
    ("OLM-HOOK-08", &[Replace(CSV, "targetPort: 9443", "targetPort: Webhook_Server")]),
    ("OLM-HOOK-09", &[Replace(CSV, "      containerPort: 443\n", "")]),
    ("OLM-HOOK-10", &[Replace(CSV, "      sideEffects: None\n", "")]),
    ("OLM-HOOK-10", &[Replace(CSV, "sideEffects: None\n", "sideEffects: Some\n")]),
    ("OLM-HOOK-11", &[Replace(CSV, "      admissionReviewVersions: [v1]\n", "")]),
    ("OLM-HOOK-11", &[Replace(CSV, "admissionReviewVersions: [v1]", "admissionReviewVersions: []")]),
    ("OLM-HOOK-11", &[Replace(CSV, "admissionReviewVersions: [v1]", "admissionReviewVersions: [v2]")]),
    ("OLM-HOOK-12", &[Replace(CSV, "timeoutSeconds: 10", "timeoutSeconds: 31")]),
    ("OLM-HOOK-12", &[Replace(CSV, "timeoutSeconds: 10", "timeoutSeconds: 0")]),
    ("OLM-HOOK-13", &[Replace(CSV, "failurePolicy: Fail", "failurePolicy: fail")]),
    ("OLM-HOOK-13", &[Replace(CSV, "failurePolicy: Fail", "matchPolicy: Same")]),
    ("OLM-HOOK-13", &[Replace(CSV, "reinvocationPolicy: IfNeeded", "reinvocationPolicy: Always")]),
    ("OLM-HOOK-14", &[Replace(CSV, "failurePolicy: Fail", "reinvocationPolicy: Never")]),
    ("OLM-HOOK-15", &[Replace(CSV, "failurePolicy: Fail", "namespaceSelector: {matchLabels: {a: b}}")]),
    ("OLM-HOOK-15", &[Replace(CSV, "failurePolicy: Fail", "matchConditions: [{name: a, expression: 'true'}]")]),
    ("OLM-HOOK-15", &[Replace(CSV, "failurePolicy: Fail", "clientConfig: {url: 'https://example.org'}")]),
    ("OLM-HOOK-15", &[Replace(CSV, "failurePolicy: Fail", "failurepolicy: Fail")]),
    ("OLM-HOOK-16", &[Replace(CSV, "targetPort: 9443", "targetPort: 9444")]),
    ("OLM-HOOK-17", &[Replace(CSV, "webhookPath: /convert", "webhookPath: convert")]),
    ("OLM-HOOK-17", &[Replace(CSV, "webhookPath: /convert", "webhookPath: /a//b")]),
    ("OLM-HOOK-18", &[Replace(CSV, "      webhookPath: /validate-otter\n", "")]),
    ("OLM-HOOK-19", &[Replace(CSV, ALL_RULES, "")]),
    ("OLM-HOOK-20", &[Replace(CSV, "containerPort: 9443", "containerPort: 8443")]),
    ("OLM-HOOK-20", &[Replace(CSV, "targetPort: 9443", "targetPort: webhooks")]),
    (
        "OLM-HOOK-21",
        &[Replace(
            CSV,
            "{matchLabels: {zoo: \"yes\"}}",
            "{matchLabels: {zoo: yes}, matchExpressions: [{key: a, operator: Like}]}",
        )],
    ),
    ("OLM-HOOK-21", &[Replace(CSV, "{matchLabels: {zoo: \"yes\"}}", "{matchExpressions: [{key: a, operator: In}]}")]),
    (
        "OLM-RULE-01",
        &[Replace(CSV, RULE, "{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: [CREATE]}")],
    ),
    (
        "OLM-RULE-02",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [operators.coreos.com], apiVersions: ['*'], resources: ['*'], operations: [CREATE]}",
        )],
    ),
    (
        "OLM-RULE-03",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [olm.operatorframework.io], apiVersions: ['*'], resources: ['*'], operations: [CREATE]}",
        )],
    ),
    (
        "OLM-RULE-04",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [admissionregistration.k8s.io], apiVersions: ['*'], resources: ['*/*'], operations: [CREATE]}",
        )],
    ),
    (
        "OLM-RULE-05",
        &[Replace(
            CSV,
            RULE,
            "{apiGroups: [admissionregistration.k8s.io], apiVersions: ['*'], resources: [validatingAdmissionPolicies/status], operations: [CREATE]}",
        )],
    ),
    ("OLM-RULE-06", &[Replace(CSV, "webhookPath: /convert\n", "webhookPath: /convert\n      rules: [{}]\n")]),
    ("OLM-RULE-07", &[Replace(CSV, "operations: [CREATE, UPDATE]", "operations: []")]),
    ("OLM-RULE-07", &[Replace(CSV, "operations: [CREATE, UPDATE]", "operations: [create]")]),
    ("OLM-RULE-07", &[Replace(CSV, "operations: [CREATE, UPDATE]", "operations: ['*', UPDATE]")]),
    ("OLM-RULE-07", &[Replace(CSV, "operations: [CREATE, UPDATE]", "operations: ['*'], scope: namespaced")]),
    ("OLM-RULE-07", &[Replace(CSV, "apiVersions: [v1], resources: [otters], ", "apiVersions: [''], ")]),
    (
        "OLM-RULE-08",
        &[Replace(CSV, RULE, "{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}")],
    ),
    (
        "OLM-RULE-08",
        &[Replace(CSV, RULE, "{apiGroups: [apps], apiVersions: [v1], resources: ['*'], operations: ['*']}")],
    ),
    ("OLM-CONV-01", &[Replace(CSV, MODES, "    - {type: OwnNamespace, supported: true}\n")]),
    ("OLM-CONV-02", &[Replace(CSV, "conversionCRDs: [otters.zoo.example.org]", "conversionCRDs: []")]),
    (
        "OLM-CONV-03",
        &[Replace(CSV, "conversionCRDs: [otters.zoo.example.org]", "conversionCRDs: [seals.zoo.example.org]")],
    ),
    (
        "OLM-CONV-04",
        &[Replace(
            CSV,
            "conversionCRDs: [otters.zoo.example.org]",
            "conversionCRDs: [otters.zoo.example.org, otters.zoo.example.org]",
        )],
    ),
    ("OLM-CONV-05", &[Replace(CSV, "      webhookPath: /convert\n", "")]),
    ("OLM-CONV-06", &[Replace(CRD, STORED, "  scope: Namespaced\n  preserveUnknownFields: true\n")]),
    ("OLM-CONV-07", &[Replace(CSV, "failurePolicy: Fail", "conversionCRDs: [otters.zoo.example.org]")]),
    (
        "OLM-CONV-08",
        &[Replace(
            CRD,
            "    - name: v1beta1\n      served: true\n      storage: false\n      schema: {openAPIV3Schema: {type: object}}\n",
            "",
        )],
    ),
];
