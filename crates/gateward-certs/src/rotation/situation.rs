//! A view, read and judged: the questions that the decisions are made of.

use std::time::{Duration, SystemTime};

use super::kept::Kept;
use super::step::{AuthorityWrite, BundleWrite, LeafWrite, Signer, Step, Wait, Write};
use super::view::{Consumer, Mark, View};
use crate::authority::Authority;
use crate::bundle::{Anchor, Bundle};
use crate::secret::{LeafRules, LeafState, OLD_PLACE_OF_THE_AUTHORITYS_KEY};
use crate::validity::{CLOCK_SKEW, Validity};

/// How far this pod's clock may be from the API server's: a certificate is dated back by more than this, so what is made
/// here now is valid there now.
const AGREEMENT: Duration = Duration::from_secs(CLOCK_SKEW.as_secs() / 2);

pub(super) struct Situation<'a> {
    pub(super) view: &'a View<'a>,
    /// The present time, if this pod and the API server agree on it. Where they don't, dates are not judged and nothing
    /// is dated.
    pub(super) time: Option<SystemTime>,
    pub(super) now: SystemTime,
    pub(super) kept: Kept,
    pub(super) carriers: Vec<Carrier<'a>>,
}

/// A consumer and the bundle that it carries.
pub(super) struct Carrier<'a> {
    pub(super) consumer: &'a Consumer,
    pub(super) bundle: Bundle,
    flawed: bool,
}

impl Carrier<'_> {
    fn lacks(&self, wanted: &Bundle) -> bool {
        !self.bundle.contains_all(wanted)
    }

    fn write(&self, bundle: Bundle) -> BundleWrite {
        BundleWrite { consumer: self.consumer.id.clone(), bundle }
    }
}

impl<'a> Situation<'a> {
    pub(super) fn of(view: &'a View<'a>, now: SystemTime) -> Self {
        let time = agreed(now, view.api_server_time);
        let carriers = view.consumers.iter().map(|consumer| {
            let (bundle, flaws) = Bundle::salvage(&consumer.bundle);
            Carrier { consumer, bundle, flawed: !flaws.is_empty() }
        });
        Self { view, time, now, kept: Kept::read(view, time), carriers: carriers.collect() }
    }

    /// The server's Secret, measured by some authorities.
    pub(super) fn leaf(&self, trusted: &Bundle) -> LeafState {
        let wanted = self.view.wanted;
        let rules = LeafRules { secret: &wanted.leaf_secret, names: &wanted.names, trusted, now: self.time };
        LeafState::of(self.view.leaf.as_ref(), &rules)
    }

    /// All authorities that some consumer trusts and whose time is not over.
    pub(super) fn carried(&self) -> Bundle {
        let all: Bundle = self.carriers.iter().flat_map(|carrier| carrier.bundle.iter().cloned()).collect();
        self.current(&all)
    }

    /// Those whose time is not over.
    pub(super) fn current(&self, bundle: &Bundle) -> Bundle {
        self.time.map_or_else(|| bundle.clone(), |time| bundle.without_expired(time))
    }

    /// Authorities that may be in use, although the authority's Secret doesn't know them: some consumer trusts them, and
    /// they signed what is shown, or nothing is left that tells who did.
    pub(super) fn strangers_in_use(&self, known: &Bundle, leaf: &LeafState) -> Option<Bundle> {
        let strangers = self.carried().filtered(|anchor| !known.contains(anchor));
        if strangers.is_empty() {
            return None;
        }
        let mut served = self.view.replicas.iter().filter_map(|replica| replica.served.as_ref());
        let in_use = |shown| !known.vouches_for(shown) && strangers.vouches_for(shown);
        (!leaf.is_signed_by_ca() || served.any(in_use)).then_some(strangers)
    }

    /// A new server certificate, if the present one has a fault that time doesn't bring.
    pub(super) fn repaired_leaf(&self, leaf: &LeafState, signer: Signer) -> Option<Step> {
        let sound = matches!(leaf, LeafState::Complete(_) | LeafState::Expiring(_));
        (!sound && self.time.is_some()).then(|| issue(leaf, signer))
    }

    /// A new server certificate, if the present one is to be renewed and the next one would live longer.
    pub(super) fn renewed_leaf(&self, leaf: &LeafState, signer: Signer, authority: &Authority) -> Option<Step> {
        let LeafState::Expiring(pair) = leaf else { return None };
        let next = self.server_validity(authority)?;
        let gained =
            next.not_after() > pair.validity().not_after() && self.time.is_some_and(|now| next.renewal() > now);
        gained.then(|| issue(leaf, signer))
    }

    /// From when to when a server certificate is valid that the authority issues now.
    pub(super) fn server_validity(&self, authority: &Authority) -> Option<Validity> {
        let lifetime = self.view.wanted.lifetimes.server.duration();
        Validity::starting(self.time?, lifetime).ok()?.within(&authority.validity())
    }

    /// The authority's key is not left in the server's Secret.
    pub(super) fn without_old_key(&self) -> Option<Step> {
        let left = self.view.leaf.as_ref().is_some_and(|data| data.has(OLD_PLACE_OF_THE_AUTHORITYS_KEY));
        left.then_some(Step::Write(Write::Leaf(LeafWrite::DropOldKey)))
    }

    /// Bundles of consumers that carry something else than exactly these.
    ///
    /// Nothing is taken away while it isn't known what some replica shows.
    pub(super) fn bundles_exactly(&self, wanted: &Bundle) -> Option<Step> {
        let differs = |carrier: &Carrier<'_>| carrier.lacks(wanted) || carrier.bundle.len() != wanted.len();
        let others = self.carriers.iter().filter(|carrier| carrier.flawed || differs(carrier));
        let exact: Vec<_> = others.map(|carrier| carrier.write(wanted.clone())).collect();
        let silent = self.silent();
        if exact.is_empty() || silent.is_empty() {
            return bundles(exact);
        }
        self.bundles_at_least(wanted).or(Some(Step::Wait(Wait::Replicas { lagging: Vec::new(), silent })))
    }

    /// Bundles of consumers that lack one of these. What else they carry stays, as long as it is of use.
    pub(super) fn bundles_at_least(&self, wanted: &Bundle) -> Option<Step> {
        let lacking = self.carriers.iter().filter(|carrier| carrier.flawed || carrier.lacks(wanted));
        bundles(lacking.map(|carrier| carrier.write(self.current(&carrier.bundle).merged(wanted))).collect())
    }

    /// Whether every consumer that trusts anything trusts this authority.
    pub(super) fn is_known_everywhere(&self, anchor: &Anchor) -> bool {
        self.carriers.iter().all(|carrier| carrier.bundle.is_empty() || carrier.bundle.contains(anchor))
    }

    /// Waits until it is sure that every API server knows what the consumers carry.
    pub(super) fn consumers_settle(&self) -> Option<Step> {
        let mark = Mark::of_consumers(&self.view.consumers);
        self.settles(mark, "every consumer carries the old and the new authority")
    }

    /// Waits until every replica shows a certificate of this authority, and goes on doing so.
    pub(super) fn replicas_settle(&self, anchor: &Anchor) -> Option<Step> {
        let replicas = &self.view.replicas;
        let shows_another = |served: &Option<_>| served.as_ref().is_some_and(|served| !anchor.signed(served));
        let lagging = replicas.iter().filter(|replica| shows_another(&replica.served));
        let lagging: Vec<_> = lagging.map(|replica| replica.name.clone()).collect();
        let silent = self.silent();
        if !lagging.is_empty() || !silent.is_empty() {
            return Some(Step::Wait(Wait::Replicas { lagging, silent }));
        }
        if replicas.iter().all(|replica| replica.served.is_none()) {
            return Some(Step::Wait(Wait::NoReplica));
        }
        self.settles(Mark::of_replicas(replicas), "every replica shows a certificate of the new authority")
    }

    /// The replicas that get requests, but didn't answer us.
    fn silent(&self) -> Vec<String> {
        let silent = self.view.replicas.iter().filter(|replica| replica.gets_requests && replica.served.is_none());
        silent.map(|replica| replica.name.clone()).collect()
    }

    /// The wait for clocks that agree, where they don't.
    pub(super) fn clocks_agree(&self) -> Option<Step> {
        match (self.time, self.view.api_server_time) {
            (None, Some(theirs)) => Some(Step::Wait(Wait::ClocksDisagree { ours: self.now, theirs })),
            _ => None,
        }
    }

    fn settles(&self, mark: Mark, reached: &'static str) -> Option<Step> {
        let time = self.view.wanted.settle;
        (self.view.settled != Some(mark)).then_some(Step::Wait(Wait::Settling { mark, time, reached }))
    }
}

pub(super) fn authority(write: AuthorityWrite) -> Step {
    Step::Write(Write::Authority(write))
}

fn issue(leaf: &LeafState, signer: Signer) -> Step {
    Step::Write(Write::Leaf(LeafWrite::Issue { signer, because: leaf.to_string() }))
}

fn bundles(writes: Vec<BundleWrite>) -> Option<Step> {
    (!writes.is_empty()).then_some(Step::Write(Write::Bundles(writes)))
}

/// The API server's time where it is known, since it is the one that checks certificates.
fn agreed(ours: SystemTime, theirs: Option<SystemTime>) -> Option<SystemTime> {
    let Some(theirs) = theirs else { return Some(ours) };
    let apart = ours.duration_since(theirs).unwrap_or_else(|ahead| ahead.duration());
    (apart <= AGREEMENT).then_some(theirs)
}
