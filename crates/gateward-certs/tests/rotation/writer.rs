//! A writer that looks, decides and writes in small actions, so that anything can happen between two of them.

use std::time::{Duration, SystemTime};

use gateward_certs::SystemKeys;
use gateward_certs::rotation::{
    AuthoritySecret, BundleWrite, Change, Consumer, Mark, Replica, SecretChange, Step, View, Wait, Wanted, next_step,
};
use gateward_certs::secret::SecretData;

use crate::cluster::Cluster;

#[derive(Debug, Default)]
pub struct Writer {
    doing: Doing,
    settled: Option<Mark>,
    settling: Option<Mark>,
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
    Looking(Look),
    Writing(Vec<Guarded>),
}

#[derive(Debug, Default)]
struct Look {
    authority_version: u64,
    replicas: Option<Vec<Replica>>,
    consumers: Option<(Vec<Consumer>, Vec<u64>)>,
    leaf: Option<(Option<SecretData>, u64)>,
}

/// A write with the version of the object that it was decided on.
#[derive(Debug)]
enum Guarded {
    Authority(SecretChange, u64),
    Leaf(SecretChange, u64),
    Bundle(BundleWrite, u64),
}

impl Writer {
    /// The next small action. One that has lost the lease ends what it is at, and creates nothing.
    pub fn act(&mut self, cluster: &mut Cluster, wanted: &Wanted, leads: bool) {
        match std::mem::take(&mut self.doing) {
            Doing::Nothing => self.begin(cluster, leads),
            Doing::Looking(look) => self.look(look, cluster, wanted),
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

    /// Whether it has read the consumers and not yet ended what it does about it.
    pub fn relies_on_consumers(&self) -> bool {
        match &self.doing {
            Doing::Nothing => false,
            Doing::Looking(look) => look.consumers.is_some(),
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
        self.doing = Doing::Looking(Look { authority_version: cluster.authority.version, ..Look::default() });
    }

    fn look(&mut self, mut look: Look, cluster: &Cluster, wanted: &Wanted) {
        if look.replicas.is_none() {
            look.replicas = Some(cluster.dial_replicas());
        } else if look.consumers.is_none() {
            let versions = cluster.consumers.iter().map(|consumer| consumer.stored.version).collect();
            look.consumers = Some((cluster.read_consumers(), versions));
        } else if look.leaf.is_none() {
            look.leaf = Some((cluster.leaf.object.clone(), cluster.leaf.version));
        } else {
            if look.authority_version == cluster.authority.version {
                self.decide(look, cluster, wanted);
            }
            return;
        }
        self.doing = Doing::Looking(look);
    }

    fn decide(&mut self, look: Look, cluster: &Cluster, wanted: &Wanted) {
        let authority: Option<AuthoritySecret> = cluster.authority.object.clone();
        let (consumers, versions) = look.consumers.unwrap();
        let (leaf, leaf_version) = look.leaf.unwrap();
        let view = View {
            authority,
            leaf,
            consumers,
            replicas: look.replicas.unwrap(),
            api_server_time: Some(cluster.now()),
            settled: self.settled,
            ..View::empty(wanted)
        };
        let now = self.now(cluster);
        let step = next_step(&view, now);
        match &step {
            Step::Wait(wait) => self.wait(wait, cluster),
            Step::Write(write) => {
                let writes = match write.contents(&view, now, &SystemKeys).unwrap() {
                    Change::AuthoritySecret(change) => vec![Guarded::Authority(change, look.authority_version)],
                    Change::LeafSecret(change) => vec![Guarded::Leaf(change, leaf_version)],
                    Change::Bundles(writes) => {
                        let version = |write: &BundleWrite| {
                            view.consumers.iter().position(|consumer| consumer.id == write.consumer).unwrap()
                        };
                        writes.into_iter().map(|it| Guarded::Bundle(it.clone(), versions[version(&it)])).collect()
                    }
                };
                self.doing = Doing::Writing(writes);
            }
        }
        self.last = Some(step);
    }

    fn wait(&mut self, wait: &Wait, cluster: &Cluster) {
        if let Wait::Settling { mark, time, .. } = wait {
            self.settling = Some(*mark);
            self.asleep_until = cluster.elapsed + *time;
        }
    }
}

fn apply(write: Guarded, cluster: &mut Cluster, leads: bool) {
    match write {
        Guarded::Authority(change, version) => {
            let allowed = leads || cluster.authority.object.is_some();
            if allowed && cluster.authority.version == version {
                cluster.change_authority(change);
            }
        }
        Guarded::Leaf(change, version) => {
            let allowed = leads || cluster.leaf.object.is_some();
            if allowed && cluster.leaf.version == version {
                cluster.change_leaf(change);
            }
        }
        Guarded::Bundle(write, version) => {
            let found = cluster.consumers.iter().find(|consumer| consumer.id == write.consumer);
            if found.is_some_and(|consumer| consumer.stored.version == version) {
                cluster.write_bundle(&write);
            }
        }
    }
}
