//! The schemas of `apiVersion`, `kind` and `metadata`, which every object has.

use std::collections::BTreeMap;

use super::format::Format;
use super::node::{Additional, Kind, Nullable, SchemaNode, Unknown, Values};

/// Adds `apiVersion`, `kind` and `metadata` to the schema of an object. The schema may have limits of its own on them.
pub(super) fn complete(node: &mut SchemaNode) {
    for member in ["apiVersion", "kind"] {
        node.properties
            .entry(member.into())
            .or_insert_with(|| Box::new(SchemaNode { kind: Kind::String, ..SchemaNode::default() }));
    }
    let metadata = node.properties.entry("metadata".into()).or_default();
    metadata.kind = Kind::Object;
    metadata.nullable = Nullable::Yes;
    metadata.unknown = Unknown::Pruned;
    for (name, standard) in object_meta() {
        let given = metadata.properties.entry(name.into()).or_default();
        given.values.format = standard.values.format;
        **given = SchemaNode { values: given.values.clone(), ..standard };
    }
}

/// Fields of `ObjectMeta`. The API server decodes them as Go does: null counts as absent.
fn object_meta() -> Vec<(&'static str, SchemaNode)> {
    let mut fields = Vec::new();
    for text in ["name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"] {
        fields.push((text, nullable(Kind::String)));
    }
    for number in ["generation", "deletionGracePeriodSeconds"] {
        fields.push((number, nullable(Kind::Integer)));
    }
    for time in ["creationTimestamp", "deletionTimestamp"] {
        fields.push((time, timestamp()));
    }
    for map in ["labels", "annotations"] {
        fields.push((
            map,
            SchemaNode { additional: Additional::Entries(Box::new(text_entry())), ..nullable(Kind::Object) },
        ));
    }
    fields.push(("finalizers", list(nullable(Kind::String))));
    fields.push(("ownerReferences", list(owner_reference())));
    fields.push(("managedFields", list(managed_fields())));
    fields
}

fn nullable(kind: Kind) -> SchemaNode {
    SchemaNode { kind, nullable: Nullable::Yes, ..SchemaNode::default() }
}

/// A null entry of a map of texts becomes empty text.
fn text_entry() -> SchemaNode {
    SchemaNode { kind: Kind::String, default: Some("".into()), ..SchemaNode::default() }
}

fn timestamp() -> SchemaNode {
    let values = Values { format: Some(Format::Timestamp), ..Values::default() };
    SchemaNode { values, ..nullable(Kind::String) }
}

fn list(item: SchemaNode) -> SchemaNode {
    SchemaNode { items: Some(Box::new(item)), ..nullable(Kind::Array) }
}

fn owner_reference() -> SchemaNode {
    let texts = ["apiVersion", "kind", "name", "uid"].map(|name| (name, nullable(Kind::String)));
    let flags = ["controller", "blockOwnerDeletion"].map(|name| (name, nullable(Kind::Boolean)));
    object(texts.into_iter().chain(flags))
}

fn managed_fields() -> SchemaNode {
    let texts = ["manager", "operation", "apiVersion", "fieldsType", "subresource"];
    let texts = texts.map(|name| (name, nullable(Kind::String)));
    let fields = SchemaNode { unknown: Unknown::Preserved, ..nullable(Kind::Object) };
    object(texts.into_iter().chain([("time", timestamp()), ("fieldsV1", fields)]))
}

fn object(fields: impl IntoIterator<Item = (&'static str, SchemaNode)>) -> SchemaNode {
    let properties: BTreeMap<_, _> = fields.into_iter().map(|(name, node)| (name.to_owned(), Box::new(node))).collect();
    SchemaNode { properties, ..nullable(Kind::Object) }
}
