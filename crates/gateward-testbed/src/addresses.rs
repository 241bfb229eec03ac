//! Where the parts of a control plane listen.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::Context;

use crate::ground::Ground;

/// The addresses of a bed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Addresses {
    pub(crate) store: SocketAddr,
    pub(crate) peers: SocketAddr,
    pub(crate) api_server: SocketAddr,
    pub(crate) webhooks: SocketAddr,
    /// The addresses of Services.
    pub(crate) services: &'static str,
}

impl Addresses {
    /// The usual ports, which are all free in a network of our own, and elsewhere the next ones that are. Two beds that
    /// begin at the same moment on one network can choose the same ones; then one of them says so and ends.
    pub(crate) fn choose(ground: Ground) -> anyhow::Result<Self> {
        let (store, api_server, webhooks) = (free(2379)?, free(6443)?, free(9443)?);
        Ok(Self { store, peers: free(store.port() + 1)?, api_server, webhooks, services: ground.services() })
    }
}

/// The first port from this one on, of a hundred, on which nothing listens.
fn free(usual: u16) -> anyhow::Result<SocketAddr> {
    let candidates = (usual..=usual + 100).map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let mut free = candidates.filter(|address| TcpListener::bind(address).is_ok());
    free.next().with_context(|| format!("no port is free at {} from {usual} on", Ipv4Addr::LOCALHOST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_next_port_where_somebody_listens() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap();
        let chosen = free(taken.port().min(u16::MAX - 100)).unwrap();
        assert!(chosen.port() != taken.port() && chosen.ip() == taken.ip(), "{chosen}");
    }
}
