//! Somebody who may write our kinds in one namespace and nothing else, beside a neighbour who must not notice.

use std::time::Duration;

use cluster_tests::{Load, Pace, Response, Sandbox, UNSEEN, until, version_of};
use serde_json::{Value, json};

/// What a neighbour asks for: enough to meet whatever a tenant breaks.
const NEIGHBOUR: Pace = Pace { requests_per_second: 12, clients: 4 };

/// How many requests a neighbour makes at least: each of their objects is created, changed, read and denied once.
const REQUESTS: usize = 48;

/// The versions in which most kinds are served.
pub const VERSIONS: [&str; 2] = ["v1beta1", "v1alpha1"];

/// The label of a view that lacks something.
pub const INCOMPLETE: &str = "gateward.dev/incomplete";

/// How often an API server may give up a large body before it has asked us: on a busy machine it needs its 34 seconds.
const ATTEMPTS: usize = 4;

/// Lets a tenant of the namespace do their worst while a neighbour works in another, each of whose requests must be
/// answered as ever.
pub async fn beside_a_neighbour(sandbox: &Sandbox, row: impl AsyncFnOnce(&Tenant)) {
    let tenant = Tenant::of(sandbox).await;
    let load = Load::start(&sandbox.beside("near").await.unwrap(), NEIGHBOUR);
    row(&tenant).await;
    while load.so_far().requests() < REQUESTS {
        load.goes_on_for(1).await;
    }
    load.stop().await.assert_no_failures();
}

/// The user of a ServiceAccount that may do everything with our kinds in its own namespace.
pub struct Tenant {
    /// The namespace in the tenant's name.
    pub own: Sandbox,
    /// The namespace in the name of who may do everything.
    pub admin: Sandbox,
}

/// How an object is changed.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    Put,
    JsonPatch,
    MergePatch,
    Apply,
}

pub const WAYS: [Way; 4] = [Way::Put, Way::JsonPatch, Way::MergePatch, Way::Apply];

impl Tenant {
    /// The tenant of a namespace.
    pub async fn of(sandbox: &Sandbox) -> Self {
        let (client, namespace) = (sandbox.client(), sandbox.namespace());
        let make = async |path: &str, object: Value| client.post(path, &object).await.unwrap().granted().unwrap();
        let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        make(&accounts, json!({"metadata": {"name": "tenant"}})).await;
        let rbac = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}");
        let rule = json!({"apiGroups": ["nvidia.com"], "resources": ["*"], "verbs": ["*"]});
        make(&format!("{rbac}/roles"), json!({"metadata": {"name": "tenant"}, "rules": [rule]})).await;
        let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"});
        let subject = json!({"kind": "ServiceAccount", "name": "tenant", "namespace": namespace});
        let binding = json!({"metadata": {"name": "tenant"}, "roleRef": role, "subjects": [subject]});
        make(&format!("{rbac}/rolebindings"), binding).await;
        let token = make(&format!("{accounts}/tenant/token"), json!({"spec": {}})).await;
        let own = sandbox.with_token(token["status"]["token"].as_str().unwrap()).unwrap();
        let models = own.collection(&json!({"apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoModel"}), "v1alpha1");
        // The API server learns of a binding a moment later than we do.
        until("a right", Duration::from_mins(2), async || own.client().get(&models).await.unwrap().status == 200).await;
        Self { own, admin: sandbox.clone() }
    }

    /// Stores an object that the webhooks skip, as it was stored before there were any.
    pub async fn inherits(&self, object: &Value) -> Value {
        self.admin.acting_as(UNSEEN).accepts(object).await
    }

    /// Asks for a large object to be created, and asks again where the API server gave it up.
    pub async fn posts(&self, object: &Value) -> Response {
        let mut answer = self.own.create(object).await;
        for _ in 1..ATTEMPTS {
            if answer.status != 504 {
                break;
            }
            answer = self.own.create(object).await;
        }
        answer
    }

    /// The object can be read in both versions, by itself and in lists, by the tenant and by a client that lists all
    /// namespaces. Gives it in both versions.
    pub async fn reads(&self, object: &Value) -> [Value; 2] {
        let mut read = Vec::new();
        for version in VERSIONS {
            let own = self.own.read(object, version).await;
            let collection = self.own.collection(object, version);
            let everywhere = format!("/apis/nvidia.com/{version}/{}", collection.rsplit('/').next().unwrap());
            for (asker, path) in [(&self.own, collection), (&self.admin, everywhere)] {
                let list = asker.client().get(&path).await.unwrap();
                let list = list.granted().unwrap_or_else(|why| panic!("{path}: {why}"));
                let uid = &own["metadata"]["uid"];
                let mut items = list["items"].as_array().unwrap().iter();
                assert!(items.any(|item| item["metadata"]["uid"] == *uid), "{path} lacks {object}");
            }
            read.push(own);
        }
        read.try_into().unwrap()
    }

    /// Sets what stands at a JSON pointer of an object, as it is read in a version, and takes the label of a view that
    /// lacks something off.
    pub async fn sets(&self, object: &Value, version: &str, way: Way, pointer: &str, value: &Value) -> Response {
        let place = self.own.place(object, version);
        let before = self.own.read(object, version).await;
        let mut after = before.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        after.pointer_mut(parent).unwrap_or_else(|| panic!("{pointer} of {before}"))[name] = value.clone();
        let labelled = is_marked(&before);
        if let Some(labels) = after["metadata"]["labels"].as_object_mut() {
            labels.remove(INCOMPLETE);
        }
        let client = self.own.client();
        match way {
            Way::Put => client.put(&place, &after).await,
            Way::JsonPatch => {
                let mut operations = vec![json!({"op": "add", "path": pointer, "value": value})];
                let label = format!("/metadata/labels/{}", INCOMPLETE.replace('/', "~1"));
                operations.extend(labelled.then(|| json!({"op": "remove", "path": label})));
                client.patch(&place, &operations.into()).await
            }
            Way::MergePatch => {
                let mut patch = json!({"spec": after["spec"]});
                if labelled {
                    patch["metadata"] = json!({"labels": {INCOMPLETE: null}});
                }
                client.merge(&place, &patch).await
            }
            Way::Apply => {
                let metadata = json!({"name": object["metadata"]["name"]});
                let part = json!({"apiVersion": after["apiVersion"], "kind": after["kind"], "metadata": metadata, "spec": after["spec"]});
                client.apply(&format!("{place}?fieldManager=tenant&force=true"), &part).await
            }
        }
        .unwrap()
    }

    /// The object goes when it is deleted and its finalizer is removed, in one of the versions.
    pub async fn removes(&self, object: &Value, version: &str) {
        let place = self.own.place(object, version);
        self.own.client().delete(&place).await.unwrap().granted().unwrap();
        let [leaving, _] = self.reads(object).await;
        assert!(leaving["metadata"]["deletionTimestamp"].is_string(), "{leaving}");
        self.lets_go(object, version).await.granted().unwrap();
        assert_eq!(self.own.client().get(&place).await.unwrap().status, 404);
    }

    /// Takes the finalizers off and changes nothing else.
    pub async fn lets_go(&self, object: &Value, version: &str) -> Response {
        let awake = json!([{"op": "remove", "path": "/metadata/finalizers"}]);
        self.own.client().patch(&self.own.place(object, version), &awake).await.unwrap()
    }

    /// The object can be made, and is stored as the same object without its annotations.
    pub async fn stores_as_if_it_had_no_annotations(&self, object: &Value) {
        let mut plain = object.clone();
        plain["metadata"].as_object_mut().unwrap().retain(|name, _| name == "name");
        self.own.accepts(&plain).await;
        let wanted = said(&self.reads(&plain).await);
        self.own.delete(&plain).await;
        self.own.accepts(object).await;
        assert_eq!(said(&self.reads(object).await), wanted, "{object}");
    }
}

/// The same object, which somebody holds when it is deleted.
pub fn held(mut object: Value) -> Value {
    object["metadata"]["finalizers"] = json!(["zoo.org/asleep"]);
    object
}

/// What objects say but for their metadata.
fn said(objects: &[Value]) -> Vec<Value> {
    objects.iter().map(|object| json!({"spec": object["spec"], "status": object.get("status")})).collect()
}

/// Whether an object is a view that lacks something.
pub fn is_marked(object: &Value) -> bool {
    object["metadata"]["labels"].get(INCOMPLETE).is_some()
}

/// The other of both versions.
pub fn other_of(object: &Value) -> &'static str {
    if version_of(object) == "v1beta1" { "v1alpha1" } else { "v1beta1" }
}
