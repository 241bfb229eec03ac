//! Two JSON documents: a raw object, and what a defaulter made of its reading.
//!
//! A reading here is the document without members whose name begins with `x` and without those that are null, as a type
//! would see it. The patched object reads as the defaulter returned it; a second patch is empty.
#![no_main]

use gateward_core::json::patch::{Patch, diff, same_value};
use gateward_fuzz::mutation::mutate_json;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use serde_json::Value;

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed).unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});

fuzz_target!(|bytes: &[u8]| {
    let Ok((raw, wanted)) = serde_json::from_slice::<(Value, Value)>(bytes) else { return };
    let (before, after) = (reading(&raw), reading(&wanted));

    let mut patched = raw.clone();
    patch(&before, &after, &raw).apply(&mut patched).expect("the patch fits the object that it was made for");
    let read = reading(&patched);
    assert!(same_value(&read, &after), "reads as {read}, not as {after}");

    assert!(patch(&read, &after, &patched).is_empty(), "a second patch is not empty");
    assert!(patch(&before, &before, &raw).is_empty(), "equal readings need a patch");
});

fn patch(before: &Value, after: &Value, raw: &Value) -> Patch {
    diff(&before.to_string(), &after.to_string(), &raw.to_string()).expect("trees are written as JSON")
}

fn reading(document: &Value) -> Value {
    match document {
        Value::Object(members) => {
            let seen = members.iter().filter(|(name, value)| !name.starts_with('x') && !value.is_null());
            seen.map(|(name, value)| (name.clone(), reading(value))).collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(reading).collect(),
        other => other.clone(),
    }
}
