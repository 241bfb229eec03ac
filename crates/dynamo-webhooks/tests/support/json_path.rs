//! The paths of `expect.patched` and `expect.absent`: `$.spec.components[1].name`, `$.metadata.annotations['a.b/c']`.

use serde_json::Value;

/// The node of `document` at a path.
pub fn find<'v>(document: &'v Value, path: &str) -> Option<&'v Value> {
    let mut rest = path.strip_prefix('$').unwrap_or_else(|| panic!("{path} does not begin at the root"));
    let mut node = Some(document);
    while !rest.is_empty() {
        let (step, remainder) = Step::read(rest).unwrap_or_else(|| panic!("cannot read {rest:?} in {path}"));
        node = node.and_then(|node| step.follow(node));
        rest = remainder;
    }
    node
}

enum Step<'p> {
    Member(&'p str),
    Item(usize),
}

impl<'p> Step<'p> {
    /// The first step, and what follows.
    fn read(text: &'p str) -> Option<(Self, &'p str)> {
        if let Some(quoted) = text.strip_prefix("['") {
            let (name, rest) = quoted.split_once("']")?;
            return Some((Self::Member(name), rest));
        }
        if let Some(indexed) = text.strip_prefix('[') {
            let (index, rest) = indexed.split_once(']')?;
            return Some((Self::Item(index.parse().ok()?), rest));
        }
        let plain = text.strip_prefix('.')?;
        let end = plain.find(['.', '[']).unwrap_or(plain.len());
        let (name, rest) = plain.split_at(end);
        (!name.is_empty()).then_some((Self::Member(name), rest))
    }

    fn follow<'v>(&self, node: &'v Value) -> Option<&'v Value> {
        match self {
            Self::Member(name) => node.get(*name),
            Self::Item(index) => node.get(*index),
        }
    }
}

#[test]
fn finds_members_items_and_quoted_keys() {
    let document = serde_json::json!({"a": [{"b.c/d": 5}]});
    assert_eq!(find(&document, "$.a[0]['b.c/d']"), Some(&Value::from(5)));
    assert_eq!(find(&document, "$.a[1].x"), None);
    assert_eq!(find(&document, "$"), Some(&document));
}
