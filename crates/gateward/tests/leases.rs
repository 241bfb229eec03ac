//! However a server ends that has claimed its namespace: the Lease goes to another ready replica, or with the last one.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use gateward::config::{
    Config, ConfigSource, Discovered, DiscoveryError, HttpVersions, ListenAddress, Listeners, MetricsAccess,
    NamespaceScope, Problem, RestrictedNamespace,
};
use gateward::prelude::*;
use gateward::{
    Client, ClusterReader, ControllersError, Drain, Operator, Release, Server, ServerError, ShutdownSignal,
};
use gateward_core::FieldPath;
use http::{Method, Response, StatusCode};
use kube::client::Body;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tower_service::Service;

/// The Lease that claims the namespace.
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/team-a/leases/lock";
/// The leader's.
const WRITER: &str = "/apis/coordination.k8s.io/v1/namespaces/zoo/leases/otters-webhook-writer";

/// An API server that keeps what it is given, and never has news.
#[derive(Clone, Default)]
struct ApiServer(Arc<Mutex<Stored>>);

#[derive(Default)]
struct Stored {
    objects: BTreeMap<String, Value>,
    version: u64,
    /// Whether there is another ready Pod of the release.
    sibling: bool,
    /// The preconditions of what was deleted, by its path, beside the object as it was.
    deleted: Vec<(String, Value, Value)>,
}

impl ApiServer {
    fn stored(&self) -> MutexGuard<'_, Stored> {
        self.0.lock().unwrap()
    }

    fn lease(&self) -> Option<Value> {
        self.stored().objects.get(LEASE).cloned()
    }

    /// Waits until the server has claimed its namespace.
    async fn is_claimed(&self) {
        while self.lease().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Stored {
    fn answer(&mut self, method: &Method, path: &str, body: Value) -> (StatusCode, Value) {
        match *method {
            Method::GET if path.ends_with("/pods") => (StatusCode::OK, list(&self.pods())),
            Method::GET => match self.objects.get(path) {
                Some(object) => (StatusCode::OK, object.clone()),
                None if is_collection(path) => (StatusCode::OK, list(&[])),
                None => failure(StatusCode::NOT_FOUND),
            },
            Method::POST => {
                let place = format!("{path}/{}", body["metadata"]["name"].as_str().unwrap_or_default());
                if self.objects.contains_key(&place) {
                    return failure(StatusCode::CONFLICT);
                }
                (StatusCode::CREATED, self.put(place, body))
            }
            Method::PUT => match self.objects.get(path) {
                Some(before) if before["metadata"]["resourceVersion"] == body["metadata"]["resourceVersion"] => {
                    (StatusCode::OK, self.put(path.to_owned(), body))
                }
                Some(_) => failure(StatusCode::CONFLICT),
                None => failure(StatusCode::NOT_FOUND),
            },
            Method::DELETE => match self.objects.remove(path) {
                Some(before) => {
                    self.deleted.push((path.to_owned(), body["preconditions"].clone(), before["metadata"].clone()));
                    (StatusCode::OK, json!({"kind": "Status", "status": "Success"}))
                }
                None => failure(StatusCode::NOT_FOUND),
            },
            _ => failure(StatusCode::METHOD_NOT_ALLOWED),
        }
    }

    fn put(&mut self, place: String, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = self.version.to_string().into();
        object["metadata"]["uid"] = format!("of {place}").into();
        self.objects.insert(place, object.clone());
        object
    }

    /// Our own Pod is called as the leader's Lease says.
    fn pods(&self) -> Vec<Value> {
        let leader = self.objects.get(WRITER).and_then(|lease| lease["spec"]["holderIdentity"].as_str());
        let ours = leader.and_then(|leader| Some(leader.rsplit_once('_')?.0)).map(|name| pod(name, "1"));
        ours.into_iter().chain(self.sibling.then(|| pod("otters-2", "2"))).collect()
    }
}

fn pod(name: &str, uid: &str) -> Value {
    let conditions = json!([{"type": "Ready", "status": "True"}]);
    json!({"metadata": {"name": name, "uid": uid}, "status": {"conditions": conditions}})
}

/// Whether a path has a resource at its end, and no name.
fn is_collection(path: &str) -> bool {
    ["configurations", "definitions", "leases", "secrets"].iter().any(|plural| path.ends_with(plural))
}

fn list(items: &[Value]) -> Value {
    json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items})
}

fn failure(status: StatusCode) -> (StatusCode, Value) {
    let reason = status.canonical_reason().unwrap_or_default();
    let status_object = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": reason,
        "reason": reason.replace(' ', ""), "code": status.as_u16(),
    });
    (status, status_object)
}

impl Service<http::Request<Body>> for ApiServer {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let this = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            if parts.uri.query().is_some_and(|query| query.contains("watch=true")) {
                return pending().await;
            }
            let body = body.collect_bytes().await.unwrap();
            let body = serde_json::from_slice(&body).unwrap_or_default();
            let (status, answer) = this.stored().answer(&parts.method, parts.uri.path(), body);
            Ok(Response::builder().status(status).body(Body::from(answer.to_string().into_bytes())).unwrap())
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Otter {}

resource!(Otter, "zoo.example/v1", "Otter", "otters");

struct Anyone;

#[handler]
impl Validator<Otter> for Anyone {
    async fn create(&self, _: &Otter, _: &Request) -> Verdict {
        Verdict::allow()
    }
}

/// What an operator does once its namespace is claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    ControllersFail,
    ControllersPanicOnce,
    FactsContradict,
    IsAskedToEnd,
}

struct Otters {
    webhooks: Webhooks,
    api_server: ApiServer,
    then: Then,
    /// How often its controllers have started.
    starts: Arc<AtomicUsize>,
}

impl Operator for Otters {
    fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    async fn cluster_facts(&self, _: &ConfigSource, _: Arc<dyn ClusterReader>) -> Result<Discovered, DiscoveryError> {
        if self.then == Then::FactsContradict {
            self.api_server.is_claimed().await;
            return Err(DiscoveryError::Contradiction(Problem::of_key(FieldPath::field("grove"), "isn't there")));
        }
        Ok(Discovered { facts: Arc::new(()), notes: Vec::new() })
    }

    async fn controllers(&self, _: Client, shutdown: ShutdownSignal) -> Result<(), ControllersError> {
        self.api_server.is_claimed().await;
        let before = self.starts.fetch_add(1, Ordering::Relaxed);
        match self.then {
            Then::ControllersFail => Err("no such kind".into()),
            Then::ControllersPanicOnce if before == 0 => panic!("no such kind"),
            Then::ControllersPanicOnce | Then::FactsContradict | Then::IsAskedToEnd => {
                shutdown.await;
                Ok(())
            }
        }
    }
}

fn config() -> Config {
    let free = ListenAddress { ip: Some([127, 0, 0, 1].into()), port: 0 };
    let listeners = Listeners {
        webhooks: free,
        health: free,
        metrics: free,
        metrics_access: MetricsAccess::Open,
        http: HttpVersions::Http1,
    };
    let one = RestrictedNamespace {
        name: "team-a".into(),
        lease: "lock".into(),
        lease_duration: Duration::from_secs(30),
        renew_interval: Duration::from_secs(10),
    };
    let release = Release { name: "otters".into(), namespace: "zoo".into() };
    Config { listeners, namespaces: NamespaceScope::One(one), ..Config::of_release(&release, "otters").unwrap() }
}

/// How a server has ended that had claimed its namespace, and what the API server has then.
async fn ended(then: Then, sibling: bool) -> (Result<(), ServerError>, ApiServer) {
    let api_server = ApiServer::default();
    api_server.stored().sibling = sibling;
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(Anyone));
    let starts = Arc::new(AtomicUsize::new(0));
    let operator = Otters { webhooks, api_server: api_server.clone(), then, starts: Arc::clone(&starts) };
    let server = Server::builder(operator)
        .client(Client::new(api_server.clone(), "zoo"))
        .release("otters", "zoo")
        .config(config())
        .drain(Drain { grace: Duration::ZERO, ..Drain::default() })
        .start()
        .await
        .unwrap();
    let asked = async {
        api_server.is_claimed().await;
        match then {
            Then::ControllersFail | Then::FactsContradict => pending().await,
            Then::ControllersPanicOnce => {
                while starts.load(Ordering::Relaxed) < 2 {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
            Then::IsAskedToEnd => {}
        }
    };
    (server.run_until(asked).await.map(drop), api_server)
}

const ALL: [(Then, &str); 4] = [
    (Then::ControllersFail, "the operator's controllers have ended: no such kind"),
    (Then::ControllersPanicOnce, ""),
    (Then::FactsContradict, "grove: isn't there"),
    (Then::IsAskedToEnd, ""),
];

#[tokio::test]
async fn the_last_replica_deletes_the_lease_that_it_has_seen_however_it_ends() {
    for (then, said) in ALL {
        let (ended, api_server) = ended(then, false).await;
        assert_eq!(ended.map_or_else(|error| error.to_string(), |()| String::new()), said, "{then:?}");
        assert_eq!(api_server.lease(), None, "{then:?}");
        let stored = api_server.stored();
        let [(path, preconditions, before)] = stored.deleted.as_slice() else { panic!("{:?}", stored.deleted) };
        assert_eq!(path, LEASE);
        let seen = json!({"uid": before["uid"], "resourceVersion": before["resourceVersion"]});
        assert_eq!(*preconditions, seen, "{then:?}");
    }
}

#[tokio::test]
async fn a_replica_that_is_not_the_last_hands_the_lease_over_however_it_ends() {
    for (then, _) in ALL {
        let (_, api_server) = ended(then, true).await;
        assert_eq!(api_server.lease().unwrap()["spec"]["holderIdentity"], "otters/2", "{then:?}");
        assert_eq!(api_server.stored().deleted, [], "{then:?}");
    }
}
