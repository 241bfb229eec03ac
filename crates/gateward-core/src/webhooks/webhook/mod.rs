//! The declaration of one kind: its versions, handlers and how they are registered.

use std::any::{Any, TypeId};
mod options;

use std::borrow::Cow;
use std::sync::Arc;

use crate::conversion::attempt::Attempt;
use crate::conversion::origins::Origins;
use crate::conversion::preserved::PRESERVED;
use crate::conversion::provenance::Direction;
use crate::conversion::source::Source;
use crate::conversion::{ConversionError, Convert, StructuralSchemas};
use crate::json::patch::Patch;
use crate::manifest::crd::Crd;
use crate::rule::field::FieldPath;
use crate::rule::into_handler::{DynDefaulter, DynValidator, IntoDefaulter, IntoValidator, Operations};
use crate::rule::issue::Issues;
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::rule::verdict::Verdict;
use crate::rule::{Rule, UNKNOWN};
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::completeness::{InHub, complete};
use crate::webhooks::converter::{AnyConversion, Converter};
use crate::webhooks::declaration::{Declaration, DeletingObjects, ScaleReviews};
use crate::webhooks::error::WebhooksError;
use crate::webhooks::future::BoxFuture;
use crate::webhooks::judge::{self, AsWritten, Defaulting, Validating};
use crate::webhooks::registration::Registration;
use crate::webhooks::scale::{self, SetReplicas};
use crate::wire::operation::Operation;
use crate::wire::review::AdmissionReview;
use crate::wire::review::Review;

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
///
/// The webhook is registered for the operations that its handlers judge.
pub struct Webhook<H> {
    declaration: Declaration,
    validators: Vec<Arc<dyn DynValidator<H>>>,
    defaulters: Vec<Arc<dyn DynDefaulter<H>>>,
    spokes: Vec<Spoke<H>>,
    schemas: Option<Box<dyn StructuralSchemas>>,
    set_replicas: Option<SetReplicas<H>>,
    problems: Vec<WebhooksError>,
}

/// What is registered for a version that is not the hub's.
struct Spoke<H> {
    version: Cow<'static, str>,
    written: TypeId,
    lift: Option<Box<dyn AnyConversion<H>>>,
    validating: Option<Box<dyn AsWritten<Verdict>>>,
    defaulting: Option<Box<dyn AsWritten<(Verdict, Patch)>>>,
    lack_of_defaults: LackOfDefaults,
}

/// Why a version has no defaulter, where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LackOfDefaults {
    /// Nobody has said.
    Unexplained,
    /// It is to have none.
    Intended,
}

impl<H> Webhook<H> {
    /// A kind without handlers.
    // The bound stands here and not on the whole, so that the compiler says what a type lacks that is no resource.
    pub fn new() -> Self
    where
        H: Resource,
    {
        let declaration = Declaration {
            hub: H::gvk(),
            plural: H::plural(),
            scope: H::scope(),
            subresource: None,
            scale: ScaleReviews::NotSent,
            registration: Registration::default(),
            versions: vec![H::version()],
            validated: Vec::new(),
            defaulted: Vec::new(),
            only_on: None,
            rules: Vec::new(),
            crd: None,
            conversion_annotations: Vec::new(),
            lookups: Vec::new(),
            renamed_fields: &[],
            deleting_objects: DeletingObjects::Validate,
            validating: None,
            mutating: None,
        };
        let (validators, defaulters) = (Vec::new(), Vec::new());
        let (spokes, problems) = (Vec::new(), Vec::new());
        Self { declaration, validators, defaulters, spokes, schemas: None, set_replicas: None, problems }
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
    ///
    /// A validator is an implementation of [`Validator`](crate::Validator), or a function of the new object and the
    /// request, which judges creates and updates. It may be asynchronous, and a closure.
    ///
    /// ```
    /// # use gateward_core::{Request, Verdict, Webhook, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter { name: String }
    /// # resource!(Otter, "example.org/v1", "Otter", "otters");
    /// async fn named(new: &Otter, _: &Request) -> Result<(), Verdict> {
    ///     if new.name.is_empty() { Err(Verdict::deny("an otter has a name")) } else { Ok(()) }
    /// }
    ///
    /// let short = async |new: &Otter, _: &Request| match new.name.len() {
    ///     0..30 => Verdict::allow(),
    ///     _ => Verdict::deny("nobody can call that"),
    /// };
    /// let kind = Webhook::<Otter>::new().validator(named).validator(short);
    /// ```
    pub fn validator<M>(mut self, validator: impl IntoValidator<H, M>) -> Self {
        let validator = validator.into_validator();
        self.judged_on(Review::Validate, validator.operations);
        self.validators.push(validator.validator);
        self
    }

    /// Judges version `S` as the user wrote it. Objects of that version are then not converted for
    /// [`validator`](Self::validator).
    pub fn validator_for<S: Resource, M>(mut self, validator: impl IntoValidator<S, M>) -> Self {
        let validator = validator.into_validator();
        self.judged_on(Review::Validate, validator.operations);
        let slot = self.version::<S>().validating.get_or_insert_with(|| Box::new(Validating::<S>(Vec::new())));
        // Where it is of another type, `version` has found that out.
        if let Some(Validating(validators)) = of_one_type(slot.as_mut()) {
            validators.push(validator.validator);
        }
        self
    }

    /// Defaults the hub's version.
    ///
    /// A defaulter is an implementation of [`Defaulter`](crate::Defaulter), or a function of the new object and the
    /// request, which is asked on creates and updates. It may be asynchronous, and a closure.
    pub fn defaulter<M>(mut self, defaulter: impl IntoDefaulter<H, M>) -> Self {
        let defaulter = defaulter.into_defaulter();
        self.judged_on(Review::Mutate, defaulter.operations);
        self.defaulters.push(defaulter.defaulter);
        self
    }

    /// Defaults version `S` as the user wrote it.
    pub fn defaulter_for<S: Resource, M>(mut self, defaulter: impl IntoDefaulter<S, M>) -> Self {
        let defaulter = defaulter.into_defaulter();
        self.judged_on(Review::Mutate, defaulter.operations);
        let slot = self.version::<S>().defaulting.get_or_insert_with(|| Box::new(Defaulting::<S>(Vec::new())));
        if let Some(Defaulting(defaulters)) = of_one_type(slot.as_mut()) {
            defaulters.push(defaulter.defaulter);
        }
        self
    }

    /// Objects of version `S` get no defaults, although they are sent and those of the hub get some.
    pub fn no_defaults_for<S: Resource>(mut self) -> Self {
        self.version::<S>().lack_of_defaults = LackOfDefaults::Intended;
        self
    }

    fn judged_on(&mut self, review: Review, operations: Operations) {
        match operations {
            Ok(operations) => self.declaration.judge_on(review, operations),
            Err(name) => {
                let (kind, name) = (H::gvk().to_string(), name.to_owned());
                self.problems.push(WebhooksError::UnknownOperation { kind, name });
            }
        }
    }

    /// Registers the webhook for fewer operations than its handlers judge. What is left out passes, but for connections,
    /// which are refused with 422.
    pub fn on(mut self, operations: impl IntoIterator<Item = Operation>) -> Self {
        self.declaration.only_on = Some(operations.into_iter().collect());
        self
    }

    /// The kind's CRD: text, a `serde_json::Value`, or `T::crd()` of kube's derive (of several versions: `merge_crds`).
    pub fn crd(mut self, crd: impl Into<Crd>) -> Self {
        let crd = crd.into();
        let kind = H::gvk().to_string();
        self.problems.extend(crd.problem().map(|why| WebhooksError::UnwritableCrd { kind, why: why.to_owned() }));
        self.declaration.crd = Some(crd);
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
        if S::gvk().same_kind(&H::gvk()) && (S::plural() != H::plural() || S::scope() != H::scope()) {
            let (hub, version) = (H::gvk().to_string(), S::gvk().to_string());
            self.problems.push(WebhooksError::OtherResource { hub, version });
        }
        if !S::gvk().same_kind(&H::gvk()) || S::version() == H::version() {
            let (hub, version) = (H::gvk().to_string(), S::gvk().to_string());
            self.problems.push(WebhooksError::NoOtherVersion { hub, version });
        }
        let hub = self.declaration.versions.len() - 1;
        self.declaration.versions.insert(hub, S::version());
        let (version, written) = (S::version(), TypeId::of::<S>());
        let lack_of_defaults = LackOfDefaults::Unexplained;
        self.spokes.push(Spoke { version, written, lift: None, validating: None, defaulting: None, lack_of_defaults });
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
        let of_declaration = self.declaration.problems();
        let unjudged = self.spokes.iter().filter(|spoke| self.leaves_unjudged(spoke));
        let unjudged = unjudged
            .map(|spoke| WebhooksError::Unjudged { hub: H::gvk().to_string(), version: spoke.version.to_string() });
        let without_defaults = self.spokes.iter().filter(|spoke| self.leaves_without_defaults(spoke));
        let without_defaults = without_defaults
            .map(|spoke| WebhooksError::Undefaulted { hub: H::gvk().to_string(), version: spoke.version.to_string() });
        let judges_updates =
            !self.validators.is_empty() && self.declaration.handles(Review::Validate, Operation::Update);
        let scale = (self.set_replicas.is_some() && !judges_updates)
            .then(|| WebhooksError::UnjudgedScale { kind: H::gvk().to_string() });
        let of_spokes = unjudged.chain(without_defaults).chain(self.gaps());
        self.problems.iter().cloned().chain(of_declaration).chain(scale).chain(of_spokes).collect()
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

    fn validate_scale<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>> {
        Box::pin(async move {
            let set_replicas = self.set_replicas.as_ref()?;
            Some(scale::validate(&self.validators, set_replicas, review).await)
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
