//! The query parameter `timeout` that the API server adds to every call: how long it waits for the response.

use std::time::Duration;

/// How many numbers with units a duration may have; Go prints at most six.
const MOST_PARTS: usize = 8;

/// Parses `timeout` of a query string. Anything but a Go duration above zero is ignored: a wrong hint is no reason to
/// refuse a review.
pub(crate) fn from_query(query: Option<&str>) -> Option<Duration> {
    let value = query?.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    parse(value).filter(|timeout| !timeout.is_zero())
}

/// Parses a Go duration, such as `10s`, `1m30s`, `1.5s` or `500ms`.
fn parse(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut seconds = 0.0;
    for _ in 0..MOST_PARTS {
        let number_end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(number_end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        seconds += number.parse::<f64>().ok()? * seconds_per(unit)?;
        if tail.is_empty() {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        rest = tail;
    }
    None
}

/// The seconds of a unit. The two signs for micro are percent-encoded in a query, and the API server sends no
/// microseconds.
fn seconds_per(unit: &str) -> Option<f64> {
    match unit {
        "ns" => Some(1e-9),
        "us" => Some(1e-6),
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        "m" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_the_api_server_sends() {
        assert_eq!(from_query(Some("timeout=10s")), Some(Duration::from_secs(10)));
        assert_eq!(from_query(Some("a=b&timeout=1m30s")), Some(Duration::from_secs(90)));
        assert_eq!(from_query(Some("timeout=500ms&x")), Some(Duration::from_millis(500)));
        assert_eq!(from_query(Some("timeout=1.5s")), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn ignores_anything_but_a_duration() {
        for query in
            ["", "timeout=", "timeout=10", "timeout=-1s", "timeout=s", "timeout=1x", "timeout=1..2s", "time=1s"]
        {
            assert_eq!(from_query(Some(query)), None, "{query}");
        }
        assert_eq!(from_query(None), None);
    }

    #[test]
    fn ignores_a_timeout_of_zero() {
        assert_eq!(from_query(Some("timeout=0s")), None);
    }

    #[test]
    fn ignores_an_overlong_timeout() {
        let many = format!("timeout={}s", "9".repeat(400));
        assert_eq!(from_query(Some(&many)), None);
        assert_eq!(from_query(Some(&format!("timeout={}", "1h".repeat(9)))), None);
    }
}
