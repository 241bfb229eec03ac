//! The programs of a control plane: their arguments, and the files that they read.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use base64::Engine;
use serde_json::{Value, json};

use crate::addresses::Addresses;
use crate::pki;
use crate::programs::Programs;

/// The program of the API server.
pub(crate) const API_SERVER: &str = "kube-apiserver";
/// What the controllers' program is called.
pub(crate) const CONTROLLERS: &str = "kube-controller-manager";
/// The token of somebody who may do everything.
pub const ADMIN: &str = "admin-of-the-test-bed";

/// The controllers that a test of webhooks can need; all others stay off.
const ENABLED_CONTROLLERS: [&str; 11] = [
    "serviceaccount-controller",
    "serviceaccount-token-controller",
    "root-ca-certificate-publisher-controller",
    "namespace-controller",
    "garbage-collector-controller",
    "deployment-controller",
    "replicaset-controller",
    // Who is behind a Service is read from slices, and by an API server of 1.30 from Endpoints.
    "endpointslice-controller",
    "endpoints-controller",
    "pod-garbage-collector-controller",
    "clusterrole-aggregation-controller",
];

/// What our own kinds went through is logged whole, so that a test can look at what webhooks made of it.
const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  resources: [{group: nvidia.com}]
- level: Metadata
";

/// The store, which can be started at once, in the folder of [`write_files`].
pub(crate) fn store(programs: &Programs, addresses: &Addresses) -> Command {
    let Addresses { store, peers, .. } = addresses;
    let mut command = programs.control_plane("etcd");
    command.args(["--name=bed", "--data-dir=etcd", "--unsafe-no-fsync=true", "--log-level=warn"]).args([
        format!("--listen-client-urls=http://{store}"),
        format!("--advertise-client-urls=http://{store}"),
        format!("--listen-peer-urls=http://{peers}"),
        format!("--initial-advertise-peer-urls=http://{peers}"),
        format!("--initial-cluster=bed=http://{peers}"),
    ]);
    command
}

/// The API server, which waits for the store, in the folder of [`write_files`].
pub(crate) fn api_server(programs: &Programs, addresses: &Addresses) -> Command {
    let Addresses { store, api_server, services, .. } = addresses;
    let mut command = programs.control_plane(API_SERVER);
    // It lives a few minutes and takes memory for time: a seventh less of the suites' CPU time.
    command.env("GOGC", "400");
    command.args([
        format!("--etcd-servers=http://{store}"),
        format!("--secure-port={}", api_server.port()),
        format!("--bind-address={}", api_server.ip()),
        format!("--advertise-address={}", api_server.ip()),
        format!("--service-cluster-ip-range={services}"),
    ]);
    command.args([
        "--tls-cert-file=api.crt",
        "--tls-private-key-file=api.key",
        "--client-ca-file=ca.crt",
        "--service-account-key-file=sa.pub",
        "--service-account-signing-key-file=sa.key",
        "--service-account-issuer=https://kubernetes.default.svc",
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
    ]);
    command
}

/// The controllers, which need an API server that is ready.
pub(crate) fn controllers(programs: &Programs) -> Command {
    let mut command = programs.control_plane(CONTROLLERS);
    command.arg(format!("--controllers={}", ENABLED_CONTROLLERS.join(","))).args([
        "--kubeconfig=kubeconfig",
        "--service-account-private-key-file=sa.key",
        "--root-ca-file=ca.crt",
        "--leader-elect=false",
        "--secure-port=0",
    ]);
    command
}

/// Writes what the programs read, and gives the certificate of the CA.
pub(crate) fn write_files(folder: &Path, addresses: &Addresses) -> anyhow::Result<String> {
    let ca = pki::write(folder)?;
    std::fs::write(folder.join("tokens.csv"), format!("{ADMIN},admin,admin,system:masters\n"))?;
    std::fs::write(folder.join("audit.yaml"), AUDIT_POLICY)?;
    std::fs::write(folder.join("kubeconfig"), kubeconfig(&ca, addresses.api_server).to_string())?;
    Ok(ca)
}

fn kubeconfig(ca: &str, api_server: SocketAddr) -> Value {
    let ca = base64::engine::general_purpose::STANDARD.encode(ca);
    let server = format!("https://{api_server}");
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "bed", "cluster": {"server": server, "certificate-authority-data": ca}}],
        "users": [{"name": "admin", "user": {"token": ADMIN}}],
        "contexts": [{"name": "bed", "context": {"cluster": "bed", "user": "admin"}}],
        "current-context": "bed",
    })
}
