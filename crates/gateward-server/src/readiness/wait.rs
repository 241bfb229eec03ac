//! What the pod waits for before it is ready for the first time.

use std::time::SystemTime;

use super::report::one_line;

/// The waits of a pod, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Waits {
    open: Vec<Wait>,
    begun: u64,
}

/// Which wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitId(u64);

#[derive(Debug)]
struct Wait {
    id: WaitId,
    name: &'static str,
    what: String,
    since: SystemTime,
}

impl Waits {
    pub(super) fn begin(&mut self, name: &'static str, what: String, since: SystemTime) -> WaitId {
        self.begun += 1;
        let id = WaitId(self.begun);
        self.open.push(Wait { id, name, what, since });
        id
    }

    /// Says anew what a wait is for; it has lasted since it began.
    pub(super) fn renew(&mut self, id: WaitId, what: String) {
        if let Some(wait) = self.open.iter_mut().find(|wait| wait.id == id) {
            wait.what = what;
        }
    }

    pub(super) fn end(&mut self, id: WaitId) {
        self.open.retain(|wait| wait.id != id);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Each wait's name, and what is said about it.
    pub(super) fn shown(&self, now: SystemTime) -> impl Iterator<Item = (&'static str, String)> {
        self.open.iter().map(move |wait| {
            // A clock that was set back shows no time at all.
            let seconds = now.duration_since(wait.since).unwrap_or_default().as_secs();
            (wait.name, format!("waiting for {seconds} s: {}", one_line(&wait.what)))
        })
    }
}
