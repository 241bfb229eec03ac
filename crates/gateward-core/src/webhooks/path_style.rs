//! How paths, and names of entries, are made of kinds.

use crate::dns::is_subdomain;
use crate::rule::resource::GroupVersionKind;
use crate::webhooks::dynamic_kind::ANY;
use crate::wire::review::Review;

/// How the path of each webhook is made, where its [`Endpoint`](crate::Endpoint) doesn't name one. What is served and what
/// manifests say follows from it alike. Two webhooks that get the same path are an error of
/// [`Webhooks::check`](crate::Webhooks::check).
///
/// ```
/// use gateward_core::{PathStyle, PathSubject, Review, Webhooks};
///
/// fn own(subject: &PathSubject<'_>) -> String {
///     format!("/hooks/{}/{}", subject.review.as_str(), subject.plural)
/// }
///
/// let webhooks = Webhooks::with_paths(PathStyle::Own(own));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub enum PathStyle {
    /// As kubebuilder has it: `/validate-<group>-<version>-<kind>` with hyphens for dots, and `/convert` for all kinds.
    #[default]
    Kubebuilder,
    /// As KubeOps has it: `/validate/<version><kind>`, in lower case, since its classes are called so, and
    /// `/convert/<group>/<plural>`. Entries of webhook configurations are called `validate.<kind>.<group>.<version>`. A class
    /// of another name has an [`Endpoint::path`](crate::Endpoint::path).
    KubeOps,
    /// Whatever the operator's author likes. Entries are called as with kubebuilder's paths.
    Own(fn(&PathSubject<'_>) -> String),
}

/// What a path is made of.
#[derive(Debug, Clone, Copy)]
pub struct PathSubject<'a> {
    /// What is asked at the path.
    pub review: Review,
    /// Group, version and kind of the resource. The version is the hub's.
    pub kind: &'a GroupVersionKind,
    /// The plural of the resource.
    pub plural: &'a str,
    /// The subresource that requests address; `None` where they address the object itself.
    pub subresource: Option<&'a str>,
    /// The name of the entry, where a kind has several.
    pub entry: Option<&'a str>,
}

impl PathStyle {
    pub(crate) fn path(self, subject: &PathSubject<'_>) -> String {
        match self {
            Self::Kubebuilder => kubebuilder(subject),
            Self::KubeOps => kubeops(subject),
            Self::Own(path) => path(subject),
        }
    }

    /// The name of an entry. The API server demands three parts, so the core group is called `core` there.
    pub(crate) fn entry_name(self, subject: &PathSubject<'_>) -> String {
        let (review, kind) = (subject.review.as_str(), said(&subject.kind.kind).to_lowercase());
        let version = matches!(self, Self::KubeOps).then_some(said(&subject.kind.version));
        let parts = std::iter::once(review).chain(subject.parts()).chain([kind.as_str(), subject.group()]);
        parts.chain(version).collect::<Vec<_>>().join(".")
    }
}

impl PathSubject<'_> {
    fn group(&self) -> &str {
        if self.kind.group.is_empty() { "core" } else { said(&self.kind.group) }
    }

    /// What distinguishes the webhook from others of its kind: the subresource, and the name of the entry.
    fn parts(&self) -> impl Iterator<Item = &str> {
        self.subresource.into_iter().chain(self.entry)
    }

    /// The path, and those parts at its end.
    fn joined(&self, path: &str) -> String {
        std::iter::once(path).chain(self.parts()).collect::<Vec<_>>().join("-")
    }
}

/// A group, version or kind as paths and names have it.
fn said(part: &str) -> &str {
    if part == ANY { "any" } else { part }
}

fn kubebuilder(subject: &PathSubject<'_>) -> String {
    if subject.review == Review::Convert {
        return "/convert".to_owned();
    }
    let GroupVersionKind { group, version, kind } = subject.kind;
    let (group, kind) = (said(group).replace('.', "-"), said(kind).to_lowercase());
    subject.joined(&format!("/{}-{group}-{}-{kind}", subject.review.as_str(), said(version)))
}

fn kubeops(subject: &PathSubject<'_>) -> String {
    if subject.review == Review::Convert {
        return format!("/convert/{}/{}", subject.group(), subject.plural);
    }
    let (version, kind) = (said(&subject.kind.version), said(&subject.kind.kind).to_lowercase());
    subject.joined(&format!("/{}/{version}{kind}", subject.review.as_str()))
}

/// Whether API servers take the path in a webhook configuration or a CRD.
pub(crate) fn is_taken_by_api_servers(path: &str) -> bool {
    let steps = path.strip_prefix('/').map(|steps| steps.trim_end_matches('/').split('/'));
    steps.is_some_and(|mut steps| steps.all(is_subdomain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(style: PathStyle, review: Review, group: &str, subresource: Option<&str>) -> (String, String) {
        let kind = GroupVersionKind { group: group.into(), version: "v1".into(), kind: "TestEntity".into() };
        let subject = PathSubject { review, kind: &kind, plural: "testentitys", subresource, entry: None };
        (style.path(&subject), style.entry_name(&subject))
    }

    #[track_caller]
    fn assert_made((path, name): (String, String), expected: (&str, &str)) {
        assert_eq!((path.as_str(), name.as_str()), expected);
    }

    #[test]
    fn kubebuilder_joins_with_hyphens() {
        let made = |review, group, subresource| of(PathStyle::Kubebuilder, review, group, subresource);
        assert_made(
            made(Review::Validate, "webhook.dev", None),
            ("/validate-webhook-dev-v1-testentity", "validate.testentity.webhook.dev"),
        );
        assert_made(
            made(Review::Mutate, "", Some("status")),
            ("/mutate--v1-testentity-status", "mutate.status.testentity.core"),
        );
        assert_eq!(made(Review::Convert, "webhook.dev", None).0, "/convert");
    }

    #[test]
    fn kubeops_names_the_class_and_the_version() {
        let made = |review, group, subresource| of(PathStyle::KubeOps, review, group, subresource);
        assert_made(
            made(Review::Validate, "webhook.dev", None),
            ("/validate/v1testentity", "validate.testentity.webhook.dev.v1"),
        );
        assert_made(
            made(Review::Mutate, "", Some("status")),
            ("/mutate/v1testentity-status", "mutate.status.testentity.core.v1"),
        );
        assert_eq!(made(Review::Convert, "webhook.dev", None).0, "/convert/webhook.dev/testentitys");
    }

    #[test]
    fn an_author_makes_paths_of_whatever_is_known() {
        let style = PathStyle::Own(|subject| format!("/{}/{}", subject.plural, subject.review.as_str()));
        assert_made(
            of(style, Review::Validate, "webhook.dev", None),
            ("/testentitys/validate", "validate.testentity.webhook.dev"),
        );
    }
}
