//! What well-behaved callers see: verdicts, deadlines, exchanged certificates, overload, panics and the end.
#![allow(clippy::unwrap_used, reason = "what can't be set up is a failed test")]

mod scene;

use std::time::{Duration, SystemTime};

use gateward_core::{Answer, Record, Review, Undecided};
use gateward_server::{Answerer, Cap, Drain, Drained, IdentitySlot, Limits, Protocols, Server};
use scene::client::{Client, patiently, post, post_with};
use scene::otter::{Lodge, registry, review};
use scene::{ANYWHERE, MUTATE, Scene, VALIDATE, leaf, scene, scene_of, until};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// A client whose review waits for an otter to wake.
async fn sleeping(scene: &Scene) -> Client {
    let before = scene.lodge.asleep();
    let mut client = scene.client().await;
    client.send(&post(VALIDATE, &review("asleep"))).await.unwrap();
    until("the otter sleeps", || scene.lodge.asleep() == before + 1).await;
    client
}

async fn allowed(client: &mut Client) -> bool {
    let response = client.ask(&post(VALIDATE, &review("playful"))).await;
    response.status == 200 && response.json()["response"]["allowed"] == true
}

#[tokio::test]
async fn a_review_is_answered_with_the_callers_uid() {
    let scene = scene(Limits::default()).await;
    let response = scene.client().await.ask(&post(VALIDATE, &review("unprintable"))).await;
    assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
    let answer = &response.json()["response"];
    assert_eq!(answer["uid"], "705ab4f5");
    assert_eq!(answer["allowed"], false);
    assert_eq!(answer["status"]["details"]["causes"][0]["field"], "spec.mood");
    assert_eq!(response.header("connection"), None, "the connection is kept");
}

#[tokio::test]
async fn a_review_is_answered_with_a_patch() {
    let scene = scene(Limits::default()).await;
    let response = scene.client().await.ask(&post(MUTATE, &review("playful"))).await;
    assert_eq!(response.json()["response"]["patchType"], "JSONPatch");
}

#[tokio::test]
async fn the_deadline_of_the_caller_ends_the_work() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let response = client.ask(&post(&format!("{VALIDATE}?timeout=300ms"), &review("asleep"))).await;
    assert_eq!(response.status, 504);
    assert_eq!(scene.lodge.asleep(), 0, "the work was dropped");
    assert!(allowed(&mut client).await, "the connection is still good");
}

#[tokio::test]
async fn without_a_deadline_of_the_caller_the_longest_one_ends_the_work() {
    let scene = scene(Limits { deadline: Duration::from_millis(300), ..Limits::default() }).await;
    let response = scene.client().await.ask(&post(VALIDATE, &review("asleep"))).await;
    assert_eq!(response.status, 504);
}

#[tokio::test]
async fn a_body_that_comes_after_the_deadline_is_504() {
    let scene = scene(Limits::default()).await;
    let target = format!("{VALIDATE}?timeout=300ms");
    let head = post_with(&target, "Content-Type: application/json\r\nContent-Length: 100\r\n", b"{");
    assert_eq!(scene.client().await.ask(&head).await.status, 504);
}

#[tokio::test]
async fn a_panic_costs_one_answer() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let response = client.ask(&post(VALIDATE, &review("angry"))).await;
    assert_eq!(response.status, 500);
    assert!(!String::from_utf8(response.body).unwrap().contains("bites"), "its text stays here");
    assert!(allowed(&mut client).await, "the connection is still good");
    assert_eq!(scene.metric("otter_webhook_panics_total"), 1);
}

#[tokio::test]
async fn reviews_beyond_the_cap_are_shed_with_advice() {
    let scene = scene(Limits { concurrency: Cap::at_most(1), ..Limits::default() }).await;
    let mut first = sleeping(&scene).await;
    let mut second = scene.client().await;
    let response = second.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!((response.status, response.header("retry-after")), (429, Some("1")));
    assert_eq!(scene.metric("otter_webhook_shed_total{limit=\"concurrency\"}"), 1);
    scene.lodge.wake(1);
    assert_eq!(first.response().await.unwrap().status, 200);
    assert!(allowed(&mut second).await, "the connection is still good");
}

#[tokio::test]
async fn a_client_that_expects_a_sign_before_its_body_gets_one() {
    let scene = scene(Limits::default()).await;
    let mut client = scene.client().await;
    let body = review("playful");
    let headers =
        format!("Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {}\r\n", body.len());
    assert_eq!(client.ask(&post_with(VALIDATE, &headers, b"")).await.status, 100);
    assert_eq!(client.ask(&body).await.status, 200);
    let too_large = "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 9000000\r\n";
    assert_eq!(client.ask(&post_with(VALIDATE, too_large, b"")).await.status, 413);
}

#[tokio::test]
async fn an_exchanged_certificate_is_shown_to_the_next_and_no_connection_breaks() {
    let scene = scene(Limits::default()).await;
    let mut old = scene.client().await;
    assert!(allowed(&mut old).await);
    scene.identity.put(leaf(&scene.authority));
    let mut new = scene.client().await;
    assert_ne!(old.peer_certificate(), new.peer_certificate());
    assert!(allowed(&mut old).await && allowed(&mut new).await);
}

#[tokio::test]
async fn without_a_certificate_nobody_is_ready_and_with_one_the_same_listener_serves() {
    let authority = scene::authority();
    let (identity, lodge) = (IdentitySlot::empty(), Lodge::default());
    let readiness = gateward_server::Readiness::new();
    let facts = || std::sync::Arc::new(()) as std::sync::Arc<dyn gateward_core::Facts>;
    let answerer = gateward_server::RegistryAnswerer::new(registry(&lodge).into(), facts);
    let server = Server::new(identity.clone(), answerer).readiness(readiness.clone());
    let server = server.bind(ANYWHERE.parse().unwrap()).await.unwrap().serve();
    let trust = gateward_server::Trust {
        authorities: vec![authority.certificate().clone()],
        name: "localhost".try_into().unwrap(),
    };
    assert!(Client::connect(server.address(), &trust).await.is_err());
    assert!(!readiness.is_ready(SystemTime::now()));
    let proof = async { server.prove(&trust).await };
    let issue = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        identity.put(leaf(&authority));
    };
    tokio::join!(proof, issue);
    assert!(readiness.is_ready(SystemTime::now()));
    assert!(Client::connect(server.address(), &trust).await.is_ok());
}

#[tokio::test]
async fn a_handshake_under_another_authority_proves_nothing() {
    let scene = scene(Limits::default()).await;
    let stranger = gateward_server::Trust {
        authorities: vec![scene::authority().certificate().clone()],
        name: "localhost".try_into().unwrap(),
    };
    let tried = tokio::time::timeout(Duration::from_millis(500), scene.server.prove(&stranger)).await;
    assert!(tried.is_err(), "still trying");
    assert!(!scene.readiness.is_ready(SystemTime::now()));
    scene.server.prove(&scene.trust()).await;
    assert!(scene.readiness.is_ready(SystemTime::now()));
}

#[tokio::test]
async fn a_server_that_leaves_serves_on_and_says_goodbye() {
    let scene = scene(Limits::default()).await;
    let (mut resting, trust, address) = (scene.client().await, scene.trust(), scene.address());
    scene.server.prove(&trust).await;
    let mut busy = sleeping(&scene).await;
    let leaving = scene.server.leave();
    assert!(!scene.readiness.is_ready(SystemTime::now()), "readiness fails first");

    let mut new = Client::connect(address, &trust).await.unwrap();
    for client in [&mut resting, &mut new] {
        let response = client.ask(&post(VALIDATE, &review("playful"))).await;
        assert_eq!((response.status, response.header("connection")), (200, Some("close")));
        client.hung_up().await;
    }
    let mut rests = Client::connect(address, &trust).await.unwrap();
    assert!(!rests.hangs_up_within(Duration::from_millis(200)).await, "a resting connection stays open");

    let closing = leaving.close().await;
    rests.hung_up().await;
    assert!(TcpStream::connect(address).await.is_err(), "the listener is closed");
    scene.lodge.wake(1);
    let response = busy.response().await.unwrap();
    assert_eq!((response.status, response.header("connection")), (200, Some("close")));
    assert_eq!(closing.finish(Duration::from_mins(1)).await, Drained { cut: 0 });
}

#[tokio::test]
async fn a_connection_of_age_is_told_to_close_with_its_next_answer() {
    let scene = scene(Limits { age: Duration::from_millis(500), ..Limits::default() }).await;
    let mut client = scene.client().await;
    let response = client.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!((response.status, response.header("connection")), (200, None), "it is young");
    let mut busy = sleeping(&scene).await;
    assert!(!client.hangs_up_within(Duration::from_secs(1)).await, "none is cut for its age while it rests");
    let response = client.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!((response.status, response.header("connection")), (200, Some("close")));
    client.hung_up().await;
    scene.lodge.wake(1);
    let response = busy.response().await.unwrap();
    assert_eq!((response.status, response.header("connection")), (200, Some("close")), "nor while it waits");
    busy.hung_up().await;
    let response = scene.client().await.ask(&post(VALIDATE, &review("playful"))).await;
    assert_eq!(response.header("connection"), None, "a new one is young again");
}

#[tokio::test]
async fn work_that_never_ends_is_cut_off() {
    let scene = scene(Limits::default()).await;
    let mut busy = sleeping(&scene).await;
    let drain = Drain { grace: Duration::ZERO, finish: Duration::from_millis(200) };
    assert_eq!(scene.server.drain(drain).await, Drained { cut: 1 });
    busy.hung_up().await;
    until("the work is dropped", || scene.lodge.asleep() == 0).await;
}

#[tokio::test]
async fn whoever_hurries_ends_the_grace_first_and_then_what_is_under_way() {
    let scene = scene(Limits::default()).await;
    let (mut resting, mut busy) = (scene.client().await, sleeping(&scene).await);
    let hour = Drain { grace: Duration::from_hours(1), finish: Duration::from_hours(1) };
    let hurried = Semaphore::new(0);
    let hurry = async || hurried.acquire().await.unwrap().forget();
    let watch = async {
        until("it leaves", || !scene.readiness.is_ready(SystemTime::now())).await;
        assert!(!resting.hangs_up_within(Duration::from_millis(200)).await, "the grace lasts");
        hurried.add_permits(1);
        resting.hung_up().await;
        assert!(!busy.hangs_up_within(Duration::from_millis(200)).await, "its request is under way");
        hurried.add_permits(1);
        busy.hung_up().await;
    };
    let (drained, ()) =
        patiently(Box::pin(async { tokio::join!(scene.server.drain_hastened(hour, hurry), watch) })).await;
    assert_eq!(drained, Drained { cut: 1 });
}

#[tokio::test]
async fn a_dropped_server_is_gone() {
    let scene = scene(Limits::default()).await;
    let (mut client, address) = (scene.client().await, scene.address());
    drop(scene.server);
    client.hung_up().await;
    until("the listener is closed", || !scene.readiness.is_ready(SystemTime::now())).await;
    tokio::task::yield_now().await;
    assert!(TcpStream::connect(address).await.is_err());
}

/// Reads the body and answers a constant: what a benchmark compares with.
struct DoesNothing;

impl Answerer for DoesNothing {
    fn route(&self, _: &str) -> Option<Review> {
        Some(Review::Validate)
    }

    async fn answer(&self, _: &str, body: &[u8], _: SystemTime) -> Answer {
        let status = if body.is_empty() { 400 } else { 200 };
        Answer { status, body: b"{}".to_vec(), record: Record::undecided(Undecided::Deadline) }
    }
}

#[tokio::test]
async fn any_answerer_can_stand_behind_the_listener() {
    let scene = scene_of(DoesNothing, Limits::default(), Protocols::default(), Lodge::default()).await;
    let response = scene.client().await.ask(&post("/anything", &vec![b'x'; 1_000_000])).await;
    assert_eq!((response.status, response.body), (200, b"{}".to_vec()));
}
