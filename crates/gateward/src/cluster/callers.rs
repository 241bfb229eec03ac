//! Who calls, for the proof that they can: what the consumers trust.

use std::time::{Duration, Instant};

use gateward_certs::CaBundle;
use gateward_cluster::{ControllerStatus, InjectedCaBundles, TargetState, send_if_changed};
use gateward_server::{Caller, Callers, Trust};
use rustls_pki_types::ServerName;
use tokio::sync::watch;

/// How long consumers are waited for that carry nothing yet, from the start on. Whoever installs goes on when the Pod is
/// ready, and should find that all of them work; but one that can't be written must not keep every Pod from serving.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is known of those who call.
pub(super) struct Sources {
    /// What the consumers trust.
    pub(super) trust: watch::Receiver<InjectedCaBundles>,
    /// Who the consumers are.
    pub(super) report: watch::Receiver<ControllerStatus>,
    /// The authorities that stand beside the certificate.
    pub(super) own: watch::Receiver<CaBundle>,
    /// The name by which the server is called.
    pub(super) name: ServerName<'static>,
}

/// What is known at one moment.
struct Known<'a> {
    trust: &'a InjectedCaBundles,
    report: &'a ControllerStatus,
    own: &'a CaBundle,
    name: &'a ServerName<'static>,
    /// Until when consumers are waited for that carry nothing.
    patient_until: Instant,
}

/// Says who the callers are, for as long as anybody listens.
pub(super) async fn follow(mut sources: Sources, callers: watch::Sender<Callers>) {
    let patient_until = Instant::now() + PATIENCE;
    loop {
        let now = known(&mut sources, patient_until);
        send_if_changed(&callers, now);
        let gone = tokio::select! {
            changed = sources.trust.changed() => changed.is_err(),
            changed = sources.report.changed() => changed.is_err(),
            changed = sources.own.changed() => changed.is_err(),
            () = callers.closed() => true,
        };
        if gone {
            return;
        }
    }
}

fn known(sources: &mut Sources, patient_until: Instant) -> Callers {
    let trust = sources.trust.borrow_and_update().clone();
    let report = sources.report.borrow_and_update().clone();
    let own = sources.own.borrow_and_update().clone();
    callers(&Known { trust: &trust, report: &report, own: &own, name: &sources.name, patient_until })
}

/// Where there is nobody who calls, our own authority takes the place of what they would carry: a pod is not to blame
/// for configurations that aren't there.
fn callers(known: &Known<'_>) -> Callers {
    let stand_from = known.trust.valid_from;
    if any(known.report, &[TargetState::Trusts, TargetState::Refuses, TargetState::Empty]) {
        let awaited = any(known.report, &[TargetState::Empty]).then_some(known.patient_until);
        let stand_from = stand_from.map(|from| awaited.map_or(from, |until| from.max(until)));
        let bundles = known.trust.bundles.iter().map(|pem| CaBundle::parse_lossy(pem).0);
        let known = bundles.map(|bundle| caller(&bundle, "consumers that trust", known.name)).collect();
        return Callers { known, stand_from };
    }
    let own = Some(known.own).filter(|own| !own.is_empty());
    let own = own.map(|own| caller(own, "nobody yet, by our own authority", known.name));
    Callers { known: own.into_iter().collect(), stand_from }
}

/// Whether any consumer is in one of these states.
fn any(report: &ControllerStatus, states: &[TargetState]) -> bool {
    report.targets.iter().any(|target| states.contains(&target.state))
}

fn caller(bundle: &CaBundle, who: &str, name: &ServerName<'static>) -> Caller {
    let authorities: Vec<_> = bundle.iter().map(|anchor| anchor.certificate().clone()).collect();
    let shown: Vec<_> = bundle.iter().map(|anchor| anchor.fingerprint().short()).collect();
    Caller { name: format!("{who} {}", shown.join(" and ")), trust: Trust { authorities, name: name.clone() } }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use gateward_certs::{Ca, CommonName, SystemKeys, TEN_YEARS, Validity};
    use gateward_cluster::TargetStatus;

    use super::*;

    fn bundle() -> CaBundle {
        let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
        let authority = Ca::new(&CommonName::new("otter").unwrap(), validity, &SystemKeys).unwrap();
        [authority.trust_anchor().clone()].into_iter().collect()
    }

    fn called(states: &[TargetState]) -> ControllerStatus {
        let consumer =
            |state: &TargetState| TargetStatus { object: "otters".into(), entry: None, state: state.clone() };
        ControllerStatus { targets: states.iter().map(consumer).collect(), ..ControllerStatus::default() }
    }

    fn callers_of(bundles: &[CaBundle], valid_from: Option<Instant>, report: &ControllerStatus) -> Callers {
        let patient_until = valid_from.unwrap_or_else(Instant::now) + PATIENCE;
        let trust =
            InjectedCaBundles { bundles: bundles.iter().map(|it| it.to_pem().into_bytes()).collect(), valid_from };
        let (own, name) = (bundle(), ServerName::try_from("otter.zoo.svc").unwrap());
        callers(&Known { trust: &trust, report, own: &own, name: &name, patient_until })
    }

    #[test]
    fn each_bundle_is_a_caller() {
        let now = Some(Instant::now());
        let found = callers_of(&[bundle(), bundle()], now, &called(&[TargetState::Refuses]));
        assert_eq!((found.known.len(), found.stand_from), (2, now));
        assert_eq!(found.known[0].trust.authorities.len(), 1);
    }

    #[test]
    fn consumers_that_carry_nothing_yet_are_waited_for() {
        let now = Some(Instant::now());
        assert!(callers_of(&[], now, &called(&[TargetState::Empty])).known.is_empty());
        let some = called(&[TargetState::Empty, TargetState::Trusts]);
        let found = callers_of(&[bundle()], now, &some);
        assert_eq!((found.known.len(), found.stand_from), (1, now.map(|now| now + PATIENCE)));
    }

    #[test]
    fn where_nobody_calls_our_own_authority_counts() {
        let absent = called(&[TargetState::Absent]);
        assert_eq!(callers_of(&[], Some(Instant::now()), &absent).known.len(), 1);
        assert_eq!(callers_of(&[], None, &absent).stand_from, None, "it isn't known yet whether anybody calls");
    }
}
