//! The profiling job.

use serde_json::{Value, json};

use super::{alpha, annotations, assert_returns, beta, kept_spec, lifted, lowered, with};

fn with_pod(pod: &Value) -> Value {
    with_job(&json!({"template": {"spec": pod}}))
}

fn with_job(job: &Value) -> Value {
    beta(&json!({"autoApply": true, "overrides": {"profilingJob": job}}))
}

fn pod_of(hub: &Value) -> &Value {
    &hub["spec"]["overrides"]["profilingJob"]["template"]["spec"]
}

fn resources() -> Value {
    json!({"limits": {"nvidia.com/gpu": "1"}})
}

#[test]
fn what_the_profiler_is_given_goes_to_its_container_and_pod() {
    let profiling = json!({
        "resources": resources(), "tolerations": [{"key": "gpu", "novel": 1}], "nodeSelector": {"arch": "arm64"},
    });
    let hub = lifted(&alpha(&json!({"profilingConfig": profiling})));
    let pod = json!({
        "containers": [{"name": "profiler", "resources": resources()}],
        "tolerations": [{"key": "gpu", "novel": 1}],
        "nodeSelector": {"arch": "arm64"},
    });
    assert_eq!(*pod_of(&hub), pod);
    assert_eq!(annotations(&hub), [""; 0]);
    assert_returns(&alpha(&json!({"profilingConfig": profiling})));
}

#[test]
fn a_job_that_says_no_more_is_not_kept() {
    let pod = json!({"containers": [{"name": "profiler", "resources": resources()}], "tolerations": [{"key": "gpu"}]});
    let spoke = lowered(&with_pod(&pod));
    assert_eq!(spoke["spec"]["profilingConfig"], json!({"resources": resources(), "tolerations": [{"key": "gpu"}]}));
    assert_eq!(annotations(&spoke), [""; 0]);
    assert_returns(&with_pod(&pod));
}

#[test]
fn the_rest_of_the_job_is_kept() {
    let containers = json!([
        {"name": "profiler", "resources": resources()}, {"name": "output-copier", "image": "r/cp:1", "novel": {"x": 1}},
    ]);
    let job = json!({"backoffLimit": 1, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
        "containers": containers, "nodeSelector": {"a": "b"}, "securityContext": {},
    }}});
    let kept = &kept_spec(&lowered(&with_job(&job)))["overrides"]["profilingJob"];
    let rest = json!({"backoffLimit": 1, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
        "containers": [{"name": "profiler"}, {"name": "output-copier", "image": "r/cp:1", "novel": {"x": 1}}],
        "securityContext": {},
    }}});
    assert_eq!(*kept, rest);
    assert_returns(&with_job(&job));
}

#[test]
fn the_order_of_containers_returns() {
    assert_returns(&with_pod(&json!({"containers": [
        {"name": "first", "image": "a"}, {"name": "profiler", "resources": resources()}, {"name": "last"},
    ]})));
}

#[test]
fn a_container_that_had_nothing_but_its_name_is_kept() {
    let bare = with_pod(&json!({"containers": [{"name": "profiler"}]}));
    let kept = kept_spec(&lowered(&bare));
    assert_eq!(*pod_of(&json!({"spec": kept})), json!({"containers": [{"name": "profiler"}]}));
    assert_returns(&bare);
}

#[test]
fn a_container_without_a_name_stands_in_for_the_profiler() {
    let job = with_pod(&json!({"containers": [{"name": "", "image": "i", "resources": resources()}]}));
    let spoke = lowered(&job);
    assert_eq!(spoke["spec"]["profilingConfig"]["resources"], resources());
    assert_eq!(
        *pod_of(&json!({"spec": kept_spec(&spoke)})),
        json!({"containers": [{"name": "profiler", "image": "i"}]})
    );
    assert_returns(&job);
}

#[test]
fn beside_the_profiler_a_container_without_a_name_is_another_one() {
    let job = with_pod(&json!({"containers": [
        {"image": "i", "resources": {"limits": {"cpu": "9"}}}, {"name": "profiler", "resources": resources()},
    ]}));
    let spoke = lowered(&job);
    assert_eq!(spoke["spec"]["profilingConfig"]["resources"], resources());
    assert_returns(&job);
}

#[test]
fn resources_of_other_containers_are_not_the_profilers() {
    let job = with_pod(&json!({"containers": [{"name": "other", "resources": resources()}]}));
    let mut spoke = lowered(&job);
    assert_eq!(spoke["spec"].get("profilingConfig"), None);
    spoke["spec"]["profilingConfig"] = json!({"resources": {"limits": {"cpu": "1"}}});
    let containers = json!([
        {"name": "other", "resources": resources()}, {"name": "profiler", "resources": {"limits": {"cpu": "1"}}},
    ]);
    assert_eq!(pod_of(&lifted(&spoke))["containers"], containers);
}

#[test]
fn what_v1alpha1_took_away_stays_away() {
    let job = with_pod(&json!({
        "containers": [{"name": "profiler", "image": "i", "resources": resources()}], "tolerations": [{"key": "gpu"}],
    }));
    let mut spoke = lowered(&job);
    spoke["spec"]["profilingConfig"] = json!({});
    assert_eq!(*pod_of(&lifted(&spoke)), json!({"containers": [{"name": "profiler", "image": "i"}]}));
}

#[test]
fn the_artefacts_of_go_cost_nothing() {
    let job = with_job(&json!({"template": {
        "metadata": {"creationTimestamp": null},
        "spec": {"containers": [{"name": "profiler", "resources": resources()}]},
    }}));
    assert_eq!(annotations(&lowered(&job)), [""; 0]);
}

#[test]
fn a_job_of_an_odd_shape_is_carried_along() {
    for job in [
        json!("odd"),
        json!([]),
        json!({}),
        json!({"template": 5}),
        json!({"template": {"spec": []}}),
        json!({"template": {"spec": {"containers": {}, "tolerations": {"a": 1}, "nodeSelector": {"a": 1}}}}),
        json!({"template": {"spec": {"containers": ["x", {"name": 5}, {"name": "profiler", "resources": [1]}]}}}),
    ] {
        assert_returns(&with_job(&job));
    }
}

#[test]
fn empty_resources_return() {
    assert_returns(&alpha(&json!({"profilingConfig": {"resources": {}}})));
    assert_returns(&alpha(&json!({"profilingConfig": {"resources": {"limits": {}}}})));
}

#[test]
fn the_pod_has_the_list_of_containers_that_the_schema_demands() {
    let there = lifted(&alpha(&json!({"profilingConfig": {"tolerations": [{"key": "a"}]}})));
    assert_eq!(pod_of(&there)["containers"], json!([]));
    let job = json!({"backoffLimit": 1, "template": {"spec": {"containers": [
        {"name": "profiler", "resources": resources()},
    ]}}});
    let mut spoke = lowered(&with_job(&job));
    spoke["spec"]["profilingConfig"].as_object_mut().unwrap().remove("resources");
    assert_eq!(pod_of(&lifted(&spoke))["containers"], json!([]));
}

#[test]
fn what_go_keeps_of_a_job_is_read() {
    let kept = json!({"version": 1, "spec": {"model": "", "autoApply": null, "overrides": {"profilingJob": {
        "backoffLimit": 1, "template": {"metadata": {}, "spec": {"containers": null}},
    }}}});
    let spoke = alpha(&json!({"profilingConfig": {"nodeSelector": {"a": "b"}}}));
    let hub = lifted(&with(spoke, "nvidia.com/dgdr-spec", &kept.to_string()));
    assert_eq!(*pod_of(&hub), json!({"containers": [], "nodeSelector": {"a": "b"}}));
    assert_eq!(hub["spec"]["overrides"]["profilingJob"]["backoffLimit"], 1);
}
