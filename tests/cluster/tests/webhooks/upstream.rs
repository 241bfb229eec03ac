//! Where our conversion and freeze were not those of the upstream operator, in the hands of a tenant who writes both
//! versions: the pod that runs stays the pod that runs.

use cluster_tests::objects::{graph, graph_v1alpha1, object, request, request_v1alpha1, service};
use cluster_tests::{Sandbox, Test, refused, tests, version_of};
use serde_json::{Value, json};

use crate::hostile::tenant::{Tenant, VERSIONS, WAYS, Way, held, other_of};

pub fn tests() -> Vec<Test> {
    tests![
        w1_a_ready_request_is_frozen_whatever_it_says_of_auto_apply,
        w1_a_ready_request_that_waits_to_be_applied_chooses_its_runtime,
        w2_a_second_cache_outlives_a_pod_without_a_main_container,
        w3_a_mount_of_the_main_container_stays_there_when_a_cache_comes,
        w4_a_pod_spec_that_says_nothing_makes_no_pod_template_and_comes_back,
        w4_what_the_operator_kept_of_such_a_pod_spec_comes_back,
        w5_a_number_does_not_take_the_place_of_the_name_of_a_port,
        w6_a_mount_that_repeats_the_cache_need_not_say_where,
    ]
}

/// What a main container runs.
const IMAGE: &str = "registry.example.org/dynamo/vllm-runtime:1.5.0";

/// An object with a worker, and where that stands in either version.
struct Worker {
    object: Value,
    beta: &'static str,
    alpha: &'static str,
}

/// Workers of v1alpha1 that say this and nothing else of their pod: one in a graph, and one alone.
fn workers(said: &Value) -> [Worker; 2] {
    let mut worker = json!({"componentType": "worker"});
    for (name, value) in said.as_object().unwrap() {
        worker[name] = value.clone();
    }
    let mut otter = graph_v1alpha1("otter");
    otter["spec"]["services"] = json!({"Frontend": service("frontend"), "Worker": worker});
    let lynx = object("v1alpha1", "DynamoComponentDeployment", "lynx", &worker);
    [
        Worker { object: held(otter), beta: "/spec/components/1", alpha: "/spec/services/Worker" },
        Worker { object: held(lynx), beta: "/spec", alpha: "/spec" },
    ]
}

impl Worker {
    /// The worker says this in v1beta1 and this in v1alpha1, member by member; null is nothing.
    async fn says(&self, tenant: &Tenant, beta: &Value, alpha: &Value, when: &str) {
        let views = tenant.reads(&self.object).await;
        for (view, (at, wanted)) in views.iter().zip([(self.beta, beta), (self.alpha, alpha)]) {
            for (name, value) in wanted.as_object().unwrap() {
                assert_eq!(&view.pointer(at).unwrap()[name], value, "{when}: {name} in {view}");
            }
        }
    }

    /// The tenant makes it, or finds it where it has no image: such a one was let in before that was a rule.
    async fn is_there(&self, tenant: &Tenant) {
        let main = self.object.pointer(self.alpha).unwrap().pointer("/extraPodSpec/mainContainer/image");
        match main {
            Some(_) => tenant.own.accepts(&self.object).await,
            None => tenant.inherits(&self.object).await,
        };
    }

    /// A client of v1alpha1 reads the object and writes it back, which changes nothing that v1beta1 says.
    async fn is_settled(&self, tenant: &Tenant) {
        let [before, view] = tenant.reads(&self.object).await;
        tenant.own.replace(&view).await.granted().unwrap();
        let [after, again] = tenant.reads(&self.object).await;
        assert_eq!(after["spec"], before["spec"], "{view}");
        assert_eq!(again["spec"], view["spec"], "{view}");
    }
}

/// What is set in v1beta1, and what the worker then says in either version.
struct Edit {
    at: &'static str,
    value: Value,
    beta: Value,
    alpha: Value,
}

/// A worker that is written so in v1alpha1 says this in v1beta1 and this in v1alpha1. Each edit of it in v1beta1, in each
/// way, comes back to v1alpha1 as it should.
async fn is_edited(tenant: &Tenant, written: &Value, [beta, alpha]: [&Value; 2], edits: &[Edit], ways: &[Way]) {
    for worker in workers(written) {
        for (edit, way) in edits.iter().flat_map(|edit| ways.iter().map(move |way| (edit, *way))) {
            worker.is_there(tenant).await;
            worker.says(tenant, beta, alpha, "as written").await;
            let (at, when) = (format!("{}{}", worker.beta, edit.at), format!("{way:?} of {}", edit.at));
            let answer = tenant.sets(&worker.object, "v1beta1", way, &at, &edit.value).await;
            answer.granted().unwrap_or_else(|why| panic!("{when}: {why}"));
            worker.says(tenant, &edit.beta, &edit.alpha, &when).await;
            worker.is_settled(tenant).await;
            tenant.removes(&worker.object, "v1alpha1").await;
        }
    }
}

/// A request of each version in phase Ready, which says this of `autoApply`.
async fn ready(tenant: &Tenant, apply: Option<bool>) -> [Value; 2] {
    let states = [("phase", request("stoat")), ("state", request_v1alpha1("marmot"))];
    let mut ready = Vec::new();
    for (state, written) in states {
        let mut asked = held(written);
        if let Some(apply) = apply {
            asked["spec"]["autoApply"] = apply.into();
        }
        tenant.own.accepts(&asked).await;
        let place = format!("{}/status", tenant.own.place(&asked, version_of(&asked)));
        let status = json!({"status": {state: "Ready"}});
        tenant.own.client().merge(&place, &status).await.unwrap().granted().unwrap();
        let [beta, alpha] = tenant.reads(&asked).await;
        assert_eq!((&beta["status"]["phase"], &alpha["status"]["state"]), (&json!("Ready"), &json!("Ready")));
        ready.push(asked);
    }
    ready.try_into().unwrap()
}

async fn w1_a_ready_request_is_frozen_whatever_it_says_of_auto_apply(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    for apply in [None, Some(true), Some(false)] {
        for asked in ready(&tenant, apply).await {
            let before = tenant.reads(&asked).await;
            for (version, way) in VERSIONS.into_iter().flat_map(|version| WAYS.map(|way| (version, way))) {
                let refusal = refused(tenant.sets(&asked, version, way, "/spec/model", &"Qwen/Qwen3-8B".into()).await);
                assert_eq!(refusal.fields(), ["spec"], "{}", refusal.message);
                assert!(refusal.message.contains("immutable in phase Ready"), "{}", refusal.message);
            }
            assert_eq!(tenant.reads(&asked).await, before);
            tenant.removes(&asked, "v1alpha1").await;
        }
    }
}

async fn w1_a_ready_request_that_waits_to_be_applied_chooses_its_runtime(sandbox: Sandbox) {
    const RUNTIME: &str = "/spec/runtimeVersionOverride";
    let tenant = Tenant::of(&sandbox).await;
    for asked in ready(&tenant, Some(false)).await {
        let own = version_of(&asked);
        // An apply takes away what its manager has applied in the other version.
        let others = [Way::Put, Way::JsonPatch, Way::MergePatch].map(|way| (other_of(&asked), way));
        let writes = WAYS.map(|way| (own, way)).into_iter().chain(others);
        for (number, (version, way)) in writes.enumerate() {
            let runtime = json!(format!("1.5.{number}"));
            let answer = tenant.sets(&asked, version, way, RUNTIME, &runtime).await;
            answer.granted().unwrap_or_else(|why| panic!("{way:?} in {version}: {why}"));
            for view in tenant.reads(&asked).await {
                assert_eq!(view.pointer(RUNTIME), Some(&runtime), "{view}");
            }
        }
        tenant.sets(&asked, own, Way::Put, "/spec/autoApply", &true.into()).await.granted().unwrap();
        for (version, way) in VERSIONS.into_iter().flat_map(|version| WAYS.map(|way| (version, way))) {
            let refusal = refused(tenant.sets(&asked, version, way, RUNTIME, &"1.6.0".into()).await);
            assert_eq!(refusal.fields(), ["spec"], "{}", refusal.message);
        }
        tenant.removes(&asked, "v1beta1").await;
    }
}

async fn w2_a_second_cache_outlives_a_pod_without_a_main_container(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    let written = json!({"volumeMounts": [
        {"name": "c", "useAsCompilationCache": true},
        {"name": "d", "mountPoint": "/d", "useAsCompilationCache": true},
    ]});
    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    let mut alpha = written.clone();
    alpha["extraPodMetadata"] = labelled["metadata"].clone();
    let edit = Edit {
        at: "/podTemplate",
        value: labelled.clone(),
        beta: json!({"compilationCache": {"pvcName": "c"}, "podTemplate": labelled}),
        alpha,
    };
    let shown = json!({"compilationCache": {"pvcName": "c"}, "podTemplate": null});
    is_edited(&tenant, &written, [&shown, &written], &[edit], &WAYS).await;
}

async fn w3_a_mount_of_the_main_container_stays_there_when_a_cache_comes(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    let main = json!({"image": IMAGE, "volumeMounts": [{"name": "v", "mountPath": "/v", "subPath": "s"}]});
    let written = json!({"volumeMounts": null, "extraPodSpec": {"mainContainer": main}});
    let mut container = main.clone();
    container["name"] = "main".into();
    let shown = json!({"podTemplate": {"spec": {"containers": [container]}}, "compilationCache": null});
    let cache = json!({"pvcName": "p", "mountPath": "/p"});
    let (mut beta, mut alpha) = (shown.clone(), written.clone());
    beta["compilationCache"] = cache.clone();
    alpha["volumeMounts"] = json!([{"name": "p", "mountPoint": "/p", "useAsCompilationCache": true}]);
    let edit = Edit { at: "/compilationCache", value: cache, beta, alpha };
    is_edited(&tenant, &written, [&shown, &written], &[edit], &WAYS).await;
}

/// Pod specs of v1alpha1 that say nothing.
fn empty_pod_specs() -> [Value; 3] {
    [json!({"mainContainer": {}}), json!({"containers": []}), json!({"mainContainer": {"name": "other"}})]
}

async fn w4_a_pod_spec_that_says_nothing_makes_no_pod_template_and_comes_back(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    for said in empty_pod_specs() {
        let (written, shown) = (json!({"extraPodSpec": said}), json!({"podTemplate": null}));
        let labelled = json!({"metadata": {"labels": {"a": "b"}}});
        let edits = [
            Edit { at: "/replicas", value: 2.into(), beta: shown.clone(), alpha: written.clone() },
            Edit {
                at: "/podTemplate",
                value: labelled.clone(),
                beta: json!({"podTemplate": labelled}),
                alpha: json!({"extraPodSpec": said, "extraPodMetadata": labelled["metadata"]}),
            },
        ];
        is_edited(&tenant, &written, [&shown, &written], &edits, &WAYS).await;
    }
}

async fn w4_what_the_operator_kept_of_such_a_pod_spec_comes_back(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    // As Go writes it, with the members that it never leaves out.
    let other = json!({"containers": null, "mainContainer": {"name": "other", "resources": {}}});
    for kept in empty_pod_specs().into_iter().chain([other]) {
        let mut otter = held(graph("otter"));
        otter["spec"]["components"][1].as_object_mut().unwrap().remove("podTemplate");
        let spec = json!({"version": 1, "spec": {"services": {"decode": {"extraPodSpec": kept}}}});
        otter["metadata"]["annotations"] = json!({"nvidia.com/dgd-spec": spec.to_string()});
        tenant.inherits(&otter).await;
        for (way, replicas) in WAYS.into_iter().zip(2..) {
            let [beta, alpha] = tenant.reads(&otter).await;
            assert_eq!(beta.pointer("/spec/components/1/podTemplate"), None, "{beta}");
            let restored = &alpha["spec"]["services"]["decode"]["extraPodSpec"];
            for (name, value) in kept.as_object().unwrap() {
                assert_eq!(&restored[name], value, "{name} in {alpha}");
            }
            let pointer = "/spec/services/decode/replicas";
            tenant.sets(&otter, "v1alpha1", way, pointer, &replicas.into()).await.granted().unwrap();
        }
        tenant.removes(&otter, "v1beta1").await;
    }
}

async fn w5_a_number_does_not_take_the_place_of_the_name_of_a_port(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    // The service's port, that of its `mainContainer`, and what the pod has.
    let ports = [
        (json!("http"), json!(8000), json!("http")),
        (json!("http"), json!(0), json!("http")),
        (json!(8000), json!("http"), json!("http")),
        (json!(8000), json!(9000), json!(9000)),
        (json!("http"), json!("grpc"), json!("grpc")),
    ];
    for (probe, at) in [
        ("readinessProbe", "/podTemplate/spec/containers/0/readinessProbe/httpGet/port"),
        ("livenessProbe", "/podTemplate/spec/containers/0/livenessProbe/httpGet/port"),
    ] {
        for (flat, own, merged) in &ports {
            let asked = |port: &Value| json!({"httpGet": {"port": port}});
            let written = json!({
                probe: asked(flat),
                "extraPodSpec": {"mainContainer": {"image": IMAGE, probe: asked(own)}},
            });
            let pod = |port: &Value| {
                let main = json!({"name": "main", "image": IMAGE, probe: asked(port)});
                json!({"podTemplate": {"spec": {"containers": [main]}}})
            };
            let edits = [
                Edit { at: "/replicas", value: 2.into(), beta: pod(merged), alpha: written.clone() },
                Edit {
                    at,
                    value: 7000.into(),
                    beta: pod(&7000.into()),
                    alpha: json!({
                        probe: asked(&7000.into()),
                        "extraPodSpec": {"mainContainer": {"image": IMAGE}},
                    }),
                },
            ];
            is_edited(&tenant, &written, [&pod(merged), &written], &edits, &[Way::Put, Way::Apply]).await;
        }
    }
}

async fn w6_a_mount_that_repeats_the_cache_need_not_say_where(sandbox: Sandbox) {
    let tenant = Tenant::of(&sandbox).await;
    let said = |mounts: &[&Value]| {
        let main = json!({"image": IMAGE});
        json!({"volumeMounts": mounts, "extraPodSpec": {"mainContainer": main}})
    };
    let cache = json!({"name": "v", "useAsCompilationCache": true});
    // An empty text is none.
    let (empty, none) = (json!({"name": "v", "mountPoint": ""}), json!({"name": "v"}));
    // Both are mounted at no path, and the API server tells mounts that are applied by their paths.
    let ways = [Way::Put, Way::JsonPatch, Way::MergePatch];
    let shown = json!({"compilationCache": {"pvcName": "v"}});
    for (written, read) in [([&cache, &empty], [&cache, &none]), ([&empty, &cache], [&none, &cache])] {
        let edit = Edit { at: "/replicas", value: 2.into(), beta: shown.clone(), alpha: said(&read) };
        is_edited(&tenant, &said(&written), [&shown, &said(&read)], &[edit], &ways).await;
    }
    let elsewhere = said(&[&cache, &json!({"name": "w", "mountPoint": ""})]);
    let [otter, lynx] = workers(&elsewhere);
    tenant.own.rejects(&otter.object, &["spec.services[Worker].volumeMounts[1].mountPoint"]).await;
    tenant.own.rejects(&lynx.object, &["spec.volumeMounts[1].mountPoint"]).await;
}
