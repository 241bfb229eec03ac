//! The declaration of one kind: its versions, handlers and how they are registered.

use std::sync::Arc;

use crate::conversion::Convert;
use crate::future::BoxFuture;
use crate::handler::{Defaulter, DynDefaulter, DynValidator, Validator};
use crate::operation::{CREATE_AND_UPDATE, Operation};
use crate::patch::Patch;
use crate::registry::declaration::{Declaration, Terminating};
use crate::registry::endpoint::Endpoint;
use crate::registry::judge::{self, AsWritten};
use crate::registry::spoke::{Lift, Lifter};
use crate::resource::Resource;
use crate::review::AdmissionReview;
use crate::rule::Rule;
use crate::verdict::Verdict;

/// One kind with everything that is registered for it. `H` is the hub: the version that handlers judge unless they say
/// otherwise.
///
/// ```
/// # use gateward_core::{Kind, Operation, Request, Resource, Scope, Verdict};
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct TestEntity { username: String }
/// # impl Resource for TestEntity {
/// #     const GROUP: &'static str = "webhook.dev";
/// #     const VERSION: &'static str = "v1";
/// #     const KIND: &'static str = "TestEntity";
/// #     const PLURAL: &'static str = "testentitys";
/// #     const SCOPE: Scope = Scope::Namespaced;
/// # }
/// fn usernames(new: &TestEntity, _: &Request) -> Verdict {
///     if new.username == "forbidden" { Verdict::deny("that name is taken") } else { Verdict::allow() }
/// }
///
/// let kind = Kind::<TestEntity>::new().validate(usernames).on([Operation::Create]);
/// ```
pub struct Kind<H> {
    declaration: Declaration,
    validators: Vec<Arc<dyn DynValidator<H>>>,
    defaulters: Vec<Arc<dyn DynDefaulter<H>>>,
    spokes: Vec<Spoke<H>>,
}

/// What is registered for a version that is not the hub's.
struct Spoke<H> {
    version: &'static str,
    lift: Option<Box<dyn Lift<H>>>,
    validators: Vec<Box<dyn AsWritten<Verdict>>>,
    defaulters: Vec<Box<dyn AsWritten<(Verdict, Patch)>>>,
}

impl<H: Resource> Kind<H> {
    /// A kind without handlers, for creates and updates.
    pub fn new() -> Self {
        let declaration = Declaration {
            hub: H::gvk(),
            plural: H::PLURAL,
            scope: H::SCOPE,
            versions: vec![H::VERSION],
            operations: CREATE_AND_UPDATE.to_vec(),
            rules: Vec::new(),
            crd: None,
            terminating: Terminating::Judged,
            validating: None,
            mutating: None,
        };
        Self { declaration, validators: Vec::new(), defaulters: Vec::new(), spokes: Vec::new() }
    }

    /// Another version, read as the hub's by `conversion`.
    pub fn spoke<S: Resource>(mut self, conversion: impl Convert<S, H>) -> Self {
        self.version::<S>().lift = Some(Box::new(Lifter::new(conversion)));
        self
    }

    /// Judges the hub's version; objects of a spoke are lifted first and findings come back in the user's own paths.
    pub fn validate(mut self, validator: impl Validator<H>) -> Self {
        self.validators.push(Arc::new(validator));
        self.declaration.validating.get_or_insert_default();
        self
    }

    /// Judges version `S` as the user wrote it. Objects of that version are then not lifted for
    /// [`validate`](Self::validate).
    pub fn validate_as_written<S: Resource>(mut self, validator: impl Validator<S>) -> Self {
        let validator: Arc<dyn DynValidator<S>> = Arc::new(validator);
        self.version::<S>().validators.push(Box::new(judge::Validating(validator)));
        self.declaration.validating.get_or_insert_default();
        self
    }

    /// Defaults the hub's version.
    pub fn default(mut self, defaulter: impl Defaulter<H>) -> Self {
        self.defaulters.push(Arc::new(defaulter));
        self.declaration.mutating.get_or_insert_default();
        self
    }

    /// Defaults version `S` as the user wrote it.
    pub fn default_as_written<S: Resource>(mut self, defaulter: impl Defaulter<S>) -> Self {
        let defaulter: Arc<dyn DynDefaulter<S>> = Arc::new(defaulter);
        self.version::<S>().defaulters.push(Box::new(judge::Defaulting(defaulter)));
        self.declaration.mutating.get_or_insert_default();
        self
    }

    /// The operations on which handlers run; creates and updates unless said otherwise.
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
    pub fn terminating(mut self, terminating: Terminating) -> Self {
        self.declaration.terminating = terminating;
        self
    }

    /// The kind's CRD as YAML.
    pub fn crd(mut self, yaml: &'static str) -> Self {
        self.declaration.crd = Some(yaml);
        self
    }

    /// The catalogue's entries for this kind.
    pub fn rules(mut self, rules: impl IntoIterator<Item = &'static Rule>) -> Self {
        self.declaration.rules.extend(rules);
        self
    }

    fn version<S: Resource>(&mut self) -> &mut Spoke<H> {
        let position = self.spokes.iter().position(|spoke| spoke.version == S::VERSION).unwrap_or_else(|| {
            let hub = self.declaration.versions.len() - 1;
            self.declaration.versions.insert(hub, S::VERSION);
            let (validators, defaulters) = (Vec::new(), Vec::new());
            self.spokes.push(Spoke { version: S::VERSION, lift: None, validators, defaulters });
            self.spokes.len() - 1
        });
        &mut self.spokes[position]
    }
}

impl<H: Resource> Default for Kind<H> {
    fn default() -> Self {
        Self::new()
    }
}

/// A kind whose type is forgotten.
pub(crate) trait AnyKind: Send + Sync {
    fn declaration(&self) -> &Declaration;
    /// The verdict; `None` where no handler is registered for the version.
    fn validate<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>>;
    /// The patch, with a verdict that may refuse.
    fn default<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<(Verdict, Patch)>>;
}

impl<H: Resource> AnyKind for Kind<H> {
    fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    fn validate<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<Verdict>> {
        Box::pin(async move {
            if review.request.kind.version == H::VERSION {
                return Some(judge::validate(&self.validators, review).await);
            }
            let spoke = self.spoke_of(review)?;
            if !spoke.validators.is_empty() {
                return Some(spoke.validate(review).await);
            }
            let lift = spoke.lift.as_deref()?;
            Some(judge::validate_lifted(lift, &self.validators, review).await)
        })
    }

    fn default<'a>(&'a self, review: &'a AdmissionReview<'a>) -> BoxFuture<'a, Option<(Verdict, Patch)>> {
        Box::pin(async move {
            if review.request.kind.version == H::VERSION {
                return Some(judge::default(&self.defaulters, review).await);
            }
            let defaulter = self.spoke_of(review)?.defaulters.first()?;
            Some(defaulter.call(review).await)
        })
    }
}

impl<H: Resource> Kind<H> {
    fn spoke_of(&self, review: &AdmissionReview<'_>) -> Option<&Spoke<H>> {
        self.spokes.iter().find(|spoke| spoke.version == review.request.kind.version)
    }
}

impl<H> Spoke<H> {
    async fn validate(&self, review: &AdmissionReview<'_>) -> Verdict {
        let mut verdict = Verdict::allow();
        for validator in &self.validators {
            verdict.merge(validator.call(review).await);
        }
        verdict
    }
}
