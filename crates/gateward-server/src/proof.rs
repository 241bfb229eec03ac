//! A handshake with the own listener, as the API server would make it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::identity::provider;

/// How long one try may take.
const TRY: Duration = Duration::from_secs(2);

/// Whom clients trust, and under which name they call.
#[derive(Debug, Clone)]
pub struct Trust {
    /// The certificates of the authorities, as `caBundle` has them.
    pub authorities: Vec<CertificateDer<'static>>,
    /// The name that clients expect in the certificate.
    pub name: ServerName<'static>,
}

/// Makes one verified handshake.
pub(crate) async fn shake_hands(address: SocketAddr, trust: &Trust) -> Result<(), String> {
    let connector = TlsConnector::from(client(trust).map_err(|error| error.to_string())?);
    let handshake = async {
        let socket = TcpStream::connect(reachable(address)).await?;
        connector.connect(trust.name.clone(), socket).await.map(drop)
    };
    match tokio::time::timeout(TRY, handshake).await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(_elapsed) => Err("it took too long".into()),
    }
}

fn client(trust: &Trust) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut roots = RootCertStore::empty();
    for authority in &trust.authorities {
        roots.add(authority.clone())?;
    }
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// A listener on all addresses is reached over the loopback.
fn reachable(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_addresses_is_reached_over_the_loopback() {
        let reached = |address: &str| reachable(address.parse().unwrap()).to_string();
        assert_eq!(reached("0.0.0.0:9443"), "127.0.0.1:9443");
        assert_eq!(reached("[::]:9443"), "[::1]:9443");
        assert_eq!(reached("10.0.0.7:9443"), "10.0.0.7:9443");
    }
}
