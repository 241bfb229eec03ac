//! A server with a CA of its own, a kind `Otter` to validate, and clients that send raw bytes over TLS.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a server that does not start is a failed test"
)]

pub mod client;
pub mod gate;
pub mod log;
pub mod otter;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use gateward_core::Facts;
use gateward_server::{
    CertResolver, ClientTrust, Identity, Limits, Metrics, Protocols, Readiness, ReviewHandler, ReviewServer,
    RunningServer, WebhooksHandler,
};

use self::client::{Client, post};
use self::otter::{Blocker, review, webhooks};

#[allow(unused_imports, reason = "each test binary uses a part of it")]
pub use self::otter::{MUTATE, VALIDATE};

pub const ANYWHERE: &str = "127.0.0.1:0";
pub const CONVERT: &str = "/convert";

/// A running server with everything that a test inspects.
pub struct TestServer {
    pub running: RunningServer,
    pub ca: Ca,
    pub certificate: CertResolver,
    pub metrics: Metrics,
    pub readiness: Readiness,
    pub blocker: Blocker,
}

/// Starts a server with these limits.
pub async fn test_server(limits: Limits) -> TestServer {
    let blocker = Blocker::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let handler = WebhooksHandler::new(Arc::new(webhooks(&blocker)), facts);
    test_server_with(handler, limits, Protocols::default(), blocker).await
}

pub async fn test_server_with(
    handler: impl ReviewHandler,
    limits: Limits,
    protocols: Protocols,
    blocker: Blocker,
) -> TestServer {
    test_server_at(ANYWHERE, handler, limits, protocols, blocker).await
}

pub async fn test_server_at(
    address: &str,
    handler: impl ReviewHandler,
    limits: Limits,
    protocols: Protocols,
    blocker: Blocker,
) -> TestServer {
    let ca = ca();
    let certificate = CertResolver::new(serving_certificate(&ca));
    let (metrics, readiness) = (Metrics::new("otter"), Readiness::new());
    let server = ReviewServer::new(certificate.clone(), handler)
        .limits(limits)
        .protocols(protocols)
        .metrics(metrics.clone())
        .readiness(readiness.clone());
    let running = server.bind(address.parse().unwrap()).await.unwrap().serve();
    TestServer { running, ca, certificate, metrics, readiness, blocker }
}

pub fn ca() -> Ca {
    let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
    Ca::new(&CommonName::new("zoo").unwrap(), validity, &SystemKeys).unwrap()
}

pub fn serving_certificate(ca: &Ca) -> Identity {
    let names = ServerNames::parse(["localhost"]).unwrap();
    Identity::try_from(&ca.issue(&names, ca.validity(), &SystemKeys).unwrap()).unwrap()
}

impl TestServer {
    pub fn address(&self) -> SocketAddr {
        self.running.address()
    }

    pub fn trust(&self) -> ClientTrust {
        let ca_certificates = vec![self.ca.certificate().clone()];
        ClientTrust { ca_certificates, server_name: "localhost".try_into().unwrap() }
    }

    /// A client after its TLS handshake.
    pub async fn client(&self) -> Client {
        Client::connect(self.address(), &self.trust()).await.unwrap()
    }

    /// The server still handles an ordinary review: the end of every hostile test.
    pub async fn still_serves(&self) {
        let response = self.client().await.ask(&post(VALIDATE, &review("playful"))).await;
        assert_eq!(response.status, 200, "{response:?}");
        assert_eq!(response.json()["response"]["allowed"], true);
    }

    /// The value of a series, by its name with labels; 0 where there is none yet.
    pub fn metric(&self, series: &str) -> u64 {
        metric(&self.metrics, series)
    }

    /// Waits until a series has a value.
    pub async fn until_metric(&self, series: &str, value: u64) {
        until(series, || self.metric(series) == value).await;
    }
}

/// The value of a series, by its name with labels; 0 where there is none yet.
pub fn metric(metrics: &Metrics, series: &str) -> u64 {
    let (_, text) = metrics.text(None);
    let line = text.lines().find(|line| line.strip_prefix(series).is_some_and(|rest| rest.starts_with(' ')));
    line.map_or(0, |line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
}

/// Waits until a condition holds; fails after half a minute.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(holds(), "timed out waiting until {what}");
}
