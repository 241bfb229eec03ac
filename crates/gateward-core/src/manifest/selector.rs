//! Label selectors. Follows <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors>.

use std::borrow::Cow;

use serde::Serialize;

/// Which objects or namespaces are concerned, by their labels. All conditions must hold.
///
/// ```
/// use gateward_core::manifest::label;
///
/// let selector = label("app").equals("otters").and(label("team").not_in(["blue", "red"])).and(label("old").is_absent());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    pub(crate) match_expressions: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Requirement {
    key: Cow<'static, str>,
    operator: Operator,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<Cow<'static, str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// A label that is selected by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Label(Cow<'static, str>);

/// The label of this key.
pub fn label(key: impl Into<Cow<'static, str>>) -> Label {
    Label(key.into())
}

impl Label {
    /// It is there and has this value.
    pub fn equals(self, value: impl Into<Cow<'static, str>>) -> LabelSelector {
        self.is_in([value])
    }

    /// It is there and has one of these values.
    pub fn is_in(self, values: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> LabelSelector {
        self.required(Operator::In, values.into_iter().map(Into::into).collect())
    }

    /// It is absent or has another value.
    pub fn not_in(self, values: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> LabelSelector {
        self.required(Operator::NotIn, values.into_iter().map(Into::into).collect())
    }

    /// It is there.
    pub fn exists(self) -> LabelSelector {
        self.required(Operator::Exists, Vec::new())
    }

    /// It isn't there.
    pub fn is_absent(self) -> LabelSelector {
        self.required(Operator::DoesNotExist, Vec::new())
    }

    fn required(self, operator: Operator, values: Vec<Cow<'static, str>>) -> LabelSelector {
        LabelSelector { match_expressions: vec![Requirement { key: self.0, operator, values }] }
    }
}

impl LabelSelector {
    /// Both.
    pub fn and(mut self, other: Self) -> Self {
        self.match_expressions.extend(other.match_expressions);
        self
    }
}
