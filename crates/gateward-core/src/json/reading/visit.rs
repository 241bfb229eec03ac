//! Visitors that are shown a node: they read it strictly, or say why it doesn't fit.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};

use super::access::{ItemAccess, MemberAccess, Part};
use super::message::{self, Refusal};
use super::place::{Place, PlacedDeserializer};
use crate::json::decode::error::JsonType;

/// What the type that is read expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    Boolean,
    Integer,
    Number,
    Text,
    List,
    Map,
    Struct,
    /// The visitor alone knows.
    Anything,
}

impl Want {
    fn takes(self, found: JsonType) -> bool {
        match self {
            Self::Boolean => found == JsonType::Boolean,
            // Visitors of integers reject a fraction themselves; this is earlier.
            Self::Integer => found == JsonType::Integer,
            Self::Number => matches!(found, JsonType::Integer | JsonType::Number),
            Self::Text => found == JsonType::String,
            Self::List => found == JsonType::Array,
            Self::Map | Self::Struct => found == JsonType::Object,
            Self::Anything => true,
        }
    }
}

/// A visitor of the node at a place.
pub(super) struct Node<'p, 'de, V> {
    pub visitor: V,
    pub want: Want,
    pub place: &'p Place<'p, 'de>,
}

impl<'de, V: Visitor<'de>> Node<'_, 'de, V> {
    /// Shows the visitor a value without parts, or says that it doesn't fit.
    fn scalar<E: Error>(
        self,
        found: JsonType,
        show: impl FnOnce(V) -> Result<V::Value, Refusal>,
    ) -> Result<V::Value, E> {
        if !self.want.takes(found) {
            return self.misfit(found);
        }
        let place = self.place;
        show(self.visitor).map_err(|refusal| {
            place.fail(&refusal, Some(found));
            E::custom("")
        })
    }

    /// The same of an integer, which may be beyond the type that is read.
    fn integer<E: Error>(
        self,
        number: i128,
        shown: Unexpected<'_>,
        show: impl FnOnce(V) -> Result<V::Value, Refusal>,
    ) -> Result<V::Value, E> {
        if self.want == Want::Integer && self.place.session.tracing.is_some() {
            let expected = message::cut(&(&self.visitor as &dyn serde::de::Expected));
            if !within(&expected, number) {
                let place = self.place;
                place.note(&|| Refusal::invalid_value(shown, &self.visitor).0, JsonType::Integer);
                return self.placeholder();
            }
        }
        self.scalar(JsonType::Integer, show)
    }

    /// A node of the wrong type.
    fn misfit<E: Error>(self, found: JsonType) -> Result<V::Value, E> {
        let expected = || match self.want {
            Want::Struct => "must be an object".to_owned(),
            _ => message::must_be(&self.visitor),
        };
        if self.place.note(&expected, found) { self.placeholder() } else { Err(E::custom("")) }
    }

    /// What a visitor is shown instead of a node that doesn't fit, so that the reading goes on.
    fn placeholder<E: Error>(self) -> Result<V::Value, E> {
        let read = match self.want {
            Want::Boolean => self.visitor.visit_bool::<Refusal>(false),
            Want::Integer => self.visitor.visit_u64(0),
            Want::Number => self.visitor.visit_f64(0.0),
            Want::Text => self.visitor.visit_str(""),
            Want::List => return self.placeholder_of("[]"),
            Want::Map | Want::Struct => return self.placeholder_of("{}"),
            Want::Anything => Err(Refusal(String::new())),
        };
        read.map_err(|refusal| {
            self.place.fail(&refusal, None);
            E::custom("")
        })
    }

    /// The same of a node with parts: one without any.
    fn placeholder_of<E: Error>(self, text: &'static str) -> Result<V::Value, E> {
        serde_json::Deserializer::from_str(text).deserialize_any(self).map_err(|_| E::custom(""))
    }

    /// Notes the error of a visitor that has looked at the parts of a node.
    fn judged<T, E: Error>(place: &Place<'_, '_>, read: Result<T, E>, found: JsonType) -> Result<T, E> {
        read.inspect_err(|error| place.fail(error, Some(found)))
    }
}

/// Whether a number fits the type that serde calls so; `None` for an unknown name.
fn within(primitive: &str, number: i128) -> bool {
    match primitive {
        "i8" => i8::try_from(number).is_ok(),
        "i16" => i16::try_from(number).is_ok(),
        "i32" => i32::try_from(number).is_ok(),
        "i64" => i64::try_from(number).is_ok(),
        "u8" => u8::try_from(number).is_ok(),
        "u16" => u16::try_from(number).is_ok(),
        "u32" => u32::try_from(number).is_ok(),
        "u64" => u64::try_from(number).is_ok(),
        _ => true,
    }
}

/// Visits of what has no parts.
macro_rules! scalars {
    ($($method:ident($type:ty): $found:expr;)*) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.scalar($found, |visitor| visitor.$method(value))
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Node<'_, 'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    scalars! {
        visit_bool(bool): JsonType::Boolean;
        visit_i128(i128): JsonType::Integer;
        visit_u128(u128): JsonType::Integer;
        visit_f64(f64): JsonType::Number;
        visit_char(char): JsonType::String;
        visit_bytes(&[u8]): JsonType::String;
        visit_borrowed_bytes(&'de [u8]): JsonType::String;
        visit_byte_buf(Vec<u8>): JsonType::String;
        visit_str(&str): JsonType::String;
        visit_borrowed_str(&'de str): JsonType::String;
        visit_string(String): JsonType::String;
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        self.integer(number.into(), Unexpected::Signed(number), |visitor| visitor.visit_i64(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        self.integer(number.into(), Unexpected::Unsigned(number), |visitor| visitor.visit_u64(number))
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.scalar(JsonType::Null, Visitor::visit_none)
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.scalar(JsonType::Null, Visitor::visit_unit)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(PlacedDeserializer { from, place: self.place })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(PlacedDeserializer { from, place: self.place })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<V::Value, A::Error> {
        if !self.want.takes(JsonType::Array) {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return self.misfit(JsonType::Array);
        }
        let place = self.place;
        Self::judged(place, self.visitor.visit_seq(ItemAccess::new(items, place)), JsonType::Array)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<V::Value, A::Error> {
        if !self.want.takes(JsonType::Object) {
            while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return self.misfit(JsonType::Object);
        }
        let (place, is_struct) = (self.place, self.want == Want::Struct);
        let members = MemberAccess::new(members, place, is_struct);
        Self::judged(place, self.visitor.visit_map(members), JsonType::Object)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Parts { from: data, place: self.place })
    }
}

/// An enumeration and its variant, whose parts are read at its own place.
struct Parts<'p, 'de, A> {
    from: A,
    place: &'p Place<'p, 'de>,
}

impl<'de, 'p, A: EnumAccess<'de>> EnumAccess<'de> for Parts<'p, 'de, A> {
    type Error = A::Error;
    type Variant = Parts<'p, 'de, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let Self { from, place } = self;
        let (value, from) = from.variant_seed(Part { seed, place })?;
        Ok((value, Parts { from, place }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Parts<'_, 'de, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.from.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.from.newtype_variant_seed(Part { seed, place: self.place })
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.from.tuple_variant(length, Node { visitor, want: Want::Anything, place: self.place })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.from.struct_variant(fields, Node { visitor, want: Want::Struct, place: self.place })
    }
}
