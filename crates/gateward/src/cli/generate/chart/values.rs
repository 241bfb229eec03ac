//! The values of a chart, and their schema.

use gateward_core::manifest::yaml;

use super::source::ChartSource;
use super::text::{filled, indented};
use super::workload::Workloads;
use crate::cli::generate::arguments::WorkloadArguments;
use crate::cli::generate::image::ImageName;

/// `values.yaml`: what is there where nobody says otherwise.
pub(super) fn values(chart: &ChartSource, given: &WorkloadArguments, workloads: &Workloads) -> String {
    let ImageName { repository, tag, digest } = ImageName::of(&given.image);
    let crds = if chart.planned.crds.is_empty() { "" } else { include_str!("text/values-crds.yaml") };
    let offered =
        |line: &&str| chart.modes.iter().any(|known| line.starts_with(&format!("  # {}: ", known.mode.name())));
    let modes: Vec<&str> = include_str!("text/modes.yaml").lines().filter(offered).collect();
    let resources = yaml::document(&workloads.of_container("resources"));
    filled(
        &(include_str!("text/values.yaml").to_owned() + crds),
        &[
            ("modes", &modes.join("\n")),
            ("mode", chart.config.provision.mode().name()),
            ("chart", &chart.chart),
            ("replicas", &given.replicas.to_string()),
            ("repository", &yaml::scalar(repository)),
            ("tag", &yaml::scalar(tag)),
            ("digest", &yaml::scalar(digest)),
            ("resources", &indented(&resources, 2)),
            ("secret", &chart.config.names.secret),
        ],
    )
}

/// `values.schema.json`: which values there are; others are refused.
pub(super) fn schema(chart: &ChartSource) -> String {
    let crds = match chart.planned.crds.as_slice() {
        [] => String::new(),
        _ => format!(",\n{}", include_str!("text/values.schema-crds.json").trim_end()),
    };
    let modes: Vec<String> = chart.modes.iter().map(|known| format!("{:?}", known.mode.name())).collect();
    let words = [("chart", chart.chart.as_str()), ("crds", &crds), ("modes", &modes.join(", "))];
    filled(include_str!("text/values.schema.json"), &words)
}
