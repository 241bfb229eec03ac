//! A client that does as little as it can, so that the server is what is measured.

use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::reviews::Sample;
use crate::server::ServerProcess;

/// A kept-alive connection.
pub struct KeepAliveConnection {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
}

/// A request as it goes over the wire.
pub fn request(sample: &Sample) -> Vec<u8> {
    post(sample.path, &sample.body)
}

/// The same of a path and a body.
pub fn post(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path}?timeout=30s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: kube-apiserver-admission\r\nAccept: \
         application/json\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

impl KeepAliveConnection {
    /// Connects to a server, trusting its CA alone.
    pub async fn open(server: &ServerProcess) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(server.ca_pem.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let address: SocketAddr = server.address;
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(ServerName::try_from("localhost")?, socket).await?;
        Ok(Self { stream, buffer: Vec::with_capacity(8192) })
    }

    /// Sends one request and reads its answer, which must allow or say that it went well.
    pub async fn ask(&mut self, request: &[u8]) -> anyhow::Result<()> {
        let answer = self.exchange(request).await?;
        if went_well(answer) { Ok(()) } else { bail!("{}", String::from_utf8_lossy(&answer[..answer.len().min(1000)])) }
    }

    /// Sends one request and reads its answer.
    pub async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.stream.write_all(request).await?;
        self.stream.flush().await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server closed the connection");
            }
            if let Some(range) = body(&self.buffer)? {
                return Ok(&self.buffer[range]);
            }
        }
    }
}

/// Where the answer's body is, once all of it is there.
fn body(received: &[u8]) -> anyhow::Result<Option<Range<usize>>> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&received[..end])?.to_ascii_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .context("an answer without a length")?
        .trim()
        .parse()?;
    let range = end + 4..end + 4 + length;
    Ok((received.len() >= range.end).then_some(range))
}

/// Both sorts of answers have it near an end.
fn went_well(answer: &[u8]) -> bool {
    let holds = |part: &[u8], text: &[u8]| part.windows(text.len()).any(|window| window == text);
    let (head, tail) = (&answer[..answer.len().min(4096)], &answer[answer.len().saturating_sub(64)..]);
    holds(head, b"\"allowed\":true") || holds(tail, b"\"status\":\"Success\"")
}
