//! Which CEL rules are known to hold without an evaluation.
//!
//! Most rules of CRDs guard themselves: `!has(self.eppConfig) || …` holds wherever the field is absent. What isn't of a
//! known form is left to the API server.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;

/// How deep parentheses are looked into.
const MAX_DEPTH: usize = 16;

/// Whether the rule is known to hold on this node.
pub(super) fn holds(rule: &str, node: &Value) -> bool {
    expression(rule, node, MAX_DEPTH)
}

fn expression(text: &str, node: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let (any, all) = (parts(text, "||"), parts(text, "&&"));
    match (any.as_slice(), all.as_slice()) {
        ([_, _, ..], _) => any.iter().any(|part| expression(part, node, depth)),
        (_, [_, _, ..]) => all.iter().all(|part| expression(part, node, depth)),
        _ => match text.trim().strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
            Some(inner) if is_closed(inner) => expression(inner, node, depth),
            _ => FORMS
                .iter()
                .any(|(form, is_true)| form.captures(text.trim()).is_some_and(|found| is_true(&found, node))),
        },
    }
}

/// The parts between operators that stand in no parentheses and no text.
fn parts<'t>(text: &'t str, operator: &str) -> Vec<&'t str> {
    let (mut parts, mut from, mut open, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, character) in text.char_indices() {
        match character {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => open += 1,
            ')' | ']' => open = open.saturating_sub(1),
            _ if open == 0 && at >= from && text[at..].starts_with(operator) => {
                parts.push(&text[from..at]);
                from = at + operator.len();
            }
            _ => {}
        }
    }
    parts.push(&text[from..]);
    parts
}

/// Whether each parenthesis that closes was opened in the same text.
fn is_closed(text: &str) -> bool {
    let mut open = 0_usize;
    text.chars().all(|character| match character {
        '(' => {
            open += 1;
            true
        }
        ')' if open == 0 => false,
        ')' => {
            open -= 1;
            true
        }
        _ => true,
    })
}

/// Whether what a form has captured is true of a node.
type IsTrue = fn(&Captures<'_>, &Value) -> bool;

type Form = (Regex, IsTrue);

/// The forms that are understood; what else there is counts as unknown.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let forms: [(&str, IsTrue); 16] = [
        (r"^!has\(self\.(\w+)\)$", |found, node| node.get(&found[1]).is_none()),
        (r"^has\(self\.(\w+)\)$", |found, node| node.get(&found[1]).is_some()),
        (r"^!\('([^']*)' in self\)$", |found, node| node.get(&found[1]).is_none()),
        (r"^self\.(\w+) == '([^']*)'$", |found, node| node.get(&found[1]).is_some_and(|member| *member == found[2])),
        (r"^self\.(\w+) != '([^']*)'$", |found, node| node.get(&found[1]).is_some_and(|member| *member != found[2])),
        (r"^has\(self\.(\w+)\) != has\(self\.(\w+)\)$", |found, node| {
            node.get(&found[1]).is_some() != node.get(&found[2]).is_some()
        }),
        (r"^size\(self\.(\w+)\) == 0$", |found, node| {
            let member = node.get(&found[1]);
            member.is_some_and(|member| match member {
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                _ => false,
            })
        }),
        (r"^self\.(\w+) == (\d+)$", |found, node| {
            node[&found[1]].as_i64().is_some_and(|number| found[2].parse() == Ok(number))
        }),
        (r"^self\.(\w+)$", |found, node| node[&found[1]] == true),
        (r"^!self\.(\w+)$", |found, node| node[&found[1]] == false),
        (r"^self\['([^']*)'\]\.lowerAscii\(\) in \[(('\w+'(, )?)+)\]$", |found, node| {
            let accepted = found[2].split(", ").map(|text| text.trim_matches('\''));
            node[&found[1]]
                .as_str()
                .is_some_and(|text| accepted.into_iter().any(|one| one == text.to_ascii_lowercase()))
        }),
        (r"^self\.indexOf\('([^'])'\) <= (\d+)$", |found, node| {
            let place = node.as_str().map(|text| text.find(&found[1]).unwrap_or(0));
            place.zip(found[2].parse().ok()).is_some_and(|(place, most)| place <= most)
        }),
        (r"^self\.(\w+) <= \(has\(self\.(\w+)\) \? self\.(\w+) : (\d+)\)$", |found, node| {
            let other = node.get(&found[2]).map_or_else(|| found[4].parse().ok(), Value::as_i64);
            found[2] == found[3] && node[&found[1]].as_i64().zip(other).is_some_and(|(one, other)| one <= other)
        }),
        (r"^type\(self\.(\w+)\) == int \? self\.(\w+) > 0 : sign\(quantity\(self\.(\w+)\)\) > 0$", |found, node| {
            // Whole amounts; what else a quantity may be is left to the API server.
            let is_positive = |text: &str| {
                let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
                matches!(&text[digits.len()..], "" | "k" | "M" | "G" | "T" | "Ki" | "Mi" | "Gi" | "Ti")
                    && digits.parse().is_ok_and(|amount: u32| amount > 0)
            };
            let member = &node[&found[1]];
            let same = [&found[2], &found[3]] == [&found[1]; 2];
            same && (member.as_i64().is_some_and(|amount| amount > 0) || member.as_str().is_some_and(is_positive))
        }),
        // At most so many items have this value.
        (
            r"^self\.filter\((\w+), has\((\w+)\.(\w+)\) && (\w+)\.(\w+) == '([^']*)'\)\.size\(\) <= (\d+)$",
            |found, node| {
                let same = [&found[2], &found[4]] == [&found[1]; 2] && found[3] == found[5];
                let having =
                    || node.as_array().into_iter().flatten().filter(|item| item[&found[3]] == found[6]).count();
                same && found[7].parse().is_ok_and(|most: usize| having() <= most)
            },
        ),
        // No two items have the same text but for the case of letters.
        (
            r"^self\.all\((\w+), !has\((\w+)\.(\w+)\) \|\| self\.exists_one\((\w+), has\((\w+)\.(\w+)\) && (\w+)\.(\w+)\.lowerAscii\(\) == (\w+)\.(\w+)\.lowerAscii\(\)\)\)$",
            |found, node| {
                let same = found[1] == found[2]
                    && found[1] == found[9]
                    && [&found[5], &found[7]] == [&found[4]; 2]
                    && [&found[6], &found[8], &found[10]] == [&found[3]; 3];
                let items = node.as_array().into_iter().flatten();
                let mut texts =
                    items.filter_map(|item| item.get(&found[3])).map(|text| text.as_str().map(str::to_ascii_lowercase));
                let mut seen = BTreeSet::new();
                same && texts.all(|text| text.is_some_and(|text| seen.insert(text)))
            },
        ),
    ];
    let compiled = forms.into_iter().filter_map(|(form, is_true)| Some((Regex::new(form).ok()?, is_true)));
    compiled.collect()
});

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_holds_where_its_guard_does() {
        let rule = "!has(self.eppConfig) || (has(self.type) && self.type == 'epp')";
        assert!(holds(rule, &json!({"type": "worker"})));
        assert!(holds(rule, &json!({"eppConfig": {}, "type": "epp"})));
        assert!(!holds(rule, &json!({"eppConfig": {}, "type": "worker"})));
        assert!(!holds(rule, &json!({"eppConfig": {}})));
    }

    #[test]
    fn every_form_is_understood() {
        for (rule, yes, no) in [
            ("has(self.a) != has(self.b)", json!({"a": 1}), json!({"a": 1, "b": 1})),
            ("!('x/y' in self) || self['x/y'] in ['mp']", json!({}), json!({"x/y": "mp"})),
            (
                "self.name == 'main' || (has(self.image) && self.image != '')",
                json!({"image": "x"}),
                json!({"image": ""}),
            ),
            ("!has(self.on) || !self.on || self.off", json!({"on": false}), json!({"on": true, "off": false})),
            ("has(self.a) && self.a == 0", json!({"a": 0}), json!({"a": "x"})),
            ("self['a/b'].lowerAscii() in ['mp', 'ray']", json!({"a/b": "Ray"}), json!({"a/b": "x"})),
            ("self.indexOf('/') <= 2", json!("ab/c"), json!("abc/d")),
            ("self.a <= (has(self.b) ? self.b : 1)", json!({"a": 1}), json!({"a": 3, "b": 2})),
            (
                "(type(self.a) == int ? self.a > 0 : sign(quantity(self.a)) > 0)",
                json!({"a": "8Gi"}),
                json!({"a": "0Gi"}),
            ),
            ("(type(self.a) == int ? self.a > 0 : sign(quantity(self.a)) > 0)", json!({"a": 1}), json!({"a": "1e3Gi"})),
            ("size(self.a) == 0", json!({"a": []}), json!({"a": [1]})),
            (
                "self.filter(c, has(c.type) && c.type == 'epp').size() <= 1",
                json!([{"type": "epp"}, {}]),
                json!([{"type": "epp"}, {"type": "epp"}]),
            ),
            (
                "self.all(c, !has(c.name) || self.exists_one(o, has(o.name) && o.name.lowerAscii() == c.name.lowerAscii()))",
                json!([{"name": "a"}, {"name": "b"}, {}]),
                json!([{"name": "a"}, {"name": "A"}]),
            ),
        ] {
            assert!(holds(rule, &yes), "{rule}");
            assert!(!holds(rule, &no), "{rule}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_known_to_hold() {
        for rule in [
            "",
            "true",
            "self.a",
            "oldSelf.hasValue() || !has(self.a)",
            "!has(self.b) && self.indexOf('/') <= 253",
            "self.all(c, !has(c.name) || self.exists_one(o, has(o.name) && o.name.lowerAscii() == o.name.lowerAscii()))",
            "!(!has(self.b))",
            "'a || b' == '",
            "((((((((((((((((((((has(self.a)))))))))))))))))))))",
        ] {
            assert!(!holds(rule, &json!({"a": 1})), "{rule}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-z()'|&! \\.\\[\\]=é]{0,40}") {
            holds(&text, &Value::Null);
        }
    }
}
