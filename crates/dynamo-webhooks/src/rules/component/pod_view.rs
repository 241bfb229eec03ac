//! The pod template of a component, as rules read it.

use dynamo_api::LenientView;
use dynamo_api::constants::MAIN_CONTAINER;
use dynamo_api::pod::{Container, PodTemplate};
use dynamo_api::v1beta1::ComponentSpec;
use gateward::FieldPath;

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
