//! Why a server doesn't start, or ends before it is asked to.

use gateward_cluster::{CertControllerError, ConnectionError};
use gateward_core::WebhooksError;
use gateward_server::BindError;

use crate::config::{ConfigError, Problem};
use crate::crds::ConversionGap;
use crate::operator::{ControllersError, FactsError};

/// Why a server doesn't start, or ends before it is asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Two declarations contradict each other.
    #[error(transparent)]
    Webhooks(#[from] WebhooksError),
    /// A CRD promises conversions that are not declared.
    #[error(transparent)]
    Conversion(#[from] ConversionGap),
    /// The configuration can't be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The facts that handlers read can't be had.
    #[error(transparent)]
    Facts(#[from] FactsError),
    /// An address can't be taken, or the limits contradict each other.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// There is no way to the API server.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// No API server can say who may read the metrics.
    #[error(
        "the API server decides who may read the metrics, and there is no client to ask it; add `.client(client)`, or set `metrics_access` to `Open`"
    )]
    MetricsAccess,
    /// Certificates can't be kept.
    #[error("certificates can't be kept: {0}")]
    CertController(#[from] CertControllerError),
    /// A controller of the operator's own has failed.
    #[error("the operator's controllers have ended: {0}")]
    Controllers(ControllersError),
    /// The configuration asks for what the cluster doesn't have.
    #[error("{0}")]
    Contradiction(Problem),
}
