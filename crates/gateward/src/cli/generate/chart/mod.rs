//! `generate chart`: a Helm chart of the operator.
//!
//! What `generate rbac`, `generate deployment` and `generate webhooks` print is made into templates, so that a release of
//! the chart has the same objects. The rest stands as text in `text/`.

mod rbac;
mod source;
mod static_files;
mod template;
mod text;
mod values;
mod webhooks;
mod workload;

use clap::Args;
use gateward_cluster::crds::Version;
use gateward_core::Ordered;
use gateward_core::manifest::yaml;
use serde_json::Value;

use source::ChartSource;
use workload::Workloads;

use crate::cli::generate::arguments::{FolderArguments, WorkloadArguments};
use crate::cli::generate::folder::{self, GeneratedFile};
use crate::crds;
use crate::exit::Exit;
use crate::operator::Operator;

#[derive(Debug, Args)]
pub(super) struct ChartArguments {
    /// Name of the chart, that of a release where none is given
    #[arg(long, value_name = "NAME", value_parser = name)]
    name: Option<String>,
    /// Version of the chart, that of the operator where none is given
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,
    #[command(flatten)]
    workload: WorkloadArguments,
    #[command(flatten)]
    folder: FolderArguments,
}

pub(super) fn run<P: Operator>(operator: &P, arguments: &ChartArguments) -> anyhow::Result<Exit> {
    crds::check(operator)?;
    let out = arguments.folder.required("a chart")?;
    folder::put(out, "chart", &files(operator, arguments)?, arguments.folder.treatment())
}

/// Helm takes small letters, digits and hyphens.
fn name(text: &str) -> Result<String, &'static str> {
    let known = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    let fits = (1..=63).contains(&text.len()) && text.chars().all(known) && !text.starts_with('-');
    if fits { Ok(text.to_owned()) } else { Err("it has to be 1 to 63 small letters, digits and hyphens") }
}

fn files<P: Operator>(operator: &P, arguments: &ChartArguments) -> anyhow::Result<Vec<GeneratedFile>> {
    let names = operator.names();
    let chart = ChartSource::of(operator, arguments.name.as_deref().unwrap_or(&names.release))?;
    let workloads = Workloads::of(operator, &chart)?;
    let version = arguments.version.as_ref().map_or_else(|| names.version.to_owned(), Version::to_string);
    let mut templates = static_files::templates(&chart, &workloads);
    templates.push(("serviceaccount.yaml", rbac::service_account(operator, &chart)));
    templates.push(("rbac.yaml", rbac::roles(operator, &chart)));
    templates.push(("webhooks.yaml", webhooks::configurations(operator, &chart)?));
    let mut files = vec![
        GeneratedFile { path: ".helmignore".into(), text: ".generate-chart.sha256\n".into() },
        GeneratedFile { path: "Chart.yaml".into(), text: about(&chart, &version) },
        GeneratedFile { path: "values.yaml".into(), text: values::values(&chart, &arguments.workload, &workloads) },
        GeneratedFile { path: "values.schema.json".into(), text: values::schema(&chart) },
    ];
    templates.extend(workloads.templates(&chart));
    let below = |(file, text): (&str, String)| GeneratedFile { path: format!("templates/{file}"), text };
    files.extend(templates.into_iter().map(below));
    Ok(files)
}

/// `Chart.yaml`.
fn about(chart: &ChartSource, version: &str) -> String {
    let members = [
        ("apiVersion", "v2"),
        ("name", chart.chart.as_str()),
        ("description", chart.names.about),
        ("type", "application"),
        ("version", version),
        ("appVersion", chart.names.version),
        ("kubeVersion", ">=1.30.0-0"),
    ];
    let members = members.map(|(name, value)| (name.to_owned(), Ordered::Scalar(Value::from(value))));
    yaml::document_in_order(&Ordered::Members(members.into()))
}
