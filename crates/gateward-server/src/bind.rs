//! Taking an address.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::limits::LimitsError;

/// Why the listener doesn't listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The address can't be taken.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        source: io::Error,
    },
    /// The limits contradict each other.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The cryptography lacks what TLS needs.
    #[error("TLS can't be set up: {0}")]
    Tls(String),
}

/// Binds an address and says which it has become; port 0 takes a free one.
pub(crate) async fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), BindError> {
    let failed = |source| BindError::Address { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}
