//! The text that a scraper reads, in either of the two formats.

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const OLDER_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The content type and the text.
pub(super) fn page(registries: &[&Registry], accept: Option<&str>) -> (&'static str, String) {
    let mut body = String::with_capacity(8 * 1024);
    // Writing into a string doesn't fail.
    for registry in registries {
        let _ = text::encode_registry(&mut body, registry);
    }
    let _ = text::encode_eof(&mut body);
    if accept.is_some_and(|accept| accept.contains("application/openmetrics-text")) {
        (OPEN_METRICS, body)
    } else {
        (OLDER_TEXT, as_older_text(&body))
    }
}

/// In the older format a counter's help and type carry its full name, and there is no mark at the end.
fn as_older_text(body: &str) -> String {
    let counters = |name: &str| body.contains(&format!("# TYPE {name} counter\n"));
    let mut older = String::with_capacity(body.len());
    for line in body.lines().filter(|line| *line != "# EOF") {
        match described(line) {
            Some((keyword, name, rest)) if counters(name) => {
                older.extend(["# ", keyword, " ", name, "_total ", rest, "\n"]);
            }
            _ => older.extend([line, "\n"]),
        }
    }
    older
}

/// A line that describes a metric: keyword, name and the rest.
fn described(line: &str) -> Option<(&str, &str, &str)> {
    let (keyword, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let (name, rest) = rest.split_once(' ')?;
    Some((keyword, name, rest))
}

#[cfg(test)]
mod tests {
    use prometheus_client::metrics::counter::Counter;
    use prometheus_client::metrics::gauge::Gauge;

    use super::*;

    fn registry() -> Registry {
        let mut registry = Registry::with_prefix("otter");
        registry.register("dives", "Dives", Counter::<u64>::default());
        registry.register("depth", "Depth", Gauge::<i64>::default());
        registry
    }

    #[test]
    fn a_scraper_that_asks_for_open_metrics_gets_it() {
        let (content_type, body) =
            page(&[&registry()], Some("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"));
        assert_eq!(content_type, OPEN_METRICS);
        assert!(body.contains("# TYPE otter_dives counter\notter_dives_total 0\n"));
        assert!(body.ends_with("# EOF\n"));
    }

    #[test]
    fn others_get_the_older_text_with_full_names() {
        let (content_type, body) = page(&[&registry()], None);
        assert_eq!(content_type, OLDER_TEXT);
        assert!(
            body.contains("# HELP otter_dives_total Dives.\n# TYPE otter_dives_total counter\notter_dives_total 0\n")
        );
        assert!(body.contains("# TYPE otter_depth gauge\notter_depth 0\n"));
        assert!(!body.contains("# EOF"));
    }
}
