//! Admission of DynamoComponentDeployment: section 14 of the rule book, with the rules that components share.
//!
//! Rules on a component and on its change run in one pass, so that one answer holds all findings (BOTH-05).

use dynamo_api::constants::GROUP;
use dynamo_api::crds;
use dynamo_api::meta::{ObjectMeta, OwnerReference};
use dynamo_api::v1alpha1;
use dynamo_api::v1beta1::{ComponentType, DynamoComponentDeployment, DynamoComponentDeploymentSpec};
use gateward::{
    BadValue, CREATE_AND_UPDATE, DeletingObjects, Endpoint, FieldPath, Issues, Operation, Request, Rule, UPDATE,
    Validator, Webhook, handler,
};
use serde_json::Value;

use crate::conversion::ComponentConversion;
use crate::conversion::schemas::CrdSchemas;
use crate::operator::facts::ClusterFacts;
use crate::operator::principals::ScalePermission;
use crate::rules;
use crate::rules::component::{
    self, ComponentOperation, DeploymentContext, DeploymentKind, InferencePool, SourceVersion, elastic, roles,
};
use crate::rules::grove::WorkloadBackend;
use crate::rules::provider_override;

const ON_COMPONENTS: Rule = Rule {
    kinds: &["DynamoComponentDeployment"],
    versions: &["v1alpha1", "v1beta1"],
    page: "docs/rule-book/component.md",
    ..Rule::on(CREATE_AND_UPDATE)
};

pub(crate) const ELASTIC_COMMAND: Rule = rule! {
    id: "DCD-11",
    summary: "vLLM with elastic expert parallelism on Ray is started by a command of the user's",
    ..ON_COMPONENTS
};

pub(crate) const CHECKPOINT_OWNER: Rule = rule! {
    id: "DCD-13",
    summary: "only a component that a graph controls names a checkpoint",
    ..ON_COMPONENTS
};

pub(crate) const SAME_FRAMEWORK: Rule = rule! {
    id: "DCD-16",
    summary: "the inference engine of a component stays as it is",
    help: "keep the stored backendFramework, or create a component of another name",
    operations: UPDATE,
    ..ON_COMPONENTS
};

pub(crate) const RULES: &[&Rule] = &[&ELASTIC_COMMAND, &CHECKPOINT_OWNER, &SAME_FRAMEWORK];

/// The declaration of DynamoComponentDeployment.
pub(crate) fn kind() -> Webhook<DynamoComponentDeployment> {
    let validating = Endpoint::new()
        .name("vdynamocomponentdeployment.kb.io")
        .path("/validate/nvidia.com/v1beta1/dynamocomponentdeployments")
        .alias("/validate-nvidia-com-v1alpha1-dynamocomponentdeployment");
    let mutating = Endpoint::new()
        .name("mdynamocomponentdeploymentv1beta1.kb.io")
        .path("/mutate-nvidia-com-v1beta1-dynamocomponentdeployment")
        .versions(["v1beta1"])
        .exact();
    Webhook::new()
        .spoke::<v1alpha1::DynamoComponentDeployment>(ComponentConversion)
        .schemas(CrdSchemas::Component)
        .validator(ComponentDeploymentValidator)
        .validating_at(validating)
        .defaulter(default)
        .mutating_at(mutating)
        .crd(crds::COMPONENT_DEPLOYMENT.json)
        .deleting_objects(DeletingObjects::Skip)
        .renamed_fields(component::RENAMED_FIELDS)
        .rules(rules())
}

fn rules() -> impl Iterator<Item = &'static Rule> {
    let also_elsewhere = component::rules().chain(provider_override::RULES.iter().copied());
    let here = also_elsewhere.filter(|rule| rule.kinds.contains(&"DynamoComponentDeployment"));
    here.chain(RULES.iter().copied()).chain(rules::v1alpha1::component::rules())
}

/// What a new component is given: DEF-20 and DEF-07. Updates are left as they are.
fn default(mut object: DynamoComponentDeployment, request: &Request) -> DynamoComponentDeployment {
    if request.operation == Some(Operation::Create) {
        let component = &mut object.spec.component;
        if component.name.is_empty() {
            component.name.clone_from(&object.metadata.name);
        }
        roles::default_replicas(component.multinode.as_ref(), component.roles.as_mut());
    }
    object
}

/// The rules of DynamoComponentDeployment.
struct ComponentDeploymentValidator;

#[handler]
impl Validator<DynamoComponentDeployment> for ComponentDeploymentValidator {
    async fn create(&self, new: &DynamoComponentDeployment, request: &Request) -> Issues {
        let facts = ClusterFacts::of(request);
        let mut issues = Issues::new();
        stateless(new, ComponentOperation::Create, &deployment_context(&facts, request), &mut issues);
        rules::v1alpha1::component::stateless(new, request, &mut issues);
        issues
    }

    async fn update(
        &self,
        old: &DynamoComponentDeployment,
        new: &DynamoComponentDeployment,
        request: &Request,
    ) -> Issues {
        let facts = ClusterFacts::of(request);
        let deployment = deployment_context(&facts, request);
        let mut issues = Issues::new();
        stateless(new, ComponentOperation::Update(Some(&old.spec.component)), &deployment, &mut issues);
        rules::v1alpha1::component::stateless(new, request, &mut issues);
        rules::v1alpha1::component::update(request, &mut issues);
        same_framework(&old.spec, &new.spec, &mut issues);
        component::update(&old.spec.component, &new.spec.component, &spec(), &deployment, &mut issues);
        issues
    }
}

/// A component on its own is never laid out by Grove and looks nothing up; its replicas are free.
fn deployment_context<'a>(facts: &'a ClusterFacts, request: &Request) -> DeploymentContext<'a> {
    let lifted = request.new_as_written::<v1alpha1::DynamoComponentDeployment>().is_some();
    DeploymentContext {
        kind: DeploymentKind::Component,
        workload_backend: WorkloadBackend::Component,
        provider: None,
        source_version: if lifted { SourceVersion::V1alpha1 } else { SourceVersion::V1beta1 },
        facts,
        inference_pool: InferencePool::NotNeeded,
        scale_permission: ScalePermission::Granted,
    }
}

fn spec() -> FieldPath {
    FieldPath::field("spec")
}

fn stateless(
    new: &DynamoComponentDeployment,
    operation: ComponentOperation,
    deployment: &DeploymentContext,
    issues: &mut Issues,
) {
    let DynamoComponentDeploymentSpec { backend_framework, component } = &new.spec;
    issues.extend(elastic::missing_command(&ELASTIC_COMMAND, backend_framework.as_ref(), component, &spec()));
    component::stateless(component, &spec(), operation, deployment, issues);
    checkpoint_owner(new, issues);
}

/// Judged also where the checkpoint is off.
fn checkpoint_owner(new: &DynamoComponentDeployment, issues: &mut Issues) {
    let component = &new.spec.component;
    if !component.component_type.as_ref().is_some_and(ComponentType::is_worker_class) || is_of_a_graph(&new.metadata) {
        return;
    }
    let checkpoint = component.experimental.as_ref().and_then(|experimental| experimental.checkpoint.as_ref());
    let named = checkpoint.and_then(|checkpoint| checkpoint.checkpoint_ref.as_deref());
    if named.is_some_and(|name| !name.trim().is_empty()) {
        let path = spec() / "experimental" / "checkpoint" / "checkpointRef";
        let issue = CHECKPOINT_OWNER.forbidden(path).message("may only be set if a graph controls the component");
        issues.add(issue.help("set the checkpoint in a DynamoGraphDeployment"));
    }
}

/// Whether the controller of the object is a graph, of whatever version.
fn is_of_a_graph(metadata: &ObjectMeta) -> bool {
    let is_graph = |owner: &OwnerReference| {
        let group = owner.api_version.split_once('/').map(|(group, _)| group);
        owner.kind == "DynamoGraphDeployment" && group == Some(GROUP)
    };
    metadata.owner_references.iter().find(|owner| owner.controller == Some(true)).is_some_and(is_graph)
}

fn same_framework(old: &DynamoComponentDeploymentSpec, new: &DynamoComponentDeploymentSpec, issues: &mut Issues) {
    let [before, after] = [old, new].map(|spec| spec.backend_framework.as_ref());
    if before == after {
        return;
    }
    let value = after.map_or(Value::Null, |framework| framework.as_str().into());
    let path = || spec() / "backendFramework";
    let issue = SAME_FRAMEWORK.invalid(path(), BadValue::Json(value)).message("field is immutable");
    issues.add(issue.help("create another DynamoComponentDeployment"));
    let warning = "the inference engine of a component (spec.backendFramework) can't change; make another component";
    issues.add(SAME_FRAMEWORK.warning(path(), warning));
}

#[cfg(test)]
mod tests;
