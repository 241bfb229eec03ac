//! What is done to a manifest so that it costs more: many, long, deep, wide, of the wrong type.

use std::fmt;

use serde_json::{Value, json};

use crate::document::{Document, within};
use crate::random::Random;
use crate::shape::Shape;

/// One change.
#[derive(Debug, Clone)]
pub struct Step {
    at: Vec<String>,
    change: Change,
    /// About how large the result is.
    bytes: usize,
}

#[derive(Debug, Clone)]
enum Change {
    /// As many times what is there, in the list or map that it is a part of.
    Many,
    /// Something hostile instead.
    Put(usize),
    /// Members that no type knows.
    Wide(usize),
    /// In a list that the manifest doesn't have.
    Below(&'static str),
    /// Another type.
    Leaf(&'static str),
    /// An annotation that holds what is there, as the conversions keep what they can't say.
    Keep(&'static str),
    Drop,
}

const LEAVES: [&str; 8] = ["0", "\"\"", "null", "true", "[]", "{}", "1e300", "99999999999999999999"];

/// What unknown members hold.
const UNKNOWN: [&str; 4] = ["0", "{}", r#""a""#, r#"[{"a":{}}]"#];

const KEEPERS: [&str; 8] = [
    "gateward.dev/preserved",
    "nvidia.com/dgd-spec",
    "nvidia.com/dgd-status",
    "nvidia.com/dcd-spec",
    "nvidia.com/dcd-status",
    "nvidia.com/dgdr-spec",
    "nvidia.com/dgdr-status",
    "nvidia.com/annotation",
];

/// Members that manifests seldom have, and which hold lists, maps or objects.
const BELOW: [&str; 12] = [
    "env",
    "labels",
    "annotations",
    "podTemplate",
    "extraPodSpec",
    "roles",
    "providerOverride",
    "envs",
    "volumeMounts",
    "containers",
    "volumes",
    "status",
];

impl Step {
    /// One that changes something in this document.
    pub fn draw(random: &mut Random, document: &Document) -> Self {
        let at = place(random, &document.value);
        let change = match random.below(12) {
            0..=4 => Change::Many,
            5 | 6 => Change::Put(random.below(Shape::ALL.len())),
            7 => Change::Wide(random.below(UNKNOWN.len())),
            8 => Change::Below(random.one_of::<&str>(&BELOW)),
            9 => Change::Leaf(random.one_of::<&str>(&LEAVES)),
            10 => Change::Keep(random.one_of::<&str>(&KEEPERS)),
            _ => Change::Drop,
        };
        Self { at, change, bytes: random.size() }
    }

    pub fn resize(&mut self, random: &mut Random) {
        self.bytes = random.size();
    }

    /// Does it, if what it is about is there.
    pub fn apply(&self, document: &mut Document) {
        match self.change {
            Change::Many => self.multiply(document),
            Change::Drop => self.replace(document, Value::Null),
            Change::Leaf(leaf) => {
                let leaf = document.raw(leaf.to_owned());
                self.replace(document, leaf);
            }
            Change::Put(shape) => {
                let text = Shape::ALL[shape].text(self.bytes);
                let raw = document.raw(text);
                self.replace(document, raw);
            }
            Change::Wide(value) => {
                document.change(&self.at, |document, found| widen(document, found, UNKNOWN[value], self.bytes));
            }
            Change::Below(name) => document.change(&self.at, |_, found| {
                if let Some(members) = found.as_object_mut() {
                    members.entry(name).or_insert_with(|| json!([{"name": "a"}]));
                }
            }),
            Change::Keep(key) => self.keep(document, key),
        }
    }

    fn replace(&self, document: &mut Document, value: Value) {
        document.change(&self.at, |_, found| *found = value);
    }

    fn multiply(&self, document: &mut Document) {
        let Some((last, list)) = self.at.split_last().filter(|(_, list)| !list.is_empty()) else { return };
        document.change(list, |document, found| {
            let many = match found {
                Value::Array(items) => last.parse::<usize>().ok().and_then(|index| items.get(index)).map(|item| {
                    let text = document.text(item);
                    let times = (self.bytes / (text.len() + 1)).max(1);
                    format!("[{}]", vec![text.as_str(); times].join(","))
                }),
                Value::Object(members) => members.get(last).map(|member| {
                    let text = document.text(member);
                    let times = (self.bytes / (text.len() + 9)).max(1);
                    let members: Vec<String> = (0..times).map(|number| format!(r#""m{number:x}":{text}"#)).collect();
                    format!("{{{}}}", members.join(","))
                }),
                _ => None,
            };
            if let Some(many) = many {
                *found = document.raw(many);
            }
        });
    }

    /// Puts what is there into an annotation too, in a form that conversions read.
    fn keep(&self, document: &mut Document, key: &str) {
        let mut kept = Value::Null;
        document.change(&self.at, |_, found| kept = found.clone());
        let kept = match key.rsplit_once('-').map(|(_, last)| last) {
            Some("spec") => json!({"version": 1, "spec": document.value["spec"].clone()}),
            Some("status") => json!({"version": 1, "status": kept}),
            _ => {
                let path: Vec<&String> = self.at.iter().collect();
                let lost = json!([{"path": path, "value": kept, "hollow": 1}]);
                json!({"version": 1, "known": {"v1beta1": kept, "v1alpha1": kept}, "unknown": {"v1beta1": lost, "v1alpha1": lost}})
            }
        };
        let text = document.text(&kept);
        if let Some(metadata) = document.value["metadata"].as_object_mut() {
            let annotations = metadata.entry("annotations").or_insert_with(|| json!({}));
            if let Some(annotations) = annotations.as_object_mut() {
                annotations.insert(key.to_owned(), Value::String(text));
            }
        }
    }
}

fn widen(document: &mut Document, found: &mut Value, value: &str, bytes: usize) {
    let Some(members) = found.as_object() else { return };
    let mut members: Vec<String> =
        members.iter().map(|(name, value)| format!("{}:{}", json!(name), document.text(value))).collect();
    members.extend((0..bytes / (value.len() + 9)).map(|number| format!(r#""x{number:x}":{value}"#)));
    *found = document.raw(format!("{{{}}}", members.join(",")));
}

/// Somewhere in a document, mostly in its spec. What every object has stays, so that somebody looks at the rest.
fn place(random: &mut Random, document: &Value) -> Vec<String> {
    let top = *random.one_of(&["spec", "spec", "spec", "metadata", "status"]);
    let (mut place, mut value) = (vec![top.to_owned()], document[top].clone());
    loop {
        if let Some(inside) = within(&value) {
            value = inside;
        }
        let names: Vec<String> = match &value {
            Value::Array(items) => (0..items.len()).map(|index| index.to_string()).collect(),
            Value::Object(members) => members.keys().cloned().collect(),
            _ => Vec::new(),
        };
        if names.is_empty() || random.once_in(5) {
            return place;
        }
        let name = random.one_of(&names).clone();
        value = match value {
            Value::Array(mut items) => items.swap_remove(name.parse::<usize>().unwrap()),
            mut object => object[&name].take(),
        };
        place.push(name);
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (at, size) = (self.at.join("/"), self.bytes);
        match self.change {
            Change::Many => write!(f, "many({at}, {size})"),
            Change::Put(shape) => write!(f, "put({at}, {} of {size})", Shape::ALL[shape].name),
            Change::Wide(value) => write!(f, "wide({at}, {} to {size})", UNKNOWN[value]),
            Change::Below(name) => write!(f, "add({at}/{name})"),
            Change::Leaf(leaf) => write!(f, "leaf({at}, {leaf})"),
            Change::Keep(key) => write!(f, "keep({at}, {key})"),
            Change::Drop => write!(f, "null({at})"),
        }
    }
}
