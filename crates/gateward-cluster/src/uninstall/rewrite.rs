//! Has every object of a kind stored anew, in the storage version.
//!
//! An empty patch changes nothing, but the API server stores what it reads in the storage version if it was stored in
//! another. The patch goes to the status, where there is one: admission webhooks that validate the object are not
//! called then, so that one which was accepted by older rules is not refused now.
//!
//! Without a conversion webhook, an API server may still have converted objects in its cache; what it stores then is
//! right too. Otherwise it can't read the objects, and none is touched.

use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, ObjectList, Patch, PatchParams, Request};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::report::{CrdObjects, RefusedObject, UninstallEvent};
use super::{TIMEOUT, Uninstall};
use crate::crds::Definition;
use crate::failure::{RequestError, with_timeout};

/// How many objects are read at once.
const PAGE: u32 = 200;
/// How many are written at once.
const AT_ONCE: usize = 8;
/// How many times one is tried.
const ATTEMPTS: u32 = 5;
/// A list that takes too long to read is begun anew.
const LISTS: usize = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// An object as it is listed, and written anew. Nothing else of it is read: its managed fields may nest deeper than kube's
/// client reads, which fails the whole list.
#[derive(Debug, Clone, Deserialize)]
struct Stored {
    metadata: StoredMetadata,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredMetadata {
    #[serde(default)]
    name: String,
    namespace: Option<String>,
    resource_version: Option<String>,
}

/// What became of an object.
enum Fate {
    Rewritten,
    Same,
    Refused(RefusedObject),
}

impl Uninstall {
    /// All objects of a CRD.
    pub(super) async fn rewrite(
        &self,
        crd: &Definition,
        storage: &str,
        on_event: &mut (dyn FnMut(UninstallEvent) + Send),
    ) -> Result<CrdObjects, String> {
        let kind = Kind::of(crd, storage);
        let mut lists = 1;
        loop {
            match self.go_through(&kind, crd.name(), on_event).await {
                Ok(objects) => return Ok(objects),
                // The list is older than what the API server remembers.
                Err(why) if why.code() == Some(410) && lists < LISTS => lists += 1,
                Err(why) => return Err(format!("its objects can't be read in {storage}: {why}")),
            }
        }
    }

    async fn go_through(
        &self,
        kind: &Kind,
        name: &str,
        on_event: &mut (dyn FnMut(UninstallEvent) + Send),
    ) -> Result<CrdObjects, RequestError> {
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &kind.resource);
        let mut objects = CrdObjects::default();
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let list = self.page(&api, &page).await?;
            let next = list.metadata.continue_.filter(|token| !token.is_empty());
            let items = list.items.into_iter().map(|item| self.store_anew(kind, item.metadata));
            let mut fates = stream::iter(items).buffer_unordered(AT_ONCE);
            while let Some(fate) = fates.next().await {
                objects.count(fate);
                on_event(UninstallEvent::Rewriting { name: name.to_owned(), objects: objects.found });
            }
            let Some(next) = next else { return Ok(objects) };
            page = page.continue_token(&next);
        }
    }

    async fn store_anew(&self, kind: &Kind, listed: StoredMetadata) -> Fate {
        let StoredMetadata { name, namespace, resource_version } = listed;
        let api: Api<DynamicObject> = match &namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &kind.resource),
            None => Api::all_with(self.client.clone(), &kind.resource),
        };
        let parameters = self.parameters();
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.patch(kind, &api, &name, &parameters).await {
                Ok(now) if now.metadata.resource_version == resource_version => return Fate::Same,
                Ok(_) => return Fate::Rewritten,
                // It was deleted meanwhile.
                Err(why) if why.code() == Some(404) => return Fate::Same,
                Err(why) if attempts < ATTEMPTS && passes(&why) => tokio::time::sleep(PAUSE * attempts).await,
                Err(why) => return Fate::Refused(RefusedObject { namespace, name, why: why.to_string() }),
            }
        }
    }

    /// Reads a page of a list; an API server that has just started needs a moment.
    async fn page(&self, api: &Api<DynamicObject>, page: &ListParams) -> Result<ObjectList<Stored>, RequestError> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.ask(Request::new(api.resource_url()).list_metadata(page)).await {
                Err(why) if attempts < ATTEMPTS && passes(&why) => tokio::time::sleep(PAUSE * attempts).await,
                read => return read,
            }
        }
    }

    /// Changes nothing of an object.
    async fn patch(
        &self,
        kind: &Kind,
        api: &Api<DynamicObject>,
        name: &str,
        parameters: &PatchParams,
    ) -> Result<Stored, RequestError> {
        let (place, nothing) = (Request::new(api.resource_url()), Patch::Merge(json!({})));
        self.ask(if kind.has_status {
            place.patch_subresource("status", name, parameters, &nothing)
        } else {
            place.patch(name, parameters, &nothing)
        })
        .await
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<T, RequestError> {
        let answer = async { self.client.request(request.map_err(kube::Error::BuildRequest)?).await };
        with_timeout(TIMEOUT, answer).await
    }
}

/// Whether another attempt makes sense.
fn passes(why: &RequestError) -> bool {
    matches!(why.code(), None | Some(409 | 429 | 503 | 504))
}

impl CrdObjects {
    fn count(&mut self, fate: Fate) {
        self.found += 1;
        match fate {
            Fate::Rewritten => self.rewritten += 1,
            Fate::Same => {}
            Fate::Refused(refused) => self.refused.push(refused),
        }
    }
}

/// How objects of a CRD are reached.
struct Kind {
    resource: ApiResource,
    has_status: bool,
}

impl Kind {
    fn of(crd: &Definition, storage: &str) -> Self {
        let subresources = crd.version(storage).and_then(|version| version.get("subresources"));
        let has_status = subresources.is_some_and(|subresources| subresources.get("status").is_some());
        Self { resource: crd.resource(storage), has_status }
    }
}

#[cfg(test)]
mod tests {
    use kube::core::PartialObjectMeta;

    use super::*;

    #[test]
    fn managed_fields_that_nest_deeply_hide_no_object() {
        let deep = format!("{}{{}}{}", r#"{"f:nest":"#.repeat(300), "}".repeat(300));
        let otter = format!(r#"{{"metadata":{{"name":"otter","managedFields":[{{"fieldsV1":{deep}}}]}}}}"#);
        let list =
            format!(r#"{{"metadata":{{}},"items":[{otter},{{"metadata":{{"name":"heron","namespace":"river"}}}}]}}"#);
        assert!(serde_json::from_str::<ObjectList<PartialObjectMeta<DynamicObject>>>(&list).is_err());
        let list: ObjectList<Stored> = serde_json::from_str(&list).unwrap();
        let names: Vec<_> = list.items.iter().map(|item| item.metadata.name.as_str()).collect();
        assert_eq!(names, ["otter", "heron"]);
    }
}
