//! A replica in a process of its own, which ends where a fail point wants it, and is started again as kubelet does.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::time::Duration;

use gateward_cluster::{Connection, Keeper};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::replica::{listen, serve};
use crate::setup::setup;

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
        let keeper = Keeper::start(&connection, &setup).unwrap();
        let (_deaf, hears) = watch::channel(false);
        let socket = listen(SocketAddr::new(who.address, 9443)).await;
        serve(socket, keeper.served(), hears, watch::Sender::new(None)).await;
    });
    Some(ExitCode::SUCCESS)
}

/// A process that is started again whenever it ends.
pub struct Process(JoinHandle<()>);

impl Drop for Process {
    fn drop(&mut self) {
        self.0.abort();
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
    pub fn start(who: &Who, fail_point: &Path) -> Self {
        let (who, fail_point) = (serde_json::to_string(who).unwrap(), fail_point.to_owned());
        Self(tokio::spawn(async move {
            loop {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.env(REPLICA, &who).env("GATEWARD_FAIL_POINT", &fail_point);
                let mut child = Killed(command.spawn().unwrap());
                while child.0.try_wait().unwrap().is_none() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }))
    }
}
