//! A declared kind at work: its objects judged, defaulted and converted.

use std::sync::Arc;

use serde_json::Value;

use crate::conversion::ConversionError;
use crate::conversion::attempt::Attempt;
use crate::conversion::keys::ConversionKeys;
use crate::conversion::origins::Origins;
use crate::conversion::provenance::Direction;
use crate::conversion::source::Source;
use crate::json::patch::Patch;
use crate::rule::UNKNOWN;
use crate::rule::field::FieldPath;
use crate::rule::issue::Issues;
use crate::rule::resource::GroupVersionKind;
use crate::rule::review_object::ReviewObject;
use crate::rule::verdict::Verdict;
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::completeness::{InHub, complete};
use crate::webhooks::converter::{AnyConversion, ConversionSettings};
use crate::webhooks::declaration::Declaration;
use crate::webhooks::dynamic_kind::ANY;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::future::BoxFuture;
use crate::webhooks::webhook::{LackOfDefaults, Spoke, Webhook};
use crate::webhooks::{judge, scale};
use crate::wire::operation::Operation;
use crate::wire::review::{AdmissionReview, Review};

/// The object with the mark of all that was left out on the way over the hub.
fn marked(converted: &Attempt, keys: &ConversionKeys) -> Result<String, ConversionError> {
    Source::read(&converted.json)?.marked(keys, &converted.left_out)
}

impl<H: ReviewObject> AnyKind for Webhook<H> {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn use_keys(&mut self, keys: &Arc<ConversionKeys>) {
        self.declaration.keys = Arc::clone(keys);
    }

    fn problems(&self) -> Vec<WebhooksError> {
        let of_declaration = self.declaration.problems();
        let unjudged = self.spokes.iter().filter(|spoke| self.leaves_unjudged(spoke));
        let unjudged = unjudged.map(|spoke| WebhooksError::Unjudged {
            hub: self.declaration.hub.to_string(),
            version: spoke.version.to_string(),
        });
        let without_defaults = self.spokes.iter().filter(|spoke| self.leaves_without_defaults(spoke));
        let without_defaults = without_defaults.map(|spoke| WebhooksError::Undefaulted {
            hub: self.declaration.hub.to_string(),
            version: spoke.version.to_string(),
        });
        let judges_updates =
            !self.validators.is_empty() && self.declaration.handles(Review::Validate, Operation::Update);
        let scale = (self.set_replicas.is_some() && !judges_updates)
            .then(|| WebhooksError::UnjudgedScale { kind: self.declaration.hub.to_string() });
        let of_spokes = unjudged.chain(without_defaults).chain(self.gaps());
        self.problems.iter().cloned().chain(of_declaration).chain(scale).chain(of_spokes).collect()
    }

    fn validate<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>> {
        Box::pin(async move {
            let (verdict, in_hub) = if self.is_of_hub(review) {
                (judge::validate(&self.validators, review).await, InHub::Untried)
            } else {
                let spoke = self.spoke_of(review)?;
                if let Some(as_written) = &spoke.validating {
                    (as_written.call(review).await, InHub::Untried)
                } else {
                    judge::validate_in_hub(spoke.lift.as_deref()?, self.settings(), &self.validators, review).await
                }
            };
            Some(complete(verdict, self, review, in_hub))
        })
    }

    fn validate_scale<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>> {
        Box::pin(async move {
            let set_replicas = self.set_replicas.as_ref()?;
            Some(scale::validate(&self.declaration, &self.validators, set_replicas, review).await)
        })
    }

    fn scaled(&self, json: &str, replicas: i32) -> Option<Value> {
        scale::scaled(self.set_replicas.as_ref()?, json, replicas)
    }

    fn convert(&self, source: &Source<'_>, version: &str, issues: &mut Issues) -> Result<Attempt, ConversionError> {
        let own = GroupVersionKind::of(&source.envelope.api_version, &source.envelope.kind).version;
        if own == self.declaration.hub.version {
            return self.conversion_of(version)?.to_spoke(source, self.settings(), issues);
        }
        let spoke = self.conversion_of(&own)?;
        let hub = spoke.to_hub(source, self.settings(), issues)?;
        if version == self.declaration.hub.version {
            return Ok(hub);
        }
        let mut further = Issues::new();
        let other = self.conversion_of(version)?;
        let converted = other.to_spoke(&Source::read(&hub.json)?, self.settings(), &mut further);
        // The first half has noted them.
        let further: Issues = further.into_iter().filter(|issue| issue.rule != UNKNOWN.id).collect();
        let is_smooth = converted.as_ref().is_ok_and(|converted| converted.left_out.is_empty());
        if is_smooth && further.is_empty() && hub.left_out.is_empty() {
            return converted;
        }
        // The second half names fields of the hub, which the user didn't write.
        let provenance = spoke.provenance_of(source.json, self.settings());
        issues.extend(further.map_paths(|path, _| provenance.trace(path)));
        let mut converted =
            converted.map_err(|error| ConversionError { path: provenance.trace(&error.path), ..error })?;
        let of_second = converted.left_out.iter().map(|path| provenance.trace(path));
        converted.left_out = hub.left_out.into_iter().chain(of_second).collect();
        converted.json = marked(&converted, self.settings().keys)?;
        Ok(converted)
    }

    fn origins(&self, object: &Source<'_>, converted: &Source<'_>) -> Origins {
        let of_spoke = |source: &Source<'_>| {
            let version = GroupVersionKind::of(&source.envelope.api_version, &source.envelope.kind).version;
            let conversion = self.conversion_of(&version).ok()?;
            Some(conversion.provenance_of(source.json, self.settings()))
        };
        let (to_hub, from_hub) = (of_spoke(object).map(Direction::ToHub), of_spoke(converted).map(Direction::FromHub));
        Origins::over(to_hub.into_iter().chain(from_hub).collect())
    }

    fn default<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<(Verdict, Patch)>> {
        Box::pin(async move {
            if self.is_of_hub(review) {
                return Some(judge::default(&self.defaulters, review).await);
            }
            let as_written = self.spoke_of(review)?.defaulting.as_ref()?;
            Some(as_written.call(review).await)
        })
    }
}

impl<H: ReviewObject> Webhook<H> {
    fn settings(&self) -> ConversionSettings<'_> {
        ConversionSettings { schemas: self.schemas.as_deref(), keys: self.declaration.conversion_keys() }
    }

    fn is_of_hub(&self, review: &AdmissionReview<'_>) -> bool {
        let hub = &self.declaration.hub.version;
        *hub == review.request.kind.version || hub == ANY
    }

    fn spoke_of(&self, review: &AdmissionReview<'_>) -> Option<&Spoke<H>> {
        self.spokes.iter().find(|spoke| spoke.version == review.request.kind.version)
    }

    fn conversion_of(&self, version: &str) -> Result<&dyn AnyConversion<H>, ConversionError> {
        let spoke = self.spokes.iter().find(|spoke| spoke.version == version);
        spoke.and_then(|spoke| spoke.lift.as_deref()).ok_or_else(|| ConversionError {
            path: FieldPath::field("apiVersion"),
            message: format!("{} has no conversion for version {version}", self.declaration.hub.kind),
        })
    }

    /// Versions between which objects could not be converted although others can.
    fn gaps(&self) -> impl Iterator<Item = WebhooksError> {
        let converts = self.spokes.iter().any(|spoke| spoke.lift.is_some());
        let gaps = self.spokes.iter().filter(move |spoke| converts && spoke.lift.is_none());
        gaps.map(|spoke| WebhooksError::NoConversion {
            hub: self.declaration.hub.to_string(),
            version: spoke.version.to_string(),
        })
    }

    /// Whether objects of the hub are given defaults, but none of the spoke's, although they are sent.
    fn leaves_without_defaults(&self, spoke: &Spoke<H>) -> bool {
        let sent = self.declaration.mutating.as_ref().is_some_and(|endpoint| endpoint.lists(&spoke.version));
        let lacks_them = spoke.defaulting.is_none() && spoke.lack_of_defaults == LackOfDefaults::Unexplained;
        sent && !self.defaulters.is_empty() && lacks_them
    }

    /// Whether the hub's rules judge objects, but none would judge those of the spoke, although they are sent.
    fn leaves_unjudged(&self, spoke: &Spoke<H>) -> bool {
        let sent = self.declaration.validating.as_ref().is_some_and(|endpoint| endpoint.lists(&spoke.version));
        sent && !self.validators.is_empty() && spoke.validating.is_none() && spoke.lift.is_none()
    }
}
