//! The spec, field by field.

use serde_json::{Value, json};

use super::{alpha, annotations, assert_returns, beta, configured, kept_spec, lifted, lowered, noted, with};

const SPEC: &str = "nvidia.com/dgdr-spec";

fn config_of(object: &Value) -> &Value {
    &object["spec"]["profilingConfig"]["config"]
}

#[test]
fn the_graph_is_applied_in_v1beta1_unless_it_says_no() {
    assert_eq!(lifted(&alpha(&json!({"model": "m"})))["spec"]["autoApply"], false);
    assert_eq!(lifted(&alpha(&json!({"autoApply": true})))["spec"]["autoApply"], true);
    assert_eq!(lowered(&beta(&json!({"model": "m"})))["spec"]["autoApply"], true);
    assert_eq!(lowered(&beta(&json!({"autoApply": false})))["spec"].get("autoApply"), None);
}

#[test]
fn a_mocker_that_is_off_is_kept_and_one_that_is_on_is_a_field() {
    let off = lowered(&beta(&json!({"features": {"mocker": {}}})));
    assert_eq!(off["spec"].get("useMocker"), None);
    assert_eq!(kept_spec(&off)["features"], json!({"mocker": {}}));
    assert_eq!(lifted(&off)["spec"]["features"], json!({"mocker": {}}));
    let mut on = off;
    on["spec"]["useMocker"] = true.into();
    assert_eq!(lifted(&on)["spec"]["features"], json!({"mocker": {"enabled": true}}));
    assert_eq!(lifted(&alpha(&json!({})))["spec"].get("features"), None);
}

#[test]
fn the_image_is_that_of_the_profiler_or_else_that_of_the_workers() {
    let request = |profiler: &str| {
        alpha(&json!({
            "profilingConfig": {"profilerImage": profiler}, "deploymentOverrides": {"workersImage": "w:1"},
        }))
    };
    assert_eq!(lifted(&request("p:1"))["spec"]["image"], "p:1");
    assert_eq!(lifted(&request(""))["spec"]["image"], "w:1");
    assert_eq!(kept_spec(&lifted(&request("")))["deploymentOverrides"]["workersImage"], "w:1");
    assert_returns(&request("p:1"));
    assert_returns(&request(""));
}

#[test]
fn an_image_that_is_not_named_is_empty_because_v1alpha1_demands_one() {
    let spoke = lowered(&beta(&json!({"model": "m"})));
    assert_eq!(spoke["spec"]["profilingConfig"], json!({"profilerImage": ""}));
    assert_eq!(lifted(&spoke)["spec"].get("image"), None);
    assert_returns(&alpha(&json!({"model": "m", "profilingConfig": {"profilerImage": ""}})));
}

#[test]
fn an_image_that_is_no_longer_named_does_not_come_back_from_the_workers() {
    let mut hub = lifted(&alpha(&json!({"deploymentOverrides": {"workersImage": "w:1", "name": "g"}})));
    hub["spec"]["image"] = "".into();
    let spoke = lowered(&hub);
    assert_eq!(spoke["spec"]["deploymentOverrides"], json!({"name": "g"}));
    assert_eq!(lifted(&spoke)["spec"].get("image"), None);
}

#[test]
fn targets_and_traffic_are_projected_from_numbers_alone() {
    let config = json!({"sla": {"ttft": 400, "itl": "9", "isl": 3000, "osl": 150.0, "optimizationType": "latency"}});
    let hub = lifted(&configured(&config));
    assert_eq!(hub["spec"]["sla"], json!({"ttft": 400, "optimizationType": "latency"}));
    assert_eq!(hub["spec"]["workload"], json!({"isl": 3000, "osl": 150}));
    assert_eq!(kept_spec(&hub)["profilingConfig"]["config"], json!({"sla": {"itl": "9"}}));
    assert_returns(&configured(&config));
}

#[test]
fn whole_numbers_stay_whole() {
    let text = lifted(&configured(&json!({"sla": {"ttft": 400}})))["spec"].to_string();
    assert!(text.contains("\"ttft\":400}"), "{text}");
    let text = lowered(&beta(&json!({"sla": {"ttft": 400.0, "itl": 0.5}})))["spec"].to_string();
    assert!(text.contains("\"itl\":0.5") && text.contains("\"ttft\":400}"), "{text}");
}

#[test]
fn tokens_are_cut_toward_zero_and_return_whole() {
    for (written, cut) in [(json!(2048.9), 2048), (json!(-2.5), -2), (json!(2.0), 2)] {
        let config = configured(&json!({"sla": {"isl": written}}));
        assert_eq!(lifted(&config)["spec"]["workload"]["isl"], cut);
        assert_returns(&config);
    }
}

#[test]
fn a_fraction_does_not_outlive_an_edit() {
    let mut hub = lifted(&configured(&json!({"sla": {"isl": 2048.9, "osl": 7.5}})));
    hub["spec"]["workload"]["isl"] = 3000.into();
    assert_eq!(config_of(&lowered(&hub)), &json!({"sla": {"isl": 3000, "osl": 7.5}}));
}

#[test]
fn tokens_beyond_32_bits_stay_in_the_remainder() {
    for many in [json!(1e300), json!(2_147_483_648_i64), json!(-1e10)] {
        let hub = lifted(&configured(&json!({"sla": {"isl": many}})));
        assert_eq!(hub["spec"].get("workload"), None);
        assert_eq!(kept_spec(&hub)["profilingConfig"]["config"]["sla"]["isl"], many);
    }
    assert_eq!(lifted(&configured(&json!({"sla": {"isl": 2_147_483_647}})))["spec"]["workload"]["isl"], i32::MAX);
}

#[test]
fn numbers_that_no_double_holds_return_exactly() {
    assert_returns(&configured(&json!({"sla": {"ttft": 9_007_199_254_740_993_u64}, "n": u64::MAX})));
}

#[test]
fn the_cache_is_projected_and_what_else_stands_beside_it_stays() {
    let config = json!({"deployment": {"modelCache": {"pvcName": "w", "modelPathInPvc": 5, "novel": "x"}, "y": 1}});
    let hub = lifted(&configured(&config));
    assert_eq!(hub["spec"]["modelCache"], json!({"pvcName": "w"}));
    assert_returns(&configured(&config));
    let mut edited = hub;
    edited["spec"]["modelCache"] = json!({"pvcName": "v", "pvcModelPath": "p"});
    let cache = json!({"pvcName": "v", "modelPathInPvc": "p", "novel": "x"});
    assert_eq!(config_of(&lowered(&edited)), &json!({"deployment": {"modelCache": cache, "y": 1}}));
}

#[test]
fn a_block_that_only_stripping_emptied_is_not_kept() {
    let hub = lifted(&configured(&json!({"sla": {"ttft": 1}, "deployment": {"modelCache": {"pvcName": "w"}}})));
    assert_eq!(annotations(&hub), [""; 0]);
    let hub = lifted(&configured(&json!({"sla": {}, "deployment": {"modelCache": {}}})));
    let kept = &kept_spec(&hub)["profilingConfig"]["config"];
    assert_eq!(*kept, json!({"sla": {}, "deployment": {"modelCache": {}}}));
    assert_eq!((&hub["spec"]["sla"], &hub["spec"]["modelCache"]), (&json!({}), &json!({})));
    let hub = lifted(&configured(&json!({})));
    assert_eq!(kept_spec(&hub)["profilingConfig"]["config"], json!({}));
}

#[test]
fn only_a_planner_that_says_something_is_projected() {
    let hub = lifted(&configured(&json!({"planner": {"mode": "sla"}})));
    assert_eq!(hub["spec"]["features"], json!({"planner": {"mode": "sla"}}));
    for planner in [json!({}), json!("sla"), json!([1])] {
        let config = configured(&json!({"planner": planner}));
        assert_eq!(lifted(&config)["spec"].get("features"), None);
        assert_returns(&config);
    }
    for planner in [json!({}), json!({"mode": "sla"})] {
        assert_returns(&beta(&json!({"features": {"planner": planner}})));
    }
}

#[test]
fn live_members_are_written_over_the_remainder_and_absent_ones_delete_nothing() {
    let mut hub = lifted(&configured(&json!({"sla": {"ttft": "fast", "itl": 9, "custom": "x"}, "extra": {"k": 1}})));
    hub["spec"]["sla"] = json!({"ttft": 7});
    assert_eq!(config_of(&lowered(&hub)), &json!({"sla": {"ttft": 7, "custom": "x"}, "extra": {"k": 1}}));
}

#[test]
fn a_configuration_that_is_no_map_is_carried_along() {
    for config in [json!("not-an-object"), json!([1]), json!(5), json!(false)] {
        let object = configured(&config);
        assert_eq!(kept_spec(&lifted(&object))["profilingConfig"]["config"], config);
        assert_returns(&object);
        let mut edited = lifted(&object);
        edited["spec"]["sla"] = json!({"ttft": 7});
        assert_eq!(config_of(&lowered(&edited)), &json!({"sla": {"ttft": 7}}));
    }
    assert_eq!(config_of(&lowered(&lifted(&configured(&json!(null))))), &json!(null));
}

#[test]
fn what_nests_too_deeply_to_be_read_is_carried_along() {
    let deep = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
    for depth in [90, 94, 95, 96, 97, 130, 5000] {
        let config = deep(depth);
        let text = format!(r#"{{"spec":{{"profilingConfig":{{"config":{config}}}}}}}"#);
        assert!(text_there_and_back(&text, true).contains(&config), "{depth}");
        let text = format!(r#"{{"spec":{{"features":{{"planner":{config}}},"overrides":{{"dgd":{config}}}}}}}"#);
        assert!(text_there_and_back(&text, false).contains(&format!("\"planner\":{config}")), "{depth}");
    }
}

fn text_there_and_back(text: &str, from_spoke: bool) -> String {
    use gateward_core::{Convert, Issues, Provenance};

    use super::DeploymentRequestConversion;
    let (mut provenance, mut issues) = (Provenance::silent(), Issues::new());
    if from_spoke {
        let hub = DeploymentRequestConversion
            .to_hub(&serde_json::from_str(text).unwrap(), &mut provenance, &mut issues)
            .unwrap();
        serde_json::to_string(&DeploymentRequestConversion.from_hub(&hub, &mut issues).unwrap().spec).unwrap()
    } else {
        let spoke = DeploymentRequestConversion.from_hub(&serde_json::from_str(text).unwrap(), &mut issues).unwrap();
        serde_json::to_string(&DeploymentRequestConversion.to_hub(&spoke, &mut provenance, &mut issues).unwrap().spec)
            .unwrap()
    }
}

#[test]
fn fields_of_v1alpha1_alone_are_kept() {
    let spec = json!({
        "enableGpuDiscovery": false,
        "profilingConfig": {"configMapRef": {"name": "c", "key": "k"}, "outputPVC": "o"},
        "deploymentOverrides": {"name": "g", "namespace": "n", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    });
    assert_eq!(kept_spec(&lifted(&alpha(&spec))), spec);
    assert_returns(&alpha(&spec));
    assert_eq!(annotations(&lifted(&alpha(&json!({"profilingConfig": {"profilerImage": "p"}})))), [""; 0]);
}

#[test]
fn fields_of_v1beta1_alone_are_kept() {
    let rest = json!({
        "hardware": {"gpuSku": "h200_sxm", "totalGpus": 16},
        "workload": {"concurrency": 8, "requestRate": 1.5},
        "sla": {"e2eLatency": 900},
        "searchStrategy": "thorough",
        "features": {"kvRouter": {"enabled": true}},
        "overrides": {"dgd": {"kind": "DynamoGraphDeployment"}, "trustRemoteCode": true},
    });
    let mut spec = rest.clone();
    spec["autoApply"] = true.into();
    let spoke = lowered(&beta(&spec));
    assert_eq!(super::meaning(&kept_spec(&spoke)), super::meaning(&rest));
    assert_eq!(spoke["spec"], json!({"autoApply": true}));
    assert_returns(&beta(&spec));
}

#[test]
fn fields_that_both_versions_have_are_never_restored() {
    let kept = json!({"version": 1, "spec": {
        "model": "old", "image": "old", "autoApply": true, "runtimeVersionOverride": "1.0.0",
        "sla": {"ttft": 1, "e2eLatency": 2}, "workload": {"isl": 1}, "modelCache": {"pvcName": "old"},
        "features": {"mocker": {"enabled": true}, "planner": {"mode": "old"}},
        "overrides": {"profilingJob": {"template": {"spec": {"tolerations": [{"key": "old"}]}}}},
    }});
    let hub = lifted(&with(alpha(&json!({"model": "m"})), SPEC, &kept.to_string()));
    assert_eq!(hub["spec"], json!({"model": "m", "autoApply": false, "sla": {"e2eLatency": 2}}));
}

#[test]
fn a_bare_spec_of_old_is_read_and_unknown_members_are_ignored() {
    for kept in [
        json!({"searchStrategy": "thorough"}),
        json!({"version": 9, "spec": {"searchStrategy": "thorough", "novel": 1}, "more": 1, "rawJSON": null}),
    ] {
        let (hub, notes) = noted(&with(alpha(&json!({})), SPEC, &kept.to_string()), true);
        assert_eq!((&hub["spec"]["searchStrategy"], notes.len()), (&json!("thorough"), 0), "{kept}");
        assert_eq!(annotations(&hub), [""; 0]);
    }
}

#[test]
fn an_unreadable_annotation_is_dropped_with_a_note() {
    let damaged = [
        "{",
        "[]",
        "5",
        "null",
        r#"{"spec": []}"#,
        r#"{"spec": {"hardware": 5}}"#,
        r#"{"version": "1", "spec": {}}"#,
        r#"{"spec": {}, "rawJSON": {}}"#,
        r#"{"spec": {}, "rawJSON": [{"nil": 1}]}"#,
        r#"{"searchStrategy": 5}"#,
    ];
    for text in damaged {
        let (hub, notes) = noted(&with(alpha(&json!({"model": "m"})), SPEC, text), true);
        assert_eq!(hub["spec"], json!({"model": "m", "autoApply": false}), "{text}");
        assert_eq!(annotations(&hub), [""; 0], "{text}");
        assert_eq!(notes, ["metadata.annotations[nvidia.com/dgdr-spec]"], "{text}");
    }
    let (_, notes) = noted(&with(beta(&json!({"model": "m"})), SPEC, r#"{"spec": {"profilingConfig": 5}}"#), false);
    assert_eq!(notes, ["metadata.annotations[nvidia.com/dgdr-spec]"]);
}

#[test]
fn an_empty_annotation_is_taken_away_in_silence() {
    let (hub, notes) = noted(&with(alpha(&json!({})), SPEC, ""), true);
    assert_eq!((annotations(&hub), notes.len()), (vec![], 0));
}

#[test]
fn retired_annotations_are_taken_away_unread_in_both_directions() {
    let retired = [
        "enable-gpu-discovery",
        "output-pvc",
        "config-map-ref",
        "deployment-overrides",
        "profiling-config",
        "status-backend",
        "profiling-results",
        "deployment-status",
        "profiling-job-name",
    ];
    for (object, up) in [(alpha(&json!({"autoApply": true})), true), (beta(&json!({"autoApply": true})), false)] {
        let object =
            retired.iter().fold(object, |object, name| with(object, &format!("nvidia.com/dgdr-{name}"), "true"));
        let (found, _) = noted(&with(object, "nvidia.com/dgdr-other", "stays"), up);
        assert_eq!(annotations(&found), ["nvidia.com/dgdr-other"]);
        assert_eq!(found["spec"], json!({"autoApply": true}));
    }
}

#[test]
fn whether_the_graph_is_applied_returns_though_nothing_else_is_said() {
    for spec in [json!({}), json!({"autoApply": false}), json!({"autoApply": true}), json!({"sla": {}})] {
        assert_returns(&beta(&spec));
    }
}

#[test]
fn a_spec_that_says_nothing_stays_so_in_spite_of_what_was_kept() {
    let kept = json!({"version": 1, "spec": {"profilingConfig": {"outputPVC": "results"}}});
    let written = with(beta(&json!({})), "nvidia.com/dgdr-spec", &kept.to_string());
    assert_eq!(lifted(&lowered(&written))["spec"], json!({}));
}

#[test]
fn a_record_can_not_unsay_that_the_graph_is_not_applied() {
    let record = json!({"version": 1, "known": {"v1beta1": [{"path": ["spec", "autoApply"], "reads": false}]}});
    let spoke = alpha(&json!({"model": "m", "backend": "vllm", "autoApply": false}));
    assert_eq!(lifted(&with(spoke, "gateward.dev/preserved", &record.to_string()))["spec"]["autoApply"], false);
}

#[test]
fn a_partial_object_converts() {
    for up in [true, false] {
        let (object, notes) = noted(&json!({"metadata": {}}), up);
        assert_eq!((&object["spec"], object.get("status"), notes.len()), (&json!({}), None, 0));
        assert_eq!(annotations(&object), [""; 0]);
        noted(&json!({}), up);
    }
}
