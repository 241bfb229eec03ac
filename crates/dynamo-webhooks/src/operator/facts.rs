//! What the rules need to know of the cluster and of the operator's configuration.

use std::collections::BTreeSet;
use std::future::ready;
use std::sync::Arc;

use gateward::{BoxFuture, ClusterReader, Facts, GroupServed, Lookup, ObjectName, Request, ReviewSubject};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::operator::version::OPERATOR_VERSION;

/// API group whose presence means that the gateway's `InferencePool` can be used.
pub const INFERENCE_GROUP: &str = "inference.networking.k8s.io";
/// API group of Grove.
pub const GROVE_GROUP: &str = "grove.io";
/// The plural of the objects of Grove that describe a cluster's topology: the only ones that rules read.
pub const TOPOLOGY_BINDINGS: &str = "clustertopologybindings";

/// Whether a feature of the operator is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// It is.
    On,
    /// It isn't.
    Off,
    /// It isn't known; verdicts are those of [`Off`](Self::Off).
    Unknown,
}

impl Gate {
    /// Whether the feature is on.
    pub const fn is_on(self) -> bool {
        matches!(self, Self::On)
    }

    pub(crate) const fn of(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

/// Which namespaces the operator watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watches {
    /// All of them, but those that another operator has claimed.
    WholeCluster,
    /// Its own.
    OneNamespace,
}

/// How look-ups are answered.
#[derive(Debug, Clone)]
pub enum Cluster {
    /// They aren't: a rule that needs one is skipped with a note.
    NotEvaluated,
    /// By reading.
    Read(Arc<dyn ClusterReader>),
}

/// The cluster and the configuration, as far as verdicts depend on them.
#[derive(Debug, Clone)]
pub struct ClusterFacts {
    /// Which namespaces the operator watches.
    pub watches: Watches,
    /// Whether graphs are laid out by Grove unless they opt out.
    pub grove: Gate,
    /// Whether checkpoints may be used.
    pub checkpoint: Gate,
    /// Whether the configuration lets a restricted operator discover GPUs; see [`discovers_gpus`](Self::discovers_gpus).
    pub gpu_discovery: Gate,
    /// Users that may change what the operator owns.
    pub operator_principals: Vec<String>,
    /// The version that is stamped on new graphs.
    pub operator_version: String,
    /// The image that requests without one get.
    pub default_image: Option<String>,
    /// Namespaces that other operators have claimed as a whole. In a cluster, [`cluster`](Self::cluster) says what they
    /// have claimed at the moment.
    pub excluded_namespaces: BTreeSet<String>,
    /// How look-ups are answered.
    pub cluster: Cluster,
}

impl ClusterFacts {
    /// What holds offline when no facts are given: nothing is looked up, and nothing is denied for want of it.
    pub fn unknown() -> Self {
        Self {
            watches: Watches::WholeCluster,
            grove: Gate::On,
            checkpoint: Gate::Unknown,
            gpu_discovery: Gate::On,
            operator_principals: Vec::new(),
            operator_version: OPERATOR_VERSION.into(),
            default_image: None,
            excluded_namespaces: BTreeSet::new(),
            cluster: Cluster::NotEvaluated,
        }
    }

    /// Reads a document of facts: one object, whose missing members have the rule book's defaults.
    pub fn from_document(document: &Value) -> serde_json::Result<Self> {
        FactsDocument::deserialize(document).map(Self::from)
    }

    /// Whether GPU facts are found without the user's help: a cluster-wide operator always can.
    pub fn discovers_gpus(&self) -> bool {
        self.watches == Watches::WholeCluster || self.gpu_discovery.is_on()
    }

    /// The facts of a request; [`unknown`](Self::unknown) where the shell was started without any.
    pub fn of(request: &Request) -> std::borrow::Cow<'_, Self> {
        request.facts::<Self>().map_or_else(|| std::borrow::Cow::Owned(Self::unknown()), std::borrow::Cow::Borrowed)
    }
}

/// The rule book's defaults.
impl Default for ClusterFacts {
    fn default() -> Self {
        FactsDocument::default().into()
    }
}

impl Facts for ClusterFacts {
    /// Only a cluster-wide operator leaves claimed namespaces to others.
    fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
        let excluded = self.excluded_namespaces.contains(subject.namespace);
        match (self.watches, &self.cluster) {
            (Watches::WholeCluster, Cluster::Read(cluster)) if !excluded => cluster.claims(subject),
            (watches, _) => Box::pin(ready(watches == Watches::WholeCluster && excluded)),
        }
    }
}

/// A document of facts as it is written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "the document is written so; gates are made of it at once")]
struct FactsDocument {
    cluster_wide: bool,
    grove_enabled: bool,
    checkpoint_enabled: bool,
    inference_pool_available: bool,
    cluster_topologies: Vec<TopologyDocument>,
    gpu_discovery_enabled: bool,
    operator_principals: Vec<String>,
    operator_principal: Option<String>,
    operator_version: Option<String>,
    default_image: Option<String>,
    excluded_namespaces: BTreeSet<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TopologyDocument {
    name: String,
    levels: Vec<String>,
}

impl Default for FactsDocument {
    fn default() -> Self {
        Self {
            cluster_wide: false,
            grove_enabled: true,
            checkpoint_enabled: true,
            inference_pool_available: true,
            cluster_topologies: Vec::new(),
            gpu_discovery_enabled: false,
            operator_principals: Vec::new(),
            operator_principal: None,
            operator_version: None,
            default_image: None,
            excluded_namespaces: BTreeSet::new(),
        }
    }
}

impl From<FactsDocument> for ClusterFacts {
    fn from(document: FactsDocument) -> Self {
        let cluster = DocumentedCluster {
            inference_pool: Gate::of(document.inference_pool_available),
            topologies: document.cluster_topologies.into_iter().map(|each| (each.name, each.levels)).collect(),
        };
        let principals = document.operator_principals.into_iter().chain(document.operator_principal);
        Self {
            watches: if document.cluster_wide { Watches::WholeCluster } else { Watches::OneNamespace },
            grove: Gate::of(document.grove_enabled),
            checkpoint: Gate::of(document.checkpoint_enabled),
            gpu_discovery: Gate::of(document.gpu_discovery_enabled),
            operator_principals: principals.filter(|name| !name.is_empty()).collect(),
            operator_version: document.operator_version.unwrap_or_else(|| OPERATOR_VERSION.into()),
            default_image: document.default_image.filter(|image| !image.is_empty()),
            excluded_namespaces: document.excluded_namespaces,
            cluster: Cluster::Read(Arc::new(cluster)),
        }
    }
}

/// The part of a document of facts that answers look-ups.
#[derive(Debug)]
struct DocumentedCluster {
    inference_pool: Gate,
    topologies: Vec<(String, Vec<String>)>,
}

impl ClusterReader for DocumentedCluster {
    fn group<'a>(&'a self, group: &'a str) -> BoxFuture<'a, GroupServed> {
        let served = group != INFERENCE_GROUP || self.inference_pool.is_on();
        Box::pin(ready(if served { GroupServed::Served } else { GroupServed::Absent }))
    }

    fn resource<'a>(&'a self, group: &'a str, _: &'a str, _: &'a str) -> BoxFuture<'a, GroupServed> {
        self.group(group)
    }

    fn get<'a>(&'a self, object: &'a ObjectName) -> BoxFuture<'a, Lookup> {
        let wanted = |(name, _): &&(String, Vec<String>)| object.group == GROVE_GROUP && *name == object.name;
        let found = self.topologies.iter().find(wanted).map_or(Lookup::Absent, |(_, levels)| {
            let levels: Vec<Value> = levels.iter().map(|domain| json!({"domain": domain})).collect();
            Lookup::Found(json!({"spec": {"levels": levels}}))
        });
        Box::pin(ready(found))
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Poll, Waker};

    use gateward::{Operation, Review};

    use super::*;

    #[test]
    fn an_empty_document_has_the_rule_books_defaults() {
        let facts = ClusterFacts::from_document(&json!({})).unwrap();
        assert_eq!(facts.watches, Watches::OneNamespace);
        assert!(facts.grove.is_on() && facts.checkpoint.is_on());
        assert!(!facts.discovers_gpus());
        assert!(matches!(facts.cluster, Cluster::Read(_)));
    }

    #[test]
    fn without_facts_nothing_is_looked_up() {
        let facts = ClusterFacts::unknown();
        assert!(facts.discovers_gpus() && !facts.checkpoint.is_on());
        assert!(matches!(facts.cluster, Cluster::NotEvaluated));
    }

    #[test]
    fn the_operators_version_is_that_of_a_dynamo_release_unless_given() {
        let of = |document: Value| ClusterFacts::from_document(&document).unwrap().operator_version;
        assert_eq!(of(json!({})), OPERATOR_VERSION);
        assert_eq!(of(json!({"operatorVersion": "1.4.2"})), "1.4.2");
        assert_eq!(ClusterFacts::unknown().operator_version, OPERATOR_VERSION);
        assert_ne!(OPERATOR_VERSION, env!("CARGO_PKG_VERSION"), "Gateward's own version is another thing");
    }

    #[test]
    fn a_misspelt_key_is_an_error_that_names_it() {
        let error = ClusterFacts::from_document(&json!({"groveEnable": true})).unwrap_err();
        assert!(error.to_string().contains("groveEnable"), "{error}");
    }

    fn graphs_in(namespace: &str) -> ReviewSubject<'_> {
        ReviewSubject {
            namespace,
            group: "nvidia.com",
            resource: "dynamographdeployments",
            version: "v1beta1",
            versions: &["v1alpha1", "v1beta1"],
            operation: Some(Operation::Create),
            review: Review::Validate,
        }
    }

    fn claims(facts: &ClusterFacts, namespace: &str) -> bool {
        let subject = graphs_in(namespace);
        match facts.claims(&subject).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(claimed) => claimed,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    #[test]
    fn only_a_cluster_wide_operator_skips_claimed_namespaces() {
        let claimed = json!({"excludedNamespaces": ["team-a"]});
        assert!(!claims(&ClusterFacts::from_document(&claimed).unwrap(), "team-a"));
        let mut wide = claimed;
        wide["clusterWide"] = true.into();
        let facts = ClusterFacts::from_document(&wide).unwrap();
        assert!(claims(&facts, "team-a") && !claims(&facts, "team-b"));
    }

    /// A cluster in which everything in one namespace is claimed.
    #[derive(Debug)]
    struct Claimed(&'static str);

    impl ClusterReader for Claimed {
        fn group<'a>(&'a self, _: &'a str) -> BoxFuture<'a, GroupServed> {
            Box::pin(ready(GroupServed::Absent))
        }

        fn resource<'a>(&'a self, _: &'a str, _: &'a str, _: &'a str) -> BoxFuture<'a, GroupServed> {
            Box::pin(ready(GroupServed::Absent))
        }

        fn get<'a>(&'a self, _: &'a ObjectName) -> BoxFuture<'a, Lookup> {
            Box::pin(ready(Lookup::Absent))
        }

        fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
            Box::pin(ready(subject.namespace == self.0))
        }
    }

    #[test]
    fn what_the_cluster_says_is_claimed_counts_for_a_cluster_wide_operator_alone() {
        let with = |watches| ClusterFacts {
            watches,
            cluster: Cluster::Read(Arc::new(Claimed("team-a"))),
            ..ClusterFacts::unknown()
        };
        let wide = with(Watches::WholeCluster);
        assert!(claims(&wide, "team-a") && !claims(&wide, "team-b"));
        assert!(!claims(&with(Watches::OneNamespace), "team-a"));
    }

    #[test]
    fn one_principal_is_a_list_of_one_and_an_empty_one_is_none() {
        let facts = ClusterFacts::from_document(&json!({"operatorPrincipal": "a"})).unwrap();
        assert_eq!(facts.operator_principals, ["a"]);
        let facts = ClusterFacts::from_document(&json!({"operatorPrincipal": ""})).unwrap();
        assert!(facts.operator_principals.is_empty());
    }
}
