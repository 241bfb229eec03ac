//! What a Pod shows to its callers.

use std::net::Ipv4Addr;

use anyhow::Context;
use gateward_testbed::tls::connect_unverified;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The certificate that the webhooks' port of a Pod shows.
pub async fn shown_certificate(pod: Ipv4Addr) -> anyhow::Result<CertificateDer<'static>> {
    let socket = TcpStream::connect((pod, 9443)).await?;
    let stream = connect_unverified(socket, pod).await?;
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    Ok(shown.context("no certificate")?.clone().into_owned())
}

/// A page of the port that probes ask: its status and its text.
pub async fn probe_page(pod: Ipv4Addr, path: &str) -> anyhow::Result<(u16, String)> {
    let mut socket = TcpStream::connect((pod, 8081)).await?;
    socket.write_all(format!("GET {path} HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    Ok((status, body.to_owned()))
}
