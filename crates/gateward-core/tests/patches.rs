//! What holds for every patch: the raw object, patched, reads as the defaulter returned it, and keeps what the type
//! doesn't know. The judge of what a patch does is the `json-patch` crate.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;

use gateward_core::json::patch::{self, Patch};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};

/// The patch of three trees.
fn diff(before: &Value, after: &Value, raw: &Value) -> Patch {
    patch::diff(&before.to_string(), &after.to_string(), &raw.to_string()).unwrap()
}

/// A type with every sort of member that a kind has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Spec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replicas: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(default)]
    enabled: bool,
    #[serde(default)]
    limits: Limits,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fallback: Option<Limits>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Part>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ports: Vec<Port>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Limits {
    #[serde(default)]
    cpu: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Part {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replicas: Option<i64>,
    #[serde(default)]
    limits: Limits,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    args: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Port {
    number: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    protocol: Option<String>,
}

/// Few different words, so that equal ones meet.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("a/b~c"), Just("")].prop_map(str::to_owned)
}

fn quantity() -> impl Strategy<Value = f64> {
    prop_oneof![(-2_i32..3).prop_map(f64::from), Just(0.5), Just(1e20)]
}

prop_compose! {
    fn limits()(cpu in quantity(), memory in option::of(word())) -> Limits {
        Limits { cpu, memory }
    }
}

prop_compose! {
    fn part()(name in word(), replicas in option::of(0_i64..3), limits in limits(), args in vec(word(), 0..3)) -> Part {
        Part { name, replicas, limits, args }
    }
}

prop_compose! {
    fn port()(number in 0_i64..3, protocol in option::of(word())) -> Port {
        Port { number, protocol }
    }
}

prop_compose! {
    fn spec()(
        replicas in option::of(prop_oneof![0_i64..3, Just(i64::MAX)]),
        ratio in option::of(quantity()),
        enabled in any::<bool>(),
        limits in limits(),
        fallback in option::of(limits()),
        parts in vec(part(), 0..4),
        ports in vec(port(), 0..4),
        args in vec(word(), 0..4),
        labels in btree_map(word(), word(), 0..3),
        options in option::of(btree_map(word(), word(), 0..2)),
    ) -> Spec {
        Spec { replicas, ratio, enabled, limits, fallback, parts, ports, args, labels, options }
    }
}

/// Two readings: often the second differs from the first in a member or two only, as a defaulter's result does.
fn readings() -> impl Strategy<Value = (Value, Value)> {
    (spec(), spec(), vec(any::<bool>(), 10)).prop_map(|(before, other, kept)| {
        let (before, mut after) = (json!(before), json!(other));
        let members =
            ["replicas", "ratio", "enabled", "limits", "fallback", "parts", "ports", "args", "labels", "options"];
        for (member, _) in members.iter().zip(kept).filter(|(_, keep)| *keep) {
            let after = after.as_object_mut().unwrap();
            match before.get(member) {
                Some(value) => after.insert((*member).to_owned(), value.clone()),
                None => after.remove(*member),
            };
        }
        (before, after)
    })
}

/// Turns a typed reading into one of the documents that a user could have written for it.
struct Scribe {
    dice: Vec<u8>,
    thrown: usize,
}

/// Members of the type that are maps: what stands in one is known, whatever its name.
const MAPS: [&str; 2] = ["labels", "options"];
/// Members that the type doesn't know begin so.
const UNKNOWN: &str = "x-";

impl Scribe {
    fn one_in(&mut self, sides: usize) -> bool {
        self.thrown += 1;
        let die = usize::from(self.dice[self.thrown % self.dice.len()]);
        (die + self.thrown).is_multiple_of(sides)
    }

    fn write(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => self.write_members(members),
            Value::Array(items) => items.iter().map(|item| self.write(item)).collect(),
            Value::Number(number) => self.write_number(number),
            other => other.clone(),
        }
    }

    fn write_members(&mut self, members: &Map<String, Value>) -> Value {
        let mut written = Map::new();
        for (name, value) in members {
            if is_default(name, value) && self.one_in(2) {
                continue;
            }
            let value = if MAPS.contains(&name.as_str()) { value.clone() } else { self.write(value) };
            written.insert(name.clone(), value);
        }
        if self.one_in(2) {
            let unknown = json!({"deep": [self.thrown, {"x-deeper": null}]});
            written.insert(format!("{UNKNOWN}{}", self.thrown % 3), unknown);
        }
        for absent in ["replicas", "ratio", "fallback", "options", "memory", "protocol"] {
            if !members.contains_key(absent) && self.one_in(4) {
                written.insert(absent.into(), Value::Null);
            }
        }
        written.into()
    }

    /// A whole double may be written without a point.
    fn write_number(&mut self, number: &Number) -> Value {
        let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0 && float.abs() < 1e15);
        match whole {
            Some(float) if self.one_in(2) => serde_json::from_str(&format!("{float:.0}")).unwrap(),
            _ => number.clone().into(),
        }
    }
}

/// Whether a reading shows the member also where the document lacks it.
fn is_default(name: &str, value: &Value) -> bool {
    match name {
        "enabled" => *value == json!(false),
        "limits" => *value == json!({"cpu": 0.0}),
        "cpu" => *value == json!(0.0),
        _ => false,
    }
}

/// Before, after, and a raw object that reads as before.
fn trios() -> impl Strategy<Value = (Value, Value, Value)> {
    (readings(), vec(any::<u8>(), 1..20)).prop_map(|((before, after), dice)| {
        let raw = Scribe { dice, thrown: 0 }.write(&before);
        (before, after, raw)
    })
}

fn read(raw: &Value) -> Value {
    let spec: Spec = serde_json::from_str(&raw.to_string()).unwrap();
    json!(spec)
}

/// Carries the patch out in both ways.
fn applied(patch: &Patch, raw: &Value) -> Value {
    let (mut ours, mut theirs) = (raw.clone(), raw.clone());
    patch.apply(&mut ours).unwrap();
    let operations: json_patch::Patch = serde_json::from_value(json!(patch)).unwrap();
    json_patch::patch(&mut theirs, &operations).unwrap();
    assert_eq!(ours, theirs);
    ours
}

/// Each unknown member of `raw` whose parent is still there is there too.
fn assert_unknown_members_kept(raw: &Value, patched: &Value) {
    match (raw, patched) {
        (Value::Object(raw), Value::Object(patched)) => {
            for (name, value) in raw {
                match patched.get(name) {
                    found if name.starts_with(UNKNOWN) => assert_eq!(found, Some(value), "{name} is lost"),
                    Some(found) => assert_unknown_members_kept(value, found),
                    None => {}
                }
            }
        }
        (Value::Array(raw), Value::Array(patched)) => {
            let Some((was, is)) = by_name(raw).zip(by_name(patched)) else { return };
            for (name, item) in was {
                is.get(name).iter().for_each(|found| assert_unknown_members_kept(item, found));
            }
        }
        _ => {}
    }
}

/// The items by their names, if each has one of its own.
fn by_name(items: &[Value]) -> Option<BTreeMap<&str, &Value>> {
    let named: BTreeMap<&str, &Value> =
        items.iter().map(|item| Some((item.get("name")?.as_str()?, item))).collect::<Option<_>>()?;
    (named.len() == items.len()).then_some(named)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_patched_object_reads_as_the_defaulter_returned_it((before, after, raw) in trios()) {
        prop_assert_eq!(read(&raw), before.clone());
        let patched = applied(&diff(&before, &after, &raw), &raw);
        prop_assert_eq!(read(&patched), after);
    }

    #[test]
    fn a_second_application_changes_nothing((before, after, raw) in trios()) {
        let patched = applied(&diff(&before, &after, &raw), &raw);
        let again = diff(&read(&patched), &after, &patched);
        prop_assert!(again.is_empty(), "{again:?}");
    }

    #[test]
    fn equal_readings_need_no_patch((before, _, raw) in trios()) {
        prop_assert!(diff(&before, &before, &raw).is_empty());
    }

    #[test]
    fn what_the_type_does_not_know_stays((before, after, raw) in trios()) {
        assert_unknown_members_kept(&raw, &applied(&diff(&before, &after, &raw), &raw));
    }

    #[test]
    fn members_that_do_not_change_are_not_touched((before, after, raw) in trios()) {
        for operation in diff(&before, &after, &raw).operations() {
            let member = operation.path().split('/').nth(1).unwrap();
            prop_assert!(before.get(member) != after.get(member), "{operation:?} is needless");
        }
    }
}
