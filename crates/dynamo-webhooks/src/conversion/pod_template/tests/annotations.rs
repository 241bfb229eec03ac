//! What is remembered, in the form of the Go operator.

use super::*;

/// What a service leaves in the hub's annotation.
fn of_spoke(spec: Value) -> Value {
    spoke(spec).up().entry()
}

/// What a component with this pod template leaves in the annotation of the service.
fn of_template(template: Value) -> Value {
    hub(json!({"podTemplate": template})).down().entry()
}

#[test]
fn fields_that_the_hub_shows_are_not_remembered() {
    let plain = json!({
        "resources": {"limits": {"cpu": "500m", "gpu": "1", "custom": {"x/y": "2"}}, "claims": [{"name": "c"}]},
        "envs": [{"name": "A", "value": "1"}],
        "volumeMounts": [{"name": "cc", "mountPoint": "/cc", "useAsCompilationCache": true}, {"name": "d"}],
        "livenessProbe": {"periodSeconds": 1},
        "readinessProbe": {},
        "extraPodMetadata": {"labels": {"a": "b"}},
        "extraPodSpec": {"nodeSelector": {"a": "b"}, "containers": [{"name": "logs"}]},
    });
    assert_eq!(of_spoke(plain), json!({}));
}

#[test]
fn a_secret_is_remembered_named_or_not() {
    for secret in ["hf", ""] {
        assert_eq!(of_spoke(json!({"envFromSecret": secret})), json!({"envFromSecret": secret}));
    }
}

#[test]
fn resources_are_remembered_where_they_would_come_back_otherwise() {
    for lost in [
        json!({"limits": {"gpu": "1", "gpuType": "gpu.intel.com/xe"}}),
        json!({"limits": {"custom": {"nvidia.com/gpu": "1"}}}),
        json!({"requests": {"cpu": "0.5"}}),
        json!({"requests": {"memory": "plenty"}}),
        json!({"requests": {}}),
    ] {
        let written = json!({"resources": lost});
        assert_eq!(of_spoke(written.clone()), written);
        assert_eq!(spoke(written.clone()).up().down().json(), written);
    }
}

#[test]
fn remembered_resources_give_way_to_an_edit() {
    let edited =
        spoke(json!({"resources": {"limits": {"gpu": "1", "gpuType": "gpu.intel.com/xe"}}})).up().edited(|spec| {
            spec["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]["gpu.intel.com/xe"] = json!("2");
        });
    assert_eq!(edited.down().json()["resources"], json!({"limits": {"custom": {"gpu.intel.com/xe": "2"}}}));
}

#[test]
fn empty_shapes_are_remembered() {
    assert_eq!(of_spoke(json!({"extraPodMetadata": {}})), json!({"extraPodMetadata": {}}));
    assert_eq!(of_spoke(json!({"extraPodSpec": {}})), json!({"extraPodSpec": {}}));
    let named = json!({"extraPodMetadata": {}, "extraPodSpec": {"mainContainer": {"name": "mine"}}});
    assert_eq!(of_spoke(named.clone()), named);
    assert_eq!(spoke(named.clone()).up().down().json(), named);
}

#[test]
fn the_sidecar_is_remembered_whole_and_so_is_the_container_that_took_its_place() {
    let sidecar = json!({"image": "r/fe:1", "envFromSecret": "", "envs": [{"name": "A"}]});
    assert_eq!(of_spoke(json!({"frontendSidecar": sidecar})), json!({"frontendSidecar": sidecar}));
    let taken = json!([{"name": "sidecar-frontend", "image": "mine"}]);
    let written = json!({"frontendSidecar": sidecar, "extraPodSpec": {"containers": taken}});
    assert_eq!(of_spoke(written.clone()), written);
    assert_eq!(spoke(written.clone()).up().down().json(), written);
}

#[test]
fn an_edited_sidecar_comes_back_as_its_block() {
    let edited = spoke(json!({"frontendSidecar": {"image": "r/fe:1", "envFromSecret": "s"}})).up().edited(|spec| {
        let sidecar = &mut spec["podTemplate"]["spec"]["containers"][1];
        sidecar["image"] = json!("r/fe:2");
        sidecar["args"] = json!(["-v"]);
    });
    let block = json!({"image": "r/fe:2", "args": ["-v"], "envFromSecret": "s"});
    assert_eq!(edited.down().json(), json!({"frontendSidecar": block}));
}

#[test]
fn both_halves_of_a_split_main_container_are_remembered() {
    let written = json!({
        "envs": [{"name": "A"}],
        "livenessProbe": {"periodSeconds": 5},
        "extraPodSpec": {"tolerations": [{}], "mainContainer": {"name": "x", "image": "i", "env": [{"name": "B"}]}},
    });
    let halves = json!({
        "envs": [{"name": "A"}],
        "livenessProbe": {"periodSeconds": 5},
        "extraPodSpec": {"mainContainer": {"name": "x", "env": [{"name": "B"}]}},
    });
    assert_eq!(of_spoke(written.clone()), halves);
    assert_eq!(spoke(written.clone()).up().down().json(), written);
}

#[test]
fn an_edit_of_one_part_leaves_the_split_of_the_others() {
    let edited = spoke(json!({
        "envs": [{"name": "A"}],
        "livenessProbe": {"periodSeconds": 5},
        "extraPodSpec": {"mainContainer": {"env": [{"name": "B"}], "livenessProbe": {"timeoutSeconds": 1}}},
    }))
    .up()
    .edited(|spec| spec["podTemplate"]["spec"]["containers"][0]["env"][0]["value"] = json!("1"));
    let back = edited.down().json();
    assert_eq!(back["envs"], json!([{"name": "A", "value": "1"}, {"name": "B"}]));
    assert_eq!(back["livenessProbe"], json!({"periodSeconds": 5}));
    assert_eq!(back["extraPodSpec"], json!({"mainContainer": {"livenessProbe": {"timeoutSeconds": 1}}}));
}

#[test]
fn an_object_of_the_hub_remembers_no_origins_without_need() {
    let written = hub(json!({"podTemplate": {"spec": {"containers": [
        {"name": "main", "image": "i", "env": [{"name": "A"}], "livenessProbe": {"periodSeconds": 1}},
    ]}}}));
    assert_eq!(written.down().up().entry(), json!({}));
}

#[test]
fn variables_of_one_name_come_back_twice() {
    let written = json!({
        "envs": [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}],
        "extraPodSpec": {"mainContainer": {"env": [{"name": "C"}, {"name": "A", "value": "3"}]}},
    });
    assert_eq!(spoke(written.clone()).up().down().json(), written);
}

#[test]
fn a_further_container_called_main_comes_back_also_after_an_edit() {
    let written = spoke(json!({"extraPodSpec": {"containers": [{"name": "main", "image": "x"}, {"name": "logs"}]}}));
    assert_eq!(written.up().down().json(), written.json());
    let edited = written.up().edited(|spec| spec["podTemplate"]["spec"]["nodeName"] = json!("n"));
    let back = edited.down().json();
    assert_eq!(back["extraPodSpec"]["containers"], json!([{"name": "main", "image": "x"}, {"name": "logs"}]));
}

#[test]
fn the_hub_remembers_what_mounts_say_beside_name_and_path() {
    let mounts = json!([{"name": "d", "mountPath": "/d", "readOnly": true}, {"name": "e", "mountPath": "/e"}]);
    let main = json!({"name": "main", "volumeMounts": mounts});
    let lowered = hub(json!({"podTemplate": {"spec": {"containers": [main]}}})).down();
    assert_eq!(lowered.entry()["podTemplate"], json!({"spec": {"containers": [main]}}));
    let moved = lowered.edited(|spec| spec["volumeMounts"] = json!([{"name": "d", "mountPoint": "/elsewhere"}]));
    assert_eq!(moved.up().main()["volumeMounts"], json!([{"name": "d", "mountPath": "/elsewhere", "readOnly": true}]));
}

#[test]
fn a_cache_that_the_main_container_does_not_mount_stays_unmounted() {
    let cache = json!({"pvcName": "cc", "mountPath": "/cc"});
    let main = json!([{"name": "main", "image": "i"}]);
    let written = hub(json!({"compilationCache": cache, "podTemplate": {"spec": {"containers": main}}}));
    let lowered = written.down();
    assert_eq!(lowered.entry()["podTemplate"]["spec"]["containers"], json!([{"name": "main"}]));
    assert!(!lowered.has_record());
    assert_eq!(lowered.up().json(), written.json());
}

#[test]
fn members_of_the_template_that_v1alpha1_has_no_word_for_are_remembered() {
    let template = json!({
        "metadata": {"name": "t", "finalizers": ["f"], "labels": {"a": "b"}},
        "spec": {"containers": [{"name": "main", "image": "i"}], "mainContainer": {"image": "never-live"}},
        "unknown": {"x": 1},
    });
    let lowered = hub(json!({"podTemplate": template})).down();
    let remembered = json!({
        "metadata": {"name": "t", "finalizers": ["f"]},
        "spec": {"mainContainer": {"image": "never-live"}},
        "unknown": {"x": 1},
    });
    assert_eq!(lowered.entry()["podTemplate"], remembered);
    assert_eq!(lowered.json()["extraPodSpec"], json!({"mainContainer": {"image": "i"}}));
    assert_eq!(lowered.up().json()["podTemplate"], template);
}

#[test]
fn an_empty_template_stays_empty() {
    assert_eq!(of_template(json!({}))["podTemplate"], json!({}));
    assert_eq!(hub(json!({"podTemplate": {}})).down().up().json(), json!({"podTemplate": {}}));
}

#[test]
fn a_main_container_that_says_nothing_is_remembered_by_its_name() {
    let template = json!({"spec": {"containers": [{"name": "main"}]}});
    assert_eq!(of_template(template.clone())["podTemplate"], template);
}

#[test]
fn amounts_come_back_as_they_were_written() {
    let main = json!({"name": "main", "resources": {"limits": {"cpu": "0.5", "nvidia.com/gpu": 1}}});
    let written = hub(json!({"podTemplate": {"spec": {"containers": [main]}}}));
    let lowered = written.down();
    assert_eq!(lowered.json()["resources"], json!({"limits": {"cpu": "500m", "gpu": "1"}}));
    assert_eq!(lowered.up().json(), written.json());
    let edited = lowered.edited(|spec| spec["resources"]["limits"]["gpu"] = json!("2"));
    assert_eq!(edited.up().main()["resources"]["limits"], json!({"cpu": "0.5", "nvidia.com/gpu": "2"}));
}

#[test]
fn what_nests_too_deep_for_a_tree_comes_back_as_it_was() {
    let deep = format!("{{\"nodeName\":\"n\",\"odd\":{}{}}}", "[".repeat(300), "]".repeat(300));
    let service = format!("{{\"envs\":[{{\"name\":\"A\"}}],\"extraPodSpec\":{deep}}}");
    let written =
        Stored { spec: serde_json::from_str::<v1alpha1::ComponentSpec>(&service).unwrap(), annotations: Map::new() };
    assert_eq!(written.up().down().spec, written.spec);
    let component = format!("{{\"podTemplate\":{{\"metadata\":{{\"name\":\"t\"}},\"spec\":{deep}}}}}");
    let written =
        Stored { spec: serde_json::from_str::<v1beta1::ComponentSpec>(&component).unwrap(), annotations: Map::new() };
    assert_eq!(written.down().up().spec, written.spec);
}
