//! A server whose certificate somebody else provides, in files or in memory, from the start to the end. Who that is sees to
//! it that API servers trust it.

use std::path::PathBuf;
use std::sync::Arc;

use gateward_cluster::{ApiReader, Connection, restart_on_panic};
use gateward_server::Drained;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::certificate_dir::CertificateDir;
use super::controllers::Controllers;
use super::error::ServerError;
use super::facts::FactsPoller;
use super::identity::keep_shown;
use super::listen::{BoundListeners, ListenerSettings, MetricsListener};
use super::shutdown::Shutdown;
use super::stop::stop;
use super::stores::keep_stores;
use crate::config::{ConfigSource, Problem};
use crate::operator::{FactsSource, Operator};

/// Where a certificate comes from.
#[derive(Clone)]
pub(crate) enum CertificateSource {
    /// From files, which are read again when they change.
    Directory(PathBuf),
    /// From the resolver, in which it already is or will be.
    Resolver,
}

/// A server whose certificate somebody else provides. It listens.
pub(crate) struct GivenCertificate<P> {
    operator: Arc<P>,
    given: ConfigSource,
    pub(crate) listening: BoundListeners,
    metrics: MetricsListener,
    source: CertificateSource,
    connection: Option<Connection>,
}

impl<P: Operator> GivenCertificate<P> {
    /// Takes all addresses.
    pub(crate) async fn start(
        operator: Arc<P>,
        given: ConfigSource,
        source: CertificateSource,
        settings: ListenerSettings,
        connection: Option<Connection>,
    ) -> Result<Self, ServerError> {
        let facts = operator.facts(FactsSource::Nowhere)?;
        let listening = BoundListeners::start(&operator, settings).await?;
        listening.present.put(facts);
        // Nothing says what API servers trust.
        listening.serving.skip_self_check();
        let metrics = listening.metrics(connection.as_ref()).await?;
        Ok(Self { operator, given, listening, metrics, source, connection })
    }

    /// Serves until it is to end.
    pub(crate) async fn run(self, mut shutdown: impl Shutdown) -> Result<Drained, ServerError> {
        let Self { operator, given, listening, metrics: _metrics, source, connection } = self;
        let mut tasks = JoinSet::new();
        let answerable = watch::Sender::new(false);
        if let CertificateSource::Directory(path) = source {
            let (certificates, served) = watch::channel(None);
            let (readiness, metrics) = (listening.readiness.clone(), listening.measures());
            let directory = CertificateDir { path, readiness, metrics };
            tasks.spawn(restart_on_panic("directory", async move || directory.follow(&certificates).await));
            keep_shown(&mut tasks, served, answerable.subscribe(), &listening);
        }
        if let Some(connection) = &connection {
            keep_stores(&mut tasks, operator.webhooks(), &connection.client(), Some(&listening.readiness));
        }
        let mut controllers = match &connection {
            Some(connection) => Controllers::start(operator.as_ref(), connection.client(), &listening.readiness),
            None => Controllers::none(),
        };
        let learning = learn(operator.as_ref(), &given, connection, &listening, &answerable);
        let ended = tokio::select! {
            contradiction = learning => Err(ServerError::Contradiction(contradiction)),
            error = controllers.failure() => Err(ServerError::Controllers(error)),
            drain = shutdown.wait() => Ok(drain),
        };
        stop(listening, controllers.stop(), ended, shutdown).await
    }
}

/// Learns the facts anew every minute; without a connection they stay what they are.
async fn learn<P: Operator>(
    operator: &P,
    given: &ConfigSource,
    connection: Option<Connection>,
    listening: &BoundListeners,
    answerable: &watch::Sender<bool>,
) -> Problem {
    let Some(connection) = connection else {
        answerable.send_replace(true);
        return std::future::pending().await;
    };
    let cluster = Arc::new(ApiReader::new(connection.client()));
    let (present, readiness) = (listening.present.clone(), listening.readiness.clone());
    FactsPoller { operator, given, cluster, present, readiness }.go_on(answerable).await
}
