//! What a rule may look up in the cluster. A file of facts implements it offline, the API server's client in a cluster.

use std::fmt::Debug;
use std::future::ready;

use serde_json::Value;

use crate::rule::resource::Resource;
use crate::rule::review_subject::ReviewSubject;
use crate::webhooks::future::BoxFuture;
use crate::webhooks::webhook_error::WebhookError;
use crate::wire::user_info::UserInfo;

/// Whether an API group, or one resource of it, is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GroupServed {
    /// It is.
    Served,
    /// It isn't.
    Absent,
    /// It can't be learned at the moment, with the reason.
    Unreadable(String),
}

/// The result of reading one object by name.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup {
    /// The object.
    Found(Value),
    /// There is no object of this name.
    Absent,
    /// It can't be read at the moment, with the reason.
    Unreadable(String),
}

impl Lookup {
    /// The object; `None` where there is none. That it can't be read is no verdict on what asks: `failurePolicy` decides.
    pub fn found(self) -> Result<Option<Value>, WebhookError> {
        match self {
            Self::Found(object) => Ok(Some(object)),
            Self::Absent => Ok(None),
            Self::Unreadable(why) => Err(WebhookError::Unavailable(why)),
        }
    }
}

/// Which objects to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub plural: String,
    /// The namespace; `None` for all of them, and for cluster-wide objects.
    pub namespace: Option<String>,
    /// Labels that the objects have, as `kubectl get --selector` takes them; empty for all objects.
    pub label_selector: String,
}

/// The result of listing objects.
#[derive(Debug, Clone, PartialEq)]
pub enum ListLookup {
    /// All of them.
    Found(Vec<Value>),
    /// They can't be read at the moment, or are more than a rule may look at, with the reason.
    Unreadable(String),
}

impl ListLookup {
    /// The objects. That they can't be read is no verdict on what asks: `failurePolicy` decides.
    pub fn found(self) -> Result<Vec<Value>, WebhookError> {
        match self {
            Self::Found(objects) => Ok(objects),
            Self::Unreadable(why) => Err(WebhookError::Unavailable(why)),
        }
    }
}

/// Whether a user may do something, as a `SubjectAccessReview` asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccessQuestion {
    /// The user.
    pub user: UserInfo,
    /// The verb, for example `use`.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// The plural.
    pub plural: String,
    /// The namespace; `None` for all of them, and for cluster-wide objects.
    pub namespace: Option<String>,
    /// The object's name; `None` for all of them.
    pub name: Option<String>,
}

/// Which object to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// The API group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The plural.
    pub plural: String,
    /// The namespace; `None` for a cluster-wide object.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectName {
    /// An object of version `K`.
    pub fn of<K: Resource>(namespace: Option<&str>, name: &str) -> Self {
        Self {
            group: K::group().into_owned(),
            version: K::version().into_owned(),
            plural: K::plural().into_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        }
    }
}

impl ListQuery {
    /// All objects of version `K`.
    pub fn of<K: Resource>(namespace: Option<&str>) -> Self {
        Self {
            group: K::group().into_owned(),
            version: K::version().into_owned(),
            plural: K::plural().into_owned(),
            namespace: namespace.map(str::to_owned),
            label_selector: String::new(),
        }
    }
}

/// Reads from the cluster, within the deadline of the request that asks.
pub trait ClusterReader: Debug + Send + Sync + 'static {
    /// Whether the API group is served.
    fn group<'a>(&'a self, group: &'a str) -> BoxFuture<'a, GroupServed>;

    /// Whether a version of an API group serves a resource: for groups that several operators share.
    fn resource<'a>(&'a self, group: &'a str, version: &'a str, plural: &'a str) -> BoxFuture<'a, GroupServed>;

    /// One object by name.
    fn get<'a>(&'a self, object: &'a ObjectName) -> BoxFuture<'a, Lookup>;

    /// The objects of a kind that have some labels: at most 500, so that the cost of a review stays bounded.
    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, ListLookup> {
        let _ = query;
        Box::pin(ready(ListLookup::Unreadable("objects can't be listed here".into())))
    }

    /// The same, however many there are: for what is filled once, and for no review.
    fn list_all<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, ListLookup> {
        self.list(query)
    }

    /// Whether a user may do something; the error is why that can't be learned.
    fn may<'a>(&'a self, question: &'a AccessQuestion) -> BoxFuture<'a, Result<bool, WebhookError>> {
        let _ = question;
        Box::pin(ready(Err(WebhookError::Unavailable("nobody can be asked for rights here".into()))))
    }

    /// Whether an operator of one namespace has claimed what a review is about, and API servers call its webhooks.
    fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
        let _ = subject;
        Box::pin(ready(false))
    }
}
