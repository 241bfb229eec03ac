//! From the bytes of a request to those of its answer.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::patch::Patch;
use crate::rule::context::{Context, Facts, Notes};
use crate::rule::review_subject::ReviewSubject;
use crate::rule::verdict::Verdict;
use crate::webhooks::declaration::{Declaration, DeletingObjects, RawReviews, ScaleReviews};
use crate::webhooks::webhook_error::WebhookError;
use crate::webhooks::{KindRoute, Target, WebhookRoute, Webhooks, completeness, metadata, scale};
use crate::wire::decision::Skip;
use crate::wire::operation::Operation;
use crate::wire::request::Request;
use crate::wire::response::{ReviewResponse, undecided};
use crate::wire::review::{AdmissionReview, Review};

/// What one webhook makes of a review.
enum Judged {
    /// It has judged the object, or defaulted it.
    Verdict(Verdict, Patch),
    /// The object passes unjudged.
    Skipped(Skip),
}

impl Webhooks {
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
            Target::Conversion => return self.answer_conversion(body, context).await,
            Target::Kind(route) => route,
        };
        match AdmissionReview::read(body) {
            Ok(about) => self.judge(route.review, &[route], about, context).await,
            Err(why) => ReviewResponse::error_about(route.review, &Request::default(), why),
        }
    }

    /// Answers one review whose kind, not a path, says who judges it: all entries of the kind together. A kind without a
    /// handler of this sort passes.
    ///
    /// For reviews that come from a file or an audit log. What only an API server evaluates, selectors and conditions, is
    /// not asked.
    pub async fn handle_kind(&self, review: Review, body: &[u8], context: &Context) -> ReviewResponse {
        if review == Review::Convert {
            return self.answer_conversion(body, context).await;
        }
        match AdmissionReview::read(body) {
            Ok(about) => {
                let routes = self.routes_of(review, about.operation, &about.request);
                self.judge(review, &routes, about, context).await
            }
            Err(why) => ReviewResponse::error_about(review, &Request::default(), why),
        }
    }

    /// Whether a webhook of this sort is for what the request is about.
    #[cfg(feature = "testing")]
    pub(crate) fn serves(&self, review: Review, request: &Request) -> bool {
        self.declarations().any(|declared| covers(declared, request) && declared.path(review).is_some())
    }

    /// Those of all entries for what the request is about.
    fn routes_of(&self, review: Review, operation: Option<Operation>, request: &Request) -> Vec<KindRoute> {
        let covering = || self.declarations().filter(|declared| covers(declared, request));
        // The webhook of a subresource before that of its kind.
        let Some(chosen) = covering().max_by_key(|declared| declared.subresource.is_some()) else { return Vec::new() };
        let entries = || covering().filter(|declared| declared.subresource == chosen.subresource);
        // An entry gets no request for an operation that it isn't registered for.
        let is_registered = |declared: &&Declaration| operation.is_some_and(|it| declared.handles(review, it));
        let registered = entries().any(|declared| is_registered(&declared));
        let asked = entries().filter(|declared| !registered || is_registered(declared));
        asked.filter_map(|declared| self.routes.get(&declared.path(review)?).copied()).collect()
    }

    async fn judge(
        &self,
        asked: Review,
        routes: &[KindRoute],
        mut review: AdmissionReview<'_>,
        context: &Context,
    ) -> ReviewResponse {
        review.request = review.request.in_context(context);
        metadata::complete(&mut review);
        context.began(|| undecided(asked, &review.request));
        let mut judged = Judged::Skipped(Skip::NoHandler);
        let mut object: Option<Box<RawValue>> = None;
        for &route in routes {
            let defaulted = object.as_deref().map(|object| review.with_object(object));
            let about = defaulted.as_ref().unwrap_or(&review);
            let (further, patched) = match self.judge_by(route, about, context).await {
                Ok(further) if routes.len() == 1 => (further, None),
                Ok(further) => {
                    let patched = further.patched(about.object);
                    (further, patched)
                }
                Err(why) => return ReviewResponse::error_about(asked, &review.request, why),
            };
            judged = judged.and(further);
            object = patched.or(object);
        }
        match judged {
            Judged::Verdict(verdict, patch) => {
                ReviewResponse::verdict(asked, &review, verdict, patch, |_| context.notes == Notes::AsWarnings)
            }
            Judged::Skipped(skip) => ReviewResponse::skipped(asked, &review, skip),
        }
    }

    async fn judge_by(
        &self,
        route: KindRoute,
        review: &AdmissionReview<'_>,
        context: &Context,
    ) -> Result<Judged, WebhookError> {
        let unknown = || WebhookError::UnknownPath("a route of other webhooks".into());
        let kind = self.kinds.get(route.kind).ok_or_else(unknown)?;
        let declared = kind.declaration();
        if !covers(declared, &review.request) {
            return Err(wrong_kind(declared, &review.request));
        }
        if let Some(skip) = skip(route.review, declared, review, context).await {
            return Ok(Judged::Skipped(skip));
        }
        if !review.operation.is_some_and(|operation| declared.handles(route.review, operation)) {
            return Ok(Judged::Verdict(unsupported(&review.operation_name), Patch::default()));
        }
        let kept = (declared.raw_reviews == RawReviews::Kept).then(|| review.with_raw_review());
        let review = kept.as_ref().unwrap_or(review);
        let judged = match route.review {
            Review::Mutate => kind.default(review).await,
            Review::Validate if is_scale_of(declared, &review.request) => {
                kind.validate_scale(review).await.map(|verdict| (verdict, Patch::default()))
            }
            Review::Validate | Review::Convert => {
                kind.validate(review).await.map(|verdict| (verdict, Patch::default()))
            }
        };
        Ok(judged.map_or(Judged::Skipped(Skip::NoHandler), |(verdict, patch)| Judged::Verdict(verdict, patch)))
    }
}

impl Judged {
    /// The object with the defaults of an entry, as the next entry gets it.
    fn patched(&self, object: Option<&RawValue>) -> Option<Box<RawValue>> {
        let Self::Verdict(_, patch) = self else { return None };
        if patch.is_empty() {
            return None;
        }
        let mut document = serde_json::from_str(object?.get()).ok()?;
        patch.apply(&mut document).ok()?;
        RawValue::from_string(document.to_string()).ok()
    }

    /// What two entries say together.
    fn and(self, further: Self) -> Self {
        match (self, further) {
            (Self::Verdict(mut verdict, patch), Self::Verdict(other, further)) => {
                verdict.merge(other);
                Self::Verdict(verdict, patch.then(further))
            }
            (verdict @ Self::Verdict(..), Self::Skipped(_)) | (Self::Skipped(_), verdict @ Self::Verdict(..)) => {
                verdict
            }
            // Why a handler of the operation passes the object says more than that no handler judges it.
            (Self::Skipped(Skip::NoHandler), skipped) | (skipped @ Self::Skipped(_), Self::Skipped(_)) => skipped,
        }
    }
}

/// Why the object passes unjudged, if it does.
async fn skip(asked: Review, declared: &Declaration, review: &AdmissionReview<'_>, context: &Context) -> Option<Skip> {
    if is_claimed(asked, declared, review, context.facts.as_ref()).await {
        return Some(Skip::ClaimedNamespace);
    }
    if declared.deleting_objects == DeletingObjects::Skip && metadata::is_terminating(review) {
        return Some(Skip::Terminating);
    }
    // What a view lacks would be lost with the finalizers, unless the object goes anyway.
    let loses_nothing = || !completeness::is_labelled(declared, review) || metadata::is_terminating(review);
    if metadata::removes_finalizers_alone(review) && loses_nothing() {
        return Some(Skip::FinalizersRemoved);
    }
    let on_objects = review.operation.filter(|operation| *operation != Operation::Connect);
    on_objects.filter(|operation| !declared.handles(asked, *operation)).map(|_| Skip::NoHandler)
}

/// Whether another operator has claimed what the review is about. No claim covers an object without a namespace.
async fn is_claimed(asked: Review, declared: &Declaration, review: &AdmissionReview<'_>, facts: &dyn Facts) -> bool {
    let request = &review.request;
    let Some(namespace) = request.namespace.as_deref() else { return false };
    let written = request.request_kind.as_ref().filter(|kind| kind.same_kind(&request.kind)).unwrap_or(&request.kind);
    let mut versions: Vec<&str> = declared.versions.iter().map(AsRef::as_ref).collect();
    let (mut group, mut resource) = (declared.resource_group(), declared.resource_name());
    if declared.is_of_any_kind() {
        versions = vec![&written.version];
        (group, resource) = (&request.resource.group, Cow::Borrowed(request.resource.resource.as_str()));
    }
    let subject = ReviewSubject {
        namespace,
        group,
        resource: &resource,
        version: &written.version,
        versions: &versions,
        operation: review.operation,
        review: asked,
    };
    facts.claims(&subject).await
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
    let addressed = match &declared.subresource {
        Some(subresource) => {
            let found = (&*request.resource.group, &*request.resource.resource, request.sub_resource.as_deref());
            found == (&*subresource.of.group, &*subresource.plural, Some(subresource.name))
        }
        // The rule `*` matches no subresource.
        None => !declared.is_of_any_kind() || request.sub_resource.is_none(),
    };
    addressed && (declared.is_asked_about(&request.kind) || is_scale_of(declared, request))
}

/// Whether the request changes the subresource `scale` of a kind whose rules on updates judge that.
fn is_scale_of(declared: &Declaration, request: &Request) -> bool {
    declared.scale == ScaleReviews::AsUpdates && scale::is_scale(request, &declared.hub.group, &declared.plural)
}

/// How many characters of a kind are quoted. A name has at most 63, a group 253.
const LONGEST_KIND: usize = 400;

fn wrong_kind(declared: &Declaration, request: &Request) -> WebhookError {
    let versions = declared.versions.join(" and ");
    let kind = &declared.hub.kind;
    let group = if declared.hub.group.is_empty() { "the core group" } else { &declared.hub.group };
    let resource = declared.subresource.as_ref().map(|_| format!(" at {}", declared.resource_name()));
    let found: String = request.kind.to_string().chars().take(LONGEST_KIND).collect();
    let resource = resource.unwrap_or_default();
    WebhookError::Unreadable(format!(
        "this path is for {kind} of {group} in {versions}{resource}; the request is about {found}"
    ))
}
