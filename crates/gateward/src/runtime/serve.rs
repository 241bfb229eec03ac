//! From the start to the end of a server in a cluster.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use gateward_cluster::{ApiReader, CertController, Connection, ControllerConfig};
use gateward_server::{Drain, InjectedTrust, Readiness, WaitGuard};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::facts::FactsPoller;
use super::listen::{Listening, MetricsListener};
use super::setup::setup;
use super::signals::Signals;
use super::{claims, identity, injected_trust, report};
use crate::config::{Config, ConfigError, ConfigSource, PodEnvironment};
use crate::exit::Exit;
use crate::operator::Operator;

/// Where words about the start as a whole are found.
const TARGET: &str = "setup";
/// How long giving the lease back may take; without it, another replica waits for its end.
const GIVING_BACK: Duration = Duration::from_secs(5);
/// How long to wait before the way to the API server is looked for again.
const PAUSE: Duration = Duration::from_secs(2);

/// What is to be served, and how.
pub(crate) struct Plan<P> {
    operator: Arc<P>,
    given: ConfigSource,
    config: Config,
    setup: ControllerConfig,
}

impl<P: Operator> Plan<P> {
    /// Joins the configuration; an error is one of the user's.
    pub(crate) fn new(operator: P, given: ConfigSource, config: Config) -> Result<Self, ConfigError> {
        let setup = setup(&operator, &config, &given.pod_environment)?;
        Ok(Self { operator: Arc::new(operator), given, config, setup })
    }
}

/// Serves until a signal comes.
///
/// Nothing that is waited for ends the process: the probes say what it is, and who mends it need not restart anything.
pub(crate) async fn serve<P: Operator>(plan: Plan<P>, mut signals: Signals) -> anyhow::Result<Exit> {
    let PodEnvironment { pod, namespace, ip, instance, .. } = &plan.given.pod_environment;
    tracing::info!(target: TARGET, pod, namespace, %ip, release = instance, "starting in a cluster");
    let readiness = Readiness::new();
    let waiting = readiness.wait_for("cluster", "the way to the API server");
    let listening = Listening::start(&plan.operator, &plan.config.listeners, readiness).await?;
    let connection = tokio::select! {
        connection = connected(&plan, waiting) => connection,
        drain = signals.wait() => return stop(listening, None, drain, signals).await,
    };
    let running = Running::start(&plan, &listening, &connection).await?;
    let learning = FactsPoller {
        operator: plan.operator.as_ref(),
        given: &plan.given,
        cluster: Arc::new(ApiReader::new(connection.client()).with_claims(running.controller.claims())),
        present: listening.present.clone(),
        readiness: listening.readiness.clone(),
    };
    tokio::select! {
        contradiction = learning.go_on(&running.answerable) => {
            give_back(running.controller).await;
            Err(anyhow!("{contradiction}"))
        }
        drain = signals.wait() => stop(listening, Some(running), drain, signals).await,
    }
}

/// Reads where the API server is, however often that takes: files may come late.
async fn connected<P: Operator>(plan: &Plan<P>, waiting: WaitGuard) -> Connection {
    loop {
        match Connection::connect(&plan.operator.names().user_agent()).await {
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
struct Running {
    controller: CertController,
    /// Notified when requests can be answered.
    answerable: watch::Sender<bool>,
    metrics: MetricsListener,
    tasks: JoinSet<()>,
}

impl Running {
    async fn start<P: Operator>(
        plan: &Plan<P>,
        listening: &Listening,
        connection: &Connection,
    ) -> anyhow::Result<Self> {
        let metrics = listening.metrics(&plan.config.listeners, connection).await?;
        let controller = CertController::start(connection, &plan.setup).context("certificates can't be kept")?;
        let answerable = watch::Sender::new(false);
        let (readiness, measures) = (&listening.readiness, listening.measures());
        let mut tasks = JoinSet::new();
        let shown = listening.certificate.clone();
        tasks.spawn(identity::follow(
            controller.serving_certificate(),
            answerable.subscribe(),
            shown,
            measures.clone(),
        ));
        let claims = controller.claims();
        tasks.spawn(report::follow(controller.status(), claims.clone(), readiness.clone(), measures.clone()));
        if let Some(claims) = claims {
            tasks.spawn(claims::follow(claims, readiness.clone(), measures));
        }
        if let Some(holder) = controller.namespace_holder() {
            tasks.spawn(claims::follow_holder(holder, readiness.clone()));
        }
        self_check(&mut tasks, plan, listening, &controller)?;
        Ok(Self { controller, answerable, metrics, tasks })
    }
}

/// Starts the self-check of the listener against every injection target.
fn self_check<P: Operator>(
    tasks: &mut JoinSet<()>,
    plan: &Plan<P>,
    listening: &Listening,
    controller: &CertController,
) -> anyhow::Result<()> {
    // The first name is the one by which the API server calls.
    let name = plan.setup.certificates.names.iter().next().context("a certificate without a name")?.clone();
    let (injected, watched) = watch::channel(InjectedTrust::default());
    tasks.spawn(injected_trust::follow(controller.status(), name, injected));
    tasks.spawn(listening.serving.self_check_all(watched));
    Ok(())
}

/// Ends well: readiness fails, everything is still answered for a while, and another replica may write at once.
async fn stop(
    listening: Listening,
    running: Option<Running>,
    drain: Drain,
    mut signals: Signals,
) -> anyhow::Result<Exit> {
    tracing::info!(grace = ?drain.grace, "shutting down");
    let Listening { serving, .. } = listening;
    let giving_back = async {
        let Running { controller, metrics, tasks, .. } = running?;
        give_back(controller).await;
        Some((metrics, tasks))
    };
    let draining = serving.drain_with_skip(drain, async || signals.hurry().await);
    let (_running, drained) = tokio::join!(giving_back, draining);
    tracing::info!(cut = drained.aborted, "stopped");
    Ok(Exit::Success)
}

async fn give_back(controller: CertController) {
    if tokio::time::timeout(GIVING_BACK, controller.stop()).await.is_err() {
        tracing::warn!("the lease could not be released; another replica leads once it has expired");
    }
}
