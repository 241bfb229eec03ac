//! What a Pod shows to its callers.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The certificate that the webhooks' port of a Pod shows.
pub async fn shown_certificate(pod: Ipv4Addr) -> anyhow::Result<CertificateDer<'static>> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?.dangerous();
    let config = builder.with_custom_certificate_verifier(Arc::new(Anyone)).with_no_client_auth();
    let socket = TcpStream::connect(SocketAddr::from((pod, 9443))).await?;
    let name = ServerName::try_from("anyone.example")?;
    let stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await?;
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    Ok(shown.context("no certificate")?.clone().into_owned())
}

/// A page of the port that probes ask: its status and its text.
pub async fn probe_page(pod: Ipv4Addr, path: &str) -> anyhow::Result<(u16, String)> {
    let mut socket = TcpStream::connect(SocketAddr::from((pod, 8081))).await?;
    socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok((status, body.to_owned()))
}

/// Takes every certificate: it is only looked at.
#[derive(Debug)]
struct Anyone;

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        default_provider().signature_verification_algorithms.supported_schemes()
    }
}
