//! YAML is read as kubectl reads it, whatever the bytes are.

#[path = "../../dynamo-webhooks/tests/support/corpus.rs"]
mod corpus;

use std::fmt::Write;

use gateward_core::{FieldPath, Segment};
use gateward_lint::diagnostic::Severity;
use gateward_lint::yaml::{self, Source, SyntaxKind};
use proptest::prelude::*;
use serde_json::{Value, json};

fn only(text: &str) -> Value {
    assert!(yaml::read(text).documents.len() <= 1, "{text:?}");
    first(text)
}

fn first(text: &str) -> Value {
    let source = yaml::read(text);
    assert!(!has_errors(&source), "{text:?}: {:?}", source.findings);
    source.documents.into_iter().next().map_or(Value::Null, |document| document.value)
}

fn has_errors(source: &Source) -> bool {
    source.findings.iter().any(|finding| finding.kind.severity() == Severity::Error)
}

fn kinds(source: &Source) -> Vec<SyntaxKind> {
    source.findings.iter().map(|finding| finding.kind).collect()
}

/// The text, line and column of each finding.
fn places(source: &Source) -> Vec<(&str, usize, usize)> {
    let places = source.findings.iter().map(|finding| finding.span);
    places.map(|span| (&source.text[span.bytes()], span.line(), span.column())).collect()
}

fn path(text: &str) -> FieldPath {
    text.split('.')
        .map(|step| match step.parse() {
            Ok(index) => Segment::Index(index),
            Err(_) => Segment::Field(step.to_owned().into()),
        })
        .collect()
}

/// Equal, where 1.0 and 1 are the same number.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((k, a), (l, b))| k == l && same(a, b))
        }
        _ => a == b,
    }
}

#[test]
fn agrees_with_the_recorded_kubectl() {
    for line in include_str!("data/kubectl-yaml.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let text = case["in"].as_str().unwrap();
        let source = yaml::read(text);
        match (case["known"].as_str(), case["refused"] == true) {
            (None, true) | (Some("we refuse it"), _) => assert!(has_errors(&source), "{text:?} is to be refused"),
            (Some(_), _) => assert!(!has_errors(&source), "{text:?} is known to be read"),
            (None, false) => {
                assert!(same(&first(text), &case["json"]), "{text:?}: {} is not {}", first(text), case["json"]);
            }
        }
    }
}

#[test]
fn resolves_scalars_like_the_rule_book() {
    let table = [
        ("y", json!(true)),
        ("Off", json!(false)),
        ("tRue", json!("tRue")),
        ("~", json!(null)),
        ("", json!(null)),
        ("0777", json!(511)),
        ("0o777", json!(511)),
        ("08", json!(8)),
        ("0b101", json!(5)),
        ("0x1F", json!(31)),
        ("1_000", json!(1000)),
        ("+1", json!(1)),
        ("1.0", json!(1)),
        ("1.", json!(1)),
        ("12e03", json!(12000)),
        ("-0", json!(0)),
        ("1:30", json!("1:30")),
        ("190:20:30", json!("190:20:30")),
        ("9223372036854775808", json!(9_223_372_036_854_775_808_u64)),
        ("1e400", json!("1e400")),
        ("2026-11-21", json!("2026-11-21")),
        ("!!str 1", json!("1")),
        ("!!int '1'", json!(1)),
        ("!!binary aGk=", json!("hi")),
        ("!foo 1", json!("1")),
        ("'yes'", json!("yes")),
    ];
    for (text, value) in table {
        assert_eq!(only(&format!("a: {text}\n"))["a"], value, "{text}");
    }
    for text in [".inf", "-.INF", ".nan", "!!int x", "!!bool 1", "!!binary '@'", "!!timestamp x"] {
        let source = yaml::read(format!("a: {text}\n"));
        assert_eq!(kinds(&source), [SyntaxKind::Value], "{text}");
    }
}

#[test]
fn turns_keys_into_strings() {
    let keys = only("1: a\ny: b\n1.5: d\n0x10: e\n1e3: f\n1000000.0: g\n2001-01-01: h\n");
    assert_eq!(
        keys,
        json!({"1": "a", "true": "b", "1.5": "d", "16": "e", "1000": "f", "1e+06": "g", "2001-01-01": "h"})
    );
    for text in ["~: 1", "? [a]\n: 1", "{a: b}: 1", ": 1", "18446744073709551615: a"] {
        assert_eq!(kinds(&yaml::read(text)), [SyntaxKind::Value], "{text:?}");
    }
}

#[test]
fn reports_a_key_that_stands_twice_and_lets_the_last_win() {
    let source = yaml::read("spec:\n  replicas: 1\n  other: 2\n  replicas: 3\n");
    assert_eq!(source.documents[0].value["spec"]["replicas"], 3);
    assert_eq!(kinds(&source), [SyntaxKind::DuplicateKey]);
    assert_eq!(places(&source), [("replicas", 4, 3)]);
    assert_eq!(source.findings[0].related.map(|first| first.line()), Some(2));
    let place = source.documents[0].span_of(&path("spec.replicas")).unwrap();
    assert_eq!(place.value.line(), 4);
}

#[test]
fn merges_where_the_merge_key_stands() {
    let text =
        "base: &base {a: 1, b: 2}\nmore: &more {b: 3, c: 4}\nlate: {<<: *base, b: 9}\nboth: {<<: [*base, *more]}\n";
    let merged = only(text);
    assert_eq!(merged["late"], json!({"a": 1, "b": 9}));
    assert_eq!(merged["both"], json!({"a": 1, "b": 2, "c": 4}), "the earlier of a list wins");
}

#[test]
fn warns_that_a_merge_key_overrides_what_stands_before_it() {
    let source = yaml::read("base: &base {a: 1}\nown:\n  a: 2\n  <<: *base\n");
    assert_eq!(source.documents[0].value["own"], json!({"a": 1}));
    assert_eq!(kinds(&source), [SyntaxKind::OverriddenKey]);
    assert_eq!(places(&source), [("a", 3, 3)]);
}

#[test]
fn refuses_to_merge_what_is_no_mapping() {
    for text in ["k: {<<: 1}", "k: {<<: [1]}", "k: {<<: ~}", "m: &m [1]\nk: {<<: *m}"] {
        assert_eq!(kinds(&yaml::read(text)), [SyntaxKind::Merge], "{text:?}");
    }
}

#[test]
fn shows_merged_and_repeated_nodes_where_they_were_written() {
    let source = yaml::read("base: &base\n  env: {name: a}\nuser:\n  <<: *base\nagain: *base\n");
    let document = &source.documents[0];
    for place in [path("user.env.name"), path("again.env.name"), path("base.env.name")] {
        let place = document.span_of(&place).unwrap();
        assert_eq!((place.value.line(), place.value.column()), (2, 15));
    }
    let again = document.span_of(&path("again")).unwrap();
    assert_eq!(&source.text[again.value.bytes()], "*base");
}

#[test]
fn reads_the_other_documents_after_a_fault() {
    let source = yaml::read("a: 1\n---\nb: [1\n---\nc: 3\n---\nd: \"\n---\n# nothing\n---\n~\n---\ne: 5");
    let values: Vec<_> = source.documents.iter().map(|document| document.value.clone()).collect();
    assert_eq!(values, [json!({"a": 1}), json!({"c": 3}), json!({"e": 5})]);
    assert_eq!(kinds(&source), [SyntaxKind::Syntax, SyntaxKind::Syntax]);
    assert_eq!(source.documents[1].span_of(&path("c")).unwrap().value.line(), 5);
}

#[test]
fn splits_documents_as_kubectl_does() {
    let source = yaml::read("--- # first\na: 1\n---\t\nb: 2\n--- {c: 3}\n---\n");
    assert_eq!(source.documents.len(), 3);
    assert_eq!(source.documents[2].value, json!({"c": 3}));
    assert_eq!(kinds(&source), [SyntaxKind::Refused]);
    assert_eq!(places(&source), [("--- {c: 3}", 5, 1)]);
    assert_eq!(kinds(&yaml::read("a: 1\n----\n")), [SyntaxKind::Syntax, SyntaxKind::Refused]);
}

#[test]
fn warns_of_a_document_that_kubectl_drops() {
    let source = yaml::read("a: 1\n...\nb: 2\n");
    assert_eq!(source.documents.len(), 1);
    assert_eq!(kinds(&source), [SyntaxKind::Ignored]);
}

#[test]
fn refuses_what_kubectl_refuses() {
    let table = [
        ("a:\n\tb: 1\n", 2),
        ("a:\n  - b\n\t- c\n", 3),
        ("-\ta\n", 1),
        ("a: {}\n\t\nb: 1\n", 2),
        ("a: 1\nb: |\n  x\n\t\n", 4),
        ("a: |\n  \tx\n", 2),
        ("%YAML 1.2\n---\na: 1\n", 1),
        ("%TAG !e! tag:e.com,2000:\n---\na: 1\n", 1),
        ("a: \"x\\/y\"\n", 1),
        ("a: \"\\ud83d\\ude00\"\n", 1),
    ];
    for (text, line) in table {
        let source = yaml::read(text);
        assert!(has_errors(&source), "{text:?}");
        assert_eq!(source.findings[0].span.line(), line, "{text:?}: {:?}", source.findings);
    }
}

#[test]
fn takes_tabs_where_kubectl_does() {
    assert_eq!(only("a:\t1\t# c\nb: x\ty\n"), json!({"a": 1, "b": "x\ty"}));
    assert_eq!(only("a: [\n\t1,\n\t2\n]\n"), json!({"a": [1, 2]}));
    assert_eq!(only("a: 'x\n\ty'\n"), json!({"a": "x y"}));
    assert_eq!(only("a: |\n  all:\n  \tcc\n"), json!({"a": "all:\n\tcc\n"}));
    assert_eq!(only("{\n\t\"a\": 1\n}\n"), json!({"a": 1}));
}

#[test]
fn keeps_block_scalars_to_the_letter() {
    assert_eq!(only("a: |\n  x"), json!({"a": "x"}));
    assert_eq!(only("a: |\n  x\n"), json!({"a": "x\n"}));
    assert_eq!(only("a: |\n  x\n  "), json!({"a": "x\n"}));
    assert_eq!(only("a: |-\n  x\n\nb: 1"), json!({"a": "x", "b": 1}));
    assert_eq!(only("a: |+\n  x\n\n"), json!({"a": "x\n\n"}));
    assert_eq!(only("a: >\n  x\n  y\n\n  z\n"), json!({"a": "x y\nz\n"}));
    assert_eq!(only("a: |2\n   x\n"), json!({"a": " x\n"}));
    assert_eq!(only("a: |\r\n  x\r\n  y\r\n"), json!({"a": "x\ny\n"}));
    assert_eq!(only("a: 1\rb: 2"), json!({"a": 1, "b": 2}));
}

#[test]
fn says_where_a_file_is_not_utf8_and_reads_the_rest() {
    let source = yaml::read(b"a: 1\n---\nb: \"x\xff\"\n---\nc: 3\n");
    assert_eq!(source.documents.len(), 2);
    assert_eq!(kinds(&source), [SyntaxKind::Encoding]);
    assert_eq!(places(&source), [("?", 3, 6)]);
    let utf16 = yaml::read(b"\xff\xfea\0:\0");
    assert!(utf16.findings[0].message.contains("UTF-16"));
}

#[test]
fn refuses_control_characters() {
    for character in ['\0', '\u{1}', '\u{7f}', '\u{9f}', '\u{ffff}'] {
        let source = yaml::read(format!("é: 1\nb: x{character}y\n"));
        assert_eq!(kinds(&source), [SyntaxKind::Encoding], "{character:?}");
        assert_eq!((source.findings[0].span.line(), source.findings[0].span.column()), (2, 5));
    }
}

#[test]
fn reads_past_a_byte_order_mark() {
    let source = yaml::read("\u{feff}a: 1\n");
    let place = source.documents[0].span_of(&path("a")).unwrap();
    assert_eq!(source.documents[0].value, json!({"a": 1}));
    assert_eq!(&source.text[place.underline.bytes()], "a: 1");
    assert_eq!((place.value.line(), place.value.column()), (1, 4));
}

#[test]
fn stops_aliases_that_multiply() {
    let mut laughs = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        let items = format!("*a{below}, ").repeat(9);
        writeln!(laughs, "a{level}: &a{level} [{items}]").unwrap();
    }
    assert_eq!(kinds(&yaml::read(&laughs)), [SyntaxKind::Aliases]);

    let mut merges = "a0: &a0 {}\n".to_owned();
    for level in 1..100 {
        let below = level - 1;
        writeln!(merges, "a{level}: &a{level} {{<<: [*a{below}, *a{below}]}}").unwrap();
    }
    assert_eq!(kinds(&yaml::read(&merges)), [SyntaxKind::Aliases]);

    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a, ".repeat(100_000));
    assert_eq!(kinds(&yaml::read(&long)), [SyntaxKind::Aliases]);
    assert_eq!(kinds(&yaml::read("a: &a [*a]")), [SyntaxKind::Aliases]);
    assert!(has_errors(&yaml::read("a: *nobody")));
}

#[test]
fn stops_at_its_depth() {
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", "")] {
        let source = yaml::read(open.repeat(100_000) + &close.repeat(100_000));
        assert!(has_errors(&source), "{open:?}");
        assert!(source.documents.is_empty(), "{open:?}");
    }
    let deep: String = (0..5_000).map(|level| " ".repeat(level) + "a:\n").collect();
    assert!(has_errors(&yaml::read(deep)));
    assert_eq!(kinds(&yaml::read_json("[".repeat(100_000))), [SyntaxKind::TooDeep]);

    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(!has_errors(&yaml::read(nested(200))));
    let chained = format!("a: &a {}\nb: {}\n", nested(200), nested(200).replace("[]", "[*a]"));
    assert_eq!(kinds(&yaml::read(chained)), [SyntaxKind::TooDeep]);
}

#[test]
fn stops_at_its_size() {
    let source = yaml::read(vec![b' '; yaml::MAX_BYTES + 1]);
    assert_eq!(kinds(&source), [SyntaxKind::TooLarge]);
}

/// Each of these took minutes while the reader counted from the start of the text for every finding or scalar.
#[test]
fn reads_long_texts_of_one_thing() {
    let many = 50_000;
    assert_eq!(yaml::read("--- a\n".repeat(many)).documents.len(), many);
    assert_eq!(yaml::read("---\na: \u{1}\n".repeat(many)).findings.len(), many);
    assert_eq!(yaml::read(format!("[{}]", "a,".repeat(many))).documents.len(), 1);
    assert_eq!(yaml::read(format!("[{}]", "'a',".repeat(many))).documents.len(), 1);
    assert_eq!(yaml::read(format!("a: [\n{}]", "\tb,\n".repeat(many))).documents.len(), 1);
    assert_eq!(yaml::read(format!("{{{}}}", "a,".repeat(many))).documents.len(), 1);
}

#[test]
fn reads_json_as_it_is() {
    let source = yaml::read("{\"a\": 1.0, \"b\": \"\\/\\ud83d\\ude00\", \"c\": -0}\n{\"d\": [true, null]}");
    let values: Vec<_> = source.documents.iter().map(|document| document.value.clone()).collect();
    assert_eq!(values, [json!({"a": 1.0, "b": "/😀", "c": 0}), json!({"d": [true, null]})]);
    assert!(source.findings.is_empty());
    let place = source.documents[1].span_of(&path("d.1")).unwrap();
    assert_eq!((&source.text[place.value.bytes()], place.value.line(), place.value.column()), ("null", 2, 14));
}

#[test]
fn refuses_json_that_is_none() {
    let table = [
        ("{\"a\": 01}", 1, 7),
        ("{\"a\": 1,}", 1, 9),
        ("{a: 1}", 1, 2),
        ("{\"a\": tru}", 1, 7),
        ("{\"a\" 1}", 1, 6),
        ("[1 2]", 1, 4),
        ("{\"a\":\n \"x", 2, 2),
        ("{\"a\": \"x\ny\"}", 1, 7),
        ("{\"a\": 1e999}", 1, 7),
        ("[", 1, 2),
    ];
    for (text, line, column) in table {
        let source = yaml::read_json(text);
        assert_eq!(source.findings.len(), 1, "{text:?}");
        let span = source.findings[0].span;
        assert_eq!((span.line(), span.column()), (line, column), "{text:?}: {}", source.findings[0].message);
    }
}

#[test]
fn reports_a_json_key_that_stands_twice() {
    assert_eq!(kinds(&yaml::read_json("{\"a\": 1, \"a\": 2}")), [SyntaxKind::DuplicateKey]);
}

const MANIFEST: &str = "\
apiVersion: example.com/v1
kind: Graph
spec:
  components: []
  services:
    worker:
      replicas: 2
      env:
        - name: A
          value: |
            long
            text
        - {name: B, value: 'é'}
";

#[test]
fn finds_every_node() {
    let source = yaml::read(MANIFEST);
    let document = &source.documents[0];
    let table = [
        ("spec.components", "components: []", 4, 3),
        ("spec.services.worker", "worker", 6, 5),
        ("spec.services.worker.replicas", "replicas: 2", 7, 7),
        ("spec.services.worker.env.0", "name: A", 9, 11),
        ("spec.services.worker.env.0.value", "value", 10, 11),
        ("spec.services.worker.env.1", "{name: B, value: 'é'}", 13, 11),
        ("spec.services.worker.env.1.value", "value: 'é'", 13, 21),
    ];
    for (node, underlined, line, column) in table {
        let place = document.span_of(&path(node)).unwrap();
        assert_eq!(&source.text[place.underline.bytes()], underlined, "{node}");
        assert_eq!((place.underline.line(), place.underline.column()), (line, column), "{node}");
    }
    let block = document.span_of(&path("spec.services.worker.env.0.value")).unwrap().value;
    assert!(source.text[block.bytes()].ends_with("text"));
    assert!(block.is_multiline());
}

#[test]
fn falls_back_to_the_nearest_ancestor() {
    let document = &yaml::read(MANIFEST).documents[0];
    let missing = path("spec.services.worker.multinode.nodeCount");
    assert_eq!(document.span_of(&missing), None);
    let place = document.nearest(&missing);
    assert_eq!((place.depth, place.exact, place.underline.line()), (3, false, 6));
    assert_eq!(document.nearest(&path("status")).depth, 0);
    assert_eq!(document.nearest(&path("spec.components.0")).underline.line(), 4);
    assert_eq!(document.span().line(), 1);
}

#[test]
fn an_item_is_underlined_at_its_own_name_and_never_at_a_merged_one() {
    let source = yaml::read("a: &a\n  name: x\n  k: 1\nlist:\n- <<: *a\n  k: 2\n- k: 3\n  name: y\n");
    let line = |at: &str| source.documents[0].nearest(&path(at)).underline.line();
    assert_eq!((line("list.0"), line("list.1")), (5, 8));
}

#[test]
fn reads_the_published_manifests() {
    let Some(folder) = corpus::folder("reads_the_published_manifests") else { return };
    let index = std::fs::read_to_string(folder.join("INDEX.tsv")).unwrap();
    let mut read = 0;
    for row in index.lines().skip(1) {
        let (file, note) = (row.split('\t').next().unwrap(), row.rsplit('\t').next().unwrap());
        let source = yaml::read(std::fs::read(folder.join(file)).unwrap());
        let unreadable = note.contains("broken as published");
        assert!(unreadable || !has_errors(&source), "{file}: {:?}", source.findings);
        assert!(unreadable || !source.documents.is_empty(), "{file}");
        read += 1;
    }
    assert!(read >= 100, "{read} files");
}

/// Text that looks like YAML more often than random bytes would.
fn yamlish() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("a: "),
        Just("\n"),
        Just("  "),
        Just("- "),
        Just("["),
        Just("]"),
        Just("{"),
        Just("}"),
        Just(", "),
        Just("&a "),
        Just("*a"),
        Just("<<: *a"),
        Just("'"),
        Just("\""),
        Just("|\n"),
        Just(">-\n"),
        Just("\t"),
        Just("# c\n"),
        Just("---\n"),
        Just("...\n"),
        Just("!!int "),
        Just("é"),
        Just("0x1"),
        Just("? "),
        Just(": "),
        Just("\r"),
        Just("%YAML 1.2\n"),
        Just("\\"),
        Just("\u{feff}"),
        Just("b"),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[ -~é😀\\n\\t]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map("[ -~é\\n]{0,8}", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Each node of the value is found, and its span lies within the text.
fn assert_spans(source: &Source) {
    for document in &source.documents {
        assert_found(document, &source.text, &document.value, &FieldPath::root());
    }
    for finding in &source.findings {
        assert!(source.text.get(finding.span.bytes()).is_some(), "{finding:?}");
    }
}

fn assert_found(document: &yaml::Document, text: &str, value: &Value, at: &FieldPath) {
    let place = document.nearest(at);
    assert!(place.exact, "{at} of {text:?}");
    for span in [place.value, place.underline, place.key.unwrap_or(place.value)] {
        assert!(text.get(span.bytes()).is_some(), "{at} of {text:?}: {span:?}");
    }
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| assert_found(document, text, item, &at.index(index)));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| assert_found(document, text, member, &at.key(key.clone())));
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn never_panics_on_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        assert_spans(&yaml::read(&bytes));
        assert_spans(&yaml::read_json(&bytes));
    }

    #[test]
    fn spans_lie_within_the_text(text in yamlish()) {
        assert_spans(&yaml::read(&text));
    }

    #[test]
    fn json_read_as_yaml_is_the_same(value in any_json()) {
        let object = json!({"value": value});
        for text in [object.to_string(), serde_json::to_string_pretty(&object).unwrap()] {
            let json = yaml::read_json(&text);
            prop_assert!(json.findings.is_empty(), "{:?}", json.findings);
            prop_assert!(same(&json.documents[0].value, &object));
            assert_spans(&json);
            let yaml = yaml::read(format!("# YAML\n{text}\n"));
            prop_assert!(yaml.findings.is_empty(), "{text}: {:?}", yaml.findings);
            prop_assert!(same(&yaml.documents[0].value, &object), "{text}");
            assert_spans(&yaml);
        }
    }
}
