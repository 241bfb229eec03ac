//! The pages that say whether the pod is ready.

use std::time::SystemTime;

use super::report::one_line;
use super::{Check, Readiness};
use crate::pages::{Page, Pages, PlainRequest};

impl Pages for Readiness {
    fn has(&self, path: &str) -> bool {
        matches!(path, "/healthz" | "/readyz")
    }

    fn page(&self, request: &PlainRequest<'_>) -> Option<Page> {
        match request.path {
            "/healthz" => Some(plain(200, "ok".into())),
            "/readyz" => Some(self.ready_page(request.query, SystemTime::now())),
            _ => None,
        }
    }
}

impl Readiness {
    /// Short where all is well and nobody asks for more; in the form of the API server's own pages otherwise.
    pub(super) fn ready_page(&self, query: Option<&str>, now: SystemTime) -> Page {
        let known = self.known();
        let checks = known.checks(now);
        let ready = checks.iter().all(|check| check.fault.is_none());
        if ready && !is_verbose(query) && !known.reports.warn() {
            return plain(200, "ok".into());
        }
        let mut body: String = checks.iter().map(Check::shown).collect();
        body.extend(known.later_waits(now).map(|(name, what)| format!("[i]{name}: {what}\n")));
        body.push_str(&known.reports.shown());
        body.push_str(if ready { "readyz check passed\n" } else { "readyz check failed\n" });
        plain(if ready { 200 } else { 503 }, body)
    }
}

impl Check {
    fn shown(&self) -> String {
        match &self.fault {
            None => format!("[+]{} ok\n", self.name),
            Some(why) => format!("[-]{} failed: {}\n", self.name, one_line(why)),
        }
    }
}

fn is_verbose(query: Option<&str>) -> bool {
    query.is_some_and(|query| query.split('&').any(|pair| pair.split('=').next() == Some("verbose")))
}

fn plain(status: u16, body: String) -> Page {
    Page { status, content_type: "text/plain; charset=utf-8", body }
}
