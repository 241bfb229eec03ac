//! The bundle that cert-manager injects, on a cluster in memory.
//!
//! cert-manager changes root and certificate when it likes, its cainjector reaches one injection target after the other,
//! replicas hear late and start anew, leaders crash between reading and writing.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::LazyLock;
use std::time::{Duration, SystemTime};

use gateward_certs::rotation::{InjectionTarget, InjectionTargetId, Phase, Replica, StateHash, Wait};
use gateward_certs::secret::SecretData;
use gateward_certs::trust::{
    ALLOW_INJECTION_ANNOTATION, BundlePurpose, BundleSecret, ObservedTrust, TrustStep, next_step, phase,
};
use gateward_certs::{Ca, CaBundle, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use proptest::prelude::*;
use rustls_pki_types::CertificateDer;

const SETTLE: Duration = Duration::from_secs(5);

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

fn ca() -> Ca {
    let validity = Validity::starting(now(), TEN_YEARS).unwrap();
    Ca::new(&CommonName::new("root").unwrap(), validity, &SystemKeys).unwrap()
}

/// The roots of cert-manager, one after the other.
static ROOTS: LazyLock<Vec<Ca>> = LazyLock::new(|| (0..4).map(|_| ca()).collect());

fn pair(root: &Ca) -> SecretData {
    let validity = Validity::starting(now(), Duration::from_hours(24)).unwrap();
    let serving = root.issue(&ServerNames::parse(["otter.zoo.svc"]).unwrap(), validity, &SystemKeys).unwrap();
    SecretData::default()
        .with("tls.crt", serving.certificate_pem())
        .with("tls.key", serving.private_key_pem())
        .with("ca.crt", root.certificate_pem())
}

fn bundle(cas: &[&Ca]) -> CaBundle {
    cas.iter().map(|ca| ca.trust_anchor().clone()).collect()
}

fn served(data: &SecretData) -> CertificateDer<'static> {
    CaBundle::parse(data.field("tls.crt").unwrap()).unwrap().iter().next().unwrap().certificate().clone()
}

fn target(entry: usize, bundle: &CaBundle) -> InjectionTarget {
    let id = InjectionTargetId { object: "validating".to_owned(), entry: entry.to_string() };
    InjectionTarget { id, revision: bundle.len().to_string(), bundle: bundle.to_pem().into_bytes() }
}

fn replica(name: usize, served: Option<CertificateDer<'static>>) -> Replica {
    Replica { name: name.to_string(), gets_requests: true, served, intermediates: Vec::new() }
}

fn secret(bundle: &CaBundle) -> BundleSecret {
    BundleSecret {
        data: SecretData::default().with("ca.crt", bundle.to_pem()),
        annotations: [(ALLOW_INJECTION_ANNOTATION.to_owned(), "true".to_owned())].into(),
    }
}

fn observed() -> ObservedTrust<'static> {
    ObservedTrust {
        serving_name: "zoo/otter",
        bundle_secret: None,
        serving_secret: None,
        configured: CaBundle::default(),
        targets: Vec::new(),
        replicas: Vec::new(),
        now: now(),
        settled: None,
        settle: SETTLE,
    }
}

fn said(observed: &ObservedTrust<'_>) -> String {
    next_step(observed).to_string()
}

/// The old root is in the bundle beside the new one, which everything has.
fn changing() -> ObservedTrust<'static> {
    let [old, new] = [&ROOTS[0], &ROOTS[1]];
    let (both, data) = (bundle(&[old, new]), pair(new));
    ObservedTrust {
        bundle_secret: Some(secret(&both)),
        targets: vec![target(0, &both)],
        replicas: vec![replica(0, Some(served(&data)))],
        serving_secret: Some(data),
        ..observed()
    }
}

#[test]
fn waits_for_cert_manager_and_for_a_ca_of_its_issuer() {
    assert!(said(&observed()).contains("cert-manager to make Secret zoo/otter"));
    let nameless = pair(&ROOTS[0]).without("ca.crt");
    let observed = ObservedTrust { serving_secret: Some(nameless), ..observed() };
    assert!(said(&observed).contains("set webhook.caBundle to the CA of the issuer"));
    let configured = ObservedTrust { configured: bundle(&[&ROOTS[0]]), ..observed };
    assert!(matches!(next_step(&configured), TrustStep::Write(write) if write.bundle == bundle(&[&ROOTS[0]])));
}

#[test]
fn the_first_bundle_holds_what_injection_targets_carry_already() {
    let [old, new] = [&ROOTS[0], &ROOTS[1]];
    let targets = vec![target(0, &bundle(&[old]))];
    let observed = ObservedTrust { serving_secret: Some(pair(new)), targets, ..observed() };
    let TrustStep::Write(write) = next_step(&observed) else { panic!("{}", said(&observed)) };
    assert_eq!((&write.bundle, write.purpose), (&bundle(&[old, new]), BundlePurpose::Add));
    let change = write.contents(&observed);
    assert_eq!(change.annotations[ALLOW_INJECTION_ANNOTATION].as_deref(), Some("true"));
    assert_eq!(change.data.field("ca.crt"), Some(write.bundle.to_pem().as_bytes()));
}

#[test]
fn a_bundle_that_may_not_be_injected_or_is_damaged_is_written_anew() {
    let mut observed = changing();
    observed.bundle_secret.as_mut().unwrap().annotations.clear();
    assert!(matches!(next_step(&observed), TrustStep::Write(write) if write.bundle.len() == 2));
    observed.bundle_secret = Some(BundleSecret::default());
    assert!(matches!(next_step(&observed), TrustStep::Write(write) if write.bundle.len() == 2));
}

#[test]
fn the_old_root_goes_when_every_target_has_the_new_one_and_every_replica_stably_serves_it() {
    let [old, new] = [&ROOTS[0], &ROOTS[1]];
    let lacking = ObservedTrust { targets: vec![target(0, &bundle(&[old]))], ..changing() };
    assert!(said(&lacking).contains("waiting for the cainjector"));
    let late = ObservedTrust { replicas: vec![replica(7, Some(served(&pair(old))))], ..changing() };
    assert!(said(&late).contains("still the old one: 7"));
    let silent = ObservedTrust { replicas: vec![replica(7, None)], ..changing() };
    assert!(said(&silent).contains("no answer from: 7"));
    let silent_release = ObservedTrust { replicas: Vec::new(), ..changing() };
    assert!(matches!(next_step(&silent_release), TrustStep::Wait(Wait::NoReplica)));
    let ready = changing();
    let TrustStep::Wait(Wait::Settling { hash, time, .. }) = next_step(&ready) else { panic!() };
    let settled = ObservedTrust { settled: Some(hash), ..ready };
    assert_eq!(time, SETTLE);
    let TrustStep::Write(write) = next_step(&settled) else { panic!("{}", said(&settled)) };
    assert_eq!((write.bundle, write.purpose), (bundle(&[new]), BundlePurpose::Remove));
}

#[test]
fn rests_where_everything_trusts_the_root_alone() {
    let only = bundle(&[&ROOTS[1]]);
    let observed = ObservedTrust { bundle_secret: Some(secret(&only)), targets: vec![target(0, &only)], ..changing() };
    assert!(matches!(next_step(&observed), TrustStep::Wait(Wait::Idle { .. })));
}

#[test]
fn a_new_root_is_published_until_every_target_has_it_and_switched_to_until_every_replica_serves_it() {
    let [old, new] = [&ROOTS[0], &ROOTS[1]];
    let old_bundle = Some(secret(&bundle(&[old])));
    let unwritten =
        ObservedTrust { bundle_secret: old_bundle, targets: vec![target(0, &bundle(&[old]))], ..changing() };
    assert_eq!(phase(&unwritten), Some(Phase::Publish));
    let lacking = ObservedTrust { targets: vec![target(0, &bundle(&[old]))], ..changing() };
    assert_eq!(phase(&lacking), Some(Phase::Publish));
    let late = ObservedTrust { replicas: vec![replica(7, Some(served(&pair(old))))], ..changing() };
    assert_eq!(phase(&late), Some(Phase::Switch));
    let silent_release = ObservedTrust { replicas: Vec::new(), ..changing() };
    assert_eq!(phase(&silent_release), Some(Phase::Switch));
    assert_eq!(phase(&changing()), Some(Phase::Switch), "the old root is still to be removed");
    let removed = ObservedTrust { bundle_secret: Some(secret(&bundle(&[new]))), ..changing() };
    assert_eq!(phase(&removed), None, "a cainjector that merges leaves the old root in the targets");
}

#[test]
fn nothing_is_rotated_while_there_is_one_root_or_none() {
    let only = bundle(&[&ROOTS[1]]);
    assert_eq!(phase(&observed()), None);
    let first = ObservedTrust { serving_secret: Some(pair(&ROOTS[1])), targets: vec![target(0, &only)], ..observed() };
    assert_eq!(phase(&first), None);
    let emptied = ObservedTrust {
        bundle_secret: Some(secret(&only)),
        targets: vec![target(0, &CaBundle::default())],
        ..changing()
    };
    assert_eq!(phase(&emptied), None);
    let withdrawn = ObservedTrust { serving_secret: None, ..changing() };
    assert_eq!(phase(&withdrawn), None);
}

/// What happens. Numbers choose among what there is.
#[derive(Debug, Clone)]
enum Event {
    /// cert-manager issues another certificate, of the same root or of the next.
    Issue { next_root: bool },
    /// The cainjector reaches a target.
    Inject { target: usize },
    /// A replica reads the serving Secret.
    Observe { replica: usize },
    /// A replica starts anew, and turns ready where everything trusts it.
    Restart { replica: usize },
    /// The leader reads, and writes what it has decided on before, unless the Secret has changed.
    Lead,
    /// Another leader takes over: what was decided and waited for is lost.
    Crash,
    /// The bundle's Secret is deleted.
    DeleteBundle,
    /// Time passes: API servers have observed every target.
    Pass,
}

#[derive(Debug)]
struct SimTarget {
    carried: CaBundle,
    /// What API servers may still call with.
    observed: CaBundle,
}

struct Cluster {
    root: usize,
    serving: SecretData,
    bundle: Option<CaBundle>,
    version: usize,
    targets: Vec<SimTarget>,
    /// What each serves, and whether it is ready.
    replicas: Vec<(SecretData, bool)>,
    decided: Option<(usize, CaBundle)>,
    settled: Option<StateHash>,
    settling: Option<StateHash>,
}

impl Cluster {
    fn new(targets: usize, replicas: usize) -> Self {
        let (serving, only) = (pair(&ROOTS[0]), bundle(&[&ROOTS[0]]));
        let target = |_| SimTarget { carried: only.clone(), observed: only.clone() };
        Self {
            root: 0,
            bundle: Some(only.clone()),
            version: 0,
            targets: (0..targets).map(target).collect(),
            replicas: (0..replicas).map(|_| (serving.clone(), true)).collect(),
            serving,
            decided: None,
            settled: None,
            settling: None,
        }
    }

    fn happens(&mut self, event: &Event) {
        match event {
            Event::Issue { next_root } => {
                self.root = (self.root + usize::from(*next_root)).min(ROOTS.len() - 1);
                self.serving = pair(&ROOTS[self.root]);
            }
            Event::Inject { target } => {
                let count = self.targets.len();
                if let Some(bundle) = self.bundle.clone() {
                    self.targets[target % count].carried = bundle;
                }
            }
            Event::Observe { replica } => self.observe(replica % self.replicas.len()),
            Event::Restart { replica } => {
                let at = replica % self.replicas.len();
                let ready = self.all_verify(&self.serving);
                self.replicas[at] = (self.serving.clone(), ready);
            }
            Event::Lead => self.lead(),
            Event::Crash => (self.decided, self.settled, self.settling) = (None, None, None),
            Event::DeleteBundle => (self.bundle, self.version) = (None, self.version + 1),
            Event::Pass => {
                self.settled = self.settling.take().or(self.settled);
                self.targets.iter_mut().for_each(|target| target.observed = target.carried.clone());
            }
        }
    }

    /// Every bundle, as it is and as API servers may have it.
    fn all_verify(&self, data: &SecretData) -> bool {
        let chain = [served(data)];
        let bundles = self.targets.iter().flat_map(|target| [&target.carried, &target.observed]);
        bundles.into_iter().all(|bundle| bundle.verifies_chain(&chain, None))
    }

    /// A replica goes over to the certificate as the module demands; one that isn't ready turns ready.
    fn observe(&mut self, at: usize) {
        let verified = self.all_verify(&self.serving);
        if verified || !self.replicas[at].1 {
            self.replicas[at] = (self.serving.clone(), verified);
        }
    }

    fn lead(&mut self) {
        if let Some((version, bundle)) = self.decided.take() {
            if version == self.version {
                (self.bundle, self.version) = (Some(bundle), version + 1);
            }
            return;
        }
        let targets = self.targets.iter().enumerate().map(|(at, sim)| target(at, &sim.carried));
        let replicas = self
            .replicas
            .iter()
            .enumerate()
            .map(|(at, (data, ready))| Replica { gets_requests: *ready, ..replica(at, Some(served(data))) });
        let observed = ObservedTrust {
            bundle_secret: self.bundle.as_ref().map(secret),
            serving_secret: Some(self.serving.clone()),
            targets: targets.collect(),
            replicas: replicas.collect(),
            settled: self.settled,
            ..observed()
        };
        match next_step(&observed) {
            TrustStep::Write(write) => self.decided = Some((self.version, write.bundle)),
            TrustStep::Wait(Wait::Settling { hash, .. }) => self.settling = Some(hash),
            TrustStep::Wait(_) => {}
        }
    }

    /// The invariant: each injection target verifies what each replica serves that gets requests, at every moment.
    fn check(&self) -> Result<(), String> {
        let refused = self.replicas.iter().enumerate().find(|(_, (data, ready))| *ready && !self.all_verify(data));
        refused.map_or(Ok(()), |(at, _)| Err(format!("some target refuses what replica {at} serves")))
    }

    fn calms_down(&mut self) -> Result<(), String> {
        for _ in 0..12 {
            self.happens(&Event::Lead);
            self.happens(&Event::Lead);
            (0..self.targets.len()).for_each(|target| self.happens(&Event::Inject { target }));
            self.check()?;
            self.happens(&Event::Pass);
            (0..self.replicas.len()).for_each(|replica| self.happens(&Event::Observe { replica }));
            self.check()?;
        }
        let only = bundle(&[&ROOTS[self.root]]);
        let rests = self.targets.iter().all(|target| target.observed == only)
            && self.replicas.iter().all(|(data, ready)| *ready && *data == self.serving);
        if rests { Ok(()) } else { Err("it doesn't come to rest".to_owned()) }
    }
}

fn events() -> impl Strategy<Value = Event> {
    let which = 0..4_usize;
    prop_oneof![
        2 => any::<bool>().prop_map(|next_root| Event::Issue { next_root }),
        6 => which.clone().prop_map(|target| Event::Inject { target }),
        6 => which.clone().prop_map(|replica| Event::Observe { replica }),
        1 => which.prop_map(|replica| Event::Restart { replica }),
        8 => Just(Event::Lead),
        1 => Just(Event::Crash),
        1 => Just(Event::DeleteBundle),
        4 => Just(Event::Pass),
    ]
}

proptest! {
    // Each step verifies signatures, which is slow without optimisation.
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_no_injection_target_refuses_a_replica_and_the_old_root_goes(
        targets in 1..4_usize,
        replicas in 1..4_usize,
        events in prop::collection::vec(events(), 0..80),
    ) {
        let mut cluster = Cluster::new(targets, replicas);
        for event in &events {
            cluster.happens(event);
            cluster.check().map_err(|why| TestCaseError::fail(format!("{why} after {event:?}")))?;
        }
        cluster.calms_down().map_err(TestCaseError::fail)?;
    }
}
