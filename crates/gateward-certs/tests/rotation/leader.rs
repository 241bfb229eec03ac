//! A leader that looks, decides and writes in small actions, so that anything can happen between two of them.

use std::time::{Duration, SystemTime};

use gateward_certs::SystemKeys;
use gateward_certs::rotation::{
    CaBundleWrite, CaSecret, CertificateSpec, Change, InjectionTarget, ObservedState, Replica, SecretChange, StateHash,
    Step, Wait, next_step,
};
use gateward_certs::secret::SecretData;

use crate::cluster::Cluster;

#[derive(Debug, Default)]
pub struct Leader {
    doing: Doing,
    settled: Option<StateHash>,
    settling: Option<StateHash>,
    asleep_until: Duration,
    /// How far its clock is from the true one, in seconds.
    pub clock_off: i64,
    /// What it decided last.
    pub last: Option<Step>,
}

#[derive(Debug, Default)]
enum Doing {
    #[default]
    Nothing,
    Reading(ReadState),
    Writing(Vec<VersionedWrite>),
}

#[derive(Debug, Default)]
struct ReadState {
    ca_version: u64,
    replicas: Option<Vec<Replica>>,
    targets: Option<(Vec<InjectionTarget>, Vec<u64>)>,
    serving: Option<(Option<SecretData>, u64)>,
}

/// A write with the version of the object that it was decided on.
#[derive(Debug)]
enum VersionedWrite {
    Ca(SecretChange, u64),
    Serving(SecretChange, u64),
    CaBundle(CaBundleWrite, u64),
}

impl Leader {
    /// The next small action. One that has lost the lease ends what it is at, and creates nothing.
    pub fn act(&mut self, cluster: &mut Cluster, spec: &CertificateSpec, leads: bool) {
        match std::mem::take(&mut self.doing) {
            Doing::Nothing => self.begin(cluster, leads),
            Doing::Reading(look) => self.look(look, cluster, spec),
            Doing::Writing(mut writes) => {
                if let Some(write) = writes.pop() {
                    apply(write, cluster, leads);
                    self.doing = Doing::Writing(writes);
                }
            }
        }
    }

    /// It loses all that it knows.
    pub fn crash(&mut self) {
        *self = Self { clock_off: self.clock_off, ..Self::default() };
    }

    pub fn rests(&self) -> bool {
        matches!(self.doing, Doing::Nothing)
    }

    /// Whether it has read the injection targets and not yet ended what it does about it.
    pub fn relies_on_targets(&self) -> bool {
        match &self.doing {
            Doing::Nothing => false,
            Doing::Reading(look) => look.targets.is_some(),
            Doing::Writing(_) => true,
        }
    }

    /// By its own clock.
    pub fn now(&self, cluster: &Cluster) -> SystemTime {
        let off = Duration::from_secs(self.clock_off.unsigned_abs());
        if self.clock_off < 0 { cluster.now() - off } else { cluster.now() + off }
    }

    fn begin(&mut self, cluster: &Cluster, leads: bool) {
        if !leads || cluster.elapsed < self.asleep_until {
            return;
        }
        self.settled = self.settling.take().or(self.settled);
        self.doing = Doing::Reading(ReadState { ca_version: cluster.ca.version, ..ReadState::default() });
    }

    fn look(&mut self, mut look: ReadState, cluster: &Cluster, spec: &CertificateSpec) {
        if look.replicas.is_none() {
            look.replicas = Some(cluster.dial_replicas());
        } else if look.targets.is_none() {
            let versions = cluster.targets.iter().map(|target| target.stored.version).collect();
            look.targets = Some((cluster.read_targets(), versions));
        } else if look.serving.is_none() {
            look.serving = Some((cluster.serving.object.clone(), cluster.serving.version));
        } else {
            if look.ca_version == cluster.ca.version {
                self.decide(look, cluster, spec);
            }
            return;
        }
        self.doing = Doing::Reading(look);
    }

    fn decide(&mut self, look: ReadState, cluster: &Cluster, spec: &CertificateSpec) {
        let ca: Option<CaSecret> = cluster.ca.object.clone();
        let (targets, versions) = look.targets.unwrap();
        let (serving, serving_version) = look.serving.unwrap();
        let observed = ObservedState {
            ca_secret: ca,
            serving_secret: serving,
            targets,
            replicas: look.replicas.unwrap(),
            api_server_time: Some(cluster.now()),
            settled: self.settled,
            ..ObservedState::empty(spec)
        };
        let now = self.now(cluster);
        let step = next_step(&observed, now);
        match &step {
            Step::Wait(wait) => self.wait(wait, cluster),
            Step::Write(write) => {
                let writes = match write.contents(&observed, now, &SystemKeys).unwrap() {
                    Change::CaSecret(change) => vec![VersionedWrite::Ca(change, look.ca_version)],
                    Change::ServingSecret(change) => vec![VersionedWrite::Serving(change, serving_version)],
                    Change::CaBundles(writes) => {
                        let version = |write: &CaBundleWrite| {
                            observed.targets.iter().position(|target| target.id == write.target).unwrap()
                        };
                        writes
                            .into_iter()
                            .map(|it| VersionedWrite::CaBundle(it.clone(), versions[version(&it)]))
                            .collect()
                    }
                };
                self.doing = Doing::Writing(writes);
            }
        }
        self.last = Some(step);
    }

    fn wait(&mut self, wait: &Wait, cluster: &Cluster) {
        if let Wait::Settling { hash, time, .. } = wait {
            self.settling = Some(*hash);
            self.asleep_until = cluster.elapsed + *time;
        }
    }
}

fn apply(write: VersionedWrite, cluster: &mut Cluster, leads: bool) {
    match write {
        VersionedWrite::Ca(change, version) => {
            let allowed = leads || cluster.ca.object.is_some();
            if allowed && cluster.ca.version == version {
                cluster.change_ca(change);
            }
        }
        VersionedWrite::Serving(change, version) => {
            let allowed = leads || cluster.serving.object.is_some();
            if allowed && cluster.serving.version == version {
                cluster.change_serving(change);
            }
        }
        VersionedWrite::CaBundle(write, version) => {
            let found = cluster.targets.iter().find(|target| target.id == write.target);
            if found.is_some_and(|target| target.stored.version == version) {
                cluster.write_bundle(&write);
            }
        }
    }
}
