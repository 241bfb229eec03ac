//! The declaration of one kind: its versions, handlers and how they are registered.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::conversion::attempt::Attempt;
use crate::conversion::origins::Origins;
use crate::conversion::preserved::PRESERVED;
use crate::conversion::provenance::Direction;
use crate::conversion::source::Source;
use crate::conversion::{ConversionError, Convert, StructuralSchemas};
use crate::json::patch::Patch;
use crate::manifest::FailurePolicy;
use crate::manifest::selector::LabelSelector;
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
use crate::webhooks::endpoint::Endpoint;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::future::BoxFuture;
use crate::webhooks::judge::{self, AsWritten, Defaulting, Validating};
use crate::webhooks::registration::{Bootstrap, Registration, ReinvocationPolicy, SideEffects};
use crate::webhooks::scale::{self, SetReplicas};
use crate::webhooks::subresource::Subresource;
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

    /// The webhook is about a subresource of `P`, whose requests carry objects of this kind: the Eviction of a Pod, the
    /// Scale of a kind of yours, the options of `exec` (which are connections), or the kind itself for its `status`.
    ///
    /// ```
    /// # use gateward_core::{Request, Verdict, Webhook, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter {}
    /// # resource!(Otter, "example.org/v1", "Otter", "otters");
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct ScaleSpec { #[serde(default)] replicas: i32 }
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Scale { spec: ScaleSpec }
    /// # resource!(Scale, "autoscaling/v1", "Scale", "scales");
    /// fn at_most_ten(new: &Scale, _: &Request) -> Verdict {
    ///     if new.spec.replicas > 10 { Verdict::deny("ten are enough") } else { Verdict::allow() }
    /// }
    ///
    /// let kind = Webhook::<Scale>::new().subresource_of::<Otter>("scale").validator(at_most_ten);
    /// ```
    pub fn subresource_of<P: Resource>(mut self, name: &'static str) -> Self {
        self.declaration.subresource = Some(Subresource::named::<P>(name));
        self
    }

    /// Changes of the subresource `scale` are judged by the rules on updates: the object is looked up, and `set` writes the
    /// new number of replicas into it, at the place that the CRD calls `specReplicasPath`. Without this, `kubectl scale`
    /// passes what rules refuse.
    ///
    /// The ServiceAccount has to be allowed to get objects of the kind. Where the object can't be read, `failurePolicy`
    /// decides.
    ///
    /// ```
    /// # use gateward_core::{Request, Verdict, Webhook, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otters { count: i32 }
    /// # resource!(Otters, "example.org/v1", "Otters", "otters");
    /// let few = |new: &Otters, _: &Request| {
    ///     if new.count > 10 { Verdict::deny("ten are enough") } else { Verdict::allow() }
    /// };
    /// let kind = Webhook::<Otters>::new().validator(few).scale(|otters, replicas| otters.count = replicas);
    /// ```
    pub fn scale(mut self, set: impl Fn(&mut H, i32) + Send + Sync + 'static) -> Self {
        self.declaration.scale = ScaleReviews::AsUpdates;
        self.set_replicas = Some(Arc::new(set));
        self
    }

    /// Only objects with these labels are sent.
    pub fn object_selector(mut self, selector: LabelSelector) -> Self {
        self.declaration.registration.object_selector = Some(selector);
        self
    }

    /// Only objects in namespaces with these labels are sent, and of those only what the release's own selector lets
    /// through.
    pub fn namespace_selector(mut self, selector: LabelSelector) -> Self {
        self.declaration.registration.namespace_selector = Some(selector);
        self
    }

    /// Objects in every namespace are sent. Without this, `kube-system` and the release's own namespace are left out for
    /// kinds that a Pod needs in order to start (Pods, Secrets, Leases, Deployments and others of their groups): a webhook
    /// that is down would keep its own Pods from coming up again.
    pub fn in_every_namespace(mut self) -> Self {
        self.declaration.registration.bootstrap = Bootstrap::Sent;
        self
    }

    /// Only requests for which the CEL expression is true are sent, and true for all others that are added.
    pub fn match_condition(mut self, name: &'static str, expression: &'static str) -> Self {
        self.declaration.registration.match_conditions.push((name, expression));
        self
    }

    /// What the API server does when the webhook doesn't answer, where it isn't what the release says of all.
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.declaration.registration.failure_policy = Some(policy);
        self
    }

    /// How long the API server waits, where it isn't what the release says of all: whole seconds, 1 to 30.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.declaration.registration.timeout = Some(timeout);
        self
    }

    /// Which effects handlers have beside their answer.
    pub fn side_effects(mut self, effects: SideEffects) -> Self {
        self.declaration.registration.side_effects = effects;
        self
    }

    /// Whether defaulters are asked again where a later webhook changed the object.
    pub fn reinvocation(mut self, policy: ReinvocationPolicy) -> Self {
        self.declaration.registration.reinvocation = policy;
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
        let of_spokes = unjudged.chain(without_defaults).chain(self.gaps());
        self.problems.iter().cloned().chain(of_declaration).chain(of_spokes).collect()
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
