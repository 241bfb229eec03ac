//! API versions that Kubernetes has removed, judged where it is asked for.

use semver::Version;

use super::field::Field;
use super::files::Bundle;
use super::findings::Findings;
use super::rule::{BundleRule, ERROR, Stage, Suite, WARNING, validator};

/// Group and version, the kinds if not all, and the minor version of Kubernetes that has it no more.
const REMOVED: [(&str, &[&str], u64); 7] = [
    ("apiextensions.k8s.io/v1beta1", &[], 22),
    ("admissionregistration.k8s.io/v1beta1", &[], 22),
    ("rbac.authorization.k8s.io/v1beta1", &[], 22),
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"], 22),
    ("networking.k8s.io/v1beta1", &[], 22),
    ("policy/v1beta1", &["PodDisruptionBudget", "PodSecurityPolicy"], 25),
    ("autoscaling/v2beta2", &[], 26),
];

static REMOVED_THERE: BundleRule = BundleRule {
    id: "OLM-API-01",
    summary: "no manifest is of an API version that minKubeVersion has no more",
    suite: Some(Suite::DeprecatedApis),
    refused_by: &[validator(
        Stage::Optional(Suite::DeprecatedApis),
        "this bundle is using APIs which were deprecated and removed",
    )],
    ..ERROR
};

static REMOVED_LATER: BundleRule = BundleRule {
    id: "OLM-API-02",
    summary: "no manifest is of an API version that a later Kubernetes has removed",
    suite: Some(Suite::DeprecatedApis),
    ..WARNING
};

pub(super) static RULES: &[&BundleRule] = &[&REMOVED_THERE, &REMOVED_LATER];

pub(super) fn check(bundle: &Bundle, found: &mut Findings) {
    let least = bundle.csv().and_then(|csv| Version::parse(csv.below(&["spec", "minKubeVersion"]).text()).ok());
    for manifest in bundle.objects() {
        let object = Field::root(manifest);
        let (version, kind) = (object.at("apiVersion"), manifest.kind());
        let removed = REMOVED
            .iter()
            .find(|(gone, kinds, _)| *gone == version.text() && (kinds.is_empty() || kinds.contains(&kind)));
        let Some((gone, _, minor)) = removed else { continue };
        let rule = if least.as_ref().is_some_and(|least| (least.major, least.minor) >= (1, *minor)) {
            &REMOVED_THERE
        } else {
            &REMOVED_LATER
        };
        let message = format!("Kubernetes 1.{minor} has no {kind} of {gone}");
        let help = match *gone {
            "autoscaling/v2beta2" => "write autoscaling/v2".to_owned(),
            gone => format!("write {}", gone.replace("v1beta1", "v1")),
        };
        found.add(rule.at(&version, message).help(help));
    }
}
