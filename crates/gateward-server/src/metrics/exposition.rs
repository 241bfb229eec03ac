//! The body of `/metrics`, in either of the two text formats.

use prometheus_client::encoding::text;
use prometheus_client::registry::Registry;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The content type and the body.
pub(super) fn encode(registries: &[&Registry], accept: Option<&str>) -> (&'static str, String) {
    let mut body = String::with_capacity(8 * 1024);
    // Writing into a string doesn't fail.
    for registry in registries {
        let _ = text::encode_registry(&mut body, registry);
    }
    let _ = text::encode_eof(&mut body);
    if accept.is_some_and(|accept| accept.contains("application/openmetrics-text")) {
        (OPEN_METRICS, body)
    } else {
        (PROMETHEUS_TEXT, to_prometheus_text(&body))
    }
}

/// The Prometheus text format names a counter with `_total` in `HELP` and `TYPE`, and has no `# EOF`.
fn to_prometheus_text(body: &str) -> String {
    let counters = |name: &str| body.contains(&format!("# TYPE {name} counter\n"));
    let mut text = String::with_capacity(body.len());
    for line in body.lines().filter(|line| *line != "# EOF") {
        match described(line) {
            Some((keyword, name, rest)) if counters(name) => {
                text.extend(["# ", keyword, " ", name, "_total ", rest, "\n"]);
            }
            _ => text.extend([line, "\n"]),
        }
    }
    text
}

/// A `# HELP` or `# TYPE` line: keyword, name and the rest.
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
    fn a_scraper_that_accepts_open_metrics_gets_it() {
        let (content_type, body) =
            encode(&[&registry()], Some("application/openmetrics-text;version=1.0.0,text/plain;q=0.5"));
        assert_eq!(content_type, OPEN_METRICS);
        assert!(body.contains("# TYPE otter_dives counter\notter_dives_total 0\n"));
        assert!(body.ends_with("# EOF\n"));
    }

    #[test]
    fn others_get_the_prometheus_text_with_full_names() {
        let (content_type, body) = encode(&[&registry()], None);
        assert_eq!(content_type, PROMETHEUS_TEXT);
        assert!(
            body.contains("# HELP otter_dives_total Dives.\n# TYPE otter_dives_total counter\notter_dives_total 0\n")
        );
        assert!(body.contains("# TYPE otter_depth gauge\notter_depth 0\n"));
        assert!(!body.contains("# EOF"));
    }
}
