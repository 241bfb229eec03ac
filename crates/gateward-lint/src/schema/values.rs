//! Validates scalar limits, formats and sizes.

use serde_json::{Number, Value};

use super::finding::SchemaFault;
use super::node::{Bound, Reach, Values};
use super::walk::Walk;

pub(super) fn check(values: &Values, value: &Value, walk: &mut Walk) {
    if !values.accepted.is_empty() && !values.accepted.iter().any(|accepted| is_same(accepted, value)) {
        walk.add(SchemaFault::NotSupported { value: value.clone(), accepted: values.accepted.clone() });
    }
    match value {
        Value::String(text) => {
            string(values, text, walk);
            format(values, text, walk);
        }
        Value::Number(number) => numeric(values, number, walk),
        Value::Array(items) => count(items.len(), values.min_items, values.max_items, "items", walk),
        Value::Object(members) => {
            count(members.len(), values.min_properties, values.max_properties, "properties", walk);
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The first limit that is broken; the API server looks no further either.
fn string(values: &Values, text: &str, walk: &mut Walk) {
    let length = text.chars().count();
    if let Some(max) = values.max_length.filter(|max| length > *max) {
        return walk.add(SchemaFault::TooLong { max });
    }
    if let Some(least) = values.min_length.filter(|least| length < *least) {
        return invalid(&text.into(), format!("should be at least {least} chars long"), walk);
    }
    if let Some((pattern, _)) = values.pattern.as_ref().filter(|(_, pattern)| !pattern.is_match(text)) {
        invalid(&text.into(), format!("should match '{pattern}'"), walk);
    }
}

fn format(values: &Values, text: &str, walk: &mut Walk) {
    if let Some(format) = values.format.filter(|format| !format.fits(text)) {
        invalid(&text.into(), format!("must be of type {}: {text:?}", format.name()), walk);
    }
}

fn numeric(values: &Values, number: &Number, walk: &mut Walk) {
    let value = Value::Number(number.clone());
    if let Some(bound) = values.minimum.as_ref().filter(|bound| !bound.allows_from_below(number)) {
        let or_equal = if bound.reach == Reach::Inclusive { " or equal to" } else { "" };
        invalid(&value, format!("should be greater than{or_equal} {}", bound.value), walk);
    }
    if let Some(bound) = values.maximum.as_ref().filter(|bound| !bound.allows_from_above(number)) {
        let or_equal = if bound.reach == Reach::Inclusive { " or equal to" } else { "" };
        invalid(&value, format!("should be less than{or_equal} {}", bound.value), walk);
    }
    if let Some(step) = values.multiple_of.as_ref().filter(|step| !is_multiple(number, step)) {
        invalid(&value, format!("should be a multiple of {step}"), walk);
    }
}

impl Bound {
    fn allows_from_below(&self, number: &Number) -> bool {
        match self.reach {
            Reach::Inclusive => float(number) >= float(&self.value),
            Reach::Exclusive => float(number) > float(&self.value),
        }
    }

    fn allows_from_above(&self, number: &Number) -> bool {
        match self.reach {
            Reach::Inclusive => float(number) <= float(&self.value),
            Reach::Exclusive => float(number) < float(&self.value),
        }
    }
}

/// The API server compares as doubles too.
fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step @ 1..)) = (number.as_i64(), step.as_i64()) {
        return number % step == 0;
    }
    let quotient = float(number) / float(step);
    (quotient - quotient.round()).abs() < 1e-9
}

/// Equal, where `1` and `1.0` are the same.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn count(actual: usize, least: Option<usize>, most: Option<usize>, what: &str, walk: &mut Walk) {
    if let Some(least) = least.filter(|least| actual < *least) {
        invalid(&actual.into(), format!("should have at least {least} {what}"), walk);
    }
    if let Some(max) = most.filter(|max| actual > *max) {
        walk.add(SchemaFault::TooMany { actual, max });
    }
}

fn invalid(value: &Value, limit: String, walk: &mut Walk) {
    walk.add(SchemaFault::Invalid { value: value.clone(), limit });
}
