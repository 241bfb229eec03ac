//! What a pod that starts waits for.

use std::time::SystemTime;

use super::report::one_line;

/// The waits of a pod, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Waits {
    open: Vec<Wait>,
    begun: u64,
}

/// The identity of a wait.
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

    /// Replaces the text of a wait, which keeps its start.
    pub(super) fn update(&mut self, id: WaitId, what: String) {
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

    /// The name and the text of each wait.
    pub(super) fn shown(&self, now: SystemTime) -> impl Iterator<Item = (&'static str, String)> {
        self.open.iter().map(move |wait| {
            // After the clock was set back, the wait shows 0 s.
            let seconds = now.duration_since(wait.since).unwrap_or_default().as_secs();
            (wait.name, format!("waiting for {seconds} s: {}", one_line(&wait.what)))
        })
    }
}
