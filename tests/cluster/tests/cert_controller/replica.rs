//! A replica: a controller, a Pod that is said to be ready, and a listener at the Pod's address.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gateward_certs::secret::ServingCertificate;
use gateward_cluster::{CertController, Connection, ControllerConfig, ControllerStatus, Leader};
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use crate::setup::PORT;

pub struct Replica {
    name: String,
    setup: ControllerConfig,
    kubeconfig: PathBuf,
    address: IpAddr,
    running: Option<Running>,
}

struct Running {
    controller: CertController,
    _listener: Listener,
    /// What is shown, which may be older than what the controller says.
    shown: watch::Receiver<Option<ServingCertificate>>,
    deaf: watch::Sender<bool>,
}

/// A listener that ends when this is dropped.
struct Listener(JoinHandle<()>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Replica {
    /// Starts it in a Pod that is there.
    pub async fn start(setup: ControllerConfig, kubeconfig: PathBuf, address: IpAddr) -> Self {
        let name = setup.lease.holder.clone();
        let mut replica = Self { name, setup, kubeconfig, address, running: None };
        replica.restart().await;
        replica
    }

    /// Its process starts again in the same Pod.
    pub async fn restart(&mut self) {
        let connection = Connection::of_kubeconfig(&self.kubeconfig, &self.name).await.unwrap();
        let controller = CertController::start(&connection, &self.setup).unwrap();
        let (shows, shown) = watch::channel(None);
        let (deaf, hears) = watch::channel(false);
        let socket = listen(SocketAddr::new(self.address, PORT)).await;
        let listener = Listener(tokio::spawn(serve(socket, controller.serving_certificate(), hears, shows)));
        self.running = Some(Running { controller, _listener: listener, shown, deaf });
    }

    /// Its process ends from one moment to the next.
    pub fn crash(&mut self) {
        self.running = None;
    }

    /// Its process ends as it should.
    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.controller.stop().await;
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// From now on it goes on showing what it shows.
    pub fn goes_deaf(&self) {
        self.running.as_ref().unwrap().deaf.send_replace(true);
    }

    /// It hears of news again.
    pub fn hears(&self) {
        self.running.as_ref().unwrap().deaf.send_replace(false);
    }

    /// What it shows, for somebody who looks on.
    pub fn shows(&self) -> watch::Receiver<Option<ServingCertificate>> {
        self.running.as_ref().unwrap().shown.clone()
    }

    pub fn controller(&self) -> &CertController {
        &self.running.as_ref().unwrap().controller
    }

    pub fn status(&self) -> ControllerStatus {
        self.running.as_ref().map(|running| running.controller.status().borrow().clone()).unwrap_or_default()
    }

    pub fn writes(&self) -> bool {
        self.status().leader == Leader::ThisReplica
    }

    pub fn is_idle_leader(&self) -> bool {
        let idle =
            |report: ControllerStatus| report.progress.is_some_and(|it| it.next.starts_with("nothing is to be done"));
        self.writes() && idle(self.status())
    }

    /// What the leader is at.
    pub fn step(&self) -> String {
        self.status().progress.map(|progress| progress.next).unwrap_or_default()
    }

    /// The certificate that it shows.
    pub fn shown(&self) -> Option<CertificateDer<'static>> {
        self.running.as_ref()?.shown.borrow().as_ref().map(|pair| pair.end_entity().clone())
    }
}

/// A process that has ended may not have let go of the address yet.
pub async fn listen(address: SocketAddr) -> TcpListener {
    loop {
        match TcpListener::bind(address).await {
            Ok(socket) => return socket,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

/// Shows whatever is to be shown, to everybody.
pub async fn serve(
    socket: TcpListener,
    mut served: watch::Receiver<Option<ServingCertificate>>,
    mut deaf: watch::Receiver<bool>,
    shows: watch::Sender<Option<ServingCertificate>>,
) {
    let mut acceptor = None;
    loop {
        if !*deaf.borrow_and_update() {
            let pair = served.borrow_and_update().clone();
            acceptor = pair.as_ref().map(acceptor_of);
            shows.send_if_modified(|shown| {
                let news =
                    shown.as_ref().map(ServingCertificate::chain) != pair.as_ref().map(ServingCertificate::chain);
                *shown = pair;
                news
            });
        }
        tokio::select! {
            _ = served.changed() => {}
            _ = deaf.changed() => {}
            accepted = socket.accept() => {
                let (Ok((stream, _)), Some(acceptor)) = (accepted, acceptor.clone()) else { continue };
                tokio::spawn(tokio::time::timeout(Duration::from_secs(5), acceptor.accept(stream)));
            }
        }
    }
}

fn acceptor_of(pair: &ServingCertificate) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(pair.chain(), pair.private_key().to_der());
    TlsAcceptor::from(Arc::new(config.unwrap()))
}
