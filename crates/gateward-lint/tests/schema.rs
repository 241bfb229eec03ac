//! What the structural schema finds, rule by rule, in the API server's words.

#![allow(clippy::needless_pass_by_value, clippy::unwrap_used, reason = "test tables read better so")]

use gateward_lint::schema::{Schema, StatusWrites, WriteKind, from_crd};
use serde_json::{Value, json};

fn findings(schema: Value, object: Value) -> Vec<String> {
    let schema = Schema::compile(&json!({"type": "object", "properties": {"spec": schema}})).unwrap();
    let found = schema.validate(&json!({"spec": object}));
    found.iter().map(|finding| format!("{}: {finding}", finding.path)).collect()
}

fn defaulted(schema: Value, mut object: Value) -> Value {
    Schema::compile(&schema).unwrap().apply_defaults(&mut object);
    object
}

#[test]
fn hundreds_of_findings_of_one_sort_hide_none_of_another() {
    let schema = json!({"type": "object", "required": ["m"], "properties": {"z": {"type": "integer"}}});
    let mut object: serde_json::Map<String, Value> = (0..1000).map(|number| (format!("a{number}"), json!(0))).collect();
    object.insert("z".into(), json!("two"));
    let found = findings(schema, object.into());
    assert_eq!(found.len(), 256 + 2, "the unknown ones are bounded");
    assert!(["spec.m: ", "spec.z: "].iter().all(|start| found.iter().any(|finding| finding.starts_with(start))));
}

#[test]
fn a_value_of_another_type_is_named_with_both_types() {
    assert_eq!(
        findings(json!({"type": "integer"}), json!("two")),
        [r#"spec: Invalid value: "string": spec in body must be of type integer: "string""#]
    );
    assert_eq!(
        findings(json!({"type": "string"}), json!(null)),
        [r#"spec: Invalid value: "null": spec in body must be of type string: "null""#]
    );
}

#[test]
fn a_whole_number_with_a_point_is_an_integer() {
    assert!(findings(json!({"type": "integer"}), json!(1.0)).is_empty());
    assert_eq!(findings(json!({"type": "integer"}), json!(1.5)).len(), 1);
}

#[test]
fn null_is_fine_where_the_schema_allows_it() {
    assert!(findings(json!({"type": "string", "nullable": true}), json!(null)).is_empty());
}

#[test]
fn a_missing_member_stands_at_its_own_path() {
    let schema = json!({"type": "object", "required": ["model"], "properties": {"model": {"type": "string"}}});
    assert_eq!(findings(schema, json!({})), ["spec.model: Required value"]);
}

#[test]
fn an_unknown_member_is_found_unless_the_schema_preserves_it() {
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    assert_eq!(findings(closed, json!({"b": 1})), [r#"spec.b: unknown field "spec.b""#]);
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    assert!(findings(open, json!({"b": {"c": 1}})).is_empty());
}

#[test]
fn entries_of_a_map_are_keys_and_members_in_the_api_servers_words() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"replicas": {"type": "integer", "minimum": 0}}}});
    assert_eq!(
        findings(schema, json!({"worker": {"replicas": -1}})),
        ["spec[worker].replicas: Invalid value: -1: spec.worker.replicas in body should be greater than or equal to 0"]
    );
}

#[test]
fn limits_are_named() {
    let one = |schema: Value, object: Value| findings(schema, object).join("; ");
    assert!(
        one(json!({"type": "string", "enum": ["a", "b"]}), json!("c"))
            .ends_with(r#"Unsupported value: "c": supported values: "a", "b""#)
    );
    assert!(one(json!({"type": "string", "minLength": 1}), json!("")).ends_with("should be at least 1 chars long"));
    assert!(
        one(json!({"type": "string", "maxLength": 2}), json!("äöü"))
            .ends_with("Too long: may not be more than 2 bytes")
    );
    assert!(one(json!({"type": "string", "maxLength": 3}), json!("äöü")).is_empty(), "characters are counted");
    assert!(one(json!({"type": "string", "pattern": "^[a-z]+$"}), json!("A")).ends_with("should match '^[a-z]+$'"));
    assert!(
        one(json!({"type": "array", "maxItems": 1}), json!([1, 2])).ends_with("Too many: 2: must have at most 1 item")
    );
    assert!(one(json!({"type": "array", "minItems": 1}), json!([])).ends_with("should have at least 1 items"));
    assert!(
        one(json!({"type": "object", "maxProperties": 0, "additionalProperties": true}), json!({"a": 1}))
            .ends_with("Too many: 1: must have at most 0 items")
    );
    assert!(
        one(json!({"type": "number", "maximum": 1, "exclusiveMaximum": true}), json!(1))
            .ends_with("should be less than 1")
    );
    let wide = one(json!({"type": "integer", "format": "int32"}), json!(3_000_000_000_i64));
    assert!(wide.is_empty(), "the API server lets the width of integers pass");
}

#[test]
fn an_int_or_string_is_one_of_the_two() {
    let schema = || json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
    assert!(findings(schema(), json!(4)).is_empty() && findings(schema(), json!("4Gi")).is_empty());
    assert_eq!(findings(schema(), json!(true)).len(), 1);
}

#[test]
fn items_of_a_list_map_have_keys_of_their_own() {
    let schema = json!({
        "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["port", "protocol"],
        "items": {"type": "object", "properties": {
            "port": {"type": "integer"}, "protocol": {"type": "string", "default": "TCP"},
        }},
    });
    assert_eq!(
        findings(schema, json!([{"port": 1}, {"port": 1, "protocol": "UDP"}, {"port": 1, "protocol": "TCP"}])),
        [r#"spec[2]: Duplicate value: {"port":1,"protocol":"TCP"}"#]
    );
}

#[test]
fn items_of_a_set_occur_once() {
    let schema = json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}});
    assert_eq!(findings(schema, json!(["a", "b", "a"])), [r#"spec[2]: Duplicate value: "a""#]);
}

#[test]
fn an_embedded_resource_says_what_it_is() {
    let schema =
        json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
    assert_eq!(findings(schema, json!({"kind": "A"})), ["spec.apiVersion: Required value"]);
}

#[test]
fn exactly_one_alternative_holds_where_one_of_asks_for_it() {
    let schema = || {
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})
    };
    assert!(findings(schema(), json!({"a": ""})).is_empty());
    assert_eq!(findings(schema(), json!({"a": "", "b": ""})).len(), 1);
    assert_eq!(findings(schema(), json!({})).len(), 1);
}

#[test]
fn metadata_is_judged_whatever_the_schema_says_of_it() {
    let schema = Schema::compile(&json!({"type": "object"})).unwrap();
    let found = schema.validate(&json!({"kind": 1, "metadata": {"labels": {"a": 1}, "managedFields": []}}));
    let paths: Vec<String> = found.iter().map(|finding| finding.path.to_string()).collect();
    assert_eq!(paths, ["kind", "metadata.labels[a]"]);
}

#[test]
fn defaults_fill_what_is_absent_and_nothing_else() {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "default": {}, "properties": {
            "mode": {"type": "string", "default": "fast"},
            "items": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer", "default": 2}}}},
        }},
    }});
    assert_eq!(defaulted(schema.clone(), json!({})), json!({"spec": {"mode": "fast"}}));
    assert_eq!(
        defaulted(schema.clone(), json!({"spec": {"mode": "", "items": [{}, {"n": 0}]}})),
        json!({"spec": {"mode": "", "items": [{"n": 2}, {"n": 0}]}})
    );
    assert_eq!(defaulted(schema, json!({"spec": {"mode": null}})), json!({"spec": {"mode": "fast"}}));
}

#[test]
fn a_null_entry_of_a_map_of_objects_is_dropped() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "object"}});
    assert_eq!(defaulted(schema, json!({"a": null, "b": {}})), json!({"b": {}}));
}

#[test]
fn a_number_of_replicas_that_can_be_scaled_has_32_bits() {
    let version = json!({"name": "v1", "subresources": {"scale": {"specReplicasPath": ".spec.replicas"}}});
    let version = from_crd(&json!({"spec": {"versions": [version]}})).unwrap().remove(0);
    let found = |replicas: Value| version.unscalable(&json!({"spec": {"replicas": replicas}})).map(|it| it.to_string());
    assert_eq!(found(json!(i32::MAX)), None);
    assert_eq!(found(json!("2")), None, "the schema says so");
    assert_eq!(found(json!(-1)).unwrap(), "Invalid value: -1: should be a non-negative integer");
    let wide = found(json!(1_u64 << 31)).unwrap();
    assert_eq!(wide, "Invalid value: 2147483648: should be less than or equal to 2147483647");
}

#[test]
fn rules_on_transitions_are_listed_for_updates_alone() {
    let schema = Schema::compile(&json!({"type": "object", "x-kubernetes-validations": [
        {"rule": "self.a == oldSelf.a", "message": "the same"},
        {"rule": "!oldSelf.hasValue() || self.a == oldSelf.value().a", "optionalOldSelf": true, "message": "the same"},
    ]}))
    .unwrap();
    assert_eq!(schema.cel_rules_on(&json!({}), WriteKind::Creation).len(), 1);
    assert_eq!(schema.cel_rules_on(&json!({}), WriteKind::Update).len(), 2);
}

#[test]
fn nulls_that_count_as_absent_can_be_taken_out() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "default": "x"}, "b": {"type": "string", "nullable": true}, "c": {"type": "object"},
    }});
    let mut object = json!({"a": null, "b": null, "c": null, "unknown": null});
    Schema::compile(&schema).unwrap().drop_nulls(&mut object);
    assert_eq!(object, json!({"b": null, "unknown": null}));
}

/// The paths of what an update is refused for.
fn refused(schema: Value, old: Value, new: Value) -> Vec<String> {
    let found = Schema::compile(&schema).unwrap().validate_update(&old, &new);
    found.iter().map(|finding| finding.path.to_string()).collect()
}

#[test]
fn an_update_may_leave_what_broke_the_schema_before() {
    let schema = || {
        json!({"type": "object", "required": ["model"], "properties": {
            "model": {"type": "string"}, "replicas": {"type": "integer", "minimum": 0},
            "mode": {"type": "string", "enum": ["a"]},
            "inner": {"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}, "y": {"type": "string"}}},
        }})
    };
    let old = || json!({"replicas": -1, "mode": "b", "inner": {"y": "1"}});
    assert_eq!(refused(schema(), old(), json!({"replicas": -1, "mode": "c", "inner": {"y": "1"}})), ["model", "mode"]);
    assert_eq!(
        refused(schema(), old(), json!({"replicas": -2, "model": "", "inner": {"y": "2"}})),
        ["inner.x", "replicas"]
    );
    assert!(refused(schema(), old(), old()).is_empty());
}

#[test]
fn an_update_may_not_bring_what_the_schema_does_not_know() {
    let schema = json!({"type": "object", "properties": {}});
    assert_eq!(refused(schema, json!({"a": 1}), json!({"a": 1})), ["a"], "it can't have been stored");
}

#[test]
fn items_have_counterparts_by_their_keys_and_else_none() {
    let list = |kind: Value| {
        let mut list = json!({"type": "array", "items": {"type": "object", "properties": {
            "name": {"type": "string"}, "n": {"type": "integer", "minimum": 0},
        }}});
        list.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
        json!({"type": "object", "properties": {"items": list}})
    };
    let (old, new) =
        (json!({"items": [{"name": "a", "n": -1}]}), json!({"items": [{"name": "b"}, {"name": "a", "n": -1}]}));
    let by_name = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    assert!(refused(list(by_name), old.clone(), new.clone()).is_empty());
    assert_eq!(refused(list(json!({})), old, new), ["items[1].n"]);
}

#[test]
fn an_update_may_repeat_items_where_the_old_object_does() {
    let schema = || {
        json!({"type": "object", "properties": {
            "a": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "integer"}},
        }})
    };
    assert!(refused(schema(), json!({"a": [1, 1]}), json!({"a": [2, 2]})).is_empty());
    assert_eq!(refused(schema(), json!({"a": [1]}), json!({"a": [2, 2]})), ["a[1]"]);
}

#[test]
fn cel_rules_are_listed_for_the_nodes_that_exist() {
    let schema = Schema::compile(&json!({"type": "object", "properties": {
        "spec": {"type": "object", "x-kubernetes-validations": [{"rule": "self.a == self.b", "message": "equal"}]},
        "status": {"type": "object", "x-kubernetes-validations": [{"rule": "true", "message": ""}]},
    }}))
    .unwrap();
    let rules = schema.cel_rules_on(&json!({"spec": {}}), WriteKind::Creation);
    assert_eq!(rules.len(), 1);
    assert_eq!((rules[0].path.to_string().as_str(), rules[0].message.as_str()), ("spec", "equal"));
}

#[test]
fn a_schema_that_is_none_is_an_error_that_names_the_place() {
    let error = Schema::compile(&json!({"properties": {"a": {"type": "objekt"}}})).unwrap_err();
    assert_eq!(error.path, "/properties/a/type");
    assert!(Schema::compile(&json!({"$ref": "#/x"})).is_err());
    assert!(Schema::compile(&json!({"type": "string", "pattern": "("})).is_err());
}

#[test]
fn every_version_of_a_crd_has_a_schema_of_its_own() {
    let crd = json!({"spec": {"versions": [
        {"name": "v1", "served": true, "schema": {"openAPIV3Schema": {"type": "object"}}, "subresources": {"status": {}}},
        {"name": "v2", "served": false, "schema": {"openAPIV3Schema": {"type": "object"}}},
    ]}});
    let versions = from_crd(&crd).unwrap();
    assert_eq!(versions.len(), 2);
    assert!(versions[0].served && !versions[1].served);
    assert_eq!([versions[0].status, versions[1].status], [StatusWrites::Apart, StatusWrites::WithTheObject]);
}

#[test]
fn an_object_nested_deeper_than_a_schema_can_say_is_no_trouble() {
    let recursive = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = Schema::compile(&recursive).unwrap();
    let deep = (0..1000).fold(json!(1), |inner, _| json!({"a": inner}));
    assert!(schema.validate(&deep).is_empty());
    assert!(schema.cel_rules_on(&deep, WriteKind::Update).is_empty());
}
