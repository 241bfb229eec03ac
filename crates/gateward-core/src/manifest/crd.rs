//! A CRD in whichever form its author has it.

use std::any::Any;
use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json::ordered::Ordered;
use crate::manifest::yaml;

/// The CustomResourceDefinition of a kind, for [`Webhook::crd`](crate::Webhook::crd).
///
/// It is made of text, YAML or JSON, of a `serde_json::Value`, or of whatever else serialises, such as `T::crd()` of kube's
/// derive. Every command reads the CRDs first, and JSON is read ten times faster than YAML, whose comments are kept.
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
    text: Cow<'static, str>,
    problem: Option<String>,
}

impl Crd {
    /// The definition as YAML: the text itself, unless that is JSON.
    pub fn yaml(&self) -> Cow<'_, str> {
        match serde_json::from_str::<Ordered>(&self.text) {
            Ok(definition) => yaml::document_in_order(&definition).into(),
            Err(_) => Cow::Borrowed(&self.text),
        }
    }

    /// The definition, or what `T` knows of it, where the text is JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&self.text).ok()
    }

    /// Why what was given can't be written; then [`yaml`](Self::yaml) is empty.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    fn of(text: impl Into<Cow<'static, str>>) -> Self {
        Self { text: text.into(), problem: None }
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
            Ok(value) => Self::of(value.to_string()),
            Err(error) => Self { text: Cow::default(), problem: Some(error.to_string()) },
        }
    }
}
