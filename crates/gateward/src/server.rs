//! The webhooks of an operator in a process that does other things too: beside a kube `Controller`, say.
//!
//! A [`Server`] reads no argument, sets no subscriber of logs, takes no signal and no panic hook. The command line
//! ([`run`](crate::run)) is a thin layer on it.

use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use gateward_cluster::{Client, Connection};
use gateward_server::{CertResolver, Drain, Drained, Limits, Metrics, Readiness};
use serde_json::Value;

use crate::config::{Config, ConfigSource, Flags, Listeners, MetricsAccess, PodEnvironment};
use crate::crds;
use crate::operator::Operator;
use crate::release::Release;
use crate::runtime::{
    App, BoundListeners, CertificateSource, GivenCertificate, InCluster, ListenerSettings, ServerError, Until,
};
use crate::scale;

/// A server that listens, and serves while [`Server::run_until`] is polled.
///
/// ```no_run
/// use gateward::prelude::*;
///
/// # async fn serve(webhooks: Webhooks, client: gateward::Client) -> Result<(), gateward::ServerError> {
/// // Certificates in Secrets, CA rotation, `caBundle` injection, leader election.
/// let server = gateward::Server::builder(webhooks)
///     .client(client)
///     .release("my-operator", "my-namespace")
///     .start()
///     .await?;
/// let shutdown = async { drop(tokio::signal::ctrl_c().await) };
/// server.run_until(shutdown).await?;
/// # Ok(())
/// # }
/// ```
///
/// With a certificate that somebody else renews (cert-manager, OLM, anything that mounts a Secret):
///
/// ```no_run
/// # async fn serve(webhooks: gateward::prelude::Webhooks) -> Result<(), gateward::ServerError> {
/// let server = gateward::Server::builder(webhooks)
///     .certificate_dir("/tmp/k8s-webhook-server/serving-certs")
///     .start()
///     .await?;
/// # drop(server); Ok(())
/// # }
/// ```
#[must_use = "a server serves while `run_until` is polled"]
pub struct Server<P>(Mode<P>, Drain);

enum Mode<P> {
    InCluster(Box<InCluster<P>>),
    Given(Box<GivenCertificate<P>>),
}

impl<P: Operator> Server<P> {
    /// A server for the webhooks of an operator; [`Webhooks`](crate::prelude::Webhooks) alone are one.
    pub fn builder(operator: P) -> ServerBuilder<P> {
        let (metrics, readiness) = (Metrics::new(operator.names().metric_prefixes()), Readiness::new());
        ServerBuilder {
            operator,
            client: None,
            listeners: None,
            limits: Limits::default(),
            drain: Drain::default(),
            metrics,
            readiness,
            certificates: (),
        }
    }

    /// Where reviews are answered.
    pub fn address(&self) -> SocketAddr {
        self.listening().address()
    }

    /// Where probes are answered: `/healthz` and `/readyz`.
    pub fn health_address(&self) -> SocketAddr {
        self.listening().health_address()
    }

    fn listening(&self) -> &BoundListeners {
        match &self.0 {
            Mode::InCluster(server) => &server.listening,
            Mode::Given(server) => &server.listening,
        }
    }

    /// Serves until `shutdown` completes, then drains: readiness fails, and everything is still answered for a while.
    ///
    /// It ends with an error only where going on makes no sense. What the server waits for (certificates, the API
    /// server, facts) is said by `/readyz`, and ends nothing.
    ///
    /// Each end gives the leases back, also that with an error. A future that is dropped before gives none back, like a
    /// crash: what fails beside the server completes `shutdown`.
    pub fn run_until(
        self,
        shutdown: impl Future<Output = ()> + Send,
    ) -> impl Future<Output = Result<Drained, ServerError>> + Send {
        let Self(mode, drain) = self;
        let shutdown = Until::new(shutdown, drain);
        async move {
            match mode {
                Mode::InCluster(server) => server.run(shutdown).await,
                Mode::Given(server) => server.run(shutdown).await,
            }
        }
    }
}

/// A server to be started. It starts once it knows where its certificate comes from: [`release`](Self::release),
/// [`certificate_dir`](Self::certificate_dir) or [`certificates`](Self::certificates).
pub struct ServerBuilder<P, C = ()> {
    operator: P,
    client: Option<Client>,
    listeners: Option<Listeners>,
    limits: Limits,
    drain: Drain,
    metrics: Metrics,
    readiness: Readiness,
    certificates: C,
}

/// Certificates that the server makes and renews itself; see [`ServerBuilder::release`].
pub struct OwnCertificates {
    release: Release,
    config: Option<Config>,
}

/// A certificate of another provider; see [`ServerBuilder::certificate_dir`] and [`ServerBuilder::certificates`].
pub struct ProvidedCertificate {
    source: CertificateSource,
    resolver: CertResolver,
}

impl<P: Operator> ServerBuilder<P> {
    /// The server keeps its own certificates in Secrets of the release's namespace, renews them, writes the `caBundle` of
    /// the release's webhook configurations and CRDs, and elects a leader among the replicas for that.
    ///
    /// The names of objects follow from the release's; [`config`](ServerBuilder::config) has others. The rights that the
    /// ServiceAccount needs are those of the chart in `deploy/helm`: see its `generated/rbac.yaml`.
    pub fn release(self, name: impl Into<String>, namespace: impl Into<String>) -> ServerBuilder<P, OwnCertificates> {
        let release = Release { name: name.into(), namespace: namespace.into() };
        self.certified(OwnCertificates { release, config: None })
    }

    /// The certificate is read from `tls.crt` and `tls.key` in a directory, and read again every two seconds, so that a
    /// renewed one is shown from the next handshake on. A pair that can't be used is reported and changes nothing.
    pub fn certificate_dir(self, directory: impl Into<PathBuf>) -> ServerBuilder<P, ProvidedCertificate> {
        let source = CertificateSource::Directory(directory.into());
        self.certified(ProvidedCertificate { source, resolver: CertResolver::empty() })
    }

    /// The certificate is the one that `resolver` has at each handshake. Requests may come as soon as it has one, before
    /// the operator's facts are known: set it when the server is ready otherwise.
    pub fn certificates(self, resolver: CertResolver) -> ServerBuilder<P, ProvidedCertificate> {
        self.certified(ProvidedCertificate { source: CertificateSource::Resolver, resolver })
    }

    fn certified<C>(self, certificates: C) -> ServerBuilder<P, C> {
        let Self { operator, client, listeners, limits, drain, metrics, readiness, certificates: () } = self;
        ServerBuilder { operator, client, listeners, limits, drain, metrics, readiness, certificates }
    }
}

impl<P: Operator, C> ServerBuilder<P, C> {
    /// The client for the API server. With [`release`](ServerBuilder::release) and without a client, the server finds
    /// the API server itself, by `KUBECONFIG` or as a Pod. Elsewhere it is asked what the operator's facts need and who
    /// may read the metrics.
    pub fn client(self, client: Client) -> Self {
        Self { client: Some(client), ..self }
    }

    /// Where the server listens. By default reviews are on port 9443, probes on 8081 and metrics on 8080; without a
    /// client everyone may read the metrics.
    pub fn listeners(self, listeners: Listeners) -> Self {
        Self { listeners: Some(listeners), ..self }
    }

    /// The limits of requests and connections.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// How long the end may take.
    pub fn drain(self, drain: Drain) -> Self {
        Self { drain, ..self }
    }

    /// The metrics that the server counts into. Metrics of one's own are registered there with
    /// [`Metrics::register`]; [`Metrics::text`] is what `/metrics` shows.
    pub fn metrics(self, metrics: Metrics) -> Self {
        Self { metrics, ..self }
    }

    /// The readiness that the server reports to. [`Readiness::wait_for`] keeps the Pod from being ready until something
    /// of one's own is, and [`Readiness::report`] adds lines to `/readyz?verbose`.
    pub fn readiness(self, readiness: Readiness) -> Self {
        Self { readiness, ..self }
    }

    fn settings(&self, listeners: Listeners, certificate: CertResolver) -> ListenerSettings {
        let (metrics, readiness) = (self.metrics.clone(), self.readiness.clone());
        ListenerSettings { listeners, limits: self.limits.clone(), metrics, readiness, certificate }
    }

    fn connection(&self) -> Option<Connection> {
        self.client.clone().map(Connection::of_client)
    }

    fn check(&self) -> Result<(), ServerError> {
        self.operator.webhooks().check()?;
        scale::check(&self.operator)?;
        Ok(crds::check(&self.operator)?)
    }
}

impl<P: Operator> ServerBuilder<P, OwnCertificates> {
    /// How the server is set up, instead of the usual ([`Config::of_release`]). [`listeners`](Self::listeners) go before
    /// those that stand there.
    pub fn config(mut self, config: Config) -> Self {
        self.certificates.config = Some(config);
        self
    }

    /// Takes the addresses of probes and reviews.
    pub async fn start(self) -> Result<Server<P>, ServerError> {
        self.check()?;
        let given = config_source(&self.certificates.release);
        let mut config = match self.certificates.config.clone() {
            Some(config) => config,
            None => Config::of_release(&self.certificates.release, self.operator.names().command)?,
        };
        config.listeners = self.listeners.unwrap_or(config.listeners);
        let (settings, connection) = (self.settings(config.listeners, CertResolver::empty()), self.connection());
        let app = App::new(Arc::new(self.operator), given, &config)?;
        let server = InCluster::start(app, settings, connection).await?;
        Ok(Server(Mode::InCluster(Box::new(server)), self.drain))
    }
}

impl<P: Operator> ServerBuilder<P, ProvidedCertificate> {
    /// Takes all addresses.
    pub async fn start(self) -> Result<Server<P>, ServerError> {
        self.check()?;
        let names = self.operator.names();
        let given = config_source(&Release { name: names.release.into(), namespace: names.namespace.into() });
        let usual = || match self.client {
            Some(_) => Listeners::default(),
            None => Listeners { metrics_access: MetricsAccess::Open, ..Listeners::default() },
        };
        let settings = self.settings(self.listeners.unwrap_or_else(usual), self.certificates.resolver.clone());
        let (source, connection) = (self.certificates.source.clone(), self.connection());
        let server = GivenCertificate::start(Arc::new(self.operator), given, source, settings, connection);
        Ok(Server(Mode::Given(Box::new(server.await?)), self.drain))
    }
}

/// What the facts of an operator are made of, where there is no configuration file.
fn config_source(release: &Release) -> ConfigSource {
    let pod_environment = PodEnvironment::of_release(release, |name| std::env::var(name).ok());
    ConfigSource { document: Value::Object(serde_json::Map::new()), pod_environment, flags: Flags::default() }
}
