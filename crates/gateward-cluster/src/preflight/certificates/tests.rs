//! What each mode makes of what is there.

use std::time::Duration;

use gateward_certs::secret::{TLS_CRT, TLS_KEY};
use gateward_certs::{Ca, CaInjection, ServerNames, SystemKeys, Validity};
use k8s_openapi::ByteString;
use serde_json::json;

use super::super::PreflightState::{self, Failed, NotProvableYet, Ok as Holds};
use super::super::testing::planned_by;
use super::*;
use crate::pairs::{ca, now};

const DAY: Duration = Duration::from_hours(24);

fn bundle(ca: &Ca) -> CaBundle {
    ca.trust_anchor().clone().into()
}

fn pair(ca: &Ca, name: &str) -> Secret {
    let validity = Validity::starting(now(), 30 * DAY).unwrap();
    let issued = ca.issue(&ServerNames::parse([name]).unwrap(), validity, &SystemKeys).unwrap();
    let fields = [
        (TLS_CRT, issued.certificate_pem().clone()),
        (TLS_KEY, issued.private_key_pem().clone()),
        (CA_CRT, ca.certificate_pem().clone()),
    ];
    let data = fields.map(|(name, text)| (name.to_owned(), ByteString(text.into_bytes())));
    Secret { data: Some(data.into()), ..Secret::default() }
}

fn of_cert_manager(mut secret: Secret) -> Secret {
    let annotation = ("cert-manager.io/certificate-name".to_owned(), "serving".to_owned());
    secret.metadata.annotations = Some([annotation].into());
    secret
}

fn judged(provision: Provision, serving: Option<Secret>) -> Vec<PreflightResult> {
    judge_secret(&planned_by(provision).config, &Ok(serving), now())
}

fn one(results: &[PreflightResult]) -> (PreflightState, &str) {
    assert_eq!(results.len(), 1, "{results:?}");
    (results[0].state, &results[0].text)
}

fn cert_manager(bundle: CaBundle) -> Provision {
    Provision::CertManager { injection: CaInjection::default(), ca_bundle: bundle }
}

const NAME: &str = "otter.zoo.svc";

#[test]
fn in_automatic_mode_nothing_is_to_be_done() {
    let text = "nothing is to be done: the leader makes Secret zoo/webhook-server-cert and its CA";
    assert_eq!(one(&judged(Provision::Automatic, None)), (Holds, text));
    assert_eq!(one(&judged(Provision::Automatic, Some(pair(&ca(), "other.zoo.svc")))).0, Holds);
    assert_eq!(one(&judged(Provision::Automatic, Some(Secret::default()))).0, Holds);
}

#[test]
fn in_automatic_mode_a_secret_that_the_leader_cannot_have_is_a_failure() {
    let results = judged(Provision::Automatic, Some(of_cert_manager(pair(&ca(), NAME))));
    let (state, text) = one(&results);
    assert_eq!(state, Failed);
    assert!(
        text.starts_with("cert-manager writes Secret zoo/webhook-server-cert, for its Certificate serving"),
        "{text}"
    );
    let results = judged(Provision::Automatic, Some(Secret { immutable: Some(true), ..pair(&ca(), NAME) }));
    assert_eq!(one(&results).0, Failed);
}

#[test]
fn in_automatic_mode_the_secret_of_another_release_is_named() {
    let of_release = |name: &str| {
        let mut secret = pair(&ca(), NAME);
        secret.metadata.labels = Some([("app.kubernetes.io/instance".to_owned(), name.to_owned())].into());
        let mut config = planned_by(Provision::Automatic).config;
        config.secrets.labels = [("app.kubernetes.io/instance".to_owned(), "otter".to_owned())].into();
        judge_secret(&config, &Ok(Some(secret)), now())
    };
    assert_eq!(one(&of_release("otter")).0, Holds);
    let results = of_release("badger");
    let (state, text) = one(&results);
    assert_eq!(state, NotProvableYet);
    assert!(text.starts_with("Secret zoo/webhook-server-cert was made for the release badger"), "{text}");
}

#[test]
fn an_external_pair_is_held_against_the_bundle_and_the_name_of_the_service() {
    let (ours, theirs) = (ca(), ca());
    let external = |trusted: &Ca| Provision::External { ca_bundle: bundle(trusted) };
    let results = judged(external(&ours), Some(pair(&ours, NAME)));
    assert_eq!(
        one(&results),
        (Holds, "the certificate in Secret zoo/webhook-server-cert is valid, and webhook.caBundle verifies it")
    );
    for (serving, text) in [
        (None, "Secret zoo/webhook-server-cert is not there; it needs tls.crt, tls.key and ca.crt"),
        (Some(pair(&ours, "heron.zoo.svc")), "lacks the name otter.zoo.svc"),
        (Some(pair(&theirs, NAME)), "leads to none of the CAs"),
    ] {
        let results = judged(external(&ours), serving);
        assert!(results.iter().all(|result| result.state == Failed), "{results:?}");
        assert!(results.iter().any(|result| result.text.contains(text)), "{text}: {results:?}");
    }
}

#[test]
fn an_external_certificate_without_a_bundle_is_a_failure() {
    let results = judged(Provision::External { ca_bundle: CaBundle::default() }, Some(pair(&ca(), NAME)));
    let (state, text) = one(&results);
    assert!(state == Failed && text.starts_with("webhook.caBundle is empty"), "{text}");
}

#[test]
fn what_cert_manager_has_still_to_make_is_not_provable_yet() {
    assert_eq!(one(&judged(cert_manager(CaBundle::default()), None)).0, NotProvableYet);
    let other_name = of_cert_manager(pair(&ca(), "heron.zoo.svc"));
    assert_eq!(one(&judged(cert_manager(CaBundle::default()), Some(other_name))).0, NotProvableYet);
    let made = of_cert_manager(pair(&ca(), NAME));
    assert_eq!(one(&judged(cert_manager(CaBundle::default()), Some(made))).0, Holds);
}

#[test]
fn cert_manager_gets_no_secret_that_another_writes() {
    let results = judged(cert_manager(CaBundle::default()), Some(pair(&ca(), NAME)));
    let (state, text) = one(&results);
    assert!(state == Failed && text.contains("webhook.certificateSecret.name"), "{text}");
}

#[test]
fn a_secret_that_may_not_be_read_proves_nothing() {
    for provision in [Provision::Automatic, cert_manager(CaBundle::default())] {
        let results = judge_secret(&planned_by(provision).config, &Err("secrets is forbidden".into()), now());
        assert_eq!(one(&results).0, NotProvableYet);
    }
}

fn issuer(group: &str) -> IssuerRef {
    IssuerRef { group: group.into(), kind: "ClusterIssuer".into(), name: "our-pki".into() }
}

fn ready(status: &str) -> Issuer {
    let condition = json!({"type": "Ready", "status": status, "message": "the CA is gone"});
    Issuer::Found(json!({"status": {"conditions": [condition]}}))
}

#[test]
fn cert_manager_has_to_be_served() {
    for (api, state) in [(Ok(Served::Yes), Holds), (Ok(Served::No), Failed), (Err("forbidden".into()), NotProvableYet)]
    {
        assert_eq!(one(&judge_cert_manager(&CertManager { api, issuer: None })).0, state);
    }
}

#[test]
fn a_chosen_issuer_has_to_be_there_and_ready() {
    for (group, found, state, text) in [
        ("cert-manager.io", Ok(ready("True")), Holds, "ClusterIssuer our-pki is ready"),
        ("cert-manager.io", Ok(ready("False")), Failed, "ClusterIssuer our-pki is not ready: the CA is gone"),
        ("cert-manager.io", Ok(ready("Unknown")), NotProvableYet, "doesn't say yet whether it is ready"),
        ("cert-manager.io", Ok(Issuer::Found(json!({}))), NotProvableYet, "doesn't say yet whether it is ready"),
        ("cert-manager.io", Ok(Issuer::Absent), Failed, "ClusterIssuer our-pki is not there"),
        ("cert-manager.io", Err("forbidden".into()), NotProvableYet, "can't be read: forbidden"),
        ("awspca.aws", Ok(Issuer::Foreign(Served::No)), Failed, "doesn't serve the API group awspca.aws"),
        ("awspca.aws", Ok(Issuer::Foreign(Served::Yes)), NotProvableYet, "serves the API group awspca.aws"),
    ] {
        let result = judge_issuer(&issuer(group), &found);
        assert_eq!(result.state, state, "{result}");
        assert!(result.text.contains(text), "{result}");
    }
}
