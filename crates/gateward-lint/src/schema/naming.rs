//! Names, labels and annotations: the API server's checks that no CRD schema contains.
//!
//! Follows <https://kubernetes.io/docs/concepts/overview/working-with-objects/names/> and its neighbours on labels and
//! annotations.

use gateward_core::FieldPath;
use gateward_core::dns::{LONGEST_LABEL, is_label, is_subdomain};
use serde_json::{Map, Value};

use super::finding::{SchemaFault, SchemaFinding};

/// How many bytes all annotations of an object may have, keys included.
const ANNOTATIONS: usize = 256 * 1024;

const DNS_RULE: &str = "a name has lower-case letters, digits, `-` and `.`; each part between points begins and ends \
                        with a letter or digit; at most 253 characters";
const LABEL_RULE: &str = "a namespace has lower-case letters, digits and `-`, begins and ends with a letter or digit, \
                          and has at most 63 characters";
const KEY_RULE: &str = "a key is a name of letters, digits, `-`, `_` and `.` that begins and ends with a letter or \
                        digit, at most 63 characters; a DNS name and `/` may precede it";
const VALUE_RULE: &str = "a label's value is empty, or has letters, digits, `-`, `_` and `.`, begins and ends with a \
                          letter or digit, and has at most 63 characters";

/// What the API server would refuse in the metadata of an object, beyond its types. What has another type than it
/// should is left to [`validate`](super::Schema::validate).
///
/// ```
/// use gateward_lint::schema::malformed_metadata;
/// use serde_json::json;
///
/// assert!(malformed_metadata(&json!({"metadata": {"name": "otter"}})).is_empty());
/// let found = malformed_metadata(&json!({"metadata": {"name": "Otter"}}));
/// assert_eq!(found[0].path.to_string(), "metadata.name");
/// ```
pub fn malformed_metadata(object: &Value) -> Vec<SchemaFinding> {
    match object.get("metadata") {
        Some(Value::Object(metadata)) => Naming::of(metadata),
        None | Some(Value::Null) => Naming::of(&Map::new()),
        Some(_) => Vec::new(),
    }
}

#[derive(Default)]
struct Naming(Vec<SchemaFinding>);

impl Naming {
    fn of(metadata: &Map<String, Value>) -> Vec<SchemaFinding> {
        let mut naming = Self::default();
        naming.names(metadata);
        naming.labels(metadata);
        naming.annotations(metadata);
        naming.0
    }

    fn names(&mut self, metadata: &Map<String, Value>) {
        if ["name", "generateName"].iter().all(|member| is_absent(metadata.get(*member))) {
            self.0.push(SchemaFinding { path: at("name"), fault: SchemaFault::Required });
        }
        let given = |member| metadata.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
        self.demand(at("name"), given("name"), is_subdomain, DNS_RULE);
        self.demand(at("generateName"), given("generateName"), |start| is_subdomain(&completed(start)), DNS_RULE);
        self.demand(at("namespace"), given("namespace"), is_label, LABEL_RULE);
    }

    fn labels(&mut self, metadata: &Map<String, Value>) {
        for (key, value) in entries(metadata, "labels") {
            let path = at("labels").key(key.clone());
            self.demand(path.clone(), Some(key), is_key, KEY_RULE);
            self.demand(path, value.as_str(), is_label_value, VALUE_RULE);
        }
    }

    fn annotations(&mut self, metadata: &Map<String, Value>) {
        let mut bytes = 0;
        for (key, value) in entries(metadata, "annotations") {
            bytes += key.len() + value.as_str().map_or(0, str::len);
            self.demand(at("annotations").key(key.clone()), Some(key), |key| is_key(&key.to_lowercase()), KEY_RULE);
        }
        if bytes > ANNOTATIONS {
            self.0.push(SchemaFinding { path: at("annotations"), fault: SchemaFault::TooLong { max: ANNOTATIONS } });
        }
    }

    fn demand(&mut self, path: FieldPath, text: Option<&str>, rule: impl Fn(&str) -> bool, why: &str) {
        if let Some(text) = text.filter(|text| !rule(text)) {
            let fault = SchemaFault::Malformed { value: text.into(), why: why.to_owned() };
            self.0.push(SchemaFinding { path, fault });
        }
    }
}

fn at(member: &'static str) -> FieldPath {
    FieldPath::field("metadata") / member
}

fn entries<'m>(metadata: &'m Map<String, Value>, member: &str) -> impl Iterator<Item = (&'m String, &'m Value)> {
    metadata.get(member).and_then(Value::as_object).into_iter().flatten()
}

fn is_absent(text: Option<&Value>) -> bool {
    text.is_none_or(|text| text.is_null() || text == "")
}

/// A name that could be made of a prefix, which may end in a dash for that.
fn completed(prefix: &str) -> String {
    match prefix.strip_suffix('-') {
        Some(start) if !start.is_empty() => format!("{start}a"),
        _ => prefix.to_owned(),
    }
}

fn is_key(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    name.len() <= LONGEST_LABEL && is_bounded(name, is_name_byte) && prefix.is_none_or(is_subdomain)
}

fn is_label_value(text: &str) -> bool {
    text.is_empty() || text.len() <= LONGEST_LABEL && is_bounded(text, is_name_byte)
}

/// Whether all bytes fit, and the first and last are letters or digits.
fn is_bounded(text: &str, fits: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()].into_iter().all(|end| end.is_some_and(u8::is_ascii_alphanumeric));
    ends && bytes.iter().all(|byte| fits(*byte))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(metadata: &Value) -> Vec<String> {
        let found = malformed_metadata(&json!({ "metadata": metadata }));
        found.iter().map(|finding| finding.path.to_string()).collect()
    }

    #[test]
    fn an_object_has_a_name_or_lets_one_be_made() {
        assert_eq!(paths(&json!({})), ["metadata.name"]);
        assert_eq!(paths(&json!({"name": ""})), ["metadata.name"]);
        assert_eq!(paths(&Value::Null), ["metadata.name"]);
        assert!(paths(&json!({"generateName": "otter-"})).is_empty());
        assert_eq!(paths(&json!({"generateName": "Otter-"})), ["metadata.generateName"]);
    }

    #[test]
    fn a_name_is_a_dns_name() {
        for name in ["otter", "otter-2", "otter.zoo", "0", &"a".repeat(253)] {
            assert!(paths(&json!({"name": name})).is_empty(), "{name}");
        }
        for name in ["Otter", "otter_2", "${NAME}", "-otter", "otter.", "a..b", &"a".repeat(254)] {
            assert_eq!(paths(&json!({"name": name})), ["metadata.name"], "{name}");
        }
    }

    #[test]
    fn a_namespace_has_no_points() {
        assert!(paths(&json!({"name": "a", "namespace": "zoo"})).is_empty());
        assert_eq!(paths(&json!({"name": "a", "namespace": "zoo.east"})), ["metadata.namespace"]);
    }

    #[test]
    fn keys_and_values_of_labels_have_a_form() {
        let labels = |key: &str, value: &str| paths(&json!({"name": "a", "labels": {key: value}}));
        assert!(labels("nvidia.com/Some_name.x", "A-b_c.d").is_empty());
        assert!(labels("app", "").is_empty());
        assert_eq!(labels("app", "not so"), ["metadata.labels[app]"]);
        assert_eq!(labels("app", &"x".repeat(64)), ["metadata.labels[app]"]);
        assert_eq!(labels("a/b/c", "x"), ["metadata.labels[a/b/c]"]);
        assert_eq!(labels("", "x"), ["metadata.labels[]"]);
    }

    #[test]
    fn annotations_may_hold_any_text_but_not_without_end() {
        let annotations = |value: String| paths(&json!({"name": "a", "annotations": {"Example.com/a": value}}));
        assert!(annotations("anything at all".into()).is_empty());
        assert_eq!(annotations("x".repeat(ANNOTATIONS)), ["metadata.annotations"]);
    }

    #[test]
    fn what_has_another_type_is_left_to_the_schema() {
        assert!(paths(&json!({"name": 1, "labels": [], "annotations": {"a": 1}})).is_empty());
        assert!(malformed_metadata(&json!({"metadata": "none"})).is_empty());
    }
}
