//! The webhooks: kinds are declared once; routing, manifests and the catalogue follow.

mod annotation_prefix;
mod any_kind;
mod completeness;
mod convert;
mod converter;
pub mod declaration;
pub mod dynamic_kind;
pub mod endpoint;
mod error;
pub mod future;
mod handle;
mod judge;
mod metadata;
mod objects;
pub mod path_style;
mod read;
pub mod registration;
mod scale;
mod stores;
pub mod subresource;
pub mod webhook;
pub mod webhook_error;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::rule::resource::GroupVersionKind;
use crate::rule::review_object::ReviewObject;
use crate::rule::{DECODE, Rule};
use crate::webhooks::any_kind::AnyKind;
use crate::webhooks::declaration::Declaration;
pub use crate::webhooks::error::WebhooksError;
use crate::webhooks::path_style::{PathStyle, is_taken_by_api_servers};
use crate::webhooks::webhook::Webhook;
use crate::wire::review::Review;

/// All kinds of an operator, and the one function through which every verdict passes.
///
/// See [`Webhook`] for an example of a declaration.
#[derive(Default)]
pub struct Webhooks {
    kinds: Vec<Box<dyn AnyKind>>,
    routes: BTreeMap<String, KindRoute>,
    problems: Vec<WebhooksError>,
    path_style: PathStyle,
    conversion_paths: BTreeSet<String>,
    annotation_prefix: Option<Cow<'static, str>>,
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

    /// No kinds yet, and paths in another style than kubebuilder's.
    ///
    /// ```
    /// use gateward_core::{PathStyle, Review, Webhook, Webhooks};
    /// # use gateward_core::{Request, Verdict, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct TestEntity {}
    /// # resource!(TestEntity, "webhook.dev/v1", "TestEntity", "testentitys");
    /// # let usernames = |_: &TestEntity, _: &Request| Verdict::allow();
    ///
    /// let kind = Webhook::<TestEntity>::new().validator(usernames);
    /// let webhooks = Webhooks::with_paths(PathStyle::KubeOps).register(kind);
    /// assert_eq!(webhooks.paths().next(), Some(("/validate/v1testentity", Review::Validate)));
    /// ```
    pub fn with_paths(path_style: PathStyle) -> Self {
        Self { path_style, ..Self::default() }
    }

    /// Adds a kind.
    pub fn register<H: ReviewObject, S>(mut self, webhook: Webhook<H, S>) -> Self {
        let webhook = webhook.with_state(());
        self.problems.extend(self.declared_before(webhook.declaration()));
        for mut entry in webhook.into_entries() {
            entry.set_path_style(self.path_style);
            self.add(Box::new(entry));
        }
        self.name_keys();
        self
    }

    fn add(&mut self, entry: Box<dyn AnyKind>) {
        let kind = self.kinds.len();
        self.problems.extend(entry.problems());
        for review in [Review::Validate, Review::Mutate] {
            for path in entry.declaration().paths(review) {
                self.serve(path, KindRoute { kind, review }, entry.declaration());
            }
        }
        self.conversion_paths.extend(entry.declaration().conversion_path());
        self.kinds.push(entry);
    }

    /// Whether the declarations go together; the shell asks before it serves.
    pub fn check(&self) -> Result<(), WebhooksError> {
        let alone = self.kinds.is_empty().then_some(WebhooksError::NoKinds);
        let of_declarations = self.problem_of_conversion().into_iter().chain(self.problems.iter().cloned());
        let of_names = self.name_twice().into_iter().chain(self.rule_twice()).chain(self.annotation_prefix_problem());
        of_declarations.chain(of_names).chain(self.rule_that_never_runs()).chain(alone).next().map_or(Ok(()), Err)
    }

    fn problem_of_conversion(&self) -> Option<WebhooksError> {
        let kind = || "conversion".to_owned();
        self.conversion_paths.iter().find_map(|path| match self.routes.get(path) {
            Some(taken) => {
                let first = self.kinds[taken.kind].declaration().hub.kind.clone();
                Some(WebhooksError::PathTaken { path: path.to_owned(), first, second: kind() })
            }
            None => {
                (!is_taken_by_api_servers(path)).then(|| WebhooksError::BadPath { path: path.to_owned(), kind: kind() })
            }
        })
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

    /// Whatever the kind lists may be enforced by each of its entries and subresources; what an entry lists, by that entry.
    fn rule_that_never_runs(&self) -> Option<WebhooksError> {
        let enforces = |declared: &Declaration, listing: &Declaration, rule: &Rule| {
            declared.is_of_resource_of(listing) && (listing.entry.is_none() || declared.lists(rule))
        };
        let runs = |listing: &Declaration, rule: &Rule, operation| {
            let mut enforcing = self.declarations().filter(|declared| enforces(declared, listing, rule));
            enforcing.any(|declared| declared.is_called_on(operation))
        };
        let never = |listing: &Declaration, rule: &'static Rule| {
            let operation = rule.operations.iter().copied().find(|&operation| !runs(listing, rule, operation))?;
            Some(WebhooksError::RuleNeverRuns { kind: listing.hub.to_string(), rule: rule.id, operation })
        };
        let mut listings = self.declarations().filter(|listing| listing.has_handlers());
        listings.find_map(|listing| listing.rules.iter().find_map(|rule| never(listing, rule)))
    }

    /// What serves `path`, for [`Self::handle_route`].
    pub fn route(&self, path: &str) -> Option<WebhookRoute> {
        let conversion = self.conversion_paths.contains(path).then_some(Target::Conversion);
        conversion.or_else(|| self.routes.get(path).copied().map(Target::Kind)).map(WebhookRoute)
    }

    /// Whether objects of any kind are converted between versions.
    pub fn converts(&self) -> bool {
        self.declarations().any(Declaration::converts)
    }

    /// All served paths.
    pub fn paths(&self) -> impl Iterator<Item = (&str, Review)> {
        let conversion = self.conversion_paths.iter().map(|path| (path.as_str(), Review::Convert));
        self.routes.iter().map(|(path, route)| (path.as_str(), route.review)).chain(conversion)
    }

    /// The declared kinds, in order, each before its further entries.
    pub fn declarations(&self) -> impl Iterator<Item = &Declaration> {
        self.kinds.iter().map(|kind| kind.declaration())
    }

    /// The declaration that covers this group, version and kind.
    pub fn declaration_of(&self, gvk: &GroupVersionKind) -> Option<&Declaration> {
        self.declarations().find(|declared| declared.is_about(gvk))
    }

    /// An object with the number of replicas where `.scale` of its kind writes it; `None` where the kind has none, or the
    /// object can't be read. What is declared can so be held against the CRD.
    pub fn scaled(&self, kind: &GroupVersionKind, object: &Value, replicas: i32) -> Option<Value> {
        let known = self.kinds.iter().find(|known| known.declaration().is_about(kind))?;
        known.scaled(&object.to_string(), replicas)
    }

    /// The path that judges or defaults objects of this group, version and kind; the first, where a kind has several
    /// entries. One for all kinds comes last.
    pub fn path_of(&self, review: Review, gvk: &GroupVersionKind) -> Option<String> {
        let exact = self.declarations().filter(|declared| declared.is_about(gvk));
        let of_any_kind =
            self.declarations().filter(|declared| declared.is_of_any_kind() && declared.is_asked_about(gvk));
        exact.chain(of_any_kind).find_map(|declared| declared.path(review))
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

    fn declared_before(&self, second: &Declaration) -> Option<WebhooksError> {
        let is_same =
            |first: &&Declaration| first.hub.same_kind(&second.hub) && first.subresource == second.subresource;
        let first = self.declarations().find(is_same)?;
        Some(WebhooksError::KindTwice { first: first.hub.to_string(), second: second.hub.to_string() })
    }

    fn serve(&mut self, path: String, route: KindRoute, declared: &Declaration) {
        let kind = declared.hub.kind.clone();
        let is_rendered = declared.path(route.review).as_ref() == Some(&path);
        if !path.starts_with('/') || is_rendered && !is_taken_by_api_servers(&path) {
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
