//! Patterns as Go's RE2 reads them.

use std::str::Chars;

use regex::Regex;

/// Compiles a pattern. `\d`, `\w`, `\s` and the word boundary are of ASCII in Go.
pub(super) fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    Regex::new(&translate(pattern))
}

fn translate(pattern: &str) -> String {
    let mut translated = String::with_capacity(pattern.len());
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            '\\' => escape(rest.next(), EscapeContext::Outside, &mut translated),
            '[' => class(&mut rest, &mut translated),
            _ => translated.push(character),
        }
    }
    translated
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeContext {
    Outside,
    Class,
}

/// The rest of a class, past its bracket.
fn class(rest: &mut Chars, translated: &mut String) {
    translated.push('[');
    if take(rest, "^") {
        translated.push('^');
    }
    if take(rest, "]") {
        translated.push_str("\\]");
    }
    while let Some(character) = rest.next() {
        match character {
            ']' => return translated.push(']'),
            '\\' => escape(rest.next(), EscapeContext::Class, translated),
            '[' if rest.as_str().starts_with(':') => named_class(rest, translated),
            '[' => translated.push_str("\\["),
            // Doubled, they would combine classes.
            '&' | '~' | '-' if take(rest, &character.to_string()) => translated.extend([character, '\\', character]),
            _ => translated.push(character),
        }
    }
}

/// `[:alpha:]`, past its first bracket.
fn named_class(rest: &mut Chars, translated: &mut String) {
    translated.push('[');
    for character in rest.by_ref() {
        translated.push(character);
        if character == ']' {
            return;
        }
    }
}

fn take(rest: &mut Chars, prefix: &str) -> bool {
    let after = rest.as_str().strip_prefix(prefix);
    if let Some(after) = after {
        *rest = after.chars();
    }
    after.is_some()
}

fn escape(escaped: Option<char>, context: EscapeContext, translated: &mut String) {
    match (escaped, context) {
        (Some('d'), _) => translated.push_str("[0-9]"),
        (Some('D'), _) => translated.push_str("[^0-9]"),
        (Some('w'), _) => translated.push_str("[0-9A-Za-z_]"),
        (Some('W'), _) => translated.push_str("[^0-9A-Za-z_]"),
        (Some('s'), _) => translated.push_str(r"[\t\n\f\r ]"),
        (Some('S'), _) => translated.push_str(r"[^\t\n\f\r ]"),
        (Some('b'), EscapeContext::Outside) => translated.push_str(r"(?-u:\b)"),
        (Some(other), _) => translated.extend(['\\', other]),
        (None, _) => translated.push('\\'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).unwrap().is_match(text)
    }

    #[test]
    fn classes_are_of_ascii() {
        assert!(!matches(r"^\w+$", "äöü"));
        assert!(!matches(r"^[\d-]+$", "٣"));
        assert!(matches(r"^[\d-]+$", "3-4"));
        assert!(matches(r"^[^\s]+$", "\u{a0}"));
        assert!(matches(r"\bb", "äb"));
    }

    #[test]
    fn brackets_mean_what_they_mean_in_go() {
        assert!(matches("^[]a]+$", "]a"));
        assert!(matches("^[^]]$", "a"));
        assert!(matches("^[[]$", "["));
        assert!(matches("^[a&&b]+$", "&"));
        assert!(matches("^[[:alpha:]]+x$", "ax"));
    }

    #[test]
    fn an_unfinished_pattern_is_an_error() {
        for pattern in ["[", "[[:", "\\", "[\\", "(", "[^]"] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn plain_patterns_stay_as_they_are() {
        let pattern = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE])?$";
        assert_eq!(compile(pattern).unwrap().as_str(), pattern);
    }
}
