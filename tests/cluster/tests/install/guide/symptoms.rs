//! Each symptom of the guide, made to appear: what we print leads to its cause.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cluster_tests::objects::{graph, model};
use cluster_tests::{Client, DENIED, Denial, Release, SERVING_SECRET, Sandbox, Test, tests, until};
use serde_json::{Value, json};

use super::commands::{DELETE_CONFIGURATION, FORWARD_PROBES, IGNORE, IGNORE_DEFAULTS, READINESS, RESTORE, WARNINGS};
use super::user::{SOON, User, commands};

pub fn tests() -> Vec<Test> {
    let tests = tests![
        invalid_objects_are_accepted_without_a_configuration,
        a_strange_ca_bundle_is_named_and_then_replaced,
        requests_fail_while_no_pod_is_ready,
    ];
    tests.into_iter().map(Test::alone).collect()
}

/// Readiness comes to say something.
async fn readiness_says(user: &User, wanted: &[&str]) {
    user.comes_to_find_through(FORWARD_PROBES, READINESS, wanted).await;
}

/// The command of a section that shows the log's lines on its matter.
fn log_lines(heading: &str) -> &'static str {
    commands(heading).into_iter().find(|command| command.contains("kubectl logs")).unwrap()
}

/// Waits until the API server answers the creation of an object in such a way.
async fn answers(sandbox: &Sandbox, object: &Value, wanted: &str) {
    until(wanted, SOON, async || {
        let answer = sandbox.dry().create(object).await;
        answer.body["message"].as_str().unwrap_or_default().contains(wanted)
    })
    .await;
}

async fn accepted(sandbox: &Sandbox, object: &Value) {
    until("it is accepted", SOON, async || sandbox.dry().create(object).await.status.is_success()).await;
}

async fn invalid_objects_are_accepted_without_a_configuration(sandbox: Sandbox) {
    let (user, wrong) = (User::new(&sandbox), model("heron", "ftp://example.org"));
    user.finds(DELETE_CONFIGURATION, &["deleted"]);
    accepted(&sandbox, &wrong).await;
    let (found, said) = user.types(commands("### Invalid objects are accepted")[0]);
    assert!(!found, "{said}");
    let cause = "ValidatingWebhookConfiguration dynamo-platform-validating is not there; it is waited for";
    readiness_says(&user, &[cause]).await;
    user.finds(RESTORE, &["STATUS: deployed"]);
    answers(&sandbox, &wrong, "spec.source.uri").await;
}

async fn a_strange_ca_bundle_is_named_and_then_replaced(sandbox: Sandbox) {
    let (user, release) = (User::new(&sandbox), Release::only(&sandbox));
    let (client, right) = (sandbox.bed().client(), model("otter", "hf://a/b"));
    let [validating, _] = release.configurations();
    let strange = STANDARD.encode(std::fs::read(sandbox.bed().folder().join("ca.crt")).unwrap());
    let mut configuration = client.get(&validating).await.unwrap().granted().unwrap();
    for webhook in configuration["webhooks"].as_array_mut().unwrap() {
        webhook["clientConfig"]["caBundle"] = strange.clone().into();
    }
    let replaced = json!({"webhooks": configuration["webhooks"]});
    let denial = nothing_is_restored(client, &release, &replaced).await;
    client.merge(&validating, &replaced).await.unwrap().granted().unwrap();
    answers(&sandbox, &right, "x509: certificate signed by unknown authority").await;
    let cause = "has a caBundle that doesn't verify this replica's certificate";
    readiness_says(&user, &[cause]).await;
    let heading = "### x509: certificate signed by unknown authority";
    user.comes_to_find(log_lines(heading), &[cause]).await;
    denial.lift().await;
    accepted(&sandbox, &right).await;
}

/// Keeps the Pods from writing webhook configurations, such as by this change.
async fn nothing_is_restored(client: &Client, release: &Release, change: &Value) -> Denial {
    let rule = json!({
        "apiGroups": ["admissionregistration.k8s.io"], "apiVersions": ["v1"], "operations": ["UPDATE"],
        "resources": ["validatingwebhookconfigurations"],
    });
    let (them, [validating, _]) = (client.acting_as(&release.account()), release.configurations());
    let path = format!("{validating}?dryRun=All");
    Denial::of(client, &release.account(), &rule, async || them.merge(&path, change).await.unwrap()).await
}

async fn requests_fail_while_no_pod_is_ready(sandbox: Sandbox) {
    let (user, release) = (User::new(&sandbox), Release::only(&sandbox));
    let mut otter = graph("otter");
    otter["metadata"]["finalizers"] = json!(["example.org/otter"]);
    sandbox.accepts(&otter).await;
    no_pod_is_left(&release).await;
    nothing_answers(&sandbox, &user).await;
    an_object_stays_in_terminating(&sandbox, &user, &otter).await;

    let denial = no_secret_is_written(&sandbox, &release).await;
    release.delete_secret(SERVING_SECRET).await.unwrap();
    // It brings back the Pods too.
    user.finds(RESTORE, &["STATUS: deployed"]);
    until("the Pods run", SOON, async || {
        let pods = release.pods().await.unwrap();
        pods.len() == 2 && pods.iter().all(|pod| pod["status"]["phase"] == "Running")
    })
    .await;
    pods_wait_for_a_certificate(&user).await;
    denial.lift().await;
    release.rolled_out().await.unwrap();
    accepted(&sandbox, &graph("heron")).await;
}

async fn no_pod_is_left(release: &Release) {
    release.scale(0).await.unwrap();
    until("no Pod is left", SOON, async || release.pods().await.unwrap().is_empty()).await;
}

async fn nothing_answers(sandbox: &Sandbox, user: &User) {
    let wanted = r#"no endpoints available for service "dynamo-platform-dynamo-operator-webhook-service""#;
    answers(sandbox, &model("heron", "hf://a/b"), wanted).await;
    user.finds("kubectl get pods -n $NS -l app.kubernetes.io/name=dynamo-operator", &["No resources found"]);
}

/// The last resort lets it go.
async fn an_object_stays_in_terminating(sandbox: &Sandbox, user: &User, object: &Value) {
    let let_go = format!(
        "kubectl patch dgd otter -n {} --type=json -p='[{{\"op\": \"remove\", \"path\": \"/metadata/finalizers\"}}]'",
        sandbox.namespace()
    );
    sandbox.delete(object).await;
    let (_, said) = user.types(&let_go);
    assert!(said.contains("failed calling webhook"), "{said}");
    user.finds(IGNORE, &["patched"]);
    user.finds(IGNORE_DEFAULTS, &["patched"]);
    until("it is let go", SOON, async || user.types(&let_go).0).await;
    let gone = sandbox.client().get(&sandbox.place(object, "v1beta1")).await.unwrap();
    assert_eq!(gone.status.as_u16(), 404);
}

/// Keeps the Pods from writing Secrets.
async fn no_secret_is_written(sandbox: &Sandbox, release: &Release) -> Denial {
    let client = sandbox.bed().client();
    let rule = json!({
        "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["secrets"],
    });
    let them = client.acting_as(&release.account());
    let path = format!("{}?dryRun=All", release.secret("").trim_end_matches('/'));
    let secret = json!({"metadata": {"name": "otter"}});
    Denial::of(client, &release.account(), &rule, async || them.post(&path, &secret).await.unwrap()).await
}

async fn pods_wait_for_a_certificate(user: &User) {
    user.finds("kubectl get pods -n $NS -l app.kubernetes.io/name=dynamo-operator", &["0/1     Running"]);
    readiness_says(
        user,
        &["[-]certificate failed: there is no certificate", "Secret dynamo-system/webhook-server-cert is not there"],
    )
    .await;
    let cause = ["it was not possible to issue a serving certificate", DENIED];
    user.comes_to_find(WARNINGS, &cause).await;
    let heading = "### Certificates aren't made";
    // The replica that leads says it.
    let of_all = "-l app.kubernetes.io/name=dynamo-operator --tail=-1";
    user.comes_to_find(&log_lines(heading).replace("deployment/$R-dynamo-operator", of_all), &cause).await;
    for question in commands(heading).into_iter().filter(|command| command.contains("can-i")) {
        user.finds(question, &["yes"]);
    }
}
