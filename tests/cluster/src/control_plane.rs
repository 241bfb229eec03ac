//! The programs of a control plane: what they are told, and the files that they read.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;

use base64::Engine;
use serde_json::{Value, json};

use crate::pki;
use crate::programs::Programs;

/// The address of the API server. The network is the bed's own, so are its ports.
pub(crate) const API_SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 6443);
/// The token of somebody who may do everything.
pub(crate) const ADMIN: &str = "admin-of-the-test-bed";

/// The controllers that a test of webhooks can need; all others stay off.
const CONTROLLERS: [&str; 10] = [
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "namespace-controller",
    "garbage-collector-controller",
    "deployment-controller",
    "replicaset-controller",
    "endpointslice-controller",
    "pod-garbage-collector-controller",
    "clusterrole-aggregation-controller",
];

/// What our own kinds went through is told whole, so that a test can look at what webhooks made of it.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  resources: [{group: nvidia.com}]
- level: Metadata
";

/// The programs that can be started at once, in the folder of [`write_files`].
pub(crate) const STORE_AND_API: [(&str, &[&str]); 2] = [
    (
        "etcd",
        &[
            "--name=bed",
            "--data-dir=etcd",
            "--listen-client-urls=http://127.0.0.1:2379",
            "--advertise-client-urls=http://127.0.0.1:2379",
            "--listen-peer-urls=http://127.0.0.1:2380",
            "--initial-advertise-peer-urls=http://127.0.0.1:2380",
            "--initial-cluster=bed=http://127.0.0.1:2380",
            "--unsafe-no-fsync=true",
            "--log-level=warn",
        ],
    ),
    (
        "kube-apiserver",
        &[
            "--etcd-servers=http://127.0.0.1:2379",
            "--secure-port=6443",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            "--tls-cert-file=api.crt",
            "--tls-private-key-file=api.key",
            "--client-ca-file=ca.crt",
            "--service-account-key-file=sa.pub",
            "--service-account-signing-key-file=sa.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--endpoint-reconciler-type=none",
            "--token-auth-file=tokens.csv",
            "--authorization-mode=RBAC",
            // Webhooks are dialled at the addresses of ready Pods; nothing like kube-proxy is needed.
            "--enable-aggregator-routing=true",
            "--audit-policy-file=audit.yaml",
            "--audit-log-path=audit.log",
            // A line is on disk before the client has its answer.
            "--audit-log-mode=blocking",
            // One file for the whole life of a bed, in megabytes.
            "--audit-log-maxsize=4096",
        ],
    ),
];

/// The controllers, which need an API server that is ready.
pub(crate) fn controllers(programs: &Programs) -> Command {
    let mut command = programs.control_plane("kube-controller-manager");
    command.arg(format!("--controllers={}", CONTROLLERS.join(","))).args([
        "--kubeconfig=kubeconfig",
        "--service-account-private-key-file=sa.key",
        "--root-ca-file=ca.crt",
        "--leader-elect=false",
        "--secure-port=0",
    ]);
    command
}

/// Writes what the programs read, and gives the certificate of the authority.
pub(crate) fn write_files(folder: &Path) -> anyhow::Result<String> {
    let authority = pki::write(folder)?;
    std::fs::write(folder.join("tokens.csv"), format!("{ADMIN},admin,admin,system:masters\n"))?;
    std::fs::write(folder.join("audit.yaml"), AUDIT_POLICY)?;
    std::fs::write(folder.join("kubeconfig"), kubeconfig(&authority).to_string())?;
    Ok(authority)
}

fn kubeconfig(authority: &str) -> Value {
    let authority = base64::engine::general_purpose::STANDARD.encode(authority);
    let server = format!("https://{API_SERVER}");
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bed", "cluster": {"server": server, "certificate-authority-data": authority}}],
        "users": [{"name": "admin", "user": {"token": ADMIN}}],
        "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": "admin"}}],
        "current-context": "bed",
    })
}
