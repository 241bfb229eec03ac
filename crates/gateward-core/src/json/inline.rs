//! Reading an object whose members belong to two structs, as Go's `json:",inline"` writes it.
//!
//! Serde's `flatten` buffers what it reads, and a [`Raw`](crate::Raw) cannot be read from that buffer. Here the
//! members stream past once, and paths of errors stay exact.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// Reads one object as the member called `name`, unless it is absent or `null`, and a struct of all the others.
///
/// ```
/// use gateward_core::Raw;
/// use gateward_core::json::inline;
/// use serde::{Deserialize, Deserializer};
///
/// #[derive(Deserialize)]
/// struct Job {
///     image: String,
///     // Any text that the type of a pod template reads, kept as it was written.
///     template: Raw<serde_json::Value>,
/// }
///
/// struct CronSpec {
///     schedule: Option<String>,
///     job: Job,
/// }
///
/// impl<'de> Deserialize<'de> for CronSpec {
///     fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
///         let (schedule, job) = inline::read(deserializer, "schedule")?;
///         Ok(Self { schedule, job })
///     }
/// }
///
/// let text = r#"{"image": "otter:1", "schedule": "@daily", "template": {"spec": {}}}"#;
/// let spec: CronSpec = serde_json::from_str(text)?;
/// assert_eq!((spec.schedule.as_deref(), &*spec.job.image), (Some("@daily"), "otter:1"));
/// assert_eq!(serde_json::to_string(&spec.job.template)?, r#"{"spec": {}}"#);
/// # Ok::<_, serde_json::Error>(())
/// ```
///
/// # Errors
///
/// Where what is read is no object, has the member twice, or doesn't have the types of both.
pub fn read<'de, D, M, T>(deserializer: D, name: &'static str) -> Result<(Option<M>, T), D::Error>
where
    D: Deserializer<'de>,
    M: Deserialize<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_map(Both { name, types: PhantomData })
}

struct Both<M, T> {
    name: &'static str,
    types: PhantomData<(M, T)>,
}

impl<'de, M: Deserialize<'de>, T: Deserialize<'de>> Visitor<'de> for Both<M, T> {
    type Value = (Option<M>, T);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let mut member = None;
        let others = Others { map, name: self.name, member: &mut member, is_read: false };
        let rest = T::deserialize(MapAccessDeserializer::new(others))?;
        Ok((member, rest))
    }
}

/// The members of `map` without the one called `name`, which goes to `member`.
struct Others<'a, A, M> {
    map: A,
    name: &'static str,
    member: &'a mut Option<M>,
    /// Also where it was `null`.
    is_read: bool,
}

impl<'de, A: MapAccess<'de>, M: Deserialize<'de>> MapAccess<'de> for Others<'_, A, M> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let mut seed = Some(seed);
        loop {
            match self.map.next_key_seed(Key { name: self.name, seed: &mut seed })? {
                None => return Ok(None),
                Some(Some(key)) => return Ok(Some(key)),
                Some(None) if self.is_read => return Err(A::Error::duplicate_field(self.name)),
                Some(None) => (*self.member, self.is_read) = (self.map.next_value()?, true),
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::Raw;

    #[derive(Debug, Deserialize)]
    struct Rest {
        river: String,
        den: Option<Raw<Value>>,
    }

    fn otter(json: &str) -> Result<(Option<u8>, Rest), serde_json::Error> {
        read(&mut serde_json::Deserializer::from_str(json), "cubs")
    }

    #[test]
    fn the_member_stands_anywhere_among_the_others() {
        for json in
            [r#"{"cubs":3,"river":"wye","den":{"b":1,  "a":2}}"#, r#"{"den":{"b":1,  "a":2},"river":"wye","cubs":3}"#]
        {
            let (cubs, Rest { river, den }) = otter(json).unwrap();
            assert_eq!((cubs, &*river), (Some(3), "wye"));
            assert_eq!(serde_json::to_string(&den).unwrap(), r#"{"b":1,  "a":2}"#);
        }
    }

    #[test]
    fn an_absent_member_and_null_are_none() {
        for json in [r#"{"river":"wye"}"#, r#"{"river":"wye","cubs":null}"#] {
            assert_eq!(otter(json).unwrap().0, None);
        }
    }

    #[test]
    fn a_member_that_occurs_twice_is_an_error() {
        for json in [r#"{"river":"wye","cubs":1,"cubs":2}"#, r#"{"river":"wye","cubs":null,"cubs":2}"#] {
            assert!(otter(json).unwrap_err().to_string().starts_with("duplicate field `cubs`"));
        }
    }

    #[test]
    fn what_is_wrong_with_either_is_said() {
        for (json, wrong) in [
            (r#"{"cubs":3}"#, "missing field `river`"),
            (r#"{"cubs":"many","river":"wye"}"#, r#"invalid type: string "many", expected u8"#),
            ("[]", "invalid type: sequence, expected an object"),
        ] {
            let error = otter(json).unwrap_err().to_string();
            assert!(error.starts_with(wrong), "{error}");
        }
    }
}
