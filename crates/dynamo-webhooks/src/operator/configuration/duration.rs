//! Lengths of time as Go writes them: `30s`, `1h30m`, `1.5h`.

use std::fmt;
use std::time::Duration;

/// Shown where something else was written.
pub(super) const EXAMPLES: &str = "\"30s\" or \"1h30m\"";

/// Go counts nanoseconds in 64 bits with a sign: some 292 years.
const LONGEST: u128 = i64::MAX as u128;

/// How long each unit is, in nanoseconds. A name that begins with another stands before it.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
];

/// Digits of a fraction that make a difference.
const FRACTION_DIGITS: usize = 18;

/// Why a text is no length of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoDuration {
    Unreadable,
    Negative,
    TooLong,
}

impl fmt::Display for NoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => write!(f, "is not a length of time such as {EXAMPLES}"),
            Self::Negative => write!(f, "is negative; write a length of time such as {EXAMPLES}"),
            Self::TooLong => f.write_str("is longer than 292 years"),
        }
    }
}

/// Reads what Go's `time.ParseDuration` reads, but for negative ones.
pub(super) fn parse(text: &str) -> Result<Duration, NoDuration> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let nanoseconds = if unsigned == "0" { 0 } else { sum(unsigned)? };
    if negative && nanoseconds > 0 {
        return Err(NoDuration::Negative);
    }
    let nanoseconds = u64::try_from(nanoseconds).map_err(|_| NoDuration::TooLong)?;
    Ok(Duration::from_nanos(nanoseconds))
}

fn sum(mut rest: &str) -> Result<u128, NoDuration> {
    if rest.is_empty() {
        return Err(NoDuration::Unreadable);
    }
    let mut sum = 0;
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        sum += part;
        if sum > LONGEST {
            return Err(NoDuration::TooLong);
        }
        rest = after;
    }
    Ok(sum)
}

/// One number with its unit, and what follows.
fn part(text: &str) -> Result<(u128, &str), NoDuration> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return Err(NoDuration::Unreadable);
    }
    let unit = UNITS.iter().find_map(|(name, length)| rest.strip_prefix(name).map(|rest| (*length, rest)));
    let (unit, rest) = unit.ok_or(NoDuration::Unreadable)?;
    if rest.starts_with(|letter: char| !letter.is_ascii_digit() && letter != '.') {
        return Err(NoDuration::Unreadable);
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| NoDuration::TooLong)? };
    Ok((u128::from(whole) * unit + share(fraction, unit), rest))
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len()))
}

/// A decimal fraction of a unit; what is less than a nanosecond is dropped.
fn share(fraction: &str, unit: u128) -> u128 {
    let digits = fraction.bytes().take(FRACTION_DIGITS);
    let (value, scale) =
        digits.fold((0, 1), |(value, scale), digit| (value * 10 + u128::from(digit - b'0'), scale * 10));
    value * unit / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_go_reads() {
        for (text, nanoseconds) in [
            ("0", 0),
            ("+0", 0),
            ("-0", 0),
            ("-0s", 0),
            ("30s", 30_000_000_000),
            ("+5s", 5_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("5.s", 5_000_000_000),
            ("1h0m0.5s", 3_600_500_000_000),
            ("3ms", 3_000_000),
            ("3us", 3_000),
            ("3µs", 3_000),
            ("3μs", 3_000),
            ("3ns", 3),
            ("0.9ns", 0),
            ("87600h", 315_360_000_000_000_000),
            ("2562047h47m16.854775807s", u64::try_from(i64::MAX).unwrap()),
            ("0.100000000000000000000000000001s", 100_000_000),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_nanos(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn refuses_what_go_refuses() {
        for text in ["", "3", "-", "s", ".s", "+.s", "1d", "1 h", " 1h", "1h ", "1H", "30", "1e3s", "1hs", "ms", "१s"]
        {
            assert_eq!(parse(text), Err(NoDuration::Unreadable), "{text}");
        }
        for text in ["9223372036855s", "2562048h", "99999999999999999999h", "18446744073709551615h"] {
            assert_eq!(parse(text), Err(NoDuration::TooLong), "{text}");
        }
    }

    #[test]
    fn a_negative_time_is_an_error_of_its_own() {
        assert_eq!(parse("-1s"), Err(NoDuration::Negative));
        assert_eq!(parse("--1s"), Err(NoDuration::Unreadable));
    }
}
