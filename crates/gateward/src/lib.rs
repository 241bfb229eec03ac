//! Admission and conversion webhooks for Kubernetes operators: declare once, admit everywhere.
//!
//! An operator author declares kinds and handlers; the server, the manifests, the offline check and the rule catalogue
//! follow from that one declaration.
//!
//! ```no_run
//! # #[cfg(feature = "cli")] mod operator {
//! use gateward::prelude::*;
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # struct TestEntitySpec { username: String }
//! # #[derive(serde::Serialize, serde::Deserialize)]
//! # struct TestEntity { spec: TestEntitySpec }
//! # resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");
//!
//! /// Rejects reserved user names.
//! struct Usernames;
//!
//! #[handler]
//! impl Validator<TestEntity> for Usernames {
//!     async fn create(&self, new: &TestEntity, _: &Request) -> Result<(), Verdict> {
//!         if new.spec.username == "forbidden" {
//!             return Err(Verdict::deny("name may not be 'forbidden'").code(422));
//!         }
//!         Ok(())
//!     }
//! }
//!
//! #[tokio::main]
//! pub async fn main() -> gateward::Exit {
//!     let webhooks = Webhooks::new().register(Webhook::<TestEntity>::new().validator(Usernames));
//!     gateward::run(webhooks).await
//! }
//! # }
//! # fn main() {}
//! ```
//!
//! The guide for operator authors is `docs/sdk.md` in the repository.
//!
//! A kind of several versions has a hub, and for each other version a [`Convert`] on a unit struct of
//! the operator's own: `Webhook::<v2::TestEntity>::new().spoke::<v1::TestEntity>(Names)`. Conversion is then served, and
//! objects of a spoke are judged by the hub's handlers with findings in the user's own paths.
//!
//! The command line that `run` owns: `serve`, `dev`, `check`, `convert`, `review`, `certs`, `crds`, `doctor`,
//! `generate`, `bundle`, `rules`, `uninstall`, `completions`.
//!
//! # Features
//!
//! None is on by default: without them the crate declares, judges and converts, and compiles core alone.
//!
//! - `server`: the listener, and a server on this machine ([`local`]).
//! - `config`: what an operator declares of its process in a cluster ([`config`]).
//! - `cluster`: serving in a cluster, and the [`Server`] for other processes.
//! - `check`: the offline check of manifests ([`check`]).
//! - `cli`: the command line; needs all of these.
//! - `kube`: kinds that kube knows, as they are: `#[derive(CustomResource)]` and k8s-openapi's types such as `Pod`. As for
//!   kube itself, the operator's manifest names the version of Kubernetes among the features of k8s-openapi.
//! - `schemars`: [`Raw<T>`](Raw) has the JSON schema of `T`, for CRDs that are generated from types.
//! - `testing`: the vocabulary of rule tests, and round trips of arbitrary objects ([`testing`]); with `cluster`, a whole
//!   server for a test.

#[cfg(feature = "server")]
mod certified;
#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "cli")]
mod cli;
#[cfg(feature = "config")]
pub mod config;
pub mod conversion;
#[cfg(feature = "cluster")]
mod crds;
mod exit;
#[cfg(feature = "server")]
mod handler;
pub mod json;
/// The guide for those who come from KubeOps, linked and compiled like the one for operator authors.
#[cfg(doctest)]
#[doc = include_str!("../docs/kubeops.md")]
mod kubeops_guide {}
#[cfg(feature = "server")]
pub mod local;
mod operator;
pub mod prelude;
mod release;
#[cfg(feature = "cluster")]
mod runtime;
/// The guide for operator authors, so that its snippets are compiled. A link into `docs`, so that a package has it too.
#[cfg(doctest)]
#[doc = include_str!("../docs/sdk.md")]
mod sdk_guide {}
#[cfg(feature = "cluster")]
mod scale;
#[cfg(feature = "cluster")]
mod server;
#[cfg(feature = "server")]
mod service;
#[cfg(feature = "cluster")]
mod shutdown_signal;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "cli")]
pub use cli::Extension;
#[cfg(feature = "cli")]
pub use cli::process::{main, main_with, run, run_with};
pub use conversion::{Strictness, StructuralSchemas};
#[cfg(feature = "cluster")]
pub use crds::ConversionGap;
pub use exit::Exit;
#[cfg(feature = "config")]
pub use gateward_certs::{
    CaBundle, CaBundleError, CaInjection, DerivedNameError, Fingerprint, FingerprintError, IssuerRef, Lifetime,
    LifetimeError, Lifetimes, NameLimit, Provision, ProvisionMode, TrustAnchor, Validity, ValidityError,
};
#[cfg(feature = "cluster")]
pub use gateward_cluster::permissions::{Need, Permission, PermissionBuilder, PermissionUser};
#[cfg(feature = "cluster")]
pub use gateward_cluster::{CertControllerError, Client, ConnectionError, StoreState, keep_filled};
pub use gateward_core::manifest::{
    FailurePolicy, Installation, Label, LabelSelector, WebhookConfiguration, label, webhook_configuration,
};
pub use gateward_core::rule::issue::MOST_ISSUES;
pub use gateward_core::{
    ALLOWANCE_BASE, ALLOWANCE_FACTOR, AccessQuestion, BOUND_FACTOR, BadValue, Bound, BoxFuture, CREATE,
    CREATE_AND_UPDATE, ClusterReader, Context, ConversionError, Convert, Converted, Crd, DECODE, Decision, Declaration,
    Defaulted, Defaulter, DeletingObjects, Denial, DryRun, DynamicKind, Endpoint, Facts, FieldPath, GroupServed,
    GroupVersionKind, GroupVersionResource, INCOMPLETE, IntoDefaulted, IntoDefaulter, IntoValidator, IntoVerdict,
    Issue, IssueKind, Issues, LenientView, ListLookup, ListQuery, Lookup, MatchPolicy, MetadataRef, Notes, ObjectName,
    Operation, Ordered, Origins, Outcome, Patch, PathStyle, PathSubject, Provenance, Raw, Reading, Redacted,
    ReinvocationPolicy, Request, Resource, Review, ReviewObject, ReviewObserver, ReviewResponse, ReviewSubject,
    ReviewVersion, RoundTrip, Rule, STASH, Scope, Segment, Severity, SideEffects, Skip, SpareThread, Stash, State,
    Store, StoreEvent, Subresource, UNKNOWN, UPDATE, UserInfo, Validator, Verdict, VerdictError, WatchedStore, Webhook,
    WebhookError, WebhookRoute, Webhooks, WebhooksError, dns, go_duration, handler, quantity, resource,
};
#[cfg(feature = "check")]
pub use gateward_lint::{schema, yaml};
#[cfg(feature = "server")]
pub use gateward_server::{
    BindError, ByteSize, Cap, CertResolver, Drain, Drained, Http2Limits, Identity, IdentityError, Limits, LimitsError,
    MetricPrefixes, Metrics, Protocols, Readiness, ReportLine, ReviewHandler, ReviewService, ReviewTerms, WaitGuard,
    prometheus_client,
};
#[cfg(feature = "cluster")]
pub use operator::ControllersError;
pub use operator::{FactsError, FactsSource, Names, Operator, Predecessor, Release};
#[cfg(feature = "cluster")]
pub use runtime::ServerError;
#[cfg(feature = "server")]
pub use rustls_pki_types;
#[cfg(feature = "cluster")]
pub use server::{OwnCertificates, ProvidedCertificate, Server, ServerBuilder};
#[cfg(feature = "cluster")]
pub use service::cluster_reader;
#[cfg(feature = "server")]
pub use service::{IntoService, ServiceError};
#[cfg(feature = "cluster")]
pub use shutdown_signal::ShutdownSignal;
