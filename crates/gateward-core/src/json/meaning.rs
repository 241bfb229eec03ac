//! Whether two JSON texts mean the same, without trees of them.
//!
//! A text becomes a number of 128 bits under keys that are drawn when the process starts, so a caller can't search for two
//! texts that share one.

use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::LazyLock;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use crate::json::members::Name;

/// Members that don't count, by their paths from the root.
pub(crate) type Apart = &'static [&'static [&'static str]];

/// Whether both texts mean the same: order of members, white space and the spelling of numbers don't count. Texts that
/// nest too deeply to be read mean nothing.
pub(crate) fn same(one: &str, other: &str) -> bool {
    same_apart_from(&[], one, other)
}

/// The same, apart from these members.
pub(crate) fn same_apart_from(apart: Apart, one: &str, other: &str) -> bool {
    one == other || meaning(one, apart).is_some_and(|meaning_of_one| meaning(other, apart) == Some(meaning_of_one))
}

/// A number that two texts share only if they mean the same.
pub(crate) fn of(json: &str) -> u128 {
    meaning(json, &[]).unwrap_or_else(|| digest(("deep", json)))
}

fn meaning(json: &str, apart: Apart) -> Option<u128> {
    let mut from = serde_json::Deserializer::from_str(json);
    let meaning = Meaning { apart, open: !apart.is_empty(), depth: 0 }.deserialize(&mut from).ok()?;
    from.end().ok().map(|()| meaning)
}

static KEYS: LazyLock<(RandomState, RandomState)> = LazyLock::new(Default::default);

fn digest(value: impl Hash) -> u128 {
    let (high, low) = &*KEYS;
    u128::from(high.hash_one(&value)) << 64 | u128::from(low.hash_one(&value))
}

/// What a node means. While `open`, it is one of those on the ways to the members that don't count.
#[derive(Clone, Copy)]
struct Meaning {
    apart: Apart,
    open: bool,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Meaning {
    type Value = u128;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<u128, D::Error> {
        from.deserialize_any(self)
    }
}

impl Meaning {
    /// The member `name` below; `None` where it doesn't count.
    fn below(self, name: &str) -> Option<Self> {
        let below = Self { open: false, depth: self.depth + 1, ..self };
        if !self.open {
            return Some(below);
        }
        let mut on_the_way = self.apart.iter().filter(|path| path.get(self.depth) == Some(&name));
        if self.apart.iter().any(|path| path.get(self.depth) == Some(&name) && path.len() == below.depth) {
            return None;
        }
        Some(Self { open: on_the_way.next().is_some(), ..below })
    }
}

impl<'de> Visitor<'de> for Meaning {
    type Value = u128;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<u128, E> {
        Ok(digest("null"))
    }

    fn visit_bool<E>(self, value: bool) -> Result<u128, E> {
        Ok(digest(("boolean", value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<u128, E> {
        Ok(digest(("integer", i128::from(value))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<u128, E> {
        Ok(digest(("integer", i128::from(value))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<u128, E> {
        let whole = Number::from_f64(value).and_then(|number| integer(&number));
        Ok(whole.map_or_else(|| digest(("number", value.to_bits())), |whole| digest(("integer", whole))))
    }

    fn visit_str<E>(self, value: &str) -> Result<u128, E> {
        Ok(digest(("text", value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<u128, A::Error> {
        let (high, low) = &*KEYS;
        let (mut high, mut low) = (high.build_hasher(), low.build_hasher());
        let below = Self { open: false, depth: self.depth + 1, ..self };
        "list".hash(&mut high);
        "list".hash(&mut low);
        while let Some(item) = items.next_element_seed(below)? {
            high.write_u128(item);
            low.write_u128(item);
        }
        Ok(u128::from(high.finish()) << 64 | u128::from(low.finish()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<u128, A::Error> {
        let mut meaning = digest("object");
        while let Some(Name(name)) = members.next_key::<Name<'de>>()? {
            match self.below(&name) {
                // In whatever order they stand.
                Some(below) => meaning = meaning.wrapping_add(digest((&*name, members.next_value_seed(below)?))),
                None => members.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        Ok(meaning)
    }
}

/// The number as an integer, if it is one.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    /// Beyond any integer that JSON text is read as, and within what an `i128` holds.
    const LIMIT: f64 = 1e30;
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let float = number.as_f64().filter(|float| float.abs() < LIMIT && float.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, reason = "a whole number within the limit")]
    Some(float as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_members_and_spelling_of_numbers_do_not_count() {
        assert!(same(r#"{"a": [1, 2.5], "b": {"c": null}}"#, r#"{"b":{"c":null},"a":[1.0,25e-1]}"#));
        assert!(same(r#""\u0061""#, r#""a""#));
    }

    #[test]
    fn whatever_else_differs_counts() {
        let texts = [
            "null",
            "0",
            "false",
            r#""""#,
            "[]",
            "{}",
            "[null]",
            "[[]]",
            "[{}]",
            "[0]",
            "[0,1]",
            "[1,0]",
            "0.5",
            "true",
            r#"{"a":1}"#,
            r#"{"a":2}"#,
            r#"{"b":1}"#,
            r#"{"a":1,"b":1}"#,
            r#"{"a":{"b":1}}"#,
            "[1,1]",
            "[[1],1]",
            "9007199254740993",
            "9007199254740992",
        ];
        for (index, one) in texts.iter().enumerate() {
            for (position, other) in texts.iter().enumerate() {
                assert_eq!(same(&format!(" {one}"), other), index == position, "{one} {other}");
            }
        }
    }

    #[test]
    fn named_members_are_left_aside_at_their_place_only() {
        const APART: Apart = &[&["metadata", "finalizers"]];
        let object = |finalizers: &str, spec: &str| {
            format!(r#"{{"metadata":{{"name":"a","finalizers":{finalizers}}},"spec":{{"finalizers":{spec}}}}}"#)
        };
        assert!(same_apart_from(APART, &object("[]", "1"), &object("5", "1")));
        assert!(same_apart_from(APART, &object("[]", "1"), r#"{"metadata":{"name":"a"},"spec":{"finalizers":1}}"#));
        assert!(!same_apart_from(APART, &object("[]", "1"), &object("[]", "2")));
        assert!(!same_apart_from(APART, &object("[]", "1"), r#"{"metadata":{"name":"b"},"spec":{"finalizers":1}}"#));
    }

    #[test]
    fn what_nests_too_deeply_is_the_same_as_its_own_text_only() {
        let deep = |leaf: &str| format!("{}{leaf}{}", "[".repeat(200), "]".repeat(200));
        assert!(same(&deep("1"), &deep("1")));
        assert!(!same(&deep("1"), &deep("1.0")));
    }
}
