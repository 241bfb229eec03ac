//! What API servers trust, for the self-check: the `caBundle` of each injection target.

use std::time::{Duration, Instant};

use gateward_certs::CaBundle;
use gateward_cluster::{ControllerStatus, TargetState, send_if_changed};
use gateward_server::{ClientTrust, InjectedTrust, TargetTrust};
use rustls_pki_types::ServerName;
use tokio::sync::watch;

/// How long the self-check waits for injection targets without a `caBundle`, from the start on. An installation goes on
/// when the Pod is ready, and all targets should work then; but one that can't be patched must not keep every Pod from
/// serving.
const INJECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends every change of the trust, until the receiver or the controller is dropped. `name` is the name in the URL of the
/// webhooks.
pub(super) async fn follow(
    mut status: watch::Receiver<ControllerStatus>,
    name: &ServerName<'static>,
    injected: &watch::Sender<InjectedTrust>,
) {
    let injected_by = Instant::now() + INJECTION_TIMEOUT;
    loop {
        let trust = injected_trust(&status.borrow_and_update(), name, injected_by);
        send_if_changed(injected, trust);
        let gone = tokio::select! {
            changed = status.changed() => changed.is_err(),
            () = injected.closed() => true,
        };
        if gone {
            return;
        }
    }
}

/// Where there is no injection target, the own CA takes the place of its `caBundle`: missing configurations are no fault of
/// the pod. The self-check waits until `injected_by` for targets without a `caBundle`.
fn injected_trust(status: &ControllerStatus, name: &ServerName<'static>, injected_by: Instant) -> InjectedTrust {
    let valid_from = status.injected.valid_from;
    if any(status, &[TargetState::Trusts, TargetState::Refuses, TargetState::Empty]) {
        let awaited = any(status, &[TargetState::Empty]).then_some(injected_by);
        let valid_from = valid_from.map(|from| awaited.map_or(from, |until| from.max(until)));
        let bundles = status.injected.bundles.iter().map(|pem| CaBundle::parse_lossy(pem).0);
        let targets = bundles.map(|bundle| target(&bundle, "injection targets that trust", name)).collect();
        return InjectedTrust { targets, valid_from };
    }
    let own = Some(&status.own_bundle).filter(|own| !own.is_empty());
    let own = own.map(|own| target(own, "no injection target yet, by the own CA", name));
    InjectedTrust { targets: own.into_iter().collect(), valid_from }
}

/// Whether any injection target is in one of these states.
fn any(status: &ControllerStatus, states: &[TargetState]) -> bool {
    status.targets.iter().any(|target| states.contains(&target.state))
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
    use gateward_cluster::{InjectedCaBundles, TargetStatus};

    use super::*;

    fn bundle() -> CaBundle {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let ca = Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap();
        [ca.trust_anchor().clone()].into_iter().collect()
    }

    fn trust_of(bundles: &[CaBundle], valid_from: Option<Instant>, states: &[TargetState]) -> InjectedTrust {
        let injected_by = valid_from.unwrap_or_else(Instant::now) + INJECTION_TIMEOUT;
        let bundles = bundles.iter().map(|it| it.to_pem().into_bytes()).collect();
        let target = |state: &TargetState| TargetStatus { object: "otters".into(), entry: None, state: state.clone() };
        let status = ControllerStatus {
            targets: states.iter().map(target).collect(),
            injected: InjectedCaBundles { bundles, valid_from },
            own_bundle: bundle(),
            ..ControllerStatus::default()
        };
        injected_trust(&status, &ServerName::try_from("otter.zoo.svc").unwrap(), injected_by)
    }

    #[test]
    fn each_bundle_is_a_target() {
        let now = Some(Instant::now());
        let found = trust_of(&[bundle(), bundle()], now, &[TargetState::Refuses]);
        assert_eq!((found.targets.len(), found.valid_from), (2, now));
        assert_eq!(found.targets[0].trust.ca_certificates.len(), 1);
    }

    #[test]
    fn targets_without_a_bundle_are_awaited() {
        let now = Some(Instant::now());
        assert!(trust_of(&[], now, &[TargetState::Empty]).targets.is_empty());
        let some = [TargetState::Empty, TargetState::Trusts];
        let found = trust_of(&[bundle()], now, &some);
        assert_eq!((found.targets.len(), found.valid_from), (1, now.map(|now| now + INJECTION_TIMEOUT)));
    }

    #[test]
    fn without_targets_the_own_ca_counts() {
        let absent = [TargetState::Absent];
        assert_eq!(trust_of(&[], Some(Instant::now()), &absent).targets.len(), 1);
        assert_eq!(trust_of(&[], None, &absent).valid_from, None, "the injection targets are not known yet");
    }
}
