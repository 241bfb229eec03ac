//! The formats that the API server enforces.

use serde_json::{Number, Value};

/// A format of a string or a number. Formats that the API server doesn't know are ignored, as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Int32,
    Int64,
    DateTime,
    Byte,
}

impl Format {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "int32" => Self::Int32,
            "int64" => Self::Int64,
            "date-time" => Self::DateTime,
            "byte" => Self::Byte,
            _ => return None,
        })
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::DateTime => "date-time",
            Self::Byte => "byte",
        }
    }

    /// Whether the value has the format; values of another type are not this check's.
    pub(super) fn fits(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Int32, Value::Number(number)) => whole(number).is_none_or(|whole| i32::try_from(whole).is_ok()),
            (Self::Int64, Value::Number(number)) => whole(number).is_none_or(|whole| i64::try_from(whole).is_ok()),
            (Self::DateTime, Value::String(text)) => is_date_time(text),
            (Self::Byte, Value::String(text)) => is_base64(text),
            _ => true,
        }
    }
}

fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// RFC 3339, as far as the places of its digits and the size of its parts go.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let Some((clock, zone)) = time.find(['Z', 'z', '+', '-']).map(|at| time.split_at(at)) else { return false };
    is_date(date) && is_clock(clock) && is_zone(zone)
}

fn is_date(date: &str) -> bool {
    matches!(parts(date, '-', [4, 2, 2]), Some([_, month, day]) if (1..=12).contains(&month) && (1..=31).contains(&day))
}

fn is_clock(clock: &str) -> bool {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let fits = matches!(parts(whole, ':', [2, 2, 2]), Some([hour, minute, second]) if hour < 24 && minute < 60 && second <= 60);
    fits && !fraction.is_empty() && fraction.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_zone(zone: &str) -> bool {
    match zone.strip_prefix(['+', '-']) {
        Some(offset) => matches!(parts(offset, ':', [2, 2]), Some([hour, minute]) if hour < 24 && minute < 60),
        None => zone.eq_ignore_ascii_case("z"),
    }
}

/// The numbers between separators, each with its number of digits.
fn parts<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[u32; N]> {
    let mut numbers = [0; N];
    let mut pieces = text.split(separator);
    for (number, width) in numbers.iter_mut().zip(digits) {
        let piece = pieces.next().filter(|piece| piece.len() == width && piece.bytes().all(|b| b.is_ascii_digit()))?;
        *number = piece.parse().ok()?;
    }
    pieces.next().is_none().then_some(numbers)
}

/// Standard base64 with padding.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_dates_with_a_time_from_other_text() {
        for text in ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.123+01:00", "2016-12-31t23:59:60z"] {
            assert!(is_date_time(text), "{text}");
        }
        for text in ["2026-11-21", "2026-13-21T10:00:00Z", "2026-11-21T25:00:00Z", "2026-11-21T10:00:00", "T", ""] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn integers_have_a_width() {
        assert!(Format::Int32.fits(&Value::from(2_147_483_647)));
        assert!(!Format::Int32.fits(&Value::from(2_147_483_648_i64)));
        assert!(!Format::Int64.fits(&Value::from(u64::MAX)));
    }

    #[test]
    fn bytes_are_base64() {
        assert!(Format::Byte.fits(&Value::from("aGk=")));
        assert!(!Format::Byte.fits(&Value::from("aGk")));
        assert!(!Format::Byte.fits(&Value::from("a===")));
    }
}
