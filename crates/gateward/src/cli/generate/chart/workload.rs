//! The Deployment and what leads to its Pods, as `generate deployment` has them.

use gateward_core::manifest::yaml;
use serde_json::{Value, json};

use super::source::ChartSource;
use super::template::{action, lines, template};
use crate::cli::generate::arguments::WorkloadArguments;
use crate::cli::generate::deployment;
use crate::operator::Operator;

/// The objects, before they are templates.
pub(super) struct Workloads {
    pub(super) config_map: Value,
    pub(super) service: Value,
    pub(super) deployment: Value,
    pub(super) budget: Value,
}

impl Workloads {
    pub(super) fn of<P: Operator>(operator: &P, chart: &ChartSource) -> anyhow::Result<Self> {
        let workload = WorkloadArguments { image: String::new(), replicas: 2 };
        let objects = deployment::objects(operator, &chart.release, &json!({}), &workload)?;
        let the = |kind: &str| objects.iter().find(|object| object["kind"] == kind).cloned().unwrap_or_default();
        Ok(Self {
            config_map: the("ConfigMap"),
            service: the("Service"),
            deployment: the("Deployment"),
            budget: the("PodDisruptionBudget"),
        })
    }

    /// A part of the container that serves.
    pub(super) fn of_container(&self, member: &str) -> Value {
        let at = format!("/spec/template/spec/containers/0/{member}");
        self.deployment.pointer(&at).cloned().unwrap_or_default()
    }

    /// Each file with its text.
    pub(super) fn templates(self, chart: &ChartSource) -> Vec<(&'static str, String)> {
        let labels = |object: Value| with_labels(object, chart);
        let check = format!("{{{{- {} -}}}}\n", chart.include("check"));
        let several = "{{- if gt (int .Values.replicas) 1 -}}\n";
        vec![
            ("configmap.yaml", template(&labels(config_map(self.config_map, chart)))),
            ("service.yaml", check + &template(&labels(self.service))),
            ("deployment.yaml", template(&labels(deployment(self.deployment, chart)))),
            ("poddisruptionbudget.yaml", format!("{several}{}{{{{- end }}}}\n", template(&labels(self.budget)))),
        ]
    }
}

/// The same with one name for all labels of the Pods.
fn with_labels(object: Value, chart: &ChartSource) -> Value {
    if object == chart.labels() {
        return action(&format!("{{{{- {} | nindent }}}}", chart.include("labels")));
    }
    match object {
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, with_labels(value, chart))).collect(),
        Value::Array(items) => items.into_iter().map(|item| with_labels(item, chart)).collect(),
        other => other,
    }
}

fn config_map(mut object: Value, chart: &ChartSource) -> Value {
    for text in object["data"].as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        *text = action(&format!("|{{{{- {} | nindent }}}}", chart.include("config")));
    }
    object
}

fn deployment(mut object: Value, chart: &ChartSource) -> Value {
    object["spec"]["replicas"] = action("{{ .Values.replicas }}");
    let template = &mut object["spec"]["template"];
    // Pods read their configuration when they start.
    let checksum = format!("dict {:?} ({} | sha256sum)", deployment::CHECKSUM, chart.include("config"));
    let annotations = format!("{{{{- merge ({checksum}) (default dict .Values.podAnnotations) | toYaml | nindent }}}}");
    template["metadata"]["annotations"] = action(&annotations);
    let pod = &mut template["spec"];
    for member in ["imagePullSecrets", "nodeSelector", "tolerations", "affinity"] {
        pod[member] = action(&format!("{{{{- with .Values.{member} }}}}"));
    }
    pod["priorityClassName"] = action("{{- with .Values.priorityClassName }}{{ . | quote }}");
    let spread = format!("{{{{- {} | nindent }}}}", chart.include("topologySpreadConstraints"));
    pod["topologySpreadConstraints"] = action(&format!("{{{{- if .Values.topologySpreadConstraints }}}}{spread}"));
    if !chart.planned.crds.is_empty() {
        let crds = format!("{{{{- if .Values.crds.install }}}}{{{{- {} | nindent }}}}", chart.include("crds"));
        pod["initContainers"] = action(&crds);
    }
    for container in pod["containers"].as_array_mut().into_iter().flatten() {
        container["image"] = action(&format!("{{{{ {} | quote }}}}", chart.include("image")));
        container["imagePullPolicy"] = action("{{- with .Values.image.pullPolicy }}{{ . }}");
        container["resources"] = action("{{- toYaml .Values.resources | nindent }}");
        if let Some(env) = container["env"].as_array_mut() {
            env.push(action("{{- with .Values.env }}"));
        }
    }
    object
}

/// The configuration of each mode.
pub(super) fn configuration(chart: &ChartSource) -> String {
    let text = |document: &Value| lines(&yaml::document(document));
    if let [only] = chart.modes.as_slice() {
        return text(&only.document);
    }
    let mut all = String::new();
    for (place, known) in chart.modes.iter().enumerate() {
        let word = if place == 0 { "if" } else { "else if" };
        let condition = format!("{{{{- {word} eq .Values.certificates.mode {:?} -}}}}\n", known.mode.name());
        all = all + &condition + &text(&known.document);
    }
    all + "{{- end -}}\n"
}
