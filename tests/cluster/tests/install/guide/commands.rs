//! Each command of the page does what the guide promises.

use std::collections::BTreeSet;
use std::time::Duration;

use cluster_tests::objects::model;
use cluster_tests::{Release, SERVING_SECRET, Sandbox, Test, tests, until};

use super::user::{User, commands};

pub fn tests() -> Vec<Test> {
    let together = tests![
        the_page_has_these_commands_and_no_others,
        a_command_that_looks_finds_what_the_guide_promises,
        a_pod_answers_past_the_api_server,
        a_verdict_is_in_the_log,
    ];
    let alone = tests![a_certificate_is_made_anew_by_hand, what_a_last_resort_changes_is_restored_by_helm];
    together.into_iter().chain(alone.into_iter().map(Test::alone)).collect()
}

/// A command of the page, and some of what it must write.
type Row = (&'static str, &'static [&'static str]);

/// Commands that change nothing, of a release that is well.
const LOOKING: [Row; 15] = [
    ("gateward certs status --release $R --namespace $NS", &["provider:   auto", "targets:    11 trust"]),
    ("kubectl logs -n $NS deployment/$R-dynamo-operator", &["starting in a cluster"]),
    ("kubectl get validatingwebhookconfiguration | grep dynamo", &["dynamo-platform-validating"]),
    (
        "kubectl get validatingwebhookconfiguration $R-validating -o yaml",
        &[
            "caBundle: LS0tLS1CRUdJTi",
            "name: dynamo-platform-dynamo-operator-webhook-service",
            "namespace: dynamo-system",
            "namespaceSelector:",
            "failurePolicy: Fail",
            "timeoutSeconds: 10",
            "sideEffects: None",
        ],
    ),
    ("kubectl get service -n $NS | grep webhook", &["dynamo-platform-dynamo-operator-webhook-service", "443/TCP"]),
    (
        "kubectl logs -n $NS deployment/$R-dynamo-operator | grep webhook",
        &["Registering validation webhooks", "Starting webhook server"],
    ),
    ("kubectl get pods -n $NS -l app.kubernetes.io/name=dynamo-operator", &["1/1     Running"]),
    (
        r#"kubectl get deployment -n $NS $R-dynamo-operator -o yaml | grep -A5 "containerPort: 9443""#,
        &["containerPort: 9443", "name: webhook-server", "protocol: TCP"],
    ),
    (
        "kubectl get validatingwebhookconfiguration $R-validating -o jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d",
        &["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"],
    ),
    ("kubectl get secret webhook-server-cert -n $NS", &["webhook-server-cert", "kubernetes.io/tls"]),
    (
        r"kubectl get secret webhook-server-cert -n $NS -o jsonpath='{.data.tls\.crt}' | base64 -d | openssl x509 -noout -text",
        &["Not Before", "Not After", "DNS:dynamo-platform-dynamo-operator-webhook-service.dynamo-system.svc"],
    ),
    (
        r#"kubectl logs -n $NS deployment/$R-dynamo-operator | grep "cert\|ca.*bundle\|inject""#,
        &["a certificate is in use", "serving certificate reloaded"],
    ),
    (
        r#"kubectl logs -n $NS deployment/$R-dynamo-operator | grep "cert-manager\|cert-rotation\|cert-controller""#,
        &["cert-controller", "cert-rotation"],
    ),
    ("kubectl auth can-i create secrets -n $NS --as=system:serviceaccount:$NS:$R-dynamo-operator", &["yes"]),
    (
        "kubectl auth can-i patch validatingwebhookconfigurations/$R-validating --as=system:serviceaccount:$NS:$R-dynamo-operator",
        &["yes"],
    ),
];

const FORWARD: &str = "kubectl port-forward -n $NS pod/$POD 9443:9443";
pub const FORWARD_PROBES: &str = "kubectl port-forward -n $NS pod/$POD 8081:8081";
pub const READINESS: &str = r#"curl "http://localhost:8081/readyz?verbose""#;
const CURL: &str = "curl -k https://localhost:9443/validate-nvidia-com-v1alpha1-dynamocomponentdeployment";
/// Finds nothing while all is well.
pub const WARNINGS: &str =
    r#"kubectl logs -n $NS -l app.kubernetes.io/name=dynamo-operator --tail=-1 | grep "ERROR\|WARN""#;
pub const VERDICTS: &str = r#"kubectl logs -n $NS -l app.kubernetes.io/name=dynamo-operator --tail=-1 | grep "validate create\|validate update""#;

const DELETE_SECRET: &str = "kubectl delete secret webhook-server-cert -n $NS";
const RESTART: &str = "kubectl rollout restart deployment/$R-dynamo-operator -n $NS";

pub const IGNORE: &str = r#"kubectl patch validatingwebhookconfiguration $R-validating --type=json -p='[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]'"#;
pub const IGNORE_DEFAULTS: &str = r#"kubectl patch mutatingwebhookconfiguration $R-mutating --type=json -p='[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]'"#;
pub const DELETE_CONFIGURATION: &str = "kubectl delete validatingwebhookconfiguration $R-validating";
pub const RESTORE: &str = "helm upgrade $R dynamo-platform -n $NS";

/// The parts of the page that tell users to type something.
const HEADINGS: [&str; 7] = [
    "## Where to look first",
    "### Invalid objects are accepted",
    "### Connection refused, no endpoints, or a timeout",
    "### x509: certificate signed by unknown authority",
    "### Certificates aren't made",
    "### A denial isn't clear",
    "### An object stays in Terminating",
];

async fn the_page_has_these_commands_and_no_others(_: Sandbox) {
    let others = [
        FORWARD,
        CURL,
        FORWARD_PROBES,
        READINESS,
        WARNINGS,
        VERDICTS,
        DELETE_SECRET,
        RESTART,
        IGNORE,
        IGNORE_DEFAULTS,
        DELETE_CONFIGURATION,
        RESTORE,
    ];
    let run: BTreeSet<&str> = LOOKING.iter().map(|(command, _)| *command).chain(others).collect();
    let written: BTreeSet<&str> = HEADINGS.into_iter().flat_map(commands).collect();
    assert_eq!(written, run);
}

async fn a_command_that_looks_finds_what_the_guide_promises(sandbox: Sandbox) {
    let user = User::new(&sandbox);
    for (command, wanted) in LOOKING {
        user.finds(command, wanted);
    }
}

async fn a_pod_answers_past_the_api_server(sandbox: Sandbox) {
    let user = User::new(&sandbox);
    user.comes_to_find_through(FORWARD, CURL, &[r#""code":405"#, "a review is sent by POST"]).await;
    let ready = ["[+]listener ok", "[+]certificate ok", "readyz check passed"];
    user.comes_to_find_through(FORWARD_PROBES, READINESS, &ready).await;
}

async fn a_verdict_is_in_the_log(sandbox: Sandbox) {
    let user = User::new(&sandbox);
    sandbox.accepts(&model("otter", "hf://a/b")).await;
    sandbox.rejects(&model("heron", "ftp://example.org"), &["spec.source.uri"]).await;
    let line = |name: &str, verdict: &str| {
        [
            format!(r#""namespace":"{}""#, sandbox.namespace()),
            format!(r#""name":"{name}""#),
            format!(r#""verdict":"{verdict}""#),
        ]
    };
    for wanted in [line("otter", "allowed"), line("heron", "denied")] {
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        user.comes_to_find(VERDICTS, &wanted).await;
    }
    let (_, log) = user.types(VERDICTS);
    let line = log.lines().find(|line| line.contains(r#""name":"heron""#) && line.contains(sandbox.namespace()));
    assert!(line.is_some_and(|line| line.contains(r#""findings":"MODEL-05 spec.source.uri""#)), "{line:?}");
    user.finds("gateward rules MODEL-05", &["MODEL-05", "s3://"]);
}

async fn a_certificate_is_made_anew_by_hand(sandbox: Sandbox) {
    let (user, release) = (User::new(&sandbox), Release::only(&sandbox));
    let before = release.certificate(SERVING_SECRET).await.unwrap();
    user.finds(DELETE_SECRET, &[r#"secret "webhook-server-cert" deleted"#]);
    user.finds(RESTART, &["deployment.apps/dynamo-platform-dynamo-operator restarted"]);
    release.rolled_out().await.unwrap();
    release.settled().await.unwrap();
    let after = release.certificate(SERVING_SECRET).await.unwrap();
    assert!(after.is_some() && after != before);
    sandbox.accepts(&model("otter", "hf://a/b")).await;
}

async fn what_a_last_resort_changes_is_restored_by_helm(sandbox: Sandbox) {
    let (user, release) = (User::new(&sandbox), Release::only(&sandbox));
    let policies = async || {
        let mut policies = Vec::new();
        for configuration in release.configurations() {
            let configuration = sandbox.bed().client().get(&configuration).await.unwrap().body;
            policies.push(configuration["webhooks"][0]["failurePolicy"].clone());
        }
        policies
    };
    assert_eq!(policies().await, ["Fail", "Fail"]);
    user.finds(IGNORE, &["dynamo-platform-validating patched"]);
    user.finds(IGNORE_DEFAULTS, &["dynamo-platform-mutating patched"]);
    assert_eq!(policies().await, ["Ignore", "Ignore"]);
    user.finds(RESTORE, &["STATUS: deployed"]);
    assert_eq!(policies().await, ["Fail", "Fail"]);
    user.finds(DELETE_CONFIGURATION, &[r#""dynamo-platform-validating" deleted"#]);
    user.finds(RESTORE, &["STATUS: deployed"]);
    until("what must not be is refused again", Duration::from_mins(1), async || {
        let answer = sandbox.create(&model("heron", "ftp://example.org")).await;
        answer.body["message"].as_str().unwrap_or_default().contains("spec.source.uri")
    })
    .await;
}
