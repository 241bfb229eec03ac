//! An operator whose kinds stand in its configuration, on the facade alone.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::sync::Arc;
use std::time::SystemTime;

use gateward::check::{Checker, Report, Schemas};
use gateward::prelude::*;
use gateward::testing::{TestRequest, block_on};
use gateward::{DynamicKind, Operator};
use serde_json::{Value, json};

/// What an administrator has written: kinds that need an owner.
const CONFIGURATION: &str = r#"[
    {"apiVersion": "net.example.org/v1", "kind": "Route", "plural": "routes"},
    {"apiVersion": "net.example.org/v1", "kind": "Gate", "plural": "gates"}
]"#;

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: routes.net.example.org}
spec:
  group: net.example.org
  scope: Namespaced
  names: {kind: Route, plural: routes}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
";

fn owned(new: &Raw<Value>, _: &Request) -> Result<(), Verdict> {
    let owner = new.tree().pointer("/metadata/labels/owner").is_some();
    if owner { Ok(()) } else { Err(Verdict::deny("every object has an owner")) }
}

async fn owned_by_its_maker(new: Raw<Value>, request: &Request) -> Raw<Value> {
    let mut object = new.to_value();
    object["metadata"]["labels"]["owner"] = request.username().into();
    object.into()
}

fn webhooks() -> Webhooks {
    let kinds: Vec<Value> = serde_json::from_str(CONFIGURATION).unwrap();
    kinds.iter().fold(Webhooks::new(), |webhooks, kind| {
        let text = |name: &str| kind[name].as_str().unwrap();
        let known = DynamicKind::new(text("apiVersion"), text("kind"), text("plural").to_owned());
        let webhook = Webhook::<Raw<Value>>::of_kind(&known).validator(owned).defaulter(owned_by_its_maker);
        webhooks.register(if text("kind") == "Route" { webhook.crd(CRD) } else { webhook })
    })
}

fn route() -> Value {
    json!({"apiVersion": "net.example.org/v1", "kind": "Route", "metadata": {"name": "a"}, "spec": {"weight": 1.0}})
}

#[test]
fn each_kind_of_the_configuration_is_judged_and_defaulted() {
    let webhooks = webhooks();
    assert_eq!(webhooks.check(), Ok(()));
    for kind in ["Route", "Gate"] {
        let mut object = route();
        object["kind"] = kind.into();
        TestRequest::of(&webhooks).create(&object).assert_denied();
        let owned = TestRequest::of(&webhooks).user("joe").default(&object).patched();
        assert_eq!(owned["metadata"]["labels"], json!({"owner": "joe"}));
        TestRequest::of(&webhooks).create(&owned).assert_allowed();
    }
}

#[test]
fn a_file_is_judged_as_by_the_server() {
    let webhooks = webhooks();
    let schemas = Schemas::read(&webhooks.crds()).unwrap();
    let checker = Checker::new(&webhooks, &schemas, Arc::new(()), SystemTime::UNIX_EPOCH);
    let mut report = Report::new();
    block_on(checker.check("route.yaml", route().to_string().as_bytes(), &mut report)).unwrap();
    assert!(!report.json().contains("every object has an owner"), "the default comes first: {}", report.json());
}

#[test]
fn annotations_of_the_operator_begin_with_the_group_of_its_kinds() {
    assert_eq!(webhooks().annotation_prefix(), Some("net.example.org"));
}
