//! Kubernetes quantities: amounts such as `500m`, `8Gi` or `2`.
//!
//! A [`Quantity`] is what the user wrote; [`Quantity::amount`] is what it means. The grammar and the canonical form
//! are those of the [quantity reference](https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/).

mod amount;

#[cfg(feature = "schemars")]
use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Number;

pub use amount::{Amount, InvalidQuantity};

/// The regular expression of a quantity that is a text.
pub const PATTERN: &str = concat!(
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))",
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
);

/// An amount in its original notation, a string or a number.
///
/// ```
/// use gateward_core::quantity::Quantity;
///
/// let quantity: Quantity = serde_json::from_str("\"2048Mi\"")?;
/// assert_eq!(quantity.text(), "2048Mi");
/// assert_eq!(quantity.amount()?.to_string(), "2Gi");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Quantity {
    /// Written as a string.
    Text(String),
    /// Written as a number.
    Number(Number),
}

impl Quantity {
    /// The amount in its original notation.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }

    /// The amount that was meant.
    pub fn amount(&self) -> Result<Amount, InvalidQuantity> {
        match self {
            Self::Text(text) => text.parse(),
            Self::Number(number) => number.to_string().parse(),
        }
    }

    /// The amount in canonical text, which is equal for equal amounts in the same notation; what is no quantity
    /// stays as it was written.
    pub fn canonical(&self) -> String {
        self.amount().map_or_else(|_| self.text(), |amount| amount.to_string())
    }
}

impl Default for Quantity {
    fn default() -> Self {
        "0".into()
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Scalar)
    }
}

struct Scalar;

impl Visitor<'_> for Scalar {
    type Value = Quantity;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Quantity, E> {
        Ok(text.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Quantity, E> {
        Ok(Quantity::Number(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Quantity, E> {
        Ok(Quantity::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Quantity, E> {
        Number::from_f64(number).map(Quantity::Number).ok_or_else(|| E::custom("not a finite number"))
    }
}

/// As Kubernetes' own CRDs have it.
#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "io.k8s.apimachinery.pkg.api.resource.Quantity".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": PATTERN,
            "x-kubernetes-int-or-string": true,
        })
    }
}
