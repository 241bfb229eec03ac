//! v1alpha1 graphs as written.

use dynamo_api::v1alpha1::{ComponentSpec, DynamoGraphDeployment};
use dynamo_api::v1beta1;
use gateward::{Convert, FieldPath, Issues, Operation, Request, Rule};

use super::applies_to::ON_V1ALPHA1_FIELDS;
use super::ignored::{self, NamespaceContext};
use super::{service, shared_rules};
use crate::conversion::GraphConversion;
use crate::conversion::preserved::{GRAPH_ANNOTATIONS, is_present};
use crate::rules::component::runtime::{self, Runtime};
use crate::rules::component::{DeploymentKind, SourceVersion};

const PVC_NAME: Rule = rule! {
    id: "ALPHA-01",
    summary: "every volume claim of a graph has a name",
    help: "write the name of the PersistentVolumeClaim",
    kinds: &["DynamoGraphDeployment"],
    page: "docs/rule-book/graph.md",
    ..ON_V1ALPHA1_FIELDS
};

/// The catalogue's entries for graphs.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    std::iter::once(&PVC_NAME).chain(shared_rules())
}

/// Judges a graph by itself: ALPHA-01 to ALPHA-10, and on creates the runtimes of its services.
pub(crate) fn stateless(new: &v1beta1::DynamoGraphDeployment, request: &Request, issues: &mut Issues) {
    if let Some(graph) = request.new_as_written::<DynamoGraphDeployment>() {
        judge(graph, SourceVersion::V1alpha1, issues);
        if request.operation == Some(Operation::Create) {
            runtimes(graph, issues);
        }
    } else if let Some(graph) = preserved(new) {
        judge(&graph, SourceVersion::V1beta1, issues);
    }
}

fn judge(graph: &DynamoGraphDeployment, source: SourceVersion, issues: &mut Issues) {
    claims(graph, issues);
    for (at, service) in services(graph) {
        service::check(service, &at, source, issues);
        ignored::check(service, &at, NamespaceContext::of_graph(&graph.metadata), issues);
    }
}

/// A v1beta1 graph as v1alpha1 reads it, if it carries what that version alone can say.
fn preserved(graph: &v1beta1::DynamoGraphDeployment) -> Option<DynamoGraphDeployment> {
    let is_preserved = is_present(&GRAPH_ANNOTATIONS.spec, &graph.metadata.annotations);
    is_preserved.then(|| GraphConversion.from_hub(graph, &mut Issues::new()).ok()).flatten()
}

/// Judges the change of a graph: the runtimes of services that were there before.
pub(crate) fn update(request: &Request, issues: &mut Issues) {
    let Some(old) = request.old_as_written::<DynamoGraphDeployment>() else { return };
    let Some(new) = request.new_as_written::<DynamoGraphDeployment>() else { return };
    for key in new.spec.services.keys() {
        if let Some((before, after)) = runtime(old, key).zip(runtime(new, key)) {
            runtime::on_update(&before, &after, &path(key), DeploymentKind::Graph, issues);
        }
    }
}

/// What the service of this name says about its runtime.
fn runtime<'a>(graph: &'a DynamoGraphDeployment, key: &str) -> Option<Runtime<'a>> {
    Runtime::of_v1alpha1(graph.spec.services.get(key)?.as_ref()?)
}

fn claims(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    for (index, claim) in graph.spec.pvcs.iter().enumerate() {
        if claim.name.as_deref().unwrap_or_default().is_empty() {
            let issue = PVC_NAME.required((FieldPath::field("spec") / "pvcs").index(index) / "name");
            issues.add(issue.message("must be set").as_written());
        }
    }
}

fn runtimes(graph: &DynamoGraphDeployment, issues: &mut Issues) {
    for (at, service) in services(graph) {
        if let Some(runtime) = Runtime::of_v1alpha1(service) {
            runtime::on_create(&runtime, &at, DeploymentKind::Graph, issues);
        }
    }
}

/// The services that have a value, each with its path.
fn services(graph: &DynamoGraphDeployment) -> impl Iterator<Item = (FieldPath, &ComponentSpec)> {
    graph.spec.services.iter().filter_map(|(key, service)| Some((path(key), service.as_ref()?)))
}

fn path(key: &str) -> FieldPath {
    (FieldPath::field("spec") / "services").key(key.to_owned())
}
