//! Label selectors. Follows <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors>.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

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
    /// The one that selects everything.
    #[cfg(feature = "testing")]
    pub(crate) const fn all() -> Self {
        Self { match_expressions: Vec::new() }
    }

    /// Both.
    pub fn and(mut self, other: Self) -> Self {
        self.match_expressions.extend(other.match_expressions);
        self
    }

    /// Whether it selects what has these labels: an object of texts, or null where there are none.
    pub(crate) fn selects(&self, labels: &Value) -> bool {
        self.match_expressions.iter().all(|requirement| requirement.is_met_by(labels))
    }
}

impl Requirement {
    fn is_met_by(&self, labels: &Value) -> bool {
        let value = labels.get(&*self.key).and_then(Value::as_str);
        let is_listed = value.is_some_and(|value| self.values.iter().any(|listed| listed == value));
        match self.operator {
            Operator::In => is_listed,
            Operator::NotIn => !is_listed,
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

/// As `kubectl get --selector` takes it.
impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.match_expressions.iter().map(ToString::to_string).collect();
        f.write_str(&all.join(","))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, operator, values } = self;
        match (operator, values.as_slice()) {
            (Operator::In, [value]) => write!(f, "{key}={value}"),
            (Operator::In, values) => write!(f, "{key} in ({})", values.join(",")),
            (Operator::NotIn, values) => write!(f, "{key} notin ({})", values.join(",")),
            (Operator::Exists, _) => write!(f, "{key}"),
            (Operator::DoesNotExist, _) => write!(f, "!{key}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_selects_what_an_api_server_selects() {
        let selector = label("app").equals("otters").and(label("team").not_in(["blue", "red"]));
        let selector = selector.and(label("den").exists()).and(label("old").is_absent());
        assert!(selector.selects(&json!({"app": "otters", "den": "1"})));
        assert!(selector.selects(&json!({"app": "otters", "den": "1", "team": "green"})));
        for labels in [
            json!({"app": "otters", "den": "1", "team": "red"}),
            json!({"app": "otters", "den": "1", "old": ""}),
            json!({"app": "otters"}),
            json!({"app": "beavers", "den": "1"}),
            json!({"den": "1"}),
            Value::Null,
        ] {
            assert!(!selector.selects(&labels), "{labels}");
        }
    }

    #[test]
    fn it_is_written_as_kubectl_takes_it() {
        let selector =
            label("app").equals("otters").and(label("zoo").is_in(["a", "b"])).and(label("team").not_in(["c"]));
        let selector = selector.and(label("den").exists()).and(label("old").is_absent());
        assert_eq!(selector.to_string(), "app=otters,zoo in (a,b),team notin (c),den,!old");
    }
}
