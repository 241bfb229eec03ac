//! What API servers trust, for the self-check: the `caBundle` of each injection target.

use std::time::{Duration, Instant};

use gateward_certs::CaBundle;
use gateward_cluster::{ControllerStatus, InjectedCaBundles, TargetState, send_if_changed};
use gateward_server::{ClientTrust, InjectedTrust, TargetTrust};
use rustls_pki_types::ServerName;
use tokio::sync::watch;

/// How long the self-check waits for injection targets without a `caBundle`, from the start on. An installation goes on
/// when the Pod is ready, and all targets should work then; but one that can't be patched must not keep every Pod from
/// serving.
const INJECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// The sources of [`InjectedTrust`].
pub(super) struct Sources {
    /// The bundles of the injection targets.
    pub(super) trust: watch::Receiver<InjectedCaBundles>,
    /// The injection targets.
    pub(super) report: watch::Receiver<ControllerStatus>,
    /// The CAs beside the serving certificate.
    pub(super) own: watch::Receiver<CaBundle>,
    /// The name in the URL of the webhooks.
    pub(super) name: ServerName<'static>,
}

/// The sources at one time.
struct Current<'a> {
    trust: &'a InjectedCaBundles,
    report: &'a ControllerStatus,
    own: &'a CaBundle,
    name: &'a ServerName<'static>,
    /// Until when the self-check waits for targets without a `caBundle`.
    injected_by: Instant,
}

/// Sends every change of the trust, until the receiver or a source is dropped.
pub(super) async fn follow(mut sources: Sources, injected: watch::Sender<InjectedTrust>) {
    let injected_by = Instant::now() + INJECTION_TIMEOUT;
    loop {
        send_if_changed(&injected, current(&mut sources, injected_by));
        let gone = tokio::select! {
            changed = sources.trust.changed() => changed.is_err(),
            changed = sources.report.changed() => changed.is_err(),
            changed = sources.own.changed() => changed.is_err(),
            () = injected.closed() => true,
        };
        if gone {
            return;
        }
    }
}

fn current(sources: &mut Sources, injected_by: Instant) -> InjectedTrust {
    let trust = sources.trust.borrow_and_update().clone();
    let report = sources.report.borrow_and_update().clone();
    let own = sources.own.borrow_and_update().clone();
    injected_trust(&Current { trust: &trust, report: &report, own: &own, name: &sources.name, injected_by })
}

/// Where there is no injection target, the own CA takes the place of its `caBundle`: missing configurations are no fault of
/// the pod.
fn injected_trust(current: &Current<'_>) -> InjectedTrust {
    let valid_from = current.trust.valid_from;
    if any(current.report, &[TargetState::Trusts, TargetState::Refuses, TargetState::Empty]) {
        let awaited = any(current.report, &[TargetState::Empty]).then_some(current.injected_by);
        let valid_from = valid_from.map(|from| awaited.map_or(from, |until| from.max(until)));
        let bundles = current.trust.bundles.iter().map(|pem| CaBundle::parse_lossy(pem).0);
        let targets = bundles.map(|bundle| target(&bundle, "injection targets that trust", current.name)).collect();
        return InjectedTrust { targets, valid_from };
    }
    let own = Some(current.own).filter(|own| !own.is_empty());
    let own = own.map(|own| target(own, "no injection target yet, by the own CA", current.name));
    InjectedTrust { targets: own.into_iter().collect(), valid_from }
}

/// Whether any injection target is in one of these states.
fn any(report: &ControllerStatus, states: &[TargetState]) -> bool {
    report.targets.iter().any(|target| states.contains(&target.state))
}

fn target(bundle: &CaBundle, name: &str, server_name: &ServerName<'static>) -> TargetTrust {
    let ca_certificates: Vec<_> = bundle.iter().map(|trust_anchor| trust_anchor.certificate().clone()).collect();
    let shown: Vec<_> = bundle.iter().map(|trust_anchor| trust_anchor.fingerprint().short()).collect();
    let trust = ClientTrust { ca_certificates, server_name: server_name.clone() };
    TargetTrust { name: format!("{name} {}", shown.join(" and ")), trust }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use gateward_certs::{Ca, CommonName, SystemKeys, TEN_YEARS, Validity};
    use gateward_cluster::TargetStatus;

    use super::*;

    fn bundle() -> CaBundle {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let ca = Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap();
        [ca.trust_anchor().clone()].into_iter().collect()
    }

    fn report(states: &[TargetState]) -> ControllerStatus {
        let consumer =
            |state: &TargetState| TargetStatus { object: "otters".into(), entry: None, state: state.clone() };
        ControllerStatus { targets: states.iter().map(consumer).collect(), ..ControllerStatus::default() }
    }

    fn trust_of(bundles: &[CaBundle], valid_from: Option<Instant>, report: &ControllerStatus) -> InjectedTrust {
        let injected_by = valid_from.unwrap_or_else(Instant::now) + INJECTION_TIMEOUT;
        let trust =
            InjectedCaBundles { bundles: bundles.iter().map(|it| it.to_pem().into_bytes()).collect(), valid_from };
        let (own, name) = (bundle(), ServerName::try_from("otter.zoo.svc").unwrap());
        injected_trust(&Current { trust: &trust, report, own: &own, name: &name, injected_by })
    }

    #[test]
    fn each_bundle_is_a_target() {
        let now = Some(Instant::now());
        let found = trust_of(&[bundle(), bundle()], now, &report(&[TargetState::Refuses]));
        assert_eq!((found.targets.len(), found.valid_from), (2, now));
        assert_eq!(found.targets[0].trust.ca_certificates.len(), 1);
    }

    #[test]
    fn targets_without_a_bundle_are_awaited() {
        let now = Some(Instant::now());
        assert!(trust_of(&[], now, &report(&[TargetState::Empty])).targets.is_empty());
        let some = report(&[TargetState::Empty, TargetState::Trusts]);
        let found = trust_of(&[bundle()], now, &some);
        assert_eq!((found.targets.len(), found.valid_from), (1, now.map(|now| now + INJECTION_TIMEOUT)));
    }

    #[test]
    fn without_targets_the_own_ca_counts() {
        let absent = report(&[TargetState::Absent]);
        assert_eq!(trust_of(&[], Some(Instant::now()), &absent).targets.len(), 1);
        assert_eq!(trust_of(&[], None, &absent).valid_from, None, "the injection targets are not known yet");
    }
}
