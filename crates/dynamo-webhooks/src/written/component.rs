//! v1alpha1 components as written.

use dynamo_api::v1alpha1::DynamoComponentDeployment;
use gateward_core::{FieldPath, Issues, Operation, Request, Rule};

use super::ignored::{self, Surroundings};
use super::{service, shared_rules};
use crate::shared::OwnerKind;
use crate::shared::runtime::{self, Runtime};

/// The catalogue's entries for components.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    shared_rules()
}

/// Judges a component by itself: ALPHA-02 to ALPHA-10, and on creates its runtime.
pub(crate) fn stateless(request: &Request, issues: &mut Issues) {
    let Some(component) = request.new_as_written::<DynamoComponentDeployment>() else { return };
    let (at, written) = (FieldPath::field("spec"), &component.spec.component);
    service::check(written, &at, issues);
    ignored::check(written, &at, Surroundings::of_component(&component.metadata), issues);
    if let (Some(Operation::Create), Some(runtime)) = (request.operation, Runtime::of_v1alpha1(written)) {
        runtime::on_create(&runtime, &at, OwnerKind::Component, issues);
    }
}

/// Judges the change of a component's runtime (DCD-15).
pub(crate) fn update(request: &Request, issues: &mut Issues) {
    let Some(old) = request.old_as_written::<DynamoComponentDeployment>() else { return };
    let Some(new) = request.new_as_written::<DynamoComponentDeployment>() else { return };
    let runtimes = Runtime::of_v1alpha1(&old.spec.component).zip(Runtime::of_v1alpha1(&new.spec.component));
    if let Some((before, after)) = runtimes {
        runtime::on_update(&before, &after, &FieldPath::field("spec"), OwnerKind::Component, issues);
    }
}
