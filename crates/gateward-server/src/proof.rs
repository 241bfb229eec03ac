//! Handshakes with the own listener, as those who call it would make them.

use std::future::pending;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsConnector;

use crate::identity::provider;
use crate::readiness::{Handshake, Readiness};

/// How long one try may take.
const TRY: Duration = Duration::from_secs(2);

/// How long to wait between two tries, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Whom clients trust, and under which name they call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trust {
    /// The certificates of the authorities, as `caBundle` has them. One that can't be read is passed over, as the API
    /// server does.
    pub authorities: Vec<CertificateDer<'static>>,
    /// The name that clients expect in the certificate.
    pub name: ServerName<'static>,
}

/// Someone who calls the listener: a webhook configuration, or a CRD that is converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What it is called, for those who read why the pod is not ready.
    pub name: String,
    /// Whom it trusts, and how it calls.
    pub trust: Trust,
}

/// All who call the listener.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Callers {
    /// Each of them.
    pub known: Vec<Caller>,
    /// From when on each of them has heard of what it is to trust; `None` while it isn't known who calls.
    pub stand_from: Option<Instant>,
}

/// Makes handshakes until one is verified for each of those who call, at a time when all of them have heard of what they
/// trust.
pub(crate) async fn prove(address: SocketAddr, mut callers: watch::Receiver<Callers>, readiness: Readiness) {
    loop {
        let present = callers.borrow_and_update().clone();
        tokio::select! {
            () = other_than(&present, &mut callers) => {}
            () = verified_by_all(address, &present, &readiness) => break,
        }
    }
    readiness.handshake(Handshake::Proved);
}

/// Waits until the callers are others. Nobody who could say so means that they stay.
async fn other_than(present: &Callers, callers: &mut watch::Receiver<Callers>) {
    if callers.wait_for(|now| now != present).await.is_err() {
        pending::<()>().await;
    }
}

async fn verified_by_all(address: SocketAddr, callers: &Callers, readiness: &Readiness) {
    let mut pause = FIRST_PAUSE;
    loop {
        let early = callers.stand_from.and_then(|from| from.checked_duration_since(Instant::now()));
        let early = early.filter(|early| !early.is_zero());
        match (verify_all(address, callers).await, early) {
            (Ok(()), None) => return,
            (Ok(()), Some(early)) => {
                let seconds = early.as_secs_f32().ceil();
                let why = format!("verified, but it takes {seconds} s until all who call know of what they trust");
                readiness.handshake(Handshake::Open(why));
                tokio::time::sleep(early).await;
            }
            (Err(why), _) => {
                readiness.handshake(Handshake::Open(why));
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// One handshake for each trust that is another than those before it.
async fn verify_all(address: SocketAddr, callers: &Callers) -> Result<(), String> {
    let Callers { known, stand_from } = callers;
    if known.is_empty() || stand_from.is_none() {
        return Err("it is not known yet who calls".into());
    }
    for (index, caller) in known.iter().enumerate() {
        if known[..index].iter().all(|before| before.trust != caller.trust) {
            let why = |why| format!("no verified handshake has succeeded yet for {}: {why}", caller.name);
            shake_hands(address, &caller.trust).await.map_err(why)?;
        }
    }
    Ok(())
}

/// Makes one verified handshake.
async fn shake_hands(address: SocketAddr, trust: &Trust) -> Result<(), String> {
    let connector = TlsConnector::from(client(trust)?);
    let handshake = async {
        let socket = TcpStream::connect(&reachable(address)[..]).await?;
        connector.connect(trust.name.clone(), socket).await.map(drop)
    };
    match tokio::time::timeout(TRY, handshake).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_elapsed) => Err("it took too long".into()),
    }
}

fn client(trust: &Trust) -> Result<Arc<ClientConfig>, String> {
    let mut roots = RootCertStore::empty();
    let (added, _passed_over) = roots.add_parsable_certificates(trust.authorities.iter().cloned());
    if added == 0 {
        return Err("it trusts no authority".into());
    }
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A listener on all addresses is reached over the loopback. Where IPv6 is switched off, a listener on all addresses of
/// both kinds has only the older loopback.
fn reachable(address: SocketAddr) -> Vec<SocketAddr> {
    let port = address.port();
    match address {
        SocketAddr::V4(v4) if v4.ip().is_unspecified() => vec![(Ipv4Addr::LOCALHOST, port).into()],
        SocketAddr::V6(v6) if v6.ip().is_unspecified() => {
            vec![(Ipv6Addr::LOCALHOST, port).into(), (Ipv4Addr::LOCALHOST, port).into()]
        }
        _ => vec![address],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_addresses_is_reached_over_the_loopback() {
        let reached = |address: &str| -> Vec<String> {
            reachable(address.parse().unwrap()).iter().map(ToString::to_string).collect()
        };
        assert_eq!(reached("0.0.0.0:9443"), ["127.0.0.1:9443"]);
        assert_eq!(reached("[::]:9443"), ["[::1]:9443", "127.0.0.1:9443"]);
        assert_eq!(reached("10.0.0.7:9443"), ["10.0.0.7:9443"]);
    }
}
