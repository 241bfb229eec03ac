//! What the watches of webhook configurations say of claims.

use super::exclusion::OwnConfiguration;
use super::webhook::ClaimingWebhook;

/// Webhook configurations, as far as claims depend on them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ObservedConfigurations {
    /// Whether all of them have been listed.
    pub(crate) is_complete: bool,
    /// Why they can't be read at the moment.
    pub(crate) failing: Option<String>,
    /// Webhooks of other releases that may stand behind a claim.
    pub(crate) claiming: Vec<ClaimingWebhook>,
    /// Our own configurations.
    pub(crate) own: Vec<OwnConfiguration>,
}

impl ObservedConfigurations {
    /// Why nothing can be said of them.
    pub(crate) fn unreadable(&self) -> Option<String> {
        let unlisted = || (!self.is_complete).then(|| "they have not been listed yet".to_owned());
        let why = self.failing.clone().or_else(unlisted)?;
        Some(format!("webhook configurations can't be read: {why}"))
    }
}
