//! The NetworkPolicy of the Pods: who may reach which port.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use clap::Args;
use serde_json::{Value, json};

use crate::cli::planned::source;
use crate::operator::{Operator, Release};

/// The name of the port of the webhooks. Pods of a release with another number have it too, so that they are reached while
/// they are replaced.
pub(super) const PORT: &str = "webhook-server";

/// Who may reach the Pods.
#[derive(Debug, Args)]
pub(crate) struct NetworkPolicyArguments {
    /// Add a NetworkPolicy that lets nothing in but what calls the webhooks, probes the Pods and reads the metrics
    #[arg(long)]
    network_policy: bool,
    /// Addresses from which API servers call the webhooks; everybody unless given
    #[arg(long = "api-server-cidr", value_name = "CIDR", requires = "network_policy")]
    api_servers: Vec<Cidr>,
    /// Addresses of the nodes, whose kubelets probe the Pods; everybody unless given
    #[arg(long = "node-cidr", value_name = "CIDR", requires = "network_policy")]
    nodes: Vec<Cidr>,
    /// Namespace whose Pods may read the metrics; everybody unless given
    #[arg(long = "metrics-namespace", value_name = "NAME", requires = "network_policy")]
    metrics_namespaces: Vec<String>,
}

/// A block of addresses, as a NetworkPolicy takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cidr {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is no block of addresses.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum CidrError {
    #[error("it takes an address and the length of its prefix, such as 10.0.0.0/8 or fd00::/8")]
    Form,
    #[error("a prefix of {0} has at most {1} bits")]
    Prefix(IpAddr, u8),
    #[error("bits behind the prefix must be zero; write {0}")]
    HostBits(Cidr),
}

/// The policy, where it is asked for.
pub(crate) fn object<P: Operator>(
    operator: &P,
    release: &Release,
    values: &Value,
    arguments: &NetworkPolicyArguments,
) -> anyhow::Result<Option<Value>> {
    if !arguments.network_policy {
        return Ok(None);
    }
    let values = operator.chart_values(release, values);
    let config = operator.config(&source(release, &values))?;
    let pods = json!({"matchLabels": config.labels.pods});
    // API servers and kubelets have no labels that a policy could name, only addresses.
    let blocks = |blocks: &[Cidr]| -> Vec<Value> {
        blocks.iter().map(|block| json!({"ipBlock": {"cidr": block.to_string()}})).collect()
    };
    let mut callers = blocks(&arguments.api_servers);
    if !callers.is_empty() {
        // The replica that writes asks each other one which certificate it serves.
        callers.push(json!({"podSelector": pods}));
    }
    let readers = arguments.metrics_namespaces.iter().map(|name| in_namespace(name)).collect();
    let listeners = &config.listeners;
    let rules = [
        rule(PORT, callers),
        rule(listeners.health.port, blocks(&arguments.nodes)),
        rule(listeners.metrics.port, readers),
    ];
    Ok(Some(json!({
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": values.service_account, "namespace": release.namespace, "labels": config.labels.pods},
        "spec": {"podSelector": pods, "policyTypes": ["Ingress"], "ingress": rules},
    })))
}

fn in_namespace(name: &str) -> Value {
    json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}})
}

/// Who may reach a port: these, or everybody where there is none.
fn rule(port: impl Into<Value>, from: Vec<Value>) -> Value {
    let mut rule = json!({"ports": [{"port": port.into(), "protocol": "TCP"}]});
    if !from.is_empty() {
        rule["from"] = from.into();
    }
    rule
}

impl Cidr {
    /// The same block, its bits behind the prefix zero.
    fn masked(self) -> Self {
        let length = u32::from(self.prefix);
        let address = match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32_u32.saturating_sub(length)).unwrap_or(0);
                IpAddr::from((address.to_bits() & mask).to_be_bytes())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128_u32.saturating_sub(length)).unwrap_or(0);
                IpAddr::from((address.to_bits() & mask).to_be_bytes())
            }
        };
        Self { address, ..self }
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, prefix) = text.split_once('/').ok_or(CidrError::Form)?;
        // Rust reads `+8` as a number too; API servers don't, nor `08`.
        if !prefix.bytes().all(|byte| byte.is_ascii_digit()) || prefix.len() > 1 && prefix.starts_with('0') {
            return Err(CidrError::Form);
        }
        let address: IpAddr = address.parse().map_err(|_| CidrError::Form)?;
        let prefix: u8 = prefix.parse().map_err(|_| CidrError::Form)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        if prefix > longest {
            return Err(CidrError::Prefix(address, longest));
        }
        let block = Self { address, prefix };
        if block == block.masked() { Ok(block) } else { Err(CidrError::HostBits(block.masked())) }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(text: &str) -> Result<String, String> {
        text.parse::<Cidr>().map(|block| block.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_block_is_an_address_and_a_prefix() {
        for text in ["10.0.0.0/8", "0.0.0.0/0", "192.168.1.7/32", "fd00::/8", "::/0", "::1/128"] {
            assert_eq!(block(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for text in ["", "10.0.0.0", "/8", "10.0.0.0/", "10.0.0.0/x", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0/8", "a/8"] {
            assert_eq!(text.parse::<Cidr>(), Err(CidrError::Form), "{text}");
        }
        assert_eq!(block("10.0.0.0/33"), Err("a prefix of 10.0.0.0 has at most 32 bits".into()));
        assert_eq!(block("::/129"), Err("a prefix of :: has at most 128 bits".into()));
        assert!(block("10.0.0.0/999").is_err());
    }

    #[test]
    fn an_address_within_a_block_is_refused_with_the_block() {
        for (text, right) in [("10.1.2.3/8", "10.0.0.0/8"), ("10.1.2.3/0", "0.0.0.0/0"), ("fd00::1/64", "fd00::/64")] {
            assert_eq!(block(text), Err(format!("bits behind the prefix must be zero; write {right}")));
        }
    }

    #[test]
    fn a_port_without_peers_is_open_to_everybody() {
        assert_eq!(rule(9443, Vec::new()), json!({"ports": [{"port": 9443, "protocol": "TCP"}]}));
        let from = vec![in_namespace("monitoring")];
        assert_eq!(
            rule(8080, from)["from"],
            json!([{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}}}])
        );
    }
}
