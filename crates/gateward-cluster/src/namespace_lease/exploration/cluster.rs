//! API server, processes and clocks around the code that decides. Times are in milliseconds of the clock of who measures.

use super::rules::{LONG, RoleKey, Rules, SETTLE, SeenLease};
use super::settings::{Cause, Clocks, Event, Exclusion, Holders, Presence, Settings};
use crate::namespace_lease::holder::Step;

/// The most steps that are counted.
const COUNTED: u8 = 20;

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
