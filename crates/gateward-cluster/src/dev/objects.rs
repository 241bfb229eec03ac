//! The objects of a cluster that may lead here.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, PostParams, Preconditions};
use kube::{Client, ResourceExt};

use super::event::DevError;
use super::plan::Obstacle;
use crate::crds::Definition;
use crate::failure::{RequestError, with_timeout};
use crate::injection::{InjectableKind, InjectableObject};
use crate::request::Backoff;

/// How long one answer may take: a CRD is large, and its schema is compiled.
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long an object is tried, and how long an API server may take to finish with it.
const PATIENCE: Duration = Duration::from_secs(40);
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Reads and writes them, each request guarded by what was read before.
#[derive(Clone)]
pub(super) struct DevObjects {
    client: Client,
    parameters: PostParams,
}

/// Why an attempt at an object failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum AttemptError {
    #[error(transparent)]
    Request(#[from] RequestError),
    #[error(transparent)]
    Obstacle(#[from] Obstacle),
}

impl AttemptError {
    /// Whether the next attempt may end otherwise.
    fn passes(&self) -> bool {
        match self {
            Self::Request(why) => match why.code() {
                None => true,
                Some(code) => code >= 500 || code == 429 || why.is_stale(),
            },
            Self::Obstacle(_) => false,
        }
    }
}

/// Tries until there is a result, with a pause after each attempt without one.
pub(super) async fn until_done<T>(
    object: &str,
    mut attempt: impl AsyncFnMut() -> Result<Option<T>, AttemptError>,
) -> Result<T, DevError> {
    let (started, mut pauses) = (Instant::now(), Backoff::with_delays(SHORTEST_PAUSE, LONGEST_PAUSE));
    loop {
        let is_late = started.elapsed() > PATIENCE;
        match attempt().await {
            Ok(Some(done)) => return Ok(done),
            Ok(None) if is_late => return Err(DevError::object(object, "the API server doesn't finish it in time")),
            Err(why) if is_late || !why.passes() => return Err(DevError::object(object, why)),
            Ok(None) | Err(_) => tokio::time::sleep(pauses.fail()).await,
        }
    }
}

impl DevObjects {
    pub(super) fn new(client: Client, manager: &str) -> Self {
        Self { client, parameters: PostParams { field_manager: Some(manager.to_owned()), ..PostParams::default() } }
    }

    fn api(&self, kind: InjectableKind) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &ApiResource::erase::<InjectableObject>(&kind))
    }

    pub(super) async fn all(&self, kind: InjectableKind) -> Result<Vec<DynamicObject>, RequestError> {
        Ok(with_timeout(TIMEOUT, self.api(kind).list(&ListParams::default())).await?.items)
    }

    /// The names of those whose annotations a function wants.
    pub(super) async fn names(
        &self,
        kind: InjectableKind,
        wanted: impl Fn(&BTreeMap<String, String>) -> bool,
    ) -> Result<Vec<String>, RequestError> {
        let listed = with_timeout(TIMEOUT, self.api(kind).list_metadata(&ListParams::default())).await?;
        Ok(listed.iter().filter(|object| wanted(object.annotations())).map(ResourceExt::name_any).collect())
    }

    pub(super) async fn read(&self, kind: InjectableKind, name: &str) -> Result<Option<DynamicObject>, RequestError> {
        with_timeout(TIMEOUT, self.api(kind).get_opt(name)).await
    }

    pub(super) async fn create(&self, kind: InjectableKind, object: &DynamicObject) -> Result<(), RequestError> {
        with_timeout(TIMEOUT, self.api(kind).create(&self.parameters, object)).await.map(drop)
    }

    /// Fails if the object has changed since it was read.
    pub(super) async fn replace(&self, kind: InjectableKind, object: &DynamicObject) -> Result<(), RequestError> {
        with_timeout(TIMEOUT, self.api(kind).replace(&object.name_any(), &self.parameters, object)).await.map(drop)
    }

    /// Fails if the object has changed since it was read.
    pub(super) async fn delete(&self, kind: InjectableKind, object: &DynamicObject) -> Result<(), RequestError> {
        let guard = Preconditions { uid: object.uid(), resource_version: object.resource_version() };
        let parameters = DeleteParams::default().preconditions(guard);
        with_timeout(TIMEOUT, self.api(kind).delete(&object.name_any(), &parameters)).await.map(drop)
    }

    /// Whether there are objects of a CRD.
    pub(super) async fn is_used(&self, crd: &DynamicObject) -> Result<bool, RequestError> {
        let crd = Definition::from(crd.clone());
        let resource = crd.resource(crd.storage().unwrap_or_default());
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &resource);
        Ok(!with_timeout(TIMEOUT, api.list_metadata(&ListParams::default().limit(1))).await?.items.is_empty())
    }

    pub(super) async fn nodes(&self) -> Result<usize, RequestError> {
        let resource = ApiResource::erase::<k8s_openapi::api::core::v1::Node>(&());
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &resource);
        Ok(with_timeout(TIMEOUT, api.list_metadata(&ListParams::default())).await?.items.len())
    }
}
