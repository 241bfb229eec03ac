//! The declaration of one kind: its versions, handlers and how they are registered.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::sync::Arc;

use crate::conversion::attempt::Attempt;
use crate::conversion::origins::Origins;
use crate::conversion::preserved::PRESERVED;
use crate::conversion::provenance::Direction;
use crate::conversion::source::Source;
use crate::conversion::{ConversionError, Convert, StructuralSchemas};
use crate::json::patch::Patch;
use crate::rule::field::FieldPath;
use crate::rule::handler::{Defaulter, DynDefaulter, DynValidator, Validator};
use crate::rule::issue::Issues;
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::rule::verdict::Verdict;
use crate::rule::{Rule, UNKNOWN};
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::completeness::{InHub, complete};
use crate::webhooks::converter::{AnyConversion, Converter};
use crate::webhooks::declaration::{Declaration, DeletingObjects};
use crate::webhooks::endpoint::Endpoint;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::future::BoxFuture;
use crate::webhooks::judge::{self, AsWritten, Defaulting, Validating};
use crate::wire::operation::{CREATE_AND_UPDATE, Operation};
use crate::wire::review::AdmissionReview;

/// One kind with everything that is registered for it. `H` is the hub: the version that handlers judge unless they say
/// otherwise.
///
/// ```
/// # use gateward_core::{Webhook, Operation, Request, Resource, Verdict, resource};
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct TestEntity { username: String }
/// # resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");
/// fn usernames(new: &TestEntity, _: &Request) -> Verdict {
///     if new.username == "forbidden" { Verdict::deny("that name is taken") } else { Verdict::allow() }
/// }
///
/// let kind = Webhook::<TestEntity>::new().validator(usernames).on([Operation::Create]);
/// ```
pub struct Webhook<H> {
    declaration: Declaration,
    validators: Vec<Arc<dyn DynValidator<H>>>,
    defaulters: Vec<Arc<dyn DynDefaulter<H>>>,
    spokes: Vec<Spoke<H>>,
    schemas: Option<Box<dyn StructuralSchemas>>,
    problems: Vec<WebhooksError>,
}

/// What is registered for a version that is not the hub's.
struct Spoke<H> {
    version: Cow<'static, str>,
    written: TypeId,
    lift: Option<Box<dyn AnyConversion<H>>>,
    validating: Option<Box<dyn AsWritten<Verdict>>>,
    defaulting: Option<Box<dyn AsWritten<(Verdict, Patch)>>>,
}

impl<H> Webhook<H> {
    /// A kind without handlers, for creates and updates.
    // The bound stands here and not on the whole, so that the compiler says what a type lacks that is no resource.
    pub fn new() -> Self
    where
        H: Resource,
    {
        let declaration = Declaration {
            hub: H::gvk(),
            plural: H::plural(),
            scope: H::scope(),
            versions: vec![H::version()],
            operations: CREATE_AND_UPDATE.to_vec(),
            rules: Vec::new(),
            crd: None,
            conversion_annotations: Vec::new(),
            renamed_fields: &[],
            deleting_objects: DeletingObjects::Validate,
            validating: None,
            mutating: None,
        };
        let (validators, defaulters) = (Vec::new(), Vec::new());
        let (spokes, schemas, problems) = (Vec::new(), None, Vec::new());
        Self { declaration, validators, defaulters, spokes, schemas, problems }
    }
}

impl<H: Resource> Webhook<H> {
    /// Another version, read as the hub's by `conversion` and made of it. Objects of all versions with a conversion are
    /// converted into each other; [`Webhooks::convert`](crate::Webhooks::convert) shows how.
    pub fn spoke<S: Resource>(mut self, conversion: impl Convert<S, H>) -> Self {
        let annotations = &mut self.declaration.conversion_annotations;
        annotations.extend(std::iter::once(PRESERVED.annotation()).chain(conversion.annotations().iter().copied()));
        let second = self.version::<S>().lift.replace(Box::new(Converter::new(conversion)));
        if second.is_some() {
            self.problems.push(WebhooksError::TwoConversions { version: S::gvk().to_string() });
        }
        self
    }

    /// Judges the hub's version; objects of a spoke are converted first and findings come back in the user's own paths.
    pub fn validator(mut self, validator: impl Validator<H>) -> Self {
        self.validators.push(Arc::new(validator));
        self.declaration.validating.get_or_insert_default();
        self
    }

    /// Judges version `S` as the user wrote it. Objects of that version are then not converted for
    /// [`validator`](Self::validator).
    pub fn validator_for<S: Resource>(mut self, validator: impl Validator<S>) -> Self {
        let slot = self.version::<S>().validating.get_or_insert_with(|| Box::new(Validating::<S>(Vec::new())));
        // Where it is of another type, `version` has found that out.
        if let Some(Validating(validators)) = of_one_type(slot.as_mut()) {
            validators.push(Arc::new(validator));
        }
        self.declaration.validating.get_or_insert_default();
        self
    }

    /// Defaults the hub's version.
    pub fn defaulter(mut self, defaulter: impl Defaulter<H>) -> Self {
        self.defaulters.push(Arc::new(defaulter));
        self.declaration.mutating.get_or_insert_default();
        self
    }

    /// Defaults version `S` as the user wrote it.
    pub fn defaulter_for<S: Resource>(mut self, defaulter: impl Defaulter<S>) -> Self {
        let slot = self.version::<S>().defaulting.get_or_insert_with(|| Box::new(Defaulting::<S>(Vec::new())));
        if let Some(Defaulting(defaulters)) = of_one_type(slot.as_mut()) {
            defaulters.push(Arc::new(defaulter));
        }
        self.declaration.mutating.get_or_insert_default();
        self
    }

    /// The operations on which handlers run; creates and updates unless said otherwise. Other creates, updates and
    /// deletes pass; whatever else is done is refused with 422.
    pub fn on(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.declaration.operations = operations.into_iter().collect();
        self
    }

    /// Where and how the validating webhook is registered, where the usual does not do.
    pub fn validating_at(mut self, endpoint: Endpoint) -> Self {
        self.declaration.validating = Some(endpoint);
        self
    }

    /// Where and how the mutating webhook is registered, where the usual does not do.
    pub fn mutating_at(mut self, endpoint: Endpoint) -> Self {
        self.declaration.mutating = Some(endpoint);
        self
    }

    /// What becomes of updates of objects that are being deleted.
    pub fn deleting_objects(mut self, deleting_objects: DeletingObjects) -> Self {
        self.declaration.deleting_objects = deleting_objects;
        self
    }

    /// The kind's CRD as YAML.
    pub fn crd(mut self, yaml: &'static str) -> Self {
        self.declaration.crd = Some(yaml);
        self
    }

    /// Fields that other versions or earlier releases call otherwise: the former name and the present one. Where somebody
    /// writes one of the two and the version has the other beside it, the help for the unknown field proposes that.
    pub fn renamed_fields(mut self, names: &'static [(&'static str, &'static str)]) -> Self {
        self.declaration.renamed_fields = names;
        self
    }

    /// The structural schemas of the versions. Conversion holds against them what annotations bring back.
    pub fn schemas(mut self, schemas: impl StructuralSchemas) -> Self {
        self.schemas = Some(Box::new(schemas));
        self
    }

    /// The catalogue's entries for this kind.
    pub fn rules(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.declaration.rules.extend(rules);
        self
    }

    fn version<S: Resource>(&mut self) -> &mut Spoke<H> {
        let known = self.spokes.iter().position(|spoke| spoke.version == S::version());
        let position = known.unwrap_or_else(|| self.new_version::<S>());
        if self.spokes[position].written != TypeId::of::<S>() {
            self.problems.push(WebhooksError::TwoTypes { version: S::gvk().to_string() });
        }
        &mut self.spokes[position]
    }

    fn new_version<S: Resource>(&mut self) -> usize {
        if !S::gvk().same_kind(&H::gvk()) || S::version() == H::version() {
            let (hub, version) = (H::gvk().to_string(), S::gvk().to_string());
            self.problems.push(WebhooksError::NoOtherVersion { hub, version });
        }
        let hub = self.declaration.versions.len() - 1;
        self.declaration.versions.insert(hub, S::version());
        let (version, written) = (S::version(), TypeId::of::<S>());
        self.spokes.push(Spoke { version, written, lift: None, validating: None, defaulting: None });
        self.spokes.len() - 1
    }
}

/// The handlers in a slot, if they are of the type that is to be added to them.
fn of_one_type<T: Any>(slot: &mut dyn Any) -> Option<&mut T> {
    slot.downcast_mut()
}

impl<H: Resource> Default for Webhook<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// The object with the mark of all that was left out on the way over the hub.
fn marked(converted: &Attempt) -> Result<String, ConversionError> {
    Source::read(&converted.json)?.marked(&converted.left_out)
}

impl<H: Resource> AnyKind for Webhook<H> {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn problems(&self) -> Vec<WebhooksError> {
        let unjudged = self.spokes.iter().filter(|spoke| self.leaves_unjudged(spoke));
        let unjudged = unjudged
            .map(|spoke| WebhooksError::Unjudged { hub: H::gvk().to_string(), version: spoke.version.to_string() });
        self.problems.iter().cloned().chain(unjudged).chain(self.gaps()).collect()
    }

    fn validate<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>> {
        Box::pin(async move {
            let (verdict, in_hub) = if review.request.kind.version == H::version() {
                (judge::validate(&self.validators, review).await, InHub::Untried)
            } else {
                let spoke = self.spoke_of(review)?;
                if let Some(as_written) = &spoke.validating {
                    (as_written.call(review).await, InHub::Untried)
                } else {
                    let (lift, schemas) = (spoke.lift.as_deref()?, self.schemas.as_deref());
                    judge::validate_in_hub(lift, schemas, &self.validators, review).await
                }
            };
            Some(complete(verdict, self, review, in_hub))
        })
    }

    fn convert(&self, source: &Source<'_>, version: &str, issues: &mut Issues) -> Result<Attempt, ConversionError> {
        let own = GroupVersionKind::of(&source.envelope.api_version, &source.envelope.kind).version;
        if own == H::version() {
            return self.conversion_of(version)?.to_spoke(source, self.schemas.as_deref(), issues);
        }
        let spoke = self.conversion_of(&own)?;
        let hub = spoke.to_hub(source, self.schemas.as_deref(), issues)?;
        if version == H::version() {
            return Ok(hub);
        }
        let mut further = Issues::new();
        let other = self.conversion_of(version)?;
        let converted = other.to_spoke(&Source::read(&hub.json)?, self.schemas.as_deref(), &mut further);
        // The first half has noted them.
        let further: Issues = further.into_iter().filter(|issue| issue.rule != UNKNOWN.id).collect();
        let is_smooth = converted.as_ref().is_ok_and(|converted| converted.left_out.is_empty());
        if is_smooth && further.is_empty() && hub.left_out.is_empty() {
            return converted;
        }
        // The second half names fields of the hub, which the user didn't write.
        let provenance = spoke.provenance_of(source.json, self.schemas.as_deref());
        issues.extend(further.map_paths(|path, _| provenance.trace(path)));
        let mut converted =
            converted.map_err(|error| ConversionError { path: provenance.trace(&error.path), ..error })?;
        let of_second = converted.left_out.iter().map(|path| provenance.trace(path));
        converted.left_out = hub.left_out.into_iter().chain(of_second).collect();
        converted.json = marked(&converted)?;
        Ok(converted)
    }

    fn origins(&self, object: &Source<'_>, converted: &Source<'_>) -> Origins {
        let of_spoke = |source: &Source<'_>| {
            let version = GroupVersionKind::of(&source.envelope.api_version, &source.envelope.kind).version;
            let conversion = self.conversion_of(&version).ok()?;
            Some(conversion.provenance_of(source.json, self.schemas.as_deref()))
        };
        let (to_hub, from_hub) = (of_spoke(object).map(Direction::ToHub), of_spoke(converted).map(Direction::FromHub));
        Origins::over(to_hub.into_iter().chain(from_hub).collect())
    }

    fn default<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<(Verdict, Patch)>> {
        Box::pin(async move {
            if review.request.kind.version == H::version() {
                return Some(judge::default(&self.defaulters, review).await);
            }
            let as_written = self.spoke_of(review)?.defaulting.as_ref()?;
            Some(as_written.call(review).await)
        })
    }
}

impl<H: Resource> Webhook<H> {
    fn spoke_of(&self, review: &AdmissionReview<'_>) -> Option<&Spoke<H>> {
        self.spokes.iter().find(|spoke| spoke.version == review.request.kind.version)
    }

    fn conversion_of(&self, version: &str) -> Result<&dyn AnyConversion<H>, ConversionError> {
        let spoke = self.spokes.iter().find(|spoke| spoke.version == version);
        spoke.and_then(|spoke| spoke.lift.as_deref()).ok_or_else(|| ConversionError {
            path: FieldPath::field("apiVersion"),
            message: format!("{} has no conversion for version {version}", H::kind()),
        })
    }

    /// Versions between which objects could not be converted although others can.
    fn gaps(&self) -> impl Iterator<Item = WebhooksError> {
        let converts = self.spokes.iter().any(|spoke| spoke.lift.is_some());
        let gaps = self.spokes.iter().filter(move |spoke| converts && spoke.lift.is_none());
        gaps.map(|spoke| WebhooksError::NoConversion { hub: H::gvk().to_string(), version: spoke.version.to_string() })
    }

    /// Whether the hub's rules judge objects, but none would judge those of the spoke, although they are sent.
    fn leaves_unjudged(&self, spoke: &Spoke<H>) -> bool {
        let sent = self.declaration.validating.as_ref().is_some_and(|endpoint| endpoint.lists(&spoke.version));
        sent && !self.validators.is_empty() && spoke.validating.is_none() && spoke.lift.is_none()
    }
}
