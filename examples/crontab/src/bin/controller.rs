//! The same webhooks beside a kube `Controller`, in one process.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use crontab::cron_tab::v2::CronTab;
use futures_util::{FutureExt, StreamExt};
use kube::Api;
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use tokio::signal::unix::{SignalKind, signal};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let client = gateward::Client::try_default().await?;
    let mut terminated = signal(SignalKind::terminate())?;
    let shutdown = async move { terminated.recv().map(drop).await }.shared();

    let server = gateward::Server::builder(crontab::webhooks())
        .client(client.clone())
        .release("crontab", "crontab-system")
        .start()
        .await?;
    let webhooks = server.run_until(shutdown.clone()).map(|end| end.map_err(Failure::from));
    let controller = Controller::new(Api::<CronTab>::all(client), watcher::Config::default())
        .graceful_shutdown_on(shutdown)
        .run(reconcile, retry, Arc::new(()))
        .for_each(async |reconciled| {
            if let Err(error) = reconciled {
                eprintln!("a CronTab was not reconciled: {error}");
            }
        });
    // Where the webhooks end with an error the process ends too: a new one does better than half of one.
    tokio::try_join!(webhooks, controller.map(Ok))?;
    println!("stopped");
    Ok(())
}

/// Here an operator makes Pods of a CronTab.
async fn reconcile(tab: Arc<CronTab>, _: Arc<()>) -> Result<Action, std::io::Error> {
    println!("reconciled {}", tab.metadata.name.as_deref().unwrap_or_default());
    Ok(Action::requeue(Duration::from_mins(5)))
}

fn retry(_: Arc<CronTab>, _: &std::io::Error, _: Arc<()>) -> Action {
    Action::requeue(Duration::from_secs(5))
}
