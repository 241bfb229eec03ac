//! API server, processes and clocks around the code that decides. Times are in milliseconds of the clock of who measures.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gateward_core::{Operation, Review, ReviewSubject};
use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;
use k8s_openapi::jiff::{SignedDuration, Timestamp};

use crate::config::{ClaimedNamespaces, NamespaceLeaseTimes};
use crate::namespace_lease::claims::{Claims, ObservedWebhook, ObservedWebhooks};
use crate::namespace_lease::exclusion::{ExcludedClaims, OwnConfiguration, OwnWebhook, marker};
use crate::namespace_lease::holder::{Holder, Role, Step, Successor, next_step};
use crate::namespace_lease::presence::PresentConfigurations;
use crate::namespace_lease::record::{LeaseVersion, NamespaceLease, ObservedLease};
use crate::namespace_lease::webhook::{ClaimingWebhook, ConfigurationVersion, Versions, WebhookRule};

/// A step of the world.
pub(super) const TICK: u16 = 5_000;
const SETTLE: u16 = 5_000;
/// Longer than anything is measured.
const LONG: u16 = 45_000;
/// The most steps that are counted.
const COUNTED: u8 = 20;

#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) holders: Holders,
    pub(super) exclusion: Exclusion,
    pub(super) presence: Presence,
    pub(super) clocks: Clocks,
    /// How many events there are in a course.
    pub(super) events: u8,
}

/// What the two holders are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holders {
    /// Operators of two releases, each with a webhook configuration of its own.
    Releases,
    /// Two replicas of one.
    Replicas,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusion {
    On,
    Off,
}

/// Whether a replica of the cluster-wide operator asks for the webhooks before it passes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Asked,
    /// It goes by what it has seen: not what ships, but what the exploration has to find fault with.
    TakenForGranted,
}

/// What each clock measures in a step of the world, and by how many seconds those of two holders differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clocks {
    pub(super) holders: [u16; 2],
    pub(super) watchers: [u16; 2],
    pub(super) skew: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    Nothing,
    Crash(usize),
    /// A clean end.
    Stop(usize),
    Start(usize),
    Cut(usize),
    Heal(usize),
    RemoveWebhook(usize),
    AddWebhook(usize),
    CrashWatcher(usize),
    StartWatcher(usize),
    CutWatcher(usize),
    HealWatcher(usize),
}

/// An event, whoever it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Cause {
    Nothing,
    Crash,
    Stop,
    Start,
    Cut,
    Heal,
    RemoveWebhook,
    AddWebhook,
    CrashWatcher,
    StartWatcher,
    CutWatcher,
    HealWatcher,
}

impl Cause {
    fn of(event: Event) -> Self {
        match event {
            Event::Nothing => Self::Nothing,
            Event::Crash(_) => Self::Crash,
            Event::Stop(_) => Self::Stop,
            Event::Start(_) => Self::Start,
            Event::Cut(_) => Self::Cut,
            Event::Heal(_) => Self::Heal,
            Event::RemoveWebhook(_) => Self::RemoveWebhook,
            Event::AddWebhook(_) => Self::AddWebhook,
            Event::CrashWatcher(_) => Self::CrashWatcher,
            Event::StartWatcher(_) => Self::StartWatcher,
            Event::CutWatcher(_) => Self::CutWatcher,
            Event::HealWatcher(_) => Self::HealWatcher,
        }
    }
}

/// All that matters for what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cluster {
    /// Who holds the lease; `None` where there is none.
    lease: Option<u8>,
    holders: [HolderProcess; 2],
    pub(super) watchers: [WatcherProcess; 2],
    /// Whether the webhook configurations of the two are there.
    webhooks: [bool; 2],
    /// Whether the cluster-wide configuration leaves the namespace out.
    pub(super) excluded: bool,
    events_left: u8,
    /// What happened last.
    pub(super) cause: Cause,
    /// For how many steps nothing has happened.
    pub(super) quiet_for: u8,
    /// For how many steps something could have been stored that nobody has judged.
    pub(super) unjudged_for: u8,
    /// For how many steps both have judged since something happened.
    pub(super) both_for: u8,
    /// For how many steps a replica of the cluster-wide operator has been in touch with the API server.
    pub(super) in_touch_for: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct HolderProcess {
    alive: bool,
    connected: bool,
    seen: Option<SeenLease>,
    /// The time until it looks again.
    wait: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct WatcherProcess {
    pub(super) alive: bool,
    pub(super) connected: bool,
    seen: Option<SeenLease>,
    /// For how long it has seen each webhook.
    webhooks: [Option<u16>; 2],
}

/// A lease as somebody has seen it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct SeenLease {
    holder: u8,
    /// Whether it has not been renewed since.
    is_current: bool,
    age: u16,
}

/// What a watcher has seen: the lease, and for how long each webhook.
type WatcherView = (Option<SeenLease>, [Option<u16>; 2]);

/// Which webhooks a read shows; `None` where it isn't answered.
type Answer = Option<[bool; 2]>;

/// The code that ships, asked once for each thing that it can see.
pub(super) struct Rules {
    base: Instant,
    settings: Settings,
    passes: HashMap<(WatcherView, Answer), bool>,
    left_out: HashMap<WatcherView, bool>,
    steps: HashMap<(usize, Option<SeenLease>, RoleKey), Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RoleKey {
    Leading,
    Following,
    Leaving(Option<u8>),
}

impl Rules {
    pub(super) fn new(settings: &Settings) -> Self {
        let base = Instant::now() + Duration::from_hours(1);
        Self { base, settings: *settings, passes: HashMap::new(), left_out: HashMap::new(), steps: HashMap::new() }
    }

    fn holder(&self, index: usize) -> Holder {
        let release = match self.settings.holders {
            Holders::Releases => format!("release-{index}"),
            Holders::Replicas => "release".to_owned(),
        };
        Holder { release, pod: format!("pod-{index}") }
    }

    fn lease(&self, holder: u8, renewed: i64) -> NamespaceLease {
        NamespaceLease {
            namespace: "team-a".into(),
            name: "lock".into(),
            holder: Some(self.holder(holder.into()).to_string()),
            duration: Some(Duration::from_secs(30)),
            renewed: Timestamp::UNIX_EPOCH.checked_add(SignedDuration::from_secs(renewed)).ok(),
            version: LeaseVersion { uid: "u".into(), resource_version: "7".into() },
        }
    }

    /// So many milliseconds before the present, which is an hour after the start.
    fn ago(&self, milliseconds: u16) -> Instant {
        self.base.checked_sub(Duration::from_millis(milliseconds.into())).unwrap()
    }

    fn observed(&self, seen: SeenLease) -> ObservedLease {
        let since = self.ago(seen.age);
        ObservedLease { lease: self.lease(seen.holder, 1_000), since }
    }

    /// What somebody sees who looks at the lease.
    fn look(&self, before: Option<SeenLease>, lease: Option<u8>) -> Option<SeenLease> {
        let holder = lease?;
        // The next renewal, by a clock that may be behind.
        let renewed =
            if before.is_some_and(|seen| seen.is_current) { 1_000 } else { 1_010 + self.settings.clocks.skew };
        let earlier = before.map(|seen| self.observed(seen));
        let seen = ObservedLease::after(earlier.as_ref(), self.lease(holder, renewed), self.base);
        let age = u16::try_from((self.base - seen.since).as_millis()).unwrap_or(LONG).min(LONG);
        Some(SeenLease { holder, is_current: true, age })
    }

    /// Whether a watcher passes the namespace, given the answer to its question for the webhooks.
    fn passes(&mut self, view: WatcherView, answer: Answer) -> bool {
        if let Some(known) = self.passes.get(&(view, answer)) {
            return *known;
        }
        let present = answer.into_iter().flat_map(|present| (0..2).filter(move |index| present[*index]));
        let present: PresentConfigurations = present.map(version).collect();
        let passes = self.claims(view).behind(&SUBJECT, self.base).any(|webhook| present.has(webhook));
        self.passes.insert((view, answer), passes);
        passes
    }

    /// Whether a watcher would leave the namespace out.
    fn leaves_out(&mut self, view: WatcherView) -> bool {
        if let Some(known) = self.left_out.get(&view) {
            return *known;
        }
        let leaves_out = leaves_out(&self.claims(view));
        self.left_out.insert(view, leaves_out);
        leaves_out
    }

    fn claims(&self, (seen, webhooks): WatcherView) -> Claims {
        let leases: Vec<ObservedLease> = seen.map(|seen| self.observed(seen)).into_iter().collect();
        let observed = webhooks.into_iter().enumerate().filter_map(|(index, age)| {
            let since = self.ago(age?);
            Some(ObservedWebhook { webhook: std::sync::Arc::new(webhook(index)), since })
        });
        let observed: ObservedWebhooks = observed.collect();
        Claims::of(&leases, &observed, Duration::from_millis(SETTLE.into()), self.base)
    }

    fn step(&mut self, index: usize, seen: Option<SeenLease>, role: RoleKey) -> Step {
        if let Some(known) = self.steps.get(&(index, seen, role)) {
            return known.clone();
        }
        let observed = seen.map(|seen| self.observed(seen));
        let as_role = match role {
            RoleKey::Leading => Role::Leading,
            RoleKey::Following => Role::Following,
            RoleKey::Leaving(None) => Role::Leaving(Successor::None),
            RoleKey::Leaving(Some(other)) => Role::Leaving(Successor::Replica(format!("pod-{other}"))),
        };
        let times = NamespaceLeaseTimes::default();
        let step = next_step(observed.as_ref(), &self.holder(index), &as_role, &times, self.base);
        self.steps.insert((index, seen, role), step.clone());
        step
    }
}

const SUBJECT: ReviewSubject<'static> = ReviewSubject {
    namespace: "team-a",
    group: "zoo.org",
    resource: "otters",
    version: "v1",
    versions: &["v1"],
    operation: Some(Operation::Create),
    review: Review::Validate,
};

fn rule() -> RuleWithOperations {
    let words = |word: &str| Some(vec![word.to_owned()]);
    RuleWithOperations {
        api_groups: words("zoo.org"),
        api_versions: words("v1"),
        operations: words("CREATE"),
        resources: words("otters"),
        scope: None,
    }
}

fn version(index: usize) -> ConfigurationVersion {
    ConfigurationVersion { uid: format!("u-{index}"), resource_version: "7".into() }
}

fn webhook(index: usize) -> ClaimingWebhook {
    ClaimingWebhook {
        review: Review::Validate,
        configuration: format!("release-{index}"),
        version: version(index),
        entry: "otters.zoo.org".into(),
        namespaces: vec!["team-a".into()],
        rules: vec![WebhookRule { rule: rule(), versions: Versions::Equivalent }],
    }
}

/// Whether the selector expression names the namespace.
fn leaves_out(claims: &Claims) -> bool {
    let selector = k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector::default();
    let webhooks = vec![OwnWebhook { name: "otters.lake.org".into(), rules: vec![rule()], selector }];
    let (name, resource_version) = ("lake".to_owned(), "7".to_owned());
    let own = OwnConfiguration { review: Review::Validate, name, resource_version, webhooks };
    let marker = &marker("otter.zoo.org");
    let patch = own.patch(&ExcludedClaims { claims, setting: ClaimedNamespaces::Excluded, marker });
    patch.is_some_and(|patch| {
        let text = serde_json::to_string(&patch).unwrap();
        assert!(text.contains(marker.as_str()));
        text.contains("team-a")
    })
}

impl Cluster {
    /// All are there, and one of the holders has claimed the namespace long ago.
    pub(super) fn quiet(settings: &Settings) -> Self {
        let seen = Some(SeenLease { holder: 0, is_current: true, age: 0 });
        let second = settings.holders == Holders::Replicas;
        let holder = |alive| HolderProcess { alive, connected: true, seen, wait: 0 };
        let webhooks = [Some(SETTLE), None];
        let watcher = WatcherProcess { alive: true, connected: true, seen, webhooks };
        Self {
            lease: Some(0),
            holders: [holder(true), holder(second)],
            watchers: [watcher; 2],
            webhooks: [true, false],
            excluded: settings.exclusion == Exclusion::On,
            events_left: settings.events,
            cause: Cause::Nothing,
            quiet_for: 0,
            unjudged_for: 0,
            both_for: 0,
            in_touch_for: 3,
        }
    }

    /// What may happen next.
    pub(super) fn events(&self) -> Vec<Event> {
        let mut events = vec![Event::Nothing];
        if self.events_left == 0 {
            return events;
        }
        for index in 0..2 {
            let holder = &self.holders[index];
            events.extend(if holder.alive {
                vec![Event::Crash(index), Event::Stop(index)]
            } else {
                vec![Event::Start(index)]
            });
            events.push(if holder.connected { Event::Cut(index) } else { Event::Heal(index) });
            events.push(if self.webhooks[index] { Event::RemoveWebhook(index) } else { Event::AddWebhook(index) });
            let watcher = &self.watchers[index];
            events.push(if watcher.alive { Event::CrashWatcher(index) } else { Event::StartWatcher(index) });
            events.push(if watcher.connected { Event::CutWatcher(index) } else { Event::HealWatcher(index) });
        }
        events
    }

    /// The states that may follow in one step: the holders act in either order.
    pub(super) fn after(&self, event: Event, settings: &Settings, rules: &mut Rules) -> Vec<Self> {
        let mut states: Vec<Self> = Vec::new();
        for order in [[0, 1], [1, 0]] {
            let mut next = *self;
            next.pass_time(settings);
            next.happen(event, settings, rules);
            for index in order {
                next.hold(index, settings, rules);
            }
            // Something may be written before the news is there, and after it.
            let unheard = next.is_unjudged(settings, rules);
            next.watch(settings, rules);
            next.count(unheard, settings, rules);
            if !states.contains(&next) {
                states.push(next);
            }
        }
        states
    }

    fn pass_time(&mut self, settings: &Settings) {
        let Clocks { holders, watchers, .. } = settings.clocks;
        for (holder, tick) in self.holders.iter_mut().zip(holders) {
            holder.wait = holder.wait.saturating_sub(tick);
            age(&mut holder.seen, tick);
        }
        for (watcher, tick) in self.watchers.iter_mut().zip(watchers) {
            age(&mut watcher.seen, tick);
            watcher.webhooks.iter_mut().flatten().for_each(|age| *age = age.saturating_add(tick).min(SETTLE));
        }
    }

    fn happen(&mut self, event: Event, settings: &Settings, rules: &mut Rules) {
        if event == Event::Nothing {
            self.quiet_for = (self.quiet_for + 1).min(COUNTED);
            return;
        }
        (self.events_left, self.quiet_for, self.both_for) = (self.events_left - 1, 0, 0);
        self.cause = Cause::of(event);
        let started = HolderProcess { alive: true, connected: true, seen: None, wait: 0 };
        match event {
            Event::Nothing => {}
            Event::Crash(index) => self.holders[index].alive = false,
            Event::Stop(index) => self.stop(index, settings, rules),
            Event::Start(index) => self.holders[index] = started,
            Event::Cut(index) => self.holders[index].connected = false,
            Event::Heal(index) => self.holders[index].connected = true,
            Event::RemoveWebhook(index) => self.webhooks[index] = false,
            Event::AddWebhook(index) => self.webhooks[index] = true,
            Event::CrashWatcher(index) => {
                let watcher = &mut self.watchers[index];
                *watcher = WatcherProcess { alive: false, seen: None, webhooks: [None; 2], ..*watcher };
            }
            Event::StartWatcher(index) => self.watchers[index].alive = true,
            Event::CutWatcher(index) => self.watchers[index].connected = false,
            Event::HealWatcher(index) => self.watchers[index].connected = true,
        }
    }

    fn stop(&mut self, index: usize, settings: &Settings, rules: &mut Rules) {
        let other = 1 - index;
        let sibling = settings.holders == Holders::Replicas && self.holders[other].alive;
        if self.holders[index].connected {
            let role = RoleKey::Leaving(sibling.then(|| u8::try_from(other).unwrap()));
            let seen = rules.look(self.holders[index].seen, self.lease);
            match rules.step(index, seen, role) {
                Step::Delete(_) => self.lease = None,
                Step::HandOver { .. } => self.write(other),
                _ => {}
            }
        }
        self.holders[index].alive = false;
    }

    /// A holder looks at the lease and acts, if it is time.
    fn hold(&mut self, index: usize, settings: &Settings, rules: &mut Rules) {
        let leads = match settings.holders {
            Holders::Releases => true,
            Holders::Replicas => !self.holders[..index].iter().any(|other| other.alive && other.connected),
        };
        let holder = self.holders[index];
        if !holder.alive || !holder.connected || holder.wait > 0 {
            return;
        }
        loop {
            let seen = rules.look(self.holders[index].seen, self.lease);
            self.holders[index].seen = seen;
            match rules.step(index, seen, if leads { RoleKey::Leading } else { RoleKey::Following }) {
                Step::Wait(time) => {
                    self.holders[index].wait = u16::try_from(time.as_millis()).unwrap();
                    return;
                }
                Step::Create | Step::Renew(_) | Step::TakeOver(_) => self.write(index),
                other => panic!("a holder that goes on wants to {other:?}"),
            }
        }
    }

    /// The lease is written for a holder; nobody has seen that yet.
    fn write(&mut self, holder: usize) {
        self.lease = Some(u8::try_from(holder).unwrap());
        let seen = self.holders.iter_mut().map(|holder| &mut holder.seen);
        let seen = seen.chain(self.watchers.iter_mut().map(|watcher| &mut watcher.seen));
        seen.flatten().for_each(|seen| seen.is_current = false);
    }

    /// The replicas of the cluster-wide operator hear the news and decide; one of them keeps the selector.
    fn watch(&mut self, settings: &Settings, rules: &mut Rules) {
        let (lease, present) = (self.lease, self.webhooks);
        let mut keeps = None;
        for watcher in self.watchers.iter_mut().filter(|watcher| watcher.alive) {
            if watcher.connected {
                watcher.seen = rules.look(watcher.seen, lease);
                for (seen, present) in watcher.webhooks.iter_mut().zip(present) {
                    *seen = present.then(|| seen.unwrap_or_default());
                }
            }
            if watcher.connected && keeps.is_none() {
                keeps = Some(rules.leaves_out((watcher.seen, watcher.webhooks)));
            }
        }
        if let (Exclusion::On, Some(leaves_out)) = (settings.exclusion, keeps) {
            self.excluded = leaves_out;
        }
    }

    fn count(&mut self, unheard: bool, settings: &Settings, rules: &mut Rules) {
        let in_touch = self.watchers.iter().any(|watcher| watcher.alive && watcher.connected);
        self.in_touch_for = if in_touch { (self.in_touch_for + 1).min(3) } else { 0 };
        let unjudged = unheard || self.is_unjudged(settings, rules);
        self.unjudged_for = if unjudged { (self.unjudged_for + 1).min(COUNTED) } else { 0 };
        let both = self.is_served_by_its_own() && self.is_judged_for_the_whole_cluster(settings, rules);
        self.both_for = if both { (self.both_for + 1).min(COUNTED) } else { 0 };
    }

    /// Whether something could be stored that nobody has judged: no webhook of the namespace's own is there, and that of
    /// the whole cluster passes it or isn't called. Where nobody answers it is refused, as both have `failurePolicy: Fail`.
    fn is_unjudged(&self, settings: &Settings, rules: &mut Rules) -> bool {
        let mut alive = self.watchers.iter().filter(|watcher| watcher.alive);
        !self.webhooks.contains(&true) && (self.excluded || alive.any(|it| self.passes(it, settings, rules)))
    }

    fn is_judged_for_the_whole_cluster(&self, settings: &Settings, rules: &mut Rules) -> bool {
        let mut alive = self.watchers.iter().filter(|watcher| watcher.alive);
        !self.excluded && alive.any(|it| !self.passes(it, settings, rules))
    }

    /// Whether a replica of the cluster-wide operator passes what is written now.
    pub(super) fn passes(&self, watcher: &WatcherProcess, settings: &Settings, rules: &mut Rules) -> bool {
        let answer = match settings.presence {
            Presence::Asked => watcher.connected.then_some(self.webhooks),
            Presence::TakenForGranted => Some([true; 2]),
        };
        rules.passes((watcher.seen, watcher.webhooks), answer)
    }

    /// Whether an operator of the namespace's own judges in it, and can say so.
    pub(super) fn is_served_by_its_own(&self) -> bool {
        self.webhooks.contains(&true) && self.holders.iter().any(|holder| holder.alive && holder.connected)
    }

    /// Whether everybody who lives is in touch with the API server.
    pub(super) fn is_whole(&self) -> bool {
        self.holders.iter().all(|holder| !holder.alive || holder.connected)
            && self.watchers.iter().all(|watcher| !watcher.alive || watcher.connected)
    }
}

fn age(seen: &mut Option<SeenLease>, tick: u16) {
    if let Some(seen) = seen {
        seen.age = seen.age.saturating_add(tick).min(LONG);
    }
}
