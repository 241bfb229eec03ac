//! What is claimed, for validators, reports and metrics.

use std::time::Instant;

use gateward_core::ReviewSubject;
use tokio::sync::watch;

use super::claims::ClaimState;
use super::watch::ObservedClaims;

/// What operators of one namespace have claimed, as it is at each moment. Clones see the same.
#[derive(Debug, Clone)]
pub struct NamespaceClaims(watch::Receiver<ObservedClaims>);

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
    pub(crate) fn new(claims: watch::Receiver<ObservedClaims>) -> Self {
        Self(claims)
    }

    /// Whether what a review is about is claimed.
    pub fn cover(&self, subject: &ReviewSubject<'_>) -> bool {
        self.0.borrow().claims.cover_at(subject, Instant::now())
    }

    /// All claims at the moment.
    pub fn status(&self) -> ClaimsStatus {
        let observed = self.0.borrow().clone();
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
        self.0.changed().await.is_ok()
    }
}
