//! A whole server for a test.

#![allow(clippy::panic, reason = "a test whose server doesn't start has failed")]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use gateward_certs::Ca;
use gateward_server::Drain;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::certified::Certified;
use crate::config::{HttpVersions, ListenAddress, Listeners, MetricsAccess};
use crate::operator::Operator;
use crate::server::{ProvidedCertificate, Server, ServerBuilder};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How long a server that stops waits for requests in flight.
const FINISH: Duration = Duration::from_secs(1);

/// Starts the server of an operator's webhooks on free ports of this machine, over TLS, with a CA of its own. It answers
/// when this returns, and stops when it is dropped.
///
/// It runs on threads of its own, so that the test may be asynchronous or not, and may block.
///
/// ```no_run
/// use gateward::prelude::*;
/// use gateward::testing::test_server;
///
/// # let webhooks = Webhooks::new();
/// let server = test_server(webhooks);
/// let (url, ca) = (server.url(), server.ca_pem());
/// // … any client that trusts `ca` posts its reviews below `url`.
/// ```
///
/// # Panics
///
/// If the declarations contradict each other, or the machine has no free port.
#[track_caller]
pub fn test_server(operator: impl Operator) -> TestServer {
    TestServer::start(Server::builder(operator))
}

/// A server of a test; see [`test_server`]. It stops when it is dropped.
#[must_use = "the server stops when it is dropped"]
pub struct TestServer {
    addresses: Addresses,
    ca: Ca,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Clone, Copy)]
struct Addresses {
    webhooks: SocketAddr,
    health: SocketAddr,
}

impl TestServer {
    /// Starts a server that is set up otherwise: with a [`client`](ServerBuilder::client) or
    /// [`limits`](ServerBuilder::limits), say. Where it listens, its certificate and how it ends are the test's.
    ///
    /// # Panics
    ///
    /// As [`test_server`] does.
    #[track_caller]
    pub fn start<P: Operator>(builder: ServerBuilder<P>) -> Self {
        let certified = Certified::new(LOOPBACK).unwrap_or_else(|error| panic!("the server doesn't start: {error}"));
        let drain = Drain { grace: Duration::ZERO, finish: FINISH };
        let builder = builder.certificates(certified.certificate).listeners(free_ports()).drain(drain);
        let (started, starting) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        let serving = move || serve(builder, &started, ended);
        let thread = match thread::Builder::new().name("test-server".into()).spawn(serving) {
            Ok(thread) => thread,
            Err(error) => panic!("the server doesn't start: {error}"),
        };
        match starting.recv() {
            Ok(Ok(addresses)) => Self { addresses, ca: certified.ca, end: Some(end), thread: Some(thread) },
            Ok(Err(why)) => panic!("the server doesn't start: {why}"),
            Err(mpsc::RecvError) => panic!("the server doesn't start: its thread has panicked"),
        }
    }

    /// Where reviews are answered.
    pub fn address(&self) -> SocketAddr {
        self.addresses.webhooks
    }

    /// The same as the beginning of a URL, such as `https://127.0.0.1:40123`. A path of
    /// [`Webhooks::paths`](crate::prelude::Webhooks::paths) follows it.
    pub fn url(&self) -> String {
        format!("https://{}", self.addresses.webhooks)
    }

    /// Where probes are answered, over plain HTTP: `/healthz` and `/readyz`.
    pub fn health_address(&self) -> SocketAddr {
        self.addresses.health
    }

    /// The certificate that a client has to trust, as PEM.
    pub fn ca_pem(&self) -> String {
        self.ca.certificate_pem()
    }

    /// The same as DER, for clients such as that of kube (`kube::Config::root_cert`).
    pub fn ca_der(&self) -> Vec<u8> {
        self.ca.certificate().to_vec()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(Err(panicked)) = self.thread.take().map(JoinHandle::join)
            && !thread::panicking()
        {
            std::panic::resume_unwind(panicked);
        }
    }
}

/// Serves in a runtime of its own until the test is over. What keeps it from starting is said to the test.
fn serve<P: Operator>(
    builder: ServerBuilder<P, ProvidedCertificate>,
    started: &mpsc::Sender<Result<Addresses, String>>,
    ended: oneshot::Receiver<()>,
) {
    // As in production, so that a handler may do what needs a runtime of several threads.
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    // The test waits for what is sent.
    let say = |what| drop(started.send(what));
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return say(Err(error.to_string())),
    };
    runtime.block_on(async {
        let server = match builder.start().await {
            Ok(server) => server,
            Err(error) => return say(Err(error.to_string())),
        };
        say(Ok(Addresses { webhooks: server.address(), health: server.health_address() }));
        let served = server.run_until(async { drop(ended.await) }).await;
        assert!(
            served.is_ok(),
            "the server has ended: {}",
            served.err().map(|why| why.to_string()).unwrap_or_default()
        );
    });
}

fn free_ports() -> Listeners {
    let free = ListenAddress { ip: Some(LOOPBACK), port: 0 };
    Listeners {
        webhooks: free,
        health: free,
        metrics: free,
        metrics_access: MetricsAccess::Open,
        http: HttpVersions::Http1AndHttp2,
    }
}
