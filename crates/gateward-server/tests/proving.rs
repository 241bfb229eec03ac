//! Readiness comes from handshakes that those who call would make too, whoever they are at the moment.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gateward_certs::Ca;
use gateward_core::Facts;
use gateward_server::{Caller, Callers, Limits, Pages, PlainRequest, Protocols, RegistryAnswerer, Trust};
use scene::client::Client;
use scene::otter::{Lodge, registry};
use scene::{Scene, authority, leaf, scene, scene_at, until};
use tokio::sync::watch;
use tokio::task::JoinHandle;

fn caller(name: &str, authorities: &[&Ca]) -> Caller {
    let authorities = authorities.iter().map(|authority| authority.certificate().clone()).collect();
    Caller { name: name.to_owned(), trust: Trust { authorities, name: "localhost".try_into().unwrap() } }
}

/// A scene, the callers of which are made known by the test.
struct Proof {
    scene: Scene,
    callers: watch::Sender<Callers>,
    running: JoinHandle<()>,
}

async fn proof() -> Proof {
    let scene = scene(Limits::default()).await;
    let (callers, known) = watch::channel(Callers::default());
    let running = tokio::spawn(scene.server.prove_until(known));
    Proof { scene, callers, running }
}

impl Proof {
    /// These call now, and have heard of what they trust.
    fn call(&self, known: Vec<Caller>) {
        self.callers.send_replace(Callers { known, stand_from: Some(Instant::now()) });
    }

    fn is_ready(&self) -> bool {
        self.scene.readiness.is_ready(SystemTime::now())
    }

    /// What the pod says about why it isn't ready.
    fn says(&self) -> String {
        let request = PlainRequest { path: "/readyz", query: None, accept: None };
        self.scene.readiness.page(&request).unwrap().body
    }

    async fn until_it_says(&self, what: &str) {
        until(what, || self.says().contains(what)).await;
    }
}

#[tokio::test]
async fn it_takes_every_caller_to_be_ready() {
    let proof = proof().await;
    let (own, strange) = (&proof.scene.authority, authority());
    let good = caller("ValidatingWebhookConfiguration zoo", &[own]);
    proof.call(vec![good.clone(), caller("CustomResourceDefinition otters", &[&strange])]);
    proof.until_it_says("for CustomResourceDefinition otters: invalid peer certificate").await;
    assert!(!proof.is_ready());
    proof.call(vec![good, caller("CustomResourceDefinition otters", &[&strange, own])]);
    until("all callers are content", || proof.is_ready()).await;
}

#[tokio::test]
async fn a_listener_on_all_addresses_is_proved_whether_there_is_ipv6_or_not() {
    let lodge = Lodge::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let answerer = RegistryAnswerer::new(Arc::new(registry(&lodge)), facts);
    let scene = scene_at("[::]:0", answerer, Limits::default(), Protocols::default(), lodge).await;
    scene.server.prove(&scene.trust()).await;
    assert!(scene.readiness.is_ready(SystemTime::now()));
    let older = SocketAddr::from(([127, 0, 0, 1], scene.address().port()));
    assert!(Client::connect(older, &scene.trust()).await.is_ok());
}

#[tokio::test]
async fn nobody_who_calls_proves_nothing() {
    let proof = proof().await;
    proof.until_it_says("it is not known yet who calls").await;
    proof.call(vec![]);
    proof.call(vec![caller("zoo", &[])]);
    proof.until_it_says("for zoo: it trusts no authority").await;
    assert!(!proof.is_ready());
}

#[tokio::test]
async fn a_caller_that_calls_by_another_name_is_not_content() {
    let proof = proof().await;
    let mut other = caller("zoo", &[&proof.scene.authority]);
    other.trust.name = "otter.zoo.svc".try_into().unwrap();
    proof.call(vec![other]);
    proof.until_it_says("for zoo: invalid peer certificate").await;
}

#[tokio::test]
async fn other_callers_are_tried_at_once() {
    let proof = proof().await;
    proof.call(vec![caller("zoo", &[&authority()])]);
    // Pauses between tries have grown to a second by then.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let start = Instant::now();
    proof.call(vec![caller("zoo", &[&proof.scene.authority])]);
    until("the caller is content", || proof.is_ready()).await;
    assert!(start.elapsed() < Duration::from_millis(700), "{:?}", start.elapsed());
}

#[tokio::test]
async fn another_certificate_is_tried_soon() {
    let proof = proof().await;
    let next = authority();
    proof.call(vec![caller("zoo", &[&next])]);
    proof.until_it_says("for zoo: invalid peer certificate").await;
    proof.scene.identity.put(leaf(&next));
    until("the caller is content", || proof.is_ready()).await;
}

#[tokio::test]
async fn the_proof_ends_and_stays() {
    let proof = proof().await;
    proof.call(vec![caller("zoo", &[&proof.scene.authority])]);
    until("the proof has ended", || proof.running.is_finished()).await;
    proof.call(vec![caller("zoo", &[&authority()])]);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(proof.is_ready());
}

#[tokio::test]
async fn callers_that_nobody_will_change_are_proved_too() {
    let Proof { scene, callers, running } = proof().await;
    let known = vec![caller("zoo", &[&scene.authority])];
    callers.send_replace(Callers { known, stand_from: Some(Instant::now()) });
    drop(callers);
    until("the proof has ended", || running.is_finished()).await;
    assert!(scene.readiness.is_ready(SystemTime::now()));
}

#[tokio::test]
async fn nobody_is_ready_before_all_have_heard_of_what_they_trust() {
    let proof = proof().await;
    let own = &proof.scene.authority;
    let stand_from = Instant::now() + Duration::from_secs(1);
    let callers = |known| Callers { known, stand_from: Some(stand_from) };
    proof.callers.send_replace(callers(vec![caller("zoo", &[own])]));
    proof.until_it_says("verified, but it takes 1 s until all who call know").await;
    proof.callers.send_replace(callers(vec![caller("zoo", &[own, &authority()])]));
    until("all know", || proof.is_ready()).await;
    assert!(Instant::now() >= stand_from);
}

#[tokio::test]
async fn who_has_heard_of_something_else_in_the_end_is_not_content() {
    let proof = proof().await;
    let known = vec![caller("zoo", &[&proof.scene.authority])];
    let stand_from = Some(Instant::now() + Duration::from_millis(500));
    proof.callers.send_replace(Callers { known, stand_from });
    proof.until_it_says("verified, but it takes 1 s").await;
    proof.scene.identity.put(leaf(&authority()));
    proof.until_it_says("for zoo: invalid peer certificate").await;
    assert!(!proof.is_ready());
}
