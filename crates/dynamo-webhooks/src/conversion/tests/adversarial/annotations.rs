//! The grammar of the annotations: their entries, with paths and values of every sort.

use proptest::prelude::*;
use serde_json::{Value, json};

/// How deep values nest at most. With a path as long as may be a document stays within what the parser of JSON reads.
pub const DEEPEST: usize = 40;

/// How many steps a path may have.
pub const MOST_STEPS: usize = 64;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(json!(2_147_483_648_u64)),
        Just(json!("abc")),
        Just(json!("")),
        Just(json!({})),
        Just(json!([])),
        Just(json!([{"name": "main", "image": 5}])),
        Just(json!({"enabled": true})),
        Just(json!({"a": {"b": [1]}})),
    ]
}

/// A value of any type: mostly small, sometimes a nest of lists and objects.
pub fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => scalar(),
        1 => (scalar(), 1..=DEEPEST, any::<u64>()).prop_map(|(value, depth, shape)| nest(value, depth, shape)),
    ]
}

/// A value below so many lists and objects; which of them, say the bits of `shape`.
pub fn nest(value: Value, depth: usize, shape: u64) -> Value {
    (0..depth).fold(value, |value, level| match shape.rotate_right(u32::try_from(level).unwrap()) % 4 {
        0 => json!([value]),
        1 => json!([{"name": "main"}, value]),
        2 => json!({"name": "main", "novel": value}),
        _ => json!({NAMES[level % NAMES.len()]: value}),
    })
}

const NAMES: [&str; 24] = [
    "spec",
    "status",
    "metadata",
    "components",
    "services",
    "minAvailable",
    "multinode",
    "restart",
    "replicas",
    "podTemplate",
    "containers",
    "extraPodSpec",
    "mainContainer",
    "envs",
    "name",
    "hardware",
    "workload",
    "sla",
    "searchStrategy",
    "overrides",
    "experimental",
    "scalingAdapter",
    "novel",
    "image",
];

fn step() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => prop::sample::select(&NAMES[..]).prop_map(Value::from),
        1 => (0..3_u32).prop_map(Value::from),
        1 => Just(json!({"name": "w"})),
        1 => Just(json!(u64::MAX)),
        1 => Just(json!(-1)),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Value>> {
    prop_oneof![
        8 => prop::collection::vec(step(), 0..6),
        2 => long_way(),
        1 => prop::collection::vec(Just(json!("x")), 200..201),
    ]
}

/// Names alone, of which all but the first may be made: as many as a path may have, some less and some more.
fn long_way() -> impl Strategy<Value = Vec<Value>> {
    let names = prop::collection::vec(prop::sample::select(&NAMES[..]), MOST_STEPS - 4..=MOST_STEPS + 4);
    let first = prop::sample::select(&[["spec", "novel"], ["spec", "x"], ["novel", "spec"]][..]);
    (first, names)
        .prop_map(|(first, names)| first.into_iter().chain(names.into_iter().skip(2)).map(Value::from).collect())
}

/// Entries of the part of the annotation that keeps unknown fields.
pub fn unknown() -> impl Strategy<Value = Value> {
    let hollow =
        prop_oneof![Just(json!(null)), (0..8_u64).prop_map(Value::from), Just(json!(62)), Just(json!(u64::MAX))];
    let entry = (steps(), hollow, value()).prop_map(|(path, hollow, value)| {
        let mut entry = json!({"path": path, "value": value});
        if !hollow.is_null() {
            entry["hollow"] = hollow;
        }
        entry
    });
    prop::collection::vec(entry, 0..4).prop_map(Value::from)
}

/// Where in the result a difference is claimed to be, and what was there.
#[derive(Debug, Clone)]
pub struct Claim {
    /// Which member or item to step into.
    at: Vec<prop::sample::Index>,
    /// Steps below that, which may lead nowhere.
    below: Vec<Value>,
    /// What is claimed to come back, where that isn't what does.
    reads: Option<Value>,
    was: Option<Value>,
}

pub fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let at = prop::collection::vec(any::<prop::sample::Index>(), 0..7);
    let below = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(step(), 1..3), 1 => steps()];
    let reads = prop_oneof![4 => Just(None), 1 => value().prop_map(Some)];
    let claim = (at, below, reads, prop::option::of(value()));
    prop::collection::vec(claim.prop_map(|(at, below, reads, was)| Claim { at, below, reads, was }), 0..4)
}

impl Claim {
    /// The entry of the annotation, on an object that is converted to `plain` without it.
    pub fn on(&self, plain: &Value) -> Value {
        let (mut live, mut path) = (&plain["spec"], vec![json!("spec")]);
        for index in &self.at {
            let (step, below) = match live {
                Value::Object(members) if !members.is_empty() => {
                    let (name, below) = members.iter().nth(index.index(members.len())).unwrap();
                    (json!(name), below)
                }
                Value::Array(items) if !items.is_empty() => {
                    let index = index.index(items.len());
                    (json!(index), &items[index])
                }
                _ => break,
            };
            path.push(step);
            live = below;
        }
        for step in &self.below {
            path.push(step.clone());
            live = step.as_str().map_or(&Value::Null, |name| &live[name]);
        }
        let mut entry = json!({"path": path, "reads": self.reads.as_ref().unwrap_or(live)});
        if let Some(was) = &self.was {
            entry["was"] = was.clone();
        }
        entry
    }
}

/// Which annotations of conversion an object has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kept {
    /// None: it is judged the cheaper way, if it is small.
    Nothing,
    Ours,
    Operators,
    OursAndOperators,
    OursAndAllOfOperators,
    /// What conversion itself wrote.
    Honest,
    /// The same, and forged entries beside it.
    HonestAndForged,
}

pub const KEPT: [Kept; 7] = [
    Kept::Nothing,
    Kept::Ours,
    Kept::Operators,
    Kept::OursAndOperators,
    Kept::OursAndAllOfOperators,
    Kept::Honest,
    Kept::HonestAndForged,
];

/// Puts the members of one JSON text into another, lists behind lists.
pub fn joined(one: &str, other: &str) -> String {
    fn join(one: &mut Value, other: Value) {
        match (one, other) {
            (Value::Object(members), Value::Object(others)) => {
                for (name, other) in others {
                    join(members.entry(name).or_insert(Value::Null), other);
                }
            }
            (Value::Array(items), Value::Array(others)) => items.extend(others),
            (one, other) => *one = other,
        }
    }
    let mut joined = serde_json::from_str(one).unwrap();
    join(&mut joined, serde_json::from_str(other).unwrap());
    joined.to_string()
}
