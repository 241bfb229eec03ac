//! The alerts of the chart's `PrometheusRule`.

use gateward_core::manifest::yaml;
use serde_json::{Value, json};

/// Where the section of each alert is; its anchor is the alert's name in lower case.
const RUNBOOK: &str = "https://github.com/gateward/gateward/blob/main/docs/troubleshooting.md";

/// What an expression says where the series of one release are chosen.
const SELECTOR: &str = "RELEASE";

/// An alert.
struct Alert {
    name: &'static str,
    severity: Severity,
    expr: &'static str,
    /// How long the expression must hold, as a duration of Prometheus.
    hold: &'static str,
    summary: &'static str,
    description: &'static str,
}

#[derive(Clone, Copy)]
enum Severity {
    /// Requests are refused, or are about to be.
    Critical,
    /// Somebody should look at it within a day.
    Warning,
}

impl Severity {
    fn as_str(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Warning => "warning",
        }
    }
}

/// The replicas of a release agree or one of them knows best, so that each expression is about all of them together.
const ALERTS: [Alert; 10] = [
    Alert {
        name: "GatewardCertificateExpiring",
        severity: Severity::Critical,
        expr: "min by (namespace, certificate) (gateward_certificate_expiry_timestamp_seconds{RELEASE}) - time() < 7 * 86400",
        hold: "15m",
        summary: "A certificate of the webhooks ends within seven days.",
        description: "The {{ $labels.certificate }} certificate in namespace {{ $labels.namespace }} ends in {{ $value | humanizeDuration }}, and nothing has renewed it.",
    },
    Alert {
        name: "GatewardInjectionTargetLacksCA",
        severity: Severity::Critical,
        expr: "max by (namespace) (gateward_ca_injection_targets{RELEASE,state='lacking'}) > 0",
        hold: "10m",
        summary: "A webhook configuration or a CRD doesn't trust the webhooks.",
        description: "{{ $value }} injection targets of the release in namespace {{ $labels.namespace }} lack the expected CA. API servers refuse the calls of those.",
    },
    Alert {
        name: "GatewardNoInjectionTarget",
        severity: Severity::Warning,
        expr: "max by (namespace) (gateward_ca_injection_targets{RELEASE,state='matched'}) == 0 or max by (namespace) (gateward_ca_injection_targets{RELEASE,state='absent'}) > 0",
        hold: "10m",
        summary: "Webhook configurations or CRDs are absent.",
        description: "The release in namespace {{ $labels.namespace }} doesn't find each of its webhook configurations and CRDs. What an absent one would send is not validated.",
    },
    Alert {
        name: "GatewardRotationStuck",
        severity: Severity::Warning,
        expr: "max by (namespace) (gateward_ca_rotation_phase{RELEASE,phase!='none'}) > 0",
        hold: "30m",
        summary: "A CA rotation doesn't get on.",
        description: "The CA rotation of the release in namespace {{ $labels.namespace }} has been under way for half an hour; it takes a minute.",
    },
    Alert {
        name: "GatewardNoLeader",
        severity: Severity::Warning,
        expr: "max by (namespace) (gateward_leader{RELEASE}) == 0 or absent(gateward_leader{RELEASE})",
        hold: "5m",
        summary: "No replica writes certificates and caBundles, or none shows metrics.",
        description: "No replica of the release in namespace {{ $labels.namespace }} holds the lease, so that nothing is renewed and nothing restored; or Prometheus reads the metrics of none, and no other alert can fire.",
    },
    Alert {
        name: "GatewardReviewsShed",
        severity: Severity::Critical,
        expr: "sum by (namespace, limit) (increase(dynamo_operator_webhook_shed_total{RELEASE}[5m])) > 0",
        hold: "5m",
        summary: "The webhooks refuse requests for overload.",
        description: "Replicas in namespace {{ $labels.namespace }} have answered {{ $value | humanize }} requests with 429 within five minutes; the limit is {{ $labels.limit }}.",
    },
    Alert {
        name: "GatewardReviewsFailed",
        severity: Severity::Critical,
        expr: "sum by (namespace, review, code) (increase(dynamo_operator_webhook_errors_total{RELEASE,code=~'5..'}[5m])) > 0",
        hold: "5m",
        summary: "The webhooks answer reviews with errors.",
        description: "Replicas in namespace {{ $labels.namespace }} have answered {{ $value | humanize }} requests ({{ $labels.review }}) with {{ $labels.code }} within five minutes.",
    },
    Alert {
        name: "GatewardConflictingConfiguration",
        severity: Severity::Warning,
        expr: "max by (namespace, configuration) (gateward_rival_configuration{RELEASE}) > 0",
        hold: "10m",
        summary: "Another webhook configuration is for the same kinds.",
        description: "{{ $labels.configuration }} concerns the kinds that the release in namespace {{ $labels.namespace }} judges, so that objects are judged twice.",
    },
    Alert {
        name: "GatewardIncompleteViews",
        severity: Severity::Warning,
        expr: "sum by (namespace, resource_type) (increase(dynamo_operator_webhook_incomplete_views_total{RELEASE}[15m])) > 0",
        hold: "0m",
        summary: "Objects were read in a version that can't say all that is stored.",
        description: "{{ $value | humanize }} objects of kind {{ $labels.resource_type }} were given to clients with the label gateward.dev/incomplete within fifteen minutes. A client that writes such a view back loses what it lacks.",
    },
    Alert {
        name: "GatewardLeasesUnreadable",
        severity: Severity::Warning,
        expr: "max by (namespace) (gateward_lease_unreadable{RELEASE}) > 0",
        hold: "5m",
        summary: "The leases of other operators can't be read.",
        description: "Replicas in namespace {{ $labels.namespace }} can't read the leases by which operators claim their namespaces. Claims that they know expire, and what is claimed is judged twice.",
    },
];

impl Alert {
    fn rule(&self) -> Value {
        json!({
            "alert": self.name,
            "expr": self.expr,
            "for": self.hold,
            "labels": {"severity": self.severity.as_str()},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": format!("{RUNBOOK}#{}", self.name.to_lowercase()),
            },
        })
    }
}

/// The named template of the rules.
pub fn template() -> String {
    let rules: Vec<Value> = ALERTS.iter().map(Alert::rule).collect();
    let text = yaml::document(&json!({"groups": [{"name": "gateward", "rules": rules}]}));
    // What Prometheus expands is none of Helm's business.
    let text = text.replace("{{", "\u{1}").replace("}}", "\u{2}").replace('\u{1}', "{{`{{").replace('\u{2}', "}}`}}");
    // A third brace in a row would be Helm's.
    let text = text.replace(SELECTOR, r#" {{ include "dynamo-operator.metricsSelector" . }} "#);
    format!("{{{{- define \"dynamo-operator.alerts\" -}}}}\n{text}{{{{- end -}}}}\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::chart::metrics::METRIC_PREFIXES;
    use gateward_server::metrics::{FAMILIES, MetricFamily};

    use super::*;

    fn family(name: &str) -> Option<&'static MetricFamily> {
        FAMILIES.iter().find(|family| family.exposed_name(METRIC_PREFIXES) == name)
    }

    /// The names of metrics in an expression: each stands before its selector.
    fn metrics(expr: &str) -> Vec<&str> {
        let selected = expr.split('{').collect::<Vec<_>>();
        let names = selected.iter().take(selected.len() - 1);
        names.map(|before| before.rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap()).collect()
    }

    #[test]
    fn alerts_are_about_metrics_and_values_that_there_are() {
        for alert in &ALERTS {
            let names = metrics(alert.expr);
            assert!(!names.is_empty(), "{}", alert.name);
            for name in names {
                let family = family(name).unwrap_or_else(|| panic!("{}: there is no {name}", alert.name));
                for label in family.labels.iter().filter(|label| !label.values.is_empty()) {
                    let value = alert.expr.split_once(&format!(",{}='", label.name)).map(|(_, rest)| rest);
                    let value = value.and_then(|rest| rest.split('\'').next());
                    assert!(value.is_none_or(|value| label.values.contains(&value)), "{}: {value:?}", alert.name);
                }
            }
        }
    }

    #[test]
    fn every_series_is_of_the_release() {
        for alert in &ALERTS {
            assert_eq!(alert.expr.matches('{').count(), alert.expr.matches("{RELEASE").count(), "{}", alert.name);
        }
    }

    #[test]
    fn each_alert_has_a_section_in_the_runbook() {
        let runbook = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/troubleshooting.md")).unwrap();
        for alert in &ALERTS {
            assert!(runbook.contains(&format!("\n### {}\n", alert.name)), "{} has no section", alert.name);
        }
        assert_eq!(runbook.matches("\n### Gateward").count(), ALERTS.len());
    }

    #[test]
    fn helm_leaves_to_prometheus_what_prometheus_expands() {
        let text = template();
        assert!(text.contains("{{`{{ $labels.namespace }}`}}"), "{text}");
        assert!(text.contains(r#"gateward_leader{ {{ include "dynamo-operator.metricsSelector" . }} }"#), "{text}");
    }
}
