//! Anything may happen between two actions of a leader; the promise holds at every moment, and all ends well.

use std::sync::LazyLock;
use std::time::Duration;

use gateward_certs::rotation::{CaSecret, CertificateSpec, Step, Wait};
use gateward_certs::secret::SecretData;
use gateward_certs::{Ca, ServerNames};
use proptest::prelude::*;

use crate::cluster::{Cluster, Life, PROGRESS, REQUEST, ca, spec};
use crate::leader::Leader;

/// What happens. Numbers choose among what there is at that time.
#[derive(Debug, Clone)]
enum Event {
    Act { leader: usize, actions: usize },
    Crash { leader: usize },
    Lead { leader: usize },
    ClockJumps { leader: usize, seconds: i64 },
    Pass { seconds: u64 },
    YearsPass { days: u64 },
    Observe { replica: usize, steps: usize },
    AddReplica,
    Restart { replica: usize },
    TurnReady { replica: usize },
    Drain { replica: usize },
    RemoveReplica { replica: usize },
    CutOff { replica: usize, off: bool },
    AddTarget,
    RemoveTarget { target: usize },
    Tamper { target: usize, how: Tampering },
    DeleteCa,
    DeleteServing,
    DamageCa { field: &'static str, garbage: bool },
    DamageServing { field: &'static str, garbage: bool },
    Annotate { annotation: &'static str, text: String },
    RotationRequest,
    ReplaceCa { ca: usize },
    WantMoreNames { more: bool },
}

#[derive(Debug, Clone, Copy)]
enum Tampering {
    Empty,
    Garbage,
    Replace,
    Add,
    /// As Helm does when it goes back to an older release.
    Restore,
}

/// The CA that bundles are tampered with. No serving certificate is ever its own.
static ROGUE: LazyLock<Ca> = LazyLock::new(ca);
/// CAs that someone puts in the place of ours.
static OTHERS: LazyLock<Vec<Ca>> = LazyLock::new(|| (0..3).map(|_| ca()).collect());

fn events() -> impl Strategy<Value = Event> {
    let which = 0..8_usize;
    let leader = 0..2_usize;
    let ca_field = prop::sample::select(vec!["tls.crt", "tls.key", "old.crt", "old.key"]);
    let serving_field = prop::sample::select(vec!["tls.crt", "tls.key", "ca.crt", "ca.key"]);
    let tampering = prop::sample::select(vec![
        Tampering::Empty,
        Tampering::Garbage,
        Tampering::Replace,
        Tampering::Add,
        Tampering::Restore,
        Tampering::Restore,
    ]);
    let text = prop::sample::select(vec!["", "v1 phase=switch", "v1 phase=retire to=0", "v9", "now"]);
    let jump = prop_oneof![Just(0), -1_200..1_200_i64, -900_000_000..900_000_000_i64];
    let ordinary = prop_oneof![
        10 => (leader.clone(), 1..14_usize).prop_map(|(leader, actions)| Event::Act { leader, actions }),
        4 => (1..8_u64).prop_map(|seconds| Event::Pass { seconds }),
        3 => (which.clone(), 1..3_usize).prop_map(|(replica, steps)| Event::Observe { replica, steps }),
        2 => which.clone().prop_map(|replica| Event::TurnReady { replica }),
        1 => which.clone().prop_map(|replica| Event::Restart { replica }),
        1 => which.clone().prop_map(|replica| Event::Drain { replica }),
        1 => which.clone().prop_map(|replica| Event::RemoveReplica { replica }),
        1 => Just(Event::AddReplica),
        1 => Just(Event::AddTarget),
        1 => which.clone().prop_map(|target| Event::RemoveTarget { target }),
        2 => Just(Event::RotationRequest),
    ];
    let faults = prop_oneof![
        leader.clone().prop_map(|leader| Event::Crash { leader }),
        leader.clone().prop_map(|leader| Event::Lead { leader }),
        (leader, jump).prop_map(|(leader, seconds)| Event::ClockJumps { leader, seconds }),
        (1..4_000_u64).prop_map(|days| Event::YearsPass { days }),
        (which.clone(), any::<bool>()).prop_map(|(replica, off)| Event::CutOff { replica, off }),
        (which.clone(), tampering).prop_map(|(target, how)| Event::Tamper { target, how }),
        Just(Event::DeleteCa),
        Just(Event::DeleteServing),
        (ca_field, any::<bool>()).prop_map(|(field, garbage)| Event::DamageCa { field, garbage }),
        (serving_field, any::<bool>()).prop_map(|(field, garbage)| Event::DamageServing { field, garbage }),
        (prop::sample::select(vec![PROGRESS, REQUEST]), text)
            .prop_map(|(annotation, text)| Event::Annotate { annotation, text: text.to_owned() }),
        which.prop_map(|ca| Event::ReplaceCa { ca }),
        any::<bool>().prop_map(|more| Event::WantMoreNames { more }),
    ];
    prop_oneof![3 => ordinary, 1 => faults]
}

struct World {
    cluster: Cluster,
    leaders: [Leader; 2],
    leader: usize,
    spec: CertificateSpec,
}

impl World {
    fn new(targets: usize, replicas: usize) -> Self {
        let cluster = Cluster::new(targets, replicas);
        Self { cluster, leaders: [Leader::default(), Leader::default()], leader: 0, spec: spec() }
    }

    fn act(&mut self, leader: usize) {
        self.leaders[leader].act(&mut self.cluster, &self.spec, self.leader == leader);
    }

    fn happens(&mut self, event: &Event) -> Result<(), String> {
        match event {
            Event::Act { leader, actions } => {
                for _ in 0..*actions {
                    self.act(*leader);
                    self.cluster.check()?;
                }
            }
            Event::Crash { leader } => self.leaders[*leader].crash(),
            Event::Lead { leader } => self.leader = *leader,
            Event::ClockJumps { leader, seconds } => self.leaders[*leader].clock_off = *seconds,
            Event::WantMoreNames { more } => self.spec.names = names(*more),
            // Between a look and the write that rests on it, no order of reading helps against someone who takes away
            // what was just seen.
            Event::Tamper { how: Tampering::Restore, .. } if self.leaders.iter().any(Leader::relies_on_targets) => {}
            other => happens_to(&mut self.cluster, other),
        }
        self.cluster.check()
    }

    /// Faults stop: one leader leads, clocks are right, watches deliver, pods turn ready.
    fn calms_down(&mut self) -> Result<(), String> {
        let cluster = &mut self.cluster;
        if cluster.replicas.is_empty() {
            cluster.add_replica();
        }
        cluster.replicas.retain(|replica| replica.life != Life::Draining || replica.shows.is_some());
        cluster.replicas.iter_mut().for_each(|replica| replica.cut_off = false);
        self.leaders[self.leader].clock_off = 0;
        for _ in 0..60 {
            for _ in 0..40 {
                self.act(self.leader);
                self.cluster.check()?;
                if self.leaders[self.leader].rests() {
                    break;
                }
            }
            for at in 0..self.cluster.replicas.len() {
                if self.cluster.replicas[at].shows.is_none() {
                    self.cluster.restart(at);
                }
                self.cluster.observe(at, usize::MAX / 2);
                self.cluster.turn_ready(at);
                self.cluster.check()?;
            }
            self.cluster.pass(Duration::from_secs(3));
            self.cluster.check()?;
            if self.rests().is_ok() {
                return Ok(());
            }
        }
        self.rests()
    }

    fn rests(&mut self) -> Result<(), String> {
        match &self.leaders[self.leader].last {
            Some(Step::Wait(Wait::Idle { .. })) => self.cluster.check_end(),
            last => Err(format!("it never rests: {}", last.as_ref().map(Step::to_string).unwrap_or_default())),
        }
    }
}

fn names(more: bool) -> ServerNames {
    let domain = if more { "example.org" } else { "cluster.local" };
    ServerNames::of_service("otter", "zoo", domain).unwrap()
}

fn happens_to(cluster: &mut Cluster, event: &Event) {
    let (replicas, targets) = (cluster.replicas.len(), cluster.targets.len());
    match event {
        Event::Pass { seconds } => cluster.pass(Duration::from_secs(*seconds)),
        Event::YearsPass { days } => years_pass(cluster, *days),
        Event::AddReplica if replicas < 5 => cluster.add_replica(),
        Event::AddTarget if targets < 5 => cluster.add_target(),
        Event::Observe { replica, steps } if replicas > 0 => cluster.observe(replica % replicas, *steps),
        Event::Restart { replica } if replicas > 0 => cluster.restart(replica % replicas),
        Event::TurnReady { replica } if replicas > 0 => cluster.turn_ready(replica % replicas),
        Event::Drain { replica } if replicas > 0 => drain(cluster, replica % replicas),
        Event::RemoveReplica { replica } if replicas > 0 => drop(cluster.replicas.remove(replica % replicas)),
        Event::CutOff { replica, off } if replicas > 0 => cluster.replicas[replica % replicas].cut_off = *off,
        Event::RemoveTarget { target } if targets > 0 => drop(cluster.targets.remove(target % targets)),
        Event::Tamper { target, how } if targets > 0 => tamper(cluster, target % targets, *how),
        Event::DeleteCa => cluster.ca.put(None),
        Event::DeleteServing => cluster.write_serving(None),
        Event::DamageServing { field, garbage } => {
            if let Some(data) = cluster.serving.object.clone() {
                cluster.write_serving(Some(damaged(data, field, *garbage)));
            }
        }
        Event::DamageCa { field, garbage } => edit_ca(cluster, |secret| {
            secret.data = damaged(std::mem::take(&mut secret.data), field, *garbage);
        }),
        Event::Annotate { annotation, text } => annotate(cluster, annotation, text),
        Event::RotationRequest => annotate(cluster, REQUEST, "now"),
        Event::ReplaceCa { ca } => replace_ca(cluster, &OTHERS[ca % OTHERS.len()]),
        _ => {}
    }
}

/// As much time passes as leaves a month until anything that is needed ends.
fn years_pass(cluster: &mut Cluster, days: u64) {
    let day = Duration::from_hours(24);
    let limit = cluster.earliest_end().and_then(|end| (end - 30 * day).duration_since(cluster.now()).ok());
    let days = Duration::from_hours(24 * days);
    cluster.pass(limit.map_or(Duration::ZERO, |limit| limit.min(days)));
}

fn drain(cluster: &mut Cluster, at: usize) {
    let replica = &mut cluster.replicas[at];
    if replica.life == Life::Ready {
        replica.life = Life::Draining;
    }
}

fn tamper(cluster: &mut Cluster, at: usize, how: Tampering) {
    let rogue = ROGUE.certificate_pem().into_bytes();
    let carried = cluster.targets[at].stored.object.clone().unwrap_or_default();
    let bundle = match how {
        Tampering::Empty => Vec::new(),
        Tampering::Garbage => b"-----BEGIN CERTIFICATE-----\nAAAA".to_vec(),
        Tampering::Replace => rogue,
        Tampering::Add => [carried, rogue].concat(),
        Tampering::Restore => cluster.targets[at].carried_first.clone(),
    };
    cluster.tamper(at, bundle);
}

fn damaged(data: SecretData, field: &str, garbage: bool) -> SecretData {
    if garbage { data.with(field, "otters") } else { data.without(field) }
}

fn edit_ca(cluster: &mut Cluster, edit: impl FnOnce(&mut CaSecret)) {
    if let Some(mut secret) = cluster.ca.object.clone() {
        edit(&mut secret);
        cluster.ca.put(Some(secret));
    }
}

fn annotate(cluster: &mut Cluster, annotation: &str, text: &str) {
    edit_ca(cluster, |secret| drop(secret.annotations.insert(annotation.to_owned(), text.to_owned())));
}

/// Someone puts a CA of their own into the Secret; annotations stay.
fn replace_ca(cluster: &mut Cluster, other: &Ca) {
    let data = SecretData::default().with("tls.crt", other.certificate_pem()).with("tls.key", other.private_key_pem());
    let annotations = cluster.ca.object.clone().unwrap_or_default().annotations;
    cluster.ca.put(Some(CaSecret { data, annotations }));
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_no_injection_target_refuses_a_replica_and_all_ends_well(
        targets in 0..4_usize,
        replicas in 1..4_usize,
        settled_first in any::<bool>(),
        events in prop::collection::vec(events(), 0..120),
    ) {
        let mut world = World::new(targets, replicas);
        if settled_first {
            world.calms_down().map_err(TestCaseError::fail)?;
        }
        for event in &events {
            world.happens(event).map_err(|why| TestCaseError::fail(format!("{why} after {event:?}")))?;
        }
        world.calms_down().map_err(TestCaseError::fail)?;
    }
}
