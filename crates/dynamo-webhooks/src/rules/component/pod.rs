//! The pod of a component: its template, shared memory and frontend sidecar.

use std::cmp::Ordering;

use gateward::{CREATE_AND_UPDATE, DECODE, FieldPath, Issues, Rule};

use super::context::{ComponentContext, on_components};
use super::pod_view::Pod;

const SHARED_MEMORY: Rule = rule! {
    id: "SHARED-45",
    summary: "the size of shared memory isn't negative",
    ..on_components(CREATE_AND_UPDATE)
};

const FRONTEND_SIDECAR: Rule = rule! {
    id: "SHARED-48",
    summary: "frontendSidecar names a container of the pod",
    versions: &["v1beta1"],
    ..on_components(CREATE_AND_UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&SHARED_MEMORY, &FRONTEND_SIDECAR];

/// The members of the pod template that rules read have the JSON types of their fields.
pub(super) fn readable(context: &ComponentContext, issues: &mut Issues) {
    let template = context.component.pod_template.as_ref();
    if let Some(Err(error)) = template.map(|raw| raw.view()) {
        issues.add(error.issue(&(context.at / "podTemplate")));
    }
}

pub(super) fn shared_memory(context: &ComponentContext, issues: &mut Issues) {
    let Some(size) = &context.component.shared_memory_size else { return };
    let path = || context.at / "sharedMemorySize";
    match size.amount() {
        Err(error) => issues.add(DECODE.invalid(path(), size.text()).message(error.to_string())),
        Ok(amount) if amount.sign() == Ordering::Less => {
            let issue = SHARED_MEMORY.invalid(path(), size.text()).message("must be greater than or equal to 0");
            issues.add(issue.help("0 disables shared memory"));
        }
        Ok(_) => {}
    }
}

pub(super) fn frontend_sidecar(context: &ComponentContext, issues: &mut Issues) {
    let Some(name) = &context.component.frontend_sidecar else { return };
    let path: FieldPath = context.at / "frontendSidecar";
    match context.pod {
        Pod::Absent => {
            let path = context.at / "podTemplate" / "spec" / "containers";
            issues.add(FRONTEND_SIDECAR.required(path).message("must have the container that frontendSidecar names"));
        }
        Pod::Read(_) if name.is_empty() => {
            issues.add(FRONTEND_SIDECAR.invalid(path, "").message("must be the name of a container of the pod"));
        }
        Pod::Read(view) if view.value.spec.container(name).is_none() && context.pod.has_read_names() => {
            let issue =
                FRONTEND_SIDECAR.invalid(path, name.as_str()).message("must be the name of a container of the pod");
            issues.add(issue.help("name an item of podTemplate.spec.containers; init containers don't count"));
        }
        Pod::Unreadable | Pod::Read(_) => {}
    }
}
