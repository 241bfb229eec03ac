//! Writing YAML that every reader takes for the same JSON.

use std::fmt::Write;

use serde_json::Value;

use crate::json::ordered::Ordered;
use crate::terminal;

/// The value as a YAML document in block style, members in the order of the map, with a line end at the end.
///
/// Text that a YAML reader could take for something else is quoted.
///
/// ```
/// use gateward_core::manifest::yaml;
/// use serde_json::json;
///
/// let text = yaml::document(&json!({"metadata": {"name": "otter"}, "on": ["y", 1]}));
/// assert_eq!(text, "metadata:\n  name: otter\n\"on\":\n- \"y\"\n- 1\n");
/// ```
pub fn document(value: &Value) -> String {
    document_in_order(&Ordered::from(value))
}

/// The same of a value whose members have an order of their own.
pub fn document_in_order(value: &Ordered) -> String {
    let mut text = String::new();
    match value {
        Ordered::Members(members) if !members.is_empty() => write_members(&mut text, members, 0),
        Ordered::Items(items) if !items.is_empty() => write_items(&mut text, items, 0),
        scalar => {
            text.push_str(&scalar_at(scalar, 2));
            text.push('\n');
        }
    }
    text
}

fn write_members(text: &mut String, members: &[(String, Ordered)], indent: usize) {
    for (position, (key, value)) in members.iter().enumerate() {
        // The first member of an item stands behind its hyphen.
        if position > 0 || !text.ends_with("- ") {
            let _ = write!(text, "{:indent$}", "");
        }
        text.push_str(&scalar(key));
        text.push(':');
        write_below(text, value, indent);
    }
}

fn write_below(text: &mut String, value: &Ordered, indent: usize) {
    match value {
        Ordered::Members(members) if !members.is_empty() => {
            text.push('\n');
            write_members(text, members, indent + 2);
        }
        Ordered::Items(items) if !items.is_empty() => {
            text.push('\n');
            write_items(text, items, indent);
        }
        _ => {
            let _ = writeln!(text, " {}", scalar_at(value, indent + 2));
        }
    }
}

fn write_items(text: &mut String, items: &[Ordered], indent: usize) {
    for item in items {
        let _ = write!(text, "{:indent$}- ", "");
        match item {
            Ordered::Members(members) if !members.is_empty() => write_members(text, members, indent + 2),
            Ordered::Items(_) => {
                // Flow style: a list directly in a list is rare, and JSON is YAML.
                let _ = writeln!(text, "{}", flow(&item.to_string()));
            }
            _ => {
                let _ = writeln!(text, "{}", scalar_at(item, indent + 2));
            }
        }
    }
}

/// A value that has no members or items of its own, in the block style where it is text of several lines. Lines after the
/// first stand behind `indent` blanks.
pub fn scalar_at(value: &Ordered, indent: usize) -> String {
    match value {
        Ordered::Scalar(Value::String(text)) => literal(text, indent).unwrap_or_else(|| scalar(text)),
        other => flow(&other.to_string()),
    }
}

/// Text on one line, quoted where a reader could take it for something else.
pub fn scalar(text: &str) -> String {
    if is_plain(text) {
        text.to_owned()
    } else if is_for_single_quotes(text) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        flow(&Value::from(text).to_string())
    }
}

/// JSON in a text is readable where its own quotes need no escape.
fn is_for_single_quotes(text: &str) -> bool {
    text.contains(['"', '\\']) && text.chars().all(is_shown)
}

fn is_shown(character: char) -> bool {
    !terminal::is_obeyed(character) && !matches!(character, '\u{fffe}' | '\u{ffff}')
}

/// The text as a literal block, if it has several lines and a block can hold them.
fn literal(text: &str, indent: usize) -> Option<String> {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let first = lines.lines().next()?;
    let fits = lines.contains('\n') && !first.is_empty() && !first.starts_with([' ', '\t']);
    if !fits || lines.ends_with('\n') || !text.chars().all(|each| each == '\n' || is_shown(each)) {
        return None;
    }
    let mut block = String::from(if text.ends_with('\n') { "|" } else { "|-" });
    for line in lines.split('\n') {
        block.push('\n');
        if !line.is_empty() {
            let _ = write!(block, "{:indent$}{line}", "");
        }
    }
    Some(block)
}

/// JSON with escapes for what may stand in it but not in YAML, would end a line there, or is obeyed by a terminal.
fn flow(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for each in json.chars() {
        // Such a character can only stand in a string.
        if terminal::is_obeyed(each) || matches!(each, '\u{fffe}' | '\u{ffff}') {
            let _ = write!(text, "\\u{:04x}", u32::from(each));
        } else {
            text.push(each);
        }
    }
    text
}

/// Whether the text reads as itself without quotes. Doubtful cases count as no: readers of older YAML see numbers with
/// underscores, times and dates where newer ones see text.
fn is_plain(text: &str) -> bool {
    const OTHERWISE: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    let starts = match text.as_bytes() {
        [b'-', second, ..] => !second.is_ascii_whitespace() && !text.starts_with("---"),
        [first, ..] => first.is_ascii_alphanumeric() || matches!(first, b'/' | b'_' | b'(' | b'.' | b'+' | b'$'),
        [] => false,
    };
    let ends = text.ends_with(|last: char| last.is_ascii_graphic() && last != ':');
    let middle = text.bytes().all(|each| each.is_ascii_graphic() || each == b' ');
    let is_split = text.contains(": ") || text.contains(" #") || text.starts_with("...");
    starts
        && ends
        && middle
        && !is_split
        && !is_numeric(text)
        && !OTHERWISE.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether some reader could see a number, a time or a date.
fn is_numeric(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-', '.']);
    let special = ["inf", "nan"].iter().any(|word| digits.eq_ignore_ascii_case(word));
    special
        || digits.starts_with(|first: char| first.is_ascii_digit())
            && digits.bytes().all(|each| each.is_ascii_hexdigit() || b"_.:+-xXoOtTzZ ".contains(&each))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_what_a_reader_could_take_for_something_else() {
        for text in [
            "",
            "yes",
            "NULL",
            "1.5",
            "0x1f",
            "- a",
            "a: b",
            "a #b",
            "*a",
            "a\r\nb",
            " a",
            "a ",
            "ä",
            "~",
            "=",
            "-",
            "1_000",
            "12:30",
            "2026-01-01",
            "-.inf",
            "1e3",
            "---",
            "...",
            "a:",
            "{a",
            "[a",
            "%a",
            "@a",
            "`a",
            "#a",
            "!a",
            "&a",
            "|",
            ">",
        ] {
            assert_eq!(scalar(text), Value::from(text).to_string(), "{text:?}");
        }
        for text in [
            "v1",
            "nvidia.com/v1beta1",
            "/validate/x",
            "Fail",
            "a b",
            "x-y_z",
            "16Gi",
            "80%",
            "--model",
            "-c",
            "my-registry:5000/a:b",
            "$(VAR)",
            "a[0]",
            "500m",
            "it's",
        ] {
            assert_eq!(scalar(text), text);
        }
        assert_eq!(scalar(r#"{"a": "it's"}"#), r#"'{"a": "it''s"}'"#);
    }

    #[test]
    fn text_of_several_lines_is_a_block() {
        let text = document(&json!({"a": {"b": "x: 1\n\n  y\n"}, "c": ["x\ny"]}));
        assert_eq!(text, "a:\n  b: |\n    x: 1\n\n      y\nc:\n- |-\n  x\n  y\n");
        for text in [" x\ny", "\nx", "x\n\n", "\n", "x\r\ny", "x\n\u{202e}y"] {
            assert!(document(&json!(text)).starts_with('"'), "{text:?}");
        }
    }

    #[test]
    fn escapes_what_may_not_stand_in_yaml() {
        assert_eq!(document(&json!({"a\u{7f}": "\u{85}\u{2028}é"})), "\"a\\u007f\": \"\\u0085\\u2028é\"\n");
        assert_eq!(document(&json!([["\u{feff}"]])), "- [\"\\ufeff\"]\n");
        assert_eq!(document(&json!(["\u{202e}\u{61c}"])), "- \"\\u202e\\u061c\"\n");
    }

    #[test]
    fn nests_lists_and_maps_in_block_style() {
        let value = json!({"a": [{"b": {"c": 1}, "d": []}, {}], "e": {"f": null}});
        assert_eq!(document(&value), "a:\n- b:\n    c: 1\n  d: []\n- {}\ne:\n  f: null\n");
    }

    #[test]
    fn a_list_in_a_list_is_written_in_flow_style() {
        assert_eq!(document(&json!([[1, "a"], "b"])), "- [1,\"a\"]\n- b\n");
    }
}
