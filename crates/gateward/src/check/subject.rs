//! One object of a file.

use gateward_core::{FieldPath, GroupVersionKind};
use gateward_lint::yaml::Document;
use serde_json::Value;

/// One object of a file.
pub(super) struct Subject<'a> {
    pub object: &'a Value,
    pub gvk: GroupVersionKind,
    pub document: &'a Document,
    /// Where in the document it stands: at its root, or in the items of a list.
    at: FieldPath,
}

impl<'a> Subject<'a> {
    /// The objects of a document.
    pub(super) fn all(document: &'a Document) -> impl Iterator<Item = Self> {
        objects(&document.value).map(move |(at, object)| Self { object, gvk: gvk_of(object), document, at })
    }

    /// Whether the author may have meant an object of this kind.
    pub(super) fn may_be(&self, kind: &GroupVersionKind) -> bool {
        may_be(&self.gvk, kind)
    }

    /// The namespace; empty where the manifest says none.
    pub(super) fn namespace(&self) -> &'a str {
        meta(self.object, "namespace")
    }

    /// The name; empty where the API server is to make one.
    pub(super) fn name(&self) -> &'a str {
        meta(self.object, "name")
    }

    /// The name, or what the API server is to make one of.
    pub(super) fn shown_name(&self) -> &'a str {
        shown_name_of(self.object)
    }

    /// The path of a node of the object in its document.
    pub(super) fn in_file(&self, path: &FieldPath) -> FieldPath {
        self.at.join(path.segments())
    }
}

/// The objects that a document holds, with their places in it: itself, or the items of a list, as kubectl takes them.
pub(crate) fn objects(document: &Value) -> impl Iterator<Item = (FieldPath, &Value)> {
    let is_list = text(document, "kind").ends_with("List");
    let items = document.get("items").and_then(Value::as_array).filter(|_| is_list);
    let alone = items.is_none().then(|| (FieldPath::root(), document));
    let in_list = |(index, item)| (FieldPath::field("items").index(index), item);
    alone.into_iter().chain(items.into_iter().flatten().enumerate().map(in_list))
}

/// Whether `written` names `kind`, in whatever version. A kind without a group is one that the author forgot: no kind
/// of the core group bears the name of an operator's.
pub(crate) fn may_be(written: &GroupVersionKind, kind: &GroupVersionKind) -> bool {
    let forgotten = match written.kind.as_str() {
        "" => written.group == kind.group && !written.group.is_empty(),
        named => named == kind.kind && written.group.is_empty(),
    };
    forgotten || written.same_kind(kind)
}

pub(crate) fn gvk_of(object: &Value) -> GroupVersionKind {
    GroupVersionKind::of(text(object, "apiVersion"), text(object, "kind"))
}

pub(super) fn text<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get(member).and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn meta<'v>(object: &'v Value, member: &str) -> &'v str {
    object.get("metadata").map_or("", |metadata| text(metadata, member))
}

/// The name, or what the API server is to make one of.
pub(crate) fn shown_name_of(object: &Value) -> &str {
    Some(meta(object, "name")).filter(|name| !name.is_empty()).unwrap_or_else(|| meta(object, "generateName"))
}
