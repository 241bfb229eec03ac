//! Typed reading of JSON, with the path of what doesn't fit.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::field::{FieldPath, Segment};

/// A node of the wrong JSON type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct DecodeError {
    /// Where the node stands, from the root of what was read.
    pub path: FieldPath,
    /// What was found and what was expected.
    pub message: String,
}

/// Reads `json` as a `T`.
///
/// The fast way is tried first; only when it fails is the text read again to learn where.
pub fn from_str<T: DeserializeOwned>(json: &str) -> Result<T, DecodeError> {
    serde_json::from_str(json).map_err(|_| first_error::<T>(json))
}

/// All nodes of `json` whose type doesn't fit `T`, at most `limit` of them.
///
/// After each finding the node is taken out and the rest is read again. A list goes out as a whole with its first bad
/// item, so that the positions in later findings stay those of the user.
pub fn errors<T: DeserializeOwned>(json: &str, limit: usize) -> Vec<DecodeError> {
    let mut found: Vec<DecodeError> = Vec::new();
    let Ok(mut document) = serde_json::from_str::<Value>(json) else {
        return vec![first_error::<T>(json)];
    };
    while found.len() < limit {
        let text = document.to_string();
        if serde_json::from_str::<T>(&text).is_ok() {
            break;
        }
        let error = first_error::<T>(&text);
        let repeated = found.iter().any(|earlier| earlier.path == error.path);
        let removed = remove(&mut document, above_lists(&error.path));
        if !repeated {
            found.push(error);
        }
        if repeated || !removed {
            break;
        }
    }
    found
}

fn first_error<T: DeserializeOwned>(json: &str) -> DecodeError {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Ok(_) => DecodeError { path: FieldPath::root(), message: "trailing characters".into() },
        Err(error) => {
            let path = error.path().iter().filter_map(segment).collect();
            DecodeError { path, message: without_position(&error.into_inner().to_string()) }
        }
    }
}

fn segment(step: &serde_path_to_error::Segment) -> Option<Segment> {
    use serde_path_to_error::Segment as Step;
    match step {
        Step::Seq { index } => Some(Segment::Index(*index)),
        Step::Map { key } => Some(Segment::Field(Cow::Owned(key.clone()))),
        Step::Enum { .. } | Step::Unknown => None,
    }
}

/// Line and column of the re-read text mean nothing to the user.
fn without_position(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

/// The steps down to the first list on the way.
fn above_lists(path: &FieldPath) -> &[Segment] {
    let steps = path.segments();
    let end = steps.iter().position(|step| matches!(step, Segment::Index(_))).unwrap_or(steps.len());
    &steps[..end]
}

fn remove(document: &mut Value, steps: &[Segment]) -> bool {
    let Some((last, above)) = steps.split_last() else { return false };
    let parent = above.iter().try_fold(document, |node, step| node.get_mut(step.name()?));
    match (parent, last.name()) {
        (Some(Value::Object(members)), Some(name)) => members.remove(name).is_some(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "only read to see whether reading works")]
    struct Spec {
        replicas: Option<i32>,
        name: Option<String>,
        items: Option<Vec<i32>>,
    }

    #[test]
    fn names_every_node_of_the_wrong_type() {
        let found = errors::<Spec>(r#"{"replicas": "2", "name": 3, "items": [1, "x"]}"#, 10);
        let mut paths: Vec<String> = found.iter().map(|error| error.path.to_string()).collect();
        paths.sort();
        assert_eq!(paths, ["items[1]", "name", "replicas"]);
    }

    #[test]
    fn stops_at_the_limit() {
        assert_eq!(errors::<Spec>(r#"{"replicas": "2", "name": 3}"#, 1).len(), 1);
    }

    #[test]
    fn says_what_was_found_without_a_position_in_a_copy() {
        let found = errors::<Spec>(r#"{"replicas": "2"}"#, 10);
        assert_eq!(found[0].message, "invalid type: string \"2\", expected i32");
    }
}
