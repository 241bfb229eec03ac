//! What conversion asks of a kind's structural schemas.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::json::members::rewritten;
use crate::json::shallow::shallow;
use crate::rule::field::FieldPath;
use crate::rule::resource::Resource;

/// How much of a schema must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// All of it.
    Whole,
    /// The values of all but the status; neither that members are there nor that items stand there once. What another
    /// operator's conversion kept may have been of an object that lacked them.
    Values,
}

/// The structural schemas of a kind, one a version.
///
/// Conversion asks them only about results that an annotation had a part in, so an implementation may compile them on
/// first use. Core has no schema checker of its own.
///
/// ```
/// use gateward_core::FieldPath;
/// use gateward_core::conversion::{Strictness, StructuralSchemas};
/// use serde_json::{Value, json};
///
/// fn replicas_is_a_number(_version: &str, object: &Value, _: Strictness) -> Vec<FieldPath> {
///     let replicas = &object["spec"]["replicas"];
///     if replicas.is_null() || replicas.is_u64() { Vec::new() } else { vec![FieldPath::field("spec") / "replicas"] }
/// }
///
/// let schemas: &dyn StructuralSchemas = &replicas_is_a_number;
/// assert_eq!(schemas.violations("v1", &json!({"spec": {"replicas": "x"}}), Strictness::Whole).len(), 1);
/// ```
pub trait StructuralSchemas: Send + Sync + 'static {
    /// The nodes of `object` that break the schema of its version. Neither a field that the schema doesn't know
    /// nor a null breaks it: the API server drops both.
    fn violations(&self, version: &str, object: &Value, strictness: Strictness) -> Vec<FieldPath>;
}

impl<F: Fn(&str, &Value, Strictness) -> Vec<FieldPath> + Send + Sync + 'static> StructuralSchemas for F {
    fn violations(&self, version: &str, object: &Value, strictness: Strictness) -> Vec<FieldPath> {
        self(version, object, strictness)
    }
}

/// Holds results of a conversion against the schema of their version.
pub(crate) struct SchemaCheck<'a> {
    schemas: Option<&'a dyn StructuralSchemas>,
    strictness: Strictness,
    from: Cow<'static, str>,
    to: Cow<'static, str>,
    source: &'a str,
    demanded: OnceCell<Demanded>,
}

/// What is demanded of a result that breaks its schema.
struct Demanded {
    strictness: Strictness,
    /// What the result without annotations breaks too.
    allowed: BTreeSet<FieldPath>,
}

impl<'a> SchemaCheck<'a> {
    /// A check of what `source` is converted to.
    pub fn of<A: Resource, B: Resource>(
        schemas: Option<&'a dyn StructuralSchemas>,
        strictness: Strictness,
        source: &'a str,
    ) -> Self {
        Self { schemas, strictness, from: A::version(), to: B::version(), source, demanded: OnceCell::new() }
    }

    /// The nodes in which a result breaks its schema, and `plain`, the result without annotations, doesn't. Of a source
    /// that breaks its own schema outside of the status values alone are demanded: what it lacks, the result may lack.
    /// `None` for a result that is too large to be held against anything.
    pub fn broken<'p>(&self, result: &str, plain: impl FnOnce() -> Option<&'p str>) -> Option<Vec<FieldPath>> {
        let Some(schemas) = self.schemas else { return Some(Vec::new()) };
        let violations = |version: &str, json: &str, strictness| {
            let object = shallow(&for_schema(json)?, 1)?;
            Some(schemas.violations(version, &object, strictness))
        };
        let mut found = violations(&self.to, result, self.strictness)?;
        if found.is_empty() {
            return Some(found);
        }
        let Demanded { strictness, allowed } = self.demanded.get_or_init(|| {
            let is_sound = || {
                let found = violations(&self.from, self.source, Strictness::Whole).unwrap_or_default();
                let is_of_status = |path: &FieldPath| path.top_member() == Some("status");
                found.iter().all(is_of_status)
            };
            let is_whole = self.strictness == Strictness::Whole && is_sound();
            let strictness = if is_whole { Strictness::Whole } else { Strictness::Values };
            let of_plain = plain().and_then(|plain| violations(&self.to, plain, strictness)).unwrap_or_default();
            Demanded { strictness, allowed: of_plain.into_iter().collect() }
        });
        if *strictness != self.strictness {
            found = violations(&self.to, result, *strictness)?;
        }
        found.retain(|path| !allowed.contains(path));
        Some(found)
    }
}

/// The text of an object with no more of its metadata than a schema may restrict: the names. `None` for what is no object.
fn for_schema(json: &str) -> Option<String> {
    let is_name = |name: &str| matches!(name, "name" | "generateName");
    let names = |metadata| rewritten(metadata, |name, text| is_name(name).then(|| text.into()));
    rewritten(json, |name, text| {
        Some(if name == "metadata" { names(text).unwrap_or_else(|| "{}".into()).into() } else { text.into() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_sees_the_names_and_all_that_is_not_metadata() {
        let json = r#"{"kind":"A","metadata":{"labels":{"a":"b"},"name":"otter","annotations":{}},"spec": {"a" : 1}}"#;
        let expected = r#"{"kind":"A","metadata":{"name":"otter"},"spec":{"a" : 1}}"#;
        assert_eq!(for_schema(json).as_deref(), Some(expected));
        assert_eq!(for_schema(r#"{"metadata":null}"#).as_deref(), Some(r#"{"metadata":{}}"#));
        assert_eq!(for_schema("[]"), None);
    }
}
