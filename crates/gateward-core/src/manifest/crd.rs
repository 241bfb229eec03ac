//! A CRD in whichever form its author has it.

use std::any::Any;
use std::borrow::Cow;

use serde::Serialize;

use crate::manifest::yaml;

/// The CustomResourceDefinition of a kind, for [`Webhook::crd`](crate::Webhook::crd).
///
/// It is made of text, YAML or JSON, which is kept to the byte, of a `serde_json::Value`, or of whatever else serialises,
/// such as `T::crd()` of kube's derive.
///
/// ```
/// use gateward_core::Crd;
///
/// let text = "# entities\nkind: CustomResourceDefinition\n";
/// assert_eq!(Crd::from(text).yaml(), text);
///
/// let value = serde_json::json!({"kind": "CustomResourceDefinition"});
/// assert_eq!(Crd::from(value).yaml(), "kind: CustomResourceDefinition\n");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crd {
    yaml: Cow<'static, str>,
    problem: Option<String>,
}

impl Crd {
    /// The definition as YAML.
    pub fn yaml(&self) -> &str {
        &self.yaml
    }

    /// Why what was given has no YAML; then [`yaml`](Self::yaml) is empty.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    fn of(yaml: impl Into<Cow<'static, str>>) -> Self {
        Self { yaml: yaml.into(), problem: None }
    }
}

impl<T: Serialize + 'static> From<T> for Crd {
    fn from(definition: T) -> Self {
        // Text serialises too, as one string. Its type identifies it, since a second implementation would overlap.
        let any: &dyn Any = &definition;
        if let Some(text) = any.downcast_ref::<&'static str>() {
            return Self::of(*text);
        }
        if let Some(text) = any.downcast_ref::<String>() {
            return Self::of(text.clone());
        }
        match serde_json::to_value(&definition) {
            Ok(value) => Self::of(yaml::document(&value)),
            Err(error) => Self { yaml: Cow::default(), problem: Some(error.to_string()) },
        }
    }
}
