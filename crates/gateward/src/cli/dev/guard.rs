//! What keeps `dev` from a cluster that many use, unless a person says so.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why a cluster is left alone; each text says what allows it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("which cluster? name its context with --context; there are: {contexts}")]
    Context { contexts: String },
    #[error(
        "the API server {host} is at {address}, which is neither a loopback nor a private address, so it may be one that \
         many use; --allow-public-api-server develops against it all the same"
    )]
    PublicApiServer { host: String, address: IpAddr },
    #[error(
        "the cluster has {found} nodes, more than the {allowed} that are allowed, so it may be one that many use; \
         --allow-nodes {found} develops against it all the same"
    )]
    Nodes { found: usize, allowed: usize },
}

/// Whether the command line names one of these contexts.
pub(super) fn check_context(named: Option<&str>, contexts: &[String]) -> Result<(), Refusal> {
    if named.is_some() { Ok(()) } else { Err(Refusal::Context { contexts: contexts.join(", ") }) }
}

/// Whether an API server is near: a name may stand for several addresses.
pub(super) fn check_api_server(host: &str, addresses: &[IpAddr]) -> Result<(), Refusal> {
    match addresses.iter().find(|address| !is_near(**address)) {
        Some(address) => Err(Refusal::PublicApiServer { host: host.to_owned(), address: *address }),
        None => Ok(()),
    }
}

/// Whether a cluster is small.
pub(super) fn check_nodes(found: usize, allowed: usize) -> Result<(), Refusal> {
    if found > allowed { Err(Refusal::Nodes { found, allowed }) } else { Ok(()) }
}

/// Whether an address is that of this machine, or of one in a network of its own. The unspecified one, which k3d writes
/// into kubeconfigs, is this machine's.
fn is_near(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified() || is_private(address)
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_private() || address.is_link_local() || is_shared(address),
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local() || is_site_local(address),
    }
}

/// 100.64.0.0/10 of RFC 6598, behind the NAT of a provider; overlay networks number their machines so.
fn is_shared(address: Ipv4Addr) -> bool {
    let [first, second, ..] = address.octets();
    first == 100 && second & 0b1100_0000 == 64
}

/// `fec0::/10`, the deprecated predecessor of unique local addresses.
fn is_site_local(address: Ipv6Addr) -> bool {
    address.segments()[0] & 0xffc0 == 0xfec0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(texts: &[&str]) -> Vec<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn loopback_and_private_addresses_are_near() {
        for near in [
            "127.0.0.1",
            "127.8.8.8",
            "0.0.0.0",
            "::",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.49.2",
            "169.254.1.1",
            "100.64.0.1",
            "100.127.255.255",
            "::1",
            "fd00::1",
            "fc00::1",
            "fe80::1",
            "fec0::1",
            "::ffff:10.0.0.1",
        ] {
            assert_eq!(check_api_server("kind", &addresses(&[near])), Ok(()), "{near}");
        }
    }

    #[test]
    fn all_other_addresses_are_refused_with_the_flag_that_allows_them() {
        for far in [
            "8.8.8.8",
            "172.15.0.1",
            "172.32.0.1",
            "192.169.0.1",
            "100.63.255.255",
            "100.128.0.0",
            "2001:db8::1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::a00:1",
        ] {
            let error = check_api_server("prod", &addresses(&[far])).unwrap_err().to_string();
            assert!(error.contains("prod") && error.contains("--allow-public-api-server"), "{far}: {error}");
        }
    }

    #[test]
    fn one_far_address_of_a_name_is_enough() {
        let error = check_api_server("prod", &addresses(&["10.0.0.1", "8.8.8.8"])).unwrap_err();
        assert_eq!(error, Refusal::PublicApiServer { host: "prod".into(), address: "8.8.8.8".parse().unwrap() });
    }

    #[test]
    fn a_cluster_of_more_nodes_than_allowed_is_refused() {
        assert_eq!(check_nodes(5, 5), Ok(()));
        assert_eq!(check_nodes(0, 5), Ok(()));
        let error = check_nodes(6, 5).unwrap_err();
        assert_eq!(error, Refusal::Nodes { found: 6, allowed: 5 });
        assert!(error.to_string().contains("--allow-nodes 6"), "{error}");
    }

    #[test]
    fn the_current_context_is_not_enough() {
        let two = ["kind-kind".to_owned(), "prod".to_owned()];
        assert_eq!(check_context(Some("kind-kind"), &two), Ok(()));
        for contexts in [&two[..], &two[..1]] {
            let error = check_context(None, contexts).unwrap_err().to_string();
            assert!(error.contains("--context") && error.contains("kind-kind"), "{error}");
        }
    }
}
