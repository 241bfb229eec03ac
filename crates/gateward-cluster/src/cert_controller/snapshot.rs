//! A snapshot of the cluster, and the decision that follows from it.

use std::time::{Duration, SystemTime};

use gateward_certs::rotation::{
    CaBundleWrite, CertificateSpec, Change, ContentsError, InjectionTarget, InjectionTargetId, ObservedState, Phase,
    Replica, RotationStatus, SecretChange, StateHash, Step, Wait, Write,
};
use gateward_certs::trust::{self, ObservedTrust, TrustStep};
use gateward_certs::{CaBundle, CaInjection, KeySource, Provision};
use k8s_openapi::api::core::v1::Secret;

use super::leader::LeaderContext;
use crate::connection::Connection;
use crate::fail_point;
use crate::injection::{InjectableKind, TargetObject};
use crate::replicas::Replicas;
use crate::request::RequestError;
use crate::secrets::{ManagedSecret, bundle, ca, data, trusted, version};

/// When the leader reads everything again where only the user writes.
const SELDOM: Duration = Duration::from_hours(12);

/// What was read, in the order that [`ObservedState`] and [`ObservedTrust`] demand.
pub(super) struct Snapshot {
    /// The Secret in which the leader keeps its state: the CA's, or that of the bundle.
    pub(super) state: Option<Secret>,
    pub(super) serving: Option<Secret>,
    pub(super) targets: Vec<TargetObject>,
    pub(super) replicas: Vec<Replica>,
    api_server_time: Option<SystemTime>,
}

/// What a decision depends on beside the snapshot.
pub(super) struct Basis<'a> {
    pub(super) provision: &'a Provision,
    pub(super) spec: &'a CertificateSpec,
    /// The hash of the last state that was waited for until it settled.
    pub(super) settled: Option<StateHash>,
    pub(super) now: SystemTime,
    pub(super) keys: &'a dyn KeySource,
}

/// What follows from a snapshot.
pub(super) struct Decision {
    /// The step, for people.
    pub(super) next: String,
    pub(super) action: Action,
    pub(super) phase: Option<Phase>,
    pub(super) notes: Vec<String>,
}

/// What is done.
pub(super) enum Action {
    /// Nothing before something changes or time has passed.
    Wait(Wait),
    /// A write, with its name as a fail point.
    Write(Change, &'static str),
    /// A write of the Secret with the bundle.
    WriteBundle(SecretChange),
    /// A write that can't be made.
    Unwritable(ContentsError),
}

impl Snapshot {
    /// Reads everything. Returns `None` if the Secret with the leader's state has changed meanwhile.
    pub(super) async fn read(
        leader: &LeaderContext,
        replicas: &Replicas,
        connection: &Connection,
    ) -> Result<Option<Self>, RequestError> {
        let LeaderContext { secrets, targets, .. } = leader;
        let state = leader.read_state().await?;
        let replicas = replicas.read(connection.now()).await?;
        let targets = targets.read().await?;
        let serving = secrets.read(ManagedSecret::Serving).await?;
        let again = leader.read_state().await?;
        if version(state.as_ref()) != version(again.as_ref()) {
            return Ok(None);
        }
        let api_server_time = connection.api_server_time();
        Ok(Some(Self { state, serving, targets, replicas, api_server_time }))
    }

    /// The CAs that each injection target has to have.
    pub(super) fn trusted(&self, provision: &Provision) -> CaBundle {
        trusted(provision, self.state.as_ref(), self.serving.as_ref())
    }

    /// Whether replicas of ours can convert with the bundle that a stanza gets: some are called, and clients with that
    /// bundle accept what each of them shows. One that shows nothing gets no call through either.
    pub(super) fn can_convert(&self, provision: &Provision) -> bool {
        let bundle = self.trusted(provision);
        let mut called = self.replicas.iter().filter(|replica| replica.gets_requests && replica.served.is_some());
        called.clone().next().is_some() && called.all(|replica| bundle.verifies_chain(&replica.chain(), None))
    }

    /// Decides the next step. Making a key may take a second of computing.
    pub(super) fn decide(&self, basis: &Basis<'_>) -> Decision {
        match basis.provision {
            Provision::Automatic => self.rotation(basis),
            Provision::CertManager { injection: CaInjection::Secret, ca_bundle } => self.trust(basis, ca_bundle),
            Provision::CertManager { injection: CaInjection::Certificate, .. } => Decision::waits_for_others(basis.now),
            Provision::External { .. } => self.conversion_bundles(basis),
        }
    }

    /// An injection target as it was read.
    fn target(&self, id: &InjectionTargetId) -> Option<&InjectionTarget> {
        let mut entries = self.targets.iter().flat_map(|object| &object.entries);
        entries.find(|entry| entry.target.id == *id).map(|entry| &entry.target)
    }

    fn rotation(&self, basis: &Basis<'_>) -> Decision {
        let Self { state, serving, targets, replicas, api_server_time } = self;
        let observed = ObservedState {
            replicas: replicas.clone(),
            api_server_time: *api_server_time,
            settled: basis.settled,
            ..observed_state(basis.spec, state.as_ref(), serving.as_ref(), targets)
        };
        let RotationStatus { phase, next: step, notes, .. } = RotationStatus::of(&observed, basis.now);
        let next = step.to_string();
        let action = match step {
            Step::Wait(wait) => Action::Wait(wait),
            Step::Write(write) => match write.contents(&observed, basis.now, basis.keys) {
                Ok(change) => Action::Write(change, self.fail_point(&write)),
                Err(why) => Action::Unwritable(why),
            },
        };
        Decision { next, action, phase, notes }
    }

    fn trust(&self, basis: &Basis<'_>, configured: &CaBundle) -> Decision {
        let now = self.api_server_time.unwrap_or(basis.now);
        let observed = ObservedTrust {
            configured: configured.clone(),
            replicas: self.replicas.clone(),
            settled: basis.settled,
            ..observed_trust(basis.spec, self.state.as_ref(), self.serving.as_ref(), &self.targets, now)
        };
        let step = trust::next_step(&observed);
        let next = step.to_string();
        let action = match step {
            TrustStep::Wait(wait) => Action::Wait(wait),
            TrustStep::Write(write) => Action::WriteBundle(write.contents(&observed)),
        };
        Decision { next, action, phase: trust::phase(&observed), notes: Vec::new() }
    }

    /// Has the CRDs trust what the user has every client trust, and nothing else.
    fn conversion_bundles(&self, basis: &Basis<'_>) -> Decision {
        let wanted = self.given().unwrap_or_else(|| self.trusted(basis.provision));
        let crds = self.targets.iter().filter(|object| object.kind == InjectableKind::Crd);
        let entries = crds.flat_map(|object| &object.entries);
        let differs = |carried: &[u8]| CaBundle::parse(carried).as_ref() != Ok(&wanted);
        let others = entries.filter(|entry| differs(&entry.target.bundle));
        let write = |id: &InjectionTargetId| CaBundleWrite { target: id.clone(), bundle: wanted.clone() };
        let writes: Vec<_> = others.map(|entry| write(&entry.target.id)).collect();
        if writes.is_empty() || wanted.is_empty() {
            return Decision::waits_for_others(basis.now);
        }
        let write = Write::CaBundles(writes.clone());
        let (next, name) = (write.to_string(), self.fail_point(&write));
        let action = Action::Write(Change::CaBundles(writes), name);
        Decision { next, action, phase: None, notes: Vec::new() }
    }

    /// The bundle that every entry of the webhook configurations has. During a rollout it is newer than the configuration
    /// of a leader that is about to go, since an upgrade writes it first.
    fn given(&self) -> Option<CaBundle> {
        let configurations = self.targets.iter().filter(|object| object.kind != InjectableKind::Crd);
        let mut bundles = configurations.flat_map(|object| &object.entries).map(|entry| &entry.target.bundle);
        let first = bundles.next()?;
        let bundle = CaBundle::parse(first).ok().filter(|bundle| !bundle.is_empty())?;
        bundles.all(|other| other == first).then_some(bundle)
    }

    fn fail_point(&self, write: &Write) -> &'static str {
        fail_point::name(write, |write| self.target(&write.target))
    }
}

impl Decision {
    /// Others write all that is to be written.
    fn waits_for_others(now: SystemTime) -> Self {
        let wait = Wait::Idle { until: now + SELDOM };
        Self { next: OTHERS_WRITE.to_owned(), action: Action::Wait(wait), phase: None, notes: Vec::new() }
    }
}

/// What the leader says where others write certificates and `caBundle`s.
pub(crate) const OTHERS_WRITE: &str = "nothing is to be done: others provide certificates and caBundles";

/// What was read, as [`ObservedState`].
pub(crate) fn observed_state<'a>(
    spec: &'a CertificateSpec,
    ca_secret: Option<&Secret>,
    serving: Option<&Secret>,
    targets: &[TargetObject],
) -> ObservedState<'a> {
    ObservedState {
        ca_secret: ca_secret.map(ca),
        serving_secret: serving.map(data),
        targets: injection_targets(targets),
        ..ObservedState::empty(spec)
    }
}

/// What was read, as [`ObservedTrust`].
pub(crate) fn observed_trust<'a>(
    spec: &'a CertificateSpec,
    bundle_secret: Option<&Secret>,
    serving: Option<&Secret>,
    targets: &[TargetObject],
    now: SystemTime,
) -> ObservedTrust<'a> {
    ObservedTrust {
        serving_name: &spec.serving_secret,
        bundle_secret: bundle_secret.map(bundle),
        serving_secret: serving.map(data),
        configured: CaBundle::default(),
        targets: injection_targets(targets),
        replicas: Vec::new(),
        now,
        settled: None,
        settle: spec.settle,
    }
}

fn injection_targets(objects: &[TargetObject]) -> Vec<InjectionTarget> {
    objects.iter().flat_map(|object| &object.entries).map(|entry| entry.target.clone()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gateward_certs::rotation::RotationAnnotations;
    use gateward_certs::secret::{SecretData, ServingCertificate};
    use gateward_certs::{Ca, CommonName, Lifetimes, ServerNames, SystemKeys, TEN_YEARS};
    use k8s_openapi::ByteString;
    use kube::api::ObjectMeta;
    use serde_json::json;

    use super::*;
    use crate::config::InjectionRules;
    use crate::pairs::{ca, now, pair};

    fn spec() -> CertificateSpec {
        CertificateSpec {
            serving_secret: "zoo/otter".to_owned(),
            ca_secret: "zoo/otter-ca".to_owned(),
            annotations: RotationAnnotations::of("otter.zoo.org"),
            names: ServerNames::parse(["otter.zoo.svc"]).unwrap(),
            ca_name: CommonName::new("otter").unwrap(),
            lifetimes: Lifetimes::default(),
            settle: CertificateSpec::SETTLE,
        }
    }

    fn pem(cas: &[&Ca]) -> String {
        cas.iter().map(|ca| ca.certificate_pem()).collect()
    }

    fn secret(data: &[(&str, &str)]) -> Secret {
        let data = data.iter().map(|(key, text)| ((*key).to_owned(), ByteString(text.as_bytes().to_vec())));
        let allowed = [(trust::ALLOW_INJECTION_ANNOTATION.to_owned(), "true".to_owned())];
        let metadata = ObjectMeta { annotations: Some(BTreeMap::from(allowed)), ..ObjectMeta::default() };
        Secret { metadata, data: Some(data.collect()), ..Secret::default() }
    }

    /// A webhook configuration of ours, with a `caBundle`.
    fn target(bundle: &str) -> TargetObject {
        let config = json!({"service": {"namespace": "zoo", "name": "otter"}, "caBundle": ByteString(bundle.into())});
        let webhooks = json!([{"name": "otters.zoo.org", "clientConfig": config}]);
        let object = json!({"metadata": {"name": "zoo-validating"}, "webhooks": webhooks});
        let rules = InjectionRules::of_zoo();
        rules.classify(InjectableKind::Validating, &serde_json::from_value(object).unwrap()).unwrap()
    }

    /// What a leader reports while cert-manager goes over to a new root, by what a target has.
    fn reported(injection: CaInjection, root: &Ca, kept: &[&Ca], injected: &[&Ca]) -> Option<Phase> {
        let pair = pair(root, TEN_YEARS);
        let text = |field: &str| String::from_utf8(pair.field(field).unwrap().to_vec()).unwrap();
        let (certificate, ca_crt) = (text("tls.crt"), pem(&[root]));
        let snapshot = Snapshot {
            state: Some(secret(&[("ca.crt", &pem(kept))])),
            serving: Some(secret(&[("tls.crt", &certificate), ("ca.crt", &ca_crt)])),
            targets: vec![target(&pem(injected))],
            replicas: Vec::new(),
            api_server_time: Some(now()),
        };
        let provision = Provision::CertManager { injection, ca_bundle: CaBundle::default() };
        let (spec, keys) = (spec(), SystemKeys);
        let basis = Basis { provision: &provision, spec: &spec, settled: None, now: now(), keys: &keys };
        snapshot.decide(&basis).phase
    }

    /// A pod that requests reach, and the certificate that it shows.
    fn called(served: Option<&SecretData>) -> Replica {
        let pair = served.map(|data| ServingCertificate::read(data, "zoo/otter").unwrap());
        let served = pair.map(|pair| pair.end_entity().clone());
        Replica { name: "otter-1".to_owned(), gets_requests: true, served, intermediates: Vec::new() }
    }

    #[test]
    fn a_conversion_is_ours_once_pods_that_are_called_show_what_the_bundle_of_the_stanza_verifies() {
        let (ours, other) = (ca(), ca());
        let (good, bad) = (pair(&ours, TEN_YEARS), pair(&other, TEN_YEARS));
        let provision = Provision::External { ca_bundle: ours.trust_anchor().clone().into() };
        let can_convert = |replicas: &[Replica]| {
            let replicas = replicas.to_vec();
            let snapshot =
                Snapshot { state: None, serving: None, targets: Vec::new(), replicas, api_server_time: Some(now()) };
            snapshot.can_convert(&provision)
        };
        let starting = Replica { gets_requests: false, ..called(Some(&good)) };
        for replicas in [&[][..], &[called(None)], &[starting], &[called(Some(&bad))]] {
            assert!(!can_convert(replicas), "{replicas:?}");
        }
        assert!(!can_convert(&[called(Some(&good)), called(Some(&bad))]), "every other call would fail");
        assert!(can_convert(&[called(Some(&good))]));
        assert!(can_convert(&[called(Some(&good)), called(None)]), "no call gets through to the second");
    }

    #[test]
    fn a_change_of_cert_managers_root_has_a_phase_where_the_leader_keeps_the_bundle() {
        let (old, new) = (ca(), ca());
        let kept = |kept: &[&Ca], injected: &[&Ca]| reported(CaInjection::Secret, &new, kept, injected);
        assert_eq!(kept(&[&old, &new], &[&old]), Some(Phase::Publish));
        assert_eq!(kept(&[&old, &new], &[&old, &new]), Some(Phase::Switch));
        assert_eq!(kept(&[&new], &[&old, &new]), None);
        assert_eq!(reported(CaInjection::Certificate, &new, &[&old, &new], &[&old]), None);
    }
}
