//! The pod of a component: its template, shared memory and frontend sidecar.

use std::cmp::Ordering;

use dynamo_api::LenientView;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::{Container, PodTemplate};
use dynamo_api::v1beta1::ComponentSpec;
use gateward::{CREATE_AND_UPDATE, DECODE, FieldPath, Issues, Rule};

use super::{ComponentContext, on_components};

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

/// The pod template of a component, as far as it can be read. A rule is silent where the value that it reads has the wrong
/// JSON type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pod<'a> {
    /// There is none.
    Absent,
    /// Nothing of it can be read.
    Unreadable,
    /// What could be read of this one.
    Read(LenientView<'a, PodTemplate>),
}

impl<'a> Pod<'a> {
    pub(crate) fn of(component: &'a ComponentSpec) -> Self {
        match &component.pod_template {
            None => Self::Absent,
            Some(raw) => raw.lenient_view().map_or(Self::Unreadable, Self::Read),
        }
    }

    /// The containers that could be read.
    pub(crate) fn containers(self) -> &'a [Container] {
        match self {
            Self::Absent | Self::Unreadable => &[],
            Self::Read(view) => &view.value.spec.containers,
        }
    }

    /// The main container, if it could be read, with its place in the list.
    pub(crate) fn main_container(self) -> Option<(usize, &'a Container)> {
        let mut containers = self.containers().iter().enumerate();
        containers.find(|(_, container)| container.name == MAIN_CONTAINER)
    }

    /// Whether the node of the template at `path` was read, or is absent.
    pub(crate) fn has_read(self, path: &FieldPath) -> bool {
        match self {
            Self::Absent => true,
            Self::Unreadable => false,
            Self::Read(view) => view.has_read(path),
        }
    }

    /// The same with all below it.
    pub(crate) fn has_read_all(self, path: &FieldPath) -> bool {
        match self {
            Self::Absent => true,
            Self::Unreadable => false,
            Self::Read(view) => view.has_read_all(path),
        }
    }

    /// Whether the names of all containers were read, so that one that isn't found isn't there.
    pub(crate) fn has_read_names(self) -> bool {
        let mut indices = 0..self.containers().len();
        match self {
            Self::Absent => true,
            Self::Unreadable => false,
            Self::Read(view) if view.unread.is_empty() => true,
            Self::Read(view) => {
                view.has_read(&containers_path())
                    && indices.all(|index| view.has_read(&(container_path(index) / "name")))
            }
        }
    }

    /// The names of members of the node at `path` that have the wrong type, or something below them.
    pub(crate) fn unread_members(self, path: &FieldPath) -> impl Iterator<Item = &'a str> {
        let unread = match self {
            Self::Absent | Self::Unreadable => &[],
            Self::Read(view) => view.unread,
        };
        unread.iter().filter_map(|unread| unread.strip_prefix(path)?.first()?.name())
    }
}

fn containers_path() -> FieldPath {
    FieldPath::field("spec") / "containers"
}

/// The path of a container in the template.
pub(crate) fn container_path(index: usize) -> FieldPath {
    containers_path().index(index)
}

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
