//! The versions of HTTP that a listener serves.

#[cfg(feature = "http2")]
use crate::limits::{ByteSize, Cap};

/// The versions of HTTP that a listener serves. The API server speaks HTTP/1.1 to every webhook behind a Service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocols {
    /// HTTP/1.1 alone.
    #[default]
    Http1,
    /// HTTP/1.1, and HTTP/2 where the peer asks for it.
    #[cfg(feature = "http2")]
    Http1AndHttp2(Http2Limits),
}

/// The limits of an HTTP/2 connection.
#[cfg(feature = "http2")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http2Limits {
    /// Concurrent requests on one connection. Default 64.
    pub streams: Cap,
    /// The head of a request. Default 32 KiB. A larger one ends the connection without a response.
    pub head_size: ByteSize,
    /// Requests that the peer reset before they were accepted (CVE-2023-44487). Default 16; more end the connection.
    pub pending_resets: Cap,
    /// Streams that the server reset for an error of the peer. Default 64; more end the connection.
    pub local_resets: Cap,
}

#[cfg(feature = "http2")]
impl Default for Http2Limits {
    fn default() -> Self {
        Self {
            streams: Cap::at_most(64),
            head_size: ByteSize::kibibytes(32),
            pending_resets: Cap::at_most(16),
            local_resets: Cap::at_most(64),
        }
    }
}

impl Protocols {
    /// The ALPN protocols of the handshake, which fails for a peer that offers none of them.
    pub(crate) fn alpn(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Http1 => vec![b"http/1.1".to_vec()],
            #[cfg(feature = "http2")]
            Self::Http1AndHttp2(_) => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        }
    }
}
