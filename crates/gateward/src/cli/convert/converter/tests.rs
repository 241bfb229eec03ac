//! What a conversion that loses something is found to lose.

use std::sync::LazyLock;

use gateward_core::{ConversionError, Convert, FieldPath, Issues, Provenance, STASH, Webhook, Webhooks, resource};
use gateward_lint::yaml;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Annotations, Converter, Outcome, Target};
use crate::check::Schemas;

/// Two versions of a kind of which the second has no room for the burrow, and rounds. It has a status alone: of a spec an
/// annotation keeps what would be lost.
macro_rules! version {
    ($module:ident, $version:literal, $($field:ident: $type:ty),*) => {
        pub(crate) mod $module {
            use super::{Deserialize, Serialize, resource};

            #[derive(Serialize, Deserialize)]
            pub struct Otter {
                #[serde(default)]
                pub status: Status,
            }

            #[derive(Default, Serialize, Deserialize)]
            pub struct Status {
                $(#[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,)*
            }

            resource!(Otter, concat!("example.org/", $version), "Otter", "otters");
        }
    };
}

version!(v1, "v1", weight: f64, burrow: Vec<String>, friends: u32);
version!(v2, "v2", grams: u32, friends: u32);

pub(crate) struct Losing;

impl Convert<v2::Otter, v1::Otter> for Losing {
    fn to_hub(&self, otter: &v2::Otter, _: &mut Provenance, issues: &mut Issues) -> Result<v1::Otter, ConversionError> {
        issues.add(STASH.note(FieldPath::field("status"), "something is noted"));
        let v2::Status { grams, friends } = otter.status;
        if friends == Some(13) {
            let message = "thirteen is no number of friends".into();
            return Err(ConversionError { path: FieldPath::field("status"), message });
        }
        let weight = grams.map(|grams| f64::from(grams) / 1000.0);
        Ok(v1::Otter { status: v1::Status { weight, burrow: None, friends: Some(friends.unwrap_or(0)) } })
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "what is lost is the point")]
    fn from_hub(&self, otter: &v1::Otter, _: &mut Issues) -> Result<v2::Otter, ConversionError> {
        let grams = otter.status.weight.map(|weight| (weight.round() * 1000.0) as u32);
        Ok(v2::Otter { status: v2::Status { grams, friends: otter.status.friends } })
    }
}

/// Otters of which a round trip changes some fields.
pub(crate) fn webhooks() -> Webhooks {
    Webhooks::new().register(Webhook::<v1::Otter>::new().spoke::<v2::Otter>(Losing))
}

/// A converter of a kind without a CRD.
pub(crate) fn converter(webhooks: &Webhooks) -> Converter<'_> {
    static NONE: LazyLock<Schemas> = LazyLock::new(|| Schemas::read(&[]).unwrap());
    Converter::new(webhooks, &NONE, Annotations::Kept)
}

fn round_trip(text: &str) -> Outcome {
    converter(&webhooks()).round_trip("otters.yaml", &yaml::read(text))
}

fn lines(outcome: &Outcome) -> Vec<String> {
    outcome.changes.iter().map(ToString::to_string).collect()
}

pub(crate) const OTTER: &str = "\
apiVersion: example.org/v1
kind: Otter
metadata: {name: otto, namespace: zoo}
status:
  weight: 7.6
  burrow: [left, right]
";

#[test]
fn a_round_trip_names_each_field_that_is_lost_changed_or_new() {
    assert_eq!(
        lines(&round_trip(OTTER)),
        [
            "otters.yaml:6:3: document 1: Otter zoo/otto: status.burrow: is lost on the way to v2 and back",
            "otters.yaml:4:1: document 1: Otter zoo/otto: status.friends: appears as 0 on the way to v2 and back",
            "otters.yaml:5:3: document 1: Otter zoo/otto: status.weight: 7.6 becomes 8.0 on the way to v2 and back",
        ]
    );
}

#[test]
fn a_round_trip_says_the_same_to_scripts() {
    let json: Vec<Value> = round_trip(OTTER).changes.iter().map(super::Change::json).collect();
    assert_eq!((&json[0]["change"], &json[0]["before"][1]), (&"lost".into(), &"right".into()));
    assert_eq!((&json[1]["change"], &json[1]["after"]), (&"added".into(), &0.into()));
    assert_eq!((&json[2]["before"], &json[2]["after"]), (&7.6.into(), &8.0.into()));
    assert_eq!(
        (&json[2]["path"], &json[2]["via"], &json[2]["line"]),
        (&"status.weight".into(), &"v2".into(), &5.into())
    );
}

#[test]
fn what_survives_is_not_listed() {
    let text = OTTER.replace("7.6", "8").replace("  burrow: [left, right]\n", "  friends: 2\n  burrow: null\n");
    assert_eq!(lines(&round_trip(&text)), Vec::<String>::new());
}

#[test]
fn that_metadata_appears_is_no_change() {
    assert_eq!(
        lines(&round_trip("{apiVersion: example.org/v1, kind: Otter, status: {friends: 1}}")),
        Vec::<String>::new()
    );
}

#[test]
fn the_objects_of_a_list_are_found_where_they_stand() {
    let text = "\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: pod}}
- apiVersion: example.org/v2
  kind: Otter
  metadata: {name: otto}
  status: {friends: 13}
";
    let outcome = round_trip(text);
    let errors: Vec<String> = outcome.errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["otters.yaml:8:3: document 1: Otter otto: status: thirteen is no number of friends"]);
    assert_eq!((outcome.objects, outcome.skipped.len()), (1, 1));
}

fn errors(outcome: &Outcome) -> Vec<String> {
    outcome.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn an_object_without_its_version_or_its_kind_is_no_other_kind() {
    let text = "kind: Otter\nmetadata: {name: otto}\n---\napiVersion: example.org/v1\n---\n- 1\n---\nkind: Pod\n";
    let (webhooks, source) = (webhooks(), yaml::read(text));
    let converter = converter(&webhooks);
    let wrong = [
        "a.yaml:1:1: document 1: Otter otto: apiVersion: the object has no apiVersion",
        "a.yaml:4:1: document 2: object: kind: the object has no kind",
    ];
    for target in ["v1", "example.org/v2"] {
        let outcome = converter.convert("a.yaml", &source, &Target::from(target));
        assert_eq!((errors(&outcome), outcome.skipped.len()), (wrong.map(str::to_owned).to_vec(), 2));
    }
    let outcome = converter.round_trip("a.yaml", &source);
    assert_eq!(errors(&outcome)[0], wrong[0]);
    assert_eq!((outcome.objects, outcome.skipped.len()), (2, 2));
}

#[test]
fn a_version_that_there_is_not_is_refused_once_and_the_others_are_named() {
    let source = yaml::read("{apiVersion: example.org/v9, kind: Otter, metadata: {name: otto}}");
    let webhooks = webhooks();
    let converter = converter(&webhooks);
    for outcome in [converter.round_trip("a.yaml", &source), converter.convert("a.yaml", &source, &Target::from("v1"))]
    {
        let [error] = errors(&outcome).try_into().unwrap();
        assert!(error.contains("example.org/v9") && error.ends_with("its versions are v2 and v1"), "{error}");
    }
}

#[test]
fn the_objects_of_a_list_are_converted_where_they_stand() {
    let text =
        "{kind: List, items: [{kind: Pod}, {apiVersion: example.org/v2, kind: Otter, status: {}}], apiVersion: v1}";
    let outcome = converter(&webhooks()).convert("a.yaml", &yaml::read(text), &Target::from("v1"));
    let list = r#"{"kind":"List","items":[{"kind":"Pod"},{"apiVersion":"example.org/v1","kind":"Otter","metadata":{},"status":{"friends":0}}],"apiVersion":"v1"}"#;
    assert_eq!(outcome.documents[0].to_string(), list);
    assert_eq!((outcome.objects, outcome.skipped.len()), (1, 1));
}

#[test]
fn a_conversion_keeps_the_order_of_documents_and_members() {
    let text = "kind: Pod\napiVersion: v1\n---\nstatus: {friends: 1, grams: 2000, more: x}\nmetadata: {name: otto, \
                labels: {b: c, a: d}}\nkind: Otter\napiVersion: example.org/v2\n";
    let outcome = converter(&webhooks()).convert("otters.yaml", &yaml::read(text), &Target::from("v1"));
    let documents: Vec<String> = outcome.documents.iter().map(ToString::to_string).collect();
    assert_eq!(
        documents,
        [
            r#"{"kind":"Pod","apiVersion":"v1"}"#,
            r#"{"status":{"friends":1,"more":"x","weight":2.0},"metadata":{"name":"otto","labels":{"b":"c","a":"d"}},"kind":"Otter","apiVersion":"example.org/v1"}"#,
        ]
    );
}

#[test]
fn notes_say_what_passed_and_what_was_noted() {
    let text = "{apiVersion: v1, kind: Pod, metadata: {name: pod}}\n---\n{apiVersion: example.org/v2, kind: Otter, \
                metadata: {name: otto}, status: {}}\n";
    let outcome = converter(&webhooks()).convert("a.yaml", &yaml::read(text), &Target::from("example.org/v1"));
    let notes: Vec<String> = outcome.skipped.iter().chain(&outcome.notes).map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "a.yaml:1:1: document 1: Pod pod: this kind is not converted; it passes as it is",
            "a.yaml:3:67: document 2: Otter otto: status: something is noted",
        ]
    );
}

#[test]
fn a_version_is_known_by_itself_or_with_its_group() {
    let webhooks = webhooks();
    let converter = converter(&webhooks);
    for (text, known) in [("v1", true), ("example.org/v2", true), ("v3", false), ("example.com/v1", false)] {
        assert_eq!(converter.knows(&Target::from(text)), known, "{text}");
    }
}

/// Documents of other kinds, in all the ways to write them.
fn documents_of_other_kinds() -> impl Strategy<Value = String> {
    const MEMBERS: [&str; 12] = [
        "# a comment\n\n",
        "plain:   text   # beside\n",
        "quoted: 'it''s'\nother: \"a\\tb\"\n",
        "block: |+\n    text\n      # no comment\n\n",
        "folded: >-\n  folded\n  text\n",
        "anchor: &a {x: 1, y: [1,\n  2]}\nalias: *a\n",
        "merged: &m\n  x: 1\nmore:\n  <<: *m\n  z: 2\n",
        "list:\n- 1\n# an item\n-   - nested\n    - {deep: ~}\n",
        "tagged: !!str 1\noctal: 0x10\nyes: on\n",
        "empty:\nnone: {}\nnull: null\n",
        "? odd\n: key\n",
        "crlf: 1\r\nend: \"\u{e4}\"  \r\n",
    ];
    let members = proptest::sample::subsequence(&MEMBERS[..], 0..=MEMBERS.len()).prop_shuffle();
    let separator = proptest::sample::select(&["---\n", "--- # next\n", "---\n---\n"][..]);
    let document = (members, separator).prop_map(|(members, separator)| {
        format!("{separator}kind:   ConfigMap\napiVersion: v1 # theirs\n{}", members.concat())
    });
    proptest::collection::vec(document, 1..4).prop_map(|documents| documents.concat())
}

/// Lines of which some make YAML together, of objects of other kinds, lists of them, and what is no object.
fn lines_of_other_kinds() -> impl Strategy<Value = String> {
    const LINES: [&str; 34] = [
        "kind: Pod",
        "apiVersion: v1",
        "kind: List",
        "items:",
        "- kind: Pod",
        "- kind:   Pod  # an item",
        "  apiVersion: v1",
        "- {kind: Pod, apiVersion: v1}",
        "items: [{kind: Pod,",
        "  apiVersion: v1}]",
        "a: 1",
        "b: 'x'",
        "  c: \"y\"",
        "  d: |",
        "    # text",
        "    more",
        "  e: >-",
        "- 1",
        "- {f: [1, 2]}",
        "  g:",
        "  - h",
        "# comment",
        "  # indented",
        "",
        "---",
        "...",
        "i: &i {j: 1}",
        "k: *i",
        "l:",
        "  <<: *i",
        "m: [1,",
        "  2]",
        "n: x # y",
        "o: |+",
    ];
    const HEADS: [&str; 3] =
        ["", "kind: Pod\napiVersion: v1\n", "apiVersion: v1\nkind: List\nitems:\n- kind: Pod\n  apiVersion: v1\n"];
    let line = (0..LINES.len()).prop_map(|line| format!("{}\n", LINES[line]));
    let lines = proptest::collection::vec(line, 0..12);
    ((0..HEADS.len()), lines).prop_map(|(head, lines)| HEADS[head].to_owned() + &lines.concat())
}

proptest! {
    #[test]
    fn documents_of_other_kinds_pass_byte_for_byte(text in documents_of_other_kinds(), before in documents_of_other_kinds()) {
        let webhooks = webhooks();
        for annotations in [Annotations::Kept, Annotations::LeftOut] {
            let converter = Converter { annotations, ..converter(&webhooks) };
            let convert = |text: &str| converter.convert("a.yaml", &yaml::read(text), &Target::from("v2"));
            let outcome = convert(&text);
            prop_assert_eq!(&outcome.text, &text);
            prop_assert_eq!((outcome.objects, outcome.converted), (0, 0));
            let outcome = convert(&format!("{before}---\n{OTTER}{text}"));
            prop_assert!(outcome.text.starts_with(&before) && outcome.text.ends_with(&text), "{}", outcome.text);
            prop_assert_eq!(outcome.converted, 1);
        }
    }

    #[test]
    fn lines_of_other_kinds_pass_byte_for_byte(text in lines_of_other_kinds(), before in lines_of_other_kinds()) {
        let webhooks = webhooks();
        let convert = |text: &str| converter(&webhooks).convert("a.yaml", &yaml::read(text), &Target::from("v2"));
        let outcome = convert(&text);
        prop_assert_eq!(&outcome.text, &text);
        prop_assert_eq!((outcome.objects, outcome.converted), (0, 0));
        let outcome = convert(&format!("{before}---\n{OTTER}---\n{text}"));
        prop_assert!(outcome.text.starts_with(&before) && outcome.text.ends_with(&text), "{}", outcome.text);
        prop_assert_eq!(outcome.converted, 1);
    }
}
