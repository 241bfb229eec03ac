//! Requests about a part of an object: evictions, connections, numbers of replicas.

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use gateward_core::manifest::{Installation, webhook_configuration, yaml};
use gateward_core::testing::Stored;
use gateward_core::{
    BoxFuture, ClusterReader, Context, DeletingObjects, FieldPath, GroupServed, Issues, Lookup, ObjectName, Operation,
    Outcome, Request, Review, Rule, Skip, UPDATE, Validator, Verdict, Webhook, Webhooks, WebhooksError, handler,
    resource,
};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::api::policy::v1::Eviction;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::declaring::installation;
use crate::zoo::{Otter, OtterConversion, Reply, VALIDATE, ask, ask_in, otter, review, updated};

#[derive(Serialize, Deserialize)]
struct PodExecOptions {
    #[serde(default)]
    command: Vec<String>,
}

resource!(PodExecOptions, "v1", "PodExecOptions", "pods");

fn keep_the_first(new: &Eviction, _: &Request) -> Result<(), Verdict> {
    match new.metadata.name.as_deref() {
        Some("otto-0") => Err(Verdict::deny("the first otter stays")),
        _ => Ok(()),
    }
}

struct NoShell;

#[handler]
impl Validator<PodExecOptions> for NoShell {
    async fn connect(&self, options: &PodExecOptions, _: &Request) -> Verdict {
        match options.command.first().map(String::as_str) {
            Some("sh" | "bash") => Verdict::deny("no shells in here"),
            _ => Verdict::allow(),
        }
    }
}

fn pods() -> Webhooks {
    Webhooks::new()
        .register(Webhook::<Eviction>::new().subresource_of::<Pod>("eviction").validator(keep_the_first))
        .register(Webhook::<PodExecOptions>::new().subresource_of::<Pod>("exec").validator(NoShell))
}

const EVICTION: &str = "/validate--v1-pod-eviction";
const EXEC: &str = "/validate--v1-pod-exec";

fn about_a_pod(operation: &str, kind: &Value, subresource: &str, object: Value) -> Value {
    let mut body = review(operation, object, Value::Null);
    body["request"]["kind"] = kind.clone();
    body["request"]["resource"] = json!({"group": "", "version": "v1", "resource": "pods"});
    body["request"]["subResource"] = subresource.into();
    body
}

fn eviction(name: &str) -> Value {
    let object = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    about_a_pod("CREATE", &json!({"group": "policy", "version": "v1", "kind": "Eviction"}), "eviction", object)
}

fn exec(command: &str) -> Value {
    let object = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": [command]});
    about_a_pod("CONNECT", &json!({"group": "", "version": "v1", "kind": "PodExecOptions"}), "exec", object)
}

#[test]
fn an_eviction_and_a_connection_have_handlers_of_their_own() {
    let webhooks = pods();
    assert_eq!(webhooks.check(), Ok(()));
    assert!(ask(&webhooks, EVICTION, &eviction("otto-1")).is_allowed());
    assert_eq!(denied(&ask(&webhooks, EVICTION, &eviction("otto-0"))), "the first otter stays");
    assert!(ask(&webhooks, EXEC, &exec("date")).is_allowed());
    assert_eq!(denied(&ask(&webhooks, EXEC, &exec("sh"))), "no shells in here");
}

fn denied(reply: &Reply) -> &str {
    assert!(!reply.is_allowed(), "{}", reply.body);
    reply.response()["status"]["message"].as_str().unwrap()
}

#[test]
fn a_request_about_another_subresource_is_none_for_the_webhook() {
    let webhooks = pods();
    let reply = ask(&webhooks, EXEC, &eviction("otto-1"));
    assert_eq!(reply.status, 400);
    let message = reply.body["message"].as_str().unwrap();
    assert!(message.contains("PodExecOptions of the core group in v1 at pods/exec"), "{message}");
    let mut of_the_pod = eviction("otto-1");
    of_the_pod["request"].as_object_mut().unwrap().remove("subResource");
    assert_eq!(ask(&webhooks, EVICTION, &of_the_pod).status, 400);
}

#[test]
fn without_a_path_the_kind_and_the_subresource_say_who_judges() {
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(()));
    let webhooks = pods();
    let answer = |body: &Value| {
        let body = body.to_string();
        let answer = webhooks.handle_kind(Review::Validate, body.as_bytes(), &context);
        Reply::from(gateward_core::testing::block_on(answer))
    };
    assert_eq!(denied(&answer(&exec("bash"))), "no shells in here");
    assert_eq!(denied(&answer(&eviction("otto-0"))), "the first otter stays");
    assert_eq!(answer(&about_a_pod("CONNECT", &json!({}), "attach", json!({}))).record.outcome, no_handler());
}

fn no_handler() -> Outcome {
    Outcome::Skipped(Skip::NoHandler)
}

/// Rendered as they are registered, for people who read the configuration.
#[test]
fn the_configuration_names_the_subresource_of_the_resource() {
    let installation = Installation { namespace_selector: None, ..installation() };
    let configuration = webhook_configuration(&pods(), Review::Validate, &installation).unwrap();
    let webhooks = serde_json::to_value(configuration).unwrap()["webhooks"].clone();
    insta::assert_snapshot!(yaml::document(&webhooks[0]), @r#"
    admissionReviewVersions:
    - v1
    clientConfig:
      service:
        name: zoo-webhook
        namespace: zoo-system
        path: /validate--v1-pod-eviction
        port: 443
    failurePolicy: Fail
    matchPolicy: Equivalent
    name: validate.eviction.pod.core
    namespaceSelector:
      matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: NotIn
        values:
        - kube-system
        - zoo-system
    rules:
    - apiGroups:
      - ""
      apiVersions:
      - v1
      operations:
      - CREATE
      - UPDATE
      resources:
      - pods/eviction
      scope: Namespaced
    sideEffects: None
    timeoutSeconds: 10
    "#);
    assert_eq!(webhooks[1]["rules"][0]["operations"], json!(["CONNECT"]));
    assert_eq!(webhooks[1]["rules"][0]["resources"], json!(["pods/exec"]));
}

#[test]
fn a_kind_and_its_status_are_two_webhooks() {
    let status = || Webhook::<Otter>::new().subresource_of::<Otter>("status").validator(|_: &Otter, _: &Request| ());
    let refusing = |_: &Otter, _: &Request| Verdict::deny("no otters here");
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(refusing)).register(status());
    assert_eq!(webhooks.check(), Ok(()));
    let mut body = updated(otter(json!({})), otter(json!({})));
    assert!(!ask(&webhooks, VALIDATE, &body).is_allowed());
    body["request"]["subResource"] = "status".into();
    assert!(ask(&webhooks, "/validate-zoo-example-org-v1-otter-status", &body).is_allowed());
    let twice = Webhooks::new().register(status()).register(status());
    assert!(matches!(twice.check(), Err(WebhooksError::KindTwice { .. })));
}

const FEW_PUPS: Rule = Rule { id: "OTTER-09", ..Rule::on(UPDATE) };

/// At most three pups, and never fewer than there were.
struct Pups;

#[handler]
impl Validator<Otter> for Pups {
    async fn update(&self, old: &Otter, new: &Otter, request: &Request) -> Issues {
        let mut issues = Issues::new();
        assert_eq!(request.sub_resource.as_deref(), Some("scale"));
        if new.spec.pups > Some(3) || new.spec.pups < old.spec.pups {
            issues.add(FEW_PUPS.invalid(FieldPath::field("spec") / "pups", new.spec.pups.map(i64::from)).message("no"));
        }
        issues
    }
}

/// A cluster with one answer, which remembers what it was asked for.
#[derive(Debug)]
struct OneAnswer(Lookup, Mutex<Vec<ObjectName>>);

impl ClusterReader for OneAnswer {
    fn group<'a>(&'a self, _: &'a str) -> BoxFuture<'a, GroupServed> {
        unreachable!("no rule asks")
    }

    fn resource<'a>(&'a self, _: &'a str, _: &'a str, _: &'a str) -> BoxFuture<'a, GroupServed> {
        unreachable!("no rule asks")
    }

    fn get<'a>(&'a self, object: &'a ObjectName) -> BoxFuture<'a, Lookup> {
        self.1.lock().unwrap().push(object.clone());
        Box::pin(std::future::ready(self.0.clone()))
    }
}

fn scaled(webhooks: &Webhooks, stored: Lookup, replicas: &Value) -> (Reply, Vec<ObjectName>) {
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "otto"}, "spec": {"replicas": replicas}});
    let mut body = updated(scale.clone(), scale);
    body["request"]["kind"] = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
    body["request"]["resource"]["version"] = "v1alpha1".into();
    body["request"]["subResource"] = "scale".into();
    let cluster = Arc::new(OneAnswer(stored, Mutex::default()));
    let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(())).cluster(Arc::clone(&cluster) as _);
    let reply = ask_in(webhooks, &context, VALIDATE, body.to_string().as_bytes());
    let asked = cluster.1.lock().unwrap().clone();
    (reply, asked)
}

fn with_scale() -> Webhooks {
    let set = |otter: &mut Otter, replicas| otter.spec.pups = u8::try_from(replicas).ok();
    Webhooks::new().register(Webhook::<Otter>::new().spoke(OtterConversion).validator(Pups).scale(set))
}

#[test]
fn a_change_of_the_scale_is_judged_as_the_change_of_the_object() {
    let stored = Lookup::Found(otter(json!({"pups": 2})));
    let (reply, asked) = scaled(&with_scale(), stored.clone(), &json!(3));
    assert!(reply.is_allowed(), "{}", reply.body);
    let name = ObjectName {
        group: "zoo.example.org".into(),
        version: "v1".into(),
        plural: "otters".into(),
        namespace: Some("river".into()),
        name: "otto".into(),
    };
    assert_eq!(asked, [name]);
    for replicas in [json!(900), json!(1)] {
        let (reply, _) = scaled(&with_scale(), stored.clone(), &replicas);
        assert_eq!((reply.is_allowed(), reply.fields()), (false, vec!["spec.pups"]), "{}", reply.body);
    }
}

#[test]
fn the_scale_of_what_is_gone_passes_and_of_what_can_not_be_read_is_undecided() {
    assert!(scaled(&with_scale(), Lookup::Absent, &json!(900)).0.is_allowed());
    let (reply, _) = scaled(&with_scale(), Lookup::Unreadable("the store is away".into()), &json!(3));
    assert_eq!((reply.status, &reply.body["message"]), (503, &json!("the store is away")));
    for stored in [json!({"pups": 2, "river": 7}), json!({"pups": 2, "tools": [{}]})] {
        let stored = Lookup::Found(otter(stored));
        assert!(scaled(&with_scale(), stored.clone(), &json!(3)).0.is_allowed());
        assert_eq!(scaled(&with_scale(), stored, &json!(900)).0.fields(), ["spec.pups"]);
    }
    let (reply, _) = scaled(&with_scale(), Lookup::Found(json!([])), &json!(3));
    let why = r#"the zoo.example.org/v1 Otter "otto" that is scaled can't be read: it is no object of its kind"#;
    assert_eq!((reply.status, &reply.body["message"]), (503, &json!(why)));
    let (reply, _) = scaled(&with_scale(), Lookup::Found(otter(json!({}))), &json!("many"));
    assert_eq!(reply.fields(), ["spec.replicas"]);
}

#[test]
fn the_scale_of_what_is_being_deleted_is_judged_as_its_updates_are() {
    let mut going = otter(json!({"pups": 2}));
    going["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z".into();
    let set = |otter: &mut Otter, replicas| otter.spec.pups = u8::try_from(replicas).ok();
    let kind = |deleting| Webhook::<Otter>::new().validator(Pups).scale(set).deleting_objects(deleting);
    for (deleting, passes) in [(DeletingObjects::Validate, false), (DeletingObjects::Skip, true)] {
        let webhooks = Webhooks::new().register(kind(deleting));
        let (reply, _) = scaled(&webhooks, Lookup::Found(going.clone()), &json!(900));
        assert_eq!(reply.is_allowed(), passes, "{deleting:?}");
        let (reply, _) = scaled(&webhooks, Lookup::Found(otter(json!({"pups": 2}))), &json!(900));
        assert!(!reply.is_allowed());
    }
}

#[test]
fn a_scale_is_registered_where_it_is_judged() {
    let rules = |webhooks: &Webhooks| {
        let configuration = webhook_configuration(webhooks, Review::Validate, &installation()).unwrap();
        serde_json::to_value(configuration).unwrap()["webhooks"][0]["rules"][0]["resources"].clone()
    };
    assert_eq!(rules(&with_scale()), json!(["otters", "otters/scale"]));
    let without = Webhooks::new().register(Webhook::<Otter>::new().spoke(OtterConversion).validator(Pups));
    assert_eq!(rules(&without), json!(["otters"]));
    assert_eq!(scaled(&without, Lookup::Absent, &json!(3)).0.status, 400);
}

#[test]
fn a_scale_that_no_rule_on_updates_judges_is_refused_at_the_start() {
    let unjudged = |kind: Webhook<Otter>| {
        let webhooks = Webhooks::new().register(kind.scale(|_, _| ()));
        matches!(webhooks.check(), Err(WebhooksError::UnjudgedScale { .. }))
    };
    assert!(unjudged(Webhook::new().spoke(OtterConversion)));
    assert!(unjudged(Webhook::new().validator(|_: &Otter, _: &Request| ()).on([Operation::Create])));
    assert!(!unjudged(Webhook::new().validator(Pups)));
}

#[test]
fn a_look_up_where_there_is_no_cluster_is_no_verdict() {
    async fn known(_: &Otter, request: &Request) -> Result<(), Verdict> {
        request.cluster()?;
        Ok(())
    }
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(known));
    let reply = ask(&webhooks, VALIDATE, &review("CREATE", otter(json!({})), Value::Null));
    assert_eq!(reply.status, 503, "{}", reply.body);
}

#[derive(Serialize, Deserialize)]
struct Keeper {
    secret: u8,
}

resource!(Keeper, "v1", "Keeper", "keepers");

#[test]
fn what_is_looked_up_and_does_not_fit_its_type_is_undecided_and_not_shown() {
    async fn kept(_: &Otter, request: &Request) -> Result<(), Verdict> {
        if let Some(keeper) = request.find::<Keeper>(None, "jane").await? {
            assert_eq!(keeper.secret, 7);
        }
        Ok(())
    }
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(kept));
    let asked = |stored: &Value| {
        let cluster = Stored::new().with::<Keeper>(stored);
        let context = Context::new(SystemTime::UNIX_EPOCH, Arc::new(())).cluster(Arc::new(cluster));
        ask_in(&webhooks, &context, VALIDATE, review("CREATE", otter(json!({})), Value::Null).to_string().as_bytes())
    };
    assert!(asked(&json!({"metadata": {"name": "jane"}, "secret": 7})).is_allowed());
    assert!(asked(&json!({"metadata": {"name": "joe"}, "secret": 8})).is_allowed());
    let reply = asked(&json!({"metadata": {"name": "jane"}}));
    assert_eq!(reply.status, 503);
    assert_eq!(
        reply.body["message"],
        r#"the v1 Keeper "jane" can't be read: secret is missing; mend that object first"#
    );
    let reply = asked(&json!({"metadata": {"name": "jane"}, "secret": "hush"}));
    assert_eq!(reply.status, 503);
    assert_eq!(
        reply.body["message"],
        r#"the v1 Keeper "jane" can't be read: secret has the wrong type; mend that object first"#
    );
}
