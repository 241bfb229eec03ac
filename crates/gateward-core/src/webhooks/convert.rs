//! Conversion: one object, or all objects of a ConversionReview.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::conversion::origins::Origins;
use crate::conversion::source::Source;
use crate::conversion::{ConversionError, Converted};
use crate::rule::context::Context;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;
use crate::rule::resource::GroupVersionKind;
use crate::webhooks::Webhooks;
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::future::give_way;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::conversion_review::{ConversionReview, ConvertedObjects, failure};
use crate::wire::decision::{Decision, Outcome};
use crate::wire::response::ReviewResponse;
use crate::wire::review::Review;

/// After how many bytes of objects other requests get a turn.
const TURN: usize = 256 * 1024;

/// How many bytes of objects are worth another thread, which costs some ten microseconds.
const WORTH_A_THREAD: usize = TURN / 8;

/// How many findings of a review are kept for the log.
const KEPT_ISSUES: usize = 64;

/// What became of some objects that follow each other in a list, up to the first that can't be converted.
struct ConvertedPart {
    objects: ConvertedObjects,
    /// How many of them the version doesn't show whole.
    incomplete: usize,
    issues: Issues,
    failure: Option<ConversionError>,
}

impl ConvertedPart {
    fn of(objects: ConvertedObjects) -> Self {
        Self { objects, incomplete: 0, issues: Issues::new(), failure: None }
    }

    fn convert(&mut self, webhooks: &Webhooks, objects: &[&RawValue], api_version: &str) {
        for object in objects {
            let mut issues = Issues::new();
            match webhooks.convert_noting(object.get(), api_version, &mut issues) {
                Ok((json, left_out)) => {
                    self.objects.push(&json);
                    self.incomplete += usize::from(!left_out.is_empty());
                }
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
            self.keep(issues);
        }
    }

    fn extend(&mut self, next: Self) {
        self.objects.extend(&next.objects);
        self.incomplete += next.incomplete;
        self.failure = next.failure;
        self.keep(next.issues);
    }

    fn keep(&mut self, issues: Issues) {
        let room = KEPT_ISSUES.saturating_sub(self.issues.len());
        self.issues.extend(issues.into_iter().take(room));
    }
}

impl Webhooks {
    /// Converts one object, JSON text, to `api_version` (`group/version`).
    ///
    /// An object that has the version already comes back as it is. Fields that no version knows stay in place where
    /// their place exists on the other side, and else in an annotation ([`ConversionKeys::preserved`](crate::conversion::ConversionKeys::preserved)). Of the metadata only
    /// labels and annotations change.
    ///
    /// ```
    /// # use gateward_core::{ConversionError, Convert, Issues, Webhook, Provenance, Webhooks};
    /// # macro_rules! entity {
    /// #     ($version:ident, $text:literal, $($field:ident),*) => {
    /// #         pub mod $version {
    /// #             use gateward_core::resource;
    /// #             use serde::{Deserialize, Serialize};
    /// #             #[derive(Serialize, Deserialize)]
    /// #             pub struct Entity { pub spec: Spec }
    /// #             #[derive(Serialize, Deserialize)]
    /// #             pub struct Spec { $(pub $field: String),* }
    /// #             resource!(Entity, concat!("example.org/", $text), "Entity", "entities");
    /// #         }
    /// #     };
    /// # }
    /// # entity!(v1, "v1", name);
    /// # entity!(v2, "v2", first, last);
    /// struct Names;
    ///
    /// impl Convert<v1::Entity, v2::Entity> for Names {
    ///     fn to_hub(&self, old: &v1::Entity, _: &mut Provenance, _: &mut Issues) -> Result<v2::Entity, ConversionError> {
    ///         let (first, last) = old.spec.name.split_once(' ').unwrap_or((&old.spec.name, ""));
    ///         Ok(v2::Entity { spec: v2::Spec { first: first.into(), last: last.into() } })
    ///     }
    ///
    ///     fn from_hub(&self, new: &v2::Entity, _: &mut Issues) -> Result<v1::Entity, ConversionError> {
    ///         let name = format!("{} {}", new.spec.first, new.spec.last).trim_end().to_owned();
    ///         Ok(v1::Entity { spec: v1::Spec { name } })
    ///     }
    /// }
    ///
    /// let webhooks = Webhooks::new().register(Webhook::<v2::Entity>::new().spoke::<v1::Entity>(Names));
    /// let object = r#"{"apiVersion":"example.org/v1","kind":"Entity","metadata":{"name":"max"},"spec":{"name":"Max Muster","x":1.0}}"#;
    /// let converted = webhooks.convert(object, "example.org/v2")?;
    /// assert_eq!(
    ///     converted.json,
    ///     r#"{"apiVersion":"example.org/v2","kind":"Entity","metadata":{"name":"max"},"spec":{"first":"Max","last":"Muster","x":1.0}}"#
    /// );
    /// # Ok::<(), ConversionError>(())
    /// ```
    pub fn convert(&self, object: &str, api_version: &str) -> Result<Converted, ConversionError> {
        let mut issues = Issues::new();
        let (json, left_out) = self.convert_noting(object, api_version, &mut issues)?;
        Ok(Converted { json: json.into_owned(), left_out, issues })
    }

    /// Where the nodes of `converted` stood in `object`, of which it was made.
    ///
    /// What the annotations of either brought with them counts as made by the conversion.
    pub fn origins(&self, object: &str, converted: &str) -> Result<Origins, ConversionError> {
        let (source, result) = (Source::read(object)?, Source::read(converted)?);
        let [own, desired] =
            [&source, &result].map(|read| GroupVersionKind::of(&read.envelope.api_version, &read.envelope.kind));
        Ok(self.kind_between(&own, &desired)?.origins(&source, &result))
    }

    /// Answers a ConversionReview: all objects, or none and why.
    pub(super) async fn answer_conversion(&self, body: &[u8], context: &Context) -> ReviewResponse {
        let review = match ConversionReview::read(body) {
            Ok(review) => review,
            Err(why) => return undecided(why),
        };
        let mut decision = self.decision(&review);
        context.began(|| decision.clone());
        let mut all = ConvertedPart::of(ConvertedObjects::answering(&review.uid, body.len()));
        let mut left = review.objects.as_slice();
        while !left.is_empty() {
            let (turn, further) = left.split_at(first_bytes(left, TURN));
            self.take_turn(turn, &review.desired_api_version, context, &mut all);
            if let Some(error) = all.failure.take() {
                return self.failed(&review, all.objects.count(), error, decision);
            }
            left = further;
            if !left.is_empty() {
                give_way().await;
            }
        }
        decision.issues = all.issues;
        decision.outcome = Outcome::Converted { objects: all.objects.count(), incomplete: all.incomplete };
        ReviewResponse { status: 200, body: all.objects.succeed(), decision }
    }

    /// Converts the objects of one turn, half of them on another thread where one is to spare.
    fn take_turn(&self, turn: &[&RawValue], api_version: &str, context: &Context, all: &mut ConvertedPart) {
        let (own, other) = turn.split_at(first_bytes(turn, bytes(turn) / 2));
        let spare = context.spare_thread.as_deref().filter(|_| bytes(other) >= WORTH_A_THREAD);
        let Some(spare) = spare else { return all.convert(self, turn, api_version) };
        let mut part = ConvertedPart::of(ConvertedObjects::default());
        spare.join(&mut || all.convert(self, own, api_version), &mut || part.convert(self, other, api_version));
        if all.failure.is_none() {
            all.extend(part);
        }
    }

    /// What is known of a review before its objects are converted: about the first one where there are several.
    fn decision(&self, review: &ConversionReview<'_>) -> Decision {
        let mut decision = Decision::error(WebhookError::Deadline);
        decision.review = Some(Review::Convert);
        decision.uid.clone_from(&review.uid);
        decision.kind = GroupVersionKind::of(&review.desired_api_version, "");
        if let Some(first) = review.objects.first().and_then(|first| Source::read(first.get()).ok()) {
            self.tell_kind(&first, &mut decision);
            if review.objects.len() == 1 {
                (decision.namespace, decision.name) = first.envelope.names();
            }
        }
        decision
    }

    /// The failure of a review: which object, and why.
    fn failed(
        &self,
        review: &ConversionReview<'_>,
        index: usize,
        error: ConversionError,
        mut decision: Decision,
    ) -> ReviewResponse {
        let mut about = String::new();
        if let Ok(object) = Source::read(review.objects[index].get()) {
            self.tell_kind(&object, &mut decision);
            (decision.namespace, decision.name) = object.envelope.names();
            about = format!(" ({} {})", cut(&object.envelope.kind), cut(&object.envelope.shown()));
        }
        let message = format!("objects[{index}]{about}: {error}");
        let body = failure(&review.uid, &message);
        decision.outcome = Outcome::NotConverted { index, path: error.path };
        decision.denial = Some(message.into());
        ReviewResponse { status: 200, body, decision }
    }

    /// A kind that isn't declared is none: it is a label of metrics, and a caller could make up any number of them.
    fn tell_kind(&self, object: &Source<'_>, decision: &mut Decision) {
        let own = GroupVersionKind::of(&object.envelope.api_version, &object.envelope.kind);
        let known = self.kinds.iter().map(|kind| &kind.declaration().hub).find(|hub| hub.same_kind(&own));
        decision.kind.kind = known.map(|hub| hub.kind.clone()).unwrap_or_default();
    }

    fn convert_noting<'a>(
        &self,
        object: &'a str,
        api_version: &str,
        issues: &mut Issues,
    ) -> Result<(Cow<'a, str>, Vec<FieldPath>), ConversionError> {
        let source = Source::read(object)?;
        let own = GroupVersionKind::of(&source.envelope.api_version, &source.envelope.kind);
        let desired = GroupVersionKind::of(api_version, &source.envelope.kind);
        let kind = self.kind_between(&own, &desired)?;
        if own.version == desired.version {
            return Ok((Cow::Borrowed(object), Vec::new()));
        }
        let converted = kind.convert(&source, &desired.version, issues)?;
        Ok((Cow::Owned(converted.json), converted.left_out))
    }

    /// The kind of an object, if it is declared in both versions.
    fn kind_between(
        &self,
        own: &GroupVersionKind,
        desired: &GroupVersionKind,
    ) -> Result<&dyn AnyKind, ConversionError> {
        let named = [("apiVersion", &own.version), ("kind", &own.kind)];
        if let Some((field, _)) = named.into_iter().find(|(_, text)| text.is_empty()) {
            let message = format!("the object has no {field}");
            return Err(ConversionError { path: FieldPath::field(field), message });
        }
        let kind = self.kinds.iter().find(|kind| kind.declaration().converts_objects_of(own));
        let refusal = |field: &'static str, why: String| {
            let (from, to) = (own.api_version(), desired.api_version());
            let message = format!("{} can't be converted from {} to {}: {why}", cut(&own.kind), cut(&from), cut(&to));
            ConversionError { path: FieldPath::field(field), message }
        };
        let kind = kind.ok_or_else(|| refusal("kind", format!("no such kind of {:?} is declared", cut(&own.group))))?;
        if own.group != desired.group {
            return Err(refusal("apiVersion", "the groups differ".into()));
        }
        let declared = kind.declaration();
        let unknown = [own, desired].into_iter().find(|gvk| !declared.has_version(&gvk.version));
        match unknown {
            None => Ok(kind.as_ref()),
            Some(_) => Err(refusal("apiVersion", format!("its versions are {}", declared.versions.join(" and ")))),
        }
    }
}

fn bytes(objects: &[&RawValue]) -> usize {
    objects.iter().map(|object| object.get().len()).sum()
}

/// How many objects, one at least, have so many bytes together.
fn first_bytes(objects: &[&RawValue], wanted: usize) -> usize {
    let mut bytes = 0;
    let reaches = |object: &&RawValue| {
        bytes += object.get().len();
        bytes >= wanted
    };
    objects.iter().position(reaches).map_or(objects.len(), |last| last + 1)
}

fn undecided(why: WebhookError) -> ReviewResponse {
    let mut answer = ReviewResponse::error(why);
    answer.decision.review = Some(Review::Convert);
    answer
}

fn cut(text: &str) -> String {
    text.chars().take(253).collect()
}
