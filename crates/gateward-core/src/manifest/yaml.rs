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
            text.push_str(&inline(scalar));
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
            let _ = writeln!(text, " {}", inline(value));
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
                let _ = writeln!(text, "{}", inline(item));
            }
        }
    }
}

fn inline(value: &Ordered) -> String {
    match value {
        Ordered::Scalar(Value::String(text)) => scalar(text),
        other => flow(&other.to_string()),
    }
}

fn scalar(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { flow(&Value::from(text).to_string()) }
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

/// Whether the text reads as itself without quotes. Doubtful cases count as no.
fn is_plain(text: &str) -> bool {
    const OTHERWISE: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '_');
    let ends = text.ends_with(|last: char| last.is_ascii_graphic() && last != ':');
    let middle = text.chars().all(|each| each.is_ascii_alphanumeric() || "/_.-@+=,;() ".contains(each));
    starts && ends && middle && !OTHERWISE.iter().any(|word| text.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quotes_what_a_reader_could_take_for_something_else() {
        for text in ["", "yes", "NULL", "1.5", "0x1f", "- a", "a: b", "a #b", "*a", "a\nb", " a", "a ", "ä", "~", "="]
        {
            assert_eq!(scalar(text), Value::from(text).to_string(), "{text:?}");
        }
        for text in ["v1", "nvidia.com/v1beta1", "/validate/x", "Fail", "a b", "x-y_z"] {
            assert_eq!(scalar(text), text);
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
