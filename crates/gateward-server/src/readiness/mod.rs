//! Whether this pod should be sent reviews, and the pages that say so.

mod page;
mod report;
mod wait;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use gateward_certs::Validity;

pub use self::report::Line;
use self::report::Reports;
use self::wait::{WaitId, Waits};
use crate::identity::IdentitySlot;
use crate::journal;

/// What is known about this pod. Nothing about the rest of the cluster counts once it has been ready: a fault elsewhere
/// must never take the webhook, and with it every read of a converted kind, down. All clones know the same.
///
/// It serves `/healthz` (the process answers), `/readyz` and `/readyz?verbose`. What it says beside `ok` are lines:
///
/// | begins with | says |
/// |---|---|
/// | `[+]`, `[-]` | a check that passed or failed, and why |
/// | `[i]` | a line of a report |
/// | `[!]` | a line of a report that someone should do something about |
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    listener: Listener,
    identity: Option<IdentitySlot>,
    handshake: Handshake,
    waits: Waits,
    start: Start,
    reports: Reports,
}

/// Whether the listener takes connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Listener {
    /// Not yet.
    #[default]
    Absent,
    /// Yes.
    Open,
    /// Yes, but not for long.
    Leaving,
    /// Not any more.
    Closed,
}

/// Whether a verified handshake against the own listener has succeeded once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// None was tried.
    #[default]
    Untried,
    /// It is still open, and why.
    Open(String),
    /// One has succeeded; this never changes again.
    Proved,
}

/// Whether the start is over: then nobody waits any more before the pod is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Start {
    #[default]
    UnderWay,
    Over,
}

impl Readiness {
    /// Nothing is there yet: not ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether everything that concerns this pod is as it should be.
    pub fn is_ready(&self, now: SystemTime) -> bool {
        self.known().checks(now).iter().all(|check| check.fault.is_none())
    }

    /// Begins to wait for something without which the pod can't start to answer. It lasts until the result is dropped.
    ///
    /// What is waited for from the beginning is said before the listener serves. Once the listener has proved itself and
    /// no wait is open, the start is over for good: a wait that begins after that is shown, and changes nothing.
    pub fn wait_for(&self, name: &'static str, what: impl Into<String>) -> Waiting {
        let id = self.known().waits.begin(name, what.into(), SystemTime::now());
        Waiting { readiness: self.clone(), id }
    }

    /// Says something that never changes whether the pod is ready, in place of what was said under that name before; no
    /// lines at all say that there is nothing to say any more.
    pub fn report(&self, name: &'static str, lines: Vec<Line>) {
        self.known().reports.set(name, lines);
    }

    pub(crate) fn watch(&self, identity: IdentitySlot) {
        self.known().identity = Some(identity);
    }

    pub(crate) fn listener(&self, listener: Listener) {
        self.known().listener = listener;
    }

    pub(crate) fn handshake(&self, handshake: Handshake) {
        let mut known = self.known();
        if known.handshake != Handshake::Proved && known.handshake != handshake {
            journal::handshake(&handshake);
            known.handshake = handshake;
        }
        known.notice_the_start();
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something is being waited for, until this is dropped.
#[derive(Debug)]
#[must_use = "the wait is over when this is dropped"]
pub struct Waiting {
    readiness: Readiness,
    id: WaitId,
}

impl Waiting {
    /// Says anew what is being waited for.
    pub fn still(&self, what: impl Into<String>) {
        self.readiness.known().waits.renew(self.id, what.into());
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut known = self.readiness.known();
        known.waits.end(self.id);
        known.notice_the_start();
    }
}

impl Known {
    fn notice_the_start(&mut self) {
        if self.handshake == Handshake::Proved && self.waits.is_empty() {
            self.start = Start::Over;
        }
    }

    fn checks(&self, now: SystemTime) -> Vec<Check> {
        let leaf = self.identity.as_ref().and_then(IdentitySlot::validity);
        let mut checks = vec![
            Check { name: "listener", fault: listener_fault(self.listener) },
            Check { name: "certificate", fault: leaf_fault(leaf, now) },
            Check { name: "handshake", fault: handshake_fault(&self.handshake) },
        ];
        let first = self.waits.shown(now).filter(|_| self.start == Start::UnderWay);
        checks.extend(first.map(|(name, what)| Check { name, fault: Some(what) }));
        checks
    }

    /// The waits that change nothing any more.
    fn later_waits(&self, now: SystemTime) -> impl Iterator<Item = (&'static str, String)> {
        self.waits.shown(now).filter(|_| self.start == Start::Over)
    }
}

/// One of the things that readiness depends on.
struct Check {
    name: &'static str,
    fault: Option<String>,
}

fn listener_fault(listener: Listener) -> Option<String> {
    match listener {
        Listener::Open => None,
        Listener::Absent => Some("the listener is not open yet".into()),
        Listener::Leaving => Some("the server is shutting down".into()),
        Listener::Closed => Some("the listener is closed".into()),
    }
}

fn leaf_fault(leaf: Option<Validity>, now: SystemTime) -> Option<String> {
    let Some(leaf) = leaf else { return Some("there is no certificate".into()) };
    match leaf {
        leaf if leaf.contains(now) => None,
        leaf if now < leaf.not_before() => Some("the certificate is not valid yet".into()),
        _ => Some("the certificate has expired".into()),
    }
}

fn handshake_fault(handshake: &Handshake) -> Option<String> {
    match handshake {
        Handshake::Proved => None,
        Handshake::Untried => Some("no verified handshake was tried yet".into()),
        Handshake::Open(why) => Some(why.clone()),
    }
}

#[cfg(test)]
mod tests;
