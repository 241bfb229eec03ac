//! The webhooks of an operator, for the listener.

use std::sync::Arc;

use gateward_core::Webhooks;

use crate::operator::Operator;

/// An operator as the [`Webhooks`] that it declares.
pub(crate) struct OperatorWebhooks<P>(pub(crate) Arc<P>);

impl<P: Operator> AsRef<Webhooks> for OperatorWebhooks<P> {
    fn as_ref(&self) -> &Webhooks {
        self.0.webhooks()
    }
}
