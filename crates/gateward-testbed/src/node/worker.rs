//! The life of a Pod: its network, its volumes, its containers, its status, its end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::bail;
use http::StatusCode;
use serde_json::{Value, json};

use super::entry::{Entry, Place};
use super::fields::list;
use super::life::Container;
use super::network::Shared;
use super::projection::{self, Projection};
use super::status::{Now, State, status};

/// How soon something is tried again.
const PAUSE: Duration = Duration::from_millis(200);

/// Lives the life of a Pod.
pub(crate) async fn live(pod: Arc<Entry>) {
    let mut reported = Value::Null;
    tokio::select! {
        () = work(&pod) => {}
        never = report_changes(&pod, &mut reported) => match never {},
    }
    let state = pod.state.borrow().clone();
    report(&pod, &state, &mut reported).await;
    delete(&pod).await;
    projection::remove(&pod.folder());
}

/// Runs the containers until the Pod has ended.
async fn work(pod: &Entry) {
    let shared = tokio::select! {
        shared = share(pod) => shared,
        () = pod.stopping() => return,
    };
    pod.state.send_modify(|state| {
        state.ip = Some(shared.ip());
        state.started = Some(SystemTime::now());
    });
    let mut projection = tokio::select! {
        projection = project(pod, &shared) => projection,
        () = pod.stopping() => return,
    };
    tokio::select! {
        () = contain(pod, &shared) => {}
        never = projection.follow() => match never {},
    }
    pod.stopping().await;
}

async fn share(pod: &Entry) -> Shared {
    loop {
        let (node, name) = (Arc::clone(&pod.node), pod.name.clone());
        let joined = tokio::task::spawn_blocking(move || node.network.join(&name)).await;
        match joined.map_err(anyhow::Error::from).flatten() {
            Ok(shared) => return shared,
            Err(error) => wait(pod, "network", &error).await,
        }
    }
}

async fn project<'p>(pod: &'p Entry, shared: &Shared) -> Projection<'p> {
    loop {
        let projected = async {
            let mut projection = Projection::new(pod, shared.ip())?;
            projection.project().await?;
            Ok(projection)
        };
        match projected.await {
            Ok(projection) => return projection,
            Err(error) => wait(pod, "volumes", &error).await,
        }
    }
}

/// Says what a Pod lacks, and waits a while.
async fn wait(pod: &Entry, what: &str, error: &anyhow::Error) {
    let message = format!("{what}: {error:#}");
    let known = |state: &State| matches!(&state.main[0].now, Now::Waiting(_, known) if *known == message);
    if !known(&pod.state.borrow()) {
        pod.node.journal(&format!("{}: {message}", pod.path()));
        pod.note(Place::Main(0), |state| state.now = Now::Waiting("ContainerCreating", message));
    }
    tokio::time::sleep(PAUSE).await;
}

/// Runs all containers until each has ended for good.
async fn contain(pod: &Entry, shared: &Shared) {
    let object = pod.object();
    for (index, spec) in list(&object, "/spec/initContainers").iter().enumerate() {
        let end = Container { pod, shared, spec, place: Place::First(index) }.live().await;
        if end.code != 0 || pod.grace().is_some() {
            return;
        }
    }
    let containers = list(&object, "/spec/containers").iter().enumerate();
    let lives = containers.map(|(index, spec)| async move {
        Container { pod, shared, spec, place: Place::Main(index) }.live().await;
    });
    futures_util::future::join_all(lives).await;
}

/// Reports each change of the status to the API server.
async fn report_changes(pod: &Entry, reported: &mut Value) -> Infallible {
    let mut state = pod.state.subscribe();
    loop {
        let now = state.borrow_and_update().clone();
        report(pod, &now, reported).await;
        // The sender lives as long as the Pod.
        let _ = state.changed().await;
    }
}

/// Reports the status of the Pod to the API server where it has changed, and keeps it.
async fn report(pod: &Entry, state: &State, reported: &mut Value) {
    let now = status(&pod.object(), reported, state, SystemTime::now());
    if now == *reported {
        return;
    }
    let patch = json!({"metadata": {"uid": pod.uid}, "status": now});
    persist(pod, &Errand::Report(patch)).await;
    *reported = now;
}

/// Removes the Pod from the API server, once it runs no more.
async fn delete(pod: &Entry) {
    let options = json!({"gracePeriodSeconds": 0, "preconditions": {"uid": pod.uid}});
    persist(pod, &Errand::Delete(options)).await;
}

/// A request about a Pod to the API server.
enum Errand {
    /// Reports its status, as a patch.
    Report(Value),
    /// Removes it, with options.
    Delete(Value),
}

/// Tries until it is done or the Pod is gone.
async fn persist(pod: &Entry, errand: &Errand) {
    while !pod.is_gone() {
        match send(pod, errand).await {
            Ok(()) => return,
            Err(error) => pod.node.journal(&format!("{}: {error:#}", pod.path())),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn send(pod: &Entry, errand: &Errand) -> anyhow::Result<()> {
    let client = &pod.node.client;
    let answer = match errand {
        Errand::Report(patch) => client.merge(&format!("{}/status", pod.path()), patch).await?,
        Errand::Delete(options) => client.delete_with(&pod.path(), options).await?,
    };
    // A Pod that is gone, or another of its name, is none of ours.
    if answer.status.is_success() || [StatusCode::NOT_FOUND, StatusCode::CONFLICT].contains(&answer.status) {
        return Ok(());
    }
    bail!("{}: {}", answer.status, answer.body)
}
