//! A client that sends exactly the bytes of a test.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gateward_server::ClientTrust;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The timeout of every step of a test.
const TIMEOUT: Duration = Duration::from_mins(1);

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

/// The TLS configuration of a client.
pub fn config(trust: &ClientTrust, alpn: &[&str]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trust.ca_certificates.iter().cloned());
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

impl Client {
    pub async fn connect(address: SocketAddr, trust: &ClientTrust) -> io::Result<Self> {
        Self::connect_with(address, trust, config(trust, &["http/1.1"])).await
    }

    pub async fn connect_with(address: SocketAddr, trust: &ClientTrust, config: ClientConfig) -> io::Result<Self> {
        Self::over(TcpStream::connect(address).await?, trust, config).await
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub async fn over(socket: S, trust: &ClientTrust, config: ClientConfig) -> io::Result<Self> {
        let connector = TlsConnector::from(Arc::new(config));
        let stream = within_timeout(connector.connect(trust.server_name.clone(), socket)).await?;
        Ok(Self { stream, unread: Vec::new() })
    }

    /// Sends bytes; an error means that the server has closed the connection.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        within_timeout(async {
            self.stream.write_all(bytes).await?;
            self.stream.flush().await
        })
        .await
    }

    /// Sends a request and receives its response.
    pub async fn ask(&mut self, request: &[u8]) -> Response {
        // The server may respond and close before everything is sent.
        let _ = self.send(request).await;
        self.response().await.unwrap()
    }

    /// Receives a response; `None` where the server closes the connection instead.
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

    /// Waits until the server closes the connection, whatever it sends before.
    pub async fn closed(&mut self) {
        while self.read().await {}
    }

    /// Whether the server closes the connection within a time.
    pub async fn closes_within(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.closed()).await.is_ok()
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
        match within_timeout(self.stream.read(&mut space)).await {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.unread.extend_from_slice(&space[..count]);
                true
            }
        }
    }
}

pub async fn within_timeout<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(TIMEOUT, future).await.expect("nothing happened for a minute")
}

/// A request for a review, as the API server sends it.
pub fn post(target: &str, body: &[u8]) -> Vec<u8> {
    post_with(target, &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()), body)
}

/// A request with custom header lines.
pub fn post_with(target: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!("POST {target} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").into_bytes();
    request.extend_from_slice(body);
    request
}
