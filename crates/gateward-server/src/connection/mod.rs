//! One connection, from its TLS handshake to its end.

mod drive;
pub(crate) mod http1;
#[cfg(feature = "http2")]
mod http2;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod state;
pub(crate) mod timeout_stream;
pub(crate) mod timeouts;
