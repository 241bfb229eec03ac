//! The pod of a component: its template, shared memory and frontend sidecar.

use std::cmp::Ordering;

use dynamo_api::pod::{PodSpec, PodTemplate};
use dynamo_api::v1beta1::ComponentSpec;
use gateward_core::{CREATE_AND_UPDATE, DECODE, FieldPath, Issues, Rule};

use super::{Judged, rule};

const SHARED_MEMORY: Rule = Rule {
    id: "SHARED-45",
    summary: "the size of shared memory isn't negative",
    bad: include_str!("../examples/shared/shared-45.bad.yaml"),
    good: include_str!("../examples/shared/shared-45.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

const FRONTEND_SIDECAR: Rule = Rule {
    id: "SHARED-48",
    summary: "frontendSidecar names a container of the pod",
    versions: &["v1beta1"],
    bad: include_str!("../examples/shared/shared-48.bad.yaml"),
    good: include_str!("../examples/shared/shared-48.good.yaml"),
    ..rule(CREATE_AND_UPDATE)
};

pub(super) const RULES: &[&Rule] = &[&SHARED_MEMORY, &FRONTEND_SIDECAR];

/// The pod template of a component, as far as it can be read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pod<'a> {
    /// There is none.
    Absent,
    /// A member has the wrong JSON type; rules that would look into it are silent.
    Unreadable,
    /// This one.
    Read(&'a PodTemplate),
}

impl<'a> Pod<'a> {
    pub(super) fn of(component: &'a ComponentSpec) -> Self {
        match component.pod_template.as_ref().map(|raw| raw.view()) {
            None => Self::Absent,
            Some(Err(_)) => Self::Unreadable,
            Some(Ok(template)) => Self::Read(template),
        }
    }

    /// The pod's spec; an absent one is empty, an unreadable one is `None`.
    pub(super) fn spec(self) -> Option<&'a PodSpec> {
        static EMPTY: PodSpec = PodSpec { containers: Vec::new(), init_containers: Vec::new() };
        match self {
            Self::Absent => Some(&EMPTY),
            Self::Unreadable => None,
            Self::Read(template) => Some(&template.spec),
        }
    }
}

/// The members of the pod template that rules read have the JSON types of their fields.
pub(super) fn readable(judged: &Judged, issues: &mut Issues) {
    let template = judged.component.pod_template.as_ref();
    let Some(Err(error)) = template.map(|raw| raw.view()) else { return };
    let path = (judged.at / "podTemplate").join(error.path.segments());
    issues.add(DECODE.invalid(path, ()).message(error.message.clone()));
}

pub(super) fn shared_memory(judged: &Judged, issues: &mut Issues) {
    let Some(size) = &judged.component.shared_memory_size else { return };
    let path = || judged.at / "sharedMemorySize";
    match size.amount() {
        Err(error) => issues.add(DECODE.invalid(path(), size.text()).message(error.to_string())),
        Ok(amount) if amount.sign() == Ordering::Less => {
            let issue = SHARED_MEMORY.invalid(path(), size.text()).message("a size can't be negative");
            issues.add(issue.help("0 turns shared memory off"));
        }
        Ok(_) => {}
    }
}

pub(super) fn frontend_sidecar(judged: &Judged, issues: &mut Issues) {
    let Some(name) = &judged.component.frontend_sidecar else { return };
    let path: FieldPath = judged.at / "frontendSidecar";
    match judged.pod {
        Pod::Unreadable => {}
        Pod::Absent => {
            let path = judged.at / "podTemplate" / "spec" / "containers";
            issues.add(FRONTEND_SIDECAR.required(path).message("the frontend sidecar is one of the pod's containers"));
        }
        Pod::Read(_) if name.is_empty() => {
            issues.add(FRONTEND_SIDECAR.invalid(path, "").message("no container is named"));
        }
        Pod::Read(template) if template.spec.container(name).is_none() => {
            let issue = FRONTEND_SIDECAR.invalid(path, name.as_str()).message("the pod has no container of this name");
            issues.add(issue.help("name an item of podTemplate.spec.containers; init containers don't count"));
        }
        Pod::Read(_) => {}
    }
}
