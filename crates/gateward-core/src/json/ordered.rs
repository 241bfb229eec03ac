//! JSON whose members keep the order in which they were written.

use std::collections::HashMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// A JSON value whose members stand in an order of their own.
///
/// ```
/// use gateward_core::Ordered;
///
/// let text = r#"{"name":"otter","kind":"Graph"}"#;
/// let ordered: Ordered = serde_json::from_str(text)?;
/// assert_eq!(serde_json::to_string(&ordered)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Ordered {
    /// Null, a boolean, a number or text.
    Scalar(Value),
    /// A list.
    Items(Vec<Ordered>),
    /// An object.
    Members(Vec<(String, Ordered)>),
}

impl Ordered {
    /// The same value with its members in the order that they have in `model`. Members that `model` lacks stay behind
    /// the one that they follow now.
    pub fn arranged_like(self, model: &Self) -> Self {
        match (self, model) {
            (Self::Members(members), Self::Members(model)) => Self::Members(arranged(members, model)),
            (Self::Items(items), Self::Items(model)) => {
                let model = model.iter().map(Some).chain(std::iter::repeat(None));
                let items = items.into_iter().zip(model);
                Self::Items(items.map(|(item, model)| item.arranged_like(model.unwrap_or(&EMPTY))).collect())
            }
            (other, _) => other,
        }
    }

    /// The member of an object.
    pub fn member(&self, name: &str) -> Option<&Self> {
        let Self::Members(members) = self else { return None };
        members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    /// The member of an object, to be changed.
    pub fn member_mut(&mut self, name: &str) -> Option<&mut Self> {
        let Self::Members(members) = self else { return None };
        members.iter_mut().find(|(member, _)| member == name).map(|(_, value)| value)
    }

    /// Takes the member out of an object.
    pub fn remove(&mut self, name: &str) -> Option<Self> {
        let Self::Members(members) = self else { return None };
        let place = members.iter().position(|(member, _)| member == name)?;
        Some(members.remove(place).1)
    }

    /// Whether it is an object without members or a list without items.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Members(members) => members.is_empty(),
            Self::Items(items) => items.is_empty(),
            Self::Scalar(_) => false,
        }
    }

    /// The item of a list.
    pub fn item_mut(&mut self, index: usize) -> Option<&mut Self> {
        let Self::Items(items) = self else { return None };
        items.get_mut(index)
    }
}

/// A model that says nothing.
static EMPTY: Ordered = Ordered::Items(Vec::new());

fn arranged(members: Vec<(String, Ordered)>, model: &[(String, Ordered)]) -> Vec<(String, Ordered)> {
    let places: HashMap<&str, usize> =
        model.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place)).collect();
    let mut follows = None;
    let mut placed: Vec<(Option<usize>, (String, Ordered))> = Vec::with_capacity(members.len());
    for (name, value) in members {
        let place = places.get(name.as_str()).copied();
        follows = place.or(follows);
        let model = place.and_then(|place| model.get(place)).map_or(&EMPTY, |(_, model)| model);
        placed.push((follows, (name, value.arranged_like(model))));
    }
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, member)| member).collect()
}

impl From<&Value> for Ordered {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::Items(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                Self::Members(members.iter().map(|(name, value)| (name.clone(), Self::from(value))).collect())
            }
            scalar => Self::Scalar(scalar.clone()),
        }
    }
}

/// Compact JSON.
impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Serialize for Ordered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Scalar(value) => value.serialize(serializer),
            Self::Items(items) => items.serialize(serializer),
            Self::Members(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                for (name, value) in members {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InOrder)
    }
}

struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Ordered;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Scalar(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Ordered, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Ordered::Items(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Ordered::Members(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(text: &str, model: &str) -> String {
        let read = |text| serde_json::from_str::<Ordered>(text).unwrap();
        read(text).arranged_like(&read(model)).to_string()
    }

    #[test]
    fn members_take_the_order_of_the_model() {
        assert_eq!(
            arranged(r#"{"a":1,"b":[{"c":2,"d":3}]}"#, r#"{"b":[{"d":0,"c":0}],"a":0}"#),
            r#"{"b":[{"d":3,"c":2}],"a":1}"#
        );
    }

    #[test]
    fn a_member_without_a_model_stays_behind_the_one_that_it_follows() {
        assert_eq!(arranged(r#"{"x":0,"a":1,"y":2,"b":3}"#, r#"{"b":0,"a":0}"#), r#"{"x":0,"b":3,"a":1,"y":2}"#);
    }

    #[test]
    fn what_has_another_shape_is_left_alone() {
        for text in [r#"{"b":1,"a":2}"#, r#"[{"b":1,"a":2}]"#, "null", r#""x""#] {
            assert_eq!(arranged(text, "[[]]"), text);
        }
    }
}
