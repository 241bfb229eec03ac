//! Where the fields of a lifted request came from.

use dynamo_api::v1alpha1::DynamoGraphDeploymentRequest;
use gateward::{Convert, Issues, Provenance};
use serde_json::{Value, json};

use super::super::super::tests::parse;
use super::{DeploymentRequestConversion, alpha};

/// Where the user wrote each of these nodes.
fn origins(spec: &Value, hub: &[&str]) -> Vec<String> {
    let mut object = alpha(spec);
    object["status"] = json!({"state": "Ready"});
    let object: DynamoGraphDeploymentRequest = serde_json::from_value(object).unwrap();
    let mut provenance = Provenance::recording();
    DeploymentRequestConversion.to_hub(&object, &mut provenance, &mut Issues::new()).unwrap();
    hub.iter().map(|path| provenance.trace(&parse(path)).to_string()).collect()
}

#[test]
fn fields_that_moved_are_traced() {
    for (hub, written) in [
        ("spec.model", "spec.model"),
        ("spec.image", "spec.profilingConfig.profilerImage"),
        ("spec.features.mocker.enabled", "spec.useMocker"),
        ("spec.features.planner.mode", "spec.profilingConfig.config.planner.mode"),
        ("spec.sla", "spec.profilingConfig.config.sla"),
        ("spec.sla.ttft", "spec.profilingConfig.config.sla.ttft"),
        ("spec.workload.isl", "spec.profilingConfig.config.sla.isl"),
        ("spec.modelCache.pvcModelPath", "spec.profilingConfig.config.deployment.modelCache.modelPathInPvc"),
        ("status.phase", "status.state"),
        ("status.dgdName", "status.deployment.name"),
        ("status.profilingResults.selectedConfig.spec", "status.generatedDeployment.spec"),
        ("status.conditions[0].type", "status.conditions[0].type"),
    ] {
        assert_eq!(origins(&json!({}), &[hub]), [written]);
    }
}

#[test]
fn the_image_is_traced_to_the_field_that_gave_it() {
    let of_workers = json!({"deploymentOverrides": {"workersImage": "w"}});
    assert_eq!(origins(&of_workers, &["spec.image"]), ["spec.deploymentOverrides.workersImage"]);
    let of_both = json!({"deploymentOverrides": {"workersImage": "w"}, "profilingConfig": {"profilerImage": "p"}});
    assert_eq!(origins(&of_both, &["spec.image"]), ["spec.profilingConfig.profilerImage"]);
}

#[test]
fn what_the_profiler_is_given_is_traced() {
    let spec = json!({"profilingConfig": {"resources": {"limits": {"cpu": "1"}}, "tolerations": [{"key": "a"}]}});
    let pod = "spec.overrides.profilingJob.template.spec";
    let hub = [
        &format!("{pod}.containers[0].resources.limits"),
        &format!("{pod}.tolerations[0].key"),
        &format!("{pod}.containers[0].name"),
    ];
    let written =
        ["spec.profilingConfig.resources.limits", "spec.profilingConfig.tolerations[0].key", "spec.profilingConfig"];
    assert_eq!(origins(&spec, &hub.map(String::as_str)), written);
}
