//! JSON text without what nests too deeply, and as a tree for checks where that isn't too large.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::reading::{depth, most_containers, most_tree_cost, outside_of_texts, tree_cost};

/// How deep a tree for checks may nest; the parser's own limit is a little higher.
const MAX_DEPTH: usize = 100;

/// What the trees of a check may take together, as a multiple of the text, and beyond that.
const TREES_FACTOR: usize = 6;
const TREES_BASE: usize = 4 << 20;

/// Reads JSON as a tree. What nests deeper than the parser goes is null below [`MAX_DEPTH`], so that it can still be
/// checked. `None` for text that is no JSON, and for one of which so many trees at a time take too much memory.
pub(crate) fn shallow(json: &str, trees: usize) -> Option<Value> {
    if !trees_fit(json, trees) {
        return None;
    }
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&nesting_at_most(MAX_DEPTH, json))).ok()
}

/// Whether so many trees of the text at a time take no more memory than a check may.
pub(crate) fn trees_fit(json: &str, trees: usize) -> bool {
    tree_takes_at_most((TREES_FACTOR * json.len() + TREES_BASE) / trees.max(1), json)
}

/// Whether a tree of the text takes no more than so many bytes.
pub(crate) fn tree_takes_at_most(bytes: usize, json: &str) -> bool {
    [most_tree_cost, tree_cost].iter().any(|cost| cost(json) <= bytes)
}

/// Whether lists and objects stand at most so deep in each other.
pub(crate) fn nests_at_most(most: usize, json: &str) -> bool {
    // Each takes two bytes at least.
    json.len() <= 2 * most || most_containers(json) <= most || depth(json) <= most
}

/// The text with null for each list or object that is deeper in others.
pub(crate) fn nesting_at_most(most: usize, json: &str) -> Cow<'_, str> {
    let (mut shallow, mut left, mut depth) = (String::new(), json, 0_usize);
    for (at, byte) in outside_of_texts(json) {
        let here = json.len() - left.len();
        match byte {
            b'[' | b'{' => {
                if depth == most {
                    shallow.push_str(left.get(..at - here).unwrap_or_default());
                    shallow.push_str("null");
                }
                depth += 1;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == most {
                    left = json.get(at + 1..).unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    if shallow.is_empty() { Cow::Borrowed(json) } else { Cow::Owned(shallow + left) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_nests_too_deeply_counts_as_null() {
        let deep = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(shallow("[[1]]", 1), Some(json!([[1]])));
        assert!(shallow(&deep(10_000), 1).is_some_and(|tree| tree.is_array()));
        assert_eq!(shallow("[1", 1), None);
        assert_eq!(
            nesting_at_most(2, r#"{"a":{"b":[1],"c":[[],[]]},"d":"[[["}"#),
            r#"{"a":{"b":null,"c":null},"d":"[[["}"#
        );
        assert_eq!(nesting_at_most(3, &deep(3)), deep(3));
        assert!(nests_at_most(3, &deep(3)) && !nests_at_most(2, &deep(3)) && nests_at_most(1, "[\"[[\",1]"));
    }

    #[test]
    fn what_takes_far_more_memory_than_its_text_is_no_tree() {
        let many = |count: usize| format!("[{}{{}}]", "{},".repeat(count));
        assert!(shallow(&many(4_000), 1).is_some());
        assert_eq!(shallow(&many(4_000), 3), None);
        assert_eq!(shallow(&many(1_000_000), 1), None);
    }
}
