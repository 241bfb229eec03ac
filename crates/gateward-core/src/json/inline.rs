//! Reading an object whose members belong to two structs.
//!
//! Serde's `flatten` buffers what it reads, and a [`Raw`](crate::Raw) cannot be read from that buffer. Here the
//! members stream past once, and paths of errors stay exact.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

use super::Member;

/// Reads one object as the member called `name` and a struct of all the others.
pub fn read<'de, D, M, T>(deserializer: D, name: &'static str) -> Result<(M, T), D::Error>
where
    D: Deserializer<'de>,
    M: Member,
    T: Deserialize<'de>,
{
    deserializer.deserialize_map(Both { name, types: PhantomData })
}

struct Both<M, T> {
    name: &'static str,
    types: PhantomData<(M, T)>,
}

impl<'de, M: Member, T: Deserialize<'de>> Visitor<'de> for Both<M, T> {
    type Value = (M, T);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut member = None;
        let others = Others { map, name: self.name, member: &mut member };
        let rest = T::deserialize(MapAccessDeserializer::new(others))?;
        Ok((member.unwrap_or_default(), rest))
    }
}

/// The members of `map` without the one called `name`, which goes to `member`.
struct Others<'a, A, M> {
    map: A,
    name: &'static str,
    member: &'a mut Option<M>,
}

impl<'de, A: MapAccess<'de>, M: Member> MapAccess<'de> for Others<'_, A, M> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let mut seed = Some(seed);
        loop {
            match self.map.next_key_seed(Key { name: self.name, seed: &mut seed })? {
                None => return Ok(None),
                Some(Some(key)) => return Ok(Some(key)),
                Some(None) if self.member.is_some() => return Err(A::Error::duplicate_field(self.name)),
                Some(None) => *self.member = Some(self.map.next_value_seed(Value(PhantomData))?),
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// Hands a key on to `seed`, unless it is `name`.
struct Key<'a, K> {
    name: &'static str,
    seed: &'a mut Option<K>,
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<'_, K> {
    type Value = Option<K::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Key<'_, K> {
    type Value = Option<K::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member's name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == self.name {
            return Ok(None);
        }
        match self.seed.take() {
            Some(seed) => seed.deserialize(StrDeserializer::new(text)).map(Some),
            None => Ok(None),
        }
    }
}

struct Value<M>(PhantomData<M>);

impl<'de, M: Member> DeserializeSeed<'de> for Value<M> {
    type Value = M;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<M, D::Error> {
        M::read(deserializer)
    }
}
