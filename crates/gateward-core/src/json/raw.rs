//! A subtree kept as it came, with a typed view of the part that rules read.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use crate::json::decode::{self, DecodeError, Misfit, Rest};
use crate::json::meaning;
use crate::json::reading::{Allowance, Bound};
use crate::json::shallow::nests_at_most;
use crate::rule::field::FieldPath;
use crate::rule::review_object::ReviewObject;

/// A subtree of an object as JSON, with a lean view `T` that is decoded when somebody first asks for it.
///
/// Fields that `T` doesn't know stay: what is written back is the JSON that was read, byte for byte.
///
/// ```
/// use gateward_core::Raw;
///
/// #[derive(serde::Deserialize)]
/// struct Container { image: String }
///
/// let raw: Raw<Container> = serde_json::from_str(r#"{"image":"a","tty":true}"#).unwrap();
/// assert_eq!(raw.view().unwrap().image, "a");
/// assert_eq!(serde_json::to_string(&raw).unwrap(), r#"{"image":"a","tty":true}"#);
/// ```
pub struct Raw<T> {
    /// The subtree as it was made here; text that was read has none.
    tree: Option<Value>,
    /// The text as it was read, or of the tree once somebody asks for it.
    text: OnceLock<Box<RawValue>>,
    view: OnceLock<Result<T, Box<Misfit<T>>>>,
    /// What the document that this was read with may yet take; views and trees draw on it too.
    allowance: Option<Arc<Allowance>>,
    /// Whether there was enough for a tree.
    fits: OnceLock<bool>,
}

/// A view of a subtree in which some nodes may have the wrong JSON type.
#[derive(Debug)]
pub struct LenientView<'a, T> {
    /// What was read. A node of the wrong type is empty in it, or absent from its map.
    pub value: &'a T,
    /// The nodes of the wrong type.
    pub unread: &'a [FieldPath],
}

impl<T> LenientView<'_, T> {
    /// Whether the node at `path` was read, or is absent; one below it may have the wrong type.
    pub fn has_read(&self, path: &FieldPath) -> bool {
        !self.unread.iter().any(|unread| path.strip_prefix(unread).is_some())
    }

    /// Whether the node at `path` was read with all below it, or is absent.
    pub fn has_read_all(&self, path: &FieldPath) -> bool {
        self.has_read(path) && !self.unread.iter().any(|unread| unread.strip_prefix(path).is_some())
    }
}

impl<T> Clone for LenientView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for LenientView<'_, T> {}

impl<T: DeserializeOwned> Raw<T> {
    /// The typed view, decoded once.
    ///
    /// The error names the node whose JSON type is wrong, by a path from this subtree's root.
    pub fn view(&self) -> Result<&T, &DecodeError> {
        self.decoded().map_err(|misfit| &misfit.error)
    }

    /// What can be read of the view; `None` where that is nothing, or where more than a few nodes have the wrong JSON type.
    ///
    /// ```
    /// use gateward_core::{FieldPath, Raw};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Container { image: String, args: Vec<String> }
    ///
    /// let raw: Raw<Container> = serde_json::from_str(r#"{"image":"a","args":5}"#).unwrap();
    /// let lenient = raw.lenient_view().unwrap();
    /// assert_eq!(lenient.value.image, "a");
    /// assert!(!lenient.has_read(&FieldPath::field("args")));
    /// ```
    pub fn lenient_view(&self) -> Option<LenientView<'_, T>> {
        match self.decoded() {
            Ok(value) => Some(LenientView { value, unread: &[] }),
            Err(misfit) => misfit.rest.as_ref().map(|Rest { value, unread }| LenientView { value, unread }),
        }
    }

    fn decoded(&self) -> Result<&T, &Misfit<T>> {
        self.view.get_or_init(|| self.decode().map_err(Box::new)).as_ref().map_err(Box::as_ref)
    }

    /// A tree is read as it stands; only to learn which node doesn't fit does it become text.
    fn decode(&self) -> Result<T, Misfit<T>> {
        let allowance = self.allowance.clone().unwrap_or_else(Allowance::unlimited);
        let of_tree = self.tree.as_ref().and_then(|tree| decode::tree(tree, &allowance));
        of_tree.map_or_else(|| decode::part(self.json(), &allowance), Ok)
    }
}

impl<T> Raw<T> {
    /// The JSON text of the subtree.
    pub fn json(&self) -> &str {
        self.text().get()
    }

    /// The subtree as a generic value.
    pub fn to_value(&self) -> Value {
        self.tree().into_owned()
    }

    /// The same, borrowed where the subtree was made here and not read.
    pub fn tree(&self) -> Cow<'_, Value> {
        if let Some(tree) = &self.tree {
            return Cow::Borrowed(tree);
        }
        // Text that was scanned as JSON parses as JSON, up to the depth limit of the parser and to what the document
        // may take; beyond it nothing can be read from the subtree, so it counts as null.
        let read = if self.fits() { serde_json::from_str(self.json()).ok() } else { None };
        Cow::Owned(read.unwrap_or(Value::Null))
    }

    /// The text of the subtree, where a [`tree`](Self::tree) of it is surely no null for being too large or too deep.
    pub fn readable_text(&self) -> Option<&RawValue> {
        (self.fits() && nests_at_most(MOST_DEPTH, self.json())).then(|| self.text())
    }

    fn fits(&self) -> bool {
        let take = || self.allowance.as_ref().is_none_or(|allowance| allowance.take_tree(self.json()));
        *self.fits.get_or_init(take)
    }

    fn text(&self) -> &RawValue {
        self.text.get_or_init(|| {
            let text = self.tree.as_ref().and_then(|tree| to_raw_value(tree).ok());
            text.unwrap_or_else(|| RawValue::NULL.to_owned())
        })
    }
}

/// A tree of more nodes is kept as text: of many small nodes it takes twenty times as much memory.
const MAX_NODES: usize = 1000;

/// The parser reads no deeper.
const MOST_DEPTH: usize = 127;

/// The parser reads no deeper, and what this subtree is put into nests too.
const MAX_TEXT_DEPTH: usize = 96;

/// Whether a tree is larger than [`MAX_NODES`], and its text can be read again.
fn is_better_as_text(value: &Value) -> bool {
    let mut nodes = 0;
    is_shallower(value, MAX_TEXT_DEPTH, &mut nodes) && nodes > MAX_NODES
}

fn is_shallower(value: &Value, depth: usize, nodes: &mut usize) -> bool {
    *nodes += 1;
    let Some(below) = depth.checked_sub(1) else { return false };
    match value {
        Value::Array(items) => items.iter().all(|item| is_shallower(item, below, nodes)),
        Value::Object(members) => members.values().all(|member| is_shallower(member, below, nodes)),
        _ => true,
    }
}

impl<T> From<Value> for Raw<T> {
    fn from(value: Value) -> Self {
        let text = if is_better_as_text(&value) { to_raw_value(&value).ok() } else { None };
        Self {
            tree: text.is_none().then_some(value),
            text: text.map_or_else(OnceLock::new, OnceLock::from),
            view: OnceLock::new(),
            allowance: Allowance::current(),
            fits: OnceLock::from(true),
        }
    }
}

impl<T> From<Box<RawValue>> for Raw<T> {
    fn from(text: Box<RawValue>) -> Self {
        Self {
            tree: None,
            text: OnceLock::from(text),
            view: OnceLock::new(),
            allowance: Allowance::current(),
            fits: OnceLock::new(),
        }
    }
}

impl<'de, T> Deserialize<'de> for Raw<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::from)
    }
}

impl<T> Serialize for Raw<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (&self.tree, self.text.get()) {
            (Some(tree), None) => tree.serialize(serializer),
            _ => self.text().serialize(serializer),
        }
    }
}

impl<T> Clone for Raw<T> {
    fn clone(&self) -> Self {
        let (tree, text, allowance) = (self.tree.clone(), self.text.clone(), self.allowance.clone());
        Self { tree, text, view: OnceLock::new(), allowance, fits: self.fits.clone() }
    }
}

impl<T> fmt::Debug for Raw<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Subtrees may hold secrets in environment variables; only their size is shown.
        write!(f, "Raw({} bytes)", self.json().len())
    }
}

/// Equal when the JSON means the same: member order, white space and number spelling don't count. Subtrees that nest too
/// deeply to be read are equal when their texts are.
impl<T> PartialEq for Raw<T> {
    fn eq(&self, other: &Self) -> bool {
        let are_equal_trees = self.tree.is_some() && self.tree == other.tree;
        are_equal_trees || meaning::same(self.json(), other.json())
    }
}

/// Of a kind that is known at run time only, objects are raw JSON.
impl<T: DeserializeOwned + Send + Sync + 'static> ReviewObject for Raw<T> {
    fn bounds_of_lists() -> &'static [Bound] {
        &[]
    }

    // A handler that sees nothing of an object would pass it, or replace it.
    const MOST_DEPTH: Option<usize> = Some(MAX_TEXT_DEPTH);
}

/// The schema of the whole subtree is that of `T`, however lean the view.
#[cfg(feature = "schemars")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Raw<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Lean {
        image: Option<String>,
    }

    #[test]
    fn names_the_node_of_the_wrong_type() {
        let raw: Raw<Lean> = serde_json::from_str(r#"{"image": 5}"#).unwrap();
        let error = raw.view().unwrap_err();
        assert_eq!(error.path.to_string(), "image");
    }

    #[test]
    fn equality_is_by_meaning() {
        let one: Raw<Lean> = serde_json::from_str(r#"{"a": 1.0, "b": 2}"#).unwrap();
        let other: Raw<Lean> = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(one, other);
        assert!(one.view().unwrap().image.is_none());
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Pod {
        containers: Vec<Container>,
        /// Of a type for which there is no placeholder.
        limits: BTreeMap<String, char>,
    }

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Container {
        name: String,
        args: Vec<String>,
    }

    fn pod(text: &str) -> Raw<Pod> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_lenient_view_lacks_the_nodes_of_the_wrong_type_alone() {
        let raw = pod(r#"{"containers": [{"name": 5}, "odd", {"name": "main", "args": ["--port", 8080]}],
            "limits": {"cpu": "1", "gpu": [2]}}"#);
        let view = raw.lenient_view().unwrap();
        let names: Vec<&str> = view.value.containers.iter().map(|container| container.name.as_str()).collect();
        assert_eq!(names, ["", "", "main"], "each keeps its place");
        assert_eq!(view.value.containers[2].args, ["--port", ""]);
        assert_eq!(view.value.limits, BTreeMap::from([("cpu".into(), '1')]));
        let unread: Vec<String> = view.unread.iter().map(ToString::to_string).collect();
        assert_eq!(unread, ["containers[0].name", "containers[1]", "containers[2].args[1]", "limits.gpu"]);
        let args = FieldPath::field("containers").index(2) / "args";
        assert!(view.has_read(&args) && !view.has_read_all(&args));
        assert!(!view.has_read(&(FieldPath::field("containers").index(1) / "name")));
        assert_eq!(raw.view().unwrap_err().path.to_string(), "containers[0].name");
    }

    #[test]
    fn a_subtree_that_fits_has_the_same_view_leniently() {
        let raw = pod(r#"{"containers": [{"name": "main"}]}"#);
        let view = raw.lenient_view().unwrap();
        assert!(view.unread.is_empty() && view.has_read_all(&FieldPath::root()));
        assert_eq!(view.value.containers[0].name, "main");
    }

    #[test]
    fn nothing_is_read_of_a_subtree_with_more_faults_than_are_named() {
        let args = ["1"; 100].join(",");
        assert!(pod(&format!(r#"{{"containers": [{{"args": [{args}]}}]}}"#)).lenient_view().is_none());
        assert!(pod(r#""odd""#).lenient_view().is_none_or(|view| !view.has_read(&FieldPath::root())));
    }

    #[test]
    fn two_subtrees_that_nest_too_deeply_are_not_taken_for_the_same() {
        let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(200), "]".repeat(200));
        let read = |text: &str| serde_json::from_str::<Raw<Lean>>(text).unwrap();
        assert_ne!(read(&deep("1")), read(&deep("2")));
        assert_eq!(read(&deep("1")), read(&deep("1")));
    }
}
