//! `--address`: how API servers call this machine.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::str::FromStr;

use gateward_certs::ServerNames;

const PORT: u16 = 9443;

/// A host, a port, or both.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct OwnAddress {
    host: Option<Host>,
    port: Option<u16>,
}

/// By what a machine is called.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    Name(String),
}

/// An address whose host is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Called {
    host: Host,
    port: Option<u16>,
    /// Where the server listens.
    pub(super) listen: SocketAddr,
}

impl FromStr for OwnAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(address) = text.parse() {
            return Ok(Self { host: Some(Host::Address(address)), port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (text, None),
        };
        let port = port.map(|port| port.parse().map_err(|_| format!("{port:?} is no port"))).transpose()?;
        let host = if host.is_empty() { None } else { Some(host.parse()?) };
        Ok(Self { host, port })
    }
}

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse() {
            return Ok(Self::Address(address));
        }
        if bare.is_some() || text.contains('*') {
            return Err(format!("{text:?} is neither a host name nor an address"));
        }
        ServerNames::parse([text]).map(|_| Self::Name(text.to_owned())).map_err(|error| error.to_string())
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(IpAddr::V4(address)) => address.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl OwnAddress {
    /// The address by which this machine is called: the one that was given, or `local`, from which it calls the API
    /// server. A machine that is called by another name listens on all its addresses.
    pub(super) fn called(self, local: IpAddr, listen: Option<SocketAddr>) -> Called {
        let everywhere = match &self.host {
            None => local,
            Some(Host::Address(IpAddr::V6(_))) => Ipv6Addr::UNSPECIFIED.into(),
            Some(Host::Address(IpAddr::V4(_)) | Host::Name(_)) => Ipv4Addr::UNSPECIFIED.into(),
        };
        let listen = listen.unwrap_or_else(|| SocketAddr::new(everywhere, self.port.unwrap_or(PORT)));
        Called { host: self.host.unwrap_or(Host::Address(local)), port: self.port, listen }
    }
}

impl Called {
    /// Where webhooks are, once the server listens at a port.
    pub(super) fn origin(&self, listening: u16) -> String {
        let port = self.port.filter(|port| *port != 0).unwrap_or(listening);
        format!("https://{}:{port}", self.host)
    }

    /// What the serving certificate is for.
    pub(super) fn server_name(&self) -> String {
        match &self.host {
            Host::Address(address) => address.to_string(),
            Host::Name(name) => name.clone(),
        }
    }
}

/// The address from which this machine calls another. Nothing is sent for that.
pub(super) fn local_towards(other: SocketAddr) -> io::Result<IpAddr> {
    let any: IpAddr = match other {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(other)?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 168, 1, 7));

    fn called(text: &str) -> Called {
        text.parse::<OwnAddress>().unwrap().called(LOCAL, None)
    }

    #[test]
    fn webhooks_are_where_the_address_says() {
        for (given, origin, listen) in [
            ("10.0.0.5", "https://10.0.0.5:9443", "0.0.0.0:9443"),
            ("10.0.0.5:8443", "https://10.0.0.5:8443", "0.0.0.0:8443"),
            ("fd00::7", "https://[fd00::7]:9443", "[::]:9443"),
            ("[fd00::7]", "https://[fd00::7]:9443", "[::]:9443"),
            ("[fd00::7]:8443", "https://[fd00::7]:8443", "[::]:8443"),
            ("host.docker.internal", "https://host.docker.internal:9443", "0.0.0.0:9443"),
            ("host.docker.internal:8443", "https://host.docker.internal:8443", "0.0.0.0:8443"),
            (":8443", "https://192.168.1.7:8443", "192.168.1.7:8443"),
        ] {
            let called = called(given);
            assert_eq!(called.origin(called.listen.port()), origin, "{given}");
            assert_eq!(called.listen, listen.parse().unwrap(), "{given}");
        }
        let usual = OwnAddress::default().called(LOCAL, None);
        assert_eq!((usual.origin(9443), usual.listen), ("https://192.168.1.7:9443".into(), (LOCAL, 9443).into()));
    }

    #[test]
    fn a_free_port_is_the_one_that_was_taken() {
        assert_eq!(called(":0").origin(40_123), "https://192.168.1.7:40123");
    }

    #[test]
    fn behind_a_tunnel_the_port_outside_is_another() {
        let listen = "127.0.0.1:9443".parse().unwrap();
        let called = "laptop.example.org:443".parse::<OwnAddress>().unwrap().called(LOCAL, Some(listen));
        assert_eq!((called.origin(9443), called.listen), ("https://laptop.example.org:443".into(), listen));
    }

    #[test]
    fn the_certificate_is_for_the_host_without_brackets_and_port() {
        assert_eq!(called("[fd00::7]:8443").server_name(), "fd00::7");
        assert_eq!(called("host.docker.internal:8443").server_name(), "host.docker.internal");
        assert_eq!(called(":0").server_name(), "192.168.1.7");
    }

    #[test]
    fn what_no_certificate_can_name_is_refused() {
        for text in ["https://laptop", "a b", "*.example.org", "laptop:port", "laptop:70000", "[laptop]:1", "[fd00::7"]
        {
            assert!(text.parse::<OwnAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn this_machine_calls_itself_from_itself() {
        assert_eq!(local_towards("127.0.0.1:6443".parse().unwrap()).unwrap(), Ipv4Addr::LOCALHOST);
    }
}
