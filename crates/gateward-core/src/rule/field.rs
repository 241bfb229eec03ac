//! Where in an object a finding stands: `spec.components[0].name`.

use std::borrow::Cow;
use std::fmt;
use std::ops::Div;

use serde_json::Value;

/// One step of a [`FieldPath`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// A member of a struct, written `.name`.
    Field(Cow<'static, str>),
    /// A position in a list, written `[3]`.
    Index(usize),
    /// A key of a map (annotations, labels, services), written `[key]`.
    Key(Cow<'static, str>),
}

/// A name in a path is cut to this many bytes. Kubernetes' own are shorter; a hostile object's key would otherwise stand
/// in full in the path of each finding below it.
const LONGEST_NAME: usize = 512;

/// How many steps most paths have: `spec.components[0].type`.
const USUAL_STEPS: usize = 4;

/// The path of a node in an object, in the notation of the Kubernetes API server's field errors.
///
/// A name of more than 512 bytes is cut.
///
/// ```
/// use gateward_core::FieldPath;
///
/// let spec = FieldPath::field("spec");
/// let at = (&spec / "components").index(2) / "name";
/// assert_eq!(at.to_string(), "spec.components[2].name");
/// assert_eq!(at.pointer(), "/spec/components/2/name");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FieldPath(Vec<Segment>);

impl FieldPath {
    /// The object itself; printed as `<root>`.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// A member of the object itself.
    pub fn field(name: impl Into<Cow<'static, str>>) -> Self {
        let mut segments = Vec::with_capacity(USUAL_STEPS);
        segments.push(Segment::Field(name.into()).cut());
        Self(segments)
    }

    /// `metadata.annotations[key]`.
    pub fn annotation(key: impl Into<Cow<'static, str>>) -> Self {
        (Self::field("metadata") / "annotations").key(key)
    }

    /// The path of an entry of this map.
    pub fn key(&self, key: impl Into<Cow<'static, str>>) -> Self {
        self.child(Segment::Key(key.into()))
    }

    /// The path of an item of this list.
    pub fn index(&self, index: usize) -> Self {
        self.child(Segment::Index(index))
    }

    /// The path one step below.
    pub fn child(&self, segment: Segment) -> Self {
        let mut segments = Vec::with_capacity(self.0.len() + 1);
        segments.extend_from_slice(&self.0);
        segments.push(segment.cut());
        Self(segments)
    }

    /// The path made of this one and then the steps of `rest`.
    pub fn join(&self, rest: &[Segment]) -> Self {
        Self(self.0.iter().chain(rest).cloned().collect())
    }

    /// The path one step above; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (_, above) = self.0.split_last()?;
        Some(Self(above.to_vec()))
    }

    /// The steps, outermost first.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The member of the object that the path leads through, such as `spec`.
    ///
    /// ```
    /// use gateward_core::FieldPath;
    ///
    /// assert_eq!((FieldPath::field("spec") / "replicas").top_member(), Some("spec"));
    /// assert_eq!(FieldPath::root().top_member(), None);
    /// ```
    pub fn top_member(&self) -> Option<&str> {
        self.0.first().and_then(Segment::name)
    }

    /// Whether this is the object itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The steps that remain after `prefix`, where this path begins with it. Fields and keys of the same name are the
    /// same step, because JSON knows no difference.
    pub fn strip_prefix(&self, prefix: &FieldPath) -> Option<&[Segment]> {
        let (head, rest) = self.0.split_at_checked(prefix.0.len())?;
        head.iter().zip(&prefix.0).all(|(a, b)| a.same_step(b)).then_some(rest)
    }

    /// The JSON pointer (RFC 6901) of the same node.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.0 {
            pointer.push('/');
            match segment {
                Segment::Index(index) => pointer.push_str(&index.to_string()),
                Segment::Field(name) | Segment::Key(name) => {
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }

    /// The node of `document` at this path.
    pub fn find<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(document, |node, segment| segment.find(node))
    }
}

impl Segment {
    /// The child of `node` that this step leads to.
    pub fn find<'v>(&self, node: &'v Value) -> Option<&'v Value> {
        match self {
            Segment::Field(name) | Segment::Key(name) => node.get(name.as_ref()),
            Segment::Index(index) => node.get(*index),
        }
    }

    /// The member name or map key, if this is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Segment::Field(name) | Segment::Key(name) => Some(name),
            Segment::Index(_) => None,
        }
    }

    fn cut(mut self) -> Self {
        if let Segment::Field(Cow::Owned(name)) | Segment::Key(Cow::Owned(name)) = &mut self
            && name.len() > LONGEST_NAME
        {
            name.truncate(name.floor_char_boundary(LONGEST_NAME));
            name.shrink_to_fit();
        }
        self
    }

    fn same_step(&self, other: &Segment) -> bool {
        match (self, other) {
            (Segment::Index(a), Segment::Index(b)) => a == b,
            _ => self.name().is_some() && self.name() == other.name(),
        }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("<root>");
        }
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Field(name) if position == 0 => f.write_str(name)?,
                Segment::Field(name) => write!(f, ".{name}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) => write!(f, "[{key}]")?,
            }
        }
        Ok(())
    }
}

impl Div<&'static str> for &FieldPath {
    type Output = FieldPath;

    fn div(self, field: &'static str) -> FieldPath {
        self.child(Segment::Field(Cow::Borrowed(field)))
    }
}

impl Div<&'static str> for FieldPath {
    type Output = FieldPath;

    fn div(mut self, field: &'static str) -> FieldPath {
        self.0.push(Segment::Field(Cow::Borrowed(field)));
        self
    }
}

impl Div<Segment> for FieldPath {
    type Output = FieldPath;

    fn div(mut self, segment: Segment) -> FieldPath {
        self.0.push(segment.cut());
        self
    }
}

impl FromIterator<Segment> for FieldPath {
    fn from_iter<I: IntoIterator<Item = Segment>>(segments: I) -> Self {
        Self(segments.into_iter().map(Segment::cut).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_like_the_api_server() {
        let at = FieldPath::annotation("nvidia.com/enable-grove");
        assert_eq!(at.to_string(), "metadata.annotations[nvidia.com/enable-grove]");
        assert_eq!(at.pointer(), "/metadata/annotations/nvidia.com~1enable-grove");
        assert_eq!(FieldPath::root().to_string(), "<root>");
    }

    #[test]
    fn a_key_and_a_field_of_the_same_name_are_the_same_step() {
        let written = FieldPath::field("spec") / "services" / Segment::Key("worker".into()) / "replicas";
        let prefix = FieldPath::field("spec") / "services" / Segment::Field("worker".into());
        assert_eq!(written.strip_prefix(&prefix), Some(&[Segment::Field("replicas".into())][..]));
        assert_eq!(prefix.strip_prefix(&written), None);
    }

    #[test]
    fn a_hostile_key_does_not_make_every_path_long() {
        let at = FieldPath::field("spec").key("ä".repeat(100_000)) / "replicas";
        assert!(at.to_string().len() < 600);
    }

    #[test]
    fn finds_nodes_and_only_those() {
        let document = serde_json::json!({"spec": {"items": [{"name": "a"}]}});
        let name = (FieldPath::field("spec") / "items").index(0) / "name";
        assert_eq!(name.find(&document), Some(&Value::from("a")));
        assert_eq!((FieldPath::field("spec") / "other").find(&document), None);
    }
}
