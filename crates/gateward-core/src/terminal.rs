//! Text from outside on a terminal: what a terminal obeys is escaped.
//!
//! ```
//! use gateward_core::terminal;
//!
//! assert_eq!(terminal::line("otter\u{9b}2J\n"), r"otter\u{9b}2J\n");
//! assert_eq!(terminal::json("{\"name\":\"\u{202e}\"}"), r#"{"name":"\u202e"}"#);
//! ```

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal obeys the character instead of showing it: controls, the byte order mark, separators of lines, and
/// marks that turn the direction of writing. A tab is one too.
pub fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}')
}

/// The text on one line.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |character| character != '\t' && is_obeyed(character), char::escape_default)
}

/// The text, whose line ends stay.
pub fn lines(text: &str) -> Cow<'_, str> {
    let is_escaped = |character| !matches!(character, '\t' | '\n') && is_obeyed(character);
    escaped(text, is_escaped, char::escape_default)
}

/// Lines of a program that sets colours itself: what begins a colour stays too.
pub fn coloured(text: &str) -> Cow<'_, str> {
    let is_escaped = |character| !matches!(character, '\t' | '\n' | '\u{1b}') && is_obeyed(character);
    escaped(text, is_escaped, char::escape_default)
}

/// The same JSON, in which no string has such a character. `text` is JSON as it is written without spaces or line ends
/// between its tokens, or with line ends alone.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |character| character != '\n' && is_obeyed(character);
    escaped(text, is_escaped, |character| format!("\\u{:04x}", u32::from(character)))
}

fn escaped<T: std::fmt::Display>(
    text: &str,
    is_escaped: impl Fn(char) -> bool,
    escape: impl Fn(char) -> T,
) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            let _ = write!(shown, "{}", escape(character));
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first and the last of each range that a terminal obeys.
    const OBEYED: &str =
        "\0\u{1b}\u{7f}\u{80}\u{9f}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}\u{feff}";

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        for shown in [line(OBEYED), lines(OBEYED), json(OBEYED)] {
            assert!(shown.chars().all(|character| character.is_ascii_graphic()), "{shown:?}");
        }
        assert_eq!(line("\u{9b}\r\n"), r"\u{9b}\r\n");
    }

    #[test]
    fn what_is_shown_stays_as_it_is() {
        let plain = "otter: 名前 é 😀 \\u{9b}\ta";
        assert!(matches!(line(plain), Cow::Borrowed(text) if text == plain));
        assert_eq!(lines("one\ntwo\u{1b}"), "one\ntwo\\u{1b}");
        assert_eq!(coloured("\u{1b}[31mone\u{9b}\n"), "\u{1b}[31mone\\u{9b}\n");
    }

    #[test]
    fn escaped_json_says_the_same() {
        let value = serde_json::json!({OBEYED: [OBEYED, "é\\\""]});
        let text = format!("{value}\n");
        let shown = json(&text);
        assert!(shown.trim_end().chars().all(|character| !is_obeyed(character)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).ok(), Some(value));
    }
}
