//! Taking an address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::limits::LimitsError;

/// How many connections the operating system keeps until they are accepted. Those beyond try again a second later, which
/// is too late for a probe; the standard library would keep 128.
const BACKLOG: i32 = 1024;

/// Why the listener doesn't listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The address can't be taken.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        source: io::Error,
    },
    /// The limits contradict each other.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// There is no thread for a listener.
    #[error("cannot start a thread for {address}")]
    Thread {
        /// The address.
        address: SocketAddr,
        /// What the operating system says.
        source: io::Error,
    },
    /// The cryptography lacks what TLS needs.
    #[error("TLS can't be set up: {0}")]
    Tls(String),
}

/// Binds an address and says which it has become; port 0 takes a free one.
///
/// The unspecified address of IPv6 takes IPv4 too, and stands for that of IPv4 alone where there is no IPv6. The
/// unspecified address of IPv4 takes IPv4 alone.
pub(crate) fn bind(address: SocketAddr) -> Result<(TcpListener, SocketAddr), BindError> {
    let listener = match listen(address) {
        Ok(listener) => listener,
        Err(source) => match without_ipv6(address, &source) {
            Some(instead) => listen(instead).map_err(|source| BindError::Address { address: instead, source })?,
            None => return Err(BindError::Address { address, source }),
        },
    };
    let bound = listener.local_addr().map_err(|source| BindError::Address { address, source })?;
    Ok((listener, bound))
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if is_anywhere(address) {
        // Without it, what such an address means is a setting of the system.
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// The address that stands for all addresses of both kinds.
fn is_anywhere(address: SocketAddr) -> bool {
    address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
}

/// What is bound where there is no IPv6. A port that is taken, or that nobody may take, stays so.
fn without_ipv6(address: SocketAddr, error: &io::Error) -> Option<SocketAddr> {
    let taken = matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied);
    (is_anywhere(address) && !taken).then(|| (Ipv4Addr::UNSPECIFIED, address.port()).into())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    /// Whether a listener on an address is reached by another.
    async fn reached(listening: &str, from: IpAddr) -> bool {
        let (listener, bound) = bind(listening.parse().unwrap()).unwrap();
        let connected = TcpStream::connect((from, bound.port())).await.is_ok();
        drop(listener);
        connected
    }

    fn system_has_ipv6() -> bool {
        std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_ok()
    }

    #[tokio::test]
    async fn anywhere_means_both_kinds_of_addresses() {
        assert!(reached("[::]:0", Ipv4Addr::LOCALHOST.into()).await);
        assert_eq!(reached("[::]:0", Ipv6Addr::LOCALHOST.into()).await, system_has_ipv6());
    }

    #[tokio::test]
    async fn an_address_of_one_kind_stays_one() {
        assert!(reached("0.0.0.0:0", Ipv4Addr::LOCALHOST.into()).await);
        assert!(!reached("0.0.0.0:0", Ipv6Addr::LOCALHOST.into()).await);
        assert!(!system_has_ipv6() || !reached("[::1]:0", Ipv4Addr::LOCALHOST.into()).await);
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_said_to_be() {
        let (_listener, bound) = bind("[::]:0".parse().unwrap()).unwrap();
        let error = bind(bound).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot listen on {bound}"));
    }

    #[test]
    fn without_ipv6_anywhere_means_ipv4() {
        let instead = |address: &str, kind: io::ErrorKind| {
            without_ipv6(address.parse().unwrap(), &kind.into()).map(|instead| instead.to_string())
        };
        assert_eq!(instead("[::]:9443", io::ErrorKind::AddrNotAvailable), Some("0.0.0.0:9443".into()));
        assert_eq!(instead("[::]:9443", io::ErrorKind::Unsupported), Some("0.0.0.0:9443".into()));
        assert_eq!(instead("[::]:443", io::ErrorKind::PermissionDenied), None);
        assert_eq!(instead("[::]:9443", io::ErrorKind::AddrInUse), None);
        assert_eq!(instead("[::1]:9443", io::ErrorKind::AddrNotAvailable), None);
    }
}
