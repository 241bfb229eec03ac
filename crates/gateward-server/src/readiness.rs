//! Whether this pod should be sent reviews, and the pages that say so.

use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use gateward_certs::Validity;

use crate::identity::IdentitySlot;
use crate::pages::{Page, Pages, PlainRequest};

/// What is known about this pod, and nothing about the rest of the cluster: a fault elsewhere must never take the
/// webhook, and with it every read of a converted kind, down. All clones know the same.
///
/// It serves `/healthz` (the process answers), `/readyz` and `/readyz?verbose`.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    listener: Listener,
    identity: Option<IdentitySlot>,
    handshake: Handshake,
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
    /// The last try failed.
    Failed(String),
    /// One has succeeded; this never changes again.
    Proved,
}

impl Readiness {
    /// Nothing is there yet: not ready.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether everything that concerns this pod is as it should be.
    pub fn is_ready(&self, now: SystemTime) -> bool {
        self.checks(now).iter().all(|check| check.fault.is_none())
    }

    pub(crate) fn watch(&self, identity: IdentitySlot) {
        self.known().identity = Some(identity);
    }

    pub(crate) fn listener(&self, listener: Listener) {
        self.known().listener = listener;
    }

    pub(crate) fn handshake(&self, handshake: Handshake) {
        let mut known = self.known();
        if known.handshake != Handshake::Proved {
            known.handshake = handshake;
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checks(&self, now: SystemTime) -> [Check; 3] {
        let known = self.known();
        let leaf = known.identity.as_ref().and_then(IdentitySlot::validity);
        [
            Check { name: "listener", fault: listener_fault(known.listener) },
            Check { name: "certificate", fault: leaf_fault(leaf, now) },
            Check { name: "handshake", fault: handshake_fault(&known.handshake) },
        ]
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
        Handshake::Failed(why) => Some(format!("no verified handshake has succeeded yet: {why}")),
    }
}

impl Pages for Readiness {
    fn has(&self, path: &str) -> bool {
        matches!(path, "/healthz" | "/readyz")
    }

    fn page(&self, request: &PlainRequest<'_>) -> Option<Page> {
        match request.path {
            "/healthz" => Some(plain(200, "ok".into())),
            "/readyz" => Some(ready_page(&self.checks(SystemTime::now()), request.query)),
            _ => None,
        }
    }
}

/// Short where all is well and nobody asks for more; in the form of the API server's own pages otherwise.
fn ready_page(checks: &[Check], query: Option<&str>) -> Page {
    let ready = checks.iter().all(|check| check.fault.is_none());
    let verbose = query.is_some_and(|query| query.split('&').any(|pair| pair.split('=').next() == Some("verbose")));
    if ready && !verbose {
        return plain(200, "ok".into());
    }
    let mut body = String::new();
    for check in checks {
        // Writing into a string doesn't fail.
        let _ = match &check.fault {
            None => writeln!(body, "[+]{} ok", check.name),
            Some(why) => writeln!(body, "[-]{} failed: {why}", check.name),
        };
    }
    body.push_str(if ready { "readyz check passed\n" } else { "readyz check failed\n" });
    plain(if ready { 200 } else { 503 }, body)
}

fn plain(status: u16, body: String) -> Page {
    Page { status, content_type: "text/plain; charset=utf-8", body }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gateward_certs::{Authority, CommonName, ServerNames, SystemKeys};

    use super::*;
    use crate::identity::Identity;

    fn identity(validity: Validity) -> IdentitySlot {
        let authority = Authority::new(&CommonName::new("test").unwrap(), validity, &SystemKeys).unwrap();
        let names = ServerNames::parse(["localhost"]).unwrap();
        let issued = authority.issue(&names, validity, &SystemKeys).unwrap();
        IdentitySlot::holding(Identity::try_from(&issued).unwrap())
    }

    fn now() -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_hours(500_000)
    }

    fn ready() -> Readiness {
        let readiness = Readiness::new();
        readiness.watch(identity(Validity::starting(now(), Duration::from_hours(1)).unwrap()));
        readiness.listener(Listener::Open);
        readiness.handshake(Handshake::Proved);
        readiness
    }

    fn get(readiness: &Readiness, path: &str, query: Option<&str>) -> Option<(u16, String)> {
        let page = readiness.page(&PlainRequest { path, query, accept: None });
        page.map(|page| (page.status, page.body))
    }

    #[test]
    fn health_says_ok_before_anything_else_is_there() {
        assert_eq!(get(&Readiness::new(), "/healthz", None), Some((200, "ok".into())));
        assert_eq!(get(&Readiness::new(), "/", None), None);
    }

    #[test]
    fn a_pod_without_a_verified_handshake_is_not_ready() {
        let readiness = ready();
        readiness.known().handshake = Handshake::Untried;
        assert!(!readiness.is_ready(now()));
        readiness.handshake(Handshake::Failed("unknown issuer".into()));
        let (status, body) = get(&readiness, "/readyz", None).unwrap();
        assert_eq!(status, 503);
        assert!(body.contains("[-]handshake failed: no verified handshake has succeeded yet: unknown issuer\n"));
    }

    #[test]
    fn what_was_proved_once_stays_proved() {
        let readiness = ready();
        readiness.handshake(Handshake::Failed("the CA changed".into()));
        assert!(readiness.is_ready(now()));
    }

    #[test]
    fn only_faults_of_the_pod_itself_turn_readiness_off() {
        let readiness = ready();
        assert!(readiness.is_ready(now()));
        assert!(!readiness.is_ready(now() + Duration::from_secs(3_601)), "the leaf has expired");
        assert!(!readiness.is_ready(now() - Duration::from_secs(3_601)), "the leaf is not valid yet");
        readiness.listener(Listener::Leaving);
        assert!(!readiness.is_ready(now()), "the server is going");
    }

    #[test]
    fn verbose_lists_each_check() {
        let checks = ready().checks(now());
        let page = ready_page(&checks, Some("verbose"));
        assert_eq!(page.body, "[+]listener ok\n[+]certificate ok\n[+]handshake ok\nreadyz check passed\n");
        assert_eq!(ready_page(&checks, None).body, "ok");
    }
}
