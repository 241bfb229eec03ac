//! The Go operator hands its webhooks over and takes them back; no request is refused.

use std::time::Duration;

use cluster_tests::objects::{graph_v1alpha1, model};
use cluster_tests::{CONVERTED, Load, Pace, SERVING_SECRET, Sandbox, Test, tests};
use serde_json::{Value, json};

use crate::cluster_objects::{Undecided, injected_by_cert_manager};
use crate::gateward::Gateward;
use crate::go_operator::{Certificate, GoOperator, SERVICE};
use crate::layout::Layout;

pub fn tests() -> Vec<Test> {
    tests![
        the_layout_of_helm_hooks_is_migrated_and_back,
        the_layout_of_certificates_in_the_operator_is_migrated_and_back,
        the_go_operator_gets_our_certificate_and_takes_its_webhooks_back,
        a_start_of_the_go_operator_before_it_has_our_certificate_is_mended,
    ]
}

async fn the_layout_of_helm_hooks_is_migrated_and_back(sandbox: Sandbox) {
    migrates(&sandbox, Layout::HelmHooks).await;
}

async fn the_layout_of_certificates_in_the_operator_is_migrated_and_back(sandbox: Sandbox) {
    migrates(&sandbox, Layout::InOperator).await;
}

/// Until ours serve, and back: the Go operator keeps its own certificate.
async fn migrates(sandbox: &Sandbox, layout: Layout) {
    let theirs = layout.prepare(sandbox).await;
    let (go, ours) = (GoOperator::new(sandbox, layout), Gateward::new(sandbox));
    let secret = secret(sandbox, &go).await;
    assert_eq!(injected_by_cert_manager(sandbox).await.is_empty(), layout != Layout::HelmHooks);

    ours.may_take_over().await;
    println!("{layout:?}: to ours");
    under_load(sandbox, async || ours_serve(&go, &ours, &theirs).await).await;
    ours.is_not_found_by_the_go_operator().await;
    assert_eq!(self::secret(sandbox, &go).await, secret, "its Secret is needed for the way back");
    assert!(injected_by_cert_manager(sandbox).await.is_empty(), "cert-manager would write over our caBundle");

    println!("{layout:?}: back");
    under_load(sandbox, async || {
        theirs_convert(&ours, Some(&theirs)).await;
        go.put(Undecided::Refused, Certificate::Own(&theirs)).await;
        ours_end(&ours).await;
    })
    .await;
    ours.is_forgotten().await;
}

async fn the_go_operator_gets_our_certificate_and_takes_its_webhooks_back(sandbox: Sandbox) {
    let theirs = Layout::WithCrdApply.prepare(&sandbox).await;
    let (go, ours) = (GoOperator::new(&sandbox, Layout::WithCrdApply), Gateward::new(&sandbox));

    ours.may_take_over().await;
    println!("{:?}: to ours", Layout::WithCrdApply);
    under_load(&sandbox, async || {
        ours_serve(&go, &ours, &theirs).await;
        let ca_crt = ours.ca_crt().await;
        go.goes_down().await;
        go.put(Undecided::Admitted, Certificate::Ours(&ca_crt)).await;
        is_not_fought_over(&sandbox, &go, &ours, &ca_crt).await;
        go.loses_its_configurations().await;
    })
    .await;

    println!("{:?}: back", Layout::WithCrdApply);
    let ca_crt = ours.ca_crt().await;
    under_load(&sandbox, async || {
        theirs_convert(&ours, None).await;
        go.put(Undecided::Refused, Certificate::Ours(&ca_crt)).await;
        ours_end(&ours).await;
    })
    .await;
    println!("{:?}: its own Secret again", Layout::WithCrdApply);
    go.goes_down().await;
    go.put(Undecided::Refused, Certificate::Own(&theirs)).await;
    go.injects(&theirs).await;
    ours.is_forgotten().await;
    serves_alone(&sandbox).await;
}

/// What of the Go operator starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Container {
    /// Its container alone, as after a crash.
    Operator,
    /// Its Pod: the init container applies CRDs first.
    WithCrdApply,
}

/// Between steps 2 and 4 of the hand-over the Go operator knows nothing of our certificate: it writes its own CA, and its
/// init container before that its own Service, into the stanzas that lead to us.
async fn a_start_of_the_go_operator_before_it_has_our_certificate_is_mended(sandbox: Sandbox) {
    let theirs = Layout::WithCrdApply.prepare(&sandbox).await;
    let (go, ours) = (GoOperator::new(&sandbox, Layout::WithCrdApply), Gateward::new(&sandbox));
    ours_serve(&go, &ours, &theirs).await;
    let ca_crt = ours.ca_crt().await;

    for container in [Container::Operator, Container::WithCrdApply] {
        println!("a start of {container:?} with its own certificate");
        let load = Load::start(&sandbox, Pace { requests_per_second: 16, clients: 8 });
        load.goes_on_for(64).await;
        load.so_far().assert_no_failures();
        if container == Container::WithCrdApply {
            go.claims_conversion().await;
        }
        go.injects(&theirs).await;
        ours.converts_with(&ca_crt).await;
        // What needs a conversion may be refused until then.
        load.stop().await.assert_none_admitted_by_mistake();
        under_load(&sandbox, async || ()).await;
    }

    // As before step 4: its own CA goes with its Service.
    under_load(&sandbox, async || {
        theirs_convert(&ours, Some(&theirs)).await;
        go.put(Undecided::Refused, Certificate::Own(&theirs)).await;
        ours_end(&ours).await;
    })
    .await;
    ours.is_forgotten().await;
    serves_alone(&sandbox).await;
}

/// The Go operator judges and converts, and nobody else is there.
async fn serves_alone(sandbox: &Sandbox) {
    sandbox.rejects(&model("rail", "ftp://example.org"), &["spec.source.uri"]).await;
    sandbox.survives(&graph_v1alpha1("otter"), "v1beta1").await;
    sandbox.delete(&graph_v1alpha1("otter")).await;
}

/// Nothing fails under a light load: the API server takes seconds for each write of a CRD as it is.
async fn under_load(sandbox: &Sandbox, event: impl AsyncFnOnce()) {
    let load = Load::start(sandbox, Pace { requests_per_second: 16, clients: 8 });
    load.goes_on_for(64).await;
    event().await;
    load.goes_on_for(64).await;
    load.stop().await.assert_no_failures();
}

/// The Go operator's own Secret.
async fn secret(sandbox: &Sandbox, go: &GoOperator) -> Value {
    sandbox.bed().client().get(&go.release.secret(SERVING_SECRET)).await.unwrap().granted().unwrap()
}

/// Steps 1 to 3 of the hand-over.
async fn ours_serve(go: &GoOperator, ours: &Gateward, theirs: &Value) {
    go.put(Undecided::Admitted, Certificate::Own(theirs)).await;
    ours.install(Undecided::Admitted).await;
    ours.upgrade(Undecided::Refused).await;
}

/// The Go operator starts, and injects: what it writes is there already, and nothing is written by us.
async fn is_not_fought_over(sandbox: &Sandbox, go: &GoOperator, ours: &Gateward, ca_crt: &Value) {
    let audit = sandbox.bed().audit().unwrap();
    go.injects(ca_crt).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let mut written = audit.of(&ours.release.account()).unwrap();
    let injected =
        ["secrets", "customresourcedefinitions", "validatingwebhookconfigurations", "mutatingwebhookconfigurations"];
    written.retain(|event| {
        ["create", "update", "patch"].contains(&event.verb.as_str()) && injected.contains(&event.resource.as_str())
    });
    assert!(written.is_empty(), "{written:?}");
    for bundle in ours.release.bundles().await.unwrap() {
        assert_eq!(bundle.certificates(), 1, "{bundle:?}");
    }
}

/// Step 1 of the way back, with the CA of the Go operator's certificate where it isn't ours.
async fn theirs_convert(ours: &Gateward, theirs: Option<&Value>) {
    let mut config = json!({"service": {"name": SERVICE}});
    if let Some(ca_crt) = theirs {
        config["caBundle"] = ca_crt.clone();
    }
    let stanza = json!({
        "metadata": {"annotations": {"gateward.dev/converted-by": null}},
        "spec": {"conversion": {"webhook": {"clientConfig": config}}},
    });
    for plural in CONVERTED {
        let crd = format!("{plural}.nvidia.com");
        ours.release.kubectl(&["patch", "crd", &crd, "--type", "merge", "-p", &stanza.to_string()]).await.unwrap();
    }
    ours.converts_by(SERVICE).await;
}

/// Steps 3 and 4 of the way back.
async fn ours_end(ours: &Gateward) {
    ours.upgrade(Undecided::Admitted).await;
    ours.release.uninstall().await.unwrap();
}
