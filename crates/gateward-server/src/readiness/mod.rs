//! Whether this pod is ready for reviews: `/healthz` and `/readyz`.

mod endpoint;
mod report;
mod wait;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use gateward_certs::Validity;
use tracing::info;

pub use self::report::ReportLine;
use self::report::Reports;
use self::wait::{WaitId, Waits};
use crate::access_log::{TARGET, truncated};
use crate::cert_resolver::CertResolver;

/// The readiness of this pod. After the pod was ready once, only faults of the pod itself count: a fault elsewhere must
/// not take the webhook down, and with it every read of a converted kind. Clones share the state.
///
/// It serves `/healthz` (the process responds), `/readyz` and `/readyz?verbose`. Their bodies are `ok`, or lines:
///
/// | prefix | meaning |
/// |---|---|
/// | `[+]`, `[-]` | a check that passed or failed, and why |
/// | `[i]` | a line of a report |
/// | `[!]` | a line of a report that needs attention |
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    listener: ListenerState,
    certificate: Option<CertResolver>,
    self_check: SelfCheckState,
    waits: Waits,
    startup: Startup,
    reports: Reports,
}

/// Whether the listener accepts connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ListenerState {
    /// It is not bound yet.
    #[default]
    NotBound,
    /// It accepts.
    Open,
    /// It accepts until the drain closes it.
    Draining,
    /// It is closed.
    Closed,
}

/// The state of the self-check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SelfCheckState {
    /// No handshake was tried.
    #[default]
    NotStarted,
    /// It has not passed yet, with the reason.
    Failing(String),
    /// It has passed, for good.
    Passed,
    /// There is none.
    Skipped,
}

impl SelfCheckState {
    /// Whether it keeps the pod from being ready no more.
    fn is_over(&self) -> bool {
        matches!(self, Self::Passed | Self::Skipped)
    }
}

/// Whether the pod has been ready once: later waits don't change readiness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Startup {
    #[default]
    InProgress,
    Completed,
}

impl Readiness {
    /// The readiness of a pod that starts: not ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether all checks pass.
    pub fn is_ready(&self, now: SystemTime) -> bool {
        self.state().checks(now).iter().all(|check| check.fault.is_none())
    }

    /// Starts a wait for something that the pod needs before it can serve. It ends when the result is dropped.
    ///
    /// Until the self-check has passed and no wait is open, a wait keeps the pod from being ready. After that the startup is
    /// complete for good: a later wait is shown and changes nothing.
    pub fn wait_for(&self, name: &'static str, what: impl Into<String>) -> WaitGuard {
        let id = self.state().waits.begin(name, what.into(), SystemTime::now());
        WaitGuard { readiness: self.clone(), id }
    }

    /// Replaces the report of that name, which never changes readiness. No lines remove it.
    pub fn report(&self, name: &'static str, lines: Vec<ReportLine>) {
        self.state().reports.set(name, lines);
    }

    pub(crate) fn watch_certificate(&self, certificate: CertResolver) {
        self.state().certificate = Some(certificate);
    }

    pub(crate) fn set_listener(&self, listener: ListenerState) {
        self.state().listener = listener;
    }

    pub(crate) fn skip_self_check(&self) {
        self.set_self_check(SelfCheckState::Skipped);
    }

    pub(crate) fn set_self_check(&self, self_check: SelfCheckState) {
        let mut state = self.state();
        if !state.self_check.is_over() && state.self_check != self_check {
            log(&self_check);
            state.self_check = self_check;
        }
        state.complete_startup();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open wait; it ends on drop.
#[derive(Debug)]
#[must_use = "the wait is over when this is dropped"]
pub struct WaitGuard {
    readiness: Readiness,
    id: WaitId,
}

impl WaitGuard {
    /// Replaces the text of the wait.
    pub fn update(&self, what: impl Into<String>) {
        self.readiness.state().waits.update(self.id, what.into());
    }
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        let mut state = self.readiness.state();
        state.waits.end(self.id);
        state.complete_startup();
    }
}

impl State {
    fn complete_startup(&mut self) {
        if self.self_check.is_over() && self.waits.is_empty() {
            self.startup = Startup::Completed;
        }
    }

    fn checks(&self, now: SystemTime) -> Vec<Check> {
        let validity = self.certificate.as_ref().and_then(CertResolver::validity);
        let mut checks = vec![
            Check { name: "listener", fault: listener_fault(self.listener) },
            Check { name: "certificate", fault: certificate_fault(validity, now) },
        ];
        if self.self_check != SelfCheckState::Skipped {
            checks.push(Check { name: "handshake", fault: self_check_fault(&self.self_check) });
        }
        let first = self.waits.shown(now).filter(|_| self.startup == Startup::InProgress);
        checks.extend(first.map(|(name, what)| Check { name, fault: Some(what) }));
        checks
    }

    /// Waits that began after the startup.
    fn later_waits(&self, now: SystemTime) -> impl Iterator<Item = (&'static str, String)> {
        self.waits.shown(now).filter(|_| self.startup == Startup::Completed)
    }
}

/// A check of the pod; `fault` is `None` where it passes.
struct Check {
    name: &'static str,
    fault: Option<String>,
}

fn log(self_check: &SelfCheckState) {
    match self_check {
        SelfCheckState::NotStarted | SelfCheckState::Skipped => {}
        SelfCheckState::Failing(why) => info!(target: TARGET, why = &*truncated(why), "self-check has not passed yet"),
        SelfCheckState::Passed => {
            info!(target: TARGET, "self-check passed: TLS handshake verified against all caBundles");
        }
    }
}

fn listener_fault(listener: ListenerState) -> Option<String> {
    match listener {
        ListenerState::Open => None,
        ListenerState::NotBound => Some("the listener is not open yet".into()),
        ListenerState::Draining => Some("the server is shutting down".into()),
        ListenerState::Closed => Some("the listener is closed".into()),
    }
}

fn certificate_fault(validity: Option<Validity>, now: SystemTime) -> Option<String> {
    let Some(validity) = validity else { return Some("there is no certificate".into()) };
    match validity {
        validity if validity.contains(now) => None,
        validity if now < validity.not_before() => Some("the certificate is not valid yet".into()),
        _ => Some("the certificate has expired".into()),
    }
}

fn self_check_fault(self_check: &SelfCheckState) -> Option<String> {
    match self_check {
        SelfCheckState::Passed | SelfCheckState::Skipped => None,
        SelfCheckState::NotStarted => Some("no TLS handshake was tried yet".into()),
        SelfCheckState::Failing(why) => Some(why.clone()),
    }
}

#[cfg(test)]
mod tests;
