//! What is known of a declared kind without its types.

use std::borrow::Cow;
use std::sync::Arc;

use crate::conversion::keys::ConversionKeys;
use crate::dns::is_subdomain;
use crate::manifest::crd::Crd;
use crate::rule::Rule;
use crate::rule::resource::{GroupVersionKind, Scope};
use crate::rule::store::WatchedStore;
use crate::webhooks::dynamic_kind::ANY;
use crate::webhooks::endpoint::Endpoint;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::path_style::{PathStyle, PathSubject};
use crate::webhooks::registration::{Bootstrap, Registration, is_needed_by_pods};
use crate::webhooks::subresource::{SCALE, Subresource};
use crate::wire::operation::Operation;
use crate::wire::review::Review;

/// What becomes of updates of objects that are being deleted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DeletingObjects {
    /// They are judged and defaulted like any other.
    #[default]
    Validate,
    /// They pass as they are, so that finalizers can always be removed.
    Skip,
}

/// Whether the API server takes it for a webhook: a domain name of at least three parts.
fn is_webhook_name(name: &str) -> bool {
    is_subdomain(name) && name.split('.').count() >= 3
}

/// What becomes of changes of the subresource `scale`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ScaleReviews {
    /// They are not sent.
    #[default]
    NotSent,
    /// They are judged as the changes of the object that they are.
    AsUpdates,
    /// They pass, as the author says.
    Pass,
}

/// Whether handlers get the texts of a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum RawReviews {
    /// They don't, and nothing is copied.
    #[default]
    Dropped,
    /// They do.
    Kept,
}

/// The declaration of one kind, apart from its handlers.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// Group, version and kind of the hub, the version that most handlers judge.
    pub hub: GroupVersionKind,
    /// The plural.
    pub plural: Cow<'static, str>,
    /// Whether objects live in a namespace.
    pub scope: Scope,
    /// The subresource that requests address; `None` where they address the object itself.
    pub subresource: Option<Subresource>,
    /// The name of a further entry for the kind; `None` for the first.
    pub entry: Option<&'static str>,
    /// The versions that have handlers or a conversion, the hub's last.
    pub versions: Vec<Cow<'static, str>>,
    /// The catalogue's entries for this kind.
    pub rules: Vec<&'static Rule>,
    /// The CRD, if there is one.
    pub crd: Option<Crd>,
    /// Former and present names of fields.
    pub renamed_fields: &'static [(&'static str, &'static str)],
    /// What handlers look up in the cluster: groups, each with a plural.
    pub lookups: Vec<(String, String)>,
    /// What is kept in memory for handlers.
    pub(crate) stores: Vec<Arc<dyn WatchedStore>>,
    /// What becomes of updates of objects that are being deleted.
    pub deleting_objects: DeletingObjects,
    /// Whether changes of the subresource `scale` are judged as changes of the object.
    pub(crate) scale: ScaleReviews,
    pub(crate) raw_reviews: RawReviews,
    /// The annotations in which the operator's own conversions keep something; `None` without a conversion.
    pub(crate) stashes: Option<Vec<&'static str>>,
    /// Where conversion writes beside those.
    pub(crate) keys: Arc<ConversionKeys>,
    pub(crate) registration: Registration,
    /// How paths are made that no endpoint names.
    pub(crate) path_style: PathStyle,
    pub(crate) validating: Option<Endpoint>,
    pub(crate) mutating: Option<Endpoint>,
    /// The operations that validators judge.
    pub(crate) validated: Vec<Operation>,
    /// The operations on which defaulters are asked.
    pub(crate) defaulted: Vec<Operation>,
    /// The operations that the author has narrowed them to.
    pub(crate) only_on: Option<Vec<Operation>>,
}

impl Declaration {
    /// Whether objects are converted between the versions.
    pub fn converts(&self) -> bool {
        self.entry.is_none() && self.stashes.is_some()
    }

    /// Whether objects have other versions, in which something could be lacking.
    pub(crate) fn has_views(&self) -> bool {
        self.stashes.is_some()
    }

    /// The annotations in which conversion between the versions keeps what a version lacks; without a conversion none.
    pub fn conversion_annotations(&self) -> impl Iterator<Item = &str> {
        let own = self.stashes.iter().map(|_| self.keys.preserved());
        own.chain(self.stashes.iter().flatten().copied())
    }

    /// The annotation in which the operator's own conversion keeps something as conversion itself does, if there is one.
    pub(crate) fn taken_annotation(&self) -> Option<&'static str> {
        let own = [self.keys.preserved(), self.keys.incomplete_fields()];
        self.stashes.iter().flatten().copied().find(|stash| own.contains(stash))
    }

    /// The keys under which conversion writes into the metadata of objects.
    pub fn conversion_keys(&self) -> &ConversionKeys {
        &self.keys
    }

    /// Whether `.scale` has changes of the subresource `scale` judged as changes of the object.
    pub fn judges_scale(&self) -> bool {
        self.scale == ScaleReviews::AsUpdates
    }

    /// Whether nothing says what becomes of changes of the subresource `scale`.
    pub fn leaves_scale_open(&self) -> bool {
        self.scale == ScaleReviews::NotSent
    }

    /// Whether the kind has handlers of this sort.
    pub fn serves(&self, review: Review) -> bool {
        self.endpoint(review).is_some()
    }

    /// The operations on which handlers of this sort run: those that handlers judge, unless the author named fewer.
    pub fn operations(&self, review: Review) -> Vec<Operation> {
        self.judged(review).iter().copied().filter(|&operation| self.handles(review, operation)).collect()
    }

    pub(crate) fn handles(&self, review: Review, operation: Operation) -> bool {
        let narrowed = self.only_on.as_ref().is_none_or(|only| only.contains(&operation));
        narrowed && self.judged(review).contains(&operation)
    }

    /// Whether handlers of any sort run on it.
    pub(crate) fn is_called_on(&self, operation: Operation) -> bool {
        [Review::Validate, Review::Mutate].into_iter().any(|review| self.handles(review, operation))
    }

    /// Whether anything judges or defaults objects.
    pub(crate) fn has_handlers(&self) -> bool {
        !self.validated.is_empty() || !self.defaulted.is_empty()
    }

    /// Whether the rule stands in its catalogue.
    pub(crate) fn lists(&self, rule: &Rule) -> bool {
        self.rules.iter().any(|listed| listed.id == rule.id)
    }

    /// Whether both are registered for one resource or its subresources.
    pub(crate) fn is_of_resource_of(&self, other: &Self) -> bool {
        self.registered_kind().same_kind(other.registered_kind())
    }

    fn judged(&self, review: Review) -> &[Operation] {
        match review {
            Review::Validate => &self.validated,
            Review::Mutate => &self.defaulted,
            Review::Convert => &[],
        }
    }

    /// Notes that a handler judges these operations. Defaults need an object to be set in.
    pub(crate) fn judge_on(&mut self, review: Review, operations: Vec<Operation>) {
        let (endpoint, judged) = match review {
            Review::Mutate => (&mut self.mutating, &mut self.defaulted),
            Review::Validate | Review::Convert => (&mut self.validating, &mut self.validated),
        };
        endpoint.get_or_insert_default();
        judged.extend(operations);
        judged.sort_unstable();
        judged.dedup();
    }

    /// What contradicts itself, whatever else is declared.
    pub(crate) fn problems(&self) -> Vec<WebhooksError> {
        let kind = || self.hub.to_string();
        let judged = [Review::Validate, Review::Mutate].map(|review| self.judged(review));
        let mut problems = Vec::new();
        if judged.concat().is_empty() && !self.converts() {
            problems.push(WebhooksError::NoHandler { kind: kind() });
        }
        for review in [Review::Validate, Review::Mutate] {
            if self.serves(review) && self.judged(review).is_empty() {
                problems.push(WebhooksError::PathWithoutHandler { kind: kind(), review: review.as_str() });
            }
            let listed = self.endpoint(review).and_then(|endpoint| endpoint.versions.as_ref()).into_iter().flatten();
            problems.extend(listed.filter(|version| !self.has_version(version)).map(|version| {
                let (version, declared) = (version.to_string(), self.versions.join(" and "));
                WebhooksError::UnknownVersion { kind: kind(), version, declared }
            }));
            let name = self.webhook_name(review).filter(|name| !is_webhook_name(name));
            problems.extend(name.map(|name| WebhooksError::BadName { name, kind: kind() }));
        }
        if let Some(problem) = self.registration.problem() {
            problems.push(WebhooksError::Registration { kind: kind(), problem });
        }
        for &operation in self.only_on.iter().flatten() {
            if !judged.concat().contains(&operation) {
                problems.push(WebhooksError::UnjudgedOperation { kind: kind(), operation });
            }
        }
        problems
    }

    /// The path that the configuration names, if the kind has handlers of this sort.
    pub fn path(&self, review: Review) -> Option<String> {
        Some(self.endpoint(review)?.rendered_path(self.path_style, &self.path_subject(review)))
    }

    /// The name that the configuration gives the webhook, if the kind has handlers of this sort.
    pub fn webhook_name(&self, review: Review) -> Option<String> {
        Some(self.endpoint(review)?.rendered_name(self.path_style, &self.path_subject(review)))
    }

    /// All paths that are served: the rendered one, then the aliases.
    pub fn paths(&self, review: Review) -> Vec<String> {
        let Some(endpoint) = self.endpoint(review) else { return Vec::new() };
        let rendered = endpoint.rendered_path(self.path_style, &self.path_subject(review));
        std::iter::once(rendered).chain(endpoint.aliases.iter().map(|&path| path.to_owned())).collect()
    }

    /// The path that the conversion stanza of the kind names; `None` where its objects aren't converted.
    pub fn conversion_path(&self) -> Option<String> {
        self.converts().then(|| self.path_style.path(&self.path_subject(Review::Convert)))
    }

    fn path_subject(&self, review: Review) -> PathSubject<'_> {
        let (kind, subresource) = (self.registered_kind(), self.subresource.as_ref());
        let plural = subresource.map_or(&*self.plural, |subresource| &*subresource.plural);
        let subresource = subresource.map(|subresource| subresource.name);
        PathSubject { review, kind, plural, subresource, entry: self.entry }
    }

    /// Group, version and kind of the resource that the webhook is registered for.
    fn registered_kind(&self) -> &GroupVersionKind {
        self.subresource.as_ref().map_or(&self.hub, |subresource| &subresource.of)
    }

    /// The API group of the resource that the webhook is registered for.
    pub fn resource_group(&self) -> &str {
        &self.registered_kind().group
    }

    /// The resources in the rule of a webhook of this sort.
    pub(crate) fn resources(&self, review: Review) -> Vec<Cow<'static, str>> {
        let scale = review == Review::Validate && self.scale == ScaleReviews::AsUpdates;
        let scale = scale.then(|| format!("{}/{SCALE}", self.plural).into());
        std::iter::once(self.resource_name()).chain(scale).collect()
    }

    /// The resource that the webhook is registered for, as rules and roles name it: `pods`, or `pods/eviction`.
    pub fn resource_name(&self) -> Cow<'static, str> {
        match &self.subresource {
            Some(subresource) => format!("{}/{}", subresource.plural, subresource.name).into(),
            None => self.plural.clone(),
        }
    }

    pub(crate) fn resource_scope(&self) -> Scope {
        self.subresource.as_ref().map_or(self.scope, |subresource| subresource.scope)
    }

    /// The namespaces whose objects are not sent, because the webhook or the network could not come up again if they were:
    /// `kube-system` and the release's own, for kinds that a Pod needs in order to start.
    /// [`Webhook::in_every_namespace`](crate::Webhook::in_every_namespace) takes that back.
    pub fn bootstrap_namespaces<'a>(&self, of_release: &'a str) -> Option<[&'a str; 2]> {
        let is_left_out = self.registration.bootstrap == Bootstrap::LeftOut
            && self.resource_scope() == Scope::Namespaced
            && is_needed_by_pods(self.resource_group());
        is_left_out.then_some(["kube-system", of_release])
    }

    /// The versions of that resource whose requests are sent.
    pub(crate) fn resource_versions(&self, endpoint: &Endpoint) -> Vec<Cow<'static, str>> {
        match &self.subresource {
            Some(subresource) if !subresource.of.same_kind(&self.hub) => vec![subresource.of.version.clone().into()],
            _ => endpoint.versions.clone().unwrap_or_else(|| self.versions.clone()),
        }
    }

    /// Whether the webhook is about objects of this group, version and kind themselves, and not of any kind there is.
    pub fn is_about(&self, gvk: &GroupVersionKind) -> bool {
        self.subresource.is_none() && !self.is_of_any_kind() && self.is_asked_about(gvk)
    }

    /// Whether the webhook is for all kinds, of one group or of all.
    pub fn is_of_any_kind(&self) -> bool {
        self.hub.kind == ANY
    }

    /// Whether objects of this kind are this declaration's to convert.
    pub(crate) fn converts_objects_of(&self, gvk: &GroupVersionKind) -> bool {
        self.subresource.is_none() && self.hub.same_kind(gvk)
    }

    /// Whether requests for the webhook can carry objects of this group, version and kind.
    pub(crate) fn is_asked_about(&self, gvk: &GroupVersionKind) -> bool {
        let is_one = |declared: &str, asked: &str| declared == ANY || declared == asked;
        is_one(&self.hub.group, &gvk.group) && is_one(&self.hub.kind, &gvk.kind) && self.has_version(&gvk.version)
    }

    /// Whether the version has handlers or a conversion.
    pub fn has_version(&self, version: &str) -> bool {
        self.versions.iter().any(|known| known == version || known == ANY)
    }

    pub(crate) fn endpoint(&self, review: Review) -> Option<&Endpoint> {
        match review {
            Review::Validate => self.validating.as_ref(),
            Review::Mutate => self.mutating.as_ref(),
            Review::Convert => None,
        }
    }
}
