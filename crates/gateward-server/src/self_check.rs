//! The self-check before readiness: verified TLS handshakes with the own listener, as API servers would make them.

use std::future::pending;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::ClientConfig;
use rustls::client::VerifierBuilderError;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsConnector;

use crate::api_server_verifier::ApiServerVerifier;
use crate::cert_resolver::provider;
use crate::readiness::{Readiness, SelfCheckState};

/// The timeout of one handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

/// The backoff between two attempts.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);
const LONGEST_BACKOFF: Duration = Duration::from_secs(1);

/// The CA certificates that a client trusts, and the server name that it expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientTrust {
    /// The CA certificates, as in a `caBundle`. One that can't be parsed is ignored, as the API server does.
    pub ca_certificates: Vec<CertificateDer<'static>>,
    /// The name that the client expects in the serving certificate.
    pub server_name: ServerName<'static>,
}

/// The trust of an injection target: a webhook configuration, or a CRD with a conversion webhook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetTrust {
    /// The name of the target, for the readiness body.
    pub name: String,
    /// What an API server trusts when it calls this target's webhook.
    pub trust: ClientTrust,
}

/// What API servers trust: the `caBundle` of every injection target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InjectedTrust {
    /// The trust of each injection target.
    pub targets: Vec<TargetTrust>,
    /// When all API servers observe these bundles; `None` while the injection targets are unknown.
    pub valid_from: Option<Instant>,
}

/// The self-check of one listener.
pub(crate) struct SelfCheck {
    address: SocketAddr,
    readiness: Readiness,
}

impl SelfCheck {
    pub(crate) fn new(address: SocketAddr, readiness: Readiness) -> Self {
        Self { address, readiness }
    }

    /// Runs until a handshake is verified for each injection target, at a time when API servers observe its bundle.
    pub(crate) async fn run(self, mut injected: watch::Receiver<InjectedTrust>) {
        loop {
            let current = injected.borrow_and_update().clone();
            tokio::select! {
                () = changed_from(&current, &mut injected) => {}
                () = self.pass(&current) => break,
            }
        }
        self.readiness.set_self_check(SelfCheckState::Passed);
    }

    /// Tries until all handshakes are verified.
    async fn pass(&self, injected: &InjectedTrust) {
        let mut backoff = FIRST_BACKOFF;
        loop {
            let early = injected.valid_from.and_then(|from| from.checked_duration_since(Instant::now()));
            let early = early.filter(|early| !early.is_zero());
            match (self.verify_all(injected).await, early) {
                (Ok(()), None) => return,
                (Ok(()), Some(early)) => {
                    let seconds = early.as_secs_f32().ceil();
                    self.fail(format!("verified; waiting {seconds} s for API servers to observe the new caBundle"));
                    tokio::time::sleep(early).await;
                }
                (Err(why), _) => {
                    self.fail(why);
                    tokio::time::sleep(backoff).await;
                    backoff = (backoff * 2).min(LONGEST_BACKOFF);
                }
            }
        }
    }

    fn fail(&self, why: String) {
        self.readiness.set_self_check(SelfCheckState::Failing(why));
    }

    /// Makes one handshake for each distinct trust.
    async fn verify_all(&self, injected: &InjectedTrust) -> Result<(), String> {
        let InjectedTrust { targets, valid_from } = injected;
        if targets.is_empty() || valid_from.is_none() {
            return Err("the injection targets are not known yet".into());
        }
        for (index, target) in targets.iter().enumerate() {
            if targets[..index].iter().all(|before| before.trust != target.trust) {
                let why = |why| format!("no TLS handshake verified yet for {}: {why}", target.name);
                handshake(self.address, &target.trust).await.map_err(why)?;
            }
        }
        Ok(())
    }
}

/// Waits for a change. A dropped sender means that there will be none.
async fn changed_from(current: &InjectedTrust, injected: &mut watch::Receiver<InjectedTrust>) {
    if injected.wait_for(|now| now != current).await.is_err() {
        pending::<()>().await;
    }
}

/// Makes one verified handshake.
async fn handshake(address: SocketAddr, trust: &ClientTrust) -> Result<(), String> {
    let connector = TlsConnector::from(client_config(trust)?);
    let handshake = async {
        let socket = TcpStream::connect(&reachable(address)[..]).await?;
        connector.connect(trust.server_name.clone(), socket).await.map(drop)
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_elapsed) => Err("it took too long".into()),
    }
}

fn client_config(trust: &ClientTrust) -> Result<Arc<ClientConfig>, String> {
    let verifier = ApiServerVerifier::new(&trust.ca_certificates).map_err(|error| match error {
        VerifierBuilderError::NoRootAnchors => "its caBundle has no usable CA certificate".to_owned(),
        error => error.to_string(),
    })?;
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The addresses of a listener on all addresses are those of the loopback. Where the system has no IPv6, a listener on
/// `[::]` has only the one of IPv4.
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
