//! The webhooks: kinds are declared once; routing, manifests and the catalogue follow.

mod any_kind;
mod completeness;
mod convert;
mod converter;
pub mod declaration;
pub mod endpoint;
mod error;
pub mod future;
mod judge;
mod metadata;
mod objects;
mod read;
pub mod registration;
mod scale;
pub mod subresource;
pub mod webhook;
pub mod webhook_error;

use std::collections::{BTreeMap, BTreeSet};

use crate::json::patch::Patch;
use crate::rule::context::{Context, Facts, Notes};
use crate::rule::plain_kind::is_subdomain;
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::rule::review_subject::ReviewSubject;
use crate::rule::verdict::Verdict;
use crate::rule::{DECODE, Rule};
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::declaration::{Declaration, DeletingObjects, ScaleReviews};
pub use crate::webhooks::error::WebhooksError;
use crate::webhooks::webhook::Webhook;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::operation::Operation;
use crate::wire::request::Request;
use crate::wire::response::{ReviewResponse, Skip};
use crate::wire::review::{AdmissionReview, Review};

/// All kinds of an operator, and the one function through which every verdict passes.
///
/// See [`Webhook`] for an example of a declaration.
#[derive(Default)]
pub struct Webhooks {
    kinds: Vec<Box<dyn AnyKind>>,
    routes: BTreeMap<String, KindRoute>,
    problems: Vec<WebhooksError>,
    conversion: Option<&'static str>,
}

/// What serves a path of the webhooks that gave it: see [`Webhooks::route`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookRoute(Target);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Conversion,
    Kind(KindRoute),
}

/// The validation or the defaulting of a kind, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct KindRoute {
    kind: usize,
    review: Review,
}

impl From<WebhookRoute> for Review {
    fn from(WebhookRoute(target): WebhookRoute) -> Self {
        match target {
            Target::Conversion => Self::Convert,
            Target::Kind(route) => route.review,
        }
    }
}

impl Webhooks {
    /// No kinds yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a kind.
    pub fn register<H: Resource>(mut self, webhook: Webhook<H>) -> Self {
        let index = self.kinds.len();
        self.problems.extend(self.declared_before(webhook.declaration()));
        self.problems.extend(webhook.problems());
        for review in [Review::Validate, Review::Mutate] {
            for path in webhook.declaration().paths(review) {
                self.serve(path, KindRoute { kind: index, review }, webhook.declaration());
            }
        }
        self.kinds.push(Box::new(webhook));
        self
    }

    /// The path that conversion stanzas name, where the usual `/convert` doesn't do.
    pub fn convert_at(mut self, path: &'static str) -> Self {
        self.conversion = Some(path);
        self
    }

    /// The path that conversion stanzas name.
    pub fn conversion_path(&self) -> &'static str {
        self.conversion.unwrap_or("/convert")
    }

    /// Whether the declarations go together; the shell asks before it serves.
    pub fn check(&self) -> Result<(), WebhooksError> {
        let conversion = self.conversion_path();
        if let Some(taken) = self.routes.get(conversion).filter(|_| self.converts()) {
            let (path, first) = (conversion.to_owned(), self.kinds[taken.kind].declaration().hub.kind.clone());
            return Err(WebhooksError::PathTaken { path, first, second: "conversion".into() });
        }
        let alone = self.kinds.is_empty().then_some(WebhooksError::NoKinds);
        let problem =
            self.problems.iter().cloned().chain(self.name_twice()).chain(self.rule_twice()).chain(alone).next();
        problem.map_or(Ok(()), Err)
    }

    fn name_twice(&self) -> Option<WebhooksError> {
        [Review::Validate, Review::Mutate].into_iter().find_map(|review| {
            let mut names = BTreeSet::new();
            let mut all = self.declarations().filter_map(|declared| declared.webhook_name(review));
            all.find(|name| !names.insert(name.clone())).map(|name| WebhooksError::NameTwice { name })
        })
    }

    /// A rule may be declared for several kinds; two rules may not have one name.
    fn rule_twice(&self) -> Option<WebhooksError> {
        let mut rules = BTreeMap::new();
        let mut all = self.declarations().flat_map(|declared| declared.rules.iter().copied());
        all.find(|rule| rules.insert(rule.id, *rule).is_some_and(|known| known != *rule))
            .map(|rule| WebhooksError::RuleTwice { id: rule.id })
    }

    /// What serves `path`, for [`Self::handle_route`].
    pub fn route(&self, path: &str) -> Option<WebhookRoute> {
        let conversion = (self.converts() && path == self.conversion_path()).then_some(Target::Conversion);
        conversion.or_else(|| self.routes.get(path).copied().map(Target::Kind)).map(WebhookRoute)
    }

    /// Whether objects of any kind are converted between versions.
    pub fn converts(&self) -> bool {
        self.declarations().any(Declaration::converts)
    }

    /// All served paths.
    pub fn paths(&self) -> impl Iterator<Item = (&str, Review)> {
        let conversion = self.converts().then(|| (self.conversion_path(), Review::Convert));
        self.routes.iter().map(|(path, route)| (path.as_str(), route.review)).chain(conversion)
    }

    /// The declared kinds, in order.
    pub fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.kinds.iter().map(|kind| kind.declaration())
    }

    /// The declaration that covers this group, version and kind.
    pub fn declaration_of(&self, gvk: &GroupVersionKind) -> Option<&Declaration> {
        self.declarations().find(|declared| declared.is_about(gvk))
    }

    /// The path that judges or defaults objects of this group, version and kind.
    pub fn path_of(&self, review: Review, gvk: &GroupVersionKind) -> Option<String> {
        self.declaration_of(gvk)?.path(review)
    }

    /// The rule catalogue: each rule once, in the order of declaration, and the one that core itself enforces.
    pub fn rules(&self) -> Vec<&'static Rule> {
        let mut rules: Vec<&'static Rule> = vec![&DECODE];
        for rule in self.declarations().flat_map(|declared| declared.rules.iter().copied()) {
            if !rules.iter().any(|known| known.id == rule.id) {
                rules.push(rule);
            }
        }
        rules
    }

    /// Answers one request: bytes in, bytes out.
    ///
    /// The shell enforces the deadline by dropping the future, and catches a panic around it.
    pub async fn handle(&self, path: &str, body: &[u8], context: &Context) -> ReviewResponse {
        match self.route(path) {
            Some(route) => self.handle_route(route, body, context).await,
            None => ReviewResponse::error(WebhookError::UnknownPath(path.chars().take(200).collect())),
        }
    }

    /// The same, for a shell that has looked the path up before it read the body.
    pub async fn handle_route(
        &self,
        WebhookRoute(target): WebhookRoute,
        body: &[u8],
        context: &Context,
    ) -> ReviewResponse {
        let route = match target {
            Target::Conversion => return self.answer_conversion(body).await,
            Target::Kind(route) => route,
        };
        match AdmissionReview::read(body) {
            Ok(review) => self.judge(route, review, context).await,
            Err(why) => ReviewResponse::error_about(route.review, &Request::default(), why),
        }
    }

    /// Answers one review whose kind, not a path, says who judges it. A kind without a handler of this sort passes.
    ///
    /// For reviews that come from a file or an audit log.
    pub async fn handle_kind(&self, review: Review, body: &[u8], context: &Context) -> ReviewResponse {
        if review == Review::Convert {
            return self.answer_conversion(body).await;
        }
        match AdmissionReview::read(body) {
            Ok(about) => match self.route_of(review, &about.request) {
                Some(route) => self.judge(route, about, context).await,
                None => ReviewResponse::skipped(review, &about, Skip::NoHandler),
            },
            Err(why) => ReviewResponse::error_about(review, &Request::default(), why),
        }
    }

    fn route_of(&self, review: Review, request: &Request) -> Option<KindRoute> {
        let covering = self.declarations().filter(|declared| covers(declared, request));
        // The webhook of a subresource before that of its kind.
        let declared = covering.max_by_key(|declared| declared.subresource.is_some())?;
        self.routes.get(&declared.path(review)?).copied()
    }

    async fn judge(&self, route: KindRoute, mut review: AdmissionReview<'_>, context: &Context) -> ReviewResponse {
        review.request = review.request.in_context(context);
        let Some(kind) = self.kinds.get(route.kind) else {
            let why = WebhookError::UnknownPath("a route of other webhooks".into());
            return ReviewResponse::error_about(route.review, &review.request, why);
        };
        let declared = kind.declaration();
        if !covers(declared, &review.request) {
            let why = wrong_kind(declared, &review.request);
            return ReviewResponse::error_about(route.review, &review.request, why);
        }
        metadata::complete(&mut review);
        if let Some(skip) = skip(route.review, declared, &review, context) {
            return ReviewResponse::skipped(route.review, &review, skip);
        }
        if !review.operation.is_some_and(|operation| declared.handles(route.review, operation)) {
            let refusal = unsupported(&review.operation_name);
            return ReviewResponse::verdict(route.review, &review, refusal, Patch::default(), |_| false);
        }
        let judged = match route.review {
            Review::Mutate => kind.default(&review).await,
            Review::Validate if is_scale_of(declared, &review.request) => {
                kind.validate_scale(&review).await.map(|verdict| (verdict, Patch::default()))
            }
            Review::Validate | Review::Convert => {
                kind.validate(&review).await.map(|verdict| (verdict, Patch::default()))
            }
        };
        match judged {
            Some((verdict, patch)) => {
                ReviewResponse::verdict(route.review, &review, verdict, patch, |_| context.notes == Notes::AsWarnings)
            }
            None => ReviewResponse::skipped(route.review, &review, Skip::NoHandler),
        }
    }

    fn declared_before(&self, second: &Declaration) -> Option<WebhooksError> {
        let is_same =
            |first: &&Declaration| first.hub.same_kind(&second.hub) && first.subresource == second.subresource;
        let first = self.declarations().find(is_same)?;
        Some(WebhooksError::KindTwice { first: first.hub.to_string(), second: second.hub.to_string() })
    }

    fn serve(&mut self, path: String, route: KindRoute, declared: &Declaration) {
        let kind = declared.hub.kind.clone();
        let is_rendered = declared.path(route.review).as_ref() == Some(&path);
        let is_taken_by_api_servers =
            || path[1..].trim_end_matches('/').split('/').all(|step| is_subdomain(step.as_bytes()));
        if !path.starts_with('/') || is_rendered && !is_taken_by_api_servers() {
            self.problems.push(WebhooksError::BadPath { path, kind });
            return;
        }
        if let Some(taken) = self.routes.get(&path) {
            // The kind that is being added has no place in the list yet: then both are the same one.
            let first =
                self.kinds.get(taken.kind).map_or_else(|| kind.clone(), |other| other.declaration().hub.kind.clone());
            self.problems.push(WebhooksError::PathTaken { path, first, second: kind });
            return;
        }
        self.routes.insert(path, route);
    }
}

/// Why the object passes unjudged, if it does.
fn skip(asked: Review, declared: &Declaration, review: &AdmissionReview<'_>, context: &Context) -> Option<Skip> {
    if is_claimed(asked, declared, review, context.facts.as_ref()) {
        return Some(Skip::ClaimedNamespace);
    }
    if declared.deleting_objects == DeletingObjects::Skip && metadata::is_terminating(review) {
        return Some(Skip::Terminating);
    }
    // What a view lacks would be lost with the finalizers, unless the object goes anyway.
    let loses_nothing = || !completeness::is_labelled(review) || metadata::is_terminating(review);
    if metadata::removes_finalizers_alone(review) && loses_nothing() {
        return Some(Skip::FinalizersRemoved);
    }
    let on_objects = review.operation.filter(|operation| *operation != Operation::Connect);
    on_objects.filter(|operation| !declared.handles(asked, *operation)).map(|_| Skip::NoHandler)
}

/// Whether another operator has claimed what the review is about. Nobody claims an object without a namespace.
fn is_claimed(asked: Review, declared: &Declaration, review: &AdmissionReview<'_>, facts: &dyn Facts) -> bool {
    let request = &review.request;
    let Some(namespace) = request.namespace.as_deref() else { return false };
    let written = request.request_kind.as_ref().filter(|kind| kind.same_kind(&request.kind)).unwrap_or(&request.kind);
    let versions: Vec<&str> = declared.versions.iter().map(AsRef::as_ref).collect();
    facts.claims(&ReviewSubject {
        namespace,
        group: declared.resource_group(),
        resource: &declared.resource_name(),
        version: &written.version,
        versions: &versions,
        operation: review.operation,
        review: asked,
    })
}

/// Of objects that are made, changed or removed, a handler may have no opinion. Whatever else is done is refused where
/// no declaration says what it means.
fn unsupported(operation: &str) -> Verdict {
    Verdict::deny(format!("the operation {} is not supported", operation.chars().take(64).collect::<String>()))
        .code(422)
}

/// Whether the request is one for the webhook. One about an object itself may carry a subresource, which says that only
/// a part of it is written.
fn covers(declared: &Declaration, request: &Request) -> bool {
    let addressed = declared.subresource.as_ref().is_none_or(|subresource| {
        let found = (&*request.resource.group, &*request.resource.resource, request.sub_resource.as_deref());
        found == (&*subresource.of.group, &*subresource.plural, Some(subresource.name))
    });
    addressed && (declared.is_asked_about(&request.kind) || is_scale_of(declared, request))
}

/// Whether the request changes the subresource `scale` of a kind whose rules on updates judge that.
fn is_scale_of(declared: &Declaration, request: &Request) -> bool {
    declared.scale == ScaleReviews::AsUpdates && scale::is_scale(request, &declared.hub.group, &declared.plural)
}

fn wrong_kind(declared: &Declaration, request: &Request) -> WebhookError {
    let versions = declared.versions.join(" and ");
    let kind = &declared.hub.kind;
    let group = if declared.hub.group.is_empty() { "the core group" } else { &declared.hub.group };
    let resource = declared.subresource.as_ref().map(|_| format!(" at {}", declared.resource_name()));
    let (resource, found) = (resource.unwrap_or_default(), &request.kind);
    WebhookError::Unreadable(format!(
        "this path is for {kind} of {group} in {versions}{resource}; the request is about {found}"
    ))
}
