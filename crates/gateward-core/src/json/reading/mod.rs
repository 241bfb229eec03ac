//! Strict and bounded reading of JSON text as a typed value.
//!
//! Structs are read from objects only. What lists and maps take of memory comes out of an [`Allowance`], an object has no
//! more parts than its size is good for, a list with a declared [`Bound`] is read up to four times that bound, and no
//! text grows with what it quotes. A tracing session hands a placeholder to each field whose node has the wrong type, so
//! that one pass finds all of them.

mod access;
mod allowance;
mod cuts;
mod ignored;
mod message;
mod place;
mod visit;

use serde::de::{Deserializer, Visitor};

pub use allowance::{ALLOWANCE_BASE, ALLOWANCE_FACTOR};
pub(crate) use allowance::{
    Allowance, depth, has_room_for_trees, most_containers, most_tree_cost, outside_of_texts, tree_cost,
};
pub(crate) use cuts::{Cut, Cuts};
pub(crate) use ignored::Ignored;
pub use place::{BOUND_FACTOR, Bound};
pub(crate) use place::{Failure, Limits, Place, PlacedDeserializer, ReadFindings, Session};
use visit::{Node, Want};

impl<'de, D: Deserializer<'de>> PlacedDeserializer<'_, 'de, D> {
    /// Reads a node that must be of the type `want`; the visitor gets what is there and reports a mismatch.
    fn hinted<V: Visitor<'de>>(self, want: Want, visitor: V) -> Result<V::Value, D::Error> {
        let Self { from, place } = self;
        place.settled(from.deserialize_any(Node { visitor, want, place }))
    }
}

/// Methods for nodes whose JSON type is known beforehand.
macro_rules! hinted {
    ($($method:ident: $want:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.hinted($want, visitor)
        })*
    };
}

/// Methods for all other nodes.
macro_rules! open {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let Self { from, place } = self;
            place.settled(from.$method($($argument,)* Node { visitor, want: Want::Anything, place }))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for PlacedDeserializer<'_, 'de, D> {
    type Error = D::Error;

    hinted! {
        deserialize_bool: Want::Boolean;
        deserialize_i8: Want::Integer;
        deserialize_i16: Want::Integer;
        deserialize_i32: Want::Integer;
        deserialize_i64: Want::Integer;
        deserialize_u8: Want::Integer;
        deserialize_u16: Want::Integer;
        deserialize_u32: Want::Integer;
        deserialize_u64: Want::Integer;
        deserialize_f32: Want::Number;
        deserialize_f64: Want::Number;
        deserialize_str: Want::Text;
        deserialize_string: Want::Text;
        deserialize_seq: Want::List;
        deserialize_map: Want::Map;
    }

    open! {
        deserialize_any();
        deserialize_i128();
        deserialize_u128();
        deserialize_char();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.hinted(Want::Struct, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.place.ignore();
        self.from.deserialize_ignored_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.from.is_human_readable()
    }
}

impl Place<'_, '_> {
    /// Notes an error that isn't noted yet: the parser's own.
    pub(crate) fn settled<T, E: serde::de::Error>(&self, read: Result<T, E>) -> Result<T, E> {
        read.inspect_err(|error| self.fail(error, None))
    }
}
