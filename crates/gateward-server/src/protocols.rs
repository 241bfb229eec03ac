//! Which versions of HTTP are spoken.

#[cfg(feature = "http2")]
use crate::limits::{ByteSize, Cap};

/// Which versions of HTTP are spoken. The API server speaks HTTP/1.1 to every webhook behind a Service.
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

/// What a peer may take by way of HTTP/2.
#[cfg(feature = "http2")]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Http2Limits {
    /// Requests at a time on one connection. Default 64.
    pub streams: Cap,
    /// The head of a request. Default 32 KiB. More ends the connection without an answer.
    pub head_size: ByteSize,
    /// Requests that were taken back before they were looked at (CVE-2023-44487). Default 16; more end the connection.
    pub pending_resets: Cap,
    /// Streams that were reset here for an error of the peer's. Default 64; more end the connection.
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
    /// What TLS offers: without agreement a peer that asks for another protocol is turned away in the handshake.
    pub(crate) fn alpn(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Http1 => vec![b"http/1.1".to_vec()],
            #[cfg(feature = "http2")]
            Self::Http1AndHttp2(_) => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        }
    }
}
