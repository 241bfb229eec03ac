//! Which CEL rules an object can't break, because they aren't about it.
//!
//! Most rules of CRDs guard themselves: `!has(self.eppConfig) || …` is true wherever the member is absent,
//! `self.name == 'main' || …` for the items of that name. Nothing else of an expression is understood, and nothing is evaluated.

use serde_json::Value;

/// Whether one of the alternatives of the rule is a guard that is true of the node.
pub(super) fn is_guarded(rule: &str, node: &Value) -> bool {
    let is_true = |guard: Guard<'_>| match guard {
        Guard::Absent(member) => node.get(member).is_none(),
        Guard::Text(member, text) => node.get(member).is_some_and(|value| value == text),
    };
    alternatives(rule).into_iter().flatten().filter_map(Guard::of).any(is_true)
}

/// What a rule asks before it asks more.
enum Guard<'r> {
    /// `!has(self.member)` or `!('member' in self)`.
    Absent(&'r str),
    /// `self.member == 'text'`.
    Text(&'r str, &'r str),
}

impl<'r> Guard<'r> {
    fn of(part: &'r str) -> Option<Self> {
        let is_name = |text: &&str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_text = |text: &&str| !text.contains('\'');
        let has = || part.strip_prefix("!has(self.")?.strip_suffix(')').filter(is_name);
        let is_in = || part.strip_prefix("!('")?.strip_suffix("' in self)").filter(is_text);
        let equals = || {
            let (member, text) = part.strip_prefix("self.")?.split_once(" == '")?;
            Some(Self::Text(Some(member).filter(is_name)?, text.strip_suffix('\'').filter(is_text)?))
        };
        has().or_else(is_in).map(Self::Absent).or_else(equals)
    }
}

/// What `||` joins outside of parentheses. None of an expression with a condition (`?` binds weaker), or with text that
/// this can't tell from operators.
fn alternatives(rule: &str) -> Option<Vec<&str>> {
    let (mut parts, mut from, mut open, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, character) in rule.char_indices() {
        match character {
            '"' | '\\' => return None,
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' | '{' => open += 1,
            ')' | ']' | '}' => open = open.checked_sub(1)?,
            '?' if open == 0 => return None,
            '|' if open == 0 && at >= from && rule[at..].starts_with("||") => {
                parts.push(rule[from..at].trim());
                from = at + 2;
            }
            _ => {}
        }
    }
    parts.push(rule[from..].trim());
    Some(parts)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_absent_member_can_break_no_rule_that_it_guards() {
        for rule in [
            "!has(self.eppConfig) || (has(self.type) && self.type == 'epp')",
            "oldSelf.hasValue() || !has(self.restart)",
            "!has(self.on) || !self.on || (has(self.size) && self.size > 0)",
            "!('x/y' in self) || self['x/y'].lowerAscii() in ['mp', 'a || b']",
            "self.a == 'a || b' || !has(self.b)",
            "!has(self.a)",
        ] {
            assert!(is_guarded(rule, &json!({"type": "worker"})), "{rule}");
        }
    }

    #[test]
    fn a_rule_for_the_others_is_none_for_the_one_that_it_names() {
        let rule = "self.name == 'main' || has(self.image)";
        assert!(is_guarded(rule, &json!({"name": "main"})));
        assert!(!is_guarded(rule, &json!({"name": "proxy", "image": "p:1"})));
        assert!(!is_guarded(rule, &json!({})));
        assert!(!is_guarded("self.size() == '' || self.a.b == 'c'", &json!({"size()": "", "a.b": "c"})));
    }

    #[test]
    fn a_member_that_is_there_may_break_the_rule() {
        assert!(!is_guarded("!has(self.eppConfig) || (self.type == 'epp')", &json!({"eppConfig": {}, "type": "epp"})));
        assert!(!is_guarded("!('x/y' in self) || self['x/y'] == 'mp'", &json!({"x/y": "mp"})));
    }

    #[test]
    fn anything_but_a_guard_is_no_guard() {
        for rule in [
            "",
            "true",
            "has(self.a) || self.b",
            "!has(self.a) && self.b",
            "!has(self.a.b) || self.b",
            "!has(oldSelf.a) || self.b",
            "(!has(self.a)) || self.b",
            "self.c ? self.d : self.e || !has(self.a)",
            "!has(self.a) || self.c ? self.d : self.e",
            "!(!has(self.a))",
            "self.all(x, !has(self.a) || x)",
            "'a' == ' || !has(self.a) || '",
            "\"' || !has(self.a) || '\" == self.b",
            "'it\\' || !has(self.a) || \\'s' == self.b",
            "self.b) || !has(self.a)",
        ] {
            assert!(!is_guarded(rule, &json!({})), "{rule}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-z()'|&?! \\.\\[\\]=é]{0,40}") {
            is_guarded(&text, &Value::Null);
        }
    }
}
