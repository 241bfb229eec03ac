//! An HTTPS client that trusts one CA, as the API server trusts the caBundle.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// Sends reviews, each over a connection of its own.
pub struct ReviewClient {
    address: SocketAddr,
    connector: TlsConnector,
}

impl ReviewClient {
    /// A client for the server at `address`, whose certificate the CA must have issued.
    pub fn new(address: SocketAddr, ca_pem: &str) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes())?)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { address, connector: TlsConnector::from(Arc::new(config)) })
    }

    /// Posts a review and reads the answer.
    pub async fn post(&self, path: &str, review: &Value) -> anyhow::Result<Value> {
        let (status, body) = self.post_bytes(path, Bytes::from(review.to_string())).await?;
        if !status.is_success() {
            bail!("{path} answered {status}: {}", String::from_utf8_lossy(&body));
        }
        Ok(serde_json::from_slice(&body)?)
    }

    /// The same, whatever is sent and comes back.
    pub async fn post_bytes(&self, path: &str, review: Bytes) -> anyhow::Result<(StatusCode, Bytes)> {
        let socket = TcpStream::connect(self.address).await?;
        let stream = self.connector.connect(ServerName::try_from("localhost")?, socket).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let request = http::Request::post(path)
            .header("host", "localhost")
            .header("content-type", "application/json")
            .body(Full::new(review))?;
        let response = sender.send_request(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        drop(sender);
        connection.await?.context("the connection")?;
        Ok((status, body))
    }
}
