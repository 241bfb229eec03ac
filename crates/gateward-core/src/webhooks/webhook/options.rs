//! What a webhook is registered for and how, where the usual does not do.

use std::sync::Arc;
use std::time::Duration;

use crate::manifest::failure_policy::FailurePolicy;
use crate::manifest::selector::LabelSelector;
use crate::rule::resource::Resource;
use crate::rule::review_object::ReviewObject;
use crate::webhooks::declaration::{DeletingObjects, RawReviews, ScaleReviews};
use crate::webhooks::dynamic_kind::DynamicKind;
use crate::webhooks::endpoint::Endpoint;
use crate::webhooks::registration::{Bootstrap, ReinvocationPolicy, SideEffects};
use crate::webhooks::subresource::Subresource;
use crate::webhooks::webhook::Webhook;
use crate::wire::review_version::ReviewVersion;

impl<H: Resource, S> Webhook<H, S> {
    /// Changes of the subresource `scale` are judged by the rules on updates: the object is looked up, and `set` writes the
    /// new number of replicas into it, at the place that the CRD calls `specReplicasPath`. Without this, `kubectl scale`
    /// passes what rules refuse; where the kind's CRD has the subresource, a server doesn't start then.
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
        self = self.looks_up::<H>();
        self.declaration.scale = ScaleReviews::AsUpdates;
        self.set_replicas = Some(Arc::new(set));
        self
    }

    /// Changes of the subresource `scale` pass whatever the rules on updates say. Where the kind's CRD has that subresource,
    /// a server doesn't start that has neither this nor [`scale`](Self::scale) nor a webhook for it.
    pub fn scale_passes(mut self) -> Self {
        self.declaration.scale = ScaleReviews::Pass;
        self
    }
}

impl<H: ReviewObject, S> Webhook<H, S> {
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

    /// The webhook is about a subresource of a kind that is known at run time only; see
    /// [`subresource_of`](Self::subresource_of).
    pub fn subresource_of_kind(mut self, of: &DynamicKind, name: &'static str) -> Self {
        self.problems.extend(of.problem());
        self.declaration.subresource = Some(Subresource::of_kind(of, name));
        self
    }

    /// Handlers look up objects of this kind: `generate rbac` gives the server the right to get and to list them.
    pub fn looks_up<K: Resource>(mut self) -> Self {
        let kind = (K::group().into_owned(), K::plural().into_owned());
        if !self.declaration.lookups.contains(&kind) {
            self.declaration.lookups.push(kind);
        }
        self
    }

    /// Handlers may read the texts of the review: [`Request::raw_object`](crate::Request::raw_object),
    /// [`raw_old_object`](crate::Request::raw_old_object) and [`options`](crate::Request::options). Each review then costs a
    /// copy of them.
    pub fn with_raw_review(mut self) -> Self {
        self.declaration.raw_reviews = RawReviews::Kept;
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

    /// Only those requests are sent for which this CEL expression is true, and so is each other that is added.
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

    /// The versions of AdmissionReview that API servers may send, the preferred one first. It is `v1`, which every API server
    /// since Kubernetes 1.16 sends; the answer is in the version of the request.
    pub fn review_versions(mut self, versions: impl IntoIterator<Item = ReviewVersion>) -> Self {
        self.declaration.registration.review_versions = versions.into_iter().collect();
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
}
