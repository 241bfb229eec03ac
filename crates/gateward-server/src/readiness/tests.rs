use std::time::Duration;

use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys};

use super::*;
use crate::identity::Identity;
use crate::pages::{Pages, PlainRequest};

fn identity(validity: Validity) -> IdentitySlot {
    let authority = Ca::new(&CommonName::new("test").unwrap(), validity, &SystemKeys).unwrap();
    let names = ServerNames::parse(["localhost"]).unwrap();
    let issued = authority.issue(&names, validity, &SystemKeys).unwrap();
    IdentitySlot::holding(Identity::try_from(&issued).unwrap())
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

/// A pod to which nothing is missing but a proof.
fn starting() -> Readiness {
    let readiness = Readiness::new();
    readiness.watch(identity(Validity::starting(now(), Duration::from_hours(1)).unwrap()));
    readiness.listener(Listener::Open);
    readiness
}

fn ready() -> Readiness {
    let readiness = starting();
    readiness.handshake(Handshake::Proved);
    readiness
}

fn get(readiness: &Readiness, path: &str, query: Option<&str>) -> Option<(u16, String)> {
    let page = readiness.page(&PlainRequest { path, query, accept: None });
    page.map(|page| (page.status, page.body))
}

#[test]
fn health_says_ok_before_anything_else_is_there() {
    assert_eq!(get(&Readiness::new(), "/healthz", None), Some((200, "ok".into())));
    assert_eq!(get(&Readiness::new(), "/", None), None);
}

#[test]
fn a_pod_without_a_verified_handshake_is_not_ready() {
    let readiness = ready();
    readiness.known().handshake = Handshake::Untried;
    assert!(!readiness.is_ready(now()));
    readiness.handshake(Handshake::Open("unknown issuer".into()));
    let (status, body) = get(&readiness, "/readyz", None).unwrap();
    assert_eq!(status, 503);
    assert!(body.contains("[-]handshake failed: unknown issuer\n"));
}

#[test]
fn what_was_proved_once_stays_proved() {
    let readiness = ready();
    readiness.handshake(Handshake::Open("the CA changed".into()));
    assert!(readiness.is_ready(now()));
}

#[test]
fn only_faults_of_the_pod_itself_turn_readiness_off() {
    let readiness = ready();
    assert!(readiness.is_ready(now()));
    assert!(!readiness.is_ready(now() + Duration::from_secs(3_601)), "the leaf has expired");
    assert!(!readiness.is_ready(now() - Duration::from_secs(3_601)), "the leaf is not valid yet");
    readiness.listener(Listener::Leaving);
    assert!(!readiness.is_ready(now()), "the server is going");
}

#[test]
fn verbose_lists_each_check() {
    let page = ready().ready_page(Some("verbose"), now());
    assert_eq!(page.body, "[+]listener ok\n[+]certificate ok\n[+]handshake ok\nreadyz check passed\n");
    assert_eq!(ready().ready_page(None, now()).body, "ok");
}

#[test]
fn a_pod_that_starts_says_what_it_waits_for_and_since_when() {
    let readiness = Readiness::new();
    let cluster = readiness.wait_for("cluster", "an API server");
    let _facts = readiness.wait_for("facts", "the list of CRDs");
    cluster.still("the API server at https://10.0.0.1 answers with 503");
    let page = readiness.ready_page(None, SystemTime::now() + Duration::from_millis(12_500));
    assert_eq!(page.status, 503);
    let waits = concat!(
        "[-]cluster failed: waiting for 12 s: the API server at https://10.0.0.1 answers with 503\n",
        "[-]facts failed: waiting for 12 s: the list of CRDs\n"
    );
    assert!(page.body.contains(waits), "{}", page.body);
    drop(cluster);
    assert!(!readiness.ready_page(None, now()).body.contains("cluster"));
}

#[test]
fn a_wait_holds_readiness_back_until_the_start_is_over_and_never_again() {
    let readiness = starting();
    let facts = readiness.wait_for("facts", "the list of CRDs");
    readiness.handshake(Handshake::Proved);
    assert!(!readiness.is_ready(now()), "one wait is open");
    drop(facts);
    assert!(readiness.is_ready(now()));
    let _later = readiness.wait_for("facts", "the list of CRDs");
    assert!(readiness.is_ready(now()), "the start is over");
    let page = readiness.ready_page(Some("verbose"), now());
    assert!(page.body.contains("[i]facts: waiting for "), "{}", page.body);
}

#[test]
fn a_report_never_changes_the_status() {
    let readiness = ready();
    readiness.report("rotation", vec![Line::Note("none under way".into())]);
    assert_eq!(readiness.ready_page(None, now()).body, "ok", "a note is shown to those who ask");
    let page = readiness.ready_page(Some("verbose"), now());
    assert!(page.status == 200 && page.body.contains("[i]rotation: none under way\n"), "{page:?}");

    readiness.clone().report("injection", vec![Line::Warning("no configuration carries our labels".into())]);
    let page = readiness.ready_page(None, now());
    assert_eq!(page.status, 200);
    assert!(page.body.contains("[!]injection: no configuration carries our labels\n"), "a warning is shown to all");

    readiness.listener(Listener::Leaving);
    let page = readiness.ready_page(None, now());
    assert!(page.status == 503 && page.body.contains("[i]rotation: none under way\n"), "{page:?}");
}
