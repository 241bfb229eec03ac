//! Any bytes, read as `check` reads a file.
//!
//! No panic; every place that is named lies in the text, between characters; every node of a document has a place.
#![no_main]

use gateward_core::{FieldPath, Segment};
use gateward_lint::yaml::{self, Source, Span};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    assert_sound(&yaml::read(bytes));
    assert_sound(&yaml::read_json(bytes));
});

fn assert_sound(source: &Source) {
    for finding in &source.findings {
        assert_in(&source.text, finding.span);
        finding.related.iter().for_each(|span| assert_in(&source.text, *span));
    }
    for document in &source.documents {
        assert_in(&source.text, document.span());
        // Aliases can make a document much larger than its text; a part of it will do.
        let mut left = 2000;
        each_node(&document.value, &FieldPath::root(), &mut left, &mut |path| {
            let place = document.nearest(path);
            assert_in(&source.text, place.value);
            assert_in(&source.text, place.underline);
            place.key.iter().for_each(|span| assert_in(&source.text, *span));
        });
        assert!(document.value.to_string().parse::<Value>().is_ok() || source.text.len() > 127);
    }
}

fn assert_in(text: &str, span: Span) {
    assert!(text.get(span.bytes()).is_some(), "{span:?} is not in the text of {} bytes", text.len());
    assert!(span.line() >= 1 && span.column() >= 1);
}

fn each_node(value: &Value, path: &FieldPath, left: &mut usize, visit: &mut impl FnMut(&FieldPath)) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    visit(path);
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                each_node(item, &path.index(index), left, visit);
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                each_node(member, &path.child(Segment::Field(name.clone().into())), left, visit);
            }
        }
        _ => {}
    }
}
