//! What a handler may know about the request beside the object.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::json::decode::{self, Found, Misfit};
use crate::json::reading::Allowance;
use crate::rule::cluster::{ClusterReader, ObjectName};
use crate::rule::context::{Context, Facts};
use crate::rule::resource::{GroupVersionKind, Resource};
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::operation::Operation;
use crate::wire::review_version::ReviewVersion;
pub use crate::wire::user_info::UserInfo;

/// Group, version and plural of the resource that the request addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct GroupVersionResource {
    /// The API group; empty for the core group.
    #[serde(default)]
    pub group: String,
    /// The version.
    #[serde(default)]
    pub version: String,
    /// The plural.
    #[serde(default)]
    pub resource: String,
}

/// Whether the change will be stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DryRun {
    /// The change will be stored if it passes.
    #[default]
    No,
    /// The change will not be stored: nothing outside the answer may change.
    Yes,
}

/// What a handler may know about the request beside the object. Fields follow
/// <https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#request>.
#[derive(Clone, Default)]
pub struct Request {
    /// The caller's id of this review.
    pub uid: String,
    /// What is being done.
    pub operation: Option<Operation>,
    /// Group, version and kind of the objects in the request.
    pub kind: GroupVersionKind,
    /// The resource of the objects in the request.
    pub resource: GroupVersionResource,
    /// The subresource, for example `scale`.
    pub sub_resource: Option<String>,
    /// What the client sent, before the API server converted it for this webhook.
    pub request_kind: Option<GroupVersionKind>,
    /// The object's name; absent on a create with `generateName`.
    pub name: Option<String>,
    /// The prefix from which the API server will make a name.
    pub generate_name: Option<String>,
    /// The object's namespace.
    pub namespace: Option<String>,
    /// The user; anonymous where absent.
    pub user: Option<UserInfo>,
    /// Whether the change will be stored.
    pub dry_run: DryRun,
    /// The present time.
    pub now: Option<SystemTime>,
    /// When the caller stops waiting.
    pub deadline: Option<SystemTime>,
    pub(crate) review_version: ReviewVersion,
    pub(crate) facts: Option<Arc<dyn Facts>>,
    pub(crate) cluster: Option<Arc<dyn ClusterReader>>,
    pub(crate) written: SourceObjects,
    /// Absent where it is the resource of the objects.
    pub(crate) addressed: Option<Box<Addressed>>,
    /// Absent unless the webhook is declared with it.
    pub(crate) raw: Option<Arc<RawReview>>,
}

/// What the client addressed, where the API server converted its request for the webhook.
#[derive(Clone)]
pub(crate) struct Addressed {
    pub(crate) resource: GroupVersionResource,
    pub(crate) sub_resource: Option<String>,
}

/// The texts of a review.
pub(crate) struct RawReview {
    pub(crate) object: Option<Box<str>>,
    pub(crate) old_object: Option<Box<str>>,
    pub(crate) options: Option<Box<str>>,
}

/// The objects as the user wrote them, where the handler judges another version.
#[derive(Clone, Default)]
pub(crate) struct SourceObjects {
    pub(crate) new: Option<Arc<dyn Any + Send + Sync>>,
    pub(crate) old: Option<Arc<dyn Any + Send + Sync>>,
}

impl Request {
    /// The operator's own facts about the cluster, as the product's parser made them.
    ///
    /// `None` if the shell was started with facts of another type.
    pub fn facts<F: Any>(&self) -> Option<&F> {
        let facts: &dyn Any = self.facts.as_deref()?;
        facts.downcast_ref()
    }

    /// What the handler looks things up with. Where there is no cluster to ask, that is no verdict on the object:
    /// `failurePolicy` decides.
    ///
    /// ```
    /// # use gateward_core::{ObjectName, Request, Verdict};
    /// # struct Otter { river: String }
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct River {}
    /// # gateward_core::resource!(River, "example.org/v1", "River", "rivers", Cluster);
    /// async fn known_river(new: &Otter, request: &Request) -> Result<(), Verdict> {
    ///     let river = ObjectName::of::<River>(None, &new.river);
    ///     match request.cluster()?.get(&river).await.found()? {
    ///         Some(_) => Ok(()),
    ///         None => Err(Verdict::deny("nobody knows that river")),
    ///     }
    /// }
    /// ```
    pub fn cluster(&self) -> Result<&dyn ClusterReader, WebhookError> {
        let why = "a rule looks something up, and no cluster can be asked here";
        self.cluster.as_deref().ok_or_else(|| WebhookError::Unavailable(why.into()))
    }

    /// One object of version `K`, read from the cluster; `None` where there is none. Neither an object that doesn't fit the
    /// type, whose field the error names, nor a cluster that can't be asked is a verdict: `failurePolicy` decides.
    pub async fn find<K: Resource>(&self, namespace: Option<&str>, name: &str) -> Result<Option<K>, WebhookError> {
        let name = ObjectName::of::<K>(namespace, name);
        let found = self.cluster()?.get(&name).await.found()?;
        found.map(|object| K::deserialize(&object).map_err(|_| misfit::<K>(&name, &object))).transpose()
    }

    /// The new object as the user wrote it, if it was converted from version `S` for this handler.
    pub fn new_as_written<S: Any>(&self) -> Option<&S> {
        self.written.new.as_deref()?.downcast_ref()
    }

    /// The old object in the version of the request, if it was converted from version `S` for this handler.
    pub fn old_as_written<S: Any>(&self) -> Option<&S> {
        self.written.old.as_deref()?.downcast_ref()
    }

    /// The resource that the client addressed, before the API server converted the request for this webhook.
    pub fn request_resource(&self) -> &GroupVersionResource {
        self.addressed.as_ref().map_or(&self.resource, |addressed| &addressed.resource)
    }

    /// The subresource that the client addressed, before the API server converted the request for this webhook.
    pub fn request_sub_resource(&self) -> Option<&str> {
        self.addressed.as_ref().map_or(&self.sub_resource, |addressed| &addressed.sub_resource).as_deref()
    }

    /// The new object as the API server sent it; absent on DELETE.
    ///
    /// Kept for webhooks that say [`with_raw_review`](crate::Webhook::with_raw_review); without it an error that says so.
    ///
    /// ```
    /// use gateward_core::testing::TestRequest;
    /// use gateward_core::{Request, Verdict, Webhook, Webhooks};
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// # struct Otter {}
    /// # gateward_core::resource!(Otter, "example.org/v1", "Otter", "otters");
    ///
    /// fn short(_: &Otter, request: &Request) -> Result<(), Verdict> {
    ///     match request.raw_object()? {
    ///         Some(text) if text.len() > 100 => Err(Verdict::deny("an otter is short")),
    ///         _ => Ok(()),
    ///     }
    /// }
    ///
    /// let webhooks = Webhooks::new().register(Webhook::<Otter>::new().with_raw_review().validator(short));
    /// let otter = serde_json::json!({"apiVersion": "example.org/v1", "kind": "Otter", "fur": "x".repeat(100)});
    /// TestRequest::of(&webhooks).create(&otter).assert_denied();
    /// ```
    pub fn raw_object(&self) -> Result<Option<&str>, WebhookError> {
        Ok(self.raw()?.object.as_deref())
    }

    /// The stored object as the API server sent it; absent on CREATE. See [`raw_object`](Self::raw_object).
    pub fn raw_old_object(&self) -> Result<Option<&str>, WebhookError> {
        Ok(self.raw()?.old_object.as_deref())
    }

    /// The options of the operation, such as the `DeleteOptions` of `meta/v1`, or what `T` knows of them. See
    /// [`raw_object`](Self::raw_object).
    pub fn options<T: DeserializeOwned>(&self) -> Result<Option<T>, WebhookError> {
        let Some(json) = self.raw()?.options.as_deref().filter(|json| *json != "null") else { return Ok(None) };
        let unreadable = |misfit: Misfit<T>| WebhookError::Unreadable(format!("options.{}", misfit.error));
        decode::part(json, &Allowance::of(json.len())).map(Some).map_err(unreadable)
    }

    fn raw(&self) -> Result<&RawReview, WebhookError> {
        self.raw.as_deref().ok_or(WebhookError::NoRawReview)
    }

    /// The same request with the facts and times of `context`.
    pub fn in_context(mut self, context: &Context) -> Self {
        self.now = Some(context.now);
        self.deadline = context.deadline;
        self.facts = Some(Arc::clone(&context.facts));
        self.cluster.clone_from(&context.cluster);
        self
    }

    /// The user's name; empty for anonymous.
    pub fn username(&self) -> &str {
        self.user.as_ref().map_or("", |user| &user.username)
    }
}

/// What is wrong with an object that was looked up: the first field. What stands there is not said, because the object
/// isn't the user's own.
pub(crate) fn misfit<K: Resource>(name: &ObjectName, object: &Value) -> WebhookError {
    let named: Vec<&str> = name.namespace.as_deref().into_iter().chain([name.name.as_str()]).collect();
    let named = format!("the {} {:?}", K::gvk(), named.join("/"));
    let first = decode::errors::<K>(&object.to_string(), 1).into_iter().next();
    let why = match first {
        Some(error) if error.found == Found::Missing => format!("{} is missing", error.path),
        Some(error) if !error.path.is_root() => format!("{} has the wrong type", error.path),
        _ => "it doesn't fit its type".to_owned(),
    };
    WebhookError::Unavailable(format!("{named} can't be read: {why}; mend that object first"))
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("uid", &self.uid)
            .field("operation", &self.operation)
            .field("kind", &self.kind)
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
