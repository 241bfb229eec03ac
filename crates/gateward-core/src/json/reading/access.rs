//! The parts of lists, maps, structs and enumerations, each read at its own place.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::cuts::Cut;
use super::message::Refusal;
use super::place::{BOUND_FACTOR, Place, PlacedDeserializer};
use crate::json::decode::error::{Found, JsonType};

/// What a list takes for each of its items, as a multiple of their size: while it grows, the old and the new one are
/// there, and the new one has room for twice as many.
const LIST_GROWTH: usize = 3;

/// The same of the entries of a map.
const MAP_GROWTH: usize = 3;

/// How many entries the smallest map has room for.
const MAP_ROOM: usize = 11;

/// Reads a part with `seed` at its place.
pub(super) struct Part<'p, 'de, S> {
    pub seed: S,
    pub place: &'p Place<'p, 'de>,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Part<'_, 'de, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        let Self { seed, place } = self;
        match place.cuts.and_then(|cuts| cuts.cut) {
            Some(Cut::Instead(text)) => {
                IgnoredAny::deserialize(from)?;
                let mut from = serde_json::Deserializer::from_str(text);
                seed.deserialize(PlacedDeserializer { from: &mut from, place }).map_err(|_| D::Error::custom(""))
            }
            _ => seed.deserialize(PlacedDeserializer { from, place }),
        }
    }
}

/// How many parts a list or map may yet have, and what becomes of one with more.
struct Room<'p, 'de> {
    place: &'p Place<'p, 'de>,
    read: usize,
    /// How many are read at most, and what the schema allows.
    bound: Option<(usize, usize)>,
}

impl<'p, 'de> Room<'p, 'de> {
    fn at(place: &'p Place<'p, 'de>) -> Self {
        let bound = place.bound().map(|bound| (bound.most.saturating_mul(BOUND_FACTOR), bound.most));
        Self { place, read: 0, bound }
    }

    fn is_full(&self) -> bool {
        self.bound.is_some_and(|(limit, _)| self.read >= limit)
    }

    /// One more part has been read, whose type is of this size, and which takes so many bytes; whether there was room
    /// for it.
    fn took(&mut self, size: usize, bytes: usize) -> bool {
        let room = self.place.session.take(size, bytes);
        self.read += usize::from(room);
        room
    }

    /// Ends the reading: there are `rest` parts more than were read.
    fn overrun(&self, rest: usize) {
        let max = self.bound.map_or(self.read, |(_, most)| most);
        self.place.fail_with(Found::TooMany { actual: self.read + rest, max });
    }
}

/// The items of a list.
pub(super) struct ItemAccess<'p, 'de, A> {
    from: A,
    position: usize,
    room: Room<'p, 'de>,
}

impl<'p, 'de, A> ItemAccess<'p, 'de, A> {
    pub fn new(from: A, place: &'p Place<'p, 'de>) -> Self {
        Self { from, position: 0, room: Room::at(place) }
    }
}

impl<'de, A: SeqAccess<'de>> ItemAccess<'_, 'de, A> {
    /// Passes over the rest, `more` items of which are read already.
    fn overrun<T>(&mut self, more: usize) -> Result<T, A::Error> {
        let mut rest = more;
        while self.from.next_element::<IgnoredAny>()?.is_some() {
            rest += 1;
        }
        self.room.overrun(rest);
        Err(A::Error::custom(""))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ItemAccess<'_, 'de, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let outer = self.room.place;
        while outer
            .cuts
            .and_then(|cuts| cuts.item(self.position))
            .is_some_and(|cuts| matches!(cuts.cut, Some(Cut::Out)))
        {
            self.position += 1;
            if self.from.next_element::<IgnoredAny>()?.is_none() {
                return Ok(None);
            }
        }
        if self.room.is_full() {
            return if self.from.next_element::<IgnoredAny>()?.is_some() { self.overrun(1) } else { Ok(None) };
        }
        let place = outer.item(self.position);
        self.position += 1;
        let Some(item) = self.from.next_element_seed(Part { seed, place: &place })? else { return Ok(None) };
        let size = size_of::<S::Value>();
        if self.room.took(size, LIST_GROWTH * size) { Ok(Some(item)) } else { self.overrun(1) }
    }

    fn size_hint(&self) -> Option<usize> {
        None
    }
}

/// The members of a map or a struct.
pub(super) struct MemberAccess<'p, 'de, A> {
    from: A,
    name: String,
    key: usize,
    is_struct: bool,
    room: Room<'p, 'de>,
}

impl<'p, 'de, A> MemberAccess<'p, 'de, A> {
    pub fn new(from: A, place: &'p Place<'p, 'de>, is_struct: bool) -> Self {
        Self { from, name: String::new(), key: 0, is_struct, room: Room::at(place) }
    }
}

impl<'de, A: MapAccess<'de>> MemberAccess<'_, 'de, A> {
    /// Passes over the rest, one member of which is read already.
    fn overrun<T>(&mut self) -> Result<T, A::Error> {
        let mut rest = 1;
        while self.from.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            rest += 1;
        }
        self.room.overrun(rest);
        Err(A::Error::custom(""))
    }

    /// Whether the member that was just named counts as absent.
    fn is_out(&self) -> bool {
        let cuts = self.room.place.cuts.and_then(|cuts| cuts.member(&self.name));
        cuts.is_some_and(|cuts| matches!(cuts.cut, Some(Cut::Out)))
    }

    /// The next entry of a map has been read; whether there was room for it. That for the members of a struct is there.
    fn took<V>(&mut self) -> bool {
        let entries = if self.room.read == 0 { MAP_ROOM } else { MAP_GROWTH };
        let size = size_of::<V>();
        self.is_struct || self.room.took(size, entries * (self.key + size))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for MemberAccess<'_, 'de, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.key = size_of::<S::Value>();
        let place = self.room.place;
        if self.room.is_full() {
            let more = self.from.next_entry::<IgnoredAny, IgnoredAny>()?.is_some();
            return if more { self.overrun() } else { Ok(None) };
        }
        if !place.needs_names() {
            return self.from.next_key_seed(seed);
        }
        loop {
            self.name.clear();
            if self.from.next_key_seed(Capture(&mut self.name))?.is_none() {
                return Ok(None);
            }
            if !self.is_out() {
                return seed.deserialize(Name(&self.name)).map(Some).map_err(|error: Refusal| {
                    place.fail(&error, Some(JsonType::Object));
                    A::Error::custom("")
                });
            }
            self.from.next_value::<IgnoredAny>()?;
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let place = self.room.place.member(&self.name);
        let value = self.from.next_value_seed(Part { seed, place: &place })?;
        if self.took::<S::Value>() { Ok(value) } else { self.overrun() }
    }
}

/// Keeps a member's name.
struct Capture<'n>(&'n mut String);

impl<'de> DeserializeSeed<'de> for Capture<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for Capture<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<(), E> {
        self.0.push_str(name);
        Ok(())
    }
}

/// A member's name that was kept, for whatever reads keys: names themselves, or numbers written as such.
struct Name<'n>(&'n str);

impl<'n> Name<'n> {
    fn text(&self) -> StrDeserializer<'n, Refusal> {
        StrDeserializer::new(self.0)
    }
}

/// Keys that are written as text and read as something else.
macro_rules! parsed {
    ($($method:ident: $visit:ident;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
            match self.0.parse() {
                Ok(key) => visitor.$visit(key),
                Err(_) => self.text().deserialize_any(visitor),
            }
        })*
    };
}

/// Keys that are read as they are written.
macro_rules! written {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $type,)* visitor: V) -> Result<V::Value, Refusal> {
            self.text().$method($($argument,)* visitor)
        })*
    };
}

impl<'de> Deserializer<'de> for Name<'_> {
    type Error = Refusal;

    parsed! {
        deserialize_bool: visit_bool;
        deserialize_i8: visit_i8;
        deserialize_i16: visit_i16;
        deserialize_i32: visit_i32;
        deserialize_i64: visit_i64;
        deserialize_i128: visit_i128;
        deserialize_u8: visit_u8;
        deserialize_u16: visit_u16;
        deserialize_u32: visit_u32;
        deserialize_u64: visit_u64;
        deserialize_u128: visit_u128;
        deserialize_f32: visit_f32;
        deserialize_f64: visit_f64;
    }

    written! {
        deserialize_any();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_unit();
        deserialize_seq();
        deserialize_map();
        deserialize_identifier();
        deserialize_ignored_any();
        deserialize_unit_struct(name: &'static str);
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_struct(name: &'static str, fields: &'static [&'static str]);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }
}
