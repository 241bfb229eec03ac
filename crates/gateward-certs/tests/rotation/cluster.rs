//! A cluster in memory: Secrets with versions, injection targets, replicas whose watches lag, API servers that observe
//! late.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::{Duration, SystemTime};

use gateward_certs::rotation::{
    CaBundleWrite, CaSecret, CertificateSpec, InjectionTarget, InjectionTargetId, Replica, RotationAnnotations,
    RotationRequest, SecretChange,
};
use gateward_certs::secret::{SecretData, ServingCertificate};
use gateward_certs::{Ca, CaBundle, CommonName, Fingerprint, Lifetimes, ServerNames, SystemKeys, TEN_YEARS, Validity};
use rustls_pki_types::CertificateDer;

/// The annotations of [`spec`]'s Secret.
pub const PROGRESS: &str = "otter.example.org/ca-rotation";
pub const REQUEST: &str = "otter.example.org/rotate-ca";

/// Within this time every API server has observed a bundle. It is shorter than what a leader waits.
pub const API_SERVER_LAG: Duration = Duration::from_secs(4);

pub fn start() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
}

pub fn spec() -> CertificateSpec {
    CertificateSpec {
        serving_secret: "zoo/otter".to_owned(),
        ca_secret: "zoo/otter-ca".to_owned(),
        annotations: RotationAnnotations::of("otter.example.org"),
        names: ServerNames::of_service("otter", "zoo", "cluster.local").unwrap(),
        ca_name: CommonName::new("otter webhooks").unwrap(),
        lifetimes: Lifetimes::default(),
        settle: CertificateSpec::SETTLE,
    }
}

pub fn ca() -> Ca {
    let validity = Validity::starting(start(), TEN_YEARS).unwrap();
    Ca::new(&CommonName::new("otter webhooks").unwrap(), validity, &SystemKeys).unwrap()
}

/// An object with the version of its last change; deleting it is a change.
#[derive(Debug, Default, Clone)]
pub struct Stored<T> {
    pub version: u64,
    pub object: Option<T>,
}

impl<T> Stored<T> {
    pub fn put(&mut self, object: Option<T>) {
        self.version += 1;
        self.object = object;
    }
}

#[derive(Debug)]
pub struct SimTarget {
    pub id: InjectionTargetId,
    pub uid: u64,
    pub stored: Stored<Vec<u8>>,
    /// The first bundle that was written to it since it trusts the replicas.
    pub carried_first: Vec<u8>,
    /// What the API server calls with.
    pub seen: Vec<u8>,
    /// What it will observe, and when.
    news: VecDeque<(Duration, Vec<u8>)>,
    /// It has trusted every replica, and what they are about to show, since it was made or tampered with: from then
    /// on it may not fail.
    pub brought_in: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Starting,
    Ready,
    Draining,
}

#[derive(Debug)]
pub struct SimReplica {
    pub name: String,
    pub life: Life,
    pub shows: Option<CertificateDer<'static>>,
    /// The version of the serving Secret that its watch has delivered.
    pub observed: usize,
    /// The network between it and the leaders is down.
    pub cut_off: bool,
}

impl SimReplica {
    fn serves(&self) -> bool {
        self.life != Life::Starting && self.shows.is_some()
    }
}

#[derive(Debug)]
pub struct Cluster {
    /// True time since the start: the API server's clock.
    pub elapsed: Duration,
    pub ca: Stored<CaSecret>,
    pub serving: Stored<SecretData>,
    /// Every state of the serving Secret, for watches.
    serving_history: Vec<Option<SecretData>>,
    pub targets: Vec<SimTarget>,
    pub replicas: Vec<SimReplica>,
    next_name: u64,
    verdicts: HashMap<(Fingerprint, Fingerprint), bool>,
}

impl Cluster {
    pub fn new(targets: usize, replicas: usize) -> Self {
        let mut cluster = Self {
            elapsed: Duration::ZERO,
            ca: Stored::default(),
            serving: Stored::default(),
            serving_history: vec![None],
            targets: Vec::new(),
            replicas: Vec::new(),
            next_name: 0,
            verdicts: HashMap::new(),
        };
        (0..targets).for_each(|_| cluster.add_target());
        (0..replicas).for_each(|_| cluster.add_replica());
        cluster
    }

    pub fn now(&self) -> SystemTime {
        start() + self.elapsed
    }

    fn fresh(&mut self) -> u64 {
        self.next_name += 1;
        self.next_name
    }

    pub fn add_target(&mut self) {
        let uid = self.fresh();
        let id = InjectionTargetId { object: "validating".to_owned(), entry: format!("entry-{uid}") };
        let stored = Stored { version: 1, object: Some(Vec::new()) };
        let (seen, news) = (Vec::new(), VecDeque::new());
        let carried_first = Vec::new();
        self.targets.push(SimTarget { id, uid, stored, carried_first, seen, news, brought_in: false });
    }

    pub fn add_replica(&mut self) {
        let name = format!("otter-{}", self.fresh());
        let replica = SimReplica { name, life: Life::Starting, shows: None, observed: 0, cut_off: false };
        self.replicas.push(replica);
        self.restart(self.replicas.len() - 1);
    }

    /// A replica starts: it reads the Secret as it is.
    pub fn restart(&mut self, at: usize) {
        let newest = self.serving_history.len() - 1;
        let shows = self.serving_history[newest].as_ref().and_then(certificate);
        let replica = &mut self.replicas[at];
        *replica =
            SimReplica { life: Life::Starting, shows, observed: newest, cut_off: false, name: replica.name.clone() };
    }

    /// A replica turns ready if what it shows verifies against what the injection targets carry, and have carried for
    /// as long as API servers need to observe it.
    pub fn turn_ready(&mut self, at: usize) {
        let Some(shown) = self.replicas[at].shows.clone() else { return };
        let carried = |target: &SimTarget| {
            let written = target.stored.object.clone().filter(|bundle| !bundle.is_empty())?;
            Some([written, target.seen.clone()])
        };
        let bundles: Vec<_> = self.targets.iter().filter_map(carried).flatten().collect();
        let mut carrying = bundles.iter().filter(|bundle| !bundle.is_empty());
        let now = self.now();
        if self.replicas[at].life == Life::Starting && carrying.all(|bundle| self.trusts(bundle, &shown, now)) {
            self.replicas[at].life = Life::Ready;
        }
    }

    /// A replica's watch delivers a later state of the Secret. An unusable one is ignored.
    pub fn observe(&mut self, at: usize, steps: usize) {
        let newest = self.serving_history.len() - 1;
        let replica = &mut self.replicas[at];
        replica.observed = (replica.observed + steps).min(newest);
        if let Some(shown) = self.serving_history[replica.observed].as_ref().and_then(certificate) {
            replica.shows = Some(shown);
        }
    }

    pub fn pass(&mut self, time: Duration) {
        self.elapsed += time;
        for target in &mut self.targets {
            while target.news.front().is_some_and(|(due, _)| *due <= self.elapsed) {
                target.seen = target.news.pop_front().unwrap().1;
            }
        }
    }

    pub fn write_serving(&mut self, data: Option<SecretData>) {
        self.serving_history.push(data.clone());
        self.serving.put(data);
    }

    pub fn change_serving(&mut self, change: SecretChange) {
        self.write_serving(Some(change.data));
    }

    pub fn change_ca(&mut self, change: SecretChange) {
        let before = self.ca.object.take().unwrap_or_default();
        self.ca.put(Some(changed(before, change)));
    }

    pub fn write_bundle(&mut self, write: &CaBundleWrite) {
        let at = self.targets.iter().position(|target| target.id == write.target).unwrap();
        self.set_bundle(at, write.bundle.to_pem().into_bytes());
    }

    pub fn set_bundle(&mut self, at: usize, bundle: Vec<u8>) {
        let due = self.elapsed + API_SERVER_LAG;
        let target = &mut self.targets[at];
        target.stored.put(Some(bundle.clone()));
        target.news.push_back((due, bundle));
    }

    /// Someone else writes the bundle, and API servers observe it at once.
    pub fn tamper(&mut self, at: usize, bundle: Vec<u8>) {
        self.set_bundle(at, bundle.clone());
        let target = &mut self.targets[at];
        (target.seen, target.brought_in) = (bundle, false);
        target.news.clear();
    }

    pub fn read_targets(&self) -> Vec<InjectionTarget> {
        let read = |target: &SimTarget| InjectionTarget {
            id: target.id.clone(),
            revision: format!("{} {}", target.uid, target.stored.version),
            bundle: target.stored.object.clone().unwrap_or_default(),
        };
        self.targets.iter().map(read).collect()
    }

    pub fn dial_replicas(&self) -> Vec<Replica> {
        let dial = |replica: &SimReplica| Replica {
            name: replica.name.clone(),
            gets_requests: replica.life != Life::Starting,
            served: replica.shows.clone().filter(|_| !replica.cut_off),
            intermediates: Vec::new(),
        };
        self.replicas.iter().map(dial).collect()
    }

    /// The invariant: each injection target trusts what each replica serves, at every moment.
    pub fn check(&mut self) -> Result<(), String> {
        let shown: Vec<_> = self.replicas.iter().filter(|replica| replica.serves()).collect();
        let shown: Vec<_> = shown.iter().map(|it| (it.name.clone(), it.shows.clone().unwrap())).collect();
        let on_the_way = self.on_the_way();
        let now = self.now();
        for at in 0..self.targets.len() {
            let seen = self.targets[at].seen.clone();
            let refused = shown.iter().find(|(_, shown)| !self.trusts(&seen, shown, now));
            if let (Some((name, _)), true) = (refused, self.targets[at].brought_in) {
                return Err(format!("{} refuses what {name} shows", self.targets[at].id));
            }
            let brought_in = refused.is_none() && on_the_way.iter().all(|shown| self.trusts(&seen, shown, now));
            if brought_in && !shown.is_empty() && !self.targets[at].brought_in {
                (self.targets[at].brought_in, self.targets[at].carried_first) = (true, seen);
            }
        }
        Ok(())
    }

    /// What is in the serving Secret, or was, and what some replica has yet to observe.
    fn on_the_way(&self) -> Vec<CertificateDer<'static>> {
        let newest = self.serving_history.len() - 1;
        let oldest = self.replicas.iter().map(|replica| replica.observed).min().unwrap_or(newest);
        self.serving_history[oldest..].iter().flatten().filter_map(certificate).collect()
    }

    /// Whether everything is as it is to be in the end.
    pub fn check_end(&mut self) -> Result<(), String> {
        let secret = self.ca.object.as_ref().ok_or("there is no CA")?;
        let fields: Vec<_> = secret.data.iter().map(|(field, _)| field).collect();
        let only = secret.data.field("tls.crt").ok_or("there is no CA")?.to_vec();
        let left = |(name, text): (&String, &String)| name != REQUEST || text.parse::<RotationRequest>().is_ok();
        if fields != ["tls.crt", "tls.key"] || secret.annotations.iter().any(left) {
            return Err(format!("left over in the Secret of the CA: {secret:?}"));
        }
        let serving = self.serving.object.clone().ok_or("there is no server certificate")?;
        if serving.has("ca.key") {
            return Err("the key of the CA is still in the old place".to_owned());
        }
        let serving = certificate(&serving).ok_or("the server certificate is unusable")?;
        for replica in &self.replicas {
            if replica.shows.as_ref() != Some(&serving) {
                return Err(format!("{} shows another certificate", replica.name));
            }
        }
        let now = self.now();
        for at in 0..self.targets.len() {
            let target = &self.targets[at];
            if CaBundle::parse(&target.seen) != CaBundle::parse(&only) || !target.brought_in {
                return Err(format!("{} doesn't have the CA and nothing else", target.id));
            }
        }
        if self.trusts(&only, &serving, now) {
            Ok(())
        } else {
            Err("the CA does not verify the serving certificate".to_owned())
        }
    }

    /// The earliest end of whatever is needed now, so that time can pass without an accident.
    pub fn earliest_end(&self) -> Option<SystemTime> {
        let mut needed: Vec<_> = self.replicas.iter().filter_map(|it| it.shows.clone()).collect();
        needed.extend(self.serving.object.as_ref().and_then(certificate));
        let ends = needed.iter().filter_map(|it| Validity::of(it).ok()).map(|validity| validity.not_after());
        let bundles = self.targets.iter().map(|target| CaBundle::parse_lossy(&target.seen).0);
        let trusted = bundles.flat_map(|bundle| bundle.iter().map(|it| it.validity().not_after()).collect::<Vec<_>>());
        ends.chain(trusted).min()
    }

    fn trusts(&mut self, bundle: &[u8], shown: &CertificateDer<'static>, now: SystemTime) -> bool {
        let valid = |validity: Validity| validity.contains(now);
        let shown_now = Validity::of(shown).is_ok_and(valid);
        let serving = Fingerprint::of(shown);
        shown_now
            && CaBundle::parse_lossy(bundle).0.iter().any(|anchor| {
                let verdict =
                    self.verdicts.entry((anchor.fingerprint(), serving)).or_insert_with(|| anchor.signed(shown));
                *verdict && valid(anchor.validity())
            })
    }
}

pub fn changed(before: CaSecret, change: SecretChange) -> CaSecret {
    let mut annotations: BTreeMap<_, _> = before.annotations;
    for (annotation, value) in change.annotations {
        match value {
            Some(value) => annotations.insert(annotation, value),
            None => annotations.remove(&annotation),
        };
    }
    CaSecret { data: change.data, annotations }
}

fn certificate(data: &SecretData) -> Option<CertificateDer<'static>> {
    ServingCertificate::read(data, "zoo/otter").ok().map(|certificate| certificate.end_entity().clone())
}
