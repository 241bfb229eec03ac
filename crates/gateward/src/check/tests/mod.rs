//! The check as a whole, on texts.

mod lodge;
mod siblings;

use std::sync::Arc;
use std::time::SystemTime;

use gateward_core::Webhooks;
use gateward_core::testing::block_on;
use gateward_lint::diagnostic::Colour;
use lodge::check;
use serde_json::Value;

use super::stored::Stored;
use super::{Checker, Counts, Report, Schemas};

const HEAD: &str = "apiVersion: zoo.dev/v1\nkind: Lodge\nmetadata: {name: dam, namespace: zoo}\n";

/// A lodge with this spec, which starts in line 4.
fn lodge(spec: &str) -> String {
    format!("{HEAD}spec: {spec}\n")
}

#[test]
fn a_good_object_has_no_findings_but_what_was_not_evaluated() {
    let good = lodge("{rooms: 3, river: Oder, colour: grey}");
    assert!(check().found(&good).is_empty());
    assert_eq!(check().said(&good), ["note: not evaluated: some rooms; the API server evaluates CEL rules"]);
}

#[test]
fn schema_and_rules_are_reported_at_once_in_the_order_of_lines() {
    let bad = lodge("\n  rooms: 10\n  colour: blue\n  lodgers: {ann: {teeth: many}}\n  river: Oder\n");
    assert_eq!(check().found(&bad.replace("many", "4")), ["LODGE-1 5:3 spec.rooms", "SCHEMA 6:3 spec.colour"]);
}

#[test]
fn defaulting_by_handlers_comes_before_the_rules() {
    let unnamed = lodge("\n  rooms: 3\n  colour: grey\n");
    assert_eq!(check().found(&unnamed), ["LODGE-2 4:1 spec.river"]);
    assert!(check().without_defaults().found(&unnamed).is_empty());
}

#[test]
fn defaulting_by_the_schema_comes_before_the_schema() {
    assert_eq!(check().found(&lodge("{river: Oder}")), ["SCHEMA 4:1 spec.colour"]);
    assert!(check().without_defaults().found(&lodge("{river: Oder}")).is_empty());
}

#[test]
fn a_finding_on_a_filled_in_value_says_so() {
    let said = check().said(&lodge("{colour: grey}"));
    assert_eq!(said[1], "error: Forbidden: a river has a name (the value was filled in by defaulting)");
    let said = check().said(&lodge("{colour: grey, river: unnamed}"));
    assert_eq!(said[1], "error: Forbidden: a river has a name");
}

#[test]
fn a_value_in_place_of_a_null_was_filled_in_too() {
    let said = check().said(&lodge("\n  river: Oder\n  colour: null\n"));
    assert!(said[1].ends_with("(the value was filled in by defaulting)"), "{said:?}");
}

#[test]
fn null_counts_as_absent() {
    let nulls = lodge("{rooms: null, river: Oder, colour: grey, lodgers: {ann: null, bob: {teeth: null}}}");
    assert!(check().found(&nulls).is_empty());
    let written = lodge("{rooms: null, river: null}");
    assert!(check().without_defaults().found(&written).is_empty());
}

#[test]
fn an_unknown_field_is_an_error_that_says_what_becomes_of_it() {
    let said = check().said(&lodge("{river: Oder, colour: grey, dams: 2}"));
    assert_eq!(
        said[1],
        "error: unknown field \"spec.dams\": kubectl refuses the object (strict validation); the API server alone \
         drops the field"
    );
}

#[test]
fn a_status_is_not_written_with_the_object_and_not_judged() {
    let with_status = format!("{}status: {{phase: 1, mood: good}}\n", lodge("{river: Oder, colour: grey}"));
    assert_eq!(check().found(&with_status), ["SCHEMA 5:20 status.mood"], "but strict validation looks at all fields");
}

#[test]
fn the_stored_status_stays() {
    let good = lodge("{river: Oder, colour: grey}");
    let old = format!("{good}status: {{phase: built}}\n");
    assert_eq!(check().old(&old).found(&good), ["LODGE-4 1:1 status"]);
}

#[test]
fn the_schema_speaks_in_place_of_the_reader_of_types() {
    let bad = lodge("\n  river: Oder\n  colour: grey\n  lodgers:\n    ann:\n      teeth: many\n");
    assert_eq!(check().found(&bad), ["SCHEMA 9:7 spec.lodgers[ann].teeth"]);
    let found = check().without_crd().found(&bad);
    assert!(found.len() == 1 && found[0].starts_with("DECODE 9:7"), "{found:?}");
}

#[test]
fn every_object_has_a_name() {
    let nameless = "apiVersion: zoo.dev/v1\nkind: Lodge\nmetadata: {}\nspec: {river: Oder, colour: grey}\n";
    assert_eq!(check().found(nameless), ["SCHEMA 3:1 metadata.name"]);
    let template = nameless.replace("{}", "{name: '${NAME}'}");
    assert_eq!(check().found(&template), ["SCHEMA 3:12 metadata.name"]);
}

#[test]
fn a_plain_denial_and_plain_warnings_are_findings() {
    let said = check().said(&lodge("{river: Styx, colour: grey}"));
    assert_eq!(said[..2], ["error: nobody lives there", "warning: not even beavers"]);
    let said = check().said(&lodge("{river: Acheron, colour: grey}"));
    assert_eq!(said[0], "error: no way back", "defaulters deny too");
}

#[test]
fn what_can_not_be_decided_is_an_error() {
    let said = check().said(&lodge("{river: Lethe, colour: grey}"));
    assert_eq!(said[0], "error: no verdict: the river is forgotten");
}

#[test]
fn kinds_that_are_not_ours_are_counted() {
    let others =
        "apiVersion: v1\nkind: Pod\n---\napiVersion: other.dev/v1\nkind: Lodge\n---\n# nothing\n---\nkind: 4\n";
    let report = check().report("others.yaml", others);
    assert_eq!(report.counts(), Counts { files: 1, objects: 0, skipped: 3 });
    assert_eq!(report.diagnostics().count(), 0);
}

#[test]
fn a_kind_of_ours_without_its_group_is_no_other_kind() {
    let found = |head: &str| check().found(&format!("{head}\nmetadata: {{name: a}}\n"));
    assert_eq!(found("kind: Lodge"), ["SCHEMA 1:1 apiVersion"]);
    assert_eq!(found("apiVersion: zoo.dev\nkind: Lodge"), ["SCHEMA 1:1 apiVersion"]);
    assert_eq!(found("apiVersion: zoo.dev/v1"), ["SCHEMA 1:1 kind"]);
}

#[test]
fn a_version_that_is_not_served_is_refused() {
    for version in ["v0", "v7"] {
        let other = lodge("{}").replace("zoo.dev/v1", &format!("zoo.dev/{version}"));
        let expected = format!("error: no matches for kind \"Lodge\" in version \"zoo.dev/{version}\"");
        assert_eq!(check().said(&other), [expected]);
    }
}

#[test]
fn items_of_a_list_are_objects() {
    let list = "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: zoo.dev/v1\n    kind: Lodge\n    metadata: {name: a}\n    \
                spec: {rooms: 12, river: Oder, colour: grey}\n  - {apiVersion: v1, kind: Pod}\n";
    assert_eq!(check().found(list), ["LODGE-1 7:12 spec.rooms"]);
    assert_eq!(check().report("a.yaml", list).counts(), Counts { files: 1, objects: 1, skipped: 1 });
}

#[test]
fn an_object_that_is_stored_is_checked_as_an_update() {
    let (old, new) = (lodge("{rooms: 5, river: Oder, colour: grey}"), lodge("{rooms: 4, river: Oder, colour: grey}"));
    assert!(check().found(&new).is_empty());
    assert_eq!(check().old(&old).found(&new), ["LODGE-3 4:8 spec.rooms"]);
}

#[test]
fn a_stored_object_has_the_defaults_of_its_schema() {
    let (old, new) = (lodge("{river: Oder, colour: grey}"), lodge("{rooms: 1, river: Oder, colour: grey}"));
    assert_eq!(check().old(&old).found(&new), ["LODGE-3 4:8 spec.rooms"], "two rooms by default");
}

#[test]
fn rules_on_transitions_are_counted_on_updates_alone() {
    let good = lodge("{rooms: 3, river: Oder, colour: grey}");
    let said = check().old(&good).said(&good);
    assert_eq!(said, ["note: not evaluated: never fewer rooms; some rooms; the API server evaluates CEL rules"]);
}

#[test]
fn a_manifest_without_a_namespace_updates_the_only_object_of_its_name() {
    let old = lodge("{rooms: 5, river: Oder, colour: grey}");
    let new = lodge("{rooms: 4, river: Oder, colour: grey}").replace(", namespace: zoo", "");
    assert_eq!(check().old(&old).found(&new), ["LODGE-3 4:8 spec.rooms"]);
    let elsewhere = old.replace("namespace: zoo", "namespace: park");
    let note = ["OLD 1:1 <root>"];
    assert_eq!(check().old(&format!("{old}---\n{elsewhere}")).found(&new), note, "which one is not known");
}

#[test]
fn an_object_that_is_not_stored_is_checked_as_a_creation_and_it_is_said() {
    let new = lodge("{rooms: 4, river: Oder, colour: grey}");
    assert_eq!(check().old(&new.replace("dam", "other")).found(&new), ["OLD 1:1 <root>"]);
}

#[test]
fn an_update_stays_in_its_version() {
    let new = lodge("{rooms: 4, river: Oder, colour: grey}");
    assert_eq!(check().old(&new.replace("dev/v1", "dev/v0")).found(&new), ["SCHEMA 1:1 apiVersion"]);
}

#[test]
fn stored_objects_that_can_not_be_read_are_an_error_that_names_the_line() {
    let error = Stored::read(b"a: 1\nb: [").unwrap_err();
    assert!(error.to_string().starts_with("line "), "{error}");
}

#[test]
fn a_crd_that_can_not_be_read_is_an_error() {
    for crd in ["a: [", "a: 1", "spec: {group: g, names: {kind: Lodge}, versions: [{served: true}]}"] {
        assert!(Schemas::read(&[crd.into()]).is_err(), "{crd}");
    }
}

#[test]
fn a_schema_that_can_not_be_read_is_an_error_for_objects_of_its_version_alone() {
    let version =
        |name: &str, of: &str| format!("{{name: {name}, served: true, schema: {{openAPIV3Schema: {{type: {of}}}}}}}");
    let versions = [version("v1", "object"), version("v2", "thing")].join(", ");
    let crd = format!("spec: {{group: dam.dev, names: {{kind: Pond}}, versions: [{versions}]}}");
    let (webhooks, schemas) = (Webhooks::new(), Schemas::read(&[crd.into()]).unwrap());
    let checker = Checker::new(&webhooks, &schemas, Arc::new(()), SystemTime::UNIX_EPOCH);
    let checked = |version: &str| {
        let pond = format!("apiVersion: dam.dev/{version}\nkind: Pond\nmetadata: {{name: otter}}\n");
        block_on(checker.check("pond.yaml", pond.as_bytes(), &mut Report::new()))
    };
    assert!(checked("v1").is_ok());
    let error = checked("v2").unwrap_err().to_string();
    assert!(error.starts_with("a CRD of this program can't be read: ") && error.contains("thing"), "{error}");
}

#[test]
fn a_document_that_does_not_parse_leaves_the_others_to_be_judged() {
    let text = format!("a: [1\n---\n{}", lodge("{rooms: 12, river: Oder, colour: grey}"));
    let found = check().found(&text);
    assert!(found[0].starts_with("YAML-SYNTAX"), "{found:?}");
    assert_eq!(found[1], "LODGE-1 6:8 spec.rooms");
}

#[test]
fn json_is_read_as_json() {
    let text = r#"{"apiVersion": "zoo.dev/v1", "kind": "Lodge", "metadata": {"name": "dam"},
        "spec": {"rooms": 12, "river": "Oder", "colour": "grey"}}"#;
    let place = |report: &Report| report.diagnostics().find(|found| found.rule == "LODGE-1").unwrap().span.unwrap();
    let span = place(&check().report("lodge.json", text));
    assert_eq!((span.line(), span.column()), (2, 18));
    assert_eq!(place(&check().report("-", text)), span);
}

#[test]
fn a_line_of_json_has_exactly_the_promised_keys() {
    let report = check().report("a.yaml", &lodge("{rooms: 12, river: Oder, colour: grey}"));
    let text = report.json();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = serde_json::json!({
        "rule": "LODGE-1", "severity": "error", "file": "a.yaml", "line": 4, "column": 8, "apiVersion": "zoo.dev/v1",
        "kind": "Lodge", "namespace": "zoo", "name": "dam", "path": "spec.rooms",
        "message": "Invalid value: 12: too many rooms", "help": "nine are enough",
    });
    assert_eq!(lines[1], expected);
    assert!(lines.iter().all(|line| line.as_object().unwrap().len() == 12));
}

#[test]
fn people_see_the_line_and_where_to_read_on() {
    let report = check().report("a.yaml", &lodge("{rooms: 12, river: Oder, colour: grey}"));
    let shown = report.human(Colour::Never);
    assert!(shown.contains("a.yaml:4:8") && shown.contains("= docs: lodges rules LODGE-1"), "{shown}");
    assert!(!shown.contains("rules CEL"), "{shown}");
    let end = "note: these CEL rules were not evaluated; the API server evaluates them:\n  - some rooms\n\n1 error, 1 CEL \
               rule not evaluated, 0 warnings, 0 notes in 1 object of 1 file\n";
    assert!(shown.ends_with(end), "{shown}");
}

#[test]
fn findings_of_one_rule_and_text_are_one_for_people_and_several_for_scripts() {
    let bad = lodge(
        "\n  river: Oder\n  colour: grey\n  lodgers:\n    ann:\n      teeth: many\n    bob:\n      fur: 1\n      claws: 1\n",
    );
    let report = check().report("a.yaml", &bad.replace("many", "4"));
    assert_eq!(report.json().lines().filter(|line| line.contains("unknown field")).count(), 2);
    let twice = format!(
        "{}---\n{}",
        lodge("{rooms: 12, river: Oder, colour: grey}"),
        lodge("{rooms: 12, river: Oder, colour: grey}")
    );
    let report = check().report("a.yaml", &twice);
    let shown = report.human(Colour::Never);
    assert_eq!(shown.matches("error[LODGE-1]").count(), 1, "{shown}");
    assert!(shown.contains("4 | spec: {rooms: 12") && shown.contains("9 | spec: {rooms: 12"), "{shown}");
    assert!(shown.contains("2 errors, 1 CEL rule not evaluated"), "{shown}");
}

#[test]
fn a_warning_refuses_nothing() {
    let report = check().report("a.yaml", &lodge("{rooms: 1, river: Oder, colour: grey}"));
    assert!(!report.has_errors());
    assert!(report.to_string().contains("0 errors, 1 CEL rule not evaluated, 1 warning, 0 notes"), "{report}");
}

#[test]
fn aliases_lead_to_what_they_stand_for() {
    let text = format!("{HEAD}common: &rooms 12\nspec: {{rooms: *rooms, river: Oder, colour: grey}}\n");
    assert_eq!(check().found(&text), ["SCHEMA 4:1 common", "LODGE-1 5:8 spec.rooms"]);
}
