//! A client that does as little as it can, so that the server is what is measured.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::child::Child;
use crate::reviews::Sample;

/// A kept-alive connection.
pub struct Connection {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
}

/// A request as it goes over the wire.
pub fn request(sample: &Sample) -> Vec<u8> {
    let head = format!(
        "POST {}?timeout=10s HTTP/1.1\r\nHost: localhost\r\nUser-Agent: kube-apiserver-admission\r\nAccept: \
         application/json\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        sample.path,
        sample.body.len()
    );
    [head.as_bytes(), &sample.body].concat()
}

impl Connection {
    /// Connects to a server, trusting its authority alone.
    pub async fn open(child: &Child) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(child.authority_pem.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let address: SocketAddr = child.address;
        let socket = TcpStream::connect(address).await?;
        socket.set_nodelay(true)?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(ServerName::try_from("localhost")?, socket).await?;
        Ok(Self { stream, buffer: Vec::with_capacity(8192) })
    }

    /// Sends one request and reads its answer, which must allow.
    pub async fn ask(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.stream.write_all(request).await?;
        self.stream.flush().await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the server closed the connection");
            }
            if let Some(body) = body(&self.buffer)? {
                return if is_allowed(body) { Ok(()) } else { bail!("{}", String::from_utf8_lossy(body)) };
            }
        }
    }
}

/// The answer's body, once all of it is there.
fn body(received: &[u8]) -> anyhow::Result<Option<&[u8]>> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&received[..end])?.to_ascii_lowercase();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .context("an answer without a length")?
        .trim()
        .parse()?;
    Ok(received.get(end + 4..end + 4 + length))
}

fn is_allowed(body: &[u8]) -> bool {
    body.windows(14).any(|window| window == b"\"allowed\":true")
}
