//! `--facts FILE` and `--kubeconfig FILE`: what is known of a cluster, and which one rules look things up in.

use std::path::PathBuf;
use std::sync::Arc;

use gateward_cluster::{ApiReader, Client, Connection};
use gateward_core::{ClusterReader, Facts};
use serde_json::json;

use crate::cli::facts::{FactsOption, Without};
use crate::cli::planned::source;
use crate::config::Discovered;
use crate::operator::Operator;

/// The options of commands that judge as a server in a cluster does.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ClusterOptions {
    #[command(flatten)]
    facts: FactsOption,
    /// Look things up in the cluster that this file names, with the rights of its user; what --facts doesn't give is
    /// learned there
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
}

/// What handlers have of a cluster.
#[derive(Clone)]
pub(crate) struct KnownCluster {
    pub(crate) facts: Arc<dyn Facts>,
    /// What they look things up with.
    pub(crate) reader: Option<Arc<dyn ClusterReader>>,
    /// What keeps their stores filled.
    pub(crate) client: Option<Client>,
}

impl ClusterOptions {
    /// Reads the files, and learns the facts of the cluster where only that is named.
    pub(crate) async fn read<P: Operator>(&self, operator: &P, without: Without) -> anyhow::Result<KnownCluster> {
        let Some(kubeconfig) = &self.kubeconfig else {
            return Ok(KnownCluster { facts: self.facts.read(operator, without)?, reader: None, client: None });
        };
        let connection = Connection::of_kubeconfig(kubeconfig, &operator.names().user_agent()).await?;
        connection.verify().await?;
        KnownCluster::behind(&connection, &self.facts, operator).await
    }
}

impl KnownCluster {
    /// What handlers have of the cluster behind a connection; a file goes before what is learned there.
    pub(crate) async fn behind<P: Operator>(
        connection: &Connection,
        file: &FactsOption,
        operator: &P,
    ) -> anyhow::Result<Self> {
        let reader: Arc<dyn ClusterReader> = Arc::new(ApiReader::new(connection.client()));
        let facts = if file.is_given() {
            file.read(operator, Without::Unknown)?
        } else {
            learned(operator, Arc::clone(&reader)).await?
        };
        Ok(Self { facts, reader: Some(reader), client: Some(connection.client()) })
    }
}

/// The facts that the server of a usual release would have.
async fn learned<P: Operator>(operator: &P, reader: Arc<dyn ClusterReader>) -> anyhow::Result<Arc<dyn Facts>> {
    let release = operator.names().release_or_usual(None, None);
    let source = source(&release, &operator.chart_values(&release, &json!({})));
    let Discovered { facts, notes } = operator.cluster_facts(&source, reader).await?;
    for note in &notes {
        tracing::warn!("{note}");
    }
    Ok(facts)
}
