//! The TLS listener that answers reviews: limits, deadlines, drain, probes and metrics.
//!
//! [`manual`] tells what can go wrong with such a listener, and what stands against it.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::SystemTime;
//! use gateward_certs::{Ca, CommonName, ServerNames, SystemKeys, TEN_YEARS, Validity};
//! use gateward_core::{Facts, Registry};
//! use gateward_server::{
//!     Drain, Identity, IdentitySlot, Metrics, PlainServer, Port, Readiness, RegistryAnswerer, Server, Trust,
//! };
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let anywhere = "127.0.0.1:0".parse()?;
//! let (readiness, metrics) = (Readiness::new(), Metrics::new("otter"));
//! // It answers before anything else is there.
//! let health = PlainServer::bind(anywhere, Port::Health, readiness.clone(), &metrics).await?;
//!
//! let validity = Validity::starting(SystemTime::now(), TEN_YEARS)?;
//! let authority = Ca::new(&CommonName::new("otter webhooks")?, validity, &SystemKeys)?;
//! let leaf = authority.issue(&ServerNames::parse(["localhost"])?, validity, &SystemKeys)?;
//!
//! let facts = || Arc::new(()) as Arc<dyn Facts>;
//! let answerer = RegistryAnswerer::new(Arc::new(Registry::new()), facts);
//! let identity = IdentitySlot::holding(Identity::try_from(&leaf)?);
//! let server = Server::new(identity, answerer).metrics(metrics).readiness(readiness.clone());
//! let server = server.bind(anywhere).await?.serve();
//!
//! let trust = Trust { authorities: vec![authority.certificate().clone()], name: "localhost".try_into()? };
//! server.prove(&trust).await;
//! assert!(readiness.is_ready(SystemTime::now()));
//!
//! # let drain = Drain { grace: std::time::Duration::ZERO, ..Drain::default() };
//! # /*
//! let drain = Drain::default();
//! # */
//! assert_eq!(server.drain(drain).await.cut, 0);
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
mod answerer;
mod authorize;
mod bind;
mod body;
mod connections;
mod conversation;
mod desk;
mod drain;
mod entry;
mod files;
mod guard;
mod identity;
mod journal;
mod limits;
pub mod manual;
pub mod metrics;
mod outgoing;
mod pages;
mod panics;
mod patience;
mod phase;
mod plain;
mod pool;
mod proof;
mod protocols;
mod readiness;
mod reception;
mod refusals;
mod secure;
mod server;
mod timeout;

pub use answerer::{Answerer, RegistryAnswerer};
pub use authorize::{Authorize, Permission};
pub use bind::BindError;
pub use drain::{Closing, Drain, Drained, Leaving};
pub use identity::{Identity, IdentityError, IdentitySlot};
pub use limits::{API_SERVER_KEEPS_IDLE, ByteSize, Cap, Limits, LimitsError};
pub use metrics::cluster::{ClusterMetrics, Consumers, Role};
pub use metrics::{Metrics, Port};
pub use pages::{Page, Pages, PlainRequest};
pub use panics::{Panicked, caught, log_places_of_panics};
pub use plain::PlainServer;
pub use proof::{Caller, Callers, Trust};
#[cfg(feature = "http2")]
pub use protocols::Http2Limits;
pub use protocols::Protocols;
pub use readiness::{Line, Readiness, Waiting};
pub use secure::SecureServer;
pub use server::{Bound, Server, Serving};
