//! The webhooks of an operator, for the listener.

use std::sync::{Arc, OnceLock};

use gateward_core::{ClusterReader, Facts, Notes, Webhooks};
use gateward_server::{ReviewHandler, WebhooksHandler};

use crate::operator::Operator;

/// An operator as the [`Webhooks`] that it declares.
pub(crate) struct OperatorWebhooks<P>(pub(crate) Arc<P>);

impl<P: Operator> AsRef<Webhooks> for OperatorWebhooks<P> {
    fn as_ref(&self) -> &Webhooks {
        self.0.webhooks()
    }
}

/// Answers reviews with facts and a cluster that stay the same.
pub(crate) fn unchanging<P: Operator>(
    operator: Arc<P>,
    facts: Arc<dyn Facts>,
    cluster: Option<Arc<dyn ClusterReader>>,
    notes: Notes,
) -> impl ReviewHandler + use<P> {
    let cluster = Arc::new(cluster.map(OnceLock::from).unwrap_or_default());
    WebhooksHandler::new(OperatorWebhooks(operator), move || Arc::clone(&facts)).cluster(cluster).notes(notes)
}
