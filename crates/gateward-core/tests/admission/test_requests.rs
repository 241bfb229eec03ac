//! Requests of tests reach each handler that an API server would ask.

use gateward_core::testing::TestRequest;
use gateward_core::{DryRun, Request, Validator, Verdict, Webhook, Webhooks, handler, resource};
use k8s_openapi::api::core::v1::{Binding, Pod};
use k8s_openapi::api::policy::v1::Eviction;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::zoo::{Otter, otter};

#[derive(Serialize, Deserialize)]
struct PodExecOptions {
    #[serde(default)]
    command: Vec<String>,
}

resource!(PodExecOptions, "v1", "PodExecOptions", "pods");

/// Nobody but the keepers gets a shell, and nobody in the Pod of the first otter.
struct Shells;

#[handler]
impl Validator<PodExecOptions> for Shells {
    async fn connect(&self, options: &PodExecOptions, request: &Request) -> Result<(), Verdict> {
        assert_eq!((&*request.resource.resource, request.sub_resource.as_deref()), ("pods", Some("exec")));
        let is_keeper = request.user.as_ref().is_some_and(|user| user.groups.iter().any(|group| group == "keepers"));
        if options.command == ["sh"] && !is_keeper {
            return Err(Verdict::deny("a shell is for keepers"));
        }
        match (request.namespace.as_deref(), request.name.as_deref()) {
            (Some("zoo"), Some("otto-0")) => Err(Verdict::deny("the first otter is asleep")),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_connection_has_a_user_with_groups_and_an_object() {
    let webhooks =
        Webhooks::new().register(Webhook::<PodExecOptions>::new().subresource_of::<Pod>("exec").validator(Shells));
    let shell = json!({"apiVersion": "v1", "kind": "PodExecOptions", "command": ["sh"]});
    let request = TestRequest::of(&webhooks);
    request.connect(&shell).assert_denied();
    let keeper = request.clone().groups(["keepers"]);
    keeper.connect(&shell).assert_allowed();
    keeper.namespace("zoo").name("otto-0").connect(&shell).assert_denied();
}

#[test]
fn an_eviction_and_a_binding_find_their_subresources() {
    fn awake(new: &Eviction, request: &Request) -> Result<(), Verdict> {
        assert_eq!(request.sub_resource.as_deref(), Some("eviction"));
        if new.metadata.name.as_deref() == Some("otto-0") { Err(Verdict::deny("asleep")) } else { Ok(()) }
    }
    fn to_the_river(new: &Binding, request: &Request) -> Result<(), Verdict> {
        assert_eq!(request.sub_resource.as_deref(), Some("binding"));
        if new.target.name.as_deref() == Some("wye") { Ok(()) } else { Err(Verdict::deny("only to the Wye")) }
    }
    let webhooks = Webhooks::new()
        .register(Webhook::<Eviction>::new().subresource_of::<Pod>("eviction").validator(awake))
        .register(Webhook::<Binding>::new().subresource_of::<Pod>("binding").validator(to_the_river));
    assert_eq!(webhooks.check(), Ok(()));
    let request = TestRequest::of(&webhooks);
    let eviction = |name: &str| json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
    request.create(&eviction("otto-0")).assert_denied();
    request.create(&eviction("otto-1")).assert_allowed();
    let binding = |node: &str| json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "otto"}, "target": {"name": node}});
    request.create(&binding("usk")).assert_denied();
    request.create(&binding("wye")).assert_allowed();
    // The rule of a configuration has the resource with its subresource.
    let resources = webhooks.declarations().map(|declared| declared.resource_name().into_owned());
    assert_eq!(resources.collect::<Vec<_>>(), ["pods/eviction", "pods/binding"]);
}

#[test]
fn the_status_is_sent_where_the_test_names_it() {
    let spec = |_: &Otter, _: &Request| Verdict::deny("otters don't change");
    let status = |_: &Otter, request: &Request| assert_eq!(request.sub_resource.as_deref(), Some("status"));
    let webhooks = Webhooks::new()
        .register(Webhook::<Otter>::new().validator(spec))
        .register(Webhook::<Otter>::new().subresource_of::<Otter>("status").validator(status));
    let (request, otter) = (TestRequest::of(&webhooks), otter(json!({})));
    request.update(&otter, &otter).assert_denied();
    request.subresource_of::<Otter>("status").update(&otter, &otter).assert_allowed();
}

#[derive(Serialize, Deserialize)]
struct ScaleSpec {
    #[serde(default)]
    replicas: i32,
}

#[derive(Serialize, Deserialize)]
struct Scale {
    spec: ScaleSpec,
}

resource!(Scale, "autoscaling/v1", "Scale", "scales");

#[test]
fn a_handler_of_scales_gets_the_scale_of_an_object() {
    let few = |new: &Scale, _: &Request| if new.spec.replicas > 10 { Verdict::deny("ten") } else { Verdict::allow() };
    let webhooks = Webhooks::new().register(Webhook::<Scale>::new().subresource_of::<Otter>("scale").validator(few));
    assert_eq!(webhooks.check(), Ok(()));
    let request = TestRequest::of(&webhooks);
    request.scale(&otter(json!({})), 10).assert_allowed();
    request.scale(&otter(json!({})), 11).assert_denied();
}

/// No API server sends it, so a test that expects it to pass is told.
#[test]
fn a_scale_that_nobody_judges_is_no_verdict() {
    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().validator(|_: &Otter, _: &Request| ()));
    assert_eq!(TestRequest::of(&webhooks).scale(&otter(json!({})), 1).answer().status, 404);
}

#[test]
fn a_dry_run_and_the_options_of_an_operation_reach_the_handler() {
    struct Removals;

    #[handler]
    impl Validator<Otter> for Removals {
        async fn delete(&self, _: &Otter, request: &Request) -> Result<(), Verdict> {
            let options = request.options::<Value>()?.unwrap_or_default();
            match (request.dry_run, options["propagationPolicy"].as_str()) {
                (DryRun::No, Some("Orphan")) => Err(Verdict::deny("no orphans")),
                _ => Ok(()),
            }
        }
    }

    let webhooks = Webhooks::new().register(Webhook::<Otter>::new().with_raw_review().validator(Removals));
    let request = TestRequest::of(&webhooks);
    request.delete(&otter(json!({}))).assert_allowed();
    let request = request.options(&json!({"propagationPolicy": "Orphan"}));
    request.delete(&otter(json!({}))).assert_denied();
    request.dry_run().delete(&otter(json!({}))).assert_allowed();
}
