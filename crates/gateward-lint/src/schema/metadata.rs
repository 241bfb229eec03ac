//! What every object says of itself, whatever its schema says of that.

use std::collections::BTreeMap;

use super::format::Format;
use super::node::{Additional, Kind, Node, Nullable, Unknown, Values};

/// Adds `apiVersion`, `kind` and `metadata` to the schema of an object. The schema may have limits of its own on them.
pub(super) fn complete(node: &mut Node) {
    for member in ["apiVersion", "kind"] {
        node.properties.entry(member.into()).or_insert_with(|| Node { kind: Kind::String, ..Node::default() });
    }
    let metadata = node.properties.entry("metadata".into()).or_default();
    metadata.kind = Kind::Object;
    metadata.nullable = Nullable::Yes;
    metadata.unknown = Unknown::Pruned;
    for (name, standard) in object_meta() {
        let given = metadata.properties.entry(name.into()).or_default();
        given.values.format = standard.values.format;
        *given = Node { values: given.values.clone(), ..standard };
    }
}

/// Fields of `ObjectMeta`. The API server decodes them as Go does: null counts as absent.
fn object_meta() -> Vec<(&'static str, Node)> {
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
        fields.push((map, Node { additional: Additional::Entries(Box::new(text_entry())), ..nullable(Kind::Object) }));
    }
    fields.push(("finalizers", list(nullable(Kind::String))));
    fields.push(("ownerReferences", list(owner_reference())));
    fields.push(("managedFields", list(managed_fields())));
    fields
}

fn nullable(kind: Kind) -> Node {
    Node { kind, nullable: Nullable::Yes, ..Node::default() }
}

/// A null entry of a map of texts becomes empty text.
fn text_entry() -> Node {
    Node { kind: Kind::String, default: Some("".into()), ..Node::default() }
}

fn timestamp() -> Node {
    let values = Values { format: Some(Format::DateTime), ..Values::default() };
    Node { values, ..nullable(Kind::String) }
}

fn list(item: Node) -> Node {
    Node { items: Some(Box::new(item)), ..nullable(Kind::Array) }
}

fn owner_reference() -> Node {
    let texts = ["apiVersion", "kind", "name", "uid"].map(|name| (name, nullable(Kind::String)));
    let flags = ["controller", "blockOwnerDeletion"].map(|name| (name, nullable(Kind::Boolean)));
    object(texts.into_iter().chain(flags))
}

fn managed_fields() -> Node {
    let texts = ["manager", "operation", "apiVersion", "fieldsType", "subresource"];
    let texts = texts.map(|name| (name, nullable(Kind::String)));
    let fields = Node { unknown: Unknown::Preserved, ..nullable(Kind::Object) };
    object(texts.into_iter().chain([("time", timestamp()), ("fieldsV1", fields)]))
}

fn object(fields: impl IntoIterator<Item = (&'static str, Node)>) -> Node {
    let properties: BTreeMap<_, _> = fields.into_iter().map(|(name, node)| (name.to_owned(), node)).collect();
    Node { properties, ..nullable(Kind::Object) }
}
