//! What a Pod shows to its callers.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use anyhow::Context;
use gateward_testbed::tls::connect_unverified;
use gateward_testbed::{Pod, until};
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Sandbox;

/// The certificate that the webhooks' port of a Pod shows.
pub async fn shown_certificate(pod: Ipv4Addr) -> anyhow::Result<CertificateDer<'static>> {
    let socket = TcpStream::connect((pod, 9443)).await?;
    let stream = connect_unverified(socket, pod).await?;
    let shown = stream.get_ref().1.peer_certificates().and_then(|chain| chain.first());
    Ok(shown.context("no certificate")?.clone().into_owned())
}

/// The Pods of the webhooks in a namespace that don't end.
pub fn webhook_pods(sandbox: &Sandbox, namespace: &str) -> Vec<Ipv4Addr> {
    let pods = sandbox.bed().node().pods(namespace, "app.kubernetes.io/name=dynamo-operator");
    pods.iter().filter(|pod| !pod.is_ending()).filter_map(Pod::ip).collect()
}

/// Waits until every Pod of the webhooks shows a certificate. Prints how long that took, and gives the time of the first.
pub async fn shown_by_all(sandbox: &Sandbox, namespace: &str, certificate: &CertificateDer<'_>) -> Duration {
    let (start, mut first) = (Instant::now(), None);
    until("every pod shows the new certificate", Duration::from_mins(2), async || {
        let mut all = true;
        for pod in webhook_pods(sandbox, namespace) {
            let shown = shown_certificate(pod).await.is_ok_and(|shown| shown == *certificate);
            first = first.or_else(|| shown.then(|| start.elapsed()));
            all &= shown;
        }
        all && first.is_some()
    })
    .await;
    let (first, all) = (first.unwrap_or_default(), start.elapsed());
    println!("a handshake with the new certificate after {first:.1?}, with every pod after {all:.1?}");
    first
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
