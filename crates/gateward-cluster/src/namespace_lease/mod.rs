//! Many operators in one cluster: an operator of one namespace claims it by a Lease, and the cluster-wide one leaves to
//! it what its webhooks cover.
//!
//! What decides is pure: [`record`] says for how long a lease counts, [`holder`] what its holder does next, [`webhook`]
//! which webhooks stand behind a claim, [`claims`] what is claimed, and [`exclusion`] which namespaces our own webhooks
//! leave out. [`watch`] and [`hold`] read and write the leases, and [`presence`] asks whether those
//! webhooks are still there.

mod claims;
mod configurations;
mod exclusion;
#[cfg(test)]
mod exploration;
mod hold;
mod holder;
mod known;
mod presence;
mod reader;
mod record;
mod watch;
mod webhook;

pub use claims::ClaimState;
pub(crate) use configurations::ObservedConfigurations;
pub(crate) use exclusion::{ExcludedClaims, OwnConfiguration, OwnWebhook, marker};
pub use hold::HolderState;
pub(crate) use hold::LeaseHolder;
pub(crate) use presence::WebhookPresence;
pub use reader::{ClaimsStatus, NamespaceClaims, NamespaceStatus};
pub(crate) use record::NamespaceLease;
pub(crate) use watch::{LeaseWatch, ObservedClaims};
pub(crate) use webhook::{ClaimingWebhook, ConfigurationVersion, Versions, WebhookRule, selected_by_name};
