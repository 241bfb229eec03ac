//! The formats that the API server enforces.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

use crate::go_base64;

/// A format of a string. The API server enforces none on numbers, not even `int32`, and ignores those that it doesn't
/// know. Of those that it does know, rare ones (`email`, `hostname`, `uri`, `isbn`, colours, card numbers) are not
/// checked here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    DateTime,
    /// That of metadata, which no schema states: as Go's `time.RFC3339`.
    Timestamp,
    Byte,
    Duration,
    Ipv4,
    Ipv6,
    Cidr,
    Mac,
    Uuid,
}

const NAMES: [(&str, Format); 10] = [
    ("date", Format::Date),
    ("date-time", Format::DateTime),
    ("datetime", Format::DateTime),
    ("byte", Format::Byte),
    ("duration", Format::Duration),
    ("ipv4", Format::Ipv4),
    ("ipv6", Format::Ipv6),
    ("cidr", Format::Cidr),
    ("mac", Format::Mac),
    ("uuid", Format::Uuid),
];

/// Numbers with units, as Go writes durations, or with the names of units: `1h30m`, `2 days`.
static DURATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    const UNITS: &str = "ns|nano(second)?|us|µs|micro(second)?|ms|milli(second)?|s|sec(ond)?|m|min(ute)?|h|hr|hour|d|day|\
                         w|wk|week|month|y|year";
    let pattern = format!(r"^[+-]?\s*(0|([0-9.]+\s*({UNITS})s?\s*)+)$");
    RegexBuilder::new(&pattern).case_insensitive(true).build().ok()
});

impl Format {
    pub(super) fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, format)| *format)
    }

    pub(super) fn name(self) -> &'static str {
        let format = if self == Self::Timestamp { Self::DateTime } else { self };
        NAMES.iter().find(|(_, listed)| *listed == format).map_or("", |(name, _)| name)
    }

    /// Whether the text has the format.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Timestamp => is_date_time(text) && !text.contains(['t', 'z']) && has_year_in_utc(text),
            Self::Byte => !text.is_empty() && go_base64::decode(text).is_some(),
            Self::Duration => DURATION.as_ref().is_some_and(|duration| duration.is_match(text)),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::Cidr => is_cidr(text),
            Self::Mac => is_hex(text, &[':', '-'], &[2; 6]),
            Self::Uuid => is_hex(text, &['-'], &[8, 4, 4, 4, 12]) || is_hex(text, &[], &[32]),
        }
    }
}

/// RFC 3339, on a day that exists.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't']) else { return false };
    let Some((clock, zone)) = time.find(['Z', 'z', '+', '-']).map(|at| time.split_at(at)) else { return false };
    is_date(date) && is_clock(clock) && is_zone(zone)
}

/// Whether the year has four digits in UTC too, as which the API server writes it and reads it again.
fn has_year_in_utc(text: &str) -> bool {
    let is_before = text.starts_with("0000-01-01") && text.contains('+');
    let is_after = text.starts_with("9999-12-31") && text.rfind('-').is_some_and(|at| at > "9999-12-".len());
    !is_before && !is_after
}

fn is_date(date: &str) -> bool {
    matches!(parts(date, '-', [4, 2, 2]), Some([year, month, day]) if (1..=days_in(year, month)).contains(&day))
}

fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

fn is_clock(clock: &str) -> bool {
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let fits =
        matches!(parts(whole, ':', [2, 2, 2]), Some([hour, minute, second]) if hour < 24 && minute < 60 && second < 60);
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

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    bits.len() <= 3
        && bits.bytes().all(|byte| byte.is_ascii_digit())
        && bits.parse().is_ok_and(|bits: u32| bits <= most)
}

/// Groups of hexadecimal digits of the given lengths, all with one separator.
fn is_hex(text: &str, separators: &[char], lengths: &[usize]) -> bool {
    let separator = text.chars().find(|character| separators.contains(character));
    let groups: Vec<&str> = separator.map_or_else(|| vec![text], |separator| text.split(separator).collect());
    groups.len() == lengths.len()
        && groups.iter().zip(lengths).all(|(group, length)| group.len() == *length)
        && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_dates_with_a_time_from_other_text() {
        for text in ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.123+01:00", "2024-02-29t23:59:59z"] {
            assert!(is_date_time(text), "{text}");
        }
        for text in [
            "2026-11-21",
            "2026-02-29T10:00:00Z",
            "2016-12-31T23:59:60Z",
            "2026-13-21T10:00:00Z",
            "2026-11-21T25:00:00Z",
            "2026-11-21T10:00:00",
            "T",
            "",
        ] {
            assert!(!is_date_time(text), "{text}");
        }
    }

    #[test]
    fn metadata_is_read_as_go_reads_it() {
        assert!(
            Format::Timestamp.fits("2026-11-21T10:00:00.123+01:00") && Format::Timestamp.fits("2024-02-29T23:59:59Z")
        );
        assert!(!Format::Timestamp.fits("2024-02-29t23:59:59Z") && !Format::Timestamp.fits("2024-02-29T23:59:59z"));
        for (text, fits) in [
            ("9999-12-31T23:59:59-23:59", false),
            ("9999-12-31T23:59:59Z", true),
            ("0000-01-01T00:00:00+23:59", false),
            ("0000-01-01T00:00:00Z", true),
        ] {
            assert_eq!(Format::Timestamp.fits(text), fits, "{text}");
        }
        assert_eq!(Format::Timestamp.name(), "date-time");
    }

    #[test]
    fn durations_are_numbers_with_units() {
        for text in ["1h", "1h30m", "1.5h", "2 days", "1 week", "10ms", "0"] {
            assert!(Format::Duration.fits(text), "{text:?}");
        }
        for text in ["", "x", "1", "h", "1 parsec"] {
            assert!(!Format::Duration.fits(text), "{text:?}");
        }
    }

    #[test]
    fn addresses_have_their_forms() {
        assert!(Format::Cidr.fits("10.0.0.0/8") && Format::Cidr.fits("::/0"));
        assert!(
            !Format::Cidr.fits("10.0.0.0") && !Format::Cidr.fits("10.0.0.0/33") && !Format::Cidr.fits("1.2.3.4/+8")
        );
        assert!(Format::Mac.fits("01:02:03:aa:bb:cc") && !Format::Mac.fits("01:02:03:aa:bb"));
        assert!(Format::Uuid.fits("123e4567-e89b-12d3-a456-426614174000") && !Format::Uuid.fits("123e4567"));
    }

    #[test]
    fn bytes_are_base64() {
        assert!(Format::Byte.fits("aGk="));
        for text in ["", "aGk", "a===", "aGk=\n", "a-k="] {
            assert!(!Format::Byte.fits(text), "{text:?}");
        }
    }
}
