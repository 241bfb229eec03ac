//! The TLS listener for reviews: limits, deadlines, drain, probes and metrics.
//!
//! [`manual`] lists the attacks on such a listener, and the limit against each.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//! use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
//! use gateward_core::{Facts, Webhooks};
//! use gateward_server::{
//!     CertResolver, ClientTrust, Drain, HttpServer, Identity, Metrics, Port, Readiness, ReviewServer, WebhooksHandler,
//! };
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let anywhere = "127.0.0.1:0".parse()?;
//! let (readiness, metrics) = (Readiness::new(), Metrics::new("otter"));
//! // Probes are served before anything else.
//! let health = HttpServer::bind(anywhere, Port::Health, readiness.clone(), &metrics).await?;
//!
//! let validity = Validity::starting(SystemTime::now(), TEN_YEARS)?;
//! let ca = Ca::new(&CommonName::new("otter webhooks")?, validity, &SystemKeys)?;
//! let issued = ca.issue(&ServerNames::parse(["localhost"])?, validity, &SystemKeys)?;
//!
//! let facts = || Arc::new(()) as Arc<dyn Facts>;
//! let handler = WebhooksHandler::new(Arc::new(Webhooks::new()), facts);
//! let certificate = CertResolver::new(Identity::try_from(&issued)?);
//! let server = ReviewServer::new(certificate, handler).metrics(metrics).readiness(readiness.clone());
//! let server = server.bind(anywhere).await?.serve();
//!
//! let ca_certificates = vec![ca.certificate().clone()];
//! let trust = ClientTrust { ca_certificates, server_name: "localhost".try_into()? };
//! server.self_check(&trust).await;
//! assert!(readiness.is_ready(SystemTime::now()));
//!
//! # let drain = Drain { grace: std::time::Duration::ZERO, ..Drain::default() };
//! # /*
//! let drain = Drain::default();
//! # */
//! assert_eq!(server.drain(drain).await.aborted, 0);
//! # drop(health);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `http2`: compiles HTTP/2 in. It is still off until `Protocols::Http1AndHttp2` is chosen. The API server never speaks
//!   it to a Service.

mod accept;
mod access_log;
mod admin;
mod api_server_verifier;
mod bind;
mod body;
mod cert_resolver;
mod connection;
mod drain;
mod embedded;
mod handler;
mod limits;
pub mod manual;
pub mod metrics;
mod outgoing;
mod panics;
mod phase;
mod pool;
mod port;
mod protocols;
mod query_timeout;
mod readiness;
mod refusals;
mod request_head;
mod review_in_progress;
mod self_check;
mod server;
mod service;
mod spare_thread;
mod startup_log;

pub use admin::authorize::{Authorization, Authorizer};
pub use admin::endpoint::{AdminEndpoint, AdminRequest, AdminResponse};
pub use admin::http::HttpServer;
pub use admin::https::HttpsServer;
pub use bind::BindError;
pub use cert_resolver::{CertResolver, Identity, IdentityError};
pub use drain::{ClosingServer, Drain, Drained, DrainingServer};
pub use embedded::ReviewService;
pub use handler::{ReviewHandler, ReviewTerms, WebhooksHandler};
pub use limits::{API_SERVER_IDLE_TIMEOUT, ByteSize, Cap, Limits, LimitsError};
pub use metrics::cluster::{ClusterMetrics, InjectionTargetCounts, Role};
pub use metrics::{MetricPrefixes, Metrics};
pub use panics::{Panicked, catch_panic, install_panic_hook};
pub use port::Port;
pub use prometheus_client;
#[cfg(feature = "http2")]
pub use protocols::Http2Limits;
pub use protocols::Protocols;
pub use readiness::{Readiness, ReportLine, WaitGuard};
pub use self_check::{ClientTrust, InjectedTrust, TargetTrust};
pub use server::{BoundServer, ReviewServer, RunningServer};
