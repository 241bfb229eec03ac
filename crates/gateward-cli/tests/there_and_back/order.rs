//! Whether members and items stand there and back in the order in which they stood.
//!
//! Two members change places on the way only where the other version leaves no other choice:
//!
//! - It keeps one of them in an annotation, and so says nothing of where it stood; or it has none of them, as the name of
//!   the main container.
//! - It has both in one list, which has an order of its own: `containers` begins with the main one.
//! - It has both in other blocks, and one of the blocks holds a third member that stood beyond the other: of `env`, `type`
//!   and `image` it has `env` and `image` in one block, so `type` can't come back between them.
//!
//! Items never do.

use std::collections::HashMap;

use gateward_core::{FieldPath, Ordered, Segment, Webhooks};
use serde_json::Value;

/// What changed places on the way there and back.
pub enum Moved {
    /// The mapping's member `first` stood before the other one, which comes first now.
    Members { mapping: FieldPath, first: String, second: String, names: Vec<String> },
    /// The items of a list.
    Items { list: FieldPath },
}

/// What of `before` stands in another order in `after`.
pub fn moved(before: &Ordered, after: &Ordered) -> Vec<Moved> {
    let mut found = Vec::new();
    compare(before, after, &FieldPath::root(), &mut found);
    found
}

fn compare(before: &Ordered, after: &Ordered, at: &FieldPath, found: &mut Vec<Moved>) {
    match (before, after) {
        (Ordered::Members(old), Ordered::Members(new)) => {
            let place = |name: &str| new.iter().position(|(other, _)| other == name);
            let kept: Vec<_> = old.iter().filter_map(|(name, value)| Some((name, value, place(name)?))).collect();
            for (position, (first, value, place)) in kept.iter().enumerate() {
                let overtaken = kept[position..].iter().filter(|(.., other)| other < place);
                found.extend(overtaken.map(|(second, ..)| Moved::Members {
                    mapping: at.clone(),
                    first: (*first).clone(),
                    second: (*second).clone(),
                    names: old.iter().map(|(name, _)| name.clone()).collect(),
                }));
                compare(value, &new[*place].1, &at.child(Segment::Field((*first).clone().into())), found);
            }
        }
        (Ordered::Items(old), Ordered::Items(new)) => {
            if old.iter().map(label).ne(new.iter().map(label)) {
                found.push(Moved::Items { list: at.clone() });
            }
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                compare(old, new, &at.index(index), found);
            }
        }
        _ => {}
    }
}

/// What tells an item from its siblings, as far as it shows that they changed places.
fn label(item: &Ordered) -> String {
    let keys = ["name", "mountPath", "containerPort", "key"];
    let key = keys.iter().find_map(|key| item.member(key));
    match (key, item) {
        (Some(key), _) => key.to_string(),
        (None, Ordered::Scalar(value)) => value.to_string(),
        (None, _) => String::new(),
    }
}

/// Where the nodes of an object stand in the other version.
pub struct Counterparts {
    /// By the pointer of a node before: the leaves made from it or from what is in it.
    places: HashMap<String, Vec<Vec<Segment>>>,
    /// What the annotations of conversion say.
    kept: String,
}

impl Counterparts {
    /// Of the nodes of `before` in what the server answers for `version`.
    pub fn of(webhooks: &Webhooks, before: &Ordered, version: &str) -> Self {
        let there = webhooks.convert(&before.to_string(), &format!("nvidia.com/{version}")).unwrap().json;
        let origins = webhooks.origins(&before.to_string(), &there).unwrap();
        let there: Value = serde_json::from_str(&there).unwrap();
        let origin = origins.lookup();
        let mut places: HashMap<String, Vec<Vec<Segment>>> = HashMap::new();
        let is_kept = |path: &FieldPath| path.strip_prefix(&(FieldPath::field("metadata") / "annotations")).is_some();
        for path in leaves(&there, &FieldPath::root()).into_iter().filter(|path| !is_kept(path)) {
            let mut above = origin(&path);
            while let Some(node) = above {
                places.entry(node.pointer()).or_default().push(path.segments().to_vec());
                above = node.parent();
            }
        }
        let annotations = webhooks.declarations().flat_map(gateward::Declaration::conversion_annotations);
        let kept = annotations.filter_map(|key| there["metadata"]["annotations"][key].as_str());
        Self { places, kept: kept.collect() }
    }

    /// Whether the other version leaves no choice but to bring the members back so.
    pub fn explain(&self, moved: &Moved) -> bool {
        let Moved::Members { mapping, first, second, names } = moved else { return false };
        let node = |name: &str| mapping.child(Segment::Field(name.to_owned().into()));
        let places = |name: &str| self.places.get(&node(name).pointer()).map_or(&[][..], Vec::as_slice);
        let position = |name: &str| names.iter().position(|other| other == name);
        let is_kept = |name: &str| places(name).is_empty() && self.kept.contains(&format!("\"{name}\""));
        let is_known = |name: &str| places(name).is_empty() && name == "name";
        // Whether a block holds both and nothing of what stood between them.
        let without = |one: &str, other: &str, between: &str| {
            let mut pairs =
                places(one).iter().flat_map(|one| places(other).iter().map(move |other| common(one, other)));
            pairs.any(|block| !places(between).iter().any(|place| place.starts_with(block)))
        };
        let in_one_list = places(first).iter().any(|one| {
            let is_beside = |other: &Vec<Segment>| matches!(one.get(common(one, other).len()), Some(Segment::Index(_)));
            places(second).iter().any(is_beside)
        });
        in_one_list
            || [first, second].into_iter().any(|name| is_kept(name) || is_known(name))
            || names.iter().any(|third| match position(third) {
                place if place > position(second) => without(first, third, second),
                place if place < position(first) => without(third, second, first),
                _ => false,
            })
    }
}

/// The steps with which both paths begin.
fn common<'p>(one: &'p [Segment], other: &[Segment]) -> &'p [Segment] {
    let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    &one[..same]
}

/// The leaves of a value.
fn leaves(value: &Value, at: &FieldPath) -> Vec<FieldPath> {
    let child = |name: &String| at.child(Segment::Field(name.clone().into()));
    match value {
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().flat_map(|(index, item)| leaves(item, &at.index(index))).collect()
        }
        Value::Object(members) if !members.is_empty() => {
            members.iter().flat_map(|(name, member)| leaves(member, &child(name))).collect()
        }
        _ => vec![at.clone()],
    }
}

/// One line that names it.
impl std::fmt::Display for Moved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Members { mapping, first, second, .. } => write!(f, "{mapping}: {second} comes before {first}"),
            Self::Items { list } => write!(f, "{list}: its items change places"),
        }
    }
}
