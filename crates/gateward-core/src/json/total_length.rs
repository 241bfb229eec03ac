//! How long the texts of a map are, without holding them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// The bytes of all keys and texts of a map; none of `null`.
pub(crate) struct TotalLength(pub usize);

impl<'de> Deserialize<'de> for TotalLength {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Texts)
    }
}

struct Texts;

impl<'de> Visitor<'de> for Texts {
    type Value = TotalLength;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("texts by name")
    }

    fn visit_unit<E: Error>(self) -> Result<TotalLength, E> {
        Ok(TotalLength(0))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TotalLength, A::Error> {
        let mut total = 0;
        while let Some((Length(key), Length(text))) = map.next_entry()? {
            total += key + text;
        }
        Ok(TotalLength(total))
    }
}

struct Length(usize);

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Length;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Length, E> {
        Ok(Length(text.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(json: &str) -> Option<usize> {
        serde_json::from_str(json).ok().map(|TotalLength(total)| total)
    }

    #[test]
    fn counts_keys_and_texts_as_they_read() {
        assert_eq!(total(r#"{"ab":"\u00e9","c":""}"#), Some(5));
        assert_eq!((total("{}"), total("null")), (Some(0), Some(0)));
    }

    #[test]
    fn counts_nothing_else() {
        for json in ["[]", "5", r#"{"a":1}"#, r#"{"a":null}"#, r#"{"a":"b""#] {
            assert_eq!(total(json), None, "{json}");
        }
    }
}
