//! What rules look up in the cluster.

mod discovery_cache;
mod location;
mod object_pages;

use std::future::ready;
use std::time::Duration;

use futures_util::AsyncReadExt;
use gateward_core::{
    AccessQuestion, BoxFuture, ClusterReader, GroupServed, ListLookup, ListQuery, Lookup, ObjectName, ReviewSubject,
    WebhookError,
};
use http::Request;
use k8s_openapi::api::authorization::v1::{ResourceAttributes, SubjectAccessReviewSpec};
use kube::Client;
use kube::api::ListParams;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::{RequestError, with_timeout};
use crate::foreign_object::ForeignObject;
use crate::namespace_lease::NamespaceClaims;
use crate::subject_access::is_granted;
use discovery_cache::{DiscoveryCache, Query};

pub use object_pages::{ObjectPages, ObjectPagesError};

/// How long one look-up may take. A review that waits longer has no time left to be answered.
const TIMEOUT: Duration = Duration::from_secs(3);

/// How many objects one answer may have, and how many bytes: their number and size are other people's.
struct PageLimit {
    objects: u32,
    bytes: u64,
}

/// What a review looks at is one answer.
const OF_A_REVIEW: PageLimit = PageLimit { objects: 500, bytes: 8 << 20 };

/// Where all objects are wanted, so many answers are read one after the other; the store holds 1.5 MiB an object.
const OF_ALL: PageLimit = PageLimit { objects: 100, bytes: 160 << 20 };
const MOST_PAGES: u32 = 500;

/// A list of objects, which stay text: what a tenant has written into one must not make all the others unreadable.
#[derive(Deserialize)]
struct List {
    #[serde(default)]
    metadata: ListMeta,
    #[serde(default)]
    items: Vec<Box<RawValue>>,
}

#[derive(Default, Deserialize)]
struct ListMeta {
    #[serde(default, rename = "continue")]
    next: String,
}

/// Reads what rules look up from the API server, with the rights of the client.
#[derive(Clone)]
pub struct ApiReader {
    client: Client,
    discovery: DiscoveryCache,
    claims: Option<NamespaceClaims>,
}

impl ApiReader {
    /// Through a client.
    pub fn new(client: Client) -> Self {
        Self { client, discovery: DiscoveryCache::default(), claims: None }
    }

    /// The same, with what operators of one namespace have claimed.
    pub fn with_claims(mut self, claims: Option<NamespaceClaims>) -> Self {
        self.claims = claims;
        self
    }

    /// The body at a path; `None` where nothing is.
    async fn read(&self, path: &str) -> Result<Option<String>, String> {
        let request = Request::get(path).body(Vec::new()).map_err(|error| error.to_string())?;
        match with_timeout(TIMEOUT, self.client.request_text(request)).await {
            Ok(text) => Ok(Some(text)),
            Err(unanswered) if unanswered.code() == Some(404) => Ok(None),
            Err(unanswered) => Err(why(&unanswered)),
        }
    }

    async fn discover(&self, query: &Query) -> GroupServed {
        match self.read(&query.path()).await {
            Ok(Some(text)) if query.is_served_in(&text) => GroupServed::Served,
            Ok(_) => GroupServed::Absent,
            Err(why) => GroupServed::Unreadable(why),
        }
    }

    async fn is_served(&self, query: Query) -> GroupServed {
        self.discovery.get_or_fetch(&query, self.discover(&query)).await
    }

    async fn look_up(&self, object: &ObjectName) -> Lookup {
        let Some(path) = location::of_object(object) else { return Lookup::Absent };
        let read = self.read(&path).await.and_then(|text| {
            let raw = text.as_deref().map(serde_json::from_str::<&RawValue>).transpose();
            raw.map_err(|error| no_object(&error))?.map(readable).transpose()
        });
        match read {
            Ok(Some(object)) => Lookup::Found(object),
            Ok(None) => Lookup::Absent,
            Err(why) => Lookup::Unreadable(why),
        }
    }

    async fn list_objects(&self, query: &ListQuery) -> Result<Vec<Value>, String> {
        let page = self.page(query, ListParams::default(), OF_A_REVIEW).await?;
        if !page.metadata.next.is_empty() {
            let most = OF_A_REVIEW.objects;
            return Err(format!("there are more than {most} objects, too many to look at in one review"));
        }
        page.items.iter().map(|item| readable(item)).collect()
    }

    async fn list_every_object(&self, query: &ListQuery) -> Result<Vec<Value>, String> {
        let (mut objects, mut from) = (Vec::new(), ListParams::default());
        for _ in 0..MOST_PAGES {
            let List { metadata, items } = self.page(query, from, OF_ALL).await?;
            for item in &items {
                objects.push(readable(item)?);
            }
            if metadata.next.is_empty() {
                return Ok(objects);
            }
            from = ListParams::default().continue_token(&metadata.next);
        }
        Err(format!("there are more than {} objects, too many to keep", MOST_PAGES * OF_ALL.objects))
    }

    async fn page(&self, query: &ListQuery, from: ListParams, most: PageLimit) -> Result<List, String> {
        let collection = location::of_list(query).ok_or("no collection of objects has this name")?;
        let page = from.labels(&query.label_selector).limit(most.objects);
        let request = kube::core::Request::new(collection).list(&page).map_err(|error| error.to_string())?;
        let read = async {
            let mut text = Vec::new();
            let body = self.client.request_stream(request).await?.take(most.bytes + 1);
            std::pin::pin!(body).read_to_end(&mut text).await.map_err(|error| kube::Error::Service(error.into()))?;
            Ok(text)
        };
        let text = with_timeout(TIMEOUT, read).await.map_err(|unanswered| why(&unanswered))?;
        if text.len() as u64 > most.bytes {
            return Err(format!("the objects have more than {} bytes, too many to look at at once", most.bytes));
        }
        serde_json::from_slice(&text).map_err(|error| no_object(&error))
    }

    async fn ask(&self, question: &AccessQuestion) -> Result<bool, RequestError> {
        let AccessQuestion { user, verb, group, plural, namespace, name } = question.clone();
        let resource_attributes = ResourceAttributes {
            verb: Some(verb),
            group: Some(group),
            resource: Some(plural),
            namespace,
            name,
            ..ResourceAttributes::default()
        };
        let spec = SubjectAccessReviewSpec {
            user: Some(user.username),
            uid: Some(user.uid),
            groups: Some(user.groups),
            extra: Some(user.extra),
            resource_attributes: Some(resource_attributes),
            ..SubjectAccessReviewSpec::default()
        };
        is_granted(&self.client, TIMEOUT, spec).await
    }
}

impl std::fmt::Debug for ApiReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ApiReader").finish_non_exhaustive()
    }
}

impl ClusterReader for ApiReader {
    fn group<'a>(&'a self, group: &'a str) -> BoxFuture<'a, GroupServed> {
        Box::pin(self.is_served(Query::Group { group: group.to_owned() }))
    }

    fn resource<'a>(&'a self, group: &'a str, version: &'a str, plural: &'a str) -> BoxFuture<'a, GroupServed> {
        let (group, version, plural) = (group.to_owned(), version.to_owned(), plural.to_owned());
        Box::pin(self.is_served(Query::Resource { group, version, plural }))
    }

    fn get<'a>(&'a self, object: &'a ObjectName) -> BoxFuture<'a, Lookup> {
        Box::pin(self.look_up(object))
    }

    fn list<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, ListLookup> {
        Box::pin(async { self.list_objects(query).await.map_or_else(ListLookup::Unreadable, ListLookup::Found) })
    }

    fn list_all<'a>(&'a self, query: &'a ListQuery) -> BoxFuture<'a, ListLookup> {
        Box::pin(async { self.list_every_object(query).await.map_or_else(ListLookup::Unreadable, ListLookup::Found) })
    }

    fn may<'a>(&'a self, question: &'a AccessQuestion) -> BoxFuture<'a, Result<bool, WebhookError>> {
        Box::pin(async { self.ask(question).await.map_err(|unanswered| WebhookError::Unavailable(why(&unanswered))) })
    }

    fn claims<'a>(&'a self, subject: &'a ReviewSubject<'a>) -> BoxFuture<'a, bool> {
        match &self.claims {
            Some(claims) => Box::pin(claims.cover(subject)),
            None => Box::pin(ready(false)),
        }
    }
}

/// A missing permission is permanent, so the message says which one.
fn why(unanswered: &RequestError) -> String {
    let reason = unanswered.to_string();
    match unanswered.code() {
        Some(401 | 403) => format!("{reason}; the ClusterRole of the webhooks must allow it"),
        _ => reason,
    }
}

/// The whole object.
fn readable(text: &RawValue) -> Result<Value, String> {
    let object = ForeignObject::read(text).map_err(|error| no_object(&error))?;
    match object.unread.first() {
        None => Ok(object.value),
        Some(member) => Err(format!("{member} of {} nests too deeply to be read", object.value["metadata"]["name"])),
    }
}

fn no_object(error: &serde_json::Error) -> String {
    format!("the API server's answer is no object: {error}")
}
