//! Asking a container: the network side of probes and hooks.

use std::net::Ipv4Addr;
use std::sync::Arc;

use anyhow::{Context, bail};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Empty};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::container::Inside;
use super::probe::{Check, Scheme};

/// Asks once, however long it takes.
pub(crate) async fn ask(check: &Check, ip: Ipv4Addr, inside: &Inside) -> anyhow::Result<()> {
    let dial = async |host: &str, port| {
        let host = if host.is_empty() { ip.to_string() } else { host.to_owned() };
        TcpStream::connect((host, port)).await.context("no connection")
    };
    match check {
        Check::Tcp { host, port } => dial(host, *port).await.map(drop),
        Check::Exec(command) => inside.run(command).await,
        Check::Sleep(pause) => {
            tokio::time::sleep(*pause).await;
            Ok(())
        }
        Check::Http { scheme, host, port, path, headers } => {
            let socket = dial(host, *port).await?;
            let mut request = Request::get(path).header("host", format!("{ip}:{port}"));
            request = request.header("user-agent", "kube-probe/1.34").header("accept", "*/*");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            let request = request.header("connection", "close").body(Empty::new())?;
            match scheme {
                Scheme::Http => get(socket, request).await,
                Scheme::Https => get(encrypted(socket, ip).await?, request).await,
            }
        }
    }
}

async fn get<S>(stream: S, request: Request<Empty<Bytes>>) -> anyhow::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    if status.is_success() || status.is_redirection() {
        return Ok(());
    }
    bail!("{status}: {}", String::from_utf8_lossy(&body))
}

async fn encrypted(socket: TcpStream, ip: Ipv4Addr) -> anyhow::Result<impl AsyncRead + AsyncWrite + Unpin + Send> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier = Arc::new(Anybody(Arc::clone(&provider)));
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let name = ServerName::IpAddress(std::net::IpAddr::V4(ip).into());
    Ok(TlsConnector::from(Arc::new(config)).connect(name, socket).await?)
}

/// kubelet takes a certificate of anybody: at the start there may be none that it could know.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer,
        _intermediates: &[CertificateDer],
        _name: &ServerName,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
