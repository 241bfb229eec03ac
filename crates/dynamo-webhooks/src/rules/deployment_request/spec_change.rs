//! Whether two specs mean the same, as Kubernetes compares them: what is empty equals what is absent, and amounts are
//! equal by value. Free-form JSON is compared node by node.

use std::collections::{BTreeMap, BTreeSet};

use dynamo_api::{Quantity, Raw};
use gateward::json::patch::same_value;
use serde::Serialize;
use serde_json::{Map, Value};

/// How two specs differ, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SpecChange {
    /// They mean the same.
    None,
    /// Only in the version of the runtime and in whether the graph is applied.
    ReleaseOnly,
    /// In something else.
    Other,
}

/// Members of the spec whose change is one [`SpecChange::ReleaseOnly`].
const RELEASE: [&str; 2] = ["autoApply", "runtimeVersionOverride"];

/// Free-form JSON in either version.
const FREE_FORM: [&str; 3] = ["config", "dgd", "planner"];

/// Members that Kubernetes holds by value or as maps, so that an empty one equals none.
const BY_VALUE: [&str; 10] = [
    "annotations",
    "labels",
    "limits",
    "matchLabels",
    "metadata",
    "nodeSelector",
    "requests",
    "resources",
    "spec",
    "template",
];

/// Maps of amounts.
const AMOUNTS: [&str; 2] = ["limits", "requests"];

/// Amounts.
const AMOUNT: [&str; 2] = ["divisor", "sizeLimit"];

/// What the text of a member may take of which a tree is made: of many small nodes it takes sixty times the text. A longer
/// one is compared as free-form JSON is, text by text.
const LONGEST_TREE: usize = 64 << 10;

/// The members of a spec, each as text.
type Members = BTreeMap<String, Raw<()>>;

impl SpecChange {
    /// How `new` differs from `old`.
    pub(super) fn between<T: Serialize + PartialEq>(old: &T, new: &T) -> Self {
        // Most updates change nothing here.
        if old == new {
            return Self::None;
        }
        let (Some(old), Some(new)) = (members(old), members(new)) else { return Self::Other };
        let nothing = Raw::from(Value::Null);
        let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let is_changed = |name: &&String| {
            let [old, new] = [&old, &new].map(|members| members.get(*name).unwrap_or(&nothing));
            !same_text(name, old, new)
        };
        let changes = names.into_iter().filter(is_changed);
        let change = |name: &String| if RELEASE.contains(&name.as_str()) { Self::ReleaseOnly } else { Self::Other };
        changes.map(change).max().unwrap_or(Self::None)
    }
}

fn members(spec: &impl Serialize) -> Option<Members> {
    serde_json::from_str(&serde_json::to_string(spec).ok()?).ok()
}

/// Something that nests too deeply to be read as a tree differs where its text does.
fn same_text(name: &str, one: &Raw<()>, other: &Raw<()>) -> bool {
    let tree = |raw: &Raw<()>| {
        let text = Some(raw.json()).filter(|text| text.len() <= LONGEST_TREE)?;
        serde_json::from_str::<Value>(text).ok()
    };
    one == other || matches!((tree(one), tree(other)), (Some(one), Some(other)) if same_member(name, &one, &other))
}

fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => same_members(one, other, same_member),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        _ => same_value(one, other),
    }
}

fn same_members(
    one: &Map<String, Value>,
    other: &Map<String, Value>,
    same: impl Fn(&str, &Value, &Value) -> bool,
) -> bool {
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    names.into_iter().all(|name| {
        let (one, other) = (one.get(name).unwrap_or(&Value::Null), other.get(name).unwrap_or(&Value::Null));
        same(name, one, other)
    })
}

fn same_member(name: &str, one: &Value, other: &Value) -> bool {
    if FREE_FORM.contains(&name) {
        return same_value(one, other);
    }
    match (one, other) {
        (one, other) if is_nothing(name, one) && is_nothing(name, other) => true,
        (Value::Object(one), Value::Object(other)) if AMOUNTS.contains(&name) => {
            same_members(one, other, |_, one, other| same_amount(one, other))
        }
        _ if AMOUNT.contains(&name) => same_amount(one, other),
        _ => same(one, other),
    }
}

fn is_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => {
            BY_VALUE.contains(&name) && members.iter().all(|(name, value)| is_nothing(name, value))
        }
        _ => false,
    }
}

fn same_amount(one: &Value, other: &Value) -> bool {
    let read = |value: &Value| serde_json::from_value::<Quantity>(value.clone()).ok()?.amount().ok();
    match (read(one), read(other)) {
        (Some(one), Some(other)) => one.equals(&other),
        _ => same_value(one, other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn assert_change(old: &Value, new: &Value, change: SpecChange) {
        assert_eq!(SpecChange::between(old, new), change);
        assert_eq!(SpecChange::between(new, old), change);
    }

    fn job(pod: &Value) -> Value {
        json!({"model": "otter", "overrides": {"profilingJob": {"template": {"spec": pod}}}})
    }

    #[test]
    fn empty_lists_and_maps_equal_absent_ones() {
        let empty = json!({"tolerations": [], "nodeSelector": {}, "containers": [{"name": "profiler", "env": null}]});
        assert_change(&job(&empty), &job(&json!({"containers": [{"name": "profiler"}]})), SpecChange::None);
        let blank = json!({"overrides": {"profilingJob": {"template": {"metadata": {"labels": {}}, "spec": {}}}}});
        assert_change(&blank, &json!({"overrides": {"profilingJob": {}}}), SpecChange::None);
    }

    #[test]
    fn an_empty_block_that_differs_from_an_absent_one_is_a_change() {
        assert_change(&json!({"sla": {}}), &json!({}), SpecChange::Other);
        assert_change(&job(&json!({"securityContext": {}})), &job(&json!({})), SpecChange::Other);
    }

    #[test]
    fn amounts_are_equal_by_value() {
        let with = |memory: Value| job(&json!({"containers": [{"resources": {"limits": {"memory": memory}}}]}));
        assert_change(&with(json!("1Gi")), &with(json!("1024Mi")), SpecChange::None);
        assert_change(&with(json!("1Gi")), &with(json!(1_073_741_824)), SpecChange::None);
        assert_change(&with(json!("1Gi")), &with(json!("1G")), SpecChange::Other);
        assert_change(&with(json!("much")), &with(json!("more")), SpecChange::Other);
    }

    #[test]
    fn free_form_json_is_compared_node_by_node() {
        let dgd = |spec: Value| json!({"overrides": {"dgd": {"spec": spec}}});
        assert_change(&dgd(json!({"a": 1, "b": 2})), &dgd(json!({"b": 2.0, "a": 1})), SpecChange::None);
        assert_change(&dgd(json!({"a": []})), &dgd(json!({})), SpecChange::Other);
        assert_change(
            &dgd(json!({"limits": {"memory": "1Gi"}})),
            &dgd(json!({"limits": {"memory": "1024Mi"}})),
            SpecChange::Other,
        );
    }

    #[test]
    fn a_long_member_is_compared_text_by_text() {
        let tolerations = vec![json!({"key": "otter", "operator": "Exists"}); 2000];
        let long = |pod: Value| {
            let mut long = job(&pod);
            long["overrides"]["profilingJob"]["template"]["spec"]["tolerations"] = tolerations.clone().into();
            long
        };
        assert_change(&long(json!({"env": []})), &long(json!({})), SpecChange::Other);
        let mut other = long(json!({"priority": 1.0}));
        assert_change(&long(json!({"priority": 1})), &other, SpecChange::None);
        other["autoApply"] = true.into();
        assert_change(&long(json!({"priority": 1})), &other, SpecChange::ReleaseOnly);
    }

    #[test]
    fn a_change_of_the_release_differs_from_other_changes() {
        let old = json!({"model": "otter", "autoApply": false});
        assert_change(&old, &json!({"model": "otter", "autoApply": true}), SpecChange::ReleaseOnly);
        assert_change(&old, &json!({"model": "otter", "runtimeVersionOverride": "1.4.0"}), SpecChange::ReleaseOnly);
        assert_change(&old, &json!({"model": "badger", "autoApply": true}), SpecChange::Other);
    }
}
