//! A replica in a process of its own, which ends where a fail point wants it, and is started again as kubelet does.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use gateward_certs::CaBundle;
use gateward_cluster::{CertController, Connection};
use rustls::{ClientConfig, RootCertStore};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::replica::{listen, serve};
use crate::setup::{PORT, setup};

/// Set for a process that is to be a replica: which one.
const REPLICA: &str = "KEEPER_TEST_REPLICA";

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Who {
    pub namespace: String,
    pub name: String,
    pub address: IpAddr,
    pub kubeconfig: PathBuf,
}

/// Runs as a replica, if this process is to be one. It ends by being killed.
pub fn run_as_replica() -> Option<ExitCode> {
    let who: Who = serde_json::from_str(&std::env::var(REPLICA).ok()?).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut setup = setup(&who.namespace);
        setup.lease.holder.clone_from(&who.name);
        let connection = Connection::of_kubeconfig(&who.kubeconfig, &who.name).await.unwrap();
        let controller = CertController::start(&connection, &setup).unwrap();
        let (_deaf, hears) = watch::channel(false);
        let socket = listen(SocketAddr::new(who.address, PORT)).await;
        serve(socket, controller.serving_certificate(), hears, watch::Sender::new(None)).await;
    });
    Some(ExitCode::SUCCESS)
}

/// A process that is started again whenever it ends.
pub struct Process {
    who: Who,
    running: JoinHandle<()>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.running.abort();
    }
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Process {
    /// Starts a replica that ends at the fail point that a file names.
    pub fn start(who: Who, fail_point: &Path) -> Self {
        let (identity, fail_point) = (serde_json::to_string(&who).unwrap(), fail_point.to_owned());
        let running = tokio::spawn(async move {
            loop {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.env(REPLICA, &identity).env("GATEWARD_FAIL_POINT", &fail_point);
                let mut child = Killed(command.spawn().unwrap());
                while child.0.try_wait().unwrap().is_none() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        });
        Self { who, running }
    }

    /// Whether somebody who trusts only these CAs takes the certificate that it shows.
    pub async fn is_trusted_by(&self, trust: &CaBundle) -> bool {
        let Ok(socket) = TcpStream::connect((self.who.address, PORT)).await else { return false };
        let names = setup(&self.who.namespace).certificates.names;
        let name = names.iter().next().unwrap().clone();
        connector(trust).connect(name, socket).await.is_ok()
    }
}

fn connector(trust: &CaBundle) -> TlsConnector {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(trust.iter().map(|anchor| anchor.certificate().clone()));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    TlsConnector::from(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}
