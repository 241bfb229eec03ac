//! The facts of an operator that runs in a cluster: from its configuration, from who it is, and from what the cluster
//! serves.

use std::collections::BTreeSet;
use std::sync::Arc;

use gateward::config::{DiscoveryError, Problem};
use gateward::{ClusterReader, GroupServed};

use crate::operator::configuration::{Key, OperatorConfiguration};
use crate::operator::facts::{Cluster, ClusterFacts, GROVE_GROUP, Gate, Watches};
use crate::operator::names;
use crate::operator::version::{self, OPERATOR_VERSION};

/// The API that checkpoints are kept in. The group is ours too, so that it is always there.
const SNAPSHOTS: (&str, &str, &str) = ("nvidia.com", "v1alpha1", "podsnapshots");

/// Who the operator is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorIdentity {
    /// The namespace of its Pods.
    pub namespace: String,
    /// Their ServiceAccount.
    pub service_account: String,
    /// The Helm release.
    pub release: String,
    /// The version that is stamped on new graphs; [`OPERATOR_VERSION`], unless set.
    pub version: Option<String>,
    /// The image that requests without one get.
    pub default_image: Option<String>,
}

/// Whether the text is a version that can be stamped on graphs.
pub fn is_version(text: &str) -> bool {
    version::lenient(text).is_some()
}

/// Learns the facts of the moment, and what a person should know of them, each a sentence.
pub async fn learn(
    configuration: &OperatorConfiguration,
    identity: &OperatorIdentity,
    cluster: Arc<dyn ClusterReader>,
) -> Result<(ClusterFacts, Vec<String>), DiscoveryError> {
    let mut notes = Vec::new();
    let grove = grove(configuration.grove, cluster.as_ref()).await?;
    let checkpoint = checkpoint(configuration.checkpoint, cluster.as_ref(), &mut notes).await?;
    let facts = ClusterFacts {
        watches: if configuration.restricted.is_some() { Watches::OneNamespace } else { Watches::WholeCluster },
        grove,
        checkpoint,
        gpu_discovery: configuration.gpu_discovery,
        operator_principals: principals(configuration, identity),
        operator_version: identity.version.clone().unwrap_or_else(|| OPERATOR_VERSION.into()),
        default_image: identity.default_image.clone().filter(|image| !image.is_empty()),
        excluded_namespaces: BTreeSet::new(),
        cluster: Cluster::Read(cluster),
    };
    Ok((facts, notes))
}

async fn grove(configured: Option<Gate>, cluster: &dyn ClusterReader) -> Result<Gate, DiscoveryError> {
    if configured == Some(Gate::Off) {
        return Ok(Gate::Off);
    }
    let served = answered(&format!("the API group {GROVE_GROUP}"), cluster.group(GROVE_GROUP).await)?;
    match (configured, served) {
        (Some(Gate::On), false) => {
            let text = format!(
                "is true, but the cluster doesn't serve the API group {GROVE_GROUP}; install Grove, or leave the key out: \
                 Grove is then used where it is"
            );
            Err(DiscoveryError::Contradiction(Problem::of_key(Key::GROVE.path(), text)))
        }
        (_, served) => Ok(Gate::of(served)),
    }
}

async fn checkpoint(
    configured: Gate,
    cluster: &dyn ClusterReader,
    notes: &mut Vec<String>,
) -> Result<Gate, DiscoveryError> {
    if !configured.is_on() {
        return Ok(Gate::Off);
    }
    let (group, version, plural) = SNAPSHOTS;
    let api = format!("{plural}.{group}");
    let served = answered(&api, cluster.resource(group, version, plural).await)?;
    if !served {
        notes.push(format!(
            "checkpoint.enabled is true, but the cluster doesn't serve {api}: checkpoints are refused until it does"
        ));
    }
    Ok(Gate::of(served))
}

fn answered(what: &str, served: GroupServed) -> Result<bool, DiscoveryError> {
    match served {
        GroupServed::Served => Ok(true),
        GroupServed::Absent => Ok(false),
        GroupServed::Unreadable(why) => {
            Err(DiscoveryError::Unreadable(format!("whether {what} is served can't be learned: {why}")))
        }
    }
}

/// Who may change what the operator owns: we, and the controllers of the same release, unless others are named.
fn principals(configuration: &OperatorConfiguration, identity: &OperatorIdentity) -> Vec<String> {
    if let Some(named) = &configuration.webhook.operator_principals {
        return named.clone();
    }
    let fullname = configuration.webhook.fullname.clone().unwrap_or_else(|| names::fullname(&identity.release));
    let accounts = [identity.service_account.clone(), fullname + names::CONTROLLERS_SUFFIX];
    accounts.map(|name| names::service_account(&identity.namespace, &name)).into()
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::task::{Context, Poll, Waker};

    use gateward::{BoxFuture, Lookup, ObjectName};
    use serde_json::{Value, json};

    use super::*;
    use crate::operator::configuration::{API_VERSION, KIND};

    /// A cluster that serves these, or can't be asked.
    #[derive(Debug, Clone)]
    enum Zoo {
        Serving(&'static [&'static str]),
        Closed,
    }

    impl Zoo {
        fn answer(&self, name: &str) -> BoxFuture<'_, GroupServed> {
            let answer = match self {
                Zoo::Closed => GroupServed::Unreadable("timed out".into()),
                Zoo::Serving(names) if names.contains(&name) => GroupServed::Served,
                Zoo::Serving(_) => GroupServed::Absent,
            };
            Box::pin(std::future::ready(answer))
        }
    }

    impl ClusterReader for Zoo {
        fn group<'a>(&'a self, group: &'a str) -> BoxFuture<'a, GroupServed> {
            self.answer(group)
        }

        fn resource<'a>(&'a self, group: &'a str, version: &'a str, plural: &'a str) -> BoxFuture<'a, GroupServed> {
            self.answer(&format!("{group}/{version}/{plural}"))
        }

        fn get<'a>(&'a self, _: &'a ObjectName) -> BoxFuture<'a, Lookup> {
            Box::pin(std::future::ready(Lookup::Absent))
        }
    }

    fn identity() -> OperatorIdentity {
        OperatorIdentity {
            namespace: "zoo".into(),
            service_account: "otter-dynamo-operator".into(),
            release: "otter".into(),
            version: None,
            default_image: None,
        }
    }

    fn learned(members: Value, cluster: Zoo) -> Result<(ClusterFacts, Vec<String>), DiscoveryError> {
        let mut document = json!({"apiVersion": API_VERSION, "kind": KIND});
        if let (Some(document), Value::Object(members)) = (document.as_object_mut(), members) {
            document.extend(members);
        }
        let configuration = OperatorConfiguration::read(&document).unwrap().configuration;
        let identity = identity();
        let learning = std::pin::pin!(learn(&configuration, &identity, Arc::new(cluster)));
        match learning.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(learned) => learned,
            Poll::Pending => panic!("nothing here waits"),
        }
    }

    fn grove(configured: Option<bool>, cluster: Zoo) -> Result<Gate, DiscoveryError> {
        let learned = learned(json!({"orchestrators": {"grove": {"enabled": configured}}}), cluster);
        learned.map(|(facts, _)| facts.grove)
    }

    const GROVE: Zoo = Zoo::Serving(&["grove.io"]);
    const NOTHING: Zoo = Zoo::Serving(&[]);

    #[test]
    fn grove_is_used_where_it_is_unless_the_configuration_says_otherwise() {
        assert_eq!(grove(None, GROVE), Ok(Gate::On));
        assert_eq!(grove(None, NOTHING), Ok(Gate::Off));
        assert_eq!(grove(Some(true), GROVE), Ok(Gate::On));
        assert_eq!(grove(Some(false), GROVE), Ok(Gate::Off));
        assert_eq!(grove(Some(false), Zoo::Closed), Ok(Gate::Off), "no lookup is needed");
    }

    #[test]
    fn grove_that_is_demanded_and_not_there_is_a_contradiction() {
        let error = grove(Some(true), NOTHING).unwrap_err().to_string();
        assert!(error.starts_with("orchestrators.grove.enabled: is true, but"), "{error}");
    }

    #[test]
    fn what_cannot_be_asked_is_not_taken_for_absent() {
        for configured in [None, Some(true)] {
            assert!(
                matches!(grove(configured, Zoo::Closed), Err(DiscoveryError::Unreadable(why)) if why.contains("timed out"))
            );
        }
    }

    #[test]
    fn checkpoints_need_the_configuration_and_the_api() {
        const BOTH: Zoo = Zoo::Serving(&["nvidia.com/v1alpha1/podsnapshots"]);
        let checkpoint = |enabled: bool, cluster| {
            let configuration =
                json!({"checkpoint": {"enabled": enabled}, "orchestrators": {"grove": {"enabled": false}}});
            learned(configuration, cluster).map(|(facts, notes)| (facts.checkpoint, notes.len()))
        };
        assert_eq!(checkpoint(true, BOTH), Ok((Gate::On, 0)));
        assert_eq!(checkpoint(false, BOTH), Ok((Gate::Off, 0)));
        assert_eq!(checkpoint(true, Zoo::Serving(&["nvidia.com"])), Ok((Gate::Off, 1)));
        assert!(matches!(checkpoint(true, Zoo::Closed), Err(DiscoveryError::Unreadable(_))));
    }

    #[test]
    fn we_and_the_controllers_of_the_release_are_principals_unless_others_are_named() {
        let principals =
            |webhook: Value| learned(json!({"server": {"webhook": webhook}}), NOTHING).unwrap().0.operator_principals;
        assert_eq!(
            principals(json!({})),
            [
                "system:serviceaccount:zoo:otter-dynamo-operator",
                "system:serviceaccount:zoo:otter-dynamo-operator-controller-manager",
            ]
        );
        assert_eq!(
            principals(json!({"fullname": "badger"})),
            ["system:serviceaccount:zoo:otter-dynamo-operator", "system:serviceaccount:zoo:badger-controller-manager",]
        );
        assert_eq!(principals(json!({"operatorPrincipals": ["jane"]})), ["jane"]);
    }

    #[test]
    fn an_operator_of_one_namespace_looks_at_no_claims() {
        let watches = |namespace: Value| learned(json!({"namespace": namespace}), NOTHING).unwrap().0.watches;
        assert_eq!(watches(json!({"restricted": ""})), Watches::WholeCluster);
        assert_eq!(watches(json!({"restricted": "team-a"})), Watches::OneNamespace);
    }

    #[test]
    fn graphs_are_stamped_with_a_dynamo_release_unless_another_is_set() {
        let facts = learned(json!({}), NOTHING).unwrap().0;
        assert_eq!(facts.operator_version, OPERATOR_VERSION);
        assert!(facts.discovers_gpus() && facts.default_image.is_none() && facts.excluded_namespaces.is_empty());
        assert!(is_version("1.4.0") && is_version("v1.4.0-rc.1") && !is_version("unknown"));
    }
}
