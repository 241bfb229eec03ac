//! Binds an address.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use crate::limits::LimitsError;

/// The length of the operating system's queue of connections. A connection beyond it is retried after a second, which is
/// too late for a probe; the standard library's queue is 128 long.
const BACKLOG: i32 = 1024;

/// Why a listener can't be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The address can't be bound.
    #[error("cannot listen on {address}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// The limits contradict each other.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The thread of the listener can't be started.
    #[error("cannot start a thread for {address}")]
    Thread {
        /// The address.
        address: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// The TLS configuration is invalid.
    #[error("TLS can't be set up: {0}")]
    Tls(String),
}

/// Binds an address and returns the bound one; port 0 takes a free one.
///
/// `[::]` accepts IPv4 too, and becomes `0.0.0.0` where the system has no IPv6. `0.0.0.0` accepts IPv4 alone.
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
    if is_unspecified_v6(address) {
        // The default is a setting of the system.
        socket.set_only_v6(false)?;
    }
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Whether the address means all addresses, of IPv6 and IPv4.
fn is_unspecified_v6(address: SocketAddr) -> bool {
    address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED)
}

/// The address to bind where the system has no IPv6; `None` where the error has another cause.
fn without_ipv6(address: SocketAddr, error: &io::Error) -> Option<SocketAddr> {
    let taken = matches!(error.kind(), io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied);
    (is_unspecified_v6(address) && !taken).then(|| (Ipv4Addr::UNSPECIFIED, address.port()).into())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    /// Whether a listener on an address is reachable from another.
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
    async fn the_unspecified_v6_address_accepts_both_families() {
        assert!(reached("[::]:0", Ipv4Addr::LOCALHOST.into()).await);
        assert_eq!(reached("[::]:0", Ipv6Addr::LOCALHOST.into()).await, system_has_ipv6());
    }

    #[tokio::test]
    async fn other_addresses_accept_one_family() {
        assert!(reached("0.0.0.0:0", Ipv4Addr::LOCALHOST.into()).await);
        assert!(!reached("0.0.0.0:0", Ipv6Addr::LOCALHOST.into()).await);
        assert!(!system_has_ipv6() || !reached("[::1]:0", Ipv4Addr::LOCALHOST.into()).await);
    }

    #[tokio::test]
    async fn a_port_in_use_is_an_error_with_its_address() {
        let (_listener, bound) = bind("[::]:0".parse().unwrap()).unwrap();
        let error = bind(bound).unwrap_err();
        assert_eq!(error.to_string(), format!("cannot listen on {bound}"));
    }

    #[test]
    fn without_ipv6_the_unspecified_address_falls_back_to_ipv4() {
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
