//! The self-check: readiness needs a verified handshake for every injection target.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod support;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gateward_certs::Ca;
use gateward_core::Facts;
use gateward_server::{
    AdminEndpoint, AdminRequest, ClientTrust, InjectedTrust, Limits, Protocols, TargetTrust, WebhooksHandler,
};
use support::client::Client;
use support::otter::{Blocker, webhooks};
use support::{TestServer, ca, serving_certificate, test_server, test_server_at, until};
use tokio::sync::watch;
use tokio::task::JoinHandle;

fn target(name: &str, cas: &[&Ca]) -> TargetTrust {
    let ca_certificates = cas.iter().map(|ca| ca.certificate().clone()).collect();
    let trust = ClientTrust { ca_certificates, server_name: "localhost".try_into().unwrap() };
    TargetTrust { name: name.to_owned(), trust }
}

/// A server whose injection targets the test sets.
struct Check {
    server: TestServer,
    injected: watch::Sender<InjectedTrust>,
    running: JoinHandle<()>,
}

async fn check() -> Check {
    let server = test_server(Limits::default()).await;
    let (injected, watched) = watch::channel(InjectedTrust::default());
    let running = tokio::spawn(server.running.self_check_all(watched));
    Check { server, injected, running }
}

impl Check {
    /// Sets the targets, whose bundles API servers observe from now on.
    fn inject(&self, targets: Vec<TargetTrust>) {
        self.injected.send_replace(InjectedTrust { targets, valid_from: Some(Instant::now()) });
    }

    fn is_ready(&self) -> bool {
        self.server.readiness.is_ready(SystemTime::now())
    }

    /// The body of `/readyz`.
    fn readyz(&self) -> String {
        let request = AdminRequest { path: "/readyz", query: None, accept: None };
        self.server.readiness.respond(&request).unwrap().body
    }

    async fn until_readyz_contains(&self, text: &str) {
        until(text, || self.readyz().contains(text)).await;
    }
}

#[tokio::test]
async fn every_target_must_verify() {
    let check = check().await;
    let (own, unknown) = (&check.server.ca, ca());
    let good = target("ValidatingWebhookConfiguration zoo", &[own]);
    check.inject(vec![good.clone(), target("CustomResourceDefinition otters", &[&unknown])]);
    check.until_readyz_contains("for CustomResourceDefinition otters: invalid peer certificate").await;
    assert!(!check.is_ready());
    check.inject(vec![good, target("CustomResourceDefinition otters", &[&unknown, own])]);
    until("all targets verify", || check.is_ready()).await;
}

#[tokio::test]
async fn a_listener_on_all_addresses_passes_with_and_without_ipv6() {
    let blocker = Blocker::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let handler = WebhooksHandler::new(Arc::new(webhooks(&blocker)), facts);
    let server = test_server_at("[::]:0", handler, Limits::default(), Protocols::default(), blocker).await;
    server.running.self_check(&server.trust()).await;
    assert!(server.readiness.is_ready(SystemTime::now()));
    let v4 = SocketAddr::from(([127, 0, 0, 1], server.address().port()));
    assert!(Client::connect(v4, &server.trust()).await.is_ok());
}

#[tokio::test]
async fn it_does_not_pass_without_a_target() {
    let check = check().await;
    check.until_readyz_contains("the injection targets are not known yet").await;
    check.inject(vec![]);
    check.inject(vec![target("zoo", &[])]);
    check.until_readyz_contains("for zoo: its caBundle has no usable CA certificate").await;
    assert!(!check.is_ready());
}

#[tokio::test]
async fn the_server_name_must_match() {
    let check = check().await;
    let mut other = target("zoo", &[&check.server.ca]);
    other.trust.server_name = "otter.zoo.svc".try_into().unwrap();
    check.inject(vec![other]);
    check.until_readyz_contains("for zoo: invalid peer certificate").await;
}

#[tokio::test]
async fn changed_targets_are_checked_at_once() {
    let check = check().await;
    let targets = vec![target("zoo", &[&check.server.ca])];
    let in_an_hour = Instant::now() + Duration::from_hours(1);
    check.injected.send_replace(InjectedTrust { targets: targets.clone(), valid_from: Some(in_an_hour) });
    check.until_readyz_contains("verified; waiting 3600 s").await;
    check.inject(targets);
    until("the wait ends", || check.is_ready()).await;
}

#[tokio::test]
async fn a_new_certificate_is_checked_soon() {
    let check = check().await;
    let next = ca();
    check.inject(vec![target("zoo", &[&next])]);
    check.until_readyz_contains("for zoo: invalid peer certificate").await;
    check.server.certificate.set(serving_certificate(&next));
    until("the target verifies", || check.is_ready()).await;
}

#[tokio::test]
async fn a_passed_check_stays_passed() {
    let check = check().await;
    check.inject(vec![target("zoo", &[&check.server.ca])]);
    until("the check has ended", || check.running.is_finished()).await;
    check.inject(vec![target("zoo", &[&ca()])]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(check.is_ready());
}

#[tokio::test]
async fn it_goes_on_after_the_sender_is_dropped() {
    let Check { server, injected, running } = check().await;
    let targets = vec![target("zoo", &[&server.ca])];
    injected.send_replace(InjectedTrust { targets, valid_from: Some(Instant::now()) });
    drop(injected);
    until("the check has ended", || running.is_finished()).await;
    assert!(server.readiness.is_ready(SystemTime::now()));
}

#[tokio::test]
async fn it_waits_until_api_servers_observe_the_bundles() {
    let check = check().await;
    let own = &check.server.ca;
    let valid_from = Instant::now() + Duration::from_secs(1);
    let injected = |targets| InjectedTrust { targets, valid_from: Some(valid_from) };
    check.injected.send_replace(injected(vec![target("zoo", &[own])]));
    check.until_readyz_contains("verified; waiting 1 s for API servers to observe the new caBundle").await;
    check.injected.send_replace(injected(vec![target("zoo", &[own, &ca()])]));
    until("all API servers observe it", || check.is_ready()).await;
    assert!(Instant::now() >= valid_from);
}

#[tokio::test]
async fn it_checks_again_after_the_wait() {
    let check = check().await;
    let targets = vec![target("zoo", &[&check.server.ca])];
    let valid_from = Some(Instant::now() + Duration::from_millis(500));
    check.injected.send_replace(InjectedTrust { targets, valid_from });
    check.until_readyz_contains("verified; waiting 1 s").await;
    check.server.certificate.set(serving_certificate(&ca()));
    check.until_readyz_contains("for zoo: invalid peer certificate").await;
    assert!(!check.is_ready());
}
