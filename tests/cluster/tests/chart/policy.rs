//! A pod that is taken over: what its account may write, with its token, before a real API server.

use std::collections::BTreeMap;
use std::time::Duration;

use cluster_tests::{Bed, Client, Conversion, Response, Sandbox, Test, crds, tests, until};
use serde_json::{Map, Value, json};

use crate::charts::{Installation, output};

pub fn tests() -> Vec<Test> {
    tests![
        the_account_may_change_no_field_of_a_webhook_that_the_api_server_knows,
        the_account_may_change_no_metadata_that_the_api_server_knows,
        the_account_may_write_bundles_and_nothing_beside_them,
        the_account_may_leave_claimed_namespaces_out_and_nothing_else,
        the_account_may_leave_no_namespace_out_unless_a_value_says_so,
        only_named_users_may_write_the_leases_that_claim_a_namespace,
        the_account_may_convert_by_its_own_service_or_not_at_all,
        the_account_of_a_release_that_installs_no_crds_may_change_the_conversion_alone,
    ]
}

const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";
const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/dynamographdeployments.nvidia.com";
/// How each sentence of the policy begins.
const REFUSED: &str = "the pods of the operator may";

/// A pod that somebody has taken over: all that is left of it is its token.
struct Pod<'a> {
    bed: &'a Bed,
    release: &'static str,
    namespace: &'a str,
    client: Client,
}

impl<'a> Pod<'a> {
    /// Of a release that is installed with these values.
    async fn of(sandbox: &'a Sandbox, release: &'static str, values: &Value) -> Self {
        let (bed, namespace) = (sandbox.bed(), sandbox.namespace());
        output(Installation::of(values).named(release, namespace).helm(bed, &["install"])).unwrap();
        let mut token = bed.kubectl();
        token.args(["create", "token", &format!("{release}-dynamo-operator"), "--namespace", namespace]);
        let client = bed.client_with(output(token).unwrap().trim()).unwrap();
        let pod = Self { bed, release, namespace, client };
        let labelled = json!({"metadata": {"labels": {"zoo.org/otter": "1"}}});
        // The API server learns of roles and policies a moment later than we do.
        until("the policy holds", Duration::from_mins(2), async || {
            is_refused(&pod.tries(&pod.configuration("validating"), &labelled).await)
        })
        .await;
        pod
    }

    fn configuration(&self, sort: &str) -> String {
        format!("{ADMISSION}/{sort}webhookconfigurations/{}-{sort}", self.release)
    }

    /// What the API server says to a change, of which it stores nothing.
    async fn tries(&self, path: &str, patch: &Value) -> Response {
        self.client.merge(&format!("{path}?dryRun=All"), patch).await.unwrap()
    }

    async fn is_refused(&self, path: &str, patch: &Value) {
        let answer = self.tries(path, patch).await;
        assert!(is_refused(&answer), "{path} {patch}: {} {}", answer.status, answer.body["message"]);
    }

    async fn is_allowed(&self, path: &str, patch: &Value) {
        self.tries(path, patch).await.granted().unwrap_or_else(|why| panic!("{path} {patch}: {why}"));
    }

    /// The webhooks of a configuration as they are.
    async fn webhooks(&self, path: &str) -> Vec<Value> {
        let mut configuration = self.bed.client().get(path).await.unwrap().granted().unwrap();
        configuration["webhooks"].as_array_mut().map(std::mem::take).unwrap()
    }
}

fn is_refused(answer: &Response) -> bool {
    answer.status.as_u16() == 403 && answer.body["message"].as_str().is_some_and(|text| text.contains(REFUSED))
}

/// What a type of the API server consists of, by its `OpenAPI`.
async fn fields(bed: &Bed, wanted: &str) -> Vec<String> {
    let document = bed.client().get("/openapi/v2").await.unwrap().granted().unwrap();
    let fields = document["definitions"][wanted]["properties"].as_object().unwrap();
    fields.keys().cloned().collect()
}

/// Another value of each field, or why there is none to try.
type Others = BTreeMap<&'static str, Result<Value, &'static str>>;

async fn each_is_covered(bed: &Bed, wanted: &str, others: &Others) {
    let unknown: Vec<String> =
        fields(bed, wanted).await.into_iter().filter(|field| !others.contains_key(field.as_str())).collect();
    assert!(unknown.is_empty(), "{wanted} has fields of which this test knows nothing: {unknown:?}");
}

fn other_webhook() -> Others {
    let rule =
        json!({"apiGroups": ["zoo.org"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["otters"]});
    let selector = json!({"matchLabels": {"zoo": "open"}});
    BTreeMap::from([
        ("admissionReviewVersions", Ok(json!(["v1", "v1beta1"]))),
        ("clientConfig", Err("field by field")),
        ("failurePolicy", Ok(json!("Ignore"))),
        ("matchConditions", Ok(json!([{"name": "never", "expression": "false"}]))),
        ("matchPolicy", Ok(json!("Exact"))),
        ("name", Ok(json!("renamed.kb.io"))),
        ("namespaceSelector", Ok(json!({}))),
        ("objectSelector", Ok(selector)),
        ("reinvocationPolicy", Ok(json!("IfNeeded"))),
        ("rules", Ok(json!([rule]))),
        ("sideEffects", Ok(json!("NoneOnDryRun"))),
        ("timeoutSeconds", Ok(json!(1))),
    ])
}

async fn the_account_may_change_no_field_of_a_webhook_that_the_api_server_knows(sandbox: Sandbox) {
    let pod = Pod::of(&sandbox, "marten", &json!({})).await;
    let group = "io.k8s.api.admissionregistration.v1";
    for (sort, definition) in [("validating", "ValidatingWebhook"), ("mutating", "MutatingWebhook")] {
        let (path, others) = (pod.configuration(sort), other_webhook());
        let definition = format!("{group}.{definition}");
        each_is_covered(pod.bed, &definition, &others).await;
        let known = fields(pod.bed, &definition).await;
        let before = pod.webhooks(&path).await;
        for (field, other) in others {
            let Ok(other) = other else { continue };
            if !known.iter().any(|known| known == field) {
                continue;
            }
            let mut webhooks = before.clone();
            assert_ne!(webhooks[0][field], other);
            webhooks[0][field] = other;
            pod.is_refused(&path, &json!({"webhooks": webhooks})).await;
        }
        let service = |change: &Value| {
            let mut webhooks = before.clone();
            let service = webhooks[0]["clientConfig"]["service"].as_object_mut().unwrap();
            service.extend(change.as_object().unwrap().clone());
            json!({"webhooks": webhooks})
        };
        for change in [json!({"name": "badger"}), json!({"namespace": "zoo"}), json!({"path": "/"}), json!({"port": 1})]
        {
            pod.is_refused(&path, &service(&change)).await;
        }
        let mut elsewhere = before.clone();
        elsewhere[0]["clientConfig"] = json!({"url": "https://badger.example.org"});
        let (mut fewer, mut more, mut turned) = (before.clone(), before.clone(), before.clone());
        fewer.pop();
        more.push(json!({"name": "more.kb.io", "clientConfig": before[0]["clientConfig"], "sideEffects": "None",
            "admissionReviewVersions": ["v1"]}));
        turned.reverse();
        let mut without = before.clone();
        without[0].as_object_mut().unwrap().remove("namespaceSelector");
        for webhooks in [elsewhere, fewer, more, turned, without, Vec::new()] {
            pod.is_refused(&path, &json!({"webhooks": webhooks})).await;
        }
    }
    let kinds = ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"];
    for kind in kinds {
        let fields = fields(pod.bed, &format!("{group}.{kind}")).await;
        assert_eq!(fields, ["apiVersion", "kind", "metadata", "webhooks"], "{kind}");
    }
    let sources = ["name", "namespace", "path", "port"];
    assert_eq!(fields(pod.bed, &format!("{group}.ServiceReference")).await, sources);
    assert_eq!(fields(pod.bed, &format!("{group}.WebhookClientConfig")).await, ["caBundle", "service", "url"]);
}

fn other_metadata() -> Others {
    const ITS_OWN: Result<Value, &str> = Err("the API server lets nobody change it");
    let owner =
        json!({"apiVersion": "v1", "kind": "Namespace", "name": "gone", "uid": "c3f7d7ab-0000-0000-0000-000000000000"});
    BTreeMap::from([
        ("annotations", Ok(json!({"zoo.org/otter": "1"}))),
        ("creationTimestamp", ITS_OWN),
        ("deletionGracePeriodSeconds", ITS_OWN),
        ("deletionTimestamp", ITS_OWN),
        ("finalizers", Ok(json!(["zoo.org/asleep"]))),
        ("generateName", Ok(json!("otter-"))),
        ("generation", ITS_OWN),
        ("labels", Ok(json!({"app.kubernetes.io/instance": null}))),
        ("managedFields", Err("it is noted with each change")),
        ("name", ITS_OWN),
        ("namespace", ITS_OWN),
        ("ownerReferences", Ok(json!([owner]))),
        ("resourceVersion", ITS_OWN),
        ("selfLink", ITS_OWN),
        ("uid", ITS_OWN),
    ])
}

async fn the_account_may_change_no_metadata_that_the_api_server_knows(sandbox: Sandbox) {
    let pod = Pod::of(&sandbox, "polecat", &json!({})).await;
    let others = other_metadata();
    each_is_covered(pod.bed, "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", &others).await;
    for (field, other) in others {
        let Ok(other) = other else { continue };
        for sort in ["validating", "mutating"] {
            let metadata: Map<String, Value> = [(field.to_owned(), other.clone())].into_iter().collect();
            pod.is_refused(&pod.configuration(sort), &json!({"metadata": metadata})).await;
        }
    }
}

async fn the_account_may_write_bundles_and_nothing_beside_them(sandbox: Sandbox) {
    let pod = Pod::of(&sandbox, "weasel", &json!({})).await;
    for sort in ["validating", "mutating"] {
        let path = pod.configuration(sort);
        let mut webhooks = pod.webhooks(&path).await;
        for webhook in &mut webhooks {
            webhook["clientConfig"]["caBundle"] = bundle(pod.bed).into();
        }
        pod.is_allowed(&path, &json!({"webhooks": webhooks})).await;
        webhooks[1]["failurePolicy"] = "Ignore".into();
        pod.is_refused(&path, &json!({"webhooks": webhooks})).await;
    }
    // Nobody else is held to it.
    let mut webhooks = pod.webhooks(&pod.configuration("validating")).await;
    webhooks[0]["failurePolicy"] = "Ignore".into();
    let path = format!("{}?dryRun=All", pod.configuration("validating"));
    pod.bed.client().merge(&path, &json!({"webhooks": webhooks})).await.unwrap().granted().unwrap();
}

fn bundle(bed: &Bed) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(std::fs::read(bed.folder().join("ca.crt")).unwrap())
}

/// Has a CRD be converted by a Service.
fn by_service(bed: &Bed, namespace: &str, name: &str) -> Value {
    let service = json!({"namespace": namespace, "name": name, "path": "/convert", "port": 443});
    let config = json!({"service": service, "caBundle": bundle(bed), "url": null});
    by(&config)
}

fn by(config: &Value) -> Value {
    let webhook = json!({"clientConfig": config, "conversionReviewVersions": ["v1"]});
    json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}})
}

async fn install_crds(bed: &Bed) {
    let path = CRD.rsplit_once('/').unwrap().1;
    let mut crds = crds(bed.programs(), Conversion::None).unwrap();
    crds.retain(|crd| crd["metadata"]["name"] == path);
    if bed.client().get(CRD).await.unwrap().status.as_u16() == 404 {
        bed.install_crds(&crds).await.unwrap();
    }
}

/// The webhooks of a configuration, the first with other expressions in its selector.
fn selecting(webhooks: &[Value], change: impl Fn(&mut Vec<Value>)) -> Value {
    let mut webhooks = webhooks.to_vec();
    change(webhooks[0]["namespaceSelector"]["matchExpressions"].as_array_mut().unwrap());
    json!({"webhooks": webhooks})
}

fn excluding(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"key": key, "operator": operator, "values": values})
}

const NAME: &str = "kubernetes.io/metadata.name";

async fn the_account_may_leave_claimed_namespaces_out_and_nothing_else(sandbox: Sandbox) {
    let pod = Pod::of(&sandbox, "wolverine", &json!({"webhook": {"excludeClaimedNamespaces": true}})).await;
    for sort in ["validating", "mutating"] {
        let path = pod.configuration(sort);
        let before = pod.webhooks(&path).await;
        let claimed = excluding(NAME, "NotIn", &["claimed.gateward.dev", "team-a"]);
        pod.is_allowed(&path, &selecting(&before, |expressions| expressions.push(claimed.clone()))).await;
        for other in [
            excluding(NAME, "NotIn", &["team-a"]),
            excluding(NAME, "In", &["claimed.gateward.dev", "team-a"]),
            excluding("team", "NotIn", &["claimed.gateward.dev", "a"]),
            json!({"key": "team", "operator": "Exists"}),
        ] {
            pod.is_refused(&path, &selecting(&before, |expressions| expressions.push(other.clone()))).await;
        }
        pod.is_refused(&path, &selecting(&before, Vec::clear)).await;
        let mut labelled = before.clone();
        labelled[0]["namespaceSelector"]["matchLabels"] = json!({"team": "b"});
        pod.is_refused(&path, &json!({"webhooks": labelled})).await;
    }
}

async fn the_account_may_leave_no_namespace_out_unless_a_value_says_so(sandbox: Sandbox) {
    let pod = Pod::of(&sandbox, "badger", &json!({})).await;
    let path = pod.configuration("validating");
    let claimed = excluding(NAME, "NotIn", &["claimed.gateward.dev", "team-a"]);
    let before = pod.webhooks(&path).await;
    pod.is_refused(&path, &selecting(&before, |expressions| expressions.push(claimed.clone()))).await;
}

async fn only_named_users_may_write_the_leases_that_claim_a_namespace(sandbox: Sandbox) {
    let (bed, namespace) = (sandbox.bed(), sandbox.namespace());
    let values = json!({"admissionPolicy": {"namespaceLeases": {"enabled": true, "writers": ["jane"]}}});
    output(Installation::of(&values).named("glutton", namespace).helm(bed, &["install"])).unwrap();
    let leases = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases?dryRun=All");
    let writes = async |user: &str, name: &str| {
        let lease = json!({"metadata": {"name": name}, "spec": {"holderIdentity": "otter"}});
        bed.client().acting_as(user).post(&leases, &lease).await.unwrap().status.as_u16()
    };
    for name in ["dynamo-operator-ns-lock", "dynamo-operator-namespace-scope"] {
        let refused = async || writes("john", name).await == 403;
        until("the policy holds", Duration::from_mins(2), refused).await;
        assert_eq!(writes("jane", name).await, 201);
    }
    assert_eq!(writes("john", "otter").await, 201);
}

async fn the_account_may_convert_by_its_own_service_or_not_at_all(sandbox: Sandbox) {
    let pod = Pod::of(&sandbox, "stoat", &json!({})).await;
    install_crds(pod.bed).await;
    let ours = "stoat-dynamo-operator-webhook-service";
    pod.is_allowed(CRD, &by_service(pod.bed, pod.namespace, ours)).await;
    pod.is_allowed(CRD, &json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}})).await;
    pod.is_refused(CRD, &by_service(pod.bed, pod.namespace, "badger")).await;
    pod.is_refused(CRD, &by_service(pod.bed, "kube-system", ours)).await;
    let url = json!({"url": "https://badger.example.org/convert", "service": null, "caBundle": bundle(pod.bed)});
    pod.is_refused(CRD, &by(&url)).await;
    // With its owner gone, a CRD is collected with all its objects.
    for field in ["ownerReferences", "finalizers"] {
        let other = other_metadata().remove(field).unwrap().unwrap();
        let metadata: Map<String, Value> = [(field.to_owned(), other)].into_iter().collect();
        pod.is_refused(CRD, &json!({"metadata": metadata})).await;
    }
    // The init container runs under the same account.
    pod.is_allowed(CRD, &json!({"metadata": {"annotations": {"zoo.org/otter": "1"}}})).await;
}

async fn the_account_of_a_release_that_installs_no_crds_may_change_the_conversion_alone(sandbox: Sandbox) {
    const ITS_OWN: Result<Value, &str> = Err("the API server lets nobody change it");
    let pod = Pod::of(&sandbox, "ferret", &json!({"upgradeCRD": false})).await;
    install_crds(pod.bed).await;
    let crd = pod.bed.client().get(CRD).await.unwrap().granted().unwrap();
    let mut unserved = crd["spec"]["versions"].clone();
    for version in unserved.as_array_mut().unwrap().iter_mut().filter(|version| version["storage"] != true) {
        version["served"] = false.into();
    }
    let others = BTreeMap::from([
        ("conversion", Err("it may be changed")),
        ("group", ITS_OWN),
        ("names", Ok(json!({"categories": ["zoo"]}))),
        ("preserveUnknownFields", ITS_OWN),
        ("scope", ITS_OWN),
        ("versions", Ok(unserved)),
    ]);
    each_is_covered(
        pod.bed,
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec",
        &others,
    )
    .await;
    for (field, other) in others {
        let Ok(other) = other else { continue };
        let spec: Map<String, Value> = [(field.to_owned(), other)].into_iter().collect();
        pod.is_refused(CRD, &json!({"spec": spec})).await;
    }
    pod.is_refused(CRD, &json!({"metadata": {"annotations": {"zoo.org/otter": "1"}}})).await;
    pod.is_allowed(CRD, &by_service(pod.bed, pod.namespace, "ferret-dynamo-operator-webhook-service")).await;
    pod.is_refused(CRD, &by_service(pod.bed, pod.namespace, "badger")).await;
}
