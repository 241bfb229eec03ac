//! v1alpha1 components as written.

use dynamo_api::v1alpha1::DynamoComponentDeployment;
use dynamo_api::v1beta1;
use gateward::{Convert, FieldPath, Issues, Operation, Request, Rule};

use super::ignored::{self, NamespaceContext};
use super::{service, shared_rules};
use crate::conversion::ComponentConversion;
use crate::conversion::preserved::{COMPONENT_ANNOTATIONS, is_present};
use crate::rules::component::runtime::{self, Runtime};
use crate::rules::component::{DeploymentKind, SourceVersion};

/// The catalogue's entries for components.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    shared_rules()
}

/// Judges a component by itself: ALPHA-02 to ALPHA-10, and on creates its runtime.
pub(crate) fn stateless(new: &v1beta1::DynamoComponentDeployment, request: &Request, issues: &mut Issues) {
    if let Some(component) = request.new_as_written::<DynamoComponentDeployment>() {
        judge(component, SourceVersion::V1alpha1, issues);
        let runtime = Runtime::of_v1alpha1(&component.spec.component);
        if let (Some(Operation::Create), Some(runtime)) = (request.operation, runtime) {
            runtime::on_create(&runtime, &FieldPath::field("spec"), DeploymentKind::Component, issues);
        }
    } else if let Some(component) = preserved(new) {
        judge(&component, SourceVersion::V1beta1, issues);
    }
}

fn judge(component: &DynamoComponentDeployment, source: SourceVersion, issues: &mut Issues) {
    let (at, service) = (FieldPath::field("spec"), &component.spec.component);
    service::check(service, &at, source, issues);
    ignored::check(service, &at, NamespaceContext::of_component(&component.metadata), issues);
}

/// A v1beta1 component as v1alpha1 reads it, if it carries what that version alone can say.
fn preserved(component: &v1beta1::DynamoComponentDeployment) -> Option<DynamoComponentDeployment> {
    let is_preserved = is_present(&COMPONENT_ANNOTATIONS.spec, &component.metadata.annotations);
    is_preserved.then(|| ComponentConversion.from_hub(component, &mut Issues::new()).ok()).flatten()
}

/// Judges the change of a component's runtime (DCD-15).
pub(crate) fn update(request: &Request, issues: &mut Issues) {
    let Some(old) = request.old_as_written::<DynamoComponentDeployment>() else { return };
    let Some(new) = request.new_as_written::<DynamoComponentDeployment>() else { return };
    let runtimes = Runtime::of_v1alpha1(&old.spec.component).zip(Runtime::of_v1alpha1(&new.spec.component));
    if let Some((before, after)) = runtimes {
        runtime::on_update(&before, &after, &FieldPath::field("spec"), DeploymentKind::Component, issues);
    }
}
