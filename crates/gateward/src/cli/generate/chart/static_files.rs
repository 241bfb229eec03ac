//! The templates that no other command prints.

use gateward_certs::ProvisionMode;
use gateward_core::manifest::yaml;

use super::source::ChartSource;
use super::template::{lines, placed};
use super::text::{filled, indented};
use super::workload::{Workloads, configuration};

/// Each file with its text.
pub(super) fn templates(chart: &ChartSource, workloads: &Workloads) -> Vec<(&'static str, String)> {
    let mut files = vec![
        ("_helpers.tpl", include_str!("text/templates/_helpers.tpl").to_owned()),
        ("networkpolicy.yaml", include_str!("text/templates/networkpolicy.yaml").to_owned()),
        ("NOTES.txt", notes(chart)),
    ];
    if !chart.planned.crds.is_empty() {
        files.push(("_crds.tpl", include_str!("text/templates/_crds.tpl").to_owned()));
    }
    if chart.offers(ProvisionMode::CertManager) {
        files.push(("certificates.yaml", include_str!("text/templates/certificates.yaml").to_owned()));
    }
    files.into_iter().map(|(file, text)| (file, complete(&text, chart, workloads))).collect()
}

fn notes(chart: &ChartSource) -> String {
    let conversion = match chart.converted.as_slice() {
        [] => "",
        _ => include_str!("text/templates/NOTES-conversion.txt"),
    };
    include_str!("text/templates/NOTES.txt").to_owned() + conversion
}

fn complete(text: &str, chart: &ChartSource, workloads: &Workloads) -> String {
    let names = &chart.config.names;
    let listeners = &chart.config.listeners;
    let labels = lines(&yaml::document(&chart.labels()));
    let security_context = lines(&yaml::document(&workloads.of_container("securityContext")));
    let dns_names: String =
        chart.planned.config.certificates.names.iter().map(|name| format!("- {}\n", name.to_str())).collect();
    filled(
        text,
        &[
            ("config", configuration(chart).trim_end()),
            ("labels", labels.trim_end()),
            ("security-context", &indented(&security_context, 4)),
            ("dns-names", &indented(&lines(&dns_names), 2)),
            ("account", &placed(&chart.planned.service_account)),
            ("service", &placed(&chart.service)),
            ("secret", &placed(&names.secret)),
            ("ca-secret", &placed(&names.ca_secret)),
            ("bundle-secret", &placed(&names.bundle_secret)),
            ("ca-name", &chart.config.certificates.ca_name),
            ("health-port", &listeners.health.port.to_string()),
            ("metrics-port", &listeners.metrics.port.to_string()),
            ("command", chart.names.command),
            ("chart", &chart.chart),
        ],
    )
}
