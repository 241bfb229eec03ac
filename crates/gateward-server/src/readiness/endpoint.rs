//! The endpoints `/healthz` and `/readyz`.

use std::time::SystemTime;

use super::report::one_line;
use super::{Check, Readiness};
use crate::admin::endpoint::{AdminEndpoint, AdminRequest, AdminResponse};

impl AdminEndpoint for Readiness {
    fn serves(&self, path: &str) -> bool {
        matches!(path, "/healthz" | "/readyz")
    }

    fn respond(&self, request: &AdminRequest<'_>) -> Option<AdminResponse> {
        match request.path {
            "/healthz" => Some(plain(200, "ok".into())),
            "/readyz" => Some(self.readyz(request.query, SystemTime::now())),
            _ => None,
        }
    }
}

impl Readiness {
    /// `ok` where all checks pass, no report warns and `?verbose` is absent; otherwise the lines of the API server's own
    /// `/readyz?verbose`.
    pub(super) fn readyz(&self, query: Option<&str>, now: SystemTime) -> AdminResponse {
        let state = self.state();
        let checks = state.checks(now);
        let ready = checks.iter().all(|check| check.fault.is_none());
        if ready && !is_verbose(query) && !state.reports.has_warning() {
            return plain(200, "ok".into());
        }
        let mut body: String = checks.iter().map(Check::shown).collect();
        body.extend(state.later_waits(now).map(|(name, what)| format!("[i]{name}: {what}\n")));
        body.push_str(&state.reports.shown());
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

fn plain(status: u16, body: String) -> AdminResponse {
    AdminResponse { status, content_type: "text/plain; charset=utf-8", body }
}
