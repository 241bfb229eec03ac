//! A server with an authority of its own, an otter to judge, and clients that speak TLS and raw bytes.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a scene that can't be set is a failed test"
)]

pub mod client;
pub mod log;
pub mod otter;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
use gateward_core::Facts;
use gateward_server::{
    Answerer, Identity, IdentitySlot, Limits, Metrics, Protocols, Readiness, RegistryAnswerer, Server, Serving, Trust,
};

use self::client::{Client, post};
use self::otter::{Lodge, registry, review};

pub const ANYWHERE: &str = "127.0.0.1:0";
pub const CONVERT: &str = "/convert";
pub const VALIDATE: &str = "/validate-zoo-dev-v1-otter";
pub const MUTATE: &str = "/mutate-zoo-dev-v1-otter";

/// A server that serves, and everything that a test may look at.
pub struct Scene {
    pub server: Serving,
    pub authority: Ca,
    pub identity: IdentitySlot,
    pub metrics: Metrics,
    pub readiness: Readiness,
    pub lodge: Lodge,
}

/// A server with other limits than the default ones.
pub async fn scene(limits: Limits) -> Scene {
    let lodge = Lodge::default();
    let facts = || Arc::new(()) as Arc<dyn Facts>;
    let answerer = RegistryAnswerer::new(Arc::new(registry(&lodge)), facts);
    scene_of(answerer, limits, Protocols::default(), lodge).await
}

pub async fn scene_of(answerer: impl Answerer, limits: Limits, protocols: Protocols, lodge: Lodge) -> Scene {
    scene_at(ANYWHERE, answerer, limits, protocols, lodge).await
}

pub async fn scene_at(
    address: &str,
    answerer: impl Answerer,
    limits: Limits,
    protocols: Protocols,
    lodge: Lodge,
) -> Scene {
    let authority = authority();
    let identity = IdentitySlot::holding(leaf(&authority));
    let (metrics, readiness) = (Metrics::new("otter"), Readiness::new());
    let server = Server::new(identity.clone(), answerer)
        .limits(limits)
        .protocols(protocols)
        .metrics(metrics.clone())
        .readiness(readiness.clone());
    let server = server.bind(address.parse().unwrap()).await.unwrap().serve();
    Scene { server, authority, identity, metrics, readiness, lodge }
}

pub fn authority() -> Ca {
    let validity = Validity::starting(SystemTime::now(), TEN_YEARS).unwrap();
    Ca::new(&CommonName::new("zoo").unwrap(), validity, &SystemKeys).unwrap()
}

pub fn leaf(authority: &Ca) -> Identity {
    let names = ServerNames::parse(["localhost"]).unwrap();
    Identity::try_from(&authority.issue(&names, authority.validity(), &SystemKeys).unwrap()).unwrap()
}

impl Scene {
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn trust(&self) -> Trust {
        let authorities = vec![self.authority.certificate().clone()];
        Trust { authorities, name: "localhost".try_into().unwrap() }
    }

    /// A client that has shaken hands.
    pub async fn client(&self) -> Client {
        Client::connect(self.address(), &self.trust()).await.unwrap()
    }

    /// The scene still answers an ordinary review: what every hostile test ends with.
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

/// Waits until something is so; a test that waits in vain fails after half a minute.
pub async fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..3_000 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(so(), "waited in vain until {what}");
}
