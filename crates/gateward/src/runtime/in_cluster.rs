//! A server whose certificates its own controller keeps, from the start to the end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use gateward_cluster::{ApiReader, CertController, Connection, ControllerConfig, restart_on_panic};
use gateward_core::{Declaration, Webhooks};
use gateward_server::{Drained, InjectedTrust, WaitGuard};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::controllers::Controllers;
use super::error::ServerError;
use super::facts::FactsPoller;
use super::identity::keep_shown;
use super::listen::{BoundListeners, ListenerSettings, MetricsListener};
use super::setup::setup;
use super::shutdown::Shutdown;
use super::stop::stop;
use super::stores::keep_stores;
use super::{claims, injected_trust, report};
use crate::config::{Config, ConfigError, ConfigSource, PodEnvironment};
use crate::operator::Operator;

/// Where words about the start as a whole are found.
const TARGET: &str = "setup";
/// How long giving leases back may take, less than the server drains. One that stays is waited for until it expires; to
/// delete the one of a namespace takes three requests, of which each may take 4 seconds.
const GIVING_BACK: Duration = Duration::from_secs(15);
/// How long to wait before the way to the API server is looked for again.
const PAUSE: Duration = Duration::from_secs(2);

/// What is to be served, and how.
pub(crate) struct App<P> {
    operator: Arc<P>,
    given: ConfigSource,
    setup: ControllerConfig,
}

impl<P: Operator> App<P> {
    /// Joins the configuration; an error is one of the user's.
    pub(crate) fn new(operator: Arc<P>, given: ConfigSource, config: &Config) -> Result<Self, ConfigError> {
        let setup = setup(operator.as_ref(), config, &given.pod_environment)?;
        Ok(Self { operator, given, setup })
    }
}

/// A server whose certificates and `caBundle`s its own controller keeps. It listens.
pub(crate) struct InCluster<P> {
    app: App<P>,
    pub(crate) listening: BoundListeners,
    /// Looked for where it isn't given.
    connection: Option<Connection>,
    waiting: WaitGuard,
}

impl<P: Operator> InCluster<P> {
    /// Takes the addresses of probes and reviews.
    pub(crate) async fn start(
        app: App<P>,
        settings: ListenerSettings,
        connection: Option<Connection>,
    ) -> Result<Self, ServerError> {
        let PodEnvironment { pod, namespace, ip, instance, .. } = &app.given.pod_environment;
        tracing::info!(target: TARGET, pod, namespace, %ip, release = instance, "starting in a cluster");
        say_what_is_left_out(app.operator.webhooks(), namespace);
        let waiting = settings.readiness.wait_for("cluster", "the way to the API server");
        let listening = BoundListeners::start(&app.operator, settings).await?;
        Ok(Self { app, listening, connection, waiting })
    }

    /// Serves until it is to end.
    ///
    /// Nothing that is waited for ends it: the probes say what it is, and who mends it need not restart anything.
    pub(crate) async fn run(self, mut shutdown: impl Shutdown) -> Result<Drained, ServerError> {
        let Self { app, listening, connection, waiting } = self;
        let connection = tokio::select! {
            connection = connected(&app, connection, waiting) => connection,
            drain = shutdown.wait() => return stop(listening, async {}, Ok(drain), shutdown).await,
        };
        let running = RunningApp::start(&app, &listening, &connection).await?;
        let learning = FactsPoller {
            operator: app.operator.as_ref(),
            given: &app.given,
            cluster: Arc::new(ApiReader::new(connection.client()).with_claims(running.controller.claims())),
            present: listening.present.clone(),
            readiness: listening.readiness.clone(),
        };
        let mut controllers = Controllers::start(app.operator.as_ref(), connection.client(), &listening.readiness);
        let ended = tokio::select! {
            contradiction = learning.go_on(&running.answerable) => Err(ServerError::Contradiction(contradiction)),
            error = controllers.failure() => Err(ServerError::Controllers(error)),
            drain = shutdown.wait() => Ok(drain),
        };
        let RunningApp { controller, answerable, metrics, tasks } = running;
        // What works beside the listeners goes on until all is answered.
        let _beside = (answerable, metrics, tasks);
        let ending = async {
            tokio::join!(give_back(controller), controllers.stop());
        };
        stop(listening, ending, ended, shutdown).await
    }
}

/// Says which resources are not judged in some namespaces, though no selector of their author's leaves those out.
fn say_what_is_left_out(webhooks: &Webhooks, namespace: &str) {
    let left_out = webhooks.declarations().filter(|declared| declared.bootstrap_namespaces(namespace).is_some());
    let resources: BTreeSet<_> = left_out.map(Declaration::resource_name).collect();
    if !resources.is_empty() {
        let resources = resources.into_iter().collect::<Vec<_>>().join(" ");
        tracing::info!(target: TARGET, resources, "not judged in kube-system and {namespace}, so that Pods can start");
    }
}

/// Reads where the API server is, however often that takes: files may come late.
async fn connected<P: Operator>(app: &App<P>, given: Option<Connection>, waiting: WaitGuard) -> Connection {
    if let Some(connection) = given {
        return connection;
    }
    loop {
        match Connection::connect(&app.operator.names().user_agent()).await {
            Ok(connection) => return connection,
            Err(error) => {
                tracing::error!(%error, "trying again to find the API server");
                waiting.update(error.to_string());
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// What works beside the listeners.
struct RunningApp {
    controller: CertController,
    /// Notified when requests can be answered.
    answerable: watch::Sender<bool>,
    metrics: MetricsListener,
    tasks: JoinSet<()>,
}

impl RunningApp {
    async fn start<P: Operator>(
        app: &App<P>,
        listening: &BoundListeners,
        connection: &Connection,
    ) -> Result<Self, ServerError> {
        let metrics = listening.metrics(Some(connection)).await?;
        let controller = CertController::start(connection, &app.setup)?;
        let answerable = watch::Sender::new(false);
        let mut tasks = JoinSet::new();
        keep_shown(&mut tasks, controller.serving_certificate(), answerable.subscribe(), listening);
        report_all(&mut tasks, listening, &controller);
        keep_stores(&mut tasks, app.operator.webhooks(), &connection.client(), Some(&listening.readiness));
        self_check(&mut tasks, app, listening, &controller);
        Ok(Self { controller, answerable, metrics, tasks })
    }
}

/// Shows what the controller does in readiness, metrics and log.
fn report_all(tasks: &mut JoinSet<()>, listening: &BoundListeners, controller: &CertController) {
    let (readiness, measures) = (listening.readiness.clone(), listening.measures());
    let (status, claims) = (controller.status(), controller.claims());
    let report = async move || report::follow(status.clone(), claims.clone(), &readiness, &measures).await;
    tasks.spawn(restart_on_panic("report of certificates", report));
    if let Some(claims) = controller.claims() {
        let (readiness, measures) = (listening.readiness.clone(), listening.measures());
        let report = async move || claims::follow(claims.clone(), &readiness, &measures).await;
        tasks.spawn(restart_on_panic("report of claims", report));
    }
    if let Some(holder) = controller.namespace_holder() {
        let readiness = listening.readiness.clone();
        let report = async move || claims::follow_holder(holder.clone(), &readiness).await;
        tasks.spawn(restart_on_panic("report of the namespace", report));
    }
}

/// Starts the self-check of the listener against every injection target.
fn self_check<P: Operator>(
    tasks: &mut JoinSet<()>,
    app: &App<P>,
    listening: &BoundListeners,
    controller: &CertController,
) {
    // The first name is the one by which the API server calls.
    let name = app.setup.certificates.names.first().clone();
    let (injected, watched) = watch::channel(InjectedTrust::default());
    let status = controller.status();
    let follow = async move || injected_trust::follow(status.clone(), &name, &injected).await;
    tasks.spawn(restart_on_panic("injected trust", follow));
    tasks.spawn(listening.serving.self_check_all(watched));
}

async fn give_back(controller: CertController) {
    if tokio::time::timeout(GIVING_BACK, controller.stop()).await.is_err() {
        tracing::warn!("the leases could not be given back; others take over once they have expired");
    }
}
