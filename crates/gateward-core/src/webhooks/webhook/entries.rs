//! Further entries of the configurations for a kind.

use std::sync::Arc;

use crate::rule::resource::GroupVersionKind;
use crate::rule::review_object::ReviewObject;
use crate::webhooks::error::WebhooksError;
use crate::webhooks::webhook::{Spoke, Webhook};
use crate::wire::operation::Operation;
use crate::wire::review::Review;

impl<H: ReviewObject, S> Webhook<H, S> {
    /// A further entry of the configurations for this kind: handlers that are called at a path of their own, on operations,
    /// for objects and under a policy of their own. Its name stands in its path and its name.
    ///
    /// Versions with a conversion, schemas, the CRD, the subresource and `.scale` are those of the kind.
    ///
    /// ```
    /// use std::time::Duration;
    /// use gateward_core::manifest::FailurePolicy;
    /// # use gateward_core::{CREATE, Request, Verdict, Webhook, Webhooks, resource};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter { name: String }
    /// # resource!(Otter, "example.org/v1", "Otter", "otters");
    /// # fn named(_: &Otter, _: &Request) {}
    /// # async fn room_in_the_river(_: &Otter, _: &Request) {}
    /// let rivers = Webhook::new()
    ///     .validator(room_in_the_river)
    ///     .on([gateward_core::Operation::Create])
    ///     .failure_policy(FailurePolicy::Ignore)
    ///     .timeout(Duration::from_secs(2));
    /// let kind = Webhook::<Otter>::new().validator(named).entry("rivers", rivers);
    ///
    /// let webhooks = Webhooks::new().register(kind);
    /// let paths: Vec<&str> = webhooks.paths().map(|(path, _)| path).collect();
    /// assert_eq!(paths, ["/validate-example-org-v1-otter", "/validate-example-org-v1-otter-rivers"]);
    /// ```
    pub fn entry<T>(mut self, name: &'static str, entry: Webhook<H, T>) -> Self {
        let mut entry = entry.with_state(());
        let hub = self.declaration.hub.to_string();
        let kind = || hub.clone();
        if self.entries.iter().any(|known| known.declaration.entry == Some(name)) {
            self.problems.push(WebhooksError::EntryTwice { kind: kind(), entry: name });
        }
        let misplaced = |what| WebhooksError::MisplacedInEntry { kind: kind(), entry: name, what };
        entry.declaration.entry = Some(name);
        let (of_kind, own) = (&self.declaration, &entry.declaration);
        let is_of_kind = (&of_kind.hub, &of_kind.plural, of_kind.scope) == (&own.hub, &own.plural, own.scope);
        self.problems.extend((!is_of_kind).then(|| misplaced("another kind")));
        self.problems.extend(entry.declaration.crd.take().map(|_| misplaced("a CRD")));
        self.problems.extend(entry.declaration.stashes.take().map(|_| misplaced("a conversion")));
        self.problems.extend(entry.schemas.take().map(|_| misplaced("schemas")));
        self.problems.extend(entry.declaration.subresource.take().map(|_| misplaced("a subresource")));
        self.problems.extend((!entry.entries.is_empty()).then(|| misplaced("entries")));
        self.entries.push(entry);
        self
    }
}

impl<H: ReviewObject> Webhook<H> {
    /// The kind, and each further entry with what the kind says of its versions.
    pub(crate) fn into_entries(mut self) -> Vec<Self> {
        let mut entries = std::mem::take(&mut self.entries);
        for entry in &mut entries {
            self.share_with(entry);
        }
        entries.insert(0, self);
        entries
    }

    fn share_with(&self, entry: &mut Self) {
        for spoke in self.spokes.iter().filter(|spoke| spoke.lift.is_some()) {
            let lift = spoke.lift.clone();
            if let Some(own) = entry.spokes.iter_mut().find(|own| own.version == spoke.version) {
                let gvk = GroupVersionKind { version: own.version.to_string(), ..self.declaration.hub.clone() };
                let is_other_type = own.written != spoke.written;
                own.lift = lift;
                entry.problems.extend(is_other_type.then_some(WebhooksError::TwoTypes { version: gvk.to_string() }));
            } else {
                entry.add_version(Spoke { lift, ..Spoke::of(spoke.version.clone(), spoke.written) });
            }
        }
        entry.schemas.clone_from(&self.schemas);
        let (own, of_kind) = (&mut entry.declaration, &self.declaration);
        own.subresource.clone_from(&of_kind.subresource);
        own.stashes.clone_from(&of_kind.stashes);
        let judges_updates = !entry.validators.is_empty() && own.handles(Review::Validate, Operation::Update);
        if entry.set_replicas.is_none() && judges_updates {
            entry.set_replicas = self.set_replicas.as_ref().map(Arc::clone);
            own.scale = of_kind.scale;
        }
    }
}
