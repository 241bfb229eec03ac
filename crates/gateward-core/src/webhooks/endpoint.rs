//! Where a webhook is served and how it is registered.

use std::borrow::Cow;

use crate::webhooks::path_style::{PathStyle, PathSubject};

/// Which requests the API server converts for a webhook.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MatchPolicy {
    /// Also requests for other versions of the same resource, converted to a listed one.
    #[default]
    Equivalent,
    /// Only requests for the listed versions.
    Exact,
}

impl MatchPolicy {
    /// The name in a webhook configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equivalent => "Equivalent",
            Self::Exact => "Exact",
        }
    }
}

/// The name, paths and versions of one webhook, where the usual ones don't do.
///
/// ```
/// use gateward_core::Endpoint;
///
/// let endpoint = Endpoint::new().name("vgraph.example.org").path("/validate/graphs").alias("/validate-old-graph");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Endpoint {
    pub(crate) name: Option<&'static str>,
    pub(crate) path: Option<&'static str>,
    pub(crate) aliases: Vec<&'static str>,
    pub(crate) versions: Option<Vec<Cow<'static, str>>>,
    pub(crate) match_policy: MatchPolicy,
}

impl Endpoint {
    /// The usual name and path, all versions, `matchPolicy: Equivalent`.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entry's name in the webhook configuration.
    pub fn name(mut self, name: &'static str) -> Self {
        self.name = Some(name);
        self
    }

    /// The path that the configuration names.
    pub fn path(mut self, path: &'static str) -> Self {
        self.path = Some(path);
        self
    }

    /// A further path that is served, for configurations that are still out there.
    pub fn alias(mut self, path: &'static str) -> Self {
        self.aliases.push(path);
        self
    }

    /// The versions that the configuration lists, where not all that are declared.
    pub fn versions(mut self, versions: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> Self {
        self.versions = Some(versions.into_iter().map(Into::into).collect());
        self
    }

    /// Requests for other versions are not converted for this webhook.
    pub fn exact(mut self) -> Self {
        self.match_policy = MatchPolicy::Exact;
        self
    }

    /// Whether objects of this version are sent to the webhook.
    pub(crate) fn lists(&self, version: &str) -> bool {
        self.versions.as_ref().is_none_or(|versions| versions.iter().any(|listed| listed == version))
    }

    /// The path to render: the given one, or that of the style.
    pub(crate) fn rendered_path(&self, style: PathStyle, subject: &PathSubject<'_>) -> String {
        self.path.map_or_else(|| style.path(subject), str::to_owned)
    }

    /// The name to render: the given one, or that of the style.
    pub(crate) fn rendered_name(&self, style: PathStyle, subject: &PathSubject<'_>) -> String {
        self.name.map_or_else(|| style.entry_name(subject), str::to_owned)
    }
}
