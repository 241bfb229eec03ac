//! Graphs: a map of services on one side, a list of components on the other.

use dynamo_api::{v1alpha1, v1beta1};
use gateward_core::{FieldPath, Provenance, Resource};

use super::trail::{Place, Trail, itself};
use super::{component, status};

/// Reads a graph.
pub(super) fn lift(
    written: &v1alpha1::DynamoGraphDeployment,
    provenance: &mut Provenance,
) -> v1beta1::DynamoGraphDeployment {
    v1beta1::DynamoGraphDeployment {
        api_version: v1beta1::DynamoGraphDeployment::gvk().api_version(),
        kind: written.kind.clone(),
        metadata: written.metadata.clone(),
        spec: spec(&written.spec, provenance),
        status: written.status.as_ref().map(status::graph),
    }
}

fn spec(
    written: &v1alpha1::DynamoGraphDeploymentSpec,
    provenance: &mut Provenance,
) -> v1beta1::DynamoGraphDeploymentSpec {
    provenance.moved(|| (FieldPath::field("spec") / "env", FieldPath::field("spec") / "envs"));
    v1beta1::DynamoGraphDeploymentSpec {
        provider_override: written.provider_override.clone(),
        annotations: written.annotations.clone(),
        labels: written.labels.clone(),
        priority_class_name: written.priority_class_name.clone(),
        components: components(written, provenance),
        env: written.envs.clone(),
        backend_framework: written.backend_framework.clone(),
        restart: written.restart.clone(),
        topology_constraint: written.topology_constraint.as_ref().map(|each| topology_constraint(each, provenance)),
        experimental: written.experimental.clone(),
    }
}

/// The services in bytewise order of their keys; entries without a value are skipped.
fn components(
    written: &v1alpha1::DynamoGraphDeploymentSpec,
    provenance: &mut Provenance,
) -> Vec<v1beta1::ComponentSpec> {
    provenance.made(|| (FieldPath::field("spec") / "components", FieldPath::field("spec") / "services"));
    let services = written.services.iter().filter_map(|(key, service)| Some((key, service.as_ref()?)));
    services
        .enumerate()
        .map(|(index, (key, service))| {
            let mut trail = Trail::new(Place::Service { index, key }, provenance);
            trail.moved(itself, itself);
            trail.made(|at| at / "name", itself);
            component::spec(key, service, &mut trail)
        })
        .collect()
}

fn topology_constraint(
    written: &v1alpha1::GraphTopologyConstraint,
    provenance: &mut Provenance,
) -> v1beta1::GraphTopologyConstraint {
    let at = || FieldPath::field("spec") / "topologyConstraint";
    provenance.moved(|| (at() / "clusterTopologyName", at() / "topologyProfile"));
    v1beta1::GraphTopologyConstraint {
        cluster_topology_name: written.topology_profile.clone(),
        pack_domain: written.pack_domain.clone(),
    }
}
