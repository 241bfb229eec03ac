//! The profiler's own configuration in a v1alpha1 request: DGDR-A3 to DGDR-A8.

use dynamo_api::v1alpha1::{Backend, DynamoGraphDeploymentRequestSpec as Spec};
use gateward::{FieldPath, Issues, Rule};
use serde_json::{Map, Value};

use super::applies_to::{ON_V1ALPHA1, at};
use crate::operator::facts::ClusterFacts;

pub(crate) const GIVEN: Rule = rule! {
    id: "DGDR-A3",
    summary: "a request has a configuration for the profiler",
    ..ON_V1ALPHA1
};

pub(crate) const MAP: Rule = rule! {
    id: "DGDR-A4",
    summary: "the configuration for the profiler is a map",
    help: "write a map: config: {sla: {ttft: 200}}",
    ..ON_V1ALPHA1
};

pub(crate) const SAME_BACKEND: Rule = rule! {
    id: "DGDR-A5",
    summary: "the configuration names no other engine than the request",
    help: "write the same in both places, or leave it out of the configuration",
    ..ON_V1ALPHA1
};

pub(crate) const SAME_MODEL: Rule = rule! {
    id: "DGDR-A6",
    summary: "the configuration names no other model than the request",
    help: "write the same in both places, or leave it out of the configuration",
    ..ON_V1ALPHA1
};

pub(crate) const GPU_RANGE: Rule = rule! {
    id: "DGDR-A7",
    summary: "the least number of GPUs of an engine is not above the most",
    help: "lower the minimum, or raise the maximum",
    ..ON_V1ALPHA1
};

pub(crate) const GPUS_KNOWN: Rule = rule! {
    id: "DGDR-A8",
    summary: "the configuration describes the GPUs where the operator can't find out",
    ..ON_V1ALPHA1
};

/// Keys each of which describes the GPUs, whatever the value.
const HARDWARE: [&str; 3] = ["gpuModel", "gpuVramMib", "numGpusPerNode"];

const LEAST: &str = "minNumGpusPerEngine";
const MOST: &str = "maxNumGpusPerEngine";

/// Judges the configuration. Where it is no map, nothing else is said of it. What `old`, the stored spec, lacks already
/// may be missing still.
pub(super) fn check(old: Option<&Spec>, spec: &Spec, facts: &ClusterFacts, issues: &mut Issues) {
    let demands_gpus = !facts.discovers_gpus() && old.is_none_or(describes_gpus);
    let Some(config) = &spec.profiling_config.config else {
        if old.is_none_or(|old| old.profiling_config.config.is_some()) {
            let issue = GIVEN.required(path()).message("must be set");
            issues.add(issue.help("{} is accepted"));
        }
        return gpus(&Config(&Map::new()), demands_gpus, issues);
    };
    match config.view() {
        Ok(Value::Object(members)) => {
            let config = Config(members);
            overwritten(spec, &config, issues);
            gpus(&config, demands_gpus, issues);
        }
        Ok(other) => issues.add(MAP.invalid(path(), type_of(other)).message("must be an object")),
        Err(error) => issues.add(MAP.invalid(path(), ()).message(format!("it can't be read: {error}"))),
    }
}

/// The configuration as a map.
struct Config<'a>(&'a Map<String, Value>);

impl<'a> Config<'a> {
    /// A block, where there is one and it is a map.
    fn block(&self, name: &str) -> Option<&'a Map<String, Value>> {
        self.0.get(name)?.as_object()
    }

    /// A text that isn't empty, in a block.
    fn text(&self, block: &str, name: &str) -> Option<&'a str> {
        self.block(block)?.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A range of positive numbers is description enough.
    fn describes_gpus(&self) -> bool {
        self.block("hardware").is_some_and(|hardware| HARDWARE.iter().any(|key| hardware.contains_key(*key)))
            || self.gpu_range().is_some_and(|(least, most)| least > 0.0 && most > 0.0)
    }

    /// The least and the most GPUs of an engine, where both are given.
    fn gpu_range(&self) -> Option<(f64, f64)> {
        let engine = self.block("engine")?;
        Some((number(engine.get(LEAST)?), number(engine.get(MOST)?)))
    }
}

/// Whether a spec describes the GPUs; a configuration that is no map describes nothing.
fn describes_gpus(spec: &Spec) -> bool {
    let config = spec.profiling_config.config.as_ref().and_then(|config| config.view().ok()?.as_object());
    config.is_some_and(|config| Config(config).describes_gpus())
}

/// What is no number counts as 0.
fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// DGDR-A5 and DGDR-A6.
fn overwritten(spec: &Spec, config: &Config, issues: &mut Issues) {
    let backend = spec.backend.as_ref().map_or("", Backend::as_str);
    if let Some(found) = config.text("engine", "backend").filter(|found| *found != backend) {
        let at = path() / "engine" / "backend";
        issues.add(SAME_BACKEND.warning(at.clone(), overwrites(&at, found, "spec.backend", backend)));
    }
    if let Some(found) = config.text("deployment", "model").filter(|found| Some(*found) != spec.model.as_deref()) {
        let at = path() / "deployment" / "model";
        issues.add(
            SAME_MODEL
                .warning(at.clone(), overwrites(&at, found, "spec.model", spec.model.as_deref().unwrap_or_default())),
        );
    }
}

fn overwrites(at: &FieldPath, found: &str, field: &str, value: &str) -> String {
    format!("{at}: {found:?} will be overwritten by {value:?} of {field}")
}

/// DGDR-A7, or else DGDR-A8 where a description is demanded.
fn gpus(config: &Config, demands_gpus: bool, issues: &mut Issues) {
    if let Some((least, most)) = config.gpu_range().filter(|(least, most)| least > most) {
        let issue = GPU_RANGE.invalid(path() / "engine" / LEAST, least);
        return issues.add(issue.message(format!("may not be greater than {MOST}, which is {most}")));
    }
    if demands_gpus && !config.describes_gpus() {
        let issue = GPUS_KNOWN
            .required(path() / "hardware")
            .message("must describe the GPUs: this operator doesn't discover them");
        let help = "set gpuModel, gpuVramMib or numGpusPerNode, or a range of GPUs per engine, or let the operator \
                    discover GPUs (gpu.discoveryEnabled)";
        issues.add(issue.help(help));
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn path() -> FieldPath {
    at("profilingConfig") / "config"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{configured, create, create_blind};
    use super::*;

    #[test]
    fn warns_of_another_engine_and_another_model() {
        let other = json!({"engine": {"backend": "trtllm"}, "deployment": {"model": "acme/badger-3b"}});
        let findings = create(&configured(&other));
        findings.assert_allowed();
        let warnings = findings.warnings();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].contains("\"trtllm\"") && warnings[0].contains("\"vllm\""), "{warnings:?}");
        assert!(
            warnings[1].contains("\"acme/badger-3b\"") && warnings[1].contains("\"acme/otter-7b\""),
            "{warnings:?}"
        );
        findings.by(&SAME_BACKEND).at("spec.profilingConfig.config.engine.backend");
        findings.by(&SAME_MODEL).at("spec.profilingConfig.config.deployment.model");
    }

    #[test]
    fn any_key_about_a_gpu_describes_it_whatever_the_value() {
        for key in HARDWARE {
            create_blind(&configured(&json!({"hardware": {key: null}}))).assert_allowed();
        }
    }
}
