//! What a scalar means: the rules of `sigs.k8s.io/yaml`, with which kubectl turns YAML into JSON.
//!
//! They are YAML 1.1 with Go's number syntax: `yes` and `on` are booleans, `0777` is octal, `1_000` a thousand, `1:30`
//! and dates are strings.

use std::borrow::Cow;

use serde_json::{Number, Value};

use crate::go_base64;

/// How a scalar was tagged and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    /// Plain and untagged: the text decides.
    Implicit,
    /// Quoted, a block, or tagged `!`, `!!str` or with a tag of the author's own.
    Text,
    /// `!!binary`.
    Binary,
    /// `!!null`, `!!bool`, `!!int`, `!!float`, `!!timestamp`: the text decides and must agree.
    Wanted(Type),
    /// `!!merge`.
    Merge,
}

/// The types that a tag may demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
}

/// A scalar that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Int(i64),
    /// An integer above [`i64::MAX`].
    Unsigned(u64),
    Float(f64),
    Text(Cow<'t, str>),
    /// `<<`, which is a merge key in the position of a key and the text `<<` elsewhere.
    Merge,
}

/// Why a scalar has no JSON value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ScalarError {
    #[error("`{text}` is not a {wanted}, which its tag demands")]
    OtherType { text: String, wanted: &'static str },
    #[error("the value of !!binary is not base64")]
    Base64,
    #[error("JSON has no number for `{0}`")]
    NotFinite(&'static str),
    #[error("{0} can't be a key of a JSON object")]
    Key(&'static str),
}

/// The type that a node's tag names; `suffix` is what follows `tag:yaml.org,2002:`.
pub(super) fn core_tag(suffix: &str) -> Tag {
    match suffix {
        "null" => Tag::Wanted(Type::Null),
        "bool" => Tag::Wanted(Type::Bool),
        "int" => Tag::Wanted(Type::Int),
        "float" => Tag::Wanted(Type::Float),
        "timestamp" => Tag::Wanted(Type::Timestamp),
        "binary" => Tag::Binary,
        "merge" => Tag::Merge,
        _ => Tag::Text,
    }
}

/// Reads one scalar.
pub(super) fn resolve(text: Cow<'_, str>, tag: Tag) -> Result<Scalar<'_>, ScalarError> {
    match tag {
        Tag::Text => Ok(Scalar::Text(text)),
        Tag::Implicit => Ok(implicit(&text).unwrap_or(Scalar::Text(text))),
        Tag::Merge => Ok(if text == "<<" { Scalar::Merge } else { Scalar::Text(text) }),
        Tag::Binary => binary(&text).map(|text| Scalar::Text(Cow::Owned(text))),
        Tag::Wanted(Type::Timestamp) if is_timestamp(&text) => Ok(Scalar::Text(text)),
        Tag::Wanted(wanted) => wanted.check(implicit(&text), &text),
    }
}

impl Type {
    fn check(self, found: Option<Scalar<'static>>, text: &str) -> Result<Scalar<'static>, ScalarError> {
        match (self, found) {
            (Type::Float, Some(number @ (Scalar::Int(_) | Scalar::Float(_))))
            | (Type::Int, Some(number @ (Scalar::Int(_) | Scalar::Unsigned(_)))) => Ok(number),
            (Type::Bool, Some(Scalar::Bool(value))) => Ok(Scalar::Bool(value)),
            (Type::Null, Some(Scalar::Null)) => Ok(Scalar::Null),
            _ => Err(ScalarError::OtherType { text: text.to_owned(), wanted: self.name() }),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Type::Null => "null",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Float => "float",
            Type::Timestamp => "timestamp",
        }
    }
}

impl Scalar<'_> {
    /// The JSON value.
    pub(super) fn into_value(self) -> Result<Value, ScalarError> {
        Ok(match self {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => Value::from(value),
            Scalar::Unsigned(value) => Value::from(value),
            Scalar::Float(value) => Value::Number(json_number(value)?),
            Scalar::Text(text) => Value::String(text.into_owned()),
            Scalar::Merge => Value::from("<<"),
        })
    }

    /// The scalar as a mapping key.
    pub(super) fn into_key(self) -> Result<String, ScalarError> {
        match self {
            Scalar::Null => Err(ScalarError::Key("null")),
            Scalar::Unsigned(_) => Err(ScalarError::Key("an integer above 9223372036854775807")),
            Scalar::Bool(value) => Ok(value.to_string()),
            Scalar::Int(value) => Ok(value.to_string()),
            Scalar::Float(value) => Ok(float_key(value)),
            Scalar::Text(text) => Ok(text.into_owned()),
            Scalar::Merge => Ok("<<".to_owned()),
        }
    }
}

/// What plain text means; `None` where it is just text.
fn implicit(text: &str) -> Option<Scalar<'static>> {
    match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'0'..=b'9' | b'+' | b'-') => word(text).or_else(|| number(text)),
        Some(b'.') => word(text).or_else(|| float(&text.replace('_', "")).map(Scalar::Float)),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' | b'<') => word(text),
        Some(_) => None,
    }
}

#[rustfmt::skip]
fn word(text: &str) -> Option<Scalar<'static>> {
    Some(match text {
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => Scalar::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        "<<" => Scalar::Merge,
        _ => return None,
    })
}

fn number(text: &str) -> Option<Scalar<'static>> {
    let plain: Cow<'_, str> = if text.contains('_') { text.replace('_', "").into() } else { text.into() };
    integer(&plain).or_else(|| float(&plain).map(Scalar::Float)).or_else(|| binary_integer(&plain))
}

/// An integer literal of Go: an optional sign, then decimal digits or a prefix `0x`, `0o`, `0b`, `0`.
fn integer(text: &str) -> Option<Scalar<'static>> {
    let (sign, rest) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("+", &text[1..]),
        _ => ("", text),
    };
    let (digits, radix) = radix_of(rest);
    let magnitude = u64::from_str_radix(plain_digits(digits)?, radix).ok()?;
    match (i64::try_from(magnitude), sign) {
        (Ok(value), "-") => Some(Scalar::Int(-value)),
        (Ok(value), _) => Some(Scalar::Int(value)),
        (Err(_), "") => Some(Scalar::Unsigned(magnitude)),
        (Err(_), "-") if magnitude == i64::MIN.unsigned_abs() => Some(Scalar::Int(i64::MIN)),
        (Err(_), _) => None,
    }
}

fn radix_of(digits: &str) -> (&str, u32) {
    match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'o' | b'O', ..] => (&digits[2..], 8),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    }
}

/// `from_str_radix` would take a second sign.
fn plain_digits(digits: &str) -> Option<&str> {
    (!digits.starts_with(['+', '-'])).then_some(digits)
}

/// go-yaml reads binary once more, and there a sign may follow the prefix: `0b-11` is -3.
fn binary_integer(text: &str) -> Option<Scalar<'static>> {
    i64::from_str_radix(text.strip_prefix("0b")?, 2).ok().map(Scalar::Int)
}

/// A decimal float; one that is too large for 64 bits is text.
fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let shaped = digits(whole) && digits(fraction) && digits(exponent) && !exponent.is_empty();
    if !shaped || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// The number as Go would write it in JSON and then read it again: without a fraction it is an integer.
fn json_number(value: f64) -> Result<Number, ScalarError> {
    /// From here on Go writes an exponent.
    const EXPONENT_FROM: f64 = 1e21;
    if value.fract() == 0.0 && value.abs() < EXPONENT_FROM {
        let digits = value.to_string();
        if let Ok(integer) = digits.parse::<i64>() {
            return Ok(Number::from(integer));
        }
        if let Ok(integer) = digits.parse::<u64>() {
            return Ok(Number::from(integer));
        }
    }
    Number::from_f64(value).ok_or(ScalarError::NotFinite(if value.is_nan() { ".nan" } else { ".inf" }))
}

/// A float as a key: Go's `%g` of the number cut to 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "kubectl cuts keys to 32 bits")]
fn float_key(value: f64) -> String {
    let narrow = value as f32;
    if narrow.is_nan() {
        return ".nan".to_owned();
    }
    if narrow.is_infinite() {
        return if narrow > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{narrow:e}");
    match scientific.split_once('e').map(|(digits, exponent)| (digits, exponent.parse::<i32>())) {
        Some((digits, Ok(exponent))) if !(-4..FIXED_BELOW).contains(&exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
        }
        _ => narrow.to_string(),
    }
}

/// The decimal exponent from which Go's shortest `%g` switches to `1e+21`.
const FIXED_BELOW: i32 = 6;

/// Line ends in base64 are skipped.
fn binary(text: &str) -> Result<String, ScalarError> {
    let symbols: String = text.split(['\r', '\n']).collect();
    let bytes = go_base64::decode(&symbols).ok_or(ScalarError::Base64)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The forms that go-yaml knows: `2001-2-3`, and with a time after `T`, `t` or a blank, whose zone may be missing.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    is_date(date) && time.is_none_or(is_time)
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [year, month, day] if is_digits(year, 4..=4) && is_digits(month, 1..=2) && is_digits(day, 1..=2))
}

fn is_time(text: &str) -> bool {
    let zoned = text.strip_suffix('Z').unwrap_or(text);
    let (clock, _zone) = zoned.split_once(['+', '-']).unwrap_or((zoned, ""));
    let parts: Vec<&str> = clock.trim_end().split(['.', ':']).collect();
    parts.len() >= 3 && parts.iter().all(|part| is_digits(part, 1..=9))
}

fn is_digits(text: &str, length: std::ops::RangeInclusive<usize>) -> bool {
    length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}
