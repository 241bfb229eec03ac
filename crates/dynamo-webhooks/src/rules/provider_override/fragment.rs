//! The value of an override: which members it may have, and of which JSON type (OVR-07 to OVR-09).

use dynamo_api::Json;
use gateward::{FieldPath, Issues, Segment};
use serde_json::{Map, Value};

use Shape::{BigCount, Count, ListOf, MapOf, Members, Text, Truth};

use super::catalogue::{VALUE_COMPLETE, VALUE_OWNED, VALUE_READABLE};
use super::target::Target;

/// Judges the value of an override with this target.
pub(super) fn check(target: Target, value: Option<&Json>, at: &FieldPath, issues: &mut Issues) {
    match value.and_then(|value| value.view().ok()).filter(|value| value.is_object() && target.shape().fits(value)) {
        Some(value) => {
            foreign_keys(target.owned(), value, at, issues);
            incomplete(target.owned(), value, at, issues);
        }
        // The content may be anything; it isn't shown.
        None => issues.add(
            VALUE_READABLE
                .invalid(at.clone(), ())
                .message(format!("can't be read as a {} of grove.io/v1alpha1", target.as_str())),
        ),
    }
}

/// Whether the key that an override of this target may set is there.
pub(super) fn has_owned_key(target: Target, value: &Value) -> bool {
    let found = target.owned().iter().try_fold(value, |node, &step| node.get(step));
    found.is_some()
}

/// Each key beside the way to the owned one (OVR-08), sorted.
fn foreign_keys(owned: &[&'static str], value: &Value, at: &FieldPath, issues: &mut Issues) {
    let Some((&step, below)) = owned.split_first() else { return };
    let Some(members) = value.as_object() else { return };
    for key in sorted(members) {
        if key != step {
            let at = at.child(Segment::Field(key.to_owned().into()));
            issues.add(
                VALUE_OWNED.forbidden(at).message("may not be set by an override").help("accepted: topologyConstraint"),
            );
        } else if let Some(child) = members.get(key) {
            foreign_keys(below, child, &(at / step), issues);
        }
    }
}

fn sorted(members: &Map<String, Value>) -> Vec<&str> {
    let mut keys: Vec<&str> = members.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The first step on the way to the owned key that is missing or no object (OVR-09).
fn incomplete(owned: &[&'static str], value: &Value, at: &FieldPath, issues: &mut Issues) {
    let (mut node, mut at) = (value, at.clone());
    for &step in owned {
        at = at / step;
        match node.get(step) {
            Some(child) if child.is_object() => node = child,
            _ => return issues.add(VALUE_COMPLETE.invalid(at, ()).message("must be an object")),
        }
    }
}

impl Target {
    /// The way to the one member that an override of this target may set.
    const fn owned(self) -> &'static [&'static str] {
        match self {
            Self::Set => &["spec", "template", "topologyConstraint"],
            Self::ScalingGroup | Self::Clique => &["topologyConstraint"],
        }
    }

    const fn shape(self) -> &'static Shape {
        match self {
            Self::Set => &SET,
            Self::ScalingGroup => &SCALING_GROUP,
            Self::Clique => &CLIQUE,
        }
    }
}

/// Which JSON a member of Grove's types may have. As in Go, `null` fits everywhere, and a member that isn't listed may
/// be anything.
enum Shape {
    Text,
    Truth,
    /// A whole number of 32 bits.
    Count,
    /// A whole number of 64 bits.
    BigCount,
    Members(&'static [(&'static str, Shape)]),
    ListOf(&'static Shape),
    MapOf(&'static Shape),
}

impl Shape {
    /// The nesting is that of the tables below, not that of the value.
    fn fits(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) | (Self::Text, Value::String(_)) | (Self::Truth, Value::Bool(_)) => true,
            (Self::Count, Value::Number(number)) => number.as_i64().is_some_and(|count| i32::try_from(count).is_ok()),
            (Self::BigCount, Value::Number(number)) => number.is_i64(),
            (Self::Members(known), Value::Object(members)) => {
                known.iter().all(|(name, shape)| members.get(*name).is_none_or(|value| shape.fits(value)))
            }
            (Self::ListOf(shape), Value::Array(items)) => items.iter().all(|value| shape.fits(value)),
            (Self::MapOf(shape), Value::Object(members)) => members.values().all(|value| shape.fits(value)),
            _ => false,
        }
    }
}

const TEXTS: Shape = ListOf(&Text);
const LABELS: Shape = MapOf(&Text);
const OBJECT: Shape = Members(&[]);

/// `PodCliqueSet` of <https://github.com/ai-dynamo/grove>.
const SET: Shape = Members(&[
    ("apiVersion", Text),
    ("kind", Text),
    ("metadata", METADATA),
    (
        "spec",
        Members(&[("replicas", Count), ("updateStrategy", Members(&[("type", Text)])), ("template", SET_TEMPLATE)]),
    ),
    ("status", OBJECT),
]);

const METADATA: Shape = Members(&[
    ("name", Text),
    ("generateName", Text),
    ("namespace", Text),
    ("selfLink", Text),
    ("uid", Text),
    ("resourceVersion", Text),
    ("generation", BigCount),
    ("creationTimestamp", Text),
    ("deletionTimestamp", Text),
    ("deletionGracePeriodSeconds", BigCount),
    ("labels", LABELS),
    ("annotations", LABELS),
    ("ownerReferences", ListOf(&OWNER)),
    ("finalizers", TEXTS),
    ("managedFields", ListOf(&OBJECT)),
]);

const OWNER: Shape = Members(&[
    ("apiVersion", Text),
    ("kind", Text),
    ("name", Text),
    ("uid", Text),
    ("controller", Truth),
    ("blockOwnerDeletion", Truth),
]);

const SET_TEMPLATE: Shape = Members(&[
    ("cliques", ListOf(&CLIQUE)),
    ("cliqueStartupType", Text),
    ("priorityClassName", Text),
    ("headlessServiceConfig", Members(&[("publishNotReadyAddresses", Truth)])),
    ("topologyConstraint", TOPOLOGY),
    ("terminationDelay", Text),
    ("resourceClaimTemplates", ListOf(&CLAIM_TEMPLATE)),
    ("resourceSharing", ListOf(&SHARING)),
    ("podCliqueScalingGroups", ListOf(&SCALING_GROUP)),
]);

/// `PodCliqueTemplateSpec`.
const CLIQUE: Shape = Members(&[
    ("name", Text),
    ("labels", LABELS),
    ("annotations", LABELS),
    ("topologyConstraint", TOPOLOGY),
    ("resourceSharing", ListOf(&SHARING)),
    ("rollingUpdate", ROLLING_UPDATE),
    ("spec", CLIQUE_SPEC),
]);

const CLIQUE_SPEC: Shape = Members(&[
    ("roleName", Text),
    ("podSpec", OBJECT),
    ("replicas", Count),
    ("minAvailable", Count),
    ("startsAfter", TEXTS),
    ("autoScalingConfig", SCALING),
]);

/// `PodCliqueScalingGroupConfig`.
const SCALING_GROUP: Shape = Members(&[
    ("name", Text),
    ("cliqueNames", TEXTS),
    ("annotations", LABELS),
    ("replicas", Count),
    ("minAvailable", Count),
    ("scaleConfig", SCALING),
    ("rollingUpdate", ROLLING_UPDATE),
    ("resourceSharing", ListOf(&SHARING)),
    ("topologyConstraint", TOPOLOGY),
]);

const TOPOLOGY: Shape = Members(&[
    ("topologyName", Text),
    ("packDomain", Text),
    ("pack", Members(&[("required", Text), ("preferred", Text)])),
]);

const SCALING: Shape = Members(&[("minReplicas", Count), ("maxReplicas", Count), ("metrics", ListOf(&OBJECT))]);

const ROLLING_UPDATE: Shape = Members(&[("maxUnavailable", Count), ("progressDeadline", Text)]);

const SHARING: Shape = Members(&[
    ("name", Text),
    ("namespace", Text),
    ("scope", Text),
    ("filter", Members(&[("childCliqueNames", TEXTS), ("childScalingGroupNames", TEXTS)])),
]);

const CLAIM_TEMPLATE: Shape = Members(&[("name", Text), ("templateSpec", OBJECT)]);
