//! Types that kube knows, as they are: those of its derive, and k8s-openapi's.

use std::borrow::Cow;
use std::collections::BTreeMap;

use gateward_core::manifest::{webhook_configuration, yaml};
use gateward_core::testing::TestRequest;
use gateward_core::{
    CREATE, Crd, FieldPath, Issues, Request, Resource, Review, Rule, Scope, Segment, Verdict, Webhook, Webhooks,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::{CustomResource, CustomResourceExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::declaring::installation;

#[derive(Debug, Clone, CustomResource, Deserialize, Serialize, JsonSchema)]
#[kube(group = "stable.example.com", version = "v1", kind = "CronTab", namespaced)]
#[serde(rename_all = "camelCase")]
struct CronTabSpec {
    cron_spec: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replicas: Option<u32>,
}

#[derive(Debug, Clone, CustomResource, Deserialize, Serialize, JsonSchema)]
#[kube(group = "stable.example.com", version = "v1beta1", kind = "Zone")]
struct ZoneSpec {
    offset: i8,
}

/// An old version, with what a derive can say beside the fields.
#[derive(Debug, Clone, CustomResource, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "stable.example.com",
    version = "v1alpha1",
    kind = "Tide",
    served = false,
    deprecated = "tides have a version v1",
    printcolumn(name = "Height", type_ = "integer", json_path = ".spec.height"),
    selectable = ".spec.harbour"
)]
#[schemars(extend("x-kubernetes-validations" = [{"rule": "self.height < 20"}]))]
struct TideSpec {
    height: i32,
    harbour: String,
}

const SCHEDULE: Rule = Rule { id: "CRON-01", summary: "a schedule has five parts", ..Rule::on(CREATE) };
const REGISTRY: Rule = Rule { id: "POD-01", summary: "images come from our registry", ..Rule::on(CREATE) };

fn schedules(new: &CronTab, _: &Request) -> Verdict {
    let mut issues = Issues::new();
    if new.spec.cron_spec.split(' ').count() != 5 {
        let path = FieldPath::field("spec") / "cronSpec";
        issues.add(SCHEDULE.invalid(path, new.spec.cron_spec.clone()).message("must have five parts"));
    }
    issues.into()
}

fn offsets(new: &Zone, _: &Request) -> Verdict {
    if new.spec.offset.abs() > 14 { Verdict::deny("no zone is that far away") } else { Verdict::allow() }
}

fn images(new: &Pod, _: &Request) -> Verdict {
    let mut issues = Issues::new();
    let containers = new.spec.iter().flat_map(|spec| &spec.containers).enumerate();
    for (index, container) in containers {
        let image = container.image.as_deref().unwrap_or_default();
        if !image.starts_with("registry.example.com/") {
            let path = FieldPath::field("spec") / "containers" / Segment::Index(index) / "image";
            issues.add(REGISTRY.invalid(path, image).message("must come from registry.example.com"));
        }
    }
    issues.into()
}

fn no_system(new: &Namespace, _: &Request) -> Verdict {
    let name = new.metadata.name.as_deref().unwrap_or_default();
    if name.starts_with("system-") { Verdict::deny("that name is taken") } else { Verdict::allow() }
}

fn one_replica(mut object: CronTab, _: &Request) -> CronTab {
    object.spec.replicas.get_or_insert(1);
    object
}

fn team_label(mut object: Pod, _: &Request) -> Pod {
    object.metadata.labels.get_or_insert_default().entry("team".into()).or_insert_with(|| "otters".into());
    object
}

fn webhooks() -> Webhooks {
    Webhooks::new()
        .register(Webhook::<CronTab>::new().validator(schedules).defaulter(one_replica).rules([&SCHEDULE]))
        .register(Webhook::<Zone>::new().validator(offsets))
        .register(Webhook::<Pod>::new().validator(images).defaulter(team_label).rules([&REGISTRY]))
        .register(Webhook::<Namespace>::new().validator(no_system))
}

fn cron_tab(schedule: &str) -> Value {
    json!({
        "apiVersion": "stable.example.com/v1", "kind": "CronTab",
        "metadata": {"name": "nightly", "namespace": "river"},
        "spec": {"cronSpec": schedule}
    })
}

/// With a field that k8s-openapi's release doesn't know, as a newer API server may send it.
fn pod(image: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "otto", "namespace": "river"},
        "spec": {"containers": [{"name": "main", "image": image, "resources": {"limits": {"cpu": "1"}}}], "newer": {"a": 1}}
    })
}

#[test]
fn kube_says_group_version_kind_plural_and_scope() {
    fn said<K: Resource>() -> (String, String, Scope) {
        (K::gvk().to_string(), K::plural().into_owned(), K::scope())
    }
    let of = |gvk: &str, plural: &str, scope| (gvk.to_owned(), plural.to_owned(), scope);
    assert_eq!(said::<CronTab>(), of("stable.example.com/v1 CronTab", "crontabs", Scope::Namespaced));
    assert_eq!(said::<Zone>(), of("stable.example.com/v1beta1 Zone", "zones", Scope::Cluster));
    assert_eq!(said::<Pod>(), of("v1 Pod", "pods", Scope::Namespaced));
    assert_eq!(said::<Deployment>(), of("apps/v1 Deployment", "deployments", Scope::Namespaced));
    assert_eq!(said::<Namespace>(), of("v1 Namespace", "namespaces", Scope::Cluster));
}

#[test]
fn the_names_that_kube_says_are_borrowed() {
    for name in [Pod::version(), CronTab::version()] {
        assert!(matches!(name, Cow::Borrowed("v1")));
    }
}

#[test]
fn their_kinds_go_together() {
    let webhooks = webhooks();
    assert_eq!(webhooks.check(), Ok(()));
    let paths: Vec<&str> = webhooks.paths().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [
            "/mutate--v1-pod",
            "/mutate-stable-example-com-v1-crontab",
            "/validate--v1-namespace",
            "/validate--v1-pod",
            "/validate-stable-example-com-v1-crontab",
            "/validate-stable-example-com-v1beta1-zone",
        ]
    );
}

#[test]
fn a_kind_of_kubes_derive_is_judged_and_defaulted() {
    let webhooks = webhooks();
    let request = TestRequest::of(&webhooks);
    request.create(&cron_tab("daily")).by(&SCHEDULE).at("spec.cronSpec").saying("five parts");
    request.create(&cron_tab("* * * * 5")).assert_allowed();
    let defaulted = request.default(&cron_tab("* * * * 5"));
    let mut expected = cron_tab("* * * * 5");
    expected["spec"]["replicas"] = json!(1);
    assert_eq!((defaulted.patched(), defaulted.answer().decision.patch.len()), (expected, 1));
}

#[test]
fn a_crd_is_text_or_a_value_or_what_kube_derives() {
    let written = yaml::document(&serde_json::to_value(CronTab::crd()).unwrap());
    assert!(written.contains("\n  name: crontabs.stable.example.com\n"), "{written}");
    for crd in [Crd::from(CronTab::crd()), Crd::from(json!(CronTab::crd())), Crd::from(written.clone())] {
        assert_eq!(crd.yaml(), written);
    }
    let allowing = |_: &CronTab, _: &Request| Verdict::allow();
    let webhooks = Webhooks::new().register(Webhook::<CronTab>::new().validator(allowing).crd(CronTab::crd()));
    let declared: Vec<_> =
        webhooks.declarations().filter_map(|declared| declared.crd.as_ref()).map(Crd::yaml).collect();
    assert_eq!(webhooks.check(), Ok(()));
    assert_eq!(declared, [written.as_str()]);
}

#[test]
fn a_crd_of_kubes_derive_keeps_each_attribute() {
    let allowing = |_: &Tide, _: &Request| Verdict::allow();
    let webhooks = Webhooks::new().register(Webhook::<Tide>::new().validator(allowing).crd(Tide::crd()));
    let declared: Value = webhooks.declarations().find_map(|declared| declared.crd.as_ref()?.json()).unwrap();
    let version = &declared["spec"]["versions"][0];
    assert_eq!((&version["name"], &version["served"]), (&json!("v1alpha1"), &json!(false)));
    assert_eq!(
        (&version["deprecated"], &version["deprecationWarning"]),
        (&json!(true), &json!("tides have a version v1"))
    );
    let column = json!({"name": "Height", "type": "integer", "jsonPath": ".spec.height"});
    assert_eq!(version["additionalPrinterColumns"], json!([column]));
    assert_eq!(version["selectableFields"], json!([{"jsonPath": ".spec.harbour"}]));
    let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
    assert_eq!(spec["x-kubernetes-validations"], json!([{"rule": "self.height < 20"}]));
}

#[test]
fn a_crd_without_yaml_is_refused() {
    let no_crd = BTreeMap::from([((), "a member whose name is no text")]);
    let refused = Webhooks::new().register(Webhook::<CronTab>::new().crd(no_crd)).check().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the CRD of stable.example.com/v1 CronTab can't be written as YAML: key must be a string; give it as text or as \
         `T::crd()`"
    );
}

#[test]
fn what_a_type_of_kube_can_not_hold_is_a_finding() {
    let webhooks = webhooks();
    let mut object = cron_tab("* * * * 5");
    object["spec"]["replicas"] = json!("many");
    let findings = TestRequest::of(&webhooks).create(&object);
    findings.assert_denied();
    assert_eq!(findings.paths(), ["spec.replicas"]);
}

#[test]
fn a_pod_is_judged_in_its_own_paths() {
    let webhooks = webhooks();
    let request = TestRequest::of(&webhooks);
    request.create(&pod("docker.io/otter")).by(&REGISTRY).at("spec.containers[0].image");
    request.create(&pod("registry.example.com/otter")).assert_allowed();
    let mut odd = pod("registry.example.com/otter");
    odd["spec"]["containers"][0]["name"] = json!(5);
    assert_eq!(request.create(&odd).paths(), ["spec.containers[0].name"]);
}

#[test]
fn a_pod_gets_its_default_and_keeps_what_its_type_does_not_know() {
    let webhooks = webhooks();
    let defaulted = TestRequest::of(&webhooks).default(&pod("docker.io/otter"));
    let mut expected = pod("docker.io/otter");
    expected["metadata"]["labels"] = json!({"team": "otters"});
    assert_eq!(defaulted.patched(), expected);
}

#[test]
fn a_kind_of_the_cluster_is_judged() {
    let webhooks = webhooks();
    let request = TestRequest::of(&webhooks);
    let zone = |offset: i8| {
        json!({
            "apiVersion": "stable.example.com/v1beta1", "kind": "Zone", "metadata": {"name": "z"}, "spec": {"offset": offset}
        })
    };
    request.create(&zone(15)).assert_denied();
    request.create(&zone(2)).assert_allowed();
    let namespace = |name: &str| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
    request.create(&namespace("system-x")).assert_denied();
    request.create(&namespace("river")).assert_allowed();
}

#[test]
fn the_configuration_says_the_scope_of_each() {
    let configuration = webhook_configuration(&webhooks(), Review::Validate, &installation()).unwrap();
    let written = serde_json::to_value(configuration).unwrap();
    let rules: Vec<String> = written["webhooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|webhook| &webhook["rules"][0])
        .map(|rule| format!("{} {} {} {}", rule["apiGroups"], rule["apiVersions"], rule["resources"], rule["scope"]))
        .collect();
    assert_eq!(
        rules,
        [
            r#"["stable.example.com"] ["v1"] ["crontabs"] "Namespaced""#,
            r#"["stable.example.com"] ["v1beta1"] ["zones"] "Cluster""#,
            r#"[""] ["v1"] ["pods"] "Namespaced""#,
            r#"[""] ["v1"] ["namespaces"] "Cluster""#,
        ]
    );
}
