//! What an operator brings: its kinds, its facts and its names.

use std::borrow::Cow;
#[cfg(feature = "config")]
use std::future::Future;
use std::sync::Arc;

#[cfg(feature = "cluster")]
use gateward_cluster::Client;
#[cfg(feature = "cluster")]
use gateward_cluster::permissions::Permission;
#[cfg(feature = "config")]
use gateward_core::ClusterReader;
use gateward_core::manifest::Installation;
use gateward_core::{Crd, Facts, Webhooks};
#[cfg(feature = "server")]
use gateward_server::metrics::MetricPrefixes;
use serde_json::Value;

pub use crate::release::Release;

#[cfg(feature = "config")]
use crate::config::{ChartValues, Config, ConfigError, ConfigSource, Discovered, DiscoveryError, Flag};
#[cfg(feature = "cluster")]
use crate::shutdown_signal::ShutdownSignal;

/// Where the facts about the cluster come from.
#[derive(Debug, Clone, Copy)]
pub enum FactsSource<'a> {
    /// Nowhere: what isn't known is not held against the user.
    Nowhere,
    /// A document that the user gave.
    Document(&'a Value),
}

/// Why controllers end before they are asked to.
#[cfg(feature = "cluster")]
pub type ControllersError = Box<dyn std::error::Error + Send + Sync>;

/// A document of facts that the operator can't use.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct FactsError(pub String);

/// An operator that hands its webhooks over to this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Predecessor {
    /// The label of its webhook configurations that holds its namespace.
    pub namespace_label: &'static str,
    /// Where the hand-over is described.
    pub guide: &'static str,
}

/// The names under which an operator is known. Its users read no other: in help texts, logs, metrics and the cluster.
///
/// ```
/// use gateward::Names;
///
/// let names = Names { namespace: "cron-system", ..Names::new("cron-operator", "1.4.0") };
/// assert_eq!((names.release.as_ref(), names.metrics.as_ref()), ("cron-operator", "cron_operator"));
/// ```
#[derive(Debug, Clone)]
pub struct Names {
    /// The command, for its help.
    pub command: &'static str,
    /// The operator's own version, for `--version` and the user agent.
    pub version: &'static str,
    /// One line that says what it is, for its help.
    pub about: &'static str,
    /// What the names of its metrics of reviews and connections begin with.
    pub metrics: Cow<'static, str>,
    /// What the names of its metrics of certificates, injection and leader election begin with.
    pub cluster_metrics: Cow<'static, str>,
    /// The usual name of a release.
    pub release: Cow<'static, str>,
    /// The usual namespace of a release.
    pub namespace: &'static str,
    /// The annotation of a CRD that says which version of the operator has installed it.
    pub version_annotation: Cow<'static, str>,
    /// The version that is noted there: a semantic version. An older one never overwrites a newer.
    pub crds_version: &'static str,
    /// The field manager under which CRDs are applied.
    pub crd_manager: &'static str,
    /// The variable of the environment that says what is logged, where `--log-level` doesn't.
    pub log_variable: &'static str,
    /// An example of the document that [`Operator::facts`] reads, for the help of `--facts`.
    pub facts_example: Option<&'static str>,
    /// Whose webhooks it takes over, if there is such an operator.
    pub predecessor: Option<Predecessor>,
}

/// The [`Names`] of the crate in which it stands: its name, its version and its description.
///
/// ```
/// use gateward::prelude::*;
///
/// # async fn main_of(webhooks: Webhooks) -> gateward::Exit {
/// # #[cfg(feature = "cli")]
/// gateward::run(gateward::names!().of(webhooks)).await
/// # ; gateward::Exit::Success
/// # }
/// ```
#[macro_export]
macro_rules! names {
    () => {
        $crate::Names {
            about: env!("CARGO_PKG_DESCRIPTION"),
            ..$crate::Names::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        }
    };
}

/// Webhooks alone, under names of their own.
struct NamedWebhooks {
    names: Names,
    webhooks: Webhooks,
}

impl Operator for NamedWebhooks {
    fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    fn names(&self) -> Names {
        self.names.clone()
    }
}

impl Names {
    /// The names that follow from that of the command: what isn't said otherwise is called like it.
    pub fn new(command: &'static str, version: &'static str) -> Self {
        let metrics = command.replace(|character: char| !character.is_ascii_alphanumeric(), "_");
        // A crate may have underscores in its name; nothing in a cluster has.
        let name = command.replace('_', "-");
        Self {
            command,
            version,
            about: "Admission webhooks",
            cluster_metrics: metrics.clone().into(),
            metrics: metrics.into(),
            release: name.clone().into(),
            namespace: "default",
            version_annotation: format!("{name}/operator-version").into(),
            crds_version: version,
            crd_manager: command,
            log_variable: "RUST_LOG",
            facts_example: None,
            predecessor: None,
        }
    }

    /// An operator of these names that is nothing but webhooks.
    pub fn of(self, webhooks: Webhooks) -> impl Operator {
        NamedWebhooks { names: self, webhooks }
    }

    #[cfg(feature = "server")]
    pub(crate) fn metric_prefixes(&self) -> MetricPrefixes<'_> {
        MetricPrefixes { server: &self.metrics, cluster: &self.cluster_metrics }
    }

    /// The release that a command is about: what it isn't given is the usual.
    #[cfg(feature = "cli")]
    pub(crate) fn release_or_usual(&self, name: Option<&str>, namespace: Option<&str>) -> Release {
        Release {
            name: name.unwrap_or(&self.release).to_owned(),
            namespace: namespace.unwrap_or(self.namespace).to_owned(),
        }
    }

    /// What the API server's audit log calls the operator.
    #[cfg(feature = "cluster")]
    pub(crate) fn user_agent(&self) -> String {
        format!("{}/{}", self.command, self.version)
    }
}

/// An operator: what [`run`](crate::run) serves, checks and prints. A [`Webhooks`] alone is one without facts.
pub trait Operator: Send + Sync + 'static {
    /// The declared kinds.
    fn webhooks(&self) -> &Webhooks;

    /// The facts that handlers read. Parsing them is the operator's own and touches nothing outside.
    fn facts(&self, source: FactsSource<'_>) -> Result<Arc<dyn Facts>, FactsError> {
        let _ = source;
        Ok(Arc::new(()))
    }

    /// The names under which the operator is known; `operator` without a version, unless it says so.
    fn names(&self) -> Names {
        Names::new("operator", "0.0.0")
    }

    /// All CRDs; those of the webhooks, unless there are kinds without webhooks.
    fn crds(&self) -> Vec<Crd> {
        self.webhooks().declarations().filter_map(|declared| declared.crd.clone()).collect()
    }

    /// What the webhook configurations of a release look like.
    fn installation(&self, release: &Release) -> Installation {
        Installation::of_release(&release.name, &release.namespace)
    }

    /// Options of `serve` in a cluster that this operator has and others don't.
    #[cfg(feature = "config")]
    fn flags(&self) -> &'static [Flag] {
        &[]
    }

    /// How a server in a cluster is set up. Reading it is the operator's own and touches nothing outside; all that is
    /// wrong is reported at once. The default reads what [`Config::of`] reads: who provides certificates and how long they
    /// live, ports, the log.
    #[cfg(feature = "config")]
    fn config(&self, given: &ConfigSource) -> Result<Config, ConfigError> {
        Config::of(&given.pod_environment.release(), self.names().command, &given.document)
    }

    /// The shortest configuration: one that sets nothing.
    #[cfg(feature = "config")]
    fn shortest_configuration(&self) -> Value {
        Value::Object(serde_json::Map::new())
    }

    /// What the values of the operator's Helm chart say of a release. They are an object, as files give it: what they
    /// leave out has the chart's default. Reading them is the operator's own and touches nothing outside. The default
    /// reads those of the chart that `generate chart` writes. An operator with another chart says its keys by
    /// [`chart_schema`](Self::chart_schema).
    #[cfg(feature = "config")]
    fn chart_values(&self, release: &Release, values: &Value) -> ChartValues {
        ChartValues::of_generated_chart(release, values, self.shortest_configuration())
    }

    /// The `values.schema.json` of the operator's own chart, beside [`chart_values`](Self::chart_values): `generate`
    /// refuses values that have a key which a closed object of it (`additionalProperties: false`) doesn't name. Unless
    /// there is one, it is that of the chart that `generate chart` writes.
    #[cfg(feature = "config")]
    fn chart_schema(&self) -> Option<Value> {
        None
    }

    /// The facts of a server in a cluster, which looks things up there. It is asked anew every minute.
    #[cfg(feature = "config")]
    fn cluster_facts(
        &self,
        given: &ConfigSource,
        cluster: Arc<dyn ClusterReader>,
    ) -> impl Future<Output = Result<Discovered, DiscoveryError>> + Send {
        let (_, _) = (given, cluster);
        let facts = self.facts(FactsSource::Nowhere).map_err(|error| DiscoveryError::Unreadable(error.to_string()));
        std::future::ready(facts.map(|facts| Discovered { facts, notes: Vec::new() }))
    }

    /// What works beside the server in a cluster, such as kube `Controller`s; nothing, unless the operator has some. It
    /// starts in each replica once the API server is known, and ends, within the time of the drain, once `shutdown`
    /// completes. An error ends the server too, which drains first: a new process does better than half of one.
    ///
    /// After a panic, such as one of `reconcile`, this is called anew, after a pause that grows up to a minute, and the
    /// webhooks answer all the while: an object that makes a controller panic does so in each replica.
    #[cfg(feature = "cluster")]
    fn controllers(
        &self,
        client: Client,
        shutdown: ShutdownSignal,
    ) -> impl Future<Output = Result<(), ControllersError>> + Send {
        let (_, _) = (client, shutdown);
        std::future::ready(Ok(()))
    }

    /// What [`controllers`](Self::controllers) may do in the cluster. It stands in every role that is generated: by
    /// `generate rbac`, in the chart, for kustomize and in the bundle; `doctor --preflight` asks for it.
    ///
    /// ```
    /// use gateward::Permission;
    ///
    /// fn controller_permissions() -> Vec<Permission> {
    ///     vec![
    ///         Permission::allow(&["get", "list", "watch"], "zoo.org", "otters").because("reconciles them"),
    ///         Permission::allow(&["patch"], "zoo.org", "otters/status").because("says what it has done"),
    ///     ]
    /// }
    /// # assert_eq!(controller_permissions()[1].reason, "says what it has done");
    /// ```
    #[cfg(feature = "cluster")]
    fn controller_permissions(&self) -> Vec<Permission> {
        Vec::new()
    }
}

/// What the keys of an operator's annotations and labels begin with. One that has no kinds of its own and says none has the
/// name of its command there, as its version on CRDs has.
#[cfg(feature = "cluster")]
pub(crate) fn annotation_prefix(operator: &impl Operator) -> String {
    let usual = || operator.names().command.to_ascii_lowercase().replace('_', "-");
    operator.webhooks().annotation_prefix().map_or_else(usual, str::to_owned)
}

impl Operator for Webhooks {
    fn webhooks(&self) -> &Webhooks {
        self
    }
}
