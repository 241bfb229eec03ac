//! The declaration of one kind: its versions, handlers and how they are registered.

mod entries;
mod judging;
mod options;
mod state;
mod versions;

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::conversion::StructuralSchemas;
use crate::conversion::keys::ConversionKeys;
use crate::json::patch::Patch;
use crate::json::raw::Raw;
use crate::manifest::crd::Crd;
use crate::rule::Rule;
use crate::rule::into_handler::{DynDefaulter, DynValidator, IntoDefaulter, IntoValidator, Operations};
use crate::rule::resource::Resource;
use crate::rule::review_object::ReviewObject;
use crate::rule::verdict::Verdict;
use crate::webhooks::converter::AnyConversion;
use crate::webhooks::declaration::{Declaration, DeletingObjects, RawReviews, ScaleReviews};
use crate::webhooks::dynamic_kind::DynamicKind;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::judge::AsWritten;
use crate::webhooks::path_style::PathStyle;
use crate::webhooks::registration::Registration;
use crate::webhooks::scale::SetReplicas;
use crate::wire::operation::Operation;
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
/// The webhook is registered for the operations that its handlers judge. `S` is the [state](Self::with_state) of those
/// that are added.
pub struct Webhook<H, S = ()> {
    declaration: Declaration,
    validators: Vec<Arc<dyn DynValidator<H>>>,
    defaulters: Vec<Arc<dyn DynDefaulter<H>>>,
    spokes: Vec<Spoke<H>>,
    schemas: Option<Arc<dyn StructuralSchemas>>,
    set_replicas: Option<SetReplicas<H>>,
    entries: Vec<Webhook<H>>,
    problems: Vec<WebhooksError>,
    state: S,
}

/// What is registered for a version that is not the hub's.
struct Spoke<H> {
    version: Cow<'static, str>,
    written: TypeId,
    lift: Option<Arc<dyn AnyConversion<H>>>,
    validating: Option<Box<dyn AsWritten<Verdict>>>,
    defaulting: Option<Box<dyn AsWritten<(Verdict, Patch)>>>,
    lack_of_defaults: LackOfDefaults,
}

impl<H> Spoke<H> {
    /// A version of which nothing is registered yet.
    fn of(version: Cow<'static, str>, written: TypeId) -> Self {
        let lack_of_defaults = LackOfDefaults::Unexplained;
        Self { version, written, lift: None, validating: None, defaulting: None, lack_of_defaults }
    }
}

/// Why a version has no defaulter, where it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LackOfDefaults {
    /// Not set.
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
        Self::declared(&DynamicKind { gvk: H::gvk(), plural: H::plural(), scope: H::scope() })
    }

    fn declared(kind: &DynamicKind) -> Self {
        let DynamicKind { gvk, plural, scope } = kind;
        let declaration = Declaration {
            hub: gvk.clone(),
            plural: plural.clone(),
            scope: *scope,
            subresource: None,
            entry: None,
            scale: ScaleReviews::NotSent,
            raw_reviews: RawReviews::Dropped,
            registration: Registration::default(),
            path_style: PathStyle::default(),
            versions: vec![gvk.version.clone().into()],
            validated: Vec::new(),
            defaulted: Vec::new(),
            only_on: None,
            rules: Vec::new(),
            crd: None,
            stashes: None,
            keys: Arc::new(ConversionKeys::of(&gvk.group)),
            lookups: Vec::new(),
            stores: Vec::new(),
            renamed_fields: &[],
            deleting_objects: DeletingObjects::Validate,
            validating: None,
            mutating: None,
        };
        Self {
            declaration,
            validators: Vec::new(),
            defaulters: Vec::new(),
            spokes: Vec::new(),
            schemas: None,
            set_replicas: None,
            entries: Vec::new(),
            problems: Vec::new(),
            state: (),
        }
    }
}

impl<T: DeserializeOwned + Send + Sync + 'static> Webhook<Raw<T>> {
    /// A kind that is known at run time only, without handlers. Its objects are raw JSON, with a view `T` of the fields that
    /// handlers read; [`serde_json::Value`] has all of them.
    ///
    /// Where the kind is `*`, a review is this webhook's whatever its kind is, beside those that are declared by their
    /// types. `kube-system` and the release's namespace are left out then, as for Pods.
    ///
    /// ```
    /// use gateward_core::{DynamicKind, Raw, Request, Verdict, Webhook, Webhooks};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Labelled { metadata: Metadata }
    /// #[derive(serde::Deserialize)]
    /// struct Metadata { #[serde(default)] labels: std::collections::BTreeMap<String, String> }
    ///
    /// fn owned(new: &Raw<Labelled>, _: &Request) -> Result<(), Verdict> {
    ///     match new.view() {
    ///         Ok(object) if object.metadata.labels.contains_key("owner") => Ok(()),
    ///         Ok(_) => Err(Verdict::deny("every object has an owner")),
    ///         Err(error) => Err(Verdict::deny(error.to_string())),
    ///     }
    /// }
    ///
    /// let kinds = ["Route", "Gate"].map(|kind| DynamicKind::new("net.example.org/v1", kind, kind.to_lowercase() + "s"));
    /// let webhooks = kinds.iter().fold(Webhooks::new(), |webhooks, kind| {
    ///     webhooks.register(Webhook::<Raw<Labelled>>::of_kind(kind).validator(owned))
    /// });
    /// assert_eq!(webhooks.check(), Ok(()));
    /// ```
    pub fn of_kind(kind: &DynamicKind) -> Self {
        let mut webhook = Self::declared(kind);
        webhook.problems.extend(kind.problem());
        webhook
    }
}

impl<H: ReviewObject, S> Webhook<H, S> {
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
    pub fn validator<M>(mut self, validator: impl IntoValidator<H, M, S>) -> Self {
        let validator = validator.into_validator(&self.state);
        self.judged_on(Review::Validate, validator.operations);
        self.validators.push(validator.validator);
        self
    }

    /// Defaults the hub's version.
    ///
    /// A defaulter is an implementation of [`Defaulter`](crate::Defaulter), or a function of the new object and the
    /// request, which is asked on creates and updates. It may be asynchronous, and a closure.
    pub fn defaulter<M>(mut self, defaulter: impl IntoDefaulter<H, M, S>) -> Self {
        let defaulter = defaulter.into_defaulter(&self.state);
        self.judged_on(Review::Mutate, defaulter.operations);
        self.defaulters.push(defaulter.defaulter);
        self
    }

    pub(crate) fn set_path_style(&mut self, style: PathStyle) {
        self.declaration.path_style = style;
    }

    fn judged_on(&mut self, review: Review, operations: Operations) {
        let kind = self.declaration.hub.to_string();
        match operations {
            Ok(operations) => {
                if operations.is_empty() {
                    self.problems.push(WebhooksError::NoOperation { kind, review: review.as_str() });
                }
                self.declaration.judge_on(review, operations);
            }
            Err(name) => {
                let name = name.to_owned();
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
        let kind = self.declaration.hub.to_string();
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
        self.schemas = Some(Arc::new(schemas));
        self
    }

    /// The catalogue's entries for this kind.
    pub fn rules(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.declaration.rules.extend(rules);
        self
    }

    fn add_version(&mut self, spoke: Spoke<H>) {
        let hub = self.declaration.versions.len() - 1;
        self.declaration.versions.insert(hub, spoke.version.clone());
        self.spokes.push(spoke);
    }
}

impl<H: Resource> Default for Webhook<H> {
    fn default() -> Self {
        Self::new()
    }
}
