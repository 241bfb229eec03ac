//! What is claimed, for validators, reports and metrics.

use std::sync::Arc;
use std::time::Instant;

use gateward_core::ReviewSubject;
use tokio::sync::watch;

use super::claims::{ClaimState, Claims};
use super::presence::WebhookPresence;
use super::watch::ObservedClaims;

/// What operators of one namespace have claimed, as it is at each moment. Clones see the same.
#[derive(Debug, Clone)]
pub struct NamespaceClaims {
    observed: watch::Receiver<ObservedClaims>,
    presence: Arc<WebhookPresence>,
}

/// All claims at one moment, for people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaimsStatus {
    /// The namespaces with a lease, in order.
    pub namespaces: Vec<NamespaceStatus>,
    /// Why leases or webhook configurations can't be read; `None` if they can.
    pub unreadable: Option<String>,
}

/// The claim on one namespace, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceStatus {
    /// The namespace.
    pub namespace: String,
    /// How far the claim counts.
    pub state: ClaimState,
    /// Who holds its leases.
    pub holders: Vec<String>,
    /// The webhook configurations that stand behind it, each as kind and name.
    pub configurations: Vec<String>,
}

impl NamespaceClaims {
    pub(crate) fn new(observed: watch::Receiver<ObservedClaims>, presence: WebhookPresence) -> Self {
        Self { observed, presence: Arc::new(presence) }
    }

    /// Whether what a review is about is claimed, by webhooks that API servers call for it.
    ///
    /// What the watches have seen may be over: a webhook that was removed a moment ago, or while they bring no news. The
    /// API server that has sent the review called it unless it knew of that, so a read that begins now shows it.
    pub async fn cover(&self, subject: &ReviewSubject<'_>) -> bool {
        let asked = Instant::now();
        if self.claims().behind(subject, asked).next().is_none() {
            return false;
        }
        let present = self.presence.of(subject.review, asked).await;
        // The watches may have brought news meanwhile, or the lease may have expired.
        self.claims().behind(subject, Instant::now()).any(|webhook| present.has(webhook))
    }

    fn claims(&self) -> Arc<Claims> {
        Arc::clone(&self.observed.borrow().claims)
    }

    /// All claims at the moment.
    pub fn status(&self) -> ClaimsStatus {
        let observed = self.observed.borrow().clone();
        let namespaces = observed.claims.namespaces().map(|(namespace, claim)| {
            let mut configurations: Vec<String> =
                claim.webhooks.iter().map(|webhook| webhook.configuration.clone()).collect();
            configurations.sort();
            configurations.dedup();
            let (namespace, holders) = (namespace.to_owned(), claim.holders.clone());
            NamespaceStatus { namespace, state: claim.state, holders, configurations }
        });
        ClaimsStatus { namespaces: namespaces.collect(), unreadable: observed.unreadable }
    }

    /// Waits for a change; `false` once there is none any more.
    pub async fn changed(&mut self) -> bool {
        self.observed.changed().await.is_ok()
    }
}
