//! A review from the moment its body is read until it is answered.

use std::sync::OnceLock;

use gateward_core::{Decision, ReviewObserver, ReviewResponse, WebhookError};
use tracing::field::Empty;
use tracing::{Span, info_span, record_all};

use crate::access_log::{TARGET, truncated};

/// What is known of a review while it is worked on.
pub(crate) struct ReviewInProgress {
    /// Every line that is logged by a handler stands in it.
    pub(crate) span: Span,
    about: OnceLock<Decision>,
}

impl ReviewInProgress {
    pub(crate) fn new() -> Self {
        // A line in JSON gives the span itself a `name`.
        let span =
            info_span!(target: TARGET, "review", uid = Empty, kind = Empty, namespace = Empty, object_name = Empty);
        Self { span, about: OnceLock::new() }
    }

    /// The answer to a review that failed: what it is about stands in it, as far as that is known.
    pub(crate) fn failed(&self, why: WebhookError) -> ReviewResponse {
        ReviewResponse::error_in(self.about.get().cloned(), why)
    }
}

impl ReviewObserver for ReviewInProgress {
    fn began(&self, about: Decision) {
        if !self.span.is_disabled() {
            record_all!(
                self.span,
                uid = &*truncated(&about.uid),
                kind = &*truncated(&about.kind.to_string()),
                namespace = &*truncated(&about.namespace),
                object_name = &*truncated(&about.name)
            );
        }
        self.about.began(about);
    }
}
