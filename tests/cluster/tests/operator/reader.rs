//! What rules look up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use cluster_tests::objects::graph;
use cluster_tests::{Sandbox, Test, tests, until};
use gateward_cluster::{ApiReader, keep_filled};
use gateward_core::manifest::label;
use gateward_core::{
    AccessQuestion, ClusterReader, GroupServed, ListLookup, ListQuery, Lookup, ObjectName, Store, UserInfo, Webhook,
    Webhooks, resource,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::account::Account;
use crate::command::{Ended, Person};

pub fn tests() -> Vec<Test> {
    tests![
        an_api_counts_from_the_moment_it_is_installed,
        an_object_is_found_absent_or_unreadable,
        a_laptop_judges_by_the_cluster_that_it_is_given,
        objects_are_listed_by_their_labels,
        too_many_objects_are_no_list,
        a_store_follows_what_the_cluster_has,
        one_deep_object_keeps_no_store_from_the_others,
        a_store_that_nobody_may_fill_says_why,
        a_user_may_what_the_cluster_grants,
    ]
}

fn crd(group: &str, plural: &str, kind: &str) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        // A CRD of this group must have the annotation of its approval.
        "metadata": {"name": format!("{plural}.{group}"), "annotations": {"api-approved.kubernetes.io": "unapproved"}},
        "spec": {
            "group": group,
            "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List")},
            "scope": "Cluster",
            "versions": [{"name": "v1alpha1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

async fn an_api_counts_from_the_moment_it_is_installed(sandbox: Sandbox) {
    let replica = Account::of_a_replica(&sandbox, "replica").await;
    let reader = ApiReader::new(replica.connection().await.client());
    let group = "inference.networking.k8s.io";
    assert_eq!(reader.group(group).await, GroupServed::Absent);
    assert_eq!(reader.resource(group, "v1alpha1", "inferencepools").await, GroupServed::Absent);

    sandbox.bed().install_crds(&[crd(group, "inferencepools", "InferencePool")]).await.unwrap();
    assert_eq!(reader.group(group).await, GroupServed::Served);
    assert_eq!(reader.resource(group, "v1alpha1", "inferencepools").await, GroupServed::Served);
    assert_eq!(reader.resource(group, "v1alpha1", "inferencemodels").await, GroupServed::Absent);
    assert_eq!(reader.resource(group, "v1", "inferencepools").await, GroupServed::Absent);
}

fn topology(name: &str) -> ObjectName {
    let (group, version, plural) = ("grove.io".into(), "v1alpha1".into(), "clustertopologybindings".into());
    ObjectName { group, version, plural, namespace: None, name: name.into() }
}

async fn an_object_is_found_absent_or_unreadable(sandbox: Sandbox) {
    let replica = Account::of_a_replica(&sandbox, "replica").await;
    let reader = ApiReader::new(replica.connection().await.client());
    assert_eq!(reader.get(&topology("rack")).await, Lookup::Absent);

    let bed = sandbox.bed();
    let bindings = crd("grove.io", "clustertopologybindings", "ClusterTopologyBinding");
    bed.install_crds(&[bindings]).await.unwrap();
    let rack = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "rack"},
        "spec": {"levels": [{"domain": "zone"}]},
    });
    bed.client().post("/apis/grove.io/v1alpha1/clustertopologybindings", &rack).await.unwrap().granted().unwrap();
    let Lookup::Found(found) = reader.get(&topology("rack")).await else { panic!("it is there") };
    assert_eq!(found["spec"], rack["spec"]);
    assert_eq!(reader.get(&topology("shelf")).await, Lookup::Absent);

    let stranger = Account::without_rights(&sandbox, "stranger").await;
    let reader = ApiReader::new(stranger.connection().await.client());
    let Lookup::Unreadable(why) = reader.get(&topology("rack")).await else { panic!("it may not be read") };
    assert!(why.contains("forbidden") && why.contains("ClusterRole"), "{why}");
}

/// `check` alone can't know of topologies; with a kubeconfig its verdict is the server's.
async fn a_laptop_judges_by_the_cluster_that_it_is_given(sandbox: Sandbox) {
    let bed = sandbox.bed();
    let bindings = crd("grove.io", "clustertopologybindings", "ClusterTopologyBinding");
    bed.install_crds(&[bindings]).await.unwrap();
    let mut otter = graph("otter");
    let policy = json!({"clusterTopologyName": "fabric", "domain": "rack"});
    otter["spec"]["experimental"] = json!({"kvTransferPolicy": policy});
    let file = bed.folder().join("otter.json");
    std::fs::write(&file, otter.to_string()).unwrap();
    let (file, kubeconfig) = (file.to_str().unwrap(), bed.folder().join("kubeconfig"));
    let person = Person::admin(bed);
    let offline = ["check", "--output", "json", file];
    let there = [&offline[..], &["--kubeconfig", kubeconfig.to_str().unwrap()]].concat();
    let severity = |ended: &Ended| {
        let found = ended.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let about = |found: Value| (found["rule"] == "DGD-72").then(|| found["severity"].clone());
        found.filter_map(about).collect::<Vec<_>>()
    };

    let unknown = person.runs(&offline).await;
    assert_eq!((unknown.code, severity(&unknown)), (0, vec![json!("note")]), "{unknown:?}");
    let absent = person.runs(&there).await;
    assert_eq!((absent.code, severity(&absent)), (1, vec![json!("error")]), "{absent:?}");

    let fabric = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": {"name": "fabric"},
        "spec": {"levels": [{"domain": "rack"}]},
    });
    bed.client().post("/apis/grove.io/v1alpha1/clustertopologybindings", &fabric).await.unwrap().granted().unwrap();
    let found = person.runs(&there).await;
    assert_eq!((found.code, severity(&found)), (0, Vec::new()), "{found:?}");

    let nowhere = person.runs(&["check", file, "--kubeconfig", "/nowhere"]).await;
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(nowhere.stderr.contains("/nowhere"), "{nowhere:?}");
}

async fn objects_are_listed_by_their_labels(sandbox: Sandbox) {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    let account = Account::with_rules(&sandbox, "lister", &rules).await;
    let reader = ApiReader::new(account.connection().await.client());
    let maps = format!("/api/v1/namespaces/{}/configmaps", sandbox.namespace());
    for (name, river) in [("otto", "wye"), ("otis", "usk"), ("olaf", "wye")] {
        let map = json!({"metadata": {"name": name, "labels": {"river": river}}});
        sandbox.bed().client().post(&maps, &map).await.unwrap().granted().unwrap();
    }
    let in_wye = ListQuery {
        version: "v1".into(),
        plural: "configmaps".into(),
        namespace: Some(sandbox.namespace().into()),
        label_selector: "river in (wye), !old".into(),
        ..ListQuery::default()
    };
    let ListLookup::Found(found) = reader.list(&in_wye).await else { panic!("they may be listed") };
    let names: Vec<&str> = found.iter().filter_map(|map| map["metadata"]["name"].as_str()).collect();
    assert_eq!(names, ["olaf", "otto"]);

    let elsewhere = ListQuery { plural: "secrets".into(), ..in_wye };
    let ListLookup::Unreadable(why) = reader.list(&elsewhere).await else { panic!("they may not be listed") };
    assert!(why.contains("forbidden") && why.contains("ClusterRole"), "{why}");
}

/// More than a review may look at is no list that a rule could judge by.
async fn too_many_objects_are_no_list(sandbox: Sandbox) {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]);
    let account = Account::with_rules(&sandbox, "lister", &rules).await;
    let reader = ApiReader::new(account.connection().await.client());
    let maps = format!("/api/v1/namespaces/{}/configmaps", sandbox.namespace());
    for number in 0..10 {
        let map = json!({"metadata": {"name": format!("map-{number}")}, "data": {"text": "x".repeat(1_000_000)}});
        sandbox.bed().client().post(&maps, &map).await.unwrap().granted().unwrap();
    }
    let all = ListQuery {
        version: "v1".into(),
        plural: "configmaps".into(),
        namespace: Some(sandbox.namespace().into()),
        ..ListQuery::default()
    };
    let ListLookup::Unreadable(why) = reader.list(&all).await else { panic!("ten megabytes are too many") };
    assert!(why.contains("too many to look at"), "{why}");

    // What fills a store reads them page by page.
    for number in 0..100 {
        let map = json!({"metadata": {"name": format!("small-{number}")}});
        sandbox.bed().client().post(&maps, &map).await.unwrap().granted().unwrap();
    }
    let ListLookup::Found(found) = reader.list_all(&all).await else { panic!("each page is small enough") };
    let names: BTreeSet<_> = found.iter().filter_map(|map| map["metadata"]["name"].as_str()).collect();
    let own = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
    assert_eq!((own("map-"), own("small-"), names.len()), (10, 100, found.len()));
}

#[derive(serde::Serialize, serde::Deserialize)]
struct River {
    data: BTreeMap<String, String>,
}
resource!(River, "v1", "ConfigMap", "configmaps");

/// What a server does for a store of rivers, with the rights that an operator with one is given.
async fn watched(sandbox: &Sandbox, verbs: &[&str]) -> (Store<River>, JoinSet<()>) {
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}]);
    let account = Account::with_rules(sandbox, "watcher", &rules).await;
    let store = Store::<River>::selected(label("flows").equals("yes"));
    let tasks = kept_filled(&account, &Webhooks::new().register(Webhook::<River>::new().watches(&store))).await;
    (store, tasks)
}

async fn kept_filled(account: &Account<'_>, webhooks: &Webhooks) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for store in webhooks.stores() {
        tasks.spawn(keep_filled(account.connection().await.client(), Arc::clone(store), |_| {}));
    }
    tasks
}

async fn a_store_follows_what_the_cluster_has(sandbox: Sandbox) {
    let client = sandbox.bed().client();
    let maps = format!("/api/v1/namespaces/{}/configmaps", sandbox.namespace());
    let river = |name: &str, flows: &str| json!({"metadata": {"name": name, "labels": {"flows": flows}}, "data": {"name": name}});
    for (name, flows) in [("wye", "yes"), ("moon", "no")] {
        client.post(&maps, &river(name, flows)).await.unwrap().granted().unwrap();
    }
    let (store, _watch) = watched(&sandbox, &["list", "watch"]).await;
    let names = || {
        let rivers = store.list(Some(sandbox.namespace())).ok()?;
        Some(rivers.iter().map(|river| river.data["name"].clone()).collect::<Vec<_>>())
    };
    let holds = async |wanted: &[&str]| {
        let is_there = async || names().is_some_and(|names| names == wanted);
        until("the store follows", Duration::from_mins(1), is_there).await;
    };
    holds(&["wye"]).await;
    client.post(&maps, &river("usk", "yes")).await.unwrap().granted().unwrap();
    holds(&["usk", "wye"]).await;
    client.delete(&format!("{maps}/wye")).await.unwrap().granted().unwrap();
    holds(&["usk"]).await;
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Lake {
    spec: LakeSpec,
}
#[derive(serde::Serialize, serde::Deserialize)]
struct LakeSpec {
    name: String,
}
resource!(Lake, "lakes.example.org/v1alpha1", "Lake", "lakes", Cluster);

/// What the API server notes of who wrote which field nests deeper than the object, and in a list deeper than a parser
/// reads.
async fn one_deep_object_keeps_no_store_from_the_others(sandbox: Sandbox) {
    let (bed, group) = (sandbox.bed(), "lakes.example.org");
    bed.install_crds(&[crd(group, "lakes", "Lake")]).await.unwrap();
    let deep = (0..120).fold(json!(1), |below, _| json!({"a": below}));
    let lakes = format!("/apis/{group}/v1alpha1/lakes");
    for spec in [json!({"name": "deep", "depth": deep}), json!({"name": "plain"})] {
        let metadata = json!({"name": spec["name"]});
        let lake =
            json!({"apiVersion": format!("{group}/v1alpha1"), "kind": "Lake", "metadata": metadata, "spec": spec});
        bed.client().post(&lakes, &lake).await.unwrap().granted().unwrap();
    }
    let rules = json!([{"apiGroups": [group], "resources": ["lakes"], "verbs": ["list", "watch"]}]);
    let account = Account::with_rules(&sandbox, "watcher", &rules).await;
    let store = Store::<Lake>::new();
    let _tasks = kept_filled(&account, &Webhooks::new().register(Webhook::<Lake>::new().watches(&store))).await;
    let names = || Some(store.list(None).ok()?.iter().map(|lake| lake.spec.name.clone()).collect::<Vec<_>>());
    let are_there = async || names().is_some_and(|names| names == ["deep", "plain"]);
    until("the store holds both", Duration::from_mins(1), are_there).await;

    let reader = ApiReader::new(account.connection().await.client());
    let all =
        ListQuery { group: group.into(), version: "v1alpha1".into(), plural: "lakes".into(), ..ListQuery::default() };
    let ListLookup::Found(found) = reader.list(&all).await else { panic!("both can be read") };
    assert_eq!(found.len(), 2);
}

async fn a_store_that_nobody_may_fill_says_why(sandbox: Sandbox) {
    let (store, _watch) = watched(&sandbox, &["get"]).await;
    let says_why = async || store.list(None).err().is_some_and(|why| why.to_string().contains("forbidden"));
    until("the reason", Duration::from_mins(2), says_why).await;
}

async fn a_user_may_what_the_cluster_grants(sandbox: Sandbox) {
    let rules =
        json!([{"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]}]);
    let asker = Account::with_rules(&sandbox, "asker", &rules).await;
    let rules = json!([{"apiGroups": ["zoo.example.org"], "resources": ["rivers"], "verbs": ["use"]}]);
    let swimmer = Account::with_rules(&sandbox, "swimmer", &rules).await;
    let reader = ApiReader::new(asker.connection().await.client());
    let question = |plural: &str| AccessQuestion {
        user: UserInfo { username: swimmer.username(), ..UserInfo::default() },
        verb: "use".into(),
        group: "zoo.example.org".into(),
        plural: plural.into(),
        name: Some("wye".into()),
        ..AccessQuestion::default()
    };
    assert_eq!(reader.may(&question("rivers")).await, Ok(true));
    assert_eq!(reader.may(&question("lakes")).await, Ok(false));
    let why =
        ApiReader::new(swimmer.connection().await.client()).may(&question("rivers")).await.unwrap_err().to_string();
    assert!(why.contains("forbidden") && why.contains("ClusterRole"), "{why}");
}
