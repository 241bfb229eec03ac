//! The query parameter `timeout` that the API server adds to every call: how long it waits for the response.

use std::time::Duration;

use gateward_core::go_duration;

/// Parses `timeout` of a query string. Anything but a Go duration above zero is ignored: a wrong hint is no reason to
/// refuse a review.
pub(crate) fn from_query(query: Option<&str>) -> Option<Duration> {
    let value = query?.split('&').find_map(|pair| pair.strip_prefix("timeout="))?;
    go_duration::parse(value).ok().filter(|timeout| !timeout.is_zero())
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
    }
}
