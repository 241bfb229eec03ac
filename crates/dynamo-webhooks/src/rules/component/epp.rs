//! Endpoint pickers.

use dynamo_api::v1beta1::ComponentType;
use gateward::{CREATE_AND_UPDATE, Issues, Rule};

use super::context::{ComponentContext, InferencePool, SourceVersion, on_components};

const PICKER: Rule = rule! {
    id: "SHARED-46",
    summary: "an endpoint picker has one replica, in a graph also the API of InferencePool",
    help: "apply the graph to a cluster, or describe the cluster with --facts",
    ..on_components(CREATE_AND_UPDATE)
};

const CONFIG_MAP: Rule = rule! {
    id: "SHARED-47",
    summary: "configMapRef names a ConfigMap",
    help: "write the name of the ConfigMap that has the configuration",
    versions: &["v1beta1"],
    ..on_components(CREATE_AND_UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&PICKER, &CONFIG_MAP];

pub(super) fn stateless(context: &ComponentContext, issues: &mut Issues) {
    if context.component.component_type == Some(ComponentType::Epp) {
        inference_pool(context, issues);
        one_replica(context, issues);
    }
    if context.deployment.source_version == SourceVersion::V1beta1 {
        config_map(context, issues);
    }
}

fn inference_pool(context: &ComponentContext, issues: &mut Issues) {
    let path = || context.at / "type";
    match context.deployment.inference_pool {
        InferencePool::Served | InferencePool::NotNeeded => {}
        InferencePool::Absent => {
            let issue = PICKER.forbidden(path()).message("the cluster doesn't serve the API of InferencePool");
            issues.add(issue.help("install the Gateway API Inference Extension"));
        }
        InferencePool::NotEvaluated => {
            issues.add(PICKER.note(path(), "whether the cluster serves the API of InferencePool was not looked up"));
        }
    }
}

fn one_replica(context: &ComponentContext, issues: &mut Issues) {
    if let Some(replicas) = context.component.replicas.filter(|replicas| *replicas != 1) {
        let issue = PICKER.invalid(context.at / "replicas", replicas);
        issues.add(issue.message("must be 1 for an endpoint picker").help("accepted: 1"));
    }
}

fn config_map(context: &ComponentContext, issues: &mut Issues) {
    let reference = context.component.epp_config.as_ref().and_then(|config| config.config_map_ref.as_ref());
    if reference.is_some_and(|reference| reference.name.is_empty()) {
        let path = context.at / "eppConfig" / "configMapRef" / "name";
        issues.add(CONFIG_MAP.required(path).message("must be set"));
    }
}
