use std::time::Duration;

use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys};

use super::*;
use crate::admin::endpoint::{AdminEndpoint, AdminRequest};
use crate::cert_resolver::Identity;

fn certificate(validity: Validity) -> CertResolver {
    let ca = Ca::new(&CommonName::new("test").unwrap(), validity, &SystemKeys).unwrap();
    let names = ServerNames::parse(["localhost"]).unwrap();
    let issued = ca.issue(&names, validity, &SystemKeys).unwrap();
    CertResolver::new(Identity::try_from(&issued).unwrap())
}

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

/// A pod that lacks the self-check alone.
fn starting() -> Readiness {
    let readiness = Readiness::new();
    readiness.watch_certificate(certificate(Validity::starting(now(), Duration::from_hours(1)).unwrap()));
    readiness.set_listener(ListenerState::Open);
    readiness
}

fn ready() -> Readiness {
    let readiness = starting();
    readiness.set_self_check(SelfCheckState::Passed);
    readiness
}

fn get(readiness: &Readiness, path: &str, query: Option<&str>) -> Option<(u16, String)> {
    let page = readiness.respond(&AdminRequest { path, query, accept: None });
    page.map(|page| (page.status, page.body))
}

#[test]
fn healthz_is_ok_from_the_start() {
    assert_eq!(get(&Readiness::new(), "/healthz", None), Some((200, "ok".into())));
    assert_eq!(get(&Readiness::new(), "/", None), None);
}

#[test]
fn a_pod_without_a_verified_handshake_is_not_ready() {
    let readiness = ready();
    readiness.state().self_check = SelfCheckState::NotStarted;
    assert!(!readiness.is_ready(now()));
    readiness.set_self_check(SelfCheckState::Failing("unknown issuer".into()));
    let (status, body) = get(&readiness, "/readyz", None).unwrap();
    assert_eq!(status, 503);
    assert!(body.contains("[-]handshake failed: unknown issuer\n"));
}

#[test]
fn a_passed_self_check_stays_passed() {
    let readiness = ready();
    readiness.set_self_check(SelfCheckState::Failing("the CA changed".into()));
    assert!(readiness.is_ready(now()));
}

#[test]
fn only_faults_of_the_pod_itself_fail_readiness() {
    let readiness = ready();
    assert!(readiness.is_ready(now()));
    assert!(!readiness.is_ready(now() + Duration::from_secs(3_601)), "the certificate has expired");
    assert!(!readiness.is_ready(now() - Duration::from_secs(3_601)), "the certificate is not valid yet");
    readiness.set_listener(ListenerState::Draining);
    assert!(!readiness.is_ready(now()), "the server drains");
}

#[test]
fn verbose_lists_each_check() {
    let page = ready().readyz(Some("verbose"), now());
    assert_eq!(page.body, "[+]listener ok\n[+]certificate ok\n[+]handshake ok\nreadyz check passed\n");
    assert_eq!(ready().readyz(None, now()).body, "ok");
}

#[test]
fn a_starting_pod_shows_its_waits_with_their_duration() {
    let readiness = Readiness::new();
    let cluster = readiness.wait_for("cluster", "an API server");
    let _facts = readiness.wait_for("facts", "the list of CRDs");
    cluster.update("the API server at https://10.0.0.1 answers with 503");
    let page = readiness.readyz(None, SystemTime::now() + Duration::from_millis(12_500));
    assert_eq!(page.status, 503);
    let waits = concat!(
        "[-]cluster failed: waiting for 12 s: the API server at https://10.0.0.1 answers with 503\n",
        "[-]facts failed: waiting for 12 s: the list of CRDs\n"
    );
    assert!(page.body.contains(waits), "{}", page.body);
    drop(cluster);
    assert!(!readiness.readyz(None, now()).body.contains("cluster"));
}

#[test]
fn a_wait_delays_readiness_during_startup_only() {
    let readiness = starting();
    let facts = readiness.wait_for("facts", "the list of CRDs");
    readiness.set_self_check(SelfCheckState::Passed);
    assert!(!readiness.is_ready(now()), "one wait is open");
    drop(facts);
    assert!(readiness.is_ready(now()));
    let _later = readiness.wait_for("facts", "the list of CRDs");
    assert!(readiness.is_ready(now()), "the startup is complete");
    let page = readiness.readyz(Some("verbose"), now());
    assert!(page.body.contains("[i]facts: waiting for "), "{}", page.body);
}

#[test]
fn a_report_never_changes_the_status() {
    let readiness = ready();
    readiness.report("rotation", vec![ReportLine::Note("none under way".into())]);
    assert_eq!(readiness.readyz(None, now()).body, "ok", "a note is shown by ?verbose only");
    let page = readiness.readyz(Some("verbose"), now());
    assert!(page.status == 200 && page.body.contains("[i]rotation: none under way\n"), "{page:?}");

    readiness.clone().report("injection", vec![ReportLine::Warning("no configuration carries our labels".into())]);
    let page = readiness.readyz(None, now());
    assert_eq!(page.status, 200);
    assert!(page.body.contains("[!]injection: no configuration carries our labels\n"), "a warning is always shown");

    readiness.set_listener(ListenerState::Draining);
    let page = readiness.readyz(None, now());
    assert!(page.status == 503 && page.body.contains("[i]rotation: none under way\n"), "{page:?}");
}
