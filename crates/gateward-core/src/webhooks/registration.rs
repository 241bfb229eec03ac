//! What the configurations say of a webhook beside its rules, where the usual does not do. Follows
//! <https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#webhook-configuration>.

use std::time::Duration;

use crate::manifest::failure_policy::FailurePolicy;
use crate::manifest::selector::{LabelSelector, label};
use crate::webhooks::dynamic_kind::ANY;
use crate::wire::review_version::ReviewVersion;

/// Which effects a handler has beside its answer, as far as dry runs have to know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SideEffects {
    /// None.
    #[default]
    None,
    /// Some, but none where [`Request::dry_run`](crate::Request::dry_run) says that nothing is stored.
    NoneOnDryRun,
}

impl SideEffects {
    /// The name in a webhook configuration.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::NoneOnDryRun => "NoneOnDryRun",
        }
    }
}

/// Whether a defaulter is asked again where a later one changed the object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReinvocationPolicy {
    /// It isn't.
    #[default]
    Never,
    /// It is.
    IfNeeded,
}

/// Namespaces whose objects are not sent, because the webhook could not come up again if they were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Bootstrap {
    /// For kinds that a Pod needs in order to start: `kube-system` and the release's own namespace.
    #[default]
    LeftOut,
    /// None: the author has said so.
    Sent,
}

/// The part of a declaration that both configurations say alike.
#[derive(Debug, Clone)]
pub(crate) struct Registration {
    pub review_versions: Vec<ReviewVersion>,
    pub namespace_selector: Option<LabelSelector>,
    pub object_selector: Option<LabelSelector>,
    pub match_conditions: Vec<(&'static str, &'static str)>,
    pub failure_policy: Option<FailurePolicy>,
    pub timeout: Option<Duration>,
    pub side_effects: SideEffects,
    pub reinvocation: ReinvocationPolicy,
    pub bootstrap: Bootstrap,
}

impl Default for Registration {
    fn default() -> Self {
        Self {
            review_versions: vec![ReviewVersion::V1],
            namespace_selector: None,
            object_selector: None,
            match_conditions: Vec::new(),
            failure_policy: None,
            timeout: None,
            side_effects: SideEffects::default(),
            reinvocation: ReinvocationPolicy::default(),
            bootstrap: Bootstrap::default(),
        }
    }
}

/// How many conditions the API server takes.
const CONDITIONS: usize = 64;

impl Registration {
    /// What the API server would refuse, in a sentence with the way out.
    pub fn problem(&self) -> Option<String> {
        if self.timeout.is_some_and(|timeout| !(1..=30).contains(&timeout.as_secs()) || timeout.subsec_nanos() > 0) {
            return Some("the timeout must be a whole number of seconds from 1 to 30".into());
        }
        if self.review_versions.is_empty() {
            return Some(
                "no version of AdmissionReview is listed; name one with `.review_versions`, or leave it out".into(),
            );
        }
        for (at, version) in self.review_versions.iter().enumerate() {
            if self.review_versions[..at].contains(version) {
                return Some(format!("AdmissionReview {} is listed twice; name each version once", version.as_str()));
            }
        }
        if self.match_conditions.len() > CONDITIONS {
            return Some(format!("there are more than {CONDITIONS} match conditions; join some with `&&`"));
        }
        for (at, (name, expression)) in self.match_conditions.iter().enumerate() {
            if !is_qualified_name(name) {
                return Some(format!(
                    "the match condition {name:?} must be called by letters, digits, '-', '_' and '.'"
                ));
            }
            if self.match_conditions[..at].iter().any(|(earlier, _)| earlier == name) {
                return Some(format!("two match conditions are called {name:?}; give one of them another name"));
            }
            if expression.trim().is_empty() {
                return Some(format!("the match condition {name:?} has no expression"));
            }
        }
        None
    }
}

fn is_qualified_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let ends = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    name.len() <= 63 && name.chars().all(inner) && ends(name.chars().next()) && ends(name.chars().next_back())
}

/// The label of a namespace that has its name. API servers set it, and nobody else can.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// Groups of the API server's own whose objects the start of a Pod can depend on.
const OF_PODS: [&str; 6] =
    ["", "apps", "coordination.k8s.io", "discovery.k8s.io", "policy", "rbac.authorization.k8s.io"];

/// Whether the start of a Pod can depend on objects of a group. A webhook on Pods that is down would keep its own Pods, and
/// those of the network, from coming up again.
pub(crate) fn is_needed_by_pods(group: &str) -> bool {
    group == ANY || OF_PODS.contains(&group)
}

/// All namespaces but these.
pub(crate) fn not_in(namespaces: [&str; 2]) -> LabelSelector {
    label(NAMESPACE_NAME).not_in(namespaces.map(str::to_owned))
}
