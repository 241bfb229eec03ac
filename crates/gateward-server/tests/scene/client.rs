//! A client that says exactly what it is told to, byte by byte.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gateward_server::Trust;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// No test waits longer for anything.
const PATIENCE: Duration = Duration::from_mins(1);

pub struct Client<S = TcpStream> {
    stream: TlsStream<S>,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// How a client shakes hands.
pub fn config(trust: &Trust, alpn: &[&str]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trust.authorities.iter().cloned());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

impl Client {
    pub async fn connect(address: SocketAddr, trust: &Trust) -> io::Result<Self> {
        Self::connect_with(address, trust, config(trust, &["http/1.1"])).await
    }

    pub async fn connect_with(address: SocketAddr, trust: &Trust, config: ClientConfig) -> io::Result<Self> {
        Self::over(TcpStream::connect(address).await?, trust, config).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub async fn over(socket: S, trust: &Trust, config: ClientConfig) -> io::Result<Self> {
        let connector = TlsConnector::from(Arc::new(config));
        let stream = patiently(connector.connect(trust.name.clone(), socket)).await?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// Sends bytes; an error means that the server has hung up.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        patiently(async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        })
        .await
    }

    /// Sends a request and receives its answer.
    pub async fn ask(&mut self, request: &[u8]) -> Response {
        // A refusal may come, and the server hang up, before all is sent.
        let _ = self.send(request).await;
        self.response().await.unwrap()
    }

    /// Receives an answer; `None` when the server hangs up instead.
    pub async fn response(&mut self) -> Option<Response> {
        let head_end = self.read_until(|bytes| bytes.windows(4).position(|four| four == b"\r\n\r\n")).await?;
        let head = String::from_utf8(self.unread.drain(..head_end + 4).collect()).unwrap();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers: HashMap<_, _> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        self.read_until(|bytes| (bytes.len() >= length).then_some(length)).await?;
        let body = self.unread.drain(..length).collect();
        Some(Response { status, headers, body })
    }

    /// Waits until the server hangs up, whatever it says before.
    pub async fn hung_up(&mut self) {
        while self.read().await {}
    }

    /// Whether the server hangs up within a time.
    pub async fn hangs_up_within(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.hung_up()).await.is_ok()
    }

    pub fn peer_certificate(&self) -> CertificateDer<'static> {
        self.stream.get_ref().1.peer_certificates().unwrap()[0].clone()
    }

    pub fn protocol(&self) -> Option<&[u8]> {
        self.stream.get_ref().1.alpn_protocol()
    }

    pub fn into_stream(self) -> TlsStream<S> {
        self.stream
    }

    async fn read_until(&mut self, found: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        loop {
            if let Some(position) = found(&self.unread) {
                return Some(position);
            }
            if !self.read().await {
                return None;
            }
        }
    }

    /// Reads some bytes; `false` at the end.
    async fn read(&mut self) -> bool {
        let mut space = [0; 4096];
        match patiently(self.stream.read(&mut space)).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.unread.extend_from_slice(&space[..count]);
                true
            }
        }
    }
}

pub async fn patiently<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened for a minute")
}

/// A request for a review, as the API server sends it.
pub fn post(target: &str, body: &[u8]) -> Vec<u8> {
    post_with(target, &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()), body)
}

/// A request with header lines of one's own.
pub fn post_with(target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").into_bytes();
    request.extend_from_slice(body);
    request
}
