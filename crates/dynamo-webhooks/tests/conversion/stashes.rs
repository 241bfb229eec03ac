//! What the annotations of conversion may hold: anything.

use gateward::STASH;
use gateward::testing::{Objects, differences};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Map, Value, json};

use crate::kinds::{Kind, OBJECTS, PRESERVED, convert, webhooks};
use crate::meaning::meaning;

fn run<S: Strategy>(strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let defaults = Config::default();
    let cases = if asked { defaults.cases } else { OBJECTS };
    let rng_seed = if defaults.rng_seed == RngSeed::Random { RngSeed::Fixed(11) } else { defaults.rng_seed };
    let config = Config { cases, rng_seed, failure_persistence: None, max_shrink_iters: 2048, ..defaults };
    if let Err(error) = TestRunner::new(config).run(strategy, test) {
        panic!("{error}");
    }
}

fn fail(error: String) -> TestCaseError {
    TestCaseError::fail(error)
}

/// Whatever stands in the annotations, an object converts, there and back.
pub fn no_annotation_fails_a_conversion(kind: &Kind, from: &str, through: &str) {
    let drawn = (kind.objects(from), kind.objects(through), stash_texts(kind.stashes.len()));
    run(&drawn, |(mut object, other, texts)| {
        for (key, text) in kind.stashes.iter().zip(&texts) {
            if let Some(text) = text.on(&object, &other, key) {
                annotate(&mut object, key, text);
            }
        }
        let there = convert(&object, through).map_err(|error| fail(format!("{error}\n{object}")))?;
        convert(&there, from).map_err(|error| fail(format!("on the way back: {error}\n{there}")))?;
        Ok(())
    });
}

fn annotate(object: &mut Value, key: &str, text: String) {
    object["metadata"]["annotations"][key] = text.into();
}

/// What is written into a stash.
#[derive(Debug, Clone)]
enum Text {
    Nothing,
    Arbitrary(String),
    /// One of the texts that are nearly right.
    Odd(usize),
    /// The specification of an object, with an envelope or without one.
    Spec {
        of: Whose,
        shape: Shape,
        damage: Option<usize>,
    },
    Status {
        of: Whose,
        damage: Option<usize>,
    },
    Preserved {
        at: usize,
        value: usize,
    },
}

/// Of the version that is converted, or of the other.
#[derive(Debug, Clone, Copy)]
enum Whose {
    Own,
    Other,
}

#[derive(Debug, Clone, Copy)]
enum Shape {
    Enveloped,
    Bare,
}

fn stash_texts(count: usize) -> impl Strategy<Value = Vec<Text>> {
    let whose = || prop_oneof![Just(Whose::Own), Just(Whose::Other), Just(Whose::Other)];
    let damage = || prop::option::of(0..4096_usize);
    let text = prop_oneof![
        1 => Just(Text::Nothing),
        1 => any::<String>().prop_map(Text::Arbitrary),
        2 => (0..ODD.len()).prop_map(Text::Odd),
        6 => (whose(), prop_oneof![Just(Shape::Enveloped), Just(Shape::Bare)], damage())
            .prop_map(|(of, shape, damage)| Text::Spec { of, shape, damage }),
        3 => (whose(), damage()).prop_map(|(of, damage)| Text::Status { of, damage }),
        3 => (0..POINTERS.len(), 0..4_usize).prop_map(|(at, value)| Text::Preserved { at, value }),
    ];
    prop::collection::vec(text, count)
}

const ODD: [&str; 16] = [
    "",
    "null",
    "[]",
    "{}",
    "0",
    "\"\"",
    "{",
    "{\"spec\":null}",
    "{\"spec\":[]}",
    "{\"spec\":{}}",
    "{\"version\":\"one\",\"spec\":{}}",
    "{\"version\":99,\"spec\":{\"components\":[null,{}],\"services\":{\"a\":null}}}",
    "{\"version\":1,\"spec\":{},\"rawJSON\":[{\"path\":\"components/99/eppConfig/config/plugins/-1/parameters\",\"nil\":true},{\"path\":\"\"},{}]}",
    "{\"rawJSON\":[{\"path\":\"serviceName\",\"nil\":true},{\"path\":\"eppConfig/config/plugins/0/parameters\",\"raw\":\"!!\"}],\"spec\":{}}",
    "{\"version\":1,\"known\":{\"v1beta1\":[],\"v1alpha1\":7},\"unknown\":{\"v1beta1\":null}}",
    "{\"services\":{\"main\":{\"extraPodSpec\":{\"mainContainer\":{\"name\":7}}}},\"components\":[{\"name\":\"main\",\"podTemplate\":[]}]}",
];

/// Places at which something may claim to have stood.
const POINTERS: [&str; 18] = [
    "",
    "/",
    "/spec",
    "/spec/",
    "/spec/zz",
    "/metadata/name",
    "/metadata/zz",
    "/apiVersion",
    "/spec/components/0/zz",
    "/spec/components/99/zz",
    "/spec/components/-/zz",
    "/spec/services/main/zz",
    "/spec/services/main/componentType",
    "/status/zz/0/1",
    "/spec/~2~/x",
    "no/slash",
    "/spec/components/0/podTemplate/spec/containers/0/zz",
    "/kind",
];

impl Text {
    fn on(&self, own: &Value, other: &Value, key: &str) -> Option<String> {
        let of = |whose: &Whose, member: &str| match whose {
            Whose::Own => own[member].clone(),
            Whose::Other => other[member].clone(),
        };
        let text = match self {
            Self::Nothing => return None,
            Self::Arbitrary(text) => text.clone(),
            Self::Odd(index) => ODD[*index].to_owned(),
            Self::Spec { of: whose, shape: Shape::Bare, damage } => damaged(of(whose, "spec"), *damage),
            Self::Spec { of: whose, shape: Shape::Enveloped, damage } => {
                damaged(json!({"version": 1, "spec": of(whose, "spec")}), *damage)
            }
            Self::Status { of: whose, damage } => damaged(of(whose, "status"), *damage),
            Self::Preserved { at, value } => preserved(own, key, POINTERS[*at], *value),
        };
        Some(text)
    }
}

fn preserved(own: &Value, key: &str, pointer: &str, value: usize) -> String {
    let value = [json!(true), json!({"a": [1]}), json!([]), json!(null)][value % 4].clone();
    let versions = ["v1alpha1", "v1beta1"];
    let known: Map<String, Value> =
        versions.iter().map(|version| ((*version).to_owned(), own["spec"].clone())).collect();
    let unknown: Map<String, Value> =
        versions.iter().map(|version| ((*version).to_owned(), json!({pointer: value}))).collect();
    // Half of them say only what no type knows.
    let known = if key == PRESERVED && pointer.len().is_multiple_of(2) { json!({}) } else { known.into() };
    json!({"version": 1, "known": known, "unknown": unknown}).to_string()
}

/// A text that ends early, or a value of which one scalar is of another type.
fn damaged(mut value: Value, damage: Option<usize>) -> String {
    match damage {
        Some(at) if at.is_multiple_of(4) => {
            let text = value.to_string();
            text.chars().take(at % text.chars().count().max(1)).collect()
        }
        Some(mut at) => {
            bend(&mut value, &mut at);
            value.to_string()
        }
        None => value.to_string(),
    }
}

/// Gives the value that is reached after so many others another type.
fn bend(value: &mut Value, left: &mut usize) {
    let Some(next) = left.checked_sub(17) else {
        *value = if value.is_string() { json!(3) } else { json!("bent") };
        *left = usize::MAX;
        return;
    };
    if *left == usize::MAX {
        return;
    }
    *left = next;
    match value {
        Value::Object(members) => members.values_mut().for_each(|value| bend(value, left)),
        Value::Array(items) => items.iter_mut().for_each(|item| bend(item, left)),
        _ => {}
    }
}

/// The second promise of section 1.2: what is changed on the other side stays changed, whatever the stash remembers.
pub fn a_stale_stash_never_wins(kind: &Kind, from: &str, through: &str) {
    let there = kind.objects(through);
    let drawn = (kind.objects(from), kind.objects(through), any::<u64>());
    run(&drawn, |(object, donor, seed)| {
        let stashed = convert(&object, through).map_err(|error| fail(format!("{error}\n{object}")))?;
        let edited = edited(&stashed, &donor, seed, &there);
        let back = convert(&edited, from).map_err(|error| fail(format!("{error}\n{edited}")))?;
        let Some(again) = whole(&back, through).map_err(|error| fail(format!("{error}\n{back}")))? else {
            return Ok(());
        };
        let found = differences(&settled(kind, through, &edited), &settled(kind, through, &again));
        let listed: String = found.iter().map(|difference| format!("  {difference}\n")).collect();
        prop_assert!(found.is_empty(), "not as it was edited:\n{}  edited {}\n  by {}", listed, edited, back);
        Ok(())
    });
}

/// The object in another version; nothing where conversion notes that it dropped what it had kept. That happens where an
/// edit and what was kept before it are lost together, so that the record of one doesn't lead back without the other.
fn whole(object: &Value, version: &str) -> Result<Option<Value>, String> {
    let converted = webhooks().convert(&object.to_string(), &format!("nvidia.com/{version}"));
    let converted = converted.map_err(|error| error.to_string())?;
    let is_dropped = converted.issues.iter().any(|issue| issue.rule == STASH.id);
    let object = serde_json::from_str(&converted.json).map_err(|error| error.to_string())?;
    Ok(Some(object).filter(|_| !is_dropped))
}

/// Without what is the conversion's own.
fn settled(kind: &Kind, version: &str, object: &Value) -> Value {
    let mut object = kind.without_stashes(object);
    meaning(kind, version, &mut object);
    object
}

/// An object of which some members are another's, if the schema admits that.
fn edited(object: &Value, donor: &Value, mut seed: u64, objects: &Objects) -> Value {
    let mut edited = object.clone();
    for member in ["spec", "status"] {
        if let (Some(into), Some(from)) = (edited.get_mut(member), donor.get(member)) {
            mix(into, from, &mut seed);
        }
    }
    keep_names(&mut edited, object);
    if objects.refusals(&edited).is_empty() {
        return edited;
    }
    // Whole replacements are always admitted.
    let mut replaced = object.clone();
    if let Some(spec) = donor.get("spec") {
        replaced["spec"] = spec.clone();
    }
    replaced
}

/// Emptied lists of names stay as they were: section 3 restores the name then, against the promise.
fn keep_names(edited: &mut Value, original: &Value) {
    let (Value::Object(edited), Value::Object(original)) = (edited, original) else { return };
    for (name, value) in original {
        match edited.get_mut(name) {
            Some(below) if !below.as_array().is_some_and(Vec::is_empty) => keep_names(below, value),
            _ if name == "componentNames" => drop(edited.insert(name.clone(), value.clone())),
            _ => {}
        }
    }
}

fn mix(into: &mut Value, from: &Value, seed: &mut u64) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            into.retain(|_, _| roll(seed, 8) != 0);
            for (name, value) in from {
                match into.get_mut(name) {
                    Some(below) if roll(seed, 3) != 0 => mix(below, value, seed),
                    None if roll(seed, 4) != 0 => {}
                    _ => drop(into.insert(name.clone(), value.clone())),
                }
            }
        }
        (Value::Array(into), Value::Array(from)) if roll(seed, 2) == 0 => {
            if roll(seed, 4) == 0 {
                into.reverse();
            }
            into.iter_mut().zip(from).for_each(|(into, from)| mix(into, from, seed));
        }
        (into, from) if roll(seed, 2) == 0 => *into = from.clone(),
        _ => {}
    }
}

/// A number below `limit`, the next one each time.
fn roll(seed: &mut u64, limit: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % limit
}
