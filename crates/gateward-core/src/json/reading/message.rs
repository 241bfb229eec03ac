//! What is said of a node that doesn't fit, in the words of a schema and never longer than some hundred bytes.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use serde::de::{Error, Expected, Unexpected};

/// What a message is cut to, in bytes.
const LONGEST: usize = 300;

/// What is shown of a text that is no accepted value, in bytes.
const SHOWN: usize = 64;

/// Text that stops growing, and with it the formatting of whatever is written to it.
struct Limited(String);

impl Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = LONGEST - self.0.len();
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        if text.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The beginning of a text.
pub(crate) fn cut(text: &dyn Display) -> String {
    let mut limited = Limited(String::new());
    // Fails where the text is longer than what is kept of it.
    let _ = write!(limited, "{text}");
    limited.0
}

/// What would fit, where `expected` says it in serde's words.
pub(crate) fn must_be(expected: &dyn Expected) -> String {
    format!("must be {}", in_words(&cut(&expected)))
}

/// The error of a visitor that was shown one value; quotes no more than the beginning of it.
#[derive(Debug)]
pub(crate) struct Refusal(pub String);

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}

impl Error for Refusal {
    fn custom<T: Display>(text: T) -> Self {
        Self(cut(&text))
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self(must_be(expected))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let found = match found {
            Unexpected::Str(text) => Unexpected::Str(&text[..text.floor_char_boundary(SHOWN)]),
            Unexpected::Bytes(bytes) => Unexpected::Bytes(&bytes[..bytes.len().min(SHOWN)]),
            other => other,
        };
        Self(cut(&format_args!("{found} is not {}", in_words(&cut(&expected)))))
    }
}

/// What serde says of an error that came without its parts, in the words of a schema.
pub(crate) fn reworded(text: &str) -> String {
    let text = without_position(text);
    if let Some((_, expected)) = text.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        return format!("must be {}", in_words(expected));
    }
    match text.strip_prefix("invalid value: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((found, expected)) => format!("{found} is not {}", in_words(expected)),
        None => text.to_owned(),
    }
}

/// The field that serde misses, if that is what it says.
pub(crate) fn missing_field(text: &str) -> Option<&str> {
    without_position(text).strip_prefix("missing field `")?.strip_suffix('`')
}

/// Line and column of a part of a document mean nothing to the user.
fn without_position(text: &str) -> &str {
    match text.rsplit_once(" at line ") {
        Some((message, position)) if position.contains(" column ") => message,
        _ => text,
    }
}

fn in_words(expected: &str) -> Cow<'_, str> {
    let unsigned = |bits: &str| Cow::Owned(format!("a non-negative integer of {bits} bits"));
    let signed = |bits: &str| Cow::Owned(format!("an integer of {bits} bits"));
    match expected {
        "i8" | "i16" | "i32" | "i64" => signed(&expected[1..]),
        "u8" | "u16" | "u32" | "u64" => unsigned(&expected[1..]),
        "f32" | "f64" => "a number".into(),
        "a sequence" => "an array".into(),
        "a map" => "an object".into(),
        other if other.starts_with("struct ") => "an object".into(),
        other => other.into(),
    }
}
