//! What the author of a faulty node may have meant.

use std::borrow::Cow;

use gateward_core::{FieldPath, Segment};
use serde_json::Value;

use super::Schema;
use super::finding::SchemaFault;
use super::node::SchemaNode;

/// How alike two names have to be, from 0 to 1, before one is proposed for the other.
const ALIKE: f64 = 0.8;

/// Of how many letters one may be another: names of fields often begin alike without meaning the same.
const LETTERS_OF_A_TYPO: usize = 3;

/// Longer names, in bytes, are like none: comparing takes time by their length.
const LONGEST: usize = 100;

impl Schema {
    /// The known field that may be meant by the unknown one at `path`: one beside it with a similar name, or one of the
    /// same name in a block beside it or around it.
    pub fn nearest_field(&self, path: &FieldPath) -> Option<FieldPath> {
        let (last, parents) = path.segments().split_last()?;
        let name = last.name()?;
        let around: Vec<&SchemaNode> = self.nodes_on(parents)?;
        let at = |depth: usize, name: &str| FieldPath::root().join(&parents[..depth]) / member(name);
        let beside = around.last()?;
        let inside = |(block, node): (&String, &SchemaNode)| {
            node.properties.contains_key(name).then(|| at(parents.len(), block) / member(name))
        };
        let similar = || Some(at(parents.len(), nearest_name(name, beside.properties.keys().map(String::as_str))?));
        let above = || {
            let depth = around.iter().rposition(|node| node.properties.contains_key(name))?;
            Some(at(depth, name))
        };
        beside.properties.iter().map(|(name, node)| (name, &**node)).find_map(inside).or_else(similar).or_else(above)
    }

    /// Whether the schema has a field there.
    pub fn knows(&self, path: &FieldPath) -> bool {
        self.nodes_on(path.segments()).is_some()
    }

    /// The path with entries of maps as keys, as findings of the schema have it; as it is where the schema ends.
    pub fn spelled(&self, path: &FieldPath) -> FieldPath {
        let mut node = Some(&self.root);
        let steps = path.segments().iter().map(|segment| {
            let parent = node;
            node = parent.and_then(|parent| match segment {
                Segment::Index(_) => parent.items.as_deref(),
                Segment::Field(name) | Segment::Key(name) => parent.member(name),
            });
            match (segment, parent) {
                (Segment::Field(name), Some(parent)) => parent.step(name),
                _ => segment.clone(),
            }
        });
        steps.collect()
    }

    /// The schema of each node on the way, the root first.
    fn nodes_on(&self, steps: &[Segment]) -> Option<Vec<&SchemaNode>> {
        let mut nodes = vec![&self.root];
        for step in steps {
            let node = nodes.last()?;
            nodes.push(match step {
                Segment::Index(_) => node.items.as_deref()?,
                Segment::Field(name) | Segment::Key(name) => node.member(name)?,
            });
        }
        Some(nodes)
    }
}

fn member(name: &str) -> Segment {
    Segment::Field(name.to_owned().into())
}

/// The name that may be meant by one that isn't known: the most similar, whatever the case of their letters.
///
/// ```
/// use gateward_lint::schema::nearest_name;
///
/// assert_eq!(nearest_name("replica", ["image", "replicas"].into_iter()), Some("replicas"));
/// assert_eq!(nearest_name("otter", ["image", "replicas"].into_iter()), None);
/// ```
pub fn nearest_name<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    if name.len() > LONGEST {
        return None;
    }
    let lower = name.to_lowercase();
    let scored = known.filter_map(|known| Some((likeness(&lower, &known.to_lowercase())?, known)));
    scored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, known)| known)
}

/// How alike two names are; `None` where neither is the beginning of the other, nor a slip of the other.
fn likeness(name: &str, known: &str) -> Option<f64> {
    let score = strsim::jaro_winkler(name, known);
    let is_part = || name.starts_with(known) || known.starts_with(name);
    let is_slip = || {
        let letters = name.chars().count().min(known.chars().count());
        strsim::damerau_levenshtein(name, known) <= letters.div_ceil(LETTERS_OF_A_TYPO)
    };
    (score >= ALIKE && (is_part() || is_slip())).then_some(score)
}

impl SchemaFault {
    /// What would be right, in plain words.
    pub fn help(&self) -> Cow<'static, str> {
        match self {
            Self::Required => "set it".into(),
            Self::Type { found, wanted } => format!("it is {}, and must be {}", plain(found), plain(wanted)).into(),
            Self::Invalid { limit, .. } => format!("correct the value: it {limit}").into(),
            Self::Malformed { why, .. } => format!("correct the value: {why}").into(),
            Self::Unmatched { .. } => "set one of the fields, or the type, that the schema offers here".into(),
            Self::NotSupported { value, accepted } => not_supported(value, accepted),
            Self::TooLong { max } => format!("shorten it to {max} bytes").into(),
            Self::TooMany { actual, max } => format!("remove {}", actual.saturating_sub(*max)).into(),
            Self::Duplicate { .. } => "remove it, or give it another key".into(),
            Self::UnknownField => "remove it, or correct its name".into(),
        }
    }
}

fn not_supported(value: &Value, accepted: &[Value]) -> Cow<'static, str> {
    match value.as_str().and_then(|value| nearest_name(value, accepted.iter().filter_map(Value::as_str))) {
        Some(nearest) => format!("write {nearest}, or another of the supported values").into(),
        None => "write one of the supported values".into(),
    }
}

/// A JSON type as a person names it.
fn plain(json_type: &str) -> &str {
    match json_type {
        "null" => "empty",
        "boolean" => "true or false",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "array" => "a list",
        "object" => "a map",
        "integer,string" => "a whole number or text",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Schema {
        let text = json!({"type": "string"});
        let profiling = json!({"type": "object", "properties": {"profilerImage": text}});
        let component =
            json!({"type": "object", "properties": {"name": text, "volumeMounts": {"type": "array", "items": text}}});
        let spec = json!({"type": "object", "properties": {
            "components": {"type": "array", "items": component},
            "profilingConfig": profiling,
            "backendFramework": text,
        }});
        Schema::compile(&json!({"type": "object", "properties": {"spec": spec}})).unwrap()
    }

    #[test]
    fn an_unknown_field_is_likely_one_of_a_similar_name_or_another_block() {
        let spec = || FieldPath::field("spec");
        let component = || (spec() / "components").index(0);
        for (unknown, expected) in [
            (spec() / "component", Some("spec.components")),
            (spec() / "backendframework", Some("spec.backendFramework")),
            (spec() / "profilerImage", Some("spec.profilingConfig.profilerImage")),
            (component() / "backendFramework", Some("spec.backendFramework")),
            (component() / "volumeMount", Some("spec.components[0].volumeMounts")),
            (component() / "zebra", None),
            (spec() / "backendComponent", None),
            (spec() / "nowhere" / "name", None),
            (FieldPath::root(), None),
        ] {
            let nearest = schema().nearest_field(&unknown).map(|path| path.to_string());
            assert_eq!(nearest.as_deref(), expected, "{unknown}");
        }
    }

    #[test]
    fn entries_of_maps_are_spelled_as_keys() {
        let text = json!({"type": "string"});
        let service = json!({"type": "object", "properties": {"names": {"type": "array", "items": text}}});
        let services = json!({"type": "object", "additionalProperties": service});
        let schema = Schema::compile(&json!({"type": "object", "properties": {"services": services}})).unwrap();
        let path = FieldPath::field("services") / member("worker") / "names";
        assert_eq!(schema.spelled(&path.index(2)).to_string(), "services[worker].names[2]");
        let unknown = FieldPath::field("other").key("a") / "b";
        assert_eq!(schema.spelled(&unknown), unknown);
    }

    #[test]
    fn types_are_named_in_plain_words() {
        let fault = SchemaFault::Type { found: "string", wanted: "object" };
        assert_eq!(fault.help(), "it is text, and must be a map");
    }

    #[test]
    fn the_most_similar_accepted_value_comes_first() {
        let fault = |value: &str| SchemaFault::NotSupported {
            value: value.into(),
            accepted: vec!["worker".into(), "prefill".into()],
        };
        assert_eq!(fault("Worker").help(), "write worker, or another of the supported values");
        assert_eq!(fault("x").help(), "write one of the supported values");
    }
}
