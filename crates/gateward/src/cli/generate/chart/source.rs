//! What the templates of a chart are made of.

use gateward_certs::ProvisionMode;
use gateward_cluster::preflight::PlannedRelease;
use serde_json::{Value, json};

use super::template::{action, release};
use crate::cli::planned::{planned, source};
use crate::config::{ChartValues, Config};
use crate::crds;
use crate::operator::{Names, Operator, Release};

/// An operator as its chart has it.
pub(super) struct ChartSource {
    pub(super) chart: String,
    pub(super) names: Names,
    /// The release whose name and namespace are words.
    pub(super) release: Release,
    pub(super) planned: PlannedRelease,
    pub(super) config: Config,
    /// The name of the Service.
    pub(super) service: String,
    pub(super) modes: Vec<OfferedMode>,
    /// The names of the CRDs whose objects are converted.
    pub(super) converted: Vec<String>,
}

/// A mode of certificates that the operator's configuration knows.
pub(super) struct OfferedMode {
    pub(super) mode: ProvisionMode,
    /// The configuration that chooses it.
    pub(super) document: Value,
}

impl ChartSource {
    pub(super) fn of<P: Operator>(operator: &P, chart: &str) -> anyhow::Result<Self> {
        let release = release();
        let values = operator.chart_values(&release, &json!({}));
        let config = operator.config(&source(&release, &values))?;
        let usual = config.provision.mode();
        let modes = ProvisionMode::ALL.into_iter();
        Ok(Self {
            chart: chart.to_owned(),
            names: operator.names(),
            planned: planned(operator, &release, values)?,
            config,
            service: operator.installation(&release).service,
            modes: modes.filter_map(|mode| OfferedMode::of(operator, &release, mode, usual)).collect(),
            converted: crds::converted(operator),
            release,
        })
    }

    /// Whether the chart offers a mode.
    pub(super) fn offers(&self, mode: ProvisionMode) -> bool {
        self.modes.iter().any(|known| known.mode == mode)
    }

    /// An action that takes what is defined under a name.
    pub(super) fn include(&self, name: &str) -> String {
        format!("include \"{}.{name}\" .", self.chart)
    }

    /// The labels of the Pods, and of what leads to them.
    pub(super) fn labels(&self) -> Value {
        json!(self.config.labels.pods)
    }
}

impl OfferedMode {
    /// The mode, if the operator reads it out of its configuration. Of the usual one the values say nothing.
    fn of<P: Operator>(operator: &P, release: &Release, mode: ProvisionMode, usual: ProvisionMode) -> Option<Self> {
        let values = |ca_bundle: Value| -> ChartValues {
            let certificates = json!({"mode": mode.name(), "caBundle": ca_bundle});
            let said = if mode == usual { json!({}) } else { json!({"certificates": certificates}) };
            operator.chart_values(release, &said)
        };
        let config = operator.config(&source(release, &values(Value::Null))).ok()?;
        let document = values(action("{{ .Values.certificates.caBundle | quote }}")).document;
        (config.provision.mode() == mode).then_some(Self { mode, document })
    }
}
