//! What is promised, one event at a time.

use std::time::Duration;

use gateward_certs::rotation::{
    CaSecretWrite, Cause, CertificateSpec, Incoming, ObservedState, Phase, RotationStatus, ServingSecretWrite, Signer,
    Step, Wait, Write, next_step, restored_ca_bundle,
};
use gateward_certs::secret::SecretData;
use gateward_certs::{Ca, CaBundle, Fingerprint, Lifetime, ServerNames, SystemKeys, Validity, rfc3339};

use crate::cluster::{Cluster, PROGRESS, REQUEST, ca, spec};
use crate::leader::Leader;

/// A cluster with a leader that is never disturbed.
struct Calm {
    cluster: Cluster,
    leader: Leader,
    spec: CertificateSpec,
    steps: Vec<String>,
}

impl Calm {
    /// Three injection targets, two replicas, nothing else.
    fn empty() -> Self {
        Self { cluster: Cluster::new(3, 2), leader: Leader::default(), spec: spec(), steps: Vec::new() }
    }

    /// After the first installation.
    fn settled() -> Self {
        let mut calm = Self::empty();
        calm.runs();
        calm
    }

    /// One look and what follows from it. The step is noted, unless it is the one before.
    fn looks(&mut self) {
        loop {
            self.leader.act(&mut self.cluster, &self.spec, true);
            self.cluster.check().unwrap();
            if self.leader.rests() {
                break;
            }
        }
        let step = self.leader.last.as_ref().unwrap().to_string();
        if self.steps.last() != Some(&step) {
            self.steps.push(step);
        }
    }

    /// Until nothing is to be done. Replicas observe everything after a second.
    fn runs(&mut self) {
        for _ in 0..100 {
            self.looks();
            self.time_passes();
            if matches!(self.leader.last, Some(Step::Wait(Wait::Idle { .. }))) && self.cluster.check_end().is_ok() {
                return;
            }
        }
        panic!("{:?}; {:?}", self.steps, self.cluster.check_end());
    }

    fn time_passes(&mut self) {
        for at in 0..self.cluster.replicas.len() {
            if self.cluster.replicas[at].shows.is_none() {
                self.cluster.restart(at);
            }
            self.cluster.observe(at, 100);
            self.cluster.turn_ready(at);
        }
        self.cluster.pass(Duration::from_secs(1));
        self.cluster.check().unwrap();
    }

    fn runs_until(&mut self, step: &str) {
        for _ in 0..100 {
            self.looks();
            if self.steps.last().is_some_and(|last| last.starts_with(step)) {
                return;
            }
            self.cluster.pass(Duration::from_secs(1));
        }
        panic!("{:?}", self.steps);
    }

    fn next_by_the_writers_clock(&self) -> String {
        next_step(&self.observed(), self.leader.now(&self.cluster)).to_string()
    }

    /// The steps from here on, each by its first words.
    fn steps_of(&mut self, words: usize) -> Vec<String> {
        self.steps.clear();
        self.runs();
        let first = |step: &String| step.split(' ').take(words).collect::<Vec<_>>().join(" ");
        self.steps.iter().map(first).collect()
    }

    fn ca(&self) -> CaBundle {
        let secret = self.cluster.ca.object.as_ref().unwrap();
        CaBundle::parse(secret.data.field("tls.crt").unwrap()).unwrap()
    }

    fn serving(&self) -> Validity {
        let serving = CaBundle::parse(self.cluster.serving.object.as_ref().unwrap().field("tls.crt").unwrap()).unwrap();
        serving.iter().next().unwrap().validity()
    }

    fn annotate(&mut self, annotation: &str, text: &str) {
        let mut secret = self.cluster.ca.object.clone().unwrap();
        secret.annotations.insert(annotation.to_owned(), text.to_owned());
        self.cluster.ca.put(Some(secret));
    }

    fn observed(&self) -> ObservedState<'_> {
        ObservedState {
            ca_secret: self.cluster.ca.object.clone(),
            serving_secret: self.cluster.serving.object.clone(),
            targets: self.cluster.read_targets(),
            replicas: self.cluster.dial_replicas(),
            api_server_time: Some(self.cluster.now()),
            ..ObservedState::empty(&self.spec)
        }
    }

    fn next(&self) -> Step {
        next_step(&self.observed(), self.cluster.now())
    }

    fn status(&self) -> RotationStatus {
        RotationStatus::of(&self.observed(), self.cluster.now())
    }
}

/// The Secret as an operator in Go leaves it: with the CA's key beside the server's.
fn old_secret(ca: &Ca, names: &ServerNames) -> SecretData {
    let serving = ca.issue(names, ca.validity(), &SystemKeys).unwrap();
    SecretData::default()
        .with("tls.crt", serving.certificate_pem())
        .with("tls.key", serving.private_key_pem())
        .with("ca.crt", ca.certificate_pem())
        .with("ca.key", ca.private_key_pem())
}

const A_WHOLE_ROTATION: [&str; 9] = [
    "write the caBundle",
    "waiting 5 s",
    "go on to",
    "issue a serving",
    "waiting 5 s",
    "retire the old",
    "write the caBundle",
    "end the rotation:",
    "nothing is to",
];

#[test]
fn the_first_installation_takes_three_writes() {
    let mut calm = Calm::empty();
    assert_eq!(calm.steps_of(3), ["make a CA", "issue a serving", "write the caBundle", "nothing is to"]);
}

#[test]
fn what_is_valid_is_kept_over_restarts() {
    let mut calm = Calm::settled();
    let (ca, serving) = (calm.ca(), calm.cluster.serving.version);
    calm.leader.crash();
    assert_eq!(calm.steps_of(3), ["nothing is to"]);
    assert_eq!((calm.ca(), calm.cluster.serving.version), (ca, serving));
}

#[test]
fn a_request_rotates_the_ca_step_by_step() {
    let mut calm = Calm::settled();
    let before = calm.ca();
    calm.annotate(REQUEST, "now");
    let steps = calm.steps_of(3);
    assert_eq!(steps[0], "make a new");
    assert_eq!(steps[1..], A_WHOLE_ROTATION);
    assert_ne!(calm.ca(), before);
}

#[test]
fn a_request_that_names_the_ca_is_met_once() {
    let mut calm = Calm::settled();
    let before = calm.ca().iter().next().unwrap().fingerprint();
    calm.annotate(REQUEST, &before.to_string());
    calm.runs();
    let after = calm.ca();
    calm.annotate(REQUEST, &before.to_string());
    assert_eq!(calm.steps_of(5)[0], "drop a request that was");
    assert_eq!(calm.ca(), after);
}

#[test]
fn a_request_that_says_nothing_is_noted_and_left() {
    let mut calm = Calm::settled();
    calm.annotate(REQUEST, "soon");
    assert_eq!(calm.steps_of(3), ["nothing is to"]);
    assert!(calm.status().notes[0].starts_with("annotation otter.example.org/rotate-ca is neither `now` nor"));
}

#[test]
fn serving_certificate_and_ca_are_replaced_before_they_expire() {
    let mut calm = Calm::settled();
    let before = (calm.ca(), calm.serving());
    calm.cluster.pass(Duration::from_hours(24 * (10 * 365 - 90) - 1));
    assert_eq!(calm.steps_of(3), ["nothing is to"]);
    calm.cluster.pass(Duration::from_hours(1));
    let steps = calm.steps_of(3);
    assert_eq!(steps[1..], A_WHOLE_ROTATION, "one rotation, and no renewal from the old CA on the way");
    assert_ne!(calm.ca(), before.0);
    assert!(calm.serving().not_after() > before.1.not_after());
}

#[test]
fn a_shorter_certificate_is_renewed_by_the_same_ca() {
    let mut calm = Calm::empty();
    calm.spec.lifetimes.serving = Lifetime::new(Duration::from_hours(24 * 30)).unwrap();
    calm.runs();
    let ca = calm.ca();
    calm.cluster.pass(Duration::from_hours(24 * 20));
    assert_eq!(calm.steps_of(3), ["issue a serving", "nothing is to"]);
    assert_eq!(calm.ca(), ca);
}

#[test]
fn a_deleted_certificate_is_reissued_by_the_same_ca() {
    let mut calm = Calm::settled();
    let ca = calm.ca();
    calm.cluster.write_serving(None);
    assert_eq!(calm.steps_of(3), ["issue a serving", "nothing is to"]);
    assert_eq!(calm.ca(), ca);
}

#[test]
fn a_deleted_ca_is_replaced_beside_the_old_one() {
    let mut calm = Calm::settled();
    let before = calm.ca();
    calm.cluster.ca.put(None);
    let Step::Write(Write::CaSecret(CaSecretWrite::Begin { incoming, outgoing, outgoing_signer, cause })) = calm.next()
    else {
        panic!()
    };
    assert_eq!((incoming, outgoing_signer, cause), (Incoming::New, None, Cause::Lost));
    assert_eq!(outgoing, before);
    assert_eq!(calm.steps_of(3)[1..], A_WHOLE_ROTATION);
}

#[test]
fn both_secrets_may_be_deleted_and_all_pods_restarted() {
    let mut calm = Calm::settled();
    calm.cluster.ca.put(None);
    calm.cluster.write_serving(None);
    calm.cluster.add_replica();
    calm.cluster.add_replica();
    calm.runs();
}

#[test]
fn a_ca_that_someone_puts_there_is_introduced_beside_the_one_in_use() {
    let mut calm = Calm::settled();
    let theirs = ca();
    let data =
        SecretData::default().with("tls.crt", theirs.certificate_pem()).with("tls.key", theirs.private_key_pem());
    calm.cluster.ca.object.as_mut().unwrap().data = data;
    let steps = calm.steps_of(3);
    assert_eq!(steps[0], "bring in the");
    assert_eq!(steps[1..], A_WHOLE_ROTATION);
    assert_eq!(calm.ca(), theirs.trust_anchor().clone().into());
}

#[test]
fn a_ca_key_in_the_serving_secret_is_moved_and_its_ca_kept() {
    let mut calm = Calm::empty();
    let old = ca();
    calm.cluster.write_serving(Some(old_secret(&old, &calm.spec.names)));
    (0..3).for_each(|at| calm.cluster.tamper(at, old.certificate_pem().into_bytes()));
    assert_eq!(calm.steps_of(3), ["take over the", "remove the CA's", "nothing is to"]);
    assert_eq!(calm.ca(), old.trust_anchor().clone().into());
}

#[test]
fn a_key_that_is_left_in_the_old_place_does_not_replace_the_ca() {
    let mut calm = Calm::settled();
    let before = calm.ca();
    let data = calm.cluster.serving.object.clone().unwrap().with("ca.key", ca().private_key_pem());
    calm.cluster.write_serving(Some(data));
    assert_eq!(calm.steps_of(3), ["remove the CA's", "nothing is to"]);
    assert_eq!(calm.ca(), before);
}

#[test]
fn a_serving_that_lacks_a_name_comes_anew_from_the_same_ca() {
    let mut calm = Calm::settled();
    let ca = calm.ca();
    calm.spec.names = ServerNames::of_service("otter", "zoo", "example.org").unwrap();
    let Step::Write(write) = calm.next() else { panic!() };
    assert_eq!(write.to_string(), "issue a serving certificate (lacks the names otter.zoo.svc.example.org)");
    calm.runs();
    assert_eq!(calm.ca(), ca);
}

#[test]
fn a_bundle_that_was_emptied_replaced_or_added_to_is_restored() {
    for bundle in [Vec::new(), b"otters".to_vec(), ca().certificate_pem().into_bytes()] {
        let mut calm = Calm::settled();
        let both = [calm.ca().to_pem().into_bytes(), bundle.clone()].concat();
        calm.cluster.tamper(0, bundle);
        calm.cluster.tamper(1, both);
        let drifted = calm.steps_of(3);
        assert_eq!(drifted.last().map(String::as_str), Some("nothing is to"));
        assert!(drifted.len() <= 2, "{drifted:?}");
    }
}

#[test]
fn a_new_target_gets_both_cas_in_the_middle_of_an_rotation() {
    let mut calm = Calm::settled();
    calm.annotate(REQUEST, "now");
    while calm.observed().ca_secret.unwrap().data.field("old.crt").is_none() {
        calm.looks();
    }
    calm.runs_until("waiting 5 s");
    calm.cluster.add_target();
    let Step::Write(Write::CaBundles(writes)) = calm.next() else { panic!() };
    assert_eq!(writes.iter().map(|write| write.bundle.len()).collect::<Vec<_>>(), [2]);
    calm.runs();
}

#[test]
fn a_certificate_that_is_lost_while_the_new_ca_is_published_comes_from_the_old_one() {
    let mut calm = Calm::settled();
    calm.annotate(REQUEST, "now");
    calm.runs_until("write the caBundle");
    calm.cluster.write_serving(None);
    let Step::Write(Write::ServingSecret(ServingSecretWrite::Issue { signer, .. })) = calm.next() else { panic!() };
    assert_eq!(signer, Signer::Outgoing);
    calm.runs();
}

#[test]
fn a_certificate_that_is_lost_with_the_ca_key_waits_until_the_new_ca_is_known() {
    let mut calm = Calm::settled();
    calm.cluster.write_serving(None);
    calm.cluster.ca.put(None);
    let steps = calm.steps_of(3);
    let place = |step: &str| steps.iter().position(|it| it == step).unwrap();
    assert!(place("write the caBundle") < place("issue a serving"));
}

#[test]
fn the_old_ca_is_trusted_until_the_last_replica_serves_the_new_certificate() {
    let mut calm = Calm::settled();
    calm.annotate(REQUEST, "now");
    calm.runs_until("waiting for every");
    for _ in 0..100 {
        calm.looks();
        calm.cluster.pass(Duration::from_secs(1));
        calm.cluster.observe(0, 100);
    }
    let name = calm.cluster.replicas[1].name.clone();
    assert!(calm.next().to_string().contains(&format!("serve the new certificate; still the old one: {name}")));
    calm.cluster.replicas[1].cut_off = true;
    assert!(calm.next().to_string().ends_with(&format!("; no answer from: {name}")));
    calm.cluster.replicas[1].cut_off = false;
    calm.runs();
}

#[test]
fn a_damaged_annotation_sends_an_rotation_back_to_publishing() {
    for text in ["", "v1 phase=retire", "v7 phase=switch", "v1 phase=switch to=0"] {
        let mut calm = Calm::settled();
        calm.annotate(REQUEST, "now");
        calm.runs_until("waiting for every");
        calm.annotate(PROGRESS, text);
        let (observed, now) = (calm.observed(), calm.cluster.now());
        assert_eq!(RotationStatus::of(&observed, now).phase, Some(Phase::Publish));
        calm.runs();
    }
}

#[test]
fn an_annotation_of_another_ca_is_ignored() {
    let mut calm = Calm::settled();
    calm.annotate(REQUEST, "now");
    calm.runs_until("write the caBundle");
    calm.annotate(PROGRESS, &format!("v1 phase=switch to={}", Fingerprint::of(b"otter")));
    assert_eq!(calm.status().phase, Some(Phase::Publish));
}

#[test]
fn a_bundle_that_was_written_again_has_to_settle_again() {
    let mut calm = Calm::settled();
    let before = calm.ca().to_pem().into_bytes();
    calm.annotate(REQUEST, "now");
    calm.runs_until("waiting 5 s");
    calm.cluster.pass(Duration::from_secs(5));
    calm.cluster.tamper(0, before);
    assert_eq!(calm.steps_of(3)[..3], ["write the caBundle", "waiting 5 s", "go on to"]);
}

#[test]
fn nothing_is_dated_while_the_clocks_disagree() {
    let mut calm = Calm::settled();
    for years in [-30, 30] {
        calm.leader.clock_off = years * 365 * 86_400;
        assert!(calm.next_by_the_writers_clock().contains("no certificate is made until they agree"));
        calm.cluster.tamper(0, Vec::new());
        assert!(calm.next_by_the_writers_clock().starts_with("write the caBundle"), "bundles need no date");
        calm.leader.clock_off = 0;
        calm.runs();
    }
}

#[test]
fn a_request_survives_a_clock_that_is_wrong() {
    let mut calm = Calm::settled();
    let before = calm.ca();
    calm.annotate(REQUEST, "now");
    calm.leader.clock_off = 86_400;
    calm.looks();
    calm.leader.clock_off = 0;
    calm.runs();
    assert_ne!(calm.ca(), before);
}

#[test]
fn a_restored_bundle_only_gains_missing_cas() {
    let mut calm = Calm::settled();
    let ours = calm.ca();
    let secret = calm.cluster.ca.object.clone().unwrap();
    let rogue = CaBundle::from(ca().trust_anchor().clone());
    assert_eq!(restored_ca_bundle(ours.to_pem().as_bytes(), &secret.trusted()), None);
    assert_eq!(restored_ca_bundle(b"", &secret.trusted()), Some(ours.clone()));
    assert_eq!(restored_ca_bundle(rogue.to_pem().as_bytes(), &secret.trusted()), Some(rogue.merged(&ours)));
    assert_eq!(restored_ca_bundle(b"otters", &secret.trusted()), Some(ours.clone()));
    calm.annotate(REQUEST, "now");
    calm.runs_until("write the caBundle");
    let secret = calm.cluster.ca.object.clone().unwrap();
    assert_eq!(restored_ca_bundle(b"", &secret.trusted()).unwrap().len(), 2);
}

#[test]
fn the_status_says_what_is_done_why_and_what_comes_next() {
    let mut calm = Calm::settled();
    calm.annotate(REQUEST, "now");
    calm.runs_until("go on to");
    let RotationStatus { phase, since, cause, outgoing, serving, next, notes, .. } = calm.status();
    assert_eq!(phase, Some(Phase::Switch));
    assert!(rfc3339(since.unwrap()).starts_with("2027-01-15T08:00:"), "{since:?}");
    assert_eq!(cause.unwrap().to_string(), "it was requested");
    assert_eq!((outgoing.len(), notes.len()), (1, 0));
    assert!(serving.to_string().starts_with("signed by another CA"), "{serving}");
    assert!(next.to_string().starts_with("waiting 5 s to be sure of it"), "{next}");
}

#[test]
fn keys_are_in_no_text_that_is_logged() {
    let calm = Calm::settled();
    let observed = calm.observed();
    let status = calm.status();
    let RotationStatus { ca, serving, next, .. } = &status;
    let text = format!("{observed:?} {status:?} {ca} {serving} {next}");
    assert!(!text.contains("PRIVATE KEY"));
}
